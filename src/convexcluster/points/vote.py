"""Which cluster a new row belongs to: the vote of the nearest points, weighted as in the graph.

Input: new rows x, and points x_j (training samples or cells) with labels and masses. Output: shares

    p_t(x) = Σ_{j near x, label t} w(x, j) / Σ_{j near x} w(x, j),
    w(x, j) = b·√m_j·exp(−(d²/(s_x s_j))^¾),

with neighbours, metric and exponent of the automatic graph (:mod:`convexcluster.weights`), s the
distance to the k-th nearest point, b = 1 if d ≤ s_j (the point would return the choice), ½ if not.
A row that equals a point has that point's label and share 1.

Of a precomputed kernel a new row is k(x, training), and the points are the coordinates z_j of the
embedding. There d²(x, j) = ‖z(x) − z_j‖² = k(x, x) − 2k(x, j) + k(j, j) − c, with c ≥ 0 what φ(x)
has off the span of the training samples. Neither k(x, x) nor c is known, nor is either needed: both
are the same for all j, hence neighbours are the true ones, and d² is the least that k(x, j) allows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..embedding import Embedding
from ..kernels import check_features, distances, is_sparse
from ..numerics.progress import reports
from ..partition import row_keys
from ..problem import Floats, Ints
from ..weights import Nearest, automatic_neighbors, local_scales
from ..weights.formulas import EXPONENT
from ..weights.neighbors import LOOPED, tied_distances, tied_points

# Numbers held at a time for a block of new rows: some tens of megabytes, and blocks long enough
# that the search costs more than its start.
BLOCK = 2_000_000

# Greatest d²/(s_x s_j): its power is finite, and weights beyond it are as good as zero.
FARTHEST = 1e300


@dataclass(frozen=True)
class Vote:
    """Points that vote on new rows.

    Attributes
    ----------
    X : array or sparse matrix of shape (g, d)
        Points, no two of them equal: features, or coordinates of the embedding.
    labels : ndarray of shape (g,)
    masses : ndarray of shape (g,)
    scales : ndarray of shape (g,)
        s_j, the distance to the k-th nearest other point.
    keys : ndarray of shape (g,)
        Of the rows that the points are, see :func:`convexcluster.partition.row_keys`.
    n_neighbors : int
        k.
    metric : str or callable
        "precomputed" if rows are distances to the training samples; X then holds their positions.
    n_clusters : int
    embedding : Embedding or None
        What makes coordinates of rows; None if the features themselves are compared.
    voters : ndarray of shape (G,) or None
        Which of them stands for every point of the fit; None if each point votes.
    """

    X: Any
    labels: Ints
    masses: Floats
    scales: Floats
    keys: np.ndarray
    n_neighbors: int
    metric: Any
    n_clusters: int
    embedding: Embedding | None = None
    voters: Ints | None = None

    @classmethod
    def of(
        cls,
        X: Any,
        labels: Ints,
        masses: Floats,
        keys: np.ndarray,
        *,
        n_neighbors: int,
        embedding: Embedding | None = None,
        metric: Any = "auto",
        few: bool | None = None,
        nearest: Nearest | None = None,
    ) -> Vote:
        """The vote of points; of equal ones the first has the word, with the mass of all.

        ``few`` is whether dimensions are, by default at most three features; ``nearest`` are the
        neighbours of the automatic graph, where they are known.

        Examples
        --------
        >>> X = np.array([[0.0], [1.0], [5.0], [6.0]])
        >>> vote = Vote.of(X, np.array([0, 0, 1, 1]), np.ones(4), row_keys(X), n_neighbors=2)
        >>> vote.labels_of(np.array([[1.5], [5.0], [99.0]]))
        array([0, 1, 1])
        """
        n_clusters = int(labels.max()) + 1
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        pairs = isinstance(metric, str) and metric == "precomputed"
        voters = None
        if len(first) < len(keys):
            nearest, voters = None, inverse.ravel()
            X = X[:, first] if pairs else X
            X, labels, keys = X[first], labels[first], keys[first]
            masses = np.bincount(voters, masses).astype(np.float64)
        else:
            first = np.arange(len(keys))
        loops = metric in LOOPED
        usual, _, k = automatic_neighbors(X, n_neighbors, metric if loops else "precomputed", few)
        metric = usual if loops else metric
        if nearest is not None:
            scales = nearest.length[:, min(k, len(labels) - 1) - 1].copy()
        elif loops:
            scales = local_scales(X, k, metric=metric, distinct=True)
        else:
            D = X if pairs else distances(X, None, metric)
            scales = local_scales(D, k, metric="precomputed", distinct=True)
        X = first[:, None] if pairs else X
        if embedding is not None:
            embedding = replace(embedding, Z=embedding.Z[:0])
        return cls(X, labels, masses, scales, keys, k, metric, n_clusters, embedding, voters)

    def among(self, points: Ints, labels: Ints) -> Vote:
        """The vote of some points under other labels, on rows that are where the points are."""
        X, masses, scales = self.X[points], self.masses[points], self.scales[points]
        k, n_clusters = self.n_neighbors, int(labels.max()) + 1
        return Vote(X, labels, masses, scales, self.keys[points], k, self.metric, n_clusters)

    def labels_of(self, X: Any) -> Ints:
        """Cluster of every row of X, shape (n,); of equal shares the first."""
        found = [share.argmax(axis=1) for share in self._blocks(X)]
        return np.concatenate(found).astype(np.int64)

    def shares(self, X: Any) -> Floats:
        """Share of every cluster in the weight of the nearest points, shape (n, n_clusters)."""
        return np.concatenate(list(self._blocks(X)))

    def _blocks(self, X: Any) -> Any:
        """Shares of one block of rows after the other."""
        X = X.tocsr() if is_sparse(X) else X
        held = max(self.n_clusters, (2 * self.n_neighbors + 1) * min(X.shape[1], 64), 64)
        held = held if self._in_loops else max(held, len(self.labels))
        step = max(1, BLOCK // held)
        told = reports("labels")
        for start in range(0, max(1, X.shape[0]), step):
            told(start / max(1, X.shape[0]))
            yield self._shares(X[start : start + step])

    def _shares(self, X: Any) -> Floats:
        rows = self._placed(X)
        if rows.shape[0] == 0:
            return np.empty((0, self.n_clusters))
        k = min(self.n_neighbors, len(self.labels))
        if self._in_loops:
            pairs, part, d, s_x = tied_points(rows, self.X, k, metric=self.metric)
        else:
            pairs, part, d, s_x = tied_distances(self._distances(rows), k)
        weight = part * self._weights(pairs, d, s_x)
        entry = pairs[:, 0] * self.n_clusters + self.labels[pairs[:, 1]]
        total = np.bincount(entry, weight, rows.shape[0] * self.n_clusters)
        total = total.reshape(-1, self.n_clusters)
        share = total / total.sum(axis=1, keepdims=True)
        equal, point = self._equal(X)
        share[equal] = 0.0
        share[equal, self.labels[point]] = 1.0
        return share

    @property
    def _in_loops(self) -> bool:
        """Whether neighbours are searched for, and not picked from all distances."""
        return self.metric in LOOPED

    def _distances(self, rows: Any) -> Floats:
        """Distances of new rows to the points, shape (n, g)."""
        if isinstance(self.metric, str) and self.metric == "precomputed":
            return rows[:, self.X.ravel()]
        return distances(rows, self.X, self.metric)

    def _placed(self, X: Any) -> Any:
        """Rows in the space of the points, and dense or sparse as these are."""
        if self.embedding is not None:
            return self.embedding.transform(X)
        X = check_features(X) if X.shape[0] else X
        if is_sparse(X) and not is_sparse(self.X):
            return X.toarray()
        return type(self.X)(X) if is_sparse(self.X) else X

    def _weights(self, pairs: Ints, d: Floats, s_x: Floats) -> Floats:
        """w(x, j) of every pair, as a share of the row's greatest: far away all would underflow."""
        i, j = pairs.T
        with np.errstate(over="ignore"):
            ratio = _over(d, s_x[i]) * _over(d, self.scales[j])
        power = -(np.minimum(ratio, FARTHEST) ** EXPONENT)
        power += 0.5 * np.log(self.masses[j]) + np.log(np.where(d <= self.scales[j], 1.0, 0.5))
        most = np.full(len(s_x), -np.inf)
        np.maximum.at(most, i, power)
        return np.exp(power - most[i])

    def _equal(self, X: Any) -> tuple[Ints, Ints]:
        """Rows that equal a point, and which."""
        keys = row_keys(X)
        order = np.argsort(self.keys)
        place = np.searchsorted(self.keys, keys, sorter=order)
        point = order[np.minimum(place, len(order) - 1)]
        equal = np.flatnonzero(self.keys[point] == keys)
        return equal, point[equal]


def _over(d: Floats, s: Floats) -> Floats:
    """d/s, and 0 where all points are equal."""
    return np.divide(d, s, out=np.zeros_like(d), where=s > 0)
