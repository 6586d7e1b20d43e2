"""The parts of the benchmark: each computes its figures and writes them as a table."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from convexcluster import KernelConvexClustering, tune

from . import front
from .data import NOISE, PAPER, SCALES, TOYS, Pair, groups, likeliest, real
from .held_out import further, held_out
from .methods import Row, markdown, score, score_all, table_of_seeds, table_of_sets, tell


@dataclass(frozen=True)
class Part:
    """Figures for a file, and the same for a reader."""

    title: str
    figures: Any
    text: str


def chosen(sets: Iterable[tuple[str, Pair]], options: Namespace) -> Iterator[tuple[str, Pair]]:
    """The sets that were asked for; all by default."""
    return ((name, pair) for name, pair in sets if not options.sets or name in options.sets)


def real_part(options: Namespace) -> Part:
    """The paper's sets and two stand-ins."""
    rows = score_all(chosen(real(options.data), options))
    if not rows:
        raise SystemExit(f"{options.data} has none of the paper's sets: set CONVEXCLUSTER_DATA")
    return Part("The paper's sets", rows, table_of_sets(rows))


def held_out_part(options: Namespace) -> Part:
    """Sets that were held out while rules were made, and others."""
    figures, texts = {}, []
    for title, sets in (("held out", held_out), ("further", further)):
        rows = score_all(chosen(sets(), options))
        if rows:
            figures[title] = rows
            texts.append(f"{title}:\n\n{table_of_sets(rows)}")
    return Part("Measured sets beyond the paper's", figures, "\n\n".join(texts))


def toys_part(options: Namespace) -> Part:
    """Scikit-learn's toys and ours over seeds."""
    rows: list[Row] = []
    for name, make in TOYS.items():
        if not options.sets or name in options.sets:
            for seed in range(options.seeds):
                rows += score(name, *make(seed))
    return Part(f"Toys, {options.seeds} draws each", rows, table_of_seeds(rows))


def structureless(X: np.ndarray) -> bool:
    """Whether the verdict of a default fit is "no structure"."""
    return str(KernelConvexClustering().fit(X).selection_.verdict) == "no structure"


def noise_part(options: Namespace) -> Part:
    """Noise without clusters: in how many draws the answer is "no structure"."""
    figures, lines = [], []
    for n in options.samples:
        for d in options.features:
            line = [str(n), str(d)]
            for kind, (name, make) in enumerate(NOISE.items()):
                draws = [
                    make(np.random.default_rng([n, d, seed, kind]), n, d)
                    for seed in range(options.draws)
                ]
                none = [structureless(X) for X in draws]
                figures.append({"noise": name, "samples": n, "features": d, "none": sum(none)})
                line.append(str(sum(none)))
                tell(f"{name}, {n} × {d}: no structure in {sum(none)} of {len(none)}")
            lines.append(line)
    title = f'Noise: "no structure" of {options.draws} draws'
    return Part(title, figures, markdown(["samples", "features", *NOISE], lines))


def tune_part(options: Namespace) -> Part:
    """The paper's protocol: the best of the grid by the labels."""
    rows = []
    for name, (X, y) in chosen(real(options.data), options):
        if name in PAPER:
            start = time.perf_counter()
            found = tune(X, y)
            row = {"data": name, "paper": PAPER[name], "nmi": found.best_score_}
            rows.append(row | {"seconds": time.perf_counter() - start, **found.best_params_})
            tell(f"{name}: {row['nmi']:.3f}, paper {row['paper']:.3f}")
    lines = [
        [r["data"], f"{r['paper']:.3f}", f"{r['nmi']:.3f}", f"{r['seconds']:.0f}"] for r in rows
    ]
    return Part(
        "tune(X, y)", rows, markdown(["set", "paper, tuned", "tune(X, y)", "seconds"], lines)
    )


def ceiling_part(options: Namespace) -> Part:
    """What who knows the densities of the three groups reaches."""
    figures, lines = {}, []
    for name in SCALES:
        drawn = [groups(name, seed) for seed in range(options.seeds)]
        nmi = [float(normalized_mutual_info_score(y, likeliest(name, X))) for X, y in drawn]
        figures[name] = nmi
        lines.append([name, f"{np.mean(nmi):.3f}", f"{min(nmi):.3f}"])
    title = f"Labels by the likeliest density, {options.seeds} draws each"
    return Part(title, figures, markdown(["toy", "mean NMI", "least"], lines))


def front_part(options: Namespace) -> Part:
    """Defaults against defaults: the table of README and its page, rewritten by a whole run."""
    figures = front.figures(options.sets, options.seeds)
    if not options.sets:
        front.publish(figures)
    title = f"Defaults against defaults, {options.seeds} draws of the drawn sets"
    return Part(title, [asdict(row) for row in figures.rows], figures.tables())


PARTS: dict[str, Callable[[Namespace], Part]] = {
    "front": front_part,
    "real": real_part,
    "held-out": held_out_part,
    "toys": toys_part,
    "noise": noise_part,
    "tune": tune_part,
    "ceiling": ceiling_part,
}
