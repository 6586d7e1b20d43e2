"""solve_path: check, choose the grid, run every γ on every part of the graph, collect.

Input is (Z, edges, weights), output a ClusterPath whose gaps are those of the full problem.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from ..numerics.parameters import (
    THREADS,
    Rules,
    check_parameters,
    is_count,
    is_one_of,
    is_positive,
    is_threads,
)
from ..numerics.threads import Workers, interruptible, threads
from ..problem import Problem
from .builder import PathBuilder
from .checkpoint import Agenda, Checkpoint, fingerprint
from .clusterpath import ClusterPath
from .components import Components
from .engine import State
from .grid import EXTRA, automatic, check_gammas, halfway

Callback = Callable[[int, int, float, int, float], None]

# Length of the automatic grid: steps of 1.4 over six decades. Half: twice as many clusters
# merge in one step, and the order of their merges is not seen. Twice: twice the time.
GAMMAS = 40

CERTIFY = ("path", "selected", False)
RELATIVE_TO = ("scale", "objective")

RULES: Rules = {
    "tol": (lambda v: is_positive(v) and v < 1, "a number between 0 and 1"),
    "tol_relative_to": (lambda v: is_one_of(v, *RELATIVE_TO), f"one of {', '.join(RELATIVE_TO)}"),
    "certify": (
        lambda v: v is False or is_one_of(v, "path", "selected"),
        f"one of {', '.join(map(str, CERTIFY))}",
    ),
    "n_jobs": (is_threads, THREADS),
    "callback": (lambda v: v is None or callable(v), "a callable or None"),
    "checkpoint": (
        lambda v: v is None or (isinstance(v, str | os.PathLike) and bool(str(v))),
        "a file or None",
    ),
    "max_gammas": (is_count, "a whole number ≥ 1"),
    "refine": (lambda v: isinstance(v, bool | np.bool_), "True or False"),
}


def solve_path(
    Z: ArrayLike,
    edges: ArrayLike,
    weights: ArrayLike,
    gammas: ArrayLike | None = None,
    *,
    masses: ArrayLike | None = None,
    tol: float = 1e-6,
    tol_relative_to: str = "scale",
    certify: str | bool = "path",
    n_jobs: int | None = None,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    max_gammas: int = GAMMAS,
    refine: bool = True,
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
        Duality gap to reach at each γ, relative to ½ Σ mᵢ‖zᵢ − z̄‖².
    tol_relative_to : {"scale", "objective"}
        "objective" makes ``tol`` relative to a lower bound of F at the same γ, which is much
        sharper where γ is small. ``gaps`` are reported relative to the scale either way.
    certify : {"path", "selected", False}
        "path" closes the gap of the full problem at every γ. The others leave the gaps unknown
        (nan), several times faster: clusters that fused are taken to stay fused, so splits are not
        seen. "selected" says that the caller certifies the γ it selects, by solving there.
    n_jobs : int, optional
        Threads; −1 for all cores, None for two. Connected components of the graph are solved side
        by side; a graph in one piece uses two, for two halves of its clusters.
    callback : callable, optional
        Called after each γ as ``callback(step, total, gamma, n_clusters, relative_gap)``.
    checkpoint : path, optional
        File to which the state is saved every few seconds; if it exists, the path goes on
        from there and ends as it would have without a stop. A file that is damaged, that belongs
        to another problem, grid or version, or that cannot be written is refused before the
        first γ.
    max_gammas : int
        Length of the automatic grid.
    refine : bool
        Whether an automatic grid gets up to a quarter more γ where clusters merge in a rush.

    Returns
    -------
    ClusterPath
        With ``complete=False`` and the steps that were done if it was interrupted (Ctrl-C).
        Nothing can be selected on such a path.

    Examples
    --------
    >>> path = solve_path([[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.1, 1.2, 4.0])
    >>> bool(path.certified.all())
    True
    """
    problem = Problem.of(Z, edges, weights, 0.0, masses)
    return path_of(
        problem,
        gammas,
        tol=tol,
        tol_relative_to=tol_relative_to,
        certify=certify,
        n_jobs=n_jobs,
        callback=callback,
        checkpoint=checkpoint,
        max_gammas=max_gammas,
        refine=refine,
        partial=True,
    )


@interruptible()
def path_of(
    problem: Problem,
    gammas: ArrayLike | None = None,
    *,
    tol: float = 1e-6,
    tol_relative_to: str = "scale",
    certify: str | bool = "path",
    n_jobs: int | None = None,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    max_gammas: int = GAMMAS,
    refine: bool = True,
    partial: bool = False,
) -> ClusterPath:
    """:func:`solve_path` of a problem that is already checked; its own γ plays no part.

    Ctrl-C raises KeyboardInterrupt, unless ``partial`` asks for the steps that were done.
    """
    check_parameters(RULES, locals())
    tol = float(tol)
    given = problem.Z, problem.edges, problem.weights, problem.masses
    grid = automatic(*given, max_gammas) if gammas is None else check_gammas(gammas)
    parts = Components.of(problem, tol, certify == "path", tol_relative_to == "objective")
    extra = int(EXTRA * max_gammas) if gammas is None and refine else 0
    builder = PathBuilder(problem.masses, parts.scale, parts.origin, parts.basis)
    agenda, saved = Agenda(grid.tolist()[::-1], extra, [0] * len(grid)), None
    if checkpoint is not None:
        key = fingerprint(*given, grid, np.array([tol]), repr((certify, tol_relative_to, extra)))
        saved = Checkpoint(Path(checkpoint), key)
        agenda = saved.load(parts.engines, builder) or agenda
    complete, count = True, threads(n_jobs)
    try:
        with interruptible(), Workers(count) as pool:
            parts.lend(pool if count > 1 else None)
            for gamma, state in _states(parts, builder, agenda, pool):
                step, gap = len(builder.gammas), state.gap / parts.scale if parts.scale > 0 else 0.0
                good = state.gap <= parts.allowed(gamma)
                found = state.labels, state.centers, gap, good, state.pairs, state.values
                builder.add(gamma, *found)
                if saved is not None:
                    saved.save(parts.engines, builder, agenda)
                if callback is not None:
                    callback(step, step + 1 + len(agenda.ahead), gamma, len(state.centers), gap)
    except KeyboardInterrupt:
        if not partial:
            raise
        complete = builder.reached(float(grid[-1]))
    return builder.build(complete)


def _states(
    parts: Components,
    builder: PathBuilder,
    agenda: Agenda,
    pool: Executor,
) -> Iterator[tuple[float, State]]:
    """Solve the γ of the agenda, and take each off it.

    Where clusters merge in a rush, a γ halfway is put before the next one.
    """
    while agenda.ahead:
        gamma, refines = agenda.ahead[-1], agenda.spare > 0 and bool(builder.gammas)
        if refines and agenda.seen[-1] and _put_off(agenda, builder, agenda.seen[-1]):
            continue
        kept = parts.to_arrays() if refines else None
        state = parts.advance(gamma, pool)
        if kept is not None and _put_off(agenda, builder, len(state.centers)):
            parts.restore(kept)
            continue
        agenda.ahead.pop()
        agenda.seen.pop()
        yield gamma, state


def _put_off(agenda: Agenda, builder: PathBuilder, count: int) -> bool:
    """Put a γ halfway before the next one, which has ``count`` clusters, if that is a rush."""
    before, k_before = builder.gammas[-1], len(builder.centers[-1])
    middle = halfway(before, agenda.ahead[-1], k_before, count)
    if middle is None:
        return False
    agenda.seen[-1] = count
    agenda.ahead.append(middle)
    agenda.seen.append(0)
    agenda.spare -= 1
    return True
