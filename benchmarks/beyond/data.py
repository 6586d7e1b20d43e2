"""The data: groups among useless features, measured tables, digits in several views."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn import datasets
from sklearn.preprocessing import scale

from convexcluster.datasets import make_rings

Pair = tuple[np.ndarray, np.ndarray]

# Genes of the greatest variance that are kept of tables with more.
GENES = 1_000


def rings(rng: np.random.Generator, seed: int) -> Pair:
    """The paper's rings."""
    return make_rings(random_state=seed)


def blobs(rng: np.random.Generator, seed: int) -> Pair:
    """Five normal groups of 40 in ten features."""
    y = np.arange(200) % 5
    return (rng.normal(size=(5, 10)) * np.sqrt(2))[y] + rng.normal(size=(200, 10)), y


def one_column(rng: np.random.Generator, seed: int) -> Pair:
    """Two normal groups six deviations apart, in one feature."""
    y = np.arange(200) % 2
    return 6.0 * y[:, None] + rng.normal(size=(200, 1)), y


def independent(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Normal noise."""
    return rng.normal(size=(n, d))


def correlated(rng: np.random.Generator, n: int, d: int) -> np.ndarray:
    """Noise in blocks of five features that share a factor, correlation 0.6."""
    factors = np.repeat(rng.normal(size=(n, d // 5)), 5, axis=1)
    return np.sqrt(0.6) * factors + np.sqrt(0.4) * rng.normal(size=(n, d))


# name → groups, noise, features of noise
AMONG_NOISE: dict[str, tuple[Callable[..., Pair], Callable[..., np.ndarray], int]] = {
    "rings + 8 noise": (rings, independent, 8),
    "rings + 98 noise": (rings, independent, 98),
    "blobs, 10 of 200": (blobs, independent, 190),
    "blobs, 10 of 1,000": (blobs, independent, 990),
    "rings + 30 correlated noise": (rings, correlated, 30),
    "blobs, 10 of 200, correlated": (blobs, correlated, 190),
    "one feature of 21": (one_column, independent, 20),
}


def among_noise(name: str, seed: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Standardised table, classes, and how many features, the first, tell of them."""
    make, noise, d = AMONG_NOISE[name]
    rng = np.random.default_rng(seed)
    X, y = make(rng, seed)
    return scale(np.hstack([X, noise(rng, len(X), d)])), y, X.shape[1]


# Tables without clusters, 150 × 30.
LAWS: dict[str, Callable[[np.random.Generator], np.ndarray]] = {
    "normal": lambda rng: rng.normal(size=(150, 30)),
    "Student, 3 degrees": lambda rng: rng.standard_t(3, size=(150, 30)),
    "log-normal": lambda rng: np.exp(rng.normal(size=(150, 30))),
    "uniform": lambda rng: rng.uniform(size=(150, 30)),
    "one factor": lambda rng: rng.normal(size=(150, 1)) + rng.normal(size=(150, 30)),
    "blocks of factors": lambda rng: correlated(rng, 150, 30),
}


def measured() -> Iterator[tuple[str, Callable[[], Pair]]]:
    """Tables that scikit-learn brings or that are in the folder CONVEXCLUSTER_DATA."""
    yield "iris", lambda: _prepared(*datasets.load_iris(return_X_y=True))
    yield "wine", lambda: _prepared(*datasets.load_wine(return_X_y=True))
    yield "cancer", lambda: _prepared(*datasets.load_breast_cancer(return_X_y=True))
    folder = Path(os.environ.get("CONVEXCLUSTER_DATA", "absent"))
    names = ("glass", "newthyroid", "GLIOMA", "lymphoma", "lung_bhattacharjee1543")
    files = {name: folder / f"{name}.npz" for name in names}
    files |= {f"uci.{name}": folder / f"suite/uci.{name}.npz" for name in ("ecoli", "ionosphere")}
    for name, file in files.items():
        if file.exists():
            yield name, lambda file=file: _prepared(*_read(file))
    for name in ("sc_dropseq", "sc_celseq2"):
        file = folder / "cells" / f"{name}.npz"
        if file.exists():
            yield name, lambda file=file: _prepared(*_cells(file))


def _read(file: Path) -> Pair:
    with np.load(file) as found:
        y = found["y0"] if "y0" in found else found["y"]  # y0: of the public suite
        return found["X"].astype(float), np.asarray(y).ravel().astype(int)


def _cells(file: Path) -> Pair:
    """log(1 + counts per 10,000)."""
    with np.load(file) as found:
        parts = (found["data"], found["indices"], found["indptr"])
        counts = sparse.csr_array(parts, shape=tuple(found["shape"]))
        y = found["y"].astype(int)
    counts = counts if counts.shape[0] == len(y) else counts.T
    counts = counts.toarray().astype(float)
    return np.log1p(1e4 * counts / counts.sum(axis=1, keepdims=True)), y


def _prepared(X: np.ndarray, y: np.ndarray) -> Pair:
    most = np.sort(np.argsort(-X.std(axis=0), kind="stable")[:GENES])
    X = X[:, most]
    return scale(X[:, X.std(axis=0) > 0]), y


# Scenarios of views of scikit-learn's digits.
VIEWS = {
    "3 views": ("pixels", "profiles", "spectrum"),
    "3 views + 3 noise": (
        "pixels",
        "profiles",
        "spectrum",
        "noise 2",
        "noise 20",
        "noise 100",
    ),
    "2 views + 3 noise + shuffled": (
        "spectrum",
        "profiles",
        "noise 2",
        "noise 20",
        "noise 100",
        "shuffled",
    ),
}


def digit_views(seed: int) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """300 digits: pixels, sums of rows and columns, Fourier magnitudes, noise, shuffled pixels."""
    rng = np.random.default_rng(seed)
    X, y = datasets.load_digits(return_X_y=True)
    pick = rng.permutation(len(X))[:300]
    X, y = X[pick], y[pick]
    images = X.reshape(-1, 8, 8)
    tables = {
        "pixels": X,
        "profiles": np.hstack([images.sum(axis=1), images.sum(axis=2)]),
        "spectrum": np.abs(np.fft.rfft2(images)).reshape(len(X), -1),
    }
    tables |= {f"noise {d}": rng.normal(size=(len(X), d)) for d in (2, 20, 100)}
    tables["shuffled"] = X[rng.permutation(len(X))]
    return {name: scale(T[:, T.std(axis=0) > 0]) for name, T in tables.items()}, y


def linked(name: str, seed: int, share: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A table, its classes, and groups: a share of the samples, drawn, whose class is told."""
    if name == "digits":
        tables, y = digit_views(seed)
        X = tables["pixels"]
    else:
        X, y = dict(measured())[name]()
    y = np.unique(y, return_inverse=True)[1]
    told = np.random.default_rng([seed, 3]).random(len(y)) < share
    return X, y, np.where(told, y, -1)
