"""Which clusters: the valleys of the density, or the tension of the path."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ..certificate.reduced import reduce
from ..graph import Graph, components
from ..labels import fusion_labels
from ..numerics.boundaries import Boundaries
from ..partition import canonical, row_keys
from ..path.clusterpath import ClusterPath
from ..points import Points
from ..points.distinct import FEW_COLUMNS
from ..problem import Floats, Ints, Problem, Solution
from ..selection import Selection, select, select_at
from ..selection.tension import spread, tension
from ..settings import Settings
from ..solvers import prove, solve_problem
from ..weights import Gaps, Landscape, find_gaps, valleys
from ..weights.valleys import LEAST
from .path import OUTLINE, run_path
from .penalty import build_penalty
from .space import Space, shows_density

# Points up to which the path is asked too where the density has valleys: curves of few samples are
# thin, and their neighbours at any scale lie across gaps. Half: such curves come in pieces. With
# 3,000 fits take 1.7 times as long, and small groups beside large ones are lost.
FEW_POINTS = 1_000

# The same where the number of clusters is told: which boundaries come next is less sure than which
# stand. With 1,000 rings and dense groups in a sparse field are lost. Twice was not tried.
FEW_TOLD = 5_000

# The path is followed if its clusters stand out by this share of how far those of the valleys do, a
# ratio of at most CLEAREST. With a share of .7 long curves come in pieces, with 1.4 so do circles
# around groups. With a ratio of 3 background breaks groups that are far apart; beyond 6 it only
# says that nothing is left below the level. Told their number, it is also followed if the faintest
# of its boundaries is higher.
AS_CLEAR, CLEAREST = 0.9, 6.0

# Share of the samples' spread that the centroids have at the γ of a path whose centroids are joined
# by Ward's tree: clusters are formed and have not met.
HALFWAY = 0.1

# Told a number of clusters, valleys are followed if all between them have this share of the level;
# at a quarter, pieces of curves are cut off before the curves are apart, which the path sees.
DISTINCT = 0.5


@dataclass(frozen=True)
class Seen:
    """What the density shows of the clusters before there is a path.

    Attributes
    ----------
    valleys : Boundaries or None
        Those that are followed; None where the path decides.
    gaps : Gaps or None
        Parts that are apart, which whatever decides keeps apart; None where there is no density.
    structure : bool
        Whether the density shows that there are clusters at all.
    """

    valleys: Boundaries | None = None
    gaps: Gaps | None = None
    structure: bool = False

    def beside(self, boundaries: Boundaries) -> Boundaries:
        """The boundaries with those of the gaps."""
        return boundaries if self.gaps is None else self.gaps.beside(boundaries)


def see(
    points: Points,
    own: Graph | None,
    space: Space,
    settings: Settings,
    links: Ints | None = None,
) -> Seen:
    """Valleys of the density, and gaps, between points of few dimensions.

    There are none where the graph is not built from the points, and no valleys where the density
    shows no structure or not as many clusters as were asked for: thin curves of few samples have
    clusters without valleys, and the path decides. So it does where it shows clusters about as
    clearly. On a line the density is all that there is. ``links`` is the sample of every point, and
    no boundary parts a sample.
    """
    if not shows_density(space, settings):
        return Seen()
    k = settings.n_clusters
    mass, least = in_rows(points, settings)
    given = "precomputed" if space.metric == "precomputed" else "euclidean"
    options: dict[str, Any] = {"dimension": space.dimension}
    if space.nearest is not None:
        options["around"] = space.nearest.around
    land = Landscape.of(space.X, points.masses / mass, settings.threads, given, **options)
    found = valleys(land, k, least, len(points) <= FEW_POINTS and not space.is_line)
    gaps = None if space.is_line else find_gaps(land, least)
    if links is not None:
        found = None if found is None else found.contracted(links)
        gaps = None if gaps is None else gaps.contracted(links)
    if found is None:
        return Seen(None, gaps)
    seen = Seen(None, gaps, found.count > 1)
    if space.is_line and k is None:
        return replace(seen, valleys=found)
    if found.count == 1 if k is None else found.height(int(k)) <= DISTINCT:
        return seen
    # of many samples the path is asked where no valley stands alone: curves have many faint ones
    few = FEW_POINTS if k is None else FEW_TOLD
    if len(points) > few and not (found.together and k is None):
        return replace(seen, valleys=seen.beside(found))
    return clearer(points, own, space, replace(seen, valleys=found), settings, links)


def clearer(
    points: Points,
    own: Graph | None,
    space: Space,
    seen: Seen,
    settings: Settings,
    links: Ints | None = None,
) -> Seen:
    """The valleys that were seen, unless the path shows clusters about as clearly and decides."""
    found, told = seen.valleys, settings.n_clusters
    assert found is not None
    graph, _ = build_penalty(points, own, settings, space)
    problem = Problem(points.Z, graph.edges, graph.weights, 0.0, points.masses)
    if links is not None:
        problem = reduce(problem, links)
        graph = Graph(problem.edges, problem.weights)
    path = run_path(problem, points, OUTLINE, replace(settings, verbose=0, certify="selected"))
    followed = replace(seen, valleys=seen.beside(found))
    if not len(path) or path.scale <= 0:
        return followed
    other = tension_of(path, graph, points, space, settings).with_structure(seen.structure)
    k = other.count if told is None else int(told)
    clear = AS_CLEAR * min(found.clarity(found.count if told is None else k), CLEAREST)
    shown = k > 1 and other.clarity(k) > clear
    if told is not None:
        shown |= other.height(k) > found.height(k)
    return replace(seen, valleys=None) if shown else followed


def choose(
    problem: Problem,
    points: Points,
    path: ClusterPath,
    seen: Seen,
    space: Space,
    settings: Settings,
) -> Selection:
    """Choose γ and the number of clusters on the path."""
    k, found = _clusters(problem, settings), seen.valleys
    if settings.labels == "agglomerative":
        shares = np.array([spread(path, step) for step in range(len(path))])
        gamma = float(path.gammas[np.argmin(np.abs(np.log((shares + 1e-12) / HALFWAY)))])
        fused = path.labels(gamma=gamma)
        A = path.centroids(gamma)[fused]
        options: dict[str, Any] = {"n_clusters": k, "labels": "agglomerative"}
        return select_at(A, fused, gamma, masses=problem.masses, **options)
    if found is None and settings.labels == "auto" and len(path) and path.scale > 0:
        graph = Graph(problem.edges, problem.weights)
        linked = problem.n < len(points)  # means of points have no place of their own
        lengths = None if linked else space.lengths(graph.edges)
        found = tension_of(path, graph, points, space, settings, lengths)
        found = seen.beside(found.with_structure(seen.structure))
    return select(
        problem.Z,
        path,
        found,
        n_clusters=k,
        method=settings.selection,
        min_cluster_size=settings.min_cluster_size,
    )


def with_copies(choice: Selection, points: Points, settings: Settings) -> Selection:
    """The choice with equal points together: a graph of the user's may pull copies apart.

    A row that equals a training row has the label of that row, which must be one.
    """
    if settings.merges_equal_rows or points.coarse:
        return choice
    _, place, copy = np.unique(row_keys(points.X), return_index=True, return_inverse=True)
    pairs = np.stack([choice.labels, choice.labels[place[copy.ravel()]]], axis=1)
    labels = canonical(components(pairs, int(choice.labels.max()) + 1)[choice.labels])
    k = int(labels.max()) + 1
    return choice if k == choice.n_clusters else replace(choice, labels=labels, n_clusters=k)


def in_order(choice: Selection, points: Points, settings: Settings) -> Selection:
    """The choice with clusters in the order of their least rows: points are sorted as if upright.

    Clusters are numbered by falling mass, and equal ones in this order.
    """
    upright = settings.merges_equal_rows and not points.coarse and not sparse.issparse(points.X)
    if not upright or points.X.shape[1] > FEW_COLUMNS:
        return choice
    order, labels = np.lexsort(points.X.T[::-1]), np.empty_like(choice.labels)
    labels[order] = canonical(choice.labels[order])
    return replace(choice, labels=labels)


def solve_one(
    problem: Problem, tol: float, settings: Settings
) -> tuple[ClusterPath, Selection, Solution]:
    """Solve the γ that was given, and choose the clusters there."""
    k, limit = _clusters(problem, settings), settings.max_iter
    solution = solve_problem(problem, solver=settings.solver, tol=tol, max_iter=limit)
    if tightened(settings):
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


def tightened(settings: Settings) -> bool:
    """Whether the solution at a γ that was given is as sharp as a proof of its clusters needs.

    Which clusters have fused is only known once the gap is small enough to prove it.
    """
    told = settings.n_clusters is not None or settings.labels == "agglomerative"
    return settings.one_gamma and not told and bool(settings.certify)


def in_rows(points: Points, settings: Settings) -> tuple[float, float]:
    """The mass that counts as one row, and the least mass of a cluster in such rows.

    It is 1, or the least mass if that is more, or the mean if that is less: where all rows are
    there twice or weigh a half, the answer is that without copies and weights.
    """
    mass = min(float(points.masses.mean()), max(1.0, float(points.masses.min())))
    rows = settings.min_cluster_size
    return mass, LEAST if rows is None else rows * min(1.0, 1.0 / mass)


def tension_of(
    path: ClusterPath,
    graph: Graph,
    points: Points,
    space: Space,
    settings: Settings,
    lengths: Floats | None = None,
) -> Boundaries:
    """The tension of a path, its masses in rows."""
    mass, least = in_rows(points, settings)
    counted = replace(path, masses=path.masses / mass, scale=path.scale / mass)
    return tension(counted, graph, space.n_features, space.dimension, least, lengths)


def _clusters(problem: Problem, settings: Settings) -> int | None:
    """The number of clusters that was asked for, and no more than there are points."""
    return None if settings.n_clusters is None else min(int(settings.n_clusters), problem.n)
