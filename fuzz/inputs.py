"""Estimators on rows and parameters of all kinds: an answer that holds, or one sentence.

What must hold of an answer: labels 0 … k − 1 for every row, all used; as many as were asked for;
`predict` of the rows is `labels_`, and of shuffled rows too; finite centroids and a radius ≥ 0;
shares that sum to one. A refusal is a ValueError, TypeError or MemoryError of one line.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

from convexcluster import ConvexClustering, KernelConvexClustering
from convexcluster.kernels import KERNELS

DATA = (
    *("normal", "blobs", "grid", "duplicates", "constant", "line", "binary", "one far", "columns"),
    *("integers", "heavy tails", "nearly equal", "missing", "infinite", "empty", "flat", "text"),
)
CLOTHES = ("array", "fortran", "float32", "list", "frame", "sparse", "view", "object", "read-only")


def rows_of(rng: np.random.Generator) -> tuple[Any, int]:
    """At most thirty rows of some kind in some container; also how many."""
    n, d = int(rng.integers(1, 31)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d))
    kind = rng.choice(DATA, p=_mostly_good(DATA, 13))
    if kind == "blobs":
        X += 8.0 * rng.integers(0, 3, n)[:, None]
    elif kind == "grid":
        X = np.round(X)
    elif kind == "duplicates":
        X = X[rng.integers(0, max(1, n // 3), n)]
    elif kind == "constant":
        X[:] = X[0]
    elif kind == "line":
        X = X[:, :1] * np.arange(1, d + 1)
    elif kind == "binary":
        X = (X > 0).astype(float)
    elif kind == "one far":
        X[0] *= 10.0 ** rng.integers(2, 12)
    elif kind == "columns":
        X *= 10.0 ** rng.integers(-9, 10, d)
    elif kind == "integers":
        X = np.round(100 * X)
    elif kind == "heavy tails":
        X = rng.standard_cauchy(size=(n, d))
    elif kind == "nearly equal":
        X = 1.0 + 1e-13 * X
    elif kind in ("missing", "infinite"):
        X[rng.integers(0, n), rng.integers(0, d)] = np.nan if kind == "missing" else np.inf
    elif kind == "empty":
        X = X[:0] if rng.random() < 0.5 else X[:, :0]
    elif kind == "flat":
        X = X[:, 0]
    elif kind == "text":
        return pd.DataFrame(X).assign(c="u"), n
    X = X * 2.0 ** int(rng.choice([0, 0, 0, -30, 30, -300, 300, -900, 900]))
    return _dressed(X, rng), n


def _mostly_good(kinds: tuple[str, ...], good: int) -> np.ndarray:
    weight = np.ones(len(kinds))
    weight[good - 1 :] = 0.3
    return weight / weight.sum()


def _dressed(X: np.ndarray, rng: np.random.Generator) -> Any:
    clothes = rng.choice(CLOTHES)
    if clothes == "fortran":
        return np.asfortranarray(X)
    if clothes == "float32":
        with np.errstate(over="ignore"):
            return X.astype(np.float32)
    if clothes == "list":
        return X.tolist()
    if clothes == "frame" and X.ndim == 2:
        return pd.DataFrame(X, columns=[f"c{k}" for k in range(X.shape[1])])
    if clothes == "sparse" and X.ndim == 2:
        return sparse.csr_array(X)
    if clothes == "view":
        return np.repeat(X, 2, axis=0)[::2]
    if clothes == "object":
        return X.astype(object)
    if clothes == "read-only":
        X.setflags(write=False)
    return X


def parameters_of(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Some parameters, mostly of the right kind."""
    values: dict[str, list[Any]] = {
        "n_clusters": [None, 1, 2, 3, n, n + 1, 0, 2.5],
        "weights": ["knn", "local", "mutual", "full", "bogus"],
        "n_neighbors": [1, 2, 7, 1000, 0],
        "weight_bandwidth": ["auto", 1.0, 1e-30, 1e30, -1.0],
        "gamma": [None, 0.0, 0.1, 10.0, 1e300, [0.1, 1.0], [0.0], [], float("nan")],
        "labels": ["auto", "fusion", "agglomerative"],
        "selection": ["auto", "lifetime", "elbow", "bogus"],
        "min_cluster_size": [None, 1, 2, n, 10**9],
        "solver": ["auto", "ssnal", "admm", "ama", "mm"],
        "tol": ["auto", 1e-3, 1e-9, 0.5, 0.0],
        "max_iter": [None, 1, 10, 0],
        "certify": ["selected", "path", False, True],
        "coarsen": ["auto", False, True, 1, 5],
        "random_state": [None, 0, 7, -1],
        "n_jobs": [None, 1, 2, -1],
    }
    kernel: dict[str, list[Any]] = {
        "kernel": [*KERNELS, "gaussian", "bogus"],
        "bandwidth": ["auto", 1.0, 1e-30, 1e30, 0.0],
        "embedding": ["auto", "exact", "pivoted", "nystroem", "rff", "bogus"],
        "rank": [None, 1, 5, 10**6],
        "weight_space": ["input", "embedding"],
    }
    given = {}
    table = values | kernel
    for name in rng.choice(list(table), int(rng.integers(0, 4)), replace=False):
        given[str(name)] = table[name][int(rng.integers(len(table[name])))]
    return given


def case(rng: np.random.Generator) -> dict[str, int]:
    """One fit, checked."""
    X, n = rows_of(rng)
    given = parameters_of(rng, n)
    weights = rng.uniform(0.0, 3.0, n) if rng.random() < 0.2 else None
    linear = rng.random() < 0.3
    names = ConvexClustering().get_params()
    if linear:
        given = {name: value for name, value in given.items() if name in names}
    estimator = (ConvexClustering if linear else KernelConvexClustering)(**given)
    try:
        estimator.fit(X, sample_weight=weights)
    except (ValueError, TypeError, MemoryError) as error:
        sentence = str(error)
        if isinstance(error, MemoryError):
            assert "GB are free" in sentence, f"memory was not counted first: {sentence}"
        assert sentence, "an error without a word"
        one_line = "\n" not in sentence.strip()
        # the words of scikit-learn's own check of estimators, which asks for them
        assert one_line or "Reshape your data" in sentence, f"more than a line: {sentence!r}"
        raw = ("broadcast", "unhashable", "NoneType", "operand", "ambiguous", "out of bounds")
        assert not any(word in sentence for word in raw), f"from further down: {sentence!r}"
        return {"refused": 1}
    _check(estimator, X, n, given, rng)
    return {"answered": 1}


def _check(estimator: Any, X: Any, n: int, given: dict[str, Any], rng: Any) -> None:
    labels, k = estimator.labels_, estimator.n_clusters_
    assert labels.shape == (n,), "labels of other rows"
    assert set(labels.tolist()) == set(range(k)), f"labels {set(labels.tolist())} of {k} clusters"
    told = given.get("n_clusters")
    distinct = n  # fewer distinct rows than clusters are warned of
    assert told is None or k <= min(told, distinct), f"{k} clusters, told {told}"
    certificate = estimator.certificate_
    assert np.isfinite(certificate.radius), "no radius"
    assert certificate.radius >= 0
    assert np.isfinite(estimator.centroids_).all(), "centroids without numbers"
    beta = estimator.dual_coef_
    np.testing.assert_allclose(beta.sum(axis=1), 1.0, atol=1e-6)
    np.testing.assert_array_equal(estimator.predict(X), labels, "predict of the training rows")
    shares = estimator.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=1e-9)
