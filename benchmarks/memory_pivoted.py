"""Peak memory of one γ on many samples: pivoted embedding, kNN graph, one solve.

    python benchmarks/memory_pivoted.py --n 20000 --bandwidth 1.0 --gamma 1.0

The kernel matrix alone would take 8 n² bytes (3.2 GB at n = 20,000); it is never formed. The work
runs in a child process, whose peak resident set is what the operating system has counted.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time

LIMIT_GB = 2.0


def measure(n: int, bandwidth: float, gamma: float, tol: float) -> dict[str, float | int | str]:
    from convexcluster import solve
    from convexcluster.datasets import make_rings
    from convexcluster.embedding import embed
    from convexcluster.kernels import resolve_kernel
    from convexcluster.weights import build_graph

    blob = n // 8  # the paper's proportions: four blobs of an eighth, a circle of half
    X, _ = make_rings(n_per_blob=blob, n_circle=n - 4 * blob, random_state=0)
    clock = [time.perf_counter()]
    E = embed(X, resolve_kernel("rbf", bandwidth), method="pivoted")
    clock.append(time.perf_counter())
    graph = build_graph(X, "knn", n_neighbors=6, bandwidth=100.0)
    clock.append(time.perf_counter())
    solution = solve(E.Z, graph.edges, graph.weights, gamma, tol=tol)
    clock.append(time.perf_counter())
    return {
        "n": n,
        "rank": E.rank,
        "tau2": E.trace_error,
        "tau2_relative": E.trace_error / (float(E.variances.sum()) + E.trace_error),
        "embed_seconds": clock[1] - clock[0],
        "graph_seconds": clock[2] - clock[1],
        "solve_seconds": clock[3] - clock[2],
        "relative_gap": solution.relative_gap,
        "status": solution.status.value,
        "peak_gb": peak_bytes() / 1e9,
    }


def peak_bytes() -> float:
    """Peak resident set of this process; macOS counts in bytes, Linux in units of 1,024."""
    unit = 1 if sys.platform == "darwin" else 1024
    return float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) * unit


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--n", type=int, default=20_000)
    parser.add_argument("--bandwidth", type=float, default=1.0)
    parser.add_argument("--gamma", type=float, default=1.0)
    parser.add_argument("--tol", type=float, default=1e-6)
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        print(json.dumps(measure(given.n, given.bandwidth, given.gamma, given.tol)))
        return 0
    child = subprocess.run(
        [sys.executable, __file__, "--child", *sys.argv[1:]], stdout=subprocess.PIPE, check=True
    )
    row = json.loads(child.stdout)
    for name, value in row.items():
        print(f"{name:15s} {value:.4g}" if isinstance(value, float) else f"{name:15s} {value}")
    within = row["peak_gb"] < LIMIT_GB
    print(f"peak memory {'below' if within else 'ABOVE'} {LIMIT_GB:g} GB")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
