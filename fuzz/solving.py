"""Every solver and the path on tiny problems, against the optimum in multiple precision.

What must hold: ‖A − A*‖ is within the radius that is claimed; what is called converged has the gap
that was asked for; pairs and partitions that are certified are those of the optimum.
"""

from __future__ import annotations

import numpy as np

from convexcluster import Problem, Status, solve_path
from convexcluster.certificate import (
    certified_different,
    certified_same,
    certify,
    solution_radius,
)
from convexcluster.graph import gamma_range
from convexcluster.partition import fused
from convexcluster.solvers import SOLVERS, solve_problem

from .oracle import Optimum, optimum

GRAPHS = ("complete", "sparse", "chain", "star", "parts", "one edge")
DATA = ("normal", "grid", "duplicates", "line", "tiny", "huge", "nearly equal")


def problem_of(rng: np.random.Generator) -> Problem:
    """At most seven samples in at most three dimensions, often degenerate."""
    n, r = int(rng.integers(2, 8)), int(rng.integers(1, 4))
    Z = rng.normal(size=(n, r))
    kind = rng.choice(DATA)
    if kind == "grid":
        Z = rng.integers(0, 3, size=(n, r)).astype(float)
    elif kind == "duplicates":
        Z = Z[rng.integers(0, n, n)]
    elif kind == "line":
        Z = Z[:, :1] @ np.ones((1, r))
    elif kind in ("tiny", "huge"):
        Z = Z * 2.0 ** (rng.integers(20, 200) * (1 if kind == "huge" else -1))
    elif kind == "nearly equal":
        Z = 1.0 + 1e-9 * Z
    pairs = np.column_stack(np.triu_indices(n, 1))
    graph = rng.choice(GRAPHS)
    if graph == "sparse":
        pairs = pairs[rng.random(len(pairs)) < 0.5]
    elif graph == "chain":
        pairs = pairs[pairs[:, 1] == pairs[:, 0] + 1]
    elif graph == "star":
        pairs = pairs[pairs[:, 0] == 0]
    elif graph == "parts":
        pairs = pairs[pairs[:, 0] % 2 == pairs[:, 1] % 2]
    elif graph == "one edge":
        pairs = pairs[:1]
    weights = rng.uniform(0.1, 1.0, len(pairs))
    if rng.random() < 0.3:
        weights = np.ones(len(pairs))
    if rng.random() < 0.2:
        weights = 10.0 ** rng.uniform(-6, 3, len(pairs))
    masses = rng.uniform(0.1, 5.0, n) if rng.random() < 0.4 else np.ones(n)
    top = gamma_range(Z, pairs, weights, masses)[1] if len(pairs) else 1.0
    share = rng.choice([0.0, 1e-6, 1e-3, 0.05, 0.3, 0.8, 0.999, 1.0, 3.0, 1e6])
    return Problem.of(Z, pairs, weights, float(share * top), masses)


def case(rng: np.random.Generator) -> dict[str, int]:
    """One problem, every solver and the path."""
    problem = problem_of(rng)
    best = optimum(problem.Z, problem.edges, problem.c, problem.masses)
    size = np.sqrt(2 * problem.scale)
    assert best.radius <= 1e-18 * size, f"the oracle's own radius is {best.radius}"
    tol = 10.0 ** rng.uniform(-12, -2)
    counts = {"answers": 0, "certified": 0}
    for name in SOLVERS:
        if name == "algorithm1" and (problem.masses != 1).any():
            continue  # the paper's algorithm has no masses
        limit = int(rng.integers(1, 50)) if rng.random() < 0.2 else None
        found = solve_problem(problem, solver=name, tol=tol, max_iter=limit)
        said = f"{name}, tol {tol:.1e}, max_iter {limit}"
        radius = solution_radius(problem, found)
        away = best.distance(found.A, problem.masses)
        assert away <= radius + best.radius, f"{said}: {away} from the optimum, said {radius}"
        converged = found.status is Status.CONVERGED
        assert not converged or found.gap <= tol * problem.scale * (1 + 1e-12), said
        counts["certified"] += _certified(problem, found, radius, best, said)
        counts["answers"] += 1
    _path(problem, best, tol)
    counts["answers"] += 1
    return counts


def _certified(problem, found, radius, best: Optimum, said: str) -> bool:  # type: ignore[no-untyped-def]
    """Compare what is proved about pairs and the partition with the optimum."""
    i, j = problem.edges.T
    blur = best.radius * np.sqrt(1 / problem.masses[i] + 1 / problem.masses[j])
    apart = np.array([best.apart(*edge) for edge in problem.edges.tolist()])
    different = certified_different(problem, found.A, radius)
    assert (apart[different] > blur[different]).all(), f"{said}: pairs that are fused"
    # fused within the oracle's digits: nothing that double precision could tell apart
    same = certified_same(problem)
    assert (apart[same] <= blur[same]).all(), f"{said}: pairs that are apart"
    if certify(problem, found).partition != "certified":
        return False
    labels = fused(found.A, problem.edges)
    together = labels[i] == labels[j]
    assert (apart[together] <= blur[together]).all(), f"{said}: a cluster that is not fused"
    assert (apart[~together] > blur[~together]).all(), f"{said}: clusters that are fused"
    return True


def _path(problem: Problem, best: Optimum, tol: float) -> None:
    """The same γ as the end of a path of three."""
    if problem.gamma == 0 or problem.scale == 0:
        return
    gammas = problem.gamma * np.array([0.1, 0.5, 1.0])
    given = problem.Z, problem.edges, problem.weights, gammas
    path = solve_path(*given, masses=problem.masses, tol=min(tol, 1e-3))
    A = path.centroids(gammas[-1])[path.labels(gammas[-1])]
    away = best.distance(A, problem.masses)
    # a computed gap has round-off of about ε times the objective, at most of the scale, and a
    # centroid that of its coordinates
    radius = np.sqrt(2 * (path.gaps[-1] + 1e-14) * path.scale)
    radius += 4 * np.finfo(float).eps * np.linalg.norm(problem.Z * np.sqrt(problem.masses)[:, None])
    assert away <= radius, f"path, tol {tol:.1e}: {away} from the optimum, said {radius}"
