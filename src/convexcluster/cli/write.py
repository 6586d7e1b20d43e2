"""Results → files: a folder that appears whole or not at all.

Files are written into a hidden folder beside the target, which is renamed when all of them are
there. A reader never sees half of it, and an error leaves what was there before.
"""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np

from ..problem import Floats, Ints
from ..storage import replacing
from . import interrupt
from .refusal import Exit, Refusal

# The mark by which --force tells a folder of ours, which it may replace, from any other.
MARK = "convexcluster results"


def probe_folder(target: Path, *, force: bool) -> None:
    """Refuse a target that cannot be written, before the work; leave nothing behind."""
    check_folder(target, force=force)
    target = target.resolve()
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent).cleanup()
    except OSError as error:
        raise Refusal(f"cannot write {target}: {error.strerror}", Exit.OUTPUT) from error
    finally:
        _remove(made)


def probe_file(target: Path, *, force: bool) -> None:
    """Refuse a file that exists or cannot be written, before the work."""
    if target.exists() and not force:
        raise Refusal(f"{target} exists: pass --force to replace it", Exit.OUTPUT)
    if target.is_dir():
        raise Refusal(f"{target} is a folder: name a file in it", Exit.OUTPUT)
    folder = target.parent
    if not folder.is_dir():
        raise Refusal(f"cannot write {target}: there is no folder {folder}", Exit.OUTPUT)
    if not os.access(folder, os.W_OK):
        raise Refusal(f"cannot write {target}: the folder {folder} is read-only", Exit.OUTPUT)


@contextmanager
def output_folder(target: Path, *, force: bool) -> Iterator[Path]:
    """Yield an empty folder that becomes ``target`` if the block ends without an error."""
    check_folder(target, force=force)
    target = target.resolve()
    work = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    made = [folder for folder in target.parents if not folder.exists()]
    try:
        try:
            work.mkdir(parents=True)
        except OSError as error:
            raise Refusal(f"cannot write {target}: {error.strerror}", Exit.OUTPUT) from error
        yield work
        interrupt.commit()
        check_folder(target, force=force)  # it may have appeared while we were at work
        _swap(work, target)
    except BaseException:
        interrupt.ignore()
        shutil.rmtree(work, ignore_errors=True)
        _remove(made)
        raise


def _remove(made: Sequence[Path]) -> None:
    """Folders that were made on the way, innermost first."""
    with suppress(OSError):  # others may have put something there
        for folder in made:
            folder.rmdir()


def check_folder(target: Path, *, force: bool) -> None:
    """Refuse a target that holds something, unless ``force`` and it is a folder of ours."""
    if not target.exists() or (target.is_dir() and not any(target.iterdir())):
        return
    if not force:
        raise Refusal(f"{target} exists: pass --force to replace it", Exit.OUTPUT)
    if not _is_ours(target):
        raise Refusal(
            f"{target} was not written by convexcluster, so --force does not replace it: "
            "choose another --out or delete it yourself",
            Exit.OUTPUT,
        )


def _is_ours(target: Path) -> bool:
    try:
        return json.loads((target / "summary.json").read_text("utf-8")).get("kind") == MARK
    except (OSError, ValueError, AttributeError):
        return False


def _swap(work: Path, target: Path) -> None:
    if not target.exists() or not any(target.iterdir()):
        os.rename(work, target)  # replaces an empty folder
        return
    old = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    os.rename(target, old)
    try:
        os.rename(work, target)
    except OSError:
        os.rename(old, target)
        raise
    shutil.rmtree(old, ignore_errors=True)


def write_file(target: Path, content: str | bytes, *, force: bool) -> None:
    """Write one file, atomically; an existing one only with ``force``."""
    interrupt.commit()
    try:
        with replacing(target, overwrite=force) as file:
            file.write(content.encode() if isinstance(content, str) else content)
    except FileExistsError:
        raise Refusal(f"{target} exists: pass --force to replace it", Exit.OUTPUT) from None
    except OSError as error:
        raise Refusal(f"cannot write {target}: {error.strerror}", Exit.OUTPUT) from error


def labels_csv(ids: Sequence[str], labels: Ints) -> str:
    """``id,label`` lines; an id that a spreadsheet would run as a formula gets a quote in front."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow(["id", "label"])
    writer.writerows((spreadsheet_safe(i), int(label)) for i, label in zip(ids, labels))
    return buffer.getvalue()


def spreadsheet_safe(text: str) -> str:
    """Defuse text that a spreadsheet would take for a formula; numbers pass as they are.

    Examples
    --------
    >>> [spreadsheet_safe(t) for t in ("a", "-5", "=1+1", "@SUM(A1)", "-2+3")]
    ['a', '-5', "'=1+1", "'@SUM(A1)", "'-2+3"]
    """
    if not text.lstrip().startswith(("=", "+", "-", "@")) and text[:1] not in ("\t", "\r", "\n"):
        return text
    try:
        float(text)
    except ValueError:
        return "'" + text
    return text


def tree_json(linkage: Floats, ids: Sequence[str], label_tree: Floats | None = None) -> str:
    """The fusion tree, and the tree that the labels were cut from, each as one flat list.

    Nested JSON would overflow the readers of deep trees.
    """
    content: dict[str, Any] = {
        "format": "convexcluster tree",
        "version": 1,
        "note": "node n + k is the k-th merge, n the number of leaves; heights are fusion γ",
        "leaves": list(ids),
        "columns": ["left", "right", "gamma", "size"],
        "merges": _merges(linkage),
    }
    if label_tree is not None:
        content["label_tree"] = {
            "columns": ["left", "right", "height", "size"],
            "merges": _merges(label_tree),
        }
    return json.dumps(content, ensure_ascii=False)


def _merges(linkage: Floats) -> list[list[float]]:
    return [[int(a), int(b), float(height), int(size)] for a, b, height, size in linkage]


def newick(linkage: Floats, ids: Sequence[str]) -> str:
    """The merge tree in Newick format; a branch is as long as the γ between its two fusions."""
    n = len(ids)
    if n == 1:
        return f"{_quoted(ids[0])};"
    heights = np.concatenate([np.zeros(n), linkage[:, 2]])
    parts: list[str] = []
    # An explicit stack: a chain of a hundred thousand merges is no deeper than any other tree.
    stack: list[tuple[str, int, float]] = [("open", 2 * n - 2, heights[-1])]
    while stack:
        kind, node, above = stack.pop()
        if kind == "text":
            parts.append(",")
        elif kind == "close":
            parts.append(f"):{above - heights[node]:.12g}")
        elif node < n:
            parts.append(f"{_quoted(ids[node])}:{above - heights[node]:.12g}")
        else:
            left, right = (int(child) for child in linkage[node - n, :2])
            parts.append("(")
            stack.append(("close", node, above))
            stack.append(("open", right, heights[node]))
            stack.append(("text", node, above))
            stack.append(("open", left, heights[node]))
    return "".join(parts).removesuffix(":0") + ";"


def _quoted(name: str) -> str:
    """A Newick label: in single quotes, which are doubled; line breaks become spaces."""
    plain = "".join(c if c.isprintable() else " " for c in name)
    return "'" + plain.replace("'", "''") + "'"


def to_json(value: Any) -> str:
    """JSON for machines: NumPy numbers as numbers, NaN and infinity as null."""
    return json.dumps(_plain(value), indent=2, ensure_ascii=False, allow_nan=False)


def write_summary(folder: Path, summary: dict[str, Any]) -> None:
    """Write ``summary.json``, the last file of a result folder, which names them all."""
    summary["files"] = sorted({file.name for file in folder.iterdir()} | {"summary.json"})
    (folder / "summary.json").write_text(to_json(summary) + "\n", "utf-8")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(v) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value
