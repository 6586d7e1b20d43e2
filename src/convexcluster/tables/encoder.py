"""Columns of every kind → standardised features: each column counts as much as one number.

    number      (x − mean)/deviation; dates and durations are numbers of days
    category    one-hot, centred, divided by √Σ p(1 − p), so that the whole block has variance 1;
                a missing or a new category is 0, the mixture of the seen ones
    missing     a number that is missing is the mean of its nearest rows, by what they share

A Gaussian kernel of these features is the product of one kernel per column, and positive definite.
"""

from __future__ import annotations

import warnings
from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.impute import KNNImputer
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from ..problem import Floats
from .check import collapses
from .kinds import Column, columns_of

NUMBERS = ("number", "date", "duration")
CATEGORIES = ("category", "boolean")
IMPUTE = ("neighbors", "mean", "median")

# Rows that are kept to fill in what is missing, evenly spaced. Each missing value is compared with
# all of them: twice as many take twice the time, and the nearest are hardly nearer.
DONORS = 10_000


@dataclass(frozen=True)
class Block:
    """The features of one column: (x − centre)/scale, x a number or the 0/1 of categories."""

    name: Any
    kind: str
    categories: np.ndarray | None  # sorted texts; None of numbers
    centre: Floats  # (w,)
    scale: float

    @classmethod
    def of(cls, column: Column) -> Block | None:
        """Learn from a column; None if it does not vary."""
        if column.kind in NUMBERS:
            x = _finite(column, column.kind)
            x = x[~np.isnan(x)]
            if np.ptp(x) == 0:
                return None
            return cls(column.name, column.kind, None, np.array([x.mean()]), float(x.std()))
        categories, counts = np.unique(column.words.astype(str), return_counts=True)
        p = counts / counts.sum()
        if len(p) == 1:
            return None
        scale = float(np.sqrt((p * (1 - p)).sum()))
        return cls(column.name, column.kind, categories.astype(object), p, scale)

    def encode(self, column: Column) -> Floats:
        """Features, shape (n, w): a missing number is NaN, a missing or new category 0."""
        if self.categories is None:
            return (_finite(column, self.kind)[:, None] - self.centre) / self.scale
        out = np.tile(self.centre, (len(column.values), 1))
        words, known = column.words.astype(str), self.categories.astype(str)
        place = np.minimum(np.searchsorted(known, words), len(known) - 1)
        seen = known[place] == words
        rows = np.flatnonzero(~column.missing)[seen]
        out[rows] = 0.0
        out[rows, place[seen]] = 1.0
        return (out - self.centre) / self.scale

    @property
    def names(self) -> list[str]:
        """Names of the features."""
        name = f"x{self.name}" if isinstance(self.name, int) else str(self.name)
        return [name] if self.categories is None else [f"{name}_{c}" for c in self.categories]


class MixedEncoder(TransformerMixin, BaseEstimator):
    """Encode a table of numbers, categories, booleans, dates and missing values as features.

    Every column has variance 1: a number is standardised, a category is one-hot, centred and
    divided by √Σ p(1 − p). Columns that do not vary are left out, and so are identifiers.

    Parameters
    ----------
    categorical : "auto" or sequence of columns
        Which columns are categories besides those whose type says so (text, categories, booleans):
        names, or positions in an array.
    impute : {"neighbors", "mean", "median"}
        How missing numbers are filled in: by the mean over the five nearest rows that have them, or
        by the column. Missing categories are the mixture of the seen ones.

    Attributes
    ----------
    kinds_ : dict
        Kind of each column: number, date, duration, category, boolean or identifier.
    n_missing_ : dict
        How many values of a column were missing, of columns with missing values.
    blocks_ : list of Block
        Categories, centre and scale of each column that is encoded.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0, "a"], [3.0, "b"], [None, "a"], [2.0, None]], dtype=object)
    >>> encoder = MixedEncoder()
    >>> encoder.fit_transform(X).round(2)
    array([[-1.22,  0.5 , -0.5 ],
           [ 1.22, -1.  ,  1.  ],
           [ 0.  ,  0.5 , -0.5 ],
           [ 0.  ,  0.  ,  0.  ]])
    >>> encoder.transform(np.array([[2.0, "never seen"]], dtype=object))
    array([[0., 0., 0.]])
    """

    def __init__(self, categorical: Any = "auto", impute: str = "neighbors") -> None:
        self.categorical = categorical
        self.impute = impute

    def fit(self, X: Any, y: Any = None) -> Self:
        """Find the kind, the categories and the scale of every column."""
        if self.impute not in IMPUTE:
            raise ValueError(f"impute must be one of {IMPUTE}, got {self.impute!r}")
        X = self._table(X, reset=True)
        columns = columns_of(X, self._told(X))
        for column in columns:
            _check(column)
        self.kinds_ = {column.name: column.kind for column in columns}
        self.n_missing_ = {c.name: int(c.missing.sum()) for c in columns if c.missing.any()}
        used = _without_identifiers(columns)
        blocks = [Block.of(column) for column in used]
        self.blocks_ = [block for block in blocks if block is not None]
        if not self.blocks_:
            raise ValueError(f"no column varies over these rows: n_samples = {X.shape[0]}")
        Z = self._encoded(used)
        self._fill = np.nanmedian(Z, axis=0) if self.impute == "median" else np.zeros(Z.shape[1])
        self._donors = Z[:: -(-len(Z) // DONORS)] if self.impute == "neighbors" else Z[:0]
        return self

    def transform(self, X: Any) -> Floats:
        """Encode rows, shape (n_samples, n_features_out)."""
        check_is_fitted(self)
        X = self._table(X, reset=False)
        told = [name for name, kind in self.kinds_.items() if kind in CATEGORIES]
        Z = self._encoded(columns_of(X, told))
        if not np.isnan(Z).any():
            return Z
        if len(self._donors):
            Z = KNNImputer(keep_empty_features=True).fit(self._donors).transform(Z)
        return np.where(np.isnan(Z), self._fill, Z)

    def features(self, Z: Floats) -> Floats:
        """Encoded rows in their own units: numbers, days, and shares of the categories."""
        scale = np.repeat([b.scale for b in self.blocks_], [len(b.centre) for b in self.blocks_])
        return Z * scale + np.concatenate([block.centre for block in self.blocks_])

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features: that of the column, of categories with _category behind it."""
        check_is_fitted(self)
        return np.array([name for block in self.blocks_ for name in block.names], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def to_dict(self) -> dict[str, Any]:
        """The fitted encoder as plain data, for :meth:`from_dict`."""
        check_is_fitted(self)
        return {**vars(self), "blocks_": [asdict(block) for block in self.blocks_]}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Self:
        """The encoder that :meth:`to_dict` described."""
        self = cls()
        self.__dict__.update(state, blocks_=[Block(**block) for block in state["blocks_"]])
        return self

    def _told(self, X: Any) -> list[Any]:
        """Columns that the user calls categories."""
        if isinstance(self.categorical, str):
            if self.categorical != "auto":
                raise ValueError(
                    f'categorical must be "auto" or a sequence of columns: {self.categorical!r}'
                )
            return []
        names, told = _names(X), list(self.categorical)
        absent = [name for name in told if name not in names]
        if absent:
            raise ValueError(f"categorical names {absent[0]!r}, which is no column of the table")
        return told

    def _table(self, X: Any, *, reset: bool) -> Any:
        """A frame as it is, anything else as an array; names and number of columns checked."""
        if not hasattr(X, "columns"):
            X = check_array(X, dtype=None, ensure_all_finite=False, estimator=self)
        names = _names(X)
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise ValueError(f"column name {repeated[0]!r} occurs twice: rename one of the columns")
        validate_data(self, X, reset=reset, skip_check_array=True)
        if not X.shape[0]:
            raise ValueError("the table has no rows")
        return X

    def _encoded(self, columns: list[Column]) -> Floats:
        """Features of rows, shape (n, w); missing numbers are NaN."""
        by_name = {column.name: column for column in columns}
        used = [by_name[block.name] for block in self.blocks_]
        empty = np.all([column.missing for column in used], axis=0)
        if empty.any():
            raise ValueError(f"row {int(np.argmax(empty))} has no value at all: drop it")
        return np.hstack([block.encode(column) for block, column in zip(self.blocks_, used)])


def _names(X: Any) -> list[Any]:
    """Names of the columns of a frame, or positions."""
    if hasattr(X, "column_names"):
        return list(X.column_names)
    return list(X.columns) if hasattr(X, "columns") else list(range(X.shape[1]))


def _check(column: Column) -> None:
    """Refuse what cannot be encoded, by the name of the column."""
    name = f"column {column.name!r}"
    if not len(column.seen):
        raise ValueError(f"{name} has no value at all: drop it")
    if column.kind == "broken":
        row, text = column.stray()
        raise ValueError(
            f"{name} holds {text!r} in row {row} among numbers: replace it by None if it is "
            "missing, or name the column in categorical=[…]"
        )
    if column.kind == "text":
        count, rows = len(set(column.words)), len(column.values)
        raise ValueError(
            f"{name} is text, {count} different values in {rows} rows: drop it, name it in "
            "categorical=[…], or turn it into numbers first, for instance with skrub.StringEncoder"
        )
    if column.kind == "time of day":
        raise ValueError(f"{name} is a time of day: turn it into numbers, or drop it")
    if column.kind == "number" and collapses(column.values):
        raise ValueError(f"{name} holds integers beyond 2⁵³ of which several are one float64")


def _finite(column: Column, kind: str) -> Floats:
    """Numbers with NaN where missing; refuse infinity, and texts in a column of numbers."""
    try:
        x = column.numbers(kind)
    except (TypeError, ValueError):
        raise ValueError(
            f"column {column.name!r} held numbers when the encoder was fitted, and holds something "
            "else now"
        ) from None
    if np.isinf(x).any():
        row = int(np.argmax(np.isinf(x)))
        raise ValueError(
            f"column {column.name!r} holds an infinite value in row {row}: replace it by a number, "
            "or by None if it is missing"
        )
    return x


def _without_identifiers(columns: list[Column]) -> list[Column]:
    """The other columns, and a warning that names the identifiers."""
    names = [column.name for column in columns if column.kind == "identifier"]
    if names and len(names) < len(columns):
        listed = ", ".join(repr(name) for name in names)
        warnings.warn(
            f"left out as identifiers, whose values all differ: {listed}; name them in "
            "categorical=[…] if they are categories",
            UserWarning,
            stacklevel=3,
        )
    elif names:
        raise ValueError(f"column {names[0]!r} is an identifier, and no other column is there")
    return [column for column in columns if column.kind != "identifier"]
