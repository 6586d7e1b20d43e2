"""The steps of ``fit``: check → samples → graph → null → path, choice and solution → attributes.

A mixin of the estimators. Input are the rows and the parameters on ``self``; each step calls what
computes upstream, and :meth:`Steps._keep` turns the results into the fitted attributes.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import validate_data

from .certificate import Certificate, certify
from .coarse_steps import CoarseSteps
from .embedding import Embedding
from .graph import Graph
from .kernels import Kernel
from .labels import dual_coefficients, fusion_labels
from .large import TOL, points_grid, sensible_gap
from .partition import by_size, canonical, means
from .path import solve_path
from .path.clusterpath import ClusterPath
from .problem import Floats, Ints, Problem, Solution, Status
from .samples import Samples, distinct_samples, expand_linkage, expand_path
from .selection import SELECTORS, Null, Selection, select, select_at
from .solvers import solve_problem
from .solvers.proof import prove
from .solvers.routed import routed
from .weights import automatic_graph, build_graph

Callback = Callable[[int, int, float, int, float], None]

# The relative gap of a path of which one γ is certified, by solving there once more. The choice
# looks at centroids in units of their spread, which is a hundredth of the samples' at least.
OUTLINE = 1e-5

# Threads of a path if nothing is said: it has two halves, and what comes out does not depend on it.
THREADS = 2

LABELS = ("auto", "fusion", "agglomerative")


def show_progress(step: int, total: int, gamma: float, k: int, gap: float) -> None:
    """Print a line about a γ of the path on standard error."""
    line = f"[convexcluster] {step + 1}/{total} γ={gamma:.4g} clusters={k} gap={gap:.1e}"
    print(line, file=sys.stderr, flush=True)


class Steps(CoarseSteps):
    """What happens between X and the fitted attributes, for any kernel."""

    n_clusters: int | None
    n_neighbors: int
    weight_bandwidth: float | str
    gamma: Any
    labels: str
    selection: str
    min_cluster_size: int | None
    solver: Any
    max_iter: int | None
    certify: str | bool
    verbose: int | Callback

    def _embed(self, X: Any, kernel: Kernel, masses: Floats) -> Embedding:
        raise NotImplementedError

    def _weight_samples(self, X: Any, embedding: Embedding) -> Any:
        """Rows between which the weights are measured."""
        return X

    def _check(self, X: Any) -> Any:
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C")
        n = X.shape[0]
        k = self.n_clusters
        if k is not None and not (isinstance(k, Integral) and k >= 1):
            raise ValueError(f"n_clusters must be a whole number ≥ 1, or None, got {k!r}")
        if k is not None and k > n:
            raise ValueError(f"n_clusters={k} exceeds the number of samples, {n}: ask for fewer")
        if self.labels not in LABELS:
            raise ValueError(f"labels must be one of {LABELS}, got {self.labels!r}")
        if isinstance(self.selection, str) and self.selection not in SELECTORS:
            raise ValueError(f"selection must be one of {sorted(SELECTORS)}: {self.selection!r}")
        if self.tol != "auto" and not (isinstance(self.tol, Real) and 0 < self.tol < 1):
            raise ValueError(f'tol must be "auto" or lie between 0 and 1, got {self.tol!r}')
        if not isinstance(self.n_neighbors, Integral) or self.n_neighbors < 1:
            raise ValueError(f"n_neighbors must be a whole number ≥ 1, got {self.n_neighbors!r}")
        return X

    def _samples(self, X: Any, weight: Floats) -> Samples:
        """Merge duplicates where the graph is built from the rows and may see them as one."""
        if not self._automatic_weights() or self._is_precomputed():
            if not weight.all():
                raise ValueError(
                    "sample_weight holds zeros, which need automatic weights on samples: "
                    "drop these samples instead"
                )
            return Samples(X, weight, np.arange(X.shape[0]))
        return distinct_samples(X, weight)

    def _is_precomputed(self) -> bool:
        return False

    def _graph(self, samples: Samples, embedding: Embedding, kernel: Kernel) -> Graph:
        X = self._weight_samples(samples.X, embedding)
        options: dict[str, Any] = {"n_neighbors": self.n_neighbors, "masses": samples.masses}
        if isinstance(self.weights, str) and self.weights == "knn" and self._automatic_weights():
            return automatic_graph(X, features=X is samples.X, **options)
        return build_graph(X, self.weights, bandwidth=self.weight_bandwidth, **options)

    def _automatic_weights(self) -> bool:
        return isinstance(self.weights, str) and isinstance(self.weight_bandwidth, str)

    def _null(self, samples: Samples, own: Graph | None = None) -> Null | None:
        """Structureless data to compare with, where the graph is built from dense features.

        ``own`` is the graph to be scored, unless it has to be built from the samples.
        """
        featureless = sparse.issparse(samples.X) or self._is_precomputed()
        # of fewer samples than neighbours and eigenvalues nothing can be said
        if featureless or not self._automatic_weights() or samples.X.shape[0] < 10:
            return None
        if self.weights != "knn" or getattr(self, "weight_space", "input") != "input":
            return None

        def scored(rows: Samples) -> Graph:
            options: dict[str, Any] = {"n_neighbors": self.n_neighbors, "masses": rows.masses}
            return automatic_graph(rows.X, scored=True, **options)

        def graph(X: Floats) -> Graph:
            return scored(distinct_samples(X, np.ones(len(X))))

        seed = self.random_state if isinstance(self.random_state, Integral) else 0
        own = scored(samples) if own is None else own
        return Null(samples.X[samples.index], own, graph, int(seed))

    def _gap(self, base: Problem, lost: float) -> float:
        """The relative gap to reach: ``tol``, or a small share of what the automatic rank lost."""
        if self.tol != "auto":
            return float(self.tol)
        if not self._cut_rank(base.n) or base.scale <= 0:
            return TOL
        return sensible_gap(TOL, lost / base.scale)

    def _cut_rank(self, n: int) -> bool:
        """Whether n samples are more than the automatic path embeds at full rank."""
        return False

    def _solve(
        self,
        base: Problem,
        tol: float,
        null: Null | None = None,
        spread: float | None = None,
    ) -> tuple[ClusterPath, Selection, Solution]:
        """Solve one γ or a path, choose, and solve the chosen γ with its dual, to ``tol``.

        ``spread`` is Σ m‖z − z̄‖² over the rows that weighted points stand for, if they do.
        """
        options: dict[str, Any] = {"solver": self.solver, "tol": tol}
        options["max_iter"] = self.max_iter
        k = None if self.n_clusters is None else min(int(self.n_clusters), base.n)
        if isinstance(self.gamma, Real):
            solution = solve_problem(base.at(float(self.gamma)), **options)
            if k is None and self.labels != "agglomerative" and self.certify:
                # which clusters have fused is only known once the gap is small enough to prove it
                solution, _ = prove(base.at(float(self.gamma)), solution, max_iter=self.max_iter)
            labels = fusion_labels(solution.A, base.edges)
            path = ClusterPath.of_solution(base.at(float(self.gamma)), solution, labels, tol)
            chosen = select_at(
                solution.A,
                labels,
                float(self.gamma),
                masses=base.masses,
                n_clusters=k,
                labels=self.labels,
                method=self.selection,
            )
            return path, chosen, solution
        with ThreadPoolExecutor(1) as ahead:  # the null needs no path; the choice will ask for it
            if null is not None and k is None and self.selection == "auto":
                ahead.submit(getattr, null, "below")
            path = solve_path(
                base.Z,
                base.edges,
                base.weights,
                points_grid(base) if self.gamma is None and spread is not None else self.gamma,
                masses=base.masses,
                tol=max(tol, OUTLINE) if self.certify == "selected" else tol,
                certify=self.certify,
                n_jobs=THREADS if self.n_jobs is None else self.n_jobs,
                callback=self._progress(),
                refine=False,  # the selectors weigh γ by its logarithm, and need no more of them
            )
        chosen = select(
            base.Z,
            Graph(base.edges, base.weights),
            path if spread is None else replace(path, scale=0.5 * spread),
            masses=base.masses,
            n_clusters=k,
            labels=self.labels,
            method=self.selection,
            min_cluster_size=self.min_cluster_size,
            null=null,
        )
        problem = base.at(chosen.gamma)
        if self.solver != "auto" or not len(path):
            return path, chosen, solve_problem(problem, **options)
        fused, centers = path.labels(gamma=chosen.gamma), path.centroids(chosen.gamma)
        # only these can be proved to be the optimum's, and not against the error of a cut rank
        sharp = bool((fused == canonical(chosen.labels)).all()) and not self._cut_rank(base.n)
        solution = routed(problem, fused, centers, tol * problem.scale, sharp)
        if solution.status is not Status.CONVERGED:
            solution = solve_problem(problem, **options, warm=solution)
        return path, chosen, solution

    def _progress(self) -> Callback | None:
        if callable(self.verbose):
            return self.verbose
        return show_progress if self.verbose else None

    def _keep(
        self,
        samples: Samples,
        weight: Floats,
        embedding: Embedding,
        base: Problem,
        path: ClusterPath,
        chosen: Selection,
        solution: Solution,
    ) -> None:
        """Turn the results on distinct rows into the fitted attributes."""
        problem = base.at(chosen.gamma)
        labels = by_size(chosen.labels, samples.masses)
        if solution.status is not Status.CONVERGED:
            warnings.warn(
                f"at γ={chosen.gamma:.4g} the relative gap is {solution.relative_gap:.1e}: "
                f"{solution.status.value}",
                ConvergenceWarning,
                stacklevel=3,
            )
        if self.n_clusters is not None and labels.max() + 1 < self.n_clusters:
            warnings.warn(
                f"n_clusters={self.n_clusters} was asked for, but only {labels.max() + 1} samples "
                "are distinct",
                ConvergenceWarning,
                stacklevel=3,
            )
        solution, certificate = self._certificate(problem, labels, solution, embedding)
        index = samples.index
        self.labels_ = labels[index]
        self.n_clusters_ = int(labels.max()) + 1
        self.gamma_ = float(chosen.gamma)
        self.centroids_ = means(solution.A, samples.masses, labels)
        share = weight / np.bincount(index, weight)[index]
        self.dual_coef_ = dual_coefficients(problem, solution.A, labels)[:, index] * share
        self.embedding_ = embedding.Z if samples.unchanged else embedding.Z[index]
        self.path_ = expand_path(path, samples, weight)
        self.linkage_ = expand_linkage(chosen.linkage, samples)
        self.selection_ = chosen
        self.certificate_ = certificate
        self.n_iter_ = int(solution.n_iter)
        self.graph_ = Graph(base.edges, base.weights)
        self._embedding = embedding
        self._n_features_out = self.n_clusters_

    def _certificate(
        self, problem: Problem, labels: Ints, solution: Solution, embedding: Embedding
    ) -> tuple[Solution, Certificate]:
        """Close the gap until the labels are proved, where they are the fused clusters."""
        errors: dict[str, float] = {
            "embedding_error": float(np.sqrt(embedding.trace_error)),
            "clipped_share": embedding.clipped_share,
        }
        fused, wanted = fusion_labels(solution.A, problem.edges), canonical(labels)
        reason = (
            f"the labels join the {fused.max() + 1} fused clusters of γ={problem.gamma:.4g} by a "
            "tree, and a tree is not part of the optimum"
        )
        if (wanted == fused).all():
            closer, proved = prove(problem, solution, **errors, max_iter=self.max_iter)
            if (wanted == fusion_labels(closer.A, problem.edges)).all():
                return closer, proved
            reason = "the fused clusters changed as the gap closed: lower tol"
        proved = certify(problem, solution, **errors, partition=False)
        return solution, replace(proved, partition=f"not certified: {reason}")
