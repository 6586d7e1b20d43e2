"""Figures → docs/large-results.md."""

from __future__ import annotations

from collections.abc import Callable
from math import log10
from textwrap import fill
from typing import Any

Figures = dict[str, dict[str, Any]]

ERRORS = """Errors are relative to the spread of all rows in the kernel's space, √Σ‖φ(x) − mean‖².
*Coarsening* is ‖V‖ for the graph that is named: that of the rows themselves (points), or the one
that cells pass on to their rows (spread); 0 means that the solution on all rows is exactly the one
found on the cells. *Embedding* is what the landmarks miss of the feature vectors of all rows."""


def size(n: int) -> str:
    """10⁵, 3·10⁵, 2.5·10⁶."""
    power = int(log10(n))
    lead = f"{n / 10**power:.2g}"
    ten = "10" + str(power).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return ten if lead == "1" else f"{lead}·{ten}"


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    """A Markdown table."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def prose(text: str) -> list[str]:
    """A paragraph."""
    return [fill(" ".join(text.split()), 110), ""]


def page(figures: Figures, header: str) -> str:
    """The whole page; a case that has not run is left out."""
    lines = ["# Results at scale", ""]
    lines += prose(
        """Written by `make bench-scale`. Every fit is told nothing: not k, not γ, not a bandwidth.
        Cases run one at a time and keep their figures until they are run again, so that they need
        not be of one commit; the load says how quiet the machine was."""
    )
    lines += ["```", header, "```", ""]
    for section in (one_process, growth, dask, files, refinement, mnist):
        lines += section(figures)
    failed = {name: case for name, case in figures.items() if "failed" in case}
    for name, case in failed.items():
        lines += [f"`{name}` failed: {case['failed']}", ""]
    return "\n".join(lines).rstrip() + "\n"


def chosen(figures: Figures, test: Callable[[str], bool]) -> Figures:
    """The cases that ran, by name."""
    return {name: case for name, case in figures.items() if test(name) and "failed" not in case}


def one_process(figures: Figures) -> list[str]:
    """Fits in memory."""
    found = chosen(figures, lambda name: name.startswith(("shapes", "blobs50", "tgcc")))
    rows = []
    for name, case in found.items():
        coarse = "graph" in case
        rows.append(
            [
                f"`{name}`",
                f"{size(case['n'])} × {case['d']}",
                f"{case['seconds']:.0f}",
                f"{case['cpu_seconds']:.0f}",
                f"{case['load']:.1f}",
                f"{case['peak_gb']:.1f}",
                f"{case['clusters']} of {case['truth']}",
                f"{case['ARI']:.3f}",
                f"{case['points']:,} × {case['rank']}" if coarse else "–",
                f"{case['coarsening']:.2g} ({case['graph']})" if coarse else "–",
                f"{case['embedding']:.2g}" if coarse else "–",
                f"{case['radius']:.2g}" if coarse else "–",
            ]
        )
    head = ["case", "rows × columns", "seconds", "CPU s", "load", "peak GB", "clusters", "ARI"]
    head += ["points × rank", "coarsening", "embedding", "radius"]
    words = prose(
        """`shapes` are 6 rings and 6 half moons with radii from 0.3 to 10 in the plane, `blobs50`
        20 Gaussians in 50 dimensions. Load is that of the machine before the case; peak GB that of
        the whole process, data and interpreter included. `tgcc` is tree-guided ℓ1 convex
        clustering, the yardstick for time."""
    ) + prose(ERRORS)
    return ["## One process", "", *table(head, rows), *words] if rows else []


def growth(figures: Figures) -> list[str]:
    """From 10⁵ to 10⁶: exponents, and the distance from TGCC."""
    rows = []
    for kind in ("shapes", "blobs50", "tgcc"):
        a, b = (figures.get(f"{kind}-{n}", {}) for n in ("1e5", "1e6"))
        if "cpu_seconds" not in a or "cpu_seconds" not in b:
            continue
        exponent = log10(b["cpu_seconds"] / a["cpu_seconds"])
        per_row = [1e6 * case["cpu_seconds"] / case["n"] for case in (a, b)]
        passes = [
            f"{1e6 * sum(case['passes'].values()) / case['n']:.0f}" if "passes" in case else "–"
            for case in (a, b)
        ]
        yardstick = []
        for n, case in (("1e5", a), ("1e6", b)):
            other = figures.get(f"tgcc-{n}", {}).get("cpu_seconds")
            yardstick.append(f"{case['cpu_seconds'] / other:.1f}" if other else "–")
        rows.append(
            [
                kind,
                f"{a['cpu_seconds']:.0f} → {b['cpu_seconds']:.0f}",
                f"n^{exponent:.2f}",
                f"{per_row[0]:.0f} → {per_row[1]:.0f}",
                " → ".join(passes),
                " → ".join(yardstick) if kind == "shapes" else "–",
            ]
        )
    head = ["data", "CPU s, 10⁵ → 10⁶", "growth", "µs per row", "of which passes", "× TGCC"]
    words = prose(
        """The path costs the same whatever n is, so the growth is below linear until the passes
        over the rows outweigh it; from then on it is linear, with their microseconds per row as
        the slope."""
    )
    return ["## Growth from 10⁵ to 10⁶", "", *table(head, rows), *words] if rows else []


def dask(figures: Figures) -> list[str]:
    """Through Dask: peaks of the workers and weak scaling."""
    found = chosen(figures, lambda name: name.startswith("dask"))
    rows = []
    for name, case in found.items():
        passes = case["passes"]
        rows.append(
            [
                f"`{name}`",
                f"{size(case['n'])} × {case['d']}",
                str(case["workers"]),
                f"{case['seconds']:.0f}",
                f"{passes['scan']:.0f}",
                f"{passes['measure']:.0f}",
                f"{case['fit_seconds'] - sum(passes.values()):.0f}",
                f"{case['labels_seconds']:.0f}",
                ", ".join(f"{peak:.2f}" for peak in case["worker_peak_gb"]),
                str(case["restarts"]),
                f"{case['peak_gb']:.1f}",
                f"{case['clusters']} of {case['truth']}",
                f"{case['ARI']:.3f}",
            ]
        )
    head = [
        "case",
        "rows × columns",
        "workers",
        "seconds",
        "scan",
        "measure",
        "path (client)",
        "labels",
    ]
    head += ["peak GB of each worker", "restarts", "peak GB of the client", "clusters", "ARI"]
    words = prose(
        """10 Gaussians in 10 dimensions, made block by block (10⁵ rows) on the workers, anew for
        every pass. Workers are processes of one thread with a limit of 4 GB; one that passes its
        limit is killed and started again. Two of the Gaussians are only 5.9 standard deviations
        apart."""
    )
    one, two = (found.get(name) for name in ("dask-1-worker-1e6", "dask-2-workers-2e6"))
    if one and two:

        def per_pass(case: dict[str, Any]) -> float:
            return sum(case["passes"].values()) + case["labels_seconds"]

        efficiency = per_pass(one) / per_pass(two)
        words += prose(
            f"""Weak scaling, 1 worker with 10⁶ rows to 2 workers with 2·10⁶ on two cores, which the
            client shares: the passes take {per_pass(one):.0f} s and {per_pass(two):.0f} s, an
            efficiency of {efficiency:.0%}; with the path on the client, which does not depend on n,
            {one["seconds"]:.0f} s and {two["seconds"]:.0f} s."""
        )
    return ["## Through Dask", "", *table(head, rows), *words] if rows else []


def files(figures: Figures) -> list[str]:
    """Files larger than the memory allowed."""
    found = chosen(figures, lambda name: name.startswith("file"))
    rows = [
        [
            f"`{name}`",
            f"{size(case['n'])} × {case['d']}",
            f"{case['file_gb']:.1f}",
            case["memory"],
            f"{case['own_gb']:.2f}",
            f"{case['seconds']:.0f}",
            f"{case['clusters']} of {case['truth']}",
            f"{case['ARI']:.3f}",
        ]
        for name, case in found.items()
    ]
    head = [
        "case",
        "rows × columns",
        "file GB",
        "max_memory",
        "peak GB",
        "seconds",
        "clusters",
        "ARI",
    ]
    words = prose(
        """`fit_large` on a `.npy` file, labels written to another. Peak GB is the memory of the
        whole process but for pages of the mapped file, which the system takes back at need."""
    )
    return ["## Out of core", "", *table(head, rows), *words] if rows else []


def refinement(figures: Figures) -> list[str]:
    """The coarsening error before and after cells are refined."""
    case = figures.get("refine-1e5", {})
    if "before" not in case:
        return []
    before, after = case["before"], case["after"]
    words = prose(
        f"""Convex clustering of `shapes`, {size(case["n"])} rows on {before["points"]:,} cells at
        γ = {case["gamma"]:g}, on the graph of the rows: the coarsening error is
        {before["coarsening"]:.3f} of the spread. Cutting the cells in which it is largest, to
        {after["points"]:,} in all, lowers it to {after["coarsening"]:.3f}."""
    )
    return ["## Refinement", "", *words]


def mnist(figures: Figures) -> list[str]:
    """mnist10k beside methods that are told k."""
    case = figures.get("mnist10k", {})
    if "NMI" not in case:
        return []
    rows = [
        [
            "ours, told nothing",
            f"{case['clusters']}",
            f"{case['NMI']:.3f}",
            f"{case['seconds']:.0f}",
        ],
        ["ours, told 10", "10", f"{case['told_NMI']:.3f}", f"{case['told_seconds']:.0f}"],
        ["k-means, told 10", "10", f"{case['kmeans_NMI']:.3f}", "–"],
        ["spectral clustering, told 10", "10", f"{case['spectral_NMI']:.3f}", "–"],
    ]
    head = ["method", "clusters", "NMI", "seconds"]
    return ["## mnist10k, 10,000 × 784", "", *table(head, rows)]
