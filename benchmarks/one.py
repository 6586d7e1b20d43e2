"""One method on one data set in a process of its own: `python -m benchmarks.one moons 0 certified`.

Prints JSON: seconds by the clock and of all cores (best of five, JIT outside), greatest error and
gap, peak memory. Run it on an idle machine: our methods use two threads.
"""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np

from .datasets import DATASETS
from .objective import lower_bounds, objectives, yardstick
from .solvers import SOLVERS

REPEATS = 5


def measure(dataset: str, number: int, method: str) -> dict:
    data, solver = DATASETS[dataset]()[number], SOLVERS[method]
    reason = solver.skip(data)
    result = {"data": data.name, "method": method, "rival": data.rival, "skip": reason, "runs": []}
    if reason:
        return result
    solver.warm_up(data)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    runs = []
    for tol in solver.TOLERANCES:
        best, cores = np.inf, np.inf
        for _ in range(REPEATS):
            start, used = time.perf_counter(), time.process_time()
            path = solver.run(data, tol)
            best = min(best, time.perf_counter() - start)
            cores = min(cores, time.process_time() - used)
        runs.append((tol, best, cores, path))
    result["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    result["memory_before"] = before / 1024
    result["prepare"], result["yardstick"] = data.prepare, yardstick()
    bounds = lower_bounds(data)
    for tol, seconds, cores, path in runs:
        error = (objectives(data, path) - bounds) / data.problem(0.0).scale
        certified = getattr(path, "certified", np.zeros(len(data.gammas), bool))
        result["runs"].append(
            {
                "tol": tol,
                "seconds": seconds + data.prepare,
                "core_seconds": cores + data.prepare,
                "error": float(error.max()),
                "gap": float(np.max(getattr(path, "gaps", np.array([np.nan])))),
                "certified": int(certified.sum()),
                "gammas": len(data.gammas),
            }
        )
    return result


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], int(sys.argv[2]), sys.argv[3])))
