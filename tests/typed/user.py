"""A user's program, which `mypy --strict` reads: public names have types that a user can hold."""

from __future__ import annotations

from pathlib import Path
from typing import assert_type

import numpy as np
import numpy.typing as npt

from convexcluster import (
    ClusterPath,
    ConvexClustering,
    KernelConvexClustering,
    MixedEncoder,
    Solution,
    Status,
    load,
    solve,
    solve_path,
    tune,
)
from convexcluster.datasets import make_rings

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]


def clusters(X: Floats, k: int | None = None) -> Ints:
    """Labels and what is known of them."""
    model = KernelConvexClustering(k, kernel="rbf", bandwidth="auto", random_state=0)
    assert_type(model.fit(X), KernelConvexClustering)
    labels: Ints = model.fit_predict(X)
    again: Ints = model.predict(X)
    shares: Floats = model.predict_proba(X)
    distances: Floats = model.transform(X)
    fewer: Ints = model.cut(2)
    count: int = model.n_clusters_
    statement: str = model.certificate_.statement
    radius: float = model.certificate_.radius
    interval: tuple[float, float] | None = model.certificate_.gamma_interval
    sure: float = model.selection_.confidence
    print(again, shares, distances, fewer, count, statement, radius, interval, sure)
    return labels


def path_of(X: Floats) -> tuple[ClusterPath, Floats]:
    """The path of a fit, its tree and its centroids."""
    path = ConvexClustering(gamma=[0.1, 1.0]).fit(X).path_
    assert_type(path, ClusterPath)
    tree: Floats = path.to_linkage()
    at: Ints = path.labels(gamma=0.1)
    centroids: Floats = path.centroids(0.1)
    print(at, centroids)
    return path, tree


def problem(Z: Floats, edges: Ints, weights: Floats) -> float:
    """The solvers by themselves."""
    found = solve(Z, edges, weights, 0.5)
    assert_type(found, Solution)
    assert_type(found.status, Status)
    whole = solve_path(Z, edges, weights, [0.1, 0.5])
    assert_type(whole, ClusterPath)
    return found.relative_gap


def kept(X: Floats, file: Path) -> None:
    """A model on disk, a search and a table."""
    KernelConvexClustering().fit(X).save(file)
    model = load(file)
    labels: Ints = model.predict(X)
    score: float = tune(X).best_score_
    encoded: Floats = MixedEncoder().fit_transform(X)
    print(labels, score, encoded)


if __name__ == "__main__":
    X, y = make_rings(random_state=0)
    clusters(X)
    path_of(X)
