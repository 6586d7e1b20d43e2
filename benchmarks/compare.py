"""`python -m benchmarks.compare OLD [NEW] [--sets NAME …] [--large]`: do two checkouts agree?

OLD and NEW are folders of checkouts; NEW is this one if not given. Each runs in a process of its
own with its ``src`` first on the path, and through its public names alone, on the data sets of
CONVEXCLUSTER_DATA (at most 1,000 rows, prepared as in ``benchmarks.quality``) and on toys. The
table has a line for what is equal to the last bit and one for each figure that is not. The exit
code is 1 if labels differ.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
ROWS = 1_000  # of a measured set: two fits of twice as many rows take half a minute
LABELS = {"labels_", "n_clusters_", "predict"}
PROVED = (
    "gap",
    "relative_gap",
    "radius",
    "embedding_error",
    "coarsening_error",
    "clipped_share",
    "rounding",
    "partition",
)

Figures = dict[str, np.ndarray]
Case = Callable[[], Figures]


def figures_of(model: Any, predict: Any) -> Figures:
    """What a fitted model says in public."""
    found = {"labels_": model.labels_, "predict": predict, "centroids_": model.centroids_}
    found |= {"n_clusters_": model.n_clusters_, "gamma_": model.gamma_, "linkage_": model.linkage_}
    found |= {"path gammas": model.path_.gammas, "path n_clusters": model.path_.n_clusters}
    found |= {f"certificate {name}": getattr(model.certificate_, name) for name in PROVED}
    if model.selection_ is not None:
        found["verdict"] = str(model.selection_.verdict)
    return {name: np.asarray(value) for name, value in found.items()}


def cases(folder: Path, large: bool) -> Iterator[tuple[str, Case]]:
    """Every fit by its name; imported here, in the process of one checkout."""
    from scipy.sparse import csr_array
    from sklearn.metrics.pairwise import rbf_kernel

    from benchmarks.quality.data import NOISE, TOYS, real
    from convexcluster import ConvexClustering, KernelConvexClustering
    from convexcluster.out_of_core import fit_large

    def fitted(make: Callable[..., Any], X: Any, *told: Any, weight: Any = None, **how: Any) -> Any:
        model = make(*told, **how).fit(X, sample_weight=weight)
        return figures_of(model, model.predict(X))

    def in_blocks(X: Any, **how: Any) -> Figures:
        result = fit_large(X, KernelConvexClustering(**how))
        return figures_of(result.model, result.predict(X))

    def both(name: str, X: Any, k: int) -> Iterator[tuple[str, Case]]:
        yield name, lambda: fitted(KernelConvexClustering, X)
        yield f"{name}, told k", lambda: fitted(KernelConvexClustering, X, k)

    for name, (X, y) in real(folder):
        if len(X) <= ROWS:
            yield from both(name, X, len(np.unique(y)))
    for name, toy in TOYS.items():
        yield from both(name, *_counted(toy(0)))
    rng = np.random.default_rng(0)
    for name, noise in NOISE.items():
        X = noise(rng, 200, 5)
        yield f"{name} noise", lambda X=X: fitted(KernelConvexClustering, X)

    rings, moons = TOYS["rings"](1)[0], TOYS["moons"](1)[0]
    wide = np.random.default_rng(1).normal(size=(150, 30)) + 3 * np.eye(3, 30).repeat(50, axis=0)
    twice, weight = np.vstack([rings, rings[::3]]), 1.0 + np.arange(len(rings)) % 3
    kernel = KernelConvexClustering
    yield from both("duplicates", twice, 5)
    yield "sample_weight", lambda: fitted(kernel, rings, weight=weight)
    yield "sparse X", lambda: fitted(kernel, csr_array(wide * (np.abs(wide) > 1)))
    yield "precomputed", lambda: fitted(kernel, rbf_kernel(moons, gamma=4.0), kernel="precomputed")
    yield "ConvexClustering", lambda: fitted(ConvexClustering, wide)
    yield "ConvexClustering, told k", lambda: fitted(ConvexClustering, wide, 3)
    yield "one γ", lambda: fitted(kernel, moons, gamma=0.05)
    yield "one γ, fusion, told k", lambda: fitted(kernel, moons, 2, gamma=0.5, labels="fusion")
    yield "grid of γ", lambda: fitted(kernel, moons, gamma=np.geomspace(1e-3, 1.0, 12))
    yield "fusion", lambda: fitted(kernel, moons, 2, labels="fusion")
    yield "certified path", lambda: fitted(kernel, moons, certify="path")
    yield "weights in the embedding", lambda: fitted(kernel, moons, weight_space="embedding")
    for weights in ("full", "local", "mst", "mutual"):
        yield f"weights {weights}", lambda w=weights: fitted(kernel, moons[:150], weights=w)
    yield from _solves(moons[:80])

    rows = TOYS["blobs"](2)[0][np.random.default_rng(2).integers(400, size=3_000)]
    rows = rows + np.random.default_rng(3).normal(scale=0.1, size=rows.shape)
    yield "coarsen=200", lambda: fitted(kernel, rows, coarsen=200)
    yield "coarsen=200, told k", lambda: fitted(kernel, rows, 3, coarsen=200)
    yield "fit_large", lambda: in_blocks(rows, coarsen=200, n_clusters=3)
    if large:
        many = np.repeat(rows, 9, axis=0)[:25_000]
        many = many + np.random.default_rng(4).normal(scale=0.1, size=many.shape)
        yield "25,000 rows", lambda: fitted(kernel, many)
        yield "25,000 rows, fit_large", lambda: in_blocks(many)


def _counted(pair: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, int]:
    X, y = pair
    return X, len(np.unique(y))


def _solves(X: np.ndarray) -> Iterator[tuple[str, Case]]:
    """One γ by every solver, without an estimator."""
    from convexcluster import solve
    from convexcluster.solvers import SOLVERS
    from convexcluster.weights import build_graph

    graph = build_graph(X)

    def solved(solver: str) -> Figures:
        found = solve(X, graph.edges, graph.weights, gamma=0.3, solver=solver)
        return {"A": found.A, "Lam": found.Lam, "gap": np.asarray(found.gap)}

    for solver in SOLVERS:
        yield f"solve by {solver}", lambda solver=solver: solved(solver)


def measure(file: Path, checkout: Path, options: argparse.Namespace) -> None:
    """Write the figures of the checkout that is on the path."""
    import convexcluster

    assert Path(convexcluster.__file__).resolve().is_relative_to(checkout.resolve()), (
        f"{convexcluster.__file__} is not in {checkout}"
    )
    warnings.simplefilter("ignore")
    found: Figures = {}
    for name, case in cases(options.data, options.large):
        if options.sets and not any(some in name for some in options.sets):
            continue
        print(f"  {name}", file=sys.stderr, flush=True)
        try:
            figures = case()
        except Exception as error:  # a refusal is a result too: the other side must refuse alike
            figures = {"refused": np.asarray(f"{type(error).__name__}: {error}")}
        found |= {f"{name}\n{what}": value for what, value in figures.items()}
    np.savez(file, **found)


def run(checkout: Path, file: Path, options: argparse.Namespace) -> Figures:
    """The figures of a checkout, from a process of its own."""
    print(f"{checkout}:", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks.compare", str(checkout), "--measure", str(file)]
    command += ["--data", str(options.data), *(["--large"] if options.large else [])]
    command += ["--sets", *options.sets] if options.sets else []
    path = os.environ | {"PYTHONPATH": str(checkout.resolve() / "src")}
    subprocess.run(command, env=path, cwd=ROOT, check=True)
    with np.load(file) as found:
        return dict(found)


def difference(old: np.ndarray | None, new: np.ndarray | None) -> str:
    """How two figures differ; empty if they are equal to the last bit."""
    if old is None or new is None:
        return "only old" if new is None else "only new"
    if old.shape == new.shape and old.dtype.kind == new.dtype.kind:
        if np.array_equal(old, new, equal_nan=old.dtype.kind == "f"):
            return ""
        if old.dtype.kind == "f":
            largest = np.abs(old - new).max() / max(np.abs(old).max(), np.abs(new).max())
            values = f" ({old:.6g} → {new:.6g})" if old.ndim == 0 else ""
            return f"relative {largest:.1e}{values}"
        if old.ndim:
            return f"{np.count_nonzero(old != new):,} of {old.size:,} differ"
    if old.ndim or new.ndim:
        return f"shape {old.shape} → {new.shape}"
    return f"{old} → {new}"


def table(old: Figures, new: Figures) -> tuple[list[tuple[str, str, str]], set[str]]:
    """Lines (set, what, how they differ), and the names of the sets whose labels differ."""
    lines: list[tuple[str, str, str]] = []
    moved: set[str] = set()
    names = dict.fromkeys(key.split("\n")[0] for key in (*old, *new))
    for name in names:
        keys = [key for key in dict.fromkeys((*old, *new)) if key.split("\n")[0] == name]
        apart = {key.split("\n")[1]: difference(old.get(key), new.get(key)) for key in keys}
        same = [what for what, how in apart.items() if not how]
        if same:
            what = f"{len(same)} figures" if len(same) > 1 else same[0]
            lines.append((name, f"all {what}" if len(same) == len(apart) > 1 else what, "equal"))
        lines += [(name, what, how) for what, how in apart.items() if how]
        if any(how and (what in LABELS or what == "refused") for what, how in apart.items()):
            moved.add(name)
    return lines, moved


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("old", type=Path, help="a checkout")
    add("new", type=Path, nargs="?", default=ROOT, help="another; this one by default")
    add("--sets", nargs="*", help="only cases whose names contain one of these")
    add("--large", action="store_true", help="fits of 25,000 rows as well")
    add("--data", type=Path, default=Path(os.environ.get("CONVEXCLUSTER_DATA", "data")))
    add("--measure", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args(arguments)


def main() -> int:
    """Compare, print, and say by the exit code whether labels are the same."""
    options = options_of()
    if options.measure:
        measure(options.measure, options.old, options)
        return 0
    options.data = options.data.resolve()
    with tempfile.TemporaryDirectory() as folder:
        old, new = (
            run(checkout, Path(folder) / f"{side}.npz", options)
            for side, checkout in (("old", options.old), ("new", options.new))
        )
    lines, moved = table(old, new)
    width = [max(len(line[column]) for line in lines) for column in range(2)]
    for name, what, how in lines:
        print(f"{name:{width[0]}}  {what:{width[1]}}  {how}")
    apart = {name for name, _, how in lines if how != "equal"}
    total = len({name for name, *_ in lines})
    print(
        f"\n{total} cases: {total - len(apart)} equal to the last bit, "
        f"{len(apart)} not, labels differ in {len(moved)}"
        + (f": {', '.join(sorted(moved))}" if moved else "")
    )
    return 1 if moved else 0


if __name__ == "__main__":
    sys.exit(main())
