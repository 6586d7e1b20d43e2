"""The pictures of docs/beyond.md, from the figures of the page and from fits of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.patches import Circle
from sklearn.datasets import make_blobs

from convexcluster import KernelConvexClustering, features
from convexcluster.plots import FeatureWeightsDisplay
from convexcluster.plots.appearance import COLOURS, INK, MARKERS, tidy
from convexcluster.reproduce.writing import figure, save_figure

from . import data, ranges
from .cases import UNSEEN
from .page import Rows


def draw(folder: Path, rows: Rows) -> None:
    """All of them."""
    made = {"recovery": _recovery, "robustness": _robustness, "links": _links}
    for name, make in (made | {"views": _views, "features": _features}).items():
        save_figure(make(rows), folder / f"beyond-{name}.png")


def _scatter(ax: Any, X: np.ndarray, labels: np.ndarray, title: str) -> None:
    for t in range(int(labels.max()) + 1):
        style = {"c": COLOURS[t % len(COLOURS)], "marker": MARKERS[t % len(MARKERS)], "s": 14}
        ax.scatter(*X[labels == t].T, **style)
    tidy(ax, title, "", "")


def _recovery(rows: Rows) -> Any:
    shown = [(case, f) for case, f in rows if case.part == "recovery" and f["ends"][0] > 0][::-1]
    made, (ax,) = figure(1, 1, 8, 1.2 + 0.4 * len(shown))
    for place, (_, found) in enumerate(shown):
        for rank, what in enumerate(("necessary", "ends", "inside", "sufficient")):
            low, high = found[what] or (1.0, 1.0)
            label = ("necessary", "proved at both ends", "proved inside", "sufficient")[rank]
            at = [place + 0.2 * (1.5 - rank)] * 2
            style = {"lw": 4, "solid_capstyle": "butt", "c": COLOURS[rank]}
            ax.plot([low, high], at, label=label if place == 0 else None, **style)
    ax.set_xscale("log")
    ax.set_yticks(range(len(shown)), [f"{case.what}, seed {case.seed}" for case, _ in shown])
    ax.legend(frameon=False, fontsize=8)
    tidy(ax, "for which γ labels are the clusters of the optimum", "γ", "")
    return made


def _robustness(rows: Rows) -> Any:
    X, _ = ranges.moons(UNSEEN[0])
    model = KernelConvexClustering().fit(X)
    held = model.robustness()
    reach = held.in_input(float(model.kernel_.params["bandwidth"]))
    made, (ax,) = figure(1, 1, 7, 4)
    _scatter(ax, X, model.labels_, f"every sample may move by {reach:.3f} at once")
    for x in X:
        ax.add_patch(Circle(x, reach, fill=False, edgecolor=INK, lw=0.3))
    if held.weakest is not None:
        ax.plot(*X[list(held.weakest)].T, c=INK, lw=2, label="weakest edge")
        ax.legend(frameon=False, fontsize=8)
    ax.set_aspect("equal")
    return made


def _links(rows: Rows) -> Any:
    X, y = make_blobs(240, centers=[[0, 0], [4, 0], [2, 4], [7, 4]], random_state=1)
    groups = np.full(len(X), -1)
    pick = [*np.flatnonzero(y == 0)[:3], *np.flatnonzero(y == 2)[:3]]
    groups[pick] = 0
    made, axes = figure(1, 2, 9, 4)
    for ax, told in zip(axes, (None, groups)):
        model = KernelConvexClustering().fit(X, groups=told)
        found = f"{model.n_clusters_} clusters"
        _scatter(ax, X, model.labels_, f"no links: {found}" if told is None else f"linked: {found}")
    axes[1].scatter(*X[pick].T, s=70, facecolors="none", edgecolors=INK, label="one group")
    axes[1].legend(frameon=False, fontsize=8)
    return made


def _views(rows: Rows) -> Any:
    made, axes = figure(1, 2, 10, 3.8)
    for ax, name in zip(axes, list(data.VIEWS)[1:]):
        found = next(
            f for c, f in rows if c.part == "views" and (c.what, c.seed) == (name, UNSEEN[0])
        )
        place = np.arange(len(found["views"]))
        for rank, kind in enumerate(("equal", "agreement")):
            label = f"{kind}: NMI {found[kind]:.2f}"
            beta = found[f"{kind} weights"]
            ax.bar(place + 0.4 * rank - 0.2, beta, 0.4, color=COLOURS[rank], label=label)
        ax.set_xticks(place, found["views"], rotation=30, ha="right", fontsize=8)
        ax.legend(frameon=False, fontsize=8)
        tidy(ax, f"digits: {name}", "", "weight of the view")
    return made


def _features(rows: Rows) -> Any:
    X, _, _ = data.among_noise("rings + 98 noise", UNSEEN[0])
    found = features.learn(X)
    made, (left, right) = figure(1, 2, 10, 4.4)
    FeatureWeightsDisplay.from_learned(found, most=15).plot(left)
    model = KernelConvexClustering(feature_weights=found.weights).fit(X)
    kept = np.argsort(-found.weights)[:2]
    _scatter(
        right, X[:, np.sort(kept)], model.labels_, f"told nothing: {model.n_clusters_} clusters"
    )
    right.set_xlabel(f"feature {min(kept)}")
    right.set_ylabel(f"feature {max(kept)}")
    return made
