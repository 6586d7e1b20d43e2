"""Every fit of the bench by its name, size and seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.metrics.pairwise import euclidean_distances

from benchmarks.kept import Figures
from benchmarks.scoring import score
from convexcluster import KernelConvexClustering

from .changes import changes
from .data import (
    CURVES,
    LAWS,
    TOYS,
    Pair,
    curve,
    directions,
    large_enough,
    structureless,
    with_background,
)

SEPARABLE, TOUCHING, KERNELS = "separable", "touching", "kernels"
LONE, NOISE, CHANGES = "lone curves", "noise", "changes"
PARTS = (SEPARABLE, TOUCHING, KERNELS, LONE, NOISE, CHANGES)


@dataclass(frozen=True)
class Plan:
    """Sizes and seeds; of background, of kernels (a Gram matrix is n × n) and of changes apart."""

    sizes: tuple[int, ...]
    background: tuple[int, ...]
    kernels: tuple[int, ...]
    noise: tuple[int, ...]
    changes: tuple[int, ...]
    seeds: range


SHORT = Plan((300, 1_000, 2_000), (1_000,), (300, 1_000), (100, 300, 1_000), (1_000,), range(3))
ALL = Plan(
    sizes=(300, 1_000, 2_000, 5_000, 10_000, 20_000),
    background=(300, 1_000, 2_000, 5_000, 10_000, 20_000),
    kernels=(300, 1_000, 2_000, 5_000),
    noise=(100, 300, 1_000, 5_000, 20_000),
    changes=(300, 1_000, 5_000),
    seeds=range(10),
)
SHARES = (0.05, 0.2)  # of background
DIMENSIONS = (1, 2, 5, 10, 50, 500)


@dataclass(frozen=True)
class Case:
    """One data set: ``run`` makes it, fits it and scores the answer."""

    part: str
    what: str
    n: int
    seed: int
    run: Callable[[], Figures]

    @property
    def key(self) -> str:
        """What the figures depend on, but for the package."""
        return f"{self.part}: {self.what}, n {self.n}, seed {self.seed}"


def fitted(X: np.ndarray, y: np.ndarray | None = None, **settings: Any) -> Figures:
    """The default answer and its score; without y the truth is one cluster."""
    model = KernelConvexClustering(**settings).fit(X)
    found = score(np.ones(len(X), dtype=int) if y is None else y, model.labels_)
    return {
        "k": found.k,
        "classes": found.classes,
        "ari": found.ari,
        "ami": found.ami,
        "verdict": str(model.selection_.verdict),
        "confidence": float(model.selection_.confidence),
        "interval": model.certificate_.gamma_interval is not None,
        "whole": model.certificate_.partition == "certified",
    }


def groups(make: Callable[[int, int], Pair], n: int, seed: int) -> Figures:
    """A toy with clusters."""
    return fitted(*make(n, seed))


def gram(X: np.ndarray) -> np.ndarray:
    """A Gaussian kernel of half the median distance, as a user would compute it."""
    square = euclidean_distances(X, squared=True)
    return np.exp(-2.0 * square / np.median(square))


def by_kernel(kernel: str, noise: bool, n: int, seed: int) -> Figures:
    """Groups that every kernel can see, or one normal cloud."""
    X, y = directions(n, seed)
    if noise:
        X, y = structureless("Gaussian", 10, n, seed), None
    return fitted(gram(X) if kernel == "precomputed" else X, y, kernel=kernel)


def by_space(space: str, cloud: bool, n: int, seed: int) -> Figures:
    """Moons or a square of the plane, told as a kernel, as distances, or in ten features."""
    X, y = TOYS["moons"].make(n, seed)
    if cloud:
        X, y = structureless("uniform", 2, n, seed), None
    if space == "ten features":
        axes = np.linalg.qr(np.random.default_rng(seed).normal(size=(10, 10)))[0]
        return fitted(X @ axes[:2], y)
    if space == "distances":
        return fitted(euclidean_distances(X), y, metric="precomputed")
    return fitted(gram(X), y, kernel="precomputed")


def noise(law: str, d: int, n: int, seed: int) -> Figures:
    """Data without clusters."""
    return fitted(structureless(law, d, n, seed))


def lone(name: str, n: int, seed: int) -> Figures:
    """One curve."""
    return fitted(curve(name, n, seed))


def changed(make: Callable[[int, int], Pair], n: int, seed: int) -> Figures:
    """The harmless changes of one data set."""
    return {"shares": changes(make(n, seed)[0], seed)}


# What the changes are tried on: every kind once.
STEADY = (
    "moons",
    "circles",
    "spirals",
    "blobs 5 × 2",
    "blobs 10 × 10",
    "one column, 2",
    "sizes 20:1",
    "grid 2 × 2, 4σ",
)


def makers() -> Iterator[tuple[str, str, float, Callable[[int, int], Pair]]]:
    """(part, name, share of background, how it is made) of every toy."""
    for share in (0.0, *SHARES):
        for name, toy in TOYS.items():
            part = TOUCHING if toy.touching else SEPARABLE
            if share:
                make = partial(with_background, toy.make, share)
                yield part, f"{name}, {share:.0%} background", share, make
            else:
                yield part, name, share, toy.make


def asked(make: Callable[[int, int], Pair], n: int) -> bool:
    """Whether the smallest group is large enough; sizes of groups do not depend on the seed."""
    return large_enough(make(n, 0)[1])


def cases(plan: Plan) -> Iterator[Case]:
    """All of them; toys whose smallest group is too small are left out."""
    for part, name, share, make in makers():
        for n in filter(partial(asked, make), plan.background if share else plan.sizes):
            for seed in plan.seeds:
                yield Case(part, name, n, seed, partial(groups, make, n, seed))
    for kernel in ("laplacian", "cosine", "polynomial", "precomputed"):
        for cloud in (False, True):
            name = f"{kernel}, {'a normal cloud' if cloud else 'five groups'}"
            for n in plan.kernels:
                for seed in plan.seeds:
                    yield Case(KERNELS, name, n, seed, partial(by_kernel, kernel, cloud, n, seed))
    for space in ("kernel", "distances", "ten features"):
        for cloud in (False, True):
            name = f"{space} of {'a square' if cloud else 'moons'}"
            for n in plan.kernels:
                for seed in plan.seeds:
                    yield Case(KERNELS, name, n, seed, partial(by_space, space, cloud, n, seed))
    for name in CURVES:
        for n in plan.sizes:
            for seed in plan.seeds:
                yield Case(LONE, name, n, seed, partial(lone, name, n, seed))
    for law in LAWS:
        for d in DIMENSIONS:
            for n in plan.noise:
                for seed in plan.seeds:
                    yield Case(NOISE, f"{law} × {d}", n, seed, partial(noise, law, d, n, seed))
    steady = {name: TOYS[name].make for name in STEADY}
    steady["moons, 20% background"] = partial(with_background, steady["moons"], 0.2)
    for name, make in steady.items():
        for n in filter(partial(asked, make), plan.changes):
            for seed in plan.seeds:
                yield Case(CHANGES, name, n, seed, partial(changed, make, n, seed))
