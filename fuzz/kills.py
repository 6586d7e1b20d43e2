"""SIGKILL at random moments of a path with a checkpoint: resumed, it has the same bits."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

SCRIPT = Path(__file__).parents[1] / "tests" / "kill_and_resume.py"
PROBLEMS = ("plane", "wide", "parts", "uncertified")
KILLS = 8


def case(rng: np.random.Generator) -> dict[str, int]:
    """One path, killed eight times."""
    name, seed = rng.choice(PROBLEMS), int(rng.integers(2**31))
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, SCRIPT, name, str(KILLS), str(seed), folder],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr[-300:]
        found = json.loads(done.stdout)
    assert found["differ"] == [], f"{name}: {found['differ']} differ"
    assert found["left"] == ["answer", "whole"], f"{name}: {found['left']} were left"
    return {"kills": found["killed"], "resumed": found["resumed"], "paths": found["finished"]}
