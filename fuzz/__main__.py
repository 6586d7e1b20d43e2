"""Run campaigns: ``python -m fuzz [NAME …] [--seconds S] [--cases N] [--seed K] [--case C]``.

A campaign is a function of a random generator that raises where a promise is broken. Case C of seed
K is always the same, and a failure is printed as the command that repeats it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import sys
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from importlib import import_module

import numpy as np

# Seconds of processor time that a case may take before it counts as a hang, and as many times that
# by the clock: a machine may be busy, but a deadlock takes no processor time.
HANG = 20
BUSY = 30

# Campaigns with the cases of the fixed slice of `make test-all`, about two minutes in all.
SLICE = {
    "solving": 150,
    "inputs": 250,
    "files": 300,
    "interrupts": 20,
    "kills": 2,
    "memory": 2,
    "workers": 2,
    "cache": 1,
}

# Share of the seconds of a longer run; what starts processes is slow and gets more.
SHARES = {
    "solving": 5,
    "inputs": 5,
    "files": 2,
    "interrupts": 2,
    "kills": 3,
    "memory": 1,
    "workers": 4,
    "cache": 0,
}


class Hang(Exception):
    """A case took too long."""


def campaign(name: str) -> Callable[[np.random.Generator], dict[str, int]]:
    """The function ``case`` of the module of that name."""
    return import_module(f"fuzz.{name}").case


def run_case(name: str, seed: int, number: int) -> dict[str, int]:
    """One case within its time; what it counts."""

    def late(*_: object) -> None:
        raise Hang(f"no answer after {HANG} s")

    case = campaign(name)
    before = {kind: signal.signal(kind, late) for kind in (signal.SIGALRM, signal.SIGPROF)}
    signal.setitimer(signal.ITIMER_PROF, HANG)
    signal.alarm(BUSY * HANG)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return case(np.random.default_rng([seed, number]))
    finally:
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)
        for kind, handler in before.items():
            signal.signal(kind, handler)


def run(name: str, seed: int, cases: int | None, seconds: float) -> tuple[Counter[str], int]:
    """Cases 0, 1, … until there are enough or time is up; counts and failures."""
    counts: Counter[str] = Counter()
    failures, number = 0, 0
    with contextlib.suppress(Exception), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        campaign(name)(np.random.default_rng([seed, 0]))  # compiles; its time is not that of a case
    begin = time.monotonic()
    while number < cases if cases is not None else time.monotonic() - begin < seconds:
        try:
            counts.update(run_case(name, seed, number))
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            failures += 1
            what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            print(f"FAILED python -m fuzz {name} --seed {seed} --case {number}  # {what}")
        number += 1
        counts["cases"] += 1
    return counts, failures


def main() -> int:
    """Parse the arguments, run, and print one line of counts for each campaign."""
    parser = argparse.ArgumentParser(prog="python -m fuzz", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *SLICE], help="default: all")
    parser.add_argument("--seconds", type=float, help="of the whole run")
    parser.add_argument("--cases", type=int, help="of each campaign")
    parser.add_argument("--slice", action="store_true", help="the fixed slice of the tests")
    parser.add_argument("--seed", type=int, help="default: drawn, and printed")
    parser.add_argument("--case", type=int, help="repeat one case, with its traceback")
    given = parser.parse_args()
    names = given.names or list(SLICE)
    seed = int.from_bytes(os.urandom(3)) if given.seed is None else given.seed
    if given.case is not None:
        try:
            print(run_case(names[0], seed, given.case))
        except BaseException:
            traceback.print_exc()
            return 1
        return 0
    print(f"seed {seed}", flush=True)
    whole = sum(SHARES[name] for name in names) or 1
    failed = 0
    for name in names:
        seconds = (given.seconds or 120.0) * SHARES[name] / whole
        cases = SLICE[name] if given.slice else given.cases
        if cases is None and not SHARES[name]:
            cases = 1
        begin = time.monotonic()
        counts, failures = run(name, seed, cases, seconds)
        failed += failures
        took = {"failures": failures, "seconds": round(time.monotonic() - begin)}
        print(json.dumps({"campaign": name, **counts, **took}), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
