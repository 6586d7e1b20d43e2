"""The data as colours, samples in the order of the tree, with the tree beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..answers.describe import explained, features_of
from ..problem import Floats, Ints, check_finite
from .appearance import INK, axes_or_new, line_colour, plain, style, tidy
from .layout import Branches
from .trees import branch_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Columns that can be told apart and named across a page; of more, those that clusters explain best.
MOST_FEATURES = 40
# Rows of the picture. More are finer than the pixels of a page, so that means are as good.
MOST_ROWS = 600
# Merges of the tree that are drawn; with twice as many lines touch.
MOST_MERGES = 60
# Clusters whose numbers stand beside their band; of more the numbers meet.
MOST_NUMBERED = 25
# Standard deviations at which a colour is full: beyond are 0.3 % of a normal feature.
FULL = 3.0


@dataclass(frozen=True, eq=False)
class HeatmapDisplay:
    """Standardised features of the samples, in the order of a tree, and the tree.

    Attributes
    ----------
    image : ndarray of shape (R, F)
        Features in standard deviations from their mean, each row the mean of a run of samples.
    names : list of str
        Of the F features.
    bands : ndarray of shape (R,)
        Cluster of most samples of each row; −1 everywhere without labels.
    lines : list of (ndarray of shape (3, 2), int)
        Each branch of the tree that is drawn: (height, place in samples) from where it begins up to
        its merge and across to the middle of it, and the colour rank of its cluster, −1 where it
        holds several.
    ranks : ndarray of shape (k,)
        Colour rank of each cluster.
    n_samples, n_features : int

    Examples
    --------
    >>> X = np.array([[0.0, 5.0], [9.0, 6.0], [0.2, 5.0]])
    >>> display = HeatmapDisplay.from_data(X, [[0, 2, 0.1, 2], [1, 3, 4.0, 3]])
    >>> display.image[:, 0].round(1)
    array([ 1.4, -0.7, -0.7])
    """

    image: Floats
    names: list[str]
    bands: Ints
    lines: list[tuple[Floats, int]]
    ranks: Ints
    n_samples: int
    n_features: int

    @classmethod
    def from_data(
        cls,
        X: Any,
        linkage: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        feature_names: Sequence[str] | None = None,
        max_features: int = MOST_FEATURES,
    ) -> HeatmapDisplay:
        """Lay out the numeric columns of ``X`` (n, p) beside the tree ``linkage`` (n − 1, 4).

        Parameters
        ----------
        X : array-like, sparse matrix or data frame of shape (n, p)
        linkage : array-like of shape (n − 1, 4)
        labels : array-like of shape (n,), optional
            Clusters 0 … k − 1, for the colours of the tree and of the band beside it.
        feature_names : sequence of p str, optional
        max_features : int
            Of more, those of which the clusters explain the greatest share of variance are kept.
        """
        tree = np.asarray(linkage, dtype=np.float64)
        if tree.ndim != 2 or tree.shape[1] != 4:
            raise ValueError(f"linkage must have the shape (n − 1, 4), got {tree.shape}")
        if max_features < 1:
            raise ValueError(f"max_features must be at least 1, got {max_features}")
        n = len(tree) + 1
        table, names = features_of(X, feature_names, n)
        check_finite(table, "X", columns=np.array(names, dtype=object))
        total = table.shape[1]
        known = None if labels is None else np.asarray(labels, dtype=np.int64)
        if known is not None and known.shape != (n,):
            raise ValueError(f"{len(known)} labels for {n} samples")
        if known is not None and known.min() < 0:
            raise ValueError(f"labels must be clusters 0 … k − 1, got {known.min()}")
        if total > max_features:
            worth = table.var(axis=0) if known is None else explained(table.T, known)
            keep = np.sort(np.argsort(-worth, kind="stable")[:max_features])
            table, names = table[:, keep], [names[f] for f in keep]
        spread = table.std(axis=0)
        scores = (table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        order = Branches.of(tree).order
        starts = np.unique(np.linspace(0, n, min(n, MOST_ROWS) + 1).astype(np.int64)[:-1])
        rows = np.add.reduceat(scores[order], starts, axis=0)
        image = rows / np.diff(np.append(starts, n))[:, None]
        bands, k = np.full(len(starts), -1, dtype=np.int64), 0
        if known is not None:
            k = int(known.max()) + 1
            counts = np.add.reduceat(np.eye(k)[known[order]], starts, axis=0)
            bands = counts.argmax(axis=1)
        ranks = np.arange(k)
        return cls(image, names, bands, _lines(tree, known, ranks), ranks, n, total)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, **options: Any) -> HeatmapDisplay:
        """The samples ``X`` that were fitted, beside the tree that the labels were cut from."""
        if options.get("feature_names") is None and not hasattr(X, "columns"):
            options["feature_names"] = getattr(estimator, "feature_names_in_", None)
        return cls.from_data(X, estimator.linkage_, estimator.labels_, **options)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes; the tree and the clusters get axes to its left."""
        wide = float(np.clip(2.6 + 0.28 * len(self.names), 5.0, 13.0))
        ax = axes_or_new(ax, wide, 5.2)
        n, p = self.n_samples, len(self.names)
        picture = ax.imshow(
            self.image,
            cmap="PuOr_r",
            vmin=-FULL,
            vmax=FULL,
            aspect="auto",
            extent=(-0.5, p - 0.5, n, 0),
            interpolation="nearest",
        )
        assert ax.figure is not None
        ax.figure.colorbar(picture, ax=ax, label="standard deviations from the mean", pad=0.02)
        side = ax.inset_axes((-0.37, 0.0, 0.27, 1.0))
        for places, rank in self.lines:
            colour = INK if rank < 0 else line_colour(rank)
            side.plot(places[:, 0], places[:, 1], color=colour, lw=1.0)
        side.set_ylim(n, 0)
        side.invert_xaxis()
        side.axis("off")
        if len(self.ranks):
            band = ax.inset_axes((-0.055, 0.0, 0.035, 1.0))
            edges = np.linspace(0, n, len(self.bands) + 1)
            colours = [style(int(self.ranks[t]))[0] for t in self.bands]
            band.bar(0, np.diff(edges), 1.0, bottom=edges[:-1], color=colours, linewidth=0)
            few = len(self.ranks) <= MOST_NUMBERED
            for t in np.unique(self.bands) if few else ():
                at = float(np.median(edges[:-1][self.bands == t]))
                band.text(-0.7, at, str(t), ha="right", va="center", fontsize=8)
            band.set_xlim(-0.5, 0.5)
            band.set_ylim(n, 0)
            band.axis("off")
        ax.set_xticks(range(p), [plain(name, 18) for name in self.names], rotation=90, fontsize=8)
        ax.set_yticks([])
        kept = "" if p == self.n_features else f", {p} of {self.n_features:,} features"
        clusters = f", {len(self.ranks)} clusters" if len(self.ranks) else ""
        tidy(ax, f"{n:,} samples in the order of the tree{clusters}{kept}", "", "")
        return ax


def _lines(linkage: Floats, labels: Ints | None, ranks: Ints) -> list[tuple[Floats, int]]:
    """Both branches of the topmost merges, from the height of their own merge or from 0."""
    n = len(linkage) + 1
    tree = Branches.of(linkage)
    middle = tree.start + tree.size / 2
    colours = branch_ranks(linkage, labels, ranks if labels is not None else None)
    first = max(0, n - 1 - MOST_MERGES)
    lines = []
    for i in range(n - 2, first - 1, -1):
        a, b = linkage[i, :2].astype(np.int64)
        low = [linkage[c - n, 2] if c >= n + first else 0.0 for c in (a, b)]
        height, between = linkage[i, 2], (middle[a] + middle[b]) / 2
        for child, begin in zip((a, b), low):
            at = middle[child]
            places = np.array([[begin, at], [height, at], [height, between]])
            lines.append((places, int(colours[child])))
    return lines
