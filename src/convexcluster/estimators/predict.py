"""What a fitted model says of other samples, of other numbers of clusters, of what is proved."""

from __future__ import annotations

import math
from numbers import Integral
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import TransformerMixin
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from ..answers import Answers
from ..certificate.margins import Robustness
from ..certificate.ranges import Recovery
from ..kernels import Kernel, along_paths
from ..kernels.checks import LARGEST
from ..kernels.distances import check_distances
from ..labels import cut
from ..partition import by_size
from ..points.units import Unit, numbers, power
from ..problem import Floats, Ints, check_finite
from ..settings import scaled_columns
from ..tables.check import PIPELINE, check_table
from ..weights import FEW_FEATURES

# Attributes that a model loaded from a file has only if its path was saved.
OF_PATH = {"path_", "graph_", "dual_coef_", "embedding_", "points_", "coarsening_"}
OF_PATH |= {"membership_", "probabilities_", "medoid_indices_"}

# Bytes of an array up to which a sparse X becomes one: 5,000 counts of 2,500 genes. At half of it
# more matrices have another answer than their arrays; at five times as many 2,000 texts of 30,000
# words take six times as long and three gigabytes.
SMALL = 1e8


class Predictions(Answers, TransformerMixin):
    """Predictions, distances, cuts and questions about the proof.

    scikit-learn wraps ``transform`` for ``set_output`` in the class that defines it, which
    therefore is a transformer.
    """

    centroids_: Floats
    n_features_in_: int

    @property
    def kernel_(self) -> Kernel:
        """The kernel with its bandwidth; of a ``SumKernel`` with the weights of its views."""
        check_is_fitted(self)
        return self._embedding.kernel

    @property
    def embedding_(self) -> Floats:
        """Coordinates of the samples; of samples that were grouped into cells, of their cells."""
        check_is_fitted(self)
        assert self.path_ is not None  # a file has the coordinates with the path alone
        Z, unit = self._embedding.Z[self._index], getattr(self, "_unit", Unit())
        return power(Z, -unit.space) if unit.space else Z

    def transform(self, X: Any) -> Floats:
        """Distance, in the kernel's space, from each sample to each cluster's centroid.

        The nearest centroid need not be that of the cluster that :meth:`predict` names. A curved
        cluster passes by the centroids of others, and far from all samples a kernel such as rbf
        vanishes, so that all centroids are about equally far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New samples; of a precomputed kernel k(new, training), of distances d(new, training).

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        X = self._checked(X)
        unit: Unit = getattr(self, "_unit", Unit())
        Z, centroids = self._embedding.transform(X), self.centroids_
        if not unit.space:
            return euclidean_distances(Z, centroids)
        return power(euclidean_distances(Z, power(centroids, unit.space)), -unit.space)

    def predict(self, X: Any) -> Ints:
        """Cluster that has the most weight among the nearest training samples.

        Neighbours and weights are those of the automatic graph, and a sample that equals a training
        sample has its label: ``predict`` of the training samples is ``labels_``. Where ``coarsen``
        made cells, cells vote. See :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New samples; of a precomputed kernel k(new, training), of distances d(new, training).

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._checked(X)
        return self._vote.labels_of(X)

    def predict_proba(self, X: Any) -> Floats:
        """Share of each cluster in the weight Σ w(x, j) of the nearest training samples j.

        w(x, j) = b·√m_j·exp(−(d²/(s_x s_j))^¾) as in the automatic graph: distances are those of
        ``metric``, by default Euclidean for at most three features, Manhattan's for more; s is the
        distance to the k-th nearest training sample, b = 1 if d ≤ s_j and ½ if not. A sample that
        equals a training sample has share 1 in its cluster. The shares say how clear the vote is;
        they are not calibrated probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New samples; of a precomputed kernel k(new, training), of distances d(new, training).

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to one, and the first greatest entry of a row is that of :meth:`predict`.
        """
        X = self._checked(X)
        return self._vote.shares(X)

    def _checked(self, X: Any) -> Any:
        """New samples as the fit takes samples: checked, and in its units."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        if self._vote.metric == "precomputed":
            check_distances(X, self.n_features_in_, "X")
        X = scaled_columns(X, getattr(self, "_columns", None))
        unit: Unit = getattr(self, "_unit", Unit())
        scaled = unit.scale(X)
        if unit.rows > 0 and not (np.abs(numbers(scaled)) < LARGEST).all():
            raise ValueError(
                "X holds numbers of more than 1e150 times those of the fit, whose squares overflow"
            )
        return scaled

    def cut(self, n_clusters: int) -> Ints:
        """Labels for another number of clusters, from the tree that ``labels_`` were cut from.

        Nothing is fitted again: ``gamma_``, ``centroids_`` and the certificate stay those of
        ``labels_``.

        Parameters
        ----------
        n_clusters : int

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbered by falling size, as ``labels_``.

        Examples
        --------
        >>> from convexcluster import KernelConvexClustering
        >>> X = [[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]]
        >>> KernelConvexClustering(2).fit(X).cut(3)
        array([0, 0, 1, 1, 2, 2])
        """
        check_is_fitted(self)
        if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral):
            raise ValueError(f"n_clusters must be a whole number, got {n_clusters!r}")
        return by_size(cut(self.linkage_, int(n_clusters)), self.path_.masses)

    def recovery(
        self, labels: ArrayLike | None = None, near: float | None = None, inside: bool = False
    ) -> Recovery:
        """For which γ the exact optimum has the clusters ``labels``, in the full kernel space.

        Parameters
        ----------
        labels : array-like of shape (n_samples,), optional
            Labels that you bring, e.g. known classes; those of the fit by default.
        near : float, optional
            A γ at which they are thought to be clusters.
        inside : bool
            Whether to prove all γ between the ends as well, up to a hundredth inside each of them.

        Returns
        -------
        Recovery
            With a range of γ that is necessary (an empty one refutes the labels), one that is
            sufficient, and the ends at which the labels are proved.
        """
        from ..points.questions import recovery

        check_is_fitted(self)
        return recovery(self, labels, near, inside)

    def robustness(self, gamma: float | None = None) -> Robustness:
        """By how much data, weights and γ may change with the clusters proved to stand.

        Graph and bandwidth are kept. By default γ is amid the interval that is proved, else
        ``gamma_``; nothing stands near the ends of an interval.
        """
        from ..points.questions import robustness

        check_is_fitted(self)
        return robustness(self, gamma)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say why a model from a file has no path, nor what is made of it."""
            kept = vars(self)
            if name in OF_PATH and "labels_" in kept and "path_" not in kept:
                raise AttributeError(
                    f"{name} is not in the file that this model was loaded from: "
                    "save(file, path=True) keeps it"
                )
            if isinstance(getattr(type(self), name, None), property):
                return object.__getattribute__(self, name)  # its own error, not this one
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def check_rows(model: Any, X: Any, *, reset: bool = True) -> Any:
    """X as float64, dense or CSR, and finite; what is wrong is named with its row and column."""
    name = type(model).__name__
    check_table(X, name)
    options: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}
    X = validate_data(model, X, **options, ensure_all_finite=False, reset=reset)
    if sparse.issparse(X):
        entries: Any = sparse.coo_array(cast(Any, X))
        bad = np.flatnonzero(~np.isfinite(entries.data))
        if len(bad):
            row, column = entries.row[bad[0]], entries.col[bad[0]]
            raise ValueError(
                f"X holds NaN or infinity in row {row}, column {column}: impute or drop it first"
            )
        if str(model.metric).lower() == "precomputed":
            if reset:
                return along_paths(entries)
            raise ValueError(
                "a sparse X holds some of the distances: new samples need theirs to every training "
                "sample"
            )
        # an array of the same numbers has the same answer, as it is that array; at any size so is
        # a matrix that takes as much memory: 12 bytes a number, with its column, against 8
        small = 8.0 * math.prod(entries.shape) <= max(SMALL, 12.0 * entries.nnz)
        # and so few columns are points of the plane or of space, and hardly sparse
        return entries.toarray() if small or entries.shape[1] <= FEW_FEATURES else X
    remedy = f"; {PIPELINE.format(model=name)} fills in what is missing"
    check_finite(X, "X", columns=getattr(model, "feature_names_in_", None), remedy=remedy)
    return X
