"""Conjugate gradients for all columns as one vector, and Nesterov's weights.

Input is what a symmetric positive definite H and its preconditioner do to an (n, r) array; every
column shares H, or H mixes the columns.

References: Hestenes and Stiefel, *Methods of conjugate gradients*, 1952; Nesterov, *A method of
solving a convex programming problem with convergence rate O(1/k²)*, 1983.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .threads import stop_if_asked


def conjugate_gradients(
    apply: Callable[[Any, Any], object],
    precondition: Callable[[Any], Any],
    B: Any,
    enough: Callable[[float], float],
    max_iter: int,
    *,
    plain: bool = False,
) -> tuple[Any, int]:
    """Solve H X = B in the precision of ``B``, from X = 0; returns X and how often H was applied.

    ``apply(P, out)`` writes H P to ``out``, ``precondition`` maps R to Y near H⁻¹R, and ``enough``
    maps the first size ⟨R, Y⟩ of the residual to the size at which to stop. If ``plain`` the size
    is ⟨R, R⟩, which is known before the last Y is: for preconditioners that cost more than H does.
    """
    X, R = np.zeros_like(B), B.copy()
    P, HP, along = np.zeros_like(B), np.empty_like(B), np.empty_like(B)
    rho = 1.0
    goal = None
    for step in range(max_iter):
        stop_if_asked()
        Y = None if plain else precondition(R)
        size = _inner(R, R if plain else Y)
        goal = enough(size) if goal is None else goal
        if not size > goal:  # also if it is no number any more
            return X, step
        Y = precondition(R) if plain else Y
        rho, before = _inner(R, Y) if plain else size, rho
        P *= rho / before if step else 0.0
        P += Y
        apply(P, HP)
        curvature = _inner(P, HP)
        if not curvature > 0:  # nothing is left but round-off
            return X, step
        X += np.multiply(rho / curvature, P, out=along)
        R -= np.multiply(rho / curvature, HP, out=along)
    return X, max_iter


def _inner(X: Any, Y: Any) -> float:
    """⟨X, Y⟩ by one thread: BLAS would wake all of them for each of these short sums."""
    return float(np.einsum("ik,ik->", X, Y))


def nesterov(t: float) -> tuple[float, float]:
    """Nesterov's recursion: the next t, ½(1 + √(1 + 4t²)), and the momentum β = (t − 1)/t_next."""
    following = 0.5 * (1.0 + math.sqrt(1.0 + 4.0 * t * t))
    return following, (t - 1.0) / following
