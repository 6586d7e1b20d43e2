"""By how much may data, weights or γ change with a proved partition proved to stand.

Input is a partition that is proved at γ. With loads ρ_l = ‖λ_l‖/(γw_l) of its flows, the rows r_l
of a routing (:mod:`~convexcluster.certificate.routing`) and d_st the distances of adjacent
centroids: the reduced optimum moves by at most ε' in ‖·‖_M, directions turn by at most
T_ts = 2δ/(2d − δ), δ = ε'√(1/m_s + 1/m_t) < d, and the partition stands while on all edges

    ρ_l + a_l + Σ_s |f^ts_l| T_ts/w_l ≤ 1,

where, for changes of size ε (r̃_li = r_li − Σ_j r_lj m_j/m_t),

- data, Σ m‖Δφ_i‖² ≤ ε²:  a_l = ε‖(r̃_li √m_i)_i‖₂/(γw_l),  ε' = ε;
- every sample by ε:       a_l = ε Σ_i |r̃_li| m_i/(γw_l),    ε' = ε√Σm;
- one sample by ε:         a_l = ε max_i |r̃_li| m_i/(γw_l),  ε' = ε max_i m_i/√m_t;
- every weight by 1 ± ε:   a_l = ε(1 + Σ_i |r̃_li| w_i^out/w_l), ε' = εγ√(Σ W_t²/m_t), T(1 + ε);
- γ to γ(1 ± ε):           a_l = ε/(1 − ε)·N_l/(γw_l),       ε' = ε‖c − φ̄‖_M.

*Proof.* The demand changes by m_i(Δφ_i − Δφ̄_t), or by the weights that leave the cluster, or, after
division by γ, by (1/γ' − 1/γ) of the vectors; routed by r̃ it adds a_l. Optima are no further apart
than their data, and a gradient of the new reduced problem at the old optimum bounds how far it
moves. Directions turn by at most T (Dunkl and Williams); e^ts v_ts changes with them. ∎

Masses enter as they are. Graph and bandwidth are kept: moved samples would have other neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from ..graph import Graph
from ..numerics.parameters import check_parameters, is_number
from ..partition import check_labels
from ..problem import Floats, Ints, Problem, Solution
from .explicit import hold
from .layout import layout
from .proof import Proof, State
from .rounding import OWN
from .space import Space

KINDS = "total", "each", "one", "weights", "gamma"

# Columns of a routing at a time: 5,000 edges × 256 numbers are ten megabytes.
COLUMNS = 256


# Beyond it γ² is no float.
LARGEST_GAMMA = 1e150

ANY_DIRECTION = "in any direction, in the units of the fitted features"


@dataclass(frozen=True, slots=True)
class Robustness:
    """How far a proved partition stands; zeros if it is not proved.

    Attributes
    ----------
    total, each, one : float
        Data may move by that much in the kernel's space: √Σ m‖Δφ‖² in all, every sample, or one.
    weights, gamma : float
        Every weight, or γ, may change by this share.
    per_cluster : dict of str to ndarray of shape (k,)
        The same for each cluster, as long as the others stand.
    weakest : tuple of two ints or None
        The edge between samples whose load grows beyond its capacity first if every sample moves.
    reason : str
        Why nothing is claimed; empty if something is.
    """

    total: float = 0.0
    each: float = 0.0
    one: float = 0.0
    weights: float = 0.0
    gamma: float = 0.0
    per_cluster: dict[str, Floats] = field(default_factory=dict, compare=False)
    weakest: tuple[int, int] | None = None
    reason: str = ""

    def in_input(self, bandwidth: float) -> float:
        """How far each row may move in the input of a Gaussian kernel of that bandwidth.

        ‖φ(x) − φ(y)‖² = 2 − 2 exp(−‖x − y‖²/(2σ²)), so ‖Δx‖ ≤ σ√(−2 ln(1 − ε²/2)); inf if every
        move is allowed.
        """
        left = 1.0 - 0.5 * self.each**2
        return bandwidth * float(np.sqrt(-2.0 * np.log(left))) if left > 0 else np.inf

    def statement(
        self, bandwidth: float | None = None, names: Sequence[object] | None = None
    ) -> str:
        """All of it in plain words.

        Parameters
        ----------
        bandwidth : float, optional
            Of a Gaussian kernel, to speak of moves in the input.
        names : sequence, optional
            Names of the samples; by default their numbers.
        """
        if self.reason:
            return f"How far the clusters would stand is not proved: {self.reason}."
        if self.each <= 0:
            return "No room is proved: the clusters hold here, but any change might undo them."
        far, where = self.each, "in the kernel's space"
        if bandwidth is not None:
            far, where = self.in_input(bandwidth), ANY_DIRECTION
        move = f"by {_floored(far):g} {where}" if np.isfinite(far) else "anywhere"
        said = (
            f"With graph and bandwidth kept, each sample may move {move}, or every weight may "
            f"change by {_floored(self.weights):.2%}, or γ by {_floored(self.gamma):.2%}, and the "
            "clusters are still proved to be exactly these."
        ).replace(".00%", " %")
        if self.weakest is None:
            return said
        a, b = (str(i if names is None else names[i]) for i in self.weakest)
        return f"{said} The link that would give way first joins samples {a} and {b}."


def _floored(value: float) -> float:
    """Two digits, rounded down: what is proved for more is proved for less."""
    unit = 10.0 ** (np.floor(np.log10(value)) - 1) if value > 0 else 1.0
    return float(np.floor(value / unit * (1 + 1e-12)) * unit)


def robustness(
    problem: Problem,
    labels: Ints,
    gamma: float | None = None,
    *,
    solve: Callable[[Problem], Solution] | None = None,
) -> Robustness:
    """How far the clusters ``labels`` of the optimum of ``problem`` stand at ``gamma``.

    Examples
    --------
    >>> pair = Problem.of([[0.0], [3.0]], [[0, 1]], [1.0], gamma=2.0)  # they meet at γ = 1.5
    >>> found = robustness(pair, [0, 0])
    >>> round(found.each, 1), found.weakest  # one percent is left to rounding
    (0.5, (0, 1))
    >>> robustness(pair.at(1.0), [0, 0]).reason
    'the partition is not proved at γ = 1'
    """
    graph = Graph(problem.edges, problem.weights)
    space, at = Space.of_coordinates(problem.Z), problem.gamma if gamma is None else gamma
    return stand(space, graph, problem.masses, labels, at, solve=solve)


def stand(
    space: Space,
    graph: Graph,
    masses: Floats,
    labels: object,
    gamma: float,
    *,
    solve: Callable[[Problem], Solution] | None = None,
) -> Robustness:
    """:func:`robustness` for inner products on demand."""
    check_parameters({"gamma": (is_number, "a number")}, {"gamma": gamma})
    found = check_labels(labels, len(masses))
    at = layout(graph.edges, found)
    if at is None:
        return Robustness(reason="a cluster is not connected in the graph")
    proof = Proof(space, graph.edges, graph.weights, masses, found, at)
    state = proof.state(gamma) if 0 < gamma < LARGEST_GAMMA else None
    parts = None
    if state is not None and state[0].differ:
        parts = [_part(proof, t, state[0], solve) for t in range(proof.k)]
    if state is None or parts is None or any(part is None for part in parts):
        return Robustness(reason=f"the partition is not proved at γ = {gamma:.4g}")
    sure = [part for part in parts if part is not None]
    per = {kind: _radii(proof, state[0], sure, kind) for kind in KINDS}
    total, each, one, weights, moved = (float(per[kind].min()) for kind in KINDS)
    weakest = _weakest(proof, state[0], sure, each)
    return Robustness(total, each, one, weights, moved, per, weakest)


@dataclass(frozen=True, slots=True)
class _Part:
    """The edges of one cluster: loads, what a change of size 1 adds, and Σ|f|/w per neighbour."""

    load: Floats
    adds: dict[str, Floats]
    turned: Floats


def _part(
    proof: Proof,
    t: int,
    state: State,
    solve: Callable[[Problem], Solution] | None,
    kinds: tuple[str, ...] = KINDS,
    corrected: bool = False,
) -> _Part | None:
    """Loads of cluster t, and what ``kinds`` of changes add; None if t is not proved whole.

    A corrected flow is taken where the electrical one does not fit, or where it is asked for.
    """
    gamma = state.gamma
    proof.fits(t, state)
    flow, own = proof.flows[t], proof.flows[t].inside
    if own.n == 1:
        none = np.zeros(0)
        return _Part(none, dict.fromkeys(KINDS, none), np.zeros((0, len(own.near))))
    load = proof.lengths(t, state) / (gamma * own.w)
    if corrected or not load.max() < 1.0:
        found = _corrected(proof, t, state, solve)
        if found is None:
            return None
        load = found
        flow = proof.route(own, own.w * np.maximum(1.0 - load, LEAST_SLACK) ** 2)
    room = gamma * own.w / OWN
    adds = {"gamma": flow.length / room}
    if kinds != ("gamma",):
        square, one, most, outer = (np.zeros(len(own.w)) for _ in range(4))
        leaving = own.pull.sum(axis=1)
        for first in range(0, own.n, COLUMNS):
            part = slice(first, min(first + COLUMNS, own.n))
            R, m = flow.rows(part), own.masses[part]
            square += R**2 @ m
            one += R @ m
            most = np.maximum(most, (R * m).max(axis=1))
            outer += R @ leaving[part]
        adds["total"], adds["each"], adds["one"] = np.sqrt(square) / room, one / room, most / room
        adds["weights"] = OWN * (1.0 + outer / own.w)
    turned = OWN * (np.abs(flow.f) + flow.extra[:, 1:]) / own.w[:, None]
    return _Part(load, adds, turned)


# Changes take the ways that a corrected flow leaves open, with conductances w·slack²: w and w·slack
# leave a quarter and two thirds of the reach of wine. Slack below this share counts as so much, or
# the system would be singular.
LEAST_SLACK = 1e-4

# Shares of their capacity by which corrected flows fill edges at most. Each is a flow of its own;
# finer steps gain a tenth.
FILLED = 1.0, 0.99, 0.97, 0.93, 0.87, 0.8, 0.6


def _corrected(
    proof: Proof, t: int, state: State, solve: Callable[[Problem], Solution] | None
) -> Floats | None:
    """Loads of the corrected flow of cluster t that fills its edges least; None if none holds."""
    turn, best = proof.directions(t, state)[2], None
    for share in FILLED:
        found = hold(proof, t, state, solve, share)
        if found is None or not found.holds(proof, t, state.gamma, turn):
            break
        load = found.load(proof, t, state.gamma, turn)
        if best is not None and load.max() >= best.max():
            break
        best = load
    return best


# A reach of less than this is tried again with corrected flows, which fill edges more evenly.
SHORT = 0.05


def reach(proof: Proof, state: State, solve: Callable[[Problem], Solution] | None) -> float:
    """ε such that the partition stands for all γ' from γ(1 − ε) to γ(1 + ε); 0 if not proved."""
    parts = []
    for t in range(proof.k):
        part = _part(proof, t, state, solve, ("gamma",))
        if part is None:
            return 0.0
        parts.append(part)
    radii = _radii(proof, state, parts, "gamma")
    for t in np.flatnonzero(radii < SHORT).tolist():
        part = _part(proof, t, state, solve, ("gamma",), corrected=True)
        parts[t] = parts[t] if part is None else part
    return float(max(radii.min(), _radii(proof, state, parts, "gamma").min()))


def _moves(proof: Proof, state: State, kind: str) -> float:
    """ε' of a change of size 1."""
    if kind == "total":
        return 1.0
    if kind == "each":
        return float(np.sqrt(proof.mass.sum()))
    if kind == "one":
        return float((proof.masses / np.sqrt(proof.mass[proof.at.label])).max())
    if kind == "gamma":
        return state.moved + state.radius
    W = np.bincount(proof.pairs.ravel(), np.repeat(proof.between, 2), proof.k)
    return state.gamma * float(np.sqrt((W**2 / proof.mass).sum()))


def _loads(
    proof: Proof, state: State, parts: list[_Part], kind: str, size: float
) -> list[Floats | None]:
    """Loads after a change of that size, cluster by cluster; None where centroids may meet.

    γ and weights change by less than all of them.
    """
    doubt = OWN * (size * _moves(proof, state, kind) + state.radius) * proof.pull
    turn = state.turn(doubt)
    grown = size / (1.0 - size) if kind == "gamma" else size
    out: list[Floats | None] = []
    for t, part in enumerate(parts):
        own = turn[proof.edges_at(t)]
        if not np.isfinite(own).all():
            out.append(None)
            continue
        turned = part.turned @ own * (1.0 + size if kind == "weights" else 1.0)
        out.append(part.load + grown * part.adds[kind] + turned)
    return out


# Halvings of a radius: thirty leave a billionth of it.
HALVINGS = 30


def _radii(proof: Proof, state: State, parts: list[_Part], kind: str) -> Floats:
    """The largest change that each cluster stands, from below."""
    low, high = np.zeros(proof.k), np.full(proof.k, 1.0)
    if kind not in ("gamma", "weights"):
        high *= 4.0 * float(proof.sizes.max()) * max(1.0, float(np.sqrt(proof.mass.sum())))
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        for t in range(proof.k):
            load = _loads(proof, state, parts, kind, float(middle[t]))[t]
            fits = load is not None and bool((load <= 1.0).all())
            low[t], high[t] = (middle[t], high[t]) if fits else (low[t], middle[t])
    return low


def _weakest(proof: Proof, state: State, parts: list[_Part], size: float) -> tuple[int, int] | None:
    """The fullest edge if every sample has moved by ``size``."""
    full = [
        (float(load.max()), t, int(load.argmax()))
        for t, load in enumerate(_loads(proof, state, parts, "each", size))
        if load is not None and len(load)
    ]
    if not full:
        return None
    _, t, edge = max(full)
    own = proof.flows[t].inside
    a, b = sorted(int(own.samples[end]) for end in own.edges[edge])
    return a, b
