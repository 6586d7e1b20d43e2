"""`python -m benchmarks.soft`: log loss of memberships, AUC of outliers, sub-clusters of cells.

Writes the tables of docs/guide/soft.md. Classes are known, and k is told. Outliers are a few
samples of one class among all of another, five draws each.
"""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_moons
from sklearn.ensemble import IsolationForest
from sklearn.metrics import adjusted_rand_score, roc_auc_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import LocalOutlierFactor
from sklearn.preprocessing import scale

from benchmarks.kept import ROOT
from benchmarks.readme import rewrite
from benchmarks.scale.page import table
from convexcluster import KernelConvexClustering

SURE = 1e-3  # least probability: a sure mistake costs log 1000


def log_loss(P: np.ndarray, y: np.ndarray) -> float:
    """Log loss after columns are matched to classes so that agreement is greatest."""
    k = len(set(y))
    agreement = np.array([[P[y == t, s].sum() for s in range(P.shape[1])] for t in range(k)])
    rows, columns = linear_sum_assignment(-agreement)
    matched = np.zeros((len(P), k))
    matched[:, rows] = P[:, columns]
    matched = np.clip(matched, SURE, None)
    matched /= matched.sum(axis=1, keepdims=True)
    return float(-np.log(matched[np.arange(len(y)), y]).mean())


def classified() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Samples and classes."""
    y = np.arange(300) % 3
    normals = np.array([[0, 0], [4, 0], [2, 3.5]])[y] + np.random.default_rng(0).normal(
        size=(300, 2)
    )
    sets = {"moons": make_moons(300, noise=0.12, random_state=0), "three normals": (normals, y)}
    for name, load in (("iris", load_iris), ("wine", load_wine), ("cancer", load_breast_cancer)):
        data = load()
        sets[name] = scale(data.data), data.target
    return sets


def memberships() -> list[str]:
    """Log loss of the true classes."""
    head = ["log loss, told k", "memberships", "hard labels", "Gaussian mixture"]
    rows = []
    for name, (X, y) in classified().items():
        k = len(set(y))
        model = KernelConvexClustering(k).fit(X)
        mixture = GaussianMixture(k, n_init=3, random_state=0).fit(X).predict_proba(X)
        found = (model.membership_, np.eye(k)[model.labels_], mixture)
        ari = f"{adjusted_rand_score(y, model.labels_):.2f}"
        rows.append([name, *(f"{log_loss(P, y):.3f}" for P in found), ari])
    return table([*head, "ARI of our labels"], rows)


def outliers() -> list[str]:
    """AUC of scores that tell a few samples of another class, and what Tukey's rule names."""
    cancer, digits, wine = load_breast_cancer(), load_digits(), load_wine()
    sets = {
        "cancer: benign, 15 malignant": (scale(cancer.data), cancer.target == 1, 15),
        "digits: zeros, 10 others": (digits.data, digits.target == 0, 10),
        "wine: first two, 5 of the third": (scale(wine.data), wine.target < 2, 5),
    }
    head = ["AUC, five draws", "`outlier_score_`", "LOF", "isolation forest"]
    head += ["named by Tukey's rule: of the outliers, of the others"]
    lines = []
    for name, (X, usual, few) in sets.items():
        rows = []
        for seed in range(5):
            drawn = np.random.default_rng(seed).choice(np.flatnonzero(~usual), few, replace=False)
            Z, odd = (
                np.concatenate([X[usual], X[drawn]]),
                np.arange(usual.sum() + few) >= usual.sum(),
            )
            ours = KernelConvexClustering().fit(Z).outlier_score_
            low, high = np.quantile(ours, [0.25, 0.75])
            told = ours > high + 1.5 * (high - low)
            lof = -LocalOutlierFactor().fit(Z).negative_outlier_factor_
            forest = -IsolationForest(random_state=seed).fit(Z).score_samples(Z)
            aucs = [roc_auc_score(odd, score) for score in (ours, lof, forest)]
            rows.append([*aucs, told[odd].mean(), told[~odd].mean()])
        *aucs, true, false = np.mean(rows, axis=0)
        lines.append([name, *(f"{auc:.3f}" for auc in aucs), f"{true:.0%}, {false:.0%}"])
    return table(head, lines)


def subclusters() -> list[str]:
    """The five cell lines from a fit of few clusters, without a new fit."""
    folder = Path(os.environ.get("CONVEXCLUSTER_DATA", "data")) / "cells"
    head = ["five cell lines, told k", "ARI", "`subcluster`, told how many lines", "told nothing"]
    rows = []
    with np.load(folder / "sc_celseq2_5cl_p1.npz") as stored:
        parts = (stored["data"], stored["indices"], stored["indptr"])
        counts = sparse.csr_array(parts, shape=stored["shape"]).astype(float)
        y = stored["y"]
    X = components(counts)
    for k in (2, 3):
        model = KernelConvexClustering(k).fit(X)
        row = [f"{k}", f"{adjusted_rand_score(y, model.labels_):.3f}"]
        for told in (True, False):
            labels = np.zeros(len(y), dtype=int)
            for label in range(k):
                own = np.flatnonzero(model.labels_ == label)
                # a line is inside if a tenth of it is
                lines = int((np.bincount(y[own], minlength=5) > 0.1 * np.bincount(y)).sum())
                inner = model.subcluster(label, max(lines, 1) if told else None)
                labels[own] = labels.max() + 1 + inner
            row.append(f"{adjusted_rand_score(y, labels):.3f} ({len(set(labels))} clusters)")
        rows.append(row)
    return table(head, rows)


def components(counts: sparse.csr_array, genes: int = 2_000, rank: int = 20) -> np.ndarray:
    """Principal components of the log counts per 10,000 of the genes that vary most."""
    depth = np.asarray(counts.sum(axis=1)).ravel()
    logs = (sparse.diags_array(1e4 / depth) @ counts).log1p().toarray()
    logs = logs[:, np.argsort(-logs.var(axis=0), kind="stable")[:genes]]
    U, s, _ = np.linalg.svd(logs - logs.mean(axis=0), full_matrices=False)
    return U[:, :rank] * s[:rank]


def main() -> None:
    """All three tables."""
    warnings.filterwarnings("ignore")
    lines = []
    for part in (memberships, outliers, subclusters):
        found = part()
        print("\n".join(found), flush=True)
        lines += found
    rewrite("figures", lines, ROOT / "docs" / "guide" / "soft.md")


if __name__ == "__main__":
    main()
