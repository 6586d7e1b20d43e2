"""One γ after the other, warm started."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..loops.partition import fuse, gap_parts, means
from ..loops.sweeps import DAMPED, set_points, sweep
from ..problem import Floats, Ints, Problem


@dataclass(frozen=True, slots=True)
class State:
    """The solution at one γ."""

    labels: Ints
    centers: Floats
    gap: float


class Engine:
    """Warm-started dual sweeps on the whole graph."""

    def __init__(self, problem: Problem, tol: float) -> None:
        self.problem, self.tol = problem, tol
        self.mean = problem.masses @ problem.Z / problem.masses.sum()
        self.sums = problem.masses[:, None] * (problem.Z - self.mean)
        self.scale = problem.scale
        self.ei, self.ej = (np.ascontiguousarray(e) for e in problem.edges.T)
        self.lam = np.zeros((len(self.ei), problem.Z.shape[1]))
        self.gamma = 0.0

    def advance(self, gamma: float) -> State:
        """Solve at γ ≥ the γ before."""
        m, im = self.problem.masses, 1 / self.problem.masses
        c = gamma * self.problem.weights
        if self.gamma:
            self.lam *= gamma / self.gamma
        a = np.empty_like(self.sums)
        set_points(self.ei, self.ej, self.sums, im, self.lam, a)
        every = np.arange(len(c))
        n = len(m)
        best = (np.inf, np.arange(n), a)
        for _ in range(500):
            sweep(self.ei, self.ej, c, im, a, self.lam, every, 10, DAMPED)
            labels, count = fuse(self.ei, self.ej, c, self.lam, n, 1e-3)
            _, center = means(m, a, labels, count)
            fit, slack = gap_parts(self.ei, self.ej, c, m, a, self.lam, labels, center)
            if fit + slack < best[0]:
                best = (fit + slack, labels, center)
            if best[0] <= self.tol * self.scale:
                break
        self.gamma = gamma
        gap = best[0] / self.scale if self.scale else 0.0
        return State(best[1], best[2] + self.mean, gap)
