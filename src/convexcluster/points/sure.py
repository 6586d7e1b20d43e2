"""Labels of many rows in cells: the vote, whose outcome most rows know from the points near them.

Let points j of one label lie d_j from a row x, and D_j from the nearest point of another label. All
points of other labels are then at least max_j (D_j − d_j) away from x; and the k-th smallest of the
d_j is at least the distance of x to its k-th nearest point. If the second is less than the first,
all points that vote on x have that label, and its neighbours need not be looked for. First the
point g of the row's cell alone is tried: its k-th nearest is s_g away from it, so that d_g + s_g
stands for the k-th distance of x; then its neighbours too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial import KDTree
from sklearn.metrics import pairwise_distances_argmin_min

from ..kernels import is_sparse
from ..problem import Floats, Ints
from ..weights.neighbors import CROSS_TREE_DIMENSION, LOOPED
from .cells import Cells
from .points import Points
from .vote import BLOCK, Vote

# Rounding of distances, and the ties that count as neighbours (1e-12), are far below this share.
ROUNDING = 1e-9


@dataclass(frozen=True)
class RowLabels:
    """Labels rows as ``vote`` does.

    Attributes
    ----------
    vote : Vote
    cells : Cells or None
        The rule that finds a point near a row.
    position : ndarray of shape (G,) or None
        Cell → point.
    apart : ndarray of shape (g,)
        D_j; −∞ if it is not known.
    """

    vote: Vote
    cells: Cells | None
    position: Ints | None
    apart: Floats

    @classmethod
    def of(cls, vote: Vote, points: Points) -> RowLabels:
        """Where points are no cells, or their metric is another one, all rows are voted on."""
        apart = np.full(len(points), -np.inf)
        own = vote.embedding is None and vote.voters is None and not is_sparse(vote.X)
        tree = own and vote.metric in LOOPED and vote.X.shape[1] <= CROSS_TREE_DIMENSION
        # differences of all pairs, and not a product of matrices, whose distances lose digits
        pairs = own and vote.metric == "manhattan"
        if points.cells is not None and vote.n_clusters > 1 and (tree or pairs):
            for t in range(vote.n_clusters):
                inside = vote.labels == t
                those, others = vote.X[inside], vote.X[~inside]
                if tree:
                    order = 1 if vote.metric == "manhattan" else 2
                    apart[inside] = KDTree(others).query(those, p=order)[0]
                else:
                    found = pairwise_distances_argmin_min(those, others, metric="manhattan")
                    apart[inside] = found[1]
        return cls(vote, points.cells, points.position, apart)

    def labels_of(self, X: Any) -> Ints:
        """Cluster of every row of X, shape (n,)."""
        if self.cells is None or not np.isfinite(self.apart).any():
            return self.vote.labels_of(X)
        assert self.position is not None
        near = self.position[np.column_stack([np.arange(self.cells.count), self.cells.neighbours])]
        # a cell without rows shares the point of another, which counts once
        order = np.argsort(near, axis=1, kind="stable")
        again = np.diff(np.take_along_axis(near, order, axis=1), axis=1, prepend=-1) == 0
        np.put_along_axis(again, order, again.copy(), axis=1)
        step = max(1, BLOCK // (near.shape[1] * X.shape[1]))
        labels = np.empty(len(X), dtype=np.int64)
        for at in range(0, len(X), step):
            rows = X[at : at + step]
            cell = self.cells.assign(rows)
            found = self.vote.labels[self.position[cell]]
            left = np.flatnonzero(~self._clear(rows, near[cell, :1], again[cell, :1]))
            left = left[~self._clear(rows[left], near[cell[left]], again[cell[left]])]
            if len(left):
                found[left] = self.vote.labels_of(rows[left])
            labels[at : at + step] = found
        return labels

    def _clear(self, rows: Floats, near: Ints, again: np.ndarray) -> np.ndarray:
        """Whether all that vote on a row have the label of the first of the points ``near`` it.

        ``again`` marks points that stand in the list a second time.
        """
        vote, k = self.vote, self.vote.n_neighbors
        off = np.abs(rows[:, None, :] - vote.X[near])
        if vote.metric == "manhattan":
            far = off.sum(axis=2)
        else:
            far = np.sqrt(np.einsum("ijk,ijk->ij", off, off))
        kth = far[:, 0] + vote.scales[near[:, 0]]
        if near.shape[1] >= k:
            once = np.where(again, np.inf, far)
            kth = np.minimum(kth, np.partition(once, k - 1, axis=1)[:, k - 1])
        same = vote.labels[near] == vote.labels[near[:, :1]]
        other = np.where(same, self.apart[near] - far, -np.inf).max(axis=1)
        return np.asarray(kth * (1.0 + ROUNDING) < other * (1.0 - ROUNDING))
