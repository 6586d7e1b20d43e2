"""`python -m benchmarks.beyond [PART …]`: what goes beyond the paper, in figures and pictures.

Parts: links exact, links, recovery, refuted, large, views, features, noise, clearness, tables.
Every figure is kept in benchmarks/out/beyond.jsonl by case and state of the package, so that a run
that was stopped goes on where it was. A run of all parts writes docs/beyond.md and its pictures.
"""

from __future__ import annotations

import sys
import warnings

from benchmarks.kept import OUT, ROOT, Kept, source
from benchmarks.machine import header

from .cases import cases
from .page import page, write
from .pictures import draw


def main() -> None:
    """Run what is not kept, then print and write the page."""
    warnings.simplefilter("ignore")
    parts = sys.argv[1:]
    chosen = [case for case in cases() if not parts or case.part in parts]
    kept, state = Kept(OUT / "beyond.jsonl"), source()
    rows = []
    for number, case in enumerate(chosen, start=1):
        known = len(kept.known)
        rows.append((case, kept.get(f"{case.key}, {state}", case.run)))
        if len(kept.known) > known:
            print(f"{number} of {len(chosen)}: {case.key}", file=sys.stderr, flush=True)
    text = page(rows, header("make bench-beyond"))
    if not parts:
        write(ROOT / "docs", text)
        draw(ROOT / "docs", rows)
    print(text)


if __name__ == "__main__":
    main()
