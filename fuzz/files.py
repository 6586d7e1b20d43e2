"""Model files and checkpoints with damage of all kinds: refused by a sentence, or unharmed.

What is read from a damaged file is never anything else than what was written.
"""

from __future__ import annotations

import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from convexcluster import KernelConvexClustering, load, solve_path
from convexcluster.path import checkpoint
from convexcluster.persistence import ModelFileError

CHAIN = [[0.0], [1.0], [5.0], [5.5]], [[0, 1], [1, 2], [2, 3]], [1.0, 1.0, 1.0]


@cache
def originals() -> tuple[bytes, bytes, np.ndarray, Any]:
    """A model file and a checkpoint of half a path, and what they hold."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2)) + 9.0 * (np.arange(20) % 2)[:, None]
    model = KernelConvexClustering(2).fit(X)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        model.save(file)
        saved = file.read_bytes()
        file.unlink()
        before, checkpoint.EVERY = checkpoint.EVERY, 0.0

        def stop(step: int, *_: object) -> None:
            if step == 8:
                raise KeyboardInterrupt

        solve_path(*CHAIN, checkpoint=file, callback=stop)
        checkpoint.EVERY = before
        half = file.read_bytes()
    return saved, half, model.predict(X), (X, solve_path(*CHAIN))


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """The same bytes with a bit turned, a piece lost, moved, repeated, zeroed or put in."""
    kind, at = rng.integers(7), int(rng.integers(len(data)))
    length = int(rng.integers(1, 200))
    piece = data[at : at + length]
    if kind == 0:
        return data[:at] + bytes([data[at] ^ (1 << int(rng.integers(8)))]) + data[at + 1 :]
    if kind == 1:
        return data[:at]
    if kind == 2:
        return data[:at] + data[at + length :]
    if kind == 3:
        return data[:at] + bytes(len(piece)) + data[at + length :]
    if kind == 4:
        return data[:at] + piece + data[at:]
    if kind == 5:
        return data[:at] + rng.bytes(length) + data[at:]
    other = int(rng.integers(len(data)))
    return data[:at] + data[other : other + length] + data[at + length :]


def case(rng: np.random.Generator) -> dict[str, int]:
    """One damaged file."""
    saved, half, labels, (X, path) = originals()
    of_model = rng.random() < 0.5
    data = damaged(saved if of_model else half, rng)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "file"
        file.write_bytes(data)
        try:
            if of_model:
                found = load(file).predict(X)
            else:
                found = solve_path(*CHAIN, checkpoint=file)
        except (ModelFileError, ValueError) as error:
            assert isinstance(error, ModelFileError) or not of_model, repr(error)
            assert str(file) in str(error), f"the file is not named: {error}"
            assert "\n" not in str(error)
            return {"refused": 1}
        if of_model:
            np.testing.assert_array_equal(found, labels)
        else:
            np.testing.assert_array_equal(found.gammas, path.gammas)
            np.testing.assert_array_equal(found.gaps, path.gaps)
            np.testing.assert_array_equal(found.n_clusters, path.n_clusters)
    return {"unharmed": 1}
