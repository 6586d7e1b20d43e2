"""Ranges of γ and margins of a partition: nested, closed forms met, and never broken by a move."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_wine, make_blobs, make_moons
from sklearn.preprocessing import scale

from convexcluster import ConvexClustering, KernelConvexClustering, Problem, solve
from convexcluster.certificate import recovery, robustness, solution_radius
from convexcluster.certificate.layout import layout
from convexcluster.certificate.margins import KINDS, _loads, _moves, _part, _radii
from convexcluster.certificate.proof import Proof
from convexcluster.certificate.ranges import _cells, _cuts, _subtrees
from convexcluster.certificate.space import Space
from convexcluster.partition import canonical, fused
from convexcluster.solvers import solve_problem
from test_proof import connected

SHARP = partial(solve_problem, tol=1e-11)
PAIR = Problem.of([[0.0], [3.0]], [[0, 1]], [1.0])
CHAIN = Problem.of([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0])
TWINS = Problem.of([[0.0], [0.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0])


@pytest.mark.parametrize(
    ("problem", "labels", "low", "high"),
    [
        (PAIR, [0, 1], 0.0, 1.5),
        (PAIR, [0, 0], 1.5, np.inf),
        (CHAIN, [0, 0, 1], 1.0, 17 / 3),
    ],
)
def test_closed_forms(problem, labels, low, high):
    found = recovery(problem, labels)
    assert found.status == "proved throughout"
    assert (found.gamma_low, found.gamma_high) == pytest.approx((low, high), rel=1e-9)


def test_twins_need_hardly_any_fusion():
    found = recovery(TWINS, [0, 0, 1])
    assert found.necessary[0] == 0
    assert found.gamma_low < 1e-5  # what rounding leaves
    assert found.gamma_high == pytest.approx(10 / 3, rel=1e-9)


@pytest.mark.parametrize("size", [1.0, 1e-3])
def test_what_blocks_is_named(size):
    """Below by the cut, above by the clusters that meet, however small γ is there."""
    found = recovery(Problem.of(size * CHAIN.Z, CHAIN.edges, CHAIN.weights), [0, 0, 1])
    below, above = found.blocking.split("; ")
    cut, unproved = below.split(", and ")  # both ends of the edge ask for as much
    assert cut in [f"a cut: sample {i} of the cluster of sample 0" for i in (0, 1)]
    assert unproved == f"below {size:g} the cluster of sample 0 is not proved to be whole"
    assert above == "above: the clusters of samples 0 and 2 meet"


def clusters(seed):
    """A random problem with groups that some γ shows, and the groups."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(2, 4))
    truth = np.sort(np.arange(int(rng.integers(2 * k, 6 * k))) % k)
    n = len(truth)
    edges = connected(rng, n, 5 * n)
    edges = np.unique(np.vstack([edges, [[i, i + 1] for i in range(n - 1)]]), axis=0)
    same = truth[edges[:, 0]] == truth[edges[:, 1]]
    weights = np.where(
        same, rng.uniform(0.5, 1.5, len(edges)), rng.uniform(0.001, 0.05, len(edges))
    )
    Z = 4.0 * rng.normal(size=(k, 3))[truth] + 0.3 * rng.normal(size=(n, 3))
    if seed % 3 == 0:
        Z[1] = Z[0]  # copies
    masses = rng.uniform(0.5, 2.0, n) if seed % 2 else np.ones(n)
    return Problem.of(Z, edges, weights, 0.0, masses), truth, rng


@pytest.mark.parametrize("seed", range(12))
def test_sufficient_is_inside_proved_is_inside_necessary(seed):
    problem, truth, _ = clusters(seed)
    found = recovery(problem, truth, solve=SHARP)
    assert not found.status.startswith(("refuted", "not found"))
    assert found.necessary[0] <= found.gamma_low * (1 + 1e-9)
    assert found.gamma_high <= found.necessary[1] * (1 + 1e-9)
    if found.sufficient is not None:
        assert found.gamma_low <= found.sufficient[0]
        assert found.sufficient[1] <= found.gamma_high
    for gamma in (found.gamma_low * 1.01 + 1e-12, 0.99 * min(found.gamma_high, 1e6)):
        best = SHARP(problem.at(gamma))
        np.testing.assert_array_equal(fused(best.A, problem.edges), canonical(truth))


SHAPES = "path", "star", "random"


def degenerate(shape, seed):
    """Copies, masses over two decades, singletons, on a path, a star or a random graph; labels."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 9))
    Z = rng.normal(size=(n, 2))[rng.integers(n, size=n)]  # copies
    labels = np.sort(rng.integers(max(1, n // 2), size=n))
    Z = Z + 6.0 * rng.normal(size=(n, 2))[labels]
    if shape == "path":
        edges = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    elif shape == "star":
        edges = np.column_stack([np.zeros(n - 1, dtype=int), np.arange(1, n)])
        labels = np.where(rng.random(n) < 0.6, labels[0], np.arange(n) + n)  # leaves are single
    else:
        edges = connected(rng, n, 3 * n)
    weights = 10.0 ** rng.uniform(-2, 1, len(edges))
    return Problem.of(Z, edges, weights, 0.0, 10.0 ** rng.uniform(-1, 1, n)), canonical(labels)


@settings(deadline=None, max_examples=40)
@given(st.sampled_from(SHAPES), st.integers(0, 10**6))
def test_ranges_of_degenerate_problems_are_nested(shape, seed):
    """sufficient ⊂ proved ⊂ necessary, and a solver with its radius agrees at both ends."""
    problem, labels = degenerate(shape, seed)
    found = recovery(problem, labels, solve=SHARP)
    if found.status.startswith(("refuted", "not found")):
        assert np.isnan(found.gamma_low)
        return
    low, high = found.gamma_low, found.gamma_high
    assert found.necessary[0] <= low * (1 + 1e-9)
    assert high <= found.necessary[1] * (1 + 1e-9)
    if found.sufficient is not None:
        assert low <= found.sufficient[0] * (1 + 1e-9)
        assert found.sufficient[1] <= high * (1 + 1e-9)
    i, j = problem.edges.T
    for gamma in (low, np.sqrt(max(low, 1e-6) * min(high, 1e6)), min(high, 1e6) * (1 - 1e-9)):
        if not low <= gamma < high or gamma == 0:
            continue
        here = problem.at(float(gamma))
        best = SHARP(here)
        far = solution_radius(here, best) * np.sqrt(1 / problem.masses[i] + 1 / problem.masses[j])
        apart = np.linalg.norm(best.A[i] - best.A[j], axis=1)
        assert (apart[labels[i] == labels[j]] <= far[labels[i] == labels[j]] + 1e-12).all()
        if found.sufficient and found.sufficient[0] * 1.01 < gamma < 0.99 * found.sufficient[1]:
            assert (fused(best.A, problem.edges) == labels).all()


def test_the_inside_is_covered():
    """Without it the ends alone are claimed; every γ between them then has the labels."""
    X, y = make_moons(120, noise=0.05, random_state=0)
    model = KernelConvexClustering(gamma=1.0).fit(X)
    ends, found = model.recovery(y), model.recovery(y, inside=True)
    assert ends.status == "certified at both ends"
    assert found.status == "proved throughout"
    assert found.sufficient == (found.gamma_low, found.gamma_high)
    assert found.sufficient[0] < ends.sufficient[0]
    assert found.gamma_low <= ends.gamma_low * 1.011
    assert "above: the clusters of samples" in found.blocking
    graph, Z = model.graph_, KernelConvexClustering(embedding="exact").fit(X).embedding_
    for gamma in np.geomspace(found.gamma_low, 0.99 * ends.sufficient[0], 4):
        best = SHARP(Problem.of(Z, graph.edges, graph.weights, float(gamma)))
        np.testing.assert_array_equal(fused(best.A, graph.edges), canonical(y))


def test_a_refutation_names_the_gammas_that_it_would_need():
    X, y = make_moons(120, noise=0.05, random_state=0)
    wrong = np.where(np.arange(120) == 7, 1 - y, y)
    found = KernelConvexClustering(gamma=1.0).fit(X).recovery(wrong)
    low, high = found.necessary
    connected_in_graph = f"refuted: it would need γ ≥ {low:.4g} and γ < {high:.4g}"
    assert found.status in (connected_in_graph, f"refuted: {found.blocking}")


@pytest.mark.parametrize("seed", range(12))
def test_beyond_the_necessary_ends_the_optimum_has_other_clusters(seed):
    problem, truth, _ = clusters(seed)
    low, high = recovery(problem, truth, solve=SHARP).necessary
    for gamma in (0.99 * low, 1.01 * high):
        best = SHARP(problem.at(gamma))
        assert (fused(best.A, problem.edges) != canonical(truth)).any()


@pytest.mark.parametrize("seed", range(8))
def test_just_beyond_the_proved_ends_the_optimum_has_other_clusters(seed):
    """The ends are those of the partition, to twice the width of the bisection."""
    problem, truth, _ = clusters(seed)
    found = recovery(problem, truth, solve=SHARP)
    for gamma in (found.gamma_low * (1 - 2e-3), found.gamma_high * (1 + 2e-3)):
        best = SHARP(problem.at(gamma))
        assert (fused(best.A, problem.edges) != canonical(truth)).any()


def test_the_ends_name_what_blocks_them():
    found = recovery(CHAIN, [0, 0, 1])
    assert found.blocking.startswith("a cut: sample 1 of the cluster of sample 0")
    assert found.blocking.endswith("; above: the clusters of samples 0 and 2 meet")


def wine():
    """Five clusters that touch, two of them single samples: no closed form holds."""
    return KernelConvexClustering(gamma=8.7).fit(scale(load_wine().data))


def test_changes_take_the_ways_that_corrected_flows_leave():
    """Along the ways of the electrical flow each sample could move by 0.0002."""
    found = wine().robustness()
    assert found.each > 0.002
    assert found.gamma > 0.005


@pytest.mark.slow
def test_the_range_of_touching_clusters_is_covered():
    model = wine()
    assert model.recovery(inside=True).status == "proved throughout"


def test_wrong_labels_are_refuted_by_a_cut():
    X, y = make_moons(120, noise=0.05, random_state=0)
    model = KernelConvexClustering().fit(X)
    assert model.recovery(y).status == "certified at both ends"
    wrong = y.copy()
    wrong[7] = 1 - wrong[7]
    found = model.recovery(wrong)
    assert found.status.startswith("refuted: ")
    assert "sample" in found.blocking


def test_equal_samples_with_different_labels_are_refuted():
    X = np.repeat(make_blobs(20, random_state=0)[0], 2, axis=0)
    labels = np.arange(40) % 2
    found = KernelConvexClustering(2).fit(X).recovery(labels)
    assert found.status == "refuted: samples 0 and 1 are equal and have different labels"


def moved(problem, gamma, kind, size, rng):
    """A problem that differs by a random change of that size."""
    Z, weights = problem.Z.copy(), problem.weights.copy()
    step = rng.normal(size=Z.shape)
    if kind == "total":
        Z += size * step / np.sqrt(problem.masses @ (step**2).sum(axis=1))
    elif kind == "each":
        Z += size * step / np.linalg.norm(step, axis=1)[:, None]
    elif kind == "one":
        i = int(rng.integers(len(Z)))
        Z[i] += size * step[i] / np.linalg.norm(step[i])
    elif kind == "weights":
        weights *= 1.0 + size * rng.choice([-1.0, 1.0], len(weights))
    else:
        gamma *= 1.0 + size * rng.choice([-1.0, 1.0])
    return Problem(Z, problem.edges, weights, gamma, problem.masses)


def stand(seeds, repeats):
    """Moves at 0.999 of a radius that were made; none may change the partition."""
    made = 0
    for seed in seeds:
        problem, truth, rng = clusters(seed)
        found = recovery(problem, truth, solve=SHARP)
        if not found.gamma_low < found.gamma_high:
            continue
        low = max(found.gamma_low, 1e-3)
        gamma = float(np.sqrt(low * min(found.gamma_high, 100 * low)))
        radii = robustness(problem, truth, gamma, solve=SHARP)
        for kind in ("total", "each", "one", "weights", "gamma") * repeats:
            size = 0.999 * getattr(radii, kind)
            assert size >= 0
            other = moved(problem, gamma, kind, size, rng)
            parts = other.Z, other.edges, other.weights, other.gamma
            best = solve(*parts, masses=other.masses, tol=1e-11)
            np.testing.assert_array_equal(fused(best.A, other.edges), truth)
            made += size > 0
    return made


def test_no_move_within_a_radius_changes_the_partition():
    assert stand(range(12), 1) > 40


@pytest.mark.slow
def test_a_thousand_moves_within_a_radius_change_nothing():
    assert stand(range(100, 160), 5) >= 1000


def test_the_margin_of_a_pair_is_that_of_the_closed_form():
    # ½·3 fills 1.5 of the edge's 2: both may move by ½, in opposite directions
    found = robustness(PAIR.at(2.0), [0, 0])
    assert 0.49 < found.each <= 0.5
    assert 0.49 * np.sqrt(2) < found.total <= 0.5 * np.sqrt(2)
    assert 0.98 < found.one <= 1.0
    assert 0.24 < found.weights <= 0.25
    assert 0.24 < found.gamma <= 0.25
    assert found.weakest == (0, 1)


def test_what_is_not_proved_has_no_margin():
    found = robustness(PAIR.at(1.0), [0, 0])
    assert (found.total, found.each, found.gamma) == (0.0, 0.0, 0.0)
    assert found.reason == "the partition is not proved at γ = 1"
    assert "connected" in robustness(CHAIN.at(1.0), [0, 1, 0]).reason


def test_a_model_answers_in_its_input():
    X = make_moons(120, noise=0.05, random_state=0)[0]
    model = KernelConvexClustering(bandwidth=0.15).fit(X)
    found = model.robustness()
    assert 0 < found.each < 1
    reach = found.in_input(0.15)
    shift = 2 - 2 * np.exp(-(reach**2) / (2 * 0.15**2))
    assert shift == pytest.approx(found.each**2)
    assert len(found.per_cluster["each"]) == 2
    assert ConvexClustering(2).fit(X).recovery().status != ""


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0, 1], "one for each sample"),
        ([0, -1, 1], "whole numbers"),
        ([0.5, 1, 1], "whole numbers"),
        (["a", "b", "c"], "whole numbers"),
        ([0, np.nan, 1], "whole numbers"),
        ([0, np.inf, 1], "whole numbers"),
        ([[0, 0, 1]], "one for each sample"),
        ([], "one for each sample"),
    ],
)
def test_labels_that_are_none_are_refused(labels, words):
    with pytest.raises(ValueError, match=words):
        recovery(CHAIN, labels)
    with pytest.raises(ValueError, match=words):
        robustness(CHAIN.at(1.0), labels)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"near": -1.0}, "near must be a number > 0, or None, got -1.0"),
        ({"near": np.nan}, "near must be a number > 0"),
        ({"near": "a"}, "near must be a number > 0"),
        ({"rel": 0.0}, "rel must be a number from 1e-9 to 1, got 0.0"),
        ({"rel": 2.0}, "rel must be a number from 1e-9 to 1"),
    ],
)
def test_bad_options_of_recovery(options, words):
    with pytest.raises(ValueError, match=words):
        recovery(CHAIN, [0, 0, 1], **options)


@pytest.mark.parametrize("gamma", [0.0, -1.0, np.nan, np.inf, 1e300])
def test_a_gamma_at_which_nothing_is_proved_is_no_error(gamma):
    found = robustness(PAIR, [0, 0], gamma)
    assert (found.total, found.each, found.weights) == (0.0, 0.0, 0.0)
    assert found.reason == f"the partition is not proved at γ = {gamma:.4g}"
    with pytest.raises(ValueError, match="gamma must be a number, got 'a'"):
        robustness(PAIR, [0, 0], "a")


def test_cells_are_refused():
    X = make_moons(200, noise=0.05, random_state=0)[0]
    with pytest.raises(ValueError, match="coarsen=False"):
        KernelConvexClustering(2, coarsen=50).fit(X).recovery()


def proof_and_cuts(seed, size=None):
    """A proof with small cells, and the demands, the pulls and the weights of each cluster."""
    problem, truth, _ = clusters(seed)
    at = layout(problem.edges, truth, size)
    space = Space.of_coordinates(problem.Z)
    proof = Proof(space, problem.edges, problem.weights, problem.masses, truth, at)
    W = np.zeros((problem.n, problem.n))
    W[tuple(problem.edges.T)] = W[tuple(problem.edges.T[::-1])] = problem.weights
    return problem, truth, proof, W


@pytest.mark.parametrize("size", [None, 3])
def test_a_cut_asks_for_what_its_demands_and_its_edges_say(size):
    """‖Σ_S m(φ − φ̄)‖ and w(S, C∖S) + Σ_s |w_S^(s) − m_S W_s/m|, written out for every cut."""
    problem, truth, proof, W = proof_and_cuts(5, size)
    highest = 0.0
    for flow in proof.flows:
        own = flow.inside
        t = truth[own.samples[0]]
        m, mine = problem.masses, truth == t
        mean = m[mine] @ problem.Z[mine] / m[mine].sum()
        for sides in _subtrees(proof, own), _cells(own):
            for s in range(len(sides.cut)):
                S = np.isin(np.arange(problem.n), sides.members(s))
                demand = np.linalg.norm(m[S] @ (problem.Z[S] - mean))
                assert sides.square[s] == pytest.approx(demand**2, rel=1e-9, abs=1e-12)
                cut = W[np.ix_(S, mine & ~S)].sum()
                for q in set(truth) - {t}:
                    pull = W[np.ix_(S, truth == q)].sum() - m[S].sum() / m[mine].sum() * (
                        W[np.ix_(mine, truth == q)].sum()
                    )
                    cut += abs(pull)
                assert sides.cut[s] == pytest.approx(cut, rel=1e-9)
                if sides.size[s] > 0 and cut > 0 and len(sides.cut) > own.n:
                    highest = max(highest, demand / cut)
    low, blocking = _cuts(proof)
    assert low == pytest.approx(highest, rel=1e-6)
    assert blocking.startswith("a cut: ")


def test_margins_are_those_of_the_formulas():
    """What a change of size one adds to each edge, and how far it moves the reduced optimum."""
    problem, truth, proof, W = proof_and_cuts(7)
    gamma = 4.0 * float(proof.gammas.max())
    state, m = proof.state(gamma)[0], problem.masses
    total = np.bincount(truth, m)
    leaves = np.array([W[truth == t][:, truth != t].sum() for t in range(proof.k)])
    moves = {
        "total": 1.0,
        "each": np.sqrt(m.sum()),
        "one": (m / np.sqrt(total[truth])).max(),
        "gamma": state.moved + state.radius,
        "weights": gamma * np.sqrt((leaves**2 / total).sum()),
    }
    for kind, far in moves.items():
        assert _moves(proof, state, kind) == pytest.approx(far, rel=1e-9)
    for t, flow in enumerate(proof.flows):
        own, part = flow.inside, _part(proof, t, state, None)
        mass, w = own.masses, own.w
        R = np.abs(flow.carry(np.eye(own.n) - np.outer(mass / mass.sum(), np.ones(own.n))))
        np.testing.assert_allclose(flow.rows(slice(0, own.n)), R, rtol=1e-9, atol=1e-12)
        out = W[np.ix_(own.samples, truth != t)].sum(axis=1)
        room = gamma * w / 1.01
        adds = {
            "total": np.sqrt(R**2 @ mass) / room,
            "each": R @ mass / room,
            "one": (R * mass).max(axis=1) / room,
            "weights": 1.01 * (1 + R @ out / w),
            "gamma": flow.length / room,
        }
        for kind, added in adds.items():
            np.testing.assert_allclose(part.adds[kind], added, rtol=1e-6)
        np.testing.assert_allclose(part.load, proof.lengths(t, state) / (gamma * w), rtol=1e-12)
        np.testing.assert_allclose(part.turned, 1.01 * np.abs(flow.f) / w[:, None], atol=1e-12)


def test_radii_are_where_the_first_edge_is_full():
    """At its radius the fullest edge of each cluster carries its capacity, and no more."""
    _, _, proof, _ = proof_and_cuts(7)
    state = proof.state(4.0 * float(proof.gammas.max()))[0]
    parts = [_part(proof, t, state, None) for t in range(proof.k)]
    for kind in KINDS:
        radii = _radii(proof, state, parts, kind)
        for t in range(proof.k):
            inside = _loads(proof, state, parts, kind, radii[t])[t]
            assert inside is not None
            assert inside.max() <= 1.0
            beyond = _loads(proof, state, parts, kind, radii[t] * (1 + 1e-6))[t]
            assert beyond is None or beyond.max() > 1.0
