"""How far a fit is: stages with shares of its time, and an estimate of what is left.

A stage that counts its steps, the path, is as far as they are. Of the others only the time is
known: with t seconds in a stage that should take T by its share, 1 − exp(−t/T) of it counts as
done. So the estimate moves on while a stage takes longer than it should, and never says 0 too soon.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from math import exp
from typing import Any, Self

# Rough shares of the time of a default fit, from moons of 10,000 and 50,000 rows and Gaussians of
# 10,000 × 50: neighbours took 12, 6 and 23 %, valleys and graph 37, 17 and 11, the path 30, 39 and
# 32, the choice 2, the proof 19, 36 and 32 (`python -m benchmarks.progress`). Wrong shares make the
# estimate wrong, never the order.
STAGES = {"neighbours": 0.12, "valleys": 0.2, "path": 0.33, "choice": 0.03, "proof": 0.32}

# Seconds between two looks: a bar that moves less often seems to stand.
EVERY = 0.5

Show = Callable[[str, float, float], None]


class Progress:
    """Tells ``show(stage, done, left)`` where a fit is: a share of it, and seconds that are left.

    It is called when a stage begins, after each γ of the path, and twice a second in between.

    Examples
    --------
    >>> with Progress(lambda stage, done, left: print(stage, f"{done:.0%}")) as progress:
    ...     progress.stage("path")
    ...     progress(0, 2, 1.0, 9, 0.0)
    path 32%
    path 48%
    """

    def __init__(self, show: Show) -> None:
        self._show = show
        self._name, self._share = "", 0.0
        self._before = self._steps = self._most = 0.0
        self._start = self._entered = time.perf_counter()
        self._over = threading.Event()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self._start = self._entered = time.perf_counter()
        self._over.clear()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    def stage(self, name: str) -> None:
        """A stage of ``STAGES`` begins; one that begins again does not take the bar back."""
        names = list(STAGES)
        with self._lock:
            self._before = sum(STAGES[other] for other in names[: names.index(name)])
            self._name, self._share, self._steps = name, STAGES[name], 0.0
            self._entered = time.perf_counter()
        self._tell()

    def __call__(self, step: int, total: int, *_: Any) -> None:
        """A γ of the path is solved."""
        with self._lock:
            self._steps = (step + 1) / total
        self._tell()

    def done(self, now: float) -> float:
        """Share of the fit that is done, at a time of ``time.perf_counter``."""
        spent, inside = now - self._start, now - self._entered
        part = self._steps
        if part == 0 and self._before > 0:
            expected = max(self._share / self._before * (spent - inside), EVERY)
            part = 1 - exp(-inside / expected)
        self._most = max(self._most, self._before + self._share * part)
        return self._most

    def _tell(self) -> None:
        with self._lock:
            now = time.perf_counter()
            done = self.done(now)
            left = (now - self._start) * (1 / done - 1) if done > 0 else float("nan")
            self._show(self._name, done, left)

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            if self._name:
                self._tell()


WIDTH = 24  # characters of a bar: a line with its words is shorter than 80


def show_bar(stage: str, done: float, left: float) -> None:
    """One line on standard error that is written over."""
    full = round(WIDTH * done)
    rest = "" if left != left else f", about {left:.0f} s left"
    line = f"[convexcluster] {'█' * full}{'░' * (WIDTH - full)} {done:4.0%} {stage}{rest}"
    print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)


class Lines:
    """One line on standard error for every stage, where nobody looks at a bar."""

    def __init__(self) -> None:
        self._last = ""

    def __call__(self, stage: str, done: float, left: float) -> None:
        """Print the stage if it is new."""
        if stage != self._last:
            self._last = stage
            print(f"[convexcluster] {stage}", file=sys.stderr, flush=True)
