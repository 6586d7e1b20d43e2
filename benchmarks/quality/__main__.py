"""`python -m benchmarks.quality [PART …]`: how good the clusters are, in tables.

Parts: front, real, held-out, toys, noise, tune, ceiling; all by default. Each prints its table and
writes benchmarks/out/quality-PART.{json,md}, and a picture where it compares methods. k-means,
spectral clustering and Ward are given the true number of clusters. `front` is defaults against
defaults: it rewrites the table of README.md and docs/comparison-results.md.
"""

from __future__ import annotations

import argparse
import json
import os
import time
import warnings
from pathlib import Path

from benchmarks.machine import header

from .methods import METHODS, OURS, TOLD, Row, mean
from .parts import PARTS, Part

OUT = Path(__file__).parents[1] / "out"


def plot(rows: list[Row], file: Path) -> None:
    """NMI of every method on every data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["data"] for row in rows))
    figure, axis = plt.subplots(figsize=(9, 0.35 * len(names) + 1.5))
    for method in METHODS:
        values = [mean(rows, method, name) for name in names]
        size = 70 if method in (OURS, TOLD) else 25
        label = f"ours, {method}" if method in (OURS, TOLD) else method
        axis.scatter(values, range(len(names)), s=size, label=label, alpha=0.8)
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set(xlabel="normalised mutual information", xlim=(-0.02, 1.02))
    axis.legend(loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(file, dpi=120, bbox_inches="tight")
    plt.close(figure)


def compared(part: Part) -> list[Row]:
    """The rows of a part that compares methods, else none."""
    sets = part.figures.values() if isinstance(part.figures, dict) else [part.figures]
    rows = [row for some in sets for row in some]
    return (
        rows
        if rows and isinstance(rows[0], dict) and "nmi" in rows[0] and "method" in rows[0]
        else []
    )


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    add("--data", type=Path, default=Path(os.environ.get("CONVEXCLUSTER_DATA", "data")))
    add("--sets", nargs="*", help="these sets or toys alone")
    add("--seeds", type=int, default=20, help="draws of every toy")
    add("--draws", type=int, default=100, help="draws of every kind of noise")
    add("--samples", type=int, nargs="*", default=[200, 500], help="sizes of the noise")
    add("--features", type=int, nargs="*", default=[2, 5, 10], help="features of the noise")
    return parser.parse_args(arguments)


def main() -> None:
    """Run the parts that were asked for."""
    options = options_of()
    warnings.filterwarnings("ignore", module="sklearn")
    os.environ["CONVEXCLUSTER_DATA"] = str(options.data)  # where the loaders look first
    OUT.mkdir(exist_ok=True)
    for name in options.parts or PARTS:
        start = time.perf_counter()
        part = PARTS[name](options)
        head = f"{header(part.title)}\n{time.perf_counter() - start:.0f} s"
        record = {"about": head.splitlines(), "figures": part.figures}
        (OUT / f"quality-{name}.json").write_text(json.dumps(record, indent=1) + "\n")
        (OUT / f"quality-{name}.md").write_text(f"{head}\n\n{part.text}\n")
        if rows := compared(part):
            plot(rows, OUT / f"quality-{name}.png")
        print(f"{head}\n\n{part.text}\n", flush=True)


if __name__ == "__main__":
    main()
