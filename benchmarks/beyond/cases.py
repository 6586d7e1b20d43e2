"""Every figure of the page: a part, what, a seed → numbers."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from unittest import mock

import numpy as np
from sklearn.metrics import normalized_mutual_info_score as nmi

from benchmarks.kept import Figures
from convexcluster import ConvexClustering, KernelConvexClustering, Problem, features, solve
from convexcluster.baselines import BiconvexClustering
from convexcluster.certificate.reduced import reduce
from convexcluster.kernels import SumKernel
from convexcluster.partition import canonical

from . import data, ranges
from .sparse_kmeans import best

# The methods were made with 0, 1, 10 and 11; they had not seen the others.
UNSEEN = (20, 21)
SEEDS = (0, 1, *UNSEEN)
SHARES = (0.0, 0.02, 0.05, 0.1)
LINKED = ("iris", "wine", "glass", "digits")


@dataclass(frozen=True)
class Case:
    """One figure to compute."""

    part: str
    what: str
    seed: int
    run: Callable[[], Figures]

    @property
    def key(self) -> str:
        """Name of the figure among kept ones."""
        return f"{self.part}, {self.what}, seed {self.seed}"


def cases() -> Iterator[Case]:
    """All of them, the quick parts first."""
    for seed in SEEDS:
        yield Case("links exact", "three γ, sharp", seed, lambda s=seed: exact_links(s))
    for name in LINKED:
        for seed in SEEDS:
            yield Case("links", name, seed, lambda n=name, s=seed: links(n, s))
    for name, (_, seeds) in ranges.PROBLEMS.items():
        for seed in seeds:
            yield Case("recovery", name, seed, lambda n=name, s=seed: ranges.recovery(n, s))
    for name in ("moons", "rings", "blobs"):
        seed = ranges.PROBLEMS[name][1][0]
        yield Case("refuted", name, seed, lambda n=name, s=seed: ranges.refuted(n, s))
    for n in ranges.LARGE:
        yield Case("large", f"moons of {n:,}", 0, lambda n=n: ranges.large(n))
    for name in data.VIEWS:
        for seed in SEEDS:
            yield Case("views", name, seed, lambda n=name, s=seed: views(n, s))
    for name in data.AMONG_NOISE:
        for seed in SEEDS:
            yield Case("features", name, seed, lambda n=name, s=seed: among_noise(n, s))
    for law in data.LAWS:
        for seed in SEEDS:
            yield Case("noise", law, seed, lambda n=law, s=seed: noise(n, s))
    for name in (*data.LAWS, *data.AMONG_NOISE):
        for seed in SEEDS:
            yield Case("clearness", name, seed, lambda n=name, s=seed: clearness(n, s))
    for name, read in data.measured():
        yield Case("tables", name, 0, lambda r=read: table(r))


def told_k(X: np.ndarray, y: np.ndarray, **options: object) -> float:
    """NMI of a fit that is told the number of classes."""
    model = KernelConvexClustering(len(np.unique(y)), **options).fit(X)
    return float(nmi(y, model.labels_))


def told_nothing(X: np.ndarray, y: np.ndarray, **options: object) -> tuple[float, int]:
    """NMI and number of clusters of a default fit."""
    model = KernelConvexClustering(**options).fit(X)
    return float(nmi(y, model.labels_)), int(model.n_clusters_)


def learned(X: np.ndarray, only_if_none: bool = False) -> tuple[features.FeatureWeights, float]:
    """Feature weights, and the processor seconds that they took."""
    begin = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = features.learn(X, only_if_none=only_if_none)
    return found, time.process_time() - begin


def among_noise(name: str, seed: int) -> Figures:
    """Groups that few features show: without weights, rivals, learned, and told the features."""
    X, y, telling = data.among_noise(name, seed)
    found, seconds = learned(X)
    told, k = told_nothing(X, y, feature_weights=found.weights)
    plain, plain_k = told_nothing(X, y)
    return {
        "plain": told_k(X, y),
        "plain told nothing": plain,
        "plain k": plain_k,
        "biconvex": float(nmi(y, BiconvexClustering(len(np.unique(y))).fit_predict(X))),
        "sparse k-means": best(X, y, seed),
        "learned": told_k(X, y, feature_weights=found.weights),
        "learned told nothing": told,
        "learned k": k,
        "alone": told_k(X[:, :telling], y),
        "note": found.note,
        "right": int((found.weights[:telling] > 0).sum()) if found.learned else 0,
        "wrong": int((found.weights[telling:] > 0).sum()) if found.learned else 0,
        "telling": telling,
        "seconds": seconds,
    }


def noise(law: str, seed: int) -> Figures:
    """Whether weights are learned where there is nothing to find."""
    found, seconds = learned(data.LAWS[law](np.random.default_rng([seed, 5])))
    return {"accepted": found.learned, "note": found.note, "seconds": seconds}


def clearness(name: str, seed: int) -> Figures:
    """The clearest boundary of any start of noise, or of groups among noise, in levels."""
    if name in data.LAWS:
        X = data.LAWS[name](np.random.default_rng([seed, 5]))
    else:
        X = data.among_noise(name, seed)[0]
    seen, measured = [0.0], features._clearness

    def heard(fitted: object, rows: np.ndarray) -> float:
        seen.append(measured(fitted, rows))
        return 0.0  # refused, so that the next start has its turn

    with mock.patch.object(features, "_clearness", heard):
        learned(X)
    return {"clearness": max(seen)}


def table(read: Callable[[], data.Pair]) -> Figures:
    """A measured table without weights, with learned ones, and by the rule."""
    X, y = read()
    found, seconds = learned(X)
    ruled, _ = learned(X, only_if_none=True)
    weights = found.weights if found.learned else None
    told, k = told_nothing(X, y, feature_weights=weights)
    plain, plain_k = told_nothing(X, y)
    return {
        "n": len(X),
        "d": X.shape[1],
        "plain": told_k(X, y),
        "plain told nothing": plain,
        "plain k": plain_k,
        "learned": told_k(X, y, feature_weights=weights),
        "learned told nothing": told,
        "learned k": k,
        "kept": int((found.weights > 0).sum()),
        "note": found.note,
        "rule": ruled.note,
        "seconds": seconds,
    }


def views(name: str, seed: int) -> Figures:
    """Digits in several views: each alone, equal weights, agreement, and told the good ones."""
    tables, y = data.digit_views(seed)
    chosen = data.VIEWS[name]
    rows = np.hstack([tables[view] for view in chosen])
    ends = np.cumsum([0, *(tables[view].shape[1] for view in chosen)])
    parts = [("rbf", slice(int(a), int(b))) for a, b in pairwise(ends)]
    good = np.array([view in ("pixels", "profiles", "spectrum") for view in chosen])
    scores = {}
    for kind, weights in (("equal", "equal"), ("agreement", "agreement"), ("good", good * 1.0)):
        model = KernelConvexClustering(10, kernel=SumKernel(parts, weights)).fit(rows)
        scores[kind] = float(nmi(y, model.labels_))
        scores[f"{kind} weights"] = model.kernel_.weights_.tolist()
    each = []
    for v in range(len(chosen)):
        one = SumKernel(parts, np.eye(len(chosen))[v])
        each.append(float(nmi(y, KernelConvexClustering(10, kernel=one).fit_predict(rows))))
    return {**scores, "each": each, "views": list(chosen)}


def links(name: str, seed: int) -> Figures:
    """NMI on the free samples where the classes of a share of the samples are told."""
    found = {}
    for share in SHARES:
        X, y, groups = data.linked(name, seed, share)
        model = KernelConvexClustering(len(np.unique(y))).fit(X, groups=groups)
        free = groups < 0
        found[f"{share:g}"] = float(nmi(y[free], model.labels_[free]))
    return found


def exact_links(seed: int) -> Figures:
    """Contraction against Clarabel with equality constraints, and against heavy weights."""
    import cvxpy as cp

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 2)) + 3.0 * (np.arange(40) >= 20)[:, None]
    graph = ConvexClustering(gamma=0.1).fit(X).graph_
    pairs = np.sort(rng.permutation(40)[:8].reshape(4, 2), axis=1)
    groups = np.arange(40)
    for a, b in pairs:
        groups[b] = groups[a]
    groups = canonical(groups)
    worst, far = 0.0, 0.0
    for gamma in (0.1, 0.5, 2.0):
        problem = Problem.of(X, graph.edges, graph.weights, gamma)
        small = reduce(problem, groups)
        A = solve(small.Z, small.edges, small.weights, gamma, masses=small.masses, tol=1e-12).A
        A = A[groups]
        V, (i, j) = cp.Variable(X.shape), problem.edges.T
        cost = 0.5 * cp.sum_squares(V - X) + problem.c @ cp.norm(V[i] - V[j], 2, axis=1)
        told = cp.Problem(cp.Minimize(cost), [V[a] == V[b] for a, b in pairs])
        told.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
        worst = max(worst, abs(problem.objective(A) - told.value))
        edges, place = np.unique(np.vstack([problem.edges, pairs]), axis=0, return_inverse=True)
        heavy = np.bincount(place.ravel(), np.r_[problem.weights, np.full(len(pairs), 1e3)])
        far = max(far, float(np.linalg.norm(A - solve(X, edges, heavy, gamma, tol=1e-12).A)))
    return {"objective": worst, "heavy": far}
