"""The parameters of a fit: checked once, for every entry, and the rules that follow from them.

``Settings.of(estimator)`` is made from the parameters of an estimator. A ``Settings`` that exists
holds values that make sense; what depends on the data as well (more clusters than rows, a sparse X
with a kernel that takes none) is checked by the stage that meets it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .embedding import EMBEDDINGS
from .kernels import Kernel, resolve_kernel
from .numerics.threads import threads
from .path.grid import check_gammas
from .path.solve import CERTIFY
from .points.units import Unit, exponent_of, numbers, power
from .problem import Floats, check_gamma
from .rows import Plan, Rows, parse_bytes, plan_fit
from .selection import SELECTORS
from .solvers import resolve_solver
from .weights import WEIGHTS

Callback = Callable[[int, int, float, int, float], None]

LABELS = ("auto", "fusion", "agglomerative")
WEIGHT_SPACES = ("input", "embedding")

# Dimensions of the embedding of cells, and of more rows than FULL_RANK, unless the user asks. The
# time of a path is proportional to them; what is lost is measured and part of the certificate.
RANK = 256

# Rows up to which an automatic path is embedded at full rank. At twice as many the path of a kernel
# takes more than twice the time. One γ is always solved at the rank that ``embedding_tol`` needs.
FULL_RANK = 1_000

# The relative gap where nothing is lost, unless the user asks.
TOL = 1e-6

# Share of the relative trace τ² that a looser gap may be. The errors add as squares,
# 2·gap + coarsening² + embedding²: a gap of τ²/200 adds half a percent to the radius.
GAP_SHARE = 0.005

# Bandwidths within 2^±500 have squares that are doubles.
BANDWIDTHS = 500

# Kernels that are no function of x/σ, nor of a power of the length of x.
WITHOUT_UNITS = ("polynomial", "sigmoid", "callable")

# The loosest relative gap: with a looser one the partition itself would be in doubt.
LOOSEST = 1e-3


def show_progress(step: int, total: int, gamma: float, k: int, gap: float) -> None:
    """Print a line about a γ of the path on standard error."""
    line = f"[convexcluster] {step + 1}/{total} γ={gamma:.4g} clusters={k} gap={gap:.1e}"
    print(line, file=sys.stderr, flush=True)


def sensible_gap(tol: float, lost: float) -> float:
    """``tol``, or a looser relative gap that is a small share of the relative trace ``lost``.

    Examples
    --------
    >>> sensible_gap(1e-6, 1e-2), sensible_gap(1e-6, 0.0), sensible_gap(1e-6, 0.5)
    (5e-05, 1e-06, 0.001)
    """
    return max(tol, min(GAP_SHARE * lost, LOOSEST))


@dataclass(frozen=True)
class Settings:
    """Parameters of :class:`convexcluster.KernelConvexClustering`, each of them checked."""

    n_clusters: int | None = None
    kernel: Any = "rbf"
    bandwidth: float | str = "auto"
    kernel_params: dict[str, Any] | None = None
    weights: Any = "knn"
    n_neighbors: int = 7
    weight_bandwidth: float | str = "auto"
    weight_space: str = "input"
    gamma: Any = None
    embedding: str = "auto"
    rank: int | None = None
    embedding_tol: float = 1e-6
    labels: str = "auto"
    selection: Any = "auto"
    min_cluster_size: int | None = None
    solver: Any = "auto"
    tol: float | str = "auto"
    max_iter: int | None = None
    certify: str | bool = "selected"
    coarsen: bool | int | str = "auto"
    max_memory: int | str | None = None
    random_state: Any = None
    n_jobs: int | None = None
    verbose: int | Callback = 0

    @classmethod
    def of(cls, estimator: Any) -> Settings:
        """The settings of an estimator; a subclass without some parameters has them as attributes.

        Examples
        --------
        >>> from convexcluster import ConvexClustering
        >>> Settings.of(ConvexClustering(3)).kernel_name
        'linear'
        """
        return cls(**{field.name: getattr(estimator, field.name) for field in fields(cls)})

    def __post_init__(self) -> None:
        self._check_counts()
        self._check_choices()
        self._check_numbers()
        resolve_solver(self.solver)
        given = 1.0 if self.bandwidth == "auto" else self.bandwidth  # "auto" needs rows
        resolve_kernel(self.kernel, given, self.kernel_params)

    def _check_counts(self) -> None:
        for name in ("n_clusters", "n_neighbors", "rank", "min_cluster_size", "max_iter"):
            value = getattr(self, name)
            optional = name != "n_neighbors"
            if (value is None and optional) or (_is_whole(value) and value >= 1):
                continue
            none = ", or None" if optional else ""
            raise ValueError(f"{name} must be a whole number ≥ 1{none}, got {value!r}")
        if self.n_jobs is not None and (not _is_whole(self.n_jobs) or self.n_jobs == 0):
            raise ValueError(
                f"n_jobs must be a number of threads, −1 for all cores, or None: {self.n_jobs!r}"
            )
        named = isinstance(self.coarsen, bool) or self.coarsen == "auto"
        if not named and not (_is_whole(self.coarsen) and self.coarsen >= 1):
            raise ValueError(
                f'coarsen must be "auto", True, False or a number of cells ≥ 1: {self.coarsen!r}'
            )

    def _check_choices(self) -> None:
        if self.labels not in LABELS:
            raise ValueError(f"labels must be one of {LABELS}, got {self.labels!r}")
        if self.weight_space not in WEIGHT_SPACES:
            raise ValueError(
                f'weight_space must be "input" or "embedding", got {self.weight_space!r}'
            )
        if not callable(self.selection) and self.selection not in SELECTORS:
            raise ValueError(f"selection must be one of {sorted(SELECTORS)}: {self.selection!r}")
        if self.embedding not in EMBEDDINGS:
            known = sorted(set(EMBEDDINGS) - {"auto"})
            raise ValueError(f"embedding must be auto or one of {known}, got {self.embedding!r}")
        if self.certify not in CERTIFY:
            raise ValueError(f"certify must be one of {CERTIFY}, got {self.certify!r}")
        if isinstance(self.weights, str) and self.weights not in WEIGHTS:
            raise ValueError(
                f"weights {self.weights!r} are unknown: use one of {', '.join(WEIGHTS)}"
            )
        if self.weights is None:
            raise ValueError(
                f"weights must be one of {', '.join(WEIGHTS)}, a matrix, (edges, weights) or a "
                "callable, got None"
            )
        random = (Integral, np.random.RandomState, np.random.Generator, type(None))
        if not isinstance(self.random_state, random):
            raise ValueError(
                f"random_state must be a whole number, a generator or None: {self.random_state!r}"
            )

    def _check_numbers(self) -> None:
        if self.tol != "auto" and not (_is_number(self.tol) and 0 < self.tol < 1):
            raise ValueError(f'tol must be "auto" or lie between 0 and 1, got {self.tol!r}')
        if not (_is_number(self.embedding_tol) and 0 <= self.embedding_tol < 1):
            raise ValueError(f"tol of an embedding must be in [0, 1), got {self.embedding_tol!r}")
        sigma = self.weight_bandwidth
        if sigma != "auto" and not (_is_number(sigma) and 0 < sigma < np.inf):
            raise ValueError(f'bandwidth of the weights must be "auto" or a number > 0: {sigma!r}')
        if isinstance(self.gamma, bool | np.bool_ | str):
            raise ValueError(f"gamma must be a number ≥ 0, a sequence or None: {self.gamma!r}")
        if _is_number(self.gamma):
            check_gamma(self.gamma)
        elif self.gamma is not None:
            check_gammas(self.gamma)
        if self.max_memory is not None:
            parse_bytes(self.max_memory)

    @cached_property
    def kernel_name(self) -> str:
        """Key of ``KERNELS`` or "callable", whatever way the kernel was named."""
        return self.resolve_kernel(1.0).name

    def resolve_kernel(self, bandwidth: float | None = None, X: Any = None) -> Kernel:
        """The kernel; an automatic bandwidth is ``bandwidth``, or taken from the rows X."""
        sigma = bandwidth if self.bandwidth == "auto" and bandwidth else self.bandwidth
        return resolve_kernel(self.kernel, sigma, self.kernel_params, X)

    @property
    def one_gamma(self) -> bool:
        """Whether one γ is given, and no path is wanted."""
        return isinstance(self.gamma, Real)

    @property
    def automatic_weights(self) -> bool:
        """Whether the graph is built from the rows, without a length that the user gave."""
        return isinstance(self.weights, str) and isinstance(self.weight_bandwidth, str)

    @property
    def given_graph(self) -> bool:
        """Whether the graph of the rows is given as data."""
        return not isinstance(self.weights, str) and not callable(self.weights)

    @property
    def merges_equal_rows(self) -> bool:
        """Whether equal rows may be one point: their graph is built here, from the rows."""
        return self.automatic_weights and self.kernel_name != "precomputed"

    @property
    def weighs_in_embedding(self) -> bool:
        """Whether distances for the weights are those of the embedding."""
        return self.weight_space == "embedding" or self.kernel_name == "precomputed"

    @property
    def threads(self) -> int:
        """Threads of the path and of passes over blocks."""
        return threads(self.n_jobs)

    @property
    def progress(self) -> Callback | None:
        """What is called after each γ of the path."""
        if callable(self.verbose):
            return self.verbose
        return show_progress if self.verbose else None

    @property
    def null_seed(self) -> int:
        """Seed of the structureless samples."""
        return int(self.random_state) if isinstance(self.random_state, Integral) else 0

    def sample_seed(self) -> int:
        """Seed of the rows that are drawn for landmarks; a generator gives another each time."""
        if self.random_state is None:
            return 0
        if isinstance(self.random_state, np.random.Generator):
            return int(self.random_state.integers(2**31 - 1))
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def cuts_rank(self, n: int) -> bool:
        """Whether n rows are more than an automatic path embeds at full rank."""
        automatic = self.embedding == "auto" and self.rank is None and not self.one_gamma
        return automatic and n > FULL_RANK and self.kernel_name != "linear"

    def embedding_options(self, n: int, *, of_sample: bool = False) -> dict[str, Any]:
        """Options of :func:`convexcluster.embedding.embed` for n points, or for a sample of rows.

        The embedding of a sample is made of landmarks, so that other rows can be placed in it.
        """
        method, rank, linear = self.embedding, self.rank, self.kernel_name == "linear"
        if of_sample and not linear:
            method = "pivoted" if method == "auto" else method
            rank = min(RANK, n) if rank is None else rank
        elif self.cuts_rank(n):
            rank = RANK
        common = {"tol": self.embedding_tol, "random_state": self.random_state}
        return {"method": method, "rank": rank, **common}

    def gap_for(self, lost: float, scale: float, cut: bool) -> float:
        """The relative gap to reach: ``tol``, or a small share of what a cut rank has lost."""
        if not isinstance(self.tol, str):
            return float(self.tol)
        return sensible_gap(TOL, lost / scale) if cut and scale > 0 else TOL

    def check_clusters(self, n: int | None) -> None:
        """Refuse more clusters than rows, where the number of rows is known."""
        if self.n_clusters is not None and n is not None and self.n_clusters > n:
            raise ValueError(
                f"n_clusters={self.n_clusters} exceeds the number of samples, {n}: ask for fewer"
            )

    def units(self, rows: Rows) -> tuple[Unit, Settings]:
        """The powers of two that bring rows and masses into range, and the settings with them.

        Rows that are not in memory stay as they are.
        """
        values = None if rows.X is None else numbers(rows.X)
        e = 0 if values is None else exponent_of(values)
        if self.kernel_name in WITHOUT_UNITS or callable(self.weights):
            if values is not None and e > BANDWIDTHS:
                raise ValueError(
                    f"kernel {self.kernel_name!r} does not see numbers as small as those of X, "
                    f"at most {np.abs(values).max():.1g}, whose squares are 0: scale X"
                )
            e = 0
        linear, given = self.kernel_name == "linear", self.kernel_name == "precomputed"
        e -= e % 2 if given else 0
        mass = 0 if rows.masses is None else self._unit_of_masses(rows.masses)
        graph_of_masses = isinstance(self.weights, str) and not (
            self.automatic_weights and self.weights == "knn"
        )
        space = e if linear else e // 2 if given else 0
        unit = Unit(e, space, mass, mass if graph_of_masses else 0)
        return unit, self._in_units(unit, values)

    def _unit_of_masses(self, masses: Floats) -> int:
        """Exponent of the masses, even; 0 where masses are ordinary."""
        t = exponent_of(masses)
        full = callable(self.weights) or (isinstance(self.weights, str) and self.weights == "full")
        if t and (full or self.min_cluster_size is not None):
            raise ValueError(
                'weights="full", callable weights and min_cluster_size have the units of '
                f"sample_weight, which reaches {masses.max():.1g}: divide sample_weight by it"
            )
        mean = int(np.frexp(masses.mean())[1])
        return -(mean - mean % 2) if t else 0

    def _in_units(self, unit: Unit, values: Floats | None) -> Settings:
        """Lengths and γ multiplied by their powers of two; refuse what then leaves the doubles."""

        def told(name: str, value: Any, exponent: int, most: int) -> Any:
            if isinstance(value, str) or value is None:
                return value
            changed = power(value, exponent) if exponent else value
            size = np.abs(np.asarray(changed, dtype=np.float64))
            gone = (size < np.ldexp(1.0, -most)) & (np.asarray(value) != 0)
            if np.any(gone | (size > np.ldexp(1.0, most))):
                largest = "" if values is None else f", numbers up to {np.abs(values).max():.3g}"
                shown = f"{value:g}" if _is_number(value) else repr(value)
                raise ValueError(
                    f"{name}={shown} is out of proportion to X{largest}: change either"
                )
            return float(changed) if exponent and _is_number(value) else changed

        params = dict(self.kernel_params or {})
        lengths = {"bandwidth": self.bandwidth, **params}["bandwidth"]
        changes: dict[str, Any] = {}
        if self.kernel_name not in (*WITHOUT_UNITS, "linear", "precomputed", "cosine"):
            sigma = told("bandwidth", lengths, unit.rows, BANDWIDTHS)
            if "bandwidth" in params:
                changes["kernel_params"] = {**params, "bandwidth": sigma}
            else:
                changes["bandwidth"] = sigma
        space = unit.space if self.weighs_in_embedding else unit.rows
        sigma = told("weight_bandwidth", self.weight_bandwidth, space, BANDWIDTHS)
        changes["weight_bandwidth"] = sigma
        changes["gamma"] = told("gamma", self.gamma, unit.gamma, 1023)
        told_of = self.progress
        if told_of is not None and unit.gamma:

            def in_the_users_units(step: int, total: int, gamma: float, *rest: Any) -> None:
                told_of(step, total, float(power(gamma, -unit.gamma)), *rest)

            changes["verbose"] = in_the_users_units
        return replace(self, **changes) if unit != Unit() else self

    def plan(self, rows: Rows) -> Plan:
        """Whether the path has the rows as its points, or cells of them, and in which blocks.

        Rows that are not in memory are always grouped into cells.
        """
        elsewhere = rows.X is None
        why = ""
        if sparse.issparse(rows.X):
            why = "X is sparse"
        elif self.kernel_name == "precomputed":
            why = "the kernel is precomputed"
        elif callable(self.weights) or (elsewhere and not isinstance(self.weights, str)):
            why = "the graph is given"
        elif self.embedding == "exact":
            why = 'embedding="exact" has n² numbers for rows'
        if why and (elsewhere or self.coarsen not in ("auto", False)):
            raise ValueError(f"coarsen={self.coarsen!r} groups rows into cells, but {why}")
        if elsewhere and self.coarsen is False:
            raise ValueError("coarsen=False needs all rows in memory: use the estimator itself")
        # with fewer rows than cells every row is a cell of its own
        n = 2**62 if rows.n is None else max(rows.n, 2)
        return plan_fit(
            n,
            rows.width,
            self.rank_of_cells(rows.width),
            max_memory=self.max_memory,
            coarsen=False if why else self.coarsen,
        )

    def rank_of_cells(self, width: int) -> int:
        """Greatest dimension of the embedding of cells of rows with ``width`` columns."""
        return width if self.kernel_name == "linear" else self.rank or RANK

    def key(self, *names: str) -> tuple[Any, ...]:
        """The values of some parameters as a dictionary key; what has no hash is its identity."""
        return tuple(_hashable(getattr(self, name)) for name in names)


def _is_whole(value: Any) -> TypeGuard[int]:
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def _is_number(value: Any) -> TypeGuard[float]:
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return "id", id(value)
    return value
