"""The space in which a partition is proved: inner products of samples on demand, and their sums.

Input are a function gram(rows, rows), masses and the cells and districts of labels
(:mod:`~convexcluster.certificate.layout`); K is never stored. One pass over K by pairs of cells
gives all that a proof asks of K (:func:`sums`):

    Q_ih = Σ_{j∈h} m_j k_ij   for the cells h of the district of i, and for the districts h of its
                              label,
    S_it = Σ_{j∈C_t} m_j k_ij.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..numerics.progress import reports
from ..numerics.threads import each, stop_if_asked
from ..problem import Floats, Ints
from .layout import Layout
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


# Share of a proof that the pass over K takes, about: a third in the plane, of clusters in many
# dimensions three quarters. It is for the bar alone.
PASS = 0.5

# Samples from which a pass uses a second thread. Half: starting it takes as long as it saves.
THREADED = 1_000


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
    p, near_cells = len(at.starts) - 1, _neighbours(space, at)
    first = at.starts[at.bounds]
    own = [np.zeros(shape) for shape in zip(np.diff(first), np.diff(at.bounds))]
    told = reports("proof")

    def half(begin: int) -> _Half:
        made = _Half(space, masses, at, own)
        for g in range(begin, p, 2):
            stop_if_asked()
            told(PASS * (1.0 - (1.0 - g / p) ** 2))
            made.add(g, near_cells(g))
        return made

    even, odd = each(half, (0, 1), jobs if len(masses) >= THREADED else 1)
    for one, other in zip(even.wide, odd.wide):
        one += other
    # a product, the sum over a cell, and the sum over cells
    steps = int(np.diff(at.starts).max()) + p + 4
    noise = space.noise + space.lost + float(roundings(steps))
    return Sums(own, even.wide, even.of_label + odd.of_label, noise, even.values + odd.values)


class _Half:
    """One half of a pass; ``own`` is shared, as every entry of it is written once."""

    def __init__(self, space: Space, masses: Floats, at: Layout, own: list[Floats]) -> None:
        self.space, self.masses, self.at, self.own = space, masses, at, own
        self.label = at.label[at.starts[:-1]]
        self.district = np.repeat(np.arange(len(at.bounds) - 1), np.diff(at.bounds))
        self.of_label, self.values = np.zeros((len(masses), len(at.cells) - 1)), 0
        self.alike, self.room = bool((masses == 1.0).all()), np.empty(0)
        sizes, districts = np.diff(at.places), np.diff(at.districts)
        self.wide = [np.zeros((n, q if q > 1 else 0)) for n, q in zip(sizes, districts)]

    def add(self, g: int, near: Ints) -> None:
        """Sums over cell g, and over the cells ``near`` it, of which it is the first."""
        at, starts, masses = self.at, self.at.starts, self.masses
        a, b, t, d = starts[g], starts[g + 1], self.label[g], self.district[g]
        lengths = starts[near + 1] - starts[near]
        ends = np.cumsum(lengths)
        columns = np.repeat(starts[near + 1] - ends, lengths) + np.arange(int(ends[-1]))
        K = self.space.gram(at.order[a:b], at.order[columns])
        self.values += K.size
        down = masses[a:b] @ K  # sums over g itself, for the places of later cells
        weighted = K if self.alike else self._weighted(K, masses[columns])
        across = np.add.reduceat(weighted, ends - lengths, axis=1)  # over the near cells
        groups, found = _summed(across, self.label[near])
        self.of_label[a:b, groups] += found
        later, down = columns[b - a :], down[b - a :]
        self.of_label[later, t] += down
        # cells of the same district come first, then others of the same label
        here, q = starts[at.bounds[d]], int(np.count_nonzero(self.district[near] == d))
        mine = int(ends[q - 1]) - (b - a)
        self.own[d][a - here : b - here, near[:q] - at.bounds[d]] = across[:, :q]
        self.own[d][later[:mine] - here, g - at.bounds[d]] = down[:mine]
        if self.wide[t].shape[1]:
            here, q = starts[at.cells[t]], int(np.count_nonzero(self.label[near] == t))
            mine = int(ends[q - 1]) - (b - a)
            groups, found = _summed(across[:, :q], self.district[near[:q]])
            self.wide[t][a - here : b - here, groups - at.districts[t]] += found
            self.wide[t][later[:mine] - here, d - at.districts[t]] += down[:mine]

    def _weighted(self, K: Floats, masses: Floats) -> Floats:
        """K times masses; in memory kept from cell to cell, as new memory costs as much as that."""
        if len(self.room) < K.size:
            self.room = np.empty(K.size)
        return np.multiply(K, masses, out=self.room[: K.size].reshape(K.shape))


def _summed(values: Floats, groups: Ints) -> tuple[Ints, Floats]:
    """Ascending groups of columns, each once, and the sums of their columns."""
    first = np.flatnonzero(np.diff(groups, prepend=-1))
    return groups[first], np.add.reduceat(values, first, axis=1)


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
