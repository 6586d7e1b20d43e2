"""Samples that must be together: groups of rows → which points are one sample of the problem.

The constraint a_i = a_j inside a group is exact by contraction. One sample of summed mass at the
mean stands for the group, and parallel edges are summed:

    min F(A) over a_i = a_j  =  min of the contracted problem + ½ Σ m_i‖z_i − z̄_group‖²,

since Σ_group m_i‖z_i − a‖² = m‖z̄ − a‖² + Σ_group m_i‖z_i − z̄‖². Equal rows are one point, so that
groups which share a point are one group.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..graph import components
from ..partition import canonical
from ..problem import Floats, Ints


def check_groups(groups: ArrayLike | None, weight: Floats) -> Ints | None:
    """One whole number ≥ −1 for every row, −1 for free ones; None if no two rows are together."""
    if groups is None:
        return None
    given, n = np.asarray(groups), len(weight)
    if given.shape != (n,):
        raise ValueError(f"groups must have shape ({n},), one number per sample: {given.shape}")
    if given.dtype.kind not in "iuf":
        raise ValueError(f"groups must be whole numbers, −1 for free samples: {given.dtype}")
    bad = np.flatnonzero(~((given >= -1) & (given == np.floor(given)) & np.isfinite(given)))
    if len(bad):
        raise ValueError(
            f"groups must be whole numbers ≥ −1, and −1 means free: groups[{bad[0]}] is "
            f"{given[bad[0]]}"
        )
    idle = np.flatnonzero((given >= 0) & (weight == 0))
    if len(idle):
        raise ValueError(
            f"groups[{idle[0]}] is {given[idle[0]]:g}, but that sample has weight zero and takes "
            "no part: set its group to −1"
        )
    numbered = np.where(given >= 0, canonical(given), -1)
    together = np.unique(numbered[numbered >= 0], return_counts=True)[1] > 1
    return numbered if together.any() else None


def link(groups: Ints, index: Ints) -> Ints | None:
    """Sample of the contracted problem for every point; None if every point is one of its own.

    ``index`` (n,) is the point of every row. Samples are numbered by their first point.

    Examples
    --------
    >>> link(np.array([7, -1, 7, 5, 5]), np.array([0, 1, 2, 2, 3]))
    array([0, 1, 0, 0])
    """
    n, rows = int(index.max()) + 1, np.flatnonzero(groups >= 0)
    if not len(rows):
        return None
    # groups are nodes too, after the points: what hangs together is one sample
    edges = np.column_stack([index[rows], n + canonical(groups[rows])])
    samples = components(edges, int(edges.max()) + 1)[:n]
    return None if int(samples.max()) + 1 == n else samples
