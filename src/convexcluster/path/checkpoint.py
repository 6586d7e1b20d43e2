"""Saving a path on the way, and going on from there.

One :class:`~convexcluster.storage.Container`: the path so far, the γ that are still ahead, the
arrays of every engine, and the fingerprint of problem and grid. A path that goes on from the file
is the path without a stop. The file is whole at any time; nothing is pickled.
"""

from __future__ import annotations

import hashlib
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..storage import Container, FileRefused, check_writable, clear_partial
from .builder import PathBuilder
from .clusterpath import ClusterPath
from .engine import Engine

FILE = Container("convexcluster checkpoint", 6, {"ClusterPath": ClusterPath})

# Seconds between two saves: a fraction of what would be lost, and far above what one costs.
EVERY = 5.0

REMEDY = "delete it to solve the path from its start, or pass another file"


def fingerprint(*parts: np.ndarray | str) -> str:
    """Hash of arrays and strings that tells one problem from another."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(part.encode() if isinstance(part, str) else repr(part.shape).encode())
        if not isinstance(part, str):
            digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


@dataclass(slots=True)
class Agenda:
    """The γ that are ``ahead``, the next one last, and how many more may be put between them.

    ``seen`` are the clusters of each that was solved and put off; 0 of the others.
    """

    ahead: list[float]
    spare: int
    seen: list[int]


class Checkpoint:
    """A file that belongs to one problem and grid."""

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.key = path, key
        self.saved = time.monotonic()

    def load(self, engines: list[Engine], builder: PathBuilder) -> Agenda | None:
        """Restore engines and path and return what is ahead, if the file exists.

        A file that cannot be read, written or continued is refused by a sentence.
        """
        if not self.path.parent.is_dir():
            raise FileNotFoundError(
                f"the folder of the checkpoint {self.path} does not exist: "
                "make it, or pass a file in another folder"
            )
        try:
            clear_partial(self.path)
            check_writable(self.path)
            if not self.path.exists():
                return None
            stored = FILE.read(self.path)
        except FileRefused as error:
            raise ValueError(f"{error}; {REMEDY}") from error
        except OSError as error:
            raise OSError(
                f"the checkpoint {self.path} cannot be written or read ({error.strerror}): "
                "pass a file in another folder"
            ) from error
        if stored["key"] != self.key:
            raise ValueError(f"{self.path} is a checkpoint of another problem or grid; {REMEDY}")
        builder.restore(stored["path"])
        for engine, arrays in zip(engines, stored["engines"], strict=True):
            engine.restore(arrays)
        return Agenda(stored["ahead"].tolist(), stored["spare"], stored["seen"].tolist())

    def save(self, engines: list[Engine], builder: PathBuilder, agenda: Agenda) -> None:
        """Write the state after a γ, if it is time or the last one."""
        last = not agenda.ahead
        if not last and time.monotonic() - self.saved < EVERY:
            return
        state = {
            "key": self.key,
            "path": builder.build(last),
            "ahead": np.array(agenda.ahead, dtype=np.float64),
            "spare": agenda.spare,
            "seen": np.array(agenda.seen, dtype=np.int64),
            "engines": [engine.to_arrays() for engine in engines],
        }
        FILE.write(self.path, state)
        self.saved = time.monotonic()
