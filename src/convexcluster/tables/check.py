"""Tables that are no matrix of numbers: what is wrong with which column, and what helps."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from .kinds import Column, columns_of

# How a sentence calls columns of each kind; numbers and booleans pass.
CALLED = {
    "date": "a date",
    "duration": "a duration",
    "time of day": "a time of day",
    "category": "categorical",
    "text": "text",
    "broken": "text",
    "identifier": "text",
}

# From here on neighbouring integers are one float64.
EXACT = 2**53

PIPELINE = "make_pipeline(MixedEncoder(), {model}())"


def check_table(X: Any, model: str = "KernelConvexClustering") -> None:
    """Refuse columns of text, categories or dates, repeated names, and integers that collapse.

    Examples
    --------
    >>> import pandas as pd
    >>> check_table(pd.DataFrame({"a": [1.0, 2.0], "c": ["u", "v"]}))
    Traceback (most recent call last):
    ValueError: column 'c' is text: encode or drop it; \
make_pipeline(MixedEncoder(), KernelConvexClustering()) encodes it
    """
    if _is_frame(X):
        names = list(getattr(X, "column_names", X.columns))
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(f"column name {repeated[0]!r} occurs twice: rename one of the columns")
    elif not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "mMiuO"):
        return
    for column in columns_of(X):
        check_column(column, model)


def check_column(column: Column, model: str) -> None:
    """Refuse one column, unless it holds numbers or what converts to them."""
    name, by_type = repr(column.name), column.values.dtype.kind
    kind = "text" if column.type == "text" and column.kind == "category" else column.kind
    called = None if by_type in "biuf" else CALLED.get(kind)
    if called is not None and not (called in ("text", "categorical") and _converts(column.values)):
        remedy = PIPELINE.format(model=model)
        raise ValueError(f"column {name} is {called}: encode or drop it; {remedy} encodes it")
    if called in (None, "text") and collapses(column.values):
        raise ValueError(
            f"column {name} holds integers beyond 2⁵³ of which several are one float64: "
            "subtract the smallest of them first, or drop the column if it is an identifier"
        )


def _is_frame(X: Any) -> bool:
    return hasattr(X, "columns") and (hasattr(X, "dtypes") or hasattr(X, "schema"))


def _converts(column: Any) -> bool:
    """Whether no value is a text that is not a number; other objects are judged later."""
    try:
        np.asarray(column).astype(np.complex128)
    except (TypeError, ValueError):
        return not any(isinstance(value, str) for value in column)
    return True


def collapses(column: np.ndarray) -> bool:
    """Whether different integers become one number."""
    if column.dtype == object and not all(isinstance(v, int | np.integer) for v in column):
        return False
    if column.dtype.kind not in "iuO" or not len(column):
        return False
    if max(int(column.max()), -int(column.min())) <= EXACT:
        return False
    return len(np.unique(column.astype(np.float64))) < len(np.unique(column))


def row_names(X: Any) -> list[str] | None:
    """Names of the rows of a data frame by its index; None of arrays and of rows that count on.

    Examples
    --------
    >>> import pandas
    >>> row_names(pandas.Series([1.0, 2.0], index=["a", "b"]).to_frame())
    ['a', 'b']
    """
    index = getattr(X, "index", None)
    if index is None or callable(index) or type(index).__name__ == "RangeIndex":
        return None
    return [str(name) for name in index]
