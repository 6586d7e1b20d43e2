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


RANGE = {
    "n": 60,
    "necessary": (1.0, 90.0),
    "sufficient": None,
    "ends": (2.0, 80.0),
    "status": "certified at both ends",
    "blocking": "a cut: sample 3 of the cluster of sample 0",
    "inside": (2.02, 79.2),
    "inside status": "proved throughout",
    "seconds": 1.0,
    "seconds inside": 2.0,
    **dict.fromkeys(("total", "each", "one", "weights", "gamma", "input"), 0.01),
}
REFUTED = {**RANGE, "ends": (np.nan, np.nan), "status": "refuted: …", "inside status": "refuted: …"}


def of_every_part():
    """A figure of each part, for what has a row in the tables of the prototype."""
    shown = {"views": ["pixels"], "equal": 0.7, "agreement": 0.8, "good": 0.8, "each": [0.7]}
    shown |= {"agreement weights": [1.0], "equal weights": [1.0]}
    names = ("plain", "plain told nothing", "learned", "learned told nothing", "alone", "biconvex")
    learned = dict.fromkeys((*names, "sparse k-means", "seconds"), 0.5)
    learned |= {"plain k": 1, "learned k": 5, "right": 2, "wrong": 0, "telling": 2}
    read = {**learned, "n": 60, "d": 4, "kept": 3, "rule": "refused: equal weights show structure"}
    parts = [("recovery", "moons", 0, RANGE), ("recovery", "iris, classes", 0, REFUTED)]
    parts += [("views", name, 20, shown) for name in data.VIEWS]
    parts += [("features", "rings + 8 noise", 0, learned), ("tables", "wine", 0, read)]
    parts += [("refuted", "moons", 0, {"moved": 20, "halved": 17})]
    parts += [("large", "moons of 2,000", 0, {**RANGE, "seconds": 3.0})]
    names = (*data.LAWS, *data.AMONG_NOISE)
    parts += [("clearness", name, 0, {"clearness": 1.0 + 0.1 * i}) for i, name in enumerate(names)]
    return [(Case(part, what, seed, dict), found) for part, what, seed, found in parts]


def test_a_page_says_where_it_is_worse():
    text = " ".join(page(of_every_part(), "header").split())
    for said in (
        "the ends are narrower by a hundredth and more on moons ([2, 80) against [19.2, 1026))",
        "- moons, seed 0: certified at both ends; a cut: sample 3 of the cluster of sample 0.",
        "- iris, classes, seed 0: refuted: …",
        "moons (each 0.01 against 0.19), moons (one 0.01 against 27)",
        "Below the prototype by .03 or more: 3 views (0.800 against 0.842)",
        "Below the prototype by .03 or more: rings + 8 noise (0.500 against 1.000)",
        "wine, plain (0.500 against 0.865), wine, learned (0.500 against 0.893)",
        "blocks of factors 1.50; least of as many draws of groups: rings + 8 noise 1.60",
    ):
        assert said in text


def test_pictures_of_figures(tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.beyond.pictures import _recovery, _views

    ranges, weights = _recovery(of_every_part()), _views(of_every_part())
    assert [text.get_text() for text in ranges.axes[0].get_yticklabels()] == ["moons, seed 0"]
    assert len(weights.axes) == 2


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
