"""Cells: the smallest units of work, each kept as a JSON file so that a run can be resumed.

A cell is a function with plain arguments. Its file holds the arguments, the result and the
seconds, of the clock and of the processor; it counts only if the arguments and the version of the
package are those asked for. Files appear whole or not at all (written aside, then renamed).
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from .. import __version__
from ..storage import replacing

Result = dict[str, Any]
Results = dict[str, Result]


@dataclass(frozen=True)
class Cell:
    """One unit of work: ``function(**arguments)`` gives plain data."""

    key: str
    function: Callable[..., Result]
    arguments: dict[str, Any] = field(default_factory=dict)

    def stamp(self) -> dict[str, Any]:
        """What the result depends on."""
        name = f"{self.function.__module__}.{self.function.__qualname__}"
        arguments = json.loads(json.dumps(self.arguments))
        return {"version": __version__, "function": name, "arguments": arguments}


@dataclass(frozen=True)
class Page:
    """What a target returns: Markdown, CSV tables and figures by file name."""

    markdown: str
    tables: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)


# A target yields lists of cells, is sent their results by key, and returns a page. Cells are shared
# by key, so that a figure reuses what a table computed.
Target = Callable[[], Generator[list[Cell], Results, Page]]


def compute(cell: Cell) -> dict[str, Any]:
    """Run a cell on one thread; the record that goes to its file."""
    from threadpoolctl import threadpool_limits

    begin, busy = time.perf_counter(), time.process_time()
    with threadpool_limits(1), warnings.catch_warnings():
        # Grids visit settings that fit badly on purpose; what they warn of shows in their scores.
        warnings.simplefilter("ignore")
        result = cell.function(**cell.arguments)
    spent = {
        "seconds": round(time.perf_counter() - begin, 3),
        "processor_seconds": round(time.process_time() - busy, 3),
    }
    return {**cell.stamp(), **spent, "result": result}


def finished(
    cells: list[Cell], folder: Path, n_jobs: int = 1
) -> Iterator[tuple[Cell, dict[str, Any]]]:
    """Every cell with its record, kept ones first, the others as they end."""
    folder.mkdir(parents=True, exist_ok=True)
    missing = []
    for cell in cells:
        record = _kept(folder / f"{cell.key}.json", cell)
        if record is None:
            missing.append(cell)
        else:
            yield cell, record
    if n_jobs == 1 or len(missing) < 2:
        for cell in missing:
            yield cell, _keep(folder / f"{cell.key}.json", compute(cell))
        return
    # A forked child would inherit the state of numba's and OpenMP's threads.
    with ProcessPoolExecutor(n_jobs, mp_context=get_context("spawn")) as pool:
        futures = {pool.submit(compute, cell): cell for cell in missing}
        try:
            for future in as_completed(futures):
                cell = futures[future]
                yield cell, _keep(folder / f"{cell.key}.json", future.result())
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _kept(file: Path, cell: Cell) -> dict[str, Any] | None:
    """The record of an earlier run, if it is whole and answers the same question."""
    try:
        record = json.loads(file.read_text("utf-8"))
    except (FileNotFoundError, json.JSONDecodeError):
        return None
    stamp = cell.stamp()
    return record if {name: record.get(name) for name in stamp} == stamp else None


def _keep(file: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Write the record, whole or not at all, and return it as it will be read."""
    text = json.dumps(record, ensure_ascii=False)
    with replacing(file) as out:
        out.write(text.encode())
    return json.loads(text)
