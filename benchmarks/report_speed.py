"""Size and speed of the interactive report in headless Chromium.

    python benchmarks/report_speed.py [n] [--features p] [--repeats r]

Fits a path to n samples (two moons and p noisy copies of their coordinates as features), writes
the report, opens it, and moves the slider over every γ ``r`` times. A step is timed from the input
event until the frame it caused has been handed to the screen; the best of the repeats counts,
since the machine may be busy with other things.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path
from time import perf_counter

import numpy as np
from playwright.sync_api import sync_playwright
from sklearn.datasets import make_moons

from convexcluster import solve_path
from convexcluster.report import write_report
from convexcluster.weights import build_graph

FLAGS = [
    "--no-sandbox",
    "--headless=new",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
STEP = """value => new Promise(done => {
    const slider = document.getElementById('slider'), began = performance.now();
    slider.value = value;
    slider.dispatchEvent(new Event('input'));
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - began)));
})"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("n", type=int, nargs="?", default=10_000)
    parser.add_argument("--features", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    Z, y = make_moons(options.n, noise=0.08, random_state=0)
    rng = np.random.default_rng(0)
    X = Z[:, rng.integers(0, 2, options.features)] + rng.normal(size=(options.n, options.features))
    graph = build_graph(Z, "local", n_neighbors=7, connect=True, normalize=True)
    began = perf_counter()
    path = solve_path(Z, graph.edges, graph.weights)
    seconds = perf_counter() - began
    print(
        f"path of {len(path.gammas)} γ over {options.n:,} samples, "
        f"{path.n_clusters[0]:,} to {path.n_clusters[-1]:,} clusters: {seconds:.1f} s"
    )

    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        file = Path(folder) / "report.html"
        ids = [f"sample {i:06d}" for i in range(options.n)]
        began = perf_counter()
        write_report(path, file, Z=Z, X=X, y=y, ids=ids)
        print(f"written in {perf_counter() - began:.2f} s, {file.stat().st_size / 1e6:.2f} MB")
        chromium = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=FLAGS)
        ready = []
        for _ in range(options.repeats):
            page = chromium.new_page(viewport={"width": 1400, "height": 900})
            page.goto(file.as_uri())
            page.wait_for_selector("html[data-ready]")
            ready.append(float(page.evaluate("document.documentElement.dataset.ready")))
        print(f"interactive after {min(ready):.0f} ms (best of {len(ready)})")
        for chosen in (False, True):
            if chosen:
                page.click("#list button >> nth=0")
            steps = np.array(
                [
                    [page.evaluate(STEP, t) for t in range(len(path.gammas))]
                    for _ in range(options.repeats)
                ]
            ).min(axis=0)
            what = "with a cluster chosen" if chosen else "nothing chosen"
            print(
                f"slider step, {what}: median {np.median(steps):.0f} ms, "
                f"slowest {steps.max():.0f} ms"
            )
        chromium.close()


if __name__ == "__main__":
    main()
