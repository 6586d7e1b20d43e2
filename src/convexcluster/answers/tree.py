"""The tree of a fit, made readable: branches of at least a size, and the levels inside a cluster.

Input is a linkage in SciPy's format over n samples, output a :class:`CondensedTree`. From the root
down, a merge of two large groups is a split: two branches begin. If one group is small, its samples
leave the branch, which goes on without them and is narrower from there on. If both are small, the
branch ends. (Condensing: Campello, Moulavi and Sander, PAKDD 2013.)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..numerics.linkage import intervals, join
from ..optional import need
from ..partition import by_size, ranks
from ..problem import Floats, Ints

if TYPE_CHECKING:
    import networkx
    import pandas

# Least size of a branch unless the user gives one: one in a hundred samples, so that at most a
# hundred branches end, which a page can show; twice as many overlap. Trees of noise have groups of
# five samples everywhere, which ten hide; twice as many hide small clusters too.
BRANCHES = 100
FEWEST = 10


def branch_size(n: int) -> int:
    """Least size of a branch among n samples, unless the user gives one."""
    return max(FEWEST, -(-n // BRANCHES))


# Heights of a tree below this share of the greatest are alike: small ones have ratios of any size.
ALIKE = 0.1


@dataclass(frozen=True, eq=False)
class CondensedTree:
    """Branches of a tree that hold at least ``min_size`` samples, parents first.

    Attributes
    ----------
    parents : ndarray of shape (b,)
        Branch from which each one splits off; −1 for the root.
    births : ndarray of shape (b,)
        Height at which a branch begins, below its sibling; of the root the greatest height.
    deaths : ndarray of shape (b,)
        Height at which a branch splits or ends.
    sizes : ndarray of shape (b,)
        Samples where it begins.
    ends : ndarray of shape (b,)
        Samples that are left where it splits or ends: the others left it one by one.
    owners : ndarray of shape (n,)
        The lowest branch that each sample belongs to.
    leaving : ndarray of shape (n,)
        Height at which each sample leaves that branch.
    min_size : int

    Examples
    --------
    >>> from convexcluster.labels import ward_tree
    >>> tree = condense(ward_tree(np.array([[0.0], [0.1], [0.2], [9.0], [9.1], [9.3]])), 2)
    >>> tree.parents, tree.sizes
    (array([-1,  0,  0]), array([6, 3, 3]))
    """

    parents: Ints
    births: Floats
    deaths: Floats
    sizes: Ints
    ends: Ints
    owners: Ints
    leaving: Floats
    min_size: int

    def __len__(self) -> int:
        return len(self.parents)

    def __repr__(self) -> str:
        return (
            f"<CondensedTree of {len(self.owners):,} samples: {len(self)} branches of at least "
            f"{self.min_size}, {int(self.is_leaf.sum())} of them without further splits>"
        )

    @property
    def is_leaf(self) -> np.ndarray:
        """Whether a branch ends without a split, shape (b,)."""
        leaf = np.ones(len(self), dtype=bool)
        leaf[self.parents[self.parents >= 0]] = False
        return leaf

    def width(self, branch: int) -> tuple[Floats, Ints]:
        """Heights from birth to death at which a branch becomes narrower, and its samples there.

        Returns
        -------
        heights, samples : ndarray of shape (s,)
            Falling; ``samples[j]`` are left below ``heights[j]``.
        """
        birth, death = float(self.births[branch]), float(self.deaths[branch])
        left = self.leaving[(self.owners == branch) & (self.leaving > death)]
        heights, gone = np.unique(left, return_counts=True)
        below = self.sizes[branch] - np.cumsum(gone[::-1])
        at = np.concatenate([[birth], heights[::-1], [death]])
        return at, np.concatenate([[self.sizes[branch]], below, [self.ends[branch]]])

    def level(self, n_clusters: int | None = None) -> Ints:
        """Labels by the branches after the topmost splits.

        Parameters
        ----------
        n_clusters : int, optional
            How many; by default two or more, the level that lasts longest. k clusters last from
            the height of split k − 1 down to that of split k, the last level down to the greatest
            height at which a branch ends; what counts is their ratio, and heights below a tenth of
            the greatest are alike.

        Returns
        -------
        ndarray of shape (n,)
            Numbered by falling size; −1 for samples that left a branch before it split.
        """
        if n_clusters is not None and not 1 <= n_clusters <= self.n_levels:
            raise ValueError(
                f"n_clusters must be in 1 … {self.n_levels}, the number of branches of at least "
                f"{self.min_size} samples that do not split further: got {n_clusters}"
            )
        split = np.flatnonzero(~self.is_leaf)
        split = split[np.lexsort((split, -self.deaths[split]))]
        if n_clusters is None:
            heights = np.append(self.deaths[split], self.deaths[self.is_leaf].max())
            if heights[0] > 0:
                heights = np.log(np.maximum(heights, ALIKE * heights[0]))
            lasts = -np.diff(heights)
            n_clusters = int(np.argmax(lasts)) + 2 if len(lasts) else 1
        active = np.arange(len(self)) == 0
        for branch in split[: n_clusters - 1]:
            active[branch] = False
            active[self.parents == branch] = True
        holder = np.full(len(self), -1)  # the active branch above or at each branch
        for branch, above in enumerate(self.parents):  # parents first
            holder[branch] = branch if active[branch] else holder[above] if above >= 0 else -1
        found = holder[self.owners]
        inside = found >= 0
        names = np.unique(found[inside], return_inverse=True)[1]
        labels = np.full(len(found), -1, dtype=np.int64)
        labels[inside] = by_size(names, np.ones(len(names)))
        return labels

    @property
    def n_levels(self) -> int:
        """Number of branches without further splits: the most clusters that a level can have."""
        return int(self.is_leaf.sum())

    def to_pandas(self) -> pandas.DataFrame:
        """One row per branch: parent, birth, death, lifetime, size, end."""
        return (
            need("pandas", "report")
            .DataFrame(
                {
                    "parent": self.parents,
                    "birth": self.births,
                    "death": self.deaths,
                    "lifetime": self.births - self.deaths,
                    "size": self.sizes,
                    "end": self.ends,
                }
            )
            .rename_axis("branch")
        )

    def to_networkx(self) -> networkx.DiGraph:
        """Directed graph from the root; nodes carry ``birth``, ``death``, ``size`` and ``end``."""
        tree = need("networkx", "report").DiGraph()
        for b in range(len(self)):
            numbers = {"birth": float(self.births[b]), "death": float(self.deaths[b])}
            tree.add_node(b, **numbers, size=int(self.sizes[b]), end=int(self.ends[b]))
            if self.parents[b] >= 0:
                tree.add_edge(int(self.parents[b]), b)
        return tree


def condense(linkage: Floats, min_size: int | None = None) -> CondensedTree:
    """Condense a linkage (n − 1, 4) to its branches of at least ``min_size`` samples.

    Parameters
    ----------
    linkage : ndarray of shape (n − 1, 4)
    min_size : int, optional
        By default one in a hundred samples, and at least ten.

    Returns
    -------
    CondensedTree
    """
    n = len(linkage) + 1
    least = branch_size(n) if min_size is None else min_size
    if least < 1:
        raise ValueError(f"min_size must be a whole number ≥ 1, got {min_size}")
    children = linkage[:, :2].astype(np.int64).tolist()
    heights = [0.0] * n + linkage[:, 2].tolist()
    size = np.diff(intervals(linkage), axis=0)[0].tolist()
    owner, left = [0] * (2 * n - 1), [0.0] * (2 * n - 1)
    trunk = [False] * (2 * n - 1)  # whether a node is all that is left of its branch
    trunk[-1] = True
    parents, births, deaths = [-1], [heights[-1]], [heights[-1] if n == 1 else 0.0]
    sizes, ends = [n], [n]
    for node in range(2 * n - 2, n - 1, -1):
        branch, height = owner[node], heights[node]
        pair = children[node - n]
        large = [child for child in pair if trunk[node] and size[child] >= least]
        if trunk[node] and len(large) != 1:
            deaths[branch], ends[branch] = height, size[node]
        for child in pair:
            owner[child], trunk[child] = branch, child in large
            # what leaves with a group keeps the height at which the group left
            left[child] = height if trunk[node] else left[node]
        if len(large) == 2:
            for child in sorted(large, key=lambda c: -size[c]):
                owner[child] = len(parents)
                parents.append(branch)
                births.append(height)
                deaths.append(0.0)
                sizes.append(size[child])
                ends.append(size[child])
    for leaf in range(n):
        if trunk[leaf]:  # a branch of one sample
            left[leaf], ends[owner[leaf]] = 0.0, 1
    return CondensedTree(
        np.array(parents),
        np.array(births),
        np.array(deaths),
        np.array(sizes),
        np.array(ends),
        np.array(owner[:n]),
        np.array(left[:n]),
        least,
    )


def restrict(linkage: Floats, members: Ints) -> Floats:
    """The tree among some of the samples: the merges that join two groups of them.

    Parameters
    ----------
    linkage : ndarray of shape (n − 1, 4)
    members : ndarray of shape (m,)
        Ascending.

    Returns
    -------
    ndarray of shape (m − 1, 4)

    Examples
    --------
    >>> tree = np.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 1.0, 3.0]])
    >>> restrict(tree, np.array([1, 2]))
    array([[0., 1., 1., 2.]])
    """
    n = len(linkage) + 1
    one = np.full(2 * n - 1, -1)  # a member below each node, as its place among the members
    one[members] = np.arange(len(members))
    pairs, heights = [], []
    for row, (a, b) in enumerate(linkage[:, :2].astype(np.int64).tolist()):
        if one[a] >= 0 and one[b] >= 0:
            pairs.append((one[a], one[b]))
            heights.append(linkage[row, 2])
        one[n + row] = max(one[a], one[b])
    return join(np.array(pairs, dtype=np.int64).reshape(-1, 2), np.array(heights), len(members))


def inside(linkage: Floats, members: Ints, n_clusters: int | None, min_size: int | None) -> Ints:
    """Labels of the finer level inside a cluster, −1 where the tree does not say.

    Parameters
    ----------
    linkage : ndarray of shape (n − 1, 4)
    members : ndarray of shape (m,)
        Samples of the cluster, ascending.
    n_clusters : int or None
        How many; by default the level that lasts longest. If there are not as many branches, ever
        smaller ones count.
    min_size : int or None
        Least size of a branch; by default :func:`branch_size`.

    Returns
    -------
    ndarray of shape (m,)
    """
    tree = restrict(linkage, members)
    least = branch_size(len(members)) if min_size is None else min_size
    found = condense(tree, least)
    if n_clusters is None:
        return found.level()
    while found.n_levels < n_clusters and least > 1:
        least = least // 2
        found = condense(tree, least)
    return found.level(n_clusters)


def splits(linkage: Floats, n_clusters: int) -> list[tuple[float, Ints, Ints]]:
    """The ``n_clusters`` − 1 topmost merges: height, and the samples of both sides, larger first.

    Examples
    --------
    >>> tree = np.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 1.0, 3.0]])
    >>> splits(tree, 2)
    [(1.0, array([0, 1]), array([2]))]
    """
    n = len(linkage) + 1
    low, high = intervals(linkage)
    order = ranks(low[:n])
    made: list[Any] = []
    for row in range(n - 2, n - 1 - min(n_clusters, n), -1):
        sides = [np.sort(order[low[c] : high[c]]) for c in linkage[row, :2].astype(np.int64)]
        sides.sort(key=lambda side: -len(side))
        made.append((float(linkage[row, 2]), *sides))
    return made
