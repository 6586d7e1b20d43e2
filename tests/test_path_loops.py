"""Each compiled loop of the path against its plain NumPy twin."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import lsqr

from convexcluster.certificate import duality_gap, project
from convexcluster.graph import incidence
from convexcluster.loops.clusters import cluster_means, forest, fuse, gap_parts
from convexcluster.loops.levels import (
    add_rows,
    contract_edges,
    extrapolate_inside,
    lift_duals,
    lower_duals,
)
from convexcluster.loops.routing import conductances, push, residuals, subgraph
from convexcluster.loops.sweeps import dual_loss, momentum, set_points, sweep
from convexcluster.numerics import multigrid
from convexcluster.numerics.laplacian import laplacian
from convexcluster.path.levels import Link
from convexcluster.problem import Problem


class Case:
    """A random graph with feasible duals, some saturated."""

    def __init__(self, seed: int, n: int = 25, r: int = 2) -> None:
        rng = np.random.default_rng(seed)
        pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
        self.edges = pairs[np.sort(rng.choice(len(pairs), 3 * n, replace=False))]
        self.tail, self.head = (np.ascontiguousarray(e) for e in self.edges.T)
        self.w = rng.uniform(0.1, 2.0, len(self.edges))
        self.masses = rng.uniform(0.5, 3.0, n)
        self.inv_mass, self.n, self.r = 1 / self.masses, n, r
        self.Z = rng.normal(size=(n, r))
        self.MZ = self.masses[:, None] * self.Z
        self.c = 0.3 * self.w
        self.Lam = project(rng.normal(size=(len(self.w), r)) * 0.3, self.c)
        self.A = np.empty((n, r))
        given = self.tail, self.head, self.MZ, self.inv_mass, self.Lam, self.A
        for start, stop in ((0, n // 3), (n // 3, n)):  # the points of one part of the nodes each
            meet = np.flatnonzero((self.tail < stop) & (self.head >= start))
            set_points(*given, meet, start, stop)
        self.labels = np.unique(rng.integers(0, 6, n), return_inverse=True)[1].astype(np.int64)
        self.count = int(self.labels.max()) + 1
        self.D = incidence(self.edges, n)


@pytest.fixture(params=[(0, 2), (1, 2), (2, 1), (3, 7)], ids=str)
def case(request) -> Case:
    seed, r = request.param
    return Case(seed, r=r)


def test_points_are_the_dual_point(case):
    np.testing.assert_allclose(
        case.A, case.Z - (case.D.T @ case.Lam) * case.inv_mass[:, None], atol=1e-13
    )


def test_a_sweep_is_its_formula_edge_by_edge(case):
    Lam, a = case.Lam.copy(), case.A.copy()
    order = np.random.default_rng(0).permutation(len(case.w))[:40]
    for direction in (order, order[::-1]):
        for e in direction:
            i, j = case.edges[e]
            step = 1 / (case.inv_mass[i] + case.inv_mass[j])
            if (Lam[e] ** 2).sum() > (1 - 1e-6) * case.c[e] ** 2:
                step *= 0.5
            new = project((Lam[e] + step * (a[i] - a[j]))[None], case.c[e : e + 1])[0]
            a[i] -= (new - Lam[e]) * case.inv_mass[i]
            a[j] += (new - Lam[e]) * case.inv_mass[j]
            Lam[e] = new
    sweep(case.tail, case.head, case.c, case.inv_mass, case.A, case.Lam, order, 2, np.float64(0.5))
    np.testing.assert_allclose(case.Lam, Lam, atol=1e-12)
    np.testing.assert_allclose(case.A, a, atol=1e-12)


def test_sweeps_raise_the_dual_and_stay_feasible(case):
    every = np.arange(len(case.w))
    values = [dual_loss(case.masses, case.A)]
    for _ in range(5):
        sweep(
            case.tail, case.head, case.c, case.inv_mass, case.A, case.Lam, every, 1, np.float64(0.5)
        )
        values.append(dual_loss(case.masses, case.A))
    assert (np.diff(values) <= 1e-12).all()
    assert (np.linalg.norm(case.Lam, axis=1) <= case.c * (1 + 1e-12)).all()


def test_momentum_extrapolates_and_projects(case):
    last = 0.7 * case.Lam
    expected = project(case.Lam + 0.6 * (case.Lam - last), case.c)
    old = case.Lam.copy()
    every = np.arange(len(case.tail))
    momentum(
        case.tail, case.head, case.c, case.inv_mass, case.A, case.Lam, last, every, np.float64(0.6)
    )
    np.testing.assert_allclose(case.Lam, expected, atol=1e-13)
    np.testing.assert_array_equal(last, old)
    dual = case.Z - (case.D.T @ expected) * case.inv_mass[:, None]
    np.testing.assert_allclose(case.A, dual, atol=1e-12)


def test_momentum_without_bound_extrapolates(case):
    last, old, every = 0.7 * case.Lam, case.Lam.copy(), np.arange(len(case.tail))
    unbounded = np.full_like(case.c, np.inf)
    given = case.tail, case.head, unbounded, case.inv_mass, case.A, case.Lam
    momentum(*given, last, every, np.float64(0.6))
    np.testing.assert_allclose(case.Lam, old + 0.6 * 0.3 * old, rtol=1e-13)
    dual = case.Z - (case.D.T @ case.Lam) * case.inv_mass[:, None]
    np.testing.assert_allclose(case.A, dual, atol=1e-12)


def test_a_sweep_keeps_zeros_and_does_not_hide_nan_or_infinity(case):
    every, damp = np.arange(len(case.tail)), np.float64(0.5)

    def swept(c, A, Lam):
        sweep(case.tail, case.head, c, case.inv_mass, A, Lam, every, 1, damp)
        return Lam, A

    still, A = swept(case.c, np.ones_like(case.Z), np.zeros_like(case.Lam))
    assert (still == 0).all()
    assert (A == 1).all()
    closed, _ = swept(np.zeros_like(case.c), case.A.copy(), case.Lam.copy())
    assert (closed == 0).all()  # a ball of radius zero
    unbounded, _ = swept(np.full_like(case.c, np.inf), case.A.copy(), case.Lam.copy())
    assert np.isfinite(unbounded).all()
    broken = case.A.copy()
    broken[case.tail[0]] = np.nan
    _, A = swept(case.c, broken, case.Lam.copy())
    assert np.isnan(A[case.tail[0]]).all()


def test_fused_components(case):
    labels, count = fuse(case.tail, case.head, case.c, case.Lam, case.n, 1e-3)
    free = np.linalg.norm(case.Lam, axis=1) < case.c * (1 - 1e-3)
    D = incidence(case.edges[free], case.n)
    found, expected = connected_components(abs(D).T @ abs(D), directed=False)
    assert count == found
    pairs = {(int(a), int(b)) for a, b in zip(labels, expected)}
    assert len(pairs) == count  # the same partition under other names
    _, first = np.unique(labels, return_index=True)
    assert (np.diff(first) > 0).all()


def test_gap_parts_are_the_duality_gap(case):
    center = cluster_means(case.masses, case.A, case.labels, case.count)
    for t in range(case.count):
        own = case.labels == t
        np.testing.assert_allclose(
            center[t], np.average(case.A[own], axis=0, weights=case.masses[own])
        )
    parts = gap_parts(
        case.tail, case.head, case.c, case.masses, case.A, case.Lam, case.labels, center
    )
    problem = Problem(case.Z, case.edges, case.w, 0.3, case.masses)
    assert sum(parts) == pytest.approx(duality_gap(problem, center[case.labels], case.Lam))


def below(up):
    """Edges below by the edge above, and where those of each begin."""
    link = Link(np.empty(0, np.int64), up, np.empty(0))
    return link.order, link.start


def test_contraction_sums_and_shares(case):
    new_tail, new_head, W, up, share = contract_edges(
        case.tail, case.head, case.w, case.labels, case.count
    )
    inside = case.labels[case.tail] == case.labels[case.head]
    np.testing.assert_array_equal(up < 0, inside)
    assert W.sum() == pytest.approx(case.w[~inside].sum())
    assert len(set(zip(new_tail.tolist(), new_head.tolist()))) == len(new_tail)
    assert (new_tail < new_head).all()
    np.testing.assert_allclose(np.bincount(up[~inside], np.abs(share[~inside])), 1.0)
    above = np.empty((len(new_tail), case.r))
    lift_duals(*below(up), share, case.Lam, above)
    # the flow out of each group is the same on both levels
    flow = np.zeros((case.count, case.r))
    add_rows(flow, case.labels, np.ascontiguousarray(case.D.T @ case.Lam))
    coarse = incidence(np.stack([new_tail, new_head], axis=1), case.count).T @ above
    np.testing.assert_allclose(coarse, flow, atol=1e-12)


def test_duals_come_down_parallel_between_and_as_changes_inside(case):
    *_, W, up, share = contract_edges(case.tail, case.head, case.w, case.labels, case.count)
    before = np.empty((len(W), case.r))
    lift_duals(*below(up), share, case.Lam, before)
    above = before + 0.01
    clusters = case.labels // 2  # some groups are now together
    Lam = case.Lam.copy()
    inside = lower_duals(case.tail, case.head, case.c, up, share, clusters, case.Lam, above, before)
    same = clusters[case.tail] == clusters[case.head]
    np.testing.assert_array_equal(inside, np.flatnonzero(same))
    between = ~same
    np.testing.assert_allclose(
        case.Lam[between], share[between, None] * above[up[between]], atol=1e-13
    )
    change = np.where(up[:, None] >= 0, share[:, None] * (above - before)[up], 0.0)
    np.testing.assert_allclose(case.Lam[same], project(Lam + change, case.c)[same], atol=1e-13)


def test_extrapolation_is_affine_inside_and_clipped(case):
    last, Lam = 0.8 * case.Lam, case.Lam.copy()
    inside = case.labels[case.tail] == case.labels[case.head]
    expected = np.where(inside[:, None], project(Lam + 1.5 * (Lam - last), case.c), Lam)
    extrapolate_inside(inside, case.c, case.Lam, last, 1.5)
    np.testing.assert_allclose(case.Lam, expected, atol=1e-13)
    np.testing.assert_array_equal(last, Lam)


def test_routing_loops(case):
    center = cluster_means(case.masses, case.A, case.labels, case.count)
    error = 0.5 * case.masses * ((case.A - center[case.labels]) ** 2).sum(axis=1)
    by_cluster = residuals(case.masses, case.A, case.labels, center)
    np.testing.assert_allclose(by_cluster, np.bincount(case.labels, error))
    wanted = np.arange(case.count) % 2 == 0
    nodes, inside, own_tail, own_head = subgraph(case.tail, case.head, case.labels, wanted)
    np.testing.assert_array_equal(nodes, np.flatnonzero(wanted[case.labels]))
    np.testing.assert_array_equal(nodes[own_tail], case.tail[inside])
    np.testing.assert_array_equal(nodes[own_head], case.head[inside])
    kappa = conductances(case.c, case.w, inside, case.Lam, 0.02)
    used = np.linalg.norm(case.Lam[inside], axis=1) / case.c[inside]
    np.testing.assert_allclose(kappa, case.w[inside] * np.maximum(1 - used, 0.02))
    kappa = np.random.default_rng(2).random(len(case.c))
    y = np.random.default_rng(1).normal(size=case.A.shape)
    expected = project(case.Lam + kappa[:, None] * (y[case.tail] - y[case.head]), case.c)
    push(case.tail, case.head, case.c, case.inv_mass, kappa, y, case.Lam, case.A)
    np.testing.assert_allclose(case.Lam, expected, atol=1e-12)
    dual = case.Z - (case.D.T @ expected) * case.inv_mass[:, None]
    np.testing.assert_allclose(case.A, dual, atol=1e-12)


def test_forest_is_kruskal():
    ends = np.array([[0, 1], [1, 2], [0, 2], [3, 4], [2, 3]])
    np.testing.assert_array_equal(forest(ends, 5), [True, True, False, True, True])


@pytest.mark.parametrize("decades", [0.0, 2.0, 8.0])
@pytest.mark.parametrize("r", [1, 2, 5])
def test_multigrid_solves_laplacians(decades, r):
    rng = np.random.default_rng(3)
    n = 400
    angle = np.sort(rng.uniform(0, 2 * np.pi, n))
    edges = np.array([(i, (i + s) % n) for i in range(n) for s in (1, 2, 3)])
    edges = np.unique(np.sort(edges, axis=1), axis=0)
    kappa = 10 ** rng.uniform(-decades, 0, len(edges))
    rhs = np.stack([np.cos((k + 1) * angle) for k in range(r)], axis=1)
    rhs -= rhs.mean(axis=0)
    y = multigrid.solve(
        n, *(np.ascontiguousarray(e) for e in edges.T), kappa, rhs, reduction=1e-8, max_iter=300
    )
    left = rhs - laplacian(edges, kappa, n) @ y
    # single precision conductances: 6e-8 of the flow, which is at most ‖rhs‖ times the diameter
    assert (left**2).sum() <= 1e-7 * (rhs**2).sum()
    ground = np.full(n, 0.1)
    y = multigrid.solve(
        n,
        *(np.ascontiguousarray(e) for e in edges.T),
        kappa,
        rhs,
        ground=ground,
        reduction=1e-8,
        max_iter=300,
    )
    A = laplacian(edges, kappa, n).toarray() + np.diag(ground)
    assert ((rhs - A @ y) ** 2).sum() <= 1e-7 * (rhs**2).sum()


def test_multigrid_on_several_components_and_nothing():
    edges = np.array([[0, 1], [1, 2], [3, 4]])
    tail, head = (np.ascontiguousarray(e) for e in edges.T)
    rhs = np.array([[1.0], [0.0], [-1.0], [2.0], [-2.0]])
    y = multigrid.solve(5, tail, head, np.ones(3), rhs, reduction=1e-10)
    np.testing.assert_allclose(laplacian(edges, np.ones(3), 5) @ y, rhs, atol=1e-5)
    exact = lsqr(laplacian(edges, np.ones(3), 5), rhs[:, 0])[0]
    np.testing.assert_allclose(np.diff(y[:3, 0]), np.diff(exact[:3]), atol=1e-5)
    assert not multigrid.solve(5, tail, head, np.ones(3), 0 * rhs, reduction=0.1).any()
