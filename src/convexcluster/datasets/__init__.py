"""The paper's data: rings by its generator, and its real sets.

Real sets are looked for in the folder ``CONVEXCLUSTER_DATA`` and otherwise come from their public
homes, once: scikit-learn's data folder keeps them. Every set is checked against the digest of its
values, wherever it came from.
"""

from __future__ import annotations

from .real import (
    SETS,
    load,
    load_glass,
    load_gli85,
    load_glioma,
    load_housevotes,
    load_lung,
    load_lymphoma,
    load_mnist10k,
    load_mnist500,
    load_newthyroid,
    load_orlraws10p,
    load_yale,
    load_zoo,
)
from .synthetic import make_rings, make_spirals

__all__ = [
    "SETS",
    "load",
    "load_glass",
    "load_gli85",
    "load_glioma",
    "load_housevotes",
    "load_lung",
    "load_lymphoma",
    "load_mnist10k",
    "load_mnist500",
    "load_newthyroid",
    "load_orlraws10p",
    "load_yale",
    "load_zoo",
    "make_rings",
    "make_spirals",
]
