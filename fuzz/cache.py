"""No folder for compiled loops can be written: everything is compiled anew and the answer holds."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

CHILD = """
import numpy as np
from convexcluster import solve_path
path = solve_path([[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0], [0.1, 1.2, 4.0])
print(path.n_clusters.tolist())
"""


def case(rng: np.random.Generator) -> dict[str, int]:
    """A cache folder that is a file, or that lies under one."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        file.write_text("")
        place = file if rng.random() < 0.5 else file / "cache"
        done = subprocess.run(
            [sys.executable, "-c", CHILD],
            capture_output=True,
            text=True,
            env=os.environ | {"NUMBA_CACHE_DIR": str(place)},
        )
        assert done.returncode == 0, done.stderr[-300:]
        assert done.stdout.strip() == "[3, 2, 1]", done.stdout
    return {"answered": 1}
