"""Kernels: each against its formula, and every way to name one."""

import json
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, WhiteKernel

from convexcluster.kernels import ALIASES, KERNELS, Kernel, auto_bandwidth, resolve_kernel
from convexcluster.weights import build_graph

rng = np.random.default_rng(0)
X = rng.normal(size=(7, 3))
Y = rng.normal(size=(5, 3))
DIFFERENCE = X[:, None] - Y
SQUARED = (DIFFERENCE**2).sum(axis=2)
NORMS = np.outer(np.linalg.norm(X, axis=1), np.linalg.norm(Y, axis=1))
S = 1.7
ROOT3 = np.sqrt(3 * SQUARED) / S

FORMULAS = {
    "rbf": ({}, np.exp(-SQUARED / (2 * S**2))),
    "laplacian": ({}, np.exp(-np.abs(DIFFERENCE).sum(axis=2) / S)),
    "polynomial": ({"c": -0.5, "degree": 4}, (X @ Y.T - 0.5) ** 4),
    "sigmoid": ({"c": 0.2, "scale": 0.3}, np.tanh(0.3 * X @ Y.T + 0.2)),
    "linear": ({}, X @ Y.T),
    "cosine": ({}, X @ Y.T / NORMS),
    "matern": ({"nu": 1.5}, (1 + ROOT3) * np.exp(-ROOT3)),
}


def test_every_kernel_has_a_formula_here():
    assert set(FORMULAS) | {"precomputed"} == set(KERNELS)
    assert set(ALIASES.values()) <= set(KERNELS)


@pytest.mark.parametrize("name", FORMULAS)
def test_kernel_is_its_formula(name):
    params, want = FORMULAS[name]
    kernel = resolve_kernel(name, S, params)
    np.testing.assert_allclose(kernel(X, Y), want, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(kernel.diag(X), np.diagonal(kernel(X)), rtol=1e-12)
    index = np.array([4, 1])
    np.testing.assert_allclose(kernel.columns(X, index), kernel(X)[:, index], rtol=1e-12)
    np.testing.assert_allclose(kernel.columns(Y, index, X[index]), kernel(Y, X)[:, index])


@pytest.mark.parametrize("name", FORMULAS)
def test_kernel_is_described_by_plain_data_and_pickles(name):
    kernel = resolve_kernel(name, S, FORMULAS[name][0])
    again = Kernel(kernel.name, json.loads(json.dumps(kernel.params)))
    assert again == kernel == pickle.loads(pickle.dumps(kernel))
    np.testing.assert_array_equal(again(X), kernel(X))


def test_the_papers_names():
    assert resolve_kernel("gaussian", 1.0).name == "rbf"
    assert resolve_kernel("hyperbolic").name == resolve_kernel("tanh").name == "sigmoid"
    assert resolve_kernel("RBF", 1.0).name == "rbf"


def test_columns_in_blocks_equal_the_whole(monkeypatch):
    monkeypatch.setattr("convexcluster.kernels.kernel.BLOCK", 6)
    kernel = resolve_kernel("rbf", S)
    np.testing.assert_allclose(kernel.columns(X, np.array([0, 3])), kernel(X)[:, [0, 3]])


def test_far_from_the_origin_distances_keep_their_digits():
    # eps · 1e8² = 2 would swamp ‖x − y‖² ~ 1; x itself is rounded at 1e8 · eps = 2e-8
    kernel = resolve_kernel("rbf", S)
    np.testing.assert_allclose(kernel(X + 1e8, Y + 1e8), kernel(X, Y), atol=1e-6)


@pytest.mark.parametrize(
    "f",
    [
        lambda A, B: np.exp(-((A[:, None] - B) ** 2).sum(axis=2)),  # matrices
        lambda a, b: float(np.exp(-((a - b) ** 2).sum())),  # samples
        RBF(np.sqrt(0.5)),
    ],
)
def test_callables_take_matrices_or_samples(f):
    kernel = resolve_kernel(f)
    np.testing.assert_allclose(kernel(X, Y), np.exp(-SQUARED), rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.ones(7))


def test_a_product_written_for_two_samples_is_not_taken_for_a_matrix():
    # with three features x @ y is also defined for 2 × 3 and 3 × 3 matrices
    np.testing.assert_allclose(resolve_kernel(lambda x, y: x @ y)(X, Y), X @ Y.T)


def test_callable_parameters_are_passed_on():
    kernel = resolve_kernel(lambda A, B, power: (A @ B.T) ** power, params={"power": 3})
    np.testing.assert_allclose(kernel(X, Y), (X @ Y.T) ** 3)


def test_gaussian_process_kernels():
    kernel = resolve_kernel(ConstantKernel(2.0) * RBF(1.0))
    np.testing.assert_allclose(kernel(X, Y), 2 * np.exp(-SQUARED / 2))
    with pytest.raises(ValueError, match="WhiteKernel"):
        resolve_kernel(RBF(1.0) + WhiteKernel(0.1))(X)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("nope",), "nope"),
        ((3,), "name or a callable"),
        (("rbf", 0.0), "bandwidth"),
        (("rbf", -1.0), "bandwidth"),
        (("rbf", np.nan), "bandwidth"),
        (("rbf", "wide"), "auto"),
        (("rbf", "auto"), "needs samples"),
        (("rbf", 1.0, {"gamma": 2}), "gamma"),
        (("polynomial", 1.0, {"degree": 2.5}), "degree"),
        (("polynomial", 1.0, {"degree": 0}), "degree"),
        (("polynomial", 1.0, {"c": np.nan}), "NaN"),
        (("polynomial", 1.0, {"c": "x"}), "number"),
    ],
)
def test_bad_kernels_are_refused_by_a_sentence(arguments, words):
    with pytest.raises(ValueError, match=words):
        resolve_kernel(*arguments)


def test_the_users_parameters_are_not_changed():
    params = {"degree": 2.0}
    resolve_kernel("polynomial", 1.0, params)
    assert params == {"degree": 2.0}


def test_nan_from_a_callable_is_refused():
    with pytest.raises(ValueError, match="finite"):
        resolve_kernel(lambda A, B: np.full((len(A), len(B)), np.nan))(X)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (np.array([[1.0, np.nan]]), "nan"),
        (np.array([[1.0, np.inf]]), "inf"),
        (np.array([["a", "b"]]), "numbers"),
        (np.array([[1j]]), "complex"),
        (np.zeros(3), "2-D"),
        (np.zeros((0, 2)), "no samples"),
        (np.zeros((2, 0)), "features"),
        (np.array([[1e200, 1.0]]), "overflow"),
        (sparse.csr_array(np.array([[np.nan, 1.0]])), "NaN"),
        (sparse.csr_array(np.array([[1j, 1.0]])), "complex"),
        (sparse.csr_array((0, 3)), "no samples"),
    ],
)
def test_bad_samples_are_refused_by_a_sentence(bad, words):
    with pytest.raises(ValueError, match=words):
        resolve_kernel("rbf", 1.0).check(bad)
    with pytest.raises(ValueError, match=words):
        build_graph(bad)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dok", "lil"])
def test_any_sparse_format_is_taken(form):
    kernel = resolve_kernel("cosine")
    given = kernel.check(sparse.csr_array(X).asformat(form))
    np.testing.assert_allclose(kernel(given), kernel(X), rtol=1e-12)


def test_bad_gram_matrices_are_refused_by_a_sentence():
    kernel = resolve_kernel("precomputed")
    with pytest.raises(ValueError, match="square"):
        kernel.check(np.ones((2, 3)))
    with pytest.raises(ValueError, match="symmetric"):
        kernel.check(np.array([[1.0, 0.5], [0.4, 1.0]]))
    with pytest.raises(ValueError, match="toarray"):
        kernel.check(sparse.eye_array(3))
    kernel.check(np.array([[1.0, 0.5], [0.5 + 1e-14, 1.0]]))


def test_auto_bandwidth_counts_distinct_samples():
    points = np.arange(10.0)[:, None]
    assert auto_bandwidth(points, 1) == 1.0
    assert auto_bandwidth(np.repeat(points, 9, axis=0), 1) == 1.0
    assert auto_bandwidth(np.ones((5, 2))) == 1.0
    assert auto_bandwidth(np.ones((1, 2))) == 1.0
    assert auto_bandwidth(np.array([[0.0], [3.0]])) == 3.0
    assert resolve_kernel("rbf", "auto", X=points).params["bandwidth"] == auto_bandwidth(points)


def test_auto_bandwidth_does_not_shrink_with_n(monkeypatch):
    monkeypatch.setattr("convexcluster.kernels.bandwidth.SAMPLE", 200)
    rng = np.random.default_rng(1)
    few, many = rng.uniform(size=(200, 2)), rng.uniform(size=(20_000, 2))
    # both are means of 200 distances whose relative deviation is about 0.2: 4 deviations of the
    # difference of two means
    assert auto_bandwidth(many) == pytest.approx(auto_bandwidth(few), rel=0.08)


def test_a_gaussian_far_out_is_nearly_zero_and_a_normal_number():
    far = np.array([[0.0], [30.0], [38.0], [1e3]])
    for K in (KERNELS["rbf"](far, np.zeros((1, 1))), KERNELS["rbf"](far, far)):
        assert (np.finfo(float).tiny <= K).all()
        assert (K[3:, 0] < 1e-300).all()
        assert K[1, 0] == pytest.approx(np.exp(-450.0))
