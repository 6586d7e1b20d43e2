"""What coarsening costs: a bound on the distance from the coarse solution to the fine one.

Rows i with z_i and masses m_i lie in cells g with masses M_g and means z̄_g. The coarse problem has
the cells as points and W_gh = Σ_{i∈g, j∈h} w_ij; C is any point of it, with gap G. Let U copy c_g
to the rows of g. Any dual Λ of the rows with ‖λ_l‖ ≤ γ w_l and λ_l = γ w_l u_l wherever the copies
differ, u_l their direction, has no slack at UC, and the duality gap there is

    ½‖V‖²_M,   V_i = z_i − c_g − (DᵀΛ)_i/m_i,   hence   ‖UC − A*‖_M ≤ ‖V‖_M.

So the error is known as soon as some Λ is: flows inside the clusters of C are chosen to lower ‖V‖.

**Theorem.** Let Λ be a feasible dual of the coarse problem with gap G, spread over the edges
between g and h in proportion to w_ij, and let flows λ inside the cells, ‖λ_l‖ ≤ γ w_l, leave V of
b_i = (z_i − z̄_g) + (ext_g/M_g − ext_i/m_i), where ext is what the spread duals take from a row or
a cell. The duality gap of the fine problem at (UC, Λ) is G + ½‖V‖²_M.

Proof. The gap is ½‖A − A_Λ‖²_M + Σ_l (c_l‖(DA)_l‖ − ⟨λ_l, (DA)_l⟩). Inside a cell DA = 0. Between g
and h every edge has DA = c_g − c_h and λ_l = (w_l/W_gh)Λ_gh, so the slacks sum to the coarse slack.
A_Λ − A = V + e in row i of g, e the coarse residual; V has mass-weighted cell means 0 and e is
constant on cells, so ‖V + e‖²_M = ‖V‖²_M + Σ M_g‖e_g‖². The coarse gap G is the slack plus
½ Σ M_g‖e_g‖². ∎

If Z is itself a projection PΦ of feature vectors with τ² = Σ m_i‖(1 − P)φ_i‖², then for the problem
on Φ with the same duals the residual gains (1 − P)φ_i, orthogonal to all the rest: the gap is
G + ½‖V‖² + ½τ². So the three errors add as squares, and never are less than the true one.

Two fine graphs are covered:

- ``rows``: a graph on the rows themselves, e.g. their kNN graph. Flows run inside the clusters of
  C, across cells (:mod:`convexcluster.points.flows`).
- ``cells``: the graph is given between cells (W_gh), and the rows inherit it: an edge between g
  and h has w_ij = W_gh m_i m_j/(M_g M_h), and inside g all pairs have w_ij = ω m_i m_j/M_g. Then
  ext_i/m_i is the same for all rows of g, b_i = z_i − z̄_g, ‖b_g‖² is the scatter S_g, and the flow
  λ_ij = t m_i m_j (b_i − b_j)/M_g takes off t·b_i; it is feasible iff t·‖b_i − b_j‖ ≤ γω. So
  ‖V_g‖ = (1 − t_g)√S_g, t_g = min(1, γω/diam_g): from γ = max diam_g/ω on, *coarsening is exact*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..graph import Graph
from ..problem import Floats


@dataclass(frozen=True, slots=True)
class CoarseningError:
    """‖V‖_M and its share per cell."""

    per_cell: Floats  # (G,): ‖V_g‖: refine where it is largest
    graph: str  # ``"rows"`` or ``"cells"``: whose graph the problem on all rows has

    @property
    def total(self) -> float:
        """‖V‖_M."""
        return float(np.linalg.norm(self.per_cell))


def cohesion(graph: Graph, masses: Floats) -> float:
    """ω: the mean weighted degree of the graph per unit of mass.

    The rows of a cell are joined as strongly as rows are joined to the rest on average.
    """
    return 2.0 * float(graph.weights.sum()) / float(masses.sum())


def inherited_error(
    scatter: Floats, diameters: Floats, gamma: float, cohesion: float
) -> CoarseningError:
    """‖V_g‖ = (1 − min(1, γω/diam_g))√S_g, for the graph that cells pass on to their rows.

    ``diameters`` bound the distance between two rows of a cell from above.
    """
    wide = np.where(diameters > 0, diameters, 1.0)
    carried = np.where(diameters > 0, np.minimum(1.0, gamma * cohesion / wide), 1.0)
    return CoarseningError((1.0 - carried) * np.sqrt(scatter), "cells")
