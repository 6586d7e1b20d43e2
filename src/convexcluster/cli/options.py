"""The options that several commands share, in groups: a dataclass each, a field for every option.

:func:`~convexcluster.cli.grouped.flat` gives a command written as ``fit(source: Input, …)`` the
signature that Typer reads, and packs the values back. A group's ``panel`` heads its options in the
help.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

from .formats import FORMATS
from .prepare import FILLS
from .values import cells, number_or_word, pair

MODEL = "Model"


def _words(help: str, words: Iterable[str] | str) -> Any:
    """An option that the shell completes from words, or from the ``module.DICTIONARY`` so named."""

    def complete(incomplete: str) -> list[str]:
        names = words
        if isinstance(names, str):  # imported when Tab is pressed
            module, _, dictionary = names.partition(".")
            names = getattr(import_module(f"convexcluster.{module}"), dictionary)
        return [name for name in names if name.startswith(incomplete)]

    return Option(help=help, autocompletion=complete)


@dataclass(frozen=True)
class Input:
    """Which file, and what its columns mean."""

    panel = "Input"
    data: Annotated[
        str,
        Argument(
            help="CSV, TSV, Excel, Parquet, NPY, NPZ, MAT or .h5ad file; - is standard input."
        ),
    ]
    columns: Annotated[
        list[str],
        Option(
            help="Feature columns: names, comma-separated lists or patterns such as 'gene_*'; "
            "repeatable. Default: every column without another role."
        ),
    ] = ()  # type: ignore[assignment]
    drop: Annotated[list[str], Option(help="Columns to leave out, written like --columns.")] = ()  # type: ignore[assignment]
    id_column: Annotated[str | None, Option(help="Column that names the rows.")] = None
    label_column: Annotated[
        str | None, Option(help="Column of true labels, used for scoring and for nothing else.")
    ] = None
    missing: Annotated[
        list[str],
        Option(help="Text that means a missing value, besides the empty cell, NA and NaN."),
    ] = ()  # type: ignore[assignment]
    array: Annotated[str | None, Option(help="Which matrix of an NPZ or MAT file; default X.")] = (
        None
    )
    format: Annotated[
        str | None,
        _words(f"{', '.join(FORMATS)}; default: by the ending, or the first bytes.", FORMATS),
    ] = None
    header: Annotated[
        bool | None,
        Option(
            "--header/--no-header",
            help="Whether the first line of a text file or sheet names the columns. Default: it "
            "does if it is text, or numbers such as 0,1,2 or years above fractions.",
        ),
    ] = None
    sep: Annotated[
        str | None,
        Option(help="Between the fields of a text file, also tab or space. Default: found."),
    ] = None
    decimal: Annotated[
        str | None, Option(help="Decimal mark of a text file, . or the comma. Default: found.")
    ] = None
    encoding: Annotated[
        str | None, Option(help="Of a text file, such as utf-8, utf-16 or cp1252. Default: found.")
    ] = None
    sheet: Annotated[str | None, Option(help="Sheet of an Excel file; default: the first.")] = None
    transpose: Annotated[
        bool,
        Option("--transpose", help="Samples are the columns of the file, as of genes × samples."),
    ] = False
    categorical: Annotated[
        list[str],
        Option(help="Columns of numbers that are categories, written like --columns."),
    ] = ()  # type: ignore[assignment]


@dataclass(frozen=True)
class Clean:
    """What is done to the columns before fitting."""

    panel = "Input"
    standardize: Annotated[
        bool,
        Option(
            "--standardize", help="Centre every column and scale it to unit standard deviation."
        ),
    ] = False
    impute: Annotated[
        str | None,
        _words(
            "Fill missing numbers by neighbors, or by the column's mean or median. Default: by "
            "neighbors in a table with categories or dates; refuse them in one of numbers.",
            FILLS,
        ),
    ] = None


def given(source: Input, clean: Clean) -> dict[str, Any]:
    """The options about the file and its columns that are not the default, to repeat a run."""
    return {
        f.name: getattr(group, f.name)
        for group in (source, clean)
        for f in fields(group)
        if f.name != "data" and getattr(group, f.name) not in (f.default, [])
    }


@dataclass(frozen=True)
class Model:
    """The parameters of :class:`convexcluster.KernelConvexClustering`; None is its default."""

    panel = MODEL
    n_clusters: Annotated[int | None, Option("--n-clusters", "-k", help="Default: chosen.")] = None
    kernel: Annotated[
        str | None,
        _words(
            "rbf, laplacian, polynomial, sigmoid, linear, cosine, matern or precomputed "
            "(the file is then a square matrix). Default rbf.",
            "kernels.KERNELS",
        ),
    ] = None
    metric: Annotated[
        str | None,
        _words(
            "Distance between rows, such as euclidean, manhattan, cosine, hamming; or precomputed "
            "(the file is then a square matrix of distances). Default auto.",
            "kernels.METRICS",
        ),
    ] = None
    bandwidth: Annotated[str | None, Option(help="Of the kernel: a number or auto.")] = None
    kernel_param: Annotated[list[str], Option(help="NAME=VALUE of another kernel parameter.")] = ()  # type: ignore[assignment]
    weights: Annotated[
        str | None, _words("Graph of the fusion weights. Default knn.", "weights.WEIGHTS")
    ] = None
    n_neighbors: Annotated[int | None, Option()] = None
    weight_bandwidth: Annotated[str | None, Option(help="A number or auto.")] = None
    weight_space: Annotated[str | None, _words("input or embedding.", ("input", "embedding"))] = (
        None
    )
    embedding: Annotated[
        str | None,
        _words("How the kernel becomes coordinates. Default auto.", "embedding.EMBEDDINGS"),
    ] = None
    rank: Annotated[int | None, Option(help="Dimensions of the embedding.")] = None
    embedding_tol: Annotated[float | None, Option()] = None
    labels: Annotated[
        str | None,
        _words(
            "How centroids become clusters: auto, fusion or agglomerative.",
            ("auto", "fusion", "agglomerative"),
        ),
    ] = None
    selection: Annotated[
        str | None,
        _words("How γ and the number of clusters are chosen. Default auto.", "selection.SELECTORS"),
    ] = None
    min_cluster_size: Annotated[int | None, Option()] = None
    solver: Annotated[str | None, _words("Default auto.", "solvers.SOLVERS")] = None
    tol: Annotated[float | None, Option(help="Relative duality gap to reach.")] = None
    max_iter: Annotated[int | None, Option()] = None
    coarsen: Annotated[
        str | None,
        _words(
            "Group rows into at most this many cells first: auto (beyond 20,000 rows, or 50,000 of "
            "up to three columns), none or a number.",
            ("auto", "none"),
        ),
    ] = None
    max_memory: Annotated[str | None, Option(help="Such as 4GB.")] = None
    random_state: Annotated[int | None, Option("--random-state", "--seed")] = None
    n_jobs: Annotated[int | None, Option(help="Threads.")] = None

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

    panel = "Output"
    out: Annotated[Path | None, Option("--out", "-o", help="Folder for the results.")] = None
    force: Annotated[bool, Option("--force", help="Replace an earlier result.")] = False
    report: Annotated[bool, Option("--report/--no-report", help="Write report.html as well.")] = (
        True
    )
    coordinates: Annotated[
        str | None,
        Option(help="Table of two columns, a row each: a plane of your own (UMAP, t-SNE)."),
    ] = None
    keep_path: Annotated[
        bool,
        Option("--keep-path", help="Keep the path in the model, so that report can draw it again."),
    ] = False


@dataclass(frozen=True)
class Common:
    """Every command has these."""

    panel = None
    json: Annotated[bool, Option("--json", help="One JSON document on standard output.")] = False
    # Read by main() from the arguments, so that it covers wrong usage as well.
    debug: Annotated[bool, Option("--debug", help="Show the traceback of an error.")] = False
