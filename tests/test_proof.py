"""Claims about labels in the full space of a kernel: never wrong, and made where they can be."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs, make_moons
from threadpoolctl import threadpool_limits

from convexcluster import KernelConvexClustering, Problem, solve, solve_path
from convexcluster.certificate import (
    certified_different,
    certify_partition,
    reduced,
    solution_radius,
)
from convexcluster.certificate import proof as proof_module
from convexcluster.certificate.claims import interval, pick, prove_labels
from convexcluster.certificate.cores import prove_cores
from convexcluster.certificate.layout import layout
from convexcluster.certificate.proof import Proof
from convexcluster.certificate.reduced import newton, reduce
from convexcluster.certificate.space import Space, sums
from convexcluster.graph import Graph, components, gamma_range, incidence
from convexcluster.loops.balls import below
from convexcluster.loops.routing import inner_products, take_off
from convexcluster.partition import canonical, fused, means
from convexcluster.solvers import on_path, prove
from convexcluster.weights import automatic_graph


def connected(rng, n, extra):
    """Edges of a random tree and some more."""
    tree = [(int(rng.integers(max(0, k - 4), k)), k) for k in range(1, n)]
    more = [tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(extra * (n > 2))]
    return np.array(sorted(set(tree + more)), dtype=np.int64).reshape(-1, 2)


def of_gram(K):
    """The space of a Gram matrix that is exact by definition."""
    sizes = np.sqrt(np.maximum(np.diag(K), 0.0)) * (1 + 1e-15)
    return Space(lambda rows, columns: K[np.ix_(rows, columns)], sizes, 0.0)


def coordinates(K):
    """Z with Z Zᵀ = K up to rounding."""
    values, axes = np.linalg.eigh(K)
    return axes * np.sqrt(np.maximum(values, 0.0))


KERNELS = {
    "linear": lambda X: X @ X.T,
    "gaussian": lambda X: np.exp(-cdist(X, X, "sqeuclidean") / 2),
    "laplacian": lambda X: np.exp(-cdist(X, X, "cityblock")),
    "cosine": lambda X: 1 - cdist(X, X, "cosine"),
}


def draw(seed, most=16):
    """A random problem: kernel, masses, copies of rows, clusters that touch, uneven weights."""
    rng = np.random.default_rng(seed)
    kernel = list(KERNELS)[seed % len(KERNELS)]
    n, d = int(rng.integers(2, most + 1)), int(rng.integers(1, 4)) + (kernel == "cosine")
    truth = np.sort(rng.integers(0, int(rng.integers(1, 5)), n))
    apart = float(rng.choice([0.3, 1.0, 3.0]))
    X = 2.0 * apart * rng.normal(size=(truth.max() + 1, d))[truth] + 0.3 * rng.normal(size=(n, d))
    if seed % 3 == 0 and n > 3:  # copies
        X[rng.integers(n, size=n // 3)] = X[rng.integers(n)]
    masses = rng.uniform(0.3, 3.0, n) if seed % 2 else np.ones(n)
    edges = connected(rng, n, int(rng.integers(0, 4 * n)))
    same = truth[edges[:, 0]] == truth[edges[:, 1]]
    weights = rng.uniform(0.5, 1.5, len(edges)) * np.where(same, 1.0, rng.choice([0.01, 0.1, 1.0]))
    if seed % 5 == 0:
        weights *= 10.0 ** rng.uniform(-3, 0, len(edges))
    if seed % 7 == 0:  # several components
        keep = rng.random(len(edges)) < 0.8
        edges, weights = edges[keep], weights[keep]
    return KERNELS[kernel](X), Graph(edges, weights), masses, truth, rng


def candidates(K, graph, masses, truth, rng):
    """Labels worth a try with a γ: those of solutions, the drawn groups, and wrong neighbours."""
    Z, n = coordinates(K), len(K)
    top = gamma_range(Z, graph.edges, graph.weights, masses)[1] or 1.0
    for share in (0.02, 0.2, 0.6):
        gamma = share * top
        found = solve(Z, graph.edges, graph.weights, gamma, masses=masses, tol=1e-9)
        yield fused(found.A, graph.edges), gamma
    yield canonical(truth), 0.2 * top
    if n > 2:
        wrong = fused(found.A, graph.edges)
        wrong[int(rng.integers(n))] = int(rng.integers(wrong.max() + 1))
        yield canonical(wrong), gamma


def refute(K, graph, masses, labels, gamma, whole, clusters):
    """Hold a claim at γ against a solution with its own radius: (refuted, decided)."""
    Z = coordinates(K)
    problem = Problem.of(Z, graph.edges, graph.weights, gamma, masses)
    best = solve(Z, graph.edges, graph.weights, gamma, masses=masses, tol=1e-14)
    best, certificate = prove(problem, best)
    # K and Z Zᵀ differ by rounding: ‖A*(K) − A*(Z)‖ ≤ √‖K − Z Zᵀ‖_*
    off = np.sqrt(masses.max() * 10 * len(K) ** 1.5 * np.finfo(float).eps * np.abs(K).max())
    radius = solution_radius(problem, best) + off
    i, j = np.triu_indices(len(K), 1)
    together = (labels[i] == labels[j]) & clusters[labels[i]]
    pairs = np.column_stack([i, j])
    if certified_different(problem, best.A, radius, pairs[together]).any():
        return True, True
    if not whole:
        return False, True
    sure = certificate.partition == "certified"
    return sure and bool((fused(best.A, graph.edges) != canonical(labels)).any()), sure


def hold(seeds, share=1):
    """(claims of an interval, at a γ, of clusters alone, decided by a certified solution).

    Of the candidates of a problem one in ``share`` is tried.
    """
    intervals = at_one = alone = decided = 0
    for seed in seeds:
        K, graph, masses, truth, rng = draw(seed)
        for labels, gamma in list(candidates(K, graph, masses, truth, rng))[seed % share :: share]:
            claim = prove_labels(of_gram(K), graph, masses, labels, gamma)
            where = [claim.gamma] if claim.whole or claim.clusters.any() else []
            if claim.interval is not None:
                low, high = claim.interval
                high = min(high, 1e3 * max(low, 1e-3))
                inside = [low * (1 + 1e-9) + 1e-12, low + rng.random() * (high - low)]
                where += [*inside, high * (1 - 1e-9)]
                intervals += 1
            elif claim.whole:
                at_one += 1
            alone += bool(claim.clusters.any() and not claim.whole)
            for value in where:
                refuted, sure = refute(K, graph, masses, labels, value, claim.whole, claim.clusters)
                assert not refuted, (seed, labels, value, claim)
                decided += sure
    return intervals, at_one, alone, decided


def test_claims_hold_on_random_problems():
    intervals, at_one, alone, decided = hold(range(100), share=5)
    assert intervals > 20  # the claims are not empty
    assert at_one > 10
    assert alone > 2
    assert decided > 80


@pytest.mark.slow
def test_claims_hold_on_a_thousand_random_problems():
    intervals, at_one, alone, decided = hold(range(1000, 2000))
    assert min(intervals, at_one, alone) > 200
    assert decided > 3000


def hold_exactly(seeds):
    """(claims, wrong ones) held against the optimum to fifteen digits and more, at one γ each.

    Kernels make coordinates; these floats are the problem, so that the oracle solves the same one.
    Where the oracle's own bound is larger, which it says, nothing is decided and nothing counted.
    """
    optimum = pytest.importorskip("fuzz.oracle", reason="needs python-flint").optimum
    claims, wrong = 0, []
    for seed in seeds:
        K, graph, masses, truth, rng = draw(seed, most=6)
        Z = coordinates(K)[:, -4:]
        tried = list(candidates(Z @ Z.T, graph, masses, truth, rng))
        labels, gamma = tried[int(rng.integers(len(tried)))]
        claim = prove_labels(Space.of_coordinates(Z), graph, masses, labels, gamma)
        gamma = claim.gamma
        if claim.interval is not None:
            low, high = claim.interval
            ends = low * (1 + 1e-9) + 1e-12, min(high, 1e3 * max(low, 1e-3)) * (1 - 1e-9)
            gamma = float(rng.choice([*ends, low + rng.random() * (ends[1] - low)]))
        elif not claim.clusters.any():
            continue
        best = optimum(Z, graph.edges, gamma * graph.weights, masses)
        reach = best.radius * float(np.sqrt(2.0 / masses.min()))
        if reach > 1e-15 * (1.0 + np.abs(Z).max()):
            continue
        claims += 1
        for i, j in zip(*np.triu_indices(len(Z), 1)):
            together = labels[i] == labels[j]
            apart = best.apart(int(i), int(j))
            if together and claim.clusters[labels[i]] and apart > reach:
                wrong.append((seed, i, j, apart, reach))
            adjacent = bool((graph.edges == (i, j)).all(axis=1).any())
            if not together and adjacent and claim.whole and apart <= reach:
                wrong.append((seed, i, j, apart, reach))
    return claims, wrong


def test_claims_hold_to_fifteen_digits():
    claims, wrong = hold_exactly(range(12))
    assert not wrong
    assert claims >= 6


@pytest.mark.slow
def test_claims_hold_to_fifteen_digits_on_a_thousand_problems():
    claims, wrong = hold_exactly(range(5000, 6700))
    assert not wrong
    assert claims >= 1000


def hold_cores(seeds):
    """(proved cores, those of a whole partition), each held against a solution."""
    count = whole = 0
    for seed in seeds:
        K, graph, masses, truth, rng = draw(seed)
        for guess, gamma in candidates(K, graph, masses, truth, rng):
            solver = sharp if seed % 2 else None  # without one, more is left unproved
            found = prove_cores(of_gram(K), graph, masses, truth, gamma, guess, solver)
            if found is None:
                continue
            count, whole = count + 1, whole + found.whole
            claim = found.fused, gamma, found.whole, found.proved
            refuted, _ = refute(K, graph, masses, *claim)
            assert not refuted, (seed, found)
            # a core lies inside its label, and a label has one core
            assert all(len(np.unique(truth[found.fused == t])) == 1
                       for t in np.unique(found.fused[found.inside]))  # fmt: skip
            pairs = np.unique(np.column_stack([truth, found.fused])[found.inside], axis=0)
            assert len(np.unique(pairs[:, 0])) == len(pairs)
    return count, whole


def sharp(problem):
    parts = problem.Z, problem.edges, problem.weights, problem.gamma
    return solve(*parts, masses=problem.masses, tol=1e-10)


def test_cores_hold_on_random_problems():
    count, whole = hold_cores(range(24))
    assert whole > 10
    assert count > whole  # some are proved although others are not


@pytest.mark.slow
def test_cores_hold_on_many_random_problems():
    count, whole = hold_cores(range(3000, 3400))
    assert count > whole > 300


def exactly(z, masses, edges, weights, gamma, labels):
    """Whether the clusters of one feature on a tree are ``labels``, in rational numbers.

    The flow on a tree is unique: cut an edge, and λ is what the side of its tail has too much.
    """
    z, m = [Fraction(float(x)) for x in z], [Fraction(float(x)) for x in masses]
    cap = [Fraction(float(gamma)) * Fraction(float(w)) for w in weights]
    k = int(labels.max()) + 1
    mass = [sum(w for w, t in zip(m, labels) if t == s) for s in range(k)]
    mean = [sum(w * x for w, x, t in zip(m, z, labels) if t == s) / mass[s] for s in range(k)]
    outer = [e for e, (a, b) in enumerate(edges) if labels[a] != labels[b]]
    for signs in np.ndindex(*(2,) * len(outer)):  # k is small: all orders of the clusters
        value = list(mean)
        sign = dict(zip(outer, (2 * s - 1 for s in signs)))
        for e, up in sign.items():
            a, b = labels[edges[e]]
            value[a] -= up * cap[e] / mass[a]
            value[b] += up * cap[e] / mass[b]
        ends = [(up, *labels[edges[e]]) for e, up in sign.items()]
        if any(up * (value[a] - value[b]) <= 0 for up, a, b in ends):
            continue
        for e, (a, _) in enumerate(edges):
            side = components(np.delete(edges, e, axis=0), len(z))
            here = np.flatnonzero(side == side[a])
            flow = sum(m[i] * (z[i] - value[labels[i]]) for i in here)
            if e not in sign and abs(flow) > cap[e]:
                break
        else:
            return True
    return False


@pytest.mark.parametrize("seed", range(25))
def test_both_ends_of_an_interval_hold_in_rational_numbers(seed):
    # on a tree flows are unique, so that the ends have no slack but rounding
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    edges = connected(rng, n, 0)
    masses, weights = rng.uniform(0.2, 2.0, n), rng.uniform(0.5, 1.0, n - 1)
    cut = rng.choice(n - 1, min(2, n - 1), replace=False)
    weights[cut] *= 0.02
    labels = components(np.delete(edges, cut, axis=0), n)
    z = 5.0 * labels + 0.3 * rng.normal(size=n) + float(rng.choice([0.0, 1e3]))
    proof = proof_of(Space.of_coordinates(z[:, None]), Graph(edges, weights), masses, labels)
    low, high = interval(proof)
    assert low < high
    assert exactly(z, masses, edges, weights, low, labels)
    assert exactly(z, masses, edges, weights, np.nextafter(high, 0.0), labels)
    if labels.max() == 1:  # and no better ends exist: the flow on a tree is unique
        assert not exactly(z, masses, edges, weights, high * (1 + 1e-9), labels)


def proof_of(space, graph, masses, labels, size=None):
    at = layout(graph.edges, labels, size)
    return Proof(space, graph.edges, graph.weights, masses, labels, at)


@pytest.mark.parametrize("size", [1, 3, 100])
def test_flows_meet_their_demands_and_have_the_lengths_that_are_said(size):
    rng = np.random.default_rng(size)
    n = 30
    labels = np.sort(rng.integers(0, 2, n))
    X = rng.normal(size=(n, 3))
    edges = connected(rng, n, 80)
    joined = np.unique(np.vstack([edges, [[k, k + 1] for k in range(n - 1)]]), axis=0)
    graph = Graph(joined, rng.uniform(0.1, 1.0, len(joined)))
    masses = rng.uniform(0.5, 2.0, n)
    proof = proof_of(Space.of_coordinates(X), graph, masses, labels, size)
    for t, flow in enumerate(proof.flows):
        own = flow.inside
        m, D = own.masses, incidence(own.edges, own.n)
        unit = np.eye(own.n) - np.outer(m / m.sum(), np.ones(own.n))
        R = flow.carry(unit)  # the flow of every balanced demand
        np.testing.assert_allclose(D.T @ R, unit, atol=1e-12)
        b = m[:, None] * (X[own.samples] - m @ X[own.samples] / m.sum())
        true = np.linalg.norm(R @ b, axis=1)
        np.testing.assert_allclose(np.sqrt(np.maximum(flow.square, 0)), true, rtol=1e-9, atol=1e-9)
        assert (flow.length >= true).all()
        other = np.isin(np.arange(n), own.samples, invert=True)
        W = np.zeros((n, n))
        W[tuple(joined.T)] = W[tuple(joined.T[::-1])] = graph.weights
        pull = W[np.ix_(own.samples, other)].sum(axis=1, keepdims=True)
        np.testing.assert_allclose(
            D.T @ flow.f, m[:, None] / m.sum() * pull.sum() - pull, atol=1e-12
        )
        assert proof.at.label[proof.at.places[t]] == t


def test_sums_over_cells_are_those_of_the_gram_matrix():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(30, 2)) + 50.0])
    edges = np.vstack([connected(rng, 40, 60), connected(rng, 30, 60) + 40])
    labels, masses = np.repeat([0, 1], [40, 30]), rng.uniform(1, 2, 70)
    K = KERNELS["gaussian"](X)
    near = Space(lambda r, c: K[np.ix_(r, c)], np.ones(70), 0.0, X, 8.0, np.exp(-32.0))
    at = layout(edges, labels, 6)
    m, Ks = masses[at.order], K[np.ix_(at.order, at.order)]
    for space, least in ((of_gram(K), 0.5), (near, 0.2)):
        found = sums(space, m, at)
        np.testing.assert_allclose(found.of_label[:, 0], Ks[:, :40] @ m[:40], atol=1e-10)
        for t, (a, b) in enumerate(zip(at.places[:-1], at.places[1:])):
            for h, cell in enumerate(range(at.cells[t], at.cells[t + 1])):
                part = slice(at.starts[cell], at.starts[cell + 1])
                expected = Ks[a:b, part] @ m[part]
                np.testing.assert_allclose(found.own[t][:, h], expected, atol=1e-10)
        assert least * 70**2 < found.values < (least + 0.4) * 70**2  # half of K, or less


def test_cells_are_connected_and_about_as_large_as_asked():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], [200, 90, 1])
    edges = np.vstack([connected(rng, 200, 300), connected(rng, 90, 100) + 200])
    at = layout(edges, labels, 20)
    assert (np.sort(at.order) == np.arange(291)).all()
    assert (at.label == labels[at.order]).all()
    same = at.cell[at.edges[:, 0]] == at.cell[at.edges[:, 1]]
    assert (components(at.edges[same], 291) == at.cell).all()
    assert 5 <= np.median(np.diff(at.starts)) <= 60
    assert layout(edges, np.repeat([0, 1], [100, 191])) is None  # not connected


def test_sums_below_are_those_of_subtrees():
    order, parent = np.array([2, 0, 1, 3]), np.array([2, 2, -9999, 0])
    values = np.array([[1.0], [2.0], [4.0], [8.0]])
    np.testing.assert_array_equal(below(order, parent, values)[:, 0], [9.0, 2.0, 15.0, 8.0])


@pytest.mark.parametrize("size", [4, 100])
def test_bounds_are_what_they_bound_up_to_rounding(size):
    """The theorems of the proof written out in coordinates: a bound far above them proves less."""
    rng = np.random.default_rng(7)
    n, gamma = 24, 0.8
    labels = np.repeat([0, 1, 2], 8)
    X = rng.normal(size=(n, 2)) + np.array([[0.0, 0.0], [9.0, 0.0], [4.0, 7.0]])[labels]
    edges = np.unique(
        np.vstack([connected(rng, n, 90), [[k, k + 1] for k in range(n - 1)]]), axis=0
    )
    i, j = edges.T
    inner = labels[i] == labels[j]
    w = np.where(inner, rng.uniform(0.5, 1.0, len(edges)), rng.uniform(0.01, 0.02, len(edges)))
    m, graph = rng.uniform(0.5, 2.0, n), Graph(edges, w)
    proof = proof_of(Space.of_coordinates(X), graph, m, labels, size)
    small = reduce(Problem(X, edges, w, gamma, m), labels)
    C, (state, _) = newton(small, small.Z), proof.state(gamma)
    s, t = small.edges.T
    apart = np.linalg.norm(C[s] - C[t], axis=1)
    np.testing.assert_allclose(state.beta @ small.Z, C, atol=1e-9)
    np.testing.assert_allclose(state.apart, apart, rtol=1e-9)
    assert 0 < state.radius < 1e-10
    moved = np.sqrt(small.masses @ ((C - small.Z) ** 2).sum(1))
    assert state.moved == pytest.approx(1.01 * moved, rel=1e-6)
    pull = np.sqrt(1 / small.masses[s] + 1 / small.masses[t])
    assert state.reach(proof.pull) == pytest.approx(
        (apart / pull).min() / 1.01**3 / moved, rel=1e-6
    )
    doubt = 0.1 * apart
    np.testing.assert_allclose(state.turn(doubt), 1.01 * 0.2 / 1.9, rtol=1e-9)
    assert (state.turn(apart) == np.inf).all()
    total = np.bincount(small.edges.ravel(), np.repeat(small.weights, 2)) / small.masses
    closed = np.linalg.norm(small.Z[s] - small.Z[t], axis=1) / (total[s] + total[t])
    assert proof.apart_below() == pytest.approx(closed.min(), rel=1e-9)
    assert proof.apart_below() < closed.min()
    weak, energies = proof.state(0.02)[0], 0.0
    for label, flow in enumerate(proof.flows):
        own, k = flow.inside, flow.inside.samples
        at, D, mt = labels == label, incidence(own.edges, own.n), own.masses.sum()
        L = D.T @ (own.w[:, None] * D.toarray())
        R = own.w[:, None] * (D @ np.linalg.pinv(L))  # the electrical flow of balanced demands
        b = own.masses[:, None] * (X[k] - mean_of(X, m, at))
        W = np.zeros((n, n))
        W[i, j] = W[j, i] = w
        others = [q for q in range(3) if q != label]
        e = np.column_stack([W[np.ix_(k, labels == q)].sum(1) for q in others])
        f = R @ (own.masses[:, None] / mt * e.sum(0) - e)
        plain = flow.carry(np.eye(own.n) - np.outer(own.masses / mt, np.ones(own.n))) @ b
        if size == 100:  # one cell: the flow of the vectors is electrical, as that of the scalars
            np.testing.assert_allclose(plain, R @ b, atol=1e-12)
        np.testing.assert_allclose(flow.length, np.linalg.norm(plain, axis=1), rtol=1e-6)
        np.testing.assert_allclose(flow.turned, np.abs(f).sum(1), rtol=1e-9, atol=1e-13)
        room = own.w - np.abs(f).sum(1)
        assert flow.gamma == pytest.approx((np.linalg.norm(plain, axis=1) / room).max(), rel=1e-6)
        single = R @ (own.masses[:, None] / mt * W[np.ix_(k, ~at)].sum(0) - W[np.ix_(k, ~at)])
        room = own.w - np.abs(single).sum(1)
        alone = (np.linalg.norm(plain, axis=1) / room).max() if (room > 0).all() else np.inf
        assert proof.alone(label) == pytest.approx(alone, rel=1e-6)
        for found, g in (state, gamma), (weak, 0.02):
            c = found.beta @ small.Z
            u = (c[label] - c[others]) / np.linalg.norm(c[label] - c[others], axis=1)[:, None]
            true = np.linalg.norm(plain + g * f @ u, axis=1)
            np.testing.assert_allclose(proof.lengths(label, found), true, rtol=1e-6)
        over = np.bincount(own.edges.ravel(), np.repeat(np.maximum(true - g * own.w, 0), 2), own.n)
        energy = (over**2 / own.masses).sum()
        assert proof.energy(label, weak) == pytest.approx(1.01 * energy, rel=1e-6)
        energies += energy
    assert proof.gap(weak) == pytest.approx(1.01**2 * energies / 2, rel=1e-6)
    assert proof.gap(proof.state(8.0)[0]) < 1e-18  # all flows fit


def mean_of(X, m, at):
    return m[at] @ X[at] / m[at].sum()


def test_the_first_gamma_of_an_interval_is_in_it():
    """It is closed below and open above."""
    space = Space.of_coordinates(np.array([[0.0], [1.0], [9.0], [10.0]]))
    graph, labels = (
        Graph(np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 0.1, 1.0])),
        [0, 0, 1, 1],
    )
    given = space, graph, np.ones(4), np.array(labels)
    low, high = prove_labels(*given, 1.0).interval
    assert prove_labels(*given, low, movable=False).whole
    assert not prove_labels(*given, np.nextafter(low, 0), movable=False).whole
    assert not prove_labels(*given, high, movable=False).whole


@pytest.mark.parametrize(
    ("low", "high", "gamma", "gammas", "picked"),
    [
        (1.0, 9.0, 1.0, None, 1.0),  # the first is inside
        (1.0, 9.0, 9.0, None, 2.0),  # the last is not: √(1 · 4)
        (1.0, 3.0, 5.0, None, 3.0**0.5),
        (1.0, 9.0, 0.5, [0.5, 1.0, 2.0], 1.0),
        (1.0, 9.0, 0.5, [0.5, 9.0], 2.0),
        (0.0, 9.0, 9.0, None, 0.5),
        (0.0, 0.2, 9.0, None, 0.1),
    ],
)
def test_a_gamma_is_picked_inside(low, high, gamma, gammas, picked):
    grid = None if gammas is None else np.array(gammas)
    assert pick(low, high, gamma, grid, True) == pytest.approx(picked, rel=1e-15)
    assert pick(low, high, gamma, grid, False) == gamma


def test_two_pairs_have_the_interval_of_the_closed_form():
    # pairs at 0, 1 and 9, 10 with a bridge of weight 0.1: N = ½, f = 0.05; the means meet at 90
    space = Space.of_coordinates(np.array([[0.0], [1.0], [9.0], [10.0]]))
    graph = Graph(np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 0.1, 1.0]))
    claim = prove_labels(space, graph, np.ones(4), np.array([0, 0, 1, 1]), 1.0)
    assert claim.interval == pytest.approx((0.5 / 0.95, 90.0), rel=1e-6)
    assert claim.gamma == 1.0
    share = 0.5 * 89 / 90  # at γ = 1 the means have come a ninetieth nearer
    np.testing.assert_allclose(claim.beta, 0.5 + share * np.array([[1, -1], [-1, 1]]), rtol=1e-12)
    grid = np.array([1e-3, 7.0])
    moved = prove_labels(space, graph, np.ones(4), np.array([0, 0, 1, 1]), 1e-3, grid)
    assert moved.gamma == 7.0
    stays = prove_labels(space, graph, np.ones(4), np.array([0, 0, 1, 1]), 1e-3, movable=False)
    assert (stays.gamma, stays.whole) == (1e-3, False)


def test_the_cover_reaches_beyond_the_closed_form():
    # three clusters in a row: the closed form lets all pulls add up, the states know the directions
    rng = np.random.default_rng(0)
    X = np.repeat([[0.0, 0.0], [4.0, 0.0], [8.0, 0.0]], 6, axis=0) + 0.1 * rng.normal(size=(18, 2))
    labels = np.repeat([0, 1, 2], 6)
    inner = [np.array(np.triu_indices(6, 1)).T + 6 * t for t in range(3)]
    edges = np.vstack([*inner, [[5, 6], [11, 12]]])
    graph = Graph(edges, np.concatenate([np.ones(45), [0.1, 0.1]]))
    proof = proof_of(Space.of_coordinates(X), graph, np.ones(18), labels)
    low = float(proof.gammas.max())
    high = proof.apart_until(low)
    assert high > 1.3 * proof.apart_below() > low
    assert interval(proof) == (low, high)
    problem = Problem.of(X, graph.edges, graph.weights, 0.999 * high)
    best, found = prove(problem, solve(X, graph.edges, graph.weights, 0.999 * high, tol=1e-13))
    assert found.partition == "certified"
    np.testing.assert_array_equal(fused(best.A, graph.edges), labels)


@pytest.mark.slow
def test_intervals_agree_with_the_exact_test_at_full_rank():
    agreed = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(50, 301)), int(rng.integers(2, 6))
        X, _ = make_blobs(n, centers=k, cluster_std=0.7, random_state=seed, n_features=2 + seed % 3)
        X /= X.std()
        graph = automatic_graph(X, n_neighbors=7, masses=np.ones(n))
        K = KERNELS[["gaussian", "laplacian", "linear"][seed % 3]](3.0 * X)
        Z = coordinates(K)
        path = solve_path(Z, graph.edges, graph.weights, tol=1e-6, refine=False)
        life = [s for s in range(len(path)) if 2 <= path.n_clusters[s] <= 6]
        if not life:
            continue
        step = life[len(life) // 2]
        labels, gamma = path.labels(step=step), float(path.gammas[step])
        claim = prove_labels(of_gram(K), graph, np.ones(n), labels, gamma)
        if not claim.whole:
            continue
        problem = Problem.of(Z, graph.edges, graph.weights, claim.gamma)
        C = claim.beta @ means(Z, np.ones(n), labels)
        Lam = np.zeros((len(graph.edges), Z.shape[1]))
        said = certify_partition(problem, labels, C[labels], Lam)
        assert said == "certified", (seed, said, claim)
        agreed += 1
    assert agreed >= 100


def test_loops_of_flows_are_their_formulas():
    rng = np.random.default_rng(0)
    edges = connected(rng, 9, 12)
    tail, head = (np.ascontiguousarray(e) for e in edges.T)
    kappa, price = rng.uniform(0.5, 2.0, len(edges)), rng.uniform(0.1, 1.0, 5)
    Y, B, left = rng.normal(size=(9, 5)), rng.normal(size=(9, 5)), rng.normal(size=(9, 5))
    F = kappa[:, None] * (Y[tail] - Y[head])
    out = np.empty(len(edges))
    inner_products(tail, head, kappa, Y, B, out)
    np.testing.assert_allclose(out, (F * (kappa[:, None] * (B[tail] - B[head]))).sum(axis=1))
    expected = left - incidence(edges, 9).T @ F
    take_off(tail, head, kappa, Y, price, left, out)
    np.testing.assert_allclose(left, expected)
    np.testing.assert_allclose(out, np.abs(F) @ price)


def test_threads_change_no_proof():
    centres = [[0, 0], [20, 0], [0, 20], [20, 20]]
    X, labels = make_blobs(1_200, centers=centres, cluster_std=0.5, random_state=0)
    graph = automatic_graph(X, n_neighbors=7, masses=np.ones(1_200))
    space = Space.of_coordinates(X)
    with threadpool_limits(1):  # threads of an old OpenBLAS round otherwise in a thread of ours
        one, two = (
            prove_labels(space, graph, np.ones(1_200), canonical(labels), 10.0, jobs=jobs)
            for jobs in (1, 2)
        )
    assert one.interval is not None
    assert one.interval == two.interval
    np.testing.assert_array_equal(one.beta, two.beta)


# Work


@pytest.mark.parametrize("work", [1.0, 3e3, 4e7])
def test_newton_that_has_used_up_its_work_returns_its_best_point(monkeypatch, work):
    """Less work is a larger gradient, never another problem or an error."""
    rng = np.random.default_rng(0)
    edges = np.array([(i, j) for i in range(40) for j in range(i + 1, 40) if (j - i) % 7 < 2])
    small = Problem.of(rng.normal(size=(40, 30)), edges, np.ones(len(edges)), 0.02)
    monkeypatch.setattr(reduced, "NEWTON_WORK", work)
    C = newton(small, small.Z)
    assert C is not None
    size = np.linalg.norm(reduced.gradient(small, C))
    first = np.linalg.norm(reduced.gradient(small, small.Z))
    assert (size == first) if work == 1.0 else (size < 0.1 * first)
    assert (size < 1e-9 * first) == (work == 4e7)


@pytest.mark.parametrize("gamma", [0.3, 3.0])
def test_a_gamma_that_is_given_ends_within_its_work(monkeypatch, gamma):
    """What is not proved for want of work is said; what is still proved holds with all of it."""
    X = make_moons(120, noise=0.1, random_state=0)[0]
    whole = KernelConvexClustering(gamma=gamma).fit(X)
    assert whole.certificate_.partition == "certified"
    monkeypatch.setattr(reduced, "NEWTON_WORK", 1.0)
    monkeypatch.setattr(on_path, "PROOF_WORK", 1.0)
    monkeypatch.setattr(proof_module, "MOST", 3)
    little = KernelConvexClustering(gamma=gamma).fit(X)
    proved = little.certificate_
    assert proved.partition.startswith("not certified: ")
    assert proved.radius >= whole.certificate_.radius
    for t in np.flatnonzero(proved.clusters):  # proved alone: fused in the certified optimum
        assert len(np.unique(whole.labels_[little.labels_ == t])) == 1
