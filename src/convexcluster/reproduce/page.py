"""What a target produces, and the type of the generators that produce it.

A target is a generator: it yields lists of cells, is sent their results by key, and returns a
:class:`Page`. Cells are shared by key, so that a figure reuses what a table computed.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any

from .cells import Cell, Result

Results = dict[str, Result]


@dataclass(frozen=True)
class Page:
    """Markdown, CSV tables and figures by file name."""

    markdown: str
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)


Target = Callable[[], Generator[list[Cell], Results, Page]]
