"""The command as a user runs it: real files in, files and exit codes out."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

import convexcluster
from convexcluster.cli import main
from convexcluster.numerics.progress import STAGES

FILES = [
    "labels.csv", "model", "path.parquet", "report.html", "summary.json", "tree.json", "tree.nwk",
]  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self):
        return json.loads(self.out)


@pytest.fixture
def run(capsys, monkeypatch):
    def call(*arguments, stdin=None):
        if stdin is not None:
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capsys.readouterr()
        with pytest.raises(SystemExit) as left:
            main([str(a) for a in arguments])
        captured = capsys.readouterr()
        return Outcome(left.value.code, captured.out, captured.err)

    return call


def refused(outcome, code, *parts):
    """One sentence on standard error, nothing on standard output."""
    assert outcome.code == code, outcome.err
    assert outcome.out == ""
    assert outcome.err.startswith("convexcluster: ")
    assert outcome.err.count("\n") == 1
    for part in parts:
        assert part in outcome.err


@pytest.fixture(scope="module")
def iris(tmp_path_factory):
    """Fisher's irises as a person keeps them: ids, text labels, one hostile id."""
    folder = tmp_path_factory.mktemp("iris")
    data = load_iris()
    frame = pd.DataFrame(data.data, columns=["sepal l", "sepal w", "petal l", "petal w"])
    frame.insert(0, "flower", [f"f{i}" for i in range(150)])
    frame["species"] = data.target_names[data.target]
    frame = frame[::2]
    frame.loc[6, "flower"] = '=HYPERLINK("http://x")'
    frame.to_csv(folder / "iris.csv", index=False)
    return folder / "iris.csv"


ROLES = ("--id-column", "flower", "--label-column", "species")


@pytest.fixture(scope="module")
def fitted(iris):
    """The folder that ``fit`` writes."""
    out = iris.parent / "out"
    with pytest.raises(SystemExit) as left:
        main(
            ["fit", str(iris), *ROLES, "-k", "3", "--standardize", "--keep-path", "--out", str(out)]
        )
    assert left.value.code == 0
    return out


def test_fit_writes_everything(fitted, iris):
    assert sorted(p.name for p in fitted.iterdir()) == FILES
    summary = json.loads((fitted / "summary.json").read_text())
    assert summary["files"] == FILES
    assert summary["n_clusters"] == 3
    assert sum(summary["cluster_sizes"]) == summary["n_samples"] == 75
    assert summary["n_features"] == 4
    assert summary["scores"]["nmi"] > 0.6
    assert summary["certificate"]["relative_gap"] <= 1e-6
    assert summary["ids_escaped_for_spreadsheets"] == 1
    rows = list(csv.reader((fitted / "labels.csv").open(encoding="utf-8")))
    assert rows[0] == ["id", "label"]
    assert rows[4][0] == '\'=HYPERLINK("http://x")'
    model = convexcluster.load(fitted / "model")
    assert [int(r[1]) for r in rows[1:]] == model.labels_.tolist()


def test_path_parquet_and_trees_agree_with_the_model(fitted):
    model = convexcluster.load(fitted / "model")
    frame = pd.read_parquet(fitted / "path.parquet")
    np.testing.assert_array_equal(frame["gamma"], model.path_.gammas)
    np.testing.assert_array_equal(frame["n_clusters"], model.path_.n_clusters)
    tree = json.loads((fitted / "tree.json").read_text())
    np.testing.assert_array_equal(tree["merges"], model.path_.to_linkage())
    np.testing.assert_array_equal(tree["label_tree"]["merges"], model.linkage_)
    assert tree["leaves"][3] == '=HYPERLINK("http://x")'
    newick = (fitted / "tree.nwk").read_text()
    assert newick.endswith(";\n")
    bare = re.sub(r"'[^']*'", "", newick)  # the labels are quoted, the hostile one too
    assert bare.count("(") == bare.count(")") == 74
    assert newick.count("'") == 150


def test_predict_gives_the_fitted_labels(run, fitted, iris, tmp_path):
    done = run("predict", fitted, iris, *ROLES, "--out", tmp_path / "p.csv")
    assert done.code == 0
    model = convexcluster.load(fitted / "model")
    data = pd.read_csv(iris).iloc[:, 1:5].to_numpy()
    scaled = (data - data.mean(axis=0)) / data.std(axis=0)
    found = [int(r["label"]) for r in csv.DictReader((tmp_path / "p.csv").open())]
    assert found == model.predict(scaled).tolist()
    assert done.err.startswith("NMI ")
    again = run("predict", fitted / "model", iris, *ROLES, "--out", tmp_path / "p.csv")
    refused(again, 4, "exists", "--force")
    printed = run("predict", fitted, "-", "--id-column", "flower", stdin=iris.read_bytes())
    assert printed.out == (tmp_path / "p.csv").read_text()


def test_predict_wants_the_fitted_columns(run, fitted, tmp_path):
    (tmp_path / "new.csv").write_text("petal w,petal l,sepal l,sepal w\n0.2,1.4,5.1,3.5\n")
    answer = run("predict", fitted, tmp_path / "new.csv", "--json").json
    model = convexcluster.load(fitted / "model")
    assert answer["labels"] == [int(model.labels_[0])]  # the first flower, columns shuffled
    (tmp_path / "few.csv").write_text("petal w,petal l\n0.2,1.4\n")
    refused(run("predict", fitted, tmp_path / "few.csv"), 3, "column 'sepal l'")


def test_fit_as_json_from_standard_input(run, iris):
    done = run("fit", "-", *ROLES, "-k", "2", "--json", stdin=iris.read_bytes())
    assert done.code == 0
    assert done.json["n_clusters"] == 2
    assert done.json["input"] == "-"
    assert done.err == ""  # silent when not a terminal


def test_fit_for_a_person(run, iris):
    done = run("fit", iris, *ROLES, "--columns", "petal*", "--gamma", "0.5", "--labels", "fusion")
    assert done.code == 0
    for word in ("clusters", "relative gap", "NMI", "proof", "named by", "comma"):
        assert word in done.out
    assert "nothing was written: --out FOLDER" in done.out


def test_fit_says_how_much_may_change_and_draws_given_coordinates(run, tmp_path):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)), rng.normal(9, size=(20, 2))])
    frame = pd.DataFrame(X, columns=["a", "b"], index=[f"s{i}" for i in range(40)])
    frame.to_csv(tmp_path / "X.csv", index_label="name")
    frame.sample(frac=1.0, random_state=0).to_csv(tmp_path / "umap.csv", index=False)
    words = (
        "fit",
        tmp_path / "X.csv",
        "-o",
        tmp_path / "o",
        "--coordinates",
        tmp_path / "umap.csv",
    )
    done = run(*words, "--json")
    assert done.code == 0, done.err
    said = done.json["robustness"]
    assert re.search(r"each sample may move by 0\.\d+ in any direction", said)
    assert re.search(r"joins samples s\d+ and s\d+\.$", said)
    assert '"name":"umap"' in (tmp_path / "o" / "report.html").read_text("utf-8")
    shown = " ".join(run(*words, "--force").out.split())
    assert "may change With graph and bandwidth kept" in shown
    frame[:9].to_csv(tmp_path / "few.csv", index=False)
    done = run("fit", tmp_path / "X.csv", "--coordinates", tmp_path / "few.csv")
    refused(done, 3, "--coordinates needs 40 rows of two numbers", "9 rows of 2 features")


@pytest.fixture(scope="module")
def mixed(tmp_path_factory):
    """Two groups in every kind of column, with ids, dates and missing cells, as Excel saves it."""
    rng = np.random.default_rng(0)
    group = np.arange(40) % 2
    days = pd.to_datetime("2024-01-01") + pd.to_timedelta(group * 200 + rng.integers(0, 9, 40), "D")
    frame = pd.DataFrame(
        {
            "Kunde": [f"k{k}" for k in range(40)],
            "größe": group * 5 + rng.normal(size=40),
            "stadt": np.where(group, "Köln", "Zürich"),
            "aktiv": group == 1,
            "seit": days.strftime("%d.%m.%Y"),
        }
    )
    frame.loc[[3, 8], "größe"] = np.nan
    frame.loc[5, "stadt"] = None
    file = tmp_path_factory.mktemp("mixed") / "kunden.csv"
    frame.to_csv(file, index=False, sep=";", decimal=",", encoding="cp1252")
    return file


def test_a_table_of_every_kind(run, mixed, tmp_path):
    out = tmp_path / "o"
    done = run("fit", mixed, "--out", out)
    assert done.code == 0, done.err
    for said in (
        "csv, cp1252, separated by semicolon, decimal comma, header",
        "column 'Kunde', which is no feature",
        "stadt",
        "missing           3 cells: größe 2, stadt 1",
        "verdict",
        "confidence",
        "proof",
        "MixedEncoder, missing numbers by neighbors",
        f"{out / 'report.html'}: interactive report, for a browser",
        f"{out / 'labels.csv'}: cluster of every row",
    ):
        assert " ".join(said.split()) in " ".join(done.out.split())
    summary = json.loads((out / "summary.json").read_text())
    assert summary["n_clusters"] == 2
    assert summary["read"]["kinds"] == {
        "number": ["größe"],
        "category": ["stadt"],
        "boolean": ["aktiv"],
        "date": ["seit"],
    }
    assert summary["parameters"]["n_neighbors"] == 7
    assert summary["distances"] == "manhattan"
    labels = pd.read_csv(out / "labels.csv")
    assert list(labels["id"][:2]) == ["k0", "k1"]
    np.testing.assert_array_equal(labels["label"][2:], labels["label"][:-2])
    assert "stadt_K" in (out / "report.html").read_text("utf-8")
    again = run("predict", out, mixed)  # the id column and the encoding are remembered
    assert again.out == (out / "labels.csv").read_text()
    new = tmp_path / "new.csv"
    new.write_text("stadt,größe,aktiv,seit\nBern,,True,\nKöln,5.5,True,2024-07-20\n", "utf-8")
    answer = run("predict", out, new, "--json").json
    assert answer["ids"] == ["1", "2"]
    assert answer["labels"][1] == labels["label"][1]
    assert answer["read"]["missing"] == {"größe": 1, "seit": 1}


def test_numbers_told_to_be_categories(run, tmp_path):
    frame = pd.DataFrame({"zone": [10, 20, 30, 40] * 10, "a": np.arange(40.0) % 7})
    frame.to_csv(tmp_path / "z.csv", index=False)
    done = run("fit", tmp_path / "z.csv", "--categorical", "zone", "-k", "4", "-o", tmp_path / "o")
    assert done.code == 0, done.err
    frame[:4].to_csv(tmp_path / "new.csv", index=False)
    assert len(set(run("predict", tmp_path / "o", tmp_path / "new.csv", "--json").json["ids"])) == 4


def test_a_run_can_be_repeated_from_its_summary(run, iris, tmp_path):
    options = ("--id-column", "flower", "--drop", "species", "--standardize", "--impute", "mean")
    assert run("fit", iris, *options, "-k", "3", "-o", tmp_path / "o", "--no-report").code == 0
    summary = json.loads((tmp_path / "o" / "summary.json").read_text())
    assert summary["options"] == {
        "id_column": "flower",
        "drop": ["species"],
        "standardize": True,
        "impute": "mean",
    }
    model = convexcluster.KernelConvexClustering(**summary["parameters"])
    X = pd.read_csv(iris)[list(summary["preparation"]["centre"])]
    X = (X - summary["preparation"]["centre"]) / summary["preparation"]["scale"]
    labels = pd.read_csv(tmp_path / "o" / "labels.csv")["label"]
    np.testing.assert_array_equal(model.fit_predict(X.to_numpy()), labels)


def test_the_output_is_probed_before_the_work(run, iris, fitted, monkeypatch, tmp_path):
    def fail(*_, **__):
        raise AssertionError("the work has begun")

    monkeypatch.setattr("convexcluster.cli.fitting.read", fail)
    monkeypatch.setattr("convexcluster.cli.applying.read", fail)
    (tmp_path / "file").write_text("")
    blocked = tmp_path / "file" / "o"
    refused(run("fit", iris, "--out", blocked), 4, f"cannot write {blocked}")
    for command in (("predict", fitted, iris), ("report", fitted, "--data", iris)):
        missing = tmp_path / "missing" / "x"
        refused(run(*command, "--out", missing), 4, f"there is no folder {missing.parent}")
    assert [p.name for p in tmp_path.iterdir()] == ["file"]


def test_warnings_name_columns_and_options(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"income": rng.normal(size=60) * 1e5, "age": rng.normal(size=60)})
    frame.to_csv(tmp_path / "d.csv", index=False)
    done = run("fit", tmp_path / "d.csv", "-k", "2")
    assert done.err.count("\n") == 1
    assert "the scale of feature 'income' is" in done.err
    assert "if their units differ, pass --standardize" in done.err
    assert run("fit", tmp_path / "d.csv", "-k", "2", "--standardize").err == ""


def test_without_arguments_the_help_is_shown(run):
    done = run()
    assert done.code == 0
    assert "Usage: convexcluster" in done.out


def test_excel_without_its_extra(run, tmp_path, monkeypatch):
    (tmp_path / "a.xlsx").write_bytes(b"PK")
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    refused(run("fit", tmp_path / "a.xlsx"), 5, "pip install 'convexcluster[excel]'")


def test_force(run, iris, tmp_path):
    arguments = ("fit", iris, *ROLES, "--columns", "petal*", "-k", "3", "--no-report")
    assert run(*arguments, "--out", tmp_path / "o").code == 0
    assert not (tmp_path / "o" / "report.html").exists()
    refused(run(*arguments, "--out", tmp_path / "o"), 4, "--force")
    assert run(*arguments, "--out", tmp_path / "o", "--force").code == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    refused(run(*arguments, "-o", tmp_path / "mine", "--force"), 4, "not written by convexcluster")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine", "o"]


def test_path_command(run, iris, tmp_path):
    out = tmp_path / "o"
    done = run("path", iris, *ROLES, "--gammas", "0.05:5:6", "--out", out, "--json", "--no-report")
    assert done.code == 0, done.err
    steps = done.json["path"]
    assert [s["gamma"] for s in steps] == pytest.approx(np.geomspace(0.05, 5, 6))
    assert all(s["certified"] for s in steps)
    parts = pd.read_parquet(out / "partitions.parquet")
    assert list(parts["id"][:2]) == ["f0", "f2"]
    model = convexcluster.load(out / "model")
    for gamma, column in zip(model.path_.gammas, parts.columns[1:]):
        assert float(column) == gamma
        np.testing.assert_array_equal(parts[column], model.path_.labels(gamma=gamma))
    shown = run("path", iris, *ROLES, "--gammas", "0.1,1")
    assert "n_clusters" in shown.out


def test_missing_values(run, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(30, 2)) + 8 * (np.arange(30) % 2)[:, None])
    frame.columns = ["height", "weight"]
    frame.loc[4, "weight"] = np.nan
    frame.to_csv(tmp_path / "d.csv", index=False)
    refused(run("fit", tmp_path / "d.csv"), 3, "row 5", "'weight'", "--impute")
    done = run("fit", tmp_path / "d.csv", "--impute", "median", "-k", "2", "--out", tmp_path / "o")
    assert done.code == 0, done.err
    (tmp_path / "new.csv").write_text("height,weight\n8,\n")
    assert run("predict", tmp_path / "o", tmp_path / "new.csv").code == 0
    assert run("fit", tmp_path / "d.csv", "--impute", "mean", "-k", "2").code == 0


def test_precomputed_kernel(run, iris, tmp_path):
    X = load_iris().data[::3]
    K = np.exp(-((X[:, None] - X[None]) ** 2).sum(axis=2) / 2)
    np.save(tmp_path / "K.npy", K)
    done = run(
        "fit", tmp_path / "K.npy", "--kernel", "precomputed", "-k", "3", "-o", tmp_path / "o"
    )
    assert done.code == 0, done.err
    model = convexcluster.load(tmp_path / "o" / "model")
    np.save(tmp_path / "new.npy", K[:7])
    answer = run("predict", tmp_path / "o", tmp_path / "new.npy", "--json").json
    assert answer["labels"] == model.predict(K[:7]).tolist()
    np.save(tmp_path / "wide.npy", K[:, :5])
    refused(run("fit", tmp_path / "wide.npy", "--kernel", "precomputed"), 3, "square", "50 × 5")
    refused(run("predict", tmp_path / "o", tmp_path / "wide.npy"), 3, "50 kernel values")
    skew = run("fit", tmp_path / "K.npy", "--kernel", "precomputed", "--standardize")
    refused(skew, 2, "--standardize does not go with")


def test_precomputed_distances(run, tmp_path):
    X = load_iris().data[::3]
    D = np.abs(X[:, None] - X[None]).max(axis=2)
    names = [f"f{k}" for k in range(len(D))]
    pd.DataFrame(D, names, names).to_csv(tmp_path / "D.csv")
    options = ("--metric", "precomputed", "-k", "3", "-o", tmp_path / "o")
    done = run("fit", tmp_path / "D.csv", *options)
    assert done.code == 0, done.err
    assert "of its spectrum is negative and was clipped" in done.err
    assert "as given" in done.out
    labels = pd.read_csv(tmp_path / "o" / "labels.csv")
    assert list(labels["id"]) == names
    pd.DataFrame(D[:7], names[:7], names).to_csv(tmp_path / "new.csv")
    answer = run("predict", tmp_path / "o", tmp_path / "new.csv", "--json").json
    assert answer["labels"] == labels["label"][:7].tolist()
    assert answer["ids"] == names[:7]
    refused(run("fit", tmp_path / "D.csv", "--kernel", "precomputed"), 3, 'metric="precomputed"')


def test_many_rows_in_cells(run, tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) + 9.0 * (np.arange(400) % 2)[:, None]
    np.save(tmp_path / "X.npy", X)
    out = tmp_path / "o"
    done = run("fit", tmp_path / "X.npy", "--coarsen", "60", "-k", "2", "-o", out)
    assert done.code == 0, done.err
    labels = pd.read_csv(out / "labels.csv")["label"].to_numpy()
    np.testing.assert_array_equal(labels[2:], labels[:-2])  # odd and even rows are the groups
    summary = json.loads((out / "summary.json").read_text())
    assert summary["certificate"]["coarsening_error"] > 0
    answer = run("predict", out, tmp_path / "X.npy", "--json").json
    np.testing.assert_array_equal(answer["labels"], labels)


def test_learned_features(run, tmp_path):
    from convexcluster.datasets import make_rings

    rings, _ = make_rings(random_state=0)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(np.hstack([rings, rng.normal(size=(len(rings), 6))]))
    frame.columns = ["x", "y", *(f"noise {k}" for k in range(6))]
    frame.to_csv(tmp_path / "X.csv", index=False)
    out = tmp_path / "o"
    done = run("fit", tmp_path / "X.csv", "--learn-features", "--no-report", "-o", out, "--json")
    assert done.code == 0, done.err
    assert set(done.json["features"]["weights"]) == {"x", "y"}
    assert done.json["n_clusters"] == 5
    labels = pd.read_csv(out / "labels.csv")["label"].to_numpy()
    answer = run("predict", out, tmp_path / "X.csv", "--json").json
    np.testing.assert_array_equal(answer["labels"], labels)
    frame.iloc[:, 2:].to_csv(tmp_path / "noise.csv", index=False)
    done = run("fit", tmp_path / "noise.csv", "--learn-features", "--json")
    assert "refused: no structure from" in done.json["features"]["note"]
    assert done.json["features"]["weights"] == {}


WRONG = {
    "features": (("fit", "IRIS", *ROLES, "--learn-features", "--kernel", "cosine"), 3, "cosine"),
    "no file": (("fit", "absent.csv"), 3, "absent.csv does not exist"),
    "option": (("fit", "IRIS", "--clusters", "3"), 2, "--clusters"),
    "value": (("fit", "IRIS", "--n-clusters", "three"), 2, "--n-clusters"),
    "command": (("cluster", "IRIS"), 2, "cluster"),
    "no argument": (("fit",), 2, "Missing argument"),
    "kernel": (("fit", "IRIS", *ROLES, "--kernel", "fancy"), 3, "fancy"),
    "kernel param": (("fit", "IRIS", *ROLES, "--kernel-param", "degree"), 2, "NAME=VALUE"),
    "gamma": (("fit", "IRIS", *ROLES, "--gamma", "-1"), 3, "gamma"),
    "gammas": (("path", "IRIS", *ROLES, "--gammas", "a:b"), 2, "FROM:TO:COUNT"),
    "too many clusters": (("fit", "IRIS", *ROLES, "-k", "1000"), 3, "n_clusters=1000"),
    "cells": (("fit", "IRIS", *ROLES, "--coarsen", "some"), 2, "--coarsen must be"),
    "impute": (("fit", "IRIS", *ROLES, "--impute", "mode"), 2, "mean or median"),
    "format": (("fit", "IRIS", "--format", "xls"), 2, "--format must be"),
    "no excel": (("fit", "IRIS", "--format", "xlsx"), 3, "is no .xlsx file"),
    "two roles": (("fit", "IRIS", *ROLES, "--columns", "species"), 2, "is the --label-column"),
    "sep": (("fit", "IRIS", "--sep", "::"), 2, "--sep '::' must be one character, or tab"),
    "decimal": (("fit", "IRIS", "--decimal", "x"), 2, "--decimal 'x' must be . or ,"),
    "metric": (("fit", "IRIS", *ROLES, "--metric", "far"), 3, "metric 'far' is unknown"),
    "encoding": (("fit", "IRIS", "--encoding", "klingon"), 2, "--encoding 'klingon' is unknown"),
    "no such category": (("fit", "IRIS", *ROLES, "--categorical", "x"), 3, "--categorical 'x'"),
    "turned": (("fit", "IRIS", *ROLES, "--transpose"), 2, "does not go with --transpose"),
    "grid": (("tune", "IRIS", *ROLES, "--grid", "bandwidth"), 2, "NAME=VALUE"),
    "no model": (("predict", "absent", "IRIS"), 3, "absent does not exist"),
    "not a model": (("predict", "IRIS", "IRIS"), 3, "not a convexcluster model"),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_are_one_sentence(run, iris, case, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    arguments, code, part = WRONG[case]
    refused(run(*(iris if a == "IRIS" else a for a in arguments)), code, part)
    assert list(tmp_path.iterdir()) == []


def test_damaged_and_newer_models(run, fitted, iris, tmp_path):
    raw = (fitted / "model").read_bytes()
    (tmp_path / "cut").write_bytes(raw[: len(raw) // 2])
    refused(run("predict", tmp_path / "cut", iris), 3, "cut off")
    spot = raw.index(b"NUMPY") + 200
    (tmp_path / "flip").write_bytes(raw[:spot] + bytes([raw[spot] ^ 1]) + raw[spot + 1 :])
    refused(run("predict", tmp_path / "flip", iris), 3, "damaged")


def test_debug_shows_the_traceback(run):
    done = run("fit", "absent.csv", "--debug")
    assert done.code == 3
    assert "Traceback" in done.err
    assert "absent.csv does not exist" in done.err.splitlines()[-1]


def test_unexpected_errors_say_so(run, iris, monkeypatch):
    def fail(*_, **__):
        raise RuntimeError("broken\nin two lines")

    monkeypatch.setattr("convexcluster.cli.fitting.read", fail)
    refused(run("fit", iris), 1, "unexpected RuntimeError: broken in two lines", "--debug")


def test_interrupted(run, iris, monkeypatch, tmp_path):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr("convexcluster.persistence.save", stop)
    done = run("fit", iris, *ROLES, "-k", "2", "--out", tmp_path / "o")
    refused(done, 130, "interrupted; nothing was written")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("module", ["typer", "pandas", "pyarrow"])
def test_a_missing_extra_is_named(run, iris, monkeypatch, module):
    monkeypatch.setitem(sys.modules, module, None)
    refused(run("fit", iris), 5, f"{module} is needed", "pip install 'convexcluster[cli]'")


@pytest.mark.parametrize(
    ("kind", "summary"),
    [
        ("ConvexClustering", "20 samples, 2 features. Solved"),
        ("KernelConvexClustering", "20 samples, 2 features, rbf kernel. Solved"),
        ("precomputed", "20 samples, precomputed kernel. Solved"),
    ],
)
def test_a_model_saved_from_python_predicts_and_reports(run, tmp_path, kind, summary):
    X = np.random.default_rng(0).normal(size=(20, 2)) + np.repeat([[0.0], [9.0]], 10, axis=0)
    if kind == "precomputed":
        model = convexcluster.KernelConvexClustering(2, kernel="precomputed")
        table = pd.DataFrame(X @ X.T).add_prefix("s")
    else:
        model, table = getattr(convexcluster, kind)(2), pd.DataFrame(X, columns=["a", "b"])
    model.fit(table).save(tmp_path / "model", path=True)
    table.to_csv(tmp_path / "data.csv", index=False)
    done = run("predict", tmp_path / "model", tmp_path / "data.csv", "--json")
    assert done.code == 0, done.err
    assert done.json["labels"] == model.labels_.tolist()
    assert done.json["warnings"] == []
    report = tmp_path / "report.html"
    done = run("report", tmp_path / "model", "--data", tmp_path / "data.csv", "--out", report)
    assert done.code == 0, done.err
    assert summary in report.read_text("utf-8")


def test_a_model_without_its_path_predicts_and_is_not_drawn(run, iris, tmp_path):
    assert run("fit", iris, *ROLES, "-k", "3", "--out", tmp_path / "out").code == 0
    assert run("predict", tmp_path / "out", iris, "--id-column", "flower", "--json").code == 0
    done = run("report", tmp_path / "out", "--out", tmp_path / "r.html")
    refused(done, 3, "holds no path to draw", "--keep-path")


def test_report_command(run, fitted, iris, tmp_path):
    out = tmp_path / "r.html"
    done = run("report", fitted, "--data", iris, *ROLES, "--out", out)
    assert done.code == 0, done.err
    page = out.read_text("utf-8")
    assert "petal l" in page
    assert "setosa" in page
    refused(run("report", fitted, "--out", out), 4, "--force")
    assert run("report", fitted, "--out", out, "--force", "--json").json["bytes"] > 1000
    (tmp_path / "few.csv").write_text("\n".join(iris.read_text().splitlines()[:20]))
    refused(run("report", fitted, "--data", tmp_path / "few.csv", "-o", tmp_path / "x"), 3, "rows")
    head, *rows = iris.read_text().splitlines()
    other = tmp_path / "other.csv"
    other.write_text("\n".join([head, *rows[::-1]]))
    done = run("report", fitted, "--data", other, *ROLES, "-o", tmp_path / "x")
    refused(done, 3, f"row 1 of {other} is not the row", "pass the fitted table")


def test_tune(run, iris, tmp_path):
    out = tmp_path / "o"
    search = ("tune", iris, *ROLES, "--standardize", "--grid", "bandwidth=1,2")
    done = run(*search, "--out", out, "--json")
    assert done.code == 0, done.err
    answer = done.json
    assert answer["best_params"]["bandwidth"] in (1, 2)
    assert answer["best_score"] == pytest.approx(answer["scores"]["nmi"])
    assert answer["best_score"] == pytest.approx(max(row["score"] for row in answer["table"]))
    assert len(pd.read_csv(out / "tuning.csv")) == answer["tried"] == len(answer["table"])
    assert sorted(p.name for p in out.iterdir()) == sorted([*FILES, "tuning.csv"])
    model = convexcluster.load(out / "model")
    assert model.n_clusters_ == answer["n_clusters"]
    blind = run("tune", iris, "--id-column", "flower", "--drop", "species", "--grid", "bandwidth=1")
    assert blind.code == 0, blind.err
    assert "n_clusters" in blind.out
    unlabelled = iris.read_bytes().replace(b",setosa", b",", 1)
    refused(run("tune", "-", *ROLES, stdin=unlabelled), 3, "row 1 has no label")


def test_reproduce_knows_its_targets(run):
    from convexcluster.reproduce import TARGETS

    assert run("reproduce", "--list").out.split() == list(TARGETS)
    assert run("reproduce", "--list", "--json").json == list(TARGETS)
    refused(run("reproduce", "table99"), 2, "table99", "table1")


def test_info(run):
    facts = run("info", "--json").json
    assert facts["convexcluster"] == convexcluster.__version__
    assert facts["extras"]["cli"] == "installed"
    assert facts["threads"]["cores"] >= 1
    assert Path(facts["cache"]).is_absolute()
    assert "numba" in run("info").out


def test_version_and_help(run):
    assert run("--version").out == f"convexcluster {convexcluster.__version__}\n"
    text = run("--help").out
    for command in ("fit", "path", "predict", "tune", "report", "demo", "reproduce", "info"):
        assert command in text
        assert run(command, "--help").code == 0
    assert "Exit codes" in text
    assert "--install-completion" in text


def shell(*arguments, **environment):
    source = Path(convexcluster.__file__).parents[1]
    variables = {**os.environ, "PYTHONPATH": str(source), **environment}
    command = [sys.executable, "-m", "convexcluster", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, env=variables, check=False)


def test_as_a_process(fitted, iris):
    done = shell("predict", fitted, iris, "--id-column", "flower")
    assert done.returncode == 0, done.stderr
    labels = [int(r["label"]) for r in csv.DictReader(io.StringIO(done.stdout))]
    model = convexcluster.load(fitted / "model")
    data = pd.read_csv(iris).iloc[:, 1:5].to_numpy()
    assert labels == model.predict((data - data.mean(axis=0)) / data.std(axis=0)).tolist()
    failed = shell("fit", "absent.csv")
    assert (failed.returncode, failed.stdout) == (3, "")
    assert failed.stderr == "convexcluster: absent.csv does not exist\n"


def test_shell_completion():
    done = shell(
        _CONVEXCLUSTER_COMPLETE="complete_bash", COMP_WORDS="convexcluster re", COMP_CWORD="1"
    )
    assert done.stdout.split() == ["report", "reproduce"]
    kernels = shell(
        _CONVEXCLUSTER_COMPLETE="complete_bash",
        COMP_WORDS="convexcluster fit x.csv --kernel la",
        COMP_CWORD="4",
    )
    assert kernels.stdout.split() == ["laplacian"]


def test_a_person_is_told_of_compiling_and_progress(run, iris, monkeypatch):
    monkeypatch.setattr("convexcluster.cli.console.watched", lambda: True)
    done = run("fit", iris, *ROLES, "-k", "3")
    assert done.code == 0
    assert "fitting 75 × 4: compiling, if this is the first run" in done.err
    told = done.err.rpartition("compiling")[2]
    assert any(f"fitting 75 × 4: {stage}" in told for stage in STAGES)


AFTER = """
import sys
from numba.core.dispatcher import Dispatcher
from sklearn.datasets import load_digits, make_blobs, make_moons
from convexcluster import KernelConvexClustering
from convexcluster.cli.info import compile_ahead

def there():
    modules = [value for name, value in sys.modules.items() if name.startswith("convexcluster.")]
    loops = {id(x): x for m in modules for x in vars(m).values() if isinstance(x, Dispatcher)}
    return {(x.__name__, str(kind)) for x in loops.values() for kind in x.signatures}

compile_ahead()
known = there()
for X in (
    make_moons(500, noise=0.05, random_state=0)[0],
    make_moons(10_000, noise=0.05, random_state=0)[0],
    load_digits().data,
    make_blobs(5_000, 10, centers=6, random_state=0)[0],
    make_blobs(60_000, centers=5, random_state=0)[0],
):
    KernelConvexClustering().fit(X).predict(X[:50] + 0.01)
    print(sorted(there() - known))
"""


def test_default_fits_compile_nothing_that_was_not_compiled_ahead():
    done = subprocess.run([sys.executable, "-c", AFTER], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]"] * 5


def test_info_compiles_ahead(run):
    done = run("info", "--warm", "--json")
    assert done.code == 0
    assert json.loads(done.out)["compiled in seconds"] > 0
