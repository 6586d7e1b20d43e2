"""What the columns of a file are: which name the rows, which hold numbers, categories or dates.

Nothing is guessed silently: what is recognised comes back as plain data, for the last lines of a
command and for ``summary.json``. What cannot be used is refused with file, line and column.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem import Floats
from ..tables.check import collapses
from ..tables.kinds import Column
from .raw import Raw, name_of
from .refusal import Refusal

if TYPE_CHECKING:
    import pandas as pd

    from .options import Input


def find_ids(
    source: Input, raw: Raw, columns: list[Column], *, matrix: bool
) -> tuple[str | None, list[Column]]:
    """The first column that names the rows, or None, and the features without such columns.

    Row numbers, texts that all differ, and a column without a name whose values differ name rows.
    A table of such columns alone has features nonetheless.
    """
    names = [c.name for c in columns if _names_rows(c, raw, matrix)]
    empty = [c.name for c in columns if c.name in raw.nameless and not len(c.seen)]
    gone = {*names, *empty}
    left = [column for column in columns if column.name not in gone]
    for column in left:
        if (name := column.name) in raw.nameless:
            position = list(raw.frame.columns).index(name) + 1
            raise Refusal(
                f"column {position} of {name_of(source)} has no name, like a row index, but its "
                f"values repeat: name it by --id-column {name} or leave it out with --drop {name}"
            )
    if not left:
        return source.id_column, columns
    return source.id_column or (names[0] if names else None), left


def _names_rows(column: Column, raw: Raw, matrix: bool) -> bool:
    """Whether a column is an identifier, or has no name and holds values that all differ."""
    if column.name in raw.nameless:
        return not column.missing.any() and len(set(column.words)) == len(column.values)
    numbers = column.values.dtype.kind in "biuf"
    return column.kind == "identifier" and not (matrix and numbers)


def features_of(
    raw: Raw, columns: Sequence[Column], name: str, *, new: bool = False, as_frame: bool = False
) -> tuple[Floats | pd.DataFrame, dict[str, Any]]:
    """Features as numbers, or as a frame of several kinds; and what was recognised.

    Columns of ``new`` rows for a model may be empty.
    """
    for column in columns:
        if not new and not len(column.seen):
            raise Refusal(
                f"{name}, column {column.name!r} has no value at all: leave it out with "
                f"--drop '{column.name}'"
            )
        _check(name, raw, column)
    missing = {str(c.name): int(c.missing.sum()) for c in columns if c.missing.any()}
    if len(missing) == len(columns):
        empty = np.all([column.missing for column in columns], axis=0)
        if empty.any():
            where = raw.where(int(np.argmax(empty)))
            raise Refusal(f"{name}, {where} has no value at all: delete it")
    kinds: dict[str, list[str]] = {}
    for column in columns:
        kinds.setdefault(_kind(column), []).append(str(column.name))
    found = {"kinds": kinds, "missing": missing}
    if as_frame or set(kinds) != {"number"}:
        return raw.frame[[column.name for column in columns]], found
    X = np.column_stack([column.numbers("number") for column in columns])
    return np.ascontiguousarray(X, dtype=np.float64), found


def _kind(column: Column) -> str:
    """A column of features is no identifier: it was asked for, or nothing else is there."""
    if column.kind != "identifier":
        return column.kind
    return "number" if column.values.dtype.kind in "iuf" else "category"


def _check(file: str, raw: Raw, column: Column) -> None:
    """Refuse a column that is neither numbers nor of another kind that can be encoded."""
    name = f"{file}, column {column.name!r}"
    if column.kind == "broken":
        row, text = column.stray()
        marks = "--decimal , or " if "," in text else ""
        raise Refusal(
            f"{name} holds {text[:40]!r} in {raw.where(row)} among numbers: {marks}"
            f"--missing '{text[:40]}' if that means a missing value, --categorical "
            f"'{column.name}' if all of them are categories, or --drop '{column.name}'"
        )
    if column.kind in ("text", "time of day"):
        count = len(set(column.words))
        raise Refusal(
            f"{name} is {column.kind} ({str(column.seen[0])[:40]!r} in {raw.where(0)}; {count} "
            f"different values): leave it out with --drop '{column.name}', name it as --id-column "
            f"or --label-column, or as --categorical if these are categories"
        )
    if column.kind in ("number", "identifier") and collapses(column.values):
        raise Refusal(
            f"{name} holds integers beyond 2⁵³ of which several are one floating-point number: "
            f"leave it out with --drop '{column.name}', name it as --id-column, or as "
            "--categorical if these are categories"
        )
    if column.values.dtype.kind == "f" and np.isinf(column.values).any():
        row = int(np.argmax(np.isinf(column.values)))
        raise Refusal(
            f"{name} holds an infinite value in {raw.where(row)}: replace it by a number or "
            "leave it empty"
        )
