"""One way to write a file: beside its place, then moved there."""

from __future__ import annotations

import os
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
        with open(aside, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if overwrite:
            os.replace(aside, path)
        else:
            os.link(aside, path)  # fails if the target exists, without a race
    finally:
        aside.unlink(missing_ok=True)
