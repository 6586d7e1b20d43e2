"""The reduced problem of a partition, and its optimum by Newton's method.

Contract every cluster to one sample: masses m_t = Σ m_i, means z̄_t, weights W_st = Σ w_ij. Where
the centroids differ the reduced objective is smooth,

    ∇F = M(C − z̄) + γ Dᵀ(W·u),   H = M + γ Dᵀ diag(W_st/d_st)(I − uuᵀ) D,   u = (c_s − c_t)/d_st,

and Newton reaches the optimum to the last digits in a few steps from a good start. The scalar
matrix M + γDᵀdiag(W/d)D dominates H and preconditions all columns at once.

:mod:`convexcluster.path.newton` has the same F along γ, compiled, to a few digits of single
precision and with a diagonal: hundreds of systems, each as dear as a sweep. Here a proof needs all
digits of one system, and a sparse factor gives them; only the gradients are shared. The exact test
of a partition solves by it, so that it stands below the solvers.
"""

from __future__ import annotations

import numpy as np

from ..graph import incidence, quotient
from ..numerics.gradients import conjugate_gradients
from ..numerics.laplacian import preconditioner
from ..partition import means
from ..problem import Floats, Ints, Problem


def reduce(problem: Problem, labels: Ints) -> Problem:
    """Contract each label of ``problem`` to one sample."""
    graph = quotient(problem.edges, problem.weights, labels)
    return Problem(
        means(problem.Z, problem.masses, labels),
        graph.edges,
        graph.weights,
        problem.gamma,
        np.bincount(labels, problem.masses).astype(np.float64),
    )


def gradient(problem: Problem, C: Floats) -> Floats:
    """∇F(C) where no edge of ``problem`` is fused."""
    i, j = problem.edges.T
    d = C[i] - C[j]
    pull = (problem.c / np.linalg.norm(d, axis=1))[:, None] * d
    return problem.masses[:, None] * (C - problem.Z) + incidence(problem.edges, len(C)).T @ pull


# Steps that do not halve ‖∇F‖ before Newton gives up: near the optimum of the right partition it
# falls by orders of magnitude a step, and elsewhere waiting costs more than a better start.
PATIENCE = 3

# Unknowns times steps of conjugate gradients that Newton may take, about 40 ns each: a second and a
# half. Twice: proofs of a thousand clusters at one γ take half a minute. Half: the centroids of 500
# are not known well enough to tell which of them differ.
NEWTON_WORK = 4e7


def meeting(problem: Problem, C: Floats) -> bool:
    """Whether two adjacent rows are so near that floats cannot tell C from a kink of F."""
    i, j = problem.edges.T
    d = np.linalg.norm(C[i] - C[j], axis=1)
    return bool((d <= 1e-12 * (1.0 + np.abs(C).max(initial=0.0))).any())


def newton(problem: Problem, C: Floats, max_iter: int = 15, enough: float = 0.0) -> Floats | None:
    """Minimise F from ``C`` to rounding, or return None if two adjacent rows meet.

    Meant for reduced problems near their optimum: F is decreased at every step. The iterate of
    least ‖∇F‖_{M⁻¹}, which bounds its distance to the optimum, is returned. Half of its square
    bounds F − F*; the first iterate that has it below ``enough`` will do. Where ``NEWTON_WORK``
    is used up, the best so far is returned: what is proved from it is weaker, and holds.
    """
    if len(problem.edges) == 0:
        return problem.Z.copy()
    D = incidence(problem.edges, problem.n)
    root = np.sqrt(problem.masses)[:, None]
    scale = float(np.sqrt(2.0 * problem.scale))
    value, best, idle = problem.objective(C), np.inf, 0
    C_best, left = C, int(NEWTON_WORK / C.size)
    for _ in range(max_iter):
        if meeting(problem, C):
            return None
        d = np.linalg.norm(D @ C, axis=1)
        g = gradient(problem, C)
        size = float(np.linalg.norm(g / root))
        idle = 0 if size < 0.5 * best else idle + 1
        if size < best:
            best, C_best = size, C
        if idle == PATIENCE or 0.5 * size**2 < enough or left <= 0:
            break
        forcing = min(1e-2, size / scale)
        if enough > 0:  # no further than half of what is left to reach it
            forcing = max(forcing, min(0.1, 0.5 * float(np.sqrt(2.0 * enough)) / size))
        X, steps = _newton_step(problem, D @ C, d, -g, forcing, min(left, STEPS))
        left -= steps
        t, slope = 1.0, float(np.sum(X * g))
        if -slope <= 1e-28 * value:  # the decrease left is below the square of the rounding of C
            break
        while problem.objective(C + t * X) > value + 1e-4 * t * slope + 1e-15 * abs(value):
            t *= 0.5
            if t < 1e-8:
                return C_best
        C = C + t * X
        value = problem.objective(C)
    return C_best


# Steps of conjugate gradients for one step of Newton's method: with a sparse factor of M + γDᵀqD
# some 60 reach the digits that a step needs.
STEPS = 200


def _newton_step(
    problem: Problem, DC: Floats, d: Floats, B: Floats, forcing: float, most: int
) -> tuple[Floats, int]:
    """Solve H X = B to a residual of ``forcing``·‖B‖ by preconditioned conjugate gradients.

    Returns X and how many steps were taken, ``most`` at most.
    """
    D = incidence(problem.edges, problem.n)
    back = D.T.tocsr()  # once: a transpose costs as much as the product
    q = problem.c / d
    U = DC / d[:, None]
    M = problem.masses[:, None]

    def apply(P: Floats, out: Floats) -> None:
        DP = D @ P
        DP -= np.einsum("lk,lk->l", U, DP)[:, None] * U
        np.add(M * P, back @ (q[:, None] * DP), out=out)

    def enough(first: float) -> float:
        return max(forcing, 1e-10) ** 2 * first

    precondition = preconditioner(problem.edges, q, problem.masses)
    return conjugate_gradients(apply, precondition, B, enough, most)


def dense_newton(problem: Problem, C: Floats, max_iter: int = 30) -> Floats | None:
    """Like :func:`newton`, with the Hessian as one dense matrix: for few clusters."""
    k, r = C.shape
    s, t = problem.edges.T
    if not len(s):
        return problem.Z.copy()
    value, least, best, idle = problem.objective(C), np.inf, C, 0
    rounding = 1e-9 * float(np.sqrt(2.0 * problem.scale))
    for _ in range(max_iter):
        if meeting(problem, C):
            return None
        d = C[s] - C[t]
        length = np.linalg.norm(d, axis=1)
        g = gradient(problem, C)
        size = float(np.linalg.norm(g / np.sqrt(problem.masses)[:, None]))
        idle = 0 if size < 0.5 * least else idle + 1
        if size < least:
            least, best = size, C
        if idle >= (1 if least < rounding else PATIENCE):
            break
        u = d / length[:, None]
        P = (problem.c / length)[:, None, None] * (np.eye(r) - u[:, :, None] * u[:, None, :])
        H = np.zeros((k, k, r, r))
        H[np.arange(k), np.arange(k)] = problem.masses[:, None, None] * np.eye(r)
        for a, b, sign in ((s, s, 1.0), (t, t, 1.0), (s, t, -1.0), (t, s, -1.0)):
            np.add.at(H, (a, b), sign * P)
        step = np.linalg.solve(H.transpose(0, 2, 1, 3).reshape(k * r, k * r), -g.ravel())
        step, slope = step.reshape(k, r), float(step @ g.ravel())
        along = 1.0
        while problem.objective(C + along * step) > value + 1e-4 * along * slope + 1e-15 * value:
            along *= 0.5
            if along < 1e-8:
                return best
        C = C + along * step
        value = problem.objective(C)
    return best
