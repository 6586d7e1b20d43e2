"""Rows and masses far outside the range of squares: powers of two that bring both near one.

A fit multiplies up to four lengths, and double precision ends at 2^±1022: numbers of 1e-160 have
squares that are 0. Such rows are multiplied by 2^e once, before the fit; so are extreme masses.
With X' = 2^e X, Z' = 2^s Z, m' = 2^t m and w' = 2^u w the solution is that of γ' = 2^(s+t−u) γ,

    ½ Σ m'‖z' − a'‖² + γ' Σ w'‖a'_i − a'_j‖ = 2^(2s+t) (½ Σ m‖z − a‖² + γ Σ w‖a_i − a_j‖)

at a' = 2^s a, and what a fit reports is divided by its power again. A power of two costs no digit.

Beside ordinary rows numbers of 1e-160 are rounded to a multiple of 2^-500, so that the squared
distance of rows is 0 only where they are equal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from scipy import sparse

from ..certificate import Certificate
from ..graph import Graph
from ..path.clusterpath import ClusterPath
from ..problem import Floats
from .error import CoarseningError

# Numbers within 2^±250 (1.8e±75) stay as they are: the product of four of them is a double. With
# twice as large a bound the certificate of small numbers would be lost to underflow.
ORDINARY = 250

# Rows are rounded to multiples of 2^-GRID (3e-151), of which the square is a normal double. With
# 512 it would not be; with half of it numbers of 1e-75 would lose digits.
GRID = 500

# Numbers that are looked at together for those that the grid does not hold: a megabyte of copies,
# which stays in cache. Half or twice take a tenth longer; 2,000,000 a third, and 48 MB of copies.
AT_ONCE = 2**17


@dataclass(frozen=True)
class Unit:
    """Exponents of two by which a fit multiplies what it is given.

    Attributes
    ----------
    rows : int
        Of X, or of a precomputed K.
    space : int
        Of the embedding: that of the rows if the kernel is linear, half of it if K is given, else
        0, since bandwidths are multiplied as well.
    mass : int
        Of the masses, even.
    weight : int
        Of the weights of the graph that follows from the masses.
    rounded : bool
        Whether rows are rounded to the grid of 2^-500 after that.
    """

    rows: int = 0
    space: int = 0
    mass: int = 0
    weight: int = 0
    rounded: bool = False

    @property
    def multiplies(self) -> bool:
        """Whether anything is multiplied."""
        return replace(self, rounded=False) != Unit()

    @property
    def gamma(self) -> int:
        """Exponent of γ."""
        return self.space + self.mass - self.weight

    def scale(self, X: Any) -> Any:
        """Rows in the units of the fit."""
        if not self.rows and not self.rounded:
            return X
        if not sparse.issparse(X):
            return self._in_range(X)
        scaled: Any = sparse.csr_array(cast(Any, X), copy=True)
        scaled.data = self._in_range(scaled.data)
        scaled.eliminate_zeros()
        return scaled

    def _in_range(self, values: Floats) -> Floats:
        values = power(values, self.rows) if self.rows else values
        return on_grid(values) if self.rounded else values

    def report(self, kept: dict[str, Any], one_gamma: bool, fusions: bool) -> dict[str, Any]:
        """The attributes of a fitted estimator in the units of the user.

        Heights of the tree are without units; those of one γ are lengths times √m, and those of
        ``fusions`` along a path are γ.
        """
        s, energy = -self.space, -(2 * self.space + self.mass)
        kept = dict(kept)
        kept["centroids_"] = power(kept["centroids_"], s)
        kept["gamma_"] = float(power(kept["gamma_"], -self.gamma))
        kept["path_"] = self._path(kept["path_"], s, energy)
        kept["certificate_"] = self._certificate(kept["certificate_"], energy)
        kept["graph_"] = Graph(kept["graph_"].edges, power(kept["graph_"].weights, -self.weight))
        chosen, table = kept["selection_"], dict(kept["selection_"].table)
        if "sse" in table:
            table["sse"] = power(table["sse"], energy)
        tree = kept["linkage_"] = kept["linkage_"].copy()
        height = -self.gamma if fusions else 0
        tree[:, 2] = power(tree[:, 2], energy // 2 if one_gamma else height)
        layers = tuple(
            replace(layer, gamma_range=tuple(power(layer.gamma_range, -self.gamma)))
            for layer in chosen.layers
        )
        kept["selection_"] = replace(
            chosen,
            gamma=float(power(chosen.gamma, -self.gamma)),
            table=table,
            linkage=tree,
            layers=layers,
        )
        if "coarsening_" in kept:
            error: CoarseningError = kept["coarsening_"]
            kept["coarsening_"] = replace(error, per_cell=power(error.per_cell, energy // 2))
        return kept

    def _path(self, path: ClusterPath, s: int, energy: int) -> ClusterPath:
        return replace(
            path,
            gammas=power(path.gammas, -self.gamma),
            fusion_values=power(path.fusion_values, -self.gamma),
            masses=power(path.masses, -self.mass),
            scale=float(power(path.scale, energy)),
            centers=tuple(power(center, s) for center in path.centers),
            origin=power(path.origin, s),
        )

    def _certificate(self, found: Certificate, energy: int) -> Certificate:
        half = energy // 2
        return replace(
            found,
            gap=float(power(found.gap, energy)),
            rounding=float(power(found.rounding, energy)),
            radius=float(power(found.radius, half)),
            embedding_error=float(power(found.embedding_error, half)),
            coarsening_error=float(power(found.coarsening_error, half)),
            gamma_interval=None
            if found.gamma_interval is None
            else (
                float(power(found.gamma_interval[0], -self.gamma)),
                float(power(found.gamma_interval[1], -self.gamma)),
            ),
        )


def power(x: Any, exponent: int) -> Any:
    """2^exponent · x; what is too small for a double is 0."""
    with np.errstate(under="ignore", over="ignore"):
        return np.ldexp(x, exponent)


def on_grid(values: Floats) -> Floats:
    """Values rounded to multiples of 2^-GRID; those that are multiples stay as they are.

    Examples
    --------
    >>> on_grid(np.array([1.0, 1e-150, 1e-152])) == [1.0, 1e-150, 0.0]
    array([ True, False,  True])
    """
    small = np.abs(values) < np.ldexp(1.0, 53 - GRID)
    return np.where(small, power(np.rint(power(values, GRID)), -GRID), values)


def beside_grid(values: Floats, exponent: int) -> bool:
    """Whether 2^exponent times some of the values is no multiple of 2^-GRID."""
    flat = values.reshape(-1)
    least = power(1.0, 53 - GRID - exponent)
    for start in range(0, len(flat), AT_ONCE):
        some = np.abs(flat[start : start + AT_ONCE])
        some = power(some[some < least], exponent)
        if (on_grid(some) != some).any():
            return True
    return False


def numbers(X: Any) -> Floats:
    """The numbers that a dense or sparse X holds."""
    return cast(Any, X).data if sparse.issparse(X) else X


def exponent_of(values: Floats) -> int:
    """Exponent that brings the greatest |value| below one; 0 if it is ordinary.

    Examples
    --------
    >>> exponent_of(np.array([3.0, -5.0])), exponent_of(np.array([0.0, 2.0**-500]))
    (0, 499)
    """
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    exponent = int(np.frexp(largest)[1])
    return 0 if largest == 0 or abs(exponent) <= ORDINARY else -exponent
