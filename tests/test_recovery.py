"""Ranges of γ and margins of a partition: nested, closed forms met, and never broken by a move."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons

from convexcluster import ConvexClustering, KernelConvexClustering, Problem, solve
from convexcluster.certificate import recovery, robustness
from convexcluster.partition import canonical, fused
from convexcluster.solvers import solve_problem
from test_proof import connected

SHARP = partial(solve_problem, tol=1e-11)
PAIR = Problem.of([[0.0], [3.0]], [[0, 1]], [1.0])
CHAIN = Problem.of([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0])


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
    if found.status.startswith(("refuted", "not found")):
        pytest.skip(found.status)
    assert found.necessary[0] <= found.gamma_low * (1 + 1e-9)
    assert found.gamma_high <= found.necessary[1] * (1 + 1e-9)
    if found.sufficient is not None:
        assert found.gamma_low <= found.sufficient[0]
        assert found.sufficient[1] <= found.gamma_high
    for gamma in (found.gamma_low * 1.0001 + 1e-12, 0.9999 * min(found.gamma_high, 1e6)):
        best = SHARP(problem.at(gamma))
        np.testing.assert_array_equal(fused(best.A, problem.edges), canonical(truth))


@pytest.mark.parametrize("seed", range(12))
def test_beyond_the_necessary_ends_the_optimum_has_other_clusters(seed):
    problem, truth, _ = clusters(seed)
    low, high = recovery(problem, truth, solve=SHARP).necessary
    tried = ([0.99 * low] if low > 0 else []) + ([1.01 * high] if np.isfinite(high) else [])
    for gamma in tried:
        best = SHARP(problem.at(gamma))
        assert (fused(best.A, problem.edges) != canonical(truth)).any()


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
    ],
)
def test_labels_that_are_none_are_refused(labels, words):
    with pytest.raises(ValueError, match=words):
        recovery(CHAIN, labels)
    with pytest.raises(ValueError, match=words):
        robustness(CHAIN.at(1.0), labels)


def test_cells_are_refused():
    X = make_moons(200, noise=0.05, random_state=0)[0]
    with pytest.raises(ValueError, match="coarsen=False"):
        KernelConvexClustering(2, coarsen=50).fit(X).recovery()
