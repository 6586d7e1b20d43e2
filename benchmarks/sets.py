"""A benchmark with a row for each of some named sets: its table, printed, and its page in docs/."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.kept import ROOT
from benchmarks.machine import PACKAGES, header
from benchmarks.scale.page import prose, table


@dataclass(frozen=True)
class Sets:
    """What is measured; ``row`` makes the cells of a set, as text in the order of ``columns``."""

    command: str
    file: str
    title: str
    text: str
    packages: tuple[str, ...]
    columns: tuple[str, ...]
    names: tuple[str, ...]
    row: Callable[[str], list[str]]

    def page(self, rows: list[list[str]]) -> str:
        """The page of the results."""
        lines = [f"# {self.title}", "", *prose(f"{self.text} `{self.command}` writes this page.")]
        lines += ["```", header(self.command, (*PACKAGES, *self.packages)), "```", ""]
        return "\n".join(lines + table(list(self.columns), rows))

    def run(self) -> None:
        """Measure the sets that are named; all of them make the page."""
        parser = argparse.ArgumentParser(description=self.text)
        parser.add_argument("names", nargs="*", default=self.names)
        names, rows = parser.parse_args().names, []
        for name in names:
            rows.append(self.row(name))
            print(" | ".join(rows[-1]), flush=True)
        if tuple(names) == self.names:
            (ROOT / "docs" / self.file).write_text(self.page(rows), encoding="utf-8")
