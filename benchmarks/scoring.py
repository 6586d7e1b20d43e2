"""Labels against reference labellings, as M. Gagolewski's benchmark suite scores them.

Reference labels are 1, 2, …; 0 is noise, which is not scored. A set may have several labellings,
each of them right: a method that is told k is run for each, and the greatest score counts. Labels
that a method gives are 0, 1, …; −1 is what it calls noise.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.spatial import KDTree
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix


@dataclass(frozen=True)
class Score:
    """Agreement with the best of some labellings, and the number of clusters.

    Attributes
    ----------
    ari, ami : float
        Adjusted Rand index and adjusted mutual information, the greatest over labellings each.
    k : int
        Clusters found among all samples, without what the method calls noise.
    classes : int
        Classes of the labelling with the greatest ARI, without noise.
    """

    ari: float
    ami: float
    k: int
    classes: int

    @property
    def exact(self) -> bool:
        """Whether the number of clusters is that of the labelling which fits best."""
        return self.k == self.classes


def classes_of(reference: np.ndarray) -> int:
    """Classes of a labelling, without noise."""
    return len(np.unique(reference[reference > 0]))


def clusters_of(labels: np.ndarray) -> int:
    """Clusters that a method found, without what the method calls noise."""
    return len(np.unique(labels[labels >= 0]))


def score(reference: np.ndarray, labels: np.ndarray) -> Score:
    """One labelling: noise of the reference is not scored, noise of the method is a group."""
    scored = reference > 0
    truth, found = reference[scored], labels[scored]
    return Score(
        ari=float(adjusted_rand_score(truth, found)),
        ami=float(adjusted_mutual_info_score(truth, found)),
        k=clusters_of(labels),
        classes=classes_of(reference),
    )


def best(scores: Sequence[Score]) -> Score:
    """The best over labellings: k and classes are those of the greatest ARI."""
    first = max(scores, key=lambda found: (found.ari, found.exact))
    return Score(first.ari, max(found.ami for found in scores), first.k, first.classes)


def told_nothing(references: Sequence[np.ndarray], labels: np.ndarray) -> Score:
    """One answer against every labelling."""
    return best([score(reference, labels) for reference in references])


def told_k(references: Sequence[np.ndarray], answer: Callable[[int], np.ndarray]) -> Score:
    """An answer for each number of classes, each against the labellings that have that many."""
    answers = {k: answer(k) for k in sorted({classes_of(reference) for reference in references})}
    return best([score(reference, answers[classes_of(reference)]) for reference in references])


def join_nearest(X: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Give what a method calls noise to the cluster of the nearest sample that has one."""
    noise = labels < 0
    if noise.all():
        return np.zeros_like(labels)
    joined = labels.copy()
    joined[noise] = labels[~noise][KDTree(X[~noise]).query(X[noise])[1]]
    return joined


def share_changed(before: np.ndarray, after: np.ndarray) -> float:
    """Share of samples whose cluster is another, when clusters are paired as well as can be.

    A pair of clusters keeps the samples that both have; the pairing keeps as many as possible.
    """
    shared = contingency_matrix(before, after)
    rows, columns = linear_sum_assignment(shared, maximize=True)
    return 1.0 - float(shared[rows, columns].sum()) / len(before)
