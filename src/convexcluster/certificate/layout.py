"""The order of samples in a proof: labels, districts and cells, which are connected pieces.

Input are the edges of the graph and labels; output is a :class:`Layout`. *Cells* are pieces of some
√n samples. A label of very many samples is cut into *districts* first, made of smaller cells;
another label is one district.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..graph import components
from ..partition import canonical
from ..problem import Ints


@dataclass(frozen=True, slots=True)
class Layout:
    """Samples in the order of labels, districts and cells; a *place* is a position in that order.

    Attributes
    ----------
    order : ndarray of shape (n,)
        Sample at every place.
    label, cell : ndarray of shape (n,)
        Label and cell at every place, ascending.
    starts : ndarray of shape (p + 1,)
        First place of every cell.
    cells : ndarray of shape (k + 1,)
        First cell of every label.
    bounds : ndarray of shape (q + 1,)
        First cell of every district.
    districts : ndarray of shape (k + 1,)
        First district of every label.
    edges : ndarray of shape (m, 2)
        Places of the ends of every edge, ascending.
    inside : ndarray of shape (m,)
        Whether both ends have one label.
    """

    order: Ints
    label: Ints
    cell: Ints
    starts: Ints
    cells: Ints
    bounds: Ints
    districts: Ints
    edges: Ints
    inside: np.ndarray

    @property
    def places(self) -> Ints:
        """First place of every label, shape (k + 1,)."""
        return self.starts[self.cells]


# Samples of a cell, in units of √n. Twice as many: the dense flows inside cells cost four times as
# much. Half: twice as many right-hand sides of the factor. γ_a differs by 2 % between 1 and 400.
CELL = 0.7

# Fewest and most samples of a cell: arrays of fewer than 8 cost what 8 cost; beyond 50,000 samples
# cells of 200 keep the inverses in the cache, at the price of more right-hand sides.
LEAST_CELL, LARGEST_CELL = 8, 200

# Samples of a label from which it is cut into districts. At 25,000 they would save three tenths of
# the flows already, but move bounds of default fits, which have up to 50,000 rows, by a percent or
# two. With twice as many two clusters of 50,000 take twice the seconds and the memory of a proof.
DIVIDED = 50_000

# Samples of a district. Half or twice as many cost the same within a tenth, four times four tenths
# more.
DISTRICT = 3_000

# Samples of a cell of a label that has districts. Of 200,000 samples, 60 take two tenths longer and
# 150 one.
SMALL_CELL = 100

# Cells are joined into districts where they share this part of the edges that the better joined of
# the two has with any cell, and by their best links. With half of it a γ_a was a fifth higher, with
# none of it twelve times as high. Twice as much leaves best links alone.
THICK = 0.5


def layout(
    edges: Ints, labels: Ints, size: int | None = None, district: int | None = None
) -> Layout | None:
    """Order samples by label, district and cell; None if a label is not connected.

    ``labels`` are numbered 0, 1, …; ``size`` and ``district`` are about the numbers of samples of a
    cell and of a district.
    """
    n = len(labels)
    inside = labels[edges[:, 0]] == labels[edges[:, 1]]
    if (components(edges[inside], n) != canonical(labels)).any():
        return None
    count = np.bincount(labels)
    large = count >= (DIVIDED if district is None else 1)
    most = np.full(len(count), int(np.clip(CELL * np.sqrt(n), LEAST_CELL, LARGEST_CELL)))
    most[large] = SMALL_CELL
    cell = _pieces(edges[inside], labels, most if size is None else np.full(len(count), size))
    part, few = labels, max((district or DISTRICT) // (size or SMALL_CELL), 1)
    if large.any():
        part = _districts(edges[inside], cell, labels, large, few)
    order = np.lexsort((cell, part, labels))
    cell, part, label = canonical(cell[order]), canonical(part[order]), labels[order]
    starts = np.searchsorted(cell, np.arange(int(cell[-1]) + 2))
    bounds = np.searchsorted(part[starts[:-1]], np.arange(int(part[-1]) + 2))
    first = starts[bounds[:-1]]
    cells = np.searchsorted(label[starts[:-1]], np.arange(int(label[-1]) + 2))
    districts = np.searchsorted(label[first], np.arange(int(label[-1]) + 2))
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    ends = np.sort(place[edges], axis=1)
    return Layout(order, label, cell, starts, cells, bounds, districts, ends, inside)


def _districts(edges: Ints, cell: Ints, labels: Ints, large: NDArray[np.bool_], few: int) -> Ints:
    """The district of every sample: connected, and of about ``few`` cells, if its label is large.

    Cells are joined where many edges join them: over a few, at the fringe of a cluster, a district
    would hold together by an edge that cannot carry what its cells have to give to each other.
    """
    p = int(cell.max()) + 1
    of_cell = np.empty(p, dtype=np.int64)
    of_cell[cell] = labels
    i, j = np.sort(cell[edges[cell[edges[:, 0]] != cell[edges[:, 1]]]], axis=1).T
    pair, count = np.unique(i * p + j, return_counts=True)
    between = np.column_stack([pair // p, pair % p])
    most = np.zeros(p)
    np.maximum.at(most, between, count[:, None])
    ends = most[between]
    thick = (count >= THICK * ends.max(axis=1)) | (count >= ends.min(axis=1))
    kept = between[thick | ~large[of_cell[between[:, 0]]]]
    joined = components(kept, p)
    of_part = np.empty(int(joined.max()) + 1, dtype=np.int64)
    of_part[joined] = of_cell
    return _pieces(kept, joined, np.where(large[of_part], few, p))[cell]


def _pieces(edges: Ints, component: Ints, size: Ints) -> Ints:
    """Connected pieces of about ``size`` samples (of every component), from ``edges`` inside."""
    from ..loops.balls import balls  # late: it loads numba

    n, (i, j) = len(component), edges.T
    graph = sparse.csr_array(
        (np.ones(2 * len(i)), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n)
    )
    start, near = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    return balls(start, near, component, size, np.random.default_rng(0).permutation(n))
