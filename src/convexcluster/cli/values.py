"""The text of an option → its value, or a sentence that says how it should read."""

from __future__ import annotations

from pathlib import Path

from .refusal import Exit, Refusal


def number_or_word(text: str) -> float | str:
    """A number if the text is one."""
    try:
        return float(text)
    except ValueError:
        return text


def cells(text: str) -> int | bool | str:
    """``auto``, ``none`` (False) or a number of cells."""
    if text in ("auto", "none"):
        return text if text == "auto" else False
    if not text.isdigit():
        raise Refusal(f"--coarsen must be auto, none or a number, not {text!r}", Exit.USAGE)
    return int(text)


def pair(text: str) -> tuple[str, float | str]:
    """NAME=VALUE."""
    name, equals, value = text.partition("=")
    if not equals or not name:
        raise Refusal(f"--kernel-param {text!r} must read NAME=VALUE", Exit.USAGE)
    return name, number_or_word(value)


def numbers(text: str, option: str) -> list[float]:
    """Parse ``0.1,1,10`` or ``0.1:10:5``, a geometric range of five.

    Examples
    --------
    >>> numbers("0.1:10:3", "--gammas")
    [0.1, 1.0, 10.0]
    """
    try:
        if ":" in text:
            import numpy as np

            low, high, count = text.split(":")
            return [float(f"{g:.12g}") for g in np.geomspace(float(low), float(high), int(count))]
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise Refusal(
            f"{option} {text!r} must read 0.1,1,10 or FROM:TO:COUNT", Exit.USAGE
        ) from None


def model_file(name: str) -> Path:
    """The model in a folder that ``fit`` wrote, or the file itself."""
    place = Path(name) / "model" if Path(name).is_dir() else Path(name)
    if not place.exists():
        raise Refusal(f"{place} does not exist: pass a model file or the folder that fit wrote")
    return place
