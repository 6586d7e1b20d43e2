"""The strongest claim that holds about labels, and the sentence that says it.

Claims in falling order: the labels are the clusters of the exact optimum for every γ of an
interval; at one γ; some of them are whole there; their cores are; the centroids are known within a
radius. Theorems: :mod:`~convexcluster.certificate.proof`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ..graph import Graph
from ..problem import Floats, Ints
from . import Certificate
from .proof import Proof
from .space import Space, layout

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Claim:
    """What is proved about labels in the full space.

    Attributes
    ----------
    gamma : float
        The γ that the claim is about; in the interval if there is one.
    interval : tuple of two floats or None
        Every γ from the first up to, and without, the second has these clusters.
    whole : bool
        Whether the labels are exactly the clusters of the optimum at ``gamma``.
    clusters : ndarray of shape (k,)
        Which clusters have one centroid each in the optimum at ``gamma``.
    beta : ndarray of shape (k, k) or None
        Centroids c_t = Σ_s β_ts φ̄_s of the clusters at ``gamma``, if it is known that they differ.
    radius : float
        ‖A − A*‖_M at most, for A the centroids of ``beta``; inf if unknown.
    reason : str
        Why no more is claimed; empty if nothing more could be.
    proviso : str
        What was taken for granted.
    """

    gamma: float
    interval: tuple[float, float] | None
    whole: bool
    clusters: Bools
    beta: Floats | None = None
    radius: float = np.inf
    reason: str = ""
    proviso: str = ""


# Values of γ at which the labels are tested one by one where there is no interval, and how often γ
# is raised at each: a path of low rank fuses too early, by a few percent.
TRIED, RAISED = 3, 3


def prove_labels(
    space: Space,
    graph: Graph,
    masses: Floats,
    labels: Ints,
    gamma: float,
    gammas: Floats | None = None,
    *,
    likely: Floats | None = None,
    movable: bool = True,
) -> Claim:
    """Prove as much as holds about ``labels``.

    Parameters
    ----------
    space : Space
        Inner products of the samples.
    graph : Graph
    masses : ndarray of shape (n,)
    labels : ndarray of shape (n,)
        Numbered 0 … k − 1, however they were chosen.
    gamma : float
        The γ that goes with the labels.
    gammas : ndarray, optional
        Others, ascending, of which the first inside the interval is preferred if ``gamma`` is not.
    likely : ndarray, optional
        Those at which the labels are thought to be the clusters of the optimum.
    movable : bool
        Whether γ may be one that is not given.

    Examples
    --------
    >>> line = Space.of_coordinates(np.array([[0.0], [1.0], [9.0], [10.0]]))
    >>> chain = Graph(np.array([[0, 1], [1, 2], [2, 3]]), np.array([1.0, 0.1, 1.0]))
    >>> claim = prove_labels(line, chain, np.ones(4), np.array([0, 0, 1, 1]), gamma=1.0)
    >>> np.round(claim.interval, 3)  # Σ w of the bridge is 0.1: 9·2·2/(4·0.1)
    array([ 0.526, 90.   ])
    """
    k = int(labels.max()) + 1
    nothing = Claim(gamma, None, False, np.zeros(k, dtype=bool), proviso=space.proviso)
    at = layout(graph.edges, labels)
    if at is None:
        return replace(nothing, reason="a cluster is not connected in the graph")
    proof = Proof(space, graph.edges, graph.weights, masses, labels, at)
    low, high = interval(proof)
    if low < high:
        gamma = pick(low, high, gamma, gammas, movable)
        claim = replace(nothing, gamma=gamma, interval=(low, high))
        if not low <= gamma < high:
            reason = f"γ = {gamma:.4g} is not in the interval and may not be moved"
            return _parts(proof, replace(claim, reason=reason))
        found = proof.state(gamma) if gamma > 0 else None
        claim = replace(claim, whole=True, clusters=np.ones(k, dtype=bool))
        if found is None:
            return claim
        return replace(claim, beta=found[0].beta, radius=found[0].radius)
    tries = [] if likely is None else likely[np.argsort(np.abs(np.log(likely / gamma)))][:TRIED]
    for first in dict.fromkeys([float(g) for g in tries] + [gamma]):
        claim_at = _at(proof, first, movable)
        if claim_at is not None:
            return replace(claim_at, proviso=space.proviso)
    reason = (
        "flows that hold every cluster together were not found"
        if np.isfinite(low)
        else "touching clusters pull at edges near their border by more than the edges can carry"
    )
    return _parts(proof, replace(nothing, reason=reason))


def interval(proof: Proof) -> tuple[float, float]:
    """[low, high) of Theorem 2, with better conductances where it would be empty."""
    low = float(proof.gammas.max())
    high = proof.apart_below()
    for t in np.flatnonzero(proof.gammas >= high):
        proof.tighten(int(t), 0.95 * high)
    low = float(proof.gammas.max())
    return low, proof.apart_until(low) if np.isfinite(low) else high


def pick(low: float, high: float, gamma: float, gammas: Floats | None, movable: bool) -> float:
    """γ if it lies in [low, high); else the first of ``gammas`` that does; else one inside."""
    if low <= gamma < high:
        return gamma
    given = np.empty(0) if gammas is None else gammas[(gammas >= low) & (gammas < high)]
    if len(given):
        return float(given[0])
    if not movable:
        return gamma
    return float(np.sqrt(low * min(high, 4.0 * low))) if low > 0 else 0.5 * min(high, 1.0)


def _at(proof: Proof, gamma: float, movable: bool) -> Claim | None:
    """Theorem 1 at γ, or at some γ a little larger."""
    for _ in range(RAISED if movable else 1):
        found = proof.state(gamma) if gamma > 0 else None
        if found is None or not found[0].differ:
            return None
        state = found[0]
        if all(proof.fits(t, state) for t in range(proof.k)):
            ones = np.ones(proof.k, dtype=bool)
            return Claim(gamma, None, True, ones, state.beta, state.radius)
        full = max(proof.fullness(t, state) for t in range(proof.k))
        gamma *= float(np.clip(1.01 * full, 1.02, 2.0))
    return None


def _parts(proof: Proof, claim: Claim) -> Claim:
    """Which clusters are whole by themselves at γ (Theorem 3), and the radius (Theorem 4)."""
    clusters = np.array([proof.alone(t) <= claim.gamma for t in range(proof.k)])
    found = proof.state(claim.gamma) if claim.gamma > 0 else None
    if found is None:
        return replace(claim, clusters=clusters)
    state = found[0]
    radius = float(np.sqrt(2.0 * proof.gap(state)))
    return replace(claim, clusters=clusters, beta=state.beta, radius=radius)


# A radius beyond this share of the spread of all samples says nothing about their clusters: two
# clusters a spread apart could be one.
TELLS = 0.5


def claimed(
    certificate: Certificate,
    claim: Claim | None,
    gamma: float,
    sizes: Ints,
    unit: float = 1.0,
    cells: bool = False,
) -> Certificate:
    """The certificate with what is claimed, and the strongest of it as a sentence.

    ``gamma`` is that of the certificate, ``sizes`` (k,) are the samples of the clusters, ``unit``
    turns γ into the units of the user; ``cells`` says that the samples are cells of rows.
    """
    k, n = len(sizes), int(sizes.sum())
    certified = certificate.partition == "certified"
    clusters = np.full(k, certified) if claim is None else claim.clusters | certified
    labels = np.repeat(np.arange(k), sizes)
    interval = None if claim is None else claim.interval
    these = "is one cluster" if k == 1 else f"has exactly these {k} clusters"
    at = f"at γ = {gamma * unit:.4g}"
    if claim is not None and claim.interval is not None:
        low, high = (end * unit for end in claim.interval)
        upto = f" up to {high:.4g}" if np.isfinite(high) else " on"
        said = f"for every γ from {low:.4g}{upto} the exact optimum {these}"
    elif certified or (claim is not None and claim.whole):
        said = f"{at} the exact optimum {these}"
    elif clusters.any():
        many = "one of them" if clusters.sum() == 1 else f"{clusters.sum()} of them"
        said = f"of the {k} clusters {many} are proved to be whole in the exact optimum {at}"
        if clusters.sum() == 1:
            said = said.replace(" are ", " is ")
        said += f" (with {sizes[clusters].sum()} of {n} samples)"
    elif certificate.relative_radius <= TELLS:
        said = (
            "no cluster is proved; the exact centroids lie within a root mean square of "
            f"{certificate.relative_radius:.2g} of the spread of the samples from those found"
        )
    else:
        said = "nothing is proved about these clusters"
        if claim is not None and claim.reason:
            said += f": {claim.reason}"
    if cells:
        said = f"of the cells into which the rows were grouped, in the embedding: {said}"
    elif certificate.clipped_share > 0:
        said = f"for the kernel without its negative part: {said}"
    if claim is not None and claim.proviso:
        said += f", {claim.proviso}"
    del labels
    return replace(
        certificate,
        statement=said[0].upper() + said[1:] + ".",
        gamma_interval=interval,
        clusters=clusters,
    )
