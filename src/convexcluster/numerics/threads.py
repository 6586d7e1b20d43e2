"""How many threads ``n_jobs`` means, and threads that Ctrl-C ends."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

# Threads where nothing is said. A path has two halves, and a pass over blocks holds one block per
# thread: four threads would hold twice the memory, and one takes nearly twice the time.
THREADS = 2


def threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: None is two, −1 all cores, −2 all but one.

    Examples
    --------
    >>> threads(None), threads(3), threads(-1) == os.cpu_count()
    (2, 3, True)
    """
    if n_jobs is None:
        return THREADS
    return max(1, n_jobs if n_jobs > 0 else (os.cpu_count() or 1) + 1 + n_jobs)


_serving = threading.local()  # .stops: the events that end the work of this thread


class Workers(ThreadPoolExecutor):
    """Threads of one block, which end soon after an error, or Ctrl-C, has left the block.

    Python interrupts the main thread only. Work that waits is dropped, and work that runs ends at
    its next :func:`stop_if_asked`; so do the workers that a worker has started.

    Examples
    --------
    >>> with Workers(2) as workers:
    ...     list(workers.map(abs, [-1, 2]))
    [1, 2]
    """

    def __init__(self, count: int) -> None:
        self.stop = threading.Event()
        stops = *getattr(_serving, "stops", ()), self.stop
        super().__init__(count, initializer=setattr, initargs=(_serving, "stops", stops))

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None:
            self.stop.set()
        self.shutdown(wait=True, cancel_futures=kind is not None)


def stop_if_asked() -> None:
    """Raise CancelledError in a worker whose block was left; do nothing in other threads."""
    for stop in getattr(_serving, "stops", ()):
        if stop.is_set():
            raise CancelledError


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn a signal that arrived inside a compiled loop into KeyboardInterrupt.

    A compiled loop may return its result although the handler of a signal has raised; Python then
    reports a SystemError, whose cause is what the handler raised.
    """
    try:
        yield
    except SystemError as error:
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
