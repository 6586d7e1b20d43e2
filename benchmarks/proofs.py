"""What default fits prove about their labels: `python -m benchmarks.proofs [set …]` prints a table.

Seconds are processor seconds of the whole fit on whatever threads it uses, after a small fit that
loads what is compiled. A claim that all samples are one cluster is a claim, but says little: it is
not counted below the table.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable

from .fits import Data, blobs, circles, digits, moons, rings
from .machine import header


def gaussians(n: int) -> Data:
    """Six Gaussians in ten dimensions."""
    from sklearn.datasets import make_blobs

    return make_blobs(n, n_features=10, centers=6, random_state=0)


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


def main(names: list[str]) -> None:
    from convexcluster import KernelConvexClustering

    warnings.simplefilter("ignore")
    KernelConvexClustering(random_state=0).fit(moons(1_200)[0])
    print(header("What default fits prove"), end="\n\n")
    print("| data | n | k | γ | proved | samples in cores | radius / spread | processor s |")
    print("|---|---|---|---|---|---|---|---|")
    whole = several = 0
    for name in names or list(SETS):
        line, k, share = row(name)
        print(line, flush=True)
        whole, several = whole + (k > 1 and share == 1.0), several + (k > 1)
    print(f"\nproved as a whole: {whole} of {several} with two clusters or more")


if __name__ == "__main__":
    main(sys.argv[1:])
