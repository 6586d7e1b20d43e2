"""``predict`` and ``report``: a saved model, put to use."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import persistence
from ..optional import need
from .cells import is_cells, predict_cells
from .console import FIRST_RUN, collected_warnings, working
from .fitting import read_plane, report_page
from .options import Common, Input
from .outcome import score
from .prepare import Preparation
from .read import Table, read
from .refusal import Refusal
from .values import model_file
from .write import labels_csv, probe_file, to_json, write_file

ModelArgument = Annotated[
    str, typer.Argument(help="Model file, or the folder that fit wrote.", metavar="MODEL")
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file.")]


def predict(
    model: ModelArgument,
    source: Input,
    common: Common,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="CSV file, or .h5ad; default: standard output."),
    ] = None,
    force: Force = False,
) -> None:
    """Assign new rows to the clusters of a saved model."""
    if out is not None:
        probe_file(out, force=force)
    written: bytes | None = None
    if is_cells(source.data):
        answer, written = predict_cells(model, source, out)
    else:
        answer = predict_table(model, source)
    lines = labels_csv(answer["ids"], answer["labels"])
    if out is not None:
        write_file(out, lines if written is None else written, force=force)
    if common.json:
        print(to_json(answer))
        return
    if out is None:
        sys.stdout.write(lines)
    if "scores" in answer:
        scores = answer["scores"]
        print(f"NMI {scores['nmi']:.4f}, ARI {scores['ari']:.4f}", file=sys.stderr)


def predict_table(model: str, source: Input) -> dict[str, Any]:
    """Labels of the rows of a table, with their ids and what was read."""
    estimator, preparation, _ = load_model(model)
    table = read(source, like=preparation.remembered)
    if preparation.precomputed and table.X.shape[1] != len(preparation.features):
        raise Refusal(
            f"the model wants {len(preparation.features)} kernel values or distances per row, one "
            f"per fitted sample, and this table has {table.X.shape[1]} columns"
        )
    X = named_as_fitted(estimator, preparation.apply(table))
    with collected_warnings() as notes, working(f"predicting {len(X)} rows", FIRST_RUN):
        labels = np.asarray(estimator.predict(X))
    answer: dict[str, Any] = {"n_samples": len(labels), "warnings": notes, "read": table.found}
    answer |= {"ids": list(table.ids), "labels": labels}
    if table.labels is not None:
        answer["scores"] = score(table.labels, labels)
    return answer


def named_as_fitted(estimator: Any, X: Any) -> Any:
    """The rows with the names of the columns that a model of a data frame was fitted to.

    ``read`` has found the columns by these names already; scikit-learn warns of rows without them.
    """
    names = getattr(estimator, "feature_names_in_", None)
    return X if names is None else need("pandas", "cli").DataFrame(X, columns=names)


def report(
    model: ModelArgument,
    common: Common,
    data: Annotated[
        str | None,
        typer.Option(help="The fitted table, for feature summaries of the clusters."),
    ] = None,
    id_column: Annotated[str | None, typer.Option(help="Column that names the rows.")] = None,
    label_column: Annotated[str | None, typer.Option(help="Column of true labels.")] = None,
    coordinates: Annotated[
        str | None, typer.Option(help="Table of two columns: a plane of your own (UMAP, t-SNE).")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="HTML file.")] = Path("report.html"),
    force: Force = False,
) -> None:
    """Write the interactive report of a saved model: one HTML file that works offline."""
    estimator, preparation, ids = load_model(model)
    probe_file(out, force=force)
    if not hasattr(estimator, "path_"):
        raise Refusal(
            f"{model} holds no path to draw: fit wrote report.html beside it, or fit again with "
            "--keep-path (save(file, path=True) in Python)"
        )
    n = len(estimator.labels_)
    if data is None:
        table = Table(np.empty((n, 0)), (), ids or tuple(str(i) for i in range(1, n + 1)))
        preparation = Preparation((), precomputed=True)  # no features to show
    else:
        source = Input(data, id_column=id_column, label_column=label_column)
        table = read(source, like=preparation.remembered)
        if len(table.X) != n:
            raise Refusal(f"{data} has {len(table.X)} rows, and the model was fitted to {n}")
        # predict of the fitted rows is their labels
        with collected_warnings():
            labels = estimator.predict(preparation.apply(table))
        other = np.flatnonzero(labels != estimator.labels_)
        if len(other):
            raise Refusal(
                f"row {other[0] + 1} of {data} is not the row that the model was fitted to: "
                "pass the fitted table, in its order"
            )
    plane = read_plane(coordinates, n)
    with working("writing the report"):
        write_file(out, report_page(estimator, table, preparation, plane), force=force)
    size = out.stat().st_size
    if common.json:
        print(to_json({"report": str(out), "bytes": size}))
    else:
        print(f"{out} ({size / 1e6:.1f} MB)")


def load_model(name: str) -> tuple[Any, Preparation, tuple[str, ...] | None]:
    """Read a model with what the command line stored beside it."""
    place = model_file(name)
    estimator = persistence.load(place)
    notes = persistence.load_notes(place)
    if "table" in notes:
        return estimator, Preparation(**notes["table"]), tuple(notes["ids"])
    numbered = [f"x{k}" for k in range(estimator.n_features_in_)]
    features = tuple(str(f) for f in getattr(estimator, "feature_names_in_", numbered))
    precomputed = estimator._embedding.kernel.is_precomputed
    return estimator, Preparation(features, precomputed=precomputed), None
