"""The default: components apart, in their own principal axes, by accelerated sweeps, then Newton.

1. Connected components decouple. Each is centred and turned to its principal axes; trailing axes
   whose energy ½‖Z₂‖²_M is a small share of the allowed gap are dropped. With A₂ = 0 and Λ₂ = 0
   the gap of the whole is the gap of the kept axes plus that energy, so nothing is hidden.
2. A component that fuses entirely is recognised by a flow: L_w Y = M(Z − Z̄), λ_l = w_l(y_i − y_j).
   If ‖λ_l‖ ≤ c_l on every edge then A* = Z̄ exactly.
3. Accelerated sweeps identify the clusters and usually reach the tolerance.
4. Where they stall, semismooth Newton goes on from their dual.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..certificate import duality_gap, project
from ..certificate.flows import electrical
from ..graph import components
from ..numerics.axes import leading_axes
from ..partition import first, fused, means
from ..problem import Floats, Ints, Problem, Solution, Status
from . import ssnal, sweeps
from .driver import drive

# Components smaller than this, or than n/64, are solved together: a call each would cost more than
# it saves.
SMALL = 24
# Larger parts are numbered so that neighbours lie near each other in memory: a quarter of the time.
UNORDERED = 2_000
# Edges whose duals are turned at a time, beside which no second array of the size of Λ is needed.
# Half or twice: no difference; with four times as many it takes half as long again.
BLOCK = 4_096
TRACE_SHARE = 0.1  # of the allowed gap, given away to dropped axes


@dataclass(frozen=True, slots=True)
class Part:
    """Some components of the graph, centred and in principal axes: z = mean + Z @ axes."""

    problem: Problem
    nodes: Ints
    edges: Ints
    component: Ints  # of each node
    means: Floats  # of the components
    axes: Floats


def solve(
    problem: Problem, target: float, max_iter: int | None = None, warm: Floats | None = None
) -> Solution:
    """Solve every part to its share of ``target`` and put them together."""
    found = parts(problem, target)
    starts: list[Floats | None] = [None] * len(found)
    if warm is not None:
        starts = [_turned(warm, part) for part in found]
    del warm  # as large as Λ; a caller that has let go of it has room for another
    status, n_iter, solved = Status.CONVERGED, 0, []
    for part in found:
        share = target * float(len(part.nodes)) / problem.n
        inner = solve_part(part.problem, (1.0 - TRACE_SHARE) * share, max_iter, starts.pop(0))
        solved.append((part, inner))
        n_iter = max(n_iter, inner.n_iter)
        if inner.status is not Status.CONVERGED:
            status = inner.status
    A = problem.Z.copy()
    Lam = np.zeros((len(problem.edges), problem.Z.shape[1]))
    for part, inner in solved:
        labels = fused(inner.A, part.problem.edges)
        A[part.nodes] = part.means[part.component] + (inner.A[first(labels)] @ part.axes)[labels]
        for start in range(0, len(part.edges), BLOCK):
            some = slice(start, start + BLOCK)
            Lam[part.edges[some]] = inner.Lam[some] @ part.axes
    project(Lam, problem.c, out=Lam)  # turning back rounds
    gap = duality_gap(problem, A, Lam)
    if gap <= target:
        status = Status.CONVERGED
    elif status is Status.CONVERGED:
        status = Status.STALLED
    return Solution(A, Lam, gap, problem.relative(gap), status, n_iter)


def _turned(Lam: Floats, part: Part) -> Floats:
    """Duals of the edges of a part in its axes."""
    turned = np.empty((len(part.edges), len(part.axes)))
    for start in range(0, len(turned), BLOCK):
        some = slice(start, start + BLOCK)
        turned[some] = Lam[part.edges[some]] @ part.axes.T
    return turned


def solve_part(
    problem: Problem, target: float, max_iter: int | None, warm: Floats | None
) -> Solution:
    """Full fusion if a flow shows it, else sweeps, else Newton from where they stalled.

    ``warm`` is written over.
    """
    if may_fuse_fully(problem, warm):
        whole = _fused_fully(problem)
        if whole is not None and whole.gap <= target:
            return whole
        warm = whole.Lam if warm is None and whole is not None else warm
        del whole  # as large as Λ
    first = drive(sweeps.METHOD, problem, target, max_iter, warm, own=True)
    left = None if max_iter is None else max_iter - first.n_iter
    if first.status is Status.CONVERGED or left == 0:
        return first
    second = drive(ssnal.METHOD, problem, target, left, first.Lam)
    n_iter = first.n_iter + second.n_iter
    best = second if second.gap <= first.gap else first
    return replace(best, status=second.status, n_iter=n_iter)


def _fused_fully(problem: Problem) -> Solution | None:
    """Full fusion of a centred problem with the flow for it; None if floats hold no such flow."""
    labels, demand = components(problem.edges, problem.n), problem.masses[:, None] * problem.Z
    Lam = electrical(problem.edges, problem.weights, demand, labels, problem.masses)
    if not np.isfinite(Lam).all():
        return None
    A = np.zeros_like(problem.Z)
    project(Lam, problem.c, out=Lam)
    gap = duality_gap(problem, A, Lam)
    return Solution(A, Lam, gap, problem.relative(gap), Status.CONVERGED, 0)


def parts(problem: Problem, target: float) -> list[Part]:
    """The components as centred problems of low dimension; lone samples are left out (a = z)."""
    labels = components(problem.edges, problem.n)
    sizes = np.bincount(labels)
    mean = means(problem.Z, problem.masses, labels)
    # label −1 collects the small components, −2 the lone samples
    own = sizes >= max(SMALL, problem.n // 64)
    group = np.where(own, np.arange(len(sizes)), np.where(sizes > 1, -1, -2))[labels]
    found = []
    order = np.argsort(group, kind="stable")
    edge_group = group[problem.edges[:, 0]]
    edge_order = np.argsort(edge_group, kind="stable")
    for label in np.unique(group[group > -2]):
        nodes = order[slice(*np.searchsorted(group[order], [label, label + 1]))]
        edges = edge_order[slice(*np.searchsorted(edge_group[edge_order], [label, label + 1]))]
        share = TRACE_SHARE * target * len(nodes) / problem.n
        found.append(_part(problem, nodes, edges, labels, mean, share))
    return found


def _part(
    problem: Problem, nodes: Ints, edges: Ints, labels: Ints, mean: Floats, energy: float
) -> Part:
    """Restrict to ``nodes`` and turn to the principal axes, dropping at most ``energy``."""
    local = np.empty(problem.n, dtype=np.int64)
    local[nodes] = np.arange(len(nodes))
    if len(nodes) > UNORDERED:
        i, j = local[problem.edges[edges]].T
        link = sparse.coo_array((np.ones(len(i)), (i, j)), shape=(len(nodes), len(nodes)))
        order = reverse_cuthill_mckee((link + link.T).tocsr(), symmetric_mode=True)
        nodes = nodes[order]
        local[nodes] = np.arange(len(nodes))
        edges = edges[np.argsort(local[problem.edges[edges]].min(axis=1), kind="stable")]
    masses = problem.masses[nodes]
    Z = problem.Z[nodes]
    Z -= mean[labels[nodes]]
    axes = leading_axes(np.sqrt(masses)[:, None] * Z, 2.0 * energy).Q.T
    small = Problem(
        np.ascontiguousarray(Z @ axes.T),
        local[problem.edges[edges]],
        problem.weights[edges],
        problem.gamma,
        masses,
    )
    return Part(small, nodes, edges, labels[nodes], mean, axes)


def may_fuse_fully(problem: Problem, warm: Floats | None = None) -> bool:
    """Whether the edges at every sample can carry m_i‖z_i − z̄‖: necessary for full fusion.

    So is it that the edges around every cluster can carry ‖Σ m_i(z_i − z̄)‖; those of a dual to
    start from are looked at too.
    """
    labels = np.arange(problem.n)
    if not _carried(problem, labels):
        return False
    if warm is None:
        return True
    fused = np.einsum("lk,lk->l", warm, warm) < (1.0 - 1e-6) * problem.c**2
    labels = components(problem.edges[fused], problem.n)
    return labels.max() == 0 or _carried(problem, labels)


def _carried(problem: Problem, labels: Ints) -> bool:
    """Whether the edges around every label can carry what its samples have to give."""
    k = int(labels.max()) + 1
    ends = labels[problem.edges]
    around = ends[:, 0] != ends[:, 1]
    capacity = np.bincount(ends[around].ravel(), np.repeat(problem.c[around], 2), k)
    mass = np.bincount(labels, problem.masses, k)
    center = means(problem.Z, problem.masses, labels)
    return bool((mass * np.linalg.norm(center, axis=1) <= capacity).all())
