"""Harmless changes of the data: what should leave every sample in its cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.scoring import share_changed
from convexcluster import KernelConvexClustering

NEW = -1  # a row that the data before the change did not have


@dataclass(frozen=True)
class Changed:
    """The data after a change: its rows, and which row before the change each of them was."""

    X: np.ndarray
    rows: np.ndarray
    settings: dict[str, Any] = field(default_factory=dict)


Change = Callable[[np.ndarray, np.random.Generator], Changed]


def same_rows(X: np.ndarray, **settings: Any) -> Changed:
    return Changed(X, np.arange(len(X)), settings)


def order(X: np.ndarray, rng: np.random.Generator) -> Changed:
    rows = rng.permutation(len(X))
    return Changed(X[rows], rows)


def copies(X: np.ndarray, rng: np.random.Generator) -> Changed:
    rows = np.tile(np.arange(len(X)), 2)
    return Changed(X[rows], rows)


def rotation(X: np.ndarray, rng: np.random.Generator) -> Changed:
    """A random rotation; one feature alone cannot be turned and stays as it is."""
    d = X.shape[1]
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    Q[:, 0] *= np.linalg.det(Q)  # ±1: without the mirror image
    return same_rows(X @ Q if d > 1 else X)


def mirror(X: np.ndarray, rng: np.random.Generator) -> Changed:
    return same_rows(X * np.where(np.arange(X.shape[1]) == 0, -1.0, 1.0))


def one_more(X: np.ndarray, rng: np.random.Generator) -> Changed:
    """A row near another: a tenth of a standard deviation away in each feature."""
    row = X[rng.integers(len(X))] + 0.1 * X.std(axis=0) * rng.standard_normal(X.shape[1])
    return Changed(np.vstack([X, row]), np.append(np.arange(len(X)), NEW))


# The first seven must change nothing at all; the others may move a sample or two.
CHANGES: dict[str, Change] = {
    "row order": order,
    "every row twice": copies,
    "times 2¹⁰": lambda X, rng: same_rows(X * 1024.0),
    "mirror image": mirror,
    "exact float32": lambda X, rng: same_rows(X.astype(np.float32)),
    "another random_state": lambda X, rng: same_rows(X, random_state=int(rng.integers(2**31))),
    "one thread": lambda X, rng: same_rows(X, n_jobs=1),
    "rounded to three digits": lambda X, rng: same_rows(np.round(X, 3)),
    "rotation": rotation,
    "one row more": one_more,
}


def changes(X: np.ndarray, seed: int) -> dict[str, float]:
    """Change → share of samples whose cluster is another.

    Values are rounded to float32 before anything else, so that float32 is exact.
    """
    X = X.astype(np.float32).astype(np.float64)
    before = KernelConvexClustering().fit_predict(X)
    found = {}
    for number, (name, change) in enumerate(CHANGES.items()):
        new = change(X, np.random.default_rng([seed, number]))
        after = KernelConvexClustering(**new.settings).fit_predict(new.X)
        old = new.rows != NEW
        found[name] = share_changed(before[new.rows[old]], after[old])
    return found
