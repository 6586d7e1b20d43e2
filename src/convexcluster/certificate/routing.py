"""Flows of one cluster, level by level, and how long they are in the space of a kernel.

Notation of :mod:`~convexcluster.certificate.proof`. Inside the cluster C_t the demands are the
vectors b_i = m_i(φ_i − φ̄_t) and, for every neighbour s, the scalars e^s_i = (m_i/m_t)W_ts − w_is;
all of them sum to zero. Over every region R (the cluster, its districts, its cells) the vectors r_g
of its parts are carried (:mod:`~convexcluster.certificate.levels`): one right-hand side of L_κ for
each part, of a cell a dense inverse. The flow of an edge l is a sum over the regions that hold it,

    λ_l = Σ_i r_li b_i = Σ_{R∋l} Σ_{g∈R} F^R_lg r_g,        F^R_lg = κ_l(y_ig − y_jg),

and ‖λ_l‖² = Σ_{R,S∋l} F^R ⟨r, r⟩ F^S follows from inner products that sums of K give. F are
differences of potentials Y, so that F G Fᵀ needs the products Y G alone.

*Rounding.* F are floats, and the flow is by definition the one they make. What is known of
‖λ_l‖² is an inner product of sums of k_ij, right to ν(Σ_i |r_li| m_i(s_i + s̄_t))²; ν collects the
noise of the sums and the roundings behind them, relative to (Σ_R Σ_g |F^R_lg| ‖r_g‖)² with ‖r_g‖
bounded by way of all that is summed for r_g. Products Y G, of which two rows are subtracted, are
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
from .levels import Inside, Region, Vectors, regions
from .rounding import OWN, roundings
from .space import Space

BLOCK = 2_048  # edges at a time: 2,048 × 150 numbers stay in the cache


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
    levels : tuple of pairs
        Regions and the potentials of their parts, shape (n_R, q).
    """

    inside: Inside
    kappa: Floats
    square: Floats
    size: Floats
    noise: float
    blur: Floats
    f: Floats
    extra: Floats
    levels: tuple[tuple[Region, Floats], ...]

    @classmethod
    def of_one(cls, own: Inside) -> Flows:
        """Those of a single sample: there is no edge."""
        q, none = own.pull.shape[1], np.zeros(0)
        f, extra = np.zeros((0, q)), np.zeros((0, 1 + q))
        return cls(own, none, none, none, 0.0, none, f, extra, ())

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
        out = np.zeros((len(self.kappa), scalars.shape[1]))
        for region, Y in self.levels:
            (i, j), parts = region.ends(self.inside), region.carried(scalars[region.rows])
            for at in range(0, len(i), BLOCK):
                few, to = slice(at, at + BLOCK), region.edges[at : at + BLOCK]
                out[to] += (self.kappa[to, None] * (Y[i[few]] - Y[j[few]])) @ parts
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


@dataclass(frozen=True, slots=True)
class _Ledger:
    """What all levels add up: ‖λ_l‖², Σ_i |r_li| m_i(s_i + s̄), and what is missed at samples."""

    own: Inside
    kappa: Floats
    square: Floats
    size: Floats
    span: Floats  # Σ κ(|y_i| + |y_j|) times the lengths of the vectors, of all levels
    missed: Floats
    unit: Floats  # rounding of a sum over the edges of every sample

    @classmethod
    def of(cls, own: Inside, kappa: Floats) -> _Ledger:
        """An empty one."""
        m, unit = len(kappa), roundings(np.bincount(own.edges.ravel(), minlength=own.n) + 6)
        return cls(own, kappa, np.zeros(m), np.zeros(m), np.zeros(m), np.zeros(own.n), unit)

    def add(
        self, region: Region, Y: Floats, G: Floats, length: Floats, above: list[_Level]
    ) -> None:
        """The flow of one region, with its potentials Y and ⟨r_g, r_h⟩ = G, beside those above."""
        from ..loops.routing import inner_products, take_off  # late: it loads numba

        (i, j), kappa = region.ends(self.own), self.kappa[region.edges]
        square, size = np.empty(len(i)), np.empty(len(i))
        inner_products(i, j, kappa, Y, Y @ G, square)
        self.square[region.edges] += square
        for level in above:
            rows = slice(region.rows.start - level.start, region.rows.stop - level.start)
            across = region.carried(level.Q[rows])
            inner_products(i, j, kappa, Y @ across, level.Y[rows], square)
            self.square[region.edges] += 2.0 * square
        span = np.abs(Y) @ length
        self.span[region.edges] += kappa * (span[i] + span[j])
        left = region.demands(np.empty((region.n, 0)))
        take_off(i, j, kappa, Y, length, left, size)
        self.size[region.edges] += size
        carried = np.bincount(i, size, region.n) + np.bincount(j, size, region.n)
        carried += region.spread * length[region.home] + region.spent * length.sum()
        missed = np.abs(left, out=left) @ length + self.unit[region.rows] * carried
        if above:  # shares σ do not quite sum to 1, nor m_i/m_g times σ_g
            missed += float(roundings(len(length) + 6)) * region.spent * length.sum()
        self.missed[region.rows] += missed


@dataclass(frozen=True, slots=True)
class _Level:
    """A region in which others lie: its first sample, potentials, and ⟨b_i, r_g⟩."""

    start: int
    Y: Floats
    Q: Floats


def route_cluster(space: Space, own: Inside, kappa: Floats) -> Flows:
    """The flows of one cluster for the conductances ``kappa``."""
    vectors, sums = Vectors(own), _Ledger.of(own, kappa)
    spent = own.masses[:, None] / float(own.masses.sum()) * own.pull.sum(axis=0)
    E = spent - own.pull  # the scalar demands
    f = np.zeros((len(kappa), E.shape[1]))
    above: list[_Level] = []
    levels: list[tuple[Region, Floats]] = []
    for depth, region in regions(own):
        del above[depth:]
        scalars = E if depth == 0 else E[region.rows, :0]
        (i, j), own_kappa = region.ends(own), kappa[region.edges]
        if region.is_cell:
            G, Y = vectors.gram(space, region), _dense(i, j, own_kappa, region.n)
            potential = Y @ scalars
        else:
            Q = vectors.products(region)
            G = region.carried(Q)
            Y, potential = _potentials(region, np.column_stack([i, j]), own_kappa, scalars)
        sums.add(region, Y, G, vectors.lengths(region), above)
        if depth == 0:
            f = kappa[:, None] * (potential[i] - potential[j])
        if not region.is_cell:
            above.append(_Level(region.rows.start, Y, Q))
        levels.append((region, Y))
    residual = np.abs(E - incidence(own.edges, own.n).T @ f)
    residual += sums.unit[:, None] * (_at_ends(own, np.abs(f)) + spent + own.pull)
    residual += float(roundings(own.crossing + 6)) * (spent + own.pull)
    extra = _along_tree(own, OWN * np.column_stack([sums.missed, residual]))
    # sums over parts, their centring, and two sums of products for ‖λ‖²
    noise = own.noise + float(roundings(6 * own.steps + 60))
    blur = 2.0 * float(roundings(2 * own.steps + 20)) * sums.size * sums.span
    return Flows(own, kappa, sums.square, sums.size, noise, blur, f, extra, tuple(levels))


def _at_ends(own: Inside, values: Floats) -> Floats:
    """Σ_{l∋i} of values (m,) or (m, q) of edges, at every sample."""
    return abs(incidence(own.edges, own.n)).T @ values


def _potentials(
    region: Region, edges: Ints, kappa: Floats, scalars: Floats
) -> tuple[Floats, Floats]:
    """L_κ y = demand of the parts, and of scalars; zeros if conductances are too uneven."""
    demand, q = region.demands(scalars), len(region.share)
    try:
        y = solve_compact(edges, kappa, demand)
    except RuntimeError:
        y = np.zeros_like(demand)
    if not np.isfinite(y).all():
        y = np.zeros_like(demand)
    return y[:, :q] - y[:, :q].mean(axis=0), y[:, q:].copy()


def _dense(i: Ints, j: Ints, kappa: Floats, n: int) -> Floats:
    """An inverse P of L_κ on balanced vectors; zeros where there is none."""
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
