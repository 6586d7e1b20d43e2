"""The options that several commands share, in groups: a dataclass each, a field for every option.

:func:`~convexcluster.cli.grouped.flat` gives a command written as ``fit(source: Input, …)`` the
signature that Typer reads, and packs the values back.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from .formats import FORMATS, Source
from .prepare import FILLS, Preparation
from .read import Table
from .refusal import Exit, Refusal
from .values import cells, number_or_word, pair

INPUT, MODEL, OUTPUT = "Input", "Model", "Output"


def _choices(*names: str) -> Callable[[str], list[str]]:
    """Shell completion from a list of words."""

    def complete(incomplete: str) -> list[str]:
        return [name for name in names if name.startswith(incomplete)]

    return complete


def _keys(module: str, dictionary: str) -> Callable[[str], list[str]]:
    """Shell completion from one of the package's dictionaries, imported when Tab is pressed."""

    def complete(incomplete: str) -> list[str]:
        from importlib import import_module

        names = getattr(import_module(f"convexcluster.{module}"), dictionary)
        return [name for name in names if name.startswith(incomplete)]

    return complete


@dataclass(frozen=True)
class Input:
    """Which file, and what its columns mean."""

    data: Annotated[
        str, typer.Argument(help="CSV, TSV, Parquet, NPY, NPZ or MAT file; - is standard input.")
    ]
    columns: Annotated[
        list[str],
        typer.Option(
            help="Feature columns: names, comma-separated lists or patterns such as 'gene_*'; "
            "repeatable. Default: every column without another role.",
            rich_help_panel=INPUT,
        ),
    ] = ()  # type: ignore[assignment]
    drop: Annotated[
        list[str],
        typer.Option(help="Columns to leave out, written like --columns.", rich_help_panel=INPUT),
    ] = ()  # type: ignore[assignment]
    id_column: Annotated[
        str | None, typer.Option(help="Column that names the rows.", rich_help_panel=INPUT)
    ] = None
    label_column: Annotated[
        str | None,
        typer.Option(
            help="Column of true labels, used for scoring and for nothing else.",
            rich_help_panel=INPUT,
        ),
    ] = None
    missing: Annotated[
        list[str],
        typer.Option(
            help="Text that means a missing value, besides the empty cell, NA and NaN.",
            rich_help_panel=INPUT,
        ),
    ] = ()  # type: ignore[assignment]
    array: Annotated[
        str | None,
        typer.Option(help="Which matrix of an NPZ or MAT file; default X.", rich_help_panel=INPUT),
    ] = None
    format: Annotated[
        str | None,
        typer.Option(
            help=f"{', '.join(FORMATS)}; default: by the ending, or the first bytes.",
            autocompletion=_choices(*FORMATS),
            rich_help_panel=INPUT,
        ),
    ] = None
    header: Annotated[
        bool | None,
        typer.Option(
            "--header/--no-header",
            help="Whether the first line of a CSV or TSV names the columns. Default: it does "
            "unless it holds numbers alone.",
            rich_help_panel=INPUT,
        ),
    ] = None

    def source(self) -> Source:
        """Return the same as the reader wants it."""
        if self.format is not None and self.format not in FORMATS:
            raise Refusal(f"--format must be one of {', '.join(FORMATS)}", Exit.USAGE)
        return Source(**vars(self))


@dataclass(frozen=True)
class Clean:
    """What is done to the columns before fitting."""

    standardize: Annotated[
        bool,
        typer.Option(
            "--standardize",
            help="Centre every column and scale it to unit standard deviation.",
            rich_help_panel=INPUT,
        ),
    ] = False
    impute: Annotated[
        str | None,
        typer.Option(
            help="Fill missing values by the column's mean or median; default: refuse them.",
            autocompletion=_choices(*FILLS),
            rich_help_panel=INPUT,
        ),
    ] = None

    def learn(self, table: Table, kernel: str | None) -> Preparation:
        """Learn the preparation from the table that a model with ``kernel`` is fitted to."""
        precomputed = (kernel or "").lower() == "precomputed"
        return Preparation.of(table, self.standardize, self.impute, precomputed)


@dataclass(frozen=True)
class Model:
    """The parameters of :class:`convexcluster.KernelConvexClustering`; None is its default."""

    n_clusters: Annotated[
        int | None,
        typer.Option("--n-clusters", "-k", help="Default: chosen.", rich_help_panel=MODEL),
    ] = None
    kernel: Annotated[
        str | None,
        typer.Option(
            help="rbf, laplacian, polynomial, sigmoid, linear, cosine, matern or precomputed "
            "(the file is then a square matrix). Default rbf.",
            autocompletion=_keys("kernels", "KERNELS"),
            rich_help_panel=MODEL,
        ),
    ] = None
    bandwidth: Annotated[
        str | None, typer.Option(help="Of the kernel: a number or auto.", rich_help_panel=MODEL)
    ] = None
    kernel_param: Annotated[
        list[str],
        typer.Option(help="NAME=VALUE of another kernel parameter.", rich_help_panel=MODEL),
    ] = ()  # type: ignore[assignment]
    weights: Annotated[
        str | None,
        typer.Option(
            help="Graph of the fusion weights. Default knn.",
            autocompletion=_keys("weights", "WEIGHTS"),
            rich_help_panel=MODEL,
        ),
    ] = None
    n_neighbors: Annotated[int | None, typer.Option(rich_help_panel=MODEL)] = None
    weight_bandwidth: Annotated[
        str | None, typer.Option(help="A number or auto.", rich_help_panel=MODEL)
    ] = None
    weight_space: Annotated[
        str | None,
        typer.Option(
            help="input or embedding.",
            autocompletion=_choices("input", "embedding"),
            rich_help_panel=MODEL,
        ),
    ] = None
    embedding: Annotated[
        str | None,
        typer.Option(
            help="How the kernel becomes coordinates. Default auto.",
            autocompletion=_keys("embedding", "EMBEDDINGS"),
            rich_help_panel=MODEL,
        ),
    ] = None
    rank: Annotated[
        int | None, typer.Option(help="Dimensions of the embedding.", rich_help_panel=MODEL)
    ] = None
    embedding_tol: Annotated[float | None, typer.Option(rich_help_panel=MODEL)] = None
    labels: Annotated[
        str | None,
        typer.Option(
            help="How centroids become clusters: auto, fusion or agglomerative.",
            autocompletion=_choices("auto", "fusion", "agglomerative"),
            rich_help_panel=MODEL,
        ),
    ] = None
    selection: Annotated[
        str | None,
        typer.Option(
            help="How γ and the number of clusters are chosen. Default auto.",
            autocompletion=_keys("selection", "SELECTORS"),
            rich_help_panel=MODEL,
        ),
    ] = None
    min_cluster_size: Annotated[int | None, typer.Option(rich_help_panel=MODEL)] = None
    solver: Annotated[
        str | None,
        typer.Option(
            help="Default auto.",
            autocompletion=_keys("solvers", "SOLVERS"),
            rich_help_panel=MODEL,
        ),
    ] = None
    tol: Annotated[
        float | None, typer.Option(help="Relative duality gap to reach.", rich_help_panel=MODEL)
    ] = None
    max_iter: Annotated[int | None, typer.Option(rich_help_panel=MODEL)] = None
    coarsen: Annotated[
        str | None,
        typer.Option(
            help="Group rows into at most this many cells first: auto (beyond 20,000 rows), "
            "none or a number.",
            autocompletion=_choices("auto", "none"),
            rich_help_panel=MODEL,
        ),
    ] = None
    max_memory: Annotated[str | None, typer.Option(help="Such as 4GB.", rich_help_panel=MODEL)] = (
        None
    )
    random_state: Annotated[
        int | None, typer.Option("--random-state", "--seed", rich_help_panel=MODEL)
    ] = None
    n_jobs: Annotated[int | None, typer.Option(help="Threads.", rich_help_panel=MODEL)] = None

    def parameters(self) -> dict[str, Any]:
        """Return what was given, by the names of the estimator."""
        plain = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "kernel_param"}
        given = {name: value for name, value in plain.items() if value is not None}
        for name in ("bandwidth", "weight_bandwidth"):
            if name in given:
                given[name] = number_or_word(given[name])
        if "coarsen" in given:
            given["coarsen"] = cells(given["coarsen"])
        if self.kernel_param:
            given["kernel_params"] = dict(pair(text) for text in self.kernel_param)
        return given


@dataclass(frozen=True)
class Output:
    """Where results go."""

    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", help="Folder for the results.", rich_help_panel=OUTPUT),
    ] = None
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace an earlier result.", rich_help_panel=OUTPUT),
    ] = False
    report: Annotated[
        bool,
        typer.Option(
            "--report/--no-report", help="Write report.html as well.", rich_help_panel=OUTPUT
        ),
    ] = True


@dataclass(frozen=True)
class Common:
    """Every command has these."""

    json: Annotated[bool, typer.Option("--json", help="One JSON document on standard output.")] = (
        False
    )
    # Read by main() from the arguments, so that it covers wrong usage as well.
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False
