"""Toys: (n, seed) → X and y, where y is 1, 2, … and 0 is background, which is not scored."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn import datasets

from benchmarks.quality.data import NOISE
from benchmarks.scenes.shapes import Shape, arc, coil, wave
from convexcluster.datasets import make_rings, make_spirals

Pair = tuple[np.ndarray, np.ndarray]

# Standard deviations between the centres of separable normal groups: one sample in 30,000 is nearer
# to the centre of its neighbour. At 4 that is one in 44, which is the touching case below.
APART = 8.0

# Smaller groups are not asked for: a dozen samples have no density of their own.
LEAST = 15


@dataclass(frozen=True)
class Toy:
    """How a toy is made, and whether its groups touch."""

    make: Callable[[int, int], Pair]
    touching: bool = False


def shares(n: int, *parts: float) -> np.ndarray:
    """Whole numbers in these proportions whose sum is n."""
    ends = np.rint(n * np.cumsum(parts) / sum(parts)).astype(int)
    return np.diff(ends, prepend=0)


def normal_groups(centres: np.ndarray, sizes: np.ndarray, rng: np.random.Generator) -> Pair:
    """Round normal groups of unit variance."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    return centres[y] + rng.standard_normal((len(y), centres.shape[1])), y + 1


def spread_centres(k: int, d: int, rng: np.random.Generator) -> np.ndarray:
    """k centres, uniform in a cube but no two of them nearer than ``APART``."""
    # Discs of that diameter cover three tenths of the square: half as much leaves much empty, and
    # at random more than 55 % cannot be covered. In ten dimensions there is room anyway.
    side = max(20.0, APART * np.sqrt(k * np.pi / 4 / 0.3))
    centres = rng.uniform(0, side, size=(1, d))
    while len(centres) < k:
        one = rng.uniform(0, side, size=d)
        if np.linalg.norm(centres - one, axis=1).min() >= APART:
            centres = np.vstack([centres, one])
    return centres


def blobs(k: int, d: int, n: int, seed: int) -> Pair:
    """Groups of one size."""
    rng = np.random.default_rng(seed)
    return normal_groups(spread_centres(k, d, rng), shares(n, *[1] * k), rng)


def unlike(ratio: int, n: int, seed: int) -> Pair:
    """A large group and two small ones in the plane."""
    rng = np.random.default_rng(seed)
    return normal_groups(spread_centres(3, 2, rng), shares(n, ratio, 1, 1), rng)


def column(k: int, n: int, seed: int) -> Pair:
    """One feature: normal groups six standard deviations apart."""
    centres = 6.0 * np.arange(k)[:, None]
    return normal_groups(centres, shares(n, *[1] * k), np.random.default_rng(seed))


def grid(side: int, apart: float, n: int, seed: int) -> Pair:
    """Touching normal groups on a square grid."""
    centres = apart * np.stack(np.divmod(np.arange(side**2), side), axis=1)
    return normal_groups(centres, shares(n, *[1] * side**2), np.random.default_rng(seed))


def directions(n: int, seed: int) -> Pair:
    """Five groups in ten dimensions, each along an axis of its own: for kernels that see angles."""
    return normal_groups(APART * np.eye(5, 10), shares(n, *[1] * 5), np.random.default_rng(seed))


def from_one(X: np.ndarray, y: np.ndarray) -> Pair:
    """Labels of other people's toys begin at 0."""
    return X, y + 1


def moons(n: int, seed: int) -> Pair:
    return from_one(*datasets.make_moons(n, noise=0.05, random_state=seed))


def circles(n: int, seed: int) -> Pair:
    return from_one(*datasets.make_circles(n, factor=0.5, noise=0.05, random_state=seed))


def rings(n: int, seed: int) -> Pair:
    return from_one(*make_rings(4, n_per_blob=n // 8, n_circle=n // 2, random_state=seed))


def spirals(n: int, seed: int) -> Pair:
    return from_one(*make_spirals(2, n_per_arm=n // 2, random_state=seed))


TOYS: dict[str, Toy] = {
    "moons": Toy(moons),
    "circles": Toy(circles),
    "rings": Toy(rings),
    "spirals": Toy(spirals),
    **{f"blobs {k} × {d}": Toy(partial(blobs, k, d)) for d in (2, 10) for k in (3, 5, 10, 31)},
    **{f"one column, {k}": Toy(partial(column, k)) for k in (2, 3)},
    **{f"sizes {ratio}:1": Toy(partial(unlike, ratio)) for ratio in (20, 50, 100)},
    **{
        f"grid {side} × {side}, {apart:g}σ": Toy(partial(grid, side, apart), touching=True)
        for side in (2, 3)
        for apart in (4.0, 3.5)
    },
}


def with_background(make: Callable[[int, int], Pair], share: float, n: int, seed: int) -> Pair:
    """n samples, of which a share is uniform in the box of the others, a tenth wider all round."""
    few = round(share * n)
    X, y = make(n - few, seed)
    low, high = X.min(axis=0), X.max(axis=0)
    rng = np.random.default_rng([seed, few])
    extra = rng.uniform(low - 0.1 * (high - low), high + 0.1 * (high - low), (few, X.shape[1]))
    return np.vstack([X, extra]), np.append(y, np.zeros(few, dtype=y.dtype))


def large_enough(y: np.ndarray) -> bool:
    """Whether every group has ``LEAST`` samples."""
    return np.bincount(y)[1:].min() >= LEAST


CURVES: dict[str, Shape] = {
    "a ring": arc(1.0, 0.05),
    "half a ring": arc(1.0, 0.05, 0.0, np.pi),
    "an arm of a spiral": coil(1.5, 0.05, 0.0),
    "a sine curve": wave(6.0, 0.5, 1.5, 0.05, sharp=False),
}


def curve(name: str, n: int, seed: int) -> np.ndarray:
    """One cluster: samples at random places along a curve, and beside it."""
    return CURVES[name](np.random.default_rng([seed, n, list(CURVES).index(name)]), n)


LAWS = {
    **NOISE,
    "exponential": lambda rng, n, d: rng.exponential(size=(n, d)),
    "unlike scales": lambda rng, n, d: rng.normal(size=(n, d)) * 2.0 ** -np.arange(d),
}


def structureless(law: str, d: int, n: int, seed: int) -> np.ndarray:
    """One cluster: independent features of one law."""
    rng = np.random.default_rng([seed, n, d, list(LAWS).index(law)])
    return LAWS[law](rng, n, d)
