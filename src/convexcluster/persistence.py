"""Models on disk: numbers and JSON in one file, never pickled code.

Input is a fitted estimator, output a file that :func:`load` turns back into an estimator whose
predictions are identical to the last bit. The file is an uncompressed zip:

    header.json         format, format version, package version, what each array is, its SHA-256
    header.sha256       SHA-256 of header.json
    arrays/<k>.npy      one NumPy array each, numbers only

Loading parses JSON and NumPy's array format with pickles switched off, so it runs no code of the
file's. Members are stored, not deflated: the contents cannot be larger than the file. Every
checksum is compared before anything is built.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import secrets
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from . import __version__

FORMAT = "convexcluster model"
# Raised when a file of this version could be misread by the reader of an earlier one.
FORMAT_VERSION = 1
# An npy header of a plain numeric array is 128 bytes; far longer ones are not of our making.
MAX_NPY_HEADER = 4096
# A zip entry without a time stamp: equal models give equal files.
EPOCH = (1980, 1, 1, 0, 0, 0)


class ModelFileError(ValueError):
    """The file is no model, is damaged, or is of a newer format; the message says which."""


def write_container(path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
    """Write nested dicts and lists of numbers, strings and arrays to one file, atomically.

    Parameters
    ----------
    path : path-like
        Replaced if it exists; left as it was if writing fails.
    content : mapping
        Strings as keys; values are None, bool, int, float, str, numeric ndarrays, or lists,
        tuples (read back as lists) and mappings of these.
    """
    arrays: list[bytes] = []
    body = _encode(content, arrays, "model")
    header = json.dumps(
        {
            "format": FORMAT,
            "format_version": FORMAT_VERSION,
            "package_version": __version__,
            "sha256": [hashlib.sha256(data).hexdigest() for data in arrays],
            "content": body,
        },
        allow_nan=False,
    ).encode()
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with open(temporary, "xb") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
                archive.writestr(zipfile.ZipInfo("header.json", EPOCH), header)
                digest = hashlib.sha256(header).hexdigest()
                archive.writestr(zipfile.ZipInfo("header.sha256", EPOCH), digest)
                for k, data in enumerate(arrays):
                    archive.writestr(zipfile.ZipInfo(f"arrays/{k}.npy", EPOCH), data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def read_container(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read back what :func:`write_container` wrote; refuse everything else by a sentence.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a newer format.
    """
    name = os.fspath(path)
    if not zipfile.is_zipfile(name):  # raises nothing for a missing file, so open it first
        with open(name, "rb"):
            pass
        raise ModelFileError(f"{name} is not a convexcluster model, or its end is cut off")
    try:
        with zipfile.ZipFile(name) as archive:
            members = {info.filename: info for info in archive.infolist()}
            if "header.json" not in members or "header.sha256" not in members:
                raise ModelFileError(f"{name} is a zip file, but not a convexcluster model")
            if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):
                raise ModelFileError(f"{name} was repacked with compression: use the original")
            header = _header(name, archive)
            digests = header["sha256"]
            raw = [archive.read(f"arrays/{k}.npy") for k in range(len(digests))]
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise ModelFileError(f"{name} is damaged: {_plain(error)}") from error
    for k, (data, digest) in enumerate(zip(raw, digests, strict=True)):
        if hashlib.sha256(data).hexdigest() != digest:
            raise ModelFileError(f"{name} is damaged: the checksum of array {k} does not match")
    try:
        return _decode(header["content"], [_read_array(data) for data in raw])
    except (ValueError, TypeError, IndexError, KeyError) as error:
        raise ModelFileError(f"{name} is damaged: {_plain(error)}") from error


def _header(name: str, archive: zipfile.ZipFile) -> dict[str, Any]:
    raw = archive.read("header.json")
    if hashlib.sha256(raw).hexdigest().encode() != archive.read("header.sha256").strip():
        raise ModelFileError(f"{name} is damaged: the checksum of its header does not match")
    try:
        header = json.loads(raw)
        found, version = header["format"], header["format_version"]
    except (ValueError, KeyError, TypeError) as error:
        raise ModelFileError(f"{name} is not a convexcluster model") from error
    if found != FORMAT or not isinstance(version, int):
        raise ModelFileError(f"{name} holds {found!r}, not a {FORMAT}")
    if version > FORMAT_VERSION:
        raise ModelFileError(
            f"{name} has format version {version}, written by convexcluster "
            f"{header.get('package_version')}; this is {__version__}, which reads up to version "
            f"{FORMAT_VERSION}: upgrade with pip install --upgrade convexcluster"
        )
    if not isinstance(header.get("sha256"), list) or "content" not in header:
        raise ModelFileError(f"{name} is damaged: its header is incomplete")
    return header


def _encode(value: Any, arrays: list[bytes], where: str) -> Any:
    """Turn ``value`` into JSON; arrays become ``{"array": k}`` and odd floats ``{"float": "nan"}``.

    Plain mappings are wrapped as ``{"map": …}`` so that no user's key is mistaken for these marks.
    """
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else {"float": repr(value)}
    if isinstance(value, np.ndarray):
        if value.dtype.kind not in "biuf":
            raise TypeError(f"{where} is an array of {value.dtype}: only numbers can be saved")
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, value, allow_pickle=False)
        arrays.append(buffer.getvalue())
        return {"array": len(arrays) - 1}
    if isinstance(value, Mapping):
        return {
            "map": {str(key): _encode(v, arrays, f"{where}.{key}") for key, v in value.items()}
        }
    if isinstance(value, list | tuple):
        return [_encode(v, arrays, f"{where}[{k}]") for k, v in enumerate(value)]
    raise TypeError(f"{where} is a {type(value).__name__}, which cannot be saved without pickle")


def _decode(value: Any, arrays: list[np.ndarray]) -> Any:
    if isinstance(value, list):
        return [_decode(v, arrays) for v in value]
    if not isinstance(value, dict):
        return value
    ((mark, inner),) = value.items()
    if mark == "map":
        return {key: _decode(v, arrays) for key, v in inner.items()}
    if mark == "array":
        return arrays[inner]
    if mark == "float":
        return {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[inner]
    raise ValueError(f"unknown mark {mark!r}")


def _read_array(data: bytes) -> np.ndarray:
    array = np.lib.format.read_array(
        io.BytesIO(data), allow_pickle=False, max_header_size=MAX_NPY_HEADER
    )
    if array.dtype.kind not in "biuf":
        raise ValueError(f"an array of {array.dtype}")
    return array


def _plain(error: BaseException) -> str:
    """The first line of a message, for use inside a sentence."""
    return (str(error).strip("'\"").splitlines() or [type(error).__name__])[0]
