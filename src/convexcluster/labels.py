"""From centroids to clusters.

``fusion``: clusters are the connected components of exactly fused edges. ``agglomerative`` (the
paper): Ward's tree on the centroids in the RKHS; one tree gives SSE_k for every k,

    SSE_k = Σ_t Σ_{i∈C_t} m_i ‖a_i − ā_t‖²,

and the elbow of that curve names k. Prediction: c_t = Σ_j β_tj φ(x_j) with β ≥ 0 and rows that sum
to one.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .numerics.laplacian import factor
from .numerics.linkage import cut, join
from .partition import distinct_rows, first, fused, means, twins
from .problem import Floats, Ints, Problem

__all__ = [
    "cut",
    "dual_coefficients",
    "elbow",
    "elbow_scores",
    "fusion_labels",
    "sse_curve",
    "ward_tree",
]


def fusion_labels(A: Floats, edges: Ints) -> Ints:
    """Components of the edges whose two centroids are equal to the last bit.

    Examples
    --------
    >>> fusion_labels(np.array([[0.0], [0.0], [1.0]]), np.array([[0, 1], [1, 2]]))
    array([0, 0, 1])
    """
    return fused(A, edges)


def ward_tree(A: Floats, masses: Floats | None = None) -> Floats:
    """Ward's tree of the weighted rows of A, in SciPy's format.

    Rows that are equal are merged first, at height zero. Heights follow SciPy: a merge at height h
    raises the sum of squares by h²/2.

    Parameters
    ----------
    A : ndarray of shape (n, r)
    masses : ndarray of shape (n,), optional

    Returns
    -------
    ndarray of shape (n − 1, 4)

    Examples
    --------
    >>> ward_tree(np.array([[0.0], [4.0], [0.0]]))[:, 2].round(3)
    array([0.   , 4.619])
    """
    from .numerics.ward import ward_points  # late: it loads numba

    n = len(A)
    masses = np.ones(n) if masses is None else np.asarray(masses, dtype=np.float64)
    label = distinct_rows(A)[1]
    merges = ward_points(means(A, masses, label), np.bincount(label, masses))
    copies = twins(label)
    pairs = np.concatenate([copies, first(label)[merges.pairs]])
    return join(pairs, np.concatenate([np.zeros(len(copies)), merges.heights]), n)


def sse_curve(linkage: Floats) -> Floats:
    """SSE_k for k = 1, …, n (entry k − 1) from one Ward tree.

    Examples
    --------
    >>> sse_curve(ward_tree(np.array([[0.0], [4.0]])))
    array([8., 0.])
    """
    return np.concatenate([np.cumsum(linkage[:, 2] ** 2 / 2.0)[::-1], [0.0]])


# An elbow is read off the first ten numbers of clusters. A longer axis makes the chord flatter and
# the answer larger: on the paper's rings with its own parameters 10 gives 5 for each of 20 seeds,
# 20 gives 7 to 9, as the curve goes on with the pieces of the outer circle.
ELBOW_RANGE = 10


def elbow_scores(sse: Floats, k_max: int = ELBOW_RANGE) -> Floats:
    """How far SSE_k lies below the chord of the curve, for k = 1, …, k_max, in [0, 1).

    With x = (k − 1)/(k_max − 1) and y = (SSE_k − SSE_last)/(SSE_1 − SSE_last) the score is
    1 − x − y: a step to the right pays as long as it takes off more than its share of the whole
    curve, which is "the change becomes small compared with previous changes, and the graph goes on
    approximately linearly" made precise.
    """
    k_max = min(len(sse), k_max)
    if k_max < 2 or sse[0] <= sse[k_max - 1]:
        return np.zeros(max(k_max, 1))
    x = np.linspace(0.0, 1.0, k_max)
    y = (sse[:k_max] - sse[k_max - 1]) / (sse[0] - sse[k_max - 1])
    return 1.0 - x - y


def elbow(sse: Floats, k_max: int = ELBOW_RANGE) -> int:
    """Number of clusters at the elbow: the greatest :func:`elbow_scores`.

    Examples
    --------
    >>> elbow(np.array([10.0, 5.0, 0.3, 0.2, 0.1, 0.0]))
    3
    """
    return int(np.argmax(elbow_scores(sse, k_max))) + 1


def dual_coefficients(problem: Problem, A: Floats, labels: Ints) -> Floats:
    """β (n_clusters × n) with c_t = Σ_j β_tj z_j, β ≥ 0 and rows that sum to one.

    At the optimum (M + L_q) A = M Z on the fused clusters, q_st = γ W_st/‖a_s − a_t‖, an M-matrix
    with row sums M: its inverse times M is non-negative and stochastic. The centroid of a cluster
    of ``labels`` is the mass mean of a over its samples, which need not have fused, nor be all of
    those that fused with one of them.
    """
    n = problem.n
    inner = fused(A, problem.edges)
    i, j = problem.edges.T
    across = inner[i] != inner[j]
    distance = np.linalg.norm(A[i[across]] - A[j[across]], axis=1)
    pairs = np.column_stack([inner[i[across]], inner[j[across]]])
    mass = np.bincount(inner, problem.masses).astype(np.float64)
    # a stronger pull makes M + L_q singular in floats; this one joins centroids to twelve digits
    q = np.minimum(problem.c[across] / distance, 1e12 * mass.min())
    # rows of the averaging matrix: share of each fused cluster in each cluster of `labels`
    total = np.bincount(labels, problem.masses)
    share = sparse.csr_array((problem.masses / total[labels], (labels, inner)))
    reduced = factor(pairs, q, mass)(share.toarray().T).T  # M + L_q is symmetric
    # where the factor would fill up the solve is iterative, and its last digits are restored
    beta = np.maximum(reduced[:, inner] * problem.masses[np.newaxis, :n], 0.0)
    return beta / beta.sum(axis=1, keepdims=True)
