"""One γ after the other, warm started, each with the duality gap of the full problem.

State: nested levels of contracted graphs (levels.py). For each γ

1. predict: duals inside contracted nodes are affine in γ while a partition stands: extrapolate;
2. solve the top level, where clusters fuse (top.py);
3. route: bring its duals down to level 0 and meet the demand of every sample (route.py);
4. where that stalls, open the clusters in question (mixed.py): they move, or split;
5. certify on level 0, from the definition of the gap;
6. contract what has fused, and rotate to fewer dimensions when that pays (rotate.py).
"""

from __future__ import annotations

from concurrent.futures import Executor
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..loops.levels import extrapolate_inside
from ..loops.sweeps import dual_loss
from ..numerics.progress import reports
from ..problem import Floats, Ints
from .grid import earliest
from .halves import in_ranges
from .levels import (
    CALLS,
    Level,
    fused_pairs,
    labels_below,
    lift_all,
    simple_bound,
    split_levels,
    strong_parts,
)
from .mixed import carrying, solve_mixed
from .newton import Newton
from .rotate import freeze, span
from .route import POLISH_REACH, bring_down, correct, polish_inside
from .top import WIDE, Bools, Clusters, keep_together, measure, solve_top

# Passes over its edges that a new level costs at every γ (sweeps, lifting, lowering), beside CALLS.
# A level is made when that is less than what it saves: passes on the top times the nodes that went.
# Half or twice: a twentieth of the passes more or less, for more or fewer levels.
LEVEL_COST = 12

# Share of the allowed gap for the top level; routing has most of the rest. Half: a seventh more
# passes in all. Twice: routing has too little room, and half again as many graphs are opened.
TOP_SHARE = 0.25

# Passes over level 0 whose work sweeps over the top may take before they are given up: what the top
# leaves, clusters are opened for, at many times that. At 0 one γ of 100,000 samples stayed above
# its tolerance; how much more would still pay was not measured.
TOP_PASSES = 10

# Share of the allowed gap left unused, for the round-off between the estimate of a step and its
# certificate. Half: a gap may end just above the tolerance. Twice: a fourth more graphs to open.
RESERVE = 0.03

# A first γ that fails is reached from below in RUNGS steps of this ratio. Half: the first rung is
# not far enough below. Twice: the last rungs are too far apart to be solved from one another.
LADDER = 4.0

# See LADDER: half of them start only a thousand times below. Twice: rungs on which nothing fuses.
RUNGS = 10

# Passes that an outline may take for its first γ before it sets out from below. Half: it does so
# where the first γ was about to be solved. Twice: twice as many passes are wasted where it is not.
TRIAL = 16

# Rungs below its first γ from which an outline makes no such trial. With half, first γ that a dozen
# passes solve (blobs of 5,000 × 10) take rungs instead; with twice, trials that never succeed take
# a quarter of the path of 10,000 points in the plane.
HOPELESS_RUNGS = 4

# Ratio of the rungs below the first γ of an outline, and what an edge has of the strongest at both
# of its ends if it is not weak. On rungs nothing fuses along weak edges alone: they hold at a small
# γ what is apart at a larger one. Rungs half as far apart fuse more that is apart later; at twice
# the ratio a rung takes more passes than its nodes save.
RUNG, STRONG = 3.0, 0.01

# Share of its time that the way to the first γ has left after a rung, about: ever more has fused.
# It is for the bar alone.
LEFT = 0.5

# Each rung of a ladder is solved to this many times the allowed gap. A tenth: rungs cost as much as
# the γ that is asked for. Ten times: a rung is no better start than none.
LOOSE_RUNG = 100.0

# Times that the top is solved to half the target because routing left too little room for it. At 1
# a γ may end just above its tolerance; more than three are never needed.
ATTEMPTS = 3

# Mixed graphs per γ. Half or twice: no difference but at γ that stay above their tolerance, which
# then cost half or twice as much.
OPEN_ROUNDS = 10

# Rounds that may fail to gain. At 1 a second round that loses ends the work. Twice: hopeless γ
# cost twice as much.
OPEN_PATIENCE = 4

# After OPEN_PATIENCE a round must leave at most this share of the gap. Nearer to 1: rounds go on
# that cannot reach the tolerance. At 0.5: rounds are given up that would have reached it in three.
OPEN_GAIN = 0.9

# Numbers of Λ that sweeps over mixed graphs may touch at one γ, some ten seconds; then the gap is
# reported as it is. Half or twice: so is the longest time that one γ can take.
OPEN_WORK = 1e10


@dataclass(frozen=True, slots=True)
class State:
    """The solution at one γ.

    Labels and centroids of the clusters, the absolute gap, and pairs of samples that fused with
    the γ at which the pull between them met its capacity.
    """

    labels: Ints
    centers: Floats
    gap: float
    pairs: Ints
    values: Floats


class Engine:
    """Convex clustering of one graph along an ascending γ.

    MZ (n, r) is m z of each sample, centred. Without ``certify`` nothing is routed: gaps are nan
    and fused clusters stay fused.
    """

    def __init__(
        self,
        MZ: Floats,
        masses: Floats,
        edges: Ints,
        w: Floats,
        certify: bool = True,
    ) -> None:
        tail, head = (np.ascontiguousarray(e) for e in edges.T)
        Lam = np.empty((len(tail), MZ.shape[1]))
        Lam[:] = 0.0  # in large pages, which np.zeros does not ask for: a tenth of the time
        self.levels = [Level.of(tail, head, w, masses, MZ, Lam)]
        self.certify = certify
        self.allowed = self.lost = self.dual_value = 0.0
        self.gamma = self.gamma_before = 0.0
        # duals of the γ before, which an outline has no use for; no memory until it is written
        self.last = np.zeros(Lam.shape if certify else (0, 0))
        self.inside = np.zeros(len(tail), dtype=np.bool_)  # edges within nodes of the top
        self.used = np.zeros(len(tail))  # ‖λ‖² frozen in dimensions that were rotated away
        self.basis: Floats | None = None  # of the present coordinates in the first ones
        self.node = np.arange(len(masses))  # node of the top level that holds each sample
        self.before = np.arange(len(masses))  # labels of the γ before
        self.piece: Ints | None = None  # on rungs: the part of each sample that strong edges join
        self.pool: Executor | None = None  # a second thread for halves of jobs
        # an outline is as fast by sweeps from the start, and need not wait for what Newton compiles
        wide = certify and MZ.shape[1] > WIDE and len(tail) > 0
        self.newton = Newton(self.levels[0]) if wide else None

    @property
    def room(self) -> float:
        """The gap that the steps of one γ may leave."""
        return (1 - RESERVE) * self.allowed - self.lost

    def advance(self, gamma: float, allowed: float) -> State:
        """Solve at γ, which must be above the γ before, to an absolute gap of ``allowed``."""
        self.allowed = allowed
        if self.newton is not None and gamma > 0:
            state = self._advance_smoothly(gamma)
            if state is not None:
                return state
        if self.gamma == 0 and gamma > 0 and not self.certify:
            return self._set_out(gamma, allowed)
        c = [gamma * level.w for level in self.levels]
        if self.used.any():
            c[0] = np.sqrt(np.maximum(c[0] ** 2 - self.used, 0.0))
        self._predict(gamma, c[0])
        clusters, changed = self._solve(gamma, c)
        if self.certify or len(self.levels) == 1:
            base = self.levels[0]
            clusters = keep_together(base, gamma * base.w, clusters, self.before, self.room)
        gap = self._certificate(gamma, clusters)
        if self.gamma == 0 and gap > allowed > 0:
            return self._climb(gamma, allowed)
        centers = clusters.center if self.basis is None else clusters.center @ self.basis.T
        level = self.levels[0] if changed else self.levels[-1]
        fused = fused_pairs(level, self.node, clusters.labels, self.before)
        state = State(clusters.labels, centers, gap, *fused)
        self._contract(c[0], clusters, changed)
        self.before = clusters.labels
        self.gamma_before, self.gamma = self.gamma, gamma
        return state

    def _advance_smoothly(self, gamma: float) -> State | None:
        """Newton's method while nothing fuses; its last duals are left to the sweeps after that."""
        assert self.newton is not None
        base = self.levels[0]
        point = self.newton.advance(gamma, gamma * base.w, self.room, self.pool)
        if point is None:
            self.newton.duals(self.gamma * base.w, base.Lam)
            self.newton = None
            return None
        # ½ Σ m‖a − G/m‖², in which the last term is the gap
        loss = dual_loss(base.masses, point.A) - float(np.vdot(point.A, point.G)) + point.gap
        self.dual_value = self.newton.scale - loss
        self.gamma_before, self.gamma = self.gamma, gamma
        centers = point.A if self.basis is None else point.A @ self.basis.T
        nothing = np.empty((0, 2), dtype=np.int64), np.empty(0)
        return State(np.arange(base.n), centers, point.gap + self.lost, *nothing)

    def _climb(self, gamma: float, allowed: float) -> State:
        """A first γ that is too large to be solved at once: start below it, loosely."""
        self.levels[0].Lam[:] = 0.0
        self.gamma = gamma / LADDER**RUNGS  # from here on this is not the first γ
        for rung in range(RUNGS - 1, 0, -1):
            self.advance(gamma / LADDER**rung, LOOSE_RUNG * allowed)
        return self.advance(gamma, allowed)

    def _set_out(self, gamma: float, allowed: float) -> State:
        """The first γ of an outline: at once if that is easy, else over rungs from below.

        What fuses on a rung stays fused, so that sweeps run on ever fewer nodes.
        """
        base, target = self.levels[0], TOP_SHARE * allowed
        base.refresh(self.pool)
        Z, edges = base.MZ * base.inv_mass[:, None], np.stack([base.tail, base.head], axis=1)
        start = float(np.median(earliest(Z, edges, base.w, base.masses))) if len(edges) else 0.0
        count = int(np.log(gamma / start) / np.log(RUNG)) if start > 0 else 0
        failed = count >= HOPELESS_RUNGS
        if not failed:
            c = gamma * base.w
            failed = solve_top(base, c, target, self.pool, most=TRIAL).gap > target
        self.gamma = gamma
        states: list[State] = []
        told = reports("path")
        if failed:
            base.Lam[:] = 0.0
            self.piece = strong_parts(base, STRONG) if count > 0 else None
            for rung in range(count, 0, -1):
                self.gamma = self.gamma if states else gamma / RUNG**rung
                states.append(self.advance(gamma / RUNG**rung, allowed))
                told(1.0 - LEFT ** len(states))
            self.piece = None
        states.append(self.advance(gamma, allowed))
        pairs = np.concatenate([state.pairs for state in states])
        values = np.concatenate([state.values for state in states])
        return replace(states[-1], pairs=pairs, values=values)

    def first_bound(self, gamma: float) -> float:
        """A lower bound of F*(γ): the last dual value, or one of a multiple of Λ = w DZ."""
        if self.gamma or len(self.levels[0].tail) == 0:
            return self.dual_value
        return simple_bound(self.levels[0], gamma)

    def _predict(self, gamma: float, c: Floats) -> None:
        base, top = self.levels[0], self.levels[-1]
        if len(self.levels) > 1 and self.certify:
            step = self.gamma - self.gamma_before
            ahead = (gamma - self.gamma) / step if self.gamma_before else 0.0
            fused = self.before[base.tail] == self.before[base.head]
            parts = fused, c, base.Lam, self.last

            def task(start: int, stop: int) -> None:
                extrapolate_inside(*(x[start:stop] for x in parts), ahead)

            in_ranges(self.pool, task, len(c), base.cost)
            lift_all(self.levels, self.pool)
        if self.gamma:
            if len(self.levels) > 1 and self.certify:
                first = np.empty(top.n, dtype=np.int64)
                first[self.node] = self.before
                between = first[top.tail] != first[top.head]
                top.duals.Lam *= np.where(between, gamma / self.gamma, 1.0)[:, None]
            else:
                top.Lam[:] *= gamma / self.gamma
        top.refresh(self.pool)

    def _solve(self, gamma: float, c: list[Floats]) -> tuple[Clusters, bool]:
        """Top, routing and mixed graphs; also tells whether the top's clusters were changed."""
        levels, room = self.levels, self.room
        target = TOP_SHARE * self.allowed
        least = TOP_PASSES * levels[0].cost // (1 + levels[-1].cost) if self.certify else 0
        for _ in range(ATTEMPTS):
            given = target, self.pool, self._apart()
            found = solve_top(levels[-1], c[-1], *given, least=least)
            labels = labels_below(levels, found.labels)
            whole = replace(found, labels=labels[0])
            if len(levels) == 1 or not self.certify:
                return whole, False
            goal = room - found.slack
            left = bring_down(levels, c, labels, found.center, goal, self.last, self.pool)
            whole = replace(whole, fit=left)
            if whole.fit > goal:
                whole = correct(levels[0], c[0], whole, goal, self.pool)
            if whole.fit > goal:
                return self._open(gamma, c[0], whole), True
            if whole.gap <= room or whole.fit > 0.9 * room:  # then a sharper top is no help
                break
            target *= 0.5
            lift_all(levels, self.pool)
            levels[-1].refresh(self.pool)
        return whole, False

    def _apart(self) -> Bools | None:
        """On a rung, the edges of the top between parts that only weak edges join; else None."""
        if self.piece is None:
            return None
        top, piece = self.levels[-1], np.empty(self.levels[-1].n, dtype=np.int64)
        piece[self.node] = self.piece
        return np.asarray(piece[top.tail] != piece[top.head])

    def _open(self, gamma: float, c: Floats, clusters: Clusters) -> Clusters:
        """Rounds of mixed graphs, each with electrical steps on the pieces it finds.

        What was opened in an earlier round stays open, so that rounds do not push the residual to
        and fro.
        """
        base, room = self.levels[0], self.room
        best, kept = clusters, base.duals.copied()
        opened, work = np.zeros(base.n, dtype=np.bool_), 0.0
        for turn in range(OPEN_ROUNDS):
            opened = opened | carrying(base, clusters, room)
            clusters = solve_mixed(self.levels, c, gamma, clusters, room, opened, self.pool)
            goal = room - clusters.slack  # if that is negative no flow inside clusters helps
            if clusters.fit > POLISH_REACH * goal > 0:
                clusters = correct(base, c, clusters, goal, self.pool)
            elif clusters.fit > goal > 0:
                clusters = polish_inside(base, c, clusters, goal, self.pool)
            before = best.gap
            if clusters.gap < best.gap:
                best, kept = clusters, base.duals.copied()
            work += clusters.work
            idle = turn >= OPEN_PATIENCE and best.gap > OPEN_GAIN * before
            if best.gap <= room or idle or work > OPEN_WORK:
                break
        if best is not clusters:
            base.Lam[:] = kept
            base.refresh(self.pool)
        return best

    def _certificate(self, gamma: float, clusters: Clusters) -> float:
        """The gap from its definition, on level 0; nan if nothing was routed."""
        base = self.levels[0]
        if not self.certify:
            return np.nan
        base.refresh(self.pool)
        scale = dual_loss(base.inv_mass, base.MZ)
        self.dual_value = scale - dual_loss(base.masses, base.A)
        c, own = gamma * base.w, (clusters.labels, clusters.center)
        exact = measure(base, c, *own, pool=self.pool)
        return exact.fit + max(exact.slack, 0.0) + self.lost

    def _contract(self, c: Floats, clusters: Clusters, changed: bool) -> None:
        if changed:
            given = self.levels, clusters.labels, clusters.count
            self.levels = split_levels(*given, self.pool)
            self._locate()
        base, top = self.levels[0], self.levels[-1]
        gone = 1 - clusters.count / top.n
        saved = gone * max(clusters.passes, 2 * LEVEL_COST) * top.cost
        if saved < (LEVEL_COST * top.cost + CALLS if self.certify else top.cost):
            return
        labels = np.empty(top.n, dtype=np.int64)
        labels[self.node] = clusters.labels
        above = top.contract(labels, clusters.count, back=self.certify, pool=self.pool)
        if top is not base:
            top.duals.drop_copy()  # only a top is swept over, and only level 0 is opened
        self.levels.append(above)
        self._locate()
        if not self.certify:
            self._forget()
            Q = span(above)
            if Q is not None:
                self._rotate(Q)
            return
        frozen = freeze(base, above, self.node, self.inside, c, self.allowed, self.pool)
        if frozen is not None:
            self.used += frozen.used
            self.lost += frozen.residual
            self._rotate(frozen.Q)

    def _locate(self) -> None:
        """Find the node of the top level that holds each sample, and the edges inside them."""
        self.node = np.arange(self.levels[0].n)
        for level in self.levels[:-1]:
            self.node = level.above.parent[self.node]
        base = self.levels[0]
        self.inside = self.node[base.tail] == self.node[base.head]

    def _forget(self) -> None:
        """Drop what only a way back down from the top would need."""
        for level in self.levels[:-1]:
            level.forget()
        self.last = np.empty((0, 0))

    def _rotating(self) -> list[Level]:
        """The levels that have coordinates: all, or the top if there is no way back down."""
        return self.levels if self.certify else self.levels[-1:]

    def _rotate(self, Q: Floats) -> None:
        self.basis = Q if self.basis is None else self.basis @ Q
        for level in self._rotating():
            level.rotate(Q)
        if self.last.size:
            self.last = np.ascontiguousarray(self.last @ Q)

    def to_arrays(self) -> dict[str, np.ndarray]:
        """Everything that :meth:`restore` needs beyond the problem itself."""
        parents = [level.above.parent for level in self.levels[:-1]]
        # before anything fuses duals follow from the points
        Lam = [self.levels[0].Lam, self.levels[-1].Lam, self.last]
        Lam = Lam if self.newton is None else [np.empty((0, 0))] * 3
        # rotated level by level: sums of the samples' rotated rows would round otherwise
        MZ = [] if self.basis is None else [level.MZ for level in self._rotating()]
        return {
            "lam": Lam[0],
            "top": Lam[1],
            "last": Lam[2],
            "used": self.used,
            "basis": np.empty((0, 0)) if self.basis is None else self.basis,
            "MZ": np.concatenate(MZ) if MZ else np.empty((0, 0)),
            "numbers": np.array([self.gamma, self.gamma_before, self.lost, self.dual_value]),
            "sizes": np.array([level.n for level in self.levels], dtype=np.int64),
            "parents": np.concatenate([np.empty(0, dtype=np.int64), *parents]),
            "labels": self.before,
            **(self.newton.to_arrays() if self.newton is not None else {}),
        }

    def restore(self, arrays: dict[str, np.ndarray]) -> None:
        """Take up the state that :meth:`to_arrays` gave."""
        base = self.levels[0]
        if arrays["basis"].size:
            self._rotate(arrays["basis"])
        if arrays["lam"].size:
            base.Lam[:], self.last = arrays["lam"], arrays["last"]
        self.used = arrays["used"]
        self.gamma, self.gamma_before, self.lost, self.dual_value = arrays["numbers"].tolist()
        sizes, at = arrays["sizes"], 0
        self.levels = [base]
        for size, count in pairwise(sizes.tolist()):
            parent = arrays["parents"][at : at + size]
            self.levels.append(self.levels[-1].contract(parent, count, back=self.certify))
            at += size
        if arrays["top"].size:
            self.levels[-1].Lam[:] = arrays["top"]
        at = 0
        for level in self._rotating() if arrays["MZ"].size else ():  # to the last bit
            level.MZ = arrays["MZ"][at : at + level.n]
            at += level.n
        if self.certify or len(self.levels) == 1:
            base.refresh(self.pool)
        else:
            self._forget()
        self._locate()
        self.before = arrays["labels"]
        if self.newton is not None and not self.newton.restore(arrays):
            self.newton = None
