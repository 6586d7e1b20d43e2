"""What is proved of the labels, in the full space or in the embedding."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from ..certificate import Certificate, certify, on_rows
from ..certificate.claims import Centroids, Claim, claimed, prove_labels
from ..certificate.cores import Cores, best_cores
from ..graph import Graph
from ..labels import fusion_labels
from ..partition import by_size, canonical, first, means
from ..path.clusterpath import ClusterPath
from ..points import CoarseningError, Points
from ..points.inner import space_of
from ..points.questions import SHARP
from ..points.units import Unit, power
from ..problem import Ints, Problem, Solution, Status
from ..selection import Selection
from ..settings import Settings
from ..solvers import prove, solve_problem
from .choice import FEW_POINTS, tightened
from .error import BEARABLE

# Fused clusters for each label up to which labels that the path never has are tried as clusters of
# the optimum. Without it MNIST-500 takes a quarter longer, and nothing more is proved.
NEARLY = 4.0

# Why labels are not tried as clusters of the optimum.
NEVER = "the path has these clusters at no γ"


@dataclass(frozen=True)
class Proof:
    """What the full space proves of the labels; empty where nothing was tried.

    Attributes
    ----------
    claim : Claim or None
    cores : Cores or None
        Of labels that are not the clusters of the optimum.
    centroids : Centroids or None
        The solution, where the proof has found it and no solver is to do better.
    """

    claim: Claim | None = None
    cores: Cores | None = None
    centroids: Centroids | None = None


def prove_choice(
    points: Points,
    problem: Problem,
    path: ClusterPath,
    choice: Selection,
    settings: Settings,
    links: Ints | None = None,
    solution: Solution | None = None,
) -> tuple[Selection, Proof]:
    """What is proved of the labels in the full space, and the choice at a γ where it holds.

    A ``solution`` at that γ, where there is one already, is a start.

    Labels that the path never has are not tried as clusters of the optimum where points are many,
    or where labels join many fused clusters: only their cores are. Points that ``links`` make one
    sample are its mean in the full space.
    """
    if not settings.certify or (links is not None and problem.n == 1):  # nothing is left to prove
        return choice, Proof()
    space, masses, movable = space_of(points), problem.masses, settings.gamma is None
    space = space if links is None else space.means(points.masses, links)
    graph = Graph(problem.edges, problem.weights)
    labels, wanted = by_size(choice.labels, masses), canonical(choice.labels)
    solve, jobs = partial(solve_problem, tol=SHARP), settings.threads
    guesses = inner_partitions(path, wanted)
    likely = np.array([g for g, fused in guesses if (fused == wanted).all()])
    nearly = problem.n <= FEW_POINTS and path.n_clusters[path.step(choice.gamma)] <= NEARLY * (
        int(wanted.max()) + 1
    )
    if len(likely) or nearly:
        options: dict[str, Any] = {"likely": likely, "movable": movable, "solve": solve}
        given = choice.gamma, path.gammas
        near = None if solution is None else means(solution.A, masses, labels)
        claim = prove_labels(space, graph, masses, labels, *given, **options, jobs=jobs, near=near)
    else:
        claim = Claim.of_nothing(space, labels, choice.gamma, NEVER)
    gamma, cores = claim.gamma, None
    if not claim.whole and not points.coarse:
        if not movable:
            guesses = [(g, fused) for g, fused in guesses if g == choice.gamma]
        cores = best_cores(space, graph, masses, labels, guesses, solve, jobs)
        gamma = gamma if cores is None else cores.gamma
    centroids = known_centroids(claim, cores, points, labels, settings)
    return replace(choice, gamma=gamma), Proof(claim, cores, centroids)


def inner_partitions(path: ClusterPath, wanted: Ints) -> list[tuple[float, Ints]]:
    """γ and clusters of the steps of a path at which every fused cluster lies inside one label.

    A proof moves γ to no other.
    """
    found, k, fused = [], int(wanted.max()) + 1, None
    splits = set(path.split_steps.tolist())
    for step, gamma in enumerate(path.gammas.tolist()):
        if path.n_clusters[step] < k:
            continue
        if fused is None or step in splits or path.n_clusters[step] != path.n_clusters[step - 1]:
            fused = path.labels(step=step)
            inside = bool((wanted == wanted[first(fused)][fused]).all())
        if inside:
            found.append((gamma, fused))
    return found


def known_centroids(
    claim: Claim, cores: Cores | None, points: Points, labels: Ints, settings: Settings
) -> Centroids | None:
    """Centroids that the proof has found in the full space, where no solver is to do better.

    Of cells the error of their rows is still to be known; a solver that is asked for solves, and
    so does a γ that is given. Those of labels that are not proved will do if the embedding has lost
    more than they miss.
    """
    if points.coarse or settings.solver != "auto" or settings.one_gamma:
        return None
    lost = points.embedding.trace_error if settings.tol == "auto" else 0.0
    within = float(np.sqrt(min(lost, BEARABLE * (2.0 * points.scale + lost))))
    return Centroids.of(claim, cores, labels, within)


def solution_of(exact: Centroids, problem: Problem) -> Solution:
    """The solution that the proof has found; its flows were bounded, not stored."""
    A, gap = exact.rows(problem.Z, problem.masses), 0.5 * exact.radius**2
    gap = gap if problem.scale > 0 else 0.0  # rows that are all equal are their own centroids
    Lam = np.zeros((len(problem.edges), 0))
    return Solution(A, Lam, gap, problem.relative(gap), Status.CONVERGED, 1)


def proved(
    points: Points,
    problem: Problem,
    choice: Selection,
    proof: Proof,
    solution: Solution,
    error: CoarseningError | None,
    settings: Settings,
    unit: Unit,
    links: Ints | None = None,
) -> tuple[Solution, Certificate]:
    """The certificate; where the full space has no proof, close the gap in the embedding."""
    claim, cores, exact = proof.claim, proof.cores, proof.centroids
    embedding, limit = points.embedding, settings.max_iter
    known: dict[str, Any] = {
        "embedding_error": float(np.sqrt(embedding.trace_error)),
        "clipped_share": embedding.clipped_share,
    }
    wanted = canonical(choice.labels)
    fused = fusion_labels(solution.A, problem.edges) if exact is None else exact.groups
    gamma = power(problem.gamma, -unit.gamma)
    reason = (
        f"the labels join the {fused.max() + 1} fused clusters of γ={gamma:.4g} by a tree, "
        "and a tree is not part of the optimum"
    )
    certificate = None
    if exact is not None:
        assert claim is not None
        unproved = claim.reason if cores is None else reason
        verdict = "certified" if claim.whole else f"not certified: {unproved}"
        found = Certificate(solution.gap, solution.relative_gap, exact.radius, **known)
        certificate = replace(found, partition=verdict)
    elif claim is not None and claim.whole:
        certificate = certify(problem, solution, **known, partition=False)
        # cells of equal rows, known in an embedding that has lost something; else rows differ
        only = (
            points.coarse and embedding.trace_error > 0 and error is not None and error.total == 0
        )
        verdict = "not certified: proved in the embedding alone" if only else "certified"
        certificate = replace(certificate, partition=verdict)
    elif (wanted == fused).all() and tightened(settings):
        certificate = certify(problem, solution, **known)
    elif (wanted == fused).all():
        closer, found = prove(problem, solution, **known, max_iter=limit)
        if (wanted == fusion_labels(closer.A, problem.edges)).all():
            solution, certificate = closer, found
        reason = "the fused clusters changed as the gap closed: lower tol"
    if certificate is None:
        certificate = certify(problem, solution, **known, partition=False)
        certificate = replace(certificate, partition=f"not certified: {reason}")
    certificate = on_rows(certificate, 0.0 if error is None else error.total)
    whole = float(np.sqrt(2.0 * points.scale + embedding.trace_error))
    relative = certificate.radius / whole if whole > 0 else 0.0
    certificate = replace(certificate, relative_radius=relative, is_bound=embedding.is_bound)
    index = np.arange(len(points)) if points.index is None else points.index
    rows = np.bincount(index if links is None else links[index])
    labels = by_size(choice.labels, problem.masses)
    scope: dict[str, Any] = {"unit": 2.0**-unit.gamma, "cells": points.coarse}
    return solution, claimed(certificate, claim, cores, labels, rows, problem.gamma, **scope)
