"""``fit`` and ``path``: a table → a model, its path and everything that is known about both."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from .. import persistence
from ..numerics.progress import Progress
from ..points.scales import ScaleWarning, warn_of_far_row, warn_of_scales
from .cells import Cells, check_options, fit_cells, is_cells, show_cells
from .console import FIRST_RUN, collected_warnings, show_table, working
from .options import MODEL, Clean, Common, Input, Model, Output, given
from .outcome import show, summarize
from .prepare import Preparation
from .read import Remembered, Table, read
from .refusal import Refusal
from .values import numbers
from .write import (
    labels_csv,
    newick,
    output_folder,
    probe_folder,
    spreadsheet_safe,
    to_json,
    tree_json,
    write_summary,
)


def fit(
    source: Input,
    clean: Clean,
    model: Model,
    output: Output,
    cells: Cells,
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
    rest = {"learn_features": learn_features, "coordinates": output.coordinates}
    told = [*given(source, clean), *(name for name, value in rest.items() if value)]
    check_options(source.data, cells, told)
    if is_cells(source.data):
        summary = fit_cells(source, cells, parameters, output)
        print(to_json(summary)) if common.json else show_cells(summary, output.out)
        return
    summary, _ = _fit_and_write(source, clean, parameters, output, "fit", learn_features)
    if common.json:
        print(to_json(summary))
    else:
        show(summary, output.out)


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
    show(summary, output.out)


def _fit_and_write(
    source: Input,
    clean: Clean,
    parameters: dict[str, Any],
    output: Output,
    command: str,
    learn_features: bool = False,
) -> tuple[dict[str, Any], Any]:
    if output.out is not None:
        probe_folder(output.out, force=output.force)  # before the work, not after it
    precomputed = is_matrix(parameters)
    table = read(source, like=Remembered(matrix=precomputed))
    plane = read_plane(output.coordinates, len(table.ids))
    preparation = Preparation.of(table, clean.standardize, clean.impute, precomputed)
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

        def heard(stage: str, done: float, left: float) -> None:
            advance(done, 1.0, stage if left != left else f"{stage}, about {left:.0f} s left")

        estimator.set_params(verbose=Progress(heard))
        fit_named(estimator, X, preparation)
        estimator.set_params(verbose=0)
    seconds = time.perf_counter() - begin
    summary = summarize(estimator, table, preparation, seconds, notes) | learned
    summary |= {"command": command, "input": source.data, "options": given(source, clean)}
    if output.out is not None:
        with working("writing"):
            every = command == "path"
            write_results(
                output, estimator, table, preparation, summary, plane=plane, partitions=every
            )
    return summary, estimator


def is_matrix(parameters: Mapping[str, Any]) -> bool:
    """Whether the file holds a matrix of pairs: a kernel, or distances."""
    return any(str(parameters.get(name)).lower() == "precomputed" for name in ("kernel", "metric"))


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


def fit_named(estimator: Any, X: Any, preparation: Preparation) -> None:
    """Fit, and warn of scales by the names of the columns, with the remedy of the command."""
    if not preparation.precomputed:
        warn_of_scales(X, names=preparation.names, remedy="pass --standardize")
        warn_of_far_row(X, names=preparation.names, first=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ScaleWarning)
        estimator.fit(X)


def write_results(
    output: Output,
    estimator: Any,
    table: Table,
    preparation: Preparation,
    summary: dict[str, Any],
    *,
    plane: dict[str, Any] | None = None,
    partitions: bool = False,
    extra: Mapping[str, str] | None = None,
) -> None:
    """Fill the output folder, all files or none."""
    import pandas

    assert output.out is not None
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
        persistence.save(
            estimator, folder / "model", path=output.keep_path or partitions, notes=notes
        )
        if output.report:
            page = report_page(estimator, table, preparation, plane)
            (folder / "report.html").write_text(page, "utf-8")
        escaped = sum(spreadsheet_safe(i) != i for i in table.ids)
        summary["ids_escaped_for_spreadsheets"] = escaped
        write_summary(folder, summary)


def read_plane(file: str | None, n: int) -> dict[str, Any] | None:
    """Coordinates of the rows in a plane that the user brings, by the name of their file."""
    if file is None:
        return None
    table = read(Input(file))
    if not table.is_numeric or table.numbers.shape[1] != 2 or len(table.numbers) != n:
        shape = f"{len(table.ids)} rows of {len(table.features)} features"
        raise Refusal(f"--coordinates needs {n} rows of two numbers; {file} has {shape}")
    if not np.isfinite(table.numbers).all():
        raise Refusal(f"--coordinates: {file} has missing values")
    return {Path(file).stem: table.numbers}


def report_page(
    estimator: Any, table: Table, preparation: Preparation, plane: dict[str, Any] | None = None
) -> str:
    """The interactive report; features in their own units, not standardised ones."""
    from ..report import report_html

    kernel_matrix = preparation.precomputed
    return report_html(
        estimator,
        X=None if kernel_matrix else preparation.filled(table),
        ids=list(table.ids),
        y=None if table.labels is None else list(table.labels),
        feature_names=None if kernel_matrix else list(preparation.names),
        coordinates=plane,
    )
