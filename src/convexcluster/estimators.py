"""The scikit-learn shells: X → kernel → embedding Z → graph → path → selection → labels.

``KernelConvexClustering`` takes any kernel, ``ConvexClustering`` the linear one. Everything that
computes lives upstream; an estimator checks its parameters, calls the pipeline in order and keeps
what came out.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils.validation import check_is_fitted, validate_data

from .certificate import Certificate, certify
from .clusterpath import ClusterPath
from .coarse_steps import CoarseSteps
from .embedding import EMBEDDINGS, Embedding, embed
from .graph import Graph, canonical
from .kernels import Kernel, resolve_kernel
from .labels import cluster_centroids, dual_coefficients, fusion_labels
from .large import RANK, TOL, points_grid, sensible_gap
from .path import solve_path
from .problem import Floats, Ints, Problem, Solution, Status
from .samples import (
    Samples,
    by_size,
    check_sample_weight,
    distinct_samples,
    expand_linkage,
    expand_path,
)
from .scales import warn_of_scales
from .selection import SELECTORS, Null, Selection, null_grid, select, select_at
from .solvers import solve_problem
from .solvers.proof import prove
from .solvers.routed import routed
from .weights import PLACES, automatic_graph, build_graph

Callback = Callable[[int, int, float, int, float], None]

LABELS = ("auto", "fusion", "agglomerative")

# A path costs as much as its dimensions. Of more samples than this the automatic path has as many
# as that of coarsened data (``large.RANK``) unless ``rank`` asks for more; what is lost is part of
# the certificate. One γ is always solved at the full rank that ``embedding_tol`` needs.
FULL_RANK = 1_000


def show_progress(step: int, total: int, gamma: float, k: int, gap: float) -> None:
    """Print a line about a γ of the path on standard error."""
    line = f"[convexcluster] {step + 1}/{total} γ={gamma:.4g} clusters={k} gap={gap:.1e}"
    print(line, file=sys.stderr, flush=True)


class _Shell(
    CoarseSteps, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
):
    """What both estimators share; a subclass names its parameters and its kernel."""

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

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> _Shell:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples, or the Gram matrix (n_samples, n_samples) if ``kernel="precomputed"``.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Masses mᵢ; a sample of weight two counts as two equal samples.

        Returns
        -------
        self
        """
        X = self._check(X)
        if not self._is_precomputed():
            warn_of_scales(X, stacklevel=2)
        weight = check_sample_weight(sample_weight, X.shape[0])
        plan = self._plan(X)
        if plan.coarse:
            self._fit_coarse(X, weight, plan)
            return self
        samples = self._samples(X, weight)
        kernel = self._kernel(samples.X)
        kernel.check(samples.X)
        embedding = self._embed(samples.X, kernel, samples.masses)
        graph = self._graph(samples, embedding, kernel)
        base = Problem.of(embedding.Z, graph.edges, graph.weights, 0.0, samples.masses)
        tol = self._gap(base, embedding.trace_error)
        # of places (see automatic_graph) another graph is scored than the one of the penalty
        own = None if samples.X.shape[1] <= PLACES else graph
        path, chosen, solution = self._solve(base, tol, self._null(samples, own))
        self._keep(samples, weight, embedding, base, path, chosen, solution)
        return self

    # the steps of fit, in order

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

        def path(X: Floats) -> tuple[Graph, ClusterPath]:
            rows = distinct_samples(X, np.ones(len(X)))
            kernel = self._kernel(rows.X)
            embedding = self._embed(rows.X, kernel, rows.masses)
            found, grid = self._graph(rows, embedding, kernel), null_grid(embedding.Z, rows.masses)
            # a mean over few γ needs no more than the partition's outline
            outline = solve_path(
                embedding.Z,
                found.edges,
                found.weights,
                grid,
                masses=rows.masses,
                tol=1e-3,
                certify=False,
            )
            return scored(rows), outline

        seed = self.random_state if isinstance(self.random_state, Integral) else 0
        own = scored(samples) if own is None else own
        return Null(samples.X[samples.index], own, graph, path, int(seed))

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
        path = solve_path(
            base.Z,
            base.edges,
            base.weights,
            points_grid(base) if self.gamma is None and spread is not None else self.gamma,
            masses=base.masses,
            tol=tol,
            certify=self.certify,
            n_jobs=self.n_jobs,
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
        solution = routed(problem, fused, centers, tol * problem.scale)
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
        self.centroids_ = cluster_centroids(solution.A, samples.masses, labels)
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

    # what a fitted model does

    def transform(self, X: Any) -> Floats:
        """Distance, in the kernel's space, from each sample to each cluster's centroid.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New samples; of a precomputed kernel k(new, training).

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=np.float64, order="C", reset=False)
        return euclidean_distances(self._embedding.transform(X), self.centroids_)

    def predict(self, X: Any) -> Ints:
        """Cluster whose centroid is nearest in the kernel's space.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        return np.argmin(self.transform(X), axis=1).astype(np.int64)

    def fit_transform(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None
    ) -> Floats:
        """Fit, then :meth:`transform` the same samples."""
        return self.fit(X, y, sample_weight).transform(X)

    def fit_predict(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None) -> Ints:
        """Fit and return ``labels_``."""
        return self.fit(X, y, sample_weight).labels_

    def save(self, path: str | Path) -> None:
        """Write the fitted model to a file that :func:`convexcluster.load` reads without pickle."""
        check_is_fitted(self)
        import_module(".persistence", __package__).save(self, path)

    def report(self, path: str | Path, X: Any = None, **options: Any) -> Path:
        """Write the interactive report, one HTML file that works offline.

        ``options`` go to :func:`convexcluster.report.write_report`: ``ids``, ``y``,
        ``feature_names``.
        """
        check_is_fitted(self)
        return import_module(".report", __package__).write_report(self, path, X=X, **options)

    def _repr_html_inner(self) -> str:
        """What a notebook shows: the report of a fitted model, else scikit-learn's diagram."""
        if hasattr(self, "labels_"):
            return import_module(".report", __package__).notebook_html(self)
        return super()._repr_html_inner()

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if hasattr(self, "labels_"):
            return {"text/plain": repr(self), "text/html": self._repr_html_inner()}
        return super()._repr_mimebundle_(**kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._is_precomputed()
        return tags


class KernelConvexClustering(_Shell):
    """Kernelized convex clustering: the global optimum, with a certificate.

    Minimises ½ Σ mᵢ‖φ(xᵢ) − aᵢ‖² + γ Σ w_ij ‖aᵢ − aⱼ‖ over centroids in the space of a kernel.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; chosen on the path if not given.
    kernel : str, callable or scikit-learn GP kernel
        Key of ``convexcluster.kernels.KERNELS`` (rbf, laplacian, polynomial, sigmoid, linear,
        cosine, matern, precomputed).
    bandwidth : float or "auto"
        σ₁ in exp(−‖x − y‖²/(2σ₁²)).
    kernel_params : dict, optional
        Further parameters of the kernel, e.g. ``{"degree": 2, "c": 1.0}``.
    weights : str, sparse matrix, (edges, weights) or callable
        Graph of the fusion penalty: a key of ``convexcluster.weights.WEIGHTS`` or your own graph.
    n_neighbors : int
        Neighbours of each sample in the graph.
    weight_bandwidth : float or "auto"
        σ₂ of Gaussian weights; "auto" scales by the local distances of each pair.
    weight_space : {"input", "embedding"}
        Where distances between samples are measured for the weights.
    gamma : float, sequence or None
        One fusion strength, a grid of them, or an automatic path.
    embedding : str
        "auto" or a key of ``convexcluster.embedding.EMBEDDINGS``: exact, pivoted, nystroem, rff.
    rank : int, optional
        Greatest dimension of the embedding. By default what ``embedding_tol`` needs, but 256 for an
        automatic path of more than 1,000 samples.
    embedding_tol : float
        Trace that the embedding may lose, relative to that of the centred Gram matrix.
    labels : {"auto", "fusion", "agglomerative"}
        Exactly fused clusters, or a cut of a Ward tree on the centroids. "auto" is fusion for one
        γ without ``n_clusters`` and agglomerative otherwise.
    selection : str
        Key of ``convexcluster.selection.SELECTORS``.
    min_cluster_size : int, optional
        Smaller groups do not count as clusters when the number of clusters is chosen.
    solver : str
        Key of ``convexcluster.solvers.SOLVERS``, for the γ that is reported.
    tol : float or "auto"
        Duality gap relative to ½ Σ mᵢ‖zᵢ − z̄‖². "auto" is 1e-6; where the automatic ``rank`` has
        cut the embedding off, a gap up to 1e-3 that adds at most half a percent to the radius.
    max_iter : int, optional
        Iterations of the solver; each has its own default.
    certify : {"path", "selected", False}
        Whether every γ of the path is solved to ``tol`` or only the one that is chosen.
    coarsen : {"auto", False, True} or int
        Whether rows are first grouped into at most that many cells (8,000 if not a number), whose
        cost is ``certificate_.coarsening_error``; "auto" beyond 20,000 rows or if memory is short.
    max_memory : int or str, optional
        Bytes, or e.g. "4GB"; by default half of what the machine has at hand.
    random_state : int, RandomState or None
        For randomised embeddings and resampling.
    n_jobs : int, optional
        Threads for the connected components of the graph.
    verbose : int or callable
        Lines of progress on standard error; or a function that is called after each γ of the path
        as ``verbose(step, total, gamma, n_clusters, relative_gap)``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Clusters, numbered by falling size.
    n_clusters_ : int
    gamma_ : float
        Fusion strength of ``centroids_``.
    centroids_ : ndarray of shape (n_clusters, r)
        In the embedding.
    dual_coef_ : ndarray of shape (n_clusters, n_samples)
        β with centroid t = Σ_j β_tj φ(x_j); non-negative, rows sum to one.
    embedding_ : ndarray of shape (n_samples, r)
    path_ : ClusterPath
    linkage_ : ndarray of shape (n_samples − 1, 4)
        Tree that the labels were cut from, in SciPy's format.
    selection_ : Selection
        Candidates with their scores, and the confidence of the choice.
    certificate_ : Certificate
        Gap, radius, embedding error, and whether the partition is that of the exact optimum.
    n_iter_ : int
    n_features_in_ : int

    Examples
    --------
    >>> from convexcluster import KernelConvexClustering
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.05, random_state=0)
    >>> model = KernelConvexClustering(n_clusters=2).fit(X)
    >>> model.certificate_.relative_gap <= 1e-6
    True
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        kernel: Any = "rbf",
        bandwidth: float | str = "auto",
        kernel_params: dict[str, Any] | None = None,
        weights: Any = "knn",
        n_neighbors: int = 7,
        weight_bandwidth: float | str = "auto",
        weight_space: str = "input",
        gamma: Any = None,
        embedding: str = "auto",
        rank: int | None = None,
        embedding_tol: float = 1e-6,
        labels: str = "auto",
        selection: str = "auto",
        min_cluster_size: int | None = None,
        solver: Any = "auto",
        tol: float | str = "auto",
        max_iter: int | None = None,
        certify: str | bool = "selected",
        coarsen: bool | int | str = "auto",
        max_memory: int | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | Callback = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.bandwidth = bandwidth
        self.kernel_params = kernel_params
        self.weights = weights
        self.n_neighbors = n_neighbors
        self.weight_bandwidth = weight_bandwidth
        self.weight_space = weight_space
        self.gamma = gamma
        self.embedding = embedding
        self.rank = rank
        self.embedding_tol = embedding_tol
        self.labels = labels
        self.selection = selection
        self.min_cluster_size = min_cluster_size
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.certify = certify
        self.coarsen = coarsen
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _is_precomputed(self) -> bool:
        return isinstance(self.kernel, str) and self.kernel == "precomputed"

    def _check(self, X: Any) -> Any:
        X = super()._check(X)
        if self.weight_space not in ("input", "embedding"):
            raise ValueError(
                f'weight_space must be "input" or "embedding", got {self.weight_space!r}'
            )
        if self.embedding != "auto" and self.embedding not in EMBEDDINGS:
            raise ValueError(
                f"embedding must be auto or one of {sorted(EMBEDDINGS)}, got {self.embedding!r}"
            )
        return X

    def _kernel(self, X: Any) -> Kernel:
        return resolve_kernel(self.kernel, self.bandwidth, self.kernel_params, X)

    def _embed(self, X: Any, kernel: Kernel, masses: Floats) -> Embedding:
        cut = kernel.name != "linear" and self._cut_rank(X.shape[0])
        return embed(
            X,
            kernel,
            method=self.embedding,
            rank=RANK if cut else self.rank,
            tol=self.embedding_tol,
            random_state=self.random_state,
            masses=masses,
        )

    def _cut_rank(self, n: int) -> bool:
        automatic = self.embedding == "auto" and not isinstance(self.gamma, Real)
        return automatic and self.rank is None and n > FULL_RANK

    def _points_rank(self, d: int) -> int:
        return d if self.kernel == "linear" else self.rank or RANK

    def _embed_rows(self, rows: Floats, kernel: Kernel) -> Embedding:
        method = self.embedding
        if method == "auto" and kernel.name != "linear":
            method = "pivoted"
        options = {"tol": self.embedding_tol, "random_state": self.random_state}
        rank = self.rank
        if rank is None and kernel.name != "linear":
            rank = min(RANK, len(rows))
        return embed(rows, kernel, method=method, rank=rank, **options)

    def _weight_samples(self, X: Any, embedding: Embedding) -> Any:
        # of a precomputed kernel the distances are those of the embedding in any case
        inside = self.weight_space == "embedding" or self._is_precomputed()
        return embedding.Z if inside else X


class ConvexClustering(_Shell):
    """Convex clustering of the samples themselves: the linear kernel.

    Minimises ½ Σ mᵢ‖xᵢ − aᵢ‖² + γ Σ w_ij ‖aᵢ − aⱼ‖. Parameters and attributes are those of
    :class:`KernelConvexClustering` without the kernel's.

    Examples
    --------
    >>> from convexcluster import ConvexClustering
    >>> ConvexClustering(gamma=0.5).fit_predict([[0.0], [0.2], [5.0], [5.1]])
    array([0, 0, 1, 1])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        weights: Any = "knn",
        n_neighbors: int = 7,
        weight_bandwidth: float | str = "auto",
        gamma: Any = None,
        labels: str = "auto",
        selection: str = "auto",
        min_cluster_size: int | None = None,
        solver: Any = "auto",
        tol: float | str = "auto",
        max_iter: int | None = None,
        certify: str | bool = "selected",
        coarsen: bool | int | str = "auto",
        max_memory: int | str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int | Callback = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.weights = weights
        self.n_neighbors = n_neighbors
        self.weight_bandwidth = weight_bandwidth
        self.gamma = gamma
        self.labels = labels
        self.selection = selection
        self.min_cluster_size = min_cluster_size
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.certify = certify
        self.coarsen = coarsen
        self.max_memory = max_memory
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _kernel(self, X: Any) -> Kernel:
        return Kernel("linear")

    def _embed(self, X: Any, kernel: Kernel, masses: Floats) -> Embedding:
        return embed(X, kernel, method="identity", masses=masses)

    def _points_rank(self, d: int) -> int:
        return d

    def _embed_rows(self, rows: Floats, kernel: Kernel) -> Embedding:
        return embed(rows, kernel, method="identity")
