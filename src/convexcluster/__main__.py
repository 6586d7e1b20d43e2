"""``python -m convexcluster`` is the command ``convexcluster``."""

from __future__ import annotations

from importlib import import_module


def main() -> None:
    """Run the command line."""
    import_module("convexcluster.cli").main()


if __name__ == "__main__":
    main()
