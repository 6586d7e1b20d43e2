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
from ..plots.along import ClusterCountDisplay, chosen_gamma
from ..plots.layout import colour_ranks, kernel_name
from ..problem import Ints, check_samples
from ..storage import replacing
from .page import render
from .payload import Features, path_arrays, tree_arrays
from .words import (
    certificate_sentences,
    choice_facts,
    choice_sentence,
    many,
    path_sentence,
    soft_facts,
    summary_sentence,
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
    title: str = "Convex clustering",
) -> Path:
    """Write the report of a fitted estimator or a path.

    Parameters
    ----------
    estimator_or_path : fitted estimator or ClusterPath
    out_path : path-like
        File to write; it appears whole or not at all.
    X : array-like or data frame of shape (n, p), optional
        Features for the summaries of clusters; those that are not numbers are left out.
    ids : sequence of n objects, optional
        Names of the samples; default: the index of a data frame, otherwise 0, 1, …
    y : array-like of shape (n,), optional
        Known labels, shown beside the clusters.
    feature_names : sequence of p str, optional
    Z : array-like of shape (n, r), optional
        Samples in the embedding of a path; an estimator knows its own. Without it samples are
        drawn where the least γ puts them.
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
        estimator_or_path, X=X, ids=ids, y=y, feature_names=feature_names, Z=Z, title=title
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
    kernel = kernel_name(estimator)
    if estimator is not None and estimator._embedding.kernel.is_precomputed:
        X = None  # similarities to the samples, not features of them
    ranks = None if estimator is None else colour_ranks(estimator.linkage_)
    arrays, facts = path_arrays(path, samples, ranks, estimator is None or kernel is not None)
    n, gamma = facts["n"], None
    labels = path.labels(step=facts["step"])
    if estimator is not None:
        gamma = chosen_gamma(estimator)
        facts["step"] = path.step(gamma)
        labels = np.asarray(estimator.labels_).astype(np.int64)
        arrays.update(_own_arrays(estimator, labels, facts["step"]))
    step = facts["step"]
    lifetime = ClusterCountDisplay.from_path(path, float(path.gammas[step])).lifetime
    facts.update(
        version=__version__,
        chosen=estimator is not None,
        lifetime=lifetime,
        summary=summary_sentence(path, estimator, None if X is None else np.shape(X)[1]),
        choice=choice_sentence(estimator, gamma),
        certificate=[
            *certificate_sentences(getattr(estimator, "certificate_", None)),
            path_sentence(path),
            *choice_facts(estimator),
        ],
    )
    names = _names(_index(X) if ids is None else ids, n, "ids")
    facts["certificate"] += soft_facts(estimator, names)
    if X is not None:
        told = None if feature_names is None else [str(name) for name in feature_names]
        features = Features.of(X, told, np.unique(labels, return_inverse=True)[1].ravel())
        arrays["features"] = features.values
        facts.update(features=features.names, n_features=features.total)
    facts["ids"] = names
    if y is not None:
        classes, codes = np.unique(np.asarray(_names(y, n, "y")), return_inverse=True)
        arrays["classes"] = codes.ravel().astype(np.int64)
        facts["classes"] = classes.tolist()
    return render(title, facts, arrays)


def _own_arrays(estimator: Any, labels: Ints, step: int) -> dict[str, np.ndarray]:
    """Labels of an estimator, and the tree they were cut from, where the path has not the same."""
    path = estimator.path_
    tree = np.asarray(estimator.linkage_, dtype=np.float64)
    if not np.array_equal(tree, path.to_linkage()):
        Z = np.asarray(estimator.embedding_, dtype=np.float64)
        return {"labels": labels, **tree_arrays("own_", tree, Z, path.masses)}
    if np.array_equal(labels, path.labels(step=step)):
        return {}
    return {"labels": labels}


def _index(X: Any) -> Any:
    """Index of a data frame that names its rows; None if it only counts them."""
    index = getattr(X, "index", None)
    return None if index is None or type(index).__name__ == "RangeIndex" else index


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
        choice_sentence(estimator, chosen_gamma(estimator)),
        f"Sizes of the {many(len(sizes), 'cluster')}: {shown}.",
        *choice_facts(estimator),
    ]
    if path is not None:
        facts.insert(0, summary_sentence(path, estimator, None))
    facts += certificate_sentences(getattr(estimator, "certificate_", None))[-1:]
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
    return "".join(f"<p>{html.escape(fact)}</p>" for fact in facts) + frame
