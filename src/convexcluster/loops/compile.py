"""``njit`` that keeps what it compiles for later processes, and tells a person who waits for it.

The first fit on a machine compiles for some seconds; ``convexcluster info --warm`` does it ahead.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numba


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """numba's ``njit``; without ``cache`` where no folder can be written, which is said once."""

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # numba has no folder for the cache
            if not options.get("cache"):
                raise
            _warn_of_no_cache()
            return numba.njit(**{**options, "cache": False})(function)

    return compiled


@cache
def _warn_of_no_cache() -> None:
    """Say it once in a process."""
    warnings.warn(
        "compiled loops cannot be kept, as no cache folder can be written: every process compiles "
        "them again for some seconds; set NUMBA_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=3,
    )


def is_kept(loop: Any) -> bool:
    """Whether some earlier process has compiled ``loop`` and kept it."""
    folder = loop.stats.cache_path
    name = f"{Path(loop.py_func.__code__.co_filename).stem}.{loop.__name__}-*.nbi"
    return folder is not None and any(Path(folder).glob(name))


@cache
def announce(asked: bool) -> None:
    """One line on standard error if a fit is about to compile and a person waits for it.

    That is where ``verbose`` has ``asked`` for lines, and at a terminal, a prompt or a notebook.
    """
    from .sweeps import sweep  # every path needs it

    person = sys.stderr.isatty() or hasattr(sys, "ps1") or "ipykernel" in sys.modules
    if (asked or person) and not is_kept(sweep):
        line = "[convexcluster] compiling, once on this machine: some seconds"
        print(line, file=sys.stderr, flush=True)
