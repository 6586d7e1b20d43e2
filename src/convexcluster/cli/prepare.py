"""What happens to a table between reading and fitting, kept so that new data get the same.

Numbers alone: x ↦ (fill(x) − centre) / scale, each step if asked for. A table with categories or
dates goes through :class:`convexcluster.MixedEncoder`, which standardises every column.

Input is a :class:`~convexcluster.cli.read.Table`; output its matrix for the estimator, and a
:class:`Preparation` that is stored in the model file beside the estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..problem import Floats
from ..tables import MixedEncoder
from ..tables.encoder import CATEGORIES
from .read import Remembered, Table, first_missing
from .refusal import Exit, Refusal

# None: by the nearest rows, which is the encoder's.
FILLS: dict[str, Callable[..., Floats] | None] = {
    "neighbors": None,
    "mean": np.nanmean,
    "median": np.nanmedian,
}


@dataclass(frozen=True)
class Preparation:
    """Names of the features, and what fills, centres and scales them (None: not done)."""

    features: tuple[str, ...]
    fill: Floats | None = None
    centre: Floats | None = None
    scale: Floats | None = None
    precomputed: bool = False  # a matrix of pairs, whose columns are the samples, by position
    encoder: dict[str, Any] | None = None  # of columns of several kinds, or filled by neighbours
    encoded: bool = False  # whether the estimator sees what the encoder makes of them
    id_column: str | None = None

    @classmethod
    def of(
        cls, table: Table, standardize: bool, impute: str | None, precomputed: bool
    ) -> Preparation:
        """Learn the preparation from the table that a model is fitted to."""
        known: dict[str, Any] = {"features": table.features, "id_column": table.id_column}
        if precomputed:
            _check_square(table, standardize, impute)
            return cls(**known, precomputed=True)
        if impute is not None and impute not in FILLS:
            raise Refusal(f"--impute must be {' or '.join(FILLS)}, not {impute!r}", Exit.USAGE)
        if not table.is_numeric:
            categories = table.found["kinds"].get("category", [])
            encoder = MixedEncoder(categories, impute or "neighbors").fit(table.X)
            return cls(**known, encoder=encoder.to_dict(), encoded=True)
        if impute is not None:
            known["fill"] = (FILLS[impute] or np.nanmean)(table.numbers, axis=0)
            if FILLS[impute] is None and np.nanstd(table.numbers, axis=0).any():
                known["encoder"] = MixedEncoder().fit(table.numbers).to_dict()
        filled = cls(**known).filled(table)
        return cls(**known, **_scales(filled)) if standardize else cls(**known)

    @property
    def remembered(self) -> Remembered:
        """What reading new data needs to know."""
        features = None if self.precomputed else self.features
        kinds = {} if self.encoder is None or not self.encoded else self.encoder["kinds_"]
        categories = tuple(name for name, kind in kinds.items() if kind in CATEGORIES)
        return Remembered(features, self.id_column, categories, self.encoded)

    def describe(self) -> dict[str, Any]:
        """What was done to the columns, by their names, as plain data."""
        if self.encoder is not None and self.encoded:
            done = f"MixedEncoder, missing numbers by {self.encoder['impute']}"
            return {"encoded": done, "features": list(self.names)}
        steps = {"fill": self.fill, "centre": self.centre, "scale": self.scale}
        named = {k: dict(zip(self.features, v)) for k, v in steps.items() if v is not None}
        return {"filled_by_neighbors": True, **named} if self.encoder is not None else named

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns of :meth:`filled`."""
        if self.encoder is None or not self.encoded:
            return self.features
        return tuple(MixedEncoder.from_dict(self.encoder).get_feature_names_out().tolist())

    def apply(self, table: Table) -> Floats:
        """Return the matrix for the estimator; the table is left as it is."""
        if self.encoder is not None and self.encoded:
            return MixedEncoder.from_dict(self.encoder).transform(table.X)
        X = self.filled(table)
        if self.centre is not None and self.scale is not None:
            X = (X - self.centre) / self.scale
        return X

    def filled(self, table: Table) -> Floats:
        """Return the table's own numbers with nothing missing, and shares of its categories."""
        if self.encoder is None:
            return _fill(table, self.fill)
        encoder = MixedEncoder.from_dict(self.encoder)
        near = encoder.features(encoder.transform(table.X))
        if self.encoded:
            return near
        X = np.array(_fill(table, self.fill))
        places = [block.name for block in encoder.blocks_]
        X[:, places] = np.where(np.isnan(table.numbers[:, places]), near, table.numbers[:, places])
        return X


def _scales(X: Floats) -> dict[str, Any]:
    """Mean and deviation of every column."""
    centre, scale = X.mean(axis=0), X.std(axis=0)
    # A constant column stays 0 after centring, whatever it is divided by; the mean of
    # equal numbers may be off by round-off, which must not be blown up to unit variance.
    constant = np.ptp(X, axis=0) == 0
    scale = np.where(constant | (scale == 0), 1.0, scale)
    return {"centre": np.where(constant, X[0], centre), "scale": scale}


def _fill(table: Table, fill: Floats | None) -> Floats:
    where = first_missing(table)
    if where is None:
        return table.numbers
    if fill is None:
        count = int(np.isnan(table.numbers).sum())
        raise Refusal(
            f"missing value in {where}, {count} in all: fit with --impute neighbors, "
            "--impute mean or --impute median, or complete the data"
        )
    return np.where(np.isnan(table.numbers), fill, table.numbers)


def _check_square(table: Table, standardize: bool, impute: str | None) -> None:
    if standardize or impute:
        option = "--standardize" if standardize else "--impute"
        raise Refusal(f"{option} does not go with precomputed: leave it out", Exit.USAGE)
    if not table.is_numeric:
        raise Refusal("a precomputed matrix holds numbers alone: --id-column or --drop the others")
    n, d = table.numbers.shape
    if n != d:
        raise Refusal(
            f"precomputed needs a square matrix, and this one is {n} × {d}: "
            "pass one row and one column per sample (--id-column or --drop for any other column)"
        )
