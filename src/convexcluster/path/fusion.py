"""Where two samples fuse, as exactly as wanted: bisection in the bracket that a path gives.

The fusion values of a path are read off its duals and lie between two γ of its grid. This solves
the full problem at γ between them until the bracket is narrow.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..partition import fused
from ..problem import Problem, Solution
from ..solvers import solve_problem
from .clusterpath import ClusterPath

# The gap at which a solution is taken to show which samples have fused. It leaves distances of its
# square root, so that the fifth digit of a fusion value is the last.
TIGHT = 1e-10


def fusion_value(
    path: ClusterPath,
    Z: ArrayLike,
    edges: ArrayLike,
    weights: ArrayLike,
    i: int,
    j: int,
    *,
    masses: ArrayLike | None = None,
    rtol: float = 1e-4,
) -> float:
    """γ at which samples ``i`` and ``j`` come together on ``path``, to a relative ``rtol``.

    Parameters
    ----------
    path : ClusterPath
        From :func:`solve_path` on the same problem.
    Z, edges, weights, masses
        The problem.
    i, j : int
        Two samples.
    rtol : float
        Relative width of the bracket at which bisection ends; its middle is returned. Below 1e-5
        there is nothing to gain.

    Returns
    -------
    float
        Infinity if they do not come together on the path.

    Examples
    --------
    >>> from convexcluster import solve_path
    >>> given = [[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0]
    >>> path = solve_path(*given, [0.1, 1.2, 4.0])
    >>> round(fusion_value(path, *given, 0, 1), 3)  # 0 moves by γ, 1 not at all
    1.0
    """
    problem = Problem.of(Z, edges, weights, 0.0, masses)
    if problem.n != len(path.masses):
        raise ValueError(f"the path has {len(path.masses)} samples, Z has {problem.n}")
    labels = (path.labels(step=step) for step in range(len(path)))
    together = [step for step, label in enumerate(labels) if label[i] == label[j]]
    if not together:
        return float("inf")
    high = float(path.gammas[together[0]])
    low = float(path.gammas[together[0] - 1]) if together[0] else 0.0
    warm: Solution | None = None
    while high - low > rtol * high:
        # in the middle of the logarithms, unless the bracket reaches down to 0
        gamma = float(np.sqrt(low * high)) if low > 0.1 * high else 0.5 * (low + high)
        warm = solve_problem(problem.at(gamma), tol=TIGHT, warm=warm)
        label = fused(warm.A, problem.edges)
        if label[i] == label[j]:
            high = gamma
        else:
            low = gamma
    return 0.5 * (low + high)
