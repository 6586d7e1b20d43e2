"""The scikit-learn estimators: parameters in, :func:`convexcluster.fit.fit`, fitted attributes out.

``KernelConvexClustering`` takes any kernel; ``ConvexClustering`` is the same with the linear one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from ..certificate import Certificate
from ..fit import fit
from ..points import check_groups, check_sample_weight
from ..points.scales import warn_of_far_row, warn_of_scales
from ..problem import Floats, Ints
from ..rows import array_rows
from ..selection import Selection
from ..settings import Callback, Settings, scaled_columns
from ..tables.check import row_names
from .keep import keep, unchanged_by_errors
from .predict import Predictions, check_rows


class KernelConvexClustering(
    Predictions, ClassNamePrefixFeaturesOutMixin, ClusterMixin, BaseEstimator
):
    """Kernelized convex clustering: the global optimum, with a certificate.

    Minimises ½ Σ mᵢ‖φ(xᵢ) − aᵢ‖² + γ Σ w_ij ‖aᵢ − aⱼ‖ over centroids in the space of a kernel.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters; chosen on the path if not given.
    kernel : str, callable, scikit-learn GP kernel or SumKernel
        Key of ``convexcluster.kernels.KERNELS`` (rbf, laplacian, polynomial, sigmoid, linear,
        cosine, matern, precomputed); or several kernels, each of some columns.
    bandwidth : float or "auto"
        σ₁ in exp(−‖x − y‖²/(2σ₁²)).
    kernel_params : dict, optional
        Further parameters of the kernel, e.g. ``{"degree": 2, "c": 1.0}``.
    metric : str or callable
        Distance between samples, for the graph, for ``predict`` and for the kernels of a distance
        (rbf, laplacian, matern): a name of ``convexcluster.kernels.METRICS``, a function of two
        rows, or "precomputed" if X holds distances. A sparse X holds those between neighbours, and
        every other distance is the length of the shortest path along them. With "auto" the kernel
        has the distance of its formula, and the graph has Manhattan distances, but Euclidean ones
        for at most three features, if all rows have one length, as tf-idf has, or if X is sparse
        and large.
    feature_weights : array-like of shape (n_features,), optional
        How much each feature counts, θ ≥ 0, in the distances of the kernel and of the graph:
        Σ θ_f (x_f − y_f)² with rbf and linear, ``Σ θ_f |x_f − y_f|`` with laplacian. Only ratios
        matter: θ is scaled to Σ θ_f = n_features. :func:`convexcluster.features.learn` finds
        weights. The certificate is about the clustering with these weights, not about the weights.
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
        automatic path of more than 300 samples.
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
        Duality gap relative to ½ Σ mᵢ‖zᵢ − z̄‖². "auto" is 1e-6 or, where the automatic ``rank``
        has cut the embedding off, a larger gap, up to 1e-3, that adds at most half a percent to the
        radius.
    max_iter : int, optional
        Iterations of the solver; each has its own default.
    certify : {"path", "selected", False}
        Whether every γ of the path is solved to ``tol`` or only the one that is chosen.
    coarsen : {"auto", False, True} or int
        Whether rows are first grouped into cells; a number is the most cells, 8,000 otherwise.
        "auto" groups more than 20,000 distinct rows, or 50,000 of at most three columns, and rows
        for which memory is short. What that costs is ``certificate_.coarsening_error``. Rows whose
        graph is given as a matrix or edges are grouped along its strongest edges.
    max_memory : int or str, optional
        Bytes, or e.g. "4GB"; by default half of what the machine has at hand.
    random_state : int, RandomState or None
        For randomised embeddings and resampling.
    n_jobs : int, optional
        Threads of the path and of passes over blocks: two by default, −1 for all cores. Results do
        not depend on it.
    verbose : int or callable
        1: a bar on standard error with an estimate of the time that is left, or a line for every
        stage if that is not a terminal; 2: a line for every γ of the path; or a function that is
        called after each γ as ``verbose(step, total, gamma, n_clusters, relative_gap)``. The first
        fit on a machine compiles for some seconds, which is said on standard error if ``verbose``
        is set or a person waits at a terminal, a prompt or a notebook.

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
    kernel_ : Kernel
        With its bandwidth; of a ``SumKernel`` also ``kernel_.weights_``.
    embedding_ : ndarray of shape (n_samples, r)
        Made when it is read; of samples that were grouped into cells, the means of their cells.
    path_ : ClusterPath
    linkage_ : ndarray of shape (n_samples − 1, 4)
        Tree that the labels were cut from, in SciPy's format.
    selection_ : Selection
        The choice, the other numbers of clusters that would stand (``layers``), the verdict and
        the confidence.
    graph_ : Graph
        Edges i < j between samples and their weights; of equal samples the first has the edges.
    certificate_ : Certificate
        Gap, radius, embedding error, and whether the partition is that of the exact optimum.
    membership_ : ndarray of shape (n_samples, n_clusters)
        Shares that show how near a sample is to a border; rows sum to one, the greatest is that of
        the label. This attribute and the next four are computed when they are read.
    probabilities_ : ndarray of shape (n_samples,)
        The share of the own cluster.
    outlier_score_ : ndarray of shape (n_samples,)
        Minus the log density; above Q₃ + 1.5(Q₃ − Q₁) of the scores are outliers.
    medoid_indices_ : ndarray of shape (n_clusters,)
        The sample that is nearest to the mean of each cluster.
    condensed_tree_ : CondensedTree
        Branches of ``linkage_`` of at least ``min_cluster_size`` samples.
    n_iter_ : int
    n_features_in_ : int
    points_, coarsening_
        The cells that stand for the samples, and what they cost; only where ``coarsen`` made them,
        and then ``graph_`` joins the first sample of each cell. Of rows beyond 1e±75 the cells are
        in the units of the fit, a power of two.

    Notes
    -----
    There is no ``partial_fit``. Every centroid depends on all samples, so that the clusters of more
    samples are not those of the first ones with something added, and a certificate of the first
    ones says nothing about all. :meth:`predict` labels new samples by the old ones; ``coarsen`` and
    :func:`convexcluster.out_of_core.fit_large` fit what does not fit into memory.

    Examples
    --------
    >>> from convexcluster import KernelConvexClustering
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(100, noise=0.05, random_state=0)
    >>> model = KernelConvexClustering(n_clusters=2).fit(X)
    >>> model.certificate_.relative_gap <= 1e-6
    True
    """

    # scikit-learn has no types, so that what is not named here would be Any.
    gamma_: float
    dual_coef_: Floats
    selection_: Selection
    certificate_: Certificate
    n_iter_: int

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        kernel: Any = "rbf",
        bandwidth: float | str = "auto",
        kernel_params: dict[str, Any] | None = None,
        metric: Any = "auto",
        feature_weights: ArrayLike | None = None,
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
        self.metric = metric
        self.feature_weights = feature_weights
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

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            Samples; or (n_samples, n_samples) the Gram matrix if ``kernel="precomputed"``, the
            distances if ``metric="precomputed"``.
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            Masses mᵢ; a sample of weight two counts as two equal samples.
        groups : array-like of shape (n_samples,), optional
            Whole numbers; samples of one number are together at every γ, and −1 means free. The
            path, its tree and the certificate are those of the optimum under these links.

        Returns
        -------
        self

        Notes
        -----
        An error or Ctrl-C leaves the estimator as it was before, fitted or not.
        """
        with unchanged_by_errors(self):
            ids = row_names(X)
            X = check_rows(self, X)
            settings = Settings.of(self)
            weighted = settings.feature_weights is not None
            if not settings.pairs_given and settings.kernel_name != "sum" and not weighted:
                names = getattr(self, "feature_names_in_", None)
                warn_of_scales(X, names=names, stacklevel=2)
                warn_of_far_row(X, names=names, stacklevel=2)
            columns = settings.feature_factors(X)
            X = scaled_columns(X, columns)
            weight = check_sample_weight(sample_weight, X.shape[0])
            linked = check_groups(groups, weight)
            settings = settings if linked is None else settings.every_row()
            with settings.watched() as settings:
                found = fit(array_rows(X, weight, settings.n_jobs), settings, linked)
                settings.stage("labels")
                found, labels = found.label_rows(X, weight)
            assert found.points.index is not None
            keep(self, found, found.points.index, weight, labels)
            if columns is not None:
                self._columns = columns
            if ids is not None:
                self._ids = ids  # for the report
        return self

    def fit_transform(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Floats:
        """Fit, then :meth:`transform` the same samples."""
        return self.fit(X, y, sample_weight, groups=groups).transform(X)

    def fit_predict(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
    ) -> Ints:
        """Fit and return ``labels_``."""
        return self.fit(X, y, sample_weight, groups=groups).labels_

    def save(self, file: str | Path, path: bool = False) -> None:
        """Write the fitted model to a file that :func:`convexcluster.load` reads without pickle.

        Parameters
        ----------
        file : path-like
            Replaced if it exists; left as it was if writing fails.
        path : bool
            Whether to keep the path, the embedding and the graph too, which ``predict`` and
            ``transform`` do not need: see :func:`convexcluster.persistence.save`.
        """
        from ..persistence import save

        check_is_fitted(self)
        save(self, file, path=path)

    def report(self, path: str | Path, X: Any = None, **options: Any) -> Path:
        """Write the interactive report, one HTML file that works offline.

        Samples and features have the names of the data frame that was fitted. ``options`` go to
        :func:`convexcluster.report.write_report`: ``ids``, ``y``, ``feature_names``,
        ``coordinates``, ``title``.
        """
        from ..report import write_report

        check_is_fitted(self)
        return write_report(self, path, X=X, **options)

    def _repr_html_inner(self) -> str:
        """What a notebook shows: the report of a fitted model, else scikit-learn's diagram."""
        if not hasattr(self, "labels_"):
            return super()._repr_html_inner()
        from ..report import notebook_html

        return notebook_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if hasattr(self, "labels_"):
            return {"text/plain": repr(self), "text/html": self._repr_html_inner()}
        return super()._repr_mimebundle_(**kwargs)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        given = (str(self.kernel).lower(), str(self.metric).lower())
        named = "precomputed" in given
        tags.input_tags.pairwise = named or getattr(self.kernel, "is_precomputed", False)
        return tags


class ConvexClustering(KernelConvexClustering):
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
        metric: Any = "auto",
        feature_weights: ArrayLike | None = None,
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
        super().__init__(
            n_clusters,
            kernel="linear",
            embedding="identity",
            metric=metric,
            feature_weights=feature_weights,
            weights=weights,
            n_neighbors=n_neighbors,
            weight_bandwidth=weight_bandwidth,
            gamma=gamma,
            labels=labels,
            selection=selection,
            min_cluster_size=min_cluster_size,
            solver=solver,
            tol=tol,
            max_iter=max_iter,
            certify=certify,
            coarsen=coarsen,
            max_memory=max_memory,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
