"""A tree of boundaries between clusters, and which of them stand.

The tree is a linkage whose heights say how clearly the two sides of a merge are apart, in units of
what it takes to stand: 1 is the level that structureless data hardly reach. Where a boundary
reaches 1, those down to ``beside`` may stand too, and the widest gap (in ratio) between two heights
from 1 down to there says which: of data that have clusters a boundary is more easily believed. The
clusters are those of that cut; another number of clusters is another cut of the same tree.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from ..problem import Floats, Ints
from .linkage import cut, join, merged_pairs

# Heights below this share are alike: how faint the boundaries are that do not count says nothing.
FAINT = 0.25


@dataclass(frozen=True)
class Boundaries:
    """Boundaries between n points, from the faintest to the clearest."""

    linkage: Floats  # (n − 1, 4), SciPy's format
    kind: str  # what was measured: "valleys" of the density or "tension" of the path
    beside: float = 1.0  # the level of a boundary beside one that stands
    edges: Ints = field(default_factory=lambda: np.empty((0, 2), dtype=np.int64))
    # (n − 1, 2): neighbours over which the sides meet, for each merge; empty if not known
    together: bool = False  # whether boundaries stand by their number only, and none alone
    structure: bool = False  # whether it is known from elsewhere that there are clusters

    @cached_property
    def heights(self) -> Floats:
        """Height of each boundary, the clearest first."""
        return self.linkage[::-1, 2]

    @property
    def sure(self) -> int:
        """Number of clusters by the boundaries that stand whatever is beside them."""
        return 1 + int((self.heights > 1.0).sum())

    @cached_property
    def count(self) -> int:
        """Number of clusters, told nothing."""
        h = self.heights
        sure, most = self.sure, 1 + int((h > min(self.beside, 1.0)).sum())
        if self.structure:
            sure = min(max(sure, 2), most)
        if sure == 1:
            return 1
        # the last boundary that is kept, over the first that is not
        return sure + int(np.argmax([self.clarity(k) for k in range(sure, most + 1)]))

    def with_structure(self, known: bool) -> Boundaries:
        """These boundaries beside others that show clusters: ``beside`` is enough for all."""
        return replace(self, structure=True) if known else self

    def labels(self, n_clusters: int | None = None) -> Ints:
        """The cut into ``n_clusters``, or into :attr:`count`."""
        return cut(self.linkage, self.count if n_clusters is None else n_clusters)

    def height(self, n_clusters: int) -> float:
        """The faintest boundary between ``n_clusters`` clusters; ∞ for one, 0 for too many."""
        if n_clusters == 1:
            return float(np.inf)
        return float(self.heights[n_clusters - 2]) if n_clusters <= len(self.heights) + 1 else 0.0

    def contracted(self, samples: Ints) -> Boundaries:
        """The boundaries between samples, of which ``samples`` (n,) is that of every point.

        Of the boundaries between two points of one sample the clearest is gone: the sides of all
        the others are joined before. ``edges`` stay those of the points.
        """
        pairs = samples[merged_pairs(self.linkage, np.arange(len(samples)))]
        return replace(self, linkage=join(pairs, self.linkage[:, 2], int(samples.max()) + 1))

    def clarity(self, n_clusters: int) -> float:
        """How far the boundaries between ``n_clusters`` clusters stand above the next, as a ratio.

        The level stands for the boundaries of one cluster, and heights below ``FAINT`` are alike.
        """
        kept = min(self.height(n_clusters), np.inf if n_clusters > 1 else 1.0)
        return float(max(kept, FAINT) / max(self.height(n_clusters + 1), FAINT))
