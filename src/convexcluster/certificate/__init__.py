"""Duality, the referee of every solution: gap, radius and certified statements about clusters.

Input is a problem, a primal point and a feasible dual; output is a :class:`Certificate`. Each
statement is a theorem about the optimum A* and never a threshold: how far A* can be
(:mod:`~convexcluster.certificate.gap`, and what rounding adds to it,
:mod:`~convexcluster.certificate.rounding`), pairs certainly apart or fused
(:mod:`~convexcluster.certificate.pairs`), and whether a whole partition is that of A*
(:mod:`~convexcluster.certificate.partition`).

Labels are also proved without any embedding, from sums of K: for an interval of γ, at one γ,
cluster by cluster (:mod:`~convexcluster.certificate.proof`) or in their cores
(:mod:`~convexcluster.certificate.cores`); the strongest claim that holds becomes a sentence
(:mod:`~convexcluster.certificate.claims`). For which γ labels hold, and how far a partition
stands: :mod:`~convexcluster.certificate.ranges`, :mod:`~convexcluster.certificate.margins`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from ..partition import fused
from ..problem import Ints, Problem, Solution
from .gap import dual_point, duality_gap, project
from .margins import Robustness, robustness
from .pairs import certified_different, certified_same
from .partition import certify_partition
from .ranges import Recovery, recovery
from .rounding import gap_rounding

__all__ = [
    "Certificate",
    "Recovery",
    "Robustness",
    "certified_different",
    "certified_same",
    "certify",
    "certify_partition",
    "dual_point",
    "duality_gap",
    "gap_rounding",
    "of_rows",
    "project",
    "recovery",
    "robustness",
    "solution_radius",
]


@dataclass(frozen=True, slots=True)
class Certificate:
    """What is proved about a solution.

    Attributes
    ----------
    gap : float
        Duality gap G of the embedded problem, as computed.
    relative_gap : float
        G over ½ Σ mᵢ‖zᵢ − z̄‖².
    radius : float
        √(2(G + δ) + τ² + ‖V‖²) ≥ ‖A − A*‖_M for the problem before embedding and coarsening, whose
        gap is G + δ + τ²/2 + ‖V‖²/2: the residuals behind the three are orthogonal. Where the proof
        in the full space has found the centroids Σ β φ(x) (``dual_coef_``), G is the gap there, δ
        is part of it, and τ does not enter.
    embedding_error : float
        τ, the norm of what the embedding dropped.
    coarsening_error : float
        ‖V‖, what grouping rows into cells before the solve has cost; 0 if every cell fuses.
    clipped_share : float
        Σ|λ₋|/Σ|λ| of a kernel that was not positive semidefinite; everything else in the
        certificate is about the clipped kernel.
    partition : str
        "certified", or "not certified: " and why.
    rounding : float
        δ: what floating point can hide of the gap
        (:func:`~convexcluster.certificate.gap_rounding`).
    relative_radius : float
        ``radius`` over √(Σ m‖φ(x) − mean‖²), the same measure of full fusion; known for fits.
    is_bound : bool
        False if the embedding error is an estimate (random Fourier features).
    statement : str
        The strongest claim about the labels that is proved, as a sentence.
    gamma_interval : tuple of two floats or None
        The labels are exactly the clusters of the optimum for every γ from the first up to, and
        without, the second. Where rows were grouped into cells it is about the cells, as
        ``statement`` says.
    clusters : ndarray of shape (n_clusters,) or None
        Which clusters are proved to have one centroid each in the optimum at ``gamma_``; about
        cells likewise.
    cores : ndarray of shape (n,) or None
        Which samples lie in the core of their label: the largest cluster of the optimum at
        ``gamma_``, proved to be one, that lies wholly inside the label. None of cells.
    """

    gap: float
    relative_gap: float
    radius: float
    embedding_error: float = 0.0
    coarsening_error: float = 0.0
    clipped_share: float = 0.0
    partition: str = "not certified: not asked for"
    rounding: float = 0.0
    relative_radius: float = float("nan")
    is_bound: bool = True
    statement: str = ""
    gamma_interval: tuple[float, float] | None = None
    clusters: NDArray[np.bool_] | None = field(default=None, compare=False)
    cores: NDArray[np.bool_] | None = field(default=None, compare=False)


def solution_radius(problem: Problem, solution: Solution) -> float:
    """√(2(G + δ)) ≥ ‖A − A*‖_M, with all that rounding can hide."""
    rounding = gap_rounding(problem, solution.A, solution.Lam, solution.gap)
    return float(np.sqrt(2.0 * (solution.gap + rounding)))


def certify(
    problem: Problem,
    solution: Solution,
    *,
    embedding_error: float = 0.0,
    coarsening_error: float = 0.0,
    clipped_share: float = 0.0,
    partition: bool = True,
) -> Certificate:
    """Gather what is proved about ``solution``; ``partition=False`` skips the exact test.

    With a ``coarsening_error`` the samples of ``problem`` are cells of rows, and the certificate is
    about the rows: see :func:`on_rows`.

    Examples
    --------
    >>> from convexcluster import Status
    >>> pair = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], gamma=2.5)
    >>> fused = Solution(np.full((2, 1), 2.0), np.array([[-2.0]]), 0.0, 0.0, Status.CONVERGED, 1)
    >>> certify(pair, fused).partition
    'certified'
    """
    verdict = "not certified: not asked for"
    if partition:
        labels = fused(solution.A, problem.edges)
        verdict = certify_partition(problem, labels, solution.A, solution.Lam, embedding_error)
    rounding = gap_rounding(problem, solution.A, solution.Lam, solution.gap)
    on_samples = Certificate(
        gap=solution.gap,
        relative_gap=solution.relative_gap,
        radius=float(np.sqrt(2.0 * (solution.gap + rounding) + embedding_error**2)),
        embedding_error=embedding_error,
        clipped_share=clipped_share,
        partition=verdict,
        rounding=rounding,
    )
    return on_rows(on_samples, coarsening_error)


def on_rows(cells: Certificate, coarsening_error: float) -> Certificate:
    """The certificate about the rows, from the one about the cells into which they were grouped."""
    if coarsening_error == 0:
        return cells
    squares = 2.0 * (cells.gap + cells.rounding) + cells.embedding_error**2 + coarsening_error**2
    return replace(
        cells,
        radius=float(np.sqrt(squares)),
        coarsening_error=coarsening_error,
        partition="not certified: rows were grouped into cells before the solve, and not every "
        f"cell is proved to fuse; on the cells: {cells.partition}",
    )


def of_rows(found: Certificate, index: Ints) -> Certificate:
    """The certificate of points as that of the rows, of which ``index`` (n,) are the points."""
    return found if found.cores is None else replace(found, cores=found.cores[index])
