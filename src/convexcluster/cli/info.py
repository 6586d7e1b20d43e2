"""``info``: versions, threads, cache and extras, for bug reports and for the curious."""

from __future__ import annotations

import platform
import time
from importlib import metadata
from importlib.util import find_spec
from typing import Annotated, Any

import typer

from .. import __version__
from .console import show_pairs, working
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


def info(
    common: Common,
    warm: Annotated[
        bool, typer.Option("--warm", help="Compile what fits need now, not in the first fit.")
    ] = False,
) -> None:
    """Show versions, threads, the cache of compiled loops, and which extras are installed."""
    facts = collect()
    if warm:
        with working("compiling"):
            facts["compiled in seconds"] = compile_ahead()
    if common.json:
        print(to_json(facts))
        return
    pairs: list[tuple[str, Any]] = [("convexcluster", facts["convexcluster"])]
    pairs += [("python", facts["python"]), ("platform", facts["platform"])]
    pairs += list(facts["packages"].items())
    pairs += [(f"threads, {name}", count) for name, count in facts["threads"].items()]
    pairs += [("cache of compiled loops", facts["cache"] or "none")]
    if warm:
        pairs += [("compiled in seconds", facts["compiled in seconds"])]
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


# Rows, features and parameters of the fits that are compiled for.
AHEAD: tuple[tuple[int, int, dict[str, Any]], ...] = (
    (60, 2, {}),
    (60, 5, {}),
    (1_200, 2, {}),
    (1_200, 10, {}),
    (1_200, 2, {"coarsen": 200}),
    (60, 2, {"gamma": 1.0}),
)


def compile_ahead() -> float:
    """Fit and predict what default fits of all kinds need; seconds that it took.

    Rows of few and of many features, few rows and more than run as Python, clusters and none, in
    cells, at a given γ; and the multigrid, which large graphs alone need.
    """
    import numpy as np

    from ..estimators import KernelConvexClustering
    from ..numerics.multigrid import preconditioner

    start = time.perf_counter()
    rng = np.random.default_rng(0)
    for n, d, options in AHEAD:
        X = rng.normal(size=(n, d)) + (6 * (np.arange(n) % 2)[:, None] if d < 10 else 0)
        KernelConvexClustering(**options).fit(X).predict(X[:3] + 0.1)
    chain = np.arange(99)
    cycle = preconditioner(100, chain, chain + 1, np.ones(99), np.zeros(100))
    cycle(rng.normal(size=(100, 2)))
    return time.perf_counter() - start


def _state(modules: tuple[str, ...]) -> str:
    absent = [module for module in modules if find_spec(module) is None]
    return f"missing {', '.join(absent)}" if absent else "installed"


def _threads() -> dict[str, int]:
    import joblib
    import numba
    from threadpoolctl import threadpool_info

    counts = {"cores": joblib.effective_n_jobs(-1), "numba": int(numba.get_num_threads())}
    for pool in threadpool_info():
        name = str(pool.get("internal_api", "other"))
        counts[name] = max(counts.get(name, 0), int(pool["num_threads"]))
    return counts
