"""What the columns of a table hold: by their type, and by their values where the type is text.

Input is a data frame (pandas, polars, pyarrow) or an array; output a :class:`Column` each, of a
kind: number, boolean, category, date, duration, time of day, identifier, text, or broken (numbers
with texts among them, or written so that Python does not read them).
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Number
from typing import Any

import numpy as np

from ..problem import Floats

# Beginnings of the names of types that hold no numbers, in pandas, polars and pyarrow.
TYPES = {
    "datetime": "date",
    "date": "date",
    "timestamp": "date",
    "period": "date",
    "timedelta": "duration",
    "duration": "duration",
    "time": "time of day",
    "category": "category",
    "categorical": "category",
    "dictionary": "category",
    "enum": "category",
    "bool": "boolean",
    "object": "text",
    "str": "text",
    "utf8": "text",
    "large_string": "text",
}

# Fewest values of which it is no accident that all of them differ, or most: of nine cities in nine
# rows nobody knows whether they name the rows.
FEWEST = 10

# A column called like this names rows, if its values are whole and differ.
NAMES = re.compile(
    r"(?i:id|idx|index|no|nr|#|key|row|row[ _.]?(id|no|nr|num|number|names?)|unnamed.*|.*[ _.-]id)"
    r"|.*[a-z](Id|ID)"
)
# Numbers in the clothes of a country or a currency, which nobody wants as categories.
ALMOST_NUMBER = re.compile(r"[$€£\s]*[+-]?\d[\d\s.,'’]*([eE][+-]?\d+)?\s*[%$€£]?")
ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?)?")
DOTTED_DATE = re.compile(r"(\d{1,2})\.(\d{1,2})\.(\d{4})")


@dataclass(frozen=True)
class Column:
    """A column: its name, its values (n,) as NumPy has them, its type as the table calls it."""

    name: Any
    values: np.ndarray
    dtype: str

    @cached_property
    def missing(self) -> np.ndarray:
        """Which values are missing, shape (n,): None, NaN, NaT, NA."""
        kind = self.values.dtype.kind
        if kind in "fc":
            return np.isnan(self.values)
        if kind in "mM":
            return np.isnat(self.values)
        if kind != "O":
            return np.zeros(len(self.values), dtype=bool)
        return np.array([is_missing(value) for value in self.values], dtype=bool)

    @cached_property
    def seen(self) -> np.ndarray:
        """The values that are not missing."""
        return self.values[~self.missing]

    @cached_property
    def words(self) -> np.ndarray:
        """The values that are not missing as text; whole numbers have no decimal point."""
        return np.array([word(value) for value in self.seen.tolist()], dtype=object)

    @cached_property
    def type(self) -> str | None:
        """What the type says: an entry of ``TYPES``, or None."""
        return next((kind for start, kind in TYPES.items() if self.dtype.startswith(start)), None)

    @cached_property
    def kind(self) -> str:
        """What the column holds."""
        named = self.type
        if named is None and self.values.dtype.kind in "biuf":
            named = "boolean" if self.values.dtype.kind == "b" else "number"
        if named == "number" and self.is_row_number:
            return "identifier"
        return self._kind_of_objects() if named in (None, "text") else named

    @property
    def is_row_number(self) -> bool:
        """Whether whole numbers count the rows, or differ and are called like an identifier."""
        if not isinstance(self.name, str) or self.missing.any() or len(self.values) < 2:
            return False
        values = self.values.astype(np.float64)
        if (values != np.rint(values)).any() or len(np.unique(values)) < len(values):
            return False
        counts = len(values) >= FEWEST and bool((np.diff(values) == 1).all())
        return counts or bool(NAMES.fullmatch(self.name.strip()))

    def _kind_of_objects(self) -> str:
        values = self.seen.tolist()
        if not values:
            return "number"
        if all(isinstance(v, bool) for v in values):
            return "boolean"
        if all(isinstance(v, Number) for v in values):
            return "number"
        if all(isinstance(v, datetime.date | np.datetime64) for v in values):
            return "date"
        if all(isinstance(v, datetime.timedelta | np.timedelta64) for v in values):
            return "duration"
        if not all(isinstance(v, str | Number) for v in values):
            return "text"
        return kind_of_words(self.words.tolist())

    def numbers(self, kind: str) -> Floats:
        """Numbers, dates or durations as floats (days), shape (n,); missing values are NaN."""
        out = np.full(len(self.values), np.nan)
        seen: Any = self.seen
        if kind == "date":
            out[~self.missing] = _days(seen)
        elif kind == "duration":
            out[~self.missing] = np.asarray(seen, "timedelta64[us]") / np.timedelta64(1, "D")
        else:
            out[~self.missing] = seen.astype(np.float64)
        return out

    def stray(self) -> tuple[int, str]:
        """Of a broken column: row and text of the first value that is no number."""
        rows = np.flatnonzero(~self.missing)
        return next((int(r), w) for r, w in zip(rows, self.words) if not _is_number(w))


def kind_of_words(words: Sequence[str]) -> str:
    """Date, number, identifier, text or category; broken if half of them look like numbers."""
    if all(ISO_DATE.fullmatch(w) for w in words) or all(DOTTED_DATE.fullmatch(w) for w in words):
        return "date"
    if all(_is_number(w) for w in words):
        return "number"
    if 2 * sum(_is_number(w) or bool(ALMOST_NUMBER.fullmatch(w)) for w in words) >= len(words):
        return "broken"
    distinct = len(set(words))
    if distinct >= FEWEST and distinct == len(words):
        return "identifier"
    return "text" if distinct >= FEWEST and 2 * distinct > len(words) else "category"


def columns_of(X: Any, categorical: Collection[Any] = ()) -> list[Column]:
    """Columns of a frame or of a 2-D array; those named in ``categorical`` are categories.

    Examples
    --------
    >>> X = np.array([[1.0, "red", True], [None, "blue", False]], dtype=object)
    >>> [column.kind for column in columns_of(X)]
    ['number', 'category', 'boolean']
    """
    told = set(categorical)

    def column(name: Any, values: Any, dtype: Any) -> Column:
        kind = "category" if name in told else str(dtype).lower()
        return Column(name, np.asarray(values), kind)

    if hasattr(X, "column_names") and hasattr(X, "schema"):  # pyarrow
        types = [field.type for field in X.schema]
        return [column(n, X.column(n).to_numpy(), t) for n, t in zip(X.column_names, types)]
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        return [column(name, _values(X[name]), dtype) for name, dtype in zip(X.columns, X.dtypes)]
    X = np.asarray(X)
    return [column(k, X[:, k], X.dtype) for k in range(X.shape[1])]


def _values(series: Any) -> np.ndarray:
    """A column of pandas or polars; dates with a time zone are those of Greenwich."""
    if getattr(getattr(series, "dtype", None), "tz", None) is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    if str(series.dtype).startswith("period"):
        series = series.dt.to_timestamp()
    return series.to_numpy()


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or NA."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def word(value: Any) -> str:
    """A value as text; a whole number has no decimal point, however it is stored."""
    if isinstance(value, float | np.floating) and float(value).is_integer():
        return str(int(value))
    return str(value)


def _is_number(text: str) -> bool:
    try:
        return bool(np.isfinite(float(text))) or text.strip().lower() not in ("nan", "-nan")
    except ValueError:
        return False


def _days(values: Any) -> Floats:
    """Days since 1970 of dates, or of texts that are dates."""
    if values.dtype.kind == "O":
        texts = [DOTTED_DATE.sub(_turned, v) if isinstance(v, str) else v for v in values.tolist()]
        values = np.array([np.datetime64(_plain(v), "us") for v in texts])
    return (np.asarray(values, "datetime64[us]") - np.datetime64(0, "us")) / np.timedelta64(1, "D")


def _plain(date: Any) -> Any:
    """Python's date without its time zone, in Greenwich's time."""
    if isinstance(date, datetime.datetime) and date.tzinfo is not None:
        return date.astimezone(datetime.UTC).replace(tzinfo=None)
    return date


def _turned(date: re.Match[str]) -> str:
    day, month, year = date.groups()
    return f"{year}-{int(month):02}-{int(day):02}"
