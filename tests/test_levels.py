"""Flows of three levels, districts, cells and samples, against coordinates and longer floats."""

import numpy as np
import pytest

from convexcluster.certificate.layout import layout
from convexcluster.certificate.proof import Proof
from convexcluster.certificate.rounding import OWN
from convexcluster.certificate.routing import bounded
from convexcluster.certificate.space import Space, sums
from convexcluster.graph import Graph, components, incidence
from test_proof import connected, hold, hold_exactly

SIZES = [(1, 1), (1, 7), (3, 9), (4, 12), (9, 9), (100, 1000)]


def drawn(seed, n=40, far=0.0, uneven=False):
    """Coordinates, a graph, masses and labels of two connected clusters, some rows copied."""
    rng = np.random.default_rng(seed)
    labels = np.sort(rng.integers(0, 2, n))
    X = far + rng.normal(size=(n, 3))
    X[rng.integers(n, size=n // 5)] = X[0]
    edges = np.vstack([connected(rng, n, 2 * n), [[k, k + 1] for k in range(n - 1)]])
    edges = np.unique(edges, axis=0)
    weights = rng.uniform(0.1, 1.0, len(edges))
    if uneven:
        weights *= 10.0 ** rng.uniform(-6, 0, len(edges))
    masses = rng.uniform(0.5, 2.0, n) * (10.0 ** rng.uniform(-4, 0, n) if uneven else 1.0)
    return X, Graph(edges, weights), masses, labels


def proof_of(X, graph, masses, labels, size, district):
    at = layout(graph.edges, labels, size, district)
    return Proof(Space.of_coordinates(X), graph.edges, graph.weights, masses, labels, at)


@pytest.mark.parametrize(("size", "district"), SIZES)
def test_flows_of_three_levels_meet_their_demands_and_have_their_lengths(size, district):
    X, graph, masses, labels = drawn(size)
    proof = proof_of(X, graph, masses, labels, size, district)
    for flow in proof.flows:
        own = flow.inside
        m, D = own.masses, incidence(own.edges, own.n).toarray()
        unit = np.eye(own.n) - np.outer(m / m.sum(), np.ones(own.n))
        R = flow.carry(unit)
        np.testing.assert_allclose(D.T @ R, unit, atol=1e-12)
        b = m[:, None] * (X[own.samples] - m @ X[own.samples] / m.sum())
        true = np.linalg.norm(R @ b, axis=1)
        np.testing.assert_allclose(np.sqrt(np.maximum(flow.square, 0)), true, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(flow.length, true, rtol=1e-6, atol=1e-7)
        assert (flow.length >= true).all()
        np.testing.assert_allclose(flow.rows(slice(0, own.n)), np.abs(R), atol=1e-12)
        parts = {(1, 7): own.divided, (3, 9): own.divided, (100, 1000): not own.divided}
        assert parts.get((size, district), True)
        if size == district == 1 or size == 100:  # parts of one sample each, or one part
            L = D.T @ (own.w[:, None] * D)
            electrical = own.w[:, None] * (D @ np.linalg.pinv(L)) @ unit
            np.testing.assert_allclose(R, electrical, atol=1e-11)


def in_long_floats(flow, b):
    """Σ_i r_li b_i from the potentials of all regions, and what it misses of b."""
    own, long = flow.inside, np.longdouble
    out = np.zeros((len(own.w), b.shape[1]), dtype=long)
    for region, Y in flow.levels:
        i, j = region.ends(own)
        F = flow.kappa[region.edges, None].astype(long) * (Y[i].astype(long) - Y[j].astype(long))
        sides = region.parts(b[region.rows])
        out[region.edges] += F @ (sides - region.share[:, None].astype(long) * sides.sum(axis=0))
    left = b.copy()
    np.subtract.at(left, own.edges[:, 0], out)
    np.add.at(left, own.edges[:, 1], out)
    return out, left


def heaviest_tree(own):
    """Edges of the spanning tree of the largest weights."""
    chosen = []
    for edge in np.argsort(-own.w, kind="stable"):
        part = components(own.edges[chosen], own.n)
        if part[own.edges[edge, 0]] != part[own.edges[edge, 1]]:
            chosen.append(int(edge))
    return np.array(chosen)


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize(("size", "district"), [(1, 7), (2, 6), (3, 9), (100, 1000)])
def test_bounds_of_rounding_hold_in_longer_floats(size, district, uneven):
    """‖λ_l‖ is at most what is said of it, and what is missed below an edge of the tree as well."""
    for seed in range(12):
        X, graph, masses, labels = drawn(seed, far=float([0, 1e3][seed % 2]), uneven=uneven)
        proof = proof_of(X, graph, masses, labels, size, district)
        Z = (X - X.mean(axis=0)).astype(np.longdouble)  # these floats are the samples
        for flow in proof.flows:
            own = flow.inside
            m = own.masses.astype(np.longdouble)
            b = m[:, None] * (Z[own.samples] - m @ Z[own.samples] / m.sum())
            out, left = in_long_floats(flow, b)
            error = flow.noise * flow.size**2 + flow.blur
            true = np.sqrt((out**2).sum(axis=1))
            assert (true <= np.sqrt(bounded(flow.square, error))).all()
            tree = heaviest_tree(own)
            for edge in tree:
                side = components(own.edges[tree[tree != edge]], own.n)
                here = side == side[own.edges[edge, 0]]
                short = np.sqrt((left[here].sum(axis=0) ** 2).sum())
                assert short <= flow.extra[edge, 0]


def test_sums_over_districts_are_those_of_the_gram_matrix():
    X, graph, masses, labels = drawn(5, n=90)
    at = layout(graph.edges, labels, 3, 12)
    Z = X - X.mean(axis=0)
    K, m = (Z @ Z.T)[np.ix_(at.order, at.order)], masses[at.order]
    for jobs in (1, 2):
        found = sums(Space.of_coordinates(X), m, at, jobs)
        for t, (p, q) in enumerate(zip(at.districts, at.districts[1:])):
            assert q - p > 2
            mine = slice(at.places[t], at.places[t + 1])
            bounds = at.starts[at.bounds]
            for d in range(p, q):
                part = slice(bounds[d], bounds[d + 1])
                np.testing.assert_allclose(found.wide[t][:, d - p], K[mine, part] @ m[part])
                for h, c in enumerate(range(at.bounds[d], at.bounds[d + 1])):
                    cell = slice(at.starts[c], at.starts[c + 1])
                    np.testing.assert_allclose(found.own[d][:, h], K[part, cell] @ m[cell])


def test_districts_are_connected_and_made_of_cells():
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1, 2], [400, 90, 1])
    edges = np.vstack([connected(rng, 400, 900), connected(rng, 90, 100) + 400])
    at = layout(edges, labels, 8, 60)
    part = np.repeat(np.arange(len(at.bounds) - 1), np.diff(at.starts[at.bounds]))
    same = part[at.edges[:, 0]] == part[at.edges[:, 1]]
    assert (components(at.edges[same], 491) == part).all()
    assert (at.label[at.starts[at.bounds[at.districts[:-1]]]] == [0, 1, 2]).all()
    assert 4 <= at.districts[1] <= 25
    assert at.districts[-1] - at.districts[-2] == 1


def test_a_label_below_the_bound_is_one_district_beside_others_above_it(monkeypatch):
    monkeypatch.setattr("convexcluster.certificate.layout.DIVIDED", 200)
    monkeypatch.setattr("convexcluster.certificate.layout.DISTRICT", 60)
    monkeypatch.setattr("convexcluster.certificate.layout.SMALL_CELL", 6)
    rng = np.random.default_rng(2)
    labels = np.repeat([0, 1], [199, 200])
    edges = np.vstack([connected(rng, 199, 400), connected(rng, 200, 400) + 199])
    at = layout(edges, labels)
    assert at.districts[1] == 1
    assert at.districts[2] > 3
    alone = layout(edges[edges[:, 1] < 199], labels[:199])
    assert len(alone.bounds) == 2  # one district


def test_lumps_that_few_edges_join_are_different_districts():
    """Two cliques of thirty and one edge between them: a district of both would hang on it."""
    pairs = np.column_stack(np.triu_indices(30, 1))
    edges = np.vstack([pairs, pairs + 30, [[0, 30]]])
    at = layout(edges, np.zeros(60, dtype=np.int64), 10, 40)
    lump = at.order // 30
    for a, b in zip(at.starts[at.bounds[:-1]], at.starts[at.bounds[1:]]):
        assert len(np.unique(lump[a:b])) == 1


@pytest.fixture
def tiny(monkeypatch):
    """Districts of four samples and more, made of cells of two."""
    for name, size in (("DIVIDED", 4), ("DISTRICT", 4), ("SMALL_CELL", 2)):
        monkeypatch.setattr(f"convexcluster.certificate.layout.{name}", size)


def test_claims_of_three_levels_hold_on_random_problems(tiny):
    intervals, at_one, alone, decided = hold(range(100), share=5)
    assert intervals > 20
    assert at_one > 10
    assert alone > 2
    assert decided > 80


@pytest.mark.slow
def test_claims_of_three_levels_hold_on_many_problems(tiny):
    assert min(hold(range(7000, 7100))[:3]) > 20
    claims, wrong = hold_exactly(range(7000, 7500))
    assert not wrong
    assert claims >= 300


def test_gamma_of_three_levels_is_near_that_of_two():
    """The flows of smaller parts are other flows; those of one sample each are the best known."""
    X, graph, masses, labels = drawn(11, n=120)
    two, three = (proof_of(X, graph, masses, labels, 5, d).gammas for d in (1000, 20))
    assert (three <= 1.6 * two).all()
    assert (two <= 1.6 * three).all()


def test_a_bound_is_no_larger_than_rounding_asks_for():
    X, graph, masses, labels = drawn(3)
    for flow in proof_of(X, graph, masses, labels, 3, 9).flows:
        assert flow.noise < 1e-12
        assert (flow.extra <= 1e-10 * OWN).all()
