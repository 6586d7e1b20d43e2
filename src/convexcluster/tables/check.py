"""Tables that are no matrix of numbers: what is wrong with which column, and what helps."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from os import PathLike
from typing import Any

import numpy as np
from scipy import sparse

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

    ``model`` is what a sentence puts behind the encoder; of "" there is no such advice.

    Examples
    --------
    >>> import pandas as pd
    >>> check_table(pd.DataFrame({"a": [1.0, 2.0], "c": ["u", "v"]}))
    Traceback (most recent call last):
    ValueError: column 'c' is text: encode or drop it; \
make_pipeline(MixedEncoder(), KernelConvexClustering()) encodes it
    """
    check_container(X)
    if _is_frame(X):
        names = list(getattr(X, "column_names", X.columns))
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(f"column name {repeated[0]!r} occurs twice: rename one of the columns")
    elif not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "mMiuO"):
        return
    for column in columns_of(X):
        check_column(column, model)


def check_container(X: Any) -> None:
    """Refuse what holds no rows of real numbers, and a mask, which arithmetic would not see.

    Examples
    --------
    >>> check_container({"a": [1.0, 2.0]})
    Traceback (most recent call last):
    TypeError: X is a dict: pass an array, a list of rows or a data frame
    """
    no_rows = isinstance(X, str | bytes | PathLike | Mapping | Set | Iterator)
    if no_rows and not sparse.issparse(X):
        raise TypeError(f"X is a {type(X).__name__}: pass an array, a list of rows or a data frame")
    if hasattr(X, "collect") and hasattr(X, "collect_schema"):
        raise TypeError(f"X is a {type(X).__name__}, which holds no rows yet: pass X.collect()")
    dtype = getattr(X, "dtype", None)
    if getattr(dtype, "names", None):
        raise TypeError("X is an array of named fields: pass pandas.DataFrame(X)")
    if getattr(dtype, "kind", "") == "c":
        raise ValueError(
            "Complex data not supported: pass real and imaginary parts as columns of their own"
        )
    check_mask(X, "X")


def check_mask(values: Any, name: str) -> None:
    """Refuse a masked array of which something is masked."""
    if np.ma.is_masked(values):
        where = np.argwhere(np.ma.getmaskarray(values))[0]
        place = ", ".join(f"{axis} {k}" for axis, k in zip(("row", "column"), where))
        raise ValueError(
            f"{name} is masked in {place}: impute what is missing, or leave its rows out"
        )


def check_column(column: Column, model: str) -> None:
    """Refuse one column, unless it holds numbers or what converts to them."""
    name, by_type = repr(column.name), column.values.dtype.kind
    if by_type == "c":
        raise ValueError(
            f"Complex data not supported: column {name} holds complex numbers; pass real and "
            "imaginary parts as columns of their own"
        )
    called = None
    if by_type not in "biuf":
        worded = column.type == "text" and column.kind == "category"
        called = CALLED.get("text" if worded else column.kind)
    if called is not None and not (called in ("text", "categorical") and _converts(column.values)):
        remedy = f"; {PIPELINE.format(model=model)} encodes it" if model else ""
        raise ValueError(f"column {name} is {called}: encode or drop it{remedy}")
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
