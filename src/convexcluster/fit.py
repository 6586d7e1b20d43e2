"""A fit, from rows to a certificate: rows → points → graph → path → choice → solution → proof.

Every entry (the estimators, ``fit_large``, dask) calls :func:`fit`; ``tune`` and the reproduction
call its stages, which are the functions below it, in the order in which they run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any

import numpy as np
from scipy import sparse

from .certificate import Certificate, certify, on_rows
from .certificate.claims import Centroids, Claim, claimed, prove_labels
from .certificate.cores import Cores, best_cores
from .certificate.reduced import reduce
from .embedding import embed
from .graph import Graph, quotient
from .kernels import Kernel, distances
from .labels import fusion_labels
from .numerics.boundaries import Boundaries
from .numerics.threads import interruptible
from .partition import by_size, canonical, first, row_keys
from .path.clusterpath import ClusterPath
from .path.grid import grid_of_cells
from .path.solve import path_of
from .points import (
    CoarseningError,
    Points,
    Vote,
    cut_finer,
    keep_all,
    link,
    make_aggregates,
    make_cells,
    merge_equal,
)
from .points.error import cohesion, inherited_error
from .points.flows import rows_error
from .points.inner import space_of
from .points.passes import PIECES
from .points.questions import SHARP
from .points.units import Unit, exponent_of, power
from .problem import Floats, Ints, Problem, Solution, Status
from .rows import LocalRows, Plan, Rows, array_rows
from .selection import Selection, select, select_at
from .selection.tension import dimension_of, spread, tension
from .settings import Settings
from .solvers import prove, routed, solve_problem
from .weights import (
    FEW_FEATURES,
    LOOPED,
    Nearest,
    automatic_graph,
    automatic_nearest,
    build_graph,
    valleys,
    with_valleys,
)
from .weights.build import user_graph
from .weights.valleys import LEAST

# The relative gap of a path of which one γ is certified, by solving there once more. Ten times less
# takes up to half as long again and changes no label of 39 data sets; ten times more saves a fifth,
# and with a gap of LOOSEST the partition itself would be in doubt.
OUTLINE = 1e-4

# Cells are cut finer, once, if ‖V‖² exceeds this share of Σ m‖z − z̄‖²: below it coarsening moves
# centroids by less than a tenth of their spread.
BEARABLE = 0.01

# Nor are cells cut finer if ‖V‖² is below this share of τ²: without any coarsening error the radius
# would be less by a tenth at most.
BEARABLE_OF_LOST = 0.25

# Cells that may be added so, as a share of those there are: the path on them takes as much longer.
SPARE_CELLS = 0.5

# Points up to which the path is asked too where the density has valleys: curves of few samples are
# thin, and their neighbours at any scale lie across gaps. It is followed if its clusters stand out
# by this share of how far those of the valleys do; with 1, a circle around groups is cut to pieces
# in one draw of ten, with half of it background makes clusters. Told their number, what counts is
# whether the faintest boundary is about as high.
FEW_POINTS, AS_CLEAR, AS_HIGH = 1_000, 0.7, 0.9

# Fused clusters for each label up to which a proof of the labels is tried. Beyond, cores are small
# parts of their labels, and looking for them takes longer than all the rest of a fit.
NEARLY = 4.0

# Share of the samples' spread that the centroids have at the γ of a path whose centroids are joined
# by Ward's tree: clusters are formed and have not met.
HALFWAY = 0.1

# Told a number of clusters, valleys are followed if all between them have this share of the level;
# at a quarter, pieces of curves are cut off before the curves are apart, which the path sees.
DISTINCT = 0.5

# Rows and features up to which the graph of all rows is built beside their cells, so that the
# certificate is about that graph: its neighbours are found, and flows on it factored, in seconds.
GRAPHED_ROWS = 100_000
GRAPHED_FEATURES = 3


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
    centroids : Centroids or None
        Those of the solution in the full space, where the proof has found them.
    links : ndarray of shape (g,) or None
        Sample of the problem for every point, where some of them must be together; None if every
        point is a sample.
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

    @property
    def labels(self) -> Ints:
        """Cluster of every sample of the problem, numbered by falling mass."""
        return by_size(self.selection.labels, self.problem.masses)

    def samples(self, index: Ints) -> Ints:
        """Samples of the problem that stand for the points ``index``."""
        return index if self.links is None else self.links[index]

    def label_rows(self, X: Any, weight: Floats) -> Ints:
        """Cluster of every row in memory: that of its point, or the vote where it is in a cell.

        Rows of weight zero take no part in the fit, and are labelled like new ones.
        """
        assert self.points.index is not None
        labels = self.labels[self.samples(self.points.index)]
        new = np.ones(len(weight), dtype=bool) if self.points.coarse else weight == 0
        if new.any():
            labels[new] = self.vote.labels_of(self.unit.scale(X[new]))
        return labels


def watched(fit: Callable[..., Fit]) -> Callable[..., Fit]:
    """A fit that shows its progress, if ``verbose`` asks for it."""

    @wraps(fit)
    def shown(rows: Rows, settings: Settings, groups: Ints | None = None) -> Fit:
        with settings.watched() as told:
            return fit(rows, told, groups)

    return shown


@watched
@interruptible()
def fit(rows: Rows, settings: Settings, groups: Ints | None = None) -> Fit:
    """Cluster rows: the path of their points, the choice on it, its solution, and the proof.

    Rows of one of the ``groups`` (n,), numbered from 0, are together at every γ; −1 means free.
    """
    settings.check_clusters(rows.n)
    unit, settings = settings.units(rows)
    rows = in_units(rows, unit)
    plan = settings.plan(rows)
    rows = rows.in_blocks(plan.block_rows)
    settings.stage("neighbours")
    points = make_points(rows, plan, settings)
    spare = 0 if points.cells is None else int(SPARE_CELLS * plan.cells)
    own = graph_of_rows(rows, points, settings)
    links = None if groups is None or points.index is None else link(groups, points.index)
    while True:
        found = find_valleys(points, settings) if links is None else None
        nearest = nearest_points(points, own, settings)
        if found is not None and len(points) <= FEW_POINTS:
            found = clearer(points, own, nearest, found, settings)
        graph, wide = build_penalty(points, own, settings, nearest, found)
        problem = Problem(points.Z, graph.edges, graph.weights, 0.0, points.masses)
        if links is not None:
            problem = reduce(problem, links)
        claim, cores = None, None  # the proof in the full space knows rows, not means of groups
        tol = gap_to_reach(points, problem, settings)
        if settings.one_gamma:
            path, choice, solution = solve_one(problem.at(settings.gamma), tol, settings)
            if links is None:
                choice, claim, cores = prove_choice(points, graph, path, choice, settings)
            exact = None
        else:
            settings.stage("path")
            path = run_path(problem, points, tol, settings)
            settings.stage("choice")
            choice = choose(problem, points, path, found, settings)
            settings.stage("proof")
            if links is None:
                choice, claim, cores = prove_choice(points, graph, path, choice, settings)
            exact = known_centroids(claim, cores, points, choice, settings)
            if exact is None:
                solution = solve_chosen(problem.at(choice.gamma), path, choice, tol, settings)
            else:
                solution = solution_of(exact, points, problem)
        problem = problem.at(choice.gamma)
        error = coarsening_error(rows, points, wide, problem, solution)
        if error is None or spare < PIECES or is_bearable(error, points):
            break
        points, spare = cut_finer(rows, points, error, spare), 0
    solution, certificate = proved(
        points, problem, choice, claim, cores, exact, solution, error, settings, unit, links
    )
    labels = by_size(choice.labels, problem.masses)
    vote = make_vote(points, labels if links is None else labels[links], settings, nearest)
    return Fit(
        points, problem, path, choice, solution, certificate, error, unit, vote, exact, links
    )


def in_units(rows: Rows, unit: Unit) -> Rows:
    """The rows and masses multiplied by their powers of two; ordinary ones stay as they are."""
    if unit == Unit():
        return rows
    assert isinstance(rows, LocalRows)
    assert rows.masses is not None
    return array_rows(unit.scale(rows.X), power(rows.masses, unit.mass), rows.jobs)


def make_points(rows: Rows, plan: Plan, settings: Settings) -> Points:
    """Distinct rows; or cells."""
    if rows.X is not None and not plan.coarse:
        return distinct_points(rows, settings)

    def embed_sample(sample: Floats, kernel: Kernel) -> Any:
        return embed(sample, kernel, **settings.embedding_options(*sample.shape, of_sample=True))

    kernel_of, seed = partial(_kernel_of_sample, settings), settings.sample_seed()
    if settings.given_graph:
        assert rows.masses is not None
        graph = user_graph(settings.weights, len(rows.X))
        given = (rows.X, rows.masses, graph, plan.cells, kernel_of, embed_sample)
        return make_aggregates(*given, seed=seed)[0]
    points, _ = make_cells(rows, plan.cells, kernel_of, embed_sample, seed=seed)
    if rows.n is None:
        settings.check_clusters(round(points.masses.sum()))
    return points


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
    settings.resolve_kernel(1.0).check(found.X)  # before distances are averaged to a bandwidth
    kernel = settings.resolve_kernel(X=found.X)
    X = kernel.check(found.X)
    options = settings.embedding_options(*X.shape)
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


def find_valleys(points: Points, settings: Settings) -> Boundaries | None:
    """Valleys of the density between points of few features, where they show the clusters.

    None where the graph is not built from the features, and where the density shows no structure or
    not as many clusters as were asked for: thin curves of few samples have clusters without
    valleys, and the path decides.
    """
    features = points.X.shape[1] <= FEW_FEATURES and not sparse.issparse(points.X)
    features = features and settings.metric_of_graph(points.X) in ("auto", "euclidean")
    asked = settings.labels == "auto" and not settings.one_gamma
    if not (features and asked and settings.automatic_graph) or settings.weighs_in_embedding:
        return None
    k = settings.n_clusters
    found = valleys(points.X, points.masses, k, least_mass(points, settings))
    if found is None or (found.count == 1 if k is None else found.height(int(k)) <= DISTINCT):
        return None
    return found


def least_mass(points: Points, settings: Settings) -> float:
    """Least mass of a cluster: so many rows, or of weights below one so many mean weights."""
    rows = float(settings.min_cluster_size or LEAST)
    return rows * min(1.0, float(points.masses.mean()))


def clearer(
    points: Points,
    own: Graph | None,
    nearest: Nearest | None,
    found: Boundaries,
    settings: Settings,
) -> Boundaries | None:
    """The valleys, unless the path shows clusters about as clearly: then None, and it decides."""
    graph, _ = build_penalty(points, own, settings, nearest)
    problem = Problem(points.Z, graph.edges, graph.weights, 0.0, points.masses)
    path = run_path(problem, points, OUTLINE, replace(settings, verbose=0, certify="selected"))
    if not len(path) or path.scale <= 0:
        return found
    other = tension(path, graph, *space(points, settings), least_mass(points, settings))
    k = settings.n_clusters
    if k is not None:
        shown = other.height(int(k)) > AS_HIGH * found.height(int(k))
    else:
        clear = AS_CLEAR * found.clarity(found.count)
        shown = other.count > 1 and other.clarity(other.count) > clear
    return None if shown else found


def nearest_points(points: Points, own: Graph | None, settings: Settings) -> Nearest | None:
    """Neighbours of the points, found once for both graphs and for the vote; None if not needed."""
    if own is not None or not settings.automatic_graph or not points.distinct or len(points) < 2:
        return None
    placed = settings.weighs_in_embedding
    X = points.Z if placed else points.X
    if not placed and settings.metric_of_graph(X) != "auto":
        return None
    return automatic_nearest(X, settings.n_neighbors, features=not placed)


def build_penalty(
    points: Points,
    own: Graph | None,
    settings: Settings,
    nearest: Nearest | None = None,
    found: Boundaries | None = None,
) -> tuple[Graph, Graph | None]:
    """The graph of the penalty between the points, and that of the rows that it sums, if any.

    Edges across valleys that were ``found`` are weak.
    """
    if own is not None:
        assert points.index is not None
        if found is not None:
            labels = found.labels(settings.n_clusters)[points.index]
            own = with_valleys(own, found, labels, first(points.index))
        return quotient(own.edges, own.weights, points.index), own
    if settings.weighs_in_embedding:
        return weigh(points.Z, points.masses, settings, features=False, nearest=nearest), None
    distinct = points.distinct
    graph = weigh(points.X, points.masses, settings, distinct=distinct, nearest=nearest)
    if found is not None:
        labels = found.labels(settings.n_clusters)
        graph = with_valleys(graph, found, labels, np.arange(len(labels)))
    return graph, None


def weigh(
    X: Any,
    masses: Floats,
    settings: Settings,
    *,
    features: bool = True,
    distinct: bool = False,
    nearest: Nearest | None = None,
) -> Graph:
    """The graph on the rows of X that the settings ask for."""
    options: dict[str, Any] = {
        "n_neighbors": settings.n_neighbors,
        "masses": masses,
        "distinct": distinct,
    }
    metric = settings.metric_of_graph(X) if features else "auto"
    if metric not in LOOPED:
        X = X if settings.distances_given else distances(X, None, metric)
        metric = "precomputed"
    if metric != "auto":
        options["metric"] = metric
    if settings.automatic_graph:
        return automatic_graph(X, features=features, nearest=nearest, **options)
    return build_graph(X, settings.weights, bandwidth=settings.weight_bandwidth, **options)


def gap_to_reach(points: Points, problem: Problem, settings: Settings) -> float:
    """Relative gap of the solution: no smaller than what the embedding has lost makes sense of."""
    cut = points.coarse or settings.cuts_rank(problem.n)
    return settings.gap_for(points.embedding.trace_error, problem.scale, cut)


def run_path(problem: Problem, points: Points, tol: float, settings: Settings) -> ClusterPath:
    """Solve every γ of the path, to a gap that is enough to choose by."""
    gammas = settings.gamma
    if gammas is None and points.coarse:
        gammas = grid_of_cells(problem)
    return path_of(
        problem,
        gammas,
        tol=max(tol, OUTLINE) if settings.certify == "selected" else tol,
        certify=settings.certify,
        n_jobs=settings.threads,
        callback=settings.progress,
        refine=False,  # tensions weigh γ by its logarithm, and need no more of them
    )


def choose(
    problem: Problem,
    points: Points,
    path: ClusterPath,
    found: Boundaries | None,
    settings: Settings,
) -> Selection:
    """Choose γ and the number of clusters on the path."""
    k = _clusters(problem, settings)
    if settings.labels == "agglomerative":
        shares = np.array([spread(path, step) for step in range(len(path))])
        gamma = float(path.gammas[np.argmin(np.abs(np.log((shares + 1e-12) / HALFWAY)))])
        fused = path.labels(gamma=gamma)
        A = path.centroids(gamma)[fused]
        options: dict[str, Any] = {"n_clusters": k, "labels": "agglomerative"}
        return select_at(A, fused, gamma, masses=problem.masses, **options)
    if found is None and settings.labels == "auto" and len(path) and path.scale > 0:
        graph = Graph(problem.edges, problem.weights)
        found = tension(path, graph, *space(points, settings), least_mass(points, settings))
    return select(
        problem.Z,
        path,
        found,
        n_clusters=k,
        method=settings.selection,
        min_cluster_size=settings.min_cluster_size,
    )


def space(points: Points, settings: Settings) -> tuple[int, float]:
    """Features of the space in which the graph measures distances, and its dimension.

    The axes of an embedding are many features.
    """
    features = not (settings.weighs_in_embedding or sparse.issparse(points.X))
    if not features or settings.metric_of_graph(points.X) not in LOOPED:
        return max(points.Z.shape[1], FEW_FEATURES + 1), dimension_of(points.Z)
    d = int(points.X.shape[1])
    return d, float(d) if d <= FEW_FEATURES else dimension_of(points.X)


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


def prove_choice(
    points: Points, graph: Graph, path: ClusterPath, choice: Selection, settings: Settings
) -> tuple[Selection, Claim | None, Cores | None]:
    """What is proved of the labels in the full space, and the choice at a γ where it holds.

    Labels that join many fused clusters are no clusters of the optimum: nothing is tried then, nor
    where points are many and the path never has the labels.
    """
    if not settings.certify:
        return choice, None, None
    space, masses, movable = space_of(points), points.masses, settings.gamma is None
    labels, wanted = by_size(choice.labels, masses), canonical(choice.labels)
    k, fused_there = int(wanted.max()) + 1, path.labels(gamma=choice.gamma)
    if int(fused_there.max()) + 1 > NEARLY * k:
        return choice, None, None
    solve = partial(solve_problem, tol=SHARP)
    guesses = [(float(g), path.labels(step=q)) for q, g in enumerate(path.gammas)]
    # the proof moves γ to no other than one at which every fused cluster lies inside one label
    guesses = [(g, fused) for g, fused in guesses if (wanted == wanted[first(fused)][fused]).all()]
    likely = np.array([g for g, fused in guesses if (fused == wanted).all()])
    if not len(likely) and len(points) > FEW_POINTS:
        return choice, None, None
    options: dict[str, Any] = {"likely": likely, "movable": movable, "solve": solve}
    claim = prove_labels(space, graph, masses, labels, choice.gamma, path.gammas, **options)
    if claim.whole or points.coarse:
        return replace(choice, gamma=claim.gamma), claim, None
    if not movable:
        guesses = [(g, fused) for g, fused in guesses if g == choice.gamma]
    cores = best_cores(space, graph, masses, labels, guesses, solve)
    return replace(choice, gamma=claim.gamma if cores is None else cores.gamma), claim, cores


def known_centroids(
    claim: Claim | None,
    cores: Cores | None,
    points: Points,
    choice: Selection,
    settings: Settings,
) -> Centroids | None:
    """Centroids that the proof has found in the full space, where no solver is to do better.

    Of cells the error of their rows is still to be known, and a solver that is asked for solves.
    Those of labels that are not proved will do if the embedding has lost more than they miss.
    """
    if claim is None or points.coarse or settings.solver != "auto":
        return None
    lost = points.embedding.trace_error if settings.tol == "auto" else 0.0
    within = float(np.sqrt(min(lost, BEARABLE * (2.0 * points.scale + lost))))
    return Centroids.of(claim, cores, by_size(choice.labels, points.masses), within)


def solution_of(exact: Centroids, points: Points, problem: Problem) -> Solution:
    """The solution that the proof has found; its flows were bounded, not stored."""
    A, gap = exact.rows(points.Z, points.masses), 0.5 * exact.radius**2
    Lam = np.zeros((len(problem.edges), 0))
    return Solution(A, Lam, gap, problem.relative(gap), Status.CONVERGED, 1)


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
    claim: Claim | None,
    cores: Cores | None,
    exact: Centroids | None,
    solution: Solution,
    error: CoarseningError | None,
    settings: Settings,
    unit: Unit,
    links: Ints | None = None,
) -> tuple[Solution, Certificate]:
    """The certificate; where the full space has no proof, close the gap in the embedding."""
    embedding, limit = points.embedding, settings.max_iter
    known: dict[str, Any] = {
        "embedding_error": float(np.sqrt(embedding.trace_error)),
        "clipped_share": embedding.clipped_share,
    }
    wanted = canonical(choice.labels)
    fused = fusion_labels(solution.A, problem.edges) if exact is None else exact.groups
    gamma = power(problem.gamma, -unit.gamma)
    reason = (
        f"the labels join the {fused.max() + 1} fused clusters of γ={gamma:.4g} by a tree, "
        "and a tree is not part of the optimum"
    )
    certificate = None
    if exact is not None:
        assert claim is not None
        unproved = claim.reason if cores is None else reason
        verdict = "certified" if claim.whole else f"not certified: {unproved}"
        found = Certificate(solution.gap, solution.relative_gap, exact.radius, **known)
        certificate = replace(found, partition=verdict)
    elif (wanted == fused).all():
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
    certificate = replace(certificate, relative_radius=relative, is_bound=embedding.is_bound)
    index = np.arange(len(points)) if points.index is None else points.index
    rows = np.bincount(index if links is None else links[index])
    labels = by_size(choice.labels, problem.masses)
    scope: dict[str, Any] = {"unit": 2.0**-unit.gamma, "cells": points.coarse}
    return solution, claimed(certificate, claim, cores, labels, rows, problem.gamma, **scope)


def make_vote(
    points: Points, labels: Ints, settings: Settings, nearest: Nearest | None = None
) -> Vote:
    """The rule that labels rows, in the space in which the graph measures distances."""
    placed = settings.weighs_in_embedding
    metric = "auto" if placed else settings.metric_of_graph(points.X)
    return Vote.of(
        points.Z if placed else points.X,
        labels,
        points.masses,
        row_keys(points.X),
        n_neighbors=settings.n_neighbors,
        embedding=points.embedding if placed else None,
        metric=metric,
        nearest=nearest,
    )
