"""Colours, markers and axes that all plots share.

Eight colours that people with any of the common colour deficiencies tell apart [1]_ [2]_, in an
order that alternates dark and light, four more that are as far from them as can be, and eight
markers: the first eight clusters differ in both, so a grey print stays readable; twelve clusters
before a colour repeats, 96 before a combination does.

References
----------
.. [1] M. Okabe, K. Ito, "Color universal design" (2008).
.. [2] P. Tol, "Colour schemes", SRON/EPS/TN/09-002 (2021).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..optional import need
from ..problem import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = (
    "#0072b2",
    "#e69f00",
    "#882255",
    "#56b4e9",
    "#117733",
    "#f0e442",
    "#d55e00",
    "#cc79a7",
    "#3b0f70",
    "#b2df8a",
    "#1a1a1a",
    "#9966ff",
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
# Clusters beyond the last combination of colour and marker are drawn as small grey dots.
N_STYLES = len(COLOURS) * len(MARKERS)
# Clusters without a style of their own; lines and letters; the shade behind a chosen interval.
GREY = "#8a8a8a"
INK = "#222222"
SHADE = "#f6d9a8"


def style(rank: int) -> tuple[str, str]:
    """Colour and marker of colour rank ``rank``."""
    if rank >= N_STYLES:
        return GREY, "."
    turn, hue = divmod(rank, len(COLOURS))
    return COLOURS[hue], MARKERS[(rank + turn) % len(MARKERS)]


def plain(text: object, longest: int = 40) -> str:
    r"""``text`` of a user, shown letter by letter: no mathematics, no control characters."""
    shown = "".join(c if c.isprintable() else " " for c in str(text))
    shown = shown if len(shown) <= longest else shown[: longest - 1] + "…"
    # matplotlib leaves out a legend entry that begins with an underscore
    return ("\u200b" + shown if shown.startswith("_") else shown).replace("$", r"\$")


def axes_or_new(ax: Axes | None, width: float = 6.0, height: float = 4.5) -> Axes:
    """``ax``, or the axes of a new figure of that size in inches."""
    if ax is not None:
        return ax
    pyplot = need("matplotlib.pyplot", "plot")
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1]


def tidy(ax: Axes, title: str, x: str, y: str) -> None:
    """Title, axis names, and no more frame than the eye needs."""
    ax.set_title(title)
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.spines[["top", "right"]].set_visible(False)


def whole_numbers(ax: Axes, which: str = "y") -> None:
    """Ticks of a count are whole numbers, also on a log axis, written in full."""
    ticker = need("matplotlib.ticker", "plot")
    axis = ax.yaxis if which == "y" else ax.xaxis
    scale = ax.get_yscale() if which == "y" else ax.get_xscale()
    if scale == "log":
        axis.set_major_locator(ticker.LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
        axis.set_minor_locator(ticker.NullLocator())
        axis.set_major_formatter(
            ticker.FuncFormatter(lambda v, _: f"{v:,.0f}" if v == round(v) else "")
        )
    else:
        axis.set_major_locator(ticker.MaxNLocator(integer=True, nbins="auto", min_n_ticks=1))
        axis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:,.0f}"))


def log_axis(ax: Axes) -> None:
    """Log x axis; over less than three decades its ticks are 1, 2, 5 times powers of ten."""
    ticker = need("matplotlib.ticker", "plot")
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    if high < 1_000 * low:
        ax.xaxis.set_major_locator(ticker.LogLocator(base=10, subs=(1.0, 2.0, 5.0)))
        ax.xaxis.set_major_formatter(ticker.FuncFormatter(lambda v, _: f"{v:g}"))
    ax.xaxis.set_minor_formatter(ticker.NullFormatter())


def line_colour(rank: int) -> str:
    """Colour of a line: as its marker, except that yellow is too light to be seen on white."""
    colour = style(rank)[0]
    return "#b8a900" if colour == "#f0e442" else colour


def marker_area(n: int) -> float:
    """Area in points² at which n markers fill a plot without hiding one another."""
    return float(np.clip(6_000.0 / max(n, 1), 5.0, 45.0))


def darker(colour: str) -> str:
    """``colour`` at half its brightness: the edge that keeps light markers visible on white.

    Examples
    --------
    >>> darker("#f0e442")
    '#787221'
    """
    return "#" + "".join(f"{int(colour[i : i + 2], 16) // 2:02x}" for i in (1, 3, 5))


def draw_points(
    ax: Axes, points: Floats, labels: Ints, ranks: Ints, names: list[str], shrink: float = 1.0
) -> None:
    """Scatter ``points`` by cluster, the largest clusters first in the legend.

    ``ranks`` and ``names`` have one entry per cluster.
    """
    area = shrink * marker_area(len(points))
    sizes = np.bincount(labels, minlength=len(ranks))
    rest = np.isin(labels, np.flatnonzero(ranks >= N_STYLES))
    if rest.any():
        x, y = points[rest].T
        ax.scatter(x, y, s=area / 2, c=GREY, marker=".", linewidths=0, rasterized=True)
    drawn = [t for t in np.argsort(-sizes, kind="stable") if ranks[t] < N_STYLES and sizes[t]]
    for t in drawn:
        colour, marker = style(int(ranks[t]))
        x, y = points[labels == t].T
        ax.scatter(
            x,
            y,
            s=area,
            c=colour,
            marker=marker,
            edgecolors=darker(colour),
            linewidths=0.5 if area > 8 else 0.25,
            rasterized=len(points) > 2_000,
            label=names[t],
        )
    legend(ax, len(ranks))


# Entries of a legend. Twice as many are taller than the axes.
LEGEND_LENGTH = 12


def legend(ax: Axes, n_clusters: int) -> None:
    """Legend beside the axes, cut to the first entries with the number left out."""
    handles, names = ax.get_legend_handles_labels()
    shown = min(len(handles), LEGEND_LENGTH)
    title = None
    if n_clusters > shown:
        title = f"largest {shown} of {n_clusters:,}"
    if shown:
        box = ax.legend(
            handles[:shown],
            names[:shown],
            title=title,
            loc="upper left",
            bbox_to_anchor=(1.01, 1.0),
            frameon=False,
            borderaxespad=0.0,
        )
        for handle in box.legend_handles:
            if handle is not None and hasattr(handle, "set_sizes"):
                handle.set_sizes([40.0])
