"""The path of the points, and the solution at the γ that was chosen."""

from __future__ import annotations

from typing import Any

from ..partition import canonical
from ..path.clusterpath import ClusterPath
from ..path.grid import grid_of_cells
from ..path.solve import path_of
from ..points import Points
from ..problem import Problem, Solution, Status
from ..selection import Selection
from ..settings import Settings
from ..solvers import auto, routed, solve_problem

# The relative gap of a path of which one γ is certified, by solving there once more. Ten times less
# takes up to half as long again and changes no label of 39 data sets; ten times more saves a fifth,
# and with a gap of LOOSEST the partition itself would be in doubt.
OUTLINE = 1e-4


def gap_to_reach(points: Points, problem: Problem, settings: Settings) -> float:
    """Relative gap of the solution: no smaller than what the embedding has lost makes sense of."""
    cut = points.coarse or settings.cuts_rank(problem.n)
    return settings.gap_for(points.embedding.trace_error, problem.scale, cut)


def run_path(problem: Problem, points: Points, tol: float, settings: Settings) -> ClusterPath:
    """Solve every γ of the path, to a gap that is enough to choose by."""
    gammas = settings.gamma
    if gammas is None and points.coarse:
        gammas = grid_of_cells(problem)
    return path_of(
        problem,
        gammas,
        tol=max(tol, OUTLINE) if settings.certify == "selected" else tol,
        certify=settings.certify,
        n_jobs=settings.threads,
        callback=settings.progress,
        refine=False,  # tensions weigh γ by its logarithm, and need no more of them
    )


def solve_chosen(
    problem: Problem, path: ClusterPath, choice: Selection, tol: float, settings: Settings
) -> Solution:
    """The solution with its dual at the γ that was chosen, from the clusters of the path."""
    options: dict[str, Any] = {"solver": settings.solver, "tol": tol}
    options["max_iter"] = settings.max_iter
    if settings.solver != "auto" or not len(path):
        return solve_problem(problem, **options)
    fused, centers = path.labels(gamma=choice.gamma), path.centroids(choice.gamma)
    # only these can be proved to be the optimum's, and not against the error of a cut rank
    same = bool((fused == canonical(choice.labels)).all())
    sharp = same and not settings.cuts_rank(problem.n)
    target = tol * problem.scale
    solution = routed(problem, fused, centers, target, sharp)
    if solution.status is Status.CONVERGED:
        return solution
    duals = [solution.Lam]
    del solution  # its dual is the solver's: in many dimensions no array of a fit is larger
    return auto.solve(problem, target, settings.max_iter, duals.pop())
