"""Figures of the cases → the table, and the shares that it comes to."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.kept import Figures
from benchmarks.scale.page import prose, table

from .cases import CHANGES, KERNELS, LONE, NOISE, SEPARABLE, TOUCHING, Case
from .changes import CHANGES as HARMLESS

Rows = list[tuple[Case, Figures]]

SURE = 0.9  # an answer with this confidence claims to be right …
GOOD = 0.9  # … and one with this ARI is


def right(figures: Figures) -> bool:
    """Whether the number of clusters is that of the truth."""
    return "failed" not in figures and figures["k"] == figures["classes"]


def of_part(rows: Rows, *parts: str) -> Rows:
    """The rows of some parts."""
    return [(case, figures) for case, figures in rows if case.part in parts]


def page(rows: Rows, header: str) -> str:
    """The whole page; what has not run is left out."""
    lines = ["# Right answers, and the same ones again", ""]
    lines += prose(
        """Default fits that are told nothing, of toys whose clusters are known, of one curve, of
        noise, and of data that were changed in a way that changes no cluster. *Right*: the number
        of clusters is exact (curves and noise: one cluster; changes: every sample stays in its
        cluster). Background, uniform in the box of the data, is not scored. Every group has at
        least 15 samples. *Samples changed* is the mean share of samples that are in another
        cluster, and in brackets the greatest of any data set. *Proved* counts right answers alone,
        of data with clusters."""
    )
    lines += ["```", header, "```", "", *shares(rows), *the_table(rows), *failures(rows)]
    return "\n".join(lines).rstrip() + "\n"


def shares(rows: Rows) -> list[str]:
    """What the table comes to."""
    found = []
    for part in (SEPARABLE, TOUCHING, KERNELS, LONE, NOISE):
        some = of_part(rows, part)
        for background in (False, True) if part in (SEPARABLE, TOUCHING) else (None,):
            these = [f for c, f in some if background in (None, "background" in c.what)]
            if these:
                words = {None: "", False: " groups", True: " groups with background"}[background]
                found.append([part + words, _of([right(figures) for figures in these])])
    stay = [s for _, f in of_part(rows, CHANGES) for s in f.get("shares", {}).values()]
    if stay:
        found.append(["changes: labels stay", _of([share == 0 for share in stay])])
        found.append(["changes: less than 1 % of samples", _of([share < 0.01 for share in stay])])
    told = [f for _, f in of_part(rows, SEPARABLE, TOUCHING, KERNELS) if f.get("classes", 1) > 1]
    sure = [f for f in told if f["confidence"] >= SURE]
    good = [f for f in told if f["ari"] >= GOOD]
    if sure and good:
        found.append([f"confidence ≥ {SURE}: ARI ≥ {GOOD}", _of([f["ari"] >= GOOD for f in sure])])
        confident = _of([f["confidence"] >= SURE for f in good])
        found.append([f"ARI ≥ {GOOD}: confidence ≥ {SURE}", confident])
    exact = [f for f in told if right(f)]
    if exact:
        found.append(["right: proved for an interval of γ", _of([f["interval"] for f in exact])])
        found.append(["right: proved at least at one γ", _of([f["whole"] for f in exact])])
    return ["## In short", "", *table(["figure", "share"], found)] if found else []


def _of(flags: list[bool]) -> str:
    return f"{sum(flags)} of {len(flags)} ({np.mean(flags):.1%})"


def the_table(rows: Rows) -> list[str]:
    """A line for each kind of data and each change, a column for each size."""
    sizes = sorted({case.n for case, _ in rows})
    head = ["data", *(f"right, n = {n:,}" for n in sizes)]
    head += ["AMI", "ARI", '"structure"', "confidence", "samples changed"]
    lines = []
    for part in (SEPARABLE, TOUCHING, KERNELS, LONE, NOISE):
        some = of_part(rows, part)
        for what in dict.fromkeys(case.what for case, _ in some):
            these = [(case, figures) for case, figures in some if case.what == what]
            counts = [_count(these, n, right) for n in sizes]
            lines.append([what, *counts, *_means([figures for _, figures in these]), ""])
    for what in HARMLESS:
        these = [(c, {"share": f["shares"][what]}) for c, f in rows if "shares" in f]
        if these:
            counts = [_count(these, n, lambda figures: figures["share"] == 0) for n in sizes]
            share = [figures["share"] for _, figures in these]
            moved = f"{np.mean(share):.2%} ({max(share):.1%})"
            lines.append([f"{what}: labels stay", *counts, "", "", "", "", moved])
    return ["## The table", "", *table(head, lines)]


def _count(these: Rows, n: int, test: Callable[[Figures], bool]) -> str:
    found = [test(figures) for case, figures in these if case.n == n]
    return f"{sum(found)} of {len(found)}" if found else ""


def _means(these: list[Figures]) -> list[str]:
    """AMI, ARI, verdicts and confidence; AMI and ARI say nothing where the truth is one cluster."""
    these = [figures for figures in these if "failed" not in figures]
    if not these:
        return [""] * 4
    scores = [f"{np.mean([f[name] for f in these]):.3f}" for name in ("ami", "ari")]
    structure = sum(figures["verdict"] == "structure" for figures in these)
    confidence = np.array([figures["confidence"] for figures in these])
    known = confidence[~np.isnan(confidence)]
    return [
        *(scores if these[0]["classes"] > 1 else ["", ""]),
        f"{structure} of {len(these)}",
        f"{known.mean():.2f}" if len(known) else "–",
    ]


def failures(rows: Rows) -> list[str]:
    """Fits that stopped with an error."""
    found = [[case.key, figures["failed"]] for case, figures in rows if "failed" in figures]
    return ["## Without an answer", "", *table(["data", "why"], found)] if found else []
