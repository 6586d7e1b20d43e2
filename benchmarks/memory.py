"""`python -m benchmarks.memory [step …]`: megabytes that a fresh process holds, step by step.

Each line is a process of its own that does what stands there and nothing else. The peak is
`ru_maxrss`; "anonymous" is the most that was in no file, `RssAnon` as it is seen from outside every
two milliseconds; "resident" is what is left at the end. What is in files, which are libraries, is
shared between processes and given back at need, and how much of a file is resident once some of it
was read is up to the machine. `mnist10k` is read from the folder that the environment variable
CONVEXCLUSTER_DATA names.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

from .machine import header

FIT = "from convexcluster import KernelConvexClustering\nKernelConvexClustering().fit({X})"
READ = (
    "import os, numpy as np\nname = os.environ['CONVEXCLUSTER_DATA'] + '/mnist10k.npz'\n"
    "with np.load(name) as file: X = file['X'].astype(np.float64)\nX /= 255.0"
)
RANDOM = "import numpy as np\nX = np.random.default_rng(0).normal(size={size})"

# What a fit imports, and the first function that numba loads: no fit of ours takes less.
LIBRARIES = "import sklearn.base, sklearn.neighbors, numba\nnumba.njit(lambda x: x + 1)(1.0)"
NO_PANDAS = "import sys\nsys.modules['pandas'] = sys.modules['pyarrow'] = None\n"

# Seconds between two looks at another process: a quarter of it and ten times as much see the same
# within 6 MB.
OFTEN = 0.002

STEPS = {
    "Python": "",
    "NumPy": "import numpy",
    "scikit-learn's base class": "import sklearn.base",
    "the same without pandas": NO_PANDAS + "import sklearn.base",
    "numba": "import numba",
    "a function of one line, compiled": "import numba\nnumba.njit(lambda x: x + 1)(1.0)",
    "both, and that function": LIBRARIES,
    "both, and that function, without pandas": NO_PANDAS + LIBRARIES,
    "KernelConvexClustering, imported": "from convexcluster import KernelConvexClustering",
    "fit of 100 × 2": RANDOM.format(size=(100, 2)) + "\n" + FIT.format(X="X"),
    "array of 50 × 200,000": RANDOM.format(size=(50, 200_000)),
    "fit of 50 × 200,000": RANDOM.format(size=(50, 200_000)) + "\n" + FIT.format(X="X"),
    "fit of mnist10k": READ + "\n" + FIT.format(X="X"),
}

MEASURE = """
import resource
with open("/proc/self/statm") as file: pages = int(file.read().split()[1])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(f"{peak:.0f} | {pages * resource.getpagesize() / 2**20:.0f}")
"""


def measure(script: str) -> tuple[str, float]:
    """What the process prints, and the most anonymous memory that it was seen with, in MB."""
    command, most = [sys.executable, "-c", f"{script}\n{MEASURE}"], 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        while process.poll() is None:
            most = max(most, anonymous(process.pid))
            time.sleep(OFTEN)
        if process.returncode:
            raise SystemExit(process.returncode)
        return process.stdout.read().strip(), most


def anonymous(pid: int) -> float:
    """MB of a process that are in no file; 0 once it is gone."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("RssAnon:"):
            return int(line.split()[1]) / 1024
    return 0.0


def main(names: list[str]) -> None:
    print(header("python -m benchmarks.memory") + "\n")
    print(
        "| a process that does this | peak, MB | resident, MB | anonymous, MB |\n|---|---|---|---|"
    )
    for name in names or STEPS:
        printed, most = measure(STEPS[name])
        print(f"| {name} | {printed} | {most:.0f} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
