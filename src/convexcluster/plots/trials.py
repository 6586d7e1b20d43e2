"""Repeated fits: number of clusters against each hyperparameter, duality gap against time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from ..optional import need
from ..problem import Floats, Ints
from .appearance import COLOURS, INK, MARKERS, axes_or_new, plain, tidy, whole_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class HyperparameterDisplay:
    """Number of clusters against each hyperparameter, the others held fixed.

    Attributes
    ----------
    curves : dict of str to (values, n_clusters)
        Values ascending; one panel each.

    Examples
    --------
    >>> HyperparameterDisplay.from_data({"bandwidth": ([2, 1], [3, 9])}).curves["bandwidth"]
    (array([1., 2.]), array([9, 3]))
    """

    curves: dict[str, tuple[Floats, Ints]]

    @classmethod
    def from_data(
        cls, curves: Mapping[str, tuple[Sequence[float], Sequence[int]]]
    ) -> HyperparameterDisplay:
        """Sort each curve by its values."""
        made = {}
        for name, (values, counts) in curves.items():
            order = np.argsort(values, kind="stable")
            made[name] = (
                np.asarray(values, dtype=np.float64)[order],
                np.asarray(counts, dtype=np.int64)[order],
            )
        return cls(made)

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: ArrayLike, grid: Mapping[str, Sequence[float]]
    ) -> HyperparameterDisplay:
        """Fit a clone of ``estimator`` to ``X`` for each value in ``grid``, one at a time."""
        from sklearn.base import clone

        curves: dict[str, tuple[Sequence[float], list[int]]] = {}
        for name, values in grid.items():
            fits = [clone(estimator).set_params(**{name: value}).fit(X) for value in values]
            curves[name] = (list(values), [int(fit.n_clusters_) for fit in fits])
        return cls.from_data(curves)

    def plot(self, axes: Sequence[Axes] | None = None) -> list[Axes]:
        """Draw one panel per hyperparameter, on ``axes`` or on a new figure."""
        if axes is None:
            pyplot = need("matplotlib.pyplot", "plot")
            width = 3.6 * len(self.curves)
            _, made = pyplot.subplots(
                1, len(self.curves), figsize=(width, 3.4), layout="constrained", squeeze=False,
                sharey=True,
            )  # fmt: skip
            axes = list(made[0])
        for i, (ax, (name, (values, counts))) in enumerate(zip(axes, self.curves.items())):
            ax.plot(
                values,
                counts,
                f"{MARKERS[i % 8]}-",
                color=COLOURS[i % len(COLOURS)],
                mec=INK,
                mew=0.4,
            )
            # values that span more than a decade were laid out in ratios
            if len(values) > 1 and values.min() > 0 and values.max() > 10 * values.min():
                ax.set_xscale("log")
            whole_numbers(ax)
            tidy(ax, f"varying {plain(name)}", plain(name), "number of clusters" if i == 0 else "")
        for ax in axes:
            ax.set_ylim(bottom=0)
        return list(axes)


@dataclass(frozen=True, eq=False)
class GapDisplay:
    """Relative duality gap against time, one curve per solver.

    Attributes
    ----------
    traces : dict of str to (seconds, gaps)

    Examples
    --------
    >>> GapDisplay.from_data({"ssnal": ([0.1, 0.2], [1e-2, 1e-7])}).traces["ssnal"][1]
    array([1.e-02, 1.e-07])
    """

    traces: dict[str, tuple[Floats, Floats]]

    @classmethod
    def from_data(cls, traces: Mapping[str, tuple[Sequence[float], Sequence[float]]]) -> GapDisplay:
        """Keep times and gaps as they were measured."""
        return cls(
            {
                name: (np.asarray(seconds, dtype=np.float64), np.asarray(gaps, dtype=np.float64))
                for name, (seconds, gaps) in traces.items()
            }
        )

    @classmethod
    def from_solvers(
        cls,
        Z: ArrayLike,
        edges: ArrayLike,
        weights: ArrayLike,
        gamma: float,
        *,
        solvers: Sequence[str] = ("auto",),
        tols: Sequence[float] = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8),
    ) -> GapDisplay:
        """Time a cold solve for each tolerance; the first one, which compiles, is not counted."""
        from ..solvers import solve

        traces: dict[str, tuple[list[float], list[float]]] = {}
        for name in solvers:
            solve(Z, edges, weights, gamma, solver=name, tol=max(tols))
            seconds, gaps = [], []
            for tol in tols:
                start = perf_counter()
                gaps.append(solve(Z, edges, weights, gamma, solver=name, tol=tol).relative_gap)
                seconds.append(perf_counter() - start)
            traces[name] = (seconds, gaps)
        return cls.from_data(traces)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw on ``ax``, or on new axes; a gap of zero is drawn at round-off."""
        ax = axes_or_new(ax)
        for i, (name, (seconds, gaps)) in enumerate(self.traces.items()):
            ax.plot(
                seconds, np.maximum(gaps, np.finfo(float).eps), f"{MARKERS[i % 8]}-",
                color=COLOURS[i % len(COLOURS)], mec=INK, mew=0.4, label=plain(name),
            )  # fmt: skip
        ax.set_yscale("log")
        spans = [s for s, _ in self.traces.values() if len(s) and s.min() > 0]
        if spans and max(s.max() for s in spans) > 10 * min(s.min() for s in spans):
            ax.set_xscale("log")
        ax.grid(axis="y", alpha=0.3)
        ax.legend(frameon=False)
        tidy(ax, "Certified accuracy against time", "time (s)", "relative duality gap")
        return ax
