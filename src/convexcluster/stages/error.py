"""What grouping rows into cells costs, and whether it can be borne."""

from __future__ import annotations

from functools import partial

from ..graph import Graph
from ..points import CoarseningError, Points
from ..points.error import cohesion, inherited_error
from ..points.flows import rows_error
from ..problem import Floats, Ints, Problem, Solution
from ..rows import Rows

# Cells are cut finer, once, if ‖V‖² exceeds this share of Σ m‖z − z̄‖²: below it coarsening moves
# centroids by less than a tenth of their spread.
BEARABLE = 0.01

# Nor are cells cut finer if ‖V‖² is below this share of τ²: without any coarsening error the radius
# would be less by a tenth at most.
BEARABLE_OF_LOST = 0.25


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
