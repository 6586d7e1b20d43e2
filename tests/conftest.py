"""Shared fixtures: where the paper's data live, and skipping where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# The folder beside the checkout, unless the variable names another: the loaders know the variable
# alone. Set before any test module is imported, and seen by the processes that tests start.
BESIDE = Path(__file__).resolve().parents[2] / "shared" / "data"
if "CONVEXCLUSTER_DATA" not in os.environ and BESIDE.is_dir():
    os.environ["CONVEXCLUSTER_DATA"] = str(BESIDE)


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the paper's data sets; skips where there is none."""
    place = Path(os.environ.get("CONVEXCLUSTER_DATA", ""))
    if (place / "zoo.npz").exists():
        return place
    pytest.skip("the paper's data are absent: set CONVEXCLUSTER_DATA to their folder")
