"""Inner products of points in the full space of their kernel, on demand, for a proof.

Input are points, output a :class:`~convexcluster.certificate.space.Space`: blocks of K and a bound
on their rounding. Built-in kernels are known to be positive semi-definite and have derived bounds.
A kernel that is not known to be has been looked at by the exact embedding, whose coordinates then
serve; where that is too large the claim is made with a proviso.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy.spatial.distance import cdist

from ..certificate.rounding import UNIT, roundings
from ..certificate.space import Space
from ..kernels import Kernel, is_sparse
from ..numerics.centred import centred_gram, centred_pieces
from ..problem import Floats, Ints
from .points import Points

# Pairs so far apart have exp(−28.1) = 6e-13 and are left out. Further: more of K is computed.
# Nearer: what is left out, (number of samples)² times, is no longer small beside the flows.
FAR = 28.1

# Features up to which distances are summed term by term, right to the last digits; for more a
# matrix product is faster, and its rounding is of the size of ‖x‖².
FEW = 8

# Rounding of such products that is borne; beyond it distances are summed term by term again.
BORNE = 1e-11

# Accuracy of Bessel functions in Matérn kernels of any ν: SciPy states a few units in 1e-15.
BESSEL = 1e-13


# Samples of more features than samples up to which all inner products are kept: 32 MB.
WHOLE = 2_000

# Numbers held at a time: eight megabytes, little beside rows of so many features that it matters.
AT_ONCE = 2**20


def space_of(points: Points) -> Space:
    """The space of the kernel; of cells of rows, whose means have no pre-image, the embedding."""
    kernel, X = points.embedding.kernel, points.X
    if points.cells is not None:
        return Space.of_coordinates(points.Z)
    if not is_sparse(X):
        if kernel.name in ("rbf", "laplacian"):
            return _of_distances(X, kernel)
        if kernel.name == "linear":
            return Space.of_coordinates(X)
        if kernel.name == "cosine":
            length = np.sqrt(np.einsum("ik,ik->i", X, X))[:, None]
            return Space.of_coordinates(X / np.where(length > 0, length, 1.0))
    if not _is_definite(kernel) and points.embedding.method == "exact":
        return Space.of_coordinates(points.Z)
    return _of_values(X, kernel)


def _is_definite(kernel: Kernel) -> bool:
    """Whether the formula is positive semi-definite whatever the samples are."""
    if kernel.name == "polynomial":
        return kernel.params.get("c", 1.0) >= 0 and kernel.params.get("scale", 1.0) >= 0
    return kernel.name in ("rbf", "laplacian", "linear", "cosine", "matern")


def _of_distances(X: Floats, kernel: Kernel) -> Space:
    """exp(−‖x − y‖²/(2σ²)) or exp(−‖x − y‖₁/σ), with the distance beyond which it vanishes.

    Summed term by term, t = ‖x − y‖ has a relative error γ_{d+8}, and t·exp(−t) ≤ 0.37; by a matrix
    product of centred rows of lengths up to r its error is at most γ_{d+8}(2r)². Centring and
    dividing by σ moves a row by 3u of its length, and k by at most 2·0.61 of both moves together;
    exp is right to one unit.
    """
    d, gauss = X.shape[1], kernel.name == "rbf"
    sigma = float(kernel.params["bandwidth"])
    scale = sigma * np.sqrt(2.0) if gauss else sigma
    metric: Literal["sqeuclidean", "cityblock"] = "sqeuclidean" if gauss else "cityblock"
    unit = float(roundings(d + 8))

    def noise(squares: Floats, sums: Floats) -> tuple[bool, float]:
        """Whether a product will do, and the noise of what is taken; of lengths ‖x‖² and ‖x‖₁."""
        product = 4.0 * unit * float(squares.max())
        fast = gauss and d > FEW and product <= BORNE
        return fast, (product if fast else unit) + 8.0 * UNIT * (1.0 + float(sums.max()))

    if len(X) <= min(d, WHOLE):  # fewer numbers than the rows themselves
        squares, sums = np.zeros(len(X)), np.zeros(len(X))
        for piece in centred_pieces(X, scale):
            squares += np.einsum("ik,ik->i", piece, piece)
            sums += np.abs(piece, out=piece).sum(axis=1)
        fast, unsure = noise(squares, sums)
        if fast:
            whole = _exponentials(centred_gram(X, scale), squares, squares)
        else:
            whole = np.zeros((len(X), len(X)))
            for piece in centred_pieces(X, scale):
                whole -= cdist(piece, piece, metric)
            np.exp(whole, out=whole)
        return Space(lambda i, j: whole[np.ix_(i, j)], np.ones(len(X)), unsure)
    X = X - X.mean(axis=0)
    X /= scale
    squares = np.einsum("ik,ik->i", X, X)
    step = max(1, AT_ONCE // d)
    parts = [np.abs(X[a : a + step]).sum(axis=1) for a in range(0, len(X), step)]
    fast, unsure = noise(squares, np.concatenate(parts))

    def gram(rows: Ints, columns: Ints) -> Floats:
        K = cdist(X[rows], X[columns], metric)
        np.negative(K, out=K)
        return np.exp(K, out=K)

    def by_product(rows: Ints, columns: Ints) -> Floats:
        return _exponentials(X[rows] @ X[columns].T, squares[rows], squares[columns])

    reach = np.sqrt(FAR) if gauss else FAR
    return Space(
        by_product if fast else gram,
        np.ones(len(X)),
        unsure,
        X,
        float(reach),
        float(np.exp(-FAR) * (1.0 + 1e-9)),
    )


def _exponentials(products: Floats, squares: Floats, others: Floats) -> Floats:
    """exp(−‖x − y‖²) from ⟨x, y⟩, which it takes the place of, ‖x‖² and ‖y‖²."""
    products *= 2.0
    products -= others
    products -= squares[:, None]
    np.minimum(products, 0.0, out=products)
    return np.exp(products, out=products)


def _of_values(X: Any, kernel: Kernel) -> Space:
    """Any kernel by its own values."""
    sizes = np.sqrt(np.maximum(kernel.diag(X), 0.0)) * (1.0 + 1e-12)

    def gram(rows: Ints, columns: Ints) -> Floats:
        if kernel.is_precomputed:
            return X[np.ix_(rows, columns)]
        return kernel(X[rows], X[columns])

    d = X.shape[1]
    noise = float(roundings(4 * d + 64))
    if kernel.name == "polynomial":
        noise *= kernel.params.get("degree", 3)
    elif kernel.name == "matern":
        noise += BESSEL
    elif kernel.name == "rbf":  # sparse rows: ‖x‖² − 2⟨x, y⟩ + ‖y‖², not centred
        squares = np.asarray(X.multiply(X).sum(axis=1))
        noise *= 1.0 + 4.0 * float(squares.max()) / float(kernel.params["bandwidth"]) ** 2
    elif kernel.is_precomputed:
        noise = 0.0
    proviso = "" if _is_definite(kernel) else PROVISO
    return Space(gram, sizes, noise, proviso=proviso)


PROVISO = "provided that the kernel is positive semi-definite, which was not checked in full"
