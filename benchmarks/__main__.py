"""`python -m benchmarks [dataset …]`: table and plot of gap against time, with peak memory.

Each method runs in a process of its own on each data set (benchmarks/one.py); only the solve is
timed. Writes benchmarks/out/results.{json,md,png}.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from .datasets import DATASETS
from .machine import header
from .solvers import SOLVERS

OUT = Path(__file__).parent / "out"
SIZES = {"moons": 3, "blobs": 1, "kernel_moons": 1}


def table(results: list[dict]) -> str:
    """Markdown: one row per data set, method and tolerance."""
    lines = [
        "| data | method | tol | seconds | core seconds | yardsticks | of CCMM's time | certified"
        " | worst gap | worst error of F | peak memory |",
        "|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    for result in results:
        if result["skip"]:
            lines.append(f"| {result['data']} | {result['method']} | {result['skip']} ||||||||")
        for run in result["runs"]:
            units = run["seconds"] / result["yardstick"]
            share = f"{units / result['rival']:.2f}" if result["rival"] else "–"
            lines.append(
                f"| {result['data']} | {result['method']} | {run['tol']:.0e} "
                f"| {run['seconds']:.3f} | {run['core_seconds']:.3f} | {units:.2f} | {share} "
                f"| {run['certified']}/{run['gammas']} | {run['gap']:.1e} | {run['error']:.1e} "
                f"| {result['memory']:.0f} MB |"
            )
    return "\n".join(lines)


def plot(results: list[dict], file: Path) -> None:
    """Error of F against time, one panel per data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(result["data"] for result in results))
    figure, axes = plt.subplots(1, len(names), figsize=(4 * len(names), 3.5), squeeze=False)
    for axis, name in zip(axes[0], names):
        for result in results:
            if result["data"] == name and result["runs"]:
                seconds = [run["seconds"] for run in result["runs"]]
                errors = [max(run["error"], 1e-9) for run in result["runs"]]
                axis.loglog(seconds, errors, "o-", label=result["method"])
        axis.set(title=name, xlabel="seconds, whole path", ylabel="worst error of F")
        axis.legend()
    figure.tight_layout()
    figure.savefig(file, dpi=120)


def main(names: list[str]) -> None:
    OUT.mkdir(exist_ok=True)
    results = []
    for dataset in names or list(DATASETS):
        for number in range(SIZES[dataset]):
            for method in SOLVERS:
                command = [sys.executable, "-m", "benchmarks.one", dataset, str(number), method]
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                results.append(json.loads(done.stdout.splitlines()[-1]))
                print(results[-1]["data"], method, results[-1]["runs"] or results[-1]["skip"])
    (OUT / "results.json").write_text(json.dumps(results, indent=1), encoding="utf-8")
    title = "Whole path of 40 γ; two threads, the best of five"
    text = f"{header(title)}\n\n{table(results)}\n"
    (OUT / "results.md").write_text(text, encoding="utf-8")
    plot(results, OUT / "results.png")
    print(text)


if __name__ == "__main__":
    main(sys.argv[1:])
