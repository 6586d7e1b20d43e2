"""Loaders of the paper's real data sets: (X, y) as stored, nothing scaled or centred.

A set is a file ``name.npz`` (arrays X and y) in the folder ``CONVEXCLUSTER_DATA``, or it comes from
its public home and is kept as such a file in scikit-learn's data folder. Either way its values must
have the digest that is written here: SHA-256 of X as little-endian float64 and y as int64, row by
row. The digest, not the address, says which data a set is.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.request import urlopen

import numpy as np
from sklearn.datasets import fetch_openml, get_data_home

from ..problem import Floats, Ints
from ..storage import replacing
from . import readers
from .readers import Arrays

SCIKIT_FEATURE = (
    "https://raw.githubusercontent.com/jundongl/scikit-feature/"
    "48cffad4e88ff4b9d2f1c7baffb314d1b3303792/skfeature/data/"
)
KEEL = "https://sci2s.ugr.es/keel/dataset/data/classification/"
UCI = "https://archive.ics.uci.edu/ml/machine-learning-databases/"
OPENML = "https://www.openml.org/d/"
ASU = "https://jundongl.github.io/scikit-feature/datasets.html"

# Seconds without an answer after which a home counts as down. Half would fail on a slow line; twice
# would keep a user waiting.
TIMEOUT = 60


@dataclass(frozen=True)
class RealSet:
    """Where a data set comes from, and what its values must be."""

    digest: str  # SHA-256 of the values
    home: str = ""  # of a file, or of a set on OpenML; empty if there is none
    read: Callable[..., Arrays] | None = None  # the file's bytes, or OpenML's (X, y) -> (X, y)
    note: str = ""  # what a user should know, or do if there is no home


SETS: dict[str, RealSet] = {
    "lymphoma": RealSet(
        "16ae6c9f4b3daac917182f801e78ef071e126383f404686927fd5c95d6c9ef93",
        SCIKIT_FEATURE + "lymphoma.mat",
        readers.mat,
    ),
    "orlraws10P": RealSet(
        "a5858a063b16ae4ecfcee56bd011b79e50d9729af97e203963119df1c3c2258f",
        SCIKIT_FEATURE + "orlraws10P.mat",
        readers.mat,
    ),
    "Yale": RealSet(
        "1669a88b08a34e7d8aa9ae69970a7c3dbe3d3949b9a77fb6ce4333d2918e9fee",
        SCIKIT_FEATURE + "Yale.mat",
        readers.mat,
    ),
    "GLIOMA": RealSet(
        "283729a4439b847de6c30773564db91d9197ba1fd048bb3eebef6e3bf7d4bad9",
        SCIKIT_FEATURE + "GLIOMA.mat",
        readers.mat,
    ),
    "zoo": RealSet(
        "aa9795159865b874eedeb5719cdf96bcecefa4d9d249ae43c3652d4cb30c5c2d",
        KEEL + "zoo.zip",
        readers.keel,
        "in KEEL's order of the rows; UCI and OpenML have another",
    ),
    "glass": RealSet(
        "66884ffc63a261a9bac5febd13e0ee2bdeade7047343c80e57534bfd764dbb48",
        UCI + "glass/glass.data",
        partial(readers.table, first=1),  # the first column numbers the rows
    ),
    "newthyroid": RealSet(
        "c391a038cf2b4778327a8b22caaba332e907d165d35001c748da68328bcfd1e1",
        UCI + "thyroid-disease/new-thyroid.data",
        partial(readers.table, label=0),
    ),
    "housevotes": RealSet(
        "a0f6bb87d3b09484427fce4997ed1da2c5583687a8f5f90a36303848b946a5b0",
        OPENML + "56",
        readers.complete,
    ),
    "mnist500": RealSet(
        "cd88c34ac194ee8a27d69a11459fcf510ad238da3340b682e8fc8d389333b554",
        OPENML + "554",
        readers.mnist500,
        "the first 50 training images of each digit; the paper drew 50 of each at random",
    ),
    "mnist10k": RealSet(
        "947efa53bd5b2d200101192425dbfba3639da63429ad12305d8b75e11104d16c",
        OPENML + "554",
        readers.mnist10k,
    ),
    "lung_bhattacharjee1543": RealSet(
        "d3d8873c5d8acc321a4525060e01cb1a293b45e4fc6149f4956504a8796484be",
        note=f"a stand-in for the paper's lung set (203 × 3312): take lung.mat from {ASU} and put "
        "it into the folder CONVEXCLUSTER_DATA",
    ),
    "GLI85_freije_genelevel": RealSet(
        "84528c8dbb7d8adcca98799acffbf145d55ff60cdefe3c8e3eab2dca86407d67",
        note=f"a stand-in for the paper's GLI85 (85 × 22283): take GLI_85.mat from {ASU} and put "
        "it into the folder CONVEXCLUSTER_DATA",
    ),
}


def load(name: str) -> tuple[Floats, Ints]:
    """Load a real data set.

    Parameters
    ----------
    name : str
        Key of ``SETS``.

    Returns
    -------
    X : ndarray of shape (n, d), float64
    y : ndarray of shape (n,), int64
        Labels 0, 1, …
    """
    if name not in SETS:
        raise ValueError(f"there is no data set {name!r}: use one of {', '.join(SETS)}")
    return load_set(name, SETS[name])


def load_set(name: str, known: RealSet) -> tuple[Floats, Ints]:
    """Load a set that need not be in ``SETS``: from ``name.npz`` or from its home."""
    kept = Path(get_data_home()) / "convexcluster" / f"{name}.npz"
    for file in (*(folder / kept.name for folder in _given()), kept):
        if file.exists():
            with np.load(file) as stored:
                return _checked(
                    stored["X"], stored["y"], known, f"{file} (delete it and load again)"
                )
    if known.read is None:
        raise FileNotFoundError(f"{name}.npz is not in CONVEXCLUSTER_DATA. It is {known.note}")
    X, y = _checked(*known.read(*_fetched(name, known.home)), known, known.home)
    kept.parent.mkdir(parents=True, exist_ok=True)
    with replacing(kept) as new:
        np.savez_compressed(new, X=X, y=y)
    return X, y


def _given() -> list[Path]:
    """The user's folder, if it is set."""
    given = os.environ.get("CONVEXCLUSTER_DATA")
    return [Path(given)] if given else []


def _fetched(name: str, home: str) -> tuple[bytes] | Arrays:
    """The bytes of a file, or (X, y) of OpenML; a sentence if the home does not answer."""
    try:
        if home.startswith(OPENML):
            number = int(home.removeprefix(OPENML))
            # liac-arff numbers nominal values and needs no further package
            found = fetch_openml(data_id=number, as_frame=False, parser="liac-arff")
            return found.data, found.target
        with urlopen(home, timeout=TIMEOUT) as answer:
            return (answer.read(),)
    except OSError as error:  # no name, no route, no answer, or an answer such as 404
        raise OSError(
            f"{name} could not be downloaded from {home} ({error}): check the network, or put "
            f"{name}.npz into the folder CONVEXCLUSTER_DATA"
        ) from error


def _checked(X: np.ndarray, y: np.ndarray, known: RealSet, source: str) -> tuple[Floats, Ints]:
    """The arrays, if they are the known ones."""
    X = np.ascontiguousarray(X, dtype="<f8")
    y = np.ascontiguousarray(y, dtype="<i8")
    digest = hashlib.sha256(X.tobytes())
    digest.update(y.tobytes())
    if digest.hexdigest() != known.digest:
        raise ValueError(f"the values in {source} are not those of this data set")
    return X, y


def load_lymphoma() -> tuple[Floats, Ints]:
    """Lymphoma microarray: 96 × 4026 discrete, 9 classes."""
    return load("lymphoma")


def load_orlraws10p() -> tuple[Floats, Ints]:
    """ORL faces of ten people: 100 × 10304 grey levels, 10 classes."""
    return load("orlraws10P")


def load_yale() -> tuple[Floats, Ints]:
    """Yale faces: 165 × 1024 grey levels, 15 classes."""
    return load("Yale")


def load_glioma() -> tuple[Floats, Ints]:
    """Glioma expression: 50 × 4434 continuous, 4 classes."""
    return load("GLIOMA")


def load_zoo() -> tuple[Floats, Ints]:
    """Zoo animals: 101 × 16 discrete, 7 classes; 59 distinct rows."""
    return load("zoo")


def load_housevotes() -> tuple[Floats, Ints]:
    """Votes in the House, rows without missing values: 232 × 16 binary, 2 classes."""
    return load("housevotes")


def load_glass() -> tuple[Floats, Ints]:
    """Glass identification: 214 × 9 continuous, 6 classes."""
    return load("glass")


def load_newthyroid() -> tuple[Floats, Ints]:
    """New thyroid: 215 × 5 continuous, 3 classes."""
    return load("newthyroid")


def load_mnist500() -> tuple[Floats, Ints]:
    """MNIST, the first 50 training images of each digit: 500 × 784 grey levels, 10 classes."""
    return load("mnist500")


def load_mnist10k() -> tuple[Floats, Ints]:
    """MNIST's test set: 10,000 × 784 grey levels, 10 classes."""
    return load("mnist10k")


def load_lung() -> tuple[Floats, Ints]:
    """Lung expression: the paper's lung.mat (203 × 3312) if it is there, else the stand-in."""
    return _asu("lung.mat", "lung_bhattacharjee1543")


def load_gli85() -> tuple[Floats, Ints]:
    """Glioma grades: the paper's GLI_85.mat (85 × 22283) if it is there, else the stand-in."""
    return _asu("GLI_85.mat", "GLI85_freije_genelevel")


def _asu(file: str, stand_in: str) -> tuple[Floats, Ints]:
    for folder in _given():
        if (folder / file).exists():
            X, y = readers.mat((folder / file).read_bytes())
            return np.ascontiguousarray(X, dtype=np.float64), y.astype(np.int64)
    return load(stand_in)
