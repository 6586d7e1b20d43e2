"""The parameters of a fit: checked once, for every entry, and the rules that follow from them.

``Settings.of(estimator)`` is made from the parameters of an estimator. A ``Settings`` that exists
holds values that make sense; what depends on the data as well (more clusters than rows, a sparse X
with a kernel that takes none) is checked by the stage that meets it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property, partial
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from ..kernels import STATIONARY, Kernel, SumKernel, check_metric, resolve_kernel
from ..numerics.parameters import check_parameters
from ..numerics.progress import Lines, Progress, seconds, show_bar
from ..numerics.threads import threads
from ..partition import has_copies, sorted_rows
from ..problem import Floats
from ..rows import Plan, Rows, plan_fit
from ..weights import FEW_FEATURES, LOOPED
from .rules import RULES

Callback = Callable[[int, int, float, int, float], None]

# Pivots of the embedding of cells, and of more rows than FULL_RANK, unless the user asks. Half as
# many leave few axes to choose from; twice as many take up to four times as long. What is lost is
# measured and part of the certificate.
RANK = 256

# Principal axes of the pivots on which an automatic path runs, of points of the plane or of space.
# Its time is proportional to them. Against 256, half as many change the number of clusters on 6 of
# 13 data sets, these on 2, and twice as many on 2 as well.
PLANE_AXES = 64

# The same of rows with more features: half as many change it on 4 of 16 data sets, these on 2.
AXES = 128

# Rows among which pivots are looked for: eight for each. With fewer, thin places hold no candidate;
# the time of the choice is proportional to them.
PIVOT_ROWS = 2_000

# Rows up to which an automatic path is embedded at full rank: labels are proved in the full space,
# and at twice as many rows the path of a kernel takes more than twice the time. One γ is always
# solved at the rank that ``embedding_tol`` needs.
FULL_RANK = 300

# The relative gap where nothing is lost, unless the user asks.
TOL = 1e-6

# Share of the relative trace τ² that a looser gap may be. The errors add as squares,
# 2·gap + coarsening² + embedding²: a gap of τ²/200 adds half a percent to the radius.
GAP_SHARE = 0.005

# Kernels in which a weight of a feature is a factor of its column.
WEIGHED = ("rbf", "laplacian", "linear")

# Weights that take any metric; the others are Gaussians of Euclidean distances.
LOCAL = ("local", "mutual")

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
    metric: Any = "auto"
    feature_weights: Any = None
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
        given = {field.name: getattr(estimator, field.name) for field in fields(cls)}
        if isinstance(given["kernel"], SumKernel):
            names = getattr(estimator, "feature_names_in_", None)
            given["kernel"] = given["kernel"].named(names)
        return cls(**given)

    def __post_init__(self) -> None:
        check_parameters(RULES, vars(self))
        given = 1.0 if self.bandwidth == "auto" else self.bandwidth  # "auto" needs rows
        resolve_kernel(self.kernel, given, self.kernel_params, metric=self.metric)
        self._check_feature_weights()

    def _check_feature_weights(self) -> None:
        if self.feature_weights is not None and self.kernel_name not in WEIGHED:
            raise ValueError(
                f"feature_weights are for the kernels {', '.join(WEIGHED)}, not {self.kernel_name}"
            )

    def feature_factors(self, X: Any) -> Floats | None:
        """Factor of each column of X, such that distances of the kernel have their weights."""
        if self.feature_weights is None:
            return None
        if sparse.issparse(X):
            raise ValueError("feature_weights need a dense X: pass X.toarray()")
        theta = np.asarray(self.feature_weights, dtype=np.float64)
        if len(theta) != X.shape[1]:
            raise ValueError(f"feature_weights has {len(theta)} numbers for {X.shape[1]} features")
        theta = theta * (len(theta) / theta.sum())
        return theta if self.kernel_name == "laplacian" else np.sqrt(theta)

    @cached_property
    def kernel_name(self) -> str:
        """Key of ``KERNELS`` or "callable", whatever way the kernel was named."""
        return self.resolve_kernel(1.0).name

    def resolve_kernel(self, bandwidth: float | None = None, X: Any = None) -> Kernel:
        """The kernel; an automatic bandwidth is ``bandwidth``, or taken from the rows X."""
        sigma = bandwidth if self.bandwidth == "auto" and bandwidth else self.bandwidth
        return resolve_kernel(self.kernel, sigma, self.kernel_params, X, self.metric)

    @property
    def pairs_given(self) -> bool:
        """Whether X holds values of pairs, a kernel or distances, and no features."""
        return self.kernel_name == "precomputed" or self.distances_given

    @property
    def distances_given(self) -> bool:
        """Whether X holds distances."""
        return isinstance(self.metric, str) and self.metric.lower() == "precomputed"

    def metric_of_graph(self, X: Any) -> Any:
        """The metric between rows of X; one of ``LOOPED`` has loops, any other needs all pairs.

        Manhattan distances of sparse rows and of Gaussian weights need them too, as "cityblock".
        """
        metric = check_metric(self.metric)
        automatic = self.automatic_weights and self.weights == "knn"
        local = automatic or (isinstance(self.weights, str) and self.weights in LOCAL)
        if metric == "manhattan" and (sparse.issparse(X) or not local):
            return "cityblock"
        return metric

    @property
    def is_linear(self) -> bool:
        """Whether the rows themselves are the embedding; distances have none."""
        return self.kernel_name == "linear" and not self.distances_given

    @property
    def one_gamma(self) -> bool:
        """Whether one γ is given, and no path is wanted."""
        return isinstance(self.gamma, Real)

    @property
    def automatic_weights(self) -> bool:
        """Whether the graph is built from the rows, without a length that the user gave."""
        return isinstance(self.weights, str) and isinstance(self.weight_bandwidth, str)

    @property
    def automatic_graph(self) -> bool:
        """Whether the graph is that of the defaults."""
        return self.automatic_weights and self.weights == "knn"

    @property
    def given_graph(self) -> bool:
        """Whether the graph of the rows is given as data."""
        return not isinstance(self.weights, str) and not callable(self.weights)

    @property
    def merges_equal_rows(self) -> bool:
        """Whether equal rows may be one point: their graph is built here, from the rows."""
        return self.automatic_weights and not self.pairs_given

    @property
    def weighs_in_embedding(self) -> bool:
        """Whether distances for the weights are those of the embedding."""
        return self.weight_space == "embedding" or self.kernel_name in ("precomputed", "sum")

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

    @contextmanager
    def watched(self) -> Iterator[Settings]:
        """The settings with a bar where ``verbose`` is 1, as long as the block runs."""
        from ..loops.compile import announced  # late: it loads numba

        with announced(asked=bool(self.verbose) and not callable(self.verbose)):
            if isinstance(self.verbose, Progress):
                with self.verbose:
                    yield self
            elif callable(self.verbose) or self.verbose != 1:
                yield self
            else:
                person = sys.stderr.isatty()
                with Progress(show_bar if person else Lines()) as progress:
                    yield replace(self, verbose=progress)
                if person:
                    print(file=sys.stderr)

    def expect(self, n: int, width: int, points: int, coarse: bool) -> None:
        """The fit is of n rows of so many columns, which are so many points, or cells if coarse."""
        if isinstance(self.verbose, Progress):
            width = 2 if self.pairs_given else width
            seldom = {"path", "choice"} if self.one_gamma else {"solution"}
            seldom = seldom - {"solution"} if coarse else seldom | {"cells", "labels"}
            self.verbose.expect(seconds(n, width, points), seldom)

    def stage(self, name: str) -> None:
        """A stage of the fit begins, one of ``numerics.progress.STAGES``."""
        if isinstance(self.verbose, Progress):
            self.verbose.stage(name)
        elif self.verbose and not callable(self.verbose):
            print(f"[convexcluster] {name}", file=sys.stderr, flush=True)

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
        return automatic and n > FULL_RANK and not self.is_linear

    def axes(self, width: int) -> int | None:
        """Principal axes on which an automatic path of rows with ``width`` columns runs.

        None means all: where the graph is that of the embedding, where every γ is certified, and of
        kernels that do not decay.
        """
        decays = self.kernel_name in STATIONARY
        if self.weighs_in_embedding or self.pairs_given or self.certify == "path" or not decays:
            return None
        return PLANE_AXES if width <= FEW_FEATURES else AXES

    def embedding_options(self, n: int, width: int, *, of_sample: bool = False) -> dict[str, Any]:
        """Options of :func:`convexcluster.embedding.embed` for n points, or for a sample of rows.

        The points have ``width`` columns. The embedding of a sample is made of landmarks, so that
        other rows can be placed in it.
        """
        options: dict[str, Any] = {"method": self.embedding, "rank": self.rank}
        if self.embedding == "identity" and self.distances_given:
            options["method"] = "auto"
        options |= {"tol": self.embedding_tol, "random_state": self.random_state}
        if of_sample and not self.is_linear:
            if self.embedding == "auto":
                options["method"] = "pivoted"
            if self.rank is None:
                options["rank"] = min(RANK, n)
        if self.cuts_rank(n):
            options["rank"] = min(RANK, n)
            axes = self.axes(width)
            if axes is not None:
                options |= {"method": "auto", "axes": axes, "sample": PIVOT_ROWS}
        return options

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
        elif self.distances_given:
            why = "distances are given"
        elif check_metric(self.metric) not in LOOPED:
            why = "a cell is the mean of its rows, which this metric need not know"
        elif callable(self.weights) or (elsewhere and not isinstance(self.weights, str)):
            why = "the graph is given"
        elif self.embedding == "exact":
            why = 'embedding="exact" has n² numbers for rows'
        if why and (elsewhere or self.coarsen not in ("auto", False)):
            raise ValueError(f"coarsen={self.coarsen!r} groups rows into cells, but {why}")
        if elsewhere and self.feature_weights is not None:
            raise ValueError("feature_weights need all rows in memory: use the estimator itself")
        if elsewhere and self.coarsen is False:
            raise ValueError("coarsen=False needs all rows in memory: use the estimator itself")
        # with fewer rows than cells every row is a cell of its own
        n = 2**62 if rows.n is None else max(rows.n, 2)
        of = partial(
            plan_fit,
            d=rows.width,
            rank=self.rank_of_cells(rows.width),
            max_memory=self.max_memory,
            coarsen=False if why else self.coarsen,
        )
        plan = of(n)
        merges = self.merges_equal_rows and self.coarsen == "auto" and not elsewhere
        if plan.coarse and merges and has_copies(rows.X):
            return of(max(len(sorted_rows(rows.X)[0]), 2))
        return plan

    def every_row(self) -> Settings:
        """The settings of a fit with a point for every distinct row: groups of rows need one."""
        if self.coarsen not in ("auto", False):
            raise ValueError(
                f"coarsen={self.coarsen!r} groups rows into cells, and groups would join all rows "
                'of a cell: pass coarsen=False or "auto"'
            )
        return replace(self, coarsen=False)

    def rank_of_cells(self, width: int) -> int:
        """Greatest dimension of the embedding of cells of rows with ``width`` columns."""
        if self.kernel_name == "linear":
            return width
        automatic = self.axes(width) if self.embedding == "auto" else None
        return self.rank or automatic or RANK

    def key(self, *names: str) -> tuple[Any, ...]:
        """The values of some parameters as a dictionary key; what has no hash is its identity."""
        return tuple(_hashable(getattr(self, name)) for name in names)


def scaled_columns(X: Any, factors: Floats | None) -> Any:
    """Columns of X times their factors, of which those of factor 0 are left out."""
    return X if factors is None else np.ascontiguousarray((X * factors)[:, factors > 0])


def _hashable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return "id", id(value)
    return value
