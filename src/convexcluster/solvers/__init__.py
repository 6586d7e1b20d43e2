"""Solvers at one γ: (Z, edges, weights, γ, masses) → A, a feasible dual Λ and the gap between them.

    min_A  ½ Σ mᵢ‖zᵢ − aᵢ‖² + γ Σ_l w_l ‖a_i(l) − a_j(l)‖

``SOLVERS`` maps names to callables ``(problem, target, max_iter, warm) -> Solution`` with the
allowed gap ``target`` and the dual ``warm`` to start from. Every iterative one is a generator run
by :func:`convexcluster.solvers.driver.drive`; a new method is one file and one line here.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from ..certificate import duality_gap
from ..numerics.parameters import (
    Rules,
    check_parameters,
    is_count_or_none,
    is_one_of,
    is_positive,
    shown,
)
from ..numerics.threads import interruptible
from ..problem import Floats, Problem, Solution, Status
from . import admm, algorithm1, ama, auto, mm, ssnal, sweeps
from .driver import drive
from .on_path import prove, routed

__all__ = ["SOLVERS", "Solver", "prove", "routed", "solve", "solve_problem"]

Solver = Callable[[Problem, float, int | None, Floats | None], Solution]

SOLVERS: dict[str, Solver] = {
    "auto": auto.solve,
    "algorithm1": algorithm1.solve,
    "admm": partial(drive, admm.METHOD),
    "ama": partial(drive, ama.METHOD),
    "mm": partial(drive, mm.METHOD),
    "ssnal": partial(drive, ssnal.METHOD),
    "sweeps": partial(drive, sweeps.METHOD),
}

RULES: Rules = {
    "solver": (
        lambda v: is_one_of(v, *SOLVERS) or callable(v),
        f"one of {', '.join(SOLVERS)} or a callable",
    ),
    "tol": (is_positive, "a finite number > 0"),
    "max_iter": (is_count_or_none, "a whole number ≥ 1, or None"),
}


def solve(
    Z: ArrayLike,
    edges: ArrayLike,
    weights: ArrayLike,
    gamma: float,
    *,
    masses: ArrayLike | None = None,
    solver: str | Solver = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    warm: Solution | None = None,
) -> Solution:
    """Minimise F(A) = ½ Σ mᵢ‖zᵢ − aᵢ‖² + γ Σ_l w_l ‖a_i − a_j‖ to a known distance.

    Parameters
    ----------
    Z : array-like of shape (n, r)
        Samples, or their embedding Z Zᵀ = K.
    edges : array-like of shape (m, 2)
        Pairs i < j, each once.
    weights : array-like of shape (m,)
        Weights ≥ 0; edges of weight zero are dropped.
    gamma : float
        Fusion strength ≥ 0.
    masses : array-like of shape (n,), optional
        Positive sample masses; one each by default.
    solver : str or callable
        A name in ``SOLVERS``, or a callable of the same signature.
    tol : float
        Allowed duality gap relative to ½ Σ mᵢ‖zᵢ − z̄‖².
    max_iter : int, optional
        Limit on the iterations; each method has its own default.
    warm : Solution, optional
        A solution of a nearby problem on the same graph, whose dual is the start.

    Returns
    -------
    Solution
        ``A`` (n, r), ``Lam`` (m, r), ``gap``, ``relative_gap``, ``status``, ``n_iter``. Fused rows
        of ``A`` are equal to the last bit, and ‖A − A*‖_M ≤ √(2·gap)
        up to rounding (:func:`convexcluster.certificate.solution_radius` includes it).

    Examples
    --------
    Two samples at distance 4 move γw towards each other until they meet.

    >>> solution = solve([[0.0], [4.0]], [[0, 1]], [1.0], gamma=0.5)
    >>> solution.A.round(6).ravel().tolist()
    [0.5, 3.5]
    >>> solve([[0.0], [4.0]], [[0, 1]], [1.0], gamma=5.0).A.ravel().tolist()
    [2.0, 2.0]
    """
    problem = Problem.of(Z, edges, weights, gamma, masses)
    return solve_problem(problem, solver=solver, tol=tol, max_iter=max_iter, warm=warm)


@interruptible()
def solve_problem(
    problem: Problem,
    *,
    solver: str | Solver = "auto",
    tol: float = 1e-6,
    max_iter: int | None = None,
    warm: Solution | None = None,
) -> Solution:
    """:func:`solve` for a :class:`Problem` that is already checked."""
    check_parameters(RULES, locals())
    run = solver if callable(solver) else SOLVERS[solver]
    check_range(problem)
    target = float(tol) * problem.scale
    dual = check_warm(warm, problem)
    # A = Z with Λ = 0 is optimal iff γ Σ w‖z_i − z_j‖ = 0: γ = 0, no edges, or equal ends
    still = np.zeros((len(problem.edges), problem.Z.shape[1]))
    if duality_gap(problem, problem.Z, still) == 0.0:
        return Solution(problem.Z.copy(), still, 0.0, 0.0, Status.CONVERGED, 0)
    del still
    found = run(problem, target, None if max_iter is None else int(max_iter), dual)
    if not isinstance(found, Solution):
        raise ValueError(f"solver must return a Solution, but {run!r} returned {shown(found)}")
    return found


def check_range(problem: Problem) -> None:
    """Refuse numbers whose products or squares leave double precision."""
    spread = float(np.ptp(problem.Z, axis=0).max(initial=0.0))
    if spread > 1e140 or 0 < spread < 1e-140:
        raise ValueError(
            f"Z spans {spread:.1e}, whose square leaves double precision: divide Z and gamma by it"
        )
    if problem.gamma > np.finfo(np.float64).max / max(problem.weights.max(initial=0.0), 1.0):
        raise ValueError("gamma · weights overflows: divide the weights by their maximum")


def check_warm(warm: Solution | None, problem: Problem) -> Floats | None:
    """Return the dual of ``warm``, checked against the size of ``problem``."""
    if warm is None:
        return None
    shape = (len(problem.edges), problem.Z.shape[1])
    if not isinstance(warm, Solution) or warm.Lam.shape != shape or not np.isfinite(warm.Lam).all():
        raise ValueError(
            f"warm must be a Solution on the same graph and embedding, with a dual of shape {shape}"
        )
    return np.ascontiguousarray(warm.Lam, dtype=np.float64)
