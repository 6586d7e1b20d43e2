"""The paper's tables and figures, recomputed, with the paper's own figures beside ours.

``run(["table1"], "out")`` writes Markdown, CSV and PNG files to a folder. Every unit of work is
kept in ``out/cells`` as soon as it is done, so that an interrupted run goes on where it stopped;
the results are the same whatever the number of workers.
"""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .. import __version__
from ..numerics.threads import threads
from . import cases, kernels, one_sweep, oracle, rings, sensitivity, table1, theorem
from .cells import Page, Results, Target, finished
from .writing import markdown_table, save_figure, write_csv, write_text

__all__ = ["TARGETS", "run"]

TARGETS: dict[str, Target] = {
    "table1": table1.table1,
    "table2": rings.table2,
    "table3": kernels.table3,
    "fig-synthetic": rings.scatter,
    "fig-elbow": sensitivity.elbows,
    "fig-nmi-k": rings.nmi_against_k,
    "fig-lymphoma": cases.lymphoma,
    "fig-gli85": cases.gli85,
    "fig-sensitivity": sensitivity.page,
    "theorem1": theorem.page,
    "oracle": oracle.page,
    "one-sweep": one_sweep.page,
}

Progress = Callable[[int, str], None]


def run(
    names: str | Sequence[str] = "all",
    out: str | Path = "reproduction",
    *,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> list[Path]:
    """Recompute tables and figures of the paper.

    Parameters
    ----------
    names : str or sequence of str
        Keys of ``TARGETS``, or "all".
    out : path
        Folder for the pages; made if it is not there. What it holds already is not computed again.
    progress : callable, optional
        Called as ``progress(k, text)`` while the k-th target is under way.
    n_jobs : int, optional
        Worker processes; by default two, or one on a single core.

    Returns
    -------
    list of Path
        The Markdown files, the index first.
    """
    wanted = _wanted(names)
    out = Path(out)
    jobs = threads(n_jobs)
    begin = time.perf_counter()
    spent: dict[str, float] = {}
    pages = []
    for k, name in enumerate(wanted):
        page = _drive(name, k, out, jobs, progress or (lambda k, text: None), spent)
        pages.append(_write(name, page, out))
    seconds = time.perf_counter() - begin
    index = out / "README.md"
    write_text(index, _index(wanted, out, seconds, sum(spent.values()), jobs))
    return [index, *pages]


def _wanted(names: str | Sequence[str]) -> list[str]:
    listed = [names] if isinstance(names, str) else list(names)
    if not listed or "all" in listed:
        return list(TARGETS)
    for name in listed:
        if name not in TARGETS:
            raise ValueError(f"there is no table or figure {name!r}: use {', '.join(TARGETS)}")
    return list(dict.fromkeys(listed))


def _drive(
    name: str, k: int, out: Path, jobs: int, progress: Progress, spent: dict[str, float]
) -> Page:
    """Send the target the results of each list of cells that it asks for."""
    target = TARGETS[name]()
    cells = next(target)
    while True:
        results: Results = {}
        progress(k, f"{name}: {len(cells)} cells")
        for cell, record in finished(cells, out / "cells", jobs):
            results[cell.key] = record["result"]
            spent[cell.key] = record["processor_seconds"]
            progress(k, f"{name}: {len(results)} of {len(cells)} cells, {cell.key}")
        try:
            cells = target.send(results)
        except StopIteration as stop:
            return stop.value


def _write(name: str, page: Page, out: Path) -> Path:
    for file, rows in page.tables.items():
        write_csv(out / file, rows)
    for file, made in page.figures.items():
        save_figure(made, out / file)
    write_text(out / f"{name}.md", page.markdown)
    return out / f"{name}.md"


def _index(wanted: list[str], out: Path, seconds: float, spent: float, jobs: int) -> str:
    """How this folder came about, and what is in it."""
    command = "all" if wanted == list(TARGETS) else " ".join(wanted)
    pages = [name for name in TARGETS if (out / f"{name}.md").exists()]
    lines = []
    for name in pages:
        title = (out / f"{name}.md").read_text("utf-8").partition("\n")[0].lstrip("# ")
        lines.append([f"[{name}]({name}.md)", title])
    rows = [["convexcluster", f"{__version__}, {_commit()}"], ["Python", platform.python_version()]]
    for package in ("numpy", "scipy", "scikit-learn", "numba", "matplotlib"):
        rows.append([package, _version(package)])
    rows.append(["workers", str(jobs)])
    rows.append(["wall clock of this run", f"{seconds:.0f} s"])
    rows.append(["processor time of its cells, kept ones included", f"{spent:.0f} s"])
    return f"""# The paper, reproduced

    convexcluster reproduce {command} --out {out.name}

Every page is the output of that command; nothing is edited by hand. Figures in square brackets are
the paper's.

{markdown_table(["page", "what"], lines, texts=2)}

{markdown_table(["run", ""], rows, texts=2)}
"""


def _commit() -> str:
    """The commit of a checkout, or that there is none."""
    here = Path(__file__).parent
    call: Any = {"cwd": here, "capture_output": True, "text": True, "check": True}
    try:
        commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], **call).stdout.strip()
        changed = subprocess.run(["git", "status", "--porcelain", "--", "."], **call).stdout
    except (OSError, subprocess.CalledProcessError):
        return "installed package"
    return f"commit {commit}" + (" with changes" if changed.strip() else "")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "–"
