"""The pieces of the path: Newton before fusions and on tops, halves of a job, extrapolation."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from convexcluster import solve, solve_path
from convexcluster.certificate import duality_gap, project
from convexcluster.graph import incidence
from convexcluster.loops.newton import add_pulls, full_pulls
from convexcluster.loops.routing import best_steps, changes, residuals, stretch
from convexcluster.numerics import multigrid
from convexcluster.numerics.aggregation import _finest, _largest
from convexcluster.numerics.laplacian import laplacian
from convexcluster.numerics.workspace import Workspace
from convexcluster.path import checkpoint as checkpoint_module
from convexcluster.path import engine, fusion_value, halves, levels, rotate, route
from convexcluster.path import inside as inside_module
from convexcluster.path import top as top_module
from convexcluster.path.halves import over_halves, second_half, side_by_side
from convexcluster.path.inside import Inside
from convexcluster.path.levels import Level
from convexcluster.path.mixed import cut_out, surroundings
from convexcluster.path.newton import Newton
from convexcluster.path.top import solve_top
from convexcluster.problem import Problem
from convexcluster.weights import automatic_graph
from problems import knn_edges


def knn(X, k=8):
    edges, squares = knn_edges(X, k)
    return edges, np.exp(-0.5 * squares / X.shape[1])


def level_of(X, edges, weights, masses=None):
    m = np.ones(len(X)) if masses is None else masses
    tail, head = (np.ascontiguousarray(e) for e in edges.T)
    level = Level.of(tail, head, weights, m, m[:, None] * X, np.zeros((len(tail), X.shape[1])))
    level.refresh()
    return level


@pytest.fixture(scope="module")
def wide():
    X, _ = make_blobs(120, n_features=20, centers=3, random_state=0)
    X = X - X.mean(axis=0)
    return X, *knn(X)


@pytest.mark.parametrize("back", [True, False])
def test_a_level_with_no_way_back_gives_up_the_copy_of_its_duals(wide, back):
    level = level_of(*wide)
    copy = level.duals.copied()
    level.contract(np.arange(level.n) // 2, level.n // 2, back=back)
    assert np.shares_memory(level.duals.copied(), copy) == back


def test_newton_before_fusions_has_the_gap_that_it_says(wide):
    X, edges, weights = wide
    masses = np.random.default_rng(0).uniform(0.5, 2, len(X))
    smooth = Newton(level_of(X, edges, weights, masses))
    for gamma in (0.01, 0.03, 0.08):
        point = smooth.advance(gamma, gamma * weights, 1e-8)
        assert point is not None
        assert point.gap <= 1e-8
        problem = Problem.of(X, edges, weights, gamma, masses)
        Lam = np.empty((len(edges), X.shape[1]))
        smooth.duals(gamma * weights, Lam)
        # both are sums of squares of the same gradient; the objective's own digits are lost
        rounding = 1e-14 * problem.objective(point.A)
        gap = duality_gap(problem, point.A, project(Lam, problem.c))
        assert gap == pytest.approx(point.gap, abs=rounding)
        exact = solve(X, edges, weights, gamma, masses=masses, tol=1e-10)
        radius = np.sqrt(2 * point.gap) + np.sqrt(2 * exact.gap)
        assert np.sqrt((masses[:, None] * (point.A - exact.A) ** 2).sum()) <= radius


def test_pulls_are_the_gradient_of_the_distances(wide):
    X, edges, weights = wide
    rng = np.random.default_rng(8)
    A, G, Lam = rng.normal(size=X.shape), np.zeros_like(X), np.empty((len(edges), X.shape[1]))
    i, j = (np.ascontiguousarray(e) for e in edges.T)
    full_pulls(i, j, weights, A, Lam)
    D = A[i] - A[j]
    length = np.linalg.norm(D, axis=1)
    np.testing.assert_allclose(Lam, (weights / length)[:, None] * D, rtol=1e-12)
    u, stiff = np.empty(D.shape, np.float32), np.empty(len(D), np.float32)
    least = add_pulls(i, j, weights, A, u, stiff, G, np.arange(len(D)))
    assert least == pytest.approx((length / weights).min(), rel=1e-13)
    np.testing.assert_allclose(G, incidence(edges, len(X)).T @ Lam, atol=1e-12)
    np.testing.assert_allclose(u, D / length[:, None], atol=1e-6)  # single precision
    np.testing.assert_allclose(stiff, weights / length, rtol=1e-6)
    A[j[0]] = A[i[0]]
    full_pulls(i, j, weights, A, Lam)
    assert (Lam[0] == 0).all()
    assert add_pulls(i, j, weights, A, u, stiff, G, np.arange(len(D))) == 0


def test_newton_gives_up_where_samples_fuse(wide):
    X, edges, weights = wide
    smooth = Newton(level_of(X, edges, weights))
    assert smooth.advance(0.01, 0.01 * weights, 1e-8) is not None
    assert smooth.advance(100.0, 100 * weights, 1e-8) is None
    twice = np.concatenate([X, X])  # equal samples have fused before the path begins
    pairs = np.concatenate([edges, np.stack([np.arange(len(X)), np.arange(len(X)) + len(X)], 1)])
    heavier = np.concatenate([weights, np.ones(len(X))])
    assert Newton(level_of(twice, pairs, heavier)).advance(0.01, 0.01 * heavier, 1e-8) is None


def test_a_wide_path_is_certified_and_resumes_before_its_first_fusion(wide, tmp_path, monkeypatch):
    full = solve_path(*wide)
    assert full.certified.all()
    assert full.n_clusters[8] == len(wide[0])
    monkeypatch.setattr(checkpoint_module, "EVERY", 0.0)
    file = tmp_path / "path.npz"

    def stop(step, *rest):
        if step == 6:
            raise KeyboardInterrupt

    solve_path(*wide, full.gammas, checkpoint=file, callback=stop)
    resumed = solve_path(*wide, full.gammas, checkpoint=file)
    np.testing.assert_array_equal(resumed.gaps, full.gaps)
    np.testing.assert_array_equal(resumed.n_clusters, full.n_clusters)
    for gamma in full.gammas[::4]:
        np.testing.assert_array_equal(resumed.centroids(gamma), full.centroids(gamma))


def test_without_certificates_a_path_goes_on_in_the_span_of_its_clusters(
    wide, tmp_path, monkeypatch
):
    full = solve_path(*wide)
    turned = []
    monkeypatch.setattr(
        engine, "span", lambda top: (turned.append(rotate.span(top)), turned[-1])[1]
    )
    outline = solve_path(*wide, full.gammas, certify=False)
    assert any(Q is not None for Q in turned)
    for gamma in full.gammas[::3]:
        problem = Problem.of(*wide, gamma)
        A = full.centroids(gamma)[full.labels(gamma)]
        B = outline.centroids(gamma)[outline.labels(gamma)]
        # both solve to 1e-6 of the scale, the outline where its clusters are those of the optimum
        assert problem.objective(B) <= problem.objective(A) + 1e-5 * problem.scale
    monkeypatch.setattr(checkpoint_module, "EVERY", 0.0)
    file = tmp_path / "path.npz"

    def stop(step, *rest):
        if outline.n_clusters[step] < 10:
            raise KeyboardInterrupt

    solve_path(*wide, full.gammas, certify=False, checkpoint=file, callback=stop)
    resumed = solve_path(*wide, full.gammas, certify=False, checkpoint=file)
    np.testing.assert_array_equal(resumed.n_clusters, outline.n_clusters)
    for gamma in full.gammas[::4]:
        np.testing.assert_allclose(resumed.centroids(gamma), outline.centroids(gamma), atol=1e-6)


def test_an_outline_may_refine_its_grid_more_than_once_after_a_rotation():
    X, _ = make_blobs(120, n_features=60, centers=3, random_state=0)
    edges, weights = knn(X)
    refined = solve_path(X, edges, weights, certify="selected")
    assert len(refined) > 41
    straight = solve_path(X, edges, weights, refined.gammas, certify="selected")
    np.testing.assert_array_equal(refined.n_clusters, straight.n_clusters)
    for gamma in refined.gammas[::4]:
        np.testing.assert_allclose(
            refined.centroids(gamma), straight.centroids(gamma), atol=1e-6 * np.abs(X).max()
        )


@pytest.mark.parametrize("turn", [False, True])
def test_principal_axes_are_found_or_kept(turn):
    rng = np.random.default_rng(4)
    masses = rng.uniform(0.5, 2, 60)
    U = np.linalg.qr(rng.normal(size=(60, 6)))[0]
    Z = U * np.array([9.0, 5.0, 3.0, 1.0, 1e-3, 1e-4]) / np.sqrt(masses)[:, None]
    Q = np.linalg.qr(rng.normal(size=(6, 6)))[0] if turn else np.eye(6)
    basis, lost = rotate.principal(masses[:, None] * (Z @ Q), masses, 1e-6)
    assert basis.shape == (6, 4)
    np.testing.assert_allclose(np.abs(Q @ basis), np.eye(6)[:, :4], atol=1e-7)
    # the two small axes; their squares stand beside 81, whose rounding is 1e-14
    assert lost == pytest.approx(0.5 * (1e-6 + 1e-8), abs=1e-13)


def test_threads_change_nothing_in_a_graph_of_one_piece(monkeypatch):
    monkeypatch.setattr(levels, "HALVED_NUMBERS", 500)  # so that every kind of job is halved
    for module in (halves, route):
        monkeypatch.setattr(module, "HALVED_EDGES", 500)
    X, _ = make_moons(600, noise=0.05, random_state=0)
    edges, weights = knn(X - X.mean(axis=0))
    one = solve_path(X, edges, weights, n_jobs=1)
    two = solve_path(X, edges, weights, n_jobs=2)
    assert one.certified.all()
    np.testing.assert_array_equal(one.gaps, two.gaps)
    for gamma in one.gammas[::6]:
        np.testing.assert_array_equal(one.labels(gamma), two.labels(gamma))
        np.testing.assert_array_equal(one.centroids(gamma), two.centroids(gamma))


def test_halves_have_half_of_the_edges_and_share_no_node(wide):
    sizes = np.random.default_rng(0).integers(1, 900, 60)
    second = second_half(sizes)
    assert abs(int(sizes[second].sum()) - sizes.sum() / 2) <= sizes.max()
    assert not second_half(np.array([5, 6])).any()
    X = np.random.default_rng(0).normal(size=(3_000, 9))
    level = level_of(X, *knn(X))
    first, other, across = level.halves()
    np.testing.assert_array_equal(np.sort(np.concatenate([first, other, across])), level.every)
    ends = [set(level.tail[part]) | set(level.head[part]) for part in (first, other)]
    assert not ends[0] & ends[1]
    seen = []
    with ThreadPoolExecutor(2) as pool:
        over_halves(level, lambda tail, head, part: seen.append(len(part)), pool)
        assert side_by_side(pool, lambda x: x + 1, [(1,), (2,)]) == [2, 3]
    assert sorted(seen) == sorted(len(part) for part in level.halves())


@pytest.mark.parametrize("r", [1, 2, 5])
def test_the_best_step_along_the_change_of_a_flow_is_the_best(r):
    rng = np.random.default_rng(r)
    X = rng.normal(size=(80, r))
    edges, weights = knn(X)
    level = level_of(X, edges, weights, rng.uniform(0.5, 2, 80))
    labels = (np.arange(80) % 3).astype(np.int64)
    inside = np.flatnonzero(labels[edges[:, 0]] == labels[edges[:, 1]])
    last = rng.normal(size=level.Lam.shape)
    level.Lam[:] = rng.normal(size=level.Lam.shape)
    level.refresh()
    center = rng.normal(size=(3, r))
    v = np.zeros_like(level.A)
    changes(level.tail, level.head, level.Lam, last, v, inside)
    steps = best_steps(level.masses, level.A, v, labels, center)
    wide_open = np.full(len(edges), 1e9)

    def after(steps):
        moved = level_of(X, edges, weights, level.masses)
        moved.Lam[:] = level.Lam
        stretch(moved.tail, wide_open, moved.Lam, last, inside, labels, steps)
        moved.refresh()
        return residuals(moved.masses, moved.A, labels, center)

    best = after(steps)
    for other in (steps - 0.01, steps + 0.01, 0 * steps):
        assert (best <= after(other) * (1 + 1e-12)).all()
    np.testing.assert_allclose(after(0 * steps), residuals(level.masses, level.A, labels, center))
    tight = np.full(len(edges), 0.1)
    stretch(level.tail, tight, level.Lam, last, inside, labels, np.ones(3))
    assert np.linalg.norm(level.Lam[inside], axis=1).max() <= 0.1 * (1 + 1e-12)


def test_newton_takes_over_where_sweeps_are_slow(monkeypatch):
    """A long chain of heavy nodes that are all joined: sweeps carry its flow node by node."""
    monkeypatch.setattr(top_module, "MAX_PASSES", 8)
    monkeypatch.setattr(top_module, "CALLS", 0)
    n = 60
    Z = np.stack([np.linspace(0, 1, n), np.cos(np.arange(n))], axis=1)
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    weights, masses = np.ones(n - 1), np.random.default_rng(0).uniform(1, 1000, n)
    level = level_of(Z - masses @ Z / masses.sum(), edges, weights, masses)
    gamma = 50.0
    target = 1e-7 * Problem.of(Z, edges, weights, gamma, masses).scale
    found = solve_top(level, gamma * weights, target)
    assert found.passes == 8
    assert found.gap <= target
    problem = Problem.of(Z - masses @ Z / masses.sum(), edges, weights, gamma, masses)
    gap = duality_gap(problem, found.center[found.labels], level.Lam)
    assert gap == pytest.approx(found.gap, abs=1e-13 * problem.scale)
    exact = solve(problem.Z, edges, weights, gamma, masses=masses, tol=1e-10)
    assert found.count == len(np.unique(exact.A.round(7), axis=0))


def test_the_largest_eigenvalue_on_a_bipartite_graph_is_two():
    n = 400
    tail, head, kappa = np.arange(n - 1), np.arange(1, n), np.ones(n - 1)
    A = _finest(n, tail, head, kappa, np.zeros(n))
    assert 1.7 < _largest(A.ptr, A.col, A.val, A.diag, 8) <= 2 + 1e-6
    rhs = np.random.default_rng(0).normal(size=(n, 3))
    rhs -= rhs.mean(axis=0)
    y = multigrid.solve(n, tail, head, kappa, rhs, reduction=1e-12, max_iter=200)
    L = laplacian(np.stack([tail, head], axis=1), kappa, n)
    assert np.linalg.norm(L @ y - rhs) <= 2e-6 * np.linalg.norm(rhs)


def test_the_automatic_grid_is_refined_where_clusters_merge_in_a_rush(wide):
    coarse = solve_path(*wide, refine=False)
    fine = solve_path(*wide)
    assert len(coarse) < len(fine) <= 50
    assert fine.certified.all()
    assert set(coarse.gammas) <= set(fine.gammas)
    drop = coarse.n_clusters[1:] / coarse.n_clusters[:-1]
    rush = int(np.argmin(drop))
    assert drop[rush] < 0.5
    between = (fine.gammas > coarse.gammas[rush]) & (fine.gammas < coarse.gammas[rush + 1])
    assert between.any()
    # the steps that both have are the same problem: within both radii of its optimum
    for gamma in coarse.gammas[::5]:
        A, B = (path.centroids(gamma)[path.labels(gamma)] for path in (coarse, fine))
        gaps = coarse.gaps[coarse.step(gamma)], fine.gaps[fine.step(gamma)]
        assert np.linalg.norm(A - B) <= sum(np.sqrt(2 * gap * coarse.scale) for gap in gaps)
    own = solve_path(*wide, coarse.gammas)
    assert len(own) == len(coarse)


def test_a_refined_path_resumes_where_it_was(wide, tmp_path, monkeypatch):
    full = solve_path(*wide)
    monkeypatch.setattr(checkpoint_module, "EVERY", 0.0)
    file = tmp_path / "path.npz"
    stops = [30, 24, 18]

    def stop(step, *rest):
        if step == stops[-1]:
            raise KeyboardInterrupt

    while stops:
        assert not solve_path(*wide, checkpoint=file, callback=stop).complete
        stops.pop()
    resumed = solve_path(*wide, checkpoint=file)
    np.testing.assert_array_equal(resumed.gammas, full.gammas)
    np.testing.assert_array_equal(resumed.n_clusters, full.n_clusters)


def test_fusion_values_narrow_down_to_the_exact_one():
    Z, edges, weights = np.array([[0.0], [1.0], [5.0]]), [[0, 1], [1, 2]], [1.0, 1.0]
    path = solve_path(Z, edges, weights, np.geomspace(0.01, 10, 7))
    # 0 moves by γ while 1 is pulled both ways: they meet at γ = 1; then (0 + 1 + γ)/2 meets 5 − γ.
    # A gap of 1e-10 leaves distances of its root: no digit beyond the fifth
    assert fusion_value(path, Z, edges, weights, 0, 1, rtol=1e-6) == pytest.approx(1.0, rel=1e-5)
    meet = fusion_value(path, Z, edges, weights, 1, 2, rtol=1e-6)
    assert meet == pytest.approx(3.0, rel=1e-5)
    short = solve_path(Z, edges, weights, [0.1, 1.2])
    assert fusion_value(short, Z, edges, weights, 0, 2) == np.inf
    with pytest.raises(ValueError, match="the path has 3 samples"):
        fusion_value(path, Z[:2], [[0, 1]], [1.0], 0, 1)


def test_fusion_values_of_a_path_lie_in_their_brackets_and_near_the_exact_ones():
    X, _ = make_moons(80, noise=0.05, random_state=0)
    X = X - X.mean(axis=0)
    edges, weights = knn(X)
    path = solve_path(X, edges, weights)
    order = np.linspace(0, len(path.merges) - 1, 6).astype(int)
    for (i, j), step, value in zip(
        path.merges[order], path.merge_steps[order], path.fusion_values[order]
    ):
        low = path.gammas[step - 1] if step else 0.0
        assert low <= value <= path.gammas[step]
        exact = fusion_value(path, X, edges, weights, i, j)
        # both ends of the bracket are certified to a gap only: allow it the width of one rtol
        assert low * (1 - 1e-4) <= exact <= path.gammas[step] * (1 + 1e-4)


def test_a_part_cut_out_has_the_points_of_the_whole():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    edges, weights = knn(X)
    level = level_of(X, edges, weights, rng.uniform(0.5, 2, 120))
    level.Lam[:] = rng.normal(size=level.Lam.shape)
    level.refresh()
    own = X[:, 0] > 0
    part, samples, inside = cut_out(level, own, 2 * weights)
    part.refresh()
    np.testing.assert_allclose(part.A, level.A[samples], atol=1e-12)
    np.testing.assert_array_equal(samples[part.tail], edges[inside, 0])
    np.testing.assert_array_equal(part.w, 2 * weights[inside])
    # a change inside moves only the points inside
    part.Lam[:] += 0.1
    part.refresh()
    level.Lam[inside] = part.Lam
    before = level.A.copy()
    level.refresh()
    np.testing.assert_allclose(level.A[samples], part.A, atol=1e-12)
    np.testing.assert_array_equal(level.A[~own], before[~own])


def test_surroundings_are_the_clusters_two_edges_away():
    chain = np.stack([np.arange(9), np.arange(1, 10)], axis=1)
    level = level_of(np.zeros((10, 1)), chain, np.ones(9))
    opened = np.zeros(10, dtype=bool)
    opened[[8, 9]] = True
    labels = np.array([0, 1, 1, 2, 3, 3, 4, 5, 6, 6])
    near = surroundings(level, labels, 7, opened)
    np.testing.assert_array_equal(np.flatnonzero(near), [4, 5, 6])


@pytest.fixture(scope="module")
def touching():
    """Two groups that touch; edges between them have a thousandth of their weight."""
    X, _ = make_blobs(600, centers=[[0, 0], [3, 0]], random_state=0)
    edges, _ = knn_edges(X, 6)
    y = X[:, 0] > 1.5
    across = y[edges[:, 0]] != y[edges[:, 1]]
    assert across.sum() > 5
    return X, y, edges, np.where(across, 1e-3, 1.0)


def test_an_outline_reaches_a_large_first_gamma_over_rungs(touching, monkeypatch):
    X, _, edges, weights = touching
    full = solve_path(X, edges, weights, [20.0], tol=1e-6, certify="path")
    assert full.certified.all()
    seen = []

    def noted(level, *given, **options):
        seen.append(level.n)
        return solve_top(level, *given, **options)

    monkeypatch.setattr(engine, "solve_top", noted)
    path = solve_path(X, edges, weights, [20.0], tol=1e-6, certify=False)
    assert seen[0] == 600  # a trial on all samples
    assert seen[-1] < 100  # the first γ itself, on what fused on the rungs
    np.testing.assert_array_equal(path.labels(step=0), full.labels(step=0))
    assert len(path.merges) == 600 - path.n_clusters[0]
    assert (path.fusion_values < 19.0).mean() > 0.9  # not all at the first γ


def test_on_rungs_nothing_fuses_along_weak_edges(touching):
    X, y, edges, weights = touching
    tail, head = (np.ascontiguousarray(e) for e in edges.T)
    base = Level.of(tail, head, weights, np.ones(600), X - X.mean(axis=0), np.zeros((len(tail), 2)))
    parts = levels.strong_parts(base, engine.STRONG)
    strong = weights == 1.0
    assert (parts[tail[strong]] == parts[head[strong]]).all()
    assert all(len(set(y[parts == t])) == 1 for t in np.unique(parts))
    base.refresh()
    apart = parts[tail] != parts[head]
    found = solve_top(base, 1e6 * weights, 1e-3, apart=apart)  # γ at which all fuses
    np.testing.assert_array_equal(found.labels, parts)


@pytest.fixture(scope="module")
def kernel_moons():
    """600 moons on the axes of a Gaussian kernel, so many that the path rotates as they fuse."""
    X, _ = make_moons(600, noise=0.05, random_state=0)
    squares = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    values, axes = np.linalg.eigh(np.exp(-squares / 0.08))
    Z = (axes * np.sqrt(np.maximum(values, 0.0)))[:, -80:]
    edges, near = knn_edges(X, 8)
    return Z - Z.mean(axis=0), edges, np.exp(-near)


@pytest.mark.parametrize("many", [0, None])
def test_rotated_paths_in_either_precision_have_the_gaps_that_they_say(
    kernel_moons, many, monkeypatch
):
    if many is not None:  # flows inside clusters in single precision, as where they are many
        monkeypatch.setattr(inside_module, "MANY", many)
    left = []
    freeze = engine.freeze

    def freezing(base, *given):
        found = freeze(base, *given)
        left.append((base.MZ.shape[1], None if found is None else found.Q.shape[1]))
        return found

    monkeypatch.setattr(engine, "freeze", freezing)
    Z, edges, weights = kernel_moons
    path = solve_path(Z, edges, weights, tol=1e-5, refine=False)
    assert path.certified.all()
    # several rotations, each from the dimensions that the one before left
    assert len([s for _, s in left if s is not None]) >= 2
    for step in (20, 28, 34):
        problem = Problem.of(Z, edges, weights, float(path.gammas[step]))
        sharp = solve(Z, edges, weights, problem.gamma, tol=1e-9)
        A = path.centroids(problem.gamma)[path.labels(step=step)]
        scale = 0.5 * float((Z**2).sum())
        excess = problem.objective(A) - problem.objective(sharp.A)
        assert excess <= path.gaps[step] * scale + 1e-12 * scale
        # ½‖A − A*‖² is at most the gap
        far = np.sqrt(2 * path.gaps[step] * scale) + np.sqrt(2 * sharp.gap)
        assert np.linalg.norm(A - sharp.A) <= far


def test_an_outline_is_the_same_without_the_trial_that_must_fail(monkeypatch):
    X = make_moons(1_500, noise=0.05, random_state=0)[0]
    graph = automatic_graph(X, n_neighbors=7, masses=np.ones(len(X)))
    gammas = np.geomspace(40.0, 4e4, 8)  # far above where edges can fuse
    without = solve_path(X, graph.edges, graph.weights, gammas, certify="selected")
    monkeypatch.setattr(engine, "HOPELESS_RUNGS", 100)
    trials = []

    def seen(*given, most=None, **options):
        trials.append(most)
        return solve_top(*given, most=most, **options)

    monkeypatch.setattr(engine, "solve_top", seen)
    trial = solve_path(X, graph.edges, graph.weights, gammas, certify="selected")
    assert engine.TRIAL in trials
    for step in range(len(gammas)):
        np.testing.assert_array_equal(without.labels(step=step), trial.labels(step=step))
        np.testing.assert_array_equal(without.centers[step], trial.centers[step])


@pytest.mark.parametrize("single", [False, True])
def test_clusters_that_are_worked_on_apart_come_back_feasible(wide, single, monkeypatch):
    monkeypatch.setattr(inside_module, "MANY", 0 if single else 1e9)
    X, edges, weights = wide
    rng = np.random.default_rng(0)
    level = level_of(X, edges, weights, rng.uniform(0.5, 2, len(X)))
    c = 0.1 * weights
    labels = (X[:, 0] > 0).astype(np.int64) + (X[:, 1] > 0)
    _, labels = np.unique(labels, return_inverse=True)
    wanted = np.array([True, False, True])
    center = np.stack([X[labels == t].mean(axis=0) for t in range(3)])
    other = level.A[labels == 1].copy()
    part = Inside.of(level, c, labels, center, wanted, Workspace())
    np.testing.assert_allclose(part.points, X[part.nodes] - center[labels[part.nodes]], atol=1e-12)
    assert part.A.dtype == (np.float32 if single else np.float64)
    before = part.loss()
    part.accelerate(0.0, 40)
    after = part.settle()
    assert not level.Lam.any()  # nothing is put yet
    assert after < 0.99 * before
    part.put()
    assert (np.linalg.norm(level.Lam, axis=1) <= c * (1 + 1e-12)).all()
    moved = level.A.copy()
    level.refresh()
    np.testing.assert_allclose(moved, level.A, atol=1e-12)  # A = M⁻¹(MZ − DᵀΛ) in double
    np.testing.assert_array_equal(level.A[labels == 1], other)
    rest = level.A[part.nodes] - center[labels[part.nodes]]
    own = 0.5 * (level.masses[part.nodes, None] * rest**2).sum()
    assert after == pytest.approx(own, rel=1e-9)


def test_points_in_two_halves_are_those_of_one_pass_to_the_last_bit(wide, monkeypatch):
    level = level_of(*wide)
    level.Lam[:] = np.random.default_rng(0).normal(size=level.Lam.shape)
    level.refresh()
    whole = level.A.copy()
    monkeypatch.setattr(levels, "HALVED_PASS", 0)
    with ThreadPoolExecutor(2) as pool:
        for threads in (None, pool):
            level.A[:] = np.nan
            level.refresh(threads)
            np.testing.assert_array_equal(level.A, whole)
