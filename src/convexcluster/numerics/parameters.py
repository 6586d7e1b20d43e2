"""What a parameter may be: tests of values, and one sentence for a value that fails its test.

An entry has a table of its parameters, ``{name: (test, words)}``, and :func:`check_parameters`
refuses the first value that fails: "n_clusters must be a whole number ≥ 1, or None, got 2.5".
Booleans are no numbers here.
"""

from __future__ import annotations

import reprlib
import sys
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

Rules = Mapping[str, tuple[Callable[[Any], bool], str]]

# How a number of threads is asked for, by every entry.
THREADS = "a number of threads, −1 for all cores, or None"


def check_parameters(rules: Rules, given: Mapping[str, Any]) -> None:
    """Raise ValueError for the first parameter whose value fails its test.

    Examples
    --------
    >>> check_parameters({"rank": (is_count, "a whole number ≥ 1")}, {"rank": 2.5})
    Traceback (most recent call last):
    ...
    ValueError: rank must be a whole number ≥ 1, got 2.5
    """
    for name, (fits, words) in rules.items():
        if not fits(given[name]):
            raise ValueError(f"{name} must be {words}, got {shown(given[name])}")


def shown(value: Any) -> str:
    """A value on one short line.

    Examples
    --------
    >>> shown(np.ones((1, 2)))
    'array([[1., 1.]])'
    """
    return " ".join(reprlib.repr(value).split())


def is_whole(value: Any) -> TypeGuard[int]:
    """Whether this is an integer of any kind."""
    return isinstance(value, Integral) and not isinstance(value, bool | np.bool_)


def is_number(value: Any) -> TypeGuard[float]:
    """Whether this is a real number of any kind."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def is_count(value: Any) -> bool:
    """Whether this counts something: 1, 2, …."""
    return is_whole(value) and 1 <= value <= sys.maxsize


def is_count_or_none(value: Any) -> bool:
    """Whether this is None or counts something."""
    return value is None or is_count(value)


def is_positive(value: Any) -> bool:
    """Whether this is a number > 0 that a float holds with all its digits."""
    if not is_number(value):
        return False
    try:
        return sys.float_info.min <= float(value) < float("inf")
    except OverflowError:
        return False


def is_threads(value: Any) -> bool:
    """Whether this is a number of threads."""
    return value is None or (is_whole(value) and value != 0 and abs(value) <= sys.maxsize)


def is_one_of(value: Any, *words: str) -> bool:
    """Whether this is one of the words; any value may be asked about, an array too."""
    return isinstance(value, str) and value in words
