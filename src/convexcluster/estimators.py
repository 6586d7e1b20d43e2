"""The scikit-learn estimators: parameters in, :func:`convexcluster.fit.fit`, fitted attributes out.

``KernelConvexClustering`` takes any kernel; ``ConvexClustering`` is the same with the linear one.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

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

from .answers import Answers
from .certificate import Certificate, of_rows
from .certificate.margins import Robustness
from .certificate.ranges import Recovery
from .fit import Fit, fit
from .graph import Graph
from .kernels import Kernel, along_paths
from .labels import cut, dual_coefficients
from .numerics.threads import interruptible
from .partition import by_size, means
from .points import check_groups, check_sample_weight, expand_graph, expand_path, expand_tree
from .points.scales import warn_of_far_row, warn_of_scales
from .points.units import Unit, power
from .problem import Floats, Ints, Status, check_finite
from .rows import array_rows
from .selection import Selection
from .settings import Callback, Settings, scaled_columns
from .tables.check import PIPELINE, check_table, row_names
from .weights import FEW_FEATURES

# Neighbours unless the user asks. A graph of as few samples as that is complete without a warning.
DEFAULT_NEIGHBORS = 7

# Attributes that a model loaded from a file has only if its path was saved.
OF_PATH = {"path_", "graph_", "dual_coef_", "embedding_", "points_", "coarsening_"}
OF_PATH |= {"membership_", "probabilities_", "medoid_indices_"}


class KernelConvexClustering(
    Answers, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClusterMixin, BaseEstimator
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
        rows, or "precomputed", where X holds distances: all of them, or in a sparse matrix those
        between neighbours, along which the others are measured. "auto" is Euclidean for at most
        three features, Manhattan for the graph of more, and what the kernel's formula says.
    feature_weights : array-like of shape (n_features,), optional
        θ ≥ 0, up to a factor: how much each feature counts in the distances of the kernel and of
        the graph, Σ θ_f (x_f − y_f)² with rbf and linear, ``Σ θ_f |x_f − y_f|`` with laplacian, in
        which Σ θ_f = n_features. :func:`convexcluster.features.learn` finds them. The certificate
        is about the clustering with these weights, not about the weights.
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
        Duality gap relative to ½ Σ mᵢ‖zᵢ − z̄‖². "auto" is 1e-6; where the automatic ``rank`` has
        cut the embedding off, a gap up to 1e-3 that adds at most half a percent to the radius.
    max_iter : int, optional
        Iterations of the solver; each has its own default.
    certify : {"path", "selected", False}
        Whether every γ of the path is solved to ``tol`` or only the one that is chosen.
    coarsen : {"auto", False, True} or int
        Whether rows are first grouped into at most that many cells (8,000 if not a number), whose
        cost is ``certificate_.coarsening_error``; "auto" beyond 20,000 distinct rows, or 50,000 of
        at most three columns, or if memory is short.
        Rows whose graph is given as a matrix or edges are grouped along its strongest edges.
    max_memory : int or str, optional
        Bytes, or e.g. "4GB"; by default half of what the machine has at hand.
    random_state : int, RandomState or None
        For randomised embeddings and resampling.
    n_jobs : int, optional
        Threads of the path and of passes over blocks: two by default, −1 for all cores. What comes
        out does not depend on it.
    verbose : int or callable
        1: a bar on standard error, with an estimate of the time that is left (where that is no
        terminal, a line for every stage); 2: a line for every γ of the path; or a function that is
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
        Shares that tell how near a sample is to a border; rows sum to one, the greatest is that of
        the label. This and the next four are made when they are read.
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
    centroids_: Floats
    dual_coef_: Floats
    selection_: Selection
    certificate_: Certificate
    n_iter_: int
    n_features_in_: int

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
            told = settings.feature_weights is not None
            if not settings.pairs_given and settings.kernel_name != "sum" and not told:
                names = getattr(self, "feature_names_in_", None)
                warn_of_scales(X, names=names, stacklevel=2)
                warn_of_far_row(X, names=names, stacklevel=2)
            columns = settings.feature_factors(X)
            X = scaled_columns(X, columns)
            weight = check_sample_weight(sample_weight, X.shape[0])
            linked = check_groups(groups, weight)
            settings = settings if linked is None else settings.every_row()
            found = fit(array_rows(X, weight, settings.n_jobs), settings, linked)
            found, labels = found.label_rows(X, weight)
            assert found.points.index is not None
            keep(self, found, found.points.index, weight, labels)
            if columns is not None:
                self._columns = columns
            if ids is not None:
                self._ids = ids  # for the report
        return self

    @property
    def kernel_(self) -> Kernel:
        """The kernel with its bandwidth; of a ``SumKernel`` with the weights of its views."""
        check_is_fitted(self)
        return self._embedding.kernel

    @property
    def embedding_(self) -> Floats:
        """Coordinates of the samples; of samples that were grouped into cells, of their cells."""
        check_is_fitted(self)
        assert self.path_ is not None  # a file has the coordinates with the path alone
        Z, unit = self._embedding.Z[self._index], getattr(self, "_unit", Unit())
        return power(Z, -unit.space) if unit.space else Z

    def transform(self, X: Any) -> Floats:
        """Distance, in the kernel's space, from each sample to each cluster's centroid.

        The nearest centroid need not be that of the cluster that :meth:`predict` names. A curved
        cluster passes by the centroids of others, and far from all samples a kernel such as rbf
        vanishes, so that all centroids are about equally far.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New samples; of a precomputed kernel k(new, training), of distances d(new, training).

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
        """
        X = self._checked(X)
        unit: Unit = getattr(self, "_unit", Unit())
        Z, centroids = self._embedding.transform(X), self.centroids_
        if not unit.space:
            return euclidean_distances(Z, centroids)
        return power(euclidean_distances(Z, power(centroids, unit.space)), -unit.space)

    def predict(self, X: Any) -> Ints:
        """Cluster that has the most weight among the nearest training samples.

        Neighbours and weights are those of the automatic graph, and a sample that equals a training
        sample has its label: ``predict`` of the training samples is ``labels_``. Where ``coarsen``
        made cells, cells vote. See :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New samples; of a precomputed kernel k(new, training), of distances d(new, training).

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        X = self._checked(X)
        return self._vote.labels_of(X)

    def predict_proba(self, X: Any) -> Floats:
        """Share of each cluster in the weight Σ w(x, j) of the nearest training samples j.

        w(x, j) = b·√m_j·exp(−(d²/(s_x s_j))^¾) as in the automatic graph: distances are those of
        ``metric``, by default Euclidean for at most three features, Manhattan's for more; s is the
        distance to the k-th nearest training sample, b = 1 if d ≤ s_j and ½ if not. A sample that
        equals a training sample has share 1 in its cluster. The shares say how clear the vote is;
        they are not calibrated probabilities.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            New samples; of a precomputed kernel k(new, training), of distances d(new, training).

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Rows sum to one, and the first greatest entry of a row is that of :meth:`predict`.
        """
        X = self._checked(X)
        return self._vote.shares(X)

    def _checked(self, X: Any) -> Any:
        """New samples as the fit takes samples: checked, and in its units."""
        check_is_fitted(self)
        X = check_rows(self, X, reset=False)
        X = scaled_columns(X, getattr(self, "_columns", None))
        unit: Unit = getattr(self, "_unit", Unit())
        return unit.scale(X)

    def cut(self, n_clusters: int) -> Ints:
        """Labels for another number of clusters, from the tree that ``labels_`` were cut from.

        Nothing is fitted again: ``gamma_``, ``centroids_`` and the certificate stay those of
        ``labels_``.

        Parameters
        ----------
        n_clusters : int

        Returns
        -------
        ndarray of shape (n_samples,)
            Numbered by falling size, as ``labels_``.

        Examples
        --------
        >>> from convexcluster import KernelConvexClustering
        >>> X = [[0.0], [0.1], [1.0], [1.1], [9.0], [9.1]]
        >>> KernelConvexClustering(2).fit(X).cut(3)
        array([0, 0, 1, 1, 2, 2])
        """
        check_is_fitted(self)
        if isinstance(n_clusters, bool) or not isinstance(n_clusters, Integral):
            raise ValueError(f"n_clusters must be a whole number, got {n_clusters!r}")
        return by_size(cut(self.linkage_, int(n_clusters)), self.path_.masses)

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

    def recovery(
        self, labels: ArrayLike | None = None, near: float | None = None, inside: bool = False
    ) -> Recovery:
        """For which γ the exact optimum has the clusters ``labels``, in the full kernel space.

        Parameters
        ----------
        labels : array-like of shape (n_samples,), optional
            Labels that you bring, e.g. known classes; those of the fit by default.
        near : float, optional
            A γ at which they are thought to be clusters.
        inside : bool
            Whether to prove all γ between the ends as well, up to a hundredth inside each of them.

        Returns
        -------
        Recovery
            With a range of γ that is necessary (an empty one refutes the labels), one that is
            sufficient, and the ends at which the labels are proved.
        """
        from .points.questions import recovery

        check_is_fitted(self)
        return recovery(self, labels, near, inside)

    def robustness(self, gamma: float | None = None) -> Robustness:
        """By how much data, weights and γ may change with the clusters proved to stand.

        Graph and bandwidth are kept. By default γ is amid the interval that is proved, else
        ``gamma_``; nothing stands near the ends of an interval.
        """
        from .points.questions import robustness

        check_is_fitted(self)
        return robustness(self, gamma)

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
        from .persistence import save

        check_is_fitted(self)
        save(self, file, path=path)

    def report(self, path: str | Path, X: Any = None, **options: Any) -> Path:
        """Write the interactive report, one HTML file that works offline.

        Samples and features have the names of the data frame that was fitted. ``options`` go to
        :func:`convexcluster.report.write_report`: ``ids``, ``y``, ``feature_names``,
        ``coordinates``, ``title``.
        """
        from .report import write_report

        check_is_fitted(self)
        return write_report(self, path, X=X, **options)

    def _repr_html_inner(self) -> str:
        """What a notebook shows: the report of a fitted model, else scikit-learn's diagram."""
        if not hasattr(self, "labels_"):
            return super()._repr_html_inner()
        from .report import notebook_html

        return notebook_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        if hasattr(self, "labels_"):
            return {"text/plain": repr(self), "text/html": self._repr_html_inner()}
        return super()._repr_mimebundle_(**kwargs)

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Say why a model from a file has no path, nor what is made of it."""
            kept = vars(self)
            if name in OF_PATH and "labels_" in kept and "path_" not in kept:
                raise AttributeError(
                    f"{name} is not in the file that this model was loaded from: "
                    "save(file, path=True) keeps it"
                )
            if isinstance(getattr(type(self), name, None), property):
                return object.__getattribute__(self, name)  # its own error, not this one
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

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


def check_rows(model: Any, X: Any, *, reset: bool = True) -> Any:
    """X as float64, dense or CSR, and finite; what is wrong is named with its row and column."""
    name = type(model).__name__
    check_table(X, name)
    options: dict[str, Any] = {"accept_sparse": "csr", "dtype": np.float64, "order": "C"}
    X = validate_data(model, X, **options, ensure_all_finite=False, reset=reset)
    if sparse.issparse(X):
        entries: Any = sparse.coo_array(cast(Any, X))
        bad = np.flatnonzero(~np.isfinite(entries.data))
        if len(bad):
            row, column = entries.row[bad[0]], entries.col[bad[0]]
            raise ValueError(
                f"X holds NaN or infinity in row {row}, column {column}: impute or drop it first"
            )
        if str(model.metric).lower() == "precomputed":
            if reset:
                return along_paths(entries)
            raise ValueError(
                "a sparse X holds some of the distances: new samples need theirs to every training "
                "sample"
            )
        # so few columns are points of the plane or of space, and hardly sparse
        return entries.toarray() if entries.shape[1] <= FEW_FEATURES else X
    remedy = f"; {PIPELINE.format(model=name)} fills in what is missing"
    check_finite(X, "X", columns=getattr(model, "feature_names_in_", None), remedy=remedy)
    return X


@contextmanager
def unchanged_by_errors(model: Any) -> Iterator[None]:
    """Leave ``model`` as it was before the block if the block ends in an error or by Ctrl-C."""
    before = dict(model.__dict__)
    try:
        with interruptible():
            yield
    except BaseException:
        model.__dict__ = before
        raise


def keep(model: Any, found: Fit, index: Ints, weight: Floats, rows: Ints) -> Any:
    """Set the fitted attributes of ``model``, all at once, and delete those of an earlier fit.

    ``index`` (n,) is the point of every row, ``weight`` (n,) its mass, ``rows`` (n,) its label;
    results go by the rows.
    """
    points, problem, solution, labels = found.points, found.problem, found.solution, found.labels
    _warn(found, model)
    unit = found.unit
    weight = power(weight, unit.mass) if unit.mass else weight
    placed, index = index, found.samples(index)
    linkage = expand_tree(found.selection.linkage, index)
    share = weight / np.bincount(index, weight)[index]
    kept: dict[str, Any] = {
        "labels_": rows,
        "n_clusters_": int(labels.max()) + 1,
        "gamma_": float(problem.gamma),
        "centroids_": means(solution.A, problem.masses, labels),
        "dual_coef_": _coefficients(found)[:, index] * share,
        "path_": expand_path(found.path, index, weight),
        "linkage_": linkage,
        "selection_": selection_of_rows(found.selection, index, rows, linkage),
        "certificate_": of_rows(found.certificate, index),
        "n_iter_": int(solution.n_iter),
        "graph_": expand_graph(Graph(problem.edges, problem.weights), index),
        "_embedding": points.embedding,
        "_index": placed,
        "_point_labels": labels[found.samples(np.arange(len(points)))],
        "_vote": found.vote,
        "_n_features_out": int(labels.max()) + 1,
    }
    if found.links is not None:
        kept["_links"] = found.links
    if found.valleys is not None:
        kept["_valleys"] = found.valleys
    if found.coarsening is not None:
        kept["points_"], kept["coarsening_"] = replace(points, index=None), found.coarsening
    if unit != Unit():
        one = isinstance(model.gamma, Real) or model.labels == "agglomerative"
        kept = {**unit.report(kept, one, model.labels == "fusion"), "_unit": unit}
    stale = ("points_", "coarsening_", "point_labels_", "_columns", "_ids", "_unit", "_links")
    stale += ("_valleys",)
    own = {name: value for name, value in model.__dict__.items() if name not in stale}
    model.__dict__ = own | kept
    return model


def selection_of_rows(
    selection: Selection, index: Ints, labels: Ints, linkage: Floats
) -> Selection:
    """The selection by rows: its labels and those of its layers, and the tree."""
    layers = tuple(replace(layer, labels=layer.labels[index]) for layer in selection.layers)
    return replace(selection, labels=labels, linkage=linkage, layers=layers)


def _coefficients(found: Fit) -> Floats:
    """β of every point: those of the proof, or those that follow from the centroids."""
    if found.centroids is None:
        return dual_coefficients(found.problem, found.solution.A, found.labels)
    return found.centroids.coefficients(found.labels, found.problem.masses)


def _warn(found: Fit, model: Any) -> None:
    """Turn what did not go as asked into warnings."""
    k, solution, n_clusters = int(found.labels.max()) + 1, found.solution, model.n_clusters
    n, near = len(found.points), model.n_neighbors
    named = isinstance(model.weights, str) and model.weights != "full"
    if named and near > DEFAULT_NEIGHBORS and near >= n - 1:
        warnings.warn(
            f"n_neighbors={near} joins every pair of {n} distinct samples: a complete graph shows "
            "no clusters by its gaps; ask for fewer neighbours",
            UserWarning,
            stacklevel=4,
        )
    if solution.status is not Status.CONVERGED:
        gamma = power(found.problem.gamma, -found.unit.gamma)
        warnings.warn(
            f"at γ={gamma:.4g} the relative gap is {solution.relative_gap:.1e}: "
            f"{solution.status.value}",
            ConvergenceWarning,
            stacklevel=4,
        )
    if n_clusters is not None and k < n_clusters:
        warnings.warn(
            f"n_clusters={n_clusters} was asked for, but only {k} samples are distinct"
            + ("" if found.links is None else " and free of each other"),
            ConvergenceWarning,
            stacklevel=4,
        )
