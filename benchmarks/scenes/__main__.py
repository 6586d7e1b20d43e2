"""`python -m benchmarks.scenes [--draws N] [--first SEED] [--kinds …]`: random scenes.

Every kind of scene is drawn N times, told nothing and told k. Answers are kept in
benchmarks/out/scenes.jsonl by scene, method and version, so that a second run computes only what is
new. A run with nothing but the defaults writes benchmarks/SCENES.md, any other
benchmarks/out/scenes.md.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from functools import partial

import numpy as np

from benchmarks.kept import OUT, ROOT, Figures, Kept, digest, source
from benchmarks.machine import header, installed
from benchmarks.scale.page import prose, table
from benchmarks.scoring import classes_of, join_nearest, score
from benchmarks.suite.methods import OURS, TOLD_K, TOLD_NOTHING, Method

from .data import KINDS, make

DRAWS, LEAST, MOST = 10, 150, 3_000

Column = tuple[str, bool]  # method, whether it is told k

COLUMNS: list[Column] = [
    (OURS, False),
    ("HDBSCAN 15", False),
    ("HDBSCAN 5", False),
    (OURS, True),
    ("spectral", True),
]


def answer(X: np.ndarray, y: np.ndarray, method: Method) -> Figures:
    """Agreement with the groups that were drawn; noise of a method goes to the nearest cluster."""
    try:
        labels = method.run(X, classes_of(y))
    except (ValueError, ArithmeticError) as error:
        return {"ari": 0.0, "k": 0, "exact": False, "failed": f"{type(error).__name__}: {error}"}
    found = score(y, join_nearest(X, labels) if method.noise else labels)
    return {"ari": found.ari, "k": found.k, "exact": found.exact}


def run(kind: str, seed: int, most: int, kept: Kept, ours: str) -> dict[Column, Figures]:
    """All methods on one scene."""
    X, y = make(kind, seed, LEAST, most)
    name, found = digest(X.tobytes(), y.tobytes()), {}
    for column in COLUMNS:
        method = (TOLD_K if column[1] else TOLD_NOTHING)[column[0]]
        version = ours if column[0] == OURS else installed(method.package)
        key = " ".join([kind, str(seed), name, f"told {int(column[1])}", column[0], version])
        found[column] = kept.get(key, partial(answer, X, y, method))
    return found


def page(rows: dict[str, list[dict[Column, Figures]]], most: int, top: str) -> str:
    """Means of every kind, and of all."""
    lines = ["# Random scenes", ""]
    lines += prose(
        f"""Scenes of {len(KINDS)} kinds with {LEAST} to {most:,} samples, of the plane but for one
        kind; the number of groups, their sizes, distances and shapes are drawn
        (`benchmarks/scenes/data.py`). Mean ARI, and in brackets how many of the numbers of clusters
        are exact. Background is not scored. HDBSCAN's noise is given to the nearest cluster. Rules
        were tried on scenes of other seeds."""
    )
    lines += ["```", top, "```", ""]
    names = {
        (name, told): f"{name}, {'told k' if told else 'told nothing'}" for name, told in COLUMNS
    }
    every = [figures for some in rows.values() for figures in some]
    body = [line(kind, some) for kind, some in [*rows.items(), ("all", every)]]
    lines += table(["kind", "scenes", *names.values()], body)
    return "\n".join(lines).rstrip() + "\n"


def line(kind: str, some: list[dict[Column, Figures]]) -> list[str]:
    """A line of the table."""
    cells = [kind, str(len(some))]
    for column in COLUMNS:
        ari = np.mean([figures[column]["ari"] for figures in some])
        exact = sum(figures[column]["exact"] for figures in some)
        cells.append(f"{ari:.3f}" if column[1] else f"{ari:.3f} ({exact})")
    return cells


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("--draws", type=int, default=DRAWS, help="scenes of each kind")
    add("--first", type=int, default=0, help="the first seed")
    add("--most", type=int, default=MOST, help="no scene has many more samples than this")
    add("--kinds", nargs="*", default=[], help="only kinds whose names contain one of these")
    return parser.parse_args(arguments)


def main() -> None:
    """Run what is not kept, then print and write the page."""
    options = options_of()
    warnings.simplefilter("ignore")
    kinds = [k for k in KINDS if not options.kinds or any(some in k for some in options.kinds)]
    kept, ours = Kept(OUT / "scenes.jsonl"), source()
    seeds = range(options.first, options.first + options.draws)
    rows = {}
    for kind in kinds:
        rows[kind] = [run(kind, seed, options.most, kept, ours) for seed in seeds]
        print(" | ".join(line(kind, rows[kind])), file=sys.stderr, flush=True)
    title = f"python -m benchmarks.scenes, seeds {seeds[0]} to {seeds[-1]}"
    text = page(rows, options.most, header(title))
    whole = options_of([]) == options
    file = ROOT / "benchmarks" / "SCENES.md" if whole else OUT / "scenes.md"
    file.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
