"""What default fits prove about their labels: benchmarks/PROOFS.md.

    python -m benchmarks.proofs [set …]         a table; of all sets, it is written to the page
    python -m benchmarks.proofs full-rank [n]   which fits could have been proved, and which were

Of the toys of the stability bench with n samples (300 by default) and of scikit-learn's tables,
`full-rank` solves a grid of γ again, in the whole space of the kernel and with every gap closed.
Where the labels are the fused clusters of some γ of it, a proof of them exists.

Seconds are processor seconds of the whole fit on whatever threads it uses, after a small fit that
loads what is compiled. A claim that all samples are one cluster is a claim, but says little: it is
not counted below the table.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from .fits import Data, blobs, circles, digits, many_features, moons, rings
from .machine import header


def gaussians(n: int) -> Data:
    """Six Gaussians in ten dimensions."""
    from sklearn.datasets import make_blobs

    return make_blobs(n, n_features=10, centers=6, random_state=0)


PAGE = Path(__file__).resolve().parent / "PROOFS.md"


def table(name: str) -> Data:
    """A standardised table of scikit-learn's."""
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    return StandardScaler().fit_transform(X), y


SETS: dict[str, Callable[[], Data]] = {
    "moons-500": lambda: moons(500),
    "moons-1000": lambda: moons(1_000),
    "iris": lambda: table("iris"),
    "wine": lambda: table("wine"),
    "breast_cancer": lambda: table("breast_cancer"),
    "digits": digits,
    "gaussians-1000": lambda: gaussians(1_000),
    "gaussians-5000": lambda: gaussians(5_000),
    "moons-2000": lambda: moons(2_000),
    "circles-2000": lambda: circles(2_000),
    "rings-2000": lambda: rings(2_000),
    "blobs-2000": lambda: blobs(2_000),
    "moons-10000": lambda: moons(10_000),
    "circles-10000": lambda: circles(10_000),
    "rings-10000": lambda: rings(10_000),
    "blobs-10000": lambda: blobs(10_000),
    "blobs-20000x50": lambda: many_features(20_000, 50, 10),
    "moons-50000": lambda: moons(50_000),
}


def row(name: str) -> tuple[str, int, float]:
    """The line of a set, its number of clusters, and the share of samples in proved cores."""
    from convexcluster import KernelConvexClustering

    X, _ = SETS[name]()
    begin = time.process_time()
    model = KernelConvexClustering(random_state=0).fit(X)
    seconds = time.process_time() - begin
    found = model.certificate_
    share = 0.0 if found.cores is None else float(found.cores.mean())
    cells = (name, len(X), model.n_clusters_, f"{model.gamma_:.4g}", found.statement)
    figures = f"{100 * share:.1f} % | {found.relative_radius:.1e} | {seconds:.2f}"
    return f"| {' | '.join(map(str, cells))} | {figures} |", model.n_clusters_, share


def small_fits(n: int) -> Iterator[tuple[str, np.ndarray]]:
    """Toys of n samples, two seeds each, and small tables."""
    from .stability.data import TOYS, large_enough

    for name in ("iris", "wine", "breast_cancer"):
        yield name, table(name)[0]
    for name, toy in TOYS.items():
        for seed in (0, 1):
            X, y = toy.make(n, seed)
            if large_enough(y):
                yield f"{name}, seed {seed}", X


def shown_at_full_rank(model, X: np.ndarray) -> bool:  # type: ignore[no-untyped-def]
    """Whether the labels are the fused clusters at some γ of a grid in the whole space."""
    from convexcluster import KernelConvexClustering
    from convexcluster.partition import canonical

    first, last = float(model.path_.gammas[0]), float(model.path_.gammas[-1])
    gammas = np.union1d(np.geomspace(first, last, GRID), model.gamma_)
    graph, kernel = model.graph_, {"bandwidth": model.kernel_.params["bandwidth"]}
    given = {"weights": (graph.edges, graph.weights), "gamma": gammas, "labels": "fusion"}
    full = KernelConvexClustering(**kernel, **given, embedding="exact", certify="path").fit(X)
    wanted, path = canonical(model.labels_), full.path_
    steps = np.flatnonzero(path.n_clusters == model.n_clusters_)
    return any((canonical(path.labels(step=int(q))) == wanted).all() for q in steps)


# γ of the grid at full rank. Twice as many find the labels of no more fits.
GRID = 40


def full_rank(n: int) -> None:
    """Print which fits of several clusters a grid at full rank shows, and which are proved."""
    from convexcluster import KernelConvexClustering

    shown = proved = fits = 0
    for name, X in small_fits(n):
        model = KernelConvexClustering().fit(X)
        if model.n_clusters_ == 1:
            continue
        whole = bool(model.certificate_.clusters.all())
        there = whole or shown_at_full_rank(model, X)
        fits, shown, proved = fits + 1, shown + there, proved + whole
        if not whole:
            print(f"{name}: {'' if there else 'not '}on the grid; {model.certificate_.statement}")
    print(f"{fits} fits of two clusters or more: the labels of {shown} are clusters of the optimum")
    print(f"at some γ, and {proved} of these are proved ({100 * proved / max(shown, 1):.1f} %)")


def main(names: list[str]) -> None:
    from convexcluster import KernelConvexClustering

    warnings.simplefilter("ignore")
    if names[:1] == ["full-rank"]:
        full_rank(int(names[1]) if names[1:] else 300)
        return
    KernelConvexClustering(random_state=0).fit(moons(1_200)[0])
    lines = [
        "# What default fits prove",
        "",
        "```",
        header("python -m benchmarks.proofs"),
        "```",
        "",
    ]
    lines.append("| data | n | k | γ | proved | samples in cores | radius / spread | processor s |")
    lines.append("|---|---|---|---|---|---|---|---|")
    print("\n".join(lines), flush=True)
    whole = several = 0
    for name in names or list(SETS):
        line, k, share = row(name)
        lines.append(line)
        print(line, flush=True)
        whole, several = whole + (k > 1 and share == 1.0), several + (k > 1)
    lines.append(f"\nProved as a whole: {whole} of {several} with two clusters or more.")
    print(lines[-1])
    if not names:
        PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
