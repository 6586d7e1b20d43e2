"""The command ``convexcluster``: everything the library does, as one command.

:func:`main` runs it and turns every outcome into an exit code; errors are one sentence on
standard error, and ``--debug`` shows the traceback instead.
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence

from ..optional import need
from . import interrupt
from .refusal import Exit, Refusal

# What the extra `cli` brings.
EXTRA = ("typer", "rich", "pandas", "pyarrow")


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command with ``arguments``, or those of the process; leave with an exit code."""
    with interrupt.watched(to_the_end=arguments is None):
        try:
            code = _code(list(sys.argv[1:] if arguments is None else arguments))
        except KeyboardInterrupt:  # a second one, while the first was answered
            code = Exit.INTERRUPTED
        interrupt.ignore()
    sys.exit(int(code))


def _code(given: list[str]) -> int:
    """Run the command, say what went wrong, and return the exit code."""
    try:
        code = _run(given)
        if code == Exit.INTERRUPTED:  # Typer turns Ctrl-C into this code, without a word
            raise KeyboardInterrupt
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader (head, less) has gone; what is left in the buffer must not raise again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = Exit.DONE
    except BaseException as error:
        interrupt.ignore()
        if isinstance(error, SystemExit):
            raise
        if "--debug" in given:
            traceback.print_exc()
        code, sentence = _explain(error)
        print(f"convexcluster: {sentence}", file=sys.stderr)
    return code


def _run(arguments: list[str]) -> int:
    # The demo reads no table: a first look costs half of the packages.
    for module in ("typer", "rich") if "demo" in arguments[:1] else EXTRA:
        need(module, "cli")
    from .app import app

    # Not standalone: Typer hands its errors over instead of printing a page about them.
    return (
        app(args=arguments or ["--help"], prog_name="convexcluster", standalone_mode=False)
        or Exit.DONE
    )


def _explain(error: BaseException) -> tuple[int, str]:
    """Exit code and sentence of an error."""
    text = " ".join(str(error).split())
    if isinstance(error, Refusal) and (error.code == Exit.INTERRUPTED or not interrupt.seen()):
        return error.code, text
    stopped = isinstance(error, KeyboardInterrupt) or type(error).__name__ == "Abort"
    if stopped or interrupt.seen():  # other packages may have made another error of it
        return Exit.INTERRUPTED, "interrupted; nothing was written"
    if hasattr(error, "format_message"):  # Typer's usage errors, whichever click it brings
        context = getattr(error, "ctx", None)
        command = context.command_path if context is not None else "convexcluster"
        text = " ".join(error.format_message().split()).rstrip(".")
        return Exit.USAGE, f"{text} (see {command} --help)"
    if isinstance(error, ImportError) and "pip install" in text:
        return Exit.EXTRA, text
    if type(error).__name__ == "InvalidParameterError":  # scikit-learn's, for a parameter's value
        return Exit.USAGE, text
    if isinstance(error, ValueError | MemoryError):
        return Exit.INPUT, text or "there is not enough memory for this"
    if isinstance(error, OSError):
        return Exit.OUTPUT, text
    return Exit.UNEXPECTED, f"unexpected {type(error).__name__}: {text} (--debug shows where)"
