"""How many threads ``n_jobs`` means, and threads that Ctrl-C ends and that BLAS leaves room for."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, Self

from joblib import effective_n_jobs
from threadpoolctl import ThreadpoolController

# Threads where nothing is said. A path has two halves, and a pass over blocks holds one block per
# thread: four threads would hold twice the memory, and one takes nearly twice the time.
THREADS = 2


def threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: None is two, or one where there is one core; −1 all cores.

    Cores are those that joblib counts: of the container, and of this process among its workers.

    Examples
    --------
    >>> threads(None) <= 2, threads(3), threads(-1) == effective_n_jobs(-1)
    (True, 3, True)
    """
    if n_jobs is None:
        return min(THREADS, effective_n_jobs(-1))
    return max(1, n_jobs if n_jobs > 0 else effective_n_jobs(n_jobs))


_serving = threading.local()  # .stops: the events that end the work of this thread


class _BlasLimit:
    """While some workers run, BLAS has the cores that they leave to each of them.

    The limit holds for the whole process: the first workers set it, and the last restore it. Two
    threads that call BLAS with two threads each on two cores take longer than one after the other.
    """

    def __init__(self) -> None:
        self.lock, self.running = threading.Lock(), 0
        self.set: Any = None

    def enter(self, count: int | None) -> None:
        """Limit BLAS for ``count`` workers; to one thread if that is None."""
        with self.lock:
            if self.running == 0:
                share = 1 if count is None else max(1, effective_n_jobs(-1) // max(2, count))
                self.set = _controller().limit(limits=share, user_api="blas")
            self.running += 1

    def leave(self) -> None:
        with self.lock:
            self.running -= 1
            if self.running == 0:
                self.set.restore_original_limits()


@cache
def _controller() -> ThreadpoolController:
    """The libraries that are loaded; asked once, as it takes milliseconds."""
    return ThreadpoolController()


_blas = _BlasLimit()


_numbers = itertools.count()

# Seconds in which a thread that was asked for has begun, if it begins at all: Ctrl-C may have come
# between the two. Less: such a thread is missed on a busy machine. More: Ctrl-C seems not heard.
STARTED = 0.5


@contextmanager
def one_blas_thread(asked: bool = True) -> Iterator[None]:
    """BLAS on one thread, if it is ``asked`` for: that is faster where all matrices are small.

    After each product the other threads of BLAS spin for some hundredths of a second, on cores that
    this or another process has work for. The limit holds for the whole process.
    """
    if not asked:
        yield
        return
    _blas.enter(None)
    try:
        yield
    finally:
        _blas.leave()


class Workers(ThreadPoolExecutor):
    """Threads of one block, which end soon after an error, or Ctrl-C, has left the block.

    Python interrupts the main thread only. Work that waits is dropped, and work that runs ends at
    its next :func:`stop_if_asked`; so do the workers that a worker has started. Meanwhile BLAS has
    a share of the cores.

    Examples
    --------
    >>> with Workers(2) as workers:
    ...     list(workers.map(abs, [-1, 2]))
    [1, 2]
    """

    def __init__(self, count: int) -> None:
        self.stop = threading.Event()
        stops = *getattr(_serving, "stops", ()), self.stop
        self.prefix = f"convexcluster {next(_numbers)}"
        super().__init__(count, self.prefix, setattr, (_serving, "stops", stops))
        self.count = count

    def __enter__(self) -> Self:
        _blas.enter(self.count)
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        if kind is not None:
            self.stop.set()
        try:
            self.shutdown(wait=True, cancel_futures=kind is not None)
        except BaseException:  # Ctrl-C in here, perhaps before the threads were told to end
            self.stop.set()
            self.shutdown(wait=True, cancel_futures=True)
            raise
        finally:
            if self.stop.is_set():
                self._join_unknown()
            _blas.leave()

    def _join_unknown(self) -> None:
        """Wait for a thread that Ctrl-C kept from the list of the executor while it was started."""
        late = time.monotonic() + STARTED
        while any(
            thread.name.startswith(f"{self.prefix}_")
            and (thread.ident is not None or time.monotonic() < late)
            for thread in threading.enumerate()
        ):
            time.sleep(0.001)


def each(task: Callable[[Any], Any], items: Iterable[Any], jobs: int) -> list[Any]:
    """``task(item)`` of every item, on ``jobs`` threads; the first items begin first.

    Examples
    --------
    >>> each(abs, [-1, 2], jobs=2)
    [1, 2]
    """
    if jobs == 1:
        return [task(item) for item in items]
    with Workers(jobs) as workers:
        return list(workers.map(task, items))


def stop_if_asked() -> None:
    """Raise CancelledError in a worker whose block was left; do nothing in other threads."""
    for stop in getattr(_serving, "stops", ()):
        if stop.is_set():
            raise CancelledError


@contextmanager
def interruptible() -> Iterator[None]:
    """Turn a signal that arrived inside a compiled loop into KeyboardInterrupt.

    A compiled loop may return its result although the handler of a signal has raised; Python then
    reports a SystemError, whose cause is what the handler raised, or one more SystemError for every
    call in between.
    """
    try:
        yield
    except SystemError as error:
        cause: BaseException | None = error
        while isinstance(cause, SystemError):
            cause = cause.__cause__
        if isinstance(cause, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
