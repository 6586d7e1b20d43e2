"""Exact, certified, fast convex clustering with kernels.

The names below load on first use, so that ``import convexcluster`` costs milliseconds and
compiles nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

# public name -> the module that defines it
_HOMES = {
    "Problem": "problem",
    "Solution": "problem",
    "Status": "problem",
    "solve": "solvers",
    "solve_path": "path",
    "ClusterPath": "path.clusterpath",
    "KernelConvexClustering": "estimators",
    "ConvexClustering": "estimators",
    "MixedEncoder": "tables",
    "tune": "tuning",
    "load": "persistence",
}

__all__ = [
    "ClusterPath",
    "ConvexClustering",
    "KernelConvexClustering",
    "MixedEncoder",
    "Problem",
    "Solution",
    "Status",
    "__version__",
    "load",
    "solve",
    "solve_path",
    "tune",
]

if TYPE_CHECKING:
    from .estimators import ConvexClustering, KernelConvexClustering
    from .path import solve_path
    from .path.clusterpath import ClusterPath
    from .persistence import load
    from .problem import Problem, Solution, Status
    from .solvers import solve
    from .tables import MixedEncoder
    from .tuning import tune


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
