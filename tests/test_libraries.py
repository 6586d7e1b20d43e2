"""What is written by hand against a library that does a part of it.

Ward is compared with SciPy in test_labels, spanning trees with SciPy in test_baselines and
test_weights.
"""

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from convexcluster.numerics import multigrid
from convexcluster.numerics.laplacian import factor, laplacian
from convexcluster.weights.neighbors import nearest_neighbors, tied_neighbors

pyamg = pytest.importorskip("pyamg")


def grid(side):
    """Edges of a square lattice."""
    point = np.arange(side * side).reshape(side, side)
    across = np.column_stack([point[:, :-1].ravel(), point[:, 1:].ravel()])
    return np.vstack([across, np.column_stack([point[:-1].ravel(), point[1:].ravel()])])


def near(rng, n, d, k=6):
    """Edges to the k nearest of n points in d dimensions."""
    X = rng.normal(size=(n, d))
    index = NearestNeighbors(n_neighbors=k).fit(X).kneighbors(return_distance=False)
    pairs = np.column_stack([np.repeat(np.arange(n), k), index.ravel()])
    return np.unique(np.sort(pairs, axis=1), axis=0)


@pytest.mark.parametrize("decades", [0.0, 3.0])
@pytest.mark.parametrize("kind", ["lattice", "plane", "ten dimensions", "chain"])
def test_multigrid_against_pyamg(kind, decades):
    rng = np.random.default_rng(5)
    n = 2_500
    edges = {
        "lattice": grid(50),
        "plane": near(rng, n, 2),
        "ten dimensions": near(rng, n, 10),
        "chain": np.column_stack([np.arange(n - 1), np.arange(1, n)]),
    }[kind]
    kappa, ground = 10.0 ** rng.uniform(-decades, 0.0, len(edges)), np.full(n, 1e-3)
    b = rng.normal(size=(n, 3))
    A = sparse.csr_array(laplacian(edges, kappa, n) + sparse.diags_array(ground))
    # pyamg 5.2 takes 32-bit indices only, and sorts the entries of what it is given
    narrow = A.data.copy(), A.indices.astype(np.int32), A.indptr.astype(np.int32)
    levels = pyamg.smoothed_aggregation_solver(sparse.csr_matrix(narrow, shape=A.shape))
    theirs, steps = np.empty_like(b), 0
    for k in range(3):
        history = []
        theirs[:, k] = levels.solve(b[:, k], tol=1e-6, accel="cg", residuals=history, maxiter=300)
        steps = max(steps, len(history) - 1)
    tail, head = (np.ascontiguousarray(end) for end in edges.T)
    ours = multigrid.solve(
        n, tail, head, kappa, b, ground=ground, reduction=1e-12, max_iter=2 * steps
    )
    # twice pyamg's steps reach pyamg's residual, but for κ, which is rounded to single precision:
    # (2⁻²⁴ + 2⁻⁵²)|κ| of each entry off the diagonal, and as much of its sum on the diagonal
    rounding = 2.0**-23 * np.linalg.norm(abs(A) @ np.abs(ours))
    left = 1e-6 * np.linalg.norm(b) + rounding
    assert np.linalg.norm(A @ ours - b) <= left
    # A ≥ 1e-3, so that residuals bound the distance of the two solutions
    apart = left + np.linalg.norm(A @ theirs - b)
    assert np.linalg.norm(ours - theirs) <= apart / 1e-3
    exact = factor(edges, kappa, ground)(b)
    assert np.linalg.norm(ours - exact) <= 1.01 * left / 1e-3


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
@pytest.mark.parametrize(("n", "d"), [(300, 2), (300, 30), (3_000, 3)])
def test_neighbours_against_scikit_learn(n, d, metric):
    X = np.random.default_rng(6).normal(size=(n, d))
    k = 7
    search = NearestNeighbors(n_neighbors=2 * k + 1, metric=metric, algorithm="brute").fit(X)
    length, index = search.kneighbors()
    # in general position no two distances tie: the same samples in the same order
    np.testing.assert_array_equal(nearest_neighbors(X, k, metric=metric), index[:, :k])
    pairs, share, kth = tied_neighbors(X, k, metric=metric)
    assert (share == 1).all()
    want = np.column_stack([np.repeat(np.arange(n), k), index[:, :k].ravel()])
    assert {tuple(pair) for pair in pairs} == {tuple(pair) for pair in want}
    np.testing.assert_allclose(kth, length[:, k - 1], rtol=1e-9)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan"])
def test_tied_neighbours_against_scikit_learn(metric):
    # on a lattice the k-th distance ties: all samples within it are neighbours
    X = np.stack(np.meshgrid(np.arange(9.0), np.arange(9.0)), axis=-1).reshape(-1, 2)
    k = 4
    pairs, share, kth = tied_neighbors(X, k, metric=metric)
    search = NearestNeighbors(metric=metric, algorithm="brute").fit(X)
    for i, radius in enumerate(kth):
        within = search.radius_neighbors(X[[i]], radius * (1 + 1e-9), return_distance=False)[0]
        mine = pairs[:, 0] == i
        assert set(pairs[mine, 1]) == set(within) - {i}
        # more than 2k share the places that are left, otherwise each counts once
        crowded = len(within) - 1 > 2 * k
        assert share[mine].sum() == pytest.approx(k if crowded else len(within) - 1)
