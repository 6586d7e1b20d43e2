"""The scikit-learn shells: X → kernel → embedding Z → graph → path → selection → labels.

``KernelConvexClustering`` takes any kernel, ``ConvexClustering`` the linear one. Everything that
computes lives upstream; an estimator names its parameters and its kernel, the shell
(:mod:`convexcluster.shell`) calls the steps (:mod:`convexcluster.fit_steps`) in order.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

from .embedding import EMBEDDINGS, Embedding, embed
from .fit_steps import Callback
from .kernels import Kernel, resolve_kernel
from .large import RANK
from .problem import Floats
from .shell import Shell

# A path costs as much as its dimensions. Of more samples than this the automatic path has as many
# as that of coarsened data (``large.RANK``) unless ``rank`` asks for more; what is lost is part of
# the certificate. One γ is always solved at the full rank that ``embedding_tol`` needs.
FULL_RANK = 1_000


class KernelConvexClustering(Shell):
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
        Threads of the path, two by default. What comes out does not depend on it.
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


class ConvexClustering(Shell):
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
