"""Path → the numbers of the report, packed small.

Input is a :class:`~convexcluster.ClusterPath` and what is known of its samples; output is a
dictionary of small facts (JSON) and one of arrays. A path is n × T labels and n × T positions, yet
little of it is new from one γ to the next:

- a cluster is named by its least sample. Step t stores the clusters that were absorbed and by
  which (≤ n − 1 in all), and after a split the samples whose cluster this rule gets wrong;
- positions are those of the k_t centroids in one plane, 16 bits each: finer than a pixel on any
  screen. Other planes (:class:`View`) hold the samples alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..answers.describe import explained, features_of
from ..partition import first
from ..plots.curves import ElbowDisplay
from ..plots.layout import Plane
from ..problem import Floats, Ints, check_finite

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
    def of(cls, table: Floats, names: list[str], labels: Ints) -> Features:
        """Keep the features that ``labels`` explain best, as many as there is room for."""
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


# Ratio of the ranges of two features up to which they share one unit. At ten the narrower one still
# has a tenth of the picture; at twice that, features such as income and age are a line.
ONE_UNIT = 10.0


@dataclass(frozen=True, slots=True)
class View:
    """Samples in a plane; ``ticks`` says that numbers on the axes matter, as those of features.

    Both axes have one unit, unless the ranges of two features differ too much to see both.
    """

    name: str
    axes: tuple[str, str]
    points: Floats  # (n, 2)
    ticks: bool = False

    @property
    def low(self) -> Floats:
        """Least value on each axis."""
        return self.points.min(axis=0)

    @property
    def span(self) -> Floats:
        """What has the length 1 in the picture, on each axis."""
        ranges = np.ptp(self.points, axis=0)
        apart = self.ticks and ranges.min() > 0 and ranges.max() > ONE_UNIT * ranges.min()
        return ranges if apart else np.full(2, float(ranges.max()) or 1.0)

    def packed(self, points: Floats) -> np.ndarray:
        """Places in 16 bits; centroids lie among the samples, and clipping only meets round-off."""
        share = (points - self.low) / self.span
        return np.clip(np.round(share * 65_535), 0, 65_535).astype(np.uint16).ravel()

    def facts(self) -> dict[str, Any]:
        """What the page needs besides the places."""
        span = self.span
        place = {"low": self.low.tolist(), "span": span.tolist()}
        place |= {"extent": (np.ptp(self.points, axis=0) / span).tolist()}
        told = {"ticks": self.ticks, "equal": bool(span[0] == span[1])}
        return {"name": self.name, "axes": list(self.axes), **told, **place}


def given_views(coordinates: Any, n: int) -> list[View]:
    """Planes that the user brings: a mapping of names to arrays, or one array.

    The first two columns of each count. Of a mapping that keeps other things as well, such as
    ``obsm`` of AnnData, arrays of one column are passed over, and an ``X_`` before a name is.
    """
    if coordinates is None:
        return []
    if not isinstance(coordinates, Mapping):
        coordinates = {"": coordinates}
    views = []
    for key, value in coordinates.items():
        name = str(key).removeprefix("X_") or "given coordinates"
        called = f"coordinates {str(key)!r}" if key else "coordinates"
        table = value.toarray() if hasattr(value, "toarray") else value
        points = np.asarray(table, dtype=np.float64)
        if points.ndim != 2 or len(points) != n or points.shape[1] < 1:
            raise ValueError(f"{called} must have the shape ({n}, 2), got {points.shape}")
        if points.shape[1] == 1:
            continue
        points = points[:, :2]
        check_finite(points, called)
        views.append(View(name, (f"{name} 1", f"{name} 2"), points))
    return views


def feature_table(
    X: Any, names: list[str] | None, n: int
) -> tuple[tuple[Floats, list[str]] | None, View | None]:
    """Numeric columns of X with their names, and their plane if there are two of them."""
    if X is None:
        return None, None
    table, names = features_of(X, names, n)
    if table.shape[1] != 2 or not np.isfinite(table).all():
        return (table, names), None
    return (table, names), View("the two features", (names[0], names[1]), table, ticks=True)


def path_arrays(
    path: ClusterPath, Z: Floats | None, own: View | None, kernel: bool
) -> tuple[dict[str, np.ndarray], dict[str, Any], list[View]]:
    """Arrays and facts of a path, and the planes of its samples, that of the centroids last.

    ``Z`` (n, r) are the samples in the embedding; without them the centroids of the first γ are
    used. ``own`` is the plane of two features.
    """
    gammas = np.asarray(path.gammas)
    if Z is not None and len(Z) != len(path.masses):
        raise ValueError(f"Z has {len(Z)} rows for {len(path.masses)} samples")
    partitions = [path.labels(step=step) for step in range(len(path))]
    samples = path.centroids(gammas[0])[partitions[0]] if Z is None else Z
    plane = Plane.of(samples, path.masses)
    view = View("kernel PCA" if kernel else "PCA", plane.axis_names(kernel), plane.project(samples))
    views = [view] if own is None else [own, view]
    if own is not None and _same_plane(own.points, samples):
        # the centroids of the linear kernel lie in the plane of the features itself
        shift = own.points.mean(axis=0) - samples.mean(axis=0)
        plane, view = Plane(-shift, np.eye(2), plane.share), own
        views = [own]
    changes = Changes.of(partitions)
    stored = stored_steps(np.asarray(path.n_clusters))
    positions = [view.packed(plane.project(path.centroids(gammas[t]))) for t in stored]
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
        "positions": np.concatenate(positions),
        **tree_arrays("", path.to_linkage(), samples, path.masses),
    }
    facts = {
        "n": len(samples),
        "moving": len(views) - 1,
        "splits": len(path.splits),
        "step": longest_life(gammas, partitions),
        "complete": path.complete,
    }
    return arrays, facts, views


def _same_plane(points: Floats, samples: Floats) -> bool:
    """Whether the embedding is the two features, perhaps shifted."""
    if samples.shape[1] != 2:
        return False
    off = (points - points.mean(axis=0)) - (samples - samples.mean(axis=0))
    # far below the 16 bits of a place, far above rounding
    return bool(np.abs(off).max() <= 1e-9 * max(float(np.abs(points).max()), 1e-300))


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
