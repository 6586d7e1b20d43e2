"""The space in which a partition is proved: inner products of samples on demand, and their sums.

Input are a function gram(rows, rows), masses and labels; K is never stored. The samples are put in
the order of labels, and within a label of *cells*: connected pieces of the graph of some √n samples
(:func:`layout`). A label of very many samples is cut into *districts* first, which are connected
and made of cells; another label is one district. One pass over K by pairs of cells gives all that
a proof asks of K (:func:`sums`):

    Q_ih = Σ_{j∈h} m_j k_ij   for the cells h of the district of i, and for the districts h of its
                              label,
    S_it = Σ_{j∈C_t} m_j k_ij.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from ..graph import components
from ..numerics.threads import each, stop_if_asked
from ..partition import canonical
from ..problem import Floats, Ints
from .rounding import roundings


@dataclass(frozen=True, slots=True)
class Space:
    """Inner products k_ij = ⟨φ_i, φ_j⟩ of samples in a Hilbert space.

    Attributes
    ----------
    gram : callable
        gram(rows, columns) -> block, for arrays of indices of samples.
    sizes : ndarray of shape (n,)
        s_i with |k_ij| ≤ s_i s_j; so s_i ≥ ‖φ_i‖.
    noise : float
        |gram_ij − k_ij| ≤ noise · s_i s_j.
    places : ndarray of shape (n, d) or None
        Where the samples are, if distance bounds k.
    reach : float
        Of samples whose ``places`` are further apart than that,
    lost : float
        |k_ij| ≤ lost · s_i s_j.
    proviso : str
        What was taken for granted, as the end of a sentence; empty if nothing was.
    """

    gram: Callable[[Ints, Ints], Floats]
    sizes: Floats
    noise: float
    places: Floats | None = None
    reach: float = np.inf
    lost: float = 0.0
    proviso: str = ""

    @classmethod
    def of_coordinates(cls, Z: Floats) -> Space:
        """The rows of Z, about their mean."""
        Z = Z - Z.mean(axis=0)
        sizes = np.sqrt(np.einsum("ik,ik->i", Z, Z)) * (1.0 + roundings(Z.shape[1] + 4))

        def gram(rows: Ints, columns: Ints) -> Floats:
            return Z[rows] @ Z[columns].T

        return cls(gram, sizes, float(roundings(Z.shape[1] + 4)))

    def means(self, masses: Floats, labels: Ints) -> Space:
        """The means of the samples of every label: ⟨φ̄_s, φ̄_t⟩ = Σ_st m_i m_j k_ij/(m_s m_t)."""
        order, count = np.argsort(labels, kind="stable"), np.bincount(labels)
        start = np.cumsum(count) - count
        share = masses / np.bincount(labels, masses)[labels]

        def members(rows: Ints) -> tuple[Ints, Ints]:
            first = np.cumsum(count[rows]) - count[rows]
            at = np.repeat(start[rows] - first, count[rows]) + np.arange(int(count[rows].sum()))
            return order[at], first

        def gram(rows: Ints, columns: Ints) -> Floats:
            (i, up), (j, left) = members(rows), members(columns)
            K = np.add.reduceat(share[i, None] * self.gram(i, j) * share[j], up, axis=0)
            return np.add.reduceat(K, left, axis=1)

        sizes = np.bincount(labels, share * self.sizes) * (1.0 + roundings(int(count.max()) + 4))
        noise = self.noise + float(roundings(2 * int(count.max()) + 8))
        return Space(gram, sizes, noise, proviso=self.proviso)


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

# Samples of a label from which it is cut into districts, those of a district, and of its cells.
DIVIDED, DISTRICT, SMALL_CELL = 40_000, 3_000, 100


# Samples from which a pass uses a second thread. Half: starting it takes as long as it saves.
THREADED = 1_000


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
    seeds = np.random.default_rng(0).permutation(n)
    large = count >= (DIVIDED if district is None else 1)
    part = labels
    if large.any():
        wide = np.where(large, DISTRICT if district is None else district, n)
        part = _pieces(edges[inside], labels, wide, seeds)
    small = int(np.clip(CELL * np.sqrt(n), LEAST_CELL, LARGEST_CELL))
    fine = np.where(large, SMALL_CELL, small) if size is None else np.full(len(count), size)
    close = inside & (part[edges[:, 0]] == part[edges[:, 1]])
    of_part = np.empty(int(part.max()) + 1, dtype=np.int64)
    of_part[part] = fine[labels]
    cell = _pieces(edges[close], part, of_part, seeds)
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


def _pieces(edges: Ints, component: Ints, size: Ints, seeds: Ints) -> Ints:
    """Connected pieces of about ``size`` (of every component) samples, from ``edges`` inside."""
    from ..loops.balls import balls  # late: it loads numba

    n, (i, j) = len(component), edges.T
    graph = sparse.csr_array(
        (np.ones(2 * len(i)), (np.concatenate([i, j]), np.concatenate([j, i]))), shape=(n, n)
    )
    start, near = graph.indptr.astype(np.int64), graph.indices.astype(np.int64)
    return balls(start, near, component, size, seeds)


@dataclass(frozen=True, slots=True)
class Sums:
    """What a proof asks of K, by place.

    Attributes
    ----------
    own : list of ndarrays of shape (n_d, p_d)
        Q_ih of every district, cells h numbered within it.
    wide : list of ndarrays of shape (n_t, q_t)
        Q_ih of every label, districts h numbered within it; no columns if there is one.
    of_label : ndarray of shape (n, k)
        S_it.
    noise : float
        Every entry Σ m_j k_ij is right up to noise · s_i Σ m_j s_j.
    values : int
        Kernel values that were computed.
    """

    own: list[Floats]
    wide: list[Floats]
    of_label: Floats
    noise: float
    values: int


def sums(space: Space, masses: Floats, at: Layout, jobs: int = 1) -> Sums:
    """One pass over K by pairs of cells; ``masses`` by place. Cells beyond reach are left out.

    Every other cell is taken by one half of the pass, which two threads can do side by side.
    """
    n, p, starts = len(masses), len(at.starts) - 1, at.starts
    label, district = at.label[starts[:-1]], np.repeat(np.arange(len(at.bounds) - 1), np.diff(at.bounds))
    local, number = np.arange(p) - at.bounds[district], district - at.districts[label]
    first, begins = starts[at.bounds], at.places  # of districts, of labels
    own = [np.zeros((b - a, d - c)) for a, b, c, d in zip(first, first[1:], at.bounds, at.bounds[1:])]
    many = np.diff(at.districts)
    near_cells = _neighbours(space, at)

    def half(begin: int) -> tuple[Floats, list[Floats], int]:
        of_label, values = np.zeros((n, len(at.cells) - 1)), 0
        wide = [np.zeros((b - a, q if q > 1 else 0)) for a, b, q in zip(begins, begins[1:], many)]
        for g in range(begin, p, 2):
            stop_if_asked()
            a, b, t, d = starts[g], starts[g + 1], label[g], district[g]
            near = near_cells(g)
            lengths = starts[near + 1] - starts[near]
            ends = np.cumsum(lengths)
            begin_at = ends - lengths
            columns = np.repeat(starts[near] - begin_at, lengths) + np.arange(int(ends[-1]))
            K = space.gram(at.order[a:b], at.order[columns])
            values += K.size
            down = masses[a:b] @ K  # sums over g itself, for the places of later cells
            K = K * masses[columns]
            across = np.add.reduceat(K, begin_at, axis=1)  # over the near cells, for the places of g
            groups = np.flatnonzero(np.diff(label[near], prepend=-1))
            of_label[a:b, label[near[groups]]] += np.add.reduceat(across, groups, axis=1)
            later = columns[b - a :]
            of_label[later, t] += down[b - a :]
            # the cells of the same district come first, then those of the same label
            q = int(np.count_nonzero(district[near] == d))
            own[d][a - first[d] : b - first[d], local[near[:q]]] = across[:, :q]
            mine = columns[b - a : ends[q - 1]]
            own[d][mine - first[d], local[g]] = down[b - a : ends[q - 1]]
            if many[t] > 1:
                r = int(np.count_nonzero(label[near] == t))
                groups = np.flatnonzero(np.diff(district[near[:r]], prepend=-1))
                found = np.add.reduceat(across[:, :r], groups, axis=1)
                wide[t][a - begins[t] : b - begins[t], number[near[groups]]] += found
                mine = columns[b - a : ends[r - 1]]
                wide[t][mine - begins[t], number[g]] += down[b - a : ends[r - 1]]
        return of_label, wide, values

    (even, wide, some), (odd, others, more) = each(half, (0, 1), jobs if n >= THREADED else 1)
    for one, other in zip(wide, others):
        one += other
    # a product, the sum over a cell, and the sum over cells
    steps = int(np.diff(starts).max()) + p + 4
    noise = space.noise + space.lost + float(roundings(steps))
    return Sums(own, wide, even + odd, noise, some + more)


def _neighbours(space: Space, at: Layout) -> Callable[[int], Ints]:
    """The cells h ≥ g within reach of cell g, as a function of g."""
    p = len(at.starts) - 1
    if space.places is None:
        return lambda g: np.arange(g, p)
    places, order = space.places, at.order
    d = places.shape[1]
    centre, radius = np.empty((p, d)), np.empty(p)
    for g in range(p):  # cell by cell: a second array of the size of the data may not fit
        own = places[order[at.starts[g] : at.starts[g + 1]]]
        centre[g] = own.mean(axis=0)
        radius[g] = np.sqrt(((own - centre[g]) ** 2).sum(axis=1).max())
    # distances computed from coordinates of this size are right to so much, and more
    largest = max(float(places.max()), -float(places.min()))
    slack = 1e-12 * (largest + 1.0) * np.sqrt(d)

    def near(g: int) -> Ints:
        apart = np.sqrt(((centre[g:] - centre[g]) ** 2).sum(axis=1)) - radius[g:] - radius[g]
        found = g + np.flatnonzero(apart <= space.reach + slack)
        return found if len(found) and found[0] == g else np.concatenate([[g], found])

    return near
