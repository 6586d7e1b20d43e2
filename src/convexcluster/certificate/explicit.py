"""One cluster of moderate size in its own coordinates: corrected flows where electrical ones fail.

Input is a cluster, the reduced optimum at one γ and how far it may be off; output is whether the
cluster is whole, and what its flow misses. The demands b_i of
:mod:`~convexcluster.certificate.proof` have the Gram matrix B, known entry by entry to ν β_i β_j,
and b̃ with b̃ b̃ᵀ ≈ B are coordinates of vectors with Σ ‖b_i − b̃_i‖² ≤ ‖B − b̃ b̃ᵀ‖_* (Powers and
Størmer, Commun. Math. Phys. 16, 1970). A flow Λ within capacity misses a balanced demand e with

    ‖e‖ ≤ ‖b̃ − DᵀΛ‖ + √‖B − b̃ b̃ᵀ‖_* + γ‖(Σ_s (w_is + m_iW_ts/m_t) T_s)_i‖,

T_s how far the direction to s may turn; the slack of the flow must absorb it
(:func:`~convexcluster.certificate.flows.absorbable`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import eigh

from ..graph import incidence
from ..partition import fused
from ..problem import Floats, Ints, Problem, Solution
from .flows import absorbable, route
from .levels import Inside
from .proof import Proof, State
from .rounding import OWN, roundings

# Samples up to which a cluster has coordinates of its own: twice as many take eight times as long,
# three seconds and more.
LARGEST = 1_500

# Eigenvalues of B below this share of the largest are left out of the flow. A hundred times as
# large: what is left out no longer fits into slacks of a percent. As much less: more columns.
NEGLIGIBLE = 1e-13

# Corrections of a flow: forty reach the end of what they can on every set that was tried. Where a
# solver may follow, what eight of them leave is faster solved.
CORRECTIONS, FEW_CORRECTIONS = 40, 8

# Samples up to which a solver is asked: 400 take a fifth of a second, 1,000 many seconds.
MOST_SOLVED = 600

# Shares of the capacity that a solver may use. All of it shows whether a cluster falls apart, and
# into what; a little less leaves slack for what is not known of the demand. Of clusters on the
# verge, which need more than that, the flow at all of the capacity is kept.
ALL, LESS = 1.0, 0.97


@dataclass(frozen=True, slots=True)
class Held:
    """A corrected flow of one cluster.

    Attributes
    ----------
    missing : float
        How much of the demand the flow misses, with all that is not known of the coordinates.
    energy : float
        Σ ‖(what is missed)_i‖²/m_i, from above: twice what the cluster adds to the gap.
    room : float
        How much its slack can absorb.
    full : ndarray of shape (m,)
        ‖λ_l‖/(γw_l) of the flow.
    parts : ndarray of shape (n,) or None
        Into which pieces the cluster falls, where a solver found that it does.
    """

    missing: float
    energy: float
    room: float
    full: Floats
    parts: Ints | None = None

    def holds(self, proof: Proof, t: int, gamma: float, turn: Floats) -> bool:
        """Whether cluster t is whole if the directions to its neighbours turn by ``turn`` (q,)."""
        return self._unmet(proof, t, gamma, turn) <= self.room

    def load(self, proof: Proof, t: int, gamma: float, turn: Floats) -> Floats:
        """How full the edges are once the slack has absorbed what the flow misses, if it holds.

        What is absorbed fills every slack by the same share at most.
        """
        share = self._unmet(proof, t, gamma, turn) / self.room
        return self.full + (1.0 - self.full) * share

    def _unmet(self, proof: Proof, t: int, gamma: float, turn: Floats) -> float:
        if not np.isfinite(turn).all():
            return np.inf
        own = proof.insides[t]
        pull = own.pull + own.masses[:, None] / proof.mass[t] * own.pull.sum(axis=0)
        turned = gamma * float(np.linalg.norm(pull @ turn)) if len(turn) else 0.0
        return OWN * (self.missing + turned)


def hold(
    proof: Proof,
    t: int,
    state: State,
    solve: Callable[[Problem], Solution] | None = None,
    share: float = 1.0,
) -> Held | None:
    """A corrected flow of cluster t at the γ of a state; None if it is too large.

    It fills no edge by more than ``share``, up to what is left for slack to absorb.

    Where corrections do not find one, ``solve`` may: the dual of the problem whose samples are
    b_i/m_i is a flow, and capacities a little smaller leave slack on every edge.
    """
    own, gamma = proof.insides[t], state.gamma
    if own.n > LARGEST:
        return None
    m, total = own.masses, float(proof.mass[t])
    K = proof.space.gram(own.samples, own.samples)
    mean = K @ m / total
    B = m[:, None] * ((K + K.T) / 2.0 - mean[:, None] - mean + float(m @ mean) / total) * m
    beta = m * (own.sizes + float(m @ own.sizes) / total)
    u, size, turn = proof.directions(t, state)
    E = m[:, None] / total * own.pull.sum(axis=0) - own.pull
    if len(own.near):
        cross = proof.along(t, u) @ E.T
        B += gamma * (cross + cross.T) + gamma**2 * E @ (u @ proof.G @ u.T) @ E.T
        beta = beta + gamma * (np.abs(E) + own.pull) @ size
    values, axes = eigh(B)
    keep = values > NEGLIGIBLE * max(float(values[-1]), 0.0)
    b = axes[:, keep] * np.sqrt(values[keep])
    unknown = proof.noise + proof.space.noise + float(roundings(4 * own.n + own.crossing + 100))
    off = float(np.linalg.norm(B - b @ b.T)) + unknown * float(beta @ beta)
    off += float(roundings(own.n + 8)) * float(np.sum(b * b))
    lost = float(np.sqrt(np.sqrt(own.n) * off))  # ‖·‖_* ≤ √n ‖·‖_F
    c = gamma * own.w
    one, nothing = np.zeros(own.n, dtype=np.int64), np.zeros((len(c), b.shape[1]))
    rounds = CORRECTIONS if solve is None or own.n > MOST_SOLVED else FEW_CORRECTIONS
    # nothing is gained by meeting the coordinates better than they are known
    flow = route(own.edges, share * c, b, one, m, nothing, rounds, enough=lost)
    best = _measured(own, c, b, lost, flow)
    if solve is None or best.holds(proof, t, gamma, turn) or own.n > MOST_SOLVED:
        return best
    parts = None
    for part in (ALL, LESS):
        solution = solve(Problem(b / m[:, None], own.edges, own.w, part * share * gamma, m))
        found = _measured(own, c, b, lost, solution.Lam)
        if found.missing - found.room < best.missing - best.room:
            best = found
        if part * share == ALL:
            parts = fused(solution.A, own.edges)
        if best.missing <= best.room:
            return best
        if parts is not None and parts.any():
            break
    return replace(best, parts=parts if parts is not None and parts.any() else None)


def _measured(own: Inside, c: Floats, b: Floats, lost: float, flow: Floats) -> Held:
    """What a flow misses of the demand b, of whose coordinates ``lost`` is not known."""
    m = own.masses
    rest = np.linalg.norm(b - incidence(own.edges, own.n).T @ flow, axis=1)
    carried = np.linalg.norm(flow, axis=1)
    ends = np.bincount(own.edges.ravel(), np.repeat(carried, 2), own.n)
    degree = np.bincount(own.edges.ravel(), minlength=own.n)
    rest += roundings(degree + b.shape[1] + 8) * (ends + np.linalg.norm(b, axis=1))
    missing = OWN * (float(np.linalg.norm(rest)) + lost)
    energy = OWN * (float(np.sqrt((rest**2 / m).sum())) + lost / float(np.sqrt(m.min()))) ** 2
    slack = c * (1.0 - roundings(b.shape[1] + 8)) - carried
    return Held(missing, energy, absorbable(own.edges, slack, own.n), 1.0 - slack / c)
