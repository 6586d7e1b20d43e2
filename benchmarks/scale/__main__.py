"""Run cases, each in a process of its own so that the peak of its memory is its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.machine import PACKAGES, header
from benchmarks.scale.cluster import peak_gb, through_dask
from benchmarks.scale.data import blobs, shapes
from benchmarks.scale.fits import file, fit, refined, tgcc
from benchmarks.scale.mnist import mnist
from benchmarks.scale.page import page

FIGURES = Path(__file__).with_name("figures.json")
PAGE = Path(__file__).resolve().parents[2] / "docs" / "large-results.md"

CASES = {
    "shapes-1e5": partial(fit, shapes, 100_000),
    "shapes-1e6": partial(fit, shapes, 1_000_000),
    "blobs50-1e5": partial(fit, blobs, 100_000),
    "blobs50-1e6": partial(fit, blobs, 1_000_000),
    "tgcc-1e5": partial(tgcc, 100_000),
    "tgcc-1e6": partial(tgcc, 1_000_000),
    "dask-1-worker-1e6": partial(through_dask, 1_000_000, 1),
    "dask-2-workers-2e6": partial(through_dask, 2_000_000, 2),
    "dask-2-workers-1e7": partial(through_dask, 10_000_000, 2),
    "file-2GB": partial(file, 2_500_000, 100, "1GB"),
    "refine-1e5": partial(refined, 100_000, 2_000, 30.0),
    "mnist10k": mnist,
}


def run(name: str) -> dict[str, Any]:
    """One case in a process of its own, with its peak of memory and the load before it."""
    load = os.getloadavg()[0]
    command = [sys.executable, "-m", "benchmarks.scale", "--one", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {"failed": done.stderr.strip().splitlines()[-1] if done.stderr else "no output"}
    return json.loads(lines[-1]) | {"load": load}


def main(names: list[str]) -> None:
    """Run the cases named, or all; keep the figures of the others; write the page."""
    if names[:1] == ["--one"]:
        out = CASES[names[1]]()
        print(json.dumps(out | {"peak_gb": peak_gb()}), flush=True)
        return
    kept = json.loads(FIGURES.read_text(encoding="utf-8")) if names and FIGURES.exists() else {}
    for name in names or CASES:
        if name != "--page":  # the page alone, from the figures that are there
            kept[name] = run(name)
            print(name, json.dumps(kept[name]), flush=True)
        figures = {case: kept[case] for case in CASES if case in kept}
        FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
        top = header("make bench-scale", (*PACKAGES, "dask", "distributed"))
        PAGE.write_text(page(figures, top), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
