"""Questions to a fitted model: for which γ do labels hold, and how far does the partition stand.

Input is a fitted estimator; the answers are those of :mod:`convexcluster.certificate.ranges` and
:mod:`~convexcluster.certificate.margins` in the full space of its kernel.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..certificate.margins import Robustness, stand
from ..certificate.ranges import Recovery, recover
from ..certificate.space import Space
from ..graph import Graph
from ..partition import check_labels, first
from ..problem import Floats, Ints
from ..solvers import solve_problem
from .inner import space_of
from .points import Points
from .units import Unit

# The relative gap of the small problems of a proof: the slack of a flow absorbs what it leaves.
SHARP = 1e-10


def recovery(
    model: Any, labels: Any = None, near: float | None = None, inside: bool = False
) -> Recovery:
    """For which γ the exact optimum has the clusters ``labels``; those of the fit by default."""
    space, graph, masses, index = full_space(model)
    rows = check_labels(model.labels_ if labels is None else labels, len(index))
    points = rows[first(index)]
    odd = np.flatnonzero(points[index] != rows)
    if len(odd):
        twin = int(first(index)[index[odd[0]]])
        same = "must be together" if hasattr(model, "_links") else "are equal"
        why = f"samples {twin} and {odd[0]} {same} and have different labels"
        return Recovery(np.nan, np.nan, f"refuted: {why}", (np.inf, 0.0), None, why)
    solve = partial(solve_problem, tol=SHARP)
    near = (model.gamma_ or None) if labels is None else near
    return recover(space, graph, masses, points, near=near, inside=inside, solve=solve)


def robustness(model: Any, gamma: float | None = None) -> Robustness:
    """How far the clusters of the fit stand, at ``gamma`` or amid the interval that is proved."""
    space, graph, masses, index = full_space(model)
    if len(masses) == 1 < len(index):  # a point alone may move anywhere, copies one by one not
        return Robustness(reason="all samples are one point, and no edge holds its copies together")
    points = model.labels_[first(index)]
    interval = model.certificate_.gamma_interval
    if gamma is None:
        gamma = model.gamma_
        if interval is not None and interval[0] > 0:
            gamma = float(np.sqrt(interval[0] * min(interval[1], 100.0 * interval[0])))
    solve = partial(solve_problem, tol=SHARP)
    found = stand(space, graph, masses, points, gamma, solve=solve)
    if found.weakest is None:
        return found
    a, b = (int(first(index)[point]) for point in found.weakest)  # rows, not points
    return replace(found, weakest=(min(a, b), max(a, b)))


def full_space(model: Any) -> tuple[Space, Graph, Floats, Ints]:
    """Inner products, graph and masses of the samples of a fit, and the sample of every row.

    A sample is a point, or the mean of points that must be together.
    """
    if hasattr(model, "points_"):
        raise ValueError("rows were grouped into cells: fit with coarsen=False to ask about rows")
    if getattr(model, "_unit", Unit()).multiplies:
        raise ValueError("the rows are beyond 1e±75: scale them first")
    embedding, index, vote = model._embedding, model._index, model._vote
    n = len(embedding.Z)
    X = vote.X
    if vote.embedding is not None or len(vote.labels) != n:
        if embedding.method not in ("exact", "identity"):
            raise ValueError(
                "the model does not hold its rows: fit a graph of the features of distinct rows, "
                'or embedding="exact"'
            )
        X = embedding.Z if embedding.basis is None else embedding.basis
    masses = np.bincount(index, model.path_.masses, n).astype(np.float64)
    space, links = space_of(Points(X, masses, embedding, index)), getattr(model, "_links", None)
    if links is not None:
        space, index = space.means(masses, links), links[index]
        masses = np.bincount(links, masses).astype(np.float64)
    graph = Graph(np.sort(index[model.graph_.edges], axis=1), model.graph_.weights)
    return space, graph, masses, index
