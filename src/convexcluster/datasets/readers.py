"""What a home sends → (X, y): MATLAB files, KEEL's archives, UCI's tables, sets of OpenML."""

from __future__ import annotations

import io
import zipfile

import numpy as np

Arrays = tuple[np.ndarray, np.ndarray]

# How KEEL and UCI write a missing value.
MISSING = {"?", "<null>"}

# MNIST on OpenML is the training set, then the test set.
MNIST_TRAINING = 60_000


def mat(content: bytes) -> Arrays:
    """Arrays X and Y of a MATLAB file; labels become 0, 1, … in sorted order."""
    from scipy.io import loadmat

    stored = loadmat(io.BytesIO(content))  # type: ignore[arg-type]  # open files too
    return np.asarray(stored["X"], dtype=np.float64), _codes(np.asarray(stored["Y"]).ravel())


def table(
    content: bytes, *, first: int = 0, label: int = -1, separator: str | None = ","
) -> Arrays:
    """Numbers and a column of classes, complete rows only; KEEL's header lines start with @.

    ``label`` is the column of the classes; of the others those before ``first`` are dropped.
    ``separator=None`` splits at white space.
    """
    X, y = [], []
    for line in content.decode("utf-8").splitlines():
        row = [cell.strip() for cell in line.strip().split(separator)]
        if line.strip() and line[0] != "@" and not MISSING.intersection(row):
            y.append(row.pop(label))
            X.append([float(cell) for cell in row[first:]])
    return np.array(X), _codes(np.array(y))


def keel(content: bytes, *, first: int = 0) -> Arrays:
    """The table NAME.dat in an archive of the KEEL repository."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        member = next(name for name in archive.namelist() if name.endswith(".dat"))
        return table(archive.read(member), first=first)


def complete(X: np.ndarray, y: np.ndarray) -> Arrays:
    """Rows without a missing value; nominal features are numbered in the order of their header."""
    rows = ~np.isnan(X).any(axis=1)
    return X[rows], _codes(y[rows])


def mnist500(X: np.ndarray, y: np.ndarray) -> Arrays:
    """The first 50 training images of each digit, digit by digit."""
    digits = y[:MNIST_TRAINING].astype(np.int64)
    rows = np.concatenate([np.flatnonzero(digits == digit)[:50] for digit in range(10)])
    return X[rows], digits[rows]


def mnist10k(X: np.ndarray, y: np.ndarray) -> Arrays:
    """The test set."""
    return X[MNIST_TRAINING:], y[MNIST_TRAINING:].astype(np.int64)


def _codes(labels: np.ndarray) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1].ravel().astype(np.int64)
