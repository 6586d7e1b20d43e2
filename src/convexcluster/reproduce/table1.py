"""Table 1: ten real data sets, all methods, NMI and number of clusters, by both protocols."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from . import paper, score
from .cells import Cell, Page, Result, Results
from .methods import GAMMAS, METHODS, PATH_TOL
from .writing import markdown_table


def tuned_cell(name: str, method: str) -> Cell:
    """One data set and one method, tuned with labels."""
    return Cell(f"real-tuned-{name}-{method}", score.real_tuned, {"name": name, "method": method})


def default_cell(name: str, method: str) -> Cell:
    """One data set and one method, no labels."""
    arguments = {"name": name, "method": method}
    return Cell(f"real-default-{name}-{method}", score.real_default, arguments)


def cells(name: str, method: str) -> list[Cell]:
    """Both protocols."""
    return [tuned_cell(name, method), default_cell(name, method)]


def merged(results: Results, name: str, method: str) -> Result:
    """The results of both protocols in one."""
    return {k: v for cell in cells(name, method) for k, v in results[cell.key].items()}


def table1() -> Generator[list[Cell], Results, Page]:
    """Compute all cells, then lay them out."""
    # the costly ones first, so that workers end together
    pairs = [(name, method) for name in paper.TABLE1 for method in METHODS]
    wanted = [cell for pair in pairs for cell in cells(*pair)]
    wanted.sort(key=lambda c: (c.arguments["method"] not in ("TGCC", "KCC"), c.key))
    results = yield wanted
    found = {pair: merged(results, *pair) for pair in pairs}
    return Page(_markdown(found), {"table1.csv": _rows(found)})


def reported(result: Result) -> dict[str, Any]:
    """The entry that counts as tuned with labels: the best at the method's own k or the paper's."""
    entries = [result["best"][rule] for rule in ("own", "paper") if rule in result["best"]]
    return max(entries, key=lambda entry: entry["nmi"])


def _rows(found: dict[tuple[str, str], Result]) -> list[dict[str, Any]]:
    rows = []
    for (name, method), result in found.items():
        entries = [("tuned with labels", rule, e) for rule, e in result["best"].items()]
        entries += [("no labels", rule, e) for rule, e in result["default"].items()]
        for protocol, rule, entry in entries:
            rows.append(
                {
                    "data": name,
                    "method": method,
                    "protocol": protocol,
                    "rule": rule,
                    "nmi": f"{entry['nmi']:.4f}",
                    "n_clusters": entry["k"],
                    "classes": paper.CLASSES[name],
                    "paper_nmi": paper.TABLE1[name].get(method, ""),
                    "paper_n_clusters": paper.TABLE1_CLUSTERS[name],
                    "preprocessing": entry["preprocessing"],
                    "setting": setting(entry["params"]),
                    "partitions_scored": result["scored"] if protocol[0] == "t" else 1,
                }
            )
    return rows


def setting(params: dict[str, Any]) -> str:
    """Parameters in one line."""
    return " ".join(
        f"{key}={value:.4g}" if isinstance(value, float) else f"{key}={value}"
        for key, value in params.items()
    )


def _wide(found: dict[tuple[str, str], Result], entry: Any) -> str:
    """Data sets × methods: "NMI (k) [paper]", the best of a row in bold."""
    rows = []
    for name in paper.TABLE1:
        entries = {m: entry(found[name, m]) for m in METHODS}
        top = max(e["nmi"] for e in entries.values() if e is not None)
        mark = "†" if name in paper.STAND_INS else ""
        row = [f"{name}{mark}"]
        for m, e in entries.items():
            if e is None:
                row.append("–")
                continue
            value = f"{e['nmi']:.3f} ({e['k']})"
            printed = f" [{paper.TABLE1[name][m]:.3f}]" if m in paper.TABLE1[name] else ""
            row.append((f"**{value}**" if e["nmi"] == top else value) + printed)
        rows.append([*row, paper.TABLE1_CLUSTERS[name], paper.CLASSES[name]])
    return markdown_table(["data", *METHODS, "k, paper", "classes"], rows)


def _order(found: dict[tuple[str, str], Result], entry: Any) -> str:
    """Methods by mean NMI over the sets, and how often each is the best."""
    lines = []
    for m in METHODS:
        values = [entry(found[name, m]) for name in paper.TABLE1]
        if any(e is None for e in values):
            continue
        mean = sum(e["nmi"] for e in values) / len(values)
        wins = sum(
            e["nmi"] >= max(o["nmi"] for o in (entry(found[name, q]) for q in METHODS) if o)
            for name, e in zip(paper.TABLE1, values)
        )
        lines.append((mean, wins, m))
    lines.sort(key=lambda line: (-line[0], line[2]))
    return markdown_table(
        ["method", "mean NMI", "best on, of 10"],
        [[m, f"{mean:.3f}", wins] for mean, wins, m in lines],
    )


def _differences(found: dict[tuple[str, str], Result]) -> str:
    """What the paper says and what was found, sentence by sentence."""
    lines = []
    for name in paper.TABLE1:
        ours, printed = found[name, "KCC"], paper.TABLE1[name]["KCC"]
        best = reported(ours)
        at_classes = ours["best"].get("classes")
        sentence = f"KCC {best['nmi']:.3f} (k = {best['k']}) against {printed:.3f}"
        if round(best["nmi"], 3) < printed and at_classes and at_classes["nmi"] >= printed:
            sentence += (
                f"; with k = {at_classes['k']}, the number of classes, {at_classes['nmi']:.3f}"
            )
        better = [
            f"{m} {reported(found[name, m])['nmi']:.3f}"
            for m in METHODS
            if m != "KCC" and reported(found[name, m])["nmi"] > best["nmi"]
        ]
        if better:
            sentence += f". Better than KCC here: {', '.join(better)}"
        shifts = {
            m: reported(found[name, m])["nmi"] - paper.TABLE1[name][m] for m in paper.METHODS[1:]
        }
        stronger = [f"{m} (+{shift:.2f})" for m, shift in shifts.items() if shift > 0.05]
        weaker = [f"{m} ({shift:.2f})" for m, shift in shifts.items() if shift < -0.05]
        if stronger:
            sentence += f". More than .05 above the paper: {', '.join(stronger)}"
        if weaker:
            sentence += f". More than .05 below the paper: {', '.join(weaker)}"
        lines.append(f"- **{name}**: {sentence}.")
    return "\n".join(lines)


def _markdown(found: dict[tuple[str, str], Result]) -> str:
    grids = "\n".join(f"- **{m}**: {_axes(method.grid)}" for m, method in METHODS.items())
    scored = {m: max(found[name, m]["scored"] for name in paper.TABLE1) for m in METHODS}
    counts = ", ".join(f"{m} {scored[m]}" for m in METHODS)
    notes = "\n".join(
        f"- † {name}: {text}." for name, text in paper.STAND_INS.items() if name in paper.TABLE1
    )
    return f"""# Table 1: real data sets

NMI (number of clusters) [the paper's NMI]. The best of a row is bold. Every figure, with the
setting that gave it, is in [table1.csv](table1.csv).

## Tuned with labels, as in the paper

The best NMI over the grid, at the method's own k or at the paper's k, whichever is better.

{_wide(found, reported)}

{_order(found, reported)}

## Tuned with labels, told the number of classes

{_wide(found, lambda result: result["best"].get("classes"))}

## No labels: defaults

KCC and the other methods that can find k by themselves do so here; a dash is a method that must be
told k. Continuous features are standardised, discrete ones are left as they are.

{_wide(found, lambda result: result["default"].get("found"))}

The same defaults, told the number of classes:

{_wide(found, lambda result: result["default"].get("told"))}

{_order(found, lambda result: result["default"].get("told"))}

## What differs from the paper

{_differences(found)}

## Sets that are not the paper's

{notes}

## The grids

Each method has {len(METHODS["KCC"].grid)} settings for the features as they are and as many
for standardised features; C-PAINT has no parameter but γ. Lengths (σ) are multiples of the
median distance between samples. KCC and convex clustering score Ward's tree on the centroids
at each γ of one path of at most {GAMMAS} γ (relative gap {PATH_TOL:g}); k-means has as many
single starts as the others have settings. Most partitions scored on one set: {counts}. SC-NR
is our reading of a method that the paper does not identify; kernel k-means is not in the
paper's table.

The budgets are equal in settings but not in attention. About three grids were tried for KCC; the
last, with a wider range of σ₁, came after a search of 25 settings on new thyroid, where the grid
before it gave 0.654, below the paper. The other methods' grids were written once and then cut from
12 to 8 settings for each preprocessing. That KCC reaches the paper's figures is therefore in part
selected.

{grids}
"""


def _axes(grid: list[dict[str, Any]]) -> str:
    """The grid in words: the values of each parameter."""
    if grid == [{}]:
        return "none"
    values: dict[str, dict[Any, None]] = {}
    for params in grid:
        for key, value in params.items():
            values.setdefault(key, {})[value] = None
    return "; ".join(f"{key} ∈ {{{', '.join(map(str, v))}}}" for key, v in values.items())
