"""What a person sees: tables on standard output, progress on standard error if it is a terminal."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text


def watched() -> bool:
    """Whether a person looks at standard error."""
    return sys.stderr.isatty()


# Shown until the first progress of a task: the wait after an install is then no riddle.
FIRST_RUN = "compiling, if this is the first run"


@contextmanager
def working(task: str, note: str = "") -> Iterator[Callable[..., None]]:
    """Show a bar for ``task`` while the block runs; silent when nobody watches.

    Yields ``advance(done, total, note)``; a total of None leaves the bar pulsing. ``note`` is what
    stands beside the task until then.
    """
    if not watched():
        yield lambda *_: None
        return
    with Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True, force_terminal=True),  # watched() has decided
        transient=True,
    ) as progress:

        def text(note: str) -> str:
            return f"{task}: {note}" if note else task

        bar = progress.add_task(text(note), total=None)

        def advance(done: float, total: float | None = None, note: str = "") -> None:
            progress.update(bar, completed=done, total=total, description=text(note))

        yield advance


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Turn warnings into lines on standard error, and keep their text."""
    texts: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield texts
    for warning in caught:
        # deprecations concern those who develop the package, not those who run its command
        if not issubclass(warning.category, DeprecationWarning | PendingDeprecationWarning):
            text = " ".join(str(warning.message).split())
            if text not in texts:
                texts.append(text)
                print(f"convexcluster: warning: {text}", file=sys.stderr)


def show_pairs(title: str, pairs: Sequence[tuple[str, Any]]) -> None:
    """Print a two-column table."""
    console = Console()
    console.print(Text(title, style="bold"))
    table = Table(show_header=False, box=None)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        table.add_row(Text(name), Text(_shown(value)))
    console.print(table)


def show_table(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table; text is text, never markup."""
    console = Console()
    console.print(Text(title, style="bold"))
    table = Table()
    for name in columns:
        table.add_column(Text(name), justify="right" if name != columns[0] else "left")
    for row in rows:
        table.add_row(*(Text(_shown(value)) for value in row))
    console.print(table)


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "–" if value != value else f"{value:.4g}"
    return "–" if value is None else str(value)
