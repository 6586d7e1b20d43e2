"""Numbers and JSON in one file, never pickled code.

Input is nested data, output a file from which the same data come back to the last bit. The file is
an uncompressed zip:

    header.json         format, format version, package version, what each array is, its SHA-256
    header.sha256       SHA-256 of header.json
    arrays/<k>.npy      one NumPy array each, numbers only

Reading parses JSON and NumPy's array format with pickles switched off, so it runs no code of the
file's. Members are stored, not deflated, and must fit into the file beside each other; an array is
as large as its member. So a file takes memory in proportion to its own size, whatever it says of
itself. Every checksum is compared before anything is built.

Arrays are hashed and written a few megabytes at a time, so that writing takes little memory beside
the data. Equal arrays are stored once. Integers are stored in the narrowest type that holds them,
and come back as 64 bits.
"""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import re
import struct
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from scipy import sparse

from .. import __version__
from .atomic import replacing

# The head of an array of numbers as NumPy writes it. No other head is read, and none is evaluated.
HEAD = re.compile(
    rb"\{'descr': '([<>|][biuf]\d{1,2})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,19}(?:, |,|(?=\))))*)\), \} *\n"
)
# A zip entry without a time stamp: equal contents give equal files.
EPOCH = (1980, 1, 1, 0, 0, 0)
# Bytes from which an entry's sizes are written in 64 bits: below it zip's 32 bits hold them, and
# the head of the array.
ZIP64 = 2**31 - 2**16


class FileRefused(ValueError):
    """The file is of another kind or version, or is damaged; the message says which."""


@dataclass(frozen=True)
class Container:
    """A kind of file: what it is called, its version, and the records that it may hold.

    Attributes
    ----------
    format : str
        What such a file is called, in the header and in messages.
    version : int
        To be raised when a file could be misread by the reader of an earlier version.
    records : mapping of str to callable
        Frozen dataclasses of plain fields that a file may name, or what makes them from their
        fields: nothing else is ever built.
    error : type
        What damage and other formats are answered with.
    reads : tuple of int
        Earlier versions whose files are read as well.

    Examples
    --------
    >>> import tempfile
    >>> kind = Container("list of numbers", 1)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     kind.write(f"{folder}/file", {"x": np.arange(3.0), "name": "γ"})
    ...     kind.read(f"{folder}/file")
    {'x': array([0., 1., 2.]), 'name': 'γ'}
    """

    format: str
    version: int
    records: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    error: type[FileRefused] = FileRefused
    reads: tuple[int, ...] = ()

    def write(self, path: str | os.PathLike[str], content: Mapping[str, Any]) -> None:
        """Write nested data to one file, atomically.

        Values are None, bool, int, float, str, numeric arrays, sparse matrices, records, or lists,
        tuples and mappings of these; of anything else a TypeError says where it is.
        """
        arrays: Arrays = {}
        body = self._encode(content, arrays, self.format.split()[-1])
        header = json.dumps(
            {
                "format": self.format,
                "format_version": self.version,
                "package_version": __version__,
                "sha256": list(arrays),
                "content": body,
            },
            allow_nan=False,
        ).encode()
        digest = hashlib.sha256(header).hexdigest().encode()
        with replacing(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_STORED) as archive:
            for name, data in (("header.json", header), ("header.sha256", digest)):
                archive.writestr(zipfile.ZipInfo(name, EPOCH), data)
            for k, (value, kind) in enumerate(arrays.values()):
                entry = zipfile.ZipInfo(f"arrays/{k}.npy", EPOCH)
                with archive.open(entry, "w", force_zip64=value.nbytes >= ZIP64) as member:
                    _write_array(member, value, kind)

    def read(self, path: str | os.PathLike[str]) -> dict[str, Any]:
        """Read back what :meth:`write` wrote; refuse everything else by a sentence."""
        name = os.fspath(path)
        whole = io.BytesIO(Path(path).read_bytes())
        if not zipfile.is_zipfile(whole):
            raise self.error(f"{name} is not a {self.format}, or its end is cut off")
        try:
            with zipfile.ZipFile(whole) as archive:
                members = {info.filename: info for info in archive.infolist()}
                if "header.json" not in members or "header.sha256" not in members:
                    raise self.error(f"{name} is a zip file, but not a {self.format}")
                if any(info.compress_type != zipfile.ZIP_STORED for info in members.values()):
                    raise self.error(f"{name} was repacked with compression: use the original")
                size = whole.getbuffer().nbytes
                if sum(info.file_size for info in archive.infolist()) > size:
                    raise self.error(f"{name} is damaged: its members are larger than the file")
                header = self._header(name, archive)
                digests = header["sha256"]
                raw = [archive.read(f"arrays/{k}.npy") for k in range(len(digests))]
        except self.error:
            raise
        except Exception as error:  # zipfile answers damage with half a dozen kinds of errors
            raise self.error(f"{name} is damaged: {first_line(error)}") from error
        for k, (data, digest) in enumerate(zip(raw, digests, strict=True)):
            if hashlib.sha256(data).hexdigest() != digest:
                raise self.error(f"{name} is damaged: the checksum of array {k} does not match")
        try:
            content = self._decode(header["content"], [_read_array(data, size) for data in raw])
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as error:
            raise self.error(f"{name} is damaged: {first_line(error)}") from error
        if not isinstance(content, dict):
            raise self.error(f"{name} is damaged: its content is no map of names")
        return content

    def _header(self, name: str, archive: zipfile.ZipFile) -> dict[str, Any]:
        raw = archive.read("header.json")
        if hashlib.sha256(raw).hexdigest().encode() != archive.read("header.sha256").strip():
            raise self.error(f"{name} is damaged: the checksum of its header does not match")
        try:
            header = json.loads(raw)
            found, version = header["format"], header["format_version"]
        except RecursionError as error:
            raise self.error(f"{name} is damaged: its header is nested too deeply") from error
        except (ValueError, KeyError, TypeError) as error:
            raise self.error(f"{name} is not a {self.format}") from error
        if found != self.format or not isinstance(version, int):
            raise self.error(f"{name} holds {found!r}, not a {self.format}")
        if version not in (self.version, *self.reads):
            remedy = "upgrade with pip install --upgrade convexcluster"
            raise self.error(
                f"{name} has format version {version}, written by convexcluster "
                f"{header.get('package_version')}; this is {__version__}, which reads version "
                f"{self.version}: {remedy if version > self.version else 'make the file anew'}"
            )
        if not isinstance(header.get("sha256"), list) or "content" not in header:
            raise self.error(f"{name} is damaged: its header is incomplete")
        return header

    def _encode(self, value: Any, arrays: Arrays, where: str) -> Any:
        """Turn ``value`` into JSON; an array becomes ``{"array": k}``, nan ``{"float": "nan"}``.

        ``{"integers": k}`` is an array of 64-bit integers that is narrower in the file. Plain
        mappings are wrapped as ``{"map": …}``, lest a user's key be mistaken for these marks.
        """
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, bool | int | str):
            return value
        if isinstance(value, float):
            return value if np.isfinite(value) else {"float": repr(value)}
        if isinstance(value, np.ndarray):
            return _encode_array(value, arrays, where)
        if isinstance(value, Mapping):
            inner = {str(k): self._encode(v, arrays, f"{where}.{k}") for k, v in value.items()}
            return {"map": inner}
        if isinstance(value, list | tuple):
            items = [self._encode(v, arrays, f"{where}[{k}]") for k, v in enumerate(value)]
            return items if isinstance(value, list) else {"tuple": items}
        if isinstance(value, slice):
            return {"slice": [value.start, value.stop, value.step]}
        if sparse.issparse(value):
            csr: Any = sparse.csr_array(cast(Any, value))
            parts = {"data": csr.data, "indices": csr.indices, "indptr": csr.indptr}
            return {"sparse": self._encode({**parts, "shape": list(csr.shape)}, arrays, where)}
        name = type(value).__name__
        if name in self.records and is_dataclass(value):
            plain = {f.name: getattr(value, f.name) for f in fields(value)}
            return {"record": [name, self._encode(plain, arrays, where)]}
        if callable(value):
            raise TypeError(
                f"{where} is a function or object of code, which a file of data cannot hold: "
                "use a named kernel or kernel='precomputed'"
            )
        raise TypeError(f"{where} is a {name}, which cannot be saved without pickle")

    def _decode(self, value: Any, arrays: list[np.ndarray]) -> Any:
        if isinstance(value, list):
            return [self._decode(v, arrays) for v in value]
        if not isinstance(value, dict):
            return value
        ((mark, inner),) = value.items()
        if mark == "map":
            return {key: self._decode(v, arrays) for key, v in inner.items()}
        if mark in ("array", "integers"):
            if not 0 <= inner < len(arrays):
                raise ValueError(f"array {inner} is missing")
            if mark == "array":
                return arrays[inner]
            if arrays[inner].dtype.kind not in "iu":
                raise ValueError(f"array {inner} is not of integers")
            return arrays[inner].astype(np.int64)
        if mark == "tuple":
            return tuple(self._decode(inner, arrays))
        if mark == "slice":
            if not all(v is None or isinstance(v, int) for v in inner):
                raise ValueError("a slice of something else than numbers")
            return slice(*inner)
        if mark == "float":
            return {"nan": np.nan, "inf": np.inf, "-inf": -np.inf}[inner]
        if mark == "strings":
            if not (isinstance(inner, list) and all(isinstance(v, str) for v in inner)):
                raise ValueError("names that are no text")
            return np.array(inner, dtype=object)
        if mark == "sparse":
            part = self._decode(inner, arrays)
            shape = tuple(part.pop("shape"))
            return sparse.csr_array((part["data"], part["indices"], part["indptr"]), shape=shape)
        if mark == "record":
            name, content = inner
            return self.records[name](**self._decode(content, arrays))
        raise ValueError(f"unknown mark {mark!r}")


# Arrays by their checksum, in the order in which they are written, and the types in the file.
Arrays = dict[str, tuple[np.ndarray, np.dtype[Any]]]


def _encode_array(value: np.ndarray, arrays: Arrays, where: str) -> dict[str, Any]:
    if value.dtype.kind in "OUT" and all(isinstance(v, str) for v in value.flat):
        return {"strings": value.tolist()}  # names of the columns
    if value.dtype.kind not in "biuf":
        raise TypeError(f"{where} is an array of {value.dtype}: only numbers can be saved")
    kind = _narrowest(value)
    digest = Digest()
    _write_array(digest, value, kind)
    arrays.setdefault(digest.text, (value, kind))
    place = list(arrays).index(digest.text)
    return {"integers" if kind != value.dtype else "array": place}


def _narrowest(value: np.ndarray) -> np.dtype[Any]:
    """The type of the array; of 64-bit integers the narrowest one that holds them."""
    if value.dtype != np.int64 or value.size == 0:
        return value.dtype
    low, high = int(value.min()), int(value.max())
    kind = np.min_scalar_type(min(low, -high - 1) if low < 0 else high)
    return kind if kind.itemsize < value.itemsize else value.dtype


class Digest:
    """A file that keeps nothing but the checksum of what is written."""

    def __init__(self) -> None:
        self.hash = hashlib.sha256()

    def write(self, data: Any) -> int:
        """Take more bytes."""
        self.hash.update(data)
        return len(data)

    @property
    def text(self) -> str:
        """SHA-256 of all bytes so far."""
        return self.hash.hexdigest()


def _write_array(file: Any, value: np.ndarray, kind: np.dtype[Any]) -> None:
    """Write an array in NumPy's format, a few megabytes at a time."""
    np.lib.format.write_array(file, value.astype(kind, copy=False), allow_pickle=False)


def _read_array(data: bytes, limit: int) -> np.ndarray:
    """The array of a member; its shape must be that of its bytes, and no side above ``limit``."""
    start = 10 + struct.unpack("<H", data[8:10].ljust(2, b"\0"))[0]
    head = HEAD.fullmatch(data[10:start])
    if data[:8] != b"\x93NUMPY\x01\x00" or head is None:
        raise ValueError("an array of something else than numbers")
    dtype = np.dtype(head[1].decode())
    shape = tuple(int(side) for side in head[3].split(b",") if side.strip())
    if math.prod(shape) * dtype.itemsize != len(data) - start or max(shape, default=0) > limit:
        raise ValueError(f"an array of {len(data) - start} bytes has the shape {shape}")
    array = np.frombuffer(data, dtype, offset=start).copy()
    return array.reshape(shape, order="F" if head[2] == b"True" else "C")


def first_line(error: BaseException) -> str:
    """The first line of a message, for use inside a sentence."""
    return (str(error).strip("'\"").splitlines() or [type(error).__name__])[0]
