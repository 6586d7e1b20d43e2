"""One way to write a file: beside its place, then moved there."""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str], *, overwrite: bool = True) -> Iterator[BinaryIO]:
    """Yield a new binary file that becomes ``path`` if the block ends without an error.

    A reader sees the old file or the new one, never half of one, also after a crash. Without
    ``overwrite`` a file that exists or appears in the meantime stays: a FileExistsError.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/name") as file:
    ...         count = file.write(b"whole")
    ...     Path(folder, "name").read_bytes()
    b'whole'
    """
    path = Path(path)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with _named(path):
            aside.touch(exist_ok=False)
        with open(aside, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _named(path):
            if overwrite:
                os.replace(aside, path)
            else:
                os.link(aside, path)  # fails if the target exists, without a race
    finally:
        aside.unlink(missing_ok=True)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """An error names the file that was asked for, not the one beside it."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def check_writable(path: str | os.PathLike[str]) -> None:
    """Raise the OSError that writing ``path`` by :func:`replacing` would end in."""
    path = Path(path)
    aside = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with _named(path):
            aside.touch(exist_ok=False)
    finally:
        aside.unlink(missing_ok=True)


def clear_partial(path: str | os.PathLike[str]) -> None:
    """Delete what a killed process left of writing ``path``; no other process may be writing it.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     count = Path(folder, ".name.0123abcd").write_bytes(b"ha")
    ...     clear_partial(f"{folder}/name")
    ...     os.listdir(folder)
    []
    """
    path = Path(path)
    partial = re.compile(re.escape(f".{path.name}.") + "[0-9a-f]{8}")
    for beside in path.parent.iterdir():
        if partial.fullmatch(beside.name):
            beside.unlink(missing_ok=True)
