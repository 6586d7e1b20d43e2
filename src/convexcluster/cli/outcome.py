"""What a fit found: as plain data for ``summary.json``, and in words for a person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..report.words import robustness_sentence
from .console import show_pairs
from .dialect import SPACES
from .prepare import Preparation
from .read import Table
from .refusal import Refusal
from .write import MARK

VERDICTS = {
    "structure": "structure: clusters were found",
    "no structure": "no structure: nothing stands out",
    "one cluster": "one cluster",
}

CELLS = ".h5ad"  # ending of an AnnData file, which has the name of the file that was read

# The files of a result folder, in the order in which a person wants them.
FILES = {
    "report.html": "interactive report, for a browser",
    CELLS: "the cells with their clusters",
    "labels.csv": "cluster of every row",
    "summary.json": "all of this, for machines",
    "model": "for convexcluster predict and report",
    "path.parquet": "clusters and gap at every γ",
    "partitions.parquet": "labels at every γ",
    "tuning.csv": "everything that was tried",
    "tree.json": "fusion tree",
    "tree.nwk": "fusion tree in Newick format",
}
MARKS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar", SPACES: "spaces"}


def answer(
    estimator: Any, ids: Sequence[str], seconds: float, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Everything worth a line about a fitted estimator, as plain data."""
    labels, certificate = estimator.labels_, estimator.certificate_
    return {
        "kind": MARK,
        "convexcluster": __version__,
        "n_samples": len(labels),
        "n_features": int(estimator.n_features_in_),
        "n_clusters": int(estimator.n_clusters_),
        "cluster_sizes": np.bincount(labels).tolist(),
        "gamma": estimator.gamma_,
        "distances": _distances(estimator),
        "certificate": {
            f.name: getattr(certificate, f.name)
            for f in fields(certificate)
            if isinstance(getattr(certificate, f.name), float | int | str)
        },
        "selection": {
            "method": estimator.selection_.method,
            "confidence": estimator.selection_.confidence,
            "verdict": estimator.selection_.verdict,
            "layers": [layer.n_clusters for layer in estimator.selection_.layers],
        },
        "robustness": robustness_sentence(estimator, ids),
        "seconds": seconds,
        "warnings": list(notes),
    }


def summarize(
    estimator: Any,
    table: Table,
    preparation: Preparation,
    seconds: float,
    notes: Sequence[str] = (),
) -> dict[str, Any]:
    """The answer to a table, with how it was read, prepared and fitted."""
    parameters = estimator.get_params(deep=False)
    del parameters["verbose"]
    summary = answer(estimator, table.ids, seconds, notes) | {
        "read": table.found,
        "preparation": preparation.describe(),
        "parameters": parameters,
        "n_features": len(table.features),
    }
    if table.labels is not None:
        summary["scores"] = score(table.labels, estimator.labels_)
    return summary


def score(truth: Sequence[str], labels: np.ndarray) -> dict[str, float]:
    """NMI and adjusted Rand index over the rows whose true label is known."""
    from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

    known = np.array([bool(t) for t in truth])
    if not known.any():
        raise Refusal("the label column is empty: leave --label-column out")
    true = np.array(truth)[known]
    found = labels[known]
    return {
        "nmi": float(normalized_mutual_info_score(true, found)),
        "ari": float(adjusted_rand_score(true, found)),
        "n_scored": int(known.sum()),
    }


def show(summary: dict[str, Any], out: Path | None) -> None:
    """Say what was read, what was found, how sure it is, and where the files are."""
    show_found([*reading(summary["read"]), *finding(summary)], summary, out)


def show_found(pairs: list[tuple[str, Any]], summary: dict[str, Any], out: Path | None) -> None:
    """Print pairs of words, and where the files are."""
    show_pairs(f"convexcluster {summary['command']}: {summary['input']}", pairs)
    if out is None:
        print("nothing was written: --out FOLDER keeps labels, model, report and this summary")
        return
    for name in _in_order(summary["files"]):
        print(f"{out / name}: {FILES[_kind(name)]}")


def reading(found: dict[str, Any]) -> list[tuple[str, str]]:
    """What was recognised in the file."""
    how = [str(found.get("format", "table"))]
    if "separator" in found:
        mark = found["separator"]
        comma = "decimal comma" if found["decimal"] == "," else "decimal point"
        how += [found["encoding"], f"separated by {MARKS.get(mark, repr(mark))}", comma]
        if found["thousands"]:
            how.append(f"thousands by {MARKS.get(found['thousands'], 'point')}")
    if "sheet" in found:
        how.append(f"sheet {found['sheet']!r}")
    if "header" in found:
        how.append("header" if found["header"] else "no header (--header if the first line is one)")
    if found.get("comments"):
        how.append(f"{found['comments']} lines of comment")
    if found.get("transposed"):
        how.append("transposed")
    pairs = [("read as", ", ".join(how)), ("rows", str(found["rows"]))]
    if found["id_column"] is not None:
        pairs.append(("named by", f"column {found['id_column']!r}, which is no feature"))
    for kind, names in found["kinds"].items():
        hint = "; --label-column if it is the known answer" if kind == "category" else ""
        pairs.append((f"features, {kind}", _listed(names) + hint))
    if found["left_out"]:
        pairs.append(("left out", _listed(found["left_out"])))
    if found["missing"]:
        counts = [f"{name} {count}" for name, count in found["missing"].items()]
        pairs.append(("missing", f"{sum(found['missing'].values())} cells: {_listed(counts)}"))
    return pairs


def finding(summary: dict[str, Any]) -> list[tuple[str, Any]]:
    """Clusters, verdict, confidence and proof, in plain words."""
    certificate, selection = summary["certificate"], summary["selection"]
    asked = summary["parameters"].get("n_clusters") is not None
    sizes = summary["cluster_sizes"]
    pairs: list[tuple[str, Any]] = [
        ("clusters", f"{summary['n_clusters']}{', as asked' if asked else ''}"),
        ("sizes", _listed([str(size) for size in sizes])),
    ]
    if not asked:
        verdict = selection["verdict"]
        pairs.append(("verdict", VERDICTS.get(verdict, verdict)))
    if selection["confidence"] == selection["confidence"]:
        pairs.append(("confidence", f"{selection['confidence']:.2f} of 1"))
    pairs.append(("proof", certificate["statement"]))
    if summary["robustness"]:
        pairs.append(("may change", summary["robustness"]))
    pairs += [
        ("distances", summary["distances"]),
        ("γ", summary["gamma"]),
        ("relative gap", certificate["relative_gap"]),
        ("seconds", summary["seconds"]),
    ]
    if "encoded" in summary.get("preparation", {}):
        pairs.append(("columns", summary["preparation"]["encoded"]))
    if "scores" in summary:
        pairs += [("NMI", summary["scores"]["nmi"]), ("ARI", summary["scores"]["ari"])]
    return pairs


def _distances(estimator: Any) -> str:
    """The metric of the graph and of ``predict``, which "auto" has chosen."""
    vote = estimator._vote
    if vote.embedding is not None:
        return "euclidean, in the kernel's space"
    return "as given" if vote.metric == "precomputed" else str(vote.metric)


def _in_order(files: Sequence[str]) -> list[str]:
    order = list(FILES)
    return sorted(files, key=lambda name: order.index(_kind(name)))


def _kind(name: str) -> str:
    """Key of FILES."""
    return CELLS if name.endswith(CELLS) else name


def _listed(names: Sequence[str]) -> str:
    """The first twelve, and how many there are."""
    shown = ", ".join(names[:12])
    return shown + (f", … ({len(names)} in all)" if len(names) > 12 else "")
