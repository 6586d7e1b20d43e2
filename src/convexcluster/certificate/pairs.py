"""Pairs of samples that are certainly apart or certainly fused in A*."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..problem import Floats, Ints, Problem
from .rounding import roundings


def certified_different(
    problem: Problem, A: Floats, radius: float, pairs: Ints | None = None
) -> NDArray[np.bool_]:
    """Which pairs are in different places in A*, given ‖A − A*‖_M ≤ ``radius``.

    a*_i = a*_j would imply ‖a_i − a_j‖ ≤ ‖a_i − a*_i‖ + ‖a_j − a*_j‖ ≤ R √(1/m_i + 1/m_j). Both
    sides are computed up to r + 7 roundings, relatively. ``pairs`` are the edges by default.
    """
    i, j = (problem.edges if pairs is None else pairs).T
    apart = np.linalg.norm(A[i] - A[j], axis=1)
    reach = radius * np.sqrt(1.0 / problem.masses[i] + 1.0 / problem.masses[j])
    return apart > reach * (1.0 + roundings(A.shape[1] + 8))


def certified_same(problem: Problem) -> NDArray[np.bool_]:
    """Which edges are fused in A* whatever the rest does, from weights and distances alone.

        γ [w_ij (1/m_i + 1/m_j) − Σ_{k≠i,j} |w_ik/m_i − w_jk/m_j|] ≥ ‖z_i − z_j‖

    Subtract the optimality conditions of i and j: were a*_i ≠ a*_j, the left side pulls them
    together by more than data and all other edges can hold them apart. The sum has one term for
    each edge at i or j; its roundings, those of w/m and those of the distance are allowed for.
    """
    n, (i, j) = problem.n, problem.edges.T
    pull = problem.weights * (1.0 / problem.masses[i] + 1.0 / problem.masses[j])
    rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
    P = sparse.csr_array(
        (np.tile(problem.weights, 2) / problem.masses[rows], (rows, columns)), shape=(n, n)
    )
    # Σ_k over all k counts k = i and k = j too, which together are w_ij(1/m_i + 1/m_j)
    total = np.asarray(abs(P[i] - P[j]).sum(axis=1)).ravel()
    terms = np.bincount(rows, minlength=n)
    apart = np.linalg.norm(problem.Z[i] - problem.Z[j], axis=1)
    hold = problem.gamma * (2.0 * pull - total)
    noise = roundings(terms[i] + terms[j] + 10) * problem.gamma * (2.0 * pull + total)
    return hold - noise >= apart * (1.0 + roundings(problem.Z.shape[1] + 8))
