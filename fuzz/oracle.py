"""The optimum of tiny problems to twenty digits and more, with an error that is proved.

Smoothed by μ, the problem

    F_μ(A) = ½ Σ mᵢ‖zᵢ − aᵢ‖² + Σ_l c_l √(‖d_l‖² + μ²),   d_l = a_i − a_j,

has the dual λ_l = c_l d_l / √(‖d_l‖² + μ²), which is feasible for every A. A primal–dual Newton
method (Andersen, Christiansen, Conn and Overton, 2000) follows μ → 0 in ball arithmetic. The
duality gap of the last point, taken in balls that contain every rounding, bounds the distance of
the optimum: nothing of the method itself has to be believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx

# Bits: the Hessian's condition is about c/μ, and twice its digits are needed. Where γ just suffices
# to fuse, the path of minimisers is lost with 400 bits and followed with more.
BITS = (400, 800, 1600)

# The radius over the size of Z that is good enough: below what double precision can tell.
GOOD = 1e-18

# The last μ over the size of Z; the radius is about its root.
LAST_MU = 1e-48

STEPS = 400


@dataclass(frozen=True)
class Optimum:
    """A* within ``radius`` of ``A``, in the norm of the masses."""

    A: np.ndarray  # (n, r) of floats, rounded
    exact: list[list[Any]]  # (n, r) of balls
    radius: float

    def distance(self, A: np.ndarray, masses: np.ndarray) -> float:
        """Return ‖A − A*‖_M as computed from the middle of the balls."""
        total = arb(0)
        for row, ours, m in zip(self.exact, A.tolist(), masses.tolist()):
            total += arb(m) * _square([x - arb(y) for x, y in zip(row, ours)])
        return float(total.sqrt().mid())

    def apart(self, i: int, j: int) -> float:
        """‖a*_i − a*_j‖ of the middles."""
        return float(_square([x - y for x, y in zip(self.exact[i], self.exact[j])]).sqrt().mid())


def _square(x: list[Any]) -> Any:
    """‖x‖² with an upper end that holds, never below 0 as a power of a ball around 0 would be."""
    return sum((v.abs_upper() * v.abs_upper() for v in x), arb(0))


def optimum(Z: np.ndarray, edges: np.ndarray, c: np.ndarray, masses: np.ndarray) -> Optimum:
    """Solve; c = γ w."""
    before, size = ctx.prec, float(np.linalg.norm(np.sqrt(masses)[:, None] * (Z - Z.mean(axis=0))))
    try:
        for ctx.prec in BITS:
            found = _optimum(Z, edges, c, masses)
            if found.radius <= GOOD * size:
                break
        return found
    finally:
        ctx.prec = before


def _optimum(Z: np.ndarray, edges: np.ndarray, c: np.ndarray, masses: np.ndarray) -> Optimum:
    r = Z.shape[1]
    z = [[arb(x) for x in row] for row in Z.tolist()]
    m, caps = [arb(x) for x in masses.tolist()], [arb(x) for x in c.tolist()]
    ends = [tuple(e) for e in edges.tolist()]
    A = [row[:] for row in z]
    size = float(np.ptp(Z, axis=0).max(initial=0.0)) or 1.0
    mu, last = arb(size), arb(size) * arb(LAST_MU)
    lam = [[arb(0)] * r for _ in ends]
    done = False
    for _ in range(STEPS):
        A, lam, moved = _newton(A, lam, z, m, ends, caps, mu)
        if done and moved < arb(size) * arb(1e-60):
            break
        # a step that moved little is near the path of minimisers: go on along it
        if moved < mu * 10 or moved < arb(size) * arb(1e-60):
            mu = mu * arb(0.1) if mu * arb(0.1) > last else last
            done = bool(mu <= last)
    return _proved(A, lam, z, m, ends, caps)


def _newton(A, lam, z, m, ends, caps, mu):  # type: ignore[no-untyped-def]
    """One primal–dual step: λ_l ρ_l = c_l d_l linearised, ρ = √(‖d‖² + μ²)."""
    n, r = len(A), len(A[0])
    H = [[arb(0)] * (n * r) for _ in range(n * r)]
    rhs = [arb(0)] * (n * r)
    for i in range(n):
        for k in range(r):
            H[i * r + k][i * r + k] = m[i]
            rhs[i * r + k] = m[i] * (z[i][k] - A[i][k])
    parts = []
    for (i, j), cap, dual in zip(ends, caps, lam):
        d = [x - y for x, y in zip(A[i], A[j])]
        rho = (_square(d) + mu * mu).sqrt().mid()
        parts.append((d, rho))
        for k in range(r):
            pull = cap * d[k] / rho
            rhs[i * r + k] -= pull
            rhs[j * r + k] += pull
            for q in range(r):
                block = ((cap if k == q else arb(0)) - dual[k] * d[q] / rho) / rho
                H[i * r + k][i * r + q] += block
                H[j * r + k][j * r + q] += block
                H[i * r + k][j * r + q] -= block
                H[j * r + k][i * r + q] -= block
    step = arb_mat(n * r, n * r, [x.mid() for row in H for x in row]).solve(
        arb_mat(n * r, 1, [x.mid() for x in rhs])
    )
    move = [[step[i * r + k, 0].mid() for k in range(r)] for i in range(n)]
    duals = []
    for (i, j), cap, dual, (d, rho) in zip(ends, caps, lam, parts):
        change = [x - y for x, y in zip(move[i], move[j])]
        along = sum((x * y for x, y in zip(d, change)), arb(0)) / rho
        new = [((cap * (d[k] + change[k]) - dual[k] * along) / rho).mid() for k in range(len(d))]
        length = _square(new).sqrt().mid()
        shrink = cap / length if length > cap else arb(1)
        duals.append([(x * shrink).mid() for x in new])
    following = [[(a + x).mid() for a, x in zip(row, steps)] for row, steps in zip(A, move)]
    moved = _square([x for row in move for x in row]).sqrt()
    return following, duals, moved


def _proved(A, lam, z, m, ends, caps) -> Optimum:  # type: ignore[no-untyped-def]
    """The gap of the last point in balls: its upper end bounds the distance of the optimum."""
    n, r = len(A), len(A[0])
    rest = [[m[i] * z[i][k] for k in range(r)] for i in range(n)]
    slack = arb(0)
    for (i, j), cap, dual in zip(ends, caps, lam):
        length = _square(dual).sqrt()
        # a hair inside the ball, so that the dual is feasible for certain
        inside = length < cap or length == 0
        shrink = arb(1) if inside else cap / length * (1 - arb(2) ** -(ctx.prec // 2))
        dual = [(x * shrink) for x in dual]
        d = [x - y for x, y in zip(A[i], A[j])]
        slack += cap * _square(d).sqrt()
        slack -= sum((x * y for x, y in zip(dual, d)), arb(0))
        for k in range(r):
            rest[i][k] -= dual[k]
            rest[j][k] += dual[k]
    fit = arb(0)
    for i in range(n):
        fit += m[i] * _square([A[i][k] - rest[i][k] / m[i] for k in range(r)])
    gap = fit / 2 + slack
    radius = (2 * gap).abs_upper().sqrt()
    floats = np.array([[float(x.mid()) for x in row] for row in A])
    return Optimum(floats, A, float(radius.upper()))
