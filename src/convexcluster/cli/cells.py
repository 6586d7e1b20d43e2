"""``fit cells.h5ad``: an AnnData file → the same with clusters, and their summary.

``predict MODEL new.h5ad``: other cells, in the representation that the model was fitted to.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import numpy as np
from typer import Option

from .. import persistence
from ..optional import need
from .console import FIRST_RUN, collected_warnings, working
from .outcome import CELLS as ENDING
from .outcome import answer, finding, score, show_found
from .refusal import Exit, Refusal
from .values import model_file
from .write import labels_csv, output_folder, probe_folder, write_summary

KEPT = ("use_rep", "n_pcs")  # of a fit, for new cells


@dataclass(frozen=True)
class Cells:
    """Where an AnnData file keeps what is clustered."""

    panel = "AnnData files (.h5ad)"
    use_rep: Annotated[
        str | None, Option(help="Key of obsm, or X. Default X_pca where there is one.")
    ] = None
    n_pcs: Annotated[int | None, Option(help="Only the first columns of it.")] = None
    neighbors_key: Annotated[str | None, Option(help="Key of uns of scanpy's neighbours.")] = None
    obsp: Annotated[
        str | None, Option(help="Key of obsp of a graph. Default connectivities if there is one.")
    ] = None
    key_added: Annotated[str, Option(help="Column of obs for the clusters.")] = "convexcluster"


def is_cells(name: str) -> bool:
    """Whether a file is an AnnData file by its ending."""
    return name.lower().endswith(ENDING)


def check_options(name: str, cells: Cells, of_tables: Iterable[str]) -> None:
    """Refuse options of AnnData files for a table, and of tables for an AnnData file."""
    if is_cells(name):
        other, owner = "for tables", f"{ENDING} files have --use-rep"
        told = [option for option in of_tables if option != "label_column"]
    else:
        other, owner = f"for {ENDING} files", f"{name} has another ending"
        told = [f.name for f in fields(cells) if getattr(cells, f.name) != f.default]
    if told:
        raise Refusal(f"--{told[0].replace('_', '-')} is {other}: {owner}", Exit.USAGE)


def fit_cells(source: Any, cells: Cells, parameters: dict[str, Any], output: Any) -> dict[str, Any]:
    """Cluster an AnnData file, and write it with its clusters to the output folder."""
    from ..anndata import clustered
    from ..report import report_html

    if output.out is not None:
        probe_folder(output.out, force=output.force)  # before the work, not after it
    adata = _read(source.data)
    planes = {key: points for key, points in adata.obsm.items() if _drawable(points)}
    truth, ids = _classes(adata, source), list(adata.obs_names)
    begin = time.perf_counter()
    where = {field.name: getattr(cells, field.name) for field in fields(cells)}
    key = where.pop("key_added")
    told = dict(parameters)
    k, rng = told.pop("n_clusters", None), told.pop("random_state", None)
    task = f"fitting {adata.n_obs} cells"
    with collected_warnings() as notes, working(task, FIRST_RUN):
        try:
            model, key = clustered(adata, k, where, key, rng, told)
        except ValueError as error:
            raise Refusal(str(error)) from error
    read = adata.uns[key]["params"]
    summary = answer(model, ids, time.perf_counter() - begin, notes) | {
        "command": "fit",
        "input": source.data,
        "read": read,
        "parameters": parameters,
    }
    if truth is not None:
        summary["scores"] = score(truth, model.labels_)
    if output.out is not None:
        with working("writing"), output_folder(output.out, force=output.force) as folder:
            adata.write_h5ad(folder / Path(source.data).name)
            (folder / "labels.csv").write_text(labels_csv(ids, model.labels_), "utf-8")
            where["use_rep"] = read["use_rep"]
            notes_of_model = {"cells": {name: where[name] for name in KEPT}, "key": key}
            persistence.save(model, folder / "model", path=output.keep_path, notes=notes_of_model)
            if output.report:
                page = report_html(
                    model,
                    ids=ids,
                    y=truth,
                    coordinates=planes,
                    title=Path(source.data).name,
                )
                (folder / "report.html").write_text(page, "utf-8")
            write_summary(folder, summary)
    return summary


def predict_cells(model: str, source: Any, out: Path | None) -> tuple[dict[str, Any], bytes | None]:
    """Assign the cells of an AnnData file to the clusters of a model that was fitted to one.

    Returns what was found, as ``predict`` prints it, and where ``out`` ends in .h5ad the content of
    that file: the cells with their column of clusters.
    """
    from ..anndata import representation

    estimator, kept, key = load_cells(model)
    adata = _read(source.data)
    truth = _classes(adata, source)
    try:
        X, place = representation(adata, **kept)
    except ValueError as error:
        raise Refusal(f"{source.data}: {error}") from error
    if X.shape[1] != estimator.n_features_in_:
        raise Refusal(
            f"the model was fitted to {estimator.n_features_in_} columns of {place}, and "
            f"{source.data} has {X.shape[1]}"
        )
    with collected_warnings() as notes, working(f"predicting {len(X)} cells", FIRST_RUN):
        labels = np.asarray(estimator.predict(X))
    found: dict[str, Any] = {"n_samples": len(labels), "warnings": list(notes)}
    found |= {"read": {"use_rep": place}, "ids": list(adata.obs_names), "labels": labels}
    if truth is not None:
        found["scores"] = score(truth, labels)
    if out is None or not is_cells(str(out)):
        return found, None
    names = [str(label) for label in range(estimator.n_clusters_)]
    adata.obs[key] = need("pandas", "anndata").Categorical(labels.astype(str), categories=names)
    with TemporaryDirectory() as folder:
        adata.write_h5ad(Path(folder) / "cells")
        return found, (Path(folder) / "cells").read_bytes()


def load_cells(name: str) -> tuple[Any, dict[str, Any], str]:
    """A model that was fitted to an AnnData file, its representation and its column of obs."""
    place = model_file(name)
    notes = persistence.load_notes(place)
    if "cells" not in notes:
        raise Refusal(f"{name} was not fitted to an {ENDING} file by the command: pass a table")
    return persistence.load(place), notes["cells"], notes["key"]


def show_cells(summary: dict[str, Any], out: Path | None) -> None:
    """What was found, and where it is, in words."""
    graph, rep = summary["read"]["graph"], summary["read"]["use_rep"]
    pairs: list[tuple[str, Any]] = [
        ("cells", summary["n_samples"]),
        ("representation", f"{rep}, {summary['n_features']} columns; graph: {graph}"),
    ]
    show_found([*pairs, *finding(summary)], summary, out)


def _classes(adata: Any, source: Any) -> list[str] | None:
    """The known label of every cell, empty where it is missing; None if none was asked for."""
    name = source.label_column
    if name is None:
        return None
    if name not in adata.obs:
        raise Refusal(f"--label-column {name!r} is not in obs of {source.data}")
    column = adata.obs[name]
    return [str(value) if known else "" for value, known in zip(column, column.notna())]


def _read(name: str) -> Any:
    anndata = need("anndata", "anndata")
    if not Path(name).exists():
        raise Refusal(f"{name} does not exist")
    try:
        return anndata.read_h5ad(name)
    except Exception as error:  # anndata and h5py answer damage with many kinds of errors
        reason = (str(error).strip().splitlines() or ["unreadable"])[0]
        raise Refusal(f"{name} cannot be read as {ENDING}: {reason}") from error


def _drawable(points: Any) -> bool:
    """Whether an entry of obsm has a place for every cell."""
    numbers = isinstance(points, np.ndarray) and points.ndim == 2 and points.dtype.kind in "fiu"
    return bool(numbers and points.shape[1] > 1 and np.isfinite(points).all())
