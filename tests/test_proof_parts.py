"""Parts of the proof by themselves: each is what its formula says, in the right words."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from convexcluster import Problem
from convexcluster.certificate import Certificate, certify, recovery
from convexcluster.certificate.claims import Claim, claimed, prove_labels, whole_at
from convexcluster.certificate.cores import _distinct, core_of
from convexcluster.certificate.explicit import _measured, hold
from convexcluster.certificate.flows import _bottleneck, absorbable, electrical, route
from convexcluster.certificate.layout import layout
from convexcluster.certificate.margins import Robustness, _loads, _moves, _part, _radii, reach
from convexcluster.certificate.partition import certify_partition
from convexcluster.certificate.proof import OWN, Proof, _majorised
from convexcluster.certificate.ranges import _cells
from convexcluster.certificate.reduced import dense_newton, newton
from convexcluster.certificate.space import Space, _neighbours
from convexcluster.graph import Graph, incidence
from convexcluster.partition import fused
from convexcluster.solvers import solve_problem as solve
from test_proof import connected

NEARLY = pytest.approx


def clusters(k=3, size=6, seed=0, masses=False, far=6.0):
    """Groups on a ring, each connected, with weak edges between neighbouring ones."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(np.arange(k), size)
    turn = 2 * np.pi * np.arange(k) / k
    centres = far * np.column_stack([np.cos(turn), np.sin(turn), np.zeros(k)])
    Z = centres[labels] + 0.2 * rng.normal(size=(k * size, 3))
    inside = [connected(rng, size, 12) + size * t for t in range(k)]
    between = [[size * t, size * (t + 1)] for t in range(k - 1)] + [[0, size * (k - 1)]] * (k > 2)
    edges = np.vstack([*inside, np.reshape(between, (-1, 2))]).astype(np.int64)
    weights = np.concatenate([np.ones(len(edges) - len(between)), np.full(len(between), 0.3)])
    m = rng.uniform(0.5, 3.0, len(labels)) if masses else np.ones(len(labels))
    order = np.lexsort(edges.T[::-1])
    return Z, Graph(edges[order], weights[order]), m, labels


def proof_of(Z, graph, masses, labels):
    at = layout(graph.edges, labels)
    return Proof(Space.of_coordinates(Z), graph.edges, graph.weights, masses, labels, at)


@pytest.fixture(scope="module", params=[False, True], ids=["alike", "weighted"])
def ring(request):
    given = clusters(masses=request.param)
    proof = proof_of(*given)
    low, high = float(proof.gammas.max()), proof.apart_below()
    assert low < high
    gamma = float(np.sqrt(max(low, 1e-3) * high))
    return SimpleNamespace(given=given, proof=proof, state=proof.state(gamma)[0], gamma=gamma)


def test_a_state_says_how_far_apart_its_clusters_are(ring):
    """Against the reduced problem solved by another way, and the formulas of reach and turn."""
    proof, state = ring.proof, ring.state
    Z, _, masses, labels = ring.given
    small = Problem.of(
        np.array([masses[labels == t] @ Z[labels == t] for t in range(3)]) / proof.mass[:, None],
        proof.pairs,
        proof.between,
        ring.gamma,
        masses=proof.mass,
    )
    C = solve(small, tol=1e-13).A
    s, t = proof.pairs.T
    np.testing.assert_allclose(state.apart, np.linalg.norm(C[s] - C[t], axis=1), rtol=1e-6)
    np.testing.assert_allclose(state.beta @ small.Z, C, atol=1e-6)
    np.testing.assert_allclose(proof.pull, np.sqrt(1 / proof.mass[s] + 1 / proof.mass[t]))
    np.testing.assert_allclose(state.doubt, OWN * state.radius * proof.pull, rtol=1e-12)
    assert 0 < state.radius < 1e-8
    moved = np.sqrt(proof.mass @ ((C - small.Z) ** 2).sum(axis=1))
    assert state.moved == NEARLY(OWN * moved, rel=1e-5)
    wide = replace(state, radius=0.1 * float((state.apart / proof.pull).min()))
    room = float((state.apart / proof.pull).min()) / OWN - wide.radius
    assert wide.reach(proof.pull) == NEARLY(room / (state.moved + wide.radius) / OWN, rel=1e-12)
    assert replace(wide, radius=2.0 * room).reach(proof.pull) == 0.0
    turns = proof.turns(0, state, 0.05, 0.5 * proof.mass)
    at = proof.edges_at(0)
    other = np.where(s == 0, t, s)[at]
    doubt = OWN * 0.05 * np.sqrt(1.0 / proof.mass[0] + 2.0 / proof.mass[other])
    expected = OWN * 2.0 * doubt / (2.0 * state.apart[at] - doubt)
    np.testing.assert_allclose(turns, expected + state.turn(np.zeros(3))[at], rtol=1e-9)


def test_clusters_are_apart_at_least_up_to_the_closed_form(ring):
    proof = ring.proof
    closed, low = proof.apart_below(), float(proof.gammas.max())
    until = proof.apart_until(low)
    assert until >= closed * (1 - 1e-9)
    for gamma in (0.9 * closed, 0.999 * until):
        assert proof.state(gamma)[0].differ
    assert proof.state(4.0 * until) is None or not proof.state(4.0 * until)[0].differ


def test_of_two_clusters_and_of_one_the_closed_form_is_all():
    two = proof_of(*clusters(k=2))
    assert two.apart_until(float(two.gammas.max())) == two.apart_below()
    one = proof_of(*clusters(k=1))
    assert one.apart_until(0.0) == np.inf


@pytest.mark.parametrize("seed", range(3))
def test_steps_of_newton_end_at_the_optimum_of_the_reduced_problem(seed):
    Z, graph, masses, labels = clusters(k=5, size=4, seed=seed, masses=True)
    proof = proof_of(Z, graph, masses, labels)
    small = Problem(
        proof.centers, proof.pairs, proof.between, 0.3 * proof.apart_below(), proof.mass
    )
    C = solve(small, tol=1e-13).A
    near = _majorised(small, small.Z)
    assert np.abs(near - C).max() <= 1e-4 * np.abs(C).max()
    for found in (newton(small, near), dense_newton(small, near), dense_newton(small, small.Z)):
        np.testing.assert_allclose(found, C, atol=1e-6 * np.abs(C).max())


def test_cells_within_reach_are_those_that_some_pair_is_in():
    rng = np.random.default_rng(0)
    X = np.sort(rng.uniform(-9, 9, size=(120, 2)), axis=0) + np.array([0.0, 5.0])
    edges = connected(rng, 120, 0)
    at = layout(edges, np.zeros(120, dtype=np.int64), 10)
    space = replace(Space.of_coordinates(X), places=X, reach=1.0)
    near = _neighbours(space, at)
    p = len(at.starts) - 1
    D = np.linalg.norm(X[at.order][:, None] - X[at.order][None], axis=2)
    left_out = 0
    for g in range(p):
        found = set(near(g).tolist())
        assert min(found) == g
        for h in range(g, p):
            least = D[at.starts[g] : at.starts[g + 1], at.starts[h] : at.starts[h + 1]].min()
            assert h in found or least > space.reach
            left_out += h not in found
    assert left_out > 0


def test_means_of_labels_have_their_inner_products():
    rng = np.random.default_rng(1)
    Z, masses, labels = rng.normal(size=(20, 3)), rng.uniform(0.5, 2, 20), rng.integers(5, size=20)
    Z -= Z.mean(axis=0)
    M = np.array(
        [masses[labels == t] @ Z[labels == t] / masses[labels == t].sum() for t in range(5)]
    )
    space = Space.of_coordinates(Z).means(masses, labels)
    for rows, columns in (([0, 1, 2, 3, 4], [0, 1, 2, 3, 4]), ([3, 1], [4, 0, 2]), ([2], [2])):
        found = space.gram(np.array(rows), np.array(columns))
        np.testing.assert_allclose(found, M[rows] @ M[columns].T, atol=1e-14)
    assert (space.sizes >= np.linalg.norm(M, axis=1)).all()
    assert 0 < space.noise < 1e-13


@pytest.mark.parametrize("kind", ["total", "each", "one", "gamma", "weights"])
def test_loads_after_a_change_are_their_formula(ring, kind):
    proof, state = ring.proof, replace(ring.state, radius=1e-3)
    mass = proof.mass
    W = np.bincount(proof.pairs.ravel(), np.repeat(proof.between, 2), 3)
    share = proof.masses / np.sqrt(mass[proof.at.label])
    moves = {
        "total": 1.0,
        "each": np.sqrt(mass.sum()),
        "one": share.max(),
        "gamma": state.moved + 1e-3,
        "weights": state.gamma * np.sqrt((W**2 / mass).sum()),
    }[kind]
    assert _moves(proof, state, kind) == NEARLY(moves, rel=1e-12)
    parts = [_part(proof, t, state, None, (kind,)) for t in range(3)]
    size = 0.01
    doubt = OWN * (size * moves + 1e-3) * proof.pull
    grown = size / (1 - size) if kind == "gamma" else size
    for t, found in enumerate(_loads(proof, state, parts, kind, size)):
        turned = parts[t].turned @ state.turn(doubt)[proof.edges_at(t)]
        turned *= 1 + size if kind == "weights" else 1
        np.testing.assert_allclose(found, parts[t].load + grown * parts[t].adds[kind] + turned)


def test_a_partition_stands_within_its_reach(ring, monkeypatch):
    proof, state = ring.proof, ring.state
    plain = reach(proof, state, None)
    radii = _radii(
        proof, state, [_part(proof, t, state, None, ("gamma",)) for t in range(3)], "gamma"
    )
    assert plain >= radii.min() > 0.01
    monkeypatch.setattr("convexcluster.certificate.margins.SHORT", np.inf)  # corrected, all of them
    assert reach(proof, state, None) >= plain
    Z, graph, masses, labels = ring.given
    for factor in (1 - 0.99 * plain, 1 + 0.99 * plain):
        problem = Problem.of(Z, graph.edges, graph.weights, ring.gamma * factor, masses=masses)
        found = solve(problem, tol=1e-11)
        assert certify_partition(problem, labels, found.A, found.Lam) == "certified"


def test_margins_in_words():
    said = Robustness(each=0.5, one=0.7, total=1.0, weights=0.25, gamma=0.125, weakest=(3, 8))
    plain = said.statement()
    assert "by 0.5 in the kernel's space" in plain
    assert "change by 25 %" in plain
    assert "γ by 12 %" in plain
    assert plain.endswith("joins samples 3 and 8.")
    assert said.statement(names=list("abcdefghij")).endswith("joins samples d and i.")
    assert "in the kernel's space" not in said.statement(bandwidth=2.0)
    assert replace(said, each=np.inf).statement().count("anywhere") == 1
    assert "joins" not in replace(said, weakest=None).statement()
    assert replace(said, each=0.0).statement().startswith("No room is proved")
    assert replace(said, reason="too many").statement().endswith("is not proved: too many.")


CERTIFICATE = Certificate(
    gap=0.0, relative_gap=0.0, radius=1.0, embedding_error=0.0, partition="not certified: open"
)
LABELS, ROWS = np.array([0, 0, 1, 2]), np.array([1, 4, 1, 2])


NOTHING = "Nothing is proved about these clusters"
WITHIN = "the exact centroids lie within 1e-09 of the spread of the samples from those found."
FUSED = "proved to be fused in the exact optimum, perhaps with others, with"


@pytest.mark.parametrize(
    ("proved", "reason", "radius", "said"),
    [
        ([0, 0, 0], "flows were not found", 1.0, f"{NOTHING}: flows were not found."),
        ([0, 0, 0], "", 1.0, f"{NOTHING}."),
        ([0, 0, 0], "", 1e-9, f"No cluster is proved at γ = 6; {WITHIN}"),
        ([0, 1, 0], "", 1.0, f"{NOTHING}."),  # one row is one centroid whatever is proved
        ([0, 1, 1], "", 1.0, f"At γ = 6 1 of the 3 clusters is {FUSED} 2 of 8 samples."),
        ([1, 0, 1], "", 1.0, f"At γ = 6 2 of the 3 clusters are {FUSED} 7 of 8 samples."),
    ],
)
def test_what_is_claimed_in_words(proved, reason, radius, said):
    claim = Claim(3.0, None, False, np.array(proved, dtype=bool), reason=reason)
    given = replace(CERTIFICATE, relative_radius=radius)
    assert claimed(given, claim, None, LABELS, ROWS, 3.0, unit=2.0).statement == said
    if not any(proved) and not reason:
        assert claimed(given, None, None, LABELS, ROWS, 3.0, unit=2.0).statement == said


def test_a_core_is_the_heaviest_group_of_several_that_is_proved():
    labels, fused = np.array([0, 0, 0, 0, 1, 2, 2, 2]), np.array([0, 0, 1, 1, 2, 3, 4, 4])
    yes = np.ones(5, dtype=bool)
    inside = core_of(labels, fused, yes, np.array([1, 1, 1, 2, 1, 9, 1, 1.0]))
    # two beat one; the label of one row is its own core; a heavy row alone is none
    assert inside.tolist() == [False, False, True, True, True, False, True, True]
    inside = core_of(labels, fused, yes & ([True, False, True, True, True]), np.ones(8))
    assert inside.tolist() == [True, True, False, False, True, False, True, True]


def test_clusters_are_distinct_if_further_apart_than_is_doubted(ring):
    proof, state = ring.proof, ring.state
    inside, sizes = np.ones(3, dtype=bool), np.full(3, 6)
    s, t = proof.pairs.T
    most = float((state.apart / (OWN * proof.pull)).min())
    assert _distinct(proof, state, 0.99 * most, inside, sizes).all()
    found = _distinct(proof, state, 1.01 * most, inside, sizes)
    worst = int(np.argmin(state.apart / proof.pull))
    assert not found[[s[worst], t[worst]]].any()
    alone = np.where(np.arange(3) == s[worst], 6, 1)  # single samples are no cluster to be part of
    assert _distinct(proof, state, 1.01 * most, inside, alone).all()


def test_whole_clusters_are_proved_at_one_gamma(ring):
    """By flows that are corrected; and not once their edges carry a hundredth."""
    Z, graph, masses, labels = ring.given
    assert whole_at(ring.proof, ring.state, None)
    i, j = graph.edges.T
    thin = np.where(labels[i] == labels[j], 1e-3, 1.0) * graph.weights
    weak = proof_of(Z, Graph(graph.edges, thin), masses, labels)
    state = weak.state(ring.gamma)[0]
    assert not whole_at(weak, state, None)
    claim = prove_labels(
        Space.of_coordinates(Z), Graph(graph.edges, thin), masses, labels, ring.gamma
    )
    assert not claim.whole
    assert claim.reason


def test_what_a_cluster_absorbs_is_bounded_by_its_flow():
    """Slack 1 on a chain and on a cycle; the electrical flow of any demand of that size fits."""
    rng = np.random.default_rng(0)
    for edges, n in (
        ([[0, 1], [1, 2], [2, 3]], 4),
        ([[0, 1], [1, 2], [2, 3], [0, 3]], 4),
        ([[0, 1]], 2),
    ):
        edges = np.array(edges)
        slack = rng.uniform(0.5, 2.0, len(edges))
        room = absorbable(edges, slack, n)
        D = incidence(edges, n).toarray()
        exact = 1.0 / np.sqrt(
            ((np.linalg.pinv(D.T @ np.diag(slack) @ D) @ D.T) ** 2).sum(axis=0).max()
        )
        assert room == NEARLY(exact, rel=1e-5)
        demand = rng.normal(size=(n, 2))
        demand -= demand.mean(axis=0)
        demand *= room / np.linalg.norm(demand)
        flow = electrical(edges, slack, demand, np.zeros(n, dtype=np.int64), np.ones(n))
        assert (np.linalg.norm(flow, axis=1) <= slack).all()
        np.testing.assert_allclose(D.T @ flow, demand, atol=1e-12)
    assert absorbable(np.array([[0, 1], [1, 2]]), np.array([1.0, 0.0]), 3) == 0.0


def test_what_a_flow_misses_is_its_length_and_its_energy_by_the_masses(ring):
    """Of a flow that is nothing the whole demand is missed."""
    own = ring.proof.insides[1]
    b = np.random.default_rng(0).normal(size=(own.n, 2))
    found = _measured(own, np.ones(len(own.edges)), b, 0.0, np.zeros((len(own.edges), 2)))
    assert found.missing == pytest.approx(OWN * np.linalg.norm(b), rel=1e-9)
    energy = (b**2 / own.masses[:, None]).sum()
    assert found.energy == pytest.approx(OWN * energy, rel=1e-9)
    assert found.missing >= np.linalg.norm(b)


def test_cells_as_cuts_are_their_samples(ring):
    for own in ring.proof.insides:
        sides = _cells(own)
        found = np.concatenate([sides.members(g) for g in range(len(own.starts) - 1)])
        assert sorted(found) == sorted(own.samples)
        np.testing.assert_array_equal(sides.members(0), own.samples[: own.starts[1]])


def test_labels_that_are_not_connected_are_refuted_by_name():
    problem = Problem.of([[0.0], [1.0], [2.0], [9.0]], [[0, 1], [1, 2], [2, 3]], np.ones(3))
    found = recovery(problem, [0, 1, 1, 0])
    assert found.status == "refuted: the cluster of sample 0 is not connected in the graph"
    assert found.necessary == (np.inf, 0.0)  # no γ at all
    found = recovery(problem, [0, 1, 0, 1])
    assert "the cluster of sample 0 is not connected" in found.blocking


def test_the_radius_is_that_of_gap_rounding_and_embedding():
    Z, graph, masses, _labels = clusters()
    problem = Problem.of(Z, graph.edges, graph.weights, 0.4, masses=masses)
    rough = solve(problem, tol=1e-3)
    found = certify(problem, rough, embedding_error=0.3)
    assert found.radius == NEARLY(np.sqrt(2 * (rough.gap + found.rounding) + 0.09), rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_range_of_labels_ends_where_the_optimum_has_others(weighted):
    """Every γ inside is covered, and a hundredth beyond either end the clusters are not these."""
    Z, graph, masses, labels = clusters(k=3, size=4, seed=2, masses=weighted)
    i, j = labels[graph.edges].T
    graph = Graph(graph.edges, np.where((i == 1) & (j == 2), 1.0, graph.weights))  # they meet first
    problem = Problem.of(Z, graph.edges, graph.weights, masses=masses)
    sharp = partial(solve, tol=1e-12)
    ends, found = (recovery(problem, labels, solve=sharp, inside=inside) for inside in (0, 1))
    assert found.status == "proved throughout"
    assert found.sufficient == (found.gamma_low, found.gamma_high)
    assert found.gamma_low <= 1.02 * ends.gamma_low
    assert found.gamma_high >= 0.98 * ends.gamma_high
    assert ends.necessary[0] <= ends.gamma_low < ends.gamma_high <= ends.necessary[1]

    def at(gamma):
        return fused(sharp(problem.at(gamma)).A, graph.edges)

    for gamma in np.geomspace(1.001 * found.gamma_low, 0.999 * found.gamma_high, 5):
        np.testing.assert_array_equal(at(gamma), labels)
    np.testing.assert_array_equal(at(1.03 * found.gamma_high), np.minimum(labels, 1))
    assert ends.blocking.endswith("above: the clusters of samples 4 and 8 meet")
    assert "a cut:" in ends.blocking


def test_wrong_labels_have_no_range():
    Z, graph, masses, labels = clusters()
    moved = labels.copy()
    moved[0] = 1
    problem = Problem.of(Z, graph.edges, graph.weights, masses=masses)
    found = recovery(problem, moved, solve=partial(solve, tol=1e-12), inside=True)
    assert np.isnan(found.gamma_low)
    assert found.status.split(":")[0] in ("refuted", "not found")


def test_the_demand_of_a_cluster_is_that_of_its_samples(ring, monkeypatch):
    """m_i(z_i − z̄_t) and what neighbours pull; directions that turn add what they may change."""
    asked = []

    def route_and_keep(edges, c, demand, *rest, **options):
        asked.append(demand)
        return route(edges, c, demand, *rest, **options)

    monkeypatch.setattr("convexcluster.certificate.explicit.route", route_and_keep)
    proof, state = ring.proof, ring.state
    Z = ring.given[0]
    for t in range(3):
        held = hold(proof, t, state)
        own = proof.insides[t]
        mean = own.masses @ Z[own.samples] / own.masses.sum()
        C = state.beta @ np.array(
            [
                proof.insides[s].masses @ Z[proof.insides[s].samples] / proof.mass[s]
                for s in range(3)
            ]
        )
        u = C[t] - C[own.near]
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        share = own.masses[:, None] / own.masses.sum() * own.pull.sum(axis=0)
        demand = (
            own.masses[:, None] * (Z[own.samples] - mean) + state.gamma * (share - own.pull) @ u
        )
        np.testing.assert_allclose(asked[-1] @ asked[-1].T, demand @ demand.T, atol=1e-7)
        turn = np.full(len(own.near), 0.01)
        turned = state.gamma * np.linalg.norm((own.pull + share) @ turn)
        assert held._unmet(proof, t, state.gamma, turn) == NEARLY(OWN * (held.missing + turned))


def test_a_partition_is_certified_whatever_dual_is_at_hand(ring):
    Z, graph, masses, labels = ring.given
    problem = Problem.of(Z, graph.edges, graph.weights, ring.gamma, masses=masses)
    found = solve(problem, tol=1e-12)
    for Lam in (found.Lam, np.zeros_like(found.Lam)):
        assert certify_partition(problem, labels, found.A, Lam) == "certified"


def test_the_widest_tree_has_the_least_of_its_slacks():
    edges = np.array([[0, 1], [1, 2], [0, 2], [2, 3]])
    assert _bottleneck(edges, np.array([0.5, 4.0, 2.0, 3.0]), 4) == NEARLY(2.0)
    assert _bottleneck(edges[:2], np.ones(2), 4) == 0.0
