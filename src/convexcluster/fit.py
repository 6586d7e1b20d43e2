"""A fit, from rows to a certificate: rows → points → graph → path → choice → solution → proof.

Every entry (the estimators, ``fit_large``, dask) calls :func:`fit`; ``tune`` and the reproduction
call its stages, which are the modules of :mod:`~convexcluster.stages`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any

import numpy as np

from .certificate import Certificate
from .certificate.claims import Centroids
from .certificate.reduced import reduce
from .numerics.threads import interruptible, one_blas_thread
from .partition import by_size
from .path.clusterpath import ClusterPath
from .points import CoarseningError, Points, RowLabels, Vote, cut_finer, link
from .points.passes import PIECES
from .points.units import Unit
from .problem import Floats, Ints, Problem, Solution
from .rows import Rows
from .selection import Selection
from .settings import Settings
from .stages.choice import choose, in_order, see, solve_one, with_copies
from .stages.error import coarsening_error, is_bearable
from .stages.path import gap_to_reach, run_path, solve_chosen
from .stages.penalty import build_penalty, make_vote
from .stages.points import graph_of_rows, in_units, make_points, without_copies
from .stages.proof import prove_choice, proved, solution_of
from .stages.space import fetch, measure_space, put_away
from .stages.units import choose_units

# Cells that may be added where their error is too large, as a share of those there are: the path on
# them takes as much longer.
SPARE_CELLS = 0.5

# Numbers of X up to which BLAS has one thread: on a busy machine fits of 10,000 rows in the plane
# and of digits take half to a third of the processor time. 10,000 rows of 784 features are beyond
# it, and as fast with one thread as with two.
SMALL = 2_000_000

# Rows that a source which does not know their number is taken to have, for the bar alone.
MANY = 50_000


@dataclass(frozen=True)
class Fit:
    """What a fit found, on its points.

    Attributes
    ----------
    points : Points
    problem : Problem
        At the γ that was chosen.
    path : ClusterPath
    selection : Selection
    solution : Solution
        At that γ, without its dual, which is larger than the rest and has been used.
    certificate : Certificate
        About all rows.
    coarsening : CoarseningError or None
        What grouping rows into cells costs, cell by cell; None if every distinct row is a point.
    unit : Unit
        Powers of two by which rows and masses were multiplied: the results are in these units.
    vote : Vote
        The rule that labels rows.
    centroids : Centroids or None
        Those of the solution in the full space, where the proof has found them.
    links : ndarray of shape (g,) or None
        Sample of the problem for every point, where some of them must be together; None if every
        point is a sample.
    valleys : ndarray of shape (m,) or None
        Cut of the samples of the problem between whose parts edges are weak; None if none is.
    """

    points: Points
    problem: Problem
    path: ClusterPath
    selection: Selection
    solution: Solution
    certificate: Certificate
    coarsening: CoarseningError | None
    unit: Unit
    vote: Vote
    centroids: Centroids | None = None
    links: Ints | None = None
    valleys: Ints | None = None

    @property
    def labels(self) -> Ints:
        """Cluster of every sample of the problem, numbered by falling mass."""
        return by_size(self.selection.labels, self.problem.masses)

    def samples(self, index: Ints) -> Ints:
        """Samples of the problem that stand for the points ``index``."""
        return index if self.links is None else self.links[index]

    @property
    def labeller(self) -> RowLabels:
        """What labels rows by the vote."""
        return RowLabels.of(self.vote, self.points)

    def label_rows(self, X: Any, weight: Floats) -> tuple[Fit, Ints]:
        """Cluster of every row in memory: that of its point, or the vote where it is in a cell.

        Rows of weight zero take no part in the fit, and are labelled like new ones. Where other
        cells outvote all rows of some cluster, the nearest cell decides, from then on.
        """
        assert self.points.index is not None
        labels = self.labels[self.samples(self.points.index)]
        new = np.ones(len(weight), dtype=bool) if self.points.coarse else weight == 0
        if new.any():
            labels[new] = self.labeller.labels_of(self.unit.scale(X[new]))
        if self.vote.n_neighbors > 1 and len(np.unique(labels)) < self.vote.n_clusters:
            return self.by_nearest().label_rows(X, weight)
        return self, labels

    def by_nearest(self) -> Fit:
        """This fit, with rows labelled by the nearest point alone."""
        return replace(self, vote=replace(self.vote, n_neighbors=1))

    def with_all_clusters(self, parts: Iterable[Ints]) -> Fit:
        """:meth:`label_rows` for rows elsewhere: ``parts`` are what the vote says of all rows.

        No more of them are read than it takes to see every cluster once.
        """
        unseen = set(range(self.vote.n_clusters))
        if not self.points.coarse or self.vote.n_neighbors == 1:
            return self
        for labels in parts:
            unseen.difference_update(np.unique(labels).tolist())
            if not unseen:
                return self
        return self.by_nearest()


def on_few_threads(fit: Callable[..., Fit]) -> Callable[..., Fit]:
    """A fit of few numbers on one BLAS thread."""

    @wraps(fit)
    def alone(rows: Rows, settings: Settings, groups: Ints | None = None) -> Fit:
        small = rows.X is not None and np.prod(rows.X.shape, dtype=float) <= SMALL
        with one_blas_thread(small):
            return fit(rows, settings, groups)

    return alone


@on_few_threads
@interruptible()
def fit(rows: Rows, settings: Settings, groups: Ints | None = None) -> Fit:
    """Cluster rows: the path of their points, the choice on it, its solution, and the proof.

    Rows of one of the ``groups`` (n,), numbered from 0, are together at every γ; −1 means free.
    """
    settings.check_clusters(rows.n)
    unit, settings = choose_units(rows, settings)
    rows = in_units(rows, unit)
    plan = settings.plan(rows)
    rows, index = without_copies(rows, settings) if plan.coarse else (rows, None)
    rows = rows.in_blocks(plan.block_rows)
    n = MANY if rows.n is None else rows.n
    settings.expect(n, rows.width, plan.cells, plan.coarse)
    settings.stage("rows")
    points = make_points(rows, plan, settings)
    settings.expect(n, rows.width, len(points), points.coarse)
    settings.stage("neighbours")
    spare = int(SPARE_CELLS * plan.cells) if points.cells is not None else 0
    own = graph_of_rows(rows, points, settings)
    links = None if groups is None or points.index is None else link(groups, points.index)
    while True:
        space = measure_space(points, own, settings)
        settings.stage("valleys")
        seen = see(points, own, space, settings, links)
        graph, wide = build_penalty(points, own, settings, space, seen.valleys, links)
        problem = Problem(points.Z, graph.edges, graph.weights, 0.0, points.masses)
        if links is not None:
            problem = reduce(problem, links)
        tol = gap_to_reach(points, problem, settings)
        if settings.one_gamma:
            settings.stage("solution")
            path, choice, solution = solve_one(problem.at(settings.gamma), tol, settings)
        else:
            settings.stage("path")
            points, space = put_away(points, space, rows)
            path, solution = run_path(problem, points, tol, settings), None
            points, space = fetch(points, space, rows)
            settings.stage("choice")
            choice = choose(problem, points, path, seen, space, settings)
        if links is None:
            choice = in_order(with_copies(choice, points, settings), points, settings)
        settings.stage("proof")
        choice, proof = prove_choice(points, problem, path, choice, settings, links, solution)
        problem = problem.at(choice.gamma)
        if proof.centroids is not None:
            solution = solution_of(proof.centroids, problem)
        elif solution is None:
            settings.stage("solution")
            points, space = put_away(points, space, rows)
            solution = solve_chosen(problem, path, choice, tol, settings)
        error = coarsening_error(rows, points, wide, problem, solution)
        if error is None or spare < PIECES or is_bearable(error, points):
            break
        points, spare = cut_finer(rows, points, error, spare), 0
    if index is not None and points.index is not None:
        points = replace(points, index=points.index[index])
    solution, certificate = proved(
        points, problem, choice, proof, solution, error, settings, unit, links
    )
    solution = replace(solution, Lam=np.empty((0, problem.Z.shape[1])))
    labels = by_size(choice.labels, problem.masses)
    points, space = fetch(points, space, rows)
    vote = make_vote(points, labels if links is None else labels[links], settings, space)
    return Fit(
        points,
        problem,
        path,
        choice,
        solution,
        certificate,
        error,
        unit,
        vote,
        proof.centroids,
        links,
        None if seen.valleys is None else seen.valleys.labels(settings.n_clusters),
    )
