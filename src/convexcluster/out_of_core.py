"""Fit data that stay on disk, on one machine: blocks in, labels out block by block.

Input: anything :func:`convexcluster.rows.as_blocks` reads. Output: :class:`LargeFit`, an
estimator fitted on weighted points, whose vote labels every row.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .estimators import KernelConvexClustering
from .estimators.keep import keep
from .fit import fit
from .points import RowLabels
from .problem import Floats, Ints
from .rows import Plan, as_blocks, check_block, file_rows, write_labels
from .settings import Settings


@dataclass(frozen=True)
class LargeFit:
    """A fit on weighted points that stand for more rows than memory holds.

    Attributes
    ----------
    model : KernelConvexClustering or ConvexClustering
        Fitted; its ``labels_``, ``path_``, ``linkage_`` and ``embedding_`` are those of the
        weighted points, its ``certificate_`` covers all rows.
    n : int
        Rows.
    plan : Plan
        What was decided about cells and blocks.
    """

    model: Any
    n: int
    plan: Plan

    @property
    def n_clusters_(self) -> int:
        """Number of clusters."""
        return int(self.model.n_clusters_)

    def predict(self, X: Any) -> Ints:
        """Cluster that has the most weight among the nearest weighted points; rows in memory."""
        return self.model.predict(check_block(X))

    def predict_proba(self, X: Any) -> Floats:
        """Share of each cluster in the weight of the nearest weighted points; rows in memory."""
        return self.model.predict_proba(check_block(X))

    def transform(self, X: Any) -> Floats:
        """Distance, in the kernel's space, from each row to each centroid; rows in memory."""
        return self.model.transform(X)

    def labels(self, source: Any) -> Iterator[Ints]:
        """Labels of the rows of ``source``, one block after the other."""
        blocks = as_blocks(source, self.plan.block_rows)
        if not hasattr(self.model, "points_"):
            return (self.predict(rows) for rows in blocks)
        found = RowLabels.of(self.model._vote, self.model.points_)
        return (found.labels_of(self.model._checked(check_block(rows))) for rows in blocks)

    def write_labels(self, source: Any, path: str | os.PathLike[str]) -> Path:
        """Write the labels of ``source`` to a ``.npy`` or ``.parquet`` file, block by block."""
        blocks = as_blocks(source, self.plan.block_rows)
        return write_labels(self.labels(blocks), path, blocks.n)


def fit_large(
    source: Any,
    estimator: Any = None,
    *,
    labels_to: str | os.PathLike[str] | None = None,
) -> LargeFit:
    """Fit data in blocks, never holding more of them than a few blocks.

    Parameters
    ----------
    source : array, memmap, path, Zarr array, dask array or dataframe
        ``.npy``, ``.parquet`` (file or folder) and ``.zarr`` paths are read in blocks.
    estimator : KernelConvexClustering or ConvexClustering, optional
        Its parameters are used (``max_memory``, ``coarsen``, ``n_jobs`` as well); it is not
        changed.
    labels_to : path, optional
        Where to write the labels, ``.npy`` or ``.parquet``.

    Returns
    -------
    LargeFit

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(600, 2)) + np.repeat([[0.0, 0.0], [9.0, 9.0]], 300, axis=0)
    >>> fit = fit_large(X, KernelConvexClustering(n_clusters=2, coarsen=60, rank=20))
    >>> np.bincount(np.concatenate(list(fit.labels(X))))
    array([300, 300])
    """
    from sklearn.base import clone

    model = clone(KernelConvexClustering() if estimator is None else estimator)
    settings = Settings.of(model)
    rows = file_rows(source, settings.n_jobs)
    with settings.watched() as settings:
        found, plan = fit(rows, settings), settings.plan(rows)
        settings.stage("labels")
        found = found.with_all_clusters(rows.map(found.labeller.labels_of))
    model.n_features_in_ = rows.width
    keep(model, found, np.arange(len(found.points)), found.points.masses, found.labels)
    result = LargeFit(model, rows.n, plan)
    if labels_to is not None:
        result.write_labels(source, labels_to)
    return result
