"""What strangers expect: types, threads, forks, homes and installs that are read-only."""

from __future__ import annotations

import multiprocessing
import os
import re
import shutil
import subprocess
import sys
import threading
import tomllib
from pathlib import Path

import numpy as np
import pytest

import convexcluster
from convexcluster import KernelConvexClustering

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "convexcluster"
TYPED = ROOT / "tests" / "typed"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]

X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0.0], [9.0]], 20, axis=0)
FIT = f"""
import numpy as np
from convexcluster import KernelConvexClustering
X = np.array({X.tolist()})
print(KernelConvexClustering().fit(X).labels_.tolist())
"""


def labels() -> list[int]:
    """Of a default fit."""
    return KernelConvexClustering().fit(X).labels_.tolist()


def test_a_fit_in_a_thread():
    found = []
    threads = [threading.Thread(target=lambda: found.append(labels())) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [labels()] * 2


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fit_in_a_forked_worker_of_a_process_that_has_fitted():
    here = labels()
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.starmap_async(labels, [()] * 2).get(timeout=120) == [here] * 2


def sealed(folder: Path) -> dict[str, str]:
    """Environment for a copy of the package in ``folder`` beside which nothing can be kept.

    A file stands where folders of compiled code would be made, and the home is none: that holds
    for the administrator too, whom permissions do not stop.
    """
    shutil.copytree(PACKAGE, folder / "convexcluster", ignore=shutil.ignore_patterns("__pycache__"))
    for inside in (folder / "convexcluster").rglob("*.py"):
        (inside.parent / "__pycache__").touch()
    dropped = ("NUMBA_CACHE_DIR", "XDG_CACHE_HOME", "PYTHONPATH", "MPLCONFIGDIR")
    kept = {name: value for name, value in os.environ.items() if name not in dropped}
    return kept | {"HOME": os.devnull, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}


def run(code: str, folder: Path, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done


def test_loops_load_where_nothing_can_be_kept(tmp_path):
    modules = [
        ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        for path in sorted(PACKAGE.rglob("*.py"))
        if "@njit" in path.read_text("utf-8")
    ]
    assert len(modules) > 10
    done = run(f"import {', '.join(modules)}", tmp_path, sealed(tmp_path))
    assert done.stderr.count("compiled loops cannot be kept") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr


def test_numba_is_called_through_our_njit():
    """numba's own fails where no cache folder can be written."""
    direct = re.compile(r"^\s*(from|import) numba\b", re.MULTILINE)
    found = {
        p.relative_to(PACKAGE).as_posix()
        for p in PACKAGE.rglob("*.py")
        if direct.search(p.read_text("utf-8"))
    }
    assert found == {"loops/compile.py", "cli/info.py"}


@pytest.mark.slow
def test_a_fit_where_nothing_can_be_kept(tmp_path):
    done = run(FIT, tmp_path, sealed(tmp_path))
    assert done.stdout.strip() == str(labels())


@pytest.mark.slow
def test_a_read_only_install_keeps_its_loops_elsewhere(tmp_path):
    environment = sealed(tmp_path) | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = run(FIT, tmp_path, environment)
    assert done.stdout.strip() == str(labels())
    assert "cannot be kept" not in done.stderr
    assert list((tmp_path / "cache").rglob("*.nbi"))


@pytest.mark.slow
def test_types_of_the_public_names(tmp_path):
    """A user's program has no error under `mypy --strict`, and each mistake of another has one."""
    pytest.importorskip("mypy", reason="mypy is not installed")
    command = [sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"]
    command += ["--follow-imports=silent", f"--cache-dir={tmp_path}", "user.py", "wrong.py"]
    environment = os.environ | {"MYPYPATH": str(PACKAGE.parent)}
    done = subprocess.run(command, cwd=TYPED, env=environment, capture_output=True, text=True)
    lines = (TYPED / "wrong.py").read_text("utf-8").splitlines()
    wanted = {
        (i + 1, kind[1]) for i, line in enumerate(lines) if (kind := re.search("# (.+)", line))
    }
    errors = re.findall(r"^(\w+\.py):(\d+): error: .*\[([\w-]+)\]$", done.stdout, re.MULTILINE)
    assert {file for file, *_ in errors} == {"wrong.py"}, done.stdout + done.stderr
    assert {(int(line), kind) for _, line, kind in errors} == wanted


def test_versions_and_requirements_agree():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {convexcluster.__version__}\n" in citation
    recipe = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text("utf-8")
    assert f"\n  version: {convexcluster.__version__}\n" in recipe
    extras = PROJECT["optional-dependencies"]["cli"]
    needed = {line.replace(">=", " >=") for line in (*PROJECT["dependencies"], *extras)}
    listed = set(re.findall(r"^    - (\S+ >=[\d.]+)$", recipe.partition("  run:")[2], re.MULTILINE))
    assert listed == needed


def test_no_extra_brings_a_package_under_the_gpl():
    for extra in PROJECT["optional-dependencies"].values():
        assert not any(re.match("leidenalg|igraph|scanpy", line) for line in extra)
