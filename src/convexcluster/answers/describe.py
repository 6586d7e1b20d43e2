"""Which features set clusters apart: effect sizes as tables.

Input are features (n, p) and labels, or the two sides of each split of a tree; output is a
:class:`Description`. The effect size of a feature between two groups is Cohen's

    d = (mean here − mean there) / s,     s² = (Σ_here (x − x̄)² + Σ_there (x − x̄)²)/(n − 2),

and η² is the share of its variance that lies between all clusters. The report shows the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..optional import need
from ..problem import Floats, Ints, check_finite

if TYPE_CHECKING:
    import pandas

# Scatter inside two groups below this share of all of it is round-off of the sums: none.
NO_SCATTER = 1e-12


@dataclass(frozen=True, eq=False)
class Description:
    """What sets clusters, and the two sides of each split, apart.

    Attributes
    ----------
    features : list of str
    explained : ndarray of shape (p,)
        η² of each feature.
    clusters : dict of ndarray
        A row for each cluster and feature, the greatest effect first within a cluster: ``cluster``,
        ``size``, ``feature``, ``mean``, ``elsewhere`` (mean of all other samples), ``effect``.
    splits : dict of ndarray
        A row for each split of the tree, from the top, and feature: ``split``, ``height``,
        ``left`` and ``right`` (the clusters on each side), ``feature``, ``mean_left``,
        ``mean_right``, ``effect``.
    """

    features: list[str]
    explained: Floats
    clusters: dict[str, np.ndarray]
    splits: dict[str, np.ndarray]

    def to_frame(self, what: str = "clusters") -> pandas.DataFrame:
        """A table: "clusters", "splits" or "features" (η² of each, greatest first)."""
        if what not in ("clusters", "splits", "features"):
            raise ValueError(f'what must be "clusters", "splits" or "features", got {what!r}')
        frame = need("pandas", "report").DataFrame
        if what != "features":
            return frame(getattr(self, what))
        order = np.argsort(-self.explained, kind="stable")
        names = np.array(self.features, dtype=object)
        return frame({"feature": names[order], "explained": self.explained[order]})

    def __repr__(self) -> str:
        k = len(np.unique(self.clusters["cluster"]))
        return f"<Description of {k} clusters by {len(self.features)} features: see to_frame()>"


def describe(
    X: Any,
    labels: Ints,
    splits: Sequence[tuple[float, Ints, Ints]] = (),
    names: Sequence[str] | None = None,
) -> Description:
    """Effect sizes of the numeric features of X for every cluster and split.

    Parameters
    ----------
    X : array-like, sparse matrix or data frame of shape (n, p)
        Columns that are not numbers are left out.
    labels : ndarray of shape (n,)
        0 … k − 1.
    splits : sequence of (height, samples, samples)
        From :func:`convexcluster.answers.tree.splits`.
    names : sequence of p str, optional

    Returns
    -------
    Description

    Examples
    --------
    >>> X = np.array([[0.0, 1.0], [0.2, 5.0], [9.0, 2.0], [9.1, 4.0]])
    >>> found = describe(X, np.array([0, 0, 1, 1]), names=["length", "noise"])
    >>> found.clusters["feature"][:2], found.clusters["effect"][:2].round(1)
    (array(['length', 'noise'], dtype=object), array([-80.1,   0. ]))
    """
    table, features = features_of(X, names, len(labels))
    if not features:
        raise ValueError("X has no column of numbers: encode text and categories first")
    check_finite(table, "X", columns=np.array(features, dtype=object))
    values, k = np.ascontiguousarray(table.T), int(labels.max()) + 1
    clusters: dict[str, list[Any]] = {}
    for t in range(k if k > 1 else 0):
        here = labels == t
        mean, elsewhere, effect = effects(values, np.flatnonzero(here), np.flatnonzero(~here))
        order = np.argsort(-np.abs(effect), kind="stable")
        columns = {"mean": mean, "elsewhere": elsewhere, "effect": effect}
        _add(clusters, {"cluster": t, "size": int(here.sum())}, features, columns, order)
    made: dict[str, list[Any]] = {}
    for number, (height, left, right) in enumerate(splits):
        a, b, effect = effects(values, left, right)
        order = np.argsort(-np.abs(effect), kind="stable")
        sides = (_names(labels, left, k), _names(labels, right, k))
        facts = {"split": number, "height": height, "left": sides[0], "right": sides[1]}
        columns = {"mean_left": a, "mean_right": b, "effect": effect}
        _add(made, facts, features, columns, order)
    tables = ({name: _column(parts) for name, parts in part.items()} for part in (clusters, made))
    empty: dict[str, np.ndarray] = {"cluster": np.empty(0, dtype=np.int64)}
    first, second = tables
    return Description(features, explained(values, labels), first or empty, second)


def _add(
    table: dict[str, list[Any]],
    facts: dict[str, Any],
    features: list[str],
    columns: dict[str, Floats],
    order: Ints,
) -> None:
    names = np.array(features, dtype=object)[order]
    whole = {name: np.full(len(order), value) for name, value in facts.items()}
    for name, part in (whole | {"feature": names}).items():
        table.setdefault(name, []).append(part)
    for name, values in columns.items():
        table.setdefault(name, []).append(values[order])


def _column(parts: list[Any]) -> np.ndarray:
    text = any(part.dtype.kind in "UO" for part in parts)
    return np.concatenate([part.astype(object) if text else part for part in parts])


def _names(labels: Ints, side: Ints, k: int) -> str:
    """The clusters of which at least half of the samples are on a side."""
    share = np.bincount(labels[side], minlength=k) / np.bincount(labels, minlength=k)
    return ", ".join(str(t) for t in np.flatnonzero(share >= 0.5))


def effects(values: Floats, here: Ints, there: Ints) -> tuple[Floats, Floats, Floats]:
    """Means of each row of ``values`` (p, n) over two sets of samples, and Cohen's d.

    A difference without scatter inside the groups has d = ±∞; no difference has d = 0.

    Examples
    --------
    >>> effects(np.array([[0.0, 2.0, 4.0, 6.0], [1, 1, 2, 2]]), np.array([2, 3]), np.array([0, 1]))
    (array([5., 2.]), array([1., 1.]), array([2.82842712,        inf]))
    """
    both = np.concatenate([here, there])
    middle = values[:, both].mean(axis=1, keepdims=True)
    a, b = values[:, here] - middle, values[:, there] - middle
    inside, outside = a.mean(axis=1), b.mean(axis=1)
    whole = (a**2).sum(axis=1) + (b**2).sum(axis=1)
    scatter = ((a.T - inside) ** 2).sum(axis=0) + ((b.T - outside) ** 2).sum(axis=0)
    spread = np.sqrt(scatter / max(len(both) - 2, 1))
    # about a large mean the values themselves are rounded
    rounded = len(both) * (np.finfo(float).eps * 8 * middle[:, 0]) ** 2
    gap, none = inside - outside, scatter <= NO_SCATTER * whole + rounded
    d = np.divide(gap, spread, out=np.where(gap == 0, 0.0, np.copysign(np.inf, gap)), where=~none)
    return inside + middle[:, 0], outside + middle[:, 0], d


def explained(values: Floats, labels: Ints) -> Floats:
    """Share of each row's variance that lies between the clusters (η²), 0 if it is constant."""
    counts = np.bincount(labels)
    centred = values - values.mean(axis=1, keepdims=True)
    sums = np.stack([np.bincount(labels, row) for row in centred])
    between = (sums**2 / counts).sum(axis=1)
    total = (centred**2).sum(axis=1)
    return np.divide(between, total, out=np.zeros(len(values)), where=total > 0)


def features_of(X: Any, names: Sequence[str] | None, n: int) -> tuple[Floats, list[str]]:
    """Numeric columns of X and their names; X must have n rows, and a name for each column."""
    table, found = numeric_columns(X)
    kept = found if names is None else [str(name) for name in names]
    if len(kept) != table.shape[1]:
        raise ValueError(f"{len(kept)} feature names for {table.shape[1]} features")
    if len(table) != n:
        raise ValueError(f"X has {len(table)} rows for {n} samples")
    return table, kept


def numeric_columns(X: Any) -> tuple[Floats, list[str]]:
    """Values and names of the numeric columns of an array, a sparse matrix or a data frame."""
    if hasattr(X, "select_dtypes"):
        numbers = X.select_dtypes(include=["number", "bool"])
        return numbers.to_numpy(dtype=np.float64), [str(name) for name in numbers.columns]
    table = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if table.ndim != 2:
        raise ValueError(f"X must be 2-D (samples × features), got {table.ndim}-D")
    return table, [f"feature {f}" for f in range(table.shape[1])]
