"""How far a fit is: stages with shares of its time, and an estimate of what is left.

With t seconds in a stage that should take T by its share, t/T of it counts as done, but ever less
from ``EVEN`` on: so the estimate moves on while a stage takes longer than it should, and never says
0 too soon. The path counts its steps. Of clusters far apart the first one takes all of its time, of
noise a tenth: the path is as far as the pace of the steps after the first one says.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from math import exp, log
from typing import Any, Self

# Rough shares of the time of a default fit, on sets such as those of `python -m
# benchmarks.progress`: of 500 and of 50,000 rows of up to three features; of any number of rows of
# 10 and of 50 features. Single sets are off by up to a factor of two. Wrong shares make the
# estimate wrong, never the order.
PLANE = {
    "neighbours": (0.18, 0.08),
    "valleys": (0.40, 0.23),
    "path": (0.22, 0.32),
    "choice": (0.02, 0.02),
    "proof": (0.18, 0.35),
}
FEATURES = {
    "neighbours": (0.25, 0.29),
    "valleys": (0.05, 0.13),
    "path": (0.46, 0.27),
    "choice": (0.03, 0.01),
    "proof": (0.21, 0.30),
}
STAGES = tuple(PLANE)

# Share of a stage up to which it is taken to go as it should. With half of it a stage that ends in
# time is shown as three quarters done; at 1 one that takes longer would stand still.
EVEN = 0.7

# Time of a step of the path that is ahead, in times of those since the first: clusters fuse late.
# With 1 noise has a third of its path left where two thirds are, with 4 the reverse.
AHEAD = 2.0

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
    path 40%
    path 55%
    """

    def __init__(self, show: Show) -> None:
        self._show = show
        self._name, self._share = "", 0.0
        self._shares = shares(10_000, 2)
        self._before = self._steps = self._first = self._most = 0.0
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

    def expect(self, n: int, d: int) -> None:
        """The fit is of n rows of d features."""
        self._shares = shares(n, d)

    def stage(self, name: str) -> None:
        """A stage of ``STAGES`` begins; one that begins again does not take the bar back."""
        with self._lock:
            self._before = sum(self._shares[other] for other in STAGES[: STAGES.index(name)])
            self._name, self._share, self._steps = name, self._shares[name], 0.0
            self._entered = time.perf_counter()
        self._tell()

    def __call__(self, step: int, total: int, *_: Any) -> None:
        """A γ of the path is solved."""
        with self._lock:
            inside = time.perf_counter() - self._entered
            if step == 0:
                self._first = inside
                self._steps = 1 / total
            else:
                ahead = AHEAD * (inside - self._first) / step * (total - step - 1)
                self._steps = inside / (inside + ahead) if inside > 0 else (step + 1) / total
        self._tell()

    def done(self, now: float) -> float:
        """Share of the fit that is done, at a time of ``time.perf_counter``."""
        spent, inside = now - self._start, now - self._entered
        part = self._steps
        if part == 0 and self._before > 0:
            expected = max(self._share / self._before * (spent - inside), EVERY)
            part = inside / expected
            part = part if part < EVEN else 1 - (1 - EVEN) * exp((EVEN - part) / (1 - EVEN))
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


def shares(n: int, d: int) -> dict[str, float]:
    """Shares of the stages of a fit of n rows of d features.

    Examples
    --------
    >>> round(shares(500, 2)["path"], 3), round(shares(5_000, 10)["path"], 3)
    (0.22, 0.46)
    """
    ends = PLANE if d <= 3 else FEATURES
    way = log(max(n, 1) / 500) / log(100) if d <= 3 else log(d / 10) / log(5)
    way = min(max(way, 0.0), 1.0)
    return {name: (1 - way) * first + way * last for name, (first, last) in ends.items()}


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
