"""What a fit leaves on its model: the fitted attributes, by rows, and warnings."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..certificate import of_rows
from ..fit import Fit
from ..graph import Graph
from ..labels import dual_coefficients
from ..numerics.threads import interruptible
from ..partition import means
from ..points import expand_graph, expand_path, expand_tree
from ..points.units import Unit, power
from ..problem import Floats, Ints, Status
from ..selection import Selection
from ..selection.tension import LEAST

# Neighbours unless the user asks. A graph of as few samples as that is complete without a warning.
DEFAULT_NEIGHBORS = 7

# Attributes that not every fit leaves: those of an earlier one go.
SOMETIMES = {"points_", "coarsening_", "point_labels_"}
SOMETIMES |= {"_columns", "_ids", "_unit", "_links", "_valleys"}


@contextmanager
def unchanged_by_errors(model: Any) -> Iterator[None]:
    """Leave ``model`` as it was before the block if the block ends in an error or by Ctrl-C."""
    before = dict(model.__dict__)
    try:
        with interruptible():
            yield
    except BaseException:
        model.__dict__ = before
        raise


def keep(model: Any, found: Fit, index: Ints, weight: Floats, rows: Ints) -> Any:
    """Set the fitted attributes of ``model``, all at once, and delete those of an earlier fit.

    ``index`` (n,) is the point of every row, ``weight`` (n,) its mass, ``rows`` (n,) its label;
    results go by the rows.
    """
    points, problem, solution, labels = found.points, found.problem, found.solution, found.labels
    _warn(found, model)
    _warn_of_copies(found, model, index)
    unit = found.unit
    weight = power(weight, unit.mass) if unit.mass else weight
    placed, index = index, found.samples(index)
    linkage = expand_tree(found.selection.linkage, index)
    share = weight / np.bincount(index, weight)[index]
    kept: dict[str, Any] = {
        "labels_": rows,
        "n_clusters_": int(labels.max()) + 1,
        "gamma_": float(problem.gamma),
        "centroids_": means(solution.A, problem.masses, labels),
        "dual_coef_": _coefficients(found)[:, index] * share,
        "path_": expand_path(found.path, index, weight),
        "linkage_": linkage,
        "selection_": selection_of_rows(found.selection, index, rows, linkage),
        "certificate_": of_rows(found.certificate, index),
        "n_iter_": int(solution.n_iter),
        "graph_": expand_graph(Graph(problem.edges, problem.weights), index),
        "_embedding": points.embedding,
        "_index": placed,
        "_point_labels": labels[found.samples(np.arange(len(points)))],
        "_vote": found.vote,
        "_n_features_out": int(labels.max()) + 1,
    }
    if found.links is not None:
        kept["_links"] = found.links
    if found.valleys is not None:
        kept["_valleys"] = found.valleys
    if found.coarsening is not None:
        kept["points_"], kept["coarsening_"] = replace(points, index=None), found.coarsening
    if unit != Unit():
        one = isinstance(model.gamma, Real) or model.labels == "agglomerative"
        kept = {**unit.report(kept, one, model.labels == "fusion"), "_unit": unit}
    own = {name: value for name, value in model.__dict__.items() if name not in SOMETIMES}
    model.__dict__ = own | kept
    return model


def selection_of_rows(
    selection: Selection, index: Ints, labels: Ints, linkage: Floats
) -> Selection:
    """The selection by rows: its labels and those of its layers, and the tree."""
    layers = tuple(replace(layer, labels=layer.labels[index]) for layer in selection.layers)
    return replace(selection, labels=labels, linkage=linkage, layers=layers)


def _coefficients(found: Fit) -> Floats:
    """β of every point: those of the proof, or those that follow from the centroids."""
    if found.centroids is None:
        return dual_coefficients(found.problem, found.solution.A, found.labels)
    return found.centroids.coefficients(found.labels, found.problem.masses)


def _warn(found: Fit, model: Any) -> None:
    """Turn what did not go as asked into warnings."""
    k, solution, n_clusters = int(found.labels.max()) + 1, found.solution, model.n_clusters
    n, near = len(found.points), model.n_neighbors
    named = isinstance(model.weights, str) and model.weights != "full"
    if named and near > DEFAULT_NEIGHBORS and near >= n - 1:
        warnings.warn(
            f"n_neighbors={near} joins every pair of {n} distinct samples: a complete graph shows "
            "no clusters by its gaps; ask for fewer neighbours",
            UserWarning,
            stacklevel=4,
        )
    if solution.status is not Status.CONVERGED:
        gamma = power(found.problem.gamma, -found.unit.gamma)
        warnings.warn(
            f"at γ={gamma:.4g} the relative gap is {solution.relative_gap:.1e}: "
            f"{solution.status.value}",
            ConvergenceWarning,
            stacklevel=4,
        )
    if n_clusters is not None and k < n_clusters:
        warnings.warn(
            f"n_clusters={n_clusters} was asked for, but only {k} samples are distinct"
            + ("" if found.links is None else " and free of each other"),
            ConvergenceWarning,
            stacklevel=4,
        )


def _warn_of_copies(found: Fit, model: Any, index: Ints) -> None:
    """Say that a few rows, each there many times, are one cluster because copies are weight.

    Many copies are as good as weights, and weights have no unit: five rows, fifty times each, are
    five rows. No two clusters of ``LEAST`` rows can stand in fewer than twice as many. Whoever
    means that each of them is a cluster has to say so.
    """
    n, copies = len(found.points), np.bincount(index[index >= 0])
    few = 1 < n < 2 * LEAST and not found.points.coarse and copies.min() >= LEAST
    if few and model.n_clusters is None and found.selection.verdict == "no structure":
        warnings.warn(
            f"X has only {n} distinct rows, each {copies.min()} times or more: copies count as "
            f"weight, and {n} rows are too few to show clusters; n_clusters={n} makes each of them "
            "a cluster",
            UserWarning,
            stacklevel=4,
        )
