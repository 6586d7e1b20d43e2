"""A command whose options come in groups, dataclasses → the flat signature that Typer reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, cast, get_type_hints

from typer.models import OptionInfo


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass parameter of ``command`` by its fields."""
    groups = get_type_hints(command, include_extras=True)
    del groups["return"]
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        group, keyword = groups[name], inspect.Parameter.KEYWORD_ONLY
        if not is_dataclass(group):
            parameters.append(parameter.replace(kind=keyword, annotation=group))
            continue
        inner = get_type_hints(group, include_extras=True)
        for f in fields(group):
            option = inner[f.name].__metadata__[0]
            if isinstance(option, OptionInfo):
                option.rich_help_panel = cast(Any, group).panel
            default = inspect.Parameter.empty if f.default is MISSING else f.default
            default = [] if default == () else default  # where Typer accepts several values
            annotation = inner[f.name]
            parameters.append(
                inspect.Parameter(f.name, keyword, default=default, annotation=annotation)
            )

    @wraps(command)
    def ungrouped(**values: Any) -> None:
        packed = {
            name: cast(Any, group)(**{f.name: values[f.name] for f in fields(group)})
            if is_dataclass(group)
            else values[name]
            for name, group in groups.items()
        }
        command(**packed)

    ungrouped.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    ungrouped.__annotations__ = {p.name: p.annotation for p in parameters}
    del ungrouped.__wrapped__  # type: ignore[attr-defined]
    return ungrouped
