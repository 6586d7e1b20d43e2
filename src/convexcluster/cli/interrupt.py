"""Ctrl-C: an interrupted command has written nothing, and a command that has written is done.

KeyboardInterrupt arises wherever Python happens to be, also where another package swallows it or
turns it into an error of its own: the handler therefore remembers the signal.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_came = threading.Event()


def _raise(*_: Any) -> None:
    _came.set()
    raise KeyboardInterrupt


@contextmanager
def watched(*, to_the_end: bool = False) -> Iterator[None]:
    """Remember Ctrl-C while the block runs, unless the signal is ignored, as by ``nohup``.

    The handler from before comes back, unless the process ends with the block.
    """
    _came.clear()
    before = signal.getsignal(signal.SIGINT)
    mine = threading.current_thread() is threading.main_thread() and before is not signal.SIG_IGN
    if mine:
        signal.signal(signal.SIGINT, _raise)
    try:
        yield
    finally:
        if mine and not to_the_end:
            signal.signal(signal.SIGINT, before)


def seen() -> bool:
    """Whether Ctrl-C was pressed since :func:`watched` began."""
    return _came.is_set()


def ignore() -> None:
    """Ignore Ctrl-C from here on: what is left to do takes a moment, and must not be torn."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def commit() -> None:
    """Stop here if Ctrl-C was pressed; else ignore it from here on, for results now appear."""
    ignore()
    if seen():
        raise KeyboardInterrupt
