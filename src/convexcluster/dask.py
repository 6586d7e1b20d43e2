"""The estimator beyond one machine: dask arrays and dataframes in, a dask array of labels out.

Input: X as a dask array or dataframe (n × d), and a dask ``Client``. The rows never leave the
workers: two passes turn blocks into weighted points (:mod:`convexcluster.points.passes`), which are
combined in a tree on the workers; what reaches the client is the problem on at most
``coarsen`` points, and its path is solved there. Labels are computed block by block when asked for.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from .embedding import Embedding
from .estimators import KernelConvexClustering as LocalKernelConvexClustering
from .estimators.keep import keep, unchanged_by_errors
from .fit import fit
from .optional import need
from .problem import Floats, Ints
from .rows.cluster import ClusterLost, dask_array, dask_rows, map_blocks
from .settings import Settings

__all__ = ["ClusterLost", "KernelConvexClustering", "tune"]


class KernelConvexClustering(LocalKernelConvexClustering):
    """Kernelized convex clustering of dask arrays and dataframes.

    Parameters are those of :class:`convexcluster.KernelConvexClustering`, and

    Parameters
    ----------
    client : distributed.Client, optional
        By default the current one.
    patience : float
        Seconds to wait for workers when all are gone before giving up with ``ClusterLost``.

    Attributes
    ----------
    labels_ : dask array of shape (n_samples,)
        Computed block by block when asked for.
    points_ : Points
        The cells that stand for the rows.
    point_labels_ : ndarray of shape (g,)
        Cluster of every cell.
    path_, linkage_, embedding_, dual_coef_, graph_
        Of the cells, in their order.
    certificate_ : Certificate
        Gap, coarsening error, embedding error and the radius that covers all three.
    coarsening_ : CoarseningError
        The coarsening error cell by cell.

    Notes
    -----
    The rows are read twice by :meth:`fit` and once more for labels: persist them on the workers
    (``X = X.persist()``) if they fit there and are expensive to read.
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        client: Any = None,
        patience: float = 60.0,
        **parameters: Any,
    ) -> None:
        super().__init__(n_clusters, **parameters)
        self.client = client
        self.patience = patience

    @classmethod
    def _get_param_names(cls) -> list[str]:
        return sorted([*LocalKernelConvexClustering._get_param_names(), "client", "patience"])

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, groups: Any = None) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features)
        y : ignored
        sample_weight : None
            Not offered here: give the local estimator weights, or repeat rows.
        groups : None
            Not offered here: the local estimator takes groups.

        Returns
        -------
        self

        Raises
        ------
        ClusterLost
            If there is no worker for ``patience`` seconds.
        """
        if sample_weight is not None:
            raise ValueError("sample_weight is not offered on dask arrays: repeat rows instead")
        if groups is not None:
            raise ValueError(
                "groups are not offered on dask arrays, whose rows are grouped into cells: fit the "
                "local estimator"
            )
        with unchanged_by_errors(self):
            settings = Settings.of(self)
            rows = dask_rows(X, self._client(), self.patience)
            with settings.watched() as settings:
                found = fit(rows, settings)
                settings.stage("labels")
                found = found.with_all_clusters(rows.parts(found.labeller.labels_of))
            keep(self, found, np.arange(len(found.points)), found.points.masses, found.labels)
            self.n_features_in_ = rows.width
            self.point_labels_: Ints = found.labels
            self.labels_ = rows.map(found.labeller.labels_of)
        return self

    def predict(self, X: Any) -> Any:
        """Cluster that has the most weight among the nearest cells; of training rows ``labels_``.

        Parameters
        ----------
        X : dask array or dataframe, or ndarray, of shape (n_samples, n_features)

        Returns
        -------
        dask array or ndarray of shape (n_samples,)
        """
        if isinstance(X, np.ndarray):
            return super().predict(X)
        return map_blocks(dask_array(X), self._vote.labels_of, np.int64)

    def predict_proba(self, X: Any) -> Any:
        """Share of each cluster in the weight of the nearest cells.

        Parameters
        ----------
        X : dask array or dataframe, or ndarray, of shape (n_samples, n_features)

        Returns
        -------
        dask array or ndarray of shape (n_samples, n_clusters)
        """
        if isinstance(X, np.ndarray):
            return super().predict_proba(X)
        return map_blocks(dask_array(X), self._vote.shares, np.float64, self.n_clusters_)

    def transform(self, X: Any) -> Any:
        """Distance, in the kernel's space, from each row to each cluster's centroid.

        Parameters
        ----------
        X : dask array or dataframe, or ndarray, of shape (n_samples, n_features)

        Returns
        -------
        dask array or ndarray of shape (n_samples, n_clusters)
        """
        if isinstance(X, np.ndarray):
            return super().transform(X)
        embedding = replace(self._embedding, Z=self._embedding.Z[:0])
        rule = partial(_distances, embedding, self.centroids_)
        return map_blocks(dask_array(X), rule, np.float64, self.n_clusters_)

    def _client(self) -> Any:
        return self.client or need("distributed", "dask").get_client()


def _distances(embedding: Embedding, centroids: Floats, X: Floats) -> Floats:
    return euclidean_distances(embedding.transform(X), centroids)


def tune(X: Any, y: Any = None, *, client: Any = None, **options: Any) -> Any:
    """:func:`convexcluster.tune` with its fits spread over the cluster.

    Parameters
    ----------
    X, y : arrays in memory
        Tuning works on data that one worker can hold: a sample of the rows.
    client : distributed.Client, optional
        By default the current one.
    **options
        Of :func:`convexcluster.tune`.
    """
    from joblib import parallel_config

    from .tuning import tune as local_tune

    client = client or need("distributed", "dask").get_client()
    with client.as_current(), parallel_config(backend="dask"):
        return local_tune(X, y, **options)
