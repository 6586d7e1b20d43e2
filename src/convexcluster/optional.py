"""Optional dependencies: imported late, and missed with a sentence that names the extra."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType


def need(module: str, extra: str) -> ModuleType:
    """Import ``module``, or say which extra of this package brings it.

    Examples
    --------
    >>> need("math", "plot").floor(2.5)
    2
    """
    try:
        return import_module(module)
    except ImportError as error:
        if error.name and not module.startswith(error.name):
            raise  # the module is there, but something it imports is broken
        raise ImportError(
            f"{module.partition('.')[0]} is needed for this and is not installed: "
            f"pip install 'convexcluster[{extra}]'"
        ) from error
