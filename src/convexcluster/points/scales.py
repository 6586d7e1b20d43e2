"""Features of wildly different scales: what distances do not see.

Input is X (n × d); output is a warning, or none. The scale of a feature is the typical distance
from its median of the samples that are not at it,

    s_j = median of |x_ij − med_j| over the i with x_ij ≠ med_j,

so that a rare category and the edge of an image, which are at their median nearly always, have the
scale of a common category and of the middle. If the half of the features with the smaller scales
has less than a hundredth of Σ s_j², distances are those of the other half.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse

from ..problem import Floats

# Two features then differ tenfold in scale.
UNSEEN = 0.01

# A row with more than this share of Σ‖x − median‖² rules bandwidths. Twice as far from 1, samples
# of heavy tails are warned of; half as far, a −999 among a thousand ordinary rows is not.
FAR = 0.95

# Of fewer rows one may well have nearly all of the spread.
FEWEST = 10

# Scales are wanted to within a factor: so many rows, evenly spaced, tell them.
ROWS = 1_000


class ScaleWarning(UserWarning):
    """Half of the features hardly take part in the distances."""


# Numbers of X that are looked at together: medians and differences of a few columns take ten
# megabytes, whatever the size of X. Ten times as many take a hundred; with a tenth of it calls
# take longer than the work of 50 rows.
AT_ONCE = 250_000


def _columns(X: Floats) -> Iterator[slice]:
    """Slices of columns, ``AT_ONCE`` numbers each."""
    step = max(1, AT_ONCE // max(1, X.shape[0]))
    return (slice(s, s + step) for s in range(0, X.shape[1], step))


def feature_scales(X: Floats) -> Floats:
    """Scale of every feature; 0 where all samples are at the median."""
    scales = np.zeros(X.shape[1])
    for some in _columns(X):
        away = np.abs(X[:, some] - np.median(X[:, some], axis=0))
        away[away == 0] = np.nan
        varied = ~np.isnan(away).all(axis=0)
        scales[some][varied] = np.nanmedian(away[:, varied], axis=0)
    return scales


def warn_of_scales(
    X: Any,
    *,
    names: ArrayLike | None = None,
    remedy: str = "put a StandardScaler in front",
    stacklevel: int = 2,
) -> None:
    """Warn if half of the features of X are unseen by distances; sparse X is not looked at."""
    if sparse.issparse(X) or X.shape[1] < 2:
        return
    scales = feature_scales(X[:: -(-X.shape[0] // ROWS)])
    order = np.argsort(scales, kind="stable")[int((scales == 0).sum()) :]
    square = (scales[order] / scales.max(initial=1e-300)) ** 2
    half = len(order) // 2
    if half == 0 or square[:half].sum() >= UNSEEN * square.sum():
        return
    least, most = int(order[0]), int(order[-1])
    decades = float(np.log10(scales[most]) - np.log10(scales[least]))
    times = f"{scales[most] / scales[least]:.0f}" if decades < 6 else f"1e{decades:.0f}"
    warnings.warn(
        f"distances hardly see {half} of {len(order)} features: the scale of feature "
        f"{_called(names, most)} is {times} times that of feature "
        f"{_called(names, least)}; if their units differ, {remedy}",
        ScaleWarning,
        stacklevel=stacklevel + 1,
    )


def _called(names: ArrayLike | None, k: int) -> str:
    return str(k) if names is None else repr(str(np.asarray(names)[k]))


def warn_of_far_row(
    X: Any, *, names: ArrayLike | None = None, first: int = 0, stacklevel: int = 2
) -> None:
    """Warn if one row has nearly all of the spread of X; sparse X is not looked at.

    ``first`` is the number of the first row.

    Examples
    --------
    >>> warn_of_far_row(np.arange(20.0)[:, None])
    """
    if sparse.issparse(X) or X.shape[0] < FEWEST:
        return
    middle = np.concatenate([np.median(X[:, some], axis=0) for some in _columns(X)])
    largest = max(float(np.abs(X[:, c] - middle[c]).max(initial=0.0)) for c in _columns(X))
    if not 0 < largest < np.inf:
        return
    square = np.zeros(X.shape[0])
    for some in _columns(X):
        square += (((X[:, some] - middle[some]) / largest) ** 2).sum(axis=1)
    row = int(np.argmax(square))
    share = float(square[row] / square.sum())
    if share <= FAR:
        return
    column = int(np.argmax(np.abs(X[row] - middle)))
    warnings.warn(
        f"row {first + row} has {min(share, 0.9999):.2%} of the spread of X, by "
        f"{X[row, column]:g} in column {_called(names, column)}: it rules bandwidth and graph; "
        "drop it if it is a missing value or a mistake",
        ScaleWarning,
        stacklevel=stacklevel + 1,
    )
