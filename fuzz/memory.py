"""A fit in a process that may not have the memory it wants: MemoryError, or the right answer."""

from __future__ import annotations

import subprocess
import sys

import numpy as np

# Megabytes beyond what the process has when everything is imported and compiled.
CHILD = """
import resource, sys
import numpy as np
from convexcluster import KernelConvexClustering
rng = np.random.default_rng(0)
X = rng.normal(size=(1200, 3)) + 12.0 * (np.arange(1200) % 3)[:, None]
model = KernelConvexClustering(3, n_jobs=1)
model.fit(X[:60])
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = size + int(sys.argv[1]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
before = dict(vars(model))
try:
    model.fit(X)
except MemoryError:
    assert all(vars(model)[name] is before[name] for name in before), "half a fit"
    print("refused")
else:
    assert (model.labels_ == model.labels_[np.arange(1200) % 3]).all(), "wrong labels"
    print("answered")
"""


def case(rng: np.random.Generator) -> dict[str, int]:
    """One limit."""
    room = str(int(10 ** rng.uniform(0, 3)))
    done = subprocess.run(
        [sys.executable, "-c", CHILD, room], capture_output=True, text=True, timeout=100
    )
    said = done.stdout.strip()
    assert said in ("refused", "answered"), f"{room} MB: {done.returncode}, {done.stderr[-200:]}"
    return {said: 1}
