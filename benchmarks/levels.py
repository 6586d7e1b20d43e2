"""`python -m benchmarks.levels [--all]`: boundaries where there are no clusters.

Every draw has no clusters. Of up to three features the greatest height of a valley of its density
is measured, of more that of a tension of its path; 1 is the level, and a draw above it has
clusters. Of gaps, in two and three features and on curves, the clearest that stands is, and 0 where
none does. A good level leaves the same share above it everywhere, whatever the law, the number of
samples and the number of features. By default few draws of up to 1,000 samples, for a minute or
two; with --all 100 draws of up to 10,000 samples (tensions: 2,000), for hours.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.stability.data import LAWS, structureless
from convexcluster.problem import Problem
from convexcluster.rows import array_rows
from convexcluster.selection.tension import surest
from convexcluster.selection.tension import tension as tree_of
from convexcluster.settings import Settings
from convexcluster.stages.path import gap_to_reach, run_path
from convexcluster.stages.penalty import build_penalty
from convexcluster.stages.points import distinct_points
from convexcluster.stages.space import measure_space
from convexcluster.weights import FEW_FEATURES, Landscape, find_gaps, valleys
from convexcluster.weights.valleys import LEAST


@dataclass(frozen=True)
class Plan:
    """How many draws of which sizes."""

    draws: int
    valleys: tuple[int, ...]
    tensions: tuple[int, ...]
    features: tuple[int, ...]


SHORT = Plan(10, (100, 300, 1_000), (100, 300), (1, 2, 3, 5, 10, 100))
ALL = Plan(
    100, (100, 300, 1_000, 3_000, 10_000), (100, 300, 1_000, 2_000), (1, 2, 3, 5, 10, 50, 500)
)


def valley(X: np.ndarray) -> tuple[float, int]:
    """Greatest height of a valley at the scale that a fit takes, and the number of clusters."""
    found = valleys(Landscape.of(X, np.ones(len(X))))
    return (0.0, 1) if found is None else (found.height(2), found.count)


def tension(X: np.ndarray) -> tuple[float, int]:
    """h + (½ − 1/d) log(2m/n) of the surest boundary over its level, and the number of clusters."""
    settings = Settings()
    points = distinct_points(array_rows(X, np.ones(len(X))), settings)
    space = measure_space(points, None, settings)
    graph, _ = build_penalty(points, None, settings, space)
    problem = Problem(points.Z, graph.edges, graph.weights, 0.0, points.masses)
    path = run_path(problem, points, gap_to_reach(points, problem, settings), settings)
    above, level = surest(path, graph, space.dimension)
    tree = tree_of(path, graph, space.n_features, space.dimension)
    return 1.0 + above / level, tree.count


def gap(X: np.ndarray) -> tuple[float, int]:
    """Height of the clearest gap that stands, and the number of parts."""
    found = find_gaps(Landscape.of(X, np.ones(len(X))), LEAST)
    return float(found.heights.max(initial=0.0)), len(found.heights) + 1


def on_curve(law: str, n: int, seed: int) -> np.ndarray:
    """Points at random places of a curve, a fiftieth of its size beside it."""
    rng = np.random.default_rng([seed, n, list(CURVES).index(law)])
    t = rng.uniform(size=n)
    return CURVES[law](t) + 0.02 * rng.normal(size=(n, 2))


CURVES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "ring": lambda t: np.column_stack([np.cos(2 * np.pi * t), np.sin(2 * np.pi * t)]),
    "segment": lambda t: np.column_stack([3 * t, np.zeros(len(t))]),
    "sparser arc": lambda t: np.column_stack([np.cos(4 * t**2), np.sin(4 * t**2)]),
}

Measure = Callable[[np.ndarray], tuple[float, int]]


def cells(plan: Plan) -> Iterator[tuple[str, Measure, str, int, int]]:
    """(what, how it is measured, law, features, samples) of every line of the table."""
    for law in LAWS:
        for d in plan.features:
            few = d <= FEW_FEATURES
            for n in plan.valleys if few else plan.tensions:
                yield ("valleys", valley, law, d, n) if few else ("tension", tension, law, d, n)
                if 1 < d <= FEW_FEATURES:
                    yield "gaps", gap, law, d, n
    for law in CURVES:
        for n in plan.valleys:
            yield "gaps", gap, law, 2, n


def line(measure: Measure, law: str, d: int, n: int, seeds: range) -> tuple[str, int]:
    """Median, 90 % and greatest height, the share of one cluster; and how many are one cluster."""
    draw = partial(on_curve, law) if law in CURVES else partial(structureless, law, d)
    found = [measure(draw(n, seed)) for seed in seeds]
    heights = np.array([height for height, _ in found])
    one = sum(k == 1 for _, k in found)
    middle, high = np.quantile(heights, [0.5, 0.9])
    figures = f"{middle:.2f} | {high:.2f} | {heights.max():.2f} | {one / len(found):.0%}"
    return figures, one


def main() -> None:
    """Print the table, line by line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true", help="100 draws, up to 10,000 samples")
    parser.add_argument("--draws", type=int, help="of every law, size and number of features")
    parser.add_argument("--seed", type=int, default=0, help="the first seed")
    options = parser.parse_args()
    warnings.simplefilter("ignore")  # scales of heavy tails
    plan = ALL if options.all else SHORT
    seeds = range(options.seed, options.seed + (options.draws or plan.draws))
    print("| measured | law | features | samples | median | 90 % | greatest | one cluster |")
    print("|---|---|---|---|---|---|---|---|")
    counted: dict[str, list[int]] = {"valleys": [], "gaps": [], "tension": []}
    for what, measure, law, d, n in cells(plan):
        figures, one = line(measure, law, d, n, seeds)
        counted[what].append(one)
        print(f"| {what} | {law} | {d} | {n:,} | {figures} |", flush=True)
    print()
    for what, one in counted.items():
        if one:
            total = len(one) * len(seeds)
            print(f"{what}: {sum(one)} of {total} draws are one cluster, {min(one)} in the worst.")


if __name__ == "__main__":
    main()
