"""Saving a path on the way, and going on from there.

One .npz file: the arrays of the path so far, the arrays of every engine, and a JSON header with the
version and the fingerprint of problem and grid. It is written beside and renamed, so that it is
whole at any time; nothing in it is pickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from pathlib import Path

import numpy as np

from .clusterpath import ClusterPath
from .collect import PathBuilder
from .engine import Engine

VERSION = 2

# Seconds between two saves: a fraction of what would be lost, and far above what one costs.
EVERY = 5.0


def fingerprint(*parts: np.ndarray | str) -> str:
    """Hash of arrays and strings that tells one problem from another."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else repr(part.shape).encode())
        if not isinstance(part, str):
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


class Checkpoint:
    """A file that belongs to one problem and grid."""

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.key = path, key
        self.saved = time.monotonic()

    def load(self, engines: list[Engine], builder: PathBuilder) -> None:
        """Restore engines and path if the file exists; refuse a file of another problem."""
        if not self.path.exists():
            return
        with np.load(self.path, allow_pickle=False) as arrays:
            header = json.loads(str(arrays["header"]))
            if header["version"] != VERSION or header["key"] != self.key:
                raise ValueError(
                    f"{self.path} is a checkpoint of another problem, grid or version: "
                    "delete it, or pass another file"
                )
            stored = {name: arrays[name] for name in arrays.files}
        builder.restore(ClusterPath.from_arrays(_only("path", stored)))
        for number, engine in enumerate(engines):
            engine.restore(_only(f"engine{number}", stored))

    def save(self, engines: list[Engine], builder: PathBuilder, last: bool) -> None:
        """Write the state after a γ, if it is time or the ``last`` one."""
        if not last and time.monotonic() - self.saved < EVERY:
            return
        header = json.dumps({"version": VERSION, "key": self.key})
        arrays: dict[str, np.ndarray] = {"header": np.array(header)}
        for name, value in builder.build(last).to_arrays().items():
            arrays[f"path.{name}"] = value
        for number, engine in enumerate(engines):
            for name, value in engine.to_arrays().items():
                arrays[f"engine{number}.{name}"] = value
        beside = self.path.with_name(f"{self.path.name}.{os.getpid()}.part")
        with open(beside, "wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]
        os.replace(beside, self.path)
        self.saved = time.monotonic()


def _only(prefix: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    cut = len(prefix) + 1
    return {name[cut:]: value for name, value in arrays.items() if name.startswith(prefix + ".")}
