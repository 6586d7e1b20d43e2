"""The elbow plots, and the appendix's sensitivity: number of clusters against σ₁, σ₂, γ and ρ."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from ..labels import fusion_labels, sse_curve, ward_tree
from ..numerics.linkage import cut
from ..path.solve import path_of
from ..plots import ElbowDisplay
from ..plots.appearance import COLOURS, MARKERS, log_axis, tidy
from ..problem import Problem
from ..solvers import solve
from . import paper, score, table1
from .cells import Cell, Page, Result, Results
from .methods import elbow_of, gaussian_points, median_distance, paper_graph
from .one_sweep import one_sweep
from .writing import figure, markdown_table

# Values of the parameter that moves, and triplets at which the others stand; the paper says that it
# took "various" of each.
VALUES = {
    "sigma1": [0.25, 0.5, 1.0, 2.0, 4.0],
    "sigma2": [0.5, 1.0, 10.0, 100.0, 1000.0],
    "gamma": [0.01, 0.1, 1.0, 10.0, 100.0],
    "rho": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1],
}
OTHERS = {
    "the paper's values": {"sigma1": 1.0, "sigma2": 100.0, "gamma": 1.0, "rho": 0.001},
    "smaller": {"sigma1": 0.5, "sigma2": 1.0, "gamma": 0.3, "rho": 0.0001},
    "larger": {"sigma1": 1.5, "sigma2": 1000.0, "gamma": 3.0, "rho": 0.01},
}
SYMBOLS = {"sigma1": "σ₁", "sigma2": "σ₂", "gamma": "γ", "rho": "ρ"}


def solved(sigma1: float, sigma2: float, gamma: float, rho: float, sweep: bool) -> dict[str, Any]:
    """Clusters of the rings (seed 0) at one setting: of the optimum, or of the one sweep at ρ."""
    X, y = score.rings(5, 0)
    Z = gaussian_points(X, sigma1)
    params = {"neighbors": int(paper.RINGS["n_neighbors"]), "sigma2": sigma2}
    graph = paper_graph(X, params, 1.0, normalize=False)
    if sweep:
        A = one_sweep(Z, graph, gamma, rho)
    else:
        A = solve(Z, graph.edges, graph.weights, gamma, tol=1e-5).A
    tree = ward_tree(A)
    k = elbow_of(tree)
    fused = fusion_labels(A, graph.edges)
    return {
        "k": k,
        "nmi": score.nmi(y, cut(tree, k)),
        "fused": int(fused.max()) + 1,
        "sse": sse_curve(tree)[:20].tolist(),
    }


def study(parameter: str) -> Result:
    """Cell: one parameter over its values, at every triplet of the others."""
    curves: dict[str, Any] = {}
    for name, others in OTHERS.items():
        settings = [{**others, parameter: value} for value in VALUES[parameter]]
        if parameter == "rho":
            # ρ belongs to the algorithm: the optimum is solved once and does not depend on it.
            curves[f"{name}, optimum"] = [solved(**settings[0], sweep=False)] * len(settings)
            curves[f"{name}, one sweep"] = [solved(**setting, sweep=True) for setting in settings]
        else:
            curves[name] = [solved(**setting, sweep=False) for setting in settings]
    return {"curves": curves}


def page() -> Generator[list[Cell], Results, Page]:
    """Four panels: the elbow's k against each parameter."""
    cells = {p: Cell(f"sensitivity-{p}", study, {"parameter": p}) for p in VALUES}
    results = yield list(cells.values())
    made, axes = figure(1, 4, 14, 3.8)
    rows, table = [], []
    for ax, (parameter, cell) in zip(axes, cells.items()):
        for rank, (name, curve) in enumerate(results[cell.key]["curves"].items()):
            ks = [point["k"] for point in curve]
            # lines that lie on each other are told apart by their markers' size
            ax.plot(
                VALUES[parameter],
                ks,
                marker=MARKERS[rank],
                color=COLOURS[rank],
                ms=10 - 1.3 * rank,
                linestyle="--" if "sweep" in name else "-",
                label=name,
                alpha=0.8,
            )
            rows.append([SYMBOLS[parameter], name, *ks])
            for value, point in zip(VALUES[parameter], curve):
                table.append(
                    {
                        "parameter": parameter,
                        "others": name,
                        "value": value,
                        "k_elbow": point["k"],
                        "k_fused": point["fused"],
                        "nmi": f"{point['nmi']:.4f}",
                    }
                )
        log_axis(ax)
        ax.set_ylim(0, max(10, *(int(r["k_elbow"]) for r in table)) + 1)
        tidy(ax, f"against {SYMBOLS[parameter]}", SYMBOLS[parameter], "clusters at the elbow")
        ax.legend(frameon=False, fontsize=7)
    five = sum(row["k_elbow"] == 5 for row in table)
    values = "; ".join(f"{SYMBOLS[p]}: {', '.join(f'{v:g}' for v in VALUES[p])}" for p in VALUES)
    triplets = "; ".join(
        f"{name}: " + ", ".join(f"{SYMBOLS[p]} = {v:g}" for p, v in others.items())
        for name, others in OTHERS.items()
    )
    text = f"""# Number of clusters against σ₁, σ₂, γ and ρ

The rings (seed 0, five clusters), 6 neighbours, weights as in the paper; the elbow of Ward's
tree on the exact centroids. The paper reports five clusters throughout and σ₁ = 1, σ₂ = 100,
γ = 1, ρ = 0.001 as optimal. Here {five} of {len(table)} settings give five.

![clusters against each parameter](fig-sensitivity.png)

{markdown_table(["parameter", "others", *(f"value {i + 1}" for i in range(5))], rows, texts=2)}

The values are {values}. The triplets of the others are {triplets}.
ρ is a parameter of the algorithm, not of the problem: the optimum does not depend on it. Of
the one sweep that the published procedure makes ([one-sweep](one-sweep.md)) ρ, the
neighbours and the kernel are all that is left. Numbers of exactly fused clusters and NMI are in
[fig-sensitivity.csv](fig-sensitivity.csv).
"""
    return Page(text, {"fig-sensitivity.csv": table}, {"fig-sensitivity.png": made})


def printed_rings() -> Result:
    """Cell: the rings at the values that the paper calls optimal."""
    values = {p: float(paper.RINGS[p]) for p in VALUES}
    return solved(**values, sweep=False)


def tuned_real(name: str, settings: dict[str, Any]) -> Result:
    """Cell: SSE_k of a real set at a setting of Table 1."""
    X, _ = score.benchmark(name)
    X = score.prepare(X, settings["preprocessing"], rotate=True)
    params, unit = settings["params"], median_distance(X)
    graph = paper_graph(X, params, unit)
    Z = gaussian_points(X, params["sigma1"] * unit)
    problem = Problem.of(Z, graph.edges, graph.weights, 0.0)
    path = path_of(problem, [params["gamma"]])
    fused, C = path.labels(gamma=params["gamma"]), path.centroids(params["gamma"])
    masses = np.bincount(fused).astype(np.float64)
    tree = ward_tree(C, masses)
    return {"sse": sse_curve(tree)[:20].tolist(), "k": elbow_of(tree)}


def elbows() -> Generator[list[Cell], Results, Page]:
    """SSE against k: the rings at the paper's values, lymphoma at its tuned setting."""
    first = Cell("elbow-rings", printed_rings)
    lymphoma = table1.tuned_cell("lymphoma", "KCC")
    results = yield [first, lymphoma]
    best = results[lymphoma.key]["best"]["own"]
    settings = {"params": best["params"], "preprocessing": best["preprocessing"]}
    second = Cell("elbow-lymphoma", tuned_real, {"name": "lymphoma", "settings": settings})
    curves = {**results, **(yield [second])}
    made, axes = figure(1, 2, 10, 4.2)
    for ax, cell, title in ((axes[0], first, "rings"), (axes[1], second, "lymphoma")):
        sse = np.array(curves[cell.key]["sse"])
        display = ElbowDisplay(np.arange(1, len(sse) + 1), sse, curves[cell.key]["k"])
        display.plot(ax).set_title(title)
    ours = curves[first.key]
    text = f"""# Elbow plots

![elbows](fig-elbow.png)

Left: the rings at the paper's σ₁ = 1, σ₂ = 100, γ = 1, solved exactly: elbow at k =
{ours["k"]}, NMI {ours["nmi"]:.3f}, {ours["fused"]} exactly fused clusters (the paper: 5 and
NMI 1). Right: lymphoma at the setting whose elbow has the best NMI
({table1.setting(best["params"])}; lengths in units of the median distance): elbow at k =
{curves[second.key]["k"]}, NMI {best["nmi"]:.3f} (the paper: 7 and
{paper.TABLE1["lymphoma"]["KCC"]}). The elbow rule is `convexcluster.labels.elbow`: the k
farthest below the chord of the curve.
"""
    rows = [
        {"data": name, "k": k + 1, "sse": f"{value:.6g}"}
        for name, cell in (("rings", first), ("lymphoma", second))
        for k, value in enumerate(curves[cell.key]["sse"])
    ]
    return Page(text, {"fig-elbow.csv": rows}, {"fig-elbow.png": made})
