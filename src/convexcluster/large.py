"""More rows than a path can have: the problem on cells instead, and what that costs.

Input: an :class:`~convexcluster.streaming.Engine` over blocks of rows. Output: :class:`PointsFit`,
a path on at most ``budget`` weighted points (:mod:`convexcluster.coarse`), and a solution that
stands for that of all rows with the three errors of :mod:`convexcluster.coarse_error`:

    distance to the solution on all rows  ≤  √(2(gap + rounding) + coarsening² + embedding²).

*Whose problem?* With ``graph="cells"`` the graph is built between the cell means and the rows
inherit it (``spread``); with ``graph="points"`` it is the graph on the rows, summed between cells.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .certificate import gap_rounding
from .coarse import PIECES, Coarse, coarsen_rows, refine
from .coarse_error import (
    CoarseningError,
    cohesion,
    contract,
    spread_error,
    total_radius,
)
from .embedding import Embedding
from .fine_flow import points_error
from .graph import Graph, gamma_range
from .kernels import Kernel
from .problem import Floats, Ints, Problem, Solution
from .streaming import Engine

# Dimensions of the embedding unless the user asks: the path's cost is proportional to them, and
# what is lost is measured and part of the certificate.
RANK = 256

# Cells are refined, once, if ‖V‖² exceeds this share of Σ m‖z − z̄‖²: below it coarsening moves
# centroids by less than a tenth of their spread. Nor are they if ‖V‖² is below this share of τ²:
# without any coarsening error the radius would be less by a tenth at most. Half as many cells again
# may be added.
REFINE_ABOVE = 0.01
REFINE_SHARE = 0.25
REFINE_BUDGET = 0.5

# The errors add as squares, 2·gap + coarsening² + embedding²: a gap of τ²/200 adds half a percent
# to the radius. Looser than 1e-3 the partition itself would be in doubt.
GAP_SHARE = 0.005
LOOSEST = 1e-3

# The relative gap where nothing is lost, unless the user asks.
TOL = 1e-6

# Of the grid of γ: as many to a decade as in a path on rows (steps of 1.4), and no fewer in all
# than tell the order of the merges.
PER_DECADE = 6.5
LEAST_GAMMAS = 20


def points_grid(base: Problem) -> Floats:
    """γ of the path on weighted points: from half the γ before which half of the edges cannot fuse.

    The bound is that of :mod:`convexcluster.path.grid`. Clusters far apart fuse many decades after
    the points inside them, so a grid that is fixed decades long may set in when all that is of
    interest has fused; and the few points that are nearly equal say nothing about its start.
    """
    _, top = gamma_range(base.Z, base.edges, base.weights, base.masses)
    if top == 0:
        return np.array([1.0])
    i, j = base.edges.T
    ends, twice = base.edges.ravel(), np.repeat(base.weights, 2)
    speed = np.bincount(ends, twice, base.n) / base.masses
    meet = np.linalg.norm(base.Z[i] - base.Z[j], axis=1) / (speed[i] + speed[j])
    first = 0.5 * min(float(np.median(meet)), top)
    if first == 0:
        first = 1e-6 * top
    return np.geomspace(first, top, max(int(PER_DECADE * np.log10(top / first)), LEAST_GAMMAS))


@dataclass(frozen=True, slots=True)
class Fine:
    """A graph on the rows, kept to bound the error for it.

    Attributes
    ----------
    graph : Graph
        On the rows.
    between : Graph
        Its edges summed between the weighted points.
    index : ndarray of shape (n,)
        Weighted point of every row.
    masses : ndarray of shape (n,)
        Of the rows.
    rows : callable
        Row numbers → z.
    """

    graph: Graph
    between: Graph
    index: Ints
    masses: Floats
    rows: Callable[[Ints], Floats]

    @classmethod
    def of(cls, coarse: Coarse, graph: Graph, X: Floats, index: Ints, masses: Floats) -> Fine:
        """Sum ``graph`` between the weighted points."""

        def rows(i: Ints) -> Floats:
            return coarse.embedding.transform(X[i])

        return cls(graph, contract(graph, index), index, masses, rows)


@dataclass(frozen=True, slots=True)
class CoarseCertificate:
    """How far the coarse solution can be from the solution on all rows.

    Attributes
    ----------
    gap : float
        Duality gap of the problem on the weighted points, as computed.
    coarsening_error : float
        ‖V‖; 0 if every cell provably fuses.
    embedding_error : float
        τ over all rows.
    radius : float
        √(2(gap + δ) + coarsening² + embedding²) ≥ ‖centroids − exact centroids‖, over all rows, δ
        what rounding can hide of the gap.
    relative_radius : float
        ``radius`` over √(Σ m‖φ(x) − mean‖²), the same measure of full fusion.
    graph : str
        ``"spread"`` or ``"points"``: the graph of the problem this is about.
    is_bound : bool
        False if the embedding error is an estimate (random Fourier features).
    per_point : ndarray of shape (g,)
        ‖V_g‖.
    """

    gap: float
    coarsening_error: float
    embedding_error: float
    radius: float
    relative_radius: float
    graph: str
    is_bound: bool
    per_point: Floats


@dataclass(frozen=True)
class PointsFit:
    """A path on weighted points, the choice on it, and what it says about the rows.

    Attributes
    ----------
    coarse : Coarse
    base : Problem
        On the weighted points, at γ = 0.
    path, chosen, solution
        What ``solve`` gave.
    certificate : CoarseCertificate
    """

    coarse: Coarse
    base: Problem
    path: Any
    chosen: Any
    solution: Solution
    certificate: CoarseCertificate


def fit_points(
    engine: Engine,
    budget: int,
    *,
    kernel_of: Callable[[Floats], Kernel],
    embed: Callable[[Floats, Kernel], Embedding],
    graph_of: Callable[[Coarse], Graph],
    solve: Callable[[Problem, float, float, Floats], tuple[Any, Any, Solution]],
    tol: float,
    fine_of: Callable[[Coarse], Fine] | None = None,
    seed: int = 0,
) -> PointsFit:
    """Coarsen, solve, bound the error, and refine once where it is too large.

    Parameters
    ----------
    engine, budget, kernel_of, embed, seed
        See :func:`coarsen_rows`.
    graph_of : callable
        The graph between weighted points, if the rows have none of their own.
    solve : callable
        (Problem at γ = 0, relative gap, spread of the rows, a sample of them) → (path, choice with
        a ``gamma``, solution there).
    tol : float
        Relative gap; no smaller a gap is asked of ``solve`` than the embedding error makes sense.
    fine_of : callable, optional
        The graph on the rows, for the certificate to be about it.
    """
    coarse, sample = coarsen_rows(engine, budget, kernel_of, embed, seed=seed)
    for spare in (int(REFINE_BUDGET * budget), 0):
        fine = None if fine_of is None else fine_of(coarse)
        graph = graph_of(coarse) if fine is None else fine.between
        points = coarse.points
        base = Problem.of(points.means, graph.edges, graph.weights, 0.0, points.masses)
        lost = coarse.embedding.trace_error / base.scale if base.scale > 0 else 0.0
        enough = sensible_gap(tol, lost)
        path, chosen, solution = solve(base, enough, coarse.spread, sample)
        certificate = certify_coarse(coarse, base.at(chosen.gamma), solution, fine)
        bearable = max(REFINE_ABOVE * coarse.spread, REFINE_SHARE * coarse.embedding.trace_error)
        if certificate.coarsening_error**2 <= bearable or spare < PIECES:
            break
        error = CoarseningError(certificate.per_point, certificate.graph)
        coarse = refine(engine, coarse, error, spare)
    return PointsFit(coarse, base, path, chosen, solution, certificate)


def sensible_gap(tol: float, lost: float) -> float:
    """``tol``, or a looser relative gap that is a small share of the relative trace ``lost``.

    Examples
    --------
    >>> sensible_gap(1e-6, 1e-2), sensible_gap(1e-6, 0.0), sensible_gap(1e-6, 0.5)
    (5e-05, 1e-06, 0.001)
    """
    return max(tol, min(GAP_SHARE * lost, LOOSEST))


def certify_coarse(
    coarse: Coarse, problem: Problem, solution: Solution, fine: Fine | None = None
) -> CoarseCertificate:
    """Add up the three errors at the γ of ``problem``."""
    if fine is None:
        omega = cohesion(Graph(problem.edges, problem.weights), problem.masses)
        error = spread_error(coarse.points.scatter, coarse.diameters, problem.gamma, omega)
    else:
        error = points_error(fine.rows, fine.masses, fine.index, fine.graph, problem, solution)
    lost = coarse.embedding.trace_error
    rounding = gap_rounding(problem, solution.A, solution.Lam, solution.gap)
    radius = total_radius(solution.gap + rounding, error.total, float(np.sqrt(lost)))
    total = coarse.spread + lost
    return CoarseCertificate(
        solution.gap,
        error.total,
        float(np.sqrt(lost)),
        radius,
        radius / float(np.sqrt(total)) if total > 0 else 0.0,
        error.graph,
        coarse.embedding.is_bound,
        error.per_cell,
    )
