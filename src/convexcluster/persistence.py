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
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy import sparse

from . import __version__

FORMAT = "convexcluster model"
# Raised when a file of this version could be misread by the reader of an earlier one.
FORMAT_VERSION = 1
# An npy header of a plain numeric array is 128 bytes; far longer ones are not of our making.
MAX_NPY_HEADER = 4096
# A zip entry without a time stamp: equal models give equal files.
EPOCH = (1980, 1, 1, 0, 0, 0)


# What a file may name, and where it is defined: nothing else is ever imported for it.
ESTIMATORS = {"KernelConvexClustering": ".estimators", "ConvexClustering": ".estimators"}
# Objects that turn themselves into arrays (to_arrays, from_arrays).
ARRAYS = {"Embedding": ".embedding", "ClusterPath": ".path.clusterpath"}
# Frozen dataclasses of plain fields.
RECORDS = {
    "Cells": ".coarsen",
    "Certificate": ".certificate",
    "Coarse": ".coarse",
    "CoarseCertificate": ".large",
    "Graph": ".graph",
    "Kernel": ".kernels",
    "Selection": ".selection",
    "Summary": ".coarsen",
}


class ModelFileError(ValueError):
    """The file is no model, is damaged, or is of a newer format; the message says which."""


def save(
    model: Any, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted estimator to one file that :func:`load` reads.

    Parameters
    ----------
    model : KernelConvexClustering or ConvexClustering
        Fitted.
    path : path-like
        Replaced if it exists; left as it was if writing fails.
    notes : mapping, optional
        Plain data to keep beside the model, for :func:`load_notes`.

    Raises
    ------
    TypeError
        If a parameter is code (a callable kernel, a random generator), which data cannot hold.

    Examples
    --------
    >>> import tempfile
    >>> from convexcluster import KernelConvexClustering, load
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> model = KernelConvexClustering(n_clusters=2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     again = load(f"{folder}/model")
    >>> again.predict([[0.2], [4.0]])
    array([0, 1])
    """
    name = type(model).__name__
    if name not in ESTIMATORS or not hasattr(model, "labels_"):
        raise TypeError(f"save wants a fitted {' or '.join(ESTIMATORS)}, got {name}")
    parameters = model.get_params(deep=False)
    if callable(parameters["verbose"]):  # whom a fit told of its progress is no part of the model
        parameters["verbose"] = 0
    state = {key: value for key, value in vars(model).items() if key not in parameters}
    write_container(
        path,
        {
            "estimator": name,
            "parameters": parameters,
            "state": state,
            "notes": dict(notes or {}),
        },
    )


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator back; its predictions are those of the saved one, to the last bit.

    No code of the file is run. See :func:`save` for an example.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or was written by a newer format.
    """
    content = read_container(path)
    try:
        home = import_module(ESTIMATORS[content["estimator"]], __package__)
        model = getattr(home, content["estimator"])(**content["parameters"])
        for key, value in content["state"].items():
            if not key.strip("_").isidentifier() or hasattr(type(model), key):
                raise ValueError(f"unknown attribute {key!r}")
            setattr(model, key, value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"{os.fspath(path)} is damaged: {_plain(error)}") from error
    return model


def load_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the notes that were saved beside a model."""
    return dict(read_container(path).get("notes", {}))


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
    whole = io.BytesIO(Path(path).read_bytes())
    if not zipfile.is_zipfile(whole):
        raise ModelFileError(f"{name} is not a convexcluster model, or its end is cut off")
    try:
        with zipfile.ZipFile(whole) as archive:
            members = {info.filename: info for info in archive.infolist()}
            if "header.json" not in members or "header.sha256" not in members:
                raise ModelFileError(f"{name} is a zip file, but not a convexcluster model")
            if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):
                raise ModelFileError(f"{name} was repacked with compression: use the original")
            header = _header(name, archive)
            digests = header["sha256"]
            raw = [archive.read(f"arrays/{k}.npy") for k in range(len(digests))]
    except ModelFileError:
        raise
    except Exception as error:  # zipfile answers damage with half a dozen kinds of errors
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
        if value.dtype.kind in "OUT" and all(isinstance(v, str) for v in value.flat):
            return {"strings": value.tolist()}  # names of the columns
        if value.dtype.kind not in "biuf":
            raise TypeError(f"{where} is an array of {value.dtype}: only numbers can be saved")
        buffer = io.BytesIO()
        np.lib.format.write_array(buffer, value, allow_pickle=False)
        arrays.append(buffer.getvalue())
        return {"array": len(arrays) - 1}
    if isinstance(value, Mapping):
        return {"map": {str(key): _encode(v, arrays, f"{where}.{key}") for key, v in value.items()}}
    if isinstance(value, list | tuple):
        return [_encode(v, arrays, f"{where}[{k}]") for k, v in enumerate(value)]
    if sparse.issparse(value):
        csr: Any = sparse.csr_array(cast(Any, value))
        parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}
        return {"sparse": _encode({**parts, "shape": list(csr.shape)}, arrays, where)}
    name = type(value).__name__
    if name in ARRAYS:
        return {"object": [name, _encode(value.to_arrays(), arrays, where)]}
    if name in RECORDS and is_dataclass(value):
        plain = {f.name: getattr(value, f.name) for f in fields(value)}
        return {"record": [name, _encode(plain, arrays, where)]}
    if callable(value):
        raise TypeError(
            f"{where} is a function or object of code, which a model file cannot hold: "
            "use a named kernel or kernel='precomputed'"
        )
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
    if mark == "strings":
        return np.array(inner, dtype=object)
    if mark == "sparse":
        part = _decode(inner, arrays)
        shape = tuple(part.pop("shape"))
        return sparse.csr_array((part["data"], part["indices"], part["indptr"]), shape=shape)
    name, content = inner
    if mark == "object":
        cls = getattr(import_module(ARRAYS[name], __package__), name)
        return cls.from_arrays(_decode(content, arrays))
    if mark == "record":
        cls = getattr(import_module(RECORDS[name], __package__), name)
        return cls(**_decode(content, arrays))
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
