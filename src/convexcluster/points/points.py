"""What the path runs on: weighted points, each of which stands for some of the user's rows.

Points are distinct rows (equal rows are one point of their summed mass) or cells of rows. Being
checked and finite is part of the type: nothing downstream looks at it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..embedding import Embedding
from ..problem import Floats, Ints
from .cells import Cells


@dataclass(frozen=True)
class Points:
    """Weighted points, their embedding, and how rows get to them.

    Attributes
    ----------
    X : array or sparse matrix of shape (g, d)
        The distinct rows, or the mean of the rows of each cell.
    masses : ndarray of shape (g,)
        Summed masses of the rows, > 0.
    embedding : Embedding
        With Z the points, and τ² of all rows as ``trace_error``.
    index : ndarray of shape (n,) or None
        Point of every row of the user's; None where the rows are not in memory.
    distinct : bool
        Whether no two points are equal. Rows whose graph is given keep their copies.
    cells : Cells or None
        The rule that sends a row to a cell; None if every distinct row is a point, or if the
        points are aggregates of a given graph.
    position : ndarray of shape (G,) or None
        Cell → point: a cell in which no row fell shares the point of the nearest one.
    scatter : ndarray of shape (g,) or None
        Σ m‖z − z̄‖² of the rows of each cell, in the embedding.
    diameters : ndarray of shape (g,) or None
        Upper bound on the distance between two rows of a cell, in the embedding.
    """

    X: Any
    masses: Floats
    embedding: Embedding
    index: Ints | None = None
    distinct: bool = True
    cells: Cells | None = None
    position: Ints | None = None
    scatter: Floats | None = None
    diameters: Floats | None = None

    def __len__(self) -> int:
        return len(self.masses)

    @property
    def coarse(self) -> bool:
        """Whether points stand for several different rows: cells, or aggregates of a graph."""
        return self.scatter is not None

    @property
    def Z(self) -> Floats:
        """Coordinates of the points, shape (g, r)."""
        return self.embedding.Z

    @property
    def scale(self) -> float:
        """½ Σ m‖z − z̄‖² over all rows: between the points, and inside them."""
        mean = self.masses @ self.Z / self.masses.sum()
        between = float(self.masses @ ((self.Z - mean) ** 2).sum(axis=1))
        inside = 0.0 if self.scatter is None else float(self.scatter.sum())
        return 0.5 * (between + inside)

    def assign(self, X: Floats) -> Ints:
        """Point of every row of X, by its cell."""
        assert self.cells is not None
        assert self.position is not None
        return self.position[self.cells.assign(X)]
