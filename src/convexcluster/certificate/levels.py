"""The levels on which demands are carried inside one cluster, and the vectors of each level.

Input is a cluster with sums of K over its cells, and over its districts if it has several. A
*region* is the cluster, a district or a cell; its *parts* are districts, cells or samples. With
b̄_R = Σ_{i∈R} b_i, what is carried over a region R is one vector for each part g,

    r_g = b̄_g − σ_g b̄_R,   σ_g = m_g/m_R;   over the cluster r_g = b̄_g, as Σ b_i = 0:

from g, spread by mass, to R, spread by mass. So level by level sums are shared out further, down to
the samples: of i in the cell h of the district D the demands are

    (m_i/m_D) b̄_D  +  (m_i/m_h)(b̄_h − σ_h b̄_D)  +  (b_i − (m_i/m_h) b̄_h)  =  b_i.

A cluster of one district has two levels, and a district of one cell leaves all to the cell. With n
samples, q districts and p cells in each, potentials and sums have n(q + p) numbers, not n·qp.

*Rounding.* Shares are floats. m_i/m_D is made as the product of m_i/m_h and σ_h, so that the first
two terms differ from (m_i/m_h) b̄_h by one rounding; Σ_g σ_g = 1 up to γ_{p+4}, and what Σ_g r_g ≠ 0
leaves at a sample is so much of (m_i/m_D) b̄_D. Both are added to what flows miss. Sums over samples
go by cells, and those over cells by districts: the samples of a cell, the cells of a district and
the districts are each summed at most six times in a row on the way to ‖λ_l‖² (mean of the row, its
sum over a part and over all, parts of a row, the sum of rows, two products with potentials).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..problem import Floats, Ints
from .space import Space


@dataclass(frozen=True, slots=True)
class Inside:
    """One cluster: its places, edges, cells and districts, numbered from 0 within it.

    Attributes
    ----------
    own : ndarray of shape (m,)
        Its edges, as numbers of edges of the problem.
    edges, w : ndarrays of shape (m, 2) and (m,)
    samples : ndarray of shape (n,)
    masses, sizes : ndarrays of shape (n,)
        m_i and s_i.
    sums : tuple of ndarrays of shape (n_d, p_d)
        Q_ih of the cells h of each district, right to ``noise`` · s_i Σ_h m_j s_j.
    wide : ndarray of shape (n, q)
        The same of its districts; no columns if there is one.
    cell : ndarray of shape (n,)
    starts : ndarray of shape (p + 1,)
        First sample of every cell.
    bounds : ndarray of shape (q + 1,)
        First cell of every district.
    noise : float
    near : ndarray of shape (r,)
        Its neighbours: labels, or samples.
    pull : ndarray of shape (n, r)
        w_is = Σ_{j∈C_s} w_ij.
    crossing : int
        Edges that leave it.
    """

    own: Ints
    edges: Ints
    w: Floats
    samples: Ints
    masses: Floats
    sizes: Floats
    sums: tuple[Floats, ...]
    wide: Floats
    cell: Ints
    starts: Ints
    bounds: Ints
    noise: float
    near: Ints
    pull: Floats
    crossing: int

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.masses)

    @property
    def divided(self) -> bool:
        """Whether there are several districts."""
        return len(self.sums) > 1

    @property
    def mean(self) -> Floats:
        """⟨φ_i, φ̄_t⟩, shape (n,)."""
        coarsest = self.wide if self.divided else self.sums[0]
        return np.asarray(coarsest.sum(axis=1) / float(self.masses.sum()))

    @property
    def steps(self) -> int:
        """Terms of the longest sum over samples, cell by cell and district by district."""
        parts = int(np.diff(self.bounds).max()) + (len(self.sums) if self.divided else 0)
        return int(np.diff(self.starts).max()) + parts

    def by_cell(self, values: Floats) -> Floats:
        """Sums of values (n, …) over cells."""
        return np.add.reduceat(values, self.starts[:-1], axis=0)

    def by_district(self, values: Floats) -> Floats:
        """Sums of values (p, …) of cells over districts."""
        return np.add.reduceat(values, self.bounds[:-1], axis=0)


@dataclass(frozen=True, slots=True)
class Region:
    """A cluster, district or cell, in parts that are districts, cells or samples.

    Attributes
    ----------
    rows : slice
        Its samples.
    edges : ndarray of shape (m_R,)
        Edges with both ends in it.
    starts : tuple of ndarrays
        Where sums over parts begin: of samples by cells, and of cells by districts.
    home : ndarray of shape (n_R,)
        Part of every sample.
    spread, spent : ndarrays of shape (n_R,)
        How a part is spread over its samples, m_i/m_g, and the region over its own, m_i/m_R.
    share : ndarray of shape (q,)
        σ_g; zeros if the region is the cluster.
    table : ndarray of shape (n_R, q)
        Q_ig; no columns if the parts are samples.
    """

    rows: slice
    edges: Ints
    starts: tuple[Ints, ...]
    home: Ints
    spread: Floats
    spent: Floats
    share: Floats
    table: Floats

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.home)

    @property
    def is_cell(self) -> bool:
        """Whether the parts are samples."""
        return not self.starts

    def ends(self, own: Inside) -> tuple[Ints, Ints]:
        """The ends of its edges, numbered from 0 within it."""
        i, j = np.ascontiguousarray((own.edges[self.edges] - self.rows.start).T)
        return i, j

    def parts(self, values: Floats) -> Floats:
        """Sums of values (n_R, …) of its samples over the parts."""
        for starts in self.starts:
            values = np.add.reduceat(values, starts, axis=0)
        return values

    def carried(self, values: Floats) -> Floats:
        """x̄_g − σ_g x̄_R of the parts, for values x (n_R, …) of its samples."""
        sums = self.parts(values)
        if not self.share.any():
            return sums
        return sums - np.multiply.outer(self.share, sums.sum(axis=0))

    def demands(self, also: Floats) -> Floats:
        """What is to be carried for each part, a unit of it, beside other columns."""
        left = np.empty((self.n, len(self.share) + also.shape[1]))
        left[:, : len(self.share)] = -self.spent[:, None]
        left[np.arange(self.n), self.home] += self.spread
        left[:, len(self.share) :] = also
        return left


def regions(own: Inside) -> Iterator[tuple[int, Region]]:
    """The regions of several parts, each before those in it, and how many of them it lies in."""
    m, first, none = own.masses, own.starts[:-1], np.zeros((own.n, 0))
    mass = own.by_cell(m)
    spread, divided = m / mass[own.cell], own.divided
    district = np.repeat(np.arange(len(own.sums)), np.diff(own.bounds))
    share = mass / own.by_district(mass)[district]
    # of a district its parts' shares and those of their samples, so that nothing is lost between
    wide = spread * share[own.cell] if divided else spread
    several = len(first) > 1
    if several:
        starts = (first, own.bounds[:-1]) if divided else (first,)
        home, table = (district[own.cell], own.wide) if divided else (own.cell, own.sums[0])
        zeros, spent = np.zeros(table.shape[1]), m / float(m.sum())
        every = np.arange(len(own.edges))
        yield 0, Region(slice(0, own.n), every, starts, home, wide, spent, zeros, table)
    in_cells = _edges_in(own.cell[own.edges], len(first))
    in_districts = _edges_in(district[own.cell[own.edges]], len(own.sums)) if divided else []
    for d, (c, e) in enumerate(zip(own.bounds, own.bounds[1:])):
        depth, a, b = int(several), own.starts[c], own.starts[e]
        if divided and e - c > 1:
            rows, home = slice(a, b), own.cell[a:b] - c
            yield depth, Region(
                rows, in_districts[d], (first[c:e] - a,), home, spread[rows], wide[rows],
                share[c:e], own.sums[d],
            )  # fmt: skip
            depth += 1
        for h in range(c, e):
            a, b = own.starts[h], own.starts[h + 1]
            if b - a > 1:
                rows, home, even = slice(a, b), np.arange(b - a), np.full(b - a, 1.0 / (b - a))
                # what is carried is balanced, and P inverts L_κ on balanced vectors: L_κ P = I −
                # 11ᵀ/n, as good as I − (m/m_h)1ᵀ there, and met to rounding whatever the masses are
                yield (
                    depth,
                    Region(
                        rows, in_cells[h], (), home, np.ones(b - a), even, spread[rows], none[rows]
                    ),
                )


def _edges_in(homes: Ints, count: int) -> list[Ints]:
    """Edges whose ends have one home, by home; ``homes`` (m, 2) are those of the ends."""
    within = np.flatnonzero(homes[:, 0] == homes[:, 1])
    within = within[np.argsort(homes[within, 0], kind="stable")]
    return np.split(within, np.searchsorted(homes[within, 0], np.arange(1, count)))


class Vectors:
    """The vectors b_i of a cluster, and for its regions bounds on lengths, and inner products.

    Attributes
    ----------
    beta : ndarray of shape (n,)
        ≥ ‖b_i‖.
    """

    def __init__(self, own: Inside) -> None:
        m, self.own = own.masses, own
        self.beta = m * (own.sizes + float(m @ own.sizes) / float(m.sum()))
        self.mean = own.mean
        column = own.by_cell(m * self.mean)
        column = own.by_district(column) if own.divided else column
        self.square = column.sum() / float(m.sum())  # ‖φ̄_t‖²

    def lengths(self, region: Region) -> Floats:
        """≥ ‖r_g‖ of the parts, by way of all that is summed for them, shape (q,)."""
        beta = region.parts(self.beta[region.rows])
        return beta + region.share * beta.sum()

    def products(self, region: Region) -> Floats:
        """⟨b_i, r_g⟩ of the samples and parts of a region, shape (n_R, q)."""
        m, mean = self.own.masses[region.rows], self.mean[region.rows]
        mass, column = region.parts(m), region.parts(m * mean)
        Q = mean[:, None] * mass  # in place: it may be as large as all else together
        np.subtract(region.table, Q, out=Q)
        Q -= column - self.square * mass
        Q *= m[:, None]
        if region.share.any():
            Q -= np.multiply.outer(Q.sum(axis=1), region.share)
        return Q

    def gram(self, space: Space, region: Region) -> Floats:
        """⟨r_i, r_j⟩ of the samples of a cell; its mean drops out of them."""
        m, member, share = self.own.masses[region.rows], self.own.samples[region.rows], region.share
        K = space.gram(member, member) * np.outer(m, m)
        one = K.sum(axis=1)
        return np.asarray(
            K - np.outer(one, share) - np.outer(share, one) + one.sum() * np.outer(share, share)
        )
