"""The data sets: the paper's, scikit-learn's toys over seeds, and noise without clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.preprocessing import StandardScaler

from convexcluster.datasets import make_rings, make_spirals

# The paper standardises continuous features and leaves discrete ones as they are; grey levels of
# handwriting, where most features are constant, too.
AS_THEY_ARE = {"lymphoma", "zoo", "housevotes", "mnist500"}

# NMI of the paper, tuned with the labels.
PAPER = {
    "lymphoma": 0.778,
    "orlraws10P": 0.851,
    "Yale": 0.657,
    "zoo": 0.736,
    "housevotes": 0.573,
    "glass": 0.439,
    "newthyroid": 0.706,
    "GLIOMA": 0.529,
    "mnist500": 0.614,
}
REAL = (*PAPER, "lung_bhattacharjee1543", "GLI85_freije_genelevel")

Pair = tuple[np.ndarray, np.ndarray]


def real(folder: Path) -> Iterator[tuple[str, Pair]]:
    """The measured sets that are in a folder of npz files, prepared."""
    for name in REAL:
        file = folder / f"{name}.npz"
        if file.exists():
            with np.load(file) as found:
                X, y = found["X"].astype(float), found["y"].astype(int)
            yield name, (X if name in AS_THEY_ARE else StandardScaler().fit_transform(X), y)


# The groups of scikit-learn's comparison of clustering methods, and what shears them.
CENTERS = np.array([[-8.9, -5.5], [-4.6, 0.1], [1.9, 0.6]])
SHEAR = np.array([[0.6, -0.6], [-0.4, 0.8]])
SCALES = {"blobs": (1.0, 1.0, 1.0), "varied": (1.0, 2.5, 0.5), "anisotropic": (1.0, 1.0, 1.0)}


def groups(name: str, seed: int, n: int = 400) -> Pair:
    """Three normal groups: alike, of different scales, or sheared."""
    X, y = datasets.make_blobs(n, centers=CENTERS, cluster_std=SCALES[name], random_state=seed)[:2]
    return (X @ SHEAR if name == "anisotropic" else X), y


def likeliest(name: str, X: np.ndarray) -> np.ndarray:
    """Label every sample by the likeliest of the three densities it may have been drawn from."""
    X = X @ np.linalg.inv(SHEAR) if name == "anisotropic" else X
    scales = np.array(SCALES[name])
    square = ((X[:, None] - CENTERS) ** 2).sum(axis=2)
    return np.argmax(-square / (2 * scales**2) - 2 * np.log(scales), axis=1)


TOYS: dict[str, Callable[[int], Pair]] = {
    "rings": lambda seed: make_rings(random_state=seed),
    "moons": lambda seed: datasets.make_moons(400, noise=0.05, random_state=seed),
    "circles": lambda seed: datasets.make_circles(400, factor=0.5, noise=0.05, random_state=seed),
    "spirals": lambda seed: make_spirals(random_state=seed),
    "blobs": lambda seed: groups("blobs", seed),
    "varied": lambda seed: groups("varied", seed),
    "anisotropic": lambda seed: groups("anisotropic", seed),
}

NOISE: dict[str, Callable[[np.random.Generator, int, int], np.ndarray]] = {
    "uniform": lambda rng, n, d: rng.uniform(size=(n, d)),
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "log-normal": lambda rng, n, d: np.exp(rng.normal(size=(n, d))),
    "Student t₃": lambda rng, n, d: rng.standard_t(3, size=(n, d)),
}
