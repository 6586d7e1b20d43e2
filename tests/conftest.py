"""Shared fixtures: where the paper's data live, and skipping where they are absent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the paper's data sets; skips where there is none."""
    places = [os.environ.get("CONVEXCLUSTER_DATA"), HERE.parents[1] / "shared" / "data"]
    for place in places:
        if place and (Path(place) / "zoo.npz").exists():
            return Path(place)
    pytest.skip("the paper's data are absent: set CONVEXCLUSTER_DATA to their folder")
