"""Before anything fuses: Newton's method on the samples themselves.

While all distances ‖a_i − a_j‖ along edges are positive, F is smooth, λ_l = c_l u_l is the dual of
the point A, and the duality gap is ½ Σ ‖G_i‖²/m_i, G the gradient of F. In many dimensions this
lasts long, and a few steps of Newton's method replace hundreds of sweeps. The steps are solved by
conjugate gradients in single precision; F, G and the gap are in double.
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np

from ..loops.newton import Singles, add_pulls, bend, full_pulls
from ..loops.sweeps import dual_loss
from ..numerics.gradients import conjugate_gradients
from ..problem import Floats
from .halves import over_halves
from .levels import Level

# The share of the target that a step of Newton's method would leave in a quadratic F. Half: one
# application of the Hessian more in the last step. Twice: now and then a step more.
AIM = 0.25

# The share of ‖G‖² below which no step is solved. A tenth: applications of the Hessian for digits
# that F, which is not quadratic, does not keep. Ten times: more steps.
LEAST_RESIDUAL = 1e-3

# Applications of the Hessian per γ; one costs as much as a sweep. Half: sweeps take over while
# Newton's method still pays. Twice: a γ at which edges are about to fuse, where sweeps do better,
# costs twice as much before it is given up.
MAX_BENDS = 40

# The share to which a step must bring the gap. Half: good steps count as failures. Near 1: steps
# across the kink of an edge that fuses are repeated in vain.
FALL = 0.5

# γ halfway that are tried after a failure. None: a grid with long steps leaves Newton's method too
# early. Two: no help, for samples have fused.
BETWEEN = 1

# A γ halfway is solved to this many times the target. A tenth: more steps. Ten times: extrapolation
# from there lands too far from the next point.
LOOSE_HALFWAY = 100.0


@dataclass(frozen=True, slots=True)
class SmoothPoint:
    """A point with what one pass over the edges tells about it."""

    A: Floats  # (n, r)
    G: Floats  # (n, r): the gradient of F
    gap: float  # ½ Σ ‖G_i‖²/m_i
    least: float  # the least ‖a_i − a_j‖/c of all edges


class Newton:
    """Centroids of all samples along γ for as long as none of them meet."""

    def __init__(self, base: Level) -> None:
        self.base = base
        self.Z = base.MZ * base.inv_mass[:, None]
        self.scale = dual_loss(base.masses, self.Z)
        self.u = np.empty(base.Lam.shape, np.float32)
        self.stiff = np.empty(len(base.tail), np.float32)
        self.A, self.before = self.Z, self.Z
        self.gamma = self.gamma_before = 0.0

    def advance(
        self, gamma: float, c: Floats, target: float, pool: Executor | None = None
    ) -> SmoothPoint | None:
        """Solve at γ to a gap of ``target``; None if that fails, most likely as edges fuse."""
        ahead, failures = [gamma], 0
        while True:
            stop = ahead[-1]
            wanted = target if stop == gamma else LOOSE_HALFWAY * target
            point = self._step(stop, c * (stop / gamma), wanted, pool)
            if point is None:
                failures += 1
                if failures > BETWEEN or self.gamma == 0:
                    return None
                ahead.append(float(np.sqrt(self.gamma * stop)))
                continue
            self.before, self.A = self.A, point.A
            self.gamma_before, self.gamma = self.gamma, stop
            if stop == gamma:
                return point
            ahead.pop()

    def _step(
        self, gamma: float, c: Floats, target: float, pool: Executor | None
    ) -> SmoothPoint | None:
        """Extrapolate to γ and take steps of Newton's method for as long as each is a success."""
        length = self.gamma - self.gamma_before
        ahead = (gamma - self.gamma) / length if length else 0.0
        start = self.A - self.before
        start *= ahead
        start += self.A
        point = self._at(start, c, pool)
        if self.gamma == 0 and point is not None and point.least < 1 / self.base.masses.max():
            return None  # a pair nearer to each other than its pull moves them: it fuses
        bends = 0
        while point is not None and point.gap > target:
            share = max(AIM * target / point.gap, LEAST_RESIDUAL)
            direction, used = self._newton(point.G, share, MAX_BENDS - bends, pool)
            bends += used
            following = self._at(point.A + direction, c, pool)
            if following is None or following.gap > FALL * point.gap or bends >= MAX_BENDS:
                return None
            point = following
        return point

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything that :meth:`restore` needs beyond the graph."""
        gammas = np.array([self.gamma, self.gamma_before])
        return {"smooth": self.A, "smooth_before": self.before, "smooth_gammas": gammas}

    def restore(self, arrays: dict[str, np.ndarray]) -> bool:
        """Take up what :meth:`to_arrays` gave; False if it was saved after samples had fused."""
        if "smooth" not in arrays:
            return False
        self.A, self.before = arrays["smooth"], arrays["smooth_before"]
        self.gamma, self.gamma_before = arrays["smooth_gammas"].tolist()
        return True

    def duals(self, c: Floats, Lam: Floats) -> None:
        """λ = c u at the last point that was solved, in place."""
        full_pulls(self.base.tail, self.base.head, c, self.A, Lam)

    def _at(self, A: Floats, c: Floats, pool: Executor | None) -> SmoothPoint | None:
        base = self.base
        G = np.empty_like(A)
        np.subtract(A, self.Z, out=G)
        G *= base.masses[:, None]
        least = min(over_halves(base, add_pulls, pool, c, A, self.u, self.stiff, G))
        if least <= 0:
            return None
        return SmoothPoint(A, G, dual_loss(base.inv_mass, G), least)

    def _newton(
        self, G: Floats, share: float, limit: int, pool: Executor | None
    ) -> tuple[Floats, int]:
        """Solve ∇²F x = −G by conjugate gradients until ‖residual‖² ≤ share · ‖G‖²."""
        base = self.base
        masses = base.masses.astype(np.float32)[:, None]
        degree = np.bincount(base.tail, self.stiff, base.n) + np.bincount(
            base.head, self.stiff, base.n
        )
        scale = (1 / (base.masses + degree)).astype(np.float32)[:, None]

        def apply(x: Singles, out: Singles) -> None:
            np.multiply(masses, x, out=out)
            over_halves(base, bend, pool, self.u, self.stiff, x, out)

        x, used = conjugate_gradients(
            apply,
            lambda rest: scale * rest,
            -G.astype(np.float32),
            lambda first: share * first,
            limit,
            plain=True,
        )
        return x.astype(np.float64), used
