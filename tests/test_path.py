"""solve_path: gaps of the full problem, partitions, splits, parts, checkpoints, edge cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

import kill_and_resume
from convexcluster import solve, solve_path
from convexcluster.graph import components
from convexcluster.loops.clusters import fuse
from convexcluster.partition import means
from convexcluster.path import checkpoint as checkpoint_module
from convexcluster.path import components as components_module
from convexcluster.problem import Problem
from problems import knn_edges


def knn(X, k=10):
    edges, squares = knn_edges(X, k)
    return edges, np.exp(-0.5 * squares)


def moons(n, seed=0):
    X, _ = make_moons(n, noise=0.05, random_state=seed)
    return X - X.mean(axis=0), *knn(X)


def cvx_optimum(X, edges, weights, gamma, masses=None):
    cp = pytest.importorskip("cvxpy")
    pytest.importorskip("clarabel")
    m = np.ones(len(X)) if masses is None else masses
    A = cp.Variable(X.shape)
    D = A[edges[:, 0]] - A[edges[:, 1]]
    fit = 0.5 * cp.sum(cp.multiply(m[:, None], cp.square(A - X)))
    penalty = gamma * cp.sum(cp.multiply(weights, cp.norm(D, axis=1)))
    problem = cp.Problem(cp.Minimize(fit + penalty))
    problem.solve(solver="CLARABEL", tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return A.value


def certified_point(path, X, edges, weights, gamma, masses=None):
    """The centroids of all samples, with the radius that the certificate promises."""
    problem = Problem.of(X, edges, weights, gamma, masses)
    step = path.step(gamma)
    A = path.centroids(gamma)[path.labels(gamma)]
    return problem, A, np.sqrt(2 * path.gaps[step] * problem.scale)


@pytest.fixture(scope="module")
def moons_path():
    data = moons(400)
    return data, solve_path(*data)


def test_every_gamma_of_the_automatic_grid_is_certified(moons_path):
    (X, edges, _), path = moons_path
    assert path.certified.all()
    assert (path.gaps <= 1e-6).all()
    assert path.n_clusters[0] == len(X)
    assert path.n_clusters[-1] == components(edges, len(X)).max() + 1
    assert path.complete


@pytest.mark.parametrize("place", [10, 18, 24, 30, 35])
def test_centroids_lie_within_the_radius_of_the_independent_optimum(moons_path, place):
    data, path = moons_path
    gamma = path.gammas[place]
    problem, A, radius = certified_point(path, *data, gamma)
    exact = cvx_optimum(*data, gamma)
    # the independent solver is itself off by √(2 · 1e-9 · F)
    slop = np.sqrt(2e-9 * problem.objective(exact))
    assert np.linalg.norm(A - exact) <= radius + slop
    assert problem.objective(A) <= problem.objective(exact) + radius**2 / 2 + slop**2


def same_partition_as_clarabel(X, edges, weights, gamma):
    """Compare partitions, unless γ is so close to a fusion that the oracle cannot tell."""
    grid = np.append(np.geomspace(gamma / 30, gamma, 8), 1.01 * gamma)
    path = solve_path(X, edges, weights, grid)
    labels, later = path.labels(gamma), path.labels(1.01 * gamma)
    if path.n_clusters[-2] != path.n_clusters[-1] or (labels != later).any():
        return False
    exact = cvx_optimum(X, edges, weights, gamma)
    scale = np.linalg.norm(X, axis=1).max()
    # fused pairs of the oracle agree to its accuracy; distinct ones of our path are apart
    for t in range(path.n_clusters[-2]):
        own = exact[labels == t]
        assert np.abs(own - own.mean(axis=0)).max() <= 1e-3 * scale
    i, j = edges[labels[edges[:, 0]] != labels[edges[:, 1]]].T
    centers = path.centroids(gamma)
    apart = np.linalg.norm(centers[labels[i]] - centers[labels[j]], axis=1)
    found = np.linalg.norm(exact[i] - exact[j], axis=1)
    assert (np.abs(apart - found) <= 2 * np.sqrt(2 * 1e-6) * np.linalg.norm(X)).all()
    return True


def test_partitions_equal_clarabels():
    data = moons(200, seed=3)
    assert sum(same_partition_as_clarabel(*data, gamma) for gamma in (0.02, 0.1, 0.5, 2.0)) >= 2


@pytest.mark.slow
def test_partitions_equal_clarabels_at_a_thousand_samples():
    data = moons(1000, seed=1)
    assert sum(same_partition_as_clarabel(*data, gamma) for gamma in (0.05, 0.5, 5.0, 50.0)) >= 2


@pytest.mark.parametrize("r", [1, 3, 12])
def test_other_dimensions_and_masses(r):
    rng = np.random.default_rng(r)
    X, _ = make_blobs(60, n_features=r, centers=4, random_state=r)
    X = X / np.abs(X).max()
    edges, weights = knn(X, 6)
    masses = rng.uniform(0.5, 4.0, len(X))
    path = solve_path(X, edges, weights, masses=masses, max_gammas=20)
    assert path.certified.all()
    gamma = path.gammas[12]
    problem, A, radius = certified_point(path, X, edges, weights, gamma, masses)
    exact = cvx_optimum(X, edges, weights, gamma, masses)
    error = np.sqrt(masses @ ((A - exact) ** 2).sum(axis=1))
    assert error <= radius + np.sqrt(2e-9 * problem.objective(exact))


def test_more_dimensions_than_samples():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 700)) + 4 * (np.arange(60) % 3 == 0)[:, None]
    edges, _ = knn(X, 6)
    path = solve_path(X, edges, np.ones(len(edges)))
    assert path.certified.all()
    assert path.centroids(path.gammas[3]).shape[1] == 700
    component = components(edges, 60)
    exact = means(X, np.ones(60), component)
    np.testing.assert_allclose(path.centroids(path.gammas[-1]), exact, atol=1e-9)


def test_warm_equals_cold(moons_path):
    data, path = moons_path
    for place in (12, 20, 28):
        gamma = path.gammas[place]
        _, warm, radius = certified_point(path, *data, gamma)
        cold_path = solve_path(*data, [gamma])
        assert cold_path.certified.all()
        _, cold, cold_radius = certified_point(cold_path, *data, gamma)
        assert np.linalg.norm(warm - cold) <= radius + cold_radius


def test_a_cluster_that_splits_is_found_and_recorded():
    """Found by search: {0, 1, 3} is one cluster up to γ ≈ 0.55, {0} and {1, 3} are two after it."""
    Z = np.array([[3.0], [4.0], [-4.0], [1.0], [-5.0]])
    edges = np.array([[0, 1], [0, 3], [1, 3], [1, 4], [2, 4], [3, 4]])
    weights = np.array([0.1, 0.01, 1.0, 1.0, 1.0, 10.0])
    path = solve_path(Z, edges, weights, np.geomspace(0.01, 50, 60), tol=1e-9)
    assert path.certified.all()
    assert path.splits
    for split in path.splits:
        below, at = path.gammas[split.step - 1], split.gamma
        before, after = path.labels(below), path.labels(at)
        own = before == split.cluster
        assert set(after[own]) == set(split.pieces)
        assert len(split.pieces) > 1
        exact = cvx_optimum(Z, edges, weights, below).ravel()
        assert np.ptp(exact[own]) <= 1e-3  # one cluster before,
        exact = cvx_optimum(Z, edges, weights, at).ravel()
        pieces = [exact[own & (after == t)].mean() for t in split.pieces]
        assert np.ptp(pieces) >= 1e-2  # several after
    assert path.labels(path.gammas[-1]).max() == 0
    assert (np.diff(path.to_linkage()[:, 2]) >= 0).all()


def test_tolerance_relative_to_the_objective(moons_path):
    (X, edges, weights), plain = moons_path
    path = solve_path(X, edges, weights, plain.gammas, tol=1e-5, tol_relative_to="objective")
    assert path.certified.all()
    for place in (2, 8, 16, 30):
        problem, A, _ = certified_point(path, X, edges, weights, path.gammas[place])
        # gap ≤ tol · F*, and F* ≥ F − gap
        gap = path.gaps[place] * problem.scale
        assert gap <= 1e-5 * problem.objective(A)


def test_two_points_fuse_at_half_their_distance_over_the_weight():
    path = solve_path([[0.0], [1.0]], [[0, 1]], [2.0], [0.2, 0.249, 0.251, 1.0])
    np.testing.assert_array_equal(path.n_clusters, [2, 2, 1, 1])
    np.testing.assert_allclose(path.centroids(0.2).ravel(), [0.4, 0.6], atol=1e-3)
    np.testing.assert_allclose(path.centroids(1.0), [[0.5]], atol=1e-12)
    np.testing.assert_allclose(path.fusion_values, [0.25], rtol=1e-3)


def test_parts_are_independent_of_threads_and_add_up(monkeypatch):
    monkeypatch.setattr(components_module, "APART", 100)
    X1, e1, w1 = moons(150)
    X2, e2, w2 = moons(120, seed=2)
    X = np.concatenate([X1, X2 + 10, [[50.0, 50.0], [51.0, 50.0]]])
    edges = np.concatenate([e1, e2 + 150, [[270, 271]]])
    weights = np.concatenate([w1, w2, [1.0]])
    one = solve_path(X, edges, weights, max_gammas=12, n_jobs=1)
    two = solve_path(X, edges, weights, max_gammas=12, n_jobs=2)
    assert one.certified.all()
    np.testing.assert_array_equal(one.gaps, two.gaps)
    for gamma in one.gammas[::3]:
        np.testing.assert_array_equal(one.labels(gamma), two.labels(gamma))
        np.testing.assert_array_equal(one.centroids(gamma), two.centroids(gamma))
        _, A, radius = certified_point(one, X, edges, weights, gamma)
        # a part solved alone agrees within both radii
        alone = solve_path(X1, e1, w1, one.gammas)
        _, B, small = certified_point(alone, X1, e1, w1, gamma)
        assert np.linalg.norm(A[:150] - B) <= radius + small
    assert len(one.to_linkage()) == 271


def test_interruption_leaves_what_has_been_done(moons_path):
    data, full = moons_path

    def stop(step, total, gamma, k, gap):
        if step == 4:
            raise KeyboardInterrupt

    path = solve_path(*data, full.gammas, callback=stop)
    assert not path.complete
    assert len(path) == 5
    np.testing.assert_array_equal(path.labels(path.gammas[-1]), full.labels(full.gammas[4]))


@pytest.mark.parametrize("certify", ["path", False])
def test_a_resumed_path_is_the_same(tmp_path, monkeypatch, certify, moons_path):
    (X, edges, weights), full = moons_path
    full = full if certify else solve_path(X, edges, weights, full.gammas, certify=False)
    monkeypatch.setattr(checkpoint_module, "EVERY", 0.0)
    file = tmp_path / "path"

    def stop(step, total, gamma, k, gap):
        if step == 25:
            raise KeyboardInterrupt

    solve_path(X, edges, weights, full.gammas, certify=certify, checkpoint=file, callback=stop)
    steps = []
    resumed = solve_path(
        X,
        edges,
        weights,
        full.gammas,
        certify=certify,
        checkpoint=file,
        callback=lambda step, *rest: steps.append(step),
    )
    assert steps[0] == 26
    assert resumed.complete
    np.testing.assert_array_equal(resumed.n_clusters, full.n_clusters)
    if certify:
        assert resumed.certified.all()
    for gamma in resumed.gammas[::5]:
        np.testing.assert_array_equal(resumed.labels(gamma), full.labels(gamma))
        # both are within their radius of the optimum; restoring λ exactly leaves round-off only
        np.testing.assert_allclose(resumed.centroids(gamma), full.centroids(gamma), atol=1e-6)
    with pytest.raises(ValueError, match="another problem"):
        solve_path(X + 1, edges, weights, full.gammas, certify=certify, checkpoint=file)
    assert [f.name for f in tmp_path.iterdir()] == ["path"]


def test_a_damaged_checkpoint_is_refused_by_a_sentence(tmp_path):
    """Whatever was done to the file: the path is that of the undamaged one, or the file refused."""
    problem = [[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.1, 1.2, 4.0]
    file = tmp_path / "path"
    whole = solve_path(*problem, checkpoint=file)
    raw = file.read_bytes()
    flipped = [raw[:k] + bytes([raw[k] ^ 0x55]) + raw[k + 1 :] for k in range(0, len(raw), 41)]
    cut = [raw[: len(raw) * k // 10] for k in range(10)]
    sentences = []
    for damaged in (*flipped, *cut, b"hello\n"):
        file.write_bytes(damaged)
        try:
            again = solve_path(*problem, checkpoint=file)
        except ValueError as error:
            sentences.append(str(error))
        else:  # the byte lies in zip's own bookkeeping
            np.testing.assert_array_equal(again.to_linkage(), whole.to_linkage())
    assert len(sentences) > len(flipped) / 2 + len(cut)
    assert all(str(file) in sentence and "\n" not in sentence for sentence in sentences)
    with pytest.raises(FileNotFoundError, match="folder of the checkpoint"):
        solve_path(*problem, checkpoint=tmp_path / "missing" / "path")


def test_without_certificates_the_gaps_are_unknown(moons_path):
    data, full = moons_path
    path = solve_path(*data, full.gammas, certify="selected")
    assert np.isnan(path.gaps).all()
    assert not path.certified.any()
    gamma = full.gammas[24]
    problem, A, radius = certified_point(full, *data, gamma)
    B = path.centroids(gamma)[path.labels(gamma)]
    # its own gap is unknown; the objective shows that it solves the reduced problem
    assert problem.objective(B) <= problem.objective(A) + 1e-5 * problem.scale
    assert radius > 0


@pytest.mark.parametrize(
    ("Z", "edges", "weights"),
    [
        ([[1.0, 2.0]], [], []),
        ([[0.0], [1.0], [2.0]], [], []),
        ([[1.0], [1.0], [1.0]], [[0, 1], [1, 2]], [1.0, 1.0]),
        ([[0.0], [0.0], [1.0]], [[0, 1], [1, 2]], [1.0, 1.0]),
        ([[0.0], [1.0]], [[0, 1]], [1e-9]),
    ],
    ids=["one sample", "no edges", "all equal", "duplicates", "tiny weight"],
)
def test_degenerate_input(Z, edges, weights):
    path = solve_path(Z, edges, weights)
    assert path.certified.all()
    assert len(path.to_linkage()) == len(Z) - 1
    path = solve_path(Z, edges, weights, [0.0, 0.3])
    assert path.certified.all()


def test_nothing_of_the_users_is_changed():
    X, edges, weights = moons(60)
    copies = X.copy(), edges.copy(), weights.copy()
    solve_path(X, edges, weights, max_gammas=8)
    for mine, copy in zip((X, edges, weights), copies):
        np.testing.assert_array_equal(mine, copy)


def test_bad_arguments_are_named():
    X, edges, weights = moons(40)
    with pytest.raises(ValueError, match="certify"):
        solve_path(X, edges, weights, certify="yes")
    with pytest.raises(ValueError, match="gammas"):
        solve_path(X, edges, weights, [])
    with pytest.raises(ValueError, match="gammas"):
        solve_path(X, edges, weights, [-1.0])
    with pytest.raises(ValueError, match="tol"):
        solve_path(X, edges, weights, tol=0.0)
    with pytest.raises(ValueError, match="tol_relative_to"):
        solve_path(X, edges, weights, tol_relative_to="x")


def test_a_cold_start_where_almost_everything_has_fused():
    X, edges, _ = moons(600)
    weights = 10 ** np.random.default_rng(0).uniform(-8, 0, len(edges))
    path = solve_path(X, edges, weights)
    assert path.certified.all()
    cold = solve_path(X, edges, weights, path.gammas[30:31])
    assert cold.certified.all()
    _, A, radius = certified_point(path, X, edges, weights, path.gammas[30])
    _, B, cold_radius = certified_point(cold, X, edges, weights, path.gammas[30])
    assert np.linalg.norm(A - B) <= radius + cold_radius


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("margin", [1e-7, 1e-3])
def test_an_edge_whose_square_underflows_fuses_nothing(dtype, margin):
    """Its ‖λ‖² is 0 also where it is saturated; in the reading it held samples far apart."""
    least = float(np.sqrt(np.finfo(dtype).tiny))
    tail, head = np.array([0, 1, 2]), np.array([1, 2, 3])
    c = np.array([1.0, 1.2e-8 * least, 10 * least])
    Lam = np.array([[0.5, 0.0], [c[1] * np.sqrt(0.5)] * 2, [0.0, 9 * least]], dtype)
    labels, count = fuse(tail, head, c, Lam, 4, margin)
    assert labels.tolist() == [0, 0, 1, 1]
    assert count == 2


@pytest.mark.parametrize("solver", ["ssnal", "admm"])
def test_solvers_read_no_fusion_off_an_edge_whose_square_underflows(solver):
    Z = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 0.0], [5.1, 0.0]])
    edges, weights = [[0, 1], [1, 2], [2, 3]], [1.0, 1e-170, 1.0]
    solution = solve(Z, edges, weights, 0.5, solver=solver, tol=1e-9)
    assert solution.relative_gap <= 1e-9
    assert len(np.unique(solution.A, axis=0)) == 2


def test_a_dense_graph_with_weak_edges_is_solved():
    """Weights over 160 decades: edges too weak to be squared were taken for fused ones."""
    Z = np.random.default_rng(1).normal(size=(300, 2))
    i, j = np.triu_indices(300, 1)
    square = ((Z[i] - Z[j]) ** 2).sum(axis=1)
    weights = np.exp(-20 * square / np.median(square))
    path = solve_path(Z, np.column_stack([i, j]), weights, [3.64, 7.39], n_jobs=1)
    assert path.certified.all()


@pytest.mark.parametrize("certify", ["selected", False])
def test_a_refined_grid_with_rotations_ends_whatever_is_certified(certify):
    """A γ halfway restores an earlier state, whose coordinates may be others."""
    Z, edges, weights, _ = kill_and_resume.wide(np.random.default_rng(1))
    path = solve_path(Z, edges, weights, certify=certify)
    assert path.complete
    assert len(path) > 40  # the automatic grid has so many
    assert path.n_clusters[-1] == 4  # blobs that no edge joins
