"""Figures that outlive a run: one JSON line each, written as soon as it is known.

A run that was stopped goes on where it was: :meth:`Kept.get` computes only what is not in the file.
A key says what a figure depends on; those of ours end with :func:`source`, so that a change of the
package makes them anew and a change of a page does not.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OUT = ROOT / "benchmarks" / "out"

Figures = dict[str, Any]


class Kept:
    """Key → figures, in a file of JSON lines; a later line of a key replaces an earlier one."""

    def __init__(self, file: Path) -> None:
        self.file, self.known = file, {}
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True) if file.exists() else []
        whole = [line for line in lines if line.endswith("\n")]
        if len(whole) < len(lines):  # the run was stopped while it wrote the last line
            file.write_text("".join(whole), encoding="utf-8")
        for line in whole:
            record = json.loads(line)
            self.known[record["key"]] = record["figures"]

    def get(self, key: str, compute: Callable[[], Figures]) -> Figures:
        """The figures of a key, computed and written if the file has none."""
        if key not in self.known:
            figures = compute()
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with self.file.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "figures": figures}) + "\n")
            self.known[key] = figures
        return self.known[key]


def digest(*parts: bytes) -> str:
    """Ten hexadecimal digits that stand for some bytes."""
    found = hashlib.sha256()
    for part in parts:
        found.update(part)
    return found.hexdigest()[:10]


def source() -> str:
    """The state of the package that is imported: the digest of its source files.

    A commit that changes only pages has the digest of the one before; changes that are not
    committed have one of their own.
    """
    import convexcluster

    files = sorted(Path(convexcluster.__file__).parent.rglob("*.py"))
    return digest(*(file.read_bytes() for file in files))
