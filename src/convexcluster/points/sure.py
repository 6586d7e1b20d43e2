"""Labels of many rows in cells: the vote, whose outcome most rows know from the points near them.

Let points j of one label lie d_j from a row x, and D_j from the nearest point of another label. All
points of other labels are then at least max_j (D_j − d_j) away from x; and the k-th smallest of the
d_j is at least the distance of x to its k-th nearest point. If the second is less than the first,
all points that vote on x have that label, and its neighbours need not be looked for. First the
point g of the row's cell alone is tried: its k-th nearest is s_g away from it, so that d_g + s_g
stands for the k-th distance of x; then its neighbours too. Where distances are not enough, the
points of other labels are searched for one that is nearer than the k-th distance, which in ten
dimensions takes about a sixth of the time of a vote.
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
from ..weights.search import TREE_DIMENSION
from .cells import Cells
from .points import Points
from .vote import BLOCK, Vote

# Rounding of distances, and the ties that count as neighbours (1e-12), are far below this share.
ROUNDING = 1e-9

# Rows whose search for points of other labels has one bound, the greatest of theirs. From 32 to
# 512 the time is the same (300,000 rows of 10 features); at 8,192 it is a third more.
ABREAST = 256


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
        open_rows, open_kth = [np.empty(0, dtype=np.int64)], [np.empty(0)]
        for at in range(0, len(X), step):
            rows = X[at : at + step]
            cell = self.cells.assign(rows)
            labels[at : at + step] = self.vote.labels[self.position[cell]]
            clear, _ = self._clear(rows, near[cell, :1], again[cell, :1])
            left = np.flatnonzero(~clear)
            clear, kth = self._clear(rows[left], near[cell[left]], again[cell[left]])
            open_rows.append(at + left[~clear])
            open_kth.append(kth[~clear])
        left, kth = np.concatenate(open_rows), np.concatenate(open_kth)
        left = left[~self._alone(X, left, labels[left], kth)]
        if len(left):
            labels[left] = self.vote.labels_of(X[left])
        return labels

    def _alone(self, X: Floats, index: Ints, labels: Ints, kth: Floats) -> np.ndarray:
        """Whether no point of another label than the row's is as near as its k-th point can be.

        Label by label, so that one tree is held at a time. In more dimensions than trees are good
        for the vote is as quick, and no row is said to be alone.
        """
        vote, alone = self.vote, np.zeros(len(index), dtype=np.bool_)
        if vote.X.shape[1] > TREE_DIMENSION:
            return alone
        order = 1 if vote.metric == "manhattan" else 2
        by_reach = np.argsort(kth)
        for t in np.unique(labels):
            own = by_reach[labels[by_reach] == t]
            others = KDTree(vote.X[vote.labels != t])
            for at in range(0, len(own), ABREAST):  # a search has one bound for all its rows
                part = own[at : at + ABREAST]
                reach = float(kth[part[-1]]) * (1.0 + ROUNDING)
                far = others.query(X[index[part]], p=order, distance_upper_bound=reach)[0]
                alone[part] = far * (1.0 - ROUNDING) > kth[part]
        return alone

    def _clear(self, rows: Floats, near: Ints, again: np.ndarray) -> tuple[np.ndarray, Floats]:
        """Whether all that vote on a row have the label of the first of the points ``near`` it.

        ``again`` marks points that stand in the list a second time. Returns also what the distance
        of a row to its k-th nearest point is at most.
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
        return np.asarray(kth * (1.0 + ROUNDING) < other * (1.0 - ROUNDING)), kth
