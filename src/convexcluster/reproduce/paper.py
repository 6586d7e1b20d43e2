"""The paper's own figures, as printed: Tables 1 and 2, the kernels table, and the GLI85 example.

They stand in brackets beside ours. Pan, Bose, Paul, Chakraborty & Das, A new framework for convex
clustering in kernel spaces.
"""

from __future__ import annotations

METHODS = ("KCC", "Convex", "k-means", "Spectral", "KPKM", "BCC", "TGCC", "C-PAINT", "SC-NR")

# Table 1: NMI of each method, the column "#clusters", and the number of classes
_TABLE1 = """
lymphoma    0.778 0.718 0.654 0.179 0.633 0.450 0.727 0.689 0.429  7  9
orlraws10P  0.851 0.821 0.798 0.209 0.810 0.720 0.720 0.759 0.645 11 10
Yale        0.657 0.293 0.480 0.601 0.568 0.288 0.549 0.617 0.477 14 15
lung        0.804 0.729 0.594 0.018 0.433 0.328 0.769 0.682 0.321  4  5
zoo         0.736 0.324 0.690 0.637 0.459 0.695 0.629 0.699 0.645  4  7
housevotes  0.573 0.004 0.536 0.542 0.518 0.489 0.525 0.429 0.538  2  2
glass       0.439 0.255 0.357 0.367 0.347 0.308 0.398 0.402 0.384  9  6
newthyroid  0.706 0.491 0.553 0.491 0.376 0.407 0.568 0.467 0.303  5  3
GLIOMA      0.529 0.506 0.490 0.031 0.411 0.453 0.451 0.279 0.091  3  4
mnist500    0.614 0.062 0.553 0.047 0.486 0.421 0.329 0.496 0.425 10 10
"""

TABLE1: dict[str, dict[str, float]] = {}
TABLE1_CLUSTERS: dict[str, int] = {}
CLASSES: dict[str, int] = {}
for _line in _TABLE1.strip().split("\n"):
    _name, *_figures, _clusters, _classes = _line.split()
    TABLE1[_name] = dict(zip(METHODS, map(float, _figures), strict=True))
    TABLE1_CLUSTERS[_name], CLASSES[_name] = int(_clusters), int(_classes)

# Table 2: NMI on the synthetic rings
_TABLE2 = (0.999, 0.259, 0.457, 0.598, 0.448, 0.721, 0.784, 0.582, 0.671)
TABLE2 = dict(zip(METHODS, _TABLE2, strict=True))

# Appendix, "Performance analysis of five datasets for three different kernels"
KERNEL_SETS = ("lymphoma", "orlraws10P", "lung", "GLIOMA", "mnist500")
KERNELS = {
    "Gaussian": dict(zip(KERNEL_SETS, (0.78, 0.85, 0.80, 0.53, 0.61))),
    "Polynomial": dict(zip(KERNEL_SETS, (0.85, 0.80, 0.61, 0.45, 0.54))),
    "Hyperbolic": dict(zip(KERNEL_SETS, (0.81, 0.76, 0.78, 0.41, 0.57))),
}

# §2.1, the motivating example on GLI85
GLI85 = {"k-means": 0.051, "Convex": 0.206, "KCC": 1.0}

# Figure "hyper_sens" and the elbow plot: the values that the paper calls optimal on the rings
RINGS = {"sigma1": 1.0, "sigma2": 100.0, "gamma": 1.0, "rho": 0.001, "n_neighbors": 6, "k": 5}

# Sets with continuous features ("we scale"); those of the others are discrete
CONTINUOUS = ("lung", "glass", "newthyroid", "GLIOMA", "GLI85")

# Sets that cannot be had as the paper used them; ours are named stand-ins.
STAND_INS = {
    "lung": "the ASU file (203 × 3312) is not to be had; the same study with another gene filter "
    "(203 × 1543) stands in",
    "GLI85": "the ASU file (85 × 22283 probes) is not to be had; the same study at gene level "
    "(85 × 12713) stands in",
    "mnist500": "the paper drew 50 images of each digit at random; ours are the first 50 of each",
}
