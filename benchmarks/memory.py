"""`python -m benchmarks.memory [step …]`: megabytes that a fresh process holds, step by step.

Each line is a process of its own that does what stands there and nothing else. The peak is
`ru_maxrss`; "resident" is what is left of it at the end. `mnist10k` is read from the folder that
the environment variable CONVEXCLUSTER_DATA names.
"""

from __future__ import annotations

import subprocess
import sys

from .machine import header

FIT = "from convexcluster import KernelConvexClustering\nKernelConvexClustering().fit({X})"
READ = (
    "import os, numpy as np\nname = os.environ['CONVEXCLUSTER_DATA'] + '/mnist10k.npz'\n"
    "with np.load(name) as file: X = file['X'].astype(np.float64)\nX /= 255.0"
)
RANDOM = "import numpy as np\nX = np.random.default_rng(0).normal(size={size})"

STEPS = {
    "Python": "",
    "NumPy": "import numpy",
    "scikit-learn's base class": "import sklearn.base",
    "the same without pandas": (
        "import sys\nsys.modules['pandas'] = sys.modules['pyarrow'] = None\nimport sklearn.base"
    ),
    "numba": "import numba",
    "a function of one line, compiled": "import numba\nnumba.njit(lambda x: x + 1)(1.0)",
    "both, and that function": ("import sklearn.base, numba\nnumba.njit(lambda x: x + 1)(1.0)"),
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


def main(names: list[str]) -> None:
    print(header("python -m benchmarks.memory") + "\n")
    print("| a process that does this | peak, MB | resident, MB |\n|---|---|---|", flush=True)
    for name in names or STEPS:
        command = [sys.executable, "-c", f"{STEPS[name]}\n{MEASURE}"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        print(f"| {name} | {done.stdout.strip()} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
