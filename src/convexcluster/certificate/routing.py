"""Flows of one cluster in two levels, and how long they are in the space of a kernel.

Notation of :mod:`~convexcluster.certificate.proof`. Inside the cluster C_t the demands are the
vectors b_i = m_i(φ_i − φ̄_t) and, for every neighbour s, the scalars e^s_i = (m_i/m_t)W_ts − w_is;
all of them sum to zero. Level 1 carries the sums of cells, spread by mass, over the whole cluster:
one right-hand side of L_κ per cell. Level 2 carries the rest inside each cell, by a dense inverse.
The flow of an edge l in cell h is λ_l = Σ_i r_li b_i,

    λ_l = Σ_g F_lg b̄_g + Σ_{i∈h} T_li (b_i − (m_i/m_h) b̄_h),        b̄_g = Σ_{i∈g} b_i,

and ‖λ_l‖ follows from inner products that sums of K give. F and T are differences κ(y_i − y_j) of
potentials Y and of rows of the inverses P, so that F G Fᵀ needs the products Y G alone.

*Rounding.* F and T are floats, and the flow is by definition the one they make. What is known of
‖λ_l‖² is an inner product of sums of k_ij, right to ν(Σ_i |r_li| m_i(s_i + s̄_t))²; ν collects the
noise of the sums and the roundings behind them. Products Y G, of which two rows are subtracted, are
in addition wrong by γ κ(|y_i| + |y_j|) times the sizes of what they are multiplied by. What the
flow misses of the demand is E b with E = (I − (m/m_t)1ᵀ) − DᵀR, computed and bounded entry by
entry; it is balanced, and a spanning tree of large weights carries it: ‖(E b)_i‖ summed below an
edge of the tree is all that the edge gets in addition. So conductances may be anything: bad ones
make large bounds, not wrong ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse.csgraph import breadth_first_order

from ..graph import incidence, spanning_tree
from ..numerics.laplacian import solve_compact
from ..problem import Floats, Ints
from .rounding import OWN, roundings
from .space import Space

BLOCK = 2_048  # edges at a time: 2,048 × 150 numbers stay in the cache


@dataclass(frozen=True, slots=True)
class Inside:
    """One cluster: its places, edges and cells, numbered from 0 within it.

    Attributes
    ----------
    own : ndarray of shape (m,)
        Its edges, as numbers of edges of the problem.
    edges, w : ndarrays of shape (m, 2) and (m,)
    samples : ndarray of shape (n,)
    masses, sizes : ndarrays of shape (n,)
        m_i and s_i.
    sums : ndarray of shape (n, p)
        Q_ih, right to ``noise`` · s_i Σ_h m_j s_j.
    cell : ndarray of shape (n,)
    starts : ndarray of shape (p + 1,)
    noise : float
    near : ndarray of shape (q,)
        Its neighbours: labels, or samples.
    pull : ndarray of shape (n, q)
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
    sums: Floats
    cell: Ints
    starts: Ints
    noise: float
    near: Ints
    pull: Floats
    crossing: int

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.masses)


@dataclass(frozen=True, slots=True)
class Flows:
    """The flows of one cluster, edge by edge.

    Attributes
    ----------
    inside : Inside
    kappa : ndarray of shape (m,)
        Conductances.
    square : ndarray of shape (m,)
        ‖λ_l‖² as computed.
    size : ndarray of shape (m,)
        Σ_i |r_li| m_i(s_i + s̄).
    noise : float
        ν.
    blur : ndarray of shape (m,)
        What products of potentials lose of ``square`` beyond that.
    f : ndarray of shape (m, q)
        Flows of the scalar demands.
    extra : ndarray of shape (m, 1 + q)
        What the tree carries of the vectors, and of each scalar demand.
    potentials : ndarray of shape (n, p)
        Of level 1; no columns if there is one cell.
    inverses : tuple of ndarrays
        Of level 2.
    """

    inside: Inside
    kappa: Floats
    square: Floats
    size: Floats
    noise: float
    blur: Floats
    f: Floats
    extra: Floats
    potentials: Floats
    inverses: tuple[Floats, ...]

    @classmethod
    def of_one(cls, own: Inside) -> Flows:
        """Those of a single sample: there is no edge."""
        q, none = own.pull.shape[1], np.zeros(0)
        f, extra = np.zeros((0, q)), np.zeros((0, 1 + q))
        return cls(
            own, none, none, none, 0.0, none, f, extra, np.zeros((1, 0)), (np.zeros((1, 1)),)
        )

    @property
    def length(self) -> Floats:
        """‖λ_l‖ of a flow that meets the vectors, from above."""
        return (
            np.sqrt(bounded(self.square, self.noise * self.size**2 + self.blur)) + self.extra[:, 0]
        )

    @property
    def turned(self) -> Floats:
        """Σ_s |f_ls|, from above."""
        return OWN * self.extra[:, 1:].sum(axis=1) + np.abs(self.f).sum(axis=1) * (
            1.0 + roundings(self.f.shape[1] + 4)
        )

    @property
    def gamma(self) -> float:
        """The least γ from which on the flow fits whatever the directions are; inf if none."""
        if not len(self.square):
            return 0.0
        room = self.inside.w - self.turned
        with np.errstate(invalid="ignore"):
            fits = bool((room > 0).all() and np.isfinite(self.length).all())
        return float((self.length / room).max() * (1.0 + roundings(8))) if fits else np.inf

    def carry(self, scalars: Floats) -> Floats:
        """Σ_i r_li x_i for columns x (n, c) of balanced scalars: the same flow, shape (m, c)."""
        own, i, j = self.inside, *self.inside.edges.T
        cells = np.add.reduceat(scalars, own.starts[:-1], axis=0)
        out = np.zeros((len(i), scalars.shape[1]))
        if self.potentials.shape[1]:
            for at in range(0, len(i), BLOCK):
                few, Y = slice(at, at + BLOCK), self.potentials
                out[few] = (self.kappa[few, None] * (Y[i[few]] - Y[j[few]])) @ cells
        share = own.masses / np.add.reduceat(own.masses, own.starts[:-1])[own.cell]
        rest = scalars - share[:, None] * cells[own.cell]
        for h, (a, b, within) in enumerate(_cells(own)):
            if len(within):
                P = self.inverses[h]
                T = self.kappa[within, None] * (P[i[within] - a] - P[j[within] - a])
                out[within] += T @ rest[a:b]
        return out

    def rows(self, part: slice) -> Floats:
        """|r̃_li| = |r_li − Σ_j r_lj m_j/m_t| of some samples i, from above, shape (m, samples)."""
        own, width = self.inside, part.stop - part.start
        demand = np.repeat(-own.masses[:, None] / float(own.masses.sum()), width, axis=1)
        demand[np.arange(part.start, part.stop), np.arange(width)] += 1.0
        R = self.carry(demand)
        lacking = np.abs(demand - incidence(own.edges, own.n).T @ R)
        unit = roundings(np.bincount(own.edges.ravel(), minlength=own.n) + own.n + 6)
        lacking += unit[:, None] * (_at_ends(own, np.abs(R)) + np.abs(demand))
        return np.abs(R) + _along_tree(own, OWN * lacking)


def bounded(square: Floats, error: Floats) -> Floats:
    """An upper bound on squares that are known up to ``error``."""
    return np.maximum(square, 0.0) * (1.0 + roundings(4)) + OWN * error


def _cells(own: Inside) -> list[tuple[int, int, Ints]]:
    """(first, end, edges inside) of every cell."""
    home = own.cell[own.edges]
    within = np.flatnonzero(home[:, 0] == home[:, 1])
    within = within[np.argsort(home[within, 0], kind="stable")]
    bounds = np.searchsorted(home[within, 0], np.arange(len(own.starts)))
    return [
        (int(a), int(b), within[c:d])
        for a, b, c, d in zip(own.starts[:-1], own.starts[1:], bounds[:-1], bounds[1:])
    ]


@dataclass(frozen=True, slots=True)
class _Vectors:
    """The vectors b_i of a cluster: bounds on their lengths, and their inner products.

    Attributes
    ----------
    cell : ndarray of shape (p,)
        ≥ ‖b̄_g‖.
    rest : ndarray of shape (n,)
        ≥ ‖b_i − (m_i/m_h) b̄_h‖.
    share : ndarray of shape (n,)
        m_i/m_h.
    Q : ndarray of shape (n, p)
        ⟨b_i, b̄_h⟩.
    G : ndarray of shape (p, p)
        ⟨b̄_g, b̄_h⟩.
    """

    cell: Floats
    rest: Floats
    share: Floats
    Q: Floats
    G: Floats

    @classmethod
    def of(cls, own: Inside) -> _Vectors:
        m, first = own.masses, own.starts[:-1]
        total = float(m.sum())
        mass = np.add.reduceat(m, first)
        share = m / mass[own.cell]
        beta = m * (own.sizes + float(m @ own.sizes) / total)  # ≥ ‖b_i‖
        cell = np.add.reduceat(beta, first)
        mean = own.sums.sum(axis=1) / total
        column = np.add.reduceat(m * mean, first)
        Q = mean[:, None] * mass  # in place: it may be as large as all else together
        np.subtract(own.sums, Q, out=Q)
        Q -= column - column.sum() / total * mass
        Q *= m[:, None]
        return cls(cell, beta + share * cell[own.cell], share, Q, np.add.reduceat(Q, first, axis=0))


@dataclass(frozen=True, slots=True)
class _Ledger:
    """What both levels add up: ‖λ_l‖², Σ_i |r_li| m_i(s_i + s̄), and what is missed at samples."""

    square: Floats
    size: Floats
    span: Floats  # Σ κ(|y_i| + |y_j|) times the lengths of the vectors, of both levels
    missed: Floats
    unit: Floats  # rounding of a sum over the edges of every sample


def route_cluster(space: Space, own: Inside, kappa: Floats) -> Flows:
    """The flows of one cluster for the conductances ``kappa``."""
    n, p, m = own.n, len(own.starts) - 1, len(own.edges)
    v = _Vectors.of(own)
    unit = roundings(np.bincount(own.edges.ravel(), minlength=n) + 6)
    sums = _Ledger(np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(n), unit)
    spent = own.masses[:, None] / float(own.masses.sum()) * own.pull.sum(axis=0)
    E = spent - own.pull  # the scalar demands
    Y, f = np.zeros((n, 0)), np.zeros((m, E.shape[1]))
    if p > 1:
        Y, f = _over_the_cluster(own, kappa, v, E, sums)
    inverses = []
    for a, b, within in _cells(own):
        if b - a == 1:
            inverses.append(np.zeros((1, 1)))
            continue
        P = _dense(own.edges[within] - a, kappa[within], b - a)
        inverses.append(P)
        _inside_a_cell(space, own, kappa, v, slice(a, b), within, P, Y[a:b], sums)
        if p == 1:
            potential = P @ E
            i, j = own.edges.T
            f = kappa[:, None] * (potential[i] - potential[j])
    residual = np.abs(E - incidence(own.edges, n).T @ f)
    residual += unit[:, None] * (_at_ends(own, np.abs(f)) + spent + own.pull)
    residual += float(roundings(own.crossing + 6)) * (spent + own.pull)
    extra = _along_tree(own, OWN * np.column_stack([sums.missed, residual]))
    # sums over cells, their centring, and two sums of products for ‖λ‖²
    steps = int(np.diff(own.starts).max()) + p
    noise = own.noise + float(roundings(6 * steps + 60))
    blur = 2.0 * float(roundings(2 * steps + 20)) * sums.size * sums.span
    return Flows(own, kappa, sums.square, sums.size, noise, blur, f, extra, Y, tuple(inverses))


def _over_the_cluster(
    own: Inside, kappa: Floats, v: _Vectors, E: Floats, sums: _Ledger
) -> tuple[Floats, Floats]:
    """Level 1: potentials of the cells, and flows of the scalars."""
    from ..loops.routing import inner_products, take_off  # late: it loads numba

    n, p, (i, j) = own.n, len(v.cell), np.ascontiguousarray(own.edges.T)
    spent = own.masses / float(own.masses.sum())

    def demands(also: Floats) -> Floats:
        """I − (m/m_t)1ᵀ of the cells, beside other columns: made twice, as it is large."""
        left = np.empty((n, p + also.shape[1]))
        left[:, :p] = -spent[:, None]
        left[np.arange(n), own.cell] += v.share
        left[:, p:] = also
        return left

    whole = _potentials(own, kappa, demands(E))
    f = kappa[:, None] * (whole[i, p:] - whole[j, p:])
    Y = whole[:, :p] - whole[:, :p].mean(axis=0)
    del whole
    inner_products(i, j, kappa, Y, Y @ v.G, sums.square)
    span = np.abs(Y) @ v.cell
    sums.span[:] = kappa * (span[i] + span[j])
    left = demands(np.empty((n, 0)))
    take_off(i, j, kappa, Y, v.cell, left, sums.size)
    carried = _at_ends(own, sums.size) + v.share * v.cell[own.cell] + spent * v.cell.sum()
    sums.missed[:] = np.abs(left, out=left) @ v.cell + sums.unit * carried
    return Y, f


def _inside_a_cell(
    space: Space,
    own: Inside,
    kappa: Floats,
    v: _Vectors,
    part: slice,
    within: Ints,
    P: Floats,
    Y: Floats,
    sums: _Ledger,
) -> None:
    """Level 2 of the cell ``part``, with the inverse P and the potentials Y of level 1."""
    from ..loops.routing import inner_products, take_off  # late: it loads numba

    m, share, member, rest = own.masses[part], v.share[part], own.samples[part], v.rest[part]
    K = space.gram(member, member) * np.outer(m, m)
    one = K.sum(axis=1)
    C = K - np.outer(one, share) - np.outer(share, one) + one.sum() * np.outer(share, share)
    (i, j), own_kappa = np.ascontiguousarray((own.edges[within] - part.start).T), kappa[within]
    square, size = np.empty(len(within)), np.empty(len(within))
    inner_products(i, j, own_kappa, P, P @ C, square)
    sums.square[within] += square
    if Y.shape[1]:
        Q = v.Q[part] - np.outer(share, v.Q[part].sum(axis=0))
        inner_products(i, j, own_kappa, P @ Q, Y, square)
        sums.square[within] += 2.0 * square
    # what is carried is balanced, and P inverts L_κ on balanced vectors: L_κ P = I − 11ᵀ/n, as good
    # as I − (m/m_h)1ᵀ there, and met to rounding whatever the masses are
    lacking = np.eye(len(member)) - 1.0 / len(member)
    take_off(i, j, own_kappa, P, rest, lacking, size)
    sums.size[within] += size
    span = np.abs(P) @ rest
    sums.span[within] += own_kappa * (span[i] + span[j])
    at_ends = np.bincount(i, size, len(member)) + np.bincount(j, size, len(member))
    carried = at_ends + rest + rest.sum() / len(member)
    sums.missed[part] += np.abs(lacking) @ rest + sums.unit[part] * carried


def _at_ends(own: Inside, values: Floats) -> Floats:
    """Σ_{l∋i} of values (m,) or (m, q) of edges, at every sample."""
    return abs(incidence(own.edges, own.n)).T @ values


def _potentials(own: Inside, kappa: Floats, demand: Floats) -> Floats:
    """L_κ y = demand; zeros where conductances are too uneven for a factor."""
    try:
        y = solve_compact(own.edges, kappa, demand)
    except RuntimeError:
        return np.zeros_like(demand)
    return y if np.isfinite(y).all() else np.zeros_like(demand)


def _dense(edges: Ints, kappa: Floats, n: int) -> Floats:
    """An inverse P of L_κ on balanced vectors; zeros where there is none."""
    i, j = edges.T
    L = np.bincount(i * n + j, -kappa, n * n).reshape(n, n)
    L = L + L.T
    L[np.diag_indices(n)] = -L.sum(axis=1)
    try:
        P = np.linalg.inv(L + kappa.mean() / n)
    except np.linalg.LinAlgError:
        P = np.zeros((n, n))
    return P if np.isfinite(P).all() else np.zeros((n, n))


def _along_tree(own: Inside, missed: Floats) -> Floats:
    """What every edge gets if a spanning tree of large weights carries balanced demands.

    ``missed`` (n, c) bounds the demands at every sample; the flow of an edge of the tree is at most
    what lies below it.
    """
    from ..loops.balls import below  # late: it loads numba

    n, m = own.n, len(own.edges)
    out = np.zeros((m, missed.shape[1]))
    if n == 1:
        return out
    rank = np.empty(m)
    rank[np.argsort(-own.w, kind="stable")] = np.arange(1, m + 1)
    tree = spanning_tree(own.edges, rank, n).tocoo()
    number = np.argsort(-own.w, kind="stable")[tree.data.astype(np.int64) - 1]
    order, parent = breadth_first_order(tree.tocsr(), 0, directed=False)
    sums = below(order.astype(np.int64), parent.astype(np.int64), missed)
    child = np.where(parent[tree.row] == tree.col, tree.row, tree.col)
    out[number] = sums[child] * OWN
    return out
