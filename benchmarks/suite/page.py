"""Scores → the page and the picture."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.scale.page import prose, table
from benchmarks.scoring import Score

from .methods import NEAREST, OURS, TOLD_K, TOLD_NOTHING

FAIR = "HDBSCAN 15" + NEAREST
BEST = "best_of_68"


@dataclass(frozen=True)
class Row:
    """A method on a set; one that failed scores nothing and says why."""

    set: str
    method: str
    told: bool
    score: Score
    failed: str = ""


@dataclass(frozen=True)
class Results:
    """What a run found, (name, samples, features) of its sets, and what others published."""

    sets: list[tuple[str, int, int]]
    rows: list[Row]
    published: dict[str, dict[str, float]]

    def methods(self, told: bool) -> list[str]:
        """Columns that there are."""
        return list(dict.fromkeys(row.method for row in self.rows if row.told == told))

    def column(self, method: str, told: bool) -> dict[str, Row]:
        """Set → row of one method."""
        found = [row for row in self.rows if row.method == method and row.told == told]
        return {row.set: row for row in found}

    def others(self) -> dict[str, dict[str, float]]:
        """Published method → set → ARI, of the sets that ran."""
        names = [name for name, *_ in self.sets if name in self.published]
        methods = list(dict.fromkeys(m for name in names for m in self.published[name]))
        return {
            method: {n: self.published[n][method] for n in names if method in self.published[n]}
            for method in methods
        }


def page(results: Results, header: str, image: str, raw: bool) -> str:
    """The whole page; what has not run is left out."""
    lines = ["# A public suite of benchmark sets", ""]
    lines += prose(
        """Sets of M. Gagolewski's clustering benchmarks (gagolews/clustering-data-v1), by the
        protocol of that suite: a method that is told k is run for each reference
        labelling, the greatest score over labellings counts, and samples that a labelling calls
        noise are not scored. `make bench-suite` writes this page; published figures are those of
        gagolews/clustering-results-v1, of which *best of 68* is chosen set by set with the labels
        in hand."""
    )
    if raw:
        lines += prose("Features are as they are, here and in the published figures.")
    else:
        lines += prose(
            """More than three features are standardised, and constant ones left out, for every
            method that runs here. Published figures are of features as they are; `python -m
            benchmarks.suite --raw` has the same for ours."""
        )
    lines += ["```", header, "```", "", f"![ARI of every set]({image})", ""]
    for section in (summary, batteries, of_told_k, of_told_nothing, settings, failures):
        lines += section(results)
    return "\n".join(lines).rstrip() + "\n"


def summary(results: Results) -> list[str]:
    """Means of every method."""
    head = ["method", "told", "mean ARI", "mean AMI", "k exact", "sets"]
    rows = []
    for told in (True, False):
        for method in results.methods(told):
            found = list(results.column(method, told).values())
            exact = sum(row.score.exact for row in found)
            rows.append(
                [
                    method,
                    "k" if told else "nothing",
                    f"{np.mean([row.score.ari for row in found]):.3f}",
                    f"{np.mean([row.score.ami for row in found]):.3f}",
                    "–" if told else str(exact),
                    str(len(found)),
                ]
            )
    for method, found in results.others().items():
        mean = f"{np.mean(list(found.values())):.3f}"
        rows.append([f"{shown(method)}, published", "k", mean, "–", "–", str(len(found))])
    return ["## Means", "", *table(head, rows)]


def batteries(results: Results) -> list[str]:
    """Mean ARI by the part of a set's name before its dot."""
    names = dict.fromkeys(name.partition(".")[0] for name, *_ in results.sets)
    columns = [(method, told) for told in (True, False) for method in results.methods(told)]
    rows = []
    for method, told in columns:
        found = results.column(method, told)
        cells = [_mean(found, battery) for battery in names]
        rows.append([method, "k" if told else "nothing", *cells])
    head = ["method", "told", *(f"{name}: mean ARI (k exact)" for name in names)]
    return ["## By battery", "", *table(head, rows)]


def _mean(found: dict[str, Row], battery: str) -> str:
    some = [row for name, row in found.items() if name.partition(".")[0] == battery]
    if not some:
        return "–"
    exact = f" ({sum(row.score.exact for row in some)} of {len(some)})" if not some[0].told else ""
    return f"{np.mean([row.score.ari for row in some]):.3f}{exact}"


def shown(method: str) -> str:
    """A published method's name for a reader."""
    return method.replace("_", " ")


def of_told_k(results: Results) -> list[str]:
    """A line for each set: ARI of those that are told k."""
    columns = {method: results.column(method, True) for method in results.methods(True)}
    others = results.others()
    rows = []
    for name, n, d in results.sets:
        live = [f"{found[name].score.ari:.3f}" for found in columns.values()]
        past = [f"{f[name]:.3f}" if name in f else "–" for f in others.values()]
        rows.append([name, f"{n:,} × {d}", *live, *past])
    head = ["set", "n × d", *columns, *(f"{shown(method)}, published" for method in others)]
    return ["## Told k: ARI", "", *table(head, rows)] if columns else []


def of_told_nothing(results: Results) -> list[str]:
    """A line for each set: ARI and the number of clusters of those that are told nothing."""
    columns = {method: results.column(method, False) for method in results.methods(False)}
    rows = []
    for name, *_ in results.sets:
        found = [column[name].score for column in columns.values()]
        rows.append([name, *(f"{s.ari:.3f} ({s.k} of {s.classes})" for s in found)])
    words = prose(
        """In brackets the number of clusters found, and that of the labelling which fits best.
        HDBSCAN and PLSCAN leave samples out as noise: these are a group of their own, or each joins
        the cluster of the nearest sample that has one ("nearest")."""
    )
    head = ["set", *columns]
    return ["## Told nothing: ARI", "", *words, *table(head, rows)] if columns else []


def settings(results: Results) -> list[str]:
    """How the methods were called, and why one is missing."""
    rows = []
    for told, methods in (("k", TOLD_K), ("nothing", TOLD_NOTHING)):
        for name, method in methods.items():
            rows.append([name, told, method.missing() or method.about])
    return ["## Settings", "", *table(["method", "told", "how"], rows)]


def failures(results: Results) -> list[str]:
    """Which methods had no answer: they count as ARI 0."""
    failed = [row for row in results.rows if row.failed]
    rows = [[row.set, row.method, row.failed] for row in failed]
    return ["## Without an answer", "", *table(["set", "method", "why"], rows)] if rows else []


def picture(results: Results, file: Path) -> None:
    """ARI of ours and of the strongest others on every set, told k and told nothing."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = [name for name, *_ in results.sets]
    figure, axes = plt.subplots(1, 2, figsize=(11, 0.3 * len(names) + 1.8), sharey=True)
    for axis, told in zip(axes, (True, False), strict=True):
        series = {
            method: {name: row.score.ari for name, row in results.column(method, told).items()}
            for method in results.methods(told)
            if told or method in (OURS, FAIR, "PLSCAN" + NEAREST, "mixtures", "Leiden")
        }
        if told:
            others = results.others()
            chosen = [method for method in ("genie", "gmm", BEST) if method in others]
            series |= {f"{shown(method)}, published": others[method] for method in chosen}
        for method, found in series.items():
            places = [names.index(name) for name in found]
            marker = "|" if method.startswith(shown(BEST)) else "o"
            size = 80 if method == OURS or marker == "|" else 22
            axis.scatter(list(found.values()), places, s=size, label=method, marker=marker)
        axis.set(xlabel=f"ARI, told {'k' if told else 'nothing'}", xlim=(-0.1, 1.05))
        axis.grid(axis="y", alpha=0.3)
        if series:
            axis.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, fontsize=8)
    axes[0].set_yticks(range(len(names)), names)
    axes[0].invert_yaxis()
    figure.savefig(file, dpi=120, bbox_inches="tight")
    plt.close(figure)
