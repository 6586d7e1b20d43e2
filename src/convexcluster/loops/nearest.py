"""The nearest points of few features: boxes around tiles of points, and sorting by distance.

Input are points in an order in which neighbours are near each other, feature by feature (d × n), so
that the distances of a row to the ``TILE`` points of a tile are one loop over contiguous numbers.
If the k-th neighbour of a row x is at the distance r, the k nearest of the next row x' lie within
r + ‖x − x'‖, and tiles further away are left out. Where that leaves many, as between rows at scales
decades apart, the k-th of the points about as far along the order bounds them. Squared distances
are put in buckets, and only the buckets of the k least are sorted.
"""

from __future__ import annotations

import numpy as np

from .compile import njit

# Points of a tile, and tiles of a group, whose boxes are looked at together. With half as large
# tiles 65 neighbours of 50,000 points take 15 % longer; twice as large ones take as long, and so
# do groups of half or twice the size.
TILE, GROUP = 16, 16

# Buckets for each neighbour that is wanted. With one of them lists take up to a tenth longer, as a
# bucket has more to sort; with eight as long.
BUCKETS = 3

# Points in tiles that may be within reach, for each neighbour that is wanted, from which on the
# order is asked for a bound, and points of it on either side that are. With half of the first,
# points of space take a third longer; with twice of it, rows that spread over 200 decades take a
# quarter longer. With half of the second these take twice as long, with twice of it as long.
LOOSE, ALONG = 128, 2

# Share by which a radius is enlarged, against the rounding of roots and sums.
SLACK = 1e-9


@njit(cache=True, nogil=True, error_model="numpy")
def _apart(low, high, t, least, most):  # type: ignore[no-untyped-def]
    """Squared distance of box t to another box."""
    s = 0.0
    for q in range(len(least)):
        out = max(low[t, q] - most[q], least[q] - high[t, q], 0.0)
        s += out * out
    return s


@njit(cache=True, nogil=True, error_model="numpy")
def _list_tiles(low, high, wide_low, wide_high, least, most, reach, tiles):  # type: ignore[no-untyped-def]
    """List the tiles within √reach of a box, and return how many they are."""
    found = 0
    for g in range(len(wide_low)):
        if _apart(wide_low, wide_high, g, least, most) > reach:
            continue
        for t in range(g * GROUP, min(g * GROUP + GROUP, len(low))):
            if _apart(low, high, t, least, most) <= reach:
                tiles[found] = t
                found += 1
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _gather(points, low, high, x, reach, tiles, square, place):  # type: ignore[no-untyped-def]
    """Squared distances and places of all points of the tiles within √reach of x; how many."""
    d, n = points.shape
    found = 0
    for t in tiles:
        if _apart(low, high, t, x, x) > reach:
            continue
        first = t * TILE
        for c in range(min(TILE, n - first)):
            square[found + c] = 0.0
            place[found + c] = first + c
        for q in range(d):
            for c in range(min(TILE, n - first)):
                apart = points[q, first + c] - x[q]
                square[found + c] += apart * apart
        found += min(TILE, n - first)
    return found


@njit(cache=True, nogil=True, error_model="numpy")
def _sort(square, number, first, last):  # type: ignore[no-untyped-def]
    """Sort entries first … last − 1 by square, ties by number: Shell's sort, quick if sorted."""
    step = 1
    while step < (last - first) // 9:
        step = 3 * step + 1
    while step > 0:
        for c in range(first + step, last):
            s, j, to = square[c], number[c], c - step
            while to >= first and (square[to] > s or (square[to] == s and number[to] > j)):
                square[to + step], number[to + step] = square[to], number[to]
                to -= step
            square[to + step], number[to + step] = s, j
        step //= 3


@njit(cache=True, nogil=True, error_model="numpy")
def _along(points, x, place, k, square, index):  # type: ignore[no-untyped-def]
    """Squared distance of the k-th nearest of the points that stand about ``place``."""
    d, n = points.shape
    many = min(2 * ALONG * k, n)
    first = min(max(place - ALONG * k, 0), n - many)
    for c in range(many):
        square[c], index[c] = 0.0, c
        for q in range(d):
            square[c] += (points[q, first + c] - x[q]) ** 2
    _sort(square, index, 0, many)
    return square[k - 1]


@njit(cache=True, nogil=True, error_model="numpy")
def nearest_points(  # type: ignore[no-untyped-def]
    points, number, low, high, wide_low, wide_high, X, places, rows, length, found
):
    """Distances and numbers of the nearest points of every row of X, nearest first.

    ``low`` and ``high`` (tiles, d) are the boxes of tiles, ``wide_low`` and ``wide_high`` those of
    groups. Row t of X stands at about ``places[t]`` of the order, and has its lists in row
    ``rows[t]`` of ``length`` and ``found``, which say how many are wanted. Of points at one
    distance the least ``number`` comes first. Rows in turn should be near each other.
    """
    (d, n), k = points.shape, length.shape[1]
    count = BUCKETS * k
    square, place = np.empty(n + TILE), np.empty(n + TILE, np.int64)
    near, index = np.empty(n + TILE), np.empty(n + TILE, np.int64)
    bucket, start = np.empty(n + TILE, np.int64), np.empty(count + 2, np.int64)
    tiles, listed = np.empty(len(low), np.int64), 0
    least, most, bound = np.empty(d), np.empty(d), np.empty(TILE)
    radius, before = np.inf, X[0]
    for t in range(len(X)):
        if t % TILE == 0:  # the tiles that the next rows may reach
            least[:], most[:], widest = X[t], X[t], 0.0
            for i in range(t, min(t + TILE, len(X))):
                s = 0.0
                for q in range(d):
                    least[q], most[q] = min(least[q], X[i, q]), max(most[q], X[i, q])
                    s += (X[i, q] - before[q]) ** 2
                widest = max(widest, s)
            reach = ((radius + np.sqrt(widest)) * (1.0 + SLACK)) ** 2
            bound[:] = reach
            listed = _list_tiles(low, high, wide_low, wide_high, least, most, reach, tiles)
            if listed * TILE > LOOSE * k:
                for i in range(t, min(t + TILE, len(X))):
                    bound[i - t] = _along(points, X[i], places[i], k, near, index) * (1.0 + SLACK)
                reach = bound[: min(TILE, len(X) - t)].max()
                listed = _list_tiles(low, high, wide_low, wide_high, least, most, reach, tiles)
        x, s = X[t], 0.0
        for q in range(d):
            s += (x[q] - before[q]) ** 2
        reach = min(((radius + np.sqrt(s)) * (1.0 + SLACK)) ** 2, bound[t % TILE])
        many = _gather(points, low, high, x, reach, tiles[:listed], square, place)
        if reach == np.inf:  # the first row of few points
            reach = square[:many].max()
        unit = count / reach if reach > 0.0 else 0.0
        unit = unit if unit < np.inf else 0.0
        start[:] = 0
        for c in range(many):
            bucket[c] = int(min(square[c] * unit, float(count)))
            start[bucket[c] + 1] += 1
        last = 0
        while start[last + 1] < k:
            start[last + 2] += start[last + 1]
            last += 1
        for c in range(many):  # bucket by bucket, up to the last that is needed
            b = bucket[c]
            if b <= last:
                near[start[b]], index[start[b]] = square[c], number[place[c]]
                start[b] += 1
        first = 0
        for b in range(last + 1):
            if start[b] > first + 1:
                _sort(near, index, first, start[b])
            first = start[b]
        for c in range(k):
            length[rows[t], c], found[rows[t], c] = np.sqrt(near[c]), index[c]
        radius, before = np.sqrt(near[k - 1]), x
