"""Sentences of the report: what was fitted, what is certified, and what that means.

Input is a path, a certificate and a fitted estimator; output is plain text, never markup.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..answers import Answers
from ..certificate.margins import ANY_DIRECTION
from ..labels import cut
from ..plots.layout import kernel_name
from ..problem import Floats, Ints

if TYPE_CHECKING:
    from ..certificate import Certificate
    from ..path.clusterpath import ClusterPath


def many(count: int, noun: str) -> str:
    """Count and noun."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def summary_sentence(path: ClusterPath, estimator: Any | None, n_features: int | None) -> str:
    """What was clustered, and over which path."""
    parts = [many(len(path.masses), "sample")]
    if n_features is not None:
        parts.append(many(n_features, "feature"))
    kernel = kernel_name(estimator)
    if kernel is not None:
        parts.append(f"{kernel} kernel")
    counts, gammas = np.asarray(path.n_clusters), np.asarray(path.gammas)
    walk = f"at γ = {gammas[0]:.3g}"
    if len(gammas) > 1:
        walk = f"at {len(gammas)} values of γ from {gammas[0]:.3g} to {gammas[-1]:.3g}"
    ends = f"{many(int(counts[0]), 'cluster')} at the least γ, {int(counts[-1]):,} at the greatest"
    return f"{', '.join(parts)}. Solved {walk}: {ends}."


# What each verdict on the data means.
VERDICTS = {
    "structure": "the data have structure, and these clusters stand out from chance",
    "no structure": "nothing stands out from chance (no structure)",
    "one cluster": "all samples are alike",
}


def verdict_sentence(estimator: Any | None) -> str:
    """The answer in one line: how many clusters, whether they are real, and how sure that is."""
    if estimator is None:
        return "A path without an estimator: the view opens at the partition that lives longest."
    found = many(int(estimator.n_clusters_), "cluster")
    if estimator.n_clusters is not None:
        found += ", as asked"
    verdict, confidence = estimator.selection_.verdict, estimator.selection_.confidence
    sure = f"; confidence {confidence:.2f} of 1" if np.isfinite(confidence) else ""
    return f"{found}: {VERDICTS.get(verdict, verdict)}{sure}."


def choice_sentence(gamma: float | None) -> str:
    """At which γ the view opens."""
    return "" if gamma is None else f"The estimator chose γ\u00a0=\u00a0{gamma:.3g}."


def plain_sentences(estimator: Any | None, names: list[str] | None) -> list[str]:
    """How sure the clusters are, for a reader who wants no theorem: a sentence a fact."""
    if estimator is None:
        return []
    made = [f"What was found: {verdict_sentence(estimator)}"]
    selection, certificate = estimator.selection_, estimator.certificate_
    if np.isfinite(selection.confidence):
        made.append(
            f"Confidence {selection.confidence:.2f} of 1 estimates, from how deep the gaps between "
            "the clusters are, how often a careful person would draw the same ones."
        )
    others = [
        f"{many(layer.n_clusters, 'cluster')} (confidence {layer.confidence:.2f})"
        for layer in selection.layers[1:]
    ]
    if others:
        made.append(f"Other numbers of clusters that would also stand: {', '.join(others)}.")
    statement = certificate.statement
    if certificate.partition == "certified":
        made.append(
            "These clusters are proved: they are those of the best possible solution, and no other "
            "start, seed or solver can give others."
        )
    elif statement:
        made.append(
            "Not all of this is proved: some samples may belong elsewhere in the best possible "
            "solution, by which the clusters were found."
        )
    if statement:
        made.append(f"What is proved: {statement[0].lower()}{statement[1:]}")
    robust = robustness_sentence(estimator, names)
    if robust:
        made.append(f"How much may change: {robust[0].lower()}{robust[1:]}")
    strays = stray_samples(estimator.labels_, cut(estimator.linkage_, estimator.n_clusters_))
    if strays:
        made.append(
            f"The estimator's labels depart from the cut of its tree in {many(strays, 'sample')}."
        )
    return made


# Sum of the squared sizes of clusters up to which a report asks how far they stand: two seconds at
# that size, as long as the fit takes; four times that for clusters of twice the size.
MOST_MOVED = 15_000_000


def robustness_sentence(estimator: Any, names: Sequence[object] | None = None) -> str:
    """By how much data, weights and γ may change, in plain words; empty if nothing is proved."""
    proved = estimator.certificate_.partition == "certified"
    if not proved or not isinstance(estimator, Answers):
        return ""
    if (np.bincount(estimator.labels_).astype(float) ** 2).sum() > MOST_MOVED:
        return "Clusters as large as these take a while to test: model.robustness() tells."
    try:
        found = estimator.robustness()  # type: ignore[attr-defined]
    except ValueError as reason:
        return f"How far the clusters would stand is not known: {reason}."
    kernel = estimator._embedding.kernel
    width = None
    if kernel.name == "rbf" and kernel.metric in ("auto", "euclidean"):
        width = kernel.params.get("bandwidth")
    said = found.statement(width, names)
    if kernel.name == "linear":
        said = said.replace("in the kernel's space", ANY_DIRECTION)
    index = estimator._index
    if not found.reason and index.max() + 1 < len(index) and not hasattr(estimator, "_links"):
        said += " Equal samples move together in it."
    if getattr(estimator, "_columns", None) is not None:
        said += " Features have their weights in it."
    return str(said)


# Share of its own cluster below which a sample is called one of the border: with half of it hardly
# any is, with nine tenths whole clusters in many dimensions are.
BORDER = 2 / 3

# Names in a sentence; more of them are read by nobody.
MOST_NAMES = 12


def soft_facts(
    estimator: Answers, names: list[str] | None, shares: Floats, scores: Floats
) -> list[str]:
    """Samples at borders, outliers, representatives, and the size of the tree; a sentence each.

    ``shares`` (n,) are the memberships in the own clusters, ``scores`` (n,) those of outliers.
    """

    def name(index: int) -> str:
        return str(index) if names is None else names[index]

    border = int((shares < BORDER).sum())
    low, high = np.quantile(scores, [0.25, 0.75])
    lonely = np.flatnonzero(scores > high + 1.5 * (high - low))
    lonely = lonely[np.argsort(-scores[lonely], kind="stable")]
    medoids = [name(int(i)) for i in estimator.medoid_indices_]
    tree = estimator.condensed_tree_
    made = [
        f"At a border: {many(border, 'sample')} with less than two thirds of their membership in "
        "their own cluster.",
        f"Outliers by their density: {many(len(lonely), 'sample')}"
        + (f", {_few([name(int(i)) for i in lonely])}" if len(lonely) else "."),
        f"Samples that stand for the clusters: {_few(medoids)}",
        f"The tree has {many(int(tree.is_leaf.sum()), 'branch').replace('branchs', 'branches')} of "
        f"at least {tree.min_size} samples that do not split further.",
    ]
    return made


def _few(names: list[str]) -> str:
    return ", ".join(names[:MOST_NAMES]) + (", …" if len(names) > MOST_NAMES else ".")


def stray_samples(labels: Ints, cuts: Ints) -> int:
    """Samples outside the best-matching cluster of ``cuts``, over all clusters of ``labels``.

    Examples
    --------
    >>> stray_samples(np.array([0, 0, 0, 1]), np.array([1, 1, 0, 0]))
    1
    """
    width = int(cuts.max()) + 1
    overlap = np.bincount(labels * width + cuts, minlength=(int(labels.max()) + 1) * width)
    return int(len(labels) - overlap.reshape(-1, width).max(axis=1).sum())


def path_sentence(path: ClusterPath) -> str:
    """How much of the path is certified."""
    certified, gaps = np.asarray(path.certified).astype(bool), np.asarray(path.gaps)
    known = gaps[np.isfinite(gaps)]
    if not len(known):
        return 'The path as a whole was solved without certificates: certify="path" asks for them.'
    sure = f"{int(certified.sum())} of {many(len(certified), 'value')} of γ are certified"
    worst = f"the largest relative duality gap known is {known.max():.1e}"
    return (
        f"{sure}: {worst}, so the objective exceeds its exact minimum by at most that share of the "
        "total scatter."
    )


PROBLEM = (
    "Solved is min ½ Σ mᵢ‖φ(xᵢ) − aᵢ‖² + γ Σ wᵢⱼ‖aᵢ − aⱼ‖ over the centroids aᵢ in the kernel's "
    "space. It is strongly convex: there is one optimum, and samples with equal centroids there "
    "are its clusters."
)


def certificate_sentences(certificate: Certificate | None) -> list[str]:
    """The certificate of a fitted estimator as theorems, one fact a sentence."""
    if certificate is None:
        return []
    made = [PROBLEM]
    if certificate.gamma_interval is not None:
        low, high = certificate.gamma_interval
        until = f"for γ < {high:.4g}" if np.isfinite(high) else "at every greater γ"
        made.append(
            "A partition is that of the optimum if and only if each of its clusters has a flow λ "
            "on its edges, ‖λₗ‖ ≤ γwₗ, that carries its samples to one centroid, and the centroids "
            f"differ. Such flows exist for γ ≥ {low:.4g}, and the centroids differ {until}."
        )
    gap, radius = certificate.relative_gap, certificate.radius
    error, moved = certificate.embedding_error, certificate.coarsening_error
    if np.isfinite(gap):
        made.append(
            f"The relative duality gap is {gap:.1e}: no set of centroids whatever has an objective "
            f"lower than the one found by more than {gap:.1e} of the total scatter."
        )
    if np.isfinite(radius):
        made.append(
            f"The exact centroids lie within {radius:.3g} of those found: root of the summed "
            "squared distances, in the kernel's own space, everything below included."
        )
    if error == 0:
        made.append("The embedding is exact.")
    elif radius < error < np.inf:
        made.append(
            "Proof and centroids are in the kernel's own space; the path was solved in an "
            f"embedding, which moved its centroids by at most {error:.3g}."
        )
    elif np.isfinite(error):
        made.append(
            f"Replacing the kernel by the embedding moved the centroids by at most {error:.3g}."
        )
    if 0 < moved < np.inf:
        made.append(f"Contracting samples beforehand moved them by at most {moved:.3g}.")
    if certificate.clipped_share:
        clipped = certificate.clipped_share
        made.append(
            f"The kernel is not positive semidefinite: {clipped:.2g} of its spectrum was negative "
            "and left out, and all of this holds for what remains."
        )
    verdict = certificate.partition
    made.append(
        "The partition is certified: it is that of the exact solution, not of an approximation."
        if verdict == "certified"
        else f"The partition is not proved to be that of the exact solution. {_reason(verdict)}"
    )
    return made


def _reason(verdict: str) -> str:
    reason = verdict.removeprefix("not certified").strip(" :;.")
    return f"Reason: {reason}." if reason else ""
