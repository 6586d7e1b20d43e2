"""What a figure was measured on: machine, versions and commit, printed above every table."""

from __future__ import annotations

import os
import platform
import subprocess
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from joblib import effective_n_jobs

PACKAGES = ("numpy", "scipy", "numba", "scikit-learn")


def header(title: str, packages: tuple[str, ...] = PACKAGES) -> str:
    """A few lines that say what ran where."""
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    return "\n".join(
        [
            title,
            f"{processor()}, {effective_n_jobs(-1)} cores{load}, {platform.platform(terse=True)}",
            f"Python {platform.python_version()}, "
            + ", ".join(f"{name} {installed(name)}" for name in packages),
            f"convexcluster {commit()}",
        ]
    )


def processor() -> str:
    """The processor's name, as the system gives it."""
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux: the platform module knows less, but something
    return platform.processor() or platform.machine()


def installed(name: str) -> str:
    """Version of a package, or that there is none."""
    try:
        return version(name)
    except PackageNotFoundError:
        return "absent"


def commit() -> str:
    """The commit of the working tree, marked when it has changes."""
    root = Path(__file__).resolve().parents[1]
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=10"],
        cwd=root,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "outside a repository"
