"""How much of a gap floating point can hide: G(A, Λ') ≤ computed gap + δ for some feasible Λ'.

Input is a problem, the points whose gap was computed, and that gap; output is δ ≥ 0. Then
½‖A − A*‖²_M ≤ gap + δ holds for the numbers as they are stored, not up to rounding.

The standard model: fl(x ∘ y) = (x ∘ y)(1 + θ), |θ| ≤ u = 2⁻⁵³, for + − × / √, underflow apart. So
k roundings in a row change a result by a factor within 1 ± γ_k, γ_k = ku/(1 − ku), and a sum of k
products is wrong by at most γ_k Σ|x y|, in whatever order it is taken (Higham, Accuracy and
Stability of Numerical Algorithms, 2nd ed., chapter 3).
"""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Ints, Problem
from .gap import BLOCK, lengths

UNIT = 0.5 * float(np.finfo(np.float64).eps)  # u

# The bounds below are sums of non-negative terms, computed in floats themselves: wrong by a factor
# 1 ± γ_k with k the number of samples and edges, which one percent covers up to 10¹³ of them.
OWN = 1.01


def roundings(k: int | Ints) -> Floats:
    """γ_k = ku/(1 − ku): what k roundings in a row can change, relatively."""
    ku = np.asarray(k) * UNIT
    return ku / (1.0 - ku)


def gap_rounding(problem: Problem, A: Floats, Lam: Floats, gap: float) -> float:
    """δ such that ½‖A − A*‖²_M ≤ ``gap`` + δ in exact arithmetic.

    Λ need not be feasible to the last bit, and the optimal dual cannot even be stored: its rows
    have length c_l and a direction. The proof is therefore about a Λ' near Λ that is feasible
    exactly. With d_l = (DA)_l and g = γ_{2r+8}:

    1. *Slacks.* c_l‖d_l‖ − ⟨λ_l, d_l⟩ is computed up to g max(c_l, ‖λ_l‖)‖d_l‖: r + 4 roundings in
       c_l‖d_l‖, r + 1 in the inner product. It is at least ‖λ_l − c_l d_l/‖d_l‖‖²‖d_l‖/(2c_l), so
       where ‖λ_l − c_l d_l/‖d_l‖‖ ≤ √(2g) c_l it is nothing but round-off, and λ'_l = c_l d_l/‖d_l‖
       has none. Other rows are shrunk to the length c_l if they exceed it, which adds at most
       (‖λ_l‖ − c_l)₊‖d_l‖. Where d_l = 0 the slack is 0 exactly.
    2. *Residual.* Let μ_l = ‖λ'_l − λ_l‖, computed up to γ_{r+8}c_l. In row i, A − A_Λ' differs
       from the computed A − A_Λ by at most

           e_i = (γ_{deg(i)+1} Σ_{l∋i} ‖λ_l‖ + Σ_{l∋i} μ_l)/m_i + min(u‖a_i‖, Σ_{l∋i} ‖λ_l‖/m_i),

       from the sum (DᵀΛ)_i and its division, from moving the dual, and from subtracting a float
       from the float z_i, which errs by at most what is subtracted; the rest is relative to the
       result. So with E = ‖e‖_M the quadratic part is at most ½(ρ + E)², ρ ≤ √(2G) as computed.
    3. *Sums* of non-negative terms are relatively right up to γ_k, k = n + |E| + 2r + 8.

    Together δ = √(2G)E + ½E² + Σ_far (g max(c_l, ‖λ_l‖) + (‖λ_l‖ − c_l)₊)‖d_l‖ + γ_k G. At an exact
    solution E is round-off and all rows are near, so that δ ≈ (u · size)², and the radius
    √(2(G + δ)) is about u · size.
    """
    n, r = A.shape
    tail, head = problem.edges.T
    noise = float(roundings(2 * r + 8))
    sizes, moves, slack = np.empty(len(tail)), np.empty(len(tail)), 0.0
    for start in range(0, len(tail), BLOCK):
        block = slice(start, start + BLOCK)
        c, lam = problem.c[block], Lam[block]
        d = A[tail[block]] - A[head[block]]
        apart, size = lengths(d), lengths(lam)
        turn = lengths(lam - c[:, None] * (d / np.where(apart > 0, apart, 1.0)[:, None]))
        near = (apart > 0) & (turn <= np.sqrt(2.0 * noise) * c)
        excess = np.maximum(size * (1.0 + roundings(r + 6)) - c, 0.0)
        far = (noise * np.maximum(c, size) + excess) * apart
        slack += float(far[~near].sum())
        sizes[block] = size
        moves[block] = np.where(near, turn + roundings(r + 8) * c, excess)
    ends = problem.edges.ravel()
    carried = np.bincount(ends, np.repeat(sizes, 2), n) / problem.masses
    moved = np.bincount(ends, np.repeat(moves, 2), n) / problem.masses
    lost = np.minimum(UNIT * lengths(A), carried)
    e = roundings(np.bincount(ends, minlength=n) + 1) * carried + moved + lost
    E = float(np.sqrt(problem.masses @ (e * e)))
    sums = float(roundings(n + len(tail) + 2 * r + 8))
    return OWN * (float(np.sqrt(2.0 * gap)) * E + 0.5 * E * E + slack + sums * gap)
