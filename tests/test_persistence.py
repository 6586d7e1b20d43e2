"""The model file: what goes in comes out to the last bit, and nothing else is believed."""

from __future__ import annotations

import hashlib
import json
import os
import pickle
import subprocess
import sys
import tracemalloc
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

import convexcluster
from convexcluster import ConvexClustering, KernelConvexClustering
from convexcluster.persistence import MODEL, ModelFileError, load_notes, save

CONTENT = {
    "numbers": [1, -2, 0.1, 1e-320, -0.0, True, None, "γ"],
    "odd": {"nan": float("nan"), "inf": float("inf"), "minus": float("-inf")},
    "array": {"array": np.arange(6.0).reshape(2, 3)[:, ::-1], "map": np.array([], dtype=np.int64)},
    "flag": np.bool_(True),
    "pair": (1, [2.0, ("x",)]),
    "whole": [np.array([0, 255]), np.array([-1, 2**40]), np.array([-(2**63), 2**63 - 1])],
    "narrow": [np.array([0, 255], dtype=np.uint8), np.array([-200, 0]), np.array([-1, 200])],
}


@pytest.fixture
def file(tmp_path):
    MODEL.write(tmp_path / "m", CONTENT)
    return tmp_path / "m"


def test_round_trip(file):
    back = MODEL.read(file)
    assert back["numbers"] == CONTENT["numbers"]
    assert str(back["numbers"][4]) == "-0.0"
    assert np.isnan(back["odd"]["nan"])
    assert back["odd"]["minus"] == -np.inf
    np.testing.assert_array_equal(back["array"]["array"], CONTENT["array"]["array"])
    assert back["array"]["map"].dtype == np.int64
    assert back["flag"] is True
    assert back["pair"] == CONTENT["pair"]
    for name in ("whole", "narrow"):
        for value, again in zip(CONTENT[name], back[name], strict=True):
            np.testing.assert_array_equal(again, value)
            assert again.dtype == value.dtype


def test_equal_models_give_equal_files(tmp_path, file):
    MODEL.write(tmp_path / "again", CONTENT)
    assert (tmp_path / "again").read_bytes() == file.read_bytes()


def test_every_damaged_byte_is_noticed_or_harmless(file, tmp_path):
    """A flipped byte is refused, or lies in zip's own bookkeeping and changes nothing."""
    raw = file.read_bytes()
    whole = repr(MODEL.read(file))
    sentences = []
    for place in range(0, len(raw), 7):
        damaged = bytearray(raw)
        damaged[place] ^= 0x55
        (tmp_path / "d").write_bytes(bytes(damaged))
        try:
            assert repr(MODEL.read(tmp_path / "d")) == whole
        except ModelFileError as error:
            sentences.append(str(error))
    assert len(sentences) > len(raw) / 7 / 2
    assert not any("\n" in sentence for sentence in sentences)


@pytest.mark.parametrize("keep", [0, 10, 0.5, 0.99])
def test_a_cut_file_is_refused(file, keep):
    raw = file.read_bytes()
    file.write_bytes(raw[: int(keep * len(raw)) if keep < 1 else keep])
    with pytest.raises(ModelFileError, match=r"cut off|damaged"):
        MODEL.read(file)


def repack(file, change, compression=zipfile.ZIP_STORED):
    """Rewrite the members after ``change(members)``, with a header checksum that matches."""
    with zipfile.ZipFile(file) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(members["header.json"])
    change(members, header)
    members["header.json"] = json.dumps(header).encode()
    members["header.sha256"] = hashlib.sha256(members["header.json"]).hexdigest().encode()
    with zipfile.ZipFile(file, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def test_a_newer_format_is_refused_with_the_remedy(file):
    repack(file, lambda m, h: h.update(format_version=MODEL.version + 1, package_version="9.9"))
    with pytest.raises(ModelFileError, match=r"convexcluster 9\.9.*upgrade with pip"):
        MODEL.read(file)


def test_an_older_format_is_refused_with_the_remedy(file):
    repack(file, lambda m, h: h.update(format_version=1, package_version="0.1"))
    with pytest.raises(ModelFileError, match=r"convexcluster 0\.1;.*make the file anew"):
        MODEL.read(file)


def test_another_format_is_refused(file):
    repack(file, lambda m, h: h.update(format="a recipe"))
    with pytest.raises(ModelFileError, match=f"holds 'a recipe', not a {MODEL.format}"):
        MODEL.read(file)


def test_a_changed_array_is_refused(file):
    def change(members, header):
        members["arrays/0.npy"] = members["arrays/0.npy"][:-1] + b"\x41"

    repack(file, change)
    with pytest.raises(ModelFileError, match="checksum of array 0"):
        MODEL.read(file)


class Bomb:
    def __reduce__(self):
        return (pytest.fail, ("code of the file was run",))


def test_a_pickle_inside_is_never_run(file, tmp_path):
    pickled = np.array([Bomb()], dtype=object)
    np.save(tmp_path / "p.npy", pickled, allow_pickle=True)
    data = (tmp_path / "p.npy").read_bytes()

    def change(members, header):
        members["arrays/0.npy"] = data
        header["sha256"][0] = hashlib.sha256(data).hexdigest()

    repack(file, change)
    with pytest.raises(ModelFileError, match="damaged"):
        MODEL.read(file)
    (tmp_path / "plain").write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(ModelFileError, match="not a convexcluster model"):
        MODEL.read(tmp_path / "plain")


def test_compressed_members_are_refused(file):
    repack(file, lambda m, h: None, zipfile.ZIP_DEFLATED)
    with pytest.raises(ModelFileError, match="repacked"):
        MODEL.read(file)


def test_other_zip_files_are_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "z", "w") as archive:
        archive.writestr("readme", "hello")
    with pytest.raises(ModelFileError, match="a zip file, but not"):
        MODEL.read(tmp_path / "z")
    with pytest.raises(FileNotFoundError):
        MODEL.read(tmp_path / "absent")


@pytest.mark.parametrize("value", [np.array([1j]), object(), {1, 2}, lambda x: x])
def test_what_cannot_be_saved_is_named(tmp_path, value):
    with pytest.raises(TypeError, match=r"model\.kernel"):
        MODEL.write(tmp_path / "m", {"kernel": value})
    assert list(tmp_path.iterdir()) == []


def two_groups(n=24, seed=0):
    X = np.random.default_rng(seed).normal(size=(n, 3))
    X[: n // 2] += 4
    return X


MODELS = {
    "rbf": KernelConvexClustering(2, gamma=0.5),
    "path": KernelConvexClustering(2, gamma=[0.1, 1.0, 10.0]),
    "laplacian": KernelConvexClustering(2, kernel="laplacian", bandwidth=2.0, gamma=0.5),
    "matern": KernelConvexClustering(2, kernel="matern", kernel_params={"nu": 2.5}, gamma=0.5),
    "polynomial": KernelConvexClustering(
        2, kernel="polynomial", kernel_params={"degree": 2, "c": 1}, gamma=0.5
    ),
    "cosine": KernelConvexClustering(2, kernel="cosine", gamma=0.1),
    "pivoted": KernelConvexClustering(2, embedding="pivoted", gamma=0.5, random_state=3),
    "nystroem": KernelConvexClustering(2, embedding="nystroem", rank=8, gamma=0.5),
    "rff": KernelConvexClustering(2, embedding="rff", rank=16, gamma=0.5),
    "linear": ConvexClustering(2, gamma=0.5),
    "fusion": ConvexClustering(gamma=np.float64(0.5), labels="fusion"),
}


def assert_same(model, again, X, path=True):
    assert type(again) is type(model)
    for method in ("predict", "predict_proba", "transform"):
        np.testing.assert_array_equal(getattr(again, method)(X), getattr(model, method)(X))
    for name in ("labels_", "centroids_", "linkage_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    assert again.labels_.dtype == model.labels_.dtype
    assert again.certificate_ == model.certificate_
    assert again.n_clusters_ == model.n_clusters_
    assert again.selection_.to_frame().equals(model.selection_.to_frame())
    if not path:
        return
    for name in ("dual_coef_", "embedding_"):
        np.testing.assert_array_equal(getattr(again, name), getattr(model, name))
    gamma = model.path_.gammas[-1]
    np.testing.assert_array_equal(again.path_.labels(gamma), model.path_.labels(gamma))
    np.testing.assert_array_equal(again.path_.to_linkage(), model.path_.to_linkage())


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("path", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_a_model_comes_back_to_the_last_bit(tmp_path, name, path):
    model = clone(MODELS[name]).fit(two_groups())
    model.save(tmp_path / "m", path=path)
    again = convexcluster.load(tmp_path / "m")
    assert_same(model, again, two_groups(seed=1), path)
    before = {k: v for k, v in model.get_params().items() if k != "gamma"}
    assert {k: v for k, v in again.get_params().items() if k != "gamma"} == before
    again.save(tmp_path / "n", path=path)
    assert (tmp_path / "n").read_bytes() == (tmp_path / "m").read_bytes()


def test_precomputed_sparse_graph_and_duplicates(tmp_path):
    X = two_groups()
    X[1] = X[0]
    K = X @ X.T
    W = sparse.csr_array(np.exp(-((X[:, None] - X) ** 2).sum(axis=2)))
    model = KernelConvexClustering(2, kernel="precomputed", weights=W, gamma=1.0).fit(K)
    model.save(tmp_path / "m", path=True)
    assert_same(model, convexcluster.load(tmp_path / "m"), K[:5])
    linear = ConvexClustering(2, gamma=0.3).fit(X)
    linear.save(tmp_path / "l", path=True)
    assert_same(linear, convexcluster.load(tmp_path / "l"), X)


def test_column_names_are_kept(tmp_path):
    frame = pd.DataFrame(two_groups(), columns=["a", "b", "γ"])
    model = ConvexClustering(2, gamma=0.5).fit(frame)
    model.save(tmp_path / "m")
    again = convexcluster.load(tmp_path / "m")
    assert again.feature_names_in_.tolist() == ["a", "b", "γ"]
    np.testing.assert_array_equal(again.predict(frame), model.labels_)
    with pytest.raises(ValueError, match="feature names"):
        again.predict(frame.rename(columns={"a": "z"}))


def test_another_process_predicts_the_same(tmp_path):
    X = two_groups()
    model = KernelConvexClustering(2, gamma=0.5).fit(X)
    model.save(tmp_path / "m")
    np.save(tmp_path / "x.npy", X)
    code = (
        "import sys, numpy as np, convexcluster\n"
        "model = convexcluster.load(sys.argv[1] + '/m')\n"
        "np.save(sys.argv[1] + '/y.npy', model.transform(np.load(sys.argv[1] + '/x.npy')))\n"
    )
    source = Path(convexcluster.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(source)}
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=environment, check=True)
    np.testing.assert_array_equal(np.load(tmp_path / "y.npy"), model.transform(X))


def cube(x, y):
    return float(x @ y) ** 3


def test_code_cannot_be_saved(tmp_path):
    model = KernelConvexClustering(2, kernel=cube, gamma=0.5).fit(two_groups())
    with pytest.raises(TypeError, match=r"model\.parameters\.kernel .*named kernel or kernel='pre"):
        model.save(tmp_path / "m")
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(TypeError, match="fitted KernelConvexClustering or ConvexClustering"):
        save(object(), tmp_path / "m")
    with pytest.raises(TypeError, match="fitted"):
        save(ConvexClustering(), tmp_path / "m")


def test_notes(tmp_path):
    model = ConvexClustering(2, gamma=0.5).fit(two_groups())
    save(model, tmp_path / "m", notes={"ids": ["a"], "fill": np.ones(2)})
    assert load_notes(tmp_path / "m")["ids"] == ["a"]


def test_a_file_cannot_name_other_classes_or_replace_methods(tmp_path):
    model = ConvexClustering(2, gamma=0.5).fit(two_groups())
    for change in (
        lambda c: c["map"].update(estimator="os"),
        lambda c: c["map"]["state"]["map"].update(predict="x"),
        lambda c: c["map"]["parameters"]["map"].update(nothing=1),
        lambda c: c["map"]["state"]["map"].update(graph_={"record": ["Popen", {"map": {}}]}),
        lambda c: c["map"]["state"]["map"].update(path_=1),
        lambda c: c["map"]["state"]["map"].update(labels_={"integers": 99}),
        lambda c: c["map"]["state"]["map"].update(
            labels_={"integers": c["map"]["state"]["map"]["centroids_"]["array"]}
        ),
    ):
        model.save(tmp_path / "m")
        repack(tmp_path / "m", lambda m, h, change=change: change(h["content"]))
        with pytest.raises(ModelFileError, match="damaged"):
            convexcluster.load(tmp_path / "m")


def bytes_needed(model):
    """What ``predict`` and ``transform`` read, and the tree: (rows, labels, …), linkage."""
    vote, embedding = model._vote, model._embedding
    read = [vote.X, vote.masses, vote.labels, vote.scales, model.labels_, model.centroids_]
    read += [embedding.basis, embedding.index, embedding.shift, embedding.B]
    return sum(array.nbytes for array in read if array is not None), model.linkage_.nbytes


@pytest.mark.parametrize("name", ["cells", "rows", "linear"])
def test_a_model_is_at_most_three_times_what_prediction_reads(tmp_path, name):
    X = two_groups(3_000)
    model = {
        "cells": KernelConvexClustering(2, coarsen=500),
        "rows": KernelConvexClustering(2),
        "linear": ConvexClustering(2),
    }[name].fit(X if name == "cells" else X[1_250:1_750])
    model.save(tmp_path / "m")
    read, linkage = bytes_needed(model)
    assert (tmp_path / "m").stat().st_size <= 3 * read + linkage
    model.save(tmp_path / "whole", path=True)
    assert (tmp_path / "whole").stat().st_size > 2 * (tmp_path / "m").stat().st_size


ABSENT = ["path_", "graph_", "dual_coef_", "embedding_", "points_", "coarsening_"]


def test_what_is_not_in_the_file_is_named_with_the_remedy(tmp_path):
    model = KernelConvexClustering(2, coarsen=12, gamma=0.5).fit(two_groups())
    model.save(tmp_path / "m")
    again = convexcluster.load(tmp_path / "m")
    for name in ABSENT:
        assert hasattr(model, name)
        with pytest.raises(AttributeError, match=rf"^{name} is not in the file .*path=True"):
            getattr(again, name)
    with pytest.raises(AttributeError, match=r"path_ is not in the file"):
        again.report(tmp_path / "r.html")
    assert not (tmp_path / "r.html").exists()
    with pytest.raises(AttributeError, match="has no attribute 'path_'"):
        KernelConvexClustering().path_  # noqa: B018


@pytest.mark.parametrize("given", ["matrix", "edges", "callable"])
def test_a_given_graph_is_kept_with_the_path_alone(tmp_path, given):
    X = two_groups()
    W = sparse.csr_array(np.exp(-((X[:, None] - X) ** 2).sum(axis=2)))
    upper = sparse.triu(W, 1).tocoo()
    edges = (np.column_stack([upper.row, upper.col]), upper.data)
    graph = {"matrix": W, "edges": edges, "callable": lambda X, **options: edges}[given]
    model = ConvexClustering(2, weights=graph, gamma=0.5).fit(X)
    model.save(tmp_path / "m")
    again = convexcluster.load(tmp_path / "m")
    assert_same(model, again, X, path=False)
    assert again.weights is None
    with pytest.raises(ValueError, match="weights must be one of"):
        again.fit(X)
    if given == "callable":
        with pytest.raises(TypeError, match="object of code"):
            model.save(tmp_path / "whole", path=True)
    else:
        model.save(tmp_path / "whole", path=True)
        assert_same(model, convexcluster.load(tmp_path / "whole").fit(X), X)


def test_writing_takes_little_memory_beside_the_model(tmp_path):
    """Arrays are written a few megabytes at a time (NumPy's buffer is 16), never all at once."""
    X = two_groups(400)
    model = ConvexClustering(2, gamma=0.5).fit(X)
    model._vote = replace(model._vote, X=np.zeros((8_000_000, 5))[::2, 1:])  # 128 MB, not in order
    model.selection_ = replace(model.selection_, table={"k": np.arange(4_000_000)})
    tracemalloc.start()
    model.save(tmp_path / "m")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (tmp_path / "m").stat().st_size > 128e6
    assert peak < 48e6


def test_files_of_format_2_are_read():
    """The file was written by the version before, with what it predicted in its notes."""
    file = Path(__file__).parent / "models" / "format2"
    X = np.random.default_rng(0).normal(size=(12, 2))
    X[:6] += 6
    model, notes = convexcluster.load(file), load_notes(file)
    np.testing.assert_array_equal(model.predict(X), notes["labels"])
    np.testing.assert_allclose(model.transform(X + 0.25), notes["distances"], rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X + 0.25), notes["shares"], rtol=1e-12)
    assert len(model.path_) == 3
    assert model.embedding_.shape[0] == 12


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", [*MODELS, "cells"])
def test_skops_keeps_a_model_whole(name):
    io = pytest.importorskip("skops.io")
    cells = KernelConvexClustering(2, coarsen=12, gamma=0.5)
    model = (cells if name == "cells" else clone(MODELS[name])).fit(two_groups())
    data = io.dumps(model)
    untrusted = io.get_untrusted_types(data=data)
    assert all(kind.startswith("convexcluster.") for kind in untrusted)
    assert_same(model, io.loads(data, trusted=untrusted), two_groups(seed=1))
