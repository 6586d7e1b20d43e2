"""Rows from fixed seeds: rings and moons of many sizes, and Gaussians, whole or block by block."""

from __future__ import annotations

import numpy as np

RINGS = [(0, 0, 10.0), (0, 0, 6.0), (0, 0, 2.5), (0, 0, 0.5), (25, 0, 4.0), (25, 0, 1.0)]
MOONS = [(18, 14, 5.0), (0, 16, 1.0), (25, 9, 0.3)]


def shapes(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """6 rings and 6 half moons of radii 0.3 to 10; masses grow as the root of their lengths."""
    rng = np.random.default_rng(seed)
    arcs = [(x, y, R, 0.0, 2 * np.pi) for x, y, R in RINGS]
    for x, y, R in MOONS:
        arcs += [(x, y, R, 0.0, np.pi), (x + R, y + R / 2, R, np.pi, np.pi)]
    table = np.array(arcs)
    share = np.sqrt(table[:, 2] * table[:, 4])
    y = rng.choice(len(table), size=n, p=share / share.sum())
    angle = table[y, 3] + table[y, 4] * rng.random(n)
    radius = table[y, 2] * (1 + 0.04 * np.clip(rng.normal(size=n), -3, 3))
    X = table[y, :2] + np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X, y


def blobs(n: int, d: int = 50, k: int = 20, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Gaussians of unit variance around centres with 3·N(0, 1) coordinates."""
    rng = np.random.default_rng(seed)
    centres = 3 * rng.normal(size=(k, d))
    y = rng.integers(k, size=n)
    return centres[y] + rng.normal(size=(n, d)), y


def blob_block(rows: int, d: int, k: int, block: int) -> np.ndarray:
    """One block of such rows and, in the last column, the Gaussian that they are of."""
    centres = 3 * np.random.default_rng(0).normal(size=(k, d))
    rng = np.random.default_rng([77, block])
    y = rng.integers(k, size=rows)
    return np.column_stack([centres[y] + rng.normal(size=(rows, d)), y])


def counts(y: np.ndarray, labels: np.ndarray, k: int, found: int) -> np.ndarray:
    """Table (k, found) of how many rows of each truth have each label."""
    pairs = np.bincount(y.astype(np.int64) * found + labels, minlength=k * found)
    return pairs.reshape(k, found)


def rand_index(table: np.ndarray) -> float:
    """Adjusted Rand index from a table of counts."""

    def pairs(c: np.ndarray) -> float:
        c = c.astype(float)
        return float((c * (c - 1) / 2).sum())

    both, rows, columns = pairs(table), pairs(table.sum(axis=1)), pairs(table.sum(axis=0))
    chance = rows * columns / pairs(table.sum(keepdims=True))
    return (both - chance) / ((rows + columns) / 2 - chance)
