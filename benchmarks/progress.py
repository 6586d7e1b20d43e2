"""`python -m benchmarks.progress [set …]`: what the bar of a fit says, beside what is true.

Of every set one fit is watched twice a second and at each step. Printed are the share of the time
that each stage took, the seconds that the bar said were left when a quarter, a half, … of the time
was over beside those that were, and the longest time in which the bar did not move by a hundredth.
"""

from __future__ import annotations

import sys
import time

from .fits import blobs, many_features, moons, noise
from .machine import header

SETS = {
    "moons 500": lambda: moons(500)[0],
    "moons 10,000": lambda: moons(10_000)[0],
    "moons 50,000": lambda: moons(50_000)[0],
    "noise 10,000": lambda: noise(10_000)[0],
    "5,000 × 10": lambda: many_features(5_000, 10, 6)[0],
    "10,000 × 50": lambda: many_features(10_000, 50, 10)[0],
    "20,000 × 50": lambda: many_features(20_000, 50, 10)[0],
    "blobs 10,000": lambda: blobs(10_000)[0],
}

MOMENTS = (0.25, 0.5, 0.75, 0.9)


def row(name: str) -> str:
    """The line of a set."""
    from convexcluster import KernelConvexClustering
    from convexcluster.numerics.progress import Progress

    X, seen = SETS[name](), []

    def show(stage: str, done: float, left: float) -> None:
        seen.append((time.perf_counter() - start, stage, done, left))

    start = time.perf_counter()
    KernelConvexClustering(verbose=Progress(show)).fit(X)
    whole = time.perf_counter() - start
    begun: dict[str, float] = {}
    for at, stage, *_ in seen:
        begun.setdefault(stage, at)
    ends = [*list(begun.values())[1:], whole]
    shares = [f"{stage} {(end - at) / whole:.0%}" for (stage, at), end in zip(begun.items(), ends)]
    said = []
    for moment in MOMENTS:
        at, _, done, left = [one for one in seen if one[0] <= moment * whole][-1]
        over = moment * whole
        said.append(f"{done:.0%}, {max(left - (over - at), 0):.1f} for {whole - over:.1f}")
    moved, longest, last = 0.0, 0.0, 0.0
    for at, _, done, _ in [*seen, (whole, "", 1.0, 0.0)]:
        longest = max(longest, at - moved)
        if done >= last + 0.01:
            moved, last = at, done
    return f"| {name} | {whole:.1f} | {', '.join(shares)} | {' | '.join(said)} | {longest:.1f} |"


def main(names: list[str]) -> None:
    from convexcluster import KernelConvexClustering

    for warm in (moons(1_200)[0], many_features(1_200, 50, 10)[0]):
        KernelConvexClustering().fit(warm)
    print(header("python -m benchmarks.progress") + "\n")
    over = " | ".join(f"{moment:.0%} of the time: shown, s left" for moment in MOMENTS)
    print(f"| data | seconds | stages | {over} | longest still |")
    print("|" + "---|" * (4 + len(MOMENTS)), flush=True)
    for name in names or SETS:
        print(row(name), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
