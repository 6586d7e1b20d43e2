"""Every method on one data set, and the tables of many."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from convexcluster import KernelConvexClustering

from .data import PAPER, Pair

OURS, TOLD = "told nothing", "told k"

# Each of these is told the number of classes; the anchor of a set is the best of them.
ANCHORS: dict[str, Callable[[int], Any]] = {
    "k-means": lambda k: KMeans(k, n_init=10, random_state=0),
    "spectral": lambda k: SpectralClustering(k, affinity="nearest_neighbors", random_state=0),
    "Ward": lambda k: AgglomerativeClustering(k),
}

METHODS: dict[str, Callable[[int], Any]] = {
    **ANCHORS,
    "HDBSCAN": lambda k: HDBSCAN(),
    TOLD: lambda k: KernelConvexClustering(k),
    OURS: lambda k: KernelConvexClustering(),
}

Row = dict[str, Any]


def score(name: str, X: np.ndarray, y: np.ndarray) -> list[Row]:
    """One row per method."""
    rows, classes = [], len(np.unique(y))
    for method, make in METHODS.items():
        start, model = time.perf_counter(), make(classes)
        labels = model.fit_predict(X)
        rows.append(
            {
                "data": name,
                "method": method,
                "nmi": float(normalized_mutual_info_score(y, labels)),
                "ari": float(adjusted_rand_score(y, labels)),
                "k": len(np.unique(labels[labels >= 0])),
                "classes": classes,
                "samples": len(X),
                "features": X.shape[1],
                "seconds": time.perf_counter() - start,
                "verdict": getattr(getattr(model, "selection_", None), "verdict", None),
            }
        )
    mine = {row["method"]: row["nmi"] for row in rows}
    tell(f"{name}: {TOLD} {mine[TOLD]:.3f}, {OURS} {mine[OURS]:.3f}")
    return rows


def score_all(sets: Iterable[tuple[str, Pair]]) -> list[Row]:
    """The rows of many sets."""
    return [row for name, (X, y) in sets for row in score(name, X, y)]


def tell(line: str) -> None:
    """Say how far a long run is."""
    print(line, file=sys.stderr, flush=True)


def column(rows: list[Row], method: str, name: str | None = None) -> list[Row]:
    """The rows of a method, of one data set or of all."""
    return [r for r in rows if r["method"] == method and name in (None, r["data"])]


def mean(rows: list[Row], method: str, name: str | None = None) -> float:
    """Mean NMI of a method."""
    return float(np.mean([row["nmi"] for row in column(rows, method, name)]))


def markdown(head: Iterable[str], lines: Iterable[Iterable[str]]) -> str:
    """A table."""
    head = list(head)
    cells = [head, ["---"] * len(head), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in cells)


def table_of_sets(rows: list[Row]) -> str:
    """A line per data set: NMI of every method, the anchor, the paper, our k; and the means."""
    names = list(dict.fromkeys(row["data"] for row in rows))
    paper = ["paper, tuned"] if PAPER.keys() & set(names) else []
    head = ["set (classes)", *ANCHORS, "anchor", *paper, "HDBSCAN", TOLD, f"{OURS} (k)"]
    lines, best = [], []
    for name in names:
        at = {method: column(rows, method, name)[0] for method in METHODS}
        best.append(max(at[method]["nmi"] for method in ANCHORS))
        found = at[OURS]
        verdict = ", no structure" if found["verdict"] == "no structure" else ""
        lines.append(
            [f"{name} ({found['classes']})"]
            + [f"{at[method]['nmi']:.3f}" for method in ANCHORS]
            + [f"{best[-1]:.3f}", *(f"{PAPER[name]:.3f}" if name in PAPER else "–" for _ in paper)]
            + [f"{at['HDBSCAN']['nmi']:.3f}"]
            + [f"{at[TOLD]['nmi']:.3f}", f"{found['nmi']:.3f} ({found['k']}{verdict})"]
        )
    middle = [f"{np.mean(best):.3f}", *("" for _ in paper), f"{mean(rows, 'HDBSCAN'):.3f}"]
    ours = [f"{mean(rows, method):.3f}" for method in (TOLD, OURS)]
    lines.append(["mean", *(f"{mean(rows, method):.3f}" for method in ANCHORS), *middle, *ours])
    return markdown(head, lines)


def table_of_seeds(rows: list[Row]) -> str:
    """A line per toy: mean NMI over its draws, and in how many of them our k is right."""
    head = ["toy", *METHODS, "k exact", "no structure"]
    lines = []
    for name in dict.fromkeys(row["data"] for row in rows):
        ours = column(rows, OURS, name)
        right = sum(row["k"] == row["classes"] for row in ours)
        none = sum(row["verdict"] == "no structure" for row in ours)
        means = [f"{mean(rows, method, name):.3f}" for method in METHODS]
        lines.append([name, *means, f"{right} of {len(ours)}", str(none)])
    return markdown(head, lines)
