"""Saving a path on the way, and going on from there.

One :class:`~convexcluster.storage.Container`: the path so far, the arrays of every engine, and the
fingerprint of problem and grid. The file is whole at any time; nothing in it is pickled.
"""

from __future__ import annotations

import hashlib
import time
from pathlib import Path

import numpy as np

from ..storage import Container
from .clusterpath import ClusterPath
from .collect import PathBuilder
from .engine import Engine

FILE = Container("convexcluster checkpoint", 3, {"ClusterPath": ClusterPath})

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
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"the folder of the checkpoint {self.path} does not exist")
        if not self.path.exists():
            return
        stored = FILE.read(self.path)
        if stored["key"] != self.key:
            raise ValueError(
                f"{self.path} is a checkpoint of another problem or grid: "
                "delete it, or pass another file"
            )
        builder.restore(stored["path"])
        for engine, arrays in zip(engines, stored["engines"], strict=True):
            engine.restore(arrays)

    def save(self, engines: list[Engine], builder: PathBuilder, last: bool) -> None:
        """Write the state after a γ, if it is time or the ``last`` one."""
        if not last and time.monotonic() - self.saved < EVERY:
            return
        state = {
            "key": self.key,
            "path": builder.build(last),
            "engines": [engine.to_arrays() for engine in engines],
        }
        FILE.write(self.path, state)
        self.saved = time.monotonic()
