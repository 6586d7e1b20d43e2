"""Claims at one γ, cores and the test of a partition: which values go into them, and the words."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from convexcluster import Problem
from convexcluster.certificate import claims, cores, partition
from convexcluster.certificate.claims import Claim, claimed, prove_labels, whole_at
from convexcluster.certificate.cores import _contractible, best_cores
from convexcluster.certificate.gap import dual_point
from convexcluster.certificate.partition import _Test, certify_partition
from convexcluster.certificate.reduced import reduce
from convexcluster.certificate.rounding import OWN
from convexcluster.certificate.space import Space
from convexcluster.graph import Graph
from convexcluster.solvers import solve_problem as solve
from test_proof_parts import CERTIFICATE, clusters, proof_of

ROWS = np.array([1, 4, 1, 2])


@pytest.fixture(scope="module")
def ring():
    given = clusters(masses=True)
    proof = proof_of(*given)
    gamma = float(np.sqrt(max(proof.gammas.max(), 1e-3) * proof.apart_below()))
    return SimpleNamespace(given=given, proof=proof, state=proof.state(gamma)[0], gamma=gamma)


@pytest.mark.parametrize(
    ("labels", "interval", "said"),
    [
        ([0, 0, 1, 2], (1.0, 4.0), "For every γ from 2 up to 8 the exact optimum {these 3}."),
        ([0, 0, 0, 0], (1.0, np.inf), "For every γ from 2 on the exact optimum is one cluster."),
        ([0, 0, 1, 2], None, "At γ = 6 the exact optimum {these 3}."),
    ],
)
def test_what_is_claimed_of_a_whole_partition(labels, interval, said):
    labels = np.array(labels)
    claim = Claim(3.0, interval, True, np.ones(labels.max() + 1, dtype=bool))
    found = claimed(CERTIFICATE, claim, None, labels, ROWS, 3.0, unit=2.0)
    assert found.statement == said.replace("{these 3}", "has exactly these 3 clusters")
    assert found.partition == "certified"
    assert found.clusters.all()
    assert found.cores.all()


def test_without_an_interval_the_largest_likely_gammas_are_tried_first(ring, monkeypatch):
    """At most four; if all fail the claim is about the γ that goes with the labels."""
    Z, graph, masses, labels = ring.given
    tried = []

    def fails(proof, state, solve):
        tried.append(state.gamma)
        return state.gamma == most

    given = Space.of_coordinates(Z), graph, masses, labels, ring.gamma
    likely = ring.gamma * np.linspace(0.5, 0.9, 6)
    monkeypatch.setattr(claims, "whole_at", fails)
    for low, why in ((5.0, "flows that hold every cluster"), (np.inf, "touching clusters pull")):
        monkeypatch.setattr(claims, "interval", lambda proof, low=low: (low, 1.0))
        tried.clear()
        most = 0.0
        claim = prove_labels(*given, likely=likely)
        assert tried == likely[:1:-1].tolist()
        assert (claim.gamma, claim.whole, claim.interval) == (ring.gamma, False, None)
        assert claim.reason.startswith(why)
        assert np.isfinite(claim.radius)  # the centroids at that γ are known
        tried.clear()
        assert not prove_labels(*given, likely=likely, movable=False).whole
        assert tried == [ring.gamma]
    most = likely[4]
    claim = prove_labels(*given, likely=likely)
    assert (claim.gamma, claim.whole, claim.reason) == (most, True, "")


def test_a_cluster_too_large_for_corrected_flows_is_whole_if_electrical_ones_fit(monkeypatch):
    monkeypatch.setattr(claims, "hold", lambda *_: None)
    Z, graph, masses, labels = clusters(masses=True)
    i, j = graph.edges.T
    for inner in (1.0, 1e-3):
        weights = np.where(labels[i] == labels[j], inner, 1.0) * graph.weights
        proof = proof_of(Z, Graph(graph.edges, weights), masses, labels)
        state = proof.state(0.5 * proof.apart_below())[0]
        fits = all(proof.fits(t, state) for t in range(3))
        assert fits == (inner == 1.0)
        assert whole_at(proof, state, None) == fits


class Flow(SimpleNamespace):
    """A corrected flow that holds as told, and remembers by how much directions turn."""

    def holds(self, proof, t, gamma, turn):
        self.turn = turn
        return self.held


def test_what_flows_miss_outside_is_in_the_radius(ring, monkeypatch):
    """R' = √(R² + Σ_U ‖e_i‖²/m_i), from flows where there are some, else from electrical ones."""
    proof, state = ring.proof, replace(ring.state, radius=1e-3)
    least = np.array([inside.masses.min() for inside in proof.insides])
    monkeypatch.setattr(type(proof), "alone", lambda self, t: np.inf)
    for energy in (0.04, None):
        flows = [None if energy is None else Flow(held=False, energy=energy, parts=None)]
        flows += [Flow(held=True, energy=9.0, parts=None) for _ in range(2)]
        monkeypatch.setattr(cores, "hold", lambda proof, t, *_, flows=flows: flows[t])
        sure, whole, pieces = _contractible(proof, state, None)
        assert sure.tolist() == [False, True, True]
        assert not whole
        np.testing.assert_array_equal(pieces, ring.given[3])
        missed = proof.energy(0, state) if energy is None else energy
        radius = OWN * np.sqrt(1e-6 + missed)
        lightest = np.where([False, True, True], proof.mass, least)
        for t in (1, 2):
            np.testing.assert_array_equal(flows[t].turn, proof.turns(t, state, radius, lightest))


def test_a_cluster_that_is_whole_whatever_pulls_is_in_a_core_without_a_flow(ring, monkeypatch):
    """Theorem 3, from the γ on that it says."""
    monkeypatch.setattr(cores, "hold", lambda *_: None)
    ends = [ring.gamma, 1.01 * ring.gamma, np.inf]
    monkeypatch.setattr(type(ring.proof), "alone", lambda self, t: ends[t])
    sure, whole, _ = _contractible(ring.proof, ring.state, None)
    assert sure.tolist() == [True, False, False]
    assert not whole


def test_clusters_that_fall_apart_are_guessed_in_their_pieces(ring, monkeypatch):
    parts = np.array([0, 1, 2, 0, 1, 2])
    flows = [Flow(held=False, energy=0.0, parts=parts) for _ in range(3)]
    monkeypatch.setattr(cores, "hold", lambda proof, t, *_: flows[t])
    monkeypatch.setattr(type(ring.proof), "alone", lambda self, t: np.inf)
    pieces = _contractible(ring.proof, ring.state, None)[2]
    order = ring.proof.at.order
    expected = np.empty(len(order), dtype=int)
    expected[order] = np.repeat([0, 1, 2], 6) * 3 + np.tile(parts, 3)
    assert len(np.unique(pieces)) == 9
    assert len(np.unique(pieces * 9 + expected)) == 9


@pytest.mark.parametrize("size", [1.0, 1e-3, 1e3])
def test_cores_are_found_at_any_strength(size):
    """Rows s times as far apart are fused at s times the γ."""
    Z, graph, masses, labels = clusters()
    problem = Problem.of(size * Z, graph.edges, graph.weights, masses=masses)
    proof = proof_of(problem.Z, graph, masses, labels)
    gamma = float(np.sqrt(max(proof.gammas.max(), 1e-3 * size) * proof.apart_below()))
    guesses = [(0.0, labels), (gamma, labels), (2.0 * gamma, np.zeros_like(labels))]
    moved = labels.copy()
    moved[0] = 1
    found = best_cores(Space.of_coordinates(problem.Z), graph, masses, moved, guesses)
    assert found.gamma == gamma
    np.testing.assert_array_equal(found.inside, labels != 0)


def parts_of_a_test(radius=None):
    """The test of a partition that is one, with the dual of a solver."""
    Z, graph, masses, labels = clusters(masses=True)
    proof = proof_of(Z, graph, masses, labels)
    gamma = float(np.sqrt(max(proof.gammas.max(), 1e-3) * proof.apart_below()))
    problem = Problem.of(Z, graph.edges, graph.weights, gamma, masses=masses)
    found, small = solve(problem, tol=1e-12), reduce(problem, labels)
    C = solve(small, tol=1e-13).A
    i, j = problem.edges.T
    test = _Test.of(problem, labels, small, C, labels[i] == labels[j])
    return test if radius is None else replace(test, radius=radius), found.Lam


def test_flows_of_a_partition_meet_their_demand():
    """With c u between clusters what flows leave of every sample is its centroid."""
    test, Lam = parts_of_a_test()
    flow = test.flow(np.zeros_like(Lam), 40)
    left = dual_point(test.problem, flow)
    np.testing.assert_allclose(left, test.C[test.labels], atol=1e-8)
    i, j = test.problem.edges[~test.inside].T
    d = test.C[test.labels[i]] - test.C[test.labels[j]]
    u = d / np.linalg.norm(d, axis=1, keepdims=True)
    np.testing.assert_allclose(flow[~test.inside], test.problem.c[~test.inside][:, None] * u)


@pytest.mark.parametrize("tau", [0.0, 0.03])
def test_what_the_slack_of_a_partition_must_absorb(tau, monkeypatch):
    """Step 2 of the theorem, written out sample by sample; and the slack that is left for it."""
    test, Lam = parts_of_a_test(radius=0.02)
    problem, labels, inside = test.problem, test.labels, test.inside
    flow = test.flow(Lam, 40)
    left, m = dual_point(problem, flow), problem.masses
    mass = np.bincount(labels, m)
    own, carried, turned = np.zeros(problem.n), np.zeros(problem.n), np.zeros(problem.n)
    for (i, j), c, lam, within in zip(problem.edges, problem.c, flow, inside, strict=True):
        if within:
            carried[[i, j]] += np.linalg.norm(lam)
            continue
        s, t = labels[i], labels[j]
        delta = OWN * (0.02 + tau) * np.sqrt(1.0 / mass[s] + 1.0 / mass[t])
        d = np.linalg.norm(test.C[s] - test.C[t])
        turned[[i, j]] += c * 2.0 * delta / (2.0 * d - delta)
    own = m * np.linalg.norm(left - test.C[labels], axis=1) + test.noise + test.unit * carried
    e = []
    for t in range(3):
        at = labels == t
        norms = [np.linalg.norm(x[at]) for x in (own, m, turned)]
        most = norms[0] + norms[1] * (0.02 + tau) / np.sqrt(mass[t]) + norms[2]
        e.append(OWN * (most + tau * np.sqrt(m.max())))
    full = problem.c[inside] - np.linalg.norm(flow[inside], axis=1)
    for short in (None, 0, 1, 2):
        rooms = iter([x * (1.0 + (-1e-6 if t == short else 1e-6)) for t, x in enumerate(e)])
        slack = []

        def absorbable(edges, free, nodes, rooms=rooms, slack=slack):
            slack.append(free)
            return next(rooms)

        monkeypatch.setattr(partition, "absorbable", absorbable)
        refused = test.not_absorbed(flow, tau)
        assert bool(refused) == (short is not None)
        if refused:
            assert f"the cluster of sample {6 * short} is on the verge" in refused
        else:
            found = np.sort(np.concatenate(slack))
            assert (found < np.sort(full)).all()  # what rounding may have taken is no slack
            np.testing.assert_allclose(found, np.sort(full), atol=1e-12 * full.max())


def test_a_refusal_names_the_pair_whose_distance_is_known_worst(monkeypatch):
    test, _ = parts_of_a_test()
    d, delta = np.array([1.0, 3.0, 9.0]), np.array([0.5, 4.0, 1.0])
    monkeypatch.setattr(_Test, "between", lambda self, tau: (d, delta))
    i, j = test.problem.edges[~test.inside][1]
    a, b = 6 * test.labels[i], 6 * test.labels[j]
    said = test.not_apart(0.0)
    assert f"the clusters of samples {a} and {b} are 3.0e+00 apart, known only to 4.0e+00" in said
    delta[1] = 2.9
    assert test.not_apart(0.0) == ""


def test_an_embedding_error_that_a_partition_cannot_bear_is_named():
    test, Lam = parts_of_a_test()
    given = test.problem, test.labels, test.C[test.labels], Lam
    assert certify_partition(*given) == "certified"
    assert certify_partition(*given, embedding_error=1e-9) == "certified"
    refused = certify_partition(*given, embedding_error=50.0)
    assert refused.endswith("(by the embedding error 5.0e+01; without it certified)")
