"""Learned feature weights: what speaks for each feature, beside what noise would have."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..problem import Floats
from .appearance import COLOURS, GREY, INK, axes_or_new, plain, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from ..features import FeatureWeights


@dataclass(frozen=True, eq=False)
class FeatureWeightsDisplay:
    """Evidence of each feature as a bar, the level of noise as a line, weights as percentages.

    Weights follow the length of the bars beyond the line, and are 0 short of it.

    Attributes
    ----------
    names : list of str
        Of the features that are shown, the greatest weight first.
    evidence : ndarray
        By how many deviations of chance each of them is smoother on the clusters than noise.
    shares : ndarray
        Their weights, in units of their standard deviations.
    noise : float
        Evidence that the best of as many features of noise exceeds once in twenty times.
    n_features : int
        All of them.

    Examples
    --------
    >>> display = FeatureWeightsDisplay.from_data([9.0, 1.0, 5.0], [0.7, 0.0, 0.3], 2.5)
    >>> display.names, display.shares
    (['0', '2', '1'], array([0.7, 0.3, 0. ]))
    """

    names: list[str]
    evidence: Floats
    shares: Floats
    noise: float
    n_features: int

    @classmethod
    def from_data(
        cls,
        evidence: ArrayLike,
        shares: ArrayLike,
        noise: float,
        *,
        names: Any = None,
        most: int = 25,
    ) -> FeatureWeightsDisplay:
        """The ``most`` features of the greatest weight, then of the greatest evidence."""
        evidence, shares = (np.asarray(v, dtype=np.float64) for v in (evidence, shares))
        order = np.lexsort((-evidence, -shares))[:most]
        called = [str(f if names is None else names[f]) for f in order]
        return cls(called, evidence[order], shares[order], float(noise), len(shares))

    @classmethod
    def from_learned(cls, found: FeatureWeights, **options: Any) -> FeatureWeightsDisplay:
        """What :func:`convexcluster.features.learn` found; ``names``, ``most`` are options."""
        if not found.learned:
            raise ValueError(
                f"no weights were learned, so that there is nothing to show: {found.note}"
            )
        return cls.from_data(found.table["evidence"], found.table["share"], found.noise, **options)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes."""
        ax = axes_or_new(ax, 6.0, 1.2 + 0.24 * len(self.names))
        place = np.arange(len(self.names))
        colours = [COLOURS[0] if share > 0 else GREY for share in self.shares]
        ax.barh(place, self.evidence, color=colours)
        ax.axvline(self.noise, color=INK, ls="--", lw=1.0, label="noise: exceeded once in twenty")
        for y, x, share in zip(place, self.evidence, self.shares):
            if share > 0:
                ax.annotate(f" {share:.0%}", (max(x, 0.0), y), va="center", fontsize=8)
        ax.set_yticks(place, [plain(name, 24) for name in self.names], fontsize=8)
        ax.invert_yaxis()
        ax.margins(x=0.08)
        ax.legend(frameon=False, fontsize=8, loc="lower right")
        kept = f"{np.count_nonzero(self.shares)} of {self.n_features} features have weight"
        tidy(ax, f"Feature weights: {kept}", "evidence, in deviations of chance", "feature")
        return ax
