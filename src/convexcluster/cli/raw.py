"""What every reader of a file returns: a frame of possible features, and how it was read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from .options import Input

# Text that means "missing" in a column of features; an id or a label may well be called NA.
MISSING = ("", "NA", "N/A", "n/a", "nan", "NaN", "-nan", "null", "NULL", "None", "<NA>", "#N/A")


def _row(row: int) -> str:
    return f"row {row + 1}"


@dataclass(frozen=True)
class Raw:
    """A frame of possible features, and arrays that can only be ids or labels."""

    frame: pd.DataFrame
    side: dict[str, np.ndarray] = field(default_factory=dict)
    nameless: tuple[str, ...] = ()
    found: dict[str, Any] = field(default_factory=dict)  # what was recognised, as plain data
    where: Callable[[int], str] = _row  # how a person finds a row of the frame in the file


def name_of(source: Input) -> str:
    """How a person calls the source."""
    return "standard input" if source.data == "-" else source.data


def unnamed(names: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """Names for columns that have none, counted from 1; and which these are."""
    full = [name if name.strip() else f"unnamed{k}" for k, name in enumerate(names, start=1)]
    return full, tuple(new for new, old in zip(full, names) if not old.strip())
