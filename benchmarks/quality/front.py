"""Defaults against defaults on sets that everybody knows: the table of README.md and its page.

The sets are all of scikit-learn's comparison of clustering methods, 500 samples and standardised as
there, drawn with several seeds, and four measured sets that scikit-learn brings. Every method runs
with its defaults, told nothing or told the true number of clusters.
"""

from __future__ import annotations

import signal
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from sklearn import datasets
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.preprocessing import scale

from benchmarks import readme
from benchmarks.kept import ROOT
from benchmarks.machine import PACKAGES, header
from benchmarks.scale.page import prose, table
from benchmarks.scoring import join_nearest, score
from benchmarks.suite.methods import OURS, TOLD_K, TOLD_NOTHING, Method

from .data import Pair, groups
from .methods import tell

SIZE = 500  # samples of a drawn set, as in scikit-learn's picture

# The seed of that picture's blobs: their centres are kept, their samples drawn anew.
BLOBS = datasets.make_blobs(3, random_state=30, return_centers=True)[2]

DRAWN: dict[str, Callable[[int], Pair]] = {
    "noisy circles": lambda seed: datasets.make_circles(
        SIZE, factor=0.5, noise=0.05, random_state=seed
    ),
    "noisy moons": lambda seed: datasets.make_moons(SIZE, noise=0.05, random_state=seed),
    "varied": lambda seed: groups("varied", seed, SIZE),
    "anisotropic": lambda seed: groups("anisotropic", seed, SIZE),
    "blobs": lambda seed: datasets.make_blobs(SIZE, centers=BLOBS, random_state=seed)[:2],
    "no structure": lambda seed: (
        np.random.default_rng(seed).uniform(size=(SIZE, 2)),
        np.zeros(SIZE, dtype=int),
    ),
}
MEASURED: dict[str, Callable[[], Pair]] = {
    "iris": partial(datasets.load_iris, return_X_y=True),
    "wine": partial(datasets.load_wine, return_X_y=True),
    "breast cancer": partial(datasets.load_breast_cancer, return_X_y=True),
    "digits": partial(datasets.load_digits, return_X_y=True),
}
AS_THEY_ARE = "digits"  # grey levels have one unit

# (told k, name) → how it runs. Spectral clustering has a second column: its default, a Gaussian
# kernel of width one, suits few of the sets.
METHODS: dict[tuple[bool, str], Method] = {
    (False, OURS): TOLD_NOTHING[OURS],
    (False, "HDBSCAN"): TOLD_NOTHING["HDBSCAN 5"],
    (False, "PLSCAN"): replace(TOLD_NOTHING["PLSCAN"], about="`PLSCAN(reproducible=True)`"),
    (False, "Leiden"): TOLD_NOTHING["Leiden"],
    (True, OURS): TOLD_K[OURS],
    (True, "spectral"): Method(
        lambda X, k: SpectralClustering(k, random_state=0).fit_predict(X),
        "`SpectralClustering(k)`",
    ),
    (True, "spectral of neighbours"): TOLD_K["spectral"],
    (True, "k-means"): Method(lambda X, k: KMeans(k, random_state=0).fit_predict(X), "`KMeans(k)`"),
}


# Processor seconds after which a fit has no answer: ten times what the slowest method needs on
# digits but for spectral clustering by its defaults, whose kernel is the unit matrix there and
# whose eigenvectors come to no end.
LIMIT = 60


class TooLongError(Exception):
    """A fit took more than ``LIMIT``."""


@contextmanager
def limited() -> Iterator[None]:
    """Raise after ``LIMIT`` processor seconds, between two lines of Python."""

    def stop(*_: object) -> None:
        raise TooLongError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, LIMIT)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@dataclass(frozen=True)
class Row:
    """One fit; ``joined`` is the ARI with noise given to the nearest cluster.

    A fit without an answer has k = 0 and scores 0.
    """

    data: str
    told: bool
    method: str
    ari: float
    joined: float
    k: int
    classes: int
    seconds: float


def sets(chosen: Iterable[str] | None, draws: int) -> Iterator[tuple[str, Pair]]:
    """The sets by name, drawn ones as often as is asked."""
    for name, make in DRAWN.items():
        if not chosen or name in chosen:
            for seed in range(draws):
                X, y = make(seed)
                yield name, (scale(X), y)
    for name, load in MEASURED.items():
        if not chosen or name in chosen:
            X, y = load()
            yield name, (X if name == AS_THEY_ARE else scale(X), y)


def fits(name: str, X: np.ndarray, y: np.ndarray) -> Iterator[Row]:
    """Every method that is installed; none is asked for one cluster."""
    classes = len(np.unique(y))
    for (told, method), how in METHODS.items():
        if how.missing() or (told and classes == 1):
            continue
        start = time.perf_counter()
        try:
            with limited():
                labels = how.run(X, classes if told else 0)
        except TooLongError:
            yield Row(name, told, method, 0.0, 0.0, 0, classes, time.perf_counter() - start)
            continue
        seconds = time.perf_counter() - start
        found = score(y + 1, labels)  # a label of 0 would be noise of the reference
        joined = score(y + 1, join_nearest(X, labels)) if how.noise else found
        yield Row(name, told, method, found.ari, joined.ari, found.k, classes, seconds)


def figures(chosen: Iterable[str] | None, draws: int) -> Figures:
    """Run what is asked for; the first fits of each method, which compile, are not counted."""
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # disconnected graphs, of spectral clustering
        for X, y in (DRAWN["blobs"](0), MEASURED["digits"]()):
            list(fits("warm", X[:SIZE], y[:SIZE]))
        for name, (X, y) in sets(chosen, draws):
            rows += (found := list(fits(name, X, y)))
            shown = [f"{row.method} {'k ' * row.told}{row.joined:.2f}" for row in found]
            tell(f"{name}: {', '.join(shown)}")
    return Figures(rows, draws)


@dataclass(frozen=True)
class Figures:
    """What a run found."""

    rows: list[Row]
    draws: int

    def at(self, told: bool, method: str, name: str | None = None) -> list[Row]:
        """The fits of a method, on one set or on all."""
        return [
            row
            for row in self.rows
            if (row.told, row.method) == (told, method) and name in (None, row.data)
        ]

    def tables(self) -> str:
        """ARI, then seconds."""
        return "\n".join([*self.quality(), *self.seconds()])

    def quality(self, joined: bool = True) -> list[str]:
        """ARI of every method on every set; the greatest of those that are told as much is bold."""
        lines = [self.line(name, joined) for name in self.names()]
        means = {key: self.mean(*key, joined) for key in self.columns()}
        lines.append(["**mean**", *self.bold(means, dict.fromkeys(means, "")).values()])
        return table(["set (classes)", *map(heading, self.columns())], lines)

    def line(self, name: str, joined: bool) -> list[str]:
        """One set: ARI, and in brackets the draws with the right k, or the k that was found."""
        values, notes, classes = {}, {}, 0
        for key in self.columns():
            found = self.at(*key, name)
            if not found:
                continue
            classes = found[0].classes
            values[key] = float(np.mean([row.joined if joined else row.ari for row in found]))
            right = sum(row.k == row.classes for row in found)
            counted = f"{right}/{len(found)}" if name in DRAWN else f"{found[0].k}"
            notes[key] = "" if key[0] else f" ({counted})"
            if not all(row.k for row in found):
                notes[key] = " (no end)"
        shown = self.bold(values, notes)
        return [f"{name} ({classes})", *(shown.get(key, "–") for key in self.columns())]

    def bold(
        self, values: dict[tuple[bool, str], float], notes: dict[tuple[bool, str], str]
    ) -> dict[tuple[bool, str], str]:
        """Cells of a line."""
        shown = {key: f"{max(value, 0):.2f}" for key, value in values.items()}
        most = {told: max(v for key, v in shown.items() if key[0] == told) for told, _ in shown}
        return {
            key: (f"**{v}**" if v == most[key[0]] else v) + notes[key] for key, v in shown.items()
        }

    def mean(self, told: bool, method: str, joined: bool) -> float:
        """Mean over sets of the mean over draws; "no structure" has no k to be told."""
        found = [self.at(told, method, name) for name in self.names()]
        of_sets = [np.mean([r.joined if joined else r.ari for r in rows]) for rows in found if rows]
        return float(np.mean(of_sets))

    def seconds(self) -> list[str]:
        """Mean seconds of a fit."""
        lines = []
        for name in self.names():
            found = [self.at(*key, name) for key in self.columns()]
            lines.append([name, *map(_seconds, found)])
        return table(["seconds of a fit", *map(heading, self.columns())], lines)

    def names(self) -> list[str]:
        """Sets that ran."""
        return list(dict.fromkeys(row.data for row in self.rows))

    def columns(self) -> list[tuple[bool, str]]:
        """Methods that ran."""
        return [key for key in METHODS if self.at(*key)]

    def missing(self) -> list[str]:
        """Why some did not."""
        return list(dict.fromkeys(why for how in METHODS.values() if (why := how.missing())))


def _seconds(rows: list[Row]) -> str:
    if not rows:
        return "–"
    return f"{np.mean([row.seconds for row in rows]):.2g}" if all(r.k for r in rows) else "no end"


def heading(key: tuple[bool, str]) -> str:
    """Head of a column."""
    told, method = key
    return f"{method}, told k" if told else method


PAGE = ROOT / "docs" / "comparison-results.md"
WORDS = """ARI: 1 is the truth, 0 is chance or worse. "Told k" means that a method is given the
true number of clusters, where there are two or more; the other columns find it, and say in
brackets in how many of {draws} draws it was right, or for measured sets what it was. What HDBSCAN
and PLSCAN call noise joins the nearest cluster. "No end" means no answer within {limit} processor
seconds."""


def publish(found: Figures) -> None:
    """Rewrite the table of README.md and its page; a table without all rivals is none."""
    if found.missing():
        tell(f"README.md is left as it is: {'; '.join(found.missing())}")
        return
    words = prose(WORDS.format(draws=found.draws, limit=LIMIT))
    head, rule, *timed = found.seconds()
    brief = [line for line in timed if line.startswith(("| noisy moons", "| digits"))]
    readme.rewrite("comparison", [*words, *found.quality(), head, rule, *brief])
    PAGE.write_text(page(found), encoding="utf-8")


def page(found: Figures) -> str:
    """Every figure of a run."""
    lines = ["# Defaults against defaults", ""]
    lines += prose(
        """Written by `python -m benchmarks.quality front`, a part of `make bench-quality`, as is
        the table of the README. All sets of scikit-learn's comparison of clustering methods and
        four measured sets; features standardised, but for the grey levels of digits."""
    )
    about = (*PACKAGES, "fast-hdbscan", "leidenalg", "igraph")
    lines += ["```", header("python -m benchmarks.quality front", about), "```", ""]
    lines += [
        "## Noise joins the nearest cluster",
        "",
        *prose(WORDS.format(draws=found.draws, limit=LIMIT)),
    ]
    lines += found.quality()
    lines += ["## Noise is a group of its own", "", *found.quality(joined=False)]
    lines += ["## Seconds", "", *found.seconds()]
    how = [[heading(key), METHODS[key].about] for key in found.columns()]
    lines += ["## Settings", "", *table(["method", "how"], how)]
    return "\n".join(lines).rstrip() + "\n"
