"""Bytes of a text file → UTF-8: by what the user tells, by its mark, or by trying."""

from __future__ import annotations

import codecs

from .refusal import Exit, Refusal

# Bytes in which the zeros of UTF-16 are looked for.
SAMPLE = 200_000

# UTF-32 first: its little-endian mark begins with that of UTF-16.
MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def to_utf8(content: bytes, told: str | None, name: str) -> tuple[bytes, str]:
    """Text as UTF-8 without a mark at its beginning, and the encoding that it had."""
    encoding = told or _encoding(content, name)
    try:
        codec = codecs.lookup(encoding).name
        if codec in ("utf-8", "utf-8-sig"):
            content.decode()
            return content.removeprefix(codecs.BOM_UTF8), "utf-8"
        return content.decode(codec).removeprefix("\ufeff").encode(), encoding
    except LookupError:
        raise Refusal(
            f"--encoding {encoding!r} is unknown: try utf-8 or cp1252", Exit.USAGE
        ) from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise Refusal(
            f"{name}, line {line} is not {encoding} text: pass another --encoding, such as utf-8, "
            "utf-16 or cp1252"
        ) from None


def _encoding(content: bytes, name: str) -> str:
    """By its mark, by the zeros of UTF-16, or UTF-8; what is none of these is of Windows."""
    for mark, encoding in MARKS:
        if content.startswith(mark):
            return encoding
    head = content[:SAMPLE]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if even or odd:
        if min(even, odd) > 0.1 * max(even, odd):
            raise Refusal(f"{name} is not text: pass --format if its ending does not tell it")
        return "utf-16-le" if odd > even else "utf-16-be"
    try:
        content.decode()
    except UnicodeDecodeError:
        return "cp1252"  # what Excel writes on western Windows; numbers are the same in all others
    return "utf-8"
