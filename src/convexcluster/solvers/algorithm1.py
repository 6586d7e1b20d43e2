"""The paper's Algorithm 1, in coefficient space, on all pairs.

a_i = Σ_j α_ij φ(x_j), and v_p = Σ_j β_pj φ(x_j) for every pair p = (i, j), i < j. Only K enters,
and only in norms, ‖t‖_K = √(tᵀKt). Multipliers are substituted, μ_p = K⁻¹λ_p, so that K is never
inverted and exact duplicates (a singular K) do no harm:

    α ← (I + Dᵀ(μ + ρβ) + ρ11ᵀ)/(1 + nρ)           D: all pairs, DᵀD = nI − 11ᵀ
    t = Dα − μ/ρ,  β_p ← (1 − γw_p/(ρ‖t_p‖_K))₊ t_p
    μ ← μ + ρ(β − Dα)

The division by 1 + nρ is the closed form of (I + ρDᵀD)⁻¹ for the *complete* graph, so every pair
is split, those of weight zero too (their prox is the identity). Restricted to the pairs of a
sparse graph the same update has another fixed point, the minimiser of
F + (ρ/2) Σ_{(i,j)∉E} ‖a_i − a_j‖²; that is what ``admm`` is for. The sign of μ is the paper's: our
dual is λ_p = −μ_pᵀZ.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import numpy as np

from ..certificate import project
from ..graph import incidence
from ..problem import Floats, Problem, Solution
from .driver import Method, Point, balanced, drive, rebalances

MEMORY = 2e9  # bytes for β, μ and t, n(n−1)/2 × n each: n up to about 550


def solve(
    problem: Problem, target: float, max_iter: int | None = None, warm: Floats | None = None
) -> Solution:
    """Run Algorithm 1; refuses masses, warm starts and more samples than fit in memory."""
    n = problem.n
    if (problem.masses != 1.0).any():
        raise ValueError("algorithm1 takes no masses: use solver='admm' or 'auto'")
    if warm is not None:
        raise ValueError("algorithm1 takes no warm start: use solver='admm' or 'auto'")
    if 12.0 * n * n * (n - 1) > MEMORY:
        raise ValueError(
            f"algorithm1 splits all pairs of {n} samples, which takes "
            f"{12e-9 * n * n * (n - 1):.0f} GB: use solver='admm' or 'auto'"
        )
    return drive(METHOD, problem, target, max_iter)


def iterates(problem: Problem, warm: Floats | None, target: float) -> Iterator[Point]:
    """Yield (αZ, −μZ on the edges), the second projected on the balls against rounding."""
    n, Z = problem.n, problem.Z
    K = Z @ Z.T
    pairs = np.column_stack(np.triu_indices(n, k=1))
    D = incidence(pairs, n)
    i, j = problem.edges.T
    at = i * n - i * (i + 1) // 2 + (j - i - 1)  # position of (i, j) among all pairs
    w = np.zeros(len(pairs))
    w[at] = problem.weights
    rho = 6.0 / n  # a start: the pull of the n − 1 pairs at a sample against its data term
    beta = D @ np.eye(n)
    mu = np.zeros_like(beta)
    for step in count(1):
        alpha = (np.eye(n) + D.T @ (mu + rho * beta) + rho) / (1.0 + n * rho)
        D_alpha = D @ alpha
        t = D_alpha - mu / rho
        norms = np.sqrt(np.maximum(np.einsum("pk,pk->p", t @ K, t), 0.0))
        keep = 1.0 - problem.gamma * w / (rho * np.where(norms > 0, norms, 1.0))
        beta_old, beta = beta, np.maximum(keep, 0.0)[:, None] * t
        mu = mu + rho * (beta - D_alpha)
        yield Point(alpha @ Z, project(-mu[at] @ Z, problem.c))
        if rebalances(step):
            primal = float(np.linalg.norm((beta - D_alpha) @ Z))
            rho = balanced(rho, primal, rho * float(np.linalg.norm(D.T @ (beta - beta_old) @ Z)))


# As in admm: the same iteration in other coordinates.
METHOD = Method(iterates, max_iter=20_000, every=10)
