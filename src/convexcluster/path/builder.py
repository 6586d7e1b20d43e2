"""Collects the steps of a path: partitions become merges, and splits are noticed.

Input is one partition with centroids and gap per γ; output is a :class:`ClusterPath`. The merges of
a step are a minimum spanning forest, by fusion γ, of the pairs that may carry them.
"""

from __future__ import annotations

import numpy as np

from ..graph import components
from ..loops.clusters import forest
from ..partition import canonical, first, ranks
from ..problem import Floats, Ints
from .clusterpath import ClusterPath


class PathBuilder:
    """Collects the steps of a path one by one; :meth:`build` may be called after any of them."""

    def __init__(
        self,
        masses: Floats,
        scale: float,
        origin: Floats | None = None,
        basis: Floats | None = None,
    ) -> None:
        self.masses, self.scale = masses, scale
        self.origin = np.empty(0) if origin is None else origin
        self.basis = np.empty((0, 0)) if basis is None else basis
        self.labels = np.arange(len(masses))
        self.gammas: list[float] = []
        self.gaps: list[float] = []
        self.certified: list[bool] = []
        self.centers: list[Floats] = []
        self.merges: list[Ints] = []
        self.merge_steps: list[Ints] = []
        self.fusion_values: list[Floats] = []
        self.split_steps: list[int] = []
        self.split_labels: list[Ints] = []

    def add(
        self,
        gamma: float,
        labels: Ints,
        centers: Floats,
        gap: float,
        certified: bool,
        candidates: Ints | None = None,
        values: Floats | None = None,
    ) -> None:
        """Append a step.

        ``candidates`` (m, 2) are pairs of samples that may carry a merge, with the γ at which
        each would fuse; a minimum spanning forest of them becomes the merges of the step.
        """
        labels, centers = _in_order(labels, centers)
        step = len(self.gammas)
        split = bool((labels[first(self.labels)][self.labels] != labels).any())
        base = self.labels
        if split:
            base = canonical(self.labels * (int(labels.max()) + 1) + labels)  # pieces of both
        pairs, at = _spanning(base, labels, candidates, values)
        low = self.gammas[-1] if self.gammas else 0.0
        if split:
            self.split_labels.append(labels)
            self.split_steps.append(step)
        self.merges.append(pairs)
        self.fusion_values.append(np.clip(np.where(np.isnan(at), gamma, at), low, gamma))
        self.merge_steps.append(np.full(len(pairs), step, dtype=np.int64))
        self.gammas.append(gamma)
        self.gaps.append(gap)
        self.certified.append(certified)
        self.labels = labels
        self.centers.append(centers)  # the last: see `build`

    def reached(self, gamma: float) -> bool:
        """Whether the last step is that of ``gamma``."""
        return bool(self.centers) and self.gammas[len(self.centers) - 1] == gamma

    def build(self, complete: bool = True) -> ClusterPath:
        """Return the path of the steps so far, without one that Ctrl-C cut short in :meth:`add`."""
        n, steps = len(self.masses), len(self.centers)
        empty = np.empty((0, 2), dtype=np.int64)
        merges = list(zip(self.merges, self.merge_steps, self.fusion_values))
        merge_steps = np.concatenate([empty[:, 0], *(at for _, at, _ in merges)])
        done = merge_steps < steps
        splits = sum(step < steps for step in self.split_steps)
        return ClusterPath(
            gammas=np.array(self.gammas[:steps], dtype=np.float64),
            n_clusters=np.array([len(c) for c in self.centers], dtype=np.int64),
            gaps=np.array(self.gaps[:steps], dtype=np.float64),
            certified=np.array(self.certified[:steps], dtype=bool),
            masses=self.masses,
            scale=self.scale,
            merges=np.concatenate([empty, *(pairs for pairs, _, _ in merges)])[done],
            merge_steps=merge_steps[done],
            fusion_values=np.concatenate([np.empty(0), *(values for *_, values in merges)])[done],
            centers=tuple(self.centers),
            split_steps=np.array(self.split_steps[:splits], dtype=np.int64),
            split_labels=np.array(self.split_labels[:splits], dtype=np.int64).reshape(-1, n),
            complete=complete,
            origin=self.origin,
            basis=self.basis,
        )

    def restore(self, path: ClusterPath) -> None:
        """Go on from a path that was built before."""
        self.gammas, self.gaps = path.gammas.tolist(), path.gaps.tolist()
        self.certified, self.centers = path.certified.tolist(), list(path.centers)
        self.merges, self.merge_steps = [path.merges], [path.merge_steps]
        self.fusion_values = [path.fusion_values]
        self.split_steps = path.split_steps.tolist()
        self.split_labels = list(path.split_labels)
        if self.gammas:
            self.labels = path.labels(step=-1)


def _in_order(labels: Ints, centers: Floats) -> tuple[Ints, Floats]:
    """Number the clusters by first appearance, and sort the rows of ``centers`` alike."""
    start = first(labels)
    if (np.diff(start) > 0).all():
        return labels, centers
    order = np.argsort(start)
    return ranks(order)[labels], centers[order]


def _spanning(
    base: Ints, labels: Ints, candidates: Ints | None, values: Floats | None
) -> tuple[Ints, Floats]:
    """Pairs of samples whose union turns ``base`` into ``labels``, cheapest value first.

    Candidates are used as far as they span; a star of each cluster's first piece completes them,
    with the unknown value nan.
    """
    sample = first(base)  # one of each piece
    group = labels[sample]
    pieces = len(sample)
    if candidates is not None and len(candidates) and values is not None:
        ends = base[candidates]
        fits = (group[ends[:, 0]] == group[ends[:, 1]]) & (ends[:, 0] != ends[:, 1])
        pairs, ends, at = candidates[fits], ends[fits], values[fits]
        order = np.argsort(at, kind="stable")
        keep = forest(ends[order], pieces)
        pairs, ends, at = pairs[order][keep], ends[order][keep], at[order][keep]
    else:
        pairs, ends, at = np.empty((0, 2), np.int64), np.empty((0, 2), np.int64), np.empty(0)
    if len(pairs) == pieces - len(np.unique(group)):
        return pairs, at
    tree = components(ends, pieces)  # pieces that the candidates connect
    root = first(tree)
    _, star = np.unique(group[root], return_index=True)
    center = root[star][np.searchsorted(group[root][star], group[root])]
    rest = root != center
    extra = np.stack([sample[center[rest]], sample[root[rest]]], axis=1)
    return np.concatenate([pairs, extra]), np.concatenate([at, np.full(len(extra), np.nan)])
