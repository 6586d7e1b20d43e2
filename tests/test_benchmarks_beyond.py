"""The benchmark of what goes beyond the paper: its rival, its data, and a page from its figures."""

import numpy as np
import pytest
from benchmarks.beyond import data
from benchmarks.beyond.cases import Case, links, views
from benchmarks.beyond.page import page
from benchmarks.beyond.sparse_kmeans import sparse_kmeans, weights
from scipy.optimize import minimize
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score


@pytest.mark.parametrize("s", [1.1, 1.7, 2.4])
def test_the_weights_of_sparse_kmeans_solve_their_problem(s):
    b = np.array([5.0, 3.0, 2.9, 1.0, 0.2, 0.1])
    w = weights(b, s)
    assert np.linalg.norm(w) == pytest.approx(1)
    assert w.sum() <= s + 1e-9
    bounds = [
        {"type": "ineq", "fun": lambda v: 1 - v @ v},
        {"type": "ineq", "fun": lambda v: s - v.sum()},
    ]
    rival = minimize(lambda v: -b @ v, np.full(6, 0.1), bounds=[(0, 1)] * 6, constraints=bounds)
    assert b @ w == pytest.approx(-rival.fun, rel=1e-4)


def test_sparse_kmeans_finds_blobs_among_noise():
    X, y = make_blobs(90, 2, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    noise = np.random.default_rng(0).normal(size=(90, 20))
    assert adjusted_rand_score(y, sparse_kmeans(np.hstack([X, noise]), 3, 1.4, 0)) == 1


@pytest.mark.parametrize("name", data.AMONG_NOISE)
def test_tables_among_noise(name):
    X, y, telling = data.among_noise(name, 10)
    assert X.shape[1] == telling + data.AMONG_NOISE[name][2]
    assert len(X) == len(y)
    np.testing.assert_allclose(X.std(axis=0), 1)


def test_figures_make_a_page():
    found = views("3 views", 0)
    assert len(found["each"]) == 3
    told = links("iris", 0)
    assert set(told) == {"0", "0.02", "0.05", "0.1"}
    rows = [
        (Case("views", "3 views", 0, dict), found),
        (Case("links", "iris", 0, dict), told),
        (Case("links exact", "three γ", 0, dict), {"objective": 1e-8, "heavy": 1e-6}),
        (Case("noise", "normal", 0, dict), {"accepted": True}),
    ]
    text = page(rows, "header")
    assert f"| iris | {told['0']:.3f} |" in text
    assert "weights were learned in 1 of 1 draws" in " ".join(text.split())
