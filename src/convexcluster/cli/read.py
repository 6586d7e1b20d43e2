"""Files → :class:`Table`: numbers, ids and labels, or a sentence that says what is wrong.

Input is a file name (or ``-``) and which columns mean what; output is X (n × d, missing values as
NaN) with the names of its rows and columns. Rows are counted from 1, as spreadsheets do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem import Floats
from .formats import Raw, is_number, name_of, read_raw
from .refusal import Refusal

if TYPE_CHECKING:
    import pandas as pd

    from .options import Input


@dataclass(frozen=True)
class Table:
    """Numbers with the names of their rows and columns."""

    X: Floats  # (n, d); missing values are NaN, nothing is infinite
    features: tuple[str, ...]
    ids: tuple[str, ...]  # the id column, or 1, 2, …
    labels: tuple[str, ...] | None = None  # for scoring only; empty where unknown


def read(source: Input, *, wanted: Sequence[str] | None = None) -> Table:
    """Read a table; with ``wanted`` exactly these features in this order, as a saved model."""
    raw = read_raw(source)
    n = len(raw.frame)
    if n == 0:
        raise Refusal(f"{name_of(source)} has no rows")
    ids = _texts(source, raw, source.id_column, "--id-column")
    labels = _texts(source, raw, source.label_column, "--label-column")
    features = _select(source, raw, wanted)
    return Table(
        X=_numbers(source, raw.frame[features]),
        features=tuple(str(f) for f in features),
        ids=ids or tuple(str(i) for i in range(1, n + 1)),
        labels=labels,
    )


def first_missing(table: Table) -> str | None:
    """Name the first missing value, row by row, or return None."""
    bad = np.isnan(table.X)
    if not bad.any():
        return None
    row, column = np.argwhere(bad)[0]
    return f"{_row(table.ids, int(row))}, column {table.features[column]!r}"


def _row(ids: Sequence[str], row: int) -> str:
    return f"row {row + 1}" + (f" (id {ids[row]!r})" if ids[row] != str(row + 1) else "")


def _texts(source: Input, raw: Raw, column: str | None, option: str) -> tuple[str, ...] | None:
    """A column as text: ids or labels."""
    if column is None:
        return None
    if column in raw.side:
        values: Iterable[Any] = raw.side[column].tolist()
    elif column in raw.frame.columns:
        values = raw.frame[column].tolist()
    else:
        raise Refusal(f"{option} {column!r} is not in {name_of(source)}{_listed(raw)}")
    return tuple(_text(value) for value in values)


def _text(value: Any) -> str:
    if value is None or value != value:  # NaN and pandas' NA differ from themselves
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _listed(raw: Raw) -> str:
    names = [*raw.frame.columns, *raw.side]
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return f", which has the columns {shown}"


def _select(source: Input, raw: Raw, wanted: Sequence[str] | None) -> list[str]:
    """Names of the feature columns."""
    present = list(raw.frame.columns)
    roles = {source.id_column, source.label_column}
    if wanted is not None:
        for name in wanted:
            if name not in present:
                raise Refusal(
                    f"the model was fitted on a column {name!r}, "
                    f"which is not in {name_of(source)}{_listed(raw)}"
                )
        return list(wanted)
    free = [name for name in present if name not in roles]
    chosen = _matching(source, raw, source.columns, free, "--columns") if source.columns else free
    dropped = set(_matching(source, raw, source.drop, free, "--drop"))
    chosen = [name for name in chosen if name not in dropped]
    if not source.columns:
        for name in chosen:
            if name in raw.nameless:
                raise Refusal(
                    f"column {present.index(name) + 1} of {name_of(source)} has no name, like a "
                    f"row index: use it with --id-column {name} or leave it out with --drop {name}"
                )
    if not chosen:
        raise Refusal(f"no feature column of {name_of(source)} is left: loosen --columns or --drop")
    return chosen


def _matching(
    source: Input, raw: Raw, patterns: Sequence[str], names: list[str], option: str
) -> list[str]:
    """Expand names, comma-separated lists and wildcards, in the order given, each once."""
    found: dict[str, None] = {}
    known = set(names)
    for pattern in patterns:
        for part in [pattern] if pattern in known else pattern.split(","):
            part = part.strip()
            hits = [part] if part in known else [n for n in names if fnmatchcase(n, part)]
            if not hits:
                raise Refusal(
                    f"{option} {part!r} matches nothing in {name_of(source)}{_listed(raw)}"
                )
            found.update(dict.fromkeys(hits))
    return list(found)


def _numbers(source: Input, frame: pd.DataFrame) -> Floats:
    """Feature columns as float64; text and dates are refused by the name of their column."""
    for name, dtype in frame.dtypes.items():
        kind = getattr(dtype, "kind", "O")
        if kind in "biuf":
            continue
        raise Refusal(_refuse_column(source, str(name), frame[name], kind))
    X = np.ascontiguousarray(frame.to_numpy(dtype=np.float64, na_value=np.nan))
    if np.isinf(X).any():
        row, column = np.argwhere(np.isinf(X))[0]
        raise Refusal(
            f"{name_of(source)} holds an infinite value in row {row + 1}, "
            f"column {frame.columns[column]!r}: replace it by a number or leave it empty"
        )
    return X


def _refuse_column(source: Input, name: str, values: pd.Series, kind: str) -> str:
    remedy = (
        f"leave it out with --drop '{name}', name it as --id-column or --label-column, "
        "or encode it as numbers"
    )
    if kind in "Mm":
        return f"column {name!r} of {name_of(source)} holds dates or times: {remedy}"
    for row, value in enumerate(values, start=1):
        text = _text(value)
        if text and not is_number(text):
            return (
                f"column {name!r} of {name_of(source)} is not numeric "
                f"({text[:40]!r} in row {row}): {remedy}"
            )
    return f"column {name!r} of {name_of(source)} is not numeric: {remedy}"
