"""Kinds of scenes: (rng, n) → X and y, where y is 1, 2, … and 0 is background, not scored.

They are the kinds of which the artificial sets of papers on clustering are made; their number of
groups, sizes, distances, shapes and noise are drawn.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .shapes import (
    Pair,
    any_shape,
    arc,
    band,
    box,
    coil,
    drawn,
    normal,
    placed,
    sizes_of,
    turned,
    wave,
)

Rng = np.random.Generator
Scene = Callable[[Rng, int], Pair]


def touching(rng: Rng, n: int) -> Pair:
    """Normal groups of one size near a grid, 3.5 to 5.5 deviations apart."""
    k, apart = int(rng.integers(2, 10)), rng.uniform(3.5, 5.5)
    side = int(np.ceil(np.sqrt(k)))
    at = apart * np.column_stack(np.divmod(np.arange(k), side))
    at = at + rng.uniform(-0.3, 0.3, at.shape)
    return drawn(rng, [normal()] * k, sizes_of(rng, n, k, 1), at)


def unlike(rng: Rng, n: int) -> Pair:
    """Normal groups of unlike size and density."""
    k = int(rng.integers(3, 9))
    shapes = [normal(spread) for spread in np.exp(rng.uniform(np.log(0.3), np.log(1.5), k))]
    at = placed(rng, shapes, rng.uniform(0.1, 0.6))
    return drawn(rng, shapes, sizes_of(rng, n, k, 15), at)


def elongated(rng: Rng, n: int) -> Pair:
    """Normal groups, each long in a direction of its own."""
    k = int(rng.integers(2, 9))
    shapes = [normal(1.0, rng.uniform(1.5, 8), rng.uniform(0, np.pi)) for _ in range(k)]
    at = placed(rng, shapes, rng.uniform(0.1, 0.5))
    return drawn(rng, shapes, sizes_of(rng, n, k, 3), at)


def parallel(rng: Rng, n: int) -> Pair:
    """Long groups side by side."""
    k, long = int(rng.integers(2, 5)), rng.uniform(6, 20)
    if rng.integers(2):
        shapes, apart = [normal(np.sqrt(long), long)] * k, rng.uniform(4.5, 7)
    else:
        # gaps of two to five mean distances of neighbours
        shapes, apart = (
            [box(2 * long, 2.0)] * k,
            2.0 + rng.uniform(2, 5) * np.sqrt(4 * k * long / n),
        )
    at = np.column_stack([rng.uniform(-0.5, 0.5, k) * long, apart * np.arange(k)])
    X, y = drawn(rng, shapes, sizes_of(rng, n, k, 2), at)
    return turned(X, rng.uniform(0, np.pi)), y


def surrounded(rng: Rng, n: int) -> Pair:
    """A group, and rings around it."""
    rings = int(rng.integers(1, 3))
    radius = np.cumsum(rng.uniform(2.5, 4.0, rings))
    shapes = [normal(0.5) if rng.integers(2) else band(0.0, 1.0)]
    shapes += [arc(r, rng.uniform(0.05, 0.35)) for r in radius]
    return drawn(rng, shapes, sizes_of(rng, n, rings + 1, 3))


def dartboard(rng: Rng, n: int) -> Pair:
    """Rings in each other, of one size each or as dense as each other."""
    k = int(rng.integers(3, 6))
    radius = np.arange(1, k + 1) + rng.uniform(0, 1)
    # gaps of three mean distances along the rings at least
    most = min(0.35, 0.5 - 1.5 * 2 * np.pi * radius.sum() / n)
    thick, even = rng.uniform(0.05, max(most, 0.06)), bool(rng.integers(2))
    shapes = [band(r - thick, r + thick) for r in radius]
    share = np.ones(k) if even else radius
    return drawn(rng, shapes, np.rint(n * share / share.sum()))


def half_rings(rng: Rng, n: int) -> Pair:
    """Half rings that reach into each other, of unlike density."""
    k, thick = int(rng.integers(2, 5)), rng.uniform(0.04, 0.13)
    up = np.arange(k) % 2 == 0
    shapes = [arc(1.0, thick, 0 if u else np.pi, np.pi if u else 2 * np.pi) for u in up]
    step = rng.uniform(1.0, 1.1) if k == 2 else rng.uniform(1.15, 1.3)
    at = np.column_stack([step * np.arange(k), np.where(up, 0.0, rng.uniform(0.3, 0.6))])
    return drawn(rng, shapes, sizes_of(rng, n, k, 3), at)


def smile(rng: Rng, n: int) -> Pair:
    """Two eyes, a mouth, and often the outline of a face."""
    thick = rng.uniform(0.02, 0.08)
    eye = normal(rng.uniform(0.08, 0.18)) if rng.integers(2) else band(0.0, rng.uniform(0.1, 0.25))
    mouth = arc(0.7, thick, np.pi * 1.15, np.pi * 1.85)
    shapes, at = [eye, eye, mouth], np.array([[-0.4, 0.4], [0.4, 0.4], [0.0, 0.1], [0.0, 0.0]])
    if rng.uniform() < 0.7:
        shapes.append(arc(1.3, thick))
    return drawn(rng, shapes, sizes_of(rng, n, len(shapes), 4), at)


def spirals(rng: Rng, n: int) -> Pair:
    """Arms of a spiral, sometimes with normal groups beside them."""
    arms, turns = int(rng.integers(2, 4)), rng.uniform(1.0, 2.0)
    n = max(n, int(15 * arms**2 * turns**2))  # a fifth of the arms' distance between neighbours
    thick = rng.uniform(0.02, 0.14) / arms
    shapes = [coil(turns, thick, 2 * np.pi * arm / arms) for arm in range(arms)]
    at = np.zeros((arms, 2))
    if rng.uniform() < 0.4:
        shapes += [normal(rng.uniform(0.1, 0.4))] * 2
        at = np.vstack([at, [[turns + 1.5, 0.5]], [[turns + 1.5, -1.5]]])
    return drawn(rng, shapes, sizes_of(rng, n, len(shapes), 1.5), at)


def tiles(rng: Rng, n: int) -> Pair:
    """Squares on a grid, often turned to diamonds, with narrow gaps."""
    rows, columns = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    k = rows * columns
    # gaps of 1.5 to 4 mean distances of neighbours, 1/√(samples of a square)
    gap = rng.uniform(1.5, 4.0) / np.sqrt(n / k)
    at = (1 + gap) * np.column_stack(np.divmod(np.arange(k), columns))
    X, y = drawn(rng, [box(1, 1)] * k, sizes_of(rng, n, k, 1), at)
    return turned(X, rng.uniform(0, np.pi)), y


def embraced(rng: Rng, n: int) -> Pair:
    """A group between two bent ones."""
    thick, nearer = rng.uniform(0.08, 0.25), rng.uniform(0.2, 0.9)
    shapes = [
        arc(2.0, thick, np.pi * 0.15, np.pi * 0.85),
        arc(2.0, thick, np.pi * 1.15, np.pi * 1.85),
        band(0.0, 0.7) if rng.integers(2) else normal(0.3),
    ]
    at = np.array([[0.0, -nearer], [0.0, nearer], [0.0, 0.0]])
    return drawn(rng, shapes, sizes_of(rng, n, 3, 3), at)


def waves(rng: Rng, n: int) -> Pair:
    """Sine curves or zigzags above each other."""
    k, sharp, n = int(rng.integers(2, 5)), bool(rng.integers(2)), max(n, 300)
    shape = wave(6, rng.uniform(0.3, 0.8), rng.uniform(1, 2.5), rng.uniform(0.02, 0.1), sharp)
    at = np.column_stack([np.zeros(k), rng.uniform(0.8, 1.3) * np.arange(k)])
    return drawn(rng, [shape] * k, sizes_of(rng, n, k, 2), at)


def bars(rng: Rng, n: int) -> Pair:
    """Bars at right angles that do not quite meet, as in letters and crosses."""
    wide = rng.uniform(0.15, 0.4)
    gap = wide / 2 + rng.uniform(0.1, 0.35)
    across, up = box(2, wide), box(wide, 2)
    shapes, at = [
        ([across, up, up], [[0.0, 0.0], [-1.0, 1 + gap], [1.0, 1 + gap]]),
        ([across, up], [[0.0, 0.0], [0.0, 1 + gap]]),
        ([across, across, up, up], [[-1 - gap, 0], [1 + gap, 0], [0, 1 + gap], [0, -1 - gap]]),
        ([across, up, band(0.0, 0.6)], [[0.0, 0.0], [-1.0, 1 + gap], [0.6, 1.2 + gap]]),
    ][rng.integers(4)]
    X, y = drawn(rng, shapes, sizes_of(rng, n, len(shapes), 2), np.array(at))
    return turned(X, rng.uniform(0, np.pi)), y


def mixed(rng: Rng, n: int) -> Pair:
    """Shapes of all kinds side by side."""
    k = int(rng.integers(3, 10))
    shapes = [any_shape(rng) for _ in range(k)]
    return drawn(rng, shapes, sizes_of(rng, n, k, 5), placed(rng, shapes, rng.uniform(0.3, 0.8)))


def small(rng: Rng, n: int) -> Pair:
    """Many groups of 20 to 100 samples."""
    k = int(rng.integers(5, 31))
    shapes = [normal(spread) for spread in rng.uniform(0.5, 1.0, k)]
    at = placed(rng, shapes, rng.uniform(0.2, 1.5))
    return drawn(rng, shapes, rng.integers(20, 101, k), at)


def dense_in_sparse(rng: Rng, n: int) -> Pair:
    """Dense groups inside a hole, or right inside, of a sparse field."""
    inner = rng.uniform(0.3, 0.5)
    gap = rng.uniform(0.1, 0.3) if rng.uniform() < 0.7 else 0.0
    shapes = [band(0.0, inner), band(inner + gap, 1.4)]
    share = rng.uniform(0.4, 0.7)
    return drawn(rng, shapes, np.rint(n * np.array([share, 1 - share])))


def space(rng: Rng, n: int) -> Pair:
    """Three features: normal groups at corners, links of a chain, or a ball in a shell."""
    kind = int(rng.integers(3))
    if kind == 0:
        k = int(rng.integers(4, 8))
        corners = np.vstack([np.eye(3), -np.eye(3), np.zeros((1, 3))])[rng.permutation(7)[:k]]
        y = np.repeat(np.arange(k), max(n // k, 20))
        return rng.uniform(4.5, 7.0) * corners[y] + rng.standard_normal((len(y), 3)), y + 1
    y = np.repeat([0, 1], n // 2)
    if kind == 1:
        turn = rng.uniform(0, 2 * np.pi, len(y))
        a, b = np.cos(turn), np.sin(turn)
        first, second = np.stack([a, b, 0 * a], 1), np.stack([a + 1, 0 * a, b], 1)
        X = np.where(y[:, None] == 0, first, second)
        return X + rng.uniform(0.05, 0.15) * rng.standard_normal(X.shape), y + 1
    X = rng.standard_normal((len(y), 3))
    X /= np.linalg.norm(X, axis=1)[:, None]
    r = np.where(y == 0, rng.uniform(0, 0.35, len(y)), 1 + 0.05 * rng.standard_normal(len(y)))
    return X * r[:, None], y + 1


def with_background(rng: Rng, n: int) -> Pair:
    """Shapes of all kinds, or another scene, and 5 to 20 % uniform samples around them."""
    share = rng.uniform(0.05, 0.2)
    make = mixed if rng.integers(2) else list(CLEAN.values())[rng.integers(len(CLEAN))]
    X, y = make(rng, round((1 - share) * n))
    low, high = X.min(axis=0), X.max(axis=0)
    few, margin = round(len(X) * share / (1 - share)), 0.05 * (high - low)
    extra = rng.uniform(low - margin, high + margin, (few, X.shape[1]))
    return np.vstack([X, extra]), np.append(y, np.zeros(few, dtype=y.dtype))


CLEAN: dict[str, Scene] = {
    "touching normal groups": touching,
    "unlike size and density": unlike,
    "elongated normal groups": elongated,
    "long, side by side": parallel,
    "rings around a group": surrounded,
    "dartboards": dartboard,
    "half rings": half_rings,
    "smiles": smile,
    "spirals": spirals,
    "tiles": tiles,
    "a group embraced": embraced,
    "waves": waves,
    "bars": bars,
    "mixed shapes": mixed,
    "groups of 20 to 100": small,
    "dense in sparse": dense_in_sparse,
    "space": space,
}

KINDS: dict[str, Scene] = {**CLEAN, "with background": with_background}


def make(kind: str, seed: int, least: int, most: int) -> Pair:
    """A scene of a kind, its samples in random order; n is drawn log-uniformly."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    n = round(np.exp(rng.uniform(np.log(least), np.log(most))))
    X, y = KINDS[kind](rng, n)
    order = rng.permutation(len(X))
    return X[order], y[order]
