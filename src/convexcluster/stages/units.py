"""The powers of two that bring rows and masses into range, and the parameters in these units.

All that a fit squares is then a double: X of 1e-200 has the clusters of X.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels import check_metric
from ..numerics.parameters import is_number
from ..numerics.progress import Progress
from ..points.units import Unit, beside_grid, exponent_of, numbers, power
from ..problem import Floats
from ..rows import Rows
from ..settings import Settings

# Bandwidths within 2^±500 have squares that are doubles.
BANDWIDTHS = 500

# Kernels that are no function of x/σ, nor of a power of the length of x.
WITHOUT_UNITS = ("polynomial", "sigmoid", "callable", "sum")

# Metrics with d(sx, sy) = s·d(x, y), so that rows may be multiplied.
HOMOGENEOUS = ("auto", "euclidean", "manhattan", "chebyshev", "precomputed")


def choose_units(rows: Rows, settings: Settings) -> tuple[Unit, Settings]:
    """The powers of two that bring rows and masses into range, and the settings with them.

    Rows that are not in memory stay as they are.
    """
    values = None if rows.X is None else numbers(rows.X)
    e = 0 if values is None else exponent_of(values)
    named = check_metric(settings.metric) in HOMOGENEOUS
    if settings.kernel_name in WITHOUT_UNITS or callable(settings.weights) or not named:
        if values is not None and e > BANDWIDTHS:
            raise ValueError(
                f"kernel {settings.kernel_name!r} does not see numbers as small as those of X, "
                f"at most {np.abs(values).max():.1g}, whose squares are 0: scale X"
            )
        e = 0
    linear, given = settings.kernel_name == "linear", settings.kernel_name == "precomputed"
    e -= e % 2 if given else 0
    mass = 0 if rows.masses is None else _unit_of_masses(rows.masses, settings)
    graph_of_masses = isinstance(settings.weights, str) and not settings.automatic_graph
    space = e if linear else e // 2 if given else 0
    lengths = named and not given and settings.kernel_name not in (*WITHOUT_UNITS, "cosine")
    lengths = lengths and not callable(settings.weights) and settings.metric != "precomputed"
    rounded = lengths and values is not None and beside_grid(values, e)
    unit = Unit(e, space, mass, mass if graph_of_masses else 0, rounded)
    return unit, _with_units(settings, unit, values)


def _unit_of_masses(masses: Floats, settings: Settings) -> int:
    """Exponent of the masses, even; 0 where masses are ordinary."""
    t = exponent_of(masses)
    own = callable(settings.weights)
    full = own or (isinstance(settings.weights, str) and settings.weights == "full")
    if t and (full or settings.min_cluster_size is not None):
        raise ValueError(
            'weights="full", callable weights and min_cluster_size have the units of '
            f"sample_weight, which reaches {masses.max():.1g}: divide sample_weight by it"
        )
    mean = int(np.frexp(masses.mean())[1])
    return -(mean - mean % 2) if t else 0


def _with_units(settings: Settings, unit: Unit, values: Floats | None) -> Settings:
    """Lengths and γ multiplied by their powers of two; refuse what then leaves the doubles."""

    def told(name: str, value: Any, exponent: int, most: int) -> Any:
        if isinstance(value, str) or value is None:
            return value
        changed = power(value, exponent) if exponent else value
        size = np.abs(np.asarray(changed, dtype=np.float64))
        gone = (size < np.ldexp(1.0, -most)) & (np.asarray(value) != 0)
        if np.any(gone | (size > np.ldexp(1.0, most))):
            largest = "" if values is None else f", numbers up to {np.abs(values).max():.3g}"
            shown = f"{value:g}" if is_number(value) else repr(value)
            raise ValueError(f"{name}={shown} is out of proportion to X{largest}: change either")
        return float(changed) if exponent and is_number(value) else changed

    params = dict(settings.kernel_params or {})
    lengths = {"bandwidth": settings.bandwidth, **params}["bandwidth"]
    changes: dict[str, Any] = {}
    if settings.kernel_name not in (*WITHOUT_UNITS, "linear", "precomputed", "cosine"):
        sigma = told("bandwidth", lengths, unit.rows, BANDWIDTHS)
        if "bandwidth" in params:
            changes["kernel_params"] = {**params, "bandwidth": sigma}
        else:
            changes["bandwidth"] = sigma
    space = unit.space if settings.weighs_in_embedding else unit.rows
    sigma = told("weight_bandwidth", settings.weight_bandwidth, space, BANDWIDTHS)
    changes["weight_bandwidth"] = sigma
    changes["gamma"] = told("gamma", settings.gamma, unit.gamma, 1023)
    told_of = settings.progress
    if told_of is not None and unit.gamma and not isinstance(told_of, Progress):

        def in_the_users_units(step: int, total: int, gamma: float, *rest: Any) -> None:
            told_of(step, total, float(power(gamma, -unit.gamma)), *rest)

        changes["verbose"] = in_the_users_units
    return replace(settings, **changes) if unit != Unit() else settings
