"""A command whose options come in groups, dataclasses → the flat signature that Typer reads."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from functools import wraps
from typing import Any, cast, get_type_hints


def flat(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each dataclass parameter of ``command`` by its fields."""
    hints = get_type_hints(command, include_extras=True)
    groups = {name: hints[name] for name in inspect.signature(command).parameters if name in hints}
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(command).parameters.items():
        group = groups[name]
        if not is_dataclass(group):
            parameters.append(
                parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=group)
            )
            continue
        inner = get_type_hints(group, include_extras=True)
        for f in fields(group):
            default = inspect.Parameter.empty if f.default is MISSING else f.default
            parameters.append(
                inspect.Parameter(
                    f.name,
                    inspect.Parameter.KEYWORD_ONLY,
                    # Typer wants a list where several values are accepted
                    default=[] if default == () else default,
                    annotation=inner[f.name],
                )
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
