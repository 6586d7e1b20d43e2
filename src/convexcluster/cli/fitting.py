"""``fit`` and ``path``: a table → a model, its path and everything that is known about both."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Annotated, Any

import numpy as np
import typer

from .. import __version__, persistence
from .console import FIRST_RUN, collected_warnings, show_pairs, show_table, working
from .options import MODEL, Clean, Common, Input, Model, Output
from .prepare import Preparation
from .read import Table, read
from .refusal import Refusal
from .values import numbers
from .write import (
    MARK,
    check_folder,
    labels_csv,
    newick,
    output_folder,
    spreadsheet_safe,
    to_json,
    tree_json,
)


def fit(
    source: Input,
    clean: Clean,
    model: Model,
    output: Output,
    common: Common,
    gamma: Annotated[
        float | None,
        typer.Option(help="One fusion strength; default: a path.", rich_help_panel=MODEL),
    ] = None,
    certify: Annotated[
        str | None,
        typer.Option(help="selected, path or none: what to certify.", rich_help_panel=MODEL),
    ] = None,
    learn_features: Annotated[
        bool,
        typer.Option(
            "--learn-features",
            help="Learn first how much each column counts, for clusters that few columns show.",
            rich_help_panel=MODEL,
        ),
    ] = False,
) -> None:
    """Cluster a table, and write labels, path, tree, model and report to a folder."""
    parameters = model.parameters()
    if gamma is not None:
        parameters["gamma"] = gamma
    if certify is not None:
        parameters["certify"] = False if certify == "none" else certify
    summary, _ = _fit_and_write(source, clean, parameters, output, "fit", learn_features)
    if common.json:
        print(to_json(summary))
    else:
        _show(summary)


def path(
    source: Input,
    clean: Clean,
    model: Model,
    output: Output,
    common: Common,
    gammas: Annotated[
        str | None,
        typer.Option(
            help="0.1,1,10 or FROM:TO:COUNT (geometric); default: the whole range.",
            rich_help_panel=MODEL,
        ),
    ] = None,
) -> None:
    """Solve a table for every fusion strength, certify each, and list the partitions."""
    parameters = {**model.parameters(), "certify": "path"}
    if gammas is not None:
        parameters["gamma"] = numbers(gammas, "--gammas")
    summary, fitted = _fit_and_write(source, clean, parameters, output, "path")
    frame = fitted.path_.to_frame()
    summary["path"] = frame.to_dict(orient="records")
    if common.json:
        print(to_json(summary))
        return
    rows = [tuple(row) for row in frame.itertuples(index=False)]
    show_table("path", [str(name) for name in frame.columns], rows)
    _show(summary)


def _fit_and_write(
    source: Input,
    clean: Clean,
    parameters: dict[str, Any],
    output: Output,
    command: str,
    learn_features: bool = False,
) -> tuple[dict[str, Any], Any]:
    if output.out is not None:
        check_folder(output.out, force=output.force)  # before the work, not after it
    table = read(source)
    preparation = clean.learn(table, parameters.get("kernel"))
    X = preparation.apply(table)
    from ..estimators import KernelConvexClustering

    estimator = KernelConvexClustering(**parameters)
    begin = time.perf_counter()
    learned: dict[str, Any] = {}
    if learn_features:
        with working("learning feature weights", FIRST_RUN):
            learned["features"] = _learn(estimator, X, table.features)
    task = f"fitting {X.shape[0]} × {X.shape[1]}"
    with collected_warnings() as notes, working(task, FIRST_RUN) as advance:

        def heard(step: int, total: int, gamma: float, k: int, gap: float) -> None:
            advance(step + 1, total, f"γ = {gamma:.3g}, {k} clusters")

        estimator.set_params(verbose=heard).fit(X)
    seconds = time.perf_counter() - begin
    summary = summarize(estimator, table, seconds, notes) | learned
    summary |= {"command": command, "input": source.data, "parameters": parameters}
    if output.out is not None:
        with working("writing"):
            write_results(
                output, estimator, table, preparation, summary, partitions=command == "path"
            )
    return summary, estimator


def _learn(estimator: Any, X: Any, names: Sequence[str]) -> dict[str, Any]:
    """Set learned weights; what was learned, as plain data."""
    from ..features import learn

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the note says the same
        found = learn(X, estimator=estimator)
    if found.learned:
        estimator.set_params(feature_weights=found.weights)
    shares = found.table.get("share", ())
    kept = {name: float(s) for name, s in zip(names, shares) if s > 0}
    return {"note": found.note, "weights": dict(sorted(kept.items(), key=lambda kv: -kv[1]))}


def summarize(
    estimator: Any, table: Table, seconds: float, notes: Sequence[str] = ()
) -> dict[str, Any]:
    """Everything worth a line about a fitted estimator, as plain data."""
    labels = estimator.labels_
    certificate = estimator.certificate_
    summary: dict[str, Any] = {
        "kind": MARK,
        "convexcluster": __version__,
        "n_samples": len(labels),
        "n_features": len(table.features),
        "n_clusters": int(estimator.n_clusters_),
        "cluster_sizes": np.bincount(labels).tolist(),
        "gamma": estimator.gamma_,
        "certificate": {
            f.name: getattr(certificate, f.name)
            for f in fields(certificate)
            if isinstance(getattr(certificate, f.name), float | int | str)
        },
        "selection": {
            "method": estimator.selection_.method,
            "confidence": estimator.selection_.confidence,
            "verdict": estimator.selection_.verdict,
        },
        "seconds": seconds,
        "warnings": list(notes),
    }
    if table.labels is not None:
        summary["scores"] = score(table.labels, labels)
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


def write_results(
    output: Output,
    estimator: Any,
    table: Table,
    preparation: Preparation,
    summary: dict[str, Any],
    *,
    partitions: bool = False,
    extra: Mapping[str, str] | None = None,
) -> None:
    """Fill the output folder, all files or none."""
    import pandas

    if output.out is None:
        return
    with output_folder(output.out, force=output.force) as folder:
        (folder / "labels.csv").write_text(labels_csv(table.ids, estimator.labels_), "utf-8")
        estimator.path_.to_frame().to_parquet(folder / "path.parquet", index=False)
        linkage = estimator.path_.to_linkage()
        (folder / "tree.json").write_text(
            tree_json(linkage, table.ids, estimator.linkage_), "utf-8"
        )
        (folder / "tree.nwk").write_text(newick(linkage, table.ids) + "\n", "utf-8")
        if partitions:
            steps = enumerate(estimator.path_.gammas.tolist())
            labels = {repr(gamma): estimator.path_.labels(step=step) for step, gamma in steps}
            frame = pandas.DataFrame({"id": list(table.ids), **labels})
            frame.to_parquet(folder / "partitions.parquet", index=False)
        for name, content in (extra or {}).items():
            (folder / name).write_text(content, "utf-8")
        notes = {"table": vars(preparation), "ids": list(table.ids)}
        persistence.save(estimator, folder / "model", notes=notes)
        if output.report:
            page = report_page(estimator, table, preparation)
            (folder / "report.html").write_text(page, "utf-8")
        escaped = sum(spreadsheet_safe(i) != i for i in table.ids)
        summary["ids_escaped_for_spreadsheets"] = escaped
        summary["files"] = sorted({f.name for f in folder.iterdir()} | {"summary.json"})
        (folder / "summary.json").write_text(to_json(summary) + "\n", "utf-8")


def report_page(estimator: Any, table: Table, preparation: Preparation) -> str:
    """The interactive report; features in their own units, not standardised ones."""
    from ..report import report_html

    kernel_matrix = preparation.precomputed
    return report_html(
        estimator,
        X=None if kernel_matrix else preparation.filled(table),
        ids=list(table.ids),
        y=None if table.labels is None else list(table.labels),
        feature_names=None if kernel_matrix else list(table.features),
    )


def _show(summary: dict[str, Any]) -> None:
    certificate = summary["certificate"]
    pairs: list[tuple[str, Any]] = [
        ("samples", summary["n_samples"]),
        ("clusters", summary["n_clusters"]),
        ("sizes", _sizes(summary["cluster_sizes"])),
        ("γ", summary["gamma"]),
        ("relative gap", certificate.get("relative_gap")),
        ("partition", certificate.get("partition")),
        ("proved", certificate.get("statement")),
        ("seconds", summary["seconds"]),
    ]
    if "features" in summary:
        pairs.append(("features", summary["features"]["note"]))
    if "scores" in summary:
        pairs += [("NMI", summary["scores"]["nmi"]), ("ARI", summary["scores"]["ari"])]
    show_pairs(f"convexcluster {summary['command']}: {summary['input']}", pairs)
    if "files" not in summary and sys.stderr.isatty():
        print("nothing was written: --out FOLDER keeps the results", file=sys.stderr)


def _sizes(sizes: Sequence[int]) -> str:
    shown = ", ".join(str(size) for size in sizes[:12])
    return shown + (f", … ({len(sizes)} in all)" if len(sizes) > 12 else "")
