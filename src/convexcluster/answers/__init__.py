"""What a fitted model can be asked beyond its labels; computed when it is asked, not in the fit."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.validation import check_is_fitted

from ..graph import Graph
from ..partition import first
from ..points import Vote
from ..points.units import Unit, power
from ..problem import Floats, Ints
from ..weights.valleys import ACROSS
from .describe import Description, describe
from .soft import DENSITIES, agreeing, density_scores, medoids, membership
from .tree import CondensedTree, condense, inside, splits

if TYPE_CHECKING:
    from ..embedding import Embedding
    from ..path.clusterpath import ClusterPath


class Answers:
    """Memberships, outlier scores, medoids, the condensed tree, sub-clusters and descriptions."""

    labels_: Ints
    n_clusters_: int
    linkage_: Floats
    graph_: Graph
    path_: ClusterPath
    min_cluster_size: int | None
    _embedding: Embedding
    _index: Ints
    _point_labels: Ints
    _vote: Vote

    @property
    def _rows(self) -> Ints:
        """Labels of the rows; of rows that are elsewhere, those of the cells."""
        check_is_fitted(self)
        return self.labels_ if isinstance(self.labels_, np.ndarray) else self._point_labels

    @property
    def membership_(self) -> Floats:
        """Share of each cluster in each sample, shape (n_samples, n_clusters); made when read.

        (D + s(D − W)) P = D·1[labels]: where a random walk on ``graph_`` that goes s = 8 steps on
        average ends; edges across valleys of the density, which are weak there, have their whole
        weight here. Rows sum to one and the greatest entry is that of ``labels_``: where the walk
        says otherwise, the least share of the label is added that makes it so. They tell how far a
        sample is from a border on the graph; they are no posterior probabilities of a model.
        Samples that were grouped into cells have the shares of their cell.
        """
        rows, index, labels = self._rows, self._index, self._point_labels
        links, valleys = getattr(self, "_links", None), getattr(self, "_valleys", None)
        if links is not None:
            index, labels = links[index], labels[first(links)]
        ends, weights = np.sort(index[self.graph_.edges], axis=1), self.graph_.weights
        if valleys is not None:
            across = valleys[ends[:, 0]] != valleys[ends[:, 1]]
            weights = np.where(across, weights / ACROSS, weights)
        return agreeing(membership(Graph(ends, weights), labels)[index], rows)

    @property
    def probabilities_(self) -> Floats:
        """Share of its own cluster in each sample, (n_samples,), as topic models ask for it."""
        rows = self._rows
        return self.membership_[np.arange(len(rows)), rows]

    @property
    def outlier_score_(self) -> Floats:
        """How lonely each sample is, shape (n_samples,): greater is lonelier; made when read.

        −log( Σⱼ mⱼ k(xᵢ, xⱼ) / Σⱼ mⱼ ), minus the log density in the kernel's bandwidth, for the
        kernels rbf, laplacian and matern. Others may be negative: there it is the distance to the
        ``n_neighbors``-th neighbour, as it is where distances are given. Samples above
        Q₃ + 1.5(Q₃ − Q₁), with Q₁ and Q₃ the quartiles of the scores, are outliers by Tukey's rule.
        Samples that were grouped into cells have the score of their cell. See also
        ``sklearn.neighbors.LocalOutlierFactor``, which compares a sample's density with that of its
        neighbours.
        """
        check_is_fitted(self)
        vote, kernel = self._vote, self._embedding.kernel
        plain = vote.embedding is None and not kernel.is_precomputed
        if kernel.name in DENSITIES and plain:
            scores = density_scores(vote.X, vote.masses, kernel)
        else:
            unit: Unit = getattr(self, "_unit", Unit())
            scores = power(vote.scales, -(unit.rows if vote.embedding is None else unit.space))
        return scores[self._voters]

    @property
    def medoid_indices_(self) -> Ints:
        """The sample of each cluster nearest to its mean in the kernel's space, (n_clusters,).

        Of samples that were grouped into cells the first of the nearest cell.
        """
        rows, path = self._rows, self.path_
        return medoids(self._embedding.Z, self._index, rows, path.masses)

    @property
    def condensed_tree_(self) -> CondensedTree:
        """The tree of ``linkage_`` with branches of at least ``min_cluster_size`` samples.

        By default one in a hundred samples, and at least ten;
        :func:`convexcluster.answers.tree.condense` takes other sizes.
        """
        check_is_fitted(self)
        return condense(self.linkage_, self.min_cluster_size)

    def subcluster(self, label: int, n_clusters: int | None = None) -> Ints:
        """Labels of the finer level inside one cluster, from the same tree, without a new fit.

        The tree among the samples of the cluster is condensed. Samples that leave a branch before
        it splits are labelled by the vote of the nearest ones, as :meth:`predict` labels new ones.

        Parameters
        ----------
        label : int
            The cluster.
        n_clusters : int, optional
            How many; by default the level that lasts longest (see
            :meth:`convexcluster.answers.tree.CondensedTree.level`), and one where the tree has no
            split into two branches of ``min_cluster_size``.

        Returns
        -------
        ndarray of shape (n_samples of the cluster,)
            In the order of ``np.flatnonzero(labels_ == label)``, numbered by falling size.
        """
        rows = self._rows
        if not isinstance(label, Integral) or not 0 <= label < self.n_clusters_:
            raise ValueError(
                f"label must be one of the clusters 0 … {self.n_clusters_ - 1}, got {label!r}"
            )
        members = np.flatnonzero(rows == label)
        whole = isinstance(n_clusters, Integral) and 1 <= n_clusters <= len(members)
        if n_clusters is not None and not whole:
            raise ValueError(
                f"n_clusters must be in 1 … {len(members)}, the samples of cluster {label}, "
                f"got {n_clusters!r}"
            )
        found = inside(self.linkage_, members, n_clusters, self.min_cluster_size)
        unknown = found < 0
        if unknown.any():
            vote, voters = self._vote, self._voters[members]
            points, first = np.unique(voters[~unknown], return_index=True)
            known = vote.among(points, found[~unknown][first])
            found[unknown] = known.labels_of(vote.X[voters[unknown]])
        return found

    def describe(self, X: Any, *, feature_names: Sequence[str] | None = None) -> Description:
        """Which features set each cluster, and each split of the tree, apart.

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n_samples, n_features)
            The samples that were fitted, in their order, by any features; columns of a data frame
            that are not numbers are left out.
        feature_names : sequence of str, optional
            By default those of a data frame, else "feature 0", ….

        Returns
        -------
        Description
            ``to_frame()`` is the table of effect sizes (Cohen's d) of every cluster and feature,
            ``to_frame("splits")`` that of the topmost splits of ``linkage_``.
        """
        rows = self._rows
        top = splits(self.linkage_, self.n_clusters_)
        return describe(X, rows, top, feature_names)

    def score(self, X: Any, y: ArrayLike | None = None) -> float:
        """How well new samples are clustered; for ``GridSearchCV``, greater is better.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Samples that were not fitted.
        y : array-like of shape (n,), optional
            Their classes.

        Returns
        -------
        float
            With ``y`` the adjusted Rand index of ``predict(X)``. Without, how far the neighbours
            of a sample agree with it beyond chance, (p − c)/(1 − c): p is the mean of the greatest
            share in ``predict_proba(X)``, c = Σ π² with π the shares of the clusters in all of X.
            1 where no neighbourhood is divided, 0 for one cluster. It compares kernels and graphs;
            of two numbers of clusters that both divide no neighbourhood it prefers neither.
        """
        share = self.predict_proba(X)  # type: ignore[attr-defined]
        if y is not None:
            return float(adjusted_rand_score(np.asarray(y), share.argmax(axis=1)))
        chance = float((share.mean(axis=0) ** 2).sum())
        # rounding leaves one cluster with a chance of 1 − 1e-16
        if chance > 1 - 1e-12:
            return 0.0
        return float((share.max(axis=1).mean() - chance) / (1 - chance))

    @property
    def _voters(self) -> Ints:
        """Which point of the vote stands for each row."""
        vote = self._vote
        if vote.voters is None and len(vote.labels) != len(self._point_labels):
            raise ValueError(
                "this file of format version 2 does not say which of its equal rows is which: fit "
                "again"
            )
        return self._index if vote.voters is None else vote.voters[self._index]
