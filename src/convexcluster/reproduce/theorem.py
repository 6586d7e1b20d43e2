"""Theorem 1 by simulation, and the remark on consistency with sparse weights.

Data are z_i = u_i + ε_i in ℝ^r, ε isotropic Gaussian with E‖ε‖² = σ², so that Z is the feature map
itself. Theorem 1: if γ ≥ 2z₀/w_min then, with probability near 1,

    (1/2n) Σ ‖û_i − u_i‖² ≤ (3γ/2n) Σ_{i<j} w_ij ‖u_i − u_j‖ + σ²[1/n + √(log n)/n].

For the complete graph D⁺ = Dᵀ/n, hence ‖a_t‖² = 2/n² and z₀² = (1 + δ₀)σ²·2/n². The constant in δ₀
is not given; for Gaussian noise the probability that defines it is a χ² tail, P(χ²_r ≥ (1 + δ₀)r) =
1/C(n,2)², so that z₀ is computed and not guessed.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from scipy.stats import chi2

from ..labels import fusion_labels
from ..plots.appearance import COLOURS, MARKERS, log_axis, tidy
from ..problem import Floats, Problem
from ..solvers import solve
from .cells import Cell, Page, Result, Results
from .writing import figure, formatted, markdown_table

# r, and the number of true centroids; the centroids need r ≥ GROUPS.
DIMENSIONS = 5
GROUPS = 3
# σ, in units of the distance between true centroids: with twice as much the groups overlap.
SIGMA = 0.5
# Draws at each size. With half as many a bound that fails in one draw of ten may not be seen to.
REPEATS = 20
# n of the complete graph, which has n(n − 1)/2 edges: twice the largest takes four times as long.
COMPLETE_SIZES = (20, 40, 80, 160)
# γ over the theorem's threshold 2z₀/w_min: far below, below, at it and above.
GAMMA_FACTORS = (0.01, 0.1, 1.0, 10.0)
# n of the sparse graph; three decades show the rate of the error.
SPARSE_SIZES = (100, 1_000, 10_000, 100_000)
# α of the remark: n^α pairs have a weight, far fewer than the n^2 of the theorem.
ALPHA = 0.4
DENSE_HEADER = ["n", "γ / threshold", "clusters", "error", "bound", "above the bound"]


def sample(n: int, rng: np.random.Generator) -> tuple[Floats, Floats]:
    """Centroids u (three groups, unit distance apart) and data u + ε, both (n, r)."""
    centres = np.eye(GROUPS, DIMENSIONS) / np.sqrt(2)  # ‖e_s − e_t‖/√2 = 1
    u = centres[np.arange(n) % GROUPS]
    return u, u + rng.normal(scale=SIGMA / np.sqrt(DIMENSIONS), size=u.shape)


def z0(n: int) -> float:
    """z₀ of the complete graph with its χ² tail."""
    pairs = n * (n - 1) / 2
    one_plus_delta = float(chi2.isf(1 / pairs**2, DIMENSIONS)) / DIMENSIONS
    return SIGMA * float(np.sqrt(one_plus_delta * 2)) / n


def tail(n: int) -> float:
    """σ²[1/n + √(log n)/n]."""
    return SIGMA**2 * (1 / n + float(np.sqrt(np.log(n))) / n)


def complete(n: int) -> Result:
    """Cell: all pairs with weight 1; error and bound at multiples of 2z₀."""
    edges = np.column_stack(np.triu_indices(n, 1))
    weights = np.ones(len(edges))
    threshold = 2 * z0(n)
    rows = []
    for factor in GAMMA_FACTORS:
        gamma = factor * threshold
        errors, bounds, clusters = [], [], []
        for repeat in range(REPEATS):
            u, Z = sample(n, np.random.default_rng([n, repeat]))
            A = solve(Z, edges, weights, gamma, tol=1e-5).A
            penalty = float(weights @ np.linalg.norm(u[edges[:, 0]] - u[edges[:, 1]], axis=1))
            errors.append(float(((A - u) ** 2).sum()) / (2 * n))
            bounds.append(3 * gamma / (2 * n) * penalty + tail(n))
            clusters.append(int(fusion_labels(A, edges).max()) + 1)
        rows.append(
            {
                "n": n,
                "gamma_over_threshold": factor,
                "gamma": gamma,
                "error": float(np.mean(errors)),
                "error_max": float(np.max(errors)),
                "clusters": float(np.mean(clusters)),
                "bound": float(np.mean(bounds)),
                "violations": int(np.sum(np.array(errors) > np.array(bounds))),
                "repeats": REPEATS,
            }
        )
    return {"rows": rows}


def sparse(n: int) -> Result:
    """Cell: at most n^α pairs, weights in [1/√n, 1], γ at the remark's threshold.

    Pairs are drawn inside the groups; γ = 2z₀/w_min with the z₀ of the complete graph, as the
    remark uses it. Samples without an edge keep û_i = z_i exactly.
    """
    rng = np.random.default_rng([n, 7])
    errors, bounds, isolated = [], [], []
    for _ in range(REPEATS if n <= 10_000 else 3):
        u, Z = sample(n, rng)
        count = int(n**ALPHA)
        first = rng.choice(n - GROUPS, size=count, replace=False)
        edges = np.column_stack([first, first + GROUPS])  # the same group, u_i = u_j
        weights = rng.uniform(1 / np.sqrt(n), 1, size=count)
        gamma = 2 * z0(n) / float(weights.min())
        touched = np.unique(edges)
        place = np.searchsorted(touched, edges)
        A = Z.copy()
        A[touched] = solve(Z[touched], place, weights, gamma, tol=1e-5).A
        problem = Problem.of(u, edges, weights, gamma)
        penalty = problem.objective(u)  # the fit is 0 at u: this is γ Σ w‖u_i − u_j‖
        errors.append(float(((A - u) ** 2).sum()) / (2 * n))
        bounds.append(3 / (2 * n) * penalty + tail(n))
        isolated.append(1 - len(touched) / n)
    row = {
        "n": n,
        "pairs": int(n**ALPHA),
        "isolated": float(np.mean(isolated)),
        "error": float(np.mean(errors)),
        "bound": float(np.mean(bounds)),
        "half_noise": SIGMA**2 / 2,
        "violations": int(np.sum(np.array(errors) > np.array(bounds))),
        "repeats": len(errors),
    }
    return {"rows": [row]}


def page() -> Generator[list[Cell], Results, Page]:
    """Both simulations, as tables and one figure."""
    first = {n: Cell(f"theorem-complete-{n}", complete, {"n": n}) for n in COMPLETE_SIZES}
    second = {n: Cell(f"theorem-sparse-{n}", sparse, {"n": n}) for n in SPARSE_SIZES}
    results = yield [*first.values(), *second.values()]
    dense = [row for cell in first.values() for row in results[cell.key]["rows"]]
    thin = [row for cell in second.values() for row in results[cell.key]["rows"]]
    above = [row for row in dense if row["gamma_over_threshold"] >= 1]
    broken = sum(row["violations"] for row in above)
    figures = ("{error:.4f}", "{bound:.4f}", "{violations} of {repeats}")
    dense_rows = formatted(dense, "{n}", "{gamma_over_threshold:g}", "{clusters:.1f}", *figures)
    figures = ("{error:.4f}", "{bound:.1e}", "{violations} of {repeats}")
    thin_rows = formatted(thin, "{n:,}", "{pairs}", "{isolated:.1%}", *figures)
    text = f"""# Theorem 1 by simulation

Three groups of centroids at distance 1 in ℝ⁵, Gaussian noise with E‖ε‖² = σ² = {SIGMA**2:g}.
"error" is (1/2n) Σ ‖û − u‖², the mean over the repeats; "bound" is the right-hand side of the
theorem.

![error and bound](theorem1.png)

## All pairs have weight 1

γ in units of the theorem's threshold 2z₀/w_min.

{markdown_table(DENSE_HEADER, dense_rows)}

- What holds: at and above the threshold the bound was exceeded {broken} times of
  {sum(row["repeats"] for row in above)}.
- It does not vanish: with all pairs, γ Σ w‖u_i − u_j‖/n at the threshold does not fall with n
  (z₀ falls as 1/n, up to √log n, but the number of pairs grows as n²), and nor does the bound.
  "clusters" is the mean number of exactly fused clusters: one cluster means that the estimate is
  the overall mean, whose error stays where it is as n grows.
- Below the threshold the theorem says nothing; the bound's right-hand side shrinks with γ, and is
  exceeded where γ is so small that the noise stays in û.

## The remark: at most n^α pairs have weight

α = {ALPHA:g}, weights in [1/√n, 1], pairs inside the groups (u_i = u_j, the best case: the
penalty at the truth is 0).

{markdown_table(["n", "pairs", "without an edge", "error", "bound", "above the bound"], thin_rows)}

- The bound goes to 0, and the error does not: it stays near σ²/2 = {SIGMA**2 / 2:g}. A sample
  without an edge has û_i = φ(x_i), whatever γ, and with n^α pairs, α < ½, at least n − 2n^α
  samples have none, so that the mean error tends to σ²/2. The remark's consistency does not
  hold as stated.
- The step that fails: the proof bounds the noise by w_min ‖(û − u)_i − (û − u)_j‖ for *every*
  pair and then replaces w_min by w_ij, which needs every weight to be positive. A bound
  that holds on any graph is in [oracle](oracle.md).
"""
    return Page(
        text,
        {"theorem1.csv": dense, "theorem1-sparse.csv": thin},
        {"theorem1.png": _draw(dense, thin)},
    )


def _draw(dense: list[dict[str, Any]], thin: list[dict[str, Any]]) -> Any:
    made, (left, right) = figure(1, 2, 10, 4.2)
    for rank, factor in enumerate(GAMMA_FACTORS):
        rows = [row for row in dense if row["gamma_over_threshold"] == factor]
        sizes = [row["n"] for row in rows]
        style = {"color": COLOURS[rank], "marker": MARKERS[rank]}
        left.plot(
            sizes, [row["error"] for row in rows], "-", label=f"γ = {factor:g} × threshold", **style
        )
        left.plot(sizes, [row["bound"] for row in rows], "--", **style)
    sizes = [row["n"] for row in thin]
    right.plot(sizes, [row["error"] for row in thin], "o-", color=COLOURS[0], label="error")
    right.plot(sizes, [row["bound"] for row in thin], "s--", color=COLOURS[6], label="bound")
    right.axhline(SIGMA**2 / 2, color="#8a8a8a", linestyle=":", label="σ²/2")
    for ax, title in ((left, "all pairs (error solid, bound dashed)"), (right, "n^0.4 pairs")):
        log_axis(ax)
        ax.set_yscale("log")
        tidy(ax, title, "number of samples n", "mean squared error of the centroids / 2")
        ax.legend(frameon=False, fontsize=8)
    return made
