"""Feature weights: which columns show the clusters, and how much each of them counts.

    K_θ(x, y) = exp(−Σ_f θ_f (x_f − y_f)²/(2σ²)),    θ ≥ 0, Σ θ_f = 1

:func:`learn` finds θ and stands outside the estimators, whose ``feature_weights`` takes them: it
calls ``fit``, and ``fit`` does not call itself. :mod:`~convexcluster.features.descent` lowers the
optimal value of the clustering from a start. The start decides: a graph of mostly useless features
is noise, and the steps would confirm it. So communities of features that depend on each other
beyond chance (:mod:`~convexcluster.features.starts`) are tried one after the other, then single
features that fall into two parts, then equal weights, and the first is kept whose weighted data
pass the test for structure of the default fit. Correlated noise depends but has no clusters.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from ..estimators import KernelConvexClustering, check_rows
from ..optional import need
from ..problem import Floats
from ..selection.tension import dimension_of, surest
from ..settings import WEIGHED, Settings
from ..weights import FEW_FEATURES
from .descent import Descent, weighted
from .starts import communities, singles

if TYPE_CHECKING:
    import pandas

__all__ = ["FeatureWeights", "learn"]

# Fewest samples: the laws of chance by which features are judged hold for a few dozen and more.
FEWEST = 30

# Samples that are looked at. The cost grows with their square and cube; a thousand take a minute.
SAMPLE = 1_000

# Communities that are tried. Noise in blocks of correlated features has one for every block.
MOST = 40

# How clear, in levels of structure, the clearest boundary of a start must be: of up to forty starts
# of pure noise the best is taken. Noise comes near it from below, groups among many useless
# features from above; `python -m benchmarks.beyond clearness` has both, and docs/beyond.md.
CHOSEN = 1.5


@dataclass(frozen=True)
class FeatureWeights:
    """Learned weights of features.

    Attributes
    ----------
    weights : ndarray of shape (n_features,)
        For ``feature_weights``; sum to one.
    note : str
        Which start won, or "refused: …" where the weights stayed equal.
    table : dict of ndarray
        A row for every feature: ``weight``; ``share``, the weight of the feature in units of its
        standard deviation; ``evidence``, by how many deviations of chance the feature is smoother
        on the graph of the clusters than a random one; empty if the weights stayed equal.
    noise : float
        Evidence that the best of as many features of pure noise exceeds once in twenty times.
    """

    weights: Floats
    note: str
    table: dict[str, Floats] = field(default_factory=dict)
    noise: float = float("nan")

    @property
    def learned(self) -> bool:
        """Whether weights were found, and are not merely equal."""
        return bool(self.table)

    def to_frame(self) -> pandas.DataFrame:
        """The table, a row for every feature."""
        return need("pandas", "report").DataFrame(self.table)


def learn(X: ArrayLike, *, estimator: Any = None, only_if_none: bool = False) -> FeatureWeights:
    """Learn how much each feature should count, from the samples alone.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Features may have any units: they are compared in units of their standard deviation, and the
        weights that come out are for X as it is. Of more than 1,000 samples as many are drawn.
    estimator : KernelConvexClustering or ConvexClustering, optional
        Carries the kernel (rbf, laplacian or linear) and other parameters; it is not changed.
    only_if_none : bool
        Keep equal weights where these, of standardised features, already show structure. Where
        most features tell something, learned weights follow the strongest group of features and
        hide the others.

    Returns
    -------
    FeatureWeights

    Warns
    -----
    UserWarning
        If no start shows structure; the weights are equal then, and ``note`` says so.

    Examples
    --------
    >>> from convexcluster import KernelConvexClustering, features
    >>> from convexcluster.datasets import make_rings
    >>> rings, y = make_rings(random_state=0)
    >>> X = np.hstack([rings, np.random.default_rng(0).normal(size=(len(rings), 8))])
    >>> found = features.learn(X)
    >>> np.flatnonzero(found.weights)
    array([0, 1])
    >>> KernelConvexClustering(feature_weights=found.weights).fit(X).n_clusters_
    5
    """
    model = clone(KernelConvexClustering() if estimator is None else estimator)
    model.set_params(n_clusters=None, gamma=None, feature_weights=None, verbose=0)
    settings = _check(model)
    if sparse.issparse(X):
        raise ValueError("features.learn needs a dense X: pass X.toarray()")
    rows = check_rows(model, X)
    n, d = rows.shape
    if n < FEWEST:
        raise ValueError(f"features.learn needs at least {FEWEST} samples, got {n}")
    if n > SAMPLE:
        rows = rows[np.sort(np.random.default_rng(0).choice(n, SAMPLE, replace=False))]
    deviation = rows.std(axis=0)
    varied = np.flatnonzero(np.ptp(rows, axis=0) > 0)
    equal = np.isin(np.arange(d), varied).astype(np.float64)
    equal = equal / equal.sum() if len(varied) else np.full(d, 1 / d)
    if len(varied) <= 1:
        return FeatureWeights(equal, f"refused: {len(varied)} of {d} features vary")
    standard = (rows[:, varied] - rows[:, varied].mean(axis=0)) / deviation[varied]

    even, kernel = np.full(len(varied), 1 / len(varied)), settings.kernel_name

    def shows_structure(theta: Floats, level: float) -> bool:
        fitted = clone(model).set_params(feature_weights=theta).fit(standard)
        if fitted.n_clusters_ == 1 or fitted.selection_.verdict != "structure":
            return False
        return level <= 1 or _clearness(fitted, weighted(standard, theta, kernel)) > level

    if only_if_none and shows_structure(even, 1.0):
        return FeatureWeights(equal, "refused: equal weights show structure")
    tried = 0
    for tried, (kind, start) in enumerate(_starts(standard), 1):
        chosen = kind != "equal weights"  # else the features are chosen by the steps alone
        if not chosen or shows_structure(start, CHOSEN):
            found = Descent.of(standard, start, settings)
            if shows_structure(found.theta, 1.0 if chosen else CHOSEN):
                note = f"start {tried}, {kind}: {np.count_nonzero(found.theta)} of {d} features"
                return _unfold(found, note, d, varied, deviation, settings)
    note = f"refused: no structure from {tried} starts, weights stay equal"
    warnings.warn(note, UserWarning, stacklevel=2)
    return FeatureWeights(equal, note)


def _clearness(fitted: Any, weighted: Floats) -> float:
    """The clearest boundary in units of the level of structure.

    Of few features that is its height; of more, heights are in units of a boundary beside others,
    and the level of structure is another one.
    """
    if weighted.shape[1] <= FEW_FEATURES:
        return float(fitted.linkage_[-1, 2])
    above, level = surest(fitted.path_, fitted.graph_, dimension_of(weighted))
    return 1.0 + above / level


def _check(model: Any) -> Settings:
    """The settings of a fit whose feature weights can be learned."""
    settings = Settings.of(model)
    if settings.kernel_name not in WEIGHED:
        raise ValueError(
            f"features.learn is for the kernels {', '.join(WEIGHED)}, not {settings.kernel_name}"
        )
    given = dict(settings.kernel_params or {}).get("bandwidth", settings.bandwidth)
    if given != "auto":
        raise ValueError(
            'features.learn finds the bandwidth with the weights: use bandwidth="auto", not '
            f"{given!r}"
        )
    if not settings.automatic_graph or settings.weighs_in_embedding or settings.selection != "auto":
        raise ValueError(
            "features.learn relies on the test for structure, which the automatic graph of the "
            'input space has: use weights="knn", weight_bandwidth="auto", weight_space="input" and '
            'selection="auto"'
        )
    return settings


def _starts(X: Floats) -> Iterator[tuple[str, Floats]]:
    """Weights to start from, the most telling first, and what they are."""
    found = []
    for theta in islice(communities(X), MOST):
        found.append(theta)
        yield "features that depend on each other", theta
    if len(found) > 1:  # parts of one community, where the dependence between them is too weak
        yield "all features that depend on another", np.mean(found, axis=0)
    for theta in singles(X):
        yield "a feature that falls into two parts", theta
    yield "equal weights", np.full(X.shape[1], 1 / X.shape[1])


def _unfold(
    found: Descent, note: str, d: int, varied: Any, deviation: Floats, settings: Settings
) -> FeatureWeights:
    """Weights of standardised features that vary → weights of all features as they are."""
    share, evidence = np.zeros(d), np.zeros(d)
    share[varied], evidence[varied] = found.theta, found.evidence
    weights = np.zeros(d)
    # θ(x/s − y/s)² = (θ/s²)(x − y)², and θ|x/s − y/s| = (θ/s)|x − y|
    power = 1 if settings.kernel_name == "laplacian" else 2
    weights[varied] = found.theta / deviation[varied] ** power
    weights /= weights.sum()
    table = {"weight": weights, "share": share, "evidence": evidence}
    return FeatureWeights(weights, note, table, found.noise)
