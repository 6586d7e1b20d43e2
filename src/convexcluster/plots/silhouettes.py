"""Silhouettes [1]_: how much nearer each sample is to its own cluster than to the next.

References
----------
.. [1] P. J. Rousseeuw, "Silhouettes: a graphical aid to the interpretation and validation of
   cluster analysis", J. Comput. Appl. Math. 20 (1987).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Floats, Ints
from .appearance import INK, axes_or_new, style, tidy
from .layout import subsample
from .points import counted_samples, groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Samples among which silhouettes are computed: four million distances, a fifth of a second. Twice
# as many take four times as long and look the same.
MOST_SAMPLES = 2_000


@dataclass(frozen=True, eq=False)
class SilhouetteDisplay:
    """Silhouettes s = (b − a)/max(a, b) by cluster, the greatest first.

    a is the mean distance to the own cluster and b that to the nearest other one. They reward round
    clusters: of rings and moons, samples may be nearer to another cluster than to most of their
    own, and a low silhouette there is no fault of the clusters.

    Attributes
    ----------
    values : list of ndarray
        Silhouettes of the samples of each cluster, falling.
    names : list of str
    ranks : ndarray of shape (k,)
        Colour rank of each cluster.
    mean : float
        Over all samples that were drawn.
    n_samples : int
    space : str
        Where distances are measured.

    Examples
    --------
    >>> display = SilhouetteDisplay.from_data([[0.0], [1.0], [9.0], [9.0]], [0, 0, 1, 1])
    >>> [values.round(2) for values in display.values]
    [array([0.89, 0.88]), array([1., 1.])]
    """

    values: list[Floats]
    names: list[str]
    ranks: Ints
    mean: float
    n_samples: int
    space: str

    @classmethod
    def from_data(
        cls,
        X: ArrayLike,
        labels: ArrayLike,
        *,
        metric: str = "euclidean",
        space: str = "input",
        max_points: int = MOST_SAMPLES,
    ) -> SilhouetteDisplay:
        """Silhouettes of the rows of ``X`` (n, d) under ``labels`` (n,) of any kind.

        ``metric`` is one of scikit-learn's; "precomputed" if X holds distances (n, n). Above
        ``max_points`` a random subset is taken, with at least one sample of every label.
        """
        from sklearn.metrics import silhouette_samples

        X = np.asarray(X, dtype=np.float64)
        codes, names = groups(labels)
        if len(codes) != len(X):
            raise ValueError(f"{len(codes)} labels for {len(X)} samples")
        if not 2 <= len(names) < len(X):
            raise ValueError(
                f"silhouettes compare 2 … n − 1 clusters, got {len(names)} of {len(X)} samples"
            )
        keep = subsample(len(X), max_points, codes)
        rows = X[keep][:, keep] if metric == "precomputed" else X[keep]
        found = silhouette_samples(rows, codes[keep], metric=metric)
        values = [np.sort(found[codes[keep] == t])[::-1] for t in range(len(names))]
        return cls(values, names, np.arange(len(names)), float(found.mean()), len(X), space)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike | None = None, **options: Any
    ) -> SilhouetteDisplay:
        """Labels of a fitted estimator, in the space of its kernel or over the features ``X``."""
        space = "the kernel's space" if X is None else "input"
        rows = estimator.embedding_ if X is None else X
        return cls.from_data(rows, estimator.labels_, **{"space": space, **options})

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes: a block of bars for each cluster."""
        ax = axes_or_new(ax, 6.0, 4.8)
        shown = sum(map(len, self.values))
        room = max(0.02 * shown, 1.0)  # between blocks
        top, middles = 0.0, []
        for values, rank in zip(self.values, self.ranks):
            places = top + np.arange(len(values)) + 0.5
            ax.barh(places, values, 1.0, color=style(int(rank))[0], linewidth=0)
            middles.append(top + len(values) / 2)
            top += len(values) + room
        ax.axvline(self.mean, color=INK, ls="--", lw=1, label=f"mean {self.mean:.2f}")
        few = len(self.names) <= 40
        ax.set_yticks(middles if few else [], self.names if few else [])
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(top, 0)
        ax.legend(frameon=False, loc="lower right")
        counted = counted_samples(shown, self.n_samples)
        title = f"Silhouettes in {self.space}\n{counted}"
        tidy(ax, title, "silhouette: own cluster against the next", "cluster")
        return ax
