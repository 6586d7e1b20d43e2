"""Figures → docs/beyond.md: a section with its table and its picture for each part."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks.kept import Figures
from benchmarks.scale.page import prose, table
from convexcluster.features import CHOSEN

from .cases import SEEDS, SHARES, UNSEEN, Case
from .data import AMONG_NOISE, LAWS

Rows = list[tuple[Case, Figures]]


def page(rows: Rows, header: str) -> str:
    """The whole page; what has not run is left out."""
    lines = ["# Beyond the paper", ""]
    lines += prose(
        f"""What the paper leaves to others, and what it is worth. Written by `make bench-beyond`.
        Figures are NMI, means over the seeds {", ".join(map(str, SEEDS))}; the last two were drawn
        after the methods were done. Differences below .03 mean nothing. "Told k": the fit knows the
        number of classes. Sets that cannot be had here (UCI mfeat) are not quoted."""
    )
    lines += ["```", header, "```", ""]
    for section in (recovery, robustness, links, views, features, oracle):
        lines += section(rows)
    return "\n".join(lines).rstrip() + "\n"


def of_part(rows: Rows, part: str) -> dict[str, list[Figures]]:
    """What → the figures of its seeds."""
    found: dict[str, list[Figures]] = defaultdict(list)
    for case, figures in rows:
        if case.part == part:
            found[case.what].append(figures)
    return found


def mean(figures: list[Figures], name: str | Callable[[Figures], float]) -> str:
    """The mean of a figure over the seeds."""
    get = name if callable(name) else lambda figure: figure[name]
    return f"{np.mean([get(figure) for figure in figures]):.3f}"


# What the prototype printed on data that can be had here: the bar. Ranges have ends, and how far
# each sample and one sample may move; the others are NMI told k, of other draws where data are.
PROTOTYPE = {
    "moons": ((19.2, 1026.0), 0.193, 27.0),
    "rings": ((44.8, 4873.0), 0.20, 15.0),
    "blobs": ((219.0, 880.0), 0.0081, 0.34),
    "iris, two clusters": ((16.7, 998.0), 0.306, 11.9),
    "wine, five clusters": ((6.46, 11.65), 0.0034, 0.044),
}


PROTOTYPE_VIEWS = {
    "3 views": (0.840, 0.842),
    "3 views + 3 noise": (0.782, 0.842),
    "2 views + 3 noise + shuffled": (0.561, 0.832),
}
PROTOTYPE_FEATURES = {
    "rings + 8 noise": 1.000,
    "rings + 98 noise": 1.000,
    "blobs, 10 of 200": 0.910,
    "blobs, 10 of 1,000": 0.892,
    "rings + 30 correlated noise": 1.000,
    "blobs, 10 of 200, correlated": 0.928,
    "one feature of 21": 0.368,
}
PROTOTYPE_TABLES = {
    "wine": (0.865, 0.893),
    "glass": (0.382, 0.430),
    "lymphoma": (0.793, 0.746),
    "lung_bhattacharjee1543": (0.766, 0.426),
    "sc_dropseq": (0.940, 0.978),
    "sc_celseq2": (1.000, 0.926),
}

# Differences of NMI below this mean nothing, as the head of the page says.
TELLS = 0.03


def compared(pairs: dict[str, tuple[float, float]]) -> list[str]:
    """Where ours (first) is below what the prototype printed, in a sentence."""
    worse = [f"{what} ({a:.3f} against {b:.3f})" for what, (a, b) in pairs.items() if a < b - TELLS]
    if not worse:
        return prose("Nowhere below the prototype by .03.")
    return prose(f"Below the prototype by .03 or more: {', '.join(worse)}.")


def _range(ends: tuple[float, float] | None) -> str:
    if ends is None or not ends[0] < ends[1]:
        return "–"
    return f"[{ends[0]:.4g}, {ends[1]:.4g})"


def _narrower(ours: tuple[float, float], bar: tuple[float, float]) -> bool:
    return not (ours[0] <= 1.01 * bar[0] and ours[1] >= 0.99 * bar[1])


def recovery(rows: Rows) -> list[str]:
    """For which γ."""
    lines = ["## For which γ labels are the clusters", ""]
    lines += prose(
        """`model.recovery(labels)` says for which γ the clusters of the exact optimum, in the full
        space of the kernel, are the labels that you bring: outside the *necessary* range no γ has
        them (an empty one refutes them, with the γ that they would need and the cut that asks for
        it), inside the *sufficient* one every γ has; at both *ends* they are proved.
        `inside=True` proves what lies between, from a hundredth inside one end to a hundredth
        inside the other. A partition may leave and come back, so that without it only the ends are
        claimed."""
    )
    lines += ["![ranges of γ](beyond-recovery.png)", ""]
    lines += prose(
        """The graph is that of the features without valleys, so that figures can be compared with
        those of the prototype (last column, quoted, of the first seed). Seconds of the processor
        are those of the ends and of the inside."""
    )
    body, worse = [], []
    for case, f in rows:
        if case.part == "recovery":
            bar = PROTOTYPE.get(case.what) if case.seed in (0, 3) else None
            inside = _range(f["inside"]) if f["inside status"] == "proved throughout" else "open"
            found = _range(f["ends"]) if f["ends"][0] < f["ends"][1] else f["status"].split(":")[0]
            body.append(
                [
                    case.what,
                    f"{case.seed}",
                    f"{f['n']}",
                    _range(f["necessary"]),
                    _range(f["sufficient"]),
                    found,
                    inside if f["ends"][0] < f["ends"][1] else "–",
                    f"{f['seconds']:.1f}, {f['seconds inside']:.1f}",
                    _range(bar[0]) if bar else "–",
                ]
            )
            if bar and _narrower(f["ends"], bar[0]):
                worse.append(f"{case.what} ({_range(f['ends'])} against {_range(bar[0])})")
    head = ["labels", "seed", "n", "necessary", "sufficient", "ends", "inside", "s", "prototype"]
    lines += table(head, body)
    said = f"narrower by a hundredth and more on {', '.join(worse)}" if worse else "as wide"
    lines += prose(f"Beside the prototype the ends are {said}. What blocks them:")
    lines += [
        f"- {case.what}, seed {case.seed}: {f['status']}; {f['blocking']}."
        for case, f in rows
        if case.part == "recovery"
    ]
    lines += [""]
    big = of_part(rows, "large")
    if big:
        head = ["", "necessary", "sufficient", "ends", "s"]
        body = [
            [what, *(_range(f[key]) for key in head[1:4]), f"{f['seconds']:.0f}"]
            for what, (f,) in big.items()
        ]
        lines += table(head, body)
        lines += prose(
            """Clusters beyond 1,500 samples have electrical flows alone, and their lower end may
            lie a factor above the necessary one."""
        )
    wrong = [f for case, f in rows if case.part == "refuted"]
    if wrong:
        draws = 20 * len(wrong)
        lines += prose(
            f"""Wrong labels that the necessary range refutes: one sample moved to another class
            {sum(f["moved"] for f in wrong)} of {draws}, one class halved at random
            {sum(f["halved"] for f in wrong)} of {draws} (moons, rings, blobs; the prototype: 96 of
            100 and 40 of 50, of five problems)."""
        )
    return lines


def robustness(rows: Rows) -> list[str]:
    """How far."""
    lines = ["## How far a proved partition stands", ""]
    lines += prose(
        """`model.robustness()`: by how much data, weights and γ may change with the partition
        proved to stand, graph and bandwidth kept; with masses as well. *Each*: every sample may
        move so far in the space of the kernel at once; *in the input*: the same for rows of a
        Gaussian kernel; *one*: one of them (no two samples are further apart than √2, so that
        beyond it the sample may go anywhere). At the geometric middle of the range; near an end
        nothing stands."""
    )
    lines += ["![how far each sample may move](beyond-robustness.png)", ""]
    head = ["labels", "seed", "total", "each", "in the input", "one", "weights", "γ"]
    head.append("prototype: each, one")
    body, worse = [], []
    for case, f in rows:
        if case.part == "recovery" and "each" in f:
            bar = PROTOTYPE.get(case.what) if case.seed in (0, 3) else None
            body.append(
                [
                    case.what,
                    f"{case.seed}",
                    f"{f['total']:.3g}",
                    f"{f['each']:.2g}",
                    f"{f['input']:.2g}",
                    f"{f['one']:.3g}",
                    f"±{f['weights']:.1%}",
                    f"±{f['gamma']:.1%}",
                    f"{bar[1]:.2g}, {bar[2]:.3g}" if bar else "–",
                ]
            )
            for kind, goal in zip(("each", "one"), bar[1:] if bar else ()):
                if f[kind] < 0.9 * goal:
                    worse.append(f"{case.what} ({kind} {f[kind]:.2g} against {goal:.2g})")
    lines += table(head, body)
    lines += prose(
        ("Less than nine tenths of the prototype: " + ", ".join(worse) + ". " if worse else "")
        + """Moves at 0.999 of a radius have changed no partition: a test makes a thousand and
        more of them (`pytest -m slow tests/test_recovery.py`)."""
    )
    return lines


def links(rows: Rows) -> list[str]:
    """Must-link."""
    lines = ["## Samples that must be together", ""]
    lines += prose(
        """`fit(X, groups=g)`: samples with the same number g ≥ 0 are together at every γ, −1 means
        free. The constraint is exact by contraction: one sample of summed mass at the mean stands
        for a group, parallel edges are summed, and ½ Σ m‖z − z̄‖² inside the groups is constant.
        Path, tree, choice and certificate are those of the optimum under the links. Equal rows are
        one sample, so that groups which share one become one. Two groups may end in one cluster:
        "must not be together" has no convex form and is not offered."""
    )
    lines += ["![the same blobs without links and with them](beyond-links.png)", ""]
    exact = [figures for case, figures in rows if case.part == "links exact"]
    if exact:
        lines += prose(
            f"""Against Clarabel with equality constraints the objective differs by at most
            {max(f["objective"] for f in exact):.0e}, and from weights of 1,000 on the links the
            centroids differ by at most {max(f["heavy"] for f in exact):.0e} ({len(exact)} problems,
            three γ each)."""
        )
    found = of_part(rows, "links")
    if found:
        lines += ["NMI of the *free* samples, told k, where a share of the samples has its class:"]
        head = ["data", *(f"{share:.0%} told" for share in SHARES)]
        body = [[what, *(mean(f, f"{s:g}") for s in SHARES)] for what, f in found.items()]
        lines += ["", *table(head, body)]
        lines += prose(
            """A few links help where a class is in pieces or hangs on another by a few samples
            (iris) and change little elsewhere: they hold together what is told, and keep nothing
            apart."""
        )
    return lines


def views(rows: Rows) -> list[str]:
    """Several kernels."""
    lines = ["## Several kernels and views", ""]
    lines += prose(
        """`kernel=SumKernel([(kernel, columns), …], weights=…)`: Σ β_v k_v/s_v, each view scaled to
        the same trace. The sum is one kernel, so that embedding, certificate, `predict` and `save`
        are as ever; the graph is that of the embedding. `weights="agreement"` gives 0 to views that
        agree with no other beyond chance: the cosine of two centred Gram matrices without their
        diagonal part has deviation √2/(n − 1) if one of them is relabelled at random, and four
        deviations are asked. Of fewer than three views nothing can be voted on, and weights are
        equal. Views that share a confounder (a batch) agree too: no weight can tell."""
    )
    lines += ["![weights of the views of digits](beyond-views.png)", ""]
    found = of_part(rows, "views")
    if found:
        lines += ["scikit-learn's digits, 300 of them, told k:", ""]
        head = ["views", "best single", "equal", "agreement", "equal over the good views"]
        head.append("prototype: equal, agreement")
        body = [
            [
                what,
                mean(f, lambda g: max(g["each"])),
                *(mean(f, c) for c in COLUMNS),
                "{:.3f}, {:.3f}".format(*PROTOTYPE_VIEWS[what]),
            ]
            for what, f in found.items()
        ]
        lines += table(head, body)
        lines += compared(
            {w: (float(mean(f, "agreement")), PROTOTYPE_VIEWS[w][1]) for w, f in found.items()}
        )
        useless = [
            w
            for figures in found.values()
            for f in figures
            for w, view in zip(f["agreement weights"], f["views"])
            if view.startswith(("noise", "shuffled"))
        ]
        lines += prose(
            f"""Agreement gave weight 0 to {sum(w == 0 for w in useless)} of {len(useless)} views
            of noise or of shuffled samples."""
        )
    return lines


COLUMNS = ("equal", "agreement", "good")


def features(rows: Rows) -> list[str]:
    """Feature weights."""
    lines = ["## Feature weights", ""]
    lines += prose(
        """`feature_weights=θ` on the estimators weighs the features in kernel and graph; the
        certificate is about the clustering with θ, not about θ. `features.learn(X)` finds θ: from
        features that depend on each other, in turn with the test for structure, by steps that never
        raise the optimal value of the clustering (`convexcluster.features.descent` has the
        equations). What is left is a feature's evidence: by how many deviations of chance it is
        smoother on the clusters than a permuted feature."""
    )
    lines += ["![evidence of the features, and the rings that they show](beyond-features.png)", ""]
    found = of_part(rows, "features")
    if found:
        lines += ["Groups that few features show, told k:", ""]
        names = ("plain", "biconvex", "sparse k-means", "learned", "alone")
        head = ["data", "plain", "biconvex", "sparse k-means, s by the classes", "learned"]
        head += ["telling features alone", "learned, told nothing", "learned, unseen seeds"]
        head += ["prototype", "kept: telling, noise", "s"]
        body = []
        for what, f in found.items():
            kept = "; ".join(f"{g['right']} of {g['telling']}, {g['wrong']}" for g in f)
            last = [mean(f, "learned told nothing"), mean(f[-len(UNSEEN) :], "learned")]
            last += [f"{PROTOTYPE_FEATURES[what]:.3f}", kept]
            last.append(f"{np.mean([g['seconds'] for g in f]):.1f}")
            body.append([what, *(mean(f, name) for name in names), *last])
        lines += table(head, body)
        lines += compared(
            {w: (float(mean(f, "learned")), PROTOTYPE_FEATURES[w]) for w, f in found.items()}
        )
        counts = [
            f"{what}: {_counts(f, 'plain k')} and {_counts(f, 'learned k')}"
            for what, f in found.items()
        ]
        lines += prose(
            "Numbers of clusters, told nothing, of plain and of learned fits. "
            + "; ".join(counts)
            + "."
        )
    noise = [figures for case, figures in rows if case.part == "noise"]
    if noise:
        accepted = sum(figures["accepted"] for figures in noise)
        lines += prose(
            f"""Pure noise, 150 × 30, of six laws: weights were learned in {accepted} of
            {len(noise)} draws."""
        )
    lines += clearness(of_part(rows, "clearness"))
    tables = of_part(rows, "tables")
    if tables:
        lines += ["Measured tables, where most features tell something:", ""]
        head = ["table", "n × d", "plain", "learned", "told nothing: plain", "learned"]
        head += ["prototype: plain, learned", "features kept", "only_if_none", "s"]
        body = []
        for what, (f,) in tables.items():
            kept = "keeps equal weights" if f["rule"].startswith("refused") else "learns"
            body.append(
                [
                    what,
                    f"{f['n']} × {f['d']}",
                    *(f"{f[name]:.3f}" for name in ("plain", "learned", "plain told nothing")),
                    f"{f['learned told nothing']:.3f}",
                    "{:.3f}, {:.3f}".format(*bar) if (bar := PROTOTYPE_TABLES.get(what)) else "–",
                    f"{f['kept']}",
                    kept,
                    f"{f['seconds']:.0f}",
                ]
            )
        every = [f for (f,) in tables.values()]
        names = ("plain", "learned", "plain told nothing", "learned told nothing")
        body.append(["mean", "", *(mean(every, name) for name in names), "", "", "", ""])
        lines += table(head, body)
        lines += compared(
            {
                f"{what}, {kind}": (f[kind], bar)
                for what, (f,) in tables.items()
                for kind, bar in zip(("plain", "learned"), PROTOTYPE_TABLES.get(what, ()))
            }
        )
        lines += prose(
            """Where most features tell something, the strongest community of features hides the
            others, and learning hurts. Hence `features.learn` is a function that a person calls,
            not a default, and `only_if_none=True` keeps equal weights where these show
            structure."""
        )
    return lines


def clearness(found: dict[str, list[Figures]]) -> list[str]:
    """What the level of a start was chosen by."""
    if not found:
        return []
    most = {what: [f["clearness"] for f in figures] for what, figures in found.items()}
    noise = {what: max(most[what]) for what in LAWS}
    groups = {what: min(most[what]) for what in AMONG_NOISE}
    said = (", ".join(f"{w} {v:.2f}" for w, v in part.items()) for part in (noise, groups))
    return prose(
        """A start must show a boundary of {} levels of structure (`features.CHOSEN`). The most that
        any start showed, greatest of {} draws of noise: {}; least of as many draws of groups: {}.
        Where groups are below the level they are refused; noise above it is taken for
        structure.""".format(CHOSEN, len(SEEDS), *said)
    )


def _counts(figures: list[Figures], name: str) -> str:
    return ", ".join(str(figure[name]) for figure in figures)


def oracle(rows: Rows) -> list[str]:
    """Where the oracle inequality is."""
    lines = ["## A bound on the error", ""]
    lines += prose(
        """Theorem 1 as an inequality that holds on any graph and that can be checked on draws is
        [with the reproduction](reproduction/oracle.md)."""
    )
    return lines


def write(folder: Path, text: str) -> None:
    """The page."""
    (folder / "beyond.md").write_text(text, encoding="utf-8")
