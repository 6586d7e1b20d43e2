"""``info``: versions, threads, cache and extras, for bug reports and for the curious."""

from __future__ import annotations

import platform
from importlib import metadata
from importlib.util import find_spec
from typing import Any

from .. import __version__
from .console import show_pairs
from .options import Common
from .write import to_json

CORE = ("numpy", "scipy", "scikit-learn", "numba")
# extra -> the modules that it must bring
EXTRAS = {
    "cli": ("typer", "rich", "pandas", "pyarrow"),
    "excel": ("openpyxl",),
    "plot": ("matplotlib",),
    "report": ("pandas", "networkx"),
    "dask": ("dask", "distributed", "pynndescent", "zarr"),
    "bench": ("cvxpy", "clarabel", "psutil"),
}


def info(common: Common) -> None:
    """Show versions, threads, the cache of compiled loops, and which extras are installed."""
    facts = collect()
    if common.json:
        print(to_json(facts))
        return
    pairs: list[tuple[str, Any]] = [("convexcluster", facts["convexcluster"])]
    pairs += [("python", facts["python"]), ("platform", facts["platform"])]
    pairs += list(facts["packages"].items())
    pairs += [(f"threads, {name}", count) for name, count in facts["threads"].items()]
    pairs += [("cache of compiled loops", facts["cache"] or "none")]
    pairs += [(f"extra {name}", state) for name, state in facts["extras"].items()]
    show_pairs("convexcluster info", pairs)


def collect() -> dict[str, Any]:
    """Gather the facts as plain data."""
    from ..loops.distances import nearest_rows  # any loop knows where numba keeps all of them

    return {
        "convexcluster": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": {name: metadata.version(name) for name in CORE},
        "threads": _threads(),
        "cache": nearest_rows.stats.cache_path,
        "extras": {name: _state(modules) for name, modules in EXTRAS.items()},
    }


def _state(modules: tuple[str, ...]) -> str:
    absent = [module for module in modules if find_spec(module) is None]
    return f"missing {', '.join(absent)}" if absent else "installed"


def _threads() -> dict[str, int]:
    import joblib
    import numba
    from threadpoolctl import threadpool_info

    counts = {"cores": joblib.cpu_count(), "numba": int(numba.get_num_threads())}
    for pool in threadpool_info():
        name = str(pool.get("internal_api", "other"))
        counts[name] = max(counts.get(name, 0), int(pool["num_threads"]))
    return counts
