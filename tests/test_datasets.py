"""The paper's data: the generator's geometry, the loaders' checks and their readers."""

from __future__ import annotations

import hashlib
import io
import json
import threading
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib import request

import numpy as np
import pytest
from scipy.io import savemat
from scipy.spatial.distance import cdist

from convexcluster import datasets
from convexcluster.datasets import readers
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


@pytest.fixture
def homes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, bytes]]:
    """Addresses and their bytes: a local server answers for every host, and 404 for the rest."""
    pages: dict[str, bytes] = {}

    class Home(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = pages.get("https:/" + self.path)
            self.send_response(404 if content is None else 200)
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Home)

    class Redirected(request.HTTPSHandler):
        def https_open(self, asked: request.Request) -> object:
            there = f"http://127.0.0.1:{server.server_port}/{asked.host}{asked.selector}"
            return request.build_opener(request.ProxyHandler({})).open(there)

    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    monkeypatch.delenv("CONVEXCLUSTER_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "kept"))
    request.install_opener(request.build_opener(Redirected))
    yield pages
    request.install_opener(request.build_opener())
    server.shutdown()
    thread.join()
    server.server_close()


def openml(number: int, name: str, header: list[tuple[str, str]], rows: list[str]) -> dict:
    """What OpenML answers about a set whose last column is the class."""
    file = f"https://www.openml.org/f/{name}.arff"
    attributes = [f"@attribute {column} {kind}" for column, kind in header]
    arff = "\n".join([f"@relation {name}", *attributes, "@data", *rows]).encode()
    features = [
        {
            "index": str(index),
            "name": column,
            "data_type": "numeric" if kind == "numeric" else "nominal",
            "is_target": str(index == len(header) - 1).lower(),
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for index, (column, kind) in enumerate(header)
    ]
    about = {
        "id": str(number),
        "name": name,
        "description": "",
        "version": "1",
        "format": "ARFF",
        "url": file,
    }
    about |= {"file_id": str(number), "status": "active", "processing_date": "2020-01-01"}
    about |= {"md5_checksum": hashlib.md5(arff).hexdigest(), "default_target_attribute": "Class"}
    size = {"name": "NumberOfInstances", "value": str(len(rows))}
    qualities = {"data_qualities": {"quality": [size]}}
    answers = {
        f"{number}": json.dumps({"data_set_description": about}).encode(),
        f"features/{number}": json.dumps({"data_features": {"feature": features}}).encode(),
        f"qualities/{number}": json.dumps(qualities).encode(),
    }
    # scikit-learn asks www since 1.9 and api before, 1.6 for the number of the file too
    pages = {
        f"https://{host}.openml.org/api/v1/json/data/{path}": answer
        for host in ("www", "api")
        for path, answer in answers.items()
    }
    return pages | {file: arff, f"https://api.openml.org/data/v1/download/{number}": arff}


def lines(X: np.ndarray, y: np.ndarray) -> list[str]:
    """Rows as text with the class 1, 2, … last; ``repr`` of a number reads back as itself."""
    return [",".join([*map(repr, row), str(k + 1)]) for row, k in zip(X.tolist(), y.tolist())]


def test_every_set_has_its_values(data_dir: Path) -> None:
    for name in datasets.SETS:
        X, y = datasets.load(name)
        assert X.dtype == np.float64
        assert y.dtype == np.int64
        assert len(np.unique(y)) == y.max() + 1
    assert datasets.load_lymphoma()[0].shape == (96, 4026)
    assert datasets.load_gli85()[0].shape == (85, 12713)


def test_homes_give_the_values_once(data_dir: Path, homes: dict[str, bytes]) -> None:
    stored = {}
    for name in ("zoo", "glass", "newthyroid", "housevotes", "GLIOMA"):
        with np.load(data_dir / f"{name}.npz") as file:
            stored[name] = file["X"].astype(float), file["y"].astype(int)
    packed, matlab = io.BytesIO(), io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        text = ["@relation zoo", "@data", *lines(*stored["zoo"])]
        archive.writestr("zoo.dat", "\n".join(text))
    homes[datasets.SETS["zoo"].home] = packed.getvalue()
    glass = [f"{row},{line}" for row, line in enumerate(lines(*stored["glass"]), 1)]
    homes[datasets.SETS["glass"].home] = "\n".join(glass).encode()
    thyroid = [f"{line[-1]},{line[:-2]}" for line in lines(*stored["newthyroid"])]
    homes[datasets.SETS["newthyroid"].home] = "\n".join(thyroid).encode()
    savemat(matlab, {"X": stored["GLIOMA"][0], "Y": stored["GLIOMA"][1][:, None] + 1})
    homes[datasets.SETS["GLIOMA"].home] = matlab.getvalue()

    X, y = stored["housevotes"]
    votes = [
        ",".join([*("ny"[int(vote)] for vote in row), ("democrat", "republican")[k]])
        for row, k in zip(X, y)
    ]
    votes.insert(3, ",".join(["y"] * 7 + ["?"] * 9 + ["democrat"]))  # is left out
    header = [(f"vote{column}", "{n,y}") for column in range(16)]
    homes |= openml(56, "vote", [*header, ("Class", "{democrat,republican}")], votes)

    for name, (X, y) in stored.items():
        found = datasets.load(name)
        np.testing.assert_array_equal(found[0], X)
        np.testing.assert_array_equal(found[1], y)
    homes.clear()
    np.testing.assert_array_equal(datasets.load_zoo()[0], stored["zoo"][0])  # kept: no home asked


def test_mnist_is_cut_out_of_the_set_of_openml(
    homes: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    digits = np.tile(np.arange(10), 60)
    images = np.arange(600 * 4).reshape(600, 4) % 256
    rows = [f"{','.join(map(str, image))},{digit}" for image, digit in zip(images, digits)]
    header = [(f"pixel{column}", "numeric") for column in range(4)]
    homes |= openml(554, "mnist_784", [*header, ("Class", "{0,1,2,3,4,5,6,7,8,9}")], rows)
    monkeypatch.setattr(readers, "MNIST_TRAINING", 550)
    first = np.concatenate([np.flatnonzero(digits[:550] == digit)[:50] for digit in range(10)])
    for name, cut in (("mnist500", first), ("mnist10k", np.arange(550, 600))):
        values = images[cut].astype("<f8").tobytes() + digits[cut].astype("<i8").tobytes()
        known = replace(datasets.SETS[name], digest=hashlib.sha256(values).hexdigest())
        monkeypatch.setitem(datasets.SETS, name, known)
        X, y = datasets.load(name)
        np.testing.assert_array_equal(X, images[cut])
        np.testing.assert_array_equal(y, digits[cut])


def test_other_values_are_refused(
    tmp_path: Path, homes: dict[str, bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    homes[datasets.SETS["glass"].home] = b"1,1.5,2.5,7\n2,0.5,1.5,1\n"
    with pytest.raises(ValueError, match=r"the values in https://.*glass\.data"):
        datasets.load("glass")
    monkeypatch.setenv("CONVEXCLUSTER_DATA", str(tmp_path))
    np.savez(tmp_path / "zoo.npz", X=np.zeros((3, 2)), y=np.zeros(3, dtype=int))
    with pytest.raises(ValueError, match="delete it"):
        datasets.load("zoo")
    with pytest.raises(ValueError, match="no data set"):
        datasets.load("iris")


def test_a_home_that_does_not_answer_is_a_sentence(homes: dict[str, bytes]) -> None:
    with pytest.raises(OSError, match=r"zoo\.zip .*404.*CONVEXCLUSTER_DATA"):
        datasets.load("zoo")
    with pytest.raises(FileNotFoundError, match=r"lung\.mat"):
        datasets.load_lung()


def test_the_papers_own_file_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONVEXCLUSTER_DATA", str(tmp_path))
    savemat(tmp_path / "lung.mat", {"X": np.arange(6.0).reshape(3, 2), "Y": [[2], [1], [2]]})
    X, y = datasets.load_lung()
    np.testing.assert_array_equal(X, np.arange(6.0).reshape(3, 2))
    np.testing.assert_array_equal(y, [1, 0, 1])


def test_tables_with_names_and_white_space() -> None:
    content = b"ONE  1.5  2 cp\nTWO  ?  3 im\n\nSIX  0.5  4 im\n"
    X, y = readers.table(content, first=1, separator=None)
    np.testing.assert_array_equal(X, [[1.5, 2], [0.5, 4]])  # without the row that lacks a value
    np.testing.assert_array_equal(y, [0, 1])
