"""The comparison methods against closed forms, their own objectives and cvxpy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.isotonic import isotonic_regression
from sklearn.metrics import adjusted_rand_score

from convexcluster.baselines import (
    BiconvexClustering,
    CPaint,
    KernelKMeans,
    KernelPowerKMeans,
    NoiseRobustSpectralClustering,
    TreeGuidedConvexClustering,
    biconvex,
    cpaint,
    kernel_kmeans,
    kernel_power_kmeans,
    tree_guided,
)


@pytest.fixture(scope="module")
def X() -> np.ndarray:
    return np.random.default_rng(0).normal(size=(18, 3))


def _l1(X: np.ndarray, edges: np.ndarray, weights: np.ndarray, A: np.ndarray) -> float:
    i, j = edges.T
    return 0.5 * ((X - A) ** 2).sum() + weights @ np.abs(A[i] - A[j]).sum(axis=1)


def _cvxpy_l1(X: np.ndarray, edges: np.ndarray, weights: np.ndarray) -> np.ndarray:
    cp = pytest.importorskip("cvxpy")
    A = cp.Variable(X.shape)
    i, j = edges.T
    penalty = cp.sum(cp.multiply(weights, cp.sum(cp.abs(A[i] - A[j]), axis=1)))
    cp.Problem(cp.Minimize(0.5 * cp.sum_squares(X - A) + penalty)).solve(solver="CLARABEL")
    return A.value


def _assert_optimal(
    X: np.ndarray, edges: np.ndarray, weights: np.ndarray, A: np.ndarray, name: str
) -> None:
    """F is 1-strongly convex: ‖A − B‖²/2 ≤ F(B) − F(A) if A is optimal, and F(A) ≤ F(B)."""
    B = _cvxpy_l1(X, edges, weights)
    excess = _l1(X, edges, weights, B) - _l1(X, edges, weights, A)
    rounding = 1e-13 * (X**2).sum()
    assert excess >= -rounding, name
    assert 0.5 * ((A - B) ** 2).sum() <= excess + rounding, name


# --- C-PAINT -------------------------------------------------------------------------------------


def _isotonic(X: np.ndarray, gamma: float) -> np.ndarray:
    """C-PAINT's minimiser at one γ: the isotonic regression of y₍ᵢ₎ − γ(2i − n − 1)."""
    shift = gamma * (2.0 * np.arange(len(X)) - len(X) + 1.0)
    order = np.argsort(X, axis=0, kind="stable")
    A = np.empty_like(X)
    for k in range(X.shape[1]):
        A[order[:, k], k] = isotonic_regression(X[order[:, k], k] - shift)
    return A


@pytest.mark.parametrize("gamma", [0.0, 0.01, 0.05, 0.12, 1.0])
def test_cpaint_is_the_l1_minimiser(X: np.ndarray, gamma: float) -> None:
    edges = np.column_stack(np.triu_indices(len(X), 1))
    _assert_optimal(X, edges, np.full(len(edges), gamma), _isotonic(X, gamma), "C-PAINT")


@given(
    st.lists(st.integers(-20, 20), min_size=2, max_size=12),
    st.floats(0, 8, allow_nan=False),
)
@settings(max_examples=60, deadline=None)
def test_cpaint_partitions_are_equal_rows(values: list[int], gamma: float) -> None:
    """Agglomerated fusions and isotonic regression name the same clusters, duplicates included."""
    X = np.array(values, dtype=float)[:, None] + np.array([[0.0, 0.5]])
    heights, order = cpaint.fusion_heights(X)
    if np.abs(heights - gamma).min() < 1e-9:  # at a fusion, round-off decides
        return
    A = _isotonic(X, gamma)
    expected = np.unique(A.round(9), axis=0, return_inverse=True)[1].ravel()
    fusions = cpaint.Fusions(heights, order)
    assert adjusted_rand_score(expected, fusions.partition(gamma)) == 1.0
    np.testing.assert_allclose(fusions.centroids(X, gamma), A, atol=1e-12 * (1 + np.abs(X).max()))


def test_cpaint_tree_and_bisection_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(5).normal(size=(40, 3)).round(1)  # ties and coinciding fusions
    heights, order = cpaint.fusion_heights(X)
    tree = cpaint.Fusions(heights, order)
    monkeypatch.setattr(cpaint, "PAIRS", 0)
    search = cpaint.Fusions(heights, order)
    for k in range(1, 41):
        assert tree.gamma_for(k) == search.gamma_for(k)


def test_cpaint_two_points_meet_half_way() -> None:
    heights, _ = cpaint.fusion_heights(np.array([[0.0], [3.0]]))
    assert heights.item() == 1.5
    assert CPaint(gamma=1.49).fit([[0.0], [3.0]]).n_clusters_ == 2
    assert CPaint(gamma=1.5).fit([[0.0], [3.0]]).n_clusters_ == 1


def test_cpaint_finds_blobs_by_count_and_by_lifetime() -> None:
    X, y = make_blobs(90, centers=[[-5, -5], [0, 0], [5, 5]], cluster_std=0.3, random_state=0)
    assert adjusted_rand_score(CPaint(n_clusters=3).fit_predict(X), y) == 1.0
    model = CPaint().fit(X)
    assert 2 <= model.n_clusters_ <= 3


# --- TGCC ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("gamma", [0.0, 0.05, 0.4, 3.0, 1e4])
def test_tree_dynamic_programme_is_the_l1_minimiser(X: np.ndarray, gamma: float) -> None:
    edges, squares = tree_guided.spanning_tree(X)
    weights = tree_guided.edge_weights(squares)
    tree, order, _ = tree_guided.rooted(X, edges, weights)
    A = np.empty_like(X)
    A[order] = tree.solve(gamma).T
    _assert_optimal(X, edges, gamma * weights, A, "TGCC")


def test_contracted_tree_has_the_same_minimiser(X: np.ndarray) -> None:
    """Where edges have fused, masses and means give the same answer as the full tree."""
    edges, squares = tree_guided.spanning_tree(X)
    tree, _, _ = tree_guided.rooted(X, edges, tree_guided.edge_weights(squares))
    theta = tree.solve(3.0)
    fused = np.append(False, (theta[:, 1:] == theta[:, tree.parent[1:]]).all(axis=0))
    small, number = tree.contract(fused)
    assert len(small.parent) < len(X)
    assert small.masses.sum() == len(X)
    np.testing.assert_allclose(small.solve(3.0)[:, number], theta, atol=1e-12)


def test_full_fusion_is_sharp(X: np.ndarray) -> None:
    edges, squares = tree_guided.spanning_tree(X)
    tree, _, _ = tree_guided.rooted(X, edges, tree_guided.edge_weights(squares))
    top = tree.full_fusion()
    assert np.ptp(tree.solve(top * (1 + 1e-9)), axis=1).max() == 0
    assert np.ptp(tree.solve(top * (1 - 1e-6)), axis=1).max() > 0
    assert (tree.first_fusion() <= top).all()


@pytest.mark.parametrize("n", [60, 400])
def test_spanning_trees_are_minimal(n: int) -> None:
    X = np.random.default_rng(n).normal(size=(n, 2)).round(1)  # ties and duplicates
    X[: n // 10] = X[n // 2]
    D = squareform(pdist(X)) + 1e-12  # SciPy takes 0 for a missing edge
    least = minimum_spanning_tree(sparse.csr_array(D)).sum()
    for edges, squares in (tree_guided.spanning_tree(X), tree_guided._boruvka(X)):
        assert len(edges) == n - 1
        assert (edges[:, 0] < edges[:, 1]).all()
        np.testing.assert_allclose(np.sqrt(squares).sum(), least, rtol=1e-9)
        joined = sparse.coo_array((np.ones(n - 1), edges.T), shape=(n, n))
        assert sparse.csgraph.connected_components(joined, directed=False)[0] == 1


def test_tgcc_separates_moons_at_size() -> None:
    X, y = make_moons(20_000, noise=0.05, random_state=0)
    model = TreeGuidedConvexClustering(n_clusters=2).fit(X)
    assert adjusted_rand_score(model.labels_, y) == 1.0
    assert np.isfinite(model.fusion_values_).all()


def test_tgcc_gamma_means_the_exact_minimiser() -> None:
    X = np.array([[0.0], [1.0], [10.0]])  # weights exp(−s/b): s = (2/82, 162/82), b = 1
    w = np.exp(-np.array([2 / 82, 162 / 82]))
    fit = {g: TreeGuidedConvexClustering(gamma=g).fit(X).n_clusters_ for g in (0.3, 0.9, 60.0)}
    # 0 and 1 close in at rate 2w₁ − w₂; all is one when the flows 11/3 and 19/3 fit their edges
    assert 0.3 * (2 * w[0] - w[1]) < 1 < 0.9 * (2 * w[0] - w[1])
    assert 0.9 < max(11 / 3 / w[0], 19 / 3 / w[1]) < 60.0
    assert fit == {0.3: 3, 0.9: 2, 60.0: 1}


# --- kernel k-means and power k-means -------------------------------------------------------------


def test_linear_kernel_k_means_is_k_means() -> None:
    X, _ = make_blobs(120, centers=4, cluster_std=1.0, random_state=1)
    ours = KernelKMeans(4, kernel="linear", n_init=10, random_state=0).fit(X)
    theirs = KMeans(4, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(ours.labels_, theirs.labels_) == 1.0
    np.testing.assert_allclose(ours.inertia_, theirs.inertia_, rtol=1e-9)
    np.testing.assert_array_equal(ours.predict(X), ours.labels_)


def test_lloyd_never_raises_the_sum() -> None:
    X, _ = make_blobs(80, centers=4, random_state=0)
    K = np.exp(-squareform(pdist(X, "sqeuclidean")) / 8)
    labels = np.arange(len(X)) % 4
    sums = [kernel_kmeans.lloyd(K, labels, 4, steps)[1] for steps in range(1, 8)]
    assert (np.diff(sums) <= 1e-12 * sums[0]).all()
    assert sums[-1] < sums[0]


def test_lloyd_refills_an_empty_cluster() -> None:
    K = np.diag([1.0, 1.0, 1.0, 1.0])
    labels, _, _ = kernel_kmeans.lloyd(K, np.zeros(4, dtype=np.int64), 3, 10)
    assert set(labels) == {0, 1, 2}


def test_power_mean_tangent_is_its_gradient() -> None:
    d = np.random.default_rng(3).uniform(0.5, 2, size=(5, 4))
    for s in (-1.0, -3.0, -20.0):
        omega = kernel_power_kmeans.tangent(d, s)
        for j in range(4):
            step = np.zeros_like(d)
            step[:, j] = 1e-6
            slope = (
                kernel_power_kmeans.power_mean(d + step, s)
                - kernel_power_kmeans.power_mean(d - step, s)
            ) / 2e-6
            np.testing.assert_allclose(omega[:, j], slope, atol=1e-7)


def test_power_mean_goes_to_the_minimum() -> None:
    d = np.array([[0.3, 0.5, 2.0]])
    # min ≤ M_s ≤ k^{−1/s} min for s < 0
    value = kernel_power_kmeans.power_mean(d, -1e4).item()
    assert 0.3 <= value <= 0.3 * 3 ** (1e-4) * (1 + 1e-12)


@pytest.mark.parametrize("bandwidth", [0.3, 1.0, 10.0])
def test_power_k_means_descends(bandwidth: float) -> None:
    X, y = make_blobs(80, centers=4, cluster_std=0.6, random_state=2)
    model = KernelPowerKMeans(4, bandwidth=bandwidth, random_state=0).fit(X)
    assert (np.diff(model.objective_) <= 1e-10 * model.objective_[0]).all()
    assert model.objective_[-1] >= model.inertia_ * (1 - 1e-12)
    if bandwidth == 1.0:
        assert adjusted_rand_score(model.labels_, y) > 0.9


# --- biconvex clustering --------------------------------------------------------------------------


@given(
    st.lists(st.floats(0.01, 100), min_size=1, max_size=8), st.floats(0, 5, allow_subnormal=False)
)
@settings(max_examples=80, deadline=None)
def test_feature_weights_satisfy_their_optimality(A: list[float], sparsity: float) -> None:
    a = np.array(A)
    w = biconvex.feature_weights(a, sparsity)
    assert w.min() >= 0
    assert w.sum() == pytest.approx(1, abs=1e-12)
    # (2w_l + λ)A_l is the multiplier α where w_l > 0, and λA_l ≥ α elsewhere
    slope = (2 * w + sparsity) * a
    alpha = slope[w > 0]
    tolerance = 1e-9 * alpha.max()
    assert np.ptp(alpha) <= tolerance
    assert (slope[w == 0] >= alpha.min() - tolerance).all()


def _biconvex(
    X: np.ndarray, mu: np.ndarray, w: np.ndarray, S: sparse.csr_array, sparsity: float, gamma: float
) -> float:
    """The objective; S = φ + φᵀ, so that each pair enters once through its upper half."""
    fit = float(((w**2 + sparsity * w) * (X - mu) ** 2).sum())
    rows, columns = sparse.triu(S).nonzero()
    pairs = np.asarray(S[rows, columns]).ravel()
    return fit + gamma * float(pairs @ ((mu[rows] - mu[columns]) ** 2).sum(axis=1))


def test_biconvex_steps_lower_the_objective(X: np.ndarray) -> None:
    gamma, sparsity = 0.5, 0.1
    w = np.full(3, 1 / 3)
    S = biconvex.affinities(X, w**2 + sparsity * w, 4)
    mu = X.copy()
    values = [_biconvex(X, mu, w, S, sparsity, gamma)]
    for _ in range(10):
        for _ in range(3):
            mu = biconvex.sweep_centroids(X, mu, w**2 + sparsity * w, S, gamma)
            values.append(_biconvex(X, mu, w, S, sparsity, gamma))
        w = biconvex.feature_weights(((X - mu) ** 2).sum(axis=0), sparsity)
        values.append(_biconvex(X, mu, w, S, sparsity, gamma))
    assert (np.diff(values) <= 1e-12 * values[0]).all()


def test_biconvex_sweeps_reach_the_linear_system(X: np.ndarray) -> None:
    omega, gamma = np.array([0.5, 0.3, 0.2]), 0.2
    S = biconvex.affinities(X, omega, 4)
    mu = X.copy()
    for _ in range(400):
        mu = biconvex.sweep_centroids(X, mu, omega, S, gamma)
    L = np.diag(S.sum(axis=1)) - S.toarray()
    for k in range(3):
        system = omega[k] * np.eye(len(X)) + gamma * L
        np.testing.assert_allclose(system @ mu[:, k], omega[k] * X[:, k], atol=1e-10)


def test_biconvex_weighs_the_informative_feature() -> None:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    X = np.column_stack([y * 6 + rng.normal(size=80), rng.normal(size=(80, 4)) * 3, np.ones(80)])
    model = BiconvexClustering(2).fit(X)
    assert adjusted_rand_score(model.labels_, y) > 0.9
    assert model.feature_weights_.argmax() == 0
    assert model.feature_weights_[5] == 0


# --- the noise-robust reading ---------------------------------------------------------------------


def test_noise_is_set_apart_and_assigned() -> None:
    X, y = make_moons(300, noise=0.04, random_state=0)
    rng = np.random.default_rng(0)
    noisy = np.vstack([X, rng.uniform(-1.5, 2.5, size=(30, 2))])
    model = NoiseRobustSpectralClustering(2, random_state=0).fit(noisy)
    assert adjusted_rand_score(model.labels_[:300], y) > 0.95
    assert model.noise_.sum() == 33
    assert model.noise_[300:].mean() > 0.7
    rbf = NoiseRobustSpectralClustering(2, affinity="rbf", random_state=0).fit(noisy)
    assert set(rbf.labels_) == {0, 1}
    with pytest.raises(ValueError, match="affinity"):
        NoiseRobustSpectralClustering(2, affinity="cosine").fit(noisy)


@pytest.mark.parametrize(
    "model",
    [
        BiconvexClustering(2),
        CPaint(2),
        KernelKMeans(2, random_state=0),
        KernelPowerKMeans(2, random_state=0),
        NoiseRobustSpectralClustering(2, random_state=0),
        TreeGuidedConvexClustering(2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_duplicates_and_bad_counts(model: object) -> None:
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], [6, 8], axis=0)
    labels = model.fit_predict(X)  # type: ignore[attr-defined]
    assert adjusted_rand_score(labels, np.repeat([0, 1], [6, 8])) == 1.0
    with pytest.raises(ValueError, match="n_clusters"):
        type(model)(99).fit(X)  # type: ignore[call-arg]
