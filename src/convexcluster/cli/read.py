"""Files → :class:`Table`: features, ids and labels, or a sentence that says what is wrong.

Input is a file name (or ``-``) and which columns mean what; output is X (n × d) with the names of
its rows and columns, and what was recognised. Rows are counted from 1, as spreadsheets do.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

import numpy as np

from ..problem import Floats
from ..tables.kinds import columns_of, is_missing, word
from .formats import read_raw
from .raw import Raw, name_of
from .recognise import features_of, find_ids
from .refusal import Exit, Refusal

if TYPE_CHECKING:
    import pandas as pd

    from .options import Input


@dataclass(frozen=True)
class Table:
    """Features with the names of their rows and columns."""

    X: Floats | pd.DataFrame  # numbers (missing ones NaN, none infinite); a frame of several kinds
    features: tuple[str, ...]
    ids: tuple[str, ...]  # the id column, or 1, 2, …
    labels: tuple[str, ...] | None = None  # for scoring only; empty where unknown
    id_column: str | None = None
    found: dict[str, Any] = field(default_factory=dict)  # what was recognised, as plain data

    @property
    def is_numeric(self) -> bool:
        """Whether all features are numbers."""
        return isinstance(self.X, np.ndarray)

    @property
    def numbers(self) -> Floats:
        """X of a table of numbers."""
        assert isinstance(self.X, np.ndarray)
        return self.X


@dataclass(frozen=True)
class Remembered:
    """What a saved model knows of the table that it was fitted to."""

    features: tuple[str, ...] | None = None  # exactly these, in this order; None: any
    id_column: str | None = None  # taken if the new table has it
    categories: tuple[str, ...] = ()
    as_frame: bool = False  # whether the features are of several kinds
    matrix: bool = False  # a matrix of pairs: no column of numbers counts the rows


def read(source: Input, *, like: Remembered = Remembered()) -> Table:
    """Read a table; with ``like`` one for a saved model."""
    raw = read_raw(source)
    if source.transpose:
        raw = _transposed(source, raw)
    n = len(raw.frame)
    if n == 0:
        raise Refusal(f"{name_of(source)} has no rows")
    if source.id_column is None and like.id_column in raw.frame.columns:
        source = replace(source, id_column=like.id_column)
    id_column = source.id_column
    features = _select(source, raw, like.features)
    told = _matching(source, raw, source.categorical, features, "--categorical")
    columns = columns_of(raw.frame[features], [*told, *like.categories])
    if like.features is None and not source.columns:
        id_column, columns = find_ids(source, raw, columns, matrix=like.matrix)
        features = [str(column.name) for column in columns]
    ids = _texts(source, raw, id_column, "--id-column")
    labels = _texts(source, raw, source.label_column, "--label-column")
    new = like.features is not None
    X, found = features_of(raw, columns, name_of(source), new=new, as_frame=like.as_frame)
    roles = {*features, id_column, source.label_column}
    left_out = [str(name) for name in raw.frame.columns if name not in roles]
    return Table(
        X=X,
        features=tuple(features),
        ids=ids or tuple(raw.side.get("", map(str, range(1, n + 1)))),
        labels=labels,
        id_column=id_column,
        found={**raw.found, "rows": n, "id_column": id_column, **found, "left_out": left_out},
    )


def first_missing(table: Table) -> str | None:
    """Name the first missing value, row by row, or return None."""
    bad = np.isnan(table.numbers)
    if not bad.any():
        return None
    row, column = np.argwhere(bad)[0]
    return f"{_row(table.ids, int(row))}, column {table.features[column]!r}"


def _row(ids: Sequence[str], row: int) -> str:
    return f"row {row + 1}" + (f" (id {ids[row]!r})" if ids[row] != str(row + 1) else "")


def _transposed(source: Input, raw: Raw) -> Raw:
    """Columns as rows. The first column names the features, if it is no number."""
    if source.id_column is not None:
        raise Refusal(
            "--id-column does not go with --transpose: the columns are the samples, and their "
            "names the ids",
            Exit.USAGE,
        )
    frame = raw.frame
    first = frame.columns[0]
    numbers = getattr(frame[first].dtype, "kind", "O") in "biuf"
    if not numbers or first in raw.nameless:
        names = [word(value) for value in frame[first].tolist()]
        frame = frame.drop(columns=first)
    else:
        names = [f"x{k}" for k in range(len(frame))]
    if len(set(names)) < len(names):
        repeated = next(name for name in names if names.count(name) > 1)
        raise Refusal(
            f"{name_of(source)}, column {first!r} holds {repeated!r} twice, and with --transpose "
            "its values are the names of the features"
        )
    turned = frame.T.set_axis(names, axis=1)
    side = {"": np.array([str(name) for name in frame.columns], dtype=object)}
    names_of_rows = side[""]
    return Raw(
        turned.reset_index(drop=True).infer_objects(),
        side,
        found={**raw.found, "transposed": True},
        where=lambda row: f"column {names_of_rows[row]!r}",
    )


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
    return tuple("" if is_missing(value) else word(value) for value in values)


def _listed(raw: Raw) -> str:
    names = [*raw.frame.columns, *(name for name in raw.side if name)]
    shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
    return f", which has the columns {shown}"


def _select(source: Input, raw: Raw, wanted: Sequence[str] | None) -> list[str]:
    """Names of the feature columns."""
    present = list(raw.frame.columns)
    roles = {source.id_column: "--id-column", source.label_column: "--label-column"}
    if wanted is not None:
        for name in wanted:
            if name not in present:
                raise Refusal(
                    f"the model was fitted on a column {name!r}, "
                    f"which is not in {name_of(source)}{_listed(raw)}"
                )
        return list(wanted)
    for name in source.columns:
        if name in roles:
            raise Refusal(
                f"--columns {name!r} is the {roles[name]} as well: a column has one role",
                Exit.USAGE,
            )
    free = [name for name in present if name not in roles]
    chosen = _matching(source, raw, source.columns, free, "--columns") if source.columns else free
    dropped = set(_matching(source, raw, source.drop, free, "--drop"))
    chosen = [name for name in chosen if name not in dropped]
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
