"""The condensed tree: branches as wide as they have samples, over the height of the tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..answers.tree import CondensedTree
from ..problem import Floats, Ints
from .appearance import GREY, axes_or_new, style, tidy, whole_numbers
from .layout import estimator_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Share of a branch that one cluster must have to colour it. Samples that were grouped into cells
# are labelled one by one, so that a branch of one cluster may hold a few of another.
COLOURED = 0.95


@dataclass(frozen=True, eq=False)
class CondensedTreeDisplay:
    """Branches of a condensed tree; the width is the number of samples.

    Attributes
    ----------
    tree : CondensedTree
    middles : ndarray of shape (b,)
        Place of each branch across, in samples: those of a split lie side by side below it.
    ranks : ndarray of shape (b,)
        Colour rank of the cluster of each branch, −1 where it holds several.

    Examples
    --------
    >>> from convexcluster.labels import ward_tree
    >>> from convexcluster.answers.tree import condense
    >>> Z = np.array([[0.0], [0.1], [0.2], [9.0], [9.1]])
    >>> CondensedTreeDisplay.from_tree(condense(ward_tree(Z), 2)).middles
    array([2.5, 1.5, 4. ])
    """

    tree: CondensedTree
    middles: Floats
    ranks: Ints

    @classmethod
    def from_tree(
        cls, tree: CondensedTree, *, labels: Ints | None = None, label_ranks: Ints | None = None
    ) -> CondensedTreeDisplay:
        """Lay out a condensed tree.

        Parameters
        ----------
        tree : CondensedTree
        labels : ndarray of shape (n,), optional
            Clusters to colour.
        label_ranks : ndarray of shape (k,), optional
            Colour rank of each label; default: the label itself.
        """
        begin = np.zeros(len(tree))
        room = np.zeros(len(tree))  # where the next branch below begins
        for b, above in enumerate(tree.parents):
            if above >= 0:
                begin[b] = room[above]
                room[above] += tree.sizes[b]
            room[b] = begin[b] + (tree.sizes[b] - tree.ends[b]) / 2
        ranks = np.full(len(tree), -1, dtype=np.int64)
        if labels is not None:
            k = int(labels.max()) + 1
            counts = np.zeros((len(tree), k))
            np.add.at(counts, (tree.owners, labels), 1)
            for b in range(len(tree) - 1, 0, -1):  # children before their parents
                counts[tree.parents[b]] += counts[b]
            most = counts.argmax(axis=1)
            pure = counts.max(axis=1) >= COLOURED * counts.sum(axis=1)
            names = np.arange(k) if label_ranks is None else label_ranks
            ranks[pure] = names[most[pure]]
        return cls(tree, begin + tree.sizes / 2, ranks)

    @classmethod
    def from_estimator(cls, estimator: Any, **options: Any) -> CondensedTreeDisplay:
        """``condensed_tree_`` of a fitted estimator, coloured by its labels."""
        ranks = estimator_ranks(estimator)
        options = {"labels": estimator.labels_, "label_ranks": ranks, **options}
        return cls.from_tree(estimator.condensed_tree_, **options)

    def outline(self, branch: int) -> tuple[Floats, Floats, Floats]:
        """Left edge, right edge and height along a branch, from its birth to its death."""
        heights, samples = self.tree.width(branch)
        # a branch is as wide as the samples below a height, down to the next
        width = np.repeat(samples[:-1], 2) / 2
        at = np.repeat(heights, 2)[1:-1]
        return self.middles[branch] - width, self.middles[branch] + width, at

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes: height upwards, samples across."""
        ax = axes_or_new(ax, 7.0, 4.5)
        for b in range(len(self.tree)):
            left, right, height = self.outline(b)
            colour = GREY if self.ranks[b] < 0 else style(int(self.ranks[b]))[0]
            ax.fill_betweenx(height, left, right, color=colour, alpha=0.85, lw=0.6, ec="white")
        ax.set_xlim(0, len(self.tree.owners))
        ax.set_ylim(0, max(float(self.tree.births.max()), 1e-300) * 1.05)
        whole_numbers(ax, "x")
        title = f"Condensed tree: branches of at least {self.tree.min_size} samples"
        tidy(ax, title, "samples", "height")
        return ax
