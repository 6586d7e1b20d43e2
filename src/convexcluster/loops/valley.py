"""Sequences that fall and then rise: pooled adjacent violators on either side of a place."""

from __future__ import annotations

import numpy as np
from numba import njit

from ..problem import Floats


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
