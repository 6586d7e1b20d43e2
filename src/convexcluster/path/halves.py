"""Two halves of one job, side by side.

Clusters do not touch inside: duals within one half of them can be worked on while another thread
works on the other half. How a job is halved depends on the job alone and never on the threads, so
that results do not either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.threads import stop_if_asked
from ..problem import Ints

if TYPE_CHECKING:
    from .levels import Level

# Edges inside clusters from which a job is halved. Half: waking the second thread takes longer than
# it saves. Twice: routing at ten thousand samples uses one thread.
HALVED_EDGES = 10_000

# Numbers of Λ from which one pass that is no sweep is halved: some 0.2 ms. Half: 5,000 samples in
# 130 dimensions take 2 % longer. Twice: no difference; without halves they take 9 % longer.
HALVED_PASS = 500_000


def second_half(sizes: Ints) -> np.ndarray:
    """Which clusters belong to the second half; ``sizes`` are the edges inside each.

    Neighbours in number are neighbours in memory: the cut is where half of the edges are passed.
    """
    total = int(sizes.sum())
    if total < HALVED_EDGES:
        return np.zeros(len(sizes), dtype=np.bool_)
    return np.cumsum(sizes) - sizes // 2 > total // 2


def side_by_side(
    pool: Executor | None, task: Callable[..., Any], jobs: Sequence[tuple[Any, ...]]
) -> list[Any]:
    """Results of ``task(*job)``, at most two jobs: the second one in ``pool`` if there is one."""
    stop_if_asked()
    if pool is None or len(jobs) < 2:
        return [task(*job) for job in jobs]
    second = pool.submit(task, *jobs[1])
    return [task(*jobs[0]), second.result()]


def over_halves(
    level: Level,
    task: Callable[..., Any],
    pool: Executor | None,
    *given: Any,
    after: tuple[Any, ...] = (),
) -> list[Any]:
    """``task(tail, head, *given, part, *after)`` on both halves of a level, then across the cut."""
    jobs = [(level.tail, level.head, *given, part, *after) for part in level.halves()]
    return [*side_by_side(pool, task, jobs[:2]), *(task(*job) for job in jobs[2:])]


def in_ranges(
    pool: Executor | None, task: Callable[..., Any], count: int, numbers: int, *given: Any
) -> list[Any]:
    """``task(*given, start, stop)`` on two ranges of ``count`` rows or columns.

    On one range where the task touches fewer than HALVED_PASS ``numbers``. A task must give each
    row or column what it would give it alone: then it does not matter where the ranges end.
    """
    ends = (0, count) if numbers < HALVED_PASS else (0, count // 2, count)
    return side_by_side(pool, task, [(*given, *ends) for ends in pairwise(ends)])
