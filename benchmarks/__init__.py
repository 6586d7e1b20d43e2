"""Benchmarks: `python -m benchmarks` for the table and plot of gap against time."""

import os
from pathlib import Path

# The folder beside the checkout, unless the variable names another.
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
if "CONVEXCLUSTER_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["CONVEXCLUSTER_DATA"] = str(BESIDE)
