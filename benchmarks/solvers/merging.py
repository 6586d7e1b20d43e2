"""solve_path without certificates: clusters that fused stay fused."""

from __future__ import annotations

from convexcluster import solve_path

from ..objective import Data
from .certified import TOLERANCES, skip

__all__ = ["TOLERANCES", "run", "skip", "warm_up"]


def warm_up(data: Data) -> None:
    run(data, 1e-6)


def run(data: Data, tol: float):
    return solve_path(
        data.Z, data.edges, data.weights, data.gammas, tol=tol, certify=False, n_jobs=-1
    )
