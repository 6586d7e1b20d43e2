"""A fit, from rows to a certificate: rows → points → graph → path → choice → solution → proof.

Every entry (the estimators, ``fit_large``, dask) calls :func:`fit`; ``tune`` and the reproduction
call its stages, which are the functions below it, in the order in which they run.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from .certificate import Certificate, certify, on_rows
from .embedding import embed
from .graph import Graph, quotient
from .kernels import Kernel
from .labels import fusion_labels
from .numerics.threads import Workers, interruptible
from .partition import by_size, canonical, row_keys
from .path.clusterpath import ClusterPath
from .path.grid import grid_of_cells
from .path.solve import path_of
from .points import (
    CoarseningError,
    Points,
    Vote,
    cut_finer,
    keep_all,
    make_aggregates,
    make_cells,
    merge_equal,
)
from .points.error import cohesion, inherited_error
from .points.flows import rows_error
from .points.passes import PIECES
from .points.units import Unit, exponent_of, power
from .problem import Floats, Ints, Problem, Solution, Status
from .rows import LocalRows, Plan, Rows, array_rows
from .selection import Null, Selection, select, select_at
from .settings import Settings
from .solvers import prove, routed, solve_problem
from .weights import FEW_FEATURES, automatic_graph, build_graph
from .weights.build import user_graph

# The relative gap of a path of which one γ is certified, by solving there once more. The choice
# looks at centroids in units of their spread, which is a hundredth of the samples' at least.
OUTLINE = 1e-5

# Cells are cut finer, once, if ‖V‖² exceeds this share of Σ m‖z − z̄‖²: below it coarsening moves
# centroids by less than a tenth of their spread.
BEARABLE = 0.01

# Nor are cells cut finer if ‖V‖² is below this share of τ²: without any coarsening error the radius
# would be less by a tenth at most.
BEARABLE_OF_LOST = 0.25

# Cells that may be added so, as a share of those there are: the path on them takes as much longer.
SPARE_CELLS = 0.5

# Rows and features up to which the graph of all rows is built beside their cells, so that the
# certificate is about that graph: its neighbours are found, and flows on it factored, in seconds.
GRAPHED_ROWS = 100_000
GRAPHED_FEATURES = 3

# Fewest samples with a null: of fewer than neighbours and eigenvalues nothing can be said.
FEWEST_WITH_NULL = 10


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
        At that γ.
    certificate : Certificate
        About all rows.
    coarsening : CoarseningError or None
        What grouping rows into cells costs, cell by cell; None if every distinct row is a point.
    unit : Unit
        Powers of two by which rows and masses were multiplied: the results are in these units.
    vote : Vote
        The rule that labels rows.
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

    @property
    def labels(self) -> Ints:
        """Cluster of every point, numbered by falling mass."""
        return by_size(self.selection.labels, self.points.masses)

    def label_rows(self, X: Any, weight: Floats) -> Ints:
        """Cluster of every row in memory: that of its point, or the vote where it is in a cell.

        Rows of weight zero take no part in the fit, and are labelled like new ones.
        """
        assert self.points.index is not None
        labels = self.labels[self.points.index]
        new = np.ones(len(weight), dtype=bool) if self.points.coarse else weight == 0
        if new.any():
            labels[new] = self.vote.labels_of(self.unit.scale(X[new]))
        return labels


@interruptible()
def fit(rows: Rows, settings: Settings) -> Fit:
    """Cluster rows: the path of their points, the choice on it, its solution, and the proof."""
    settings.check_clusters(rows.n)
    unit, settings = settings.units(rows)
    rows = in_units(rows, unit)
    plan = settings.plan(rows)
    rows = rows.in_blocks(plan.block_rows)
    points, sample = make_points(rows, plan, settings)
    spare = 0 if points.cells is None else int(SPARE_CELLS * plan.cells)
    own = graph_of_rows(rows, points, settings)
    while True:
        graph = build_penalty(points, own, settings)
        problem = Problem(points.Z, graph.edges, graph.weights, 0.0, points.masses)
        tol = gap_to_reach(points, problem, settings)
        if settings.one_gamma:
            path, choice, solution = solve_one(problem.at(settings.gamma), tol, settings)
        else:
            null = make_null(points, graph, sample, settings)
            path = run_path(problem, points, tol, null, settings)
            choice = choose(problem, points, path, null, settings)
            solution = solve_chosen(problem.at(choice.gamma), path, choice, tol, settings)
        problem = problem.at(choice.gamma)
        error = coarsening_error(rows, points, own, problem, solution)
        if error is None or spare < PIECES or is_bearable(error, points):
            break
        points, spare = cut_finer(rows, points, error, spare), 0
    solution, certificate = proved(points, problem, choice, solution, error, settings, unit)
    vote = make_vote(points, by_size(choice.labels, points.masses), settings)
    return Fit(points, problem, path, choice, solution, certificate, error, unit, vote)


def in_units(rows: Rows, unit: Unit) -> Rows:
    """The rows and masses multiplied by their powers of two; ordinary ones stay as they are."""
    if unit == Unit():
        return rows
    assert isinstance(rows, LocalRows)
    assert rows.masses is not None
    return array_rows(unit.scale(rows.X), power(rows.masses, unit.mass), rows.jobs)


def make_points(rows: Rows, plan: Plan, settings: Settings) -> tuple[Points, Floats | None]:
    """Distinct rows; or cells, and a sample of the rows."""
    if rows.X is not None and not plan.coarse:
        return distinct_points(rows, settings), None

    def embed_sample(sample: Floats, kernel: Kernel) -> Any:
        return embed(sample, kernel, **settings.embedding_options(len(sample), of_sample=True))

    kernel_of, seed = partial(_kernel_of_sample, settings), settings.sample_seed()
    if settings.given_graph:
        assert rows.masses is not None
        graph = user_graph(settings.weights, len(rows.X))
        given = (rows.X, rows.masses, graph, plan.cells, kernel_of, embed_sample)
        return make_aggregates(*given, seed=seed)
    points, sample = make_cells(rows, plan.cells, kernel_of, embed_sample, seed=seed)
    if rows.n is None:
        settings.check_clusters(round(points.masses.sum()))
    return points, sample


def _kernel_of_sample(settings: Settings, sample: Floats) -> Kernel:
    """The kernel, from a sample of the rows; refuse rows whose squares leave the doubles."""
    if exponent_of(sample):
        raise ValueError(
            f"X holds numbers up to {np.abs(sample).max():.1g}, whose squares leave the range of "
            "double precision: rows that are not in memory must be scaled first"
        )
    return settings.resolve_kernel(X=sample)


def distinct_points(rows: Rows, settings: Settings) -> Points:
    """Distinct rows in the embedding; all rows, in their order, where the graph is given."""
    merged = settings.merges_equal_rows
    masses = np.ones(rows.X.shape[0]) if rows.masses is None else rows.masses
    found = (merge_equal if merged else keep_all)(rows.X, masses)
    kernel = settings.resolve_kernel(X=found.X)
    X = kernel.check(found.X)
    options = settings.embedding_options(X.shape[0])
    embedding = embed(X, kernel, masses=found.masses, distinct=merged, **options)
    return Points(X, found.masses, embedding, found.index, merged)


def graph_of_rows(rows: Rows, points: Points, settings: Settings) -> Graph | None:
    """The graph of all rows beside their cells, where there are few enough of them."""
    if not points.coarse or rows.X is None or rows.masses is None:
        return None
    if settings.given_graph:
        return user_graph(settings.weights, len(rows.X))
    n, d = rows.X.shape
    few = n <= GRAPHED_ROWS and d <= GRAPHED_FEATURES and bool((rows.masses > 0).all())
    if not few or settings.weight_space == "embedding" or settings.weights == "full":
        return None
    return weigh(rows.X, rows.masses, settings)


def build_penalty(points: Points, own: Graph | None, settings: Settings) -> Graph:
    """The graph of the penalty: between the points, or that of the rows summed between cells."""
    if own is not None:
        assert points.index is not None
        return quotient(own.edges, own.weights, points.index)
    if settings.weighs_in_embedding:
        return weigh(points.Z, points.masses, settings, features=False)
    return weigh(points.X, points.masses, settings, distinct=points.distinct)


def weigh(
    X: Any,
    masses: Floats,
    settings: Settings,
    *,
    features: bool = True,
    scored: bool = False,
    distinct: bool = False,
) -> Graph:
    """The graph on the rows of X that the settings ask for."""
    options: dict[str, Any] = {
        "n_neighbors": settings.n_neighbors,
        "masses": masses,
        "distinct": distinct,
    }
    if settings.automatic_weights and settings.weights == "knn":
        return automatic_graph(X, features=features, scored=scored, **options)
    return build_graph(X, settings.weights, bandwidth=settings.weight_bandwidth, **options)


def gap_to_reach(points: Points, problem: Problem, settings: Settings) -> float:
    """Relative gap of the solution: no smaller than what the embedding has lost makes sense of."""
    cut = points.coarse or settings.cuts_rank(problem.n)
    return settings.gap_for(points.embedding.trace_error, problem.scale, cut)


def make_null(
    points: Points, graph: Graph, sample: Floats | None, settings: Settings
) -> Null | None:
    """Structureless data to compare with, where the graph is built from dense features."""
    automatic = settings.automatic_weights and settings.weights == "knn"
    if not automatic or settings.weighs_in_embedding or sparse.issparse(points.X):
        return None
    if sample is None:
        assert points.index is not None
        X = points.X[points.index]
    else:
        X = sample
    if (len(points) if sample is None else len(sample)) < FEWEST_WITH_NULL:
        return None
    few = X.shape[1] <= FEW_FEATURES
    # of few features another graph is scored than the one of the penalty (see automatic_graph)
    if few and sample is None:
        graph = weigh(points.X, points.masses, settings, scored=True, distinct=True)
    return Null(X, graph, partial(_scored_graph, settings), few, settings.null_seed)


def _scored_graph(settings: Settings, X: Floats) -> Graph:
    """The graph of a sample whose cuts are counted."""
    merged = merge_equal(X, np.ones(len(X)))
    return weigh(merged.X, merged.masses, settings, scored=True, distinct=True)


def run_path(
    problem: Problem, points: Points, tol: float, null: Null | None, settings: Settings
) -> ClusterPath:
    """Solve every γ of the path, to a gap that is enough to choose by."""
    gammas = settings.gamma
    if gammas is None and points.coarse:
        gammas = grid_of_cells(problem)
    asks = settings.n_clusters is None and settings.selection == "auto"
    with Workers(1) as ahead:
        if null is not None and asks:  # the null needs no path, and the choice will ask for it
            ahead.submit(null.measure)
        return path_of(
            problem,
            gammas,
            tol=max(tol, OUTLINE) if settings.certify == "selected" else tol,
            certify=settings.certify,
            n_jobs=settings.threads,
            callback=settings.progress,
            refine=False,  # the selectors weigh γ by its logarithm, and need no more of them
        )


def choose(
    problem: Problem, points: Points, path: ClusterPath, null: Null | None, settings: Settings
) -> Selection:
    """Choose γ and the number of clusters on the path."""
    return select(
        problem.Z,
        Graph(problem.edges, problem.weights),
        path,
        masses=problem.masses,
        n_clusters=_clusters(problem, settings),
        labels=settings.labels,
        method=settings.selection,
        min_cluster_size=settings.min_cluster_size,
        null=null,
        scale=points.scale if points.coarse else None,
    )


def _clusters(problem: Problem, settings: Settings) -> int | None:
    """The number of clusters that was asked for, and no more than there are points."""
    return None if settings.n_clusters is None else min(int(settings.n_clusters), problem.n)


def solve_one(
    problem: Problem, tol: float, settings: Settings
) -> tuple[ClusterPath, Selection, Solution]:
    """Solve the γ that was given, and choose the clusters there."""
    k, limit = _clusters(problem, settings), settings.max_iter
    solution = solve_problem(problem, solver=settings.solver, tol=tol, max_iter=limit)
    if k is None and settings.labels != "agglomerative" and settings.certify:
        # which clusters have fused is only known once the gap is small enough to prove it
        solution, _ = prove(problem, solution, max_iter=limit)
    fused = fusion_labels(solution.A, problem.edges)
    choice = select_at(
        solution.A,
        fused,
        problem.gamma,
        masses=problem.masses,
        n_clusters=k,
        labels=settings.labels,
        method=settings.selection,
    )
    return ClusterPath.of_solution(problem, solution, fused, tol), choice, solution


def solve_chosen(
    problem: Problem, path: ClusterPath, choice: Selection, tol: float, settings: Settings
) -> Solution:
    """The solution with its dual at the γ that was chosen, from the clusters of the path."""
    options: dict[str, Any] = {"solver": settings.solver, "tol": tol}
    options["max_iter"] = settings.max_iter
    if settings.solver != "auto" or not len(path):
        return solve_problem(problem, **options)
    fused, centers = path.labels(gamma=choice.gamma), path.centroids(choice.gamma)
    # only these can be proved to be the optimum's, and not against the error of a cut rank
    same = bool((fused == canonical(choice.labels)).all())
    sharp = same and not settings.cuts_rank(problem.n)
    solution = routed(problem, fused, centers, tol * problem.scale, sharp)
    if solution.status is not Status.CONVERGED:
        solution = solve_problem(problem, **options, warm=solution)
    return solution


def coarsening_error(
    rows: Rows, points: Points, own: Graph | None, problem: Problem, solution: Solution
) -> CoarseningError | None:
    """What grouping rows into cells costs; None if every distinct row is a point."""
    if not points.coarse:
        return None
    if own is None:
        assert points.scatter is not None
        assert points.diameters is not None
        omega = cohesion(Graph(problem.edges, problem.weights), problem.masses)
        return inherited_error(points.scatter, points.diameters, problem.gamma, omega)
    assert points.index is not None
    assert rows.masses is not None
    place = partial(_place, points, rows.X)
    return rows_error(place, rows.masses, points.index, own, problem, solution)


def _place(points: Points, X: Floats, index: Ints) -> Floats:
    """Coordinates of some rows."""
    return points.embedding.transform(X[index])


def is_bearable(error: CoarseningError, points: Points) -> bool:
    """Whether the error is small beside the spread of the rows, or beside what is lost anyway."""
    lost = points.embedding.trace_error
    return error.total**2 <= max(BEARABLE * 2.0 * points.scale, BEARABLE_OF_LOST * lost)


def proved(
    points: Points,
    problem: Problem,
    choice: Selection,
    solution: Solution,
    error: CoarseningError | None,
    settings: Settings,
    unit: Unit,
) -> tuple[Solution, Certificate]:
    """Close the gap until the labels are proved, where they are the fused clusters."""
    embedding, limit = points.embedding, settings.max_iter
    known: dict[str, Any] = {
        "embedding_error": float(np.sqrt(embedding.trace_error)),
        "clipped_share": embedding.clipped_share,
    }
    fused, wanted = fusion_labels(solution.A, problem.edges), canonical(choice.labels)
    gamma = power(problem.gamma, -unit.gamma)
    reason = (
        f"the labels join the {fused.max() + 1} fused clusters of γ={gamma:.4g} by a tree, "
        "and a tree is not part of the optimum"
    )
    certificate = None
    if (wanted == fused).all():
        closer, found = prove(problem, solution, **known, max_iter=limit)
        if (wanted == fusion_labels(closer.A, problem.edges)).all():
            solution, certificate = closer, found
        reason = "the fused clusters changed as the gap closed: lower tol"
    if certificate is None:
        certificate = certify(problem, solution, **known, partition=False)
        certificate = replace(certificate, partition=f"not certified: {reason}")
    certificate = on_rows(certificate, 0.0 if error is None else error.total)
    whole = float(np.sqrt(2.0 * points.scale + embedding.trace_error))
    relative = certificate.radius / whole if whole > 0 else 0.0
    return solution, replace(certificate, relative_radius=relative, is_bound=embedding.is_bound)


def make_vote(points: Points, labels: Ints, settings: Settings) -> Vote:
    """The rule that labels rows, in the space in which the graph measures distances."""
    placed = settings.weighs_in_embedding
    return Vote.of(
        points.Z if placed else points.X,
        labels,
        points.masses,
        row_keys(points.X),
        n_neighbors=settings.n_neighbors,
        embedding=points.embedding if placed else None,
    )
