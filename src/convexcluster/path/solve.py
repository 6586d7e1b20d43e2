"""solve_path: check, choose the grid, run every γ, collect.

Input is (Z, edges, weights), output a ClusterPath whose gaps are those of the full problem.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from ..clusterpath import ClusterPath
from ..problem import Problem
from .builder import PathBuilder
from .engine import Engine
from .grid import automatic, check_gammas
from .rotate import LOW, TRUNCATE, principal

Callback = Callable[[int, int, float, int, float], None]

# The peers' paths have 40 γ over six decades: steps of 1.4, fine enough to order the merges.
GAMMAS = 40

CERTIFY = ("path", "selected", False)


def solve_path(
    Z: ArrayLike,
    edges: ArrayLike,
    weights: ArrayLike,
    gammas: ArrayLike | None = None,
    *,
    masses: ArrayLike | None = None,
    tol: float = 1e-6,
    certify: str | bool = "path",
    n_jobs: int | None = None,
    random_state: int | None = None,
    callback: Callback | None = None,
    checkpoint: str | None = None,
    max_gammas: int = GAMMAS,
) -> ClusterPath:
    """Solve convex clustering along a grid of γ.

    Parameters
    ----------
    Z : array-like of shape (n, r)
        Samples, or their embedding.
    edges : array-like of shape (m, 2)
        Pairs i < j, each once.
    weights : array-like of shape (m,)
        Edge weights, ≥ 0.
    gammas : array-like, optional
        Grid; sorted, repeats dropped. By default geometric up to full fusion.
    masses : array-like of shape (n,), optional
        Positive sample masses.
    tol : float
        Duality gap at each γ, relative to ½ Σ mᵢ‖zᵢ − z̄‖².
    certify : {"path", "selected", False}
        Whether to close the gap at every γ, or leave that to the γ that is selected later.
    n_jobs : int, optional
        Threads for the connected components of the graph.
    random_state : int, optional
        Kept for the interface: nothing here is random.
    callback : callable, optional
        Called after each γ as ``callback(step, total, gamma, n_clusters, relative_gap)``.
    checkpoint : str, optional
        File to which the state is saved, and from which a path is resumed.
    max_gammas : int
        Length of the automatic grid.

    Returns
    -------
    ClusterPath

    Examples
    --------
    >>> path = solve_path([[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.1, 1.2, 4.0])
    >>> bool(path.certified.all())
    True
    """
    if certify not in CERTIFY:
        raise ValueError(f"certify must be one of {CERTIFY}, got {certify!r}")
    problem = Problem.of(Z, edges, weights, 0.0, masses)
    parts = problem.Z, problem.edges, problem.weights, problem.masses
    grid = automatic(*parts, max_gammas) if gammas is None else check_gammas(gammas)
    origin = problem.masses @ problem.Z / problem.masses.sum()
    sums = problem.masses[:, None] * (problem.Z - origin)
    scale = problem.scale
    allowed, lost, basis = tol * scale, 0.0, None
    if sums.shape[1] > LOW:
        basis, lost = principal(sums, problem.masses, TRUNCATE * allowed)
        sums = np.ascontiguousarray(sums @ basis)
    builder = PathBuilder(problem.masses, scale)
    engine = Engine(
        sums, problem.masses, problem.edges, problem.weights, allowed, lost, certify == "path"
    )
    complete = True
    try:
        for step, gamma in enumerate(grid):
            state = engine.advance(float(gamma))
            gap = state.gap / scale if scale > 0 else 0.0
            centers = state.centers if basis is None else state.centers @ basis.T
            builder.add(float(gamma), state.labels, centers + origin, gap, gap <= tol)
            if callback is not None:
                callback(step, len(grid), float(gamma), len(state.centers), gap)
    except KeyboardInterrupt:
        complete = False
    return builder.build(complete)
