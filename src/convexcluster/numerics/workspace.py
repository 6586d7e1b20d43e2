"""Memory that work of one kind takes again and again.

The system clears new memory page by page, which takes as long as several passes over it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

# What is taken, as a multiple of what is asked for: the next array may be a little larger, and what
# is never written is no memory yet. At 1, a graph that grows by a node takes new memory; other
# values were not compared.
MORE = 1.25


class Workspace:
    """Arrays by name; one of a name ends the one before, whose memory it takes if that suffices.

    Examples
    --------
    >>> space = Workspace()
    >>> before = space.array("points", (6, 2), np.float64)
    >>> after = space.array("points", (4, 3), np.float32)
    >>> after.shape, np.shares_memory(before, after)
    ((4, 3), True)
    """

    def __init__(self) -> None:
        self.held: dict[str, np.ndarray] = {}

    def array(self, name: str, shape: tuple[int, ...], kind: Any) -> Any:
        """An array whose numbers are still to be written."""
        needed = int(np.prod(shape)) * np.dtype(kind).itemsize
        held = self.held.get(name)
        if held is None or held.nbytes < needed:
            self.held.pop(name, None)  # before more is taken
            held = self.held[name] = np.empty(int(MORE * needed), np.uint8)
        return held[:needed].view(kind).reshape(shape)
