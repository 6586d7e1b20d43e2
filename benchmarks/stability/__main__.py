"""`python -m benchmarks.stability [PART …] [--all]`: right answers, and the same ones again.

Parts: separable, touching, kernels, lone curves, noise, changes. By default data sets of at most
2,000 samples and seeds 0 to 2; with --all to 20,000 samples and seeds 0 to 9, for hours. Every
figure is kept in benchmarks/out/stability.jsonl by data set, seed and state of the package, so that
a run that was stopped goes on where it was. A run of all parts writes benchmarks/STABILITY.md, or
benchmarks/STABILITY-ALL.md with --all; any other writes benchmarks/out/stability.md.
"""

from __future__ import annotations

import argparse
import sys
import warnings

from benchmarks.kept import OUT, ROOT, Figures, Kept, source
from benchmarks.machine import header

from .cases import ALL, PARTS, SHORT, Case, cases
from .page import page


def attempt(case: Case) -> Figures:
    """The figures of a case; a fit that stops with an error is a wrong answer with its reason."""
    try:
        return case.run()
    except Exception as error:  # hours of other cases are still to come
        return {"failed": f"{type(error).__name__}: {error}"}


def options_of(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    add = parser.add_argument
    add("parts", nargs="*", choices=[[], *PARTS], metavar="PART", help=", ".join(PARTS))
    add("--all", action="store_true", help="to 20,000 samples, ten seeds")
    add("--sets", nargs="*", default=[], help="only data sets whose names contain one of these")
    add("--samples", type=int, default=20_000, help="no data set larger than this")
    add("--seeds", type=int, nargs="*", help="these seeds")
    return parser.parse_args(arguments)


def main() -> None:
    """Run what is not kept, then print and write the table."""
    options = options_of()
    warnings.simplefilter("ignore")
    plan = ALL if options.all else SHORT
    chosen = [
        case
        for case in cases(plan)
        if case.part in (options.parts or PARTS)
        and case.n <= options.samples
        and (options.seeds is None or case.seed in options.seeds)
        and (not options.sets or any(some in case.what for some in options.sets))
    ]
    kept, state = Kept(OUT / "stability.jsonl"), source()
    rows = []
    for number, case in enumerate(chosen, start=1):
        known = len(kept.known)
        rows.append((case, kept.get(f"{case.key}, {state}", lambda case=case: attempt(case))))
        if len(kept.known) > known:
            print(f"{number} of {len(chosen)}: {case.key}", file=sys.stderr, flush=True)
    seeds = sorted({case.seed for case in chosen})
    title = f"make bench-stability, seeds {', '.join(map(str, seeds))}"
    text = page(rows, header(title))
    left_out = options.parts or options.sets or options.seeds or options.samples < max(plan.sizes)
    name = "STABILITY-ALL.md" if options.all else "STABILITY.md"
    OUT.mkdir(exist_ok=True)
    file = OUT / "stability.md" if left_out else ROOT / "benchmarks" / name
    file.write_text(text, encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()
