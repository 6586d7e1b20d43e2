"""What must hold for any data: symmetries of the problem, and a gap that is never negative.

Data are drawn from a coarse grid, so that ties, duplicates and zero distances are common.
"""

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from convexcluster import Problem, solve
from convexcluster.certificate import duality_gap, project, solution_radius
from convexcluster.certificate.rounding import UNIT, roundings
from convexcluster.graph import components
from convexcluster.partition import means

TOL = 1e-10


@st.composite
def problems(draw):
    n, r = draw(st.integers(1, 7)), draw(st.integers(1, 3))
    Z = np.array(draw(st.lists(st.integers(-2, 2), min_size=n * r, max_size=n * r)), dtype=float)
    pairs = np.column_stack(np.triu_indices(n, k=1))
    weight, m = st.sampled_from([0.0, 0.01, 1.0, 3.0]), len(pairs)
    chosen = np.array(draw(st.lists(weight, min_size=m, max_size=m)))
    kept = chosen > 0
    gamma = draw(st.sampled_from([0.0, 1e-3, 0.1, 0.5, 1.0, 10.0]))
    masses = np.array(draw(st.lists(st.sampled_from([0.5, 1.0, 4.0]), min_size=n, max_size=n)))
    return Problem.of(Z.reshape(n, r), pairs[kept], chosen[kept], gamma, masses)


def centroids(problem):
    """A of the default solver and a bound on ‖A − A*‖_M, rounding included."""
    found = solve(
        problem.Z, problem.edges, problem.weights, problem.gamma, masses=problem.masses, tol=TOL
    )
    assert found.relative_gap <= TOL
    return found.A, solution_radius(problem, found)


def mass_norm(problem, X):
    """‖X‖_M."""
    return float(np.linalg.norm(np.sqrt(problem.masses)[:, None] * X))


# norms of such small arrays, and sums of a few of them, are right to far more digits than these
RELATIVE = 1 + 1e-12


many = settings(max_examples=30, deadline=None)


@many
@given(problems(), st.integers(0, 2**31 - 1))
def test_gap_is_never_negative_and_covers_every_other_point(problem, seed):
    rng = np.random.default_rng(seed)
    A = rng.normal(size=problem.Z.shape)
    Lam = project(3 * rng.normal(size=(len(problem.edges), problem.Z.shape[1])), problem.c)
    gap = duality_gap(problem, A, Lam)
    assert gap >= 0
    best, _ = centroids(problem)
    F = problem.objective(A)
    # F is a sum of at most n(r + 1) + |E|(r + 3) positive terms and products
    blur = roundings(problem.Z.size + problem.n + len(problem.edges) * (problem.Z.shape[1] + 3))
    least = problem.objective(best)
    assert gap >= F - least - 2 * blur * (F + least)


@many
@given(problems())
def test_means_of_components_are_those_of_the_data(problem):
    A, reach = centroids(problem)
    labels = components(problem.edges, problem.n)
    mean = [means(X, problem.masses, labels) for X in (problem.Z, A)]
    # Σ m‖a − a*‖² ≤ R² in a component of mass m bounds the error of its mean by R/√m
    blur = 2 * roundings(problem.n + 3) * (np.abs(problem.Z).max() + np.abs(A).max())
    assert np.abs(mean[0] - mean[1]).max() <= reach / np.sqrt(problem.masses.min()) + blur


@many
@given(problems(), st.randoms(use_true_random=False))
def test_relabelled_samples_give_relabelled_centroids(problem, random):
    order = list(range(problem.n))
    random.shuffle(order)
    place = np.argsort(order)  # sample order[k] is now sample k
    edges = np.sort(place[problem.edges], axis=1)
    moved = Problem.of(
        problem.Z[order], edges, problem.weights, problem.gamma, problem.masses[order]
    )
    A, reach = centroids(problem)
    B, again = centroids(moved)
    assert mass_norm(problem, A - B[place]) <= RELATIVE * (reach + again)


# the gap is zero to the last digits, so that the radius is nothing but rounding
NEARLY_EXACT = Problem.of(
    [[0, 0], [-1, -1], [-2, -1], [1, 1]], [[1, 2], [2, 3]], [3, 0.01], 0.1, [0.5, 4, 0.5, 1]
)


@many
@given(problems(), st.integers(0, 2**31 - 1), st.sampled_from([1e-3, 1.0, 50.0]))
@example(NEARLY_EXACT, 2023, 1e-3)
def test_moving_turning_and_scaling_commute_with_solving(problem, seed, s):
    # A*(sZQ + t, sγ) = s A*(Z, γ) Q + t
    rng = np.random.default_rng(seed)
    r = problem.Z.shape[1]
    Q, _ = np.linalg.qr(rng.normal(size=(r, r)))
    t = rng.normal(size=r)
    # the orthogonal matrix nearest to Q has singular values 1: |σ − 1| ≤ |σ² − 1|
    skew = np.linalg.norm(Q.T @ Q - np.eye(r)) + r * roundings(r + 2)

    def move(X):
        """s(XQ + t), and how far in the M-norm it is from that for an orthogonal Q."""
        rounded = roundings(r + 2) * (np.abs(X) @ np.abs(Q) + np.abs(t))
        return s * (X @ Q + t), s * (mass_norm(problem, rounded) + skew * mass_norm(problem, X))

    Z, data = move(problem.Z)
    moved = Problem.of(Z, problem.edges, problem.weights, s * problem.gamma, problem.masses)
    A, reach = centroids(problem)
    B, again = centroids(moved)
    A, rounded = move(A)
    # ‖A*(Z) − A*(Z')‖_M ≤ ‖Z − Z'‖_M, a proximal map; and with g ∈ ∂p(A*), p = Σ w‖DA‖, monotone,
    # ‖A*(γ') − A*(γ)‖_M ≤ |γ' − γ|‖M⁻¹g‖_M = |γ'/γ − 1|‖Z − A*‖_M ≤ u √(2F(Z̄))
    strength = UNIT * np.sqrt(2 * moved.scale)
    within = again + s * reach + data + rounded + strength
    assert mass_norm(problem, B - A) <= RELATIVE * within


@many
@given(st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6), st.floats(0, 100))
def test_moreau(values, c):
    # projection on the ball and the shrinkage of the norm add up to the identity
    X = np.array(values).reshape(2, 3)
    radius = np.full(2, c)
    norms = np.linalg.norm(X, axis=1)
    shrink = np.maximum(1 - c / np.where(norms > 0, norms, 1.0), 0.0)[:, None] * X
    shrink[norms <= c] = 0
    np.testing.assert_allclose(project(X, radius) + shrink, X, atol=1e-10)
