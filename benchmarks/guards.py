"""What safety costs: ``python -m benchmarks.guards OLD`` for a checkout OLD from before the guards.

Processor seconds of the same work with both checkouts, one thread, the least of three runs that
take turns; each runs in a process of its own, which compiles first.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

WORK = """
import json, sys, time, warnings
import numpy as np
from sklearn.datasets import make_moons
from convexcluster import KernelConvexClustering, solve_path
from convexcluster.weights import build_graph
warnings.simplefilter("ignore")
X = make_moons(10_000, noise=0.05, random_state=0)[0]
G = {n: build_graph(X[:n], "knn", n_neighbors=10) for n in (1_000, 10_000)}
tasks = {
    f"path, moons {n:,}": lambda n=n: solve_path(X[:n], G[n].edges, G[n].weights, n_jobs=1)
    for n in G
} | {
    f"default fit, moons {n:,}": lambda n=n: KernelConvexClustering(n_jobs=1).fit(X[:n])
    for n in (500, 10_000)
}
model = KernelConvexClustering(2, n_jobs=1).fit(X)
tasks["predict, 100,000 rows"] = lambda: model.predict(np.repeat(X, 10, axis=0) + 1e-3)
found = {}
for name, task in tasks.items():
    task()
    begin = time.process_time()
    task()
    found[name] = time.process_time() - begin
print(json.dumps(found))
"""
RUNS = 3


def seconds(checkout: Path) -> dict[str, float]:
    """Processor seconds of every task with the package of a checkout."""
    at = os.environ | {"PYTHONPATH": str(checkout / "src"), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", WORK], env=at, check=True, text=True, stdout=subprocess.PIPE
    )
    return json.loads(done.stdout)


def main() -> None:
    """Print one row for each task."""
    old, new = Path(sys.argv[1]).resolve(), Path(__file__).parents[1]
    runs = [(seconds(old), seconds(new)) for _ in range(RUNS)]
    print("| work | before, s | now, s | ratio |\n|---|---|---|---|")
    for name in runs[0][0]:
        before, now = (min(run[side][name] for run in runs) for side in (0, 1))
        print(f"| {name} | {before:.2f} | {now:.2f} | {now / before:.2f} |")


if __name__ == "__main__":
    main()
