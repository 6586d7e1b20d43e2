"""Path → the numbers of the report, packed small.

Input is a :class:`~convexcluster.ClusterPath` and what is known of its samples; output is a
dictionary of small facts (JSON) and one of arrays. A path is n × T labels and n × T positions, yet
little of it is new from one γ to the next:

- a cluster is named by its least sample. Step t stores the clusters that were absorbed and by
  which (≤ n − 1 in all), and after a split the samples whose cluster this rule gets wrong;
- positions are those of the k_t centroids in the plane of the first two kernel principal
  components, 16 bits each: finer than a pixel on any screen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..answers.describe import explained, features_of
from ..partition import first
from ..plots.curves import ElbowDisplay
from ..plots.layout import Plane, colour_ranks
from ..problem import Floats, Ints

if TYPE_CHECKING:
    from ..path.clusterpath import ClusterPath

# Centroids whose positions are kept, 4 bytes each; of a longer path every second, third, … step is.
# Half as many show in the motion of 10,000 samples, twice as many in the size of the file.
MOST_POSITIONS = 800_000
# Bytes for feature values: with base64 about 5.4 MB of the 10 MB that a browser opens quickly, so
# that twice as many do not fit; with half as many fewer features can be compared.
MOST_FEATURE_BYTES = 4_000_000
# Numbers of clusters that the slider over k and the elbow offer; more cannot be told apart there.
MOST_CLUSTERS = 60


@dataclass(frozen=True, slots=True)
class Changes:
    """Partitions of a path as changes from one step to the next.

    Clusters named ``absorbed`` vanish into those named ``into``; samples ``moved`` end in the
    cluster ``moved_to`` because theirs split. Step t owns entries ``at[t]`` to ``at[t + 1]``.
    """

    absorbed: Ints
    into: Ints
    absorbed_at: Ints
    moved: Ints
    moved_to: Ints
    moved_at: Ints

    @classmethod
    def of(cls, partitions: list[Ints]) -> Changes:
        """Pack ``partitions``, each numbered by first appearance."""
        n = len(partitions[0])
        before = np.arange(n)
        absorbed, into, moved, moved_to = [], [], [], []
        for labels in partitions:
            after = first(labels)[labels]
            heads = np.flatnonzero(before == np.arange(n))
            gone = heads[after[heads] != heads]
            absorbed.append(gone)
            into.append(after[gone])
            wrong = np.flatnonzero(after[before] != after)
            moved.append(wrong)
            moved_to.append(after[wrong])
            before = after
        return cls(
            np.concatenate(absorbed),
            np.concatenate(into),
            np.cumsum([0, *map(len, absorbed)]),
            np.concatenate(moved),
            np.concatenate(moved_to),
            np.cumsum([0, *map(len, moved)]),
        )


@dataclass(frozen=True, slots=True)
class Features:
    """The p features that the report compares, of ``total``: values (p, n) in a small type."""

    values: np.ndarray
    names: list[str]
    total: int

    @classmethod
    def of(cls, X: Any, names: list[str] | None, labels: Ints) -> Features:
        """Keep the features that ``labels`` explain best, as many as there is room for."""
        table, names = features_of(X, names, len(labels))
        values = np.ascontiguousarray(table.T)
        whole = np.isfinite(values).all() and (values == np.round(values)).all()
        kind: type = np.float32
        if whole and values.size and values.min() >= 0 and values.max() <= 255:
            kind = np.uint8
        elif (np.abs(values.mean(axis=1)) > 1e3 * values.std(axis=1)).any():
            kind = np.float64  # single precision would round away the spread around such a mean
        room = max(MOST_FEATURE_BYTES // (len(table) * np.dtype(kind).itemsize), 10)
        if len(values) > room:
            keep = np.sort(np.argsort(-explained(values, labels), kind="stable")[:room])
            values, names = values[keep], [names[f] for f in keep]
        return cls(values.astype(kind), names, table.shape[1])


def path_arrays(
    path: ClusterPath, Z: Floats | None, ranks: Ints | None, kernel: bool
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Arrays and facts of a path.

    ``Z`` (n, r) are the samples in the embedding and ``ranks`` (n,) their colour ranks; without
    them the centroids of the first γ and the path's own tree are used.
    """
    gammas = np.asarray(path.gammas)
    if Z is not None and len(Z) != len(path.masses):
        raise ValueError(f"Z has {len(Z)} rows for {len(path.masses)} samples")
    partitions = [path.labels(step=step) for step in range(len(path))]
    samples = path.centroids(gammas[0])[partitions[0]] if Z is None else Z
    plane = Plane.of(samples, path.masses)
    changes = Changes.of(partitions)
    linkage = path.to_linkage()
    data = plane.project(samples)
    low, span = data.min(axis=0), float(np.ptp(data, axis=0).max()) or 1.0

    def packed(points: Floats) -> np.ndarray:
        # centroids are convex combinations of samples; clipping only meets round-off
        return np.clip(np.round((points - low) / span * 65_535), 0, 65_535).astype(np.uint16)

    stored = stored_steps(np.asarray(path.n_clusters))
    positions = [packed(plane.project(path.centroids(gammas[t]))) for t in stored]
    arrays: dict[str, np.ndarray] = {
        "gammas": gammas,
        "counts": np.asarray(path.n_clusters),
        "gaps": np.asarray(path.gaps, dtype=np.float64),
        "certified": np.asarray(path.certified).astype(np.uint8),
        "absorbed": changes.absorbed,
        "into": changes.into,
        "absorbedAt": changes.absorbed_at,
        "moved": changes.moved,
        "movedTo": changes.moved_to,
        "movedAt": changes.moved_at,
        "stored": stored,
        "positions": np.concatenate(positions).ravel(),
        "data": packed(data).ravel(),
        "ranks": colour_ranks(linkage) if ranks is None else ranks,
        **tree_arrays("", linkage, samples, path.masses),
    }
    facts = {
        "n": len(samples),
        "axes": list(plane.axis_names(kernel)),
        "extent": (np.ptp(data, axis=0) / span).tolist(),
        "splits": len(path.splits),
        "step": longest_life(gammas, partitions),
        "complete": bool(getattr(path, "complete", True)),
    }
    return arrays, facts


def tree_arrays(
    prefix: str, linkage: Floats, samples: Floats, masses: Floats
) -> dict[str, np.ndarray]:
    """Merges and heights of a tree, and the sum of squares within its topmost cuts."""
    elbow = ElbowDisplay.from_linkage(linkage, samples, masses=masses, max_clusters=MOST_CLUSTERS)
    return {
        f"{prefix}pairs": linkage[:, :2].astype(np.int64).ravel(),
        f"{prefix}heights": linkage[:, 2],
        f"{prefix}sse": elbow.sse,
    }


def stored_steps(counts: Ints, most: int = MOST_POSITIONS) -> Ints:
    """Steps whose centroids are kept: all, or evenly spaced ones with at most ``most`` in sum."""
    stride = 1
    while counts[::stride].sum() > most and stride < len(counts):
        stride += 1
    return np.arange(0, len(counts), stride)


def longest_life(gammas: Floats, partitions: list[Ints]) -> int:
    """First step of the partition that lives longest in log γ.

    Partitions into one cluster, or into more than half as many as there are samples, are passed
    over if there is any other.

    Examples
    --------
    >>> steps = [np.arange(4), np.array([0, 0, 1, 1]), np.array([0, 0, 1, 1]), np.zeros(4, int)]
    >>> longest_life(np.array([1.0, 2, 4, 8]), steps)
    1
    """
    starts = [
        t
        for t in range(len(partitions))
        if t == 0 or not np.array_equal(partitions[t - 1], partitions[t])
    ]
    most = max(2, len(partitions[0]) // 2)
    best, longest = starts[len(starts) // 2], -1.0
    for start, end in zip(starts, [*starts[1:], len(partitions) - 1]):
        if not 2 <= int(partitions[start].max()) + 1 <= most:
            continue
        life = float(np.log(gammas[end] / gammas[start])) if gammas[start] > 0 else 0.0
        if life > longest:
            best, longest = start, life
    return best
