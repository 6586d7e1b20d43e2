"""`python -m benchmarks.growth [n …]`: time and memory of the certified path against n (moons)."""

from __future__ import annotations

import resource
import sys
import time

import numpy as np

from convexcluster import solve_path

from .datasets.moons import moons
from .machine import header
from .objective import yardstick

SIZES = (1_000, 3_000, 10_000, 30_000, 100_000)


def main(sizes: tuple[int, ...]) -> None:
    warm = moons(500)
    solve_path(warm.Z, warm.edges, warm.weights, warm.gammas, n_jobs=-1)
    print(header("Growth with n: moons in 2-D, 40 γ, tol = 1e-6") + "\n")
    print("| n | wall s | core s | yardsticks | certified | worst gap | peak memory |")
    print("|---|---|---|---|---|---|---|")
    times = []
    for n in sizes:
        data = moons(n)
        wall, start = time.perf_counter(), time.process_time()
        path = solve_path(data.Z, data.edges, data.weights, data.gammas, n_jobs=-1)
        wall, seconds = time.perf_counter() - wall, time.process_time() - start
        times.append(wall)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(
            f"| {n} | {wall:.2f} | {seconds:.2f} | {wall / yardstick():.1f} "
            f"| {path.certified.sum()}/{len(path)} | {path.gaps.max():.1e} | {memory:.0f} MB |",
            flush=True,
        )
    if len(sizes) > 1:
        slope = np.polyfit(np.log(sizes), np.log(times), 1)[0]
        print(f"\ntime grows as n^{slope:.2f}")


if __name__ == "__main__":
    main(tuple(int(n) for n in sys.argv[1:]) or SIZES)
