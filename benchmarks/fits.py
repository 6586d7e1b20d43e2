"""Default fits of 500 to 50,000 samples: seconds, clusters, scores, memory; `make bench-fits`.

    python -m benchmarks.fits              every case, one after the other, to docs/fits-results.md
    python -m benchmarks.fits moons-10000  one case, as a line of JSON

Each case runs in a process of its own, so that the peak of its memory is its own, after a small fit
that loads what is compiled. Only `KernelConvexClustering().fit(X)` is timed, selection included.
Beside it stand scikit-learn's HDBSCAN at its defaults, timed in turn with ours, the same told k,
and k-means and spectral clustering told k up to 10,000 samples. `mnist500` and `mnist10k` are read
from the folder that the environment variable CONVEXCLUSTER_DATA names.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).resolve().parent.parent / "docs" / "fits-results.md"
Data = tuple[np.ndarray, np.ndarray]

# Seconds of a first fit up to which two more are made, and the median of three is reported: loops
# of many samples, which a small fit does not load, are loaded in the first one.
SHORT = 5.0

# Samples beyond which nothing else is run beside HDBSCAN: spectral clustering takes minutes.
MANY = 10_000


def moons(n: int) -> Data:
    """Two half moons, noise 0.05."""
    from sklearn.datasets import make_moons

    return make_moons(n, noise=0.05, random_state=0)


def circles(n: int) -> Data:
    """Two circles, one inside the other."""
    from sklearn.datasets import make_circles

    return make_circles(n, noise=0.05, factor=0.5, random_state=0)


def rings(n: int) -> Data:
    """The paper's four blobs inside a circle."""
    from convexcluster.datasets import make_rings

    return make_rings(4, n_per_blob=n // 8, n_circle=n // 2, random_state=0)


def blobs(n: int) -> Data:
    """Five Gaussians of different spread, two of which overlap."""
    from sklearn.datasets import make_blobs

    return make_blobs(n, centers=5, cluster_std=[1.0, 1.5, 0.5, 1.0, 0.8], random_state=3)


def many_features(n: int, d: int, k: int) -> Data:
    """k Gaussians far apart in d dimensions."""
    from sklearn.datasets import make_blobs

    return make_blobs(n, n_features=d, centers=k, random_state=0)


def noise(n: int) -> Data:
    """Uniform in a square: one cluster."""
    return np.random.default_rng(0).uniform(size=(n, 2)), np.zeros(n, dtype=int)


def digits() -> Data:
    """scikit-learn's digits, 1,797 × 64."""
    from sklearn.datasets import load_digits

    return load_digits(return_X_y=True)


def normal(n: int, d: int) -> Data:
    """One normal cloud in d dimensions: one cluster."""
    return np.random.default_rng(0).normal(size=(n, d)), np.zeros(n, dtype=int)


def mnist(name: str) -> Data:
    """Digits of MNIST, 784 pixels in [0, 1]."""
    if "CONVEXCLUSTER_DATA" not in os.environ:
        raise SystemExit(f"{name} is read from the folder that CONVEXCLUSTER_DATA names")
    with np.load(Path(os.environ["CONVEXCLUSTER_DATA"]) / f"{name}.npz") as file:
        return file["X"].astype(np.float64) / 255.0, file["y"].astype(int)


CASES: dict[str, Callable[[], Data]] = {
    "moons-500": lambda: moons(500),
    "normal-500": lambda: normal(500, 10),
    "mnist500": lambda: mnist("mnist500"),
    "moons-2000": lambda: moons(2_000),
    "circles-2000": lambda: circles(2_000),
    "rings-2000": lambda: rings(2_000),
    "blobs-2000": lambda: blobs(2_000),
    "noise-2000": lambda: noise(2_000),
    "digits": digits,
    "moons-10000": lambda: moons(10_000),
    "circles-10000": lambda: circles(10_000),
    "rings-10000": lambda: rings(10_000),
    "blobs-10000": lambda: blobs(10_000),
    "noise-10000": lambda: noise(10_000),
    "mnist10k": lambda: mnist("mnist10k"),
    "blobs-1000x10": lambda: many_features(1_000, 10, 6),
    "blobs-5000x10": lambda: many_features(5_000, 10, 6),
    "blobs-20000x50": lambda: many_features(20_000, 50, 10),
    "moons-50000": lambda: moons(50_000),
}

COLUMNS = (
    ("n", "n"),
    ("d", "d"),
    ("seconds", "seconds"),
    ("hdbscan", "HDBSCAN s"),
    ("ratio", "ours / HDBSCAN"),
    ("cpu", "in CPU time"),
    ("peak", "peak GB"),
    ("clusters", "k found"),
    ("classes", "k true"),
    ("nmi", "NMI"),
    ("ari", "ARI"),
    ("told", "NMI told k"),
    ("kmeans", "k-means told k"),
    ("spectral", "spectral told k"),
    ("gap", "relative gap"),
    ("lost", "trace lost"),
)


def timed(fit: Callable[[], Any]) -> tuple[float, float]:
    """Seconds that passed, and of CPU time."""
    start, used = time.perf_counter(), time.process_time()
    fit()
    return time.perf_counter() - start, time.process_time() - used


def measure(X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """The default fit with its time and memory, then the others."""
    from sklearn.cluster import HDBSCAN, KMeans, SpectralClustering
    from sklearn.metrics import adjusted_rand_score as ari
    from sklearn.metrics import normalized_mutual_info_score as nmi

    from convexcluster import KernelConvexClustering

    for few in (moons(1_200)[0], many_features(1_200, 5, 3)[0]):  # loads what is compiled
        KernelConvexClustering().fit(few)
        HDBSCAN(copy=False).fit(few)
    model, ours, theirs = KernelConvexClustering(), [], []
    while not ours or (len(ours) < 3 and theirs[0][0] + ours[0][0] < SHORT):
        theirs.append(timed(lambda: HDBSCAN(copy=False).fit(X)))
        ours.append(timed(lambda: model.fit(X)))
    (seconds, cpu), (others, others_cpu) = np.median(ours, axis=0), np.median(theirs, axis=0)
    proved = model.certificate_
    lost, scale = proved.embedding_error**2, proved.gap / max(proved.relative_gap, 1e-300)
    out = {
        "n": len(X),
        "d": X.shape[1],
        "seconds": seconds,
        "hdbscan": others,
        "ratio": seconds / others,
        "cpu": cpu / others_cpu,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6,
        "clusters": model.n_clusters_,
        "nmi": nmi(y, model.labels_),
        "ari": ari(y, model.labels_),
        "gap": proved.relative_gap,
        "lost": lost / (lost + 2 * scale) if proved.gap > 0 else 0.0,
    }
    k = len(np.unique(y))
    out["classes"] = k
    if k > 1 and len(X) <= MANY:
        spectral = SpectralClustering(k, affinity="nearest_neighbors", random_state=0)
        out["told"] = nmi(y, KernelConvexClustering(k).fit_predict(X))
        out["kmeans"] = nmi(y, KMeans(k, n_init=10, random_state=0).fit_predict(X))
        out["spectral"] = nmi(y, spectral.fit_predict(X))
    return out


def run(name: str) -> dict[str, Any]:
    """One case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.fits", name]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if not lines:
        return {"failed": done.stderr.strip().splitlines()[-1] if done.stderr else "no output"}
    return json.loads(lines[-1])


def row(name: str, figures: dict[str, Any]) -> str:
    """A line of the table."""
    if "failed" in figures:
        return f"| {name} | {figures['failed']} |" + " |" * (len(COLUMNS) - 1)
    return " | ".join([f"| {name}", *(_shown(figures.get(key)) for key, _ in COLUMNS)]) + " |"


def _shown(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, float):
        return f"{value:.1e}" if 0 < abs(value) < 1e-2 else f"{value:.3f}"
    return f"{value:,}"


def main(names: list[str]) -> None:
    """Run one case here, or all in processes and write the table."""
    if names:
        print(json.dumps(measure(*CASES[names[0]]())), flush=True)
        return
    from benchmarks.machine import header

    lines = [
        "# Default fits",
        "",
        "`KernelConvexClustering().fit(X)` with nothing set, selection included, warm (a small fit "
        "has loaded what is compiled); seconds are the median of three, or of one fit where ours "
        f"and HDBSCAN's take more than {SHORT:g} s together. *Ours / HDBSCAN* is the ratio to "
        "scikit-learn's HDBSCAN at its defaults, "
        "warm, in the same process and in turn, of the seconds and of CPU time (ours uses two "
        "threads, HDBSCAN one). `make bench-fits` writes this page. *Trace lost* is the share of "
        "the kernel's trace that the automatic rank leaves out, which is part of the certificate.",
        "",
        "```",
        header("make bench-fits"),
        "```",
        "",
        "| data | " + " | ".join(title for _, title in COLUMNS) + " |",
        "|---" * (len(COLUMNS) + 1) + "|",
    ]
    for name in CASES:
        lines.append(row(name, run(name)))
        print(lines[-1], flush=True)
    RESULTS.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
