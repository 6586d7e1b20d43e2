"""What fits: memory at hand, and a plan of cells and block sizes that stays below it.

The plan is arithmetic on n, d and the rank r; it reads no data. Peak bytes on one process are

    block   rows · (d · 20 + r · 24)   rows in float64, float32 and as stored; Z and temporaries
    sums    cells · r · 8 · 4          cell sums of a block, of the total, and two in reduction
    path    cells · r · 8 · 30         points, duals on about six edges a cell, contracted levels
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from numbers import Real

from ..numerics.memory import available_memory

# Up to this many rows the path is solved on the rows themselves; at twice as many the neighbours of
# rows with many features take four times as long, which are tens of seconds.
EXACT_ROWS = 20_000

# The same of rows in the plane or in space, whose neighbours are found in no time and whose graph
# is easy to solve on: the fit takes as long as with cells, and nothing is lost to them. At twice as
# many it takes more than twice as long.
EXACT_PLANAR_ROWS = 50_000
PLANAR = 3

# Cells when memory allows: with a million rows a cell holds 125. Twice as many cells double the
# time of the path, which is about a minute; half as many raise the coarsening error.
CELLS = 8_000

# Fewest cells that a small memory leaves: fewer could not tell a dozen clusters apart.
FEWEST_CELLS = 64

_UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY = {"KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


@dataclass(frozen=True, slots=True)
class Plan:
    """How a fit will go."""

    coarse: bool  # whether rows are first grouped into cells
    cells: int  # most cells (or the number of rows if not coarse)
    block_rows: int  # rows read at a time
    bytes: int  # estimated peak of one process

    def __str__(self) -> str:
        how = f"{self.cells} cells" if self.coarse else "every row"
        return f"path on {how}, blocks of {self.block_rows} rows, about {self.bytes / 1e9:.2f} GB"


def parse_bytes(size: int | float | str) -> int:
    """Bytes from a number or a string such as ``"4GB"`` or ``"512 MiB"``."""
    value = float("nan")
    if isinstance(size, Real) and not isinstance(size, bool):
        value = float(size) if size < sys.maxsize else float("nan")
    elif isinstance(size, str):
        text = size.strip().upper()
        digits = text.rstrip("BKMGTI ")
        unit = text[len(digits) :].strip()
        factor = (_BINARY | _UNITS).get(unit.removesuffix("B") if len(unit) > 1 else unit)
        try:
            value = float(digits) * (factor or float("nan"))
        except ValueError:
            value = float("nan")
    if not 1 <= value < sys.maxsize:
        raise ValueError(f"max_memory must be a positive number of bytes or '4GB': {size!r}")
    return int(value)


def plan_fit(
    n: int,
    d: int,
    rank: int,
    *,
    max_memory: int | float | str | None = None,
    coarsen: bool | int | str = "auto",
) -> Plan:
    """Decide between rows and cells, and how large blocks may be.

    Parameters
    ----------
    n, d, rank : int
        Distinct rows, columns, and dimensions of the embedding.
    max_memory : int or str, optional
        Bytes, or ``"4GB"``; by default half of what the machine has at hand.
    coarsen : "auto", bool or int
        ``False``: never; ``True``: always; an int: always, into at most that many cells;
        ``"auto"``: where n is beyond 20,000, or 50,000 of at most three columns, or the rows do not
        fit.

    Examples
    --------
    >>> print(plan_fit(1_000_000, 2, 200, max_memory="6GB"))
    path on 8000 cells, blocks of 206611 rows, about 2.44 GB
    >>> plan_fit(500, 4, 100, max_memory="6GB").coarse
    False
    """
    limit = parse_bytes(max_memory) if max_memory is not None else available_memory() // 2
    rank = max(rank, 1)

    def path_bytes(points: int) -> int:
        return points * rank * 8 * 34

    if coarsen is True or coarsen == "auto":
        cells = CELLS
        while cells > FEWEST_CELLS and path_bytes(cells) > limit // 2:
            cells //= 2
    else:
        cells = int(coarsen) if coarsen else n
    whole = n * d * 8 + path_bytes(n)
    most = EXACT_PLANAR_ROWS if d <= PLANAR else EXACT_ROWS
    coarse = bool(coarsen) and (coarsen != "auto" or n > most or whole > limit) and cells < n
    points = cells if coarse else n
    row_bytes = 20 * d + 24 * rank
    spare = max(limit - path_bytes(points), limit // 4)
    # A quarter of what is left: two blocks may be at work, and readers hold one more.
    block_rows = int(max(1, min(n, spare // 4 // row_bytes, 1_000_000_000 // row_bytes)))
    return Plan(coarse, points, block_rows, path_bytes(points) + 2 * block_rows * row_bytes)
