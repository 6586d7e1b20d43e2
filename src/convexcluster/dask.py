"""The estimator beyond one machine: dask arrays and dataframes in, a dask array of labels out.

Input: X as a dask array or dataframe (n × d), and a dask ``Client``. The rows never leave the
workers: two passes turn blocks into weighted points (:mod:`convexcluster.streaming`), which are
combined in a tree on the workers; what reaches the client is the problem on at most
``coarsen`` points, and its path is solved there. Labels are computed block by block when asked for.

Every task is a pure function of a block and of constants that are part of the task graph (never
scattered), so that dask can run it again elsewhere after a worker is lost, with the same result.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

import numpy as np

from .blocks import check_block
from .budget import plan
from .coarsen import Cells
from .estimators import KernelConvexClustering as LocalKernelConvexClustering
from .optional import need
from .problem import Floats, Ints
from .samples import Samples
from .streaming import Step, fold

T = TypeVar("T")

# Seconds between looks at the cluster while a result is awaited.
POLL = 1.0


class ClusterLost(RuntimeError):
    """There is no worker left, or tasks keep killing them: the fit cannot go on."""


class Cluster:
    """An :class:`~convexcluster.streaming.Engine` whose blocks are those of a dask array.

    Parameters
    ----------
    rows : dask array of shape (n, d)
        In blocks of whole rows.
    client : distributed.Client
    patience : float
        Seconds without any worker after which :class:`ClusterLost` is raised.
    """

    def __init__(self, rows: Any, client: Any, patience: float = 60.0) -> None:
        self.rows, self.client, self.patience = rows, client, patience

    def reduce(self, step: Step[T], combine: Callable[[list[T]], T]) -> T:
        """``combine`` of ``step`` over all blocks, in a tree of tasks."""
        delayed = need("dask", "dask").delayed
        step, combine = delayed(step), delayed(combine)  # one copy each in the graph
        run, join = delayed(_run, pure=False), delayed(_join, pure=False)
        # as they are: optimised graphs name the same block differently from pass to pass
        blocks = self.rows.to_delayed(optimize_graph=False).ravel()
        parts = [run(step, block, b) for b, block in enumerate(blocks)]
        tree = fold(parts, lambda group: join(combine, group))
        return self.wait(self.client.compute(tree))

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
    rows = check_block(block)
    return step(rows, np.ones(len(rows)), b)


def _join(combine: Callable[[list[T]], T], parts: list[T]) -> T:
    return combine(parts)


def as_rows(X: Any) -> Any:
    """A dask array in blocks of whole rows, from a dask array or dataframe."""
    array = need("dask.array", "dask")
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array()
    if not isinstance(X, array.Array):
        raise TypeError(f"X must be a dask array or dataframe, got {type(X).__name__}")
    if X.ndim != 2:
        raise ValueError(f"X must be 2-D (samples × features), got {X.ndim}-D")
    return X if X.numblocks[1] == 1 else X.rechunk({1: -1})


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
    points_ : Coarse
        The weighted points that stand for the rows.
    point_labels_ : ndarray of shape (g,)
        Cluster of every weighted point.
    path_, linkage_, embedding_, dual_coef_, graph_
        Of the weighted points, in their order.
    certificate_ : CoarseCertificate
        Gap, coarsening error, embedding error and the radius that covers all three.

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

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> KernelConvexClustering:
        """Cluster the rows of X.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features)
        y : ignored
        sample_weight : None
            Not offered here: give the local estimator weights, or repeat rows.

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
        rows = as_rows(X)
        engine = Cluster(rows, self._client(), self.patience)
        self.n_features_in_ = d = int(rows.shape[1])
        # One path for any number of rows: with fewer rows than cells every row is its own cell.
        size = plan(
            2**62, d, self._points_rank(d), max_memory=self.max_memory, coarsen=self._cells()
        )
        fit = self._fit_points(engine, size.cells)
        points = fit.coarse.points
        samples = Samples(fit.coarse.X, points.masses, np.arange(len(points.masses)))
        self._keep_points(fit, samples, points.masses)
        self.point_labels_ = self.labels_
        self.labels_ = self._by_block(rows, _label_rows, np.int64)
        return self

    def _cells(self) -> bool | int | str:
        if self.coarsen is False:
            raise ValueError("coarsen=False needs all rows on one machine: use the local estimator")
        return self.coarsen

    def fit_predict(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit and return ``labels_``, a dask array."""
        return self.fit(X, y, sample_weight).labels_

    def predict(self, X: Any) -> Any:
        """Cluster of the weighted point that each row falls to; of training rows ``labels_``.

        Parameters
        ----------
        X : dask array or dataframe, or ndarray, of shape (n_samples, n_features)

        Returns
        -------
        dask array or ndarray of shape (n_samples,)
        """
        if isinstance(X, np.ndarray):
            return _label_rows(X, self._rule())
        return self._by_block(as_rows(X), _label_rows, np.int64)

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
        return self._by_block(as_rows(X), _distances, np.float64, self.n_clusters_)

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Fit, then :meth:`transform` the same rows."""
        return self.fit(X, y, sample_weight).transform(X)

    def _rule(self) -> tuple[Cells, Ints]:
        """All that labels need: the cells, and the cluster of each."""
        return self.points_.cells, self.point_labels_[self.points_.position]

    def _client(self) -> Any:
        return self.client or need("distributed", "dask").get_client()

    def _by_block(
        self, rows: Any, function: Callable[..., Any], dtype: type, width: int | None = None
    ) -> Any:
        """``function(block, constants)`` as a dask array in the blocks of ``rows``."""
        dask, array = need("dask", "dask"), need("dask.array", "dask")
        if function is _label_rows:
            constants = dask.delayed(self._rule())
        else:
            embedding = self.points_.embedding
            constants = dask.delayed((replace(embedding, Z=embedding.Z[:0]), self.centroids_))
        parts = []
        blocks = rows.to_delayed(optimize_graph=False).ravel()
        for block, length in zip(blocks, rows.chunks[0]):
            shape = (length,) if width is None else (length, width)
            value = dask.delayed(function)(block, constants)
            parts.append(array.from_delayed(value, shape=shape, dtype=dtype))
        return array.concatenate(parts, axis=0, allow_unknown_chunksizes=True)


def _label_rows(block: Any, rule: tuple[Cells, Ints]) -> Ints:
    cells, labels = rule
    return labels[cells.assign(check_block(block))]


def _distances(block: Any, constants: tuple[Any, Floats]) -> Floats:
    from sklearn.metrics.pairwise import euclidean_distances

    embedding, centroids = constants
    return euclidean_distances(embedding.transform(check_block(block)), centroids)


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
