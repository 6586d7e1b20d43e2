"""`python -m benchmarks.suite [FOLDER] [--sets …] [--methods …]`: ours beside published figures.

FOLDER has sets in the form of M. Gagolewski's suite: files BATTERY.SET.npz with X and reference
labellings y0, y1, …, where 0 is noise; `published.csv` has the published ARI of other methods, if
it is there. The default is the folder `suite` of CONVEXCLUSTER_DATA. Every answer is kept in
benchmarks/out/suite.jsonl by set, method and version, so that a second run computes only what is
new. A run of the default folder with nothing left out writes benchmarks/SUITE.md and its picture;
any other writes benchmarks/out/suite.md.
"""

from __future__ import annotations

import argparse
import csv
import os
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.kept import OUT, ROOT, Figures, Kept, digest, source
from benchmarks.machine import PACKAGES, header, installed
from benchmarks.scoring import Score, join_nearest, told_k, told_nothing

from .methods import NEAREST, TOLD_K, TOLD_NOTHING, Method
from .page import Results, Row, page, picture

FOLDER = Path(os.environ.get("CONVEXCLUSTER_DATA", "data")) / "suite"

# Up to three features are coordinates of one space, whose distances mean something as they are.
PLANE = 3


@dataclass(frozen=True)
class Set:
    """A set of the suite; ``digest`` is that of its values."""

    name: str
    X: np.ndarray
    references: list[np.ndarray]
    digest: str


def prepared(X: np.ndarray) -> np.ndarray:
    """More than ``PLANE`` features are measurements in units of their own: standardised."""
    if X.shape[1] <= PLANE:
        return X
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0)


def read(file: Path, raw: bool = False) -> Set:
    """One npz file; the features as they are, or prepared."""
    with np.load(file) as found:
        X = np.ascontiguousarray(found["X"], dtype=np.float64)
        X = X if raw else prepared(X)
        names = sorted(name for name in found.files if name != "X")
        references = [found[name].astype(np.int64) for name in names]
    parts = [X.tobytes(), *(reference.tobytes() for reference in references)]
    return Set(file.stem, X, references, digest(*parts))


def read_published(folder: Path) -> dict[str, dict[str, float]]:
    """Set → method → published ARI; a method that has none for a set is left out."""
    file = folder / "published.csv"
    if not file.exists():
        return {}
    with file.open(encoding="utf-8", newline="") as lines:
        table = list(csv.DictReader(lines))
    return {
        row["set"]: {
            name: float(value) for name, value in row.items() if name != "set" and value != "nan"
        }
        for row in table
    }


def answers(data: Set, method: Method, told: bool) -> Figures:
    """Scores by column: as the method says, and with its noise given to the nearest cluster."""
    try:
        if told:
            return {"": asdict(told_k(data.references, lambda k: method.run(data.X, k)))}
        labels = method.run(data.X, 0)
    except (ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        return {"failed": f"{type(error).__name__}: {error}"}
    found = {"": labels}
    if method.noise:
        found[NEAREST] = join_nearest(data.X, labels)
    return {suffix: asdict(told_nothing(data.references, some)) for suffix, some in found.items()}


def run(data: Set, chosen: list[str], kept: Kept, ours: str) -> Iterator[Row]:
    """Every method on one set; ``ours`` is the state of the package."""
    for told, methods in ((True, TOLD_K), (False, TOLD_NOTHING)):
        for name, method in methods.items():
            if (chosen and name not in chosen) or method.missing():
                continue
            version = ours if method.package == "convexcluster" else installed(method.package)
            key = " ".join([data.name, data.digest, f"told {int(told)}", name, version])
            found = kept.get(key, partial(answers, data, method, told))
            for suffix in ("", NEAREST) if method.noise else ("",):
                failed = found.get("failed", "")
                score = Score(0.0, 0.0, 0, -1) if failed else Score(**found[suffix])
                yield Row(data.name, name + suffix, told, score, failed)


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("folder", type=Path, nargs="?", default=FOLDER, help="sets; CONVEXCLUSTER_DATA/suite")
    add("--sets", nargs="*", default=[], help="only sets whose names contain one of these")
    add("--raw", action="store_true", help="more than three features are not standardised either")
    names = list(dict.fromkeys([*TOLD_K, *TOLD_NOTHING]))
    add("--methods", nargs="*", default=[], choices=names, metavar="METHOD", help=", ".join(names))
    return parser.parse_args(arguments)


def tell(rows: list[Row]) -> None:
    """Say how far a long run is."""
    shown = [f"{row.method} {'k' if row.told else '–'} {row.score.ari:.3f}" for row in rows]
    print(f"{rows[0].set}: {', '.join(shown)}", file=sys.stderr, flush=True)


def main() -> None:
    """Run what is not kept, then print and write the page."""
    options = options_of()
    warnings.simplefilter("ignore")
    files = sorted(options.folder.glob("*.npz"))
    if options.sets:
        files = [file for file in files if any(some in file.stem for some in options.sets)]
    if not files:
        raise SystemExit(f"{options.folder} has none of these sets: see --help")
    kept, ours, rows, sets = Kept(OUT / "suite.jsonl"), source(), [], []
    for file in files:
        data = read(file, options.raw)
        sets.append((data.name, *data.X.shape))
        rows += (found := list(run(data, options.methods, kept, ours)))
        if found:
            tell(found)
    results = Results(sets, rows, read_published(options.folder))
    whole = options.folder == FOLDER and not (options.sets or options.methods or options.raw)
    folder = ROOT / "benchmarks" if whole else OUT
    image = folder / "suite.png"
    top = header("make bench-suite", (*PACKAGES, "fast-hdbscan", "leidenalg", "igraph"))
    text = page(results, top, image.name, options.raw)
    (folder / ("SUITE.md" if whole else "suite.md")).write_text(text, encoding="utf-8")
    picture(results, image)
    print(text)


if __name__ == "__main__":
    main()
