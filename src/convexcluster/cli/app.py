"""The Typer application: one line per command."""

from __future__ import annotations

from typing import Annotated

import typer

from .. import __version__
from .applying import predict, report
from .fitting import fit, path
from .grouped import flat
from .info import info
from .studies import demo, reproduce, tune

EPILOG = (
    "Exit codes: 0 done, 1 unexpected error, 2 wrong usage, 3 data or model refused, "
    "4 output exists or cannot be written, 5 an optional dependency is missing, 130 interrupted."
)

app = typer.Typer(
    help="Exact, certified, fast convex clustering with kernels.",
    epilog=EPILOG,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (fit, path, predict, tune, report, demo, reproduce, info):
    app.command()(flat(command))


def _show_version(asked: bool) -> None:
    if asked:
        print(f"convexcluster {__version__}")
        raise typer.Exit()


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="And exit.")
    ] = False,
) -> None:
    """Exact, certified, fast convex clustering with kernels."""
