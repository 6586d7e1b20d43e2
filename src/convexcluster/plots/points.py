"""Samples in a plane by label: two features, two principal components, or t-SNE [1]_.

References
----------
.. [1] L. van der Maaten, G. Hinton, "Visualizing data using t-SNE", JMLR 9 (2008).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..partition import ranks
from ..problem import Floats, Ints
from .appearance import axes_or_new, draw_points, plain, tidy
from .layout import Plane, estimator_ranks, kernel_name, subsample

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Points of one picture. More points cover each other on axes of usual size and take seconds.
MOST_POINTS = 20_000


def groups(labels: ArrayLike) -> tuple[Ints, list[str]]:
    """Codes 0 … k − 1 and the name of each code, for labels of any kind."""
    names, codes = np.unique(np.asarray(labels), return_inverse=True)
    return codes.ravel().astype(np.int64), [str(name) for name in names.tolist()]


def size_ranks(codes: Ints) -> Ints:
    """Rank of every code by the size of its group, the largest first."""
    return ranks(np.argsort(-np.bincount(codes), kind="stable"))


def counted_samples(shown: int, n: int) -> str:
    """Say how many samples are drawn, and of how many."""
    return f"{n:,} samples" if shown == n else f"{shown:,} of {n:,} samples shown"


@dataclass(frozen=True, eq=False)
class LabelScatterDisplay:
    """Samples in two coordinates, by label.

    Attributes
    ----------
    points : ndarray of shape (m, 2)
        The m ≤ n samples that are drawn.
    labels : ndarray of shape (m,)
        Codes into ``names``.
    ranks : ndarray of shape (k,)
        Colour rank of each label.
    names : list of str
    n_samples : int
    axis_names : tuple of str
    title : str

    Examples
    --------
    >>> display = LabelScatterDisplay.from_data([[0, 0], [1, 1], [5, 5]], ["a", "a", "b"])
    >>> display.labels, display.names
    (array([0, 0, 1]), ['a', 'b'])
    """

    points: Floats
    labels: Ints
    ranks: Ints
    names: list[str]
    n_samples: int
    axis_names: tuple[str, str]
    title: str

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        labels: ArrayLike,
        *,
        axis_names: tuple[str, str] | None = None,
        ranks: Ints | None = None,
        names: list[str] | None = None,
        title: str = "Samples by label",
        max_points: int = MOST_POINTS,
    ) -> LabelScatterDisplay:
        """Use the columns of ``X``, or its first two principal components if it has more.

        Parameters
        ----------
        X : array-like of shape (n, d)
        labels : array-like of shape (n,)
            Of any kind; missing ones must have a name of their own.
        axis_names : tuple of str, optional
        ranks : ndarray of shape (k,), optional
            Colour rank of each label in sorted order; default: by size.
        names : list of str, optional
            Name of each label in sorted order; default: the label.
        title : str
        max_points : int
            Above it a random subset is drawn, with at least one sample of every label.
        """
        points = np.asarray(X, dtype=np.float64)
        axes = axis_names or ("feature 1", "feature 2")
        if points.shape[1] != 2:
            plane = Plane.of(points)
            points = plane.project(points)
            axes = axis_names or plane.axis_names(kernel=False)
        codes, label_names = groups(labels)
        if len(codes) != len(points):
            raise ValueError(f"{len(codes)} labels for {len(points)} samples")
        keep = subsample(len(points), max_points, codes)
        return cls(
            points[keep],
            codes[keep],
            size_ranks(codes) if ranks is None else ranks,
            names or label_names,
            len(points),
            axes,
            title,
        )

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike | None = None, **options: Any
    ) -> LabelScatterDisplay:
        """Labels of a fitted estimator, over two features of ``X`` or the kernel components.

        ``X`` is used as it is if it has two columns; otherwise the first two principal
        components of the estimator's embedding are.
        """
        labels, options = estimator.labels_, {**_named(estimator, ""), **options}
        if X is not None and np.shape(X)[1] == 2:
            return cls.from_data(X, labels, **options)
        plane = Plane.of(estimator.embedding_)
        options.setdefault("axis_names", plane.axis_names(kernel_name(estimator) is not None))
        return cls.from_data(plane.project(estimator.embedding_), labels, **options)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes."""
        ax = axes_or_new(ax, 7.0, 4.8)
        names = [plain(name) for name in self.names]
        draw_points(ax, self.points, self.labels, self.ranks, names)
        counted = counted_samples(len(self.points), self.n_samples)
        across, up = (plain(name, longest=60) for name in self.axis_names)
        tidy(ax, f"{plain(self.title)}\n{counted}", across, up)
        return ax


def _named(estimator: Any, prefix: str) -> dict[str, Any]:
    """Colour ranks, title and names of the clusters of a fitted estimator."""
    k = estimator.n_clusters_
    names = [f"cluster {t}" for t in range(k)]
    return {"ranks": estimator_ranks(estimator), "title": f"{prefix}{k} clusters", "names": names}


@dataclass(frozen=True, eq=False)
class TSNEDisplay(LabelScatterDisplay):
    """t-SNE of the samples, by label; distances between far groups mean nothing there.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(size=(12, 3))
    >>> TSNEDisplay.from_data(X, np.arange(12) % 3, perplexity=3).points.shape
    (12, 2)
    """

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        labels: ArrayLike,
        *,
        perplexity: float = 30.0,
        random_state: int = 0,
        title: str = "t-SNE by label",
        max_points: int = 2_000,
        **options: Any,
    ) -> TSNEDisplay:
        """Embed at most ``max_points`` samples of ``X`` (n, d) by t-SNE from a PCA start.

        A perplexity that is too large for the number of samples is lowered to (m − 1)/3.
        """
        from sklearn.manifold import TSNE

        X = np.asarray(X, dtype=np.float64)
        codes, _ = groups(labels)
        keep = subsample(len(X), max_points, codes, seed=random_state)
        if len(keep) < 4:
            raise ValueError(f"t-SNE needs at least 4 samples, got {len(keep)}")
        perplexity = min(perplexity, (len(keep) - 1) / 3)
        # only the plane matters; fifty components keep all of it and bound the cost
        start = X[keep] - X[keep].mean(axis=0)
        if min(start.shape) > 50:
            U, s, _ = np.linalg.svd(start, full_matrices=False)
            start = U[:, :50] * s[:50]
        points = TSNE(
            perplexity=perplexity,
            init="pca" if start.shape[1] >= 2 else "random",
            random_state=random_state,
        ).fit_transform(start)
        made = super().from_data(
            points.astype(np.float64),
            np.asarray(labels)[keep],
            axis_names=("t-SNE 1 (arbitrary units)", "t-SNE 2 (arbitrary units)"),
            title=title,
            max_points=len(keep),
            **options,
        )
        return cls(**{**made.__dict__, "n_samples": len(X)})

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike | None = None, **options: Any) -> Any:
        """t-SNE of ``X``, or of the estimator's embedding, by the estimator's labels."""
        options = {**_named(estimator, "t-SNE, "), **options}
        samples = estimator.embedding_ if X is None else X
        return cls.from_data(samples, estimator.labels_, **options)
