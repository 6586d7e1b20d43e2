"""Print the oldest versions that pyproject.toml allows, as requirements for pip.

Every ``name>=floor`` of the dependencies, the extras and the tests becomes ``name==floor``; a floor
of ``2`` means 2.0, which is the oldest release of that series.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path


def oldest(requirement: str) -> str | None:
    """``numpy>=1.26`` → ``numpy==1.26.0``; None for our own extras.

    >>> oldest("numpy>=1.26"), oldest("dask[array]>=2024.5"), oldest("pandas>=2")
    ('numpy==1.26.0', 'dask[array]==2024.5.0', 'pandas==2.0.0')
    """
    found = re.fullmatch(r"([A-Za-z0-9._-]+)(\[.*\])?(?:>=([0-9.]+))?", requirement.strip())
    if found is None:
        raise ValueError(f"{requirement!r} does not read NAME>=VERSION")
    name, extras, floor = found.groups()
    if name == "convexcluster" or floor is None:
        return None
    parts = [*floor.split("."), "0", "0"][: max(3, floor.count(".") + 1)]
    return f"{name}{extras or ''}=={'.'.join(parts)}"


def main() -> None:
    """Print one requirement a line."""
    project = tomllib.loads((Path(__file__).parents[1] / "pyproject.toml").read_text())
    given = list(project["project"]["dependencies"])
    for extra in project["project"]["optional-dependencies"].values():
        given += extra
    given += project["dependency-groups"]["test"]
    print("\n".join(sorted({line for line in map(oldest, given) if line})))


if __name__ == "__main__":
    main()
