"""Semismooth Newton on the augmented Lagrangian.

With T = Λ + ΣDA, Σ = diag(σ_l), minimising out V leaves the smooth, strongly convex

    φ(A) = ½‖A − Z‖²_M + Σ_l (huber_{c_l}(T_l) − ½‖λ_l‖²)/σ_l,   ∇φ = M(A − Z) + Dᵀ Proj_c(T),

with generalised Hessian M + DᵀSD, where S_l = σ_l I inside the ball and σ_l s_l(I − uuᵀ),
s_l = c_l/‖T_l‖, outside. Newton's equations are solved by conjugate gradients, preconditioned by
the one scalar matrix M + Dᵀdiag(σ_l s_l)D for all r columns, which dominates the Hessian. Then
Λ ← Proj_c(T), which is feasible, and the gap is

    G = ½‖∇φ‖²_{M⁻¹} + Σ_l (c_l‖(DA)_l‖ − ⟨λ_l, (DA)_l⟩):

inner residual plus complementarity. The inner loop stops when the first is well below the second.

Reference: Sun, Toh and Yuan, *Convex clustering: model, theoretical guarantee and efficient
algorithm*, 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..certificate import dual_point
from ..loops.edges import hessian, residual
from ..numerics.gradients import conjugate_gradients
from ..numerics.laplacian import preconditioner
from ..problem import Floats, Problem
from .driver import Method, Point

NEWTON_STEPS = 40  # per outer step; one that needs more has outgrown its Λ: σ goes back
# Gradient steps per Newton system. A system that needs more has a σ too large for its Λ: twice as
# many put off the way back, half as many cut systems short that would have been solved.
CG_STEPS = 200
SHARE = 0.1  # inner residual against complementarity: below this the outer step is what helps


@dataclass(slots=True)
class _Buffers:
    """State of φ at one A: T, P = Proj_c(T), the shrink factors, ∇φ and φ."""

    T: Floats
    P: Floats
    scale: Floats
    grad: Floats
    value: float = np.inf


def iterates(problem: Problem, warm: Floats | None, target: float) -> Iterator[Point]:
    """Yield (A, Proj_c(T)) after every Newton step."""
    tail, head = (np.ascontiguousarray(end) for end in problem.edges.T)
    mass, Z, c = problem.masses, problem.Z, problem.c
    unit = 1.0 / (1.0 / mass[tail] + 1.0 / mass[head])
    sigma = unit
    Lam = np.zeros((len(c), Z.shape[1])) if warm is None else warm
    A = dual_point(problem, Lam)

    def evaluate(A: Floats, out: _Buffers) -> _Buffers:
        out.value = residual(
            tail, head, c, sigma, mass, Z, Lam, A, out.T, out.P, out.scale, out.grad
        )
        return out

    def buffers() -> _Buffers:
        return _Buffers(np.empty_like(Lam), np.empty_like(Lam), np.empty_like(c), np.empty_like(A))

    now, trial = buffers(), buffers()
    while True:
        evaluate(A, now)
        steps = 0
        while steps < NEWTON_STEPS:
            inner = 0.5 * float(np.sum(now.grad**2 / mass[:, None]))
            DA = A[tail] - A[head]
            slack = c * np.linalg.norm(DA, axis=1) - np.einsum("lk,lk->l", now.P, DA)
            outer = float(np.maximum(slack, 0.0).sum())
            if inner <= max(SHARE * outer, 0.1 * target):
                break
            precondition = preconditioner(problem.edges, sigma * now.scale, mass)
            apply = partial(hessian, tail, head, sigma, mass, now.T, now.scale)
            X, _ = conjugate_gradients(apply, precondition, -now.grad, _forcing, CG_STEPS)
            A, now, trial, moved = _line_search(A, X, now, trial, evaluate)
            yield Point(A, now.P)
            steps += 1
            if not moved:
                break
        Lam = now.P.copy()
        yield Point(A, Lam)
        # easy inner problems call for a larger σ, hard ones say that σ ran ahead of Λ
        sigma = sigma * (3.0 if steps <= 6 else 1.0 if steps <= 15 else 0.3)
        # beyond, T = Λ + σDA keeps no digit of Λ and the Newton systems none of M
        sigma = np.minimum(sigma, 1e10 * unit)


def _line_search(
    A: Floats,
    X: Floats,
    now: _Buffers,
    trial: _Buffers,
    evaluate: Callable[[Floats, _Buffers], _Buffers],
) -> tuple[Floats, _Buffers, _Buffers, bool]:
    """Armijo backtracking on φ; the last flag is False if floating point allows no decrease."""
    slope = float(np.sum(X * now.grad))
    t = 1.0
    for _ in range(30):
        evaluate(A + t * X, trial)
        # the last term admits the rounding of φ, without which steps near the optimum are refused
        if trial.value <= now.value + 1e-4 * t * slope + 1e-15 * abs(now.value):
            return A + t * X, trial, now, True
        t *= 0.5
    return A, now, trial, False


def _forcing(first: float) -> float:
    """Eisenstat and Walker: superlinear Newton without solving early systems too well."""
    return min(0.01, 0.1 * float(np.sqrt(max(first, 0.0)))) ** 2 * first


# Newton steps: tens are usual, so that 500 mean a failure. A gap may rest while σ grows;
# patience with half as many measurements ends solves that go on, with twice as many finds failures
# late.
METHOD = Method(iterates, max_iter=500, patience=100)
