"""``njit`` that keeps what it compiles for later processes, and tells a person who waits for it.

The first fit on a machine compiles for some seconds; ``convexcluster info --warm`` does it ahead.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import FunctionType
from typing import Any

import numba
import numpy as np
from numba.core import event

# Steps up to which :func:`run` does not compile a loop. The first fit of 500 samples on a machine
# takes 4.2 s with it, and 6.8 s with half of it, as boundaries are then joined by a compiled loop;
# later fits of 500 samples take 0.007 s longer. With twice of it, those of 2,000 take 5 % longer.
FEW = 1_000


def njit(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """numba's ``njit``; without ``cache`` where no folder can be written, which is said once.

    No entry for C is made, which nothing here calls and which takes a seventh of the time.
    """
    options["no_cfunc_wrapper"] = True

    def compiled(function: Callable[..., Any]) -> Any:
        try:
            return numba.njit(**options)(function)
        except RuntimeError:  # numba has no folder for the cache
            if not options.get("cache"):
                raise
            _warn_of_no_cache()
            return numba.njit(**{**options, "cache": False})(function)

    return compiled


def run(loop: Any, steps: int, *given: Any, out: int = 1) -> Any:
    """Call ``loop``, or for few ``steps`` its Python on lists, so that it need not be compiled.

    Where this process has compiled it, or loaded it, before, it is called for few steps too. The
    last ``out`` arguments are what it fills. Such a loop has no arithmetic that may be reordered,
    so that both give the same numbers; it reads arrays as nested lists are read, ``a[i][k]``, and
    is given the arrays that it works with.
    """
    if steps > FEW or loop.signatures:
        return loop(*given)
    return as_python(loop, *given, out=out)


def as_python(loop: Any, *given: Any, out: int) -> Any:
    """Call the Python of ``loop`` on lists, see :func:`run`."""
    lists = [value.tolist() if isinstance(value, np.ndarray) else value for value in given]
    found = plain(loop)(*lists)
    for value, filled in zip(given[-out:], lists[-out:]):
        if value.size:
            value[...] = filled
    return found


@cache
def plain(loop: Any) -> Callable[..., Any]:
    """A loop as Python, with the loops that it calls."""
    function = loop.py_func
    names = {
        name: plain(value) if name in function.__code__.co_names and is_loop(value) else value
        for name, value in function.__globals__.items()
    }
    return FunctionType(function.__code__, names)


def is_loop(value: Any) -> bool:
    """Whether ``value`` is compiled."""
    return isinstance(value, numba.core.dispatcher.Dispatcher)


@cache
def _warn_of_no_cache() -> None:
    """Say it once in a process."""
    warnings.warn(
        "compiled loops cannot be kept, as no cache folder can be written: every process compiles "
        "them again for some seconds; set NUMBA_CACHE_DIR to a folder that can be written",
        RuntimeWarning,
        stacklevel=3,
    )


@contextmanager
def announced(asked: bool) -> Iterator[None]:
    """One line on standard error where a loop of ours is compiled and a person waits for it.

    That is where ``verbose`` has ``asked`` for lines, and at a terminal, a prompt or a notebook.
    """
    person = sys.stderr.isatty() or hasattr(sys, "ps1") or "ipykernel" in sys.modules
    if not (asked or person):
        yield
        return
    with event.install_listener("numba:compile", _Compiling()):
        yield


class _Compiling(event.Listener):
    """Hears of every loop that is compiled, and of none that is loaded."""

    def on_start(self, found: event.Event) -> None:
        loop = found.data["dispatcher"]
        if loop.py_func.__module__.startswith(__name__.partition(".")[0]):
            _say_compiling(loop.stats.cache_path is not None)

    def on_end(self, found: event.Event) -> None:
        """Nothing is said of it."""


@cache
def _say_compiling(kept: bool) -> None:
    """Say it once in a process, over the bar if there is one."""
    where = "on this machine" if kept else "in every process"
    line = f"[convexcluster] compiling, once {where}: some seconds"
    print(f"\r{line:<78}" if sys.stderr.isatty() else line, file=sys.stderr, flush=True)
