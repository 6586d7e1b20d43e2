"""From rows to points: distinct rows in the embedding, or weighted cells."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..embedding import embed
from ..graph import Graph
from ..kernels import Kernel
from ..partition import has_copies
from ..points import Points, keep_all, make_aggregates, make_cells, merge_equal
from ..points.units import Unit, exponent_of, power
from ..problem import Floats, Ints
from ..rows import LocalRows, Plan, Rows, array_rows
from ..settings import Settings
from ..weights.build import user_graph
from .penalty import weigh
from .space import space_of

# Rows and features up to which the graph of all rows is built beside their cells, so that the
# certificate is about that graph: its neighbours are found, and flows on it factored, in seconds.
GRAPHED_ROWS = 100_000

GRAPHED_FEATURES = 3

# Share of copies from which more rows than that are merged before they are grouped into cells; of
# fewer all are, as 400 copies of a row are each other's nearest neighbours, 80,000 pairs. Half: a
# second array of three quarters of the data, for passes that take as much less. Twice: never.
COPIED = 0.5


def in_units(rows: Rows, unit: Unit) -> Rows:
    """The rows and masses multiplied by their powers of two; ordinary ones stay as they are."""
    if unit == Unit():
        return rows
    assert isinstance(rows, LocalRows)
    assert rows.masses is not None
    return array_rows(unit.scale(rows.X), power(rows.masses, unit.mass), rows.jobs)


def without_copies(rows: Rows, settings: Settings) -> tuple[Rows, Ints | None]:
    """The distinct rows with the masses of all, and which of them each row is.

    Rows that are to be cells stay as they are, and None says so, if they are not in memory, or many
    and less than ``COPIED`` of them copies.
    """
    if rows.X is None or rows.masses is None or not settings.merges_equal_rows:
        return rows, None
    if not has_copies(rows.X):
        return rows, None
    merged = merge_equal(rows.X, rows.masses)
    if len(rows.X) > GRAPHED_ROWS and len(merged.X) > (1.0 - COPIED) * len(rows.X):
        return rows, None
    return array_rows(merged.X, merged.masses, settings.n_jobs), merged.index


def make_points(rows: Rows, plan: Plan, settings: Settings) -> Points:
    """Distinct rows; or cells."""
    if rows.X is not None and not plan.coarse:
        return distinct_points(rows, settings)

    def embed_sample(sample: Floats, kernel: Kernel) -> Any:
        settings.stage("cells")  # the first pass over the rows is done
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
    return weigh(space_of(rows.X, settings), rows.masses, settings)
