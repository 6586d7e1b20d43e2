"""Certified statements: never wrong, and said where they can be."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from convexcluster import Problem, Solution, Status, solve
from convexcluster.certificate import (
    Certificate,
    certified_different,
    certified_same,
    certify,
    certify_partition,
    dual_point,
    duality_gap,
    gap_rounding,
    on_rows,
    project,
    solution_radius,
)
from convexcluster.certificate.flows import absorbable, electrical, route
from convexcluster.certificate.partition import _Test
from convexcluster.certificate.reduced import gradient, newton, reduce
from convexcluster.graph import components, gamma_range, incidence
from convexcluster.partition import canonical, means
from convexcluster.solvers import prove


def knn_like(rng, n, extra):
    """A connected random graph: a random tree and some more edges."""
    tree = [(int(rng.integers(0, k)), k) for k in range(1, n)]
    more = [tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(extra)]
    return np.array(sorted(set(tree + more)))


def test_gap_is_primal_minus_dual():
    rng = np.random.default_rng(0)
    edges = knn_like(rng, 8, 8)
    problem = Problem.of(
        rng.normal(size=(8, 2)), edges, rng.uniform(0.1, 1, len(edges)), 0.3, rng.uniform(1, 2, 8)
    )
    A = rng.normal(size=(8, 2))
    Lam = project(rng.normal(size=(len(edges), 2)), problem.c)
    D = incidence(edges, 8)
    dual = np.sum(Lam * (D @ problem.Z)) - 0.5 * np.sum((D.T @ Lam) ** 2 / problem.masses[:, None])
    assert duality_gap(problem, A, Lam) == pytest.approx(problem.objective(A) - dual, rel=1e-12)
    np.testing.assert_allclose(
        dual_point(problem, Lam), problem.Z - (D.T @ Lam) / problem.masses[:, None]
    )


def connected_partitions(edges, n):
    """All partitions into connected clusters: components of all subsets of the edges."""
    found = set()
    for chosen in itertools.product([False, True], repeat=len(edges)):
        found.add(tuple(components(edges[np.array(chosen, dtype=bool)], n)))
    return [np.array(labels) for labels in found]


@pytest.mark.parametrize("seed", range(3))
def test_exactly_the_partition_of_the_optimum_is_certified(seed):
    # among all connected partitions of five samples at most one may be certified, and it must be
    # that of a solution to 1e-13
    rng = np.random.default_rng(seed)
    n = 5
    edges = knn_like(rng, n, 3)
    Z = rng.normal(size=(n, 2))
    weights = rng.uniform(0.3, 1.0, len(edges))
    masses = rng.uniform(0.5, 2.0, n)
    top = gamma_range(Z, edges, weights, masses)[1]
    for share in (0.15, 0.5):
        problem = Problem.of(Z, edges, weights, share * top, masses)
        best = solve(Z, edges, weights, share * top, masses=masses, tol=1e-13)
        i, j = edges.T
        truth = components(edges[(best.A[i] == best.A[j]).all(axis=1)], n)
        said = [
            labels
            for labels in connected_partitions(edges, n)
            if certify_partition(problem, labels, best.A, best.Lam) == "certified"
        ]
        assert len(said) == 1
        np.testing.assert_array_equal(said[0], truth)


def test_two_samples_at_the_kink_are_not_certified():
    # they meet exactly at γw = 2: the flow fills the edge and leaves no slack
    problem = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], gamma=2.0)
    A, Lam = np.full((2, 1), 2.0), np.array([[-2.0]])
    verdict = certify_partition(problem, np.array([0, 0]), A, Lam)
    assert verdict.startswith("not certified: the cluster of sample 0 is on the verge")
    assert certify_partition(problem.at(2.0 + 1e-6), np.array([0, 0]), A, Lam) == "certified"
    # just below, they are 2e-6 apart and certified so
    apart = np.array([[2.0 - 1e-6], [2.0 + 1e-6]])
    assert certify_partition(problem.at(2.0 - 1e-6), np.array([0, 1]), apart, Lam) == "certified"
    assert certify_partition(problem.at(2.0 - 1e-6), np.array([0, 0]), A, Lam) != "certified"


def test_wrong_labels_are_refused_with_a_reason():
    problem = Problem.of([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0], gamma=1.2)
    best = solve(problem.Z, problem.edges, problem.weights, 1.2, tol=1e-13)
    assert "verge" in certify_partition(problem, np.array([0, 0, 0]), best.A, best.Lam)
    meeting = np.array([0, 1, 2])
    assert "meet" in certify_partition(problem, meeting, best.A, best.Lam)
    nearly = best.A + np.array([[0.0], [1e-9], [0.0]])
    assert "known only to" in certify_partition(problem, meeting, nearly, best.Lam)
    assert "connected" in certify_partition(problem, np.array([0, 1, 0]), best.A, best.Lam)


def test_embedding_error_loosens_the_statement():
    problem = Problem.of([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0], gamma=1.2)
    best = solve(problem.Z, problem.edges, problem.weights, 1.2, tol=1e-13)
    assert certify(problem, best, embedding_error=1e-3).partition == "certified"
    refused = certify(problem, best, embedding_error=1.0)
    assert refused.partition.endswith("(by the embedding error 1.0e+00; without it certified)")
    assert refused.radius == pytest.approx(np.sqrt(2 * best.gap + 1.0))


def test_certified_embedding_error_survives_any_such_perturbation():
    # data moved by τ in directions of their own must keep a partition certified at τ
    rng = np.random.default_rng(0)
    n, tau, certified = 8, 0.02, 0
    for _ in range(8):
        edges = knn_like(rng, n, 6)
        Z = np.repeat([[0.0, 0.0], [3.0, 1.0]], 4, axis=0) + 0.1 * rng.normal(size=(n, 2))
        weights = np.ones(len(edges))
        problem = Problem.of(Z, edges, weights, 0.35)
        best = solve(Z, edges, weights, 0.35, tol=1e-13)
        if certify(problem, best, embedding_error=tau).partition != "certified":
            continue  # near a kink
        certified += 1
        i, j = edges.T
        truth = components(edges[(best.A[i] == best.A[j]).all(axis=1)], n)
        for _ in range(5):
            hidden = rng.normal(size=(n, 3))
            full = np.hstack([Z, tau * hidden / np.linalg.norm(hidden)])
            moved = solve(full, edges, weights, 0.35, tol=1e-13)
            again = components(edges[(moved.A[i] == moved.A[j]).all(axis=1)], n)
            np.testing.assert_array_equal(again, truth)
    assert certified >= 4


def test_different_and_same_agree_with_the_optimum():
    rng = np.random.default_rng(3)
    same = apart = 0
    for _ in range(20):
        n = 7
        edges = knn_like(rng, n, int(rng.choice([10, 100])))  # sparse, or complete
        Z = rng.normal(size=(n, 2)) * rng.choice([0.3, 1.0])
        weights = rng.uniform(0.5, 1.0, len(edges))
        masses = rng.uniform(0.8, 1.2, n)
        gamma = float(rng.choice([0.02, 0.2, 0.5]))
        problem = Problem.of(Z, edges, weights, gamma, masses)
        exact = solve(Z, edges, weights, gamma, masses=masses, tol=1e-14)
        rough = solve(Z, edges, weights, gamma, masses=masses, tol=1e-4, max_iter=3)
        i, j = edges.T
        # what 1e-14 leaves open between two samples
        blur = np.sqrt(2 * exact.gap) * np.sqrt(1 / masses[i] + 1 / masses[j]) + 1e-12
        d = np.linalg.norm(exact.A[i] - exact.A[j], axis=1)
        fused = certified_same(problem)
        assert (d[fused] <= blur[fused]).all()
        different = certified_different(problem, rough.A, np.sqrt(2 * rough.gap))
        assert not (different & (exact.A[i] == exact.A[j]).all(axis=1)).any()
        assert not (different & fused).any()
        same += int(fused.sum())
        apart += int(different.sum())
    assert same > 10  # the statements are not empty
    assert apart > 10


def test_different_takes_pairs_beyond_the_edges():
    problem = Problem.of([[0.0], [1.0], [5.0]], [[0, 1]], [1.0], gamma=0.1)
    pairs = np.array([[0, 2], [0, 1]])
    np.testing.assert_array_equal(
        certified_different(problem, problem.Z, 1.0, pairs), [True, False]
    )


def test_gamma_zero_fuses_equal_samples_only():
    problem = Problem.of([[0.1], [0.1], [1.0]], [[0, 1], [1, 2]], [1.0, 1.0], gamma=0.0)
    found = solve(problem.Z, problem.edges, problem.weights, 0.0)
    assert certify(problem, found).partition == "certified"
    assert "dropped" in certify(problem, found, embedding_error=0.1).partition
    wrong = certify_partition(problem, np.array([0, 1, 2]), found.A, found.Lam)
    assert wrong == "not certified: at gamma = 0 only equal samples are fused"


def test_errors_enter_the_radius_as_squares_and_cells_leave_the_partition_open():
    problem = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], gamma=2.5)
    fused = Solution(np.full((2, 1), 2.0), np.array([[-1.6]]), 0.08, 0.02, Status.CONVERGED, 1)
    found = certify(problem, fused, embedding_error=0.3, coarsening_error=0.4, clipped_share=0.1)
    # √(2(G + δ) + τ² + ‖V‖²), each part of it a gap of its own; δ is round-off here
    squares = 2 * (0.08 + found.rounding) + 0.3**2 + 0.4**2
    assert found.radius == pytest.approx(np.sqrt(squares), rel=1e-15)
    assert (found.embedding_error, found.coarsening_error) == (0.3, 0.4)
    assert found.clipped_share == 0.1
    cells = certify(problem, fused, embedding_error=0.3).partition
    assert found.partition == (
        "not certified: rows were grouped into cells before the solve, and not every cell is "
        f"proved to fuse; on the cells: {cells}"
    )
    assert certify(problem, fused, coarsening_error=0.0).partition == "certified"
    _, proved = prove(problem, fused, coarsening_error=0.4)
    assert proved.partition.endswith("on the cells: certified")
    assert proved.radius == pytest.approx(np.sqrt(2 * (proved.gap + proved.rounding) + 0.4**2))


@pytest.mark.parametrize("seed", range(5))
def test_absorbable_demands_fit_into_the_slack(seed):
    # the worst of many random balanced demands of the stated size stays within the slack
    rng = np.random.default_rng(seed)
    n = 9
    edges = knn_like(rng, n, 8)
    slack = 10.0 ** rng.uniform(-2, 0, len(edges))
    room = absorbable(edges, slack, n)
    assert room > 0
    D = incidence(edges, n).toarray()
    pinv = np.linalg.pinv(D.T @ (slack[:, None] * D))
    for _ in range(50):
        e = rng.normal(size=(n, 3))
        e -= e.mean(axis=0)
        e *= room / np.linalg.norm(e)
        flow = slack[:, None] * (D @ (pinv @ e))
        np.testing.assert_allclose(D.T @ flow, e, atol=1e-10)
        assert (np.linalg.norm(flow, axis=1) <= slack * (1 + 1e-9)).all()


def test_absorbable_by_a_tree_is_smaller_and_zero_without_one(monkeypatch):
    rng = np.random.default_rng(1)
    edges = knn_like(rng, 12, 10)
    slack = rng.uniform(0.1, 1.0, len(edges))
    dense = absorbable(edges, slack, 12)
    monkeypatch.setattr("convexcluster.certificate.flows.DENSE_SIZE", 3)
    assert 0 < absorbable(edges, slack, 12) <= dense
    slack[(edges == 0).any(axis=1)] = 0.0
    assert absorbable(edges, slack, 12) == 0.0


def test_route_meets_a_demand_that_the_electrical_flow_cannot():
    # a narrow direct edge and a wide detour: the electrical flow overloads the narrow one at
    # first, corrections move the rest to the detour
    edges = np.array([[0, 1], [0, 2], [1, 2]])
    c = np.array([1.0, 1.1, 1.1])
    demand = np.array([[2.0], [-2.0], [0.0]])
    flow = route(edges, c, demand, np.zeros(3, int), np.ones(3), np.zeros((3, 1)))
    assert (np.abs(flow[:, 0]) <= c).all()
    np.testing.assert_allclose(incidence(edges, 3).T @ flow, demand, atol=1e-9)
    early = route(edges, c, demand, np.zeros(3, int), np.ones(3), np.zeros((3, 1)), enough=1e-2)
    assert 1e-4 < np.linalg.norm(incidence(edges, 3).T @ early - demand) <= 1e-2


def test_reduced_problem_and_its_newton():
    rng = np.random.default_rng(4)
    edges = knn_like(rng, 10, 8)
    problem = Problem.of(
        rng.normal(size=(10, 3)),
        edges,
        rng.uniform(0.5, 1, len(edges)),
        0.02,
        rng.uniform(1, 2, 10),
    )
    labels = canonical(np.array([0, 0, 1, 1, 2, 3, 4, 5, 6, 7]))
    small = reduce(problem, labels)
    C = rng.normal(size=(8, 3))
    # F of the prolonged point is the reduced F plus the spread inside clusters, a constant
    spread = problem.Z - means(problem.Z, problem.masses, labels)[labels]
    constant = 0.5 * problem.masses @ (spread**2).sum(axis=1)
    assert problem.objective(C[labels]) == pytest.approx(small.objective(C) + constant, rel=1e-12)
    g = gradient(small, C)
    step = 1e-6 * rng.normal(size=C.shape)
    slope = (small.objective(C + step) - small.objective(C - step)) / 2
    assert slope == pytest.approx(np.sum(g * step), rel=1e-6)
    best = newton(small, small.Z)
    assert np.linalg.norm(gradient(small, best)) <= 1e-12 * np.abs(small.Z).sum()


def test_large_reduced_problems_need_a_good_start(monkeypatch):
    monkeypatch.setattr("convexcluster.certificate.partition.LARGE", 0)
    rng = np.random.default_rng(0)
    edges = knn_like(rng, 20, 20)
    Z = rng.normal(size=(20, 2))
    problem = Problem.of(Z, edges, np.ones(len(edges)), 0.1)
    exact = solve(Z, edges, np.ones(len(edges)), 0.1, tol=1e-14)
    assert certify(problem, exact).partition == "certified"
    i, j = edges.T
    labels = components(edges[(exact.A[i] == exact.A[j]).all(axis=1)], 20)
    rough = exact.A + 0.3 * rng.normal(size=Z.shape)
    verdict = certify_partition(problem, labels, rough, exact.Lam)
    assert verdict.endswith("solve to a smaller tol")


def exact_on_a_tree(problem, A):
    """A* of one feature on a tree in rational numbers if it has the clusters of ``A``, else None.

    The flow on a tree is unique: cut an edge, and λ is what the side of its tail has too much.
    """
    number, c = Fraction, [Fraction(problem.gamma) * Fraction(w) for w in problem.weights]
    z, m = [number(x) for x in problem.Z[:, 0]], [number(x) for x in problem.masses]
    i, j = problem.edges.T
    labels = components(problem.edges[A[i, 0] == A[j, 0]], problem.n)
    top = [number(0)] * (int(labels.max()) + 1)
    for t, weight, value in zip(labels, m, z):
        top[t] += weight * value
    signs = [0 if s == t else (1 if A[a, 0] > A[b, 0] else -1)
             for a, b, s, t in zip(i, j, labels[i], labels[j])]  # fmt: skip
    for a, b, sign, cap in zip(i, j, signs, c):
        top[labels[a]] -= sign * cap
        top[labels[b]] += sign * cap
    mass = [sum(w for w, t in zip(m, labels) if t == s) for s in range(len(top))]
    best = [top[t] / mass[t] for t in labels]
    for cut, (a, b, sign, cap) in enumerate(zip(i, j, signs, c)):
        side = components(np.delete(problem.edges, cut, axis=0), problem.n)
        flow = sum(w * (x - y) for w, x, y, t in zip(m, z, best, side) if t == side[a])
        if (sign == 0 and abs(flow) > cap) or sign * (best[a] - best[b]) < 0:
            return None
    return best


def test_radius_holds_to_the_last_bit():
    # solutions so exact that the gap is round-off, against the optimum in rational numbers
    rng = np.random.default_rng(7)
    beyond_the_gap = known = 0
    for _ in range(60):
        n = int(rng.integers(2, 8))
        edges = knn_like(rng, n, 0)
        problem = Problem.of(
            rng.normal(size=(n, 1)) + rng.choice([0.0, 100.0]), edges, rng.uniform(0.1, 1, n - 1),
            float(rng.choice([0.1, 0.5])), rng.uniform(0.5, 2, n),
        )  # fmt: skip
        found = solve(
            problem.Z, edges, problem.weights, problem.gamma, masses=problem.masses, tol=1e-20
        )
        best = exact_on_a_tree(problem, found.A)
        proved = certify(problem, found)
        if best is None:
            assert proved.partition != "certified"  # these clusters are not those of the optimum
            continue
        known += 1
        off = sum(
            Fraction(m) * (Fraction(a) - b) ** 2
            for m, a, b in zip(problem.masses, found.A[:, 0], best)
        )
        rounding = gap_rounding(problem, found.A, found.Lam, found.gap)
        assert off <= 2 * (Fraction(found.gap) + Fraction(rounding))
        assert solution_radius(problem, found) == proved.radius
        beyond_the_gap += off > 2 * Fraction(found.gap)
        size = np.sqrt(problem.masses @ (problem.Z[:, 0] ** 2) + (problem.c**2).sum())
        # an allowance of a few roundings per row, not a loose one
        assert (
            rounding <= (40 * 2.0**-53 * size) ** 2 + np.sqrt(2 * found.gap) * 40 * 2.0**-53 * size
        )
    assert known > 40
    assert beyond_the_gap > 10  # √(2G) alone would be wrong


def test_radius_covers_a_dual_outside_its_balls():
    # λ = 2 where c = 1.5 would give a gap of 0 at the point of full fusion, which is not optimal
    problem = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], gamma=1.5)
    A, Lam = np.full((2, 1), 2.0), np.array([[-2.0]])
    gap = duality_gap(problem, A, Lam)
    assert gap == 0.0
    off = np.linalg.norm(A - [[1.5], [2.5]])
    assert np.sqrt(2 * (gap + gap_rounding(problem, A, Lam, gap))) >= off


def test_weak_bridges_do_not_blur_the_clusters_they_join():
    # γ of weak bridges gives the edges inside clusters capacities of 10¹⁶, of which little is used:
    # rounding is relative to what flows, not to what could
    Z = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [9.0, 0.0], [8.0, 1.0]])
    edges = np.array([[0, 1], [0, 2], [1, 2], [1, 3], [3, 4]])
    problem = Problem.of(Z, edges, [1.0, 1.0, 1.0, 1e-18, 1.0], gamma=1e16)
    best = solve(Z, edges, problem.weights, 1e16, tol=1e-12)
    assert certify(problem, best).partition == "certified"
    np.testing.assert_array_equal(
        (best.A[0] == best.A).all(axis=1), [True, True, True, False, False]
    )


def test_errors_of_rows_and_cells_add_as_squares():
    cells = Certificate(gap=1.5, relative_gap=0.1, radius=2.0, embedding_error=1.0)
    assert on_rows(cells, 1.5).radius == 2.5


@pytest.mark.parametrize("far", [False, True])
def test_rounding_is_the_sum_of_its_three_parts(far):
    """δ as the docstring of ``gap_rounding`` has it, edge by edge and sample by sample."""
    rng = np.random.default_rng(1)
    edges, r, n = knn_like(rng, 6, 5), 2, 6
    problem = Problem.of(
        rng.normal(size=(n, r)), edges, rng.uniform(0.1, 1, len(edges)), 0.3, rng.uniform(1, 2, n)
    )
    A = rng.normal(size=(n, r))
    A[1] = A[0]  # an edge whose ends are equal
    d = A[edges[:, 0]] - A[edges[:, 1]]
    Lam = problem.c[:, None] * d / np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
    Lam[2] *= 1.5 if far else 1.0  # outside its ball: shrunk back
    Lam[3] = -Lam[3] if far else Lam[3]  # no saturated dual: its slack counts
    u = 2.0**-53

    def gamma(k):
        return k * u / (1 - k * u)

    slack, moved, carried = 0.0, np.zeros(n), np.zeros(n)
    for (i, j), c, lam, x in zip(edges, problem.c, Lam, d):
        apart, size = np.linalg.norm(x), np.linalg.norm(lam)
        turn = np.linalg.norm(lam - c * x / apart) if apart else np.inf
        excess = max(size * (1 + gamma(r + 6)) - c, 0.0)
        near = turn <= np.sqrt(2 * gamma(2 * r + 8)) * c
        if not near:
            slack += (gamma(2 * r + 8) * max(c, size) + excess) * apart
        for end in (i, j):
            carried[end] += size
            moved[end] += turn + gamma(r + 8) * c if near else excess
    degree = np.bincount(edges.ravel(), minlength=n)
    e = (gamma(degree + 1) * carried + moved) / problem.masses
    e += np.minimum(u * np.linalg.norm(A, axis=1), carried / problem.masses)
    E, gap = np.sqrt(problem.masses @ e**2), 0.37
    sums = gamma(n + len(edges) + 2 * r + 8) * gap
    delta = np.sqrt(2 * gap) * E + 0.5 * E**2 + slack + sums
    # 1 % more for the roundings of δ itself; turns of round-off size differ in all their digits
    share = 1e-9 if far else 0.3
    assert gap_rounding(problem, A, Lam, gap) == pytest.approx(1.01 * delta, rel=share, abs=0)


def test_pairs_apart_by_no_more_than_rounding_are_not_said_to_be():
    """‖a_i − a_j‖ > R√(1/m_i + 1/m_j) must hold beyond all roundings of both sides."""
    A = np.array([[0.0], [1.0]])
    even = Problem.of(A, [[0, 1]], [1.0], 0.1, [2.0, 2.0])  # √(½ + ½) = 1
    assert not certified_different(even, A, np.nextafter(1.0, 0.0)).any()
    assert certified_different(even, A, 1.0 - 1e-12).all()
    uneven = Problem.of(A, [[0, 1]], [1.0], 0.1, [1.0, 4.0])  # √1.25 = 1.118
    assert certified_different(uneven, A, 0.89).all()
    assert not certified_different(uneven, A, 0.9).any()


def test_pairs_held_together_by_no_more_than_rounding_are_not_said_to_be():
    """Two points four apart meet at γ = 2: there the two sides are equal."""
    pair = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], 2.0)
    assert not certified_same(pair).any()
    assert certified_same(pair.at(2.0 * (1 + 1e-12))).all()
    uneven = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], 3.2, [1.0, 4.0])  # γ(1 + ¼) = 4
    assert not certified_same(uneven.at(3.2 * (1 - 1e-12))).any()
    assert certified_same(uneven.at(3.2 * (1 + 1e-12))).all()


def test_a_demand_that_is_not_balanced_loses_its_mean_by_mass():
    """Two samples of masses 2 and 6 with demands 4 and 0: 1 and 3 of it are taken off."""
    edge, one = np.array([[0, 1]]), np.zeros(2, dtype=np.int64)
    flow = electrical(edge, np.ones(1), np.array([[4.0], [0.0]]), one, np.array([2.0, 6.0]))
    np.testing.assert_allclose(flow, [[3.0]], rtol=1e-12)


def test_a_dual_on_the_rim_of_its_ball_may_lie_outside():
    """Its length is known to r + 6 roundings: so much counts as excess, here beside all else."""
    problem = Problem.of([[0.0, 0.0], [0.0, 3.0]], [[0, 1]], [2.0], 1.0)
    A, u = problem.Z, 2.0**-53
    Lam = np.array([[2.0, 0.0]])  # ‖λ‖ = c, and not along d
    slack = (12 * u * 2 + 8 * u * 2) * 3
    e = (2 * u * 2 + 8 * u * 2) + np.array([0.0, 3 * u])
    delta = slack + 0.5 * (e @ e) + np.sqrt(2 * 0.5) * np.sqrt(e @ e) + 15 * u * 0.5
    assert gap_rounding(problem, A, Lam, 0.5) == pytest.approx(1.01 * delta, rel=1e-6, abs=0)


def test_roundings_of_a_cluster_are_counted_by_its_samples_and_its_edges_to_others():
    """k = 2p + q + 2r + 16 for p samples, q edges to others and r columns."""
    chain = Problem.of([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0], 1.2)
    labels = np.array([0, 0, 1])
    small, inside = reduce(chain, labels), np.array([True, False])
    found = _Test.of(chain, labels, small, small.Z, inside)
    k = np.array([4 + 1 + 18, 4 + 1 + 18, 2 + 1 + 18]) * 2.0**-53
    np.testing.assert_allclose(found.unit, k / (1 - k), rtol=1e-12)
    sizes = np.array([0.5, 1.5 + 1.2, 18.0 + 1.2])  # ‖z‖ + ‖c‖, and c of the edge between
    np.testing.assert_allclose(found.noise, found.unit * sizes, rtol=1e-12)
