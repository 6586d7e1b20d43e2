"""The steps of ``fit`` for more rows than a path can have: plan, weighted points, back to rows.

A mixin of the estimators. It uses their steps (kernel, graph, path, selection) on the weighted
points of :mod:`convexcluster.large`, and adds what coarsening costs to the certificate.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.utils import check_random_state

from .blocks import as_blocks
from .budget import Plan, plan
from .certificate import Certificate
from .coarse_error import total_radius
from .embedding import Embedding
from .graph import Graph
from .kernels import Kernel
from .large import TOL, Coarse, CoarseCertificate, Fine, PointsFit, fit_points
from .memory import check_memory
from .problem import Floats, Problem, Solution
from .samples import Samples
from .streaming import Engine, Local

# Up to this many rows in this many dimensions the neighbours of all rows are found, and flows on
# their graph factored, in seconds, and the certificate is about that graph; beyond it is about the
# cells'.
OWN_GRAPH_ROWS = 100_000
OWN_GRAPH_DIMENSION = 3


class CoarseSteps:
    """``coarsen`` and ``max_memory`` of the estimators."""

    tol: float | str
    coarsen: Any
    max_memory: Any
    weights: Any
    n_jobs: int | None
    random_state: Any

    def _is_precomputed(self) -> bool:
        raise NotImplementedError

    def _kernel(self, X: Any) -> Kernel:
        raise NotImplementedError

    def _embed_rows(self, rows: Floats, kernel: Kernel) -> Embedding:
        """The embedding whose landmarks come from a sample of the rows."""
        raise NotImplementedError

    def _points_rank(self, d: int) -> int:
        """Greatest dimension of :meth:`_embed_rows`."""
        raise NotImplementedError

    def _graph(self, samples: Samples, embedding: Embedding, kernel: Kernel) -> Graph:
        raise NotImplementedError

    def _null(self, samples: Samples, own: Graph | None = None) -> Any:
        raise NotImplementedError

    def _solve(
        self, base: Problem, tol: float, null: Any = None, spread: float | None = None
    ) -> tuple[Any, Any, Solution]:
        raise NotImplementedError

    def _keep(self, *parts: Any) -> None:
        raise NotImplementedError

    def _plan(self, X: Any) -> Plan:
        """Whether the path has the rows as its points, or cells of them."""
        n, d = X.shape
        why = ""
        if sparse.issparse(X):
            why = "X is sparse"
        elif self._is_precomputed():
            why = "the kernel is precomputed"
        elif not isinstance(self.weights, str):
            why = "the graph is given"
        elif getattr(self, "embedding", "auto") == "exact":
            why = 'embedding="exact" has n² numbers for rows'
        if why and self.coarsen not in ("auto", False):
            raise ValueError(f"coarsen={self.coarsen!r} groups rows into cells, but {why}")
        coarsen = False if why else self.coarsen
        return plan(n, d, self._points_rank(d), max_memory=self.max_memory, coarsen=coarsen)

    def _fit_coarse(self, X: Floats, weight: Floats, plan: Plan) -> None:
        """Fit on weighted points; what is kept is about the rows."""
        n, rank = len(X), self._points_rank(X.shape[1])
        check_memory(
            8.0 * n * rank,
            f"the embedding_ of {n:,} rows in {rank} dimensions",
            "use convexcluster.out_of_core.fit_large, or a lower rank",
        )
        blocks = as_blocks(X, plan.block_rows)
        engine = Local(blocks, weight, effective_n_jobs(self.n_jobs))
        own = X if self._own_graph(X, weight) else None
        fit = self._fit_points(engine, plan.cells, own, weight)
        index = np.concatenate([fit.coarse.assign(rows) for rows in blocks])
        samples = Samples(fit.coarse.X, fit.coarse.points.masses, index)
        self._keep_points(fit, samples, weight)

    def _keep_points(self, fit: PointsFit, samples: Samples, weight: Floats) -> None:
        self._keep(
            samples, weight, fit.coarse.embedding, fit.base, fit.path, fit.chosen, fit.solution
        )
        self.points_ = fit.coarse
        self.coarse_certificate_ = fit.certificate
        self.certificate_: Certificate = with_coarsening(self.certificate_, fit.certificate)

    def _fit_points(
        self,
        engine: Engine,
        budget: int,
        X: Floats | None = None,
        weight: Floats | None = None,
    ) -> PointsFit:
        """The path on weighted points; of the graph of the rows X if they are given."""

        def graph_of(coarse: Coarse) -> Graph:
            points = Samples(coarse.X, coarse.points.masses, np.arange(len(coarse.X)))
            return self._graph(points, coarse.embedding, coarse.kernel)

        def fine_of(coarse: Coarse) -> Fine:
            assert X is not None
            assert weight is not None
            rows = Samples(X, weight, np.arange(len(X)))
            graph = self._graph(rows, coarse.embedding, coarse.kernel)
            return Fine.of(coarse, graph, X, coarse.assign(X), weight)

        def solve(
            base: Problem, tol: float, spread: float, sample: Floats
        ) -> tuple[Any, Any, Solution]:
            rows = Samples(sample, np.ones(len(sample)), np.arange(len(sample)))
            own = Graph(base.edges, base.weights)  # of the weighted points, not of the sample
            return self._solve(base, tol, self._null(rows, own), spread)

        seed = 0
        if self.random_state is not None:
            seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        return fit_points(
            engine,
            budget,
            kernel_of=self._kernel,
            embed=self._embed_rows,
            graph_of=graph_of,
            solve=solve,
            tol=TOL if isinstance(self.tol, str) else self.tol,
            fine_of=None if X is None else fine_of,
            seed=seed,
        )

    def _own_graph(self, X: Floats, weight: Floats) -> bool:
        """Whether the graph is that of the rows: few enough, and measured in the input space."""
        few = len(X) <= OWN_GRAPH_ROWS and X.shape[1] <= OWN_GRAPH_DIMENSION
        inside = getattr(self, "weight_space", "input") == "embedding"
        return few and not inside and self.weights != "full" and bool((weight > 0).all())


def with_coarsening(proved: Certificate, coarse: CoarseCertificate) -> Certificate:
    """A certificate about the weighted points → one about all rows."""
    partition = proved.partition
    if coarse.coarsening_error > 0:
        partition = (
            "not certified: rows were grouped into cells before the solve, and not every cell "
            f"is proved to fuse; on the cells: {partition}"
        )
    return replace(
        proved,
        radius=total_radius(
            proved.gap + proved.rounding, coarse.coarsening_error, proved.embedding_error
        ),
        coarsening_error=coarse.coarsening_error,
        partition=partition,
    )
