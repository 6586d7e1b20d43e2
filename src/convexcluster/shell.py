"""scikit-learn's contract: fit, predict, transform, and what a fitted model can write.

``fit`` reads as the data flow: X → kernel → embedding Z → graph → path, selection → attributes.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from .fit_steps import Steps
from .problem import Floats, Ints, Problem
from .samples import check_sample_weight
from .scales import warn_of_scales
from .weights import PLACES


class Shell(Steps, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator):
    """What both estimators share; a subclass names its parameters and its kernel."""

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Shell:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples, or the Gram matrix (n_samples, n_samples) if ``kernel="precomputed"``.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Masses mᵢ; a sample of weight two counts as two equal samples.

        Returns
        -------
        self
        """
        X = self._check(X)
        if not self._is_precomputed():
            warn_of_scales(X, stacklevel=2)
        weight = check_sample_weight(sample_weight, X.shape[0])
        plan = self._plan(X)
        if plan.coarse:
            self._fit_coarse(X, weight, plan)
            return self
        samples = self._samples(X, weight)
        kernel = self._kernel(samples.X)
        kernel.check(samples.X)
        embedding = self._embed(samples.X, kernel, samples.masses)
        graph = self._graph(samples, embedding, kernel)
        base = Problem.of(embedding.Z, graph.edges, graph.weights, 0.0, samples.masses)
        tol = self._gap(base, embedding.trace_error)
        # of places (see automatic_graph) another graph is scored than the one of the penalty
        own = None if samples.X.shape[1] <= PLACES else graph
        path, chosen, solution = self._solve(base, tol, self._null(samples, own))
        self._keep(samples, weight, embedding, base, path, chosen, solution)
        return self

    def transform(self, X: Any) -> Floats:
        """Distance, in the kernel's space, from each sample to each cluster's centroid.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New samples; of a precomputed kernel k(new, training).

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return euclidean_distances(self._embedding.transform(X), self.centroids_)

    def predict(self, X: Any) -> Ints:
        """Cluster whose centroid is nearest in the kernel's space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.argmin(self.transform(X), axis=1).astype(np.int64)

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Floats:
        """Fit, then :meth:`transform` the same samples."""
        return self.fit(X, y, sample_weight).transform(X)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Ints:
        """Fit and return ``labels_``."""
        return self.fit(X, y, sample_weight).labels_

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file that :func:`convexcluster.load` reads without pickle."""
        check_is_fitted(self)
        import_module(".persistence", __package__).save(self, path)

    def report(self, path: str | Path, X: Any = None, **options: Any) -> Path:
        """Write the interactive report, one HTML file that works offline.

        ``options`` go to :func:`convexcluster.report.write_report`: ``ids``, ``y``,
        ``feature_names``.
        """
        check_is_fitted(self)
        return import_module(".report", __package__).write_report(self, path, X=X, **options)

    def _repr_html_inner(self) -> str:
        """What a notebook shows: the report of a fitted model, else scikit-learn's diagram."""
        if hasattr(self, "labels_"):
            return import_module(".report", __package__).notebook_html(self)
        return super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if hasattr(self, "labels_"):
            return {"text/plain": repr(self), "text/html": self._repr_html_inner()}
        return super()._repr_mimebundle_(**kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        return tags
