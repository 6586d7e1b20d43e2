"""Where a user's rows are, and how every block of them is worked on.

``Rows`` is the protocol that :func:`convexcluster.fit.fit` asks for: how many rows and columns, and
``reduce(step, combine)`` over the blocks. Rows in memory and in files are :class:`LocalRows`;
rows on the workers of a dask cluster are :class:`convexcluster.rows.cluster.ClusterRows`.

A step is a pure function of a block, its masses and the number of the block. Partial results are
combined in a tree whose shape depends on the number of blocks alone, so that neither threads nor
workers change the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Protocol, TypeVar

import numpy as np

from ..numerics.progress import reports
from ..numerics.threads import Workers, threads
from ..problem import Floats
from .blocks import Blocks, as_blocks

T = TypeVar("T")
Step = Callable[[Floats, Floats, int], T]

# Partial results that are combined at a time. Twice as many would be held in memory at once; half
# as many make the tree half as deep again.
FAN = 8


class Rows(Protocol):
    """A user's rows, wherever they are."""

    @property
    def n(self) -> int | None:
        """Number of rows; None where only a pass over them would tell."""
        ...

    @property
    def width(self) -> int:
        """Number of columns."""
        ...

    @property
    def X(self) -> Any:
        """All rows as one array or sparse matrix; None where they are not in memory."""
        ...

    @property
    def masses(self) -> Floats | None:
        """Masses of the rows; None means one each."""
        ...

    def in_blocks(self, size: int) -> Rows:
        """The same rows in blocks of at most ``size`` rows, where the blocks are ours to choose."""
        ...

    def reduce(self, step: Step[T], combine: Callable[[list[T]], T]) -> T:
        """``combine`` of ``step(rows, masses, b)`` over all blocks b."""
        ...

    def map(self, function: Callable[[Floats], np.ndarray]) -> Any:
        """``function(rows)`` of every block: an iterator, or a dask array."""
        ...


def fold(parts: Iterable[T], combine: Callable[[list[T]], T]) -> T:
    """Combine parts in a tree of fan-in 8, in order, holding few of them at a time.

    Examples
    --------
    >>> fold(range(20), lambda group: "(" + " ".join(map(str, group)) + ")")
    '((0 1 2 3 4 5 6 7) (8 9 10 11 12 13 14 15) (16 17 18 19))'
    """
    levels: list[list[T]] = [[]]
    for part in parts:
        levels[0].append(part)
        depth = 0
        while len(levels[depth]) == FAN:
            if depth + 1 == len(levels):
                levels.append([])
            levels[depth + 1].append(combine(levels[depth]))
            levels[depth] = []
            depth += 1
    rest: list[T] = []
    for level in levels:
        rest = level + rest
        if len(rest) > 1:
            rest = [combine(rest)]
    return rest[0]


@dataclass(frozen=True)
class LocalRows:
    """Rows of an array or of files, worked on in this process, ``jobs`` blocks at a time.

    Attributes
    ----------
    source : array, sparse matrix or path
        What the blocks are read from.
    blocks : Blocks
    X : array, sparse matrix or None
        All rows, if they are in memory.
    masses : ndarray of shape (n,) or None
        Rows of mass 0 take part in nothing but labels.
    jobs : int
        Threads; each holds a block.
    """

    source: Any
    blocks: Blocks
    X: Any = None
    masses: Floats | None = None
    jobs: int = 1

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.blocks.n

    @property
    def width(self) -> int:
        """Number of columns."""
        return self.blocks.width

    def in_blocks(self, size: int) -> LocalRows:
        """See :class:`Rows`."""
        size = min(size, max(self.blocks.lengths))
        return replace(self, blocks=as_blocks(self.source, size))

    def reduce(self, step: Step[T], combine: Callable[[list[T]], T]) -> T:
        """See :class:`Rows`."""
        starts = np.concatenate([[0], np.cumsum(self.blocks.lengths)])

        told = reports("rows", "cells")

        def run(b: int) -> T:
            told(b / len(self.blocks))
            rows = self.blocks.read(b)
            if self.masses is None:
                return step(rows, np.ones(len(rows)), b)
            m = self.masses[starts[b] : starts[b + 1]]
            return step(np.ascontiguousarray(rows[m > 0]), m[m > 0], b)

        if self.jobs == 1:
            return fold(map(run, range(len(self.blocks))), combine)
        with Workers(self.jobs) as pool:

            def ahead() -> Iterable[T]:  # joblib's generator would not wait for its consumer
                waiting: list[Future[T]] = []
                for b in range(len(self.blocks)):
                    waiting.append(pool.submit(run, b))
                    if len(waiting) > self.jobs:
                        yield waiting.pop(0).result()
                for future in waiting:
                    yield future.result()

            return fold(ahead(), combine)

    def map(self, function: Callable[[Floats], np.ndarray]) -> Iterator[np.ndarray]:
        """``function(rows)`` of one block after the other."""
        return map(function, self.blocks)


def array_rows(X: Any, masses: Floats, n_jobs: int | None = None) -> LocalRows:
    """Rows of a checked array or sparse matrix in memory, with masses ≥ 0."""
    return LocalRows(X, as_blocks(X, max(1, X.shape[0])), X, masses, threads(n_jobs))


def file_rows(source: Any, n_jobs: int | None = None) -> LocalRows:
    """Rows that are read in blocks: see :func:`convexcluster.rows.blocks.as_blocks`."""
    blocks = as_blocks(source)
    if not blocks.n:
        raise ValueError("X has no samples: pass at least one row")
    return LocalRows(source, blocks, jobs=threads(n_jobs))
