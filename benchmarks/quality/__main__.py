"""`python -m benchmarks.quality [--data DIR] [--seeds N]`: NMI, ARI and k, table and picture.

Every method but ours told nothing and HDBSCAN is given the true number of clusters. Writes
benchmarks/out/quality.{json,md,png}.
"""

from __future__ import annotations

import argparse
import json
import os
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from convexcluster import KernelConvexClustering

from .data import NOISE, PAPER, TOYS, real

OUT = Path(__file__).parents[1] / "out"

METHODS: dict[str, Callable[[int], object]] = {
    "ours": lambda k: KernelConvexClustering(),
    "ours, told k": lambda k: KernelConvexClustering(k),
    "k-means, told k": lambda k: KMeans(k, n_init=10, random_state=0),
    "spectral, told k": lambda k: SpectralClustering(
        k, affinity="nearest_neighbors", random_state=0
    ),
    "Ward, told k": lambda k: AgglomerativeClustering(k),
    "HDBSCAN": lambda k: HDBSCAN(),
}


def score(name: str, X: np.ndarray, y: np.ndarray) -> list[dict]:
    """One row per method."""
    rows = []
    for method, make in METHODS.items():
        labels = make(len(np.unique(y))).fit_predict(X)
        rows.append(
            {
                "data": name,
                "method": method,
                "nmi": float(normalized_mutual_info_score(y, labels)),
                "ari": float(adjusted_rand_score(y, labels)),
                "k": len(np.unique(labels[labels >= 0])),
                "true_k": len(np.unique(y)),
            }
        )
    return rows


def noise(draws: int) -> dict[str, float]:
    """Share of draws of pure noise in which the verdict is "no structure"."""
    found = {}
    for name, make in NOISE.items():
        answers = []
        for seed in range(draws):
            X = make(np.random.default_rng([seed, len(name)]))
            answers.append(KernelConvexClustering().fit(X).selection_.verdict == "no structure")
        found[name] = float(np.mean(answers))
    return found


def table(rows: list[dict], null: dict[str, float]) -> str:
    """Markdown: a line per data set, means over seeds, NMI and the usual k of our default."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    lines = [
        "| data | paper, tuned | " + " | ".join(METHODS) + " | our k (true) | k right |",
        "|---" * (len(METHODS) + 4) + "|",
    ]
    for name in names:
        mine = [row for row in rows if row["data"] == name]
        cells = [mean(mine, method) for method in METHODS]
        ks = [row["k"] for row in mine if row["method"] == "ours"]
        right = np.mean([k == mine[0]["true_k"] for k in ks])
        lines.append(
            f"| {name} | {PAPER.get(name, '–')} | "
            + " | ".join(f"{cell:.3f}" for cell in cells)
            + f" | {int(np.median(ks))} ({mine[0]['true_k']}) | {right:.2f} |"
        )
    lines += ["", '| noise | "no structure" |', "|---|---|"]
    return "\n".join(lines + [f"| {name} | {share:.2f} |" for name, share in null.items()])


def mean(rows: list[dict], method: str) -> float:
    """Mean NMI of a method."""
    return float(np.mean([row["nmi"] for row in rows if row["method"] == method]))


def plot(rows: list[dict], file: Path) -> None:
    """NMI of every method on every data set."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    names = list(dict.fromkeys(row["data"] for row in rows))
    figure, axis = plt.subplots(figsize=(9, 0.35 * len(names) + 1.5))
    for method in METHODS:
        values = [mean([row for row in rows if row["data"] == name], method) for name in names]
        size = 70 if method.startswith("ours") else 25
        axis.scatter(values, range(len(names)), s=size, label=method, alpha=0.8)
    axis.set_yticks(range(len(names)), names)
    axis.invert_yaxis()
    axis.set(xlabel="normalised mutual information", xlim=(-0.02, 1.02))
    axis.legend(loc="upper left", bbox_to_anchor=(1, 1))
    figure.savefig(file, dpi=120, bbox_inches="tight")


def main() -> None:
    """Run all, or what the arguments leave of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=os.environ.get("CONVEXCLUSTER_DATA", "data"))
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--draws", type=int, default=100)
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="sklearn")
    rows = []
    for name, (X, y) in real(Path(options.data)):
        rows += score(name, X, y)
    for name, make in TOYS.items():
        for seed in range(options.seeds):
            rows += score(name, *make(seed))
    null = noise(options.draws)
    OUT.mkdir(exist_ok=True)
    (OUT / "quality.json").write_text(json.dumps({"rows": rows, "noise": null}, indent=1))
    (OUT / "quality.md").write_text(table(rows, null) + "\n")
    plot(rows, OUT / "quality.png")
    print(table(rows, null))


if __name__ == "__main__":
    main()
