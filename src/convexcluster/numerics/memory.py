"""Say before allocating that memory would not suffice, and name the alternative."""

from __future__ import annotations

import os
from pathlib import Path


def available_memory() -> int:
    """Bytes that a new array may take: free memory of the machine, or of its container if less."""
    try:
        page = os.sysconf("SC_PAGE_SIZE")
        # macOS has no SC_AVPHYS_PAGES; the whole memory is then the best upper bound at hand
        name = "SC_AVPHYS_PAGES" if "SC_AVPHYS_PAGES" in os.sysconf_names else "SC_PHYS_PAGES"
        free = page * os.sysconf(name)
    except (AttributeError, ValueError, OSError):  # Windows has no sysconf
        return 2**62
    try:
        # Linux counts the page cache as used, but gives it back on demand
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                free = 1024 * int(line.split()[1])
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        free = min(free, limit - int(Path("/sys/fs/cgroup/memory.current").read_text()))
    except (OSError, ValueError):  # no such file, or the word "max": no limit
        pass
    return free


def check_memory(needed: float, what: str, remedy: str) -> None:
    """Raise MemoryError, with a sentence, if ``needed`` bytes are not to be had.

    Examples
    --------
    >>> check_memory(1e18, "a matrix of 10⁹ × 10⁹", "take fewer samples")
    Traceback (most recent call last):
    ...
    MemoryError: a matrix of 10⁹ × 10⁹ needs 1,000,000,000 GB, ... GB are free: take fewer samples
    """
    free = available_memory()
    if needed > free:
        raise MemoryError(
            f"{what} needs {needed / 1e9:,.0f} GB, {free / 1e9:,.0f} GB are free: {remedy}"
        )
