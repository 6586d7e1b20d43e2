"""Exit codes, and the one exception that carries a sentence and a code."""

from __future__ import annotations

from enum import IntEnum


class Exit(IntEnum):
    """What the shell sees; documented in ``convexcluster --help`` and in the docs."""

    DONE = 0
    UNEXPECTED = 1  # a bug: --debug shows where
    USAGE = 2  # an option or argument is wrong
    INPUT = 3  # the data or the model file are refused
    OUTPUT = 4  # the output exists, or cannot be written
    EXTRA = 5  # an optional dependency is missing
    INTERRUPTED = 130  # Ctrl-C, as shells count it


class Refusal(Exception):
    """What the user asked cannot be done; the message is one sentence that names the remedy."""

    def __init__(self, sentence: str, code: Exit = Exit.INPUT) -> None:
        super().__init__(sentence)
        self.code = code
