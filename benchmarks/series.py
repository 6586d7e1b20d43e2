"""Series and strings by their distances: ``python -m benchmarks.series``.

Five sets of the UCR archive that ship inside the wheel of sktime, whole (training and test rows),
z-normalised as they come; dynamic time warping in a band of a tenth of the length (dtaidistance).
ItalyPowerDemand is there once more with every series twice, the copy stretched by up to a tenth and
with noise: 2,192 rows. Strings are ten words with up to three random edits each, by edit distance.

Ours is ``KernelConvexClustering(metric="precomputed")`` with its defaults, told k and told nothing,
beside k-medoids (alternating, best cost of ten starts). A run with nothing left out writes
docs/series-results.md. Needs the group ``series`` of pyproject.toml.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.metrics import adjusted_rand_score

from benchmarks.sets import Sets
from convexcluster import KernelConvexClustering

SETS = ("ArrowHead", "GunPoint", "ItalyPowerDemand", "OSULeaf", "ACSF1")
NAMES = (*SETS, "ItalyPowerDemand twice", "strings")
WINDOW = 0.1
STEMS = "clustering mathematics photograph telescope hospital"
STEMS += " orchestra vegetable umbrella professor kangaroo"
EDITS, EACH = 3, 30  # edits of a string at most, strings of a stem


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
            # of equal medoids the first has all samples, and the others stay where they are
            best = [g[D[np.ix_(g, g)].sum(axis=1).argmin()] if len(g) else -1 for g in groups]
            new = np.where(np.array(best) < 0, medoids, best)
            if (new == medoids).all():
                break
            medoids = new
        found.append((D[:, medoids].min(axis=1).sum(), seed, labels))
    return min(found, key=lambda one: one[:2])[2]


def edited(rng):
    """Strings of ten stems: letters are replaced, inserted or left out, EDITS times at most."""
    stems = STEMS.split()
    words, y = [], np.repeat(np.arange(len(stems)), EACH)
    for stem in np.array(stems)[y]:
        letters = list(stem)
        for _ in range(rng.integers(EDITS + 1)):
            at, letter = rng.integers(len(letters)), chr(rng.integers(ord("a"), ord("z") + 1))
            letters[at : at + rng.integers(2)] = [letter][: rng.integers(2)]
        words.append("".join(letters))
    return words, y


def edits(a, b):
    """Levenshtein's distance, by its recurrence."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, start=1):
        left, row[0] = row[0], i
        for j, y in enumerate(b, start=1):
            left, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, left + (x != y))
    return row[-1]


def given(name):
    """Distances, truth, and how the samples are called in the table."""
    rng = np.random.default_rng(0)
    if name == "strings":
        words, y = edited(rng)
        D = np.array([[edits(a, b) for b in words] for a in words], dtype=float)
        return D, y, f"{len(words)} × {min(map(len, words))}–{max(map(len, words))}"
    X, y = load(name.split()[0])
    X, y = twice(X, y, rng) if name.endswith("twice") else (X, y)
    return warped(X), y, f"{len(X):,} × {X.shape[1]:,}"


def row(name):
    """One row of the table."""
    start = time.process_time()
    D, y, shape = given(name)
    spent, start, k = time.process_time() - start, time.process_time(), int(y.max()) + 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # shares that were clipped, which the table has
        told = KernelConvexClustering(k, metric="precomputed").fit(D)
        free = KernelConvexClustering(metric="precomputed").fit(D)
    ours = time.process_time() - start
    found = [told.labels_, k_medoids(D, k), free.labels_]
    scores = [f"{adjusted_rand_score(y, labels):.3f}" for labels in found]
    clipped = f"{told.certificate_.clipped_share:.1%}"
    rest = [str(free.n_clusters_), clipped, f"{spent:.1f}", f"{ours:.1f}"]
    return [name, shape, str(k), *scores, *rest]


BENCHMARK = Sets(
    command="python -m benchmarks.series",
    file="series-results.md",
    title="Series and strings",
    text="""Adjusted Rand index of `KernelConvexClustering(metric="precomputed")` with its defaults,
    told k and told nothing, beside k-medoids told k. Series are sets of the UCR archive by dynamic
    time warping in a band of a tenth of their length; "twice" has every series a second time,
    stretched and with noise. Strings are ten words with up to three random edits each, by edit
    distance. *Clipped* is the share of the kernel's spectrum that was negative.""",
    packages=("sktime", "dtaidistance"),
    columns=(
        "set",
        "rows × length",
        "k",
        "told k",
        "k-medoids told k",
        "told nothing",
        "k found",
        "clipped",
        "distances, CPU s",
        "two fits, CPU s",
    ),
    names=NAMES,
    row=row,
)

if __name__ == "__main__":
    BENCHMARK.run()
