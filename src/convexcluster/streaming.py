"""Two passes over blocks of rows: cells first, then sums of the embedding in every cell.

    scan     block → at most ``budget`` weighted points and a uniform sample; united in a tree
    measure  block → per cell Σm, mean and scatter of z, farthest row from the centre, and τ²

Each step is a pure function of its block and of constants, and random choices are seeded by the
number of the block, so that a step that is run again on another machine gives the same result.
Partial results are combined in a tree whose shape depends on the number of blocks alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
from scipy.linalg import lstsq

from .blocks import Blocks
from .coarsen import Cells, Summary, add, condense, summarise, unite
from .embedding import Embedding
from .problem import Floats, Ints

T = TypeVar("T")
Step = Callable[[Floats, Floats, int], T]

# Partial results combined at a time: depth log₈ of the blocks, and eight partial sums in memory.
FAN = 8


# Sets our random numbers apart from those of a user who made the data from the same seed: with
# equal streams the rows of least key would all be of the same cluster.
STREAM = 0x636F6172


class Engine(Protocol):
    """What runs a step on every block: this process, or a cluster."""

    def reduce(self, step: Step[T], combine: Callable[[list[T]], T]) -> T:
        """``combine`` of ``step(rows, masses, b)`` over all blocks b."""
        ...


def fold(parts: Iterable[T], combine: Callable[[list[T]], T]) -> T:
    """Combine parts in a tree of fan-in 8, in order, holding few at a time.

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
class Local:
    """Blocks read and worked on in this process, ``n_jobs`` at a time.

    Attributes
    ----------
    blocks : Blocks
    masses : ndarray of shape (n,), optional
        Of the rows; those of mass 0 take part in nothing but labels.
    n_jobs : int
        Threads; each holds a block.
    """

    blocks: Blocks
    masses: Floats | None = None
    n_jobs: int = 1

    def reduce(self, step: Step[T], combine: Callable[[list[T]], T]) -> T:
        """See :class:`Engine`."""
        starts = np.concatenate([[0], np.cumsum(self.blocks.lengths)])

        def run(b: int) -> T:
            rows = self.blocks.read(b)
            if self.masses is None:
                return step(rows, np.ones(len(rows)), b)
            m = self.masses[starts[b] : starts[b + 1]]
            return step(np.ascontiguousarray(rows[m > 0]), m[m > 0], b)

        if self.n_jobs == 1:
            return fold(map(run, range(len(self.blocks))), combine)
        with ThreadPoolExecutor(self.n_jobs) as pool:

            def ahead() -> Iterable[T]:
                waiting: list[Any] = []
                for b in range(len(self.blocks)):
                    waiting.append(pool.submit(run, b))
                    if len(waiting) > self.n_jobs:
                        yield waiting.pop(0).result()
                for future in waiting:
                    yield future.result()

            return fold(ahead(), combine)


@dataclass(frozen=True, slots=True)
class Scan:
    """What the first pass leaves: weighted points in the input space, and some rows as they are.

    Attributes
    ----------
    cells : Summary
        In the input space.
    sample : ndarray of shape (s, d)
        Rows drawn without replacement, each with equal probability.
    keys : ndarray of shape (s,)
        Their random keys: the sample holds the rows with the least keys.
    """

    cells: Summary
    sample: Floats
    keys: Floats


def scan_block(X: Floats, masses: Floats, b: int, *, budget: int, sample: int, seed: int) -> Scan:
    """First pass over one block."""
    if len(X) == 0:
        nothing = Summary(np.empty(0), np.empty((0, X.shape[1])), np.empty(0))
        return Scan(nothing, X, np.empty(0))
    keys = np.random.default_rng([STREAM, seed, b]).random(len(X))
    least = np.argsort(keys, kind="stable")[:sample]
    return Scan(condense(X, budget, masses)[1], X[least], keys[least])


def join_scans(parts: Sequence[Scan], *, budget: int, sample: int) -> Scan:
    """Unite the cells, and keep the rows with the least keys."""
    keys = np.concatenate([p.keys for p in parts])
    rows = np.concatenate([p.sample for p in parts])
    least = np.argsort(keys, kind="stable")[:sample]
    return Scan(unite([p.cells for p in parts], budget), rows[least], keys[least])


@dataclass(frozen=True)
class Projector:
    """Rows → coordinates z, and the squared distance of φ(x) from what z stands for.

    For features f(x) = k(x, landmarks) and any origin o = Σ a_p φ(x_p), z = (f(x) − K_PP a) B is
    the projection of φ(x) − o on the orthonormal axes φ_P B, and

        lost(x) = k(x, x) − 2 f(x)·a + aᵀK_PP a − ‖z‖²,    τ² = Σ m_i lost(x_i).

    The origin is near the mean, so that what is lost is a share of the variance.
    """

    embedding: Embedding
    origin: Floats | None = None
    constant: float = 0.0

    @classmethod
    def of(cls, embedding: Embedding) -> Projector:
        """Find the origin for ``embedding``; its rows Z stay behind, as tasks carry a projector."""
        embedding = replace(embedding, Z=embedding.Z[:0])
        if embedding.method in {"rff", "identity"} or embedding.B is None:
            return cls(embedding)
        K = embedding.kernel(embedding.basis)
        # A cut at 1e-10 keeps a small: it costs nothing, since any origin is as good.
        a: Floats = lstsq(K, np.asarray(embedding.shift), cond=1e-10)[0]
        shift = K @ a
        return cls(replace(embedding, shift=shift), a, float(a @ shift))

    @property
    def measures(self) -> bool:
        """Whether ``lost`` comes from the rows; of Fourier features only an estimate is known."""
        return self.embedding.method != "rff"

    def __call__(self, X: Floats) -> tuple[Floats, Floats]:
        """Coordinates (n, r) and what they lose, (n,)."""
        embedding = self.embedding
        if embedding.B is None or not self.measures:
            return embedding.transform(X), np.zeros(len(X))
        shift, B = np.asarray(embedding.shift), embedding.B
        if self.origin is None:  # principal components of the rows themselves
            centred = X - shift
            Z = centred @ B
            whole = np.einsum("ik,ik->i", centred, centred)
        else:
            features = embedding.kernel.columns(X, np.arange(0), embedding.basis)
            Z = (features - shift) @ B
            whole = embedding.kernel.diag(X) - 2.0 * (features @ self.origin) + self.constant
        return Z, np.maximum(whole - np.einsum("ik,ik->i", Z, Z), 0.0)


@dataclass(frozen=True, slots=True)
class Measure:
    """What the second pass leaves.

    Attributes
    ----------
    cells : Summary
        In the embedding.
    means : ndarray of shape (G, d)
        Of the rows of each cell, in the input space.
    reach : ndarray of shape (G,)
        Greatest distance of a row's z from that of the cell's centre.
    lost : float
        τ².
    """

    cells: Summary
    means: Floats
    reach: Floats
    lost: float


# Rows embedded at a time: features and Z of 2¹³ rows with 500 landmarks are 64 MB.
EMBED_ROWS = 8_192


def measure_block(
    X: Floats, masses: Floats, b: int, *, cells: Cells, projector: Projector
) -> Measure:
    """Second pass over one block."""
    from .loops.coarsen import add_rows, farthest

    labels = cells.assign(X)
    anchors = projector(cells.centres)[0]
    sums = Summary(np.zeros(cells.count), np.zeros_like(anchors), np.zeros(cells.count))
    reach = np.zeros(cells.count)
    lost = 0.0
    for s in range(0, len(X), EMBED_ROWS):
        Z, missing = projector(X[s : s + EMBED_ROWS])
        here, m = labels[s : s + EMBED_ROWS], masses[s : s + EMBED_ROWS]
        add_rows(Z, m, here, sums.masses, sums.means, sums.scatter)
        farthest(Z, here, anchors, reach)
        lost += float(m @ missing)
    return Measure(sums, summarise(X, labels, cells.count, masses).means, reach, lost)


def join_measures(parts: Sequence[Measure]) -> Measure:
    """Sums of sums, greatest of greatest."""
    cells = add([p.cells for p in parts])
    safe = np.where(cells.masses > 0, cells.masses, 1.0)
    means = sum(p.cells.masses[:, None] * p.means for p in parts) / safe[:, None]
    reach = np.max([p.reach for p in parts], axis=0)
    return Measure(cells, np.asarray(means), reach, sum(p.lost for p in parts))


def refine_block(
    X: Floats, masses: Floats, b: int, *, cells: Cells, bad: Ints, pieces: int
) -> list[Summary]:
    """Weighted points of the rows in each of the cells ``bad``, at most ``pieces`` from a block."""
    labels = cells.assign(X)
    rank = np.full(cells.count, -1, dtype=np.int64)
    rank[bad] = np.arange(len(bad))
    mine = rank[labels]
    order = np.argsort(mine, kind="stable")
    bounds = np.searchsorted(mine[order], np.arange(len(bad) + 1))
    empty = Summary(np.empty(0), np.empty((0, X.shape[1])), np.empty(0))
    return [
        condense(X[order[start:end]], pieces, masses[order[start:end]])[1] if end > start else empty
        for start, end in pairwise(bounds)
    ]


def join_refinements(parts: Sequence[list[Summary]], *, pieces: int) -> list[Summary]:
    """Unite the weighted points cell by cell."""
    return [unite(group, pieces) for group in zip(*parts)]
