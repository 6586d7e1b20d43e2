"""`python -m benchmarks.progress [set …]`: what the bar of a fit says, beside what is true.

Of every set one fit is watched. Printed are the share of the time that each stage took; the time
that had passed and that the bar said was left, over that of the whole fit, when 10 %, 25 %, … of it
was over (1 is right); the longest time in which the bar did not move by a hundredth; the most
seconds that were left when the bar said "0 s"; and the seconds that it said half a second before
the end. The last line counts the sets whose ratios from a quarter on are within 1.5, and those
of them that take a second and more. Sets whose data are read from a folder are left out where the
environment does not name it.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from .fits import CASES, Data, blobs, many_features, moons, noise, normal
from .machine import header


def spirals(n: int) -> Data:
    """Two arms that wind round each other twice."""
    rng = np.random.default_rng(0)
    t, arm = 4 * np.pi * np.sqrt(rng.uniform(0.05, 1, n)), np.arange(n) % 2
    X = t[:, None] * np.column_stack([np.cos(t + np.pi * arm), np.sin(t + np.pi * arm)])
    return X + 0.3 * rng.normal(size=X.shape), arm


def of_defaults(make: Callable[[], Data], **options: Any) -> Callable[[Any], Callable[[], Any]]:
    """A fit of rows in memory, which are made before it is timed."""

    def prepared(verbose: Any) -> Callable[[], Any]:
        from convexcluster import KernelConvexClustering

        X = make()[0]
        return lambda: KernelConvexClustering(verbose=verbose, **options).fit(X)

    return prepared


def of_file(make: Callable[[], Data]) -> Callable[[Any], Callable[[], Any]]:
    """A fit of rows in a file."""

    def prepared(verbose: Any) -> Callable[[], Any]:
        from convexcluster import KernelConvexClustering
        from convexcluster.out_of_core import fit_large

        def fitted() -> None:
            with tempfile.TemporaryDirectory() as folder:
                np.save(Path(folder) / "rows.npy", X)
                fit_large(str(Path(folder) / "rows.npy"), KernelConvexClustering(verbose=verbose))

        X = make()[0]
        return fitted

    return prepared


def gaussian_matrix(n: int) -> Data:
    """A kernel matrix of moons."""
    from sklearn.metrics.pairwise import rbf_kernel

    X, y = moons(n)
    return rbf_kernel(X, gamma=5.0), y


SETS = {name: of_defaults(make) for name, make in CASES.items()}
SETS |= {
    "noise-50000": of_defaults(lambda: noise(50_000)),
    "spirals-20000": of_defaults(lambda: spirals(20_000)),
    "blobs-20000x3": of_defaults(lambda: many_features(20_000, 3, 8)),
    "normal-5000x10": of_defaults(lambda: normal(5_000, 10)),
    "blobs-20000x10": of_defaults(lambda: many_features(20_000, 10, 6)),
    "blobs-10000x50": of_defaults(lambda: many_features(10_000, 50, 10)),
    "matrix-2000": of_defaults(lambda: gaussian_matrix(2_000), kernel="precomputed"),
    "moons-10000, k=2": of_defaults(lambda: moons(10_000), n_clusters=2),
    "blobs-200000": of_defaults(lambda: blobs(200_000)),
    "blobs-200000x10": of_defaults(lambda: many_features(200_000, 10, 6)),
    "file, 300000x2": of_file(lambda: moons(300_000)),
    "file, 200000x10": of_file(lambda: many_features(200_000, 10, 6)),
}

MOMENTS = (0.1, 0.25, 0.5, 0.75, 0.9, 0.97)

NEAR = 1.5  # a ratio that a person would call right, or its inverse


def watch(name: str) -> tuple[list[tuple[float, str, float, float]], float]:
    """What the bar said, and when; and the seconds of the fit."""
    from convexcluster.numerics.progress import Progress

    seen: list[tuple[float, str, float, float]] = []

    def show(stage: str, done: float, left: float) -> None:
        seen.append((time.perf_counter() - start, stage, done, left))

    fit = SETS[name](Progress(show))
    start = time.perf_counter()
    fit()
    return seen, time.perf_counter() - start


def row(name: str) -> tuple[str, bool, float]:
    """The line of a set, whether all ratios from a quarter on are near, and the seconds."""
    seen, whole = watch(name)
    begun: dict[str, float] = {}
    for at, stage, *_ in seen:
        begun.setdefault(stage, at)
    ends = [*list(begun.values())[1:], whole]
    shares = [f"{stage} {(end - at) / whole:.0%}" for (stage, at), end in zip(begun.items(), ends)]

    def left_at(when: float) -> float:
        at, _, _, left = ([one for one in seen if one[0] <= when] or seen[:1])[-1]
        return max(left - (when - at), 0.0)

    ratios = [moment + left_at(moment * whole) / whole for moment in MOMENTS]
    moved, longest, last = 0.0, 0.0, 0.0
    for at, _, done, _ in [*seen, (whole, "", 1.0, 0.0)]:
        longest = max(longest, at - moved)
        if done >= last + 0.01:
            moved, last = at, done
    nothing = max([whole - at for at, _, _, left in seen if left < 0.5], default=0.0)
    late = left_at(whole - 0.5) if whole > 0.5 else 0.0
    said = " | ".join(f"{ratio:.2f}" for ratio in ratios)
    line = f"| {name} | {whole:.1f} | {', '.join(shares)} | {said} "
    near = all(1 / NEAR <= ratio <= NEAR for ratio in ratios[1:])
    return line + f"| {longest:.1f} | {nothing:.1f} | {late:.1f} |", near, whole


def main(names: list[str]) -> None:
    from convexcluster import KernelConvexClustering

    for warm in (moons(1_200)[0], many_features(1_200, 50, 10)[0]):
        KernelConvexClustering().fit(warm)
    print(header("python -m benchmarks.progress") + "\n")
    over = " | ".join(f"{moment:.0%}" for moment in MOMENTS)
    print(f'| data | seconds | stages | {over} | longest still | left at "0 s" | said at 0.5 s |')
    print("|" + "---|" * (6 + len(MOMENTS)), flush=True)
    if "CONVEXCLUSTER_DATA" not in os.environ:
        names = names or [name for name in SETS if not name.startswith("mnist")]
    found = []
    for name in names or SETS:
        line, near, whole = row(name)
        found.append((near, whole >= 1.0))
        print(line, flush=True)
    near, of_long = sum(one for one, _ in found), sum(one for one, long in found if long)
    print(f"\nwithin {NEAR} from a quarter on: {near} of {len(found)}", end="")
    print(f", of a second and more {of_long} of {sum(long for _, long in found)}")


if __name__ == "__main__":
    main(sys.argv[1:])
