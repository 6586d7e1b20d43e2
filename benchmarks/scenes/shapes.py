"""Shapes that scenes are made of: (rng, n) → n samples of a shape about the origin."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.spatial import KDTree

Floats = np.ndarray
Pair = tuple[np.ndarray, np.ndarray]
Shape = Callable[[np.random.Generator, int], Floats]

# Samples by which a shape is known when it is placed. With half as many shapes come nearer to each
# other than was asked for.
OUTLINE = 300

# Tries to place a shape before the box grows by a tenth. With more of them boxes are fuller.
TRIES = 30


def turned(X: Floats, angle: float) -> Floats:
    """Rows of the plane about the origin."""
    c, s = np.cos(angle), np.sin(angle)
    return X @ np.array([[c, s], [-s, c]])


def normal(spread: float = 1.0, aspect: float = 1.0, angle: float = 0.0) -> Shape:
    """A normal group, ``aspect`` times as long as it is wide."""
    scale = spread * np.array([np.sqrt(aspect), 1 / np.sqrt(aspect)])
    return lambda rng, n: turned(rng.standard_normal((n, 2)) * scale, angle)


def box(width: float, height: float, angle: float = 0.0) -> Shape:
    """A rectangle."""
    size = np.array([width, height])
    return lambda rng, n: turned(rng.uniform(-0.5, 0.5, (n, 2)) * size, angle)


def arc(radius: float, thick: float, begin: float = 0.0, end: float = 2 * np.pi) -> Shape:
    """A ring, or a part of one, normal across with the deviation ``thick``."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        turn = rng.uniform(begin, end, n)
        r = radius + thick * rng.standard_normal(n)
        return np.column_stack([r * np.cos(turn), r * np.sin(turn)])

    return draw


def band(inner: float, outer: float) -> Shape:
    """Between two circles; a disc if the inner one has radius 0."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        r = np.sqrt(rng.uniform(inner**2, outer**2, n))
        turn = rng.uniform(0, 2 * np.pi, n)
        return np.column_stack([r * np.cos(turn), r * np.sin(turn)])

    return draw


def triangle(size: float, angle: float = 0.0) -> Shape:
    """An equilateral triangle."""
    corners = size * np.array([[np.cos(t), np.sin(t)] for t in 2 * np.pi / 3 * np.arange(3)])
    return lambda rng, n: turned(rng.dirichlet(np.ones(3), n) @ corners, angle)


def wave(length: float, height: float, bends: float, thick: float, sharp: bool) -> Shape:
    """A sine curve, or a zigzag if it is ``sharp``."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        x = rng.uniform(-0.5, 0.5, n)
        y = np.sin(2 * np.pi * bends * x)
        y = 2 / np.pi * np.arcsin(y) if sharp else y
        return np.column_stack([length * x, height * y]) + thick * rng.standard_normal((n, 2))

    return draw


def coil(turns: float, thick: float, angle: float) -> Shape:
    """An arm of a spiral, of about even density along it; its next turn is 1 further out."""

    def draw(rng: np.random.Generator, n: int) -> Floats:
        turn = 2 * np.pi * np.sqrt(rng.uniform(0.15, turns**2, n))
        X = (turn / (2 * np.pi))[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
        return turned(X, angle) + thick * rng.standard_normal((n, 2))

    return draw


def any_shape(rng: np.random.Generator) -> Shape:
    """One of those that fit side by side."""
    size, angle, aspect = rng.uniform(0.6, 1.6), rng.uniform(0, np.pi), rng.uniform(1, 4)
    begin = rng.uniform(0, 2 * np.pi)
    return [
        normal(size / 2, aspect, angle),
        box(2 * size * np.sqrt(aspect), 2 * size / np.sqrt(aspect), angle),
        band(0.0, size),
        band(0.6 * size, size),
        triangle(1.3 * size, angle),
        arc(1.5 * size, 0.12 * size, begin, begin + rng.uniform(2.0, 4.5)),
        wave(4 * size, 0.6 * size, rng.uniform(0.5, 1.5), 0.12 * size, bool(rng.integers(2))),
    ][rng.integers(7)]


def drawn(
    rng: np.random.Generator, shapes: Sequence[Shape], sizes: Floats, at: Floats | None = None
) -> Pair:
    """Samples of shapes at places, labelled 1, 2, …"""
    parts = [shape(rng, int(size)) for shape, size in zip(shapes, sizes)]
    if at is not None:
        parts = [part + place for part, place in zip(parts, at)]
    return np.vstack(parts), np.repeat(np.arange(len(parts)), [len(p) for p in parts]) + 1


def placed(rng: np.random.Generator, shapes: Sequence[Shape], gap: float) -> Floats:
    """Places at which no two outlines of the shapes are nearer than ``gap``."""
    side, taken, places = 1.0, np.empty((0, 2)), []
    for shape in shapes:
        outline = shape(rng, OUTLINE)
        while True:
            tried = rng.uniform(-side, side, (TRIES, 2))
            far = (
                [KDTree(taken).query(outline + place)[0].min() >= gap for place in tried]
                if len(taken)
                else [True]
            )
            if any(far):
                break
            side *= 1.1
        places.append(tried[int(np.argmax(far))])
        taken = np.vstack([taken, outline + places[-1]])
    return np.array(places)


def sizes_of(rng: np.random.Generator, n: int, k: int, ratio: float, least: int = 20) -> Floats:
    """k sizes, the largest at most ``ratio`` times the smallest, whose sum is about n."""
    share = np.exp(rng.uniform(0, np.log(max(ratio, 1.0)), k))
    return np.maximum(np.rint(n * share / share.sum()), least).astype(int)
