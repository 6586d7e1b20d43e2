"""Markdown, CSV and PNG files, written whole and the same way every time."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..optional import need
from ..storage import replacing

# A page of this many pixels across reads well and keeps a figure below a few hundred kB.
DPI = 110


def write_text(file: Path, text: str) -> None:
    """Write a text that ends in a new line; the folder is made if it is absent."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as out:
        out.write((text if text.endswith("\n") else text + "\n").encode())


def write_csv(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    """Rows of plain values; columns in the order of the first row."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    write_text(file, text.getvalue())


def markdown_table(header: Sequence[str], rows: Sequence[Sequence[Any]], *, texts: int = 1) -> str:
    """A Markdown table; the first ``texts`` columns are text, the others are right-aligned."""
    first, *rest = ("| " + " | ".join(map(str, cells)) + " |" for cells in (header, *rows))
    return "\n".join([first, "|" + "---|" * texts + "---:|" * (len(header) - texts), *rest])


def formatted(rows: Sequence[dict[str, Any]], *formats: str) -> list[list[str]]:
    """Cells of a Markdown table: every format filled from every row."""
    return [[form.format(**row) for form in formats] for row in rows]


def empty_figure(width: float, height: float) -> Any:
    """A figure without a window and without axes."""
    need("matplotlib", "plot")
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def figure(rows: int, columns: int, width: float, height: float) -> tuple[Any, list[Any]]:
    """A figure without a window, and its axes in reading order."""
    made = empty_figure(width, height)
    return made, list(made.subplots(rows, columns, squeeze=False).ravel())


def save_figure(made: Any, file: Path) -> None:
    """PNG without a date in it, so that equal figures are equal files."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with replacing(file) as out:
        made.savefig(out, format="png", dpi=DPI, metadata={"Software": None})
