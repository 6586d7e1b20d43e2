"""Solve on until the partition is proved: the exact test needs more digits than the centroids do.

At the tolerance of a solve, neighbours whose distance is below the radius cannot be told from
fused ones. Sweeps converge linearly, so a few more digits cost a few times the first solve, and
the first tolerance at which the test succeeds is usually 1e-9 or 1e-12.
"""

from __future__ import annotations

from functools import partial

from ..certificate import Certificate, certify, on_rows
from ..problem import Problem, Solution, Status
from .auto import solve

TOLERANCES = (1e-9, 1e-12, 1e-15)  # relative; floating point ends near 1e-17


def prove(
    problem: Problem,
    solution: Solution,
    *,
    embedding_error: float = 0.0,
    coarsening_error: float = 0.0,
    clipped_share: float = 0.0,
    max_iter: int | None = None,
) -> tuple[Solution, Certificate]:
    """Tighten ``solution`` until its partition is certified, or as far as floating point goes.

    Parameters
    ----------
    problem : Problem
    solution : Solution
        Of that problem, by any solver.
    embedding_error, coarsening_error, clipped_share : float
        As in :func:`convexcluster.certificate.certify`.
    max_iter : int, optional
        Limit on the iterations of each further solve.

    Returns
    -------
    Solution, Certificate
        The last solution and what is proved about it; the reason says what stands in the way.

    Examples
    --------
    >>> from convexcluster import solve
    >>> problem = Problem.of([[0.0], [1.0], [9.0]], [[0, 1], [1, 2]], [1.0, 1.0], gamma=1.2)
    >>> rough = solve(problem.Z, problem.edges, problem.weights, 1.2, tol=1e-2)
    >>> exact, certificate = prove(problem, rough)
    >>> certificate.partition, exact.relative_gap < 1e-9
    ('certified', True)
    """
    proved = partial(certify, problem, embedding_error=embedding_error, clipped_share=clipped_share)
    found = proved(solution)
    for tol in TOLERANCES:
        hopeless = "embedding error" in found.partition  # more digits do not help against τ
        if found.partition == "certified" or hopeless:
            break
        if solution.relative_gap > tol:
            solution = solve(problem, tol * problem.scale, max_iter, solution.Lam)
            found = proved(solution)
        if solution.status is not Status.CONVERGED:
            break
    return solution, on_rows(found, coarsening_error)
