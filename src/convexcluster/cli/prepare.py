"""What happens to a table between reading and fitting, kept so that new data get the same.

    x ↦ (fill(x) − centre) / scale

Input is a :class:`~convexcluster.cli.read.Table`; output its matrix for the estimator, and a
:class:`Preparation` that is stored in the model file beside the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..problem import Floats
from .read import Table, first_missing
from .refusal import Exit, Refusal

FILLS: dict[str, Callable[..., Floats]] = {"mean": np.nanmean, "median": np.nanmedian}


@dataclass(frozen=True)
class Preparation:
    """Names of the features, and what fills, centres and scales them (None: not done)."""

    features: tuple[str, ...]
    fill: Floats | None = None
    centre: Floats | None = None
    scale: Floats | None = None
    precomputed: bool = False  # a kernel matrix, whose columns are the samples, by position

    @classmethod
    def of(
        cls, table: Table, standardize: bool, impute: str | None, precomputed: bool
    ) -> Preparation:
        """Learn the preparation from the table that a model is fitted to."""
        if precomputed:
            _check_square(table, standardize, impute)
            return cls(table.features, precomputed=True)
        fill = None
        if impute is not None:
            if impute not in FILLS:
                raise Refusal(f"--impute must be {' or '.join(FILLS)}, not {impute!r}", Exit.USAGE)
            empty = np.isnan(table.X).all(axis=0)
            if empty.any():
                name = table.features[int(np.argmax(empty))]
                raise Refusal(f"column {name!r} has no value at all: leave it out with --drop")
            fill = FILLS[impute](table.X, axis=0)
        filled = _fill(table, fill)
        centre, scale = None, None
        if standardize:
            centre, scale = filled.mean(axis=0), filled.std(axis=0)
            # A constant column stays 0 after centring, whatever it is divided by; the mean of
            # equal numbers may be off by round-off, which must not be blown up to unit variance.
            constant = np.ptp(filled, axis=0) == 0
            scale = np.where(constant | (scale == 0), 1.0, scale)
            centre = np.where(constant, filled[0], centre)
        return cls(table.features, fill, centre, scale)

    def apply(self, table: Table) -> Floats:
        """Return the matrix for the estimator; the table is left as it is."""
        X = self.filled(table)
        if self.centre is not None and self.scale is not None:
            X = (X - self.centre) / self.scale
        return X

    def filled(self, table: Table) -> Floats:
        """Return the table's own numbers with nothing missing."""
        return _fill(table, self.fill)


def _fill(table: Table, fill: Floats | None) -> Floats:
    where = first_missing(table)
    if where is None:
        return table.X
    if fill is None:
        raise Refusal(
            f"missing value in {where}: fit with --impute mean or --impute median, "
            "or complete the data"
        )
    return np.where(np.isnan(table.X), fill, table.X)


def _check_square(table: Table, standardize: bool, impute: str | None) -> None:
    n, d = table.X.shape
    if standardize or impute:
        option = "--standardize" if standardize else "--impute"
        raise Refusal(f"{option} does not go with --kernel precomputed: leave it out", Exit.USAGE)
    if n != d:
        raise Refusal(
            f"--kernel precomputed needs a square matrix, and this one is {n} × {d}: "
            "pass one row and one column per sample (--id-column or --drop for any other column)"
        )
