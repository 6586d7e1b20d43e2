"""Proofs of many rows without cells, for the table of docs/large.md: seconds and memory.

    python -m benchmarks.proof_large [n …]   two moons; by default 50,000 to 200,000 rows

Each size runs in a process of its own on one thread, after a small fit that loads what is compiled.
Seconds are of the processor. Memory is what the process holds before the proof and at its peak
within it, as Linux counts it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .fits import moons
from .machine import header

SIZES = (50_000, 100_000, 200_000)


def held(field: str) -> float:
    """Gigabytes of this process: VmRSS now, VmHWM at the peak since :func:`forget`."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field):
            return int(line.split()[1]) / 2**20
    raise KeyError(field)


def forget() -> None:
    """Begin the peak anew."""
    Path("/proc/self/clear_refs").write_text("5", encoding="utf-8")


def measured(prove: Callable[..., Any], found: dict[str, Any]) -> Callable[..., Any]:
    """``prove``, with its seconds and memory in ``found``."""

    def timed(*given: Any, **options: Any) -> Any:
        forget()
        found["before"], begin = held("VmRSS"), time.process_time()
        claim = prove(*given, **options)
        found["proof"], found["peak"] = time.process_time() - begin, held("VmHWM")
        found["interval"] = claim.interval
        return claim

    return timed


def fit(n: int) -> dict[str, Any]:
    """A default fit without cells."""
    from convexcluster import KernelConvexClustering
    from convexcluster.stages import proof

    model = KernelConvexClustering(coarsen=False, n_jobs=1)
    model.fit(moons(1_200)[0])
    found: dict[str, Any] = {"n": n}
    proof.prove_labels = measured(proof.prove_labels, found)
    X, begin = moons(n)[0], time.process_time()
    model.fit(X)
    found["fit"] = time.process_time() - begin
    found["proved"] = model.certificate_.statement
    return found


def row(found: dict[str, Any]) -> str:
    """A line of the table."""
    memory = f"{found['before']:.2f} → {found['peak']:.2f} GB"
    seconds = f"{found['fit']:.0f} | {found['proof']:.1f}"
    return f"| {found['n']:,} | {seconds} | {memory} | {found['proved']} |"


def main(words: list[str]) -> None:
    if words[:1] == ["one"]:
        print(json.dumps(fit(int(words[1]))))
        return
    print(header("python -m benchmarks.proof_large") + "\n")
    print("| rows | fit, s | of which the proof, s | memory before the proof → its peak | proved |")
    print("|---|---|---|---|---|")
    alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for n in [int(word) for word in words] or SIZES:
        command = [sys.executable, "-m", "benchmarks.proof_large", "one", str(n)]
        done = subprocess.run(command, env=alone, capture_output=True, text=True, check=True)
        print(row(json.loads(done.stdout)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
