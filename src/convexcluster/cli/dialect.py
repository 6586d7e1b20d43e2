"""UTF-8 text → how its table is written: a :class:`Dialect`.

What the user tells is taken; the rest is found in the first records, and all of it is reported.
Lines that hold no data (``sep=;``, comments) are emptied, never removed: line numbers stay.
"""

from __future__ import annotations

import csv
import io
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

# Bytes that are looked at, and the fewest lines. Twice as many find a rare thousands mark more
# often, and half as many still tell a header from what is below it.
SAMPLE = 200_000
LINES = 6

# In this order where two split every line alike: "1,5;2,5" has three fields between commas, too.
SEPARATORS = ("\t", ";", "|", ",")
SPACES = r"\s+"
NAMED = {"tab": "\t", r"\t": "\t", "space": SPACES, "comma": ",", "semicolon": ";"}

SIGN = r"\s*[+-]?"
POWER = r"(?:[eE][+-]?\d+)?\s*"
WITH_COMMA = re.compile(rf"{SIGN}\d*,\d+{POWER}")
WITH_DOT = re.compile(rf"{SIGN}\d*\.\d+{POWER}")
DOTS_BETWEEN_THREES = re.compile(rf"{SIGN}\d{{1,3}}(\.\d{{3}})+(,\d+)?\s*")
COMMAS_BETWEEN_THREES = re.compile(rf"{SIGN}\d{{1,3}}(,\d{{3}})+(\.\d+)?\s*")

# A line of many columns is one field where another separator is tried; the usual limit is 131,072.
csv.field_size_limit(2**31 - 1)

Records = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Dialect:
    """How a table is written as text."""

    encoding: str
    separator: str
    decimal: str
    thousands: str | None
    header: bool
    comments: int  # lines that are no part of the table

    def number(self, text: str) -> float | None:
        """The number that a cell means, or None."""
        if self.thousands:
            text = text.replace(self.thousands, "")
        return number(text.replace(self.decimal, ".") if self.decimal != "." else text)


def number(text: str) -> float | None:
    """The number that Python reads, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def find_dialect(
    content: bytes,
    encoding: str,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    header: bool | None = None,
    usual: str = ",",
) -> tuple[Dialect, bytes]:
    """The dialect of UTF-8 text, and the text without lines that are no part of the table."""
    content, said = _without_sep_line(content)
    separator = NAMED.get(separator, separator) if separator else said
    text = _sample(content)
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    separator = separator or _separator(plain, usual)
    found = records(plain, separator)
    width = Counter(map(len, found)).most_common(1)[0][0] if found else 1
    whole, (content, comments) = content, _without_comments(content, separator, width, found)
    if content is not whole:
        found = records(_sample(content), separator)
    decimal, thousands = _marks([c for r in found for c in r], separator, decimal)
    dialect = Dialect(encoding, separator, decimal, thousands, True, comments + bool(said))
    if header is None:
        header = not found or is_header(found[0], found[1:], dialect.number)
    return Dialect(encoding, separator, decimal, thousands, header, dialect.comments), content


def _sample(content: bytes) -> str:
    """The first lines, whole."""
    end = 0
    for _ in range(LINES):
        end = content.find(b"\n", end) + 1 or len(content)
    last = content.rfind(b"\n", 0, max(SAMPLE, end)) + 1
    return content[: last if len(content) > SAMPLE else None].decode(errors="ignore")


def records(text: str, separator: str) -> list[list[str]]:
    """Fields of every line that is not blank, quotes respected."""
    if separator == SPACES:
        return [line.split() for line in text.splitlines() if line.strip()]
    lines = io.StringIO(text, newline="")
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True)
    return [fields for fields in reader if fields]


def is_header(first: Sequence[str], rest: Records, number: Callable[[str], float | None]) -> bool:
    """Whether a first record names the columns.

    A record of text does, unless it has a fraction above numbers. A record of numbers does if they
    count the columns from 0 or 1, or are whole above columns of fractions, as years are.
    """
    columns = [[number(r[k]) for r in rest if k < len(r)] for k in range(len(first))]
    numeric = [bool(c) and sum(v is not None for v in c) * 2 >= len(c) for c in columns]
    values = [number(cell) for cell in first]
    if any(v is not None and v % 1 and below for v, below in zip(values, numeric)):
        return False
    if any(v is None for v in values) or not values:
        return True
    whole = all(cell.strip().isdigit() for cell in first)
    if not whole:
        return False
    if len(values) > 1 and values in (
        [*map(float, range(len(values)))],
        [*map(float, range(1, len(values) + 1))],
    ):
        return True
    return bool(rest) and all(any(v is not None and v % 1 for v in c) for c in columns)


def _without_sep_line(content: bytes) -> tuple[bytes, str | None]:
    """Empty the line ``sep=;`` that Excel understands, and return what it says."""
    said = re.match(rb'"?sep=(.)"?(?=\r?\n)', content, flags=re.IGNORECASE)
    if said is None:
        return content, None
    return content[said.end() :], said[1].decode()


def _separator(text: str, usual: str) -> str:
    """What splits the most lines into equally many fields, two at least."""
    shares: dict[str, float] = {}
    for separator in (*SEPARATORS, SPACES):
        counts = Counter(map(len, records(text, separator)))
        many = {width: lines for width, lines in counts.items() if width > 1}
        shares[separator] = max(many.values(), default=0) / max(1, counts.total())
    spaces = shares.pop(SPACES)
    best = max(shares, key=lambda separator: shares[separator])
    if shares[best] == 0:
        return SPACES if spaces == 1 else usual
    return best


def _without_comments(
    content: bytes, separator: str, width: int, table: Records
) -> tuple[bytes, int]:
    """Empty the lines that begin with # and do not have the fields of the table.

    The last of those at the top is the header if it has, as numpy.savetxt and genome files write
    it, and if the line below begins the numbers; its # goes.
    """
    if not table or b"#" not in content or not re.search(rb"^#", content, flags=re.MULTILINE):
        return content, 0
    top = re.match(rb"(?:(?:#[^\n]*|\s*)\n)*", content)
    end_of_top = top.end() if top else 0
    numbers = any(number(cell.replace(",", ".")) is not None for cell in table[0])
    emptied = 0

    def kept(line: re.Match[bytes]) -> bytes:
        nonlocal emptied
        bare = line[0].lstrip(b"# \t") if line.start() < end_of_top else line[0]
        fields = records(bare.decode(errors="ignore"), separator)
        alike = width > 1 and bool(fields) and len(fields[0]) == width
        if line.start() < end_of_top:
            alike = alike and numbers and not content[line.end() : end_of_top].strip()
        if alike:
            return bare
        emptied += 1
        return b""

    return re.sub(rb"^#[^\r\n]*", kept, content, flags=re.MULTILINE), emptied


def _marks(cells: list[str], separator: str, decimal: str | None) -> tuple[str, str | None]:
    """Decimal mark and thousands mark.

    A comma is a decimal mark if no number has a decimal point, and if some comma cannot stand
    between thousands, or if the separator is not the comma.
    """
    commas = [cell for cell in cells if WITH_COMMA.fullmatch(cell)]
    dots = [cell for cell in cells if WITH_DOT.fullmatch(cell)]
    grouped = [cell for cell in cells if DOTS_BETWEEN_THREES.fullmatch(cell)]
    english = [cell for cell in cells if COMMAS_BETWEEN_THREES.fullmatch(cell)]
    if decimal is None:
        points = [cell for cell in dots if not DOTS_BETWEEN_THREES.fullmatch(cell)]
        sure = separator != "," or len(commas) > sum(c in set(english) for c in commas)
        both = any("," in cell for cell in grouped)
        decimal = "," if not points and (both or (commas and sure)) else "."
    if decimal == ",":
        return decimal, "." if grouped else None
    return decimal, "," if any("." in cell for cell in english) else None
