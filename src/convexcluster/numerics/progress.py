"""How far a fit is: a share of its time, and the seconds that are left.

Every stage has a number of seconds that it should take, by its points and features. They are of
one machine; those of another, and of other data, are multiplied by its *pace*: the seconds that the
stages so far have taken over those that they should have. A stage that knows how far it is reports
the share f that is done, after t seconds. It is then taken to last

    (1 − f)·max(T, t) + f·(t/f) = (1 − f)·max(T, t) + t,

T what it should take: first what was expected, and what it has shown itself at the end. A stage
that has told nothing for some time has a share of that time left, and so never 0 s too soon.

The rest of the bar belongs to the rest of the time: where that proves longer or shorter, the bar
goes on more slowly or faster, and neither goes back nor stands still.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Container
from contextvars import ContextVar, Token
from typing import Any, Self

# Seconds of a stage of 10,000 points, the power of their number with which they grow, and that of
# their features over 10 (`python -m benchmarks.progress` shows what they are worth). Between noise
# and clusters, which differ by a factor of three on the path, they stand in the middle. "rows" and
# "cells" are the passes over rows that are grouped, of 10,000 rows.
PLANE = {
    "rows": (0.05, 0.6, 0.0),
    "cells": (0.043, 1.0, 0.0),
    "neighbours": (0.03, 0.9, 0.0),
    "valleys": (0.09, 0.9, 0.0),
    "path": (0.22, 1.2, 0.0),
    "choice": (0.012, 1.0, 0.0),
    "proof": (0.13, 1.2, 0.0),
    "solution": (0.5, 2.0, 0.0),
    "labels": (0.02, 1.0, 0.0),
}
FEATURES = {
    "rows": (0.08, 0.4, 0.35),
    "cells": (0.05, 1.0, 0.5),
    "neighbours": (0.12, 2.0, 0.4),
    "valleys": (0.03, 1.0, 0.0),
    "path": (0.65, 1.1, 0.15),
    "choice": (0.03, 1.0, 0.0),
    "proof": (0.35, 0.8, 0.2),
    "solution": (0.4, 1.5, 0.3),
    "labels": (0.02, 1.0, 0.5),
}
# Seconds of the calls of a stage of few points.
CALLS = 0.01

# A path that has told no more than ``RUNGS`` when its first γ is solved takes so many times longer
# than that of clusters far apart, which fuse on the way there. With half of it a quarter into noise
# of 5,000 × 10 its whole time is told as 0.56 of what it is, not 0.73; with twice of it, that of
# MNIST as 1.6 times of what it is.
RUNGS, UNCLEAR = 0.6, 2.5

STAGES, OF_ROWS = tuple(PLANE), ("rows", "cells", "labels")

# Seconds that are left at least, in those for which a stage has told nothing. Half or twice changes
# estimates by a twentieth; without it a stage that takes longer than it should has 0 s left.
SILENT = 0.3

# Time of a step of the path that is ahead, in times of those since the first: clusters fuse late.
# With 1 noise has a third of its path left where two thirds are, with 4 the reverse.
AHEAD = 2.0

# Seconds at the pace of 1 that a fit is taken to have behind it when it begins: the first
# hundredths of a second tell no pace. Half changes little; with ten times as much a quarter into
# MNIST 0.59 of its time is told, not 0.70.
TRUST = 0.2

# Seconds between two looks: a bar that moves less often seems to stand.
EVERY = 0.5

Show = Callable[[str, float, float], None]

_watching: ContextVar[Progress | None] = ContextVar("progress", default=None)


class Progress:
    """Tells ``show(stage, done, left)`` where a fit is: a share of it, and seconds that are left.

    It is called when a stage begins, after each γ of the path, and twice a second in between.

    Examples
    --------
    >>> with Progress(lambda stage, done, left: print(stage, done > 0)) as progress:
    ...     progress.stage("path")
    ...     progress(0, 2, 1.0, 9, 0.0)
    path True
    path True
    """

    def __init__(self, show: Show) -> None:
        self._show, self._lock, self._over = show, threading.Lock(), threading.Event()
        self.expect(seconds(10_000, 2))
        self._begin()
        self._thread: threading.Thread | None = None
        self._token: Token[Progress | None] | None = None

    def _begin(self) -> None:
        self.name = ""  # the stage
        self._ahead = list(STAGES)
        self._should = 0.0  # seconds of the stages that are over, as expected
        self._share = self._after = self._first = self._done = 0.0
        self._start = self._entered = self._told = time.perf_counter()

    def __enter__(self) -> Self:
        self._begin()
        self._over.clear()
        self._token = _watching.set(self)
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        if self._token is not None:
            _watching.reset(self._token)
        if self._thread is not None:
            self._thread.join()

    def __deepcopy__(self, memo: Any) -> Self:
        """A copy of an estimator tells the same bar."""
        return self

    def expect(self, expected: dict[str, float], seldom: Container[str] = ()) -> None:
        """Seconds that each stage should take; a ``seldom`` one counts once it begins."""
        with self._lock:
            self._expected, self._seldom = expected, seldom

    def stage(self, name: str) -> None:
        """A stage of ``STAGES`` begins; one that begins again does not take the bar back."""
        with self._lock:
            if self.name:
                self._should += self._expected[self.name]
            if name not in self._ahead:
                self._ahead = list(STAGES[STAGES.index(name) :])
            self._ahead.remove(name)
            self.name, self._share, self._after = name, 0.0, 0.0
            self._entered = time.perf_counter()
        self._tell()

    def part(self, share: float) -> None:
        """So much of the present stage is done."""
        with self._lock:
            self._share, self._after = share, time.perf_counter() - self._entered

    def __call__(self, step: int, total: int, *_: Any) -> None:
        """A γ of the path is solved."""
        inside = time.perf_counter() - self._entered
        if step == 0:
            self._first = inside
            longer = UNCLEAR if self._share <= RUNGS else 1.0
            self._expected = self._expected | {"path": longer * self._expected["path"]}
        else:
            ahead = AHEAD * (inside - self._first) / step * (total - step - 1)
            self.part(inside / (inside + ahead) if inside > 0 else (step + 1) / total)
        self._tell()

    def left(self, now: float) -> float:
        """Seconds that are left at a time of ``time.perf_counter``."""
        inside, own = now - self._entered, self._expected[self.name]
        pace = (TRUST + self._entered - self._start) / (TRUST + self._should)
        pace = max(pace, (TRUST + now - self._start) / (TRUST + self._should + own))
        whole = (1.0 - self._share) * max(pace * own, self._after) + self._after
        left = max(whole - inside, SILENT * (inside - self._after))
        ahead = sum(self._expected[name] for name in self._ahead if name not in self._seldom)
        return left + pace * ahead

    def _tell(self) -> None:
        with self._lock:
            now = time.perf_counter()
            left, passed = self.left(now), now - self._told
            self._done += (1.0 - self._done) * passed / (passed + left) if passed > 0 else 0.0
            self._told = now
            self._show(self.name, self._done, left)

    def _watch(self) -> None:
        while not self._over.wait(EVERY):
            if self.name:
                self._tell()


def reports(*stages: str) -> Callable[[float], None]:
    """What tells the bar of this fit how much of its stage is done, if that is one of these.

    Ask for it in the thread of the fit: other threads may call it.

    Examples
    --------
    >>> reports("path")(0.5)
    """
    bar = _watching.get()
    return (lambda share: None) if bar is None or bar.name not in stages else bar.part


def seconds(n: int, d: int, points: int | None = None) -> dict[str, float]:
    """Seconds that the stages of a fit of n rows of d features should take.

    ``points`` are as many as the rows are made, by default all.

    Examples
    --------
    >>> seconds(20_000, 2)["path"] > 1.5 * seconds(10_000, 2)["path"]
    True
    """
    given = PLANE if d <= 3 else FEATURES
    out = {}
    for name, (whole, power, of_features) in given.items():
        count = n if points is None or name in OF_ROWS else points
        out[name] = CALLS + whole * (count / 10_000) ** power * (d / 10) ** of_features
    return out


WIDTH = 24  # characters of a bar: a line with its words is shorter than 80


def show_bar(stage: str, done: float, left: float) -> None:
    """One line on standard error that is written over."""
    full = round(WIDTH * done)
    line = f"[convexcluster] {'█' * full}{'░' * (WIDTH - full)} {done:4.0%} {stage}"
    line += f", about {left:.0f} s left"
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
