"""The paper's own figures, as printed: Tables 1 and 2, the kernels table, and the GLI85 example.

They stand in brackets beside ours. Pan, Bose, Paul, Chakraborty & Das, A new framework for convex
clustering in kernel spaces.
"""

from __future__ import annotations

METHODS = ("KCC", "Convex", "k-means", "Spectral", "KPKM", "BCC", "TGCC", "C-PAINT", "SC-NR")

# Table 1: NMI of each method, then the column "#clusters"
_TABLE1 = """
lymphoma    0.778 0.718 0.654 0.179 0.633 0.450 0.727 0.689 0.429  7
orlraws10P  0.851 0.821 0.798 0.209 0.810 0.720 0.720 0.759 0.645 11
Yale        0.657 0.293 0.480 0.601 0.568 0.288 0.549 0.617 0.477 14
lung        0.804 0.729 0.594 0.018 0.433 0.328 0.769 0.682 0.321  4
zoo         0.736 0.324 0.690 0.637 0.459 0.695 0.629 0.699 0.645  4
housevotes  0.573 0.004 0.536 0.542 0.518 0.489 0.525 0.429 0.538  2
glass       0.439 0.255 0.357 0.367 0.347 0.308 0.398 0.402 0.384  9
newthyroid  0.706 0.491 0.553 0.491 0.376 0.407 0.568 0.467 0.303  5
GLIOMA      0.529 0.506 0.490 0.031 0.411 0.453 0.451 0.279 0.091  3
mnist500    0.614 0.062 0.553 0.047 0.486 0.421 0.329 0.496 0.425 10
"""

TABLE1: dict[str, dict[str, float]] = {}
TABLE1_CLUSTERS: dict[str, int] = {}
for _line in _TABLE1.split("\n"):
    if _line:
        _name, *_figures, _clusters = _line.split()
        TABLE1[_name] = dict(zip(METHODS, map(float, _figures), strict=True))
        TABLE1_CLUSTERS[_name] = int(_clusters)

# Table 2: NMI on the synthetic rings
TABLE2 = {
    "KCC": 0.999,
    "Convex": 0.259,
    "BCC": 0.721,
    "KPKM": 0.448,
    "TGCC": 0.784,
    "C-PAINT": 0.582,
    "SC-NR": 0.671,
    "Spectral": 0.598,
    "k-means": 0.457,
}

# Appendix, "Performance analysis of five datasets for three different kernels"
KERNELS = {
    "Gaussian": {
        "lymphoma": 0.78,
        "orlraws10P": 0.85,
        "lung": 0.80,
        "GLIOMA": 0.53,
        "mnist500": 0.61,
    },
    "Polynomial": {
        "lymphoma": 0.85,
        "orlraws10P": 0.80,
        "lung": 0.61,
        "GLIOMA": 0.45,
        "mnist500": 0.54,
    },
    "Hyperbolic": {
        "lymphoma": 0.81,
        "orlraws10P": 0.76,
        "lung": 0.78,
        "GLIOMA": 0.41,
        "mnist500": 0.57,
    },
}

# §2.1, the motivating example on GLI85
GLI85 = {"k-means": 0.051, "Convex": 0.206, "KCC": 1.0}

# Figure "hyper_sens" and the elbow plot: the values that the paper calls optimal on the rings
RINGS = {"sigma1": 1.0, "sigma2": 100.0, "gamma": 1.0, "rho": 0.001, "n_neighbors": 6, "k": 5}

# The number of classes, and whether the features are continuous ("we scale") or discrete
CLASSES = {
    "lymphoma": 9,
    "orlraws10P": 10,
    "Yale": 15,
    "lung": 5,
    "zoo": 7,
    "housevotes": 2,
    "glass": 6,
    "newthyroid": 3,
    "GLIOMA": 4,
    "mnist500": 10,
    "GLI85": 2,
}
CONTINUOUS = ("lung", "glass", "newthyroid", "GLIOMA", "GLI85")

# Sets that cannot be had as the paper used them; ours are named stand-ins.
STAND_INS = {
    "lung": "the ASU file (203 × 3312) is not to be had; the same study with another gene filter "
    "(203 × 1543) stands in",
    "GLI85": "the ASU file (85 × 22283 probes) is not to be had; the same study at gene level "
    "(85 × 12713) stands in",
    "mnist500": "the paper drew 50 images of each digit at random; ours are the first 50 of each",
}
