"""Scores of one method on one data set, by both protocols: the cells of Tables 1 and 2.

tuned with labels   the best NMI over the grid (and the path), for each rule of choosing k
no labels           the method's own defaults: k found by itself where it can, and told the classes
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.metrics import normalized_mutual_info_score

from ..datasets import load, make_rings
from ..problem import Floats, Ints
from . import paper
from .cells import Result
from .methods import METHODS, Contender, Params, Partition

PREPROCESSING = ("none", "standardised")


def benchmark(name: str) -> tuple[Floats, Ints]:
    """A real data set of the paper, or its stand-in."""
    return load(STORED.get(name, name))


# names of stand-ins in convexcluster.datasets
STORED = {"lung": "lung_bhattacharjee1543", "GLI85": "GLI85_freije_genelevel"}


def prepare(X: Floats, preprocessing: str, rotate: bool = False) -> Floats:
    """Centre and scale to unit standard deviation if asked; constant features become 0.

    ``rotate``: if there are more features than samples, use n coordinates with the same distances.
    """
    if preprocessing == "standardised":
        spread = X.std(axis=0)
        X = (X - X.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    if rotate and X.shape[1] > X.shape[0]:
        U, s, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
        X = U * s
    return np.ascontiguousarray(X)


def nmi(y: Ints, labels: Ints) -> float:
    """Normalised mutual information, arithmetic mean, to ten digits."""
    return round(float(normalized_mutual_info_score(y, labels)), 10)


def best_by_rule(
    X: Floats,
    y: Ints,
    method: Contender,
    counts: dict[str, int],
    preprocessings: Iterable[str] = PREPROCESSING,
    rotate: bool = True,
) -> dict[str, Any]:
    """The best partition of each rule over the method's grid, and how many were scored."""
    best: dict[str, Any] = {}
    scored = 0
    for preprocessing in preprocessings:
        prepared = prepare(X, preprocessing, rotate and method.rotates)
        for params in method.grid:
            for part in method.partitions(prepared, params, counts):
                scored += 1
                value = nmi(y, part.labels)
                if part.rule not in best or value > best[part.rule]["nmi"]:
                    best[part.rule] = _entry(part, value, preprocessing, params)
    return {"best": best, "scored": scored}


def _entry(part: Partition, value: float, preprocessing: str, params: Params) -> dict[str, Any]:
    return {
        "nmi": value,
        "k": len(np.unique(part.labels)),
        "preprocessing": preprocessing,
        "params": {**params, **part.detail},
        "labels": part.labels.tolist(),
    }


def real_default(name: str, method: str) -> Result:
    """Cell of Table 1: defaults, k found where the method can, and told the number of classes."""
    X, y = benchmark(name)
    kind = "standardised" if name in paper.CONTINUOUS else "none"
    prepared = prepare(X, kind)  # not rotated: a default may look at single features, as ours does
    entries = {}
    for rule, labels in METHODS[method].default(prepared, len(np.unique(y))).items():
        part = Partition(rule, np.asarray(labels), {})
        entries[rule] = _entry(part, nmi(y, part.labels), kind, {})
    return {"default": entries}


def real_tuned(name: str, method: str) -> Result:
    """Cell of Table 1: one data set, one method, tuned with labels."""
    X, y = benchmark(name)
    k = len(np.unique(y))
    counts = {"paper": paper.TABLE1_CLUSTERS.get(name, k), "classes": k}
    return best_by_rule(X, y, METHODS[method], counts)


def rings(n_clusters: int, seed: int) -> tuple[Floats, Ints]:
    """The paper's generator with n_clusters − 1 blobs inside the circle."""
    return make_rings(n_blobs=n_clusters - 1, random_state=seed)


def rings_tuned(method: str, n_clusters: int) -> Result:
    """Settings with the best NMI on seed 0: told k, and with the method's own k.

    Many settings reach the same NMI here. Of them the middle of the longest run, in the order of
    the grid (γ innermost), is taken: the first would sit at the edge of what works.
    """
    X, y = rings(n_clusters, 0)
    entries: dict[str, list[dict[str, Any]]] = {}
    for params in METHODS[method].grid:
        for part in METHODS[method].partitions(X, params, {"classes": n_clusters}):
            entry = _entry(part, nmi(y, part.labels), "none", params)
            entries.setdefault(part.rule, []).append(entry)
    best = {rule: row[middle_of_best([e["nmi"] for e in row])] for rule, row in entries.items()}
    return {"best": best, "scored": sum(map(len, entries.values()))}


def middle_of_best(values: list[float]) -> int:
    """Position in the middle of the longest run of the greatest value.

    Examples
    --------
    >>> middle_of_best([1.0, 0.2, 1.0, 1.0, 1.0, 0.9])
    3
    """
    top = max(values)
    longest, start = (0, 0), 0
    for position, value in enumerate([*values, float("-inf")]):
        if value < top:
            longest = max(longest, (position - start, -start))
            start = position + 1
    return -longest[1] + (longest[0] - 1) // 2


Scores = dict[str, list[list[float]]]


def rings_seeds(method: str, n_clusters: int, seeds: list[int], settings: Params) -> Result:
    """NMI and number of clusters of each seed, with the settings of seed 0, by rule."""
    rows: Scores = {rule: [] for rule in settings}
    for seed in seeds:
        X, y = rings(n_clusters, seed)
        for rule, params in settings.items():
            wanted = {"classes": n_clusters} if rule == "classes" else {}
            for part in METHODS[method].partitions(X, params, wanted):
                if part.rule == rule:
                    rows[rule].append([nmi(y, part.labels), len(np.unique(part.labels))])
    return rows


def rings_example(method: str, n_clusters: int) -> Result:
    """Labels of seed 0 with the defaults, told k."""
    X, y = rings(n_clusters, 0)
    labels = np.asarray(METHODS[method].default(X, n_clusters)["told"])
    return {"nmi": nmi(y, labels), "labels": labels.tolist()}


def rings_default(method: str, n_clusters: int, seeds: list[int]) -> Result:
    """NMI and number of clusters of each seed with the defaults: k found, and told."""
    rows: Scores = {}
    for seed in seeds:
        X, y = rings(n_clusters, seed)
        for rule, labels in METHODS[method].default(X, n_clusters).items():
            rows.setdefault(rule, []).append([nmi(y, labels), len(np.unique(labels))])
    return rows
