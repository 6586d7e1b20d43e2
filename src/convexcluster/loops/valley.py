"""Quantile functions whose spacings fall and then rise: how they are fitted, and read.

The fit pools adjacent violators on either side of a place.
"""

from __future__ import annotations

import numpy as np

from ..problem import Floats, Ints
from .compile import njit


@njit(cache=True, nogil=True)
def fit_valley(values: Floats, place: int, out: Floats) -> float:
    """Least squares fit that falls before ``place`` and rises after it, written to ``out``.

    Returns the squared distance between the running sums of fit and values.
    """
    n = len(values)
    mean, size = np.empty(n), np.empty(n, dtype=np.int64)
    for side in range(2):
        first, last = (0, place) if side == 0 else (place, n)
        count = 0
        for step in range(last - first):
            # the falling side is read backwards, from the valley outwards: both sides rise
            q = place - 1 - step if side == 0 else first + step
            mean[count], size[count] = values[q], 1
            count += 1
            while count > 1 and mean[count - 2] > mean[count - 1]:
                total = size[count - 2] + size[count - 1]
                mean[count - 2] = (
                    size[count - 2] * mean[count - 2] + size[count - 1] * mean[count - 1]
                ) / total
                size[count - 2] = total
                count -= 1
        step = 0
        for block in range(count):
            for _ in range(size[block]):
                out[place - 1 - step if side == 0 else first + step] = mean[block]
                step += 1
    error, difference = 0.0, 0.0
    for q in range(n):
        difference += out[q] - values[q]
        error += difference * difference
    return error


@njit(cache=True, nogil=True)
def fit_valleys(gaps: Floats, rows: Ints, places: Ints) -> None:
    """Replace every one of ``rows`` by its best fit over ``places``, the first of equals."""
    n = gaps.shape[1]
    given, fit = np.empty(n), np.empty(n)
    for j in rows:
        for q in range(n):
            given[q] = gaps[j, q]
        best = np.inf
        for place in places:
            error = fit_valley(given, place, fit)
            if error < best:
                best = error
                for q in range(n):
                    gaps[j, q] = fit[q]


@njit(cache=True, nogil=True)
def read_quantiles(quantiles: Floats, steps: np.ndarray, u: Floats) -> Floats:
    """Values (n, r) of r quantile functions of n places each, at shares ``u`` in [0, 1].

    Features with ``steps`` take the value of their place, the others are linear in between.
    """
    r, n = quantiles.shape
    out = np.empty(u.shape)
    for i in range(len(u)):
        for j in range(r):
            if steps[j]:
                out[i, j] = quantiles[j, min(int(u[i, j] * n), n - 1)]
            else:
                place = min(max(u[i, j] * n - 0.5, 0.0), n - 1.0)
                lower = int(place)
                value = quantiles[j, lower]
                above = quantiles[j, min(lower + 1, n - 1)]
                out[i, j] = (above - value) * (place - lower) + value
    return out
