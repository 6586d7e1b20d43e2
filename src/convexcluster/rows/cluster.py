"""Rows on the workers of a dask cluster.

Every task is a pure function of a block and of constants that are part of the task graph (never
scattered), so that dask can run the task again elsewhere after a worker is lost, with the same
result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from ..optional import need
from ..problem import Floats
from .blocks import check_block
from .source import Step, fold

T = TypeVar("T")

# Seconds between looks at the cluster while a result is awaited. A longer pause delays every pass
# by up to as much; a shorter one asks the scheduler more often than a person would notice.
POLL = 1.0


class ClusterLost(RuntimeError):
    """There is no worker left, or tasks keep killing them: the fit cannot go on."""


@dataclass(frozen=True)
class ClusterRows:
    """Rows of a dask array, in its blocks.

    Attributes
    ----------
    array : dask array of shape (n, d)
        In blocks of whole rows.
    client : distributed.Client
    patience : float
        Seconds without any worker after which :class:`ClusterLost` is raised.
    """

    array: Any
    client: Any
    patience: float = 60.0
    X: None = None
    masses: Floats | None = None

    @property
    def n(self) -> int | None:
        """Number of rows; None if the lengths of the blocks are not known."""
        lengths = self.array.chunks[0]
        return None if np.isnan(lengths).any() else int(sum(lengths))

    @property
    def width(self) -> int:
        """Number of columns."""
        return int(self.array.shape[1])

    def in_blocks(self, size: int) -> ClusterRows:
        """The blocks are those of the array: nothing is moved between workers."""
        return self

    def reduce(self, step: Step[T], combine: Callable[[list[T]], T]) -> T:
        """``combine`` of ``step`` over all blocks, in a tree of tasks."""
        delayed = need("dask", "dask").delayed
        step, combine = delayed(step), delayed(combine)  # one copy each in the graph
        run, join = delayed(_run, pure=False), delayed(_join, pure=False)
        # as they are: optimised graphs name the same block differently from pass to pass
        blocks = self.array.to_delayed(optimize_graph=False).ravel()
        parts = [run(step, block, b) for b, block in enumerate(blocks)]
        tree = fold(parts, lambda group: join(combine, group))
        return self.wait(self.client.compute(tree))

    def map(self, function: Callable[[Floats], np.ndarray]) -> Any:
        """``function(rows)`` as a dask array in the blocks of the rows, computed when asked for."""
        return map_blocks(self.array, function, np.int64)

    def parts(self, function: Callable[[Floats], np.ndarray]) -> Iterator[np.ndarray]:
        """``function(rows)`` of one block after the other, each computed when it is asked for."""
        delayed = need("dask", "dask").delayed
        constant, run = delayed(function), delayed(_apply, pure=False)
        for block in self.array.to_delayed(optimize_graph=False).ravel():  # as in reduce
            yield self.wait(self.client.compute(run(block, constant)))

    def wait(self, future: Any) -> Any:
        """The result of a future, or an error in bounded time if the cluster is gone."""
        distributed = need("distributed", "dask")
        seen = time.monotonic()
        while True:
            try:
                distributed.wait(future, timeout=POLL)
                return future.result()
            except (distributed.TimeoutError, TimeoutError):
                pass
            except distributed.KilledWorker as error:
                raise ClusterLost(
                    "a block killed several workers, most likely for want of memory: use smaller "
                    f"chunks, fewer threads per worker or a lower rank ({error})"
                ) from error
            try:
                alive = self.client.status == "running" and bool(self.client.nthreads())
            except (OSError, distributed.TimeoutError, TimeoutError):
                alive = False  # the scheduler does not answer
            if alive:
                seen = time.monotonic()
            elif time.monotonic() - seen > self.patience:
                future.cancel(force=True)
                raise ClusterLost(
                    f"no worker has been there for {self.patience:g} s: start workers and fit again"
                )


def _run(step: Step[T], block: Any, b: int) -> T:
    rows = check_block(block, name=f"block {b} of X")
    return step(rows, np.ones(len(rows)), b)


def _join(combine: Callable[[list[T]], T], parts: list[T]) -> T:
    return combine(parts)


def dask_array(X: Any) -> Any:
    """A dask array in blocks of whole rows, from a dask array or dataframe."""
    array = need("dask.array", "dask")
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array()
    if not isinstance(X, array.Array):
        raise TypeError(f"X must be a dask array or dataframe, got {type(X).__name__}")
    if X.ndim != 2:
        raise ValueError(f"X must be 2-D (samples × features), got {X.ndim}-D")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


def map_blocks(
    array: Any, function: Callable[[Floats], np.ndarray], dtype: Any, width: int | None = None
) -> Any:
    """``function(rows)`` of every block as a dask array of shape (n,), or (n, width)."""
    constant = need("dask", "dask").delayed(function)  # one copy in the graph
    how: dict[str, Any] = {"drop_axis": 1, "meta": np.empty(0, dtype)}
    if width is not None:
        how = {"chunks": (array.chunks[0], (width,)), "meta": np.empty((0, width), dtype)}
    return array.map_blocks(_apply, constant, dtype=dtype, **how)


def _apply(block: Any, function: Callable[[Floats], np.ndarray]) -> np.ndarray:
    return function(check_block(block, name="a block of X"))


def dask_rows(X: Any, client: Any, patience: float) -> ClusterRows:
    """Rows of a dask array or dataframe on the workers of ``client``."""
    return ClusterRows(dask_array(X), client, patience)
