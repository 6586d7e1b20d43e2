"""Time series by dynamic time warping: ``python -m benchmarks.series``.

Five sets of the UCR archive that ship inside the wheel of sktime, whole (training and test rows),
z-normalised as they come; DTW in a band of a tenth of the length (dtaidistance). Ours is
``KernelConvexClustering(metric="precomputed")`` with its defaults, told k and told nothing, beside
k-medoids (alternating, best cost of ten starts). The last line is ItalyPowerDemand with every
series once more, stretched by up to a tenth and with noise: 2,192 rows.

Needs ``pip install sktime dtaidistance``.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score

from convexcluster import KernelConvexClustering

SETS = ("ArrowHead", "GunPoint", "ItalyPowerDemand", "OSULeaf", "ACSF1")
WINDOW = 0.1


def load(name):
    from sktime.datasets import load_UCR_UEA_dataset

    X, y = load_UCR_UEA_dataset(name, return_type="numpy3D")
    return np.ascontiguousarray(X[:, 0], dtype=np.float64), np.unique(y, return_inverse=True)[1]


def twice(X, y, rng):
    """Every series and a copy of it that is stretched and noisy."""
    length = X.shape[1]
    clock = np.linspace(0, 1, length)
    copies = [np.interp(clock ** rng.uniform(0.9, 1.1), clock, row) for row in X]
    noisy = np.array(copies) + rng.normal(scale=0.1, size=X.shape)
    return np.vstack([X, noisy]), np.concatenate([y, y])


def warped(X):
    from dtaidistance import dtw

    window = max(2, round(WINDOW * X.shape[1]))
    return dtw.distance_matrix_fast(X, window=window, parallel=False)


def k_medoids(D, k, starts=10):
    """Alternate between nearest medoids and best medoids."""
    found = []
    for seed in range(starts):
        medoids = np.random.default_rng(seed).choice(len(D), k, replace=False)
        for _ in range(100):
            labels = D[:, medoids].argmin(axis=1)
            groups = [np.flatnonzero(labels == t) for t in range(k)]
            new = np.array([g[D[np.ix_(g, g)].sum(axis=1).argmin()] for g in groups])
            if (new == medoids).all():
                break
            medoids = new
        found.append((D[:, medoids].min(axis=1).sum(), seed, labels))
    return min(found, key=lambda one: one[:2])[2]


def line(name, X, y):
    start = time.process_time()
    D, k = warped(X), int(y.max()) + 1
    spent, start = time.process_time() - start, time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        told = KernelConvexClustering(k, metric="precomputed").fit(D)
        free = KernelConvexClustering(metric="precomputed").fit(D)
    ours = time.process_time() - start

    def score(labels):
        return f"{adjusted_rand_score(y, labels):.3f}"

    clipped = f"{told.certificate_.clipped_share:.1%}"
    found = [score(told.labels_), score(k_medoids(D, k)), score(free.labels_)]
    print(
        f"| {name} | {len(X)} × {X.shape[1]} | {k} | {' | '.join(found)} | {free.n_clusters_} | ",
        end="",
    )
    print(f"{clipped} | {spent:.0f} | {ours:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", default=[*SETS, "ItalyPowerDemand twice"])
    names = parser.parse_args().names
    print("| set | rows × length | k | told k | k-medoids | told nothing | k found ", end="")
    print("| clipped | DTW, s | two fits, s |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for name in names:
        X, y = load(name.split()[0])
        if name.endswith("twice"):
            X, y = twice(X, y, np.random.default_rng(0))
        line(name, X, y)


if __name__ == "__main__":
    main()
