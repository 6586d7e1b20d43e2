"""The interactive report: everything that a fitted path knows, in one HTML file.

Input is a fitted estimator or a :class:`~convexcluster.ClusterPath`, with whatever is known of the
samples; output is a file that any browser opens offline.
"""

from __future__ import annotations

import html
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .. import __version__
from ..answers import Answers
from ..partition import by_size
from ..plots.along import ClusterCountDisplay
from ..plots.layout import colour_ranks, kernel_name, numbering
from ..points.units import Unit
from ..problem import Ints, check_samples
from ..storage import replacing
from ..tables.check import row_names
from .page import render
from .payload import Features, feature_table, given_views, path_arrays, tree_arrays
from .words import (
    certificate_sentences,
    choice_sentence,
    many,
    path_sentence,
    plain_sentences,
    soft_facts,
    summary_sentence,
    verdict_sentence,
)

__all__ = ["notebook_html", "report_html", "write_report"]


def write_report(
    estimator_or_path: Any,
    out_path: str | PathLike[str],
    *,
    X: Any = None,
    ids: Sequence[object] | None = None,
    y: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    Z: ArrayLike | None = None,
    coordinates: Any = None,
    title: str = "Convex clustering",
) -> Path:
    """Write the report of a fitted estimator or a path.

    Parameters
    ----------
    estimator_or_path : fitted estimator or ClusterPath
    out_path : path-like
        File to write; it appears whole or not at all.
    X : array-like or data frame of shape (n, p), optional
        Features for the summaries of clusters; those that are not numbers are left out. By default
        the rows that the estimator holds, by the names of the data frame that was fitted. Two
        features are drawn in their own plane.
    ids : sequence of n objects, optional
        Names of the samples; default: the index of X, or of the data frame that was fitted,
        otherwise 0, 1, …
    y : array-like of shape (n,), optional
        Known labels, shown beside the clusters.
    feature_names : sequence of p str, optional
    Z : array-like of shape (n, r), optional
        Samples in the embedding of a path; an estimator knows its own. Without it samples are
        drawn where the least γ puts them.
    coordinates : array-like of shape (n, 2) or mapping of names to such, optional
        Planes of your own, such as UMAP, t-SNE or ``adata.obsm``, to choose from in the page; the
        first two columns of each count.
    title : str

    Returns
    -------
    Path
        ``out_path``.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from convexcluster import solve_path
    >>> path = solve_path([[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.1, 0.6, 4.0])
    >>> with TemporaryDirectory() as folder:
    ...     write_report(path, f"{folder}/report.html", ids=["a", "b", "c"]).stat().st_size > 0
    True
    """
    out = Path(out_path)
    page = report_html(
        estimator_or_path,
        X=X,
        ids=ids,
        y=y,
        feature_names=feature_names,
        Z=Z,
        coordinates=coordinates,
        title=title,
    )
    with replacing(out) as file:
        file.write(page.encode())
    return out


def report_html(
    estimator_or_path: Any,
    *,
    X: Any = None,
    ids: Sequence[object] | None = None,
    y: ArrayLike | None = None,
    feature_names: Sequence[str] | None = None,
    Z: ArrayLike | None = None,
    coordinates: Any = None,
    title: str = "Convex clustering",
) -> str:
    """The report as text; the parameters are those of :func:`write_report`."""
    estimator = estimator_or_path if hasattr(estimator_or_path, "labels_") else None
    path = estimator_or_path if estimator is None else estimator.path_
    if not hasattr(path, "gammas"):
        kind = type(path).__name__
        raise TypeError(f"pass a fitted estimator or a ClusterPath; this {kind} is neither")
    if len(path.gammas) == 0:
        raise ValueError("the path is empty: it was interrupted before its first γ")
    samples = Z if estimator is None else estimator.embedding_
    samples = None if samples is None else check_samples(samples)
    kernel, n = kernel_name(estimator), len(path.masses)
    if ids is None:
        ids = row_names(X) or getattr(estimator, "_ids", None)
    names = _names(ids, n, "ids")
    told = None if feature_names is None else [str(name) for name in feature_names]
    if estimator is not None and estimator._embedding.kernel.is_precomputed:
        X = None  # similarities to the samples, not features of them
    elif X is None and estimator is not None:
        X, told = fitted_rows(estimator, told)
    elif told is None and not hasattr(X, "columns"):
        told = names_of_fit(estimator, X)
    table, own = feature_table(X, told, n)
    arrays, facts, views = path_arrays(path, samples, own, estimator is None or kernel is not None)
    views += given_views(coordinates, n)
    gamma = None
    labels = by_size(path.labels(step=facts["step"]), path.masses)
    if estimator is not None:
        gamma = float(estimator.gamma_)
        facts["step"] = path.step(gamma)
        labels = np.asarray(estimator.labels_).astype(np.int64)
        arrays.update(_own_arrays(estimator, labels, facts["step"]))
        facts["layers"] = _layers(estimator, arrays)
    tree = path.to_linkage() if estimator is None else estimator.linkage_
    arrays["ranks"] = colour_ranks(tree)
    arrays["numbers"] = numbering(labels, arrays["ranks"])
    for place, view in enumerate(views):
        arrays[f"view{place}"] = view.packed(view.points)
    lifetime = ClusterCountDisplay.from_path(path, float(path.gammas[facts["step"]])).lifetime
    facts.update(
        version=__version__,
        chosen=estimator is not None,
        lifetime=lifetime,
        views=[view.facts() for view in views],
        ids=names,
        verdict=verdict_sentence(estimator),
        summary=summary_sentence(path, estimator, None if table is None else table[0].shape[1]),
        choice=choice_sentence(gamma),
        plain=plain_sentences(estimator, names),
        theorem=[
            *certificate_sentences(None if estimator is None else estimator.certificate_),
            path_sentence(path),
        ],
        samples=[],
    )
    if isinstance(estimator, Answers):
        shares, scores = estimator.probabilities_, estimator.outlier_score_
        arrays["membership"] = np.round(255 * shares).astype(np.uint8)
        arrays["lonely"] = scores.astype(np.float32)
        facts["samples"] = soft_facts(estimator, names, shares, scores)
    if table is not None:
        features = Features.of(*table, np.unique(labels, return_inverse=True)[1].ravel())
        arrays["features"] = features.values
        facts.update(features=features.names, n_features=features.total)
    if y is not None:
        classes, codes = np.unique(np.asarray(_names(y, n, "y")), return_inverse=True)
        arrays["classes"] = codes.ravel().astype(np.int64)
        facts["classes"] = classes.tolist()
    return render(title, facts, arrays)


def _own_arrays(estimator: Any, labels: Ints, step: int) -> dict[str, np.ndarray]:
    """Labels of an estimator, and the tree they were cut from, where the path has not the same."""
    path = estimator.path_
    tree = np.asarray(estimator.linkage_, dtype=np.float64)
    if len(estimator.selection_.layers) > 1 or not np.array_equal(tree, path.to_linkage()):
        Z = np.asarray(estimator.embedding_, dtype=np.float64)
        return {"labels": labels, **tree_arrays("own_", tree, Z, path.masses)}
    if np.array_equal(labels, path.labels(step=step)):
        return {}
    return {"labels": labels}


def _layers(estimator: Any, arrays: dict[str, np.ndarray]) -> list[dict[str, Any]]:
    """The choice and the other numbers of clusters that would stand; their labels as arrays."""
    found = []
    for place, layer in enumerate(estimator.selection_.layers):
        if place:
            arrays[f"layer{place}"] = np.asarray(layer.labels).astype(np.int64)
        confidence = float(layer.confidence) if np.isfinite(layer.confidence) else None
        found.append({"k": int(layer.n_clusters), "confidence": confidence})
    return found


# Numbers that are unpacked from a fitted model for its report: 80 MB. Tables of text counts, which
# are sparse and larger, are shown if they are passed.
MOST_NUMBERS = 10_000_000


def fitted_rows(estimator: Any, names: list[str] | None) -> tuple[Any, list[str] | None]:
    """Features of the fitted samples that a model holds, with their names; (None, None) if not.

    Rows that were grouped into cells are not held; distances and kernels are no features.
    """
    if not hasattr(estimator, "_vote") or hasattr(estimator, "points_"):
        return None, None
    vote, columns = estimator._vote, getattr(estimator, "_columns", None)
    scaled = getattr(estimator, "_unit", Unit()).multiplies
    if vote.embedding is not None or vote.metric == "precomputed" or scaled:
        return None, None
    p = vote.X.shape[1] if columns is None else len(columns)
    names = names_of_fit(estimator) if names is None else names
    # files of format version 2 do not say which of their equal rows is which
    known = vote.voters is not None or len(vote.labels) == len(estimator._point_labels)
    if not known or len(estimator.labels_) * p > MOST_NUMBERS:
        return None, None
    rows = vote.X[estimator._voters]
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    if columns is None:
        return rows, names
    # columns of weight 0 were left out of the fit
    kept = np.flatnonzero(columns > 0)
    names = [f"feature {f}" for f in range(p)] if names is None else names
    return rows / columns[kept], [names[f] for f in kept]


def names_of_fit(estimator: Any, X: Any = None) -> list[str] | None:
    """Names of the features that were fitted, unless an array X has another number of columns."""
    given = getattr(estimator, "feature_names_in_", None)
    if given is None or (X is not None and np.shape(X)[1:] != (len(given),)):
        return None
    return [str(name) for name in given]


def _names(values: Any, n: int, what: str) -> list[str] | None:
    if values is None:
        return None
    names = [str(value) for value in values]
    if len(names) != n:
        raise ValueError(f"{what} has {len(names)} entries for {n} samples")
    return names


# A notebook keeps its outputs in one file, and every fit shown there would bring such a page: a
# larger report belongs in a file of its own. Twice as large, ten fits slow a notebook; half as
# large, reports of 600 samples are left out.
NOTEBOOK_BYTES = 250_000
# Above this many samples a report is larger than that as a rule, and is not made to find it out.
NOTEBOOK_SAMPLES = 2_000


def notebook_html(estimator: Any, **options: Any) -> str:
    """A fitted estimator in a few sentences, and a button that opens its report where it is small.

    The report is drawn in a sandboxed frame, whose script cannot reach the notebook, once the
    button is pressed.
    """
    path = getattr(estimator, "path_", None)
    sizes = np.sort(np.bincount(estimator.labels_))[::-1]
    shown = ", ".join(f"{size:,}" for size in sizes[:10]) + (", …" if len(sizes) > 10 else "")
    facts = [
        verdict_sentence(estimator),
        choice_sentence(estimator.gamma_),
        f"Sizes of the {many(len(sizes), 'cluster')}: {shown}.",
    ]
    if path is not None:
        facts.insert(2, summary_sentence(path, estimator, None))
    statement = estimator.certificate_.statement
    if statement:
        facts.append(f"Proved: {statement[0].lower()}{statement[1:]}")
    frame = ""
    if path is None:
        facts.append("The path is not in the file that this model was loaded from.")
    elif path.n_samples <= NOTEBOOK_SAMPLES:
        page = report_html(estimator, **options)
        if len(page) <= NOTEBOOK_BYTES:
            frame = (
                '<details><summary role="button" style="cursor:pointer;display:inline-block;'
                'padding:4px 12px;border:1px solid #8888;border-radius:6px">'
                "Show the report</summary>"
                f'<iframe title="Convex clustering report" srcdoc="{html.escape(page)}" '
                'sandbox="allow-scripts allow-downloads" loading="lazy" '
                'style="width:100%;height:780px;border:1px solid #8888;border-radius:6px">'
                "</iframe></details>"
            )
    if path is not None and not frame:
        facts.append("estimator.report('report.html') writes the interactive report.")
    return "".join(f"<p>{html.escape(fact)}</p>" for fact in facts if fact) + frame
