"""NPY, NPZ and MAT → a frame: one matrix of features, vectors for ids and labels."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..optional import need
from .raw import Raw, name_of
from .refusal import Refusal

if TYPE_CHECKING:
    from .options import Input


def read_npy(content: Path | bytes, source: Input) -> Raw:
    """One array."""
    loaded = np.load(_stream(content), allow_pickle=False)
    if not isinstance(loaded, np.ndarray):
        raise Refusal(f"{name_of(source)} holds several arrays: pass --format npz")
    return _arrays_to_raw({"X": loaded}, source, "npy")


def read_npz(content: Path | bytes, source: Input) -> Raw:
    """Several arrays by name."""
    with np.load(_stream(content), allow_pickle=False) as archive:
        return _arrays_to_raw({key: archive[key] for key in archive.files}, source, "npz")


def read_mat(content: Path | bytes, source: Input) -> Raw:
    """Variables of MATLAB."""
    from scipy.io import loadmat

    try:
        loaded = loadmat(cast(Any, _stream(content)), appendmat=False)
    except NotImplementedError:
        raise Refusal(
            f"{name_of(source)} is a MATLAB 7.3 file: save it with save(..., '-v7')"
        ) from None
    arrays = {key: value for key, value in loaded.items() if not key.startswith("__")}
    return _arrays_to_raw(arrays, source, "mat")


def _stream(content: Path | bytes) -> Path | io.BytesIO:
    return io.BytesIO(content) if isinstance(content, bytes) else content


def _arrays_to_raw(arrays: dict[str, np.ndarray], source: Input, form: str) -> Raw:
    pd = need("pandas", "cli")
    arrays = {key: _flat(value, key, source) for key, value in arrays.items()}
    matrices = [key for key, value in arrays.items() if value.ndim == 2]
    key = source.array or ("X" if "X" in matrices else matrices[0] if len(matrices) == 1 else None)
    if key is None and not matrices:
        raise Refusal(f"{name_of(source)} holds no 2-D array (samples × features)")
    if key is None:
        listed = ", ".join(matrices)
        raise Refusal(f"{name_of(source)} holds several matrices ({listed}): pass --array NAME")
    if key not in arrays or arrays[key].ndim != 2:
        raise Refusal(f"{name_of(source)} holds no 2-D array called {key!r}; it has {list(arrays)}")
    X = arrays[key]
    if np.iscomplexobj(X):
        raise Refusal(f"{name_of(source)} holds complex numbers: pass real and imaginary parts")
    side = {k: v for k, v in arrays.items() if v.ndim == 1 and len(v) == len(X)}
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(X.shape[1])])
    return Raw(frame, side, found={"format": form, "array": key})


def _flat(array: Any, key: str, source: Input) -> np.ndarray:
    """Dense native array; an (n, 1) or (1, n) vector of labels, as MATLAB keeps them, is 1-D."""
    array = array.toarray() if hasattr(array, "toarray") else np.asarray(array)
    named = key in (source.id_column, source.label_column)
    vector = array.ndim == 2 and 1 in array.shape and key not in (source.array, "X")
    return array.ravel() if array.ndim == 2 and (named or vector) else array
