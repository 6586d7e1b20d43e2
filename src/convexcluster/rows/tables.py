"""Tables that are no matrix of numbers: what is wrong with which column."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

# Beginnings of the names of types that hold no numbers, in pandas and polars.
NO_NUMBERS = {
    "datetime": "a date",
    "date": "a date",
    "timedelta": "a duration",
    "duration": "a duration",
    "period": "a date",
    "time": "a time of day",
    "category": "categorical",
    "categorical": "categorical",
    "enum": "categorical",
    "object": "text",
    "str": "text",
    "utf8": "text",
    "large_string": "text",
}

# From here on neighbouring integers are one float64.
EXACT = 2**53


def check_table(X: Any) -> None:
    """Refuse columns of text, categories or dates, repeated names, and integers that collapse.

    Examples
    --------
    >>> import pandas as pd
    >>> check_table(pd.DataFrame({"a": [1.0, 2.0], "c": ["u", "v"]}))
    Traceback (most recent call last):
    ValueError: column 'c' is text: encode or drop it
    """
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        names = list(X.columns)
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(f"column name {repeated[0]!r} occurs twice: rename one of the columns")
        for name, dtype in zip(names, X.dtypes):
            _check_column(X[name], repr(name), str(dtype).lower())
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "mMiuO":
        for k in range(X.shape[1]):
            _check_column(X[:, k], str(k), str(X.dtype).lower())


def _check_column(column: Any, name: str, dtype: str) -> None:
    kind = next((word for start, word in NO_NUMBERS.items() if dtype.startswith(start)), None)
    if kind is not None and not (kind in ("text", "categorical") and _converts(column)):
        raise ValueError(f"column {name} is {kind}: encode or drop it")
    if kind in (None, "text") and _collapses(np.asarray(column)):
        raise ValueError(
            f"column {name} holds integers beyond 2⁵³ of which several are one float64: "
            "subtract the smallest of them first, or drop the column if it is an identifier"
        )


def _converts(column: Any) -> bool:
    """Whether no value is a text that is not a number; other objects are judged later."""
    try:
        np.asarray(column).astype(np.complex128)
    except (TypeError, ValueError):
        return not any(isinstance(value, str) for value in column)
    return True


def _collapses(column: np.ndarray) -> bool:
    """Whether different integers become one number."""
    if column.dtype == object and not all(isinstance(v, int | np.integer) for v in column):
        return False
    if column.dtype.kind not in "iuO" or not len(column):
        return False
    if max(int(column.max()), -int(column.min())) <= EXACT:
        return False
    return len(np.unique(column.astype(np.float64))) < len(np.unique(column))
