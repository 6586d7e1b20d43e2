"""How many threads ``n_jobs`` means, for every entry of the package."""

from __future__ import annotations

import os

# Threads where nothing is said. A path has two halves, and a pass over blocks holds one block per
# thread: four threads would hold twice the memory, and one takes nearly twice the time.
THREADS = 2


def threads(n_jobs: int | None) -> int:
    """Threads for ``n_jobs``: None is two, −1 all cores, −2 all but one.

    Examples
    --------
    >>> threads(None), threads(3), threads(-1) == os.cpu_count()
    (2, 3, True)
    """
    if n_jobs is None:
        return THREADS
    return max(1, n_jobs if n_jobs > 0 else (os.cpu_count() or 1) + 1 + n_jobs)
