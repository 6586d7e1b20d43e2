"""``tune``, ``demo`` and ``reproduce``: studies that compare many fits."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated, Any

import typer

from .console import FIRST_RUN, collected_warnings, show_pairs, show_table, working
from .fitting import is_matrix, read_plane, write_results
from .options import Clean, Common, Input, Model, Output, given
from .outcome import summarize
from .prepare import Preparation
from .read import Remembered, read
from .refusal import Exit, Refusal
from .write import MARK, output_folder, probe_folder, to_json

# Rows of the search that a person is shown; all of them are in tuning.csv.
SHOWN = 10


def tune(
    source: Input,
    clean: Clean,
    model: Model,
    output: Output,
    common: Common,
    grid: Annotated[
        list[str],
        typer.Option(help="NAME=V1,V2,… of one parameter; repeatable. Default: the built-in grid."),
    ] = (),  # type: ignore[assignment]
) -> None:
    """Try many parameters and keep the best: by the labels if given, else without them."""
    if output.out is not None:
        probe_folder(output.out, force=output.force)
    axes = dict(_axis(text) for text in grid)
    parameters = model.parameters()
    precomputed = is_matrix(parameters)
    table = read(source, like=Remembered(matrix=precomputed))
    plane = read_plane(output.coordinates, len(table.ids))
    if table.labels is not None and "" in table.labels:
        raise Refusal(
            f"row {table.labels.index('') + 1} has no label: tune needs the label of every row, "
            "or no --label-column"
        )
    preparation = Preparation.of(table, clean.standardize, clean.impute, precomputed)
    X = preparation.apply(table)
    from ..estimators import KernelConvexClustering
    from ..tuning import tune as search

    options: dict[str, Any] = {"estimator": KernelConvexClustering(**parameters)}
    if axes:
        options["grid"] = axes
    begin = time.perf_counter()
    with collected_warnings() as notes, working("tuning", FIRST_RUN):
        result = search(X, None if table.labels is None else list(table.labels), **options)
    seconds = time.perf_counter() - begin
    summary = summarize(result.best_estimator_, table, preparation, seconds, notes)
    summary |= {"command": "tune", "input": source.data, "options": given(source, clean)}
    summary["best_score"] = result.best_score_
    frame = result.table
    summary["tried"] = len(frame)
    summary["best_params"] = result.best_params_
    if output.out is not None:
        tried = {"tuning.csv": frame.to_csv(index=False)}
        best = result.best_estimator_
        write_results(output, best, table, preparation, summary, plane=plane, extra=tried)
    if common.json:
        print(to_json(summary | {"table": frame.to_dict(orient="records")}))
        return
    top = list(frame.head(SHOWN).itertuples(index=False))
    show_table(f"best of {len(frame)} tried", [str(c) for c in frame.columns], top)
    show_pairs(
        f"convexcluster tune: {source.data}",
        [("score", result.best_score_), *result.best_params_.items()],
    )


def _axis(text: str) -> tuple[str, list[Any]]:
    """Parse one ``--grid`` option."""
    name, equals, values = text.partition("=")
    if not equals or not name or not values:
        raise Refusal(f"--grid {text!r} must read NAME=VALUE,VALUE,…", Exit.USAGE)
    return name, [_value(part) for part in values.split(",")]


def _value(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return None if text == "none" else text


def demo(
    common: Common,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder for the table and the picture.")
    ] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Of the data and of the methods.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace an earlier demo.")] = False,
) -> None:
    """Cluster the paper's four blobs in a ring by defaults, and draw how the answer is found."""
    probe_folder(out, force=force)
    from ..reproduce.demo import METHODS, draw, run
    from ..reproduce.writing import write_csv

    with collected_warnings() as notes, working("clustering", FIRST_RUN) as advance:
        result = run(seed, progress=lambda k, name: advance(k, len(METHODS), name))
    rows, model = result.rows, result.model
    chosen = model.selection_
    words = f"{chosen.verdict}, confidence {chosen.confidence:.2f}"
    found = {
        "found": f"{chosen.n_clusters} clusters ({words})",
        "proved": model.certificate_.statement,
    }
    summary = {"kind": MARK, "command": "demo", "seed": seed, "rows": rows, "warnings": notes}
    summary |= found
    with working("drawing"), output_folder(out, force=force) as folder:
        draw(result, folder / "demo.png")
        write_csv(folder / "demo.csv", rows)
        (folder / "summary.json").write_text(to_json(summary) + "\n", "utf-8")
    if common.json:
        print(to_json(summary))
        return
    show_table(
        f"{len(result.y)} samples in five clusters, everything by its defaults",
        list(rows[0]),
        [list(row.values()) for row in rows],
    )
    print("\n".join(f"{name}: {words}" for name, words in found.items()))
    print(f"written: {out / 'demo.png'}, {out / 'demo.csv'}")


def reproduce(
    common: Common,
    names: Annotated[
        list[str], typer.Argument(help="Tables and figures of the paper; default: all of them.")
    ] = (),  # type: ignore[assignment]
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path(
        "reproduction"
    ),
    show: Annotated[bool, typer.Option("--list", help="List the tables and figures.")] = False,
) -> None:
    """Recompute the paper's tables and figures, beside the printed figures."""
    from ..reproduce import TARGETS, run

    if show:
        if common.json:
            print(to_json(list(TARGETS)))
        else:
            print("\n".join(TARGETS))
        return
    for name in names:
        if name not in (*TARGETS, "all"):
            raise Refusal(
                f"there is no table or figure {name!r}: choose from {', '.join(TARGETS)}, all",
                Exit.USAGE,
            )
    chosen = list(TARGETS) if not names or "all" in names else list(names)
    try:
        with collected_warnings(), working("reproducing") as advance:
            run(chosen, out, progress=lambda k, name: advance(k, len(chosen), str(name)))
    except KeyboardInterrupt:
        again = "what was finished is kept, and the same command goes on from there"
        raise Refusal(f"interrupted; {again}", Exit.INTERRUPTED) from None
    print(to_json({"out": str(out), "done": chosen}) if common.json else str(out))
