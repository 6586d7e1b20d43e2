"""AnnData in and out, by the conventions of scanpy's Leiden, without scanpy."""

from __future__ import annotations

import json
from inspect import signature

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

anndata = pytest.importorskip("anndata", reason="anndata is not installed")

from convexcluster.anndata import cluster  # noqa: E402

N = 120


def cells(graph=True, pca=True, dtype=np.float32):
    """Three groups of cells, as scanpy leaves them after PCA and neighbours."""
    Z, y = make_blobs(N, 5, centers=3, cluster_std=0.8, random_state=0)
    rng = np.random.default_rng(0)
    counts = sparse.csr_matrix(rng.poisson(1.0, size=(N, 12)).astype(dtype))
    adata = anndata.AnnData(counts)
    adata.obs_names = [f"cell{i}" for i in range(N)]
    adata.obs["truth"] = pd.Categorical(np.array(["B", "NK", "T"])[y])
    if pca:
        adata.obsm["X_pca"] = Z.astype(dtype)
    if graph:
        W = kneighbors_graph(Z, 10, mode="distance")
        W.data = np.exp(-(W.data**2) / 2)
        W = sparse.csr_matrix(W + W.T - W.multiply(W.T)).astype(dtype)
        adata.obsp["connectivities"] = W
        adata.obsp["other_connectivities"] = W
        adata.uns["neighbors"] = {"connectivities_key": "connectivities"}
        adata.uns["other"] = {"connectivities_key": "other_connectivities"}
    return adata


def test_the_signature_is_that_of_the_documentation():
    names = list(signature(cluster).parameters)
    assert names == [
        "adata",
        "n_clusters",
        "use_rep",
        "n_pcs",
        "neighbors_key",
        "obsp",
        "adjacency",
        "restrict_to",
        "key_added",
        "rng",
        "copy",
        "parameters",
    ]
    assert signature(cluster).parameters["key_added"].default == "convexcluster"


@pytest.fixture(scope="module")
def done():
    adata = cells()
    assert cluster(adata, rng=0) is None
    return adata


def test_the_column_is_a_categorical_of_strings(done):
    column = done.obs["convexcluster"]
    assert isinstance(column.dtype, pd.CategoricalDtype)
    assert column.cat.categories.tolist() == ["0", "1", "2"]
    assert adjusted_rand_score(done.obs["truth"], column) == 1.0
    sizes = column.value_counts()
    assert sizes["0"] >= sizes["1"] >= sizes["2"]


def test_what_stands_beside_it(done):
    shares = done.obsm["convexcluster_membership"]
    assert shares.shape == (N, 3)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    labels = done.obs["convexcluster"].astype(int).to_numpy()
    np.testing.assert_array_equal(shares.argmax(axis=1), labels)
    np.testing.assert_array_equal(done.obs["convexcluster_membership"], shares.max(axis=1))
    assert np.isfinite(done.obs["convexcluster_outlier_score"]).all()
    found = done.uns["convexcluster"]
    assert found["params"]["use_rep"] == "X_pca"
    assert found["params"]["graph"] == "obsp/connectivities"
    assert found["params"]["random_state"] == 0
    assert found["n_clusters"] == 3
    assert found["verdict"] == "structure"
    assert 0 <= found["confidence"] <= 1
    assert found["certificate"]["relative_gap"] <= 1e-5
    assert found["linkage"].shape == (N - 1, 4)
    assert set(found["medoids"]) <= set(done.obs_names)
    assert isinstance(found["layers"], dict)


def same(a, b):
    if isinstance(a, dict):
        assert set(a) == set(b)
        for key in a:
            same(a[key], b[key])
    elif isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b)
    else:
        assert a == b


def test_files_come_back_unchanged(done, tmp_path):
    done.write_h5ad(tmp_path / "cells.h5ad")
    again = anndata.read_h5ad(tmp_path / "cells.h5ad")
    pd.testing.assert_frame_equal(again.obs, done.obs)
    same(done.uns["convexcluster"], again.uns["convexcluster"])
    for key in done.obsm:
        np.testing.assert_array_equal(again.obsm[key], done.obsm[key])


def test_a_copy_leaves_the_original():
    adata = cells()
    again = cluster(adata, 2, copy=True, key_added="two")
    assert "two" not in adata.obs
    assert again.obs["two"].nunique() == 2
    assert again.uns["two"]["params"]["n_clusters"] == 2


@pytest.mark.parametrize(
    ("options", "graph", "rep"),
    [
        ({}, "obsp/connectivities", "X_pca"),
        ({"neighbors_key": "other"}, "obsp/other_connectivities", "X_pca"),
        ({"obsp": "other_connectivities"}, "obsp/other_connectivities", "X_pca"),
        ({"adjacency": "given"}, "adjacency", "X_pca"),
        ({"weights": "knn"}, "weights", "X_pca"),
        ({"use_rep": "X"}, "obsp/connectivities", "X"),
        ({"n_pcs": 3}, "obsp/connectivities", "X_pca"),
    ],
)
def test_graph_and_representation_are_those_that_were_named(options, graph, rep):
    adata = cells()
    if "adjacency" in options:
        options = {"adjacency": adata.obsp["connectivities"]}
    cluster(adata, 3, **options)
    params = adata.uns["convexcluster"]["params"]
    assert (params["graph"], params["use_rep"]) == (graph, rep)
    if rep == "X_pca":
        assert adjusted_rand_score(adata.obs["truth"], adata.obs["convexcluster"]) > 0.95


def test_without_graph_or_components_rows_are_enough():
    adata = cells(graph=False)
    cluster(adata)
    assert adata.uns["convexcluster"]["params"]["graph"] == "made from the representation"
    assert adata.obs["convexcluster"].nunique() == 3
    plain = cells(graph=False, pca=False)
    cluster(plain, 2)
    assert plain.uns["convexcluster"]["params"]["use_rep"] == "X"


def test_some_categories_alone_are_clustered_again(tmp_path):
    adata = cells()
    cluster(adata, 2, restrict_to=("truth", ["B", "T"]))
    column = adata.obs["convexcluster_R"]
    assert column.cat.categories.tolist() == ["B-T,0", "B-T,1", "NK"]
    assert (column[adata.obs["truth"] == "NK"] == "NK").all()
    inside = adata.obs["truth"].isin(["B", "T"])
    assert adjusted_rand_score(adata.obs["truth"][inside], column[inside]) == 1.0
    assert adata.obs["convexcluster_R_membership"].isna().sum() == 40
    adata.write_h5ad(tmp_path / "cells.h5ad")
    assert anndata.read_h5ad(tmp_path / "cells.h5ad").obs["convexcluster_R"].equals(column)


def test_observations_without_a_category_stay_without_one(tmp_path):
    adata = cells()
    adata.obs["known"] = adata.obs["truth"].where(adata.obs["truth"] != "NK").astype("category")
    cluster(adata, 2, restrict_to=("known", ["B", "T"]))
    column = adata.obs["convexcluster_R"]
    assert column.cat.categories.tolist() == ["B-T,0", "B-T,1"]
    assert (column.isna() == (adata.obs["truth"] == "NK")).all()
    adata.write_h5ad(tmp_path / "cells.h5ad")


def test_a_representation_of_complex_numbers_is_refused():
    adata = cells(graph=False)
    adata.obsm["X_wave"] = adata.obsm["X_pca"] + 1j
    with pytest.raises(ValueError, match="Complex data not supported"):
        cluster(adata, use_rep="X_wave")


def test_layers_are_written():
    """Further numbers of clusters that would stand, as the choice lists them."""
    from types import SimpleNamespace

    from convexcluster import KernelConvexClustering
    from convexcluster.anndata import _write

    adata = cells()
    model = KernelConvexClustering(3).fit(adata.obsm["X_pca"])
    layer = SimpleNamespace(
        n_clusters=2, labels=np.zeros(N, dtype=int), gamma_range=(0.1, 0.4), confidence=0.5
    )
    names = ("verdict", "confidence")
    chosen = {name: getattr(model.selection_, name) for name in names}
    model.selection_ = SimpleNamespace(layers=[layer], **chosen)
    _write(adata, model, np.arange(N), [], "key", {})
    found = adata.uns["key"]["layers"]["2"]
    assert found["gamma_range"].tolist() == [0.1, 0.4]
    assert found["labels"].shape == (N,)


def asymmetric(adata):
    return sparse.triu(adata.obsp["connectivities"])


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"use_rep": "X_tsne"}, ValueError, r"use_rep='X_tsne' is not in obsm, which has 'X_pca'"),
        ({"n_pcs": 99}, ValueError, r"n_pcs must be in 1 … 5, the columns of X_pca: 99"),
        ({"n_pcs": 0}, ValueError, r"n_pcs must be in 1 … 5"),
        (
            {"neighbors_key": "none"},
            ValueError,
            r"is not in uns: run scanpy.pp.neighbors",
        ),
        ({"neighbors_key": "plain"}, ValueError, r"uns\['plain'\] was not made by scanpy"),
        ({"obsp": "none"}, ValueError, r"obsp has no 'none'; it has 'connectivities'"),
        ({"obsp": "connectivities", "neighbors_key": "other"}, ValueError, r"pass one of .* not b"),
        ({"obsp": "connectivities", "weights": "knn"}, ValueError, r"pass one of obsp and weights"),
        ({"adjacency": np.eye(3)}, ValueError, r"adjacency must be n_obs × n_obs = 120², got"),
        ({"adjacency": asymmetric}, ValueError, r"weights must be symmetric"),
        ({"restrict_to": "truth"}, ValueError, r"restrict_to must be \(key of obs, list of cat"),
        ({"restrict_to": ("none", ["B"])}, ValueError, r"restrict_to: obs has no column 'none'"),
        (
            {"restrict_to": ("truth", ["C"])},
            ValueError,
            r"'C' is no category of obs",
        ),
        ({"restrict_to": ("truth", [])}, ValueError, r"is no category of obs\['truth'\]"),
        ({"key_added": ""}, ValueError, r"key_added must be a name without '/'"),
        ({"key_added": "a/b"}, ValueError, r"key_added must be a name without '/', got 'a/b'"),
        ({"resolution": 1.0}, TypeError, r"there is no resolution: the number of clusters is cho"),
        ({"random_state": 0}, TypeError, r"random_state is called rng here"),
        ({"kernl": "rbf"}, TypeError, r"cluster has no parameter 'kernl'"),
        ({"n_clusters": 0}, ValueError, r"n_clusters must be a whole number ≥ 1"),
    ],
)
def test_bad_input_gets_a_sentence(options, error, sentence):
    adata = cells()
    adata.uns["plain"] = 3
    before = (list(adata.obs), list(adata.uns), list(adata.obsm))
    if callable(options.get("adjacency")):
        options = {"adjacency": options["adjacency"](adata)}
    with pytest.raises(error, match=sentence):
        cluster(adata, **options)
    assert (list(adata.obs), list(adata.uns), list(adata.obsm)) == before


def test_what_is_no_anndata_is_named():
    with pytest.raises(TypeError, match="adata must be an AnnData object, got ndarray"):
        cluster(np.eye(3))
    with pytest.raises(ValueError, match="no observations"):
        cluster(anndata.AnnData(np.empty((0, 3))))
    empty = anndata.AnnData(obs=pd.DataFrame(index=list("abc")))
    with pytest.raises(ValueError, match="adata has no X: name a representation"):
        cluster(empty)
    adata = cells()
    adata.obsm["X_pca"][3, 1] = np.nan
    with pytest.raises(ValueError, match=r"nan in row 3, column 1"):
        cluster(adata)


# The command -------------------------------------------------------------------------------------


def run(capsys, *words):
    from convexcluster.cli import main

    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    return left.value.code, *capsys.readouterr()


def test_the_command_reads_and_writes_anndata_files(tmp_path, capsys):
    pytest.importorskip("typer")
    adata = cells()
    adata.obsm["X_umap"] = adata.obsm["X_pca"][:, :2]
    adata.obsm["partial"] = np.full((N, 2), np.nan)
    adata.write_h5ad(tmp_path / "cells.h5ad")
    out = tmp_path / "out"
    words = ("fit", tmp_path / "cells.h5ad", "--label-column", "truth", "--out", out, "--json")
    code, printed, _ = run(capsys, *words)
    assert code == 0
    summary = json.loads(printed)
    assert summary["scores"]["ari"] == 1.0
    assert summary["read"] == {"use_rep": "X_pca", "graph": "obsp/connectivities"}
    assert summary["files"] == [
        "cells.h5ad", "labels.csv", "model", "report.html", "summary.json",
    ]  # fmt: skip
    page = (out / "report.html").read_text("utf-8")
    for words in ('"name":"pca"', '"name":"umap"', '"cell0"', '"NK"'):
        assert words in page
    assert '"name":"partial"' not in page
    again = anndata.read_h5ad(out / "cells.h5ad")
    assert again.obs["convexcluster"].nunique() == 3
    first = (out / "labels.csv").read_text().splitlines()[1]
    assert first == f"cell0,{again.obs['convexcluster'].iloc[0]}"
    code, printed, _ = run(capsys, "fit", tmp_path / "cells.h5ad", "-k", "2", "--key-added", "two")
    assert code == 0
    assert "obsp/connectivities" in printed.replace("\n", "")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (["--use-rep", "X_tsne"], 3, "use_rep='X_tsne' is not in obsm"),
        (["--neighbors-key", "none"], 3, "is not in uns: run scanpy.pp.neighbors"),
        (["--obsp", "none"], 3, "obsp has no 'none'"),
        (["--n-pcs", "77"], 3, "n_pcs must be in 1 … 5"),
        (["--label-column", "none"], 3, "--label-column 'none' is not in obs"),
        (["--columns", "a"], 2, "--columns is for tables: .h5ad files have --use-rep"),
        (["--sep", ";"], 2, "--sep is for tables"),
        (["--transpose"], 2, "--transpose is for tables"),
        (["--no-header"], 2, "--header is for tables"),
        (["--standardize"], 2, "--standardize is for tables"),
        (["--impute", "mean"], 2, "--impute is for tables"),
        (["--learn-features"], 2, "--learn-features is for tables"),
        (["--out", "/proc/x"], 4, "cannot write /proc/x"),
        (["--coordinates", "a"], 2, "--coordinates is for tables"),
        (["--key-added", "a/b"], 3, "key_added must be a name without '/'"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, capsys, words, code, sentence):
    pytest.importorskip("typer")
    cells().write_h5ad(tmp_path / "cells.h5ad")
    left, _, error = run(capsys, "fit", tmp_path / "cells.h5ad", *words)
    assert left == code
    assert sentence in " ".join(error.split())


@pytest.mark.parametrize(
    ("words", "option"),
    [
        (["--use-rep", "X"], "--use-rep"),
        (["--n-pcs", "3"], "--n-pcs"),
        (["--obsp", "a"], "--obsp"),
        (["--key-added", "a"], "--key-added"),
    ],
)
def test_tables_have_no_options_of_cells(tmp_path, capsys, words, option):
    pytest.importorskip("typer")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,4\n")
    left, _, error = run(capsys, "fit", tmp_path / "t.csv", *words)
    assert left == 2
    assert f"{option} is for .h5ad files" in " ".join(error.split())


def test_the_command_says_in_plain_words_what_it_found(tmp_path, capsys):
    pytest.importorskip("typer")
    adata = cells()
    adata.obs.loc[adata.obs_names[0], "truth"] = np.nan
    adata.write_h5ad(tmp_path / "cells.h5ad")
    words = ("fit", tmp_path / "cells.h5ad", "--label-column", "truth", "--out", tmp_path / "out")
    code, printed, _ = run(capsys, *words)
    assert code == 0
    for said in ("structure: clusters were found", " of 1", "the exact optimum has"):
        assert said in " ".join(printed.split())
    assert "cells.h5ad: the cells with their clusters" in printed.replace("\n", "")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text("utf-8"))
    assert summary["scores"]["n_scored"] == N - 1  # a missing label is not a class
    assert summary["selection"]["verdict"] == "structure"


def test_files_that_are_none_are_refused(tmp_path, capsys):
    pytest.importorskip("typer")
    (tmp_path / "no.h5ad").write_text("hello")
    code, _, error = run(capsys, "fit", tmp_path / "no.h5ad")
    assert code == 3
    assert "cannot be read as .h5ad" in error
    code, _, error = run(capsys, "fit", tmp_path / "absent.h5ad")
    assert code == 3
    assert "does not exist" in error


def test_the_command_predicts_new_cells(tmp_path, capsys):
    pytest.importorskip("typer")
    new, out = tmp_path / "new.h5ad", tmp_path / "out"
    cells().write_h5ad(tmp_path / "cells.h5ad")
    moved = cells(graph=False)[::3].copy()
    moved.obsm["X_pca"] = moved.obsm["X_pca"] + np.float32(0.01)
    moved.write_h5ad(new)
    words = ("fit", tmp_path / "cells.h5ad", "--n-pcs", "4", "--key-added", "found", "--out", out)
    assert run(capsys, *words)[0] == 0
    code, printed, told = run(capsys, "predict", out, new, "--label-column", "truth")
    assert code == 0
    assert "ARI 1.0000" in told
    fitted = (out / "labels.csv").read_text().splitlines()[1::3]
    assert printed.splitlines() == ["id,label", *fitted]
    code, printed, _ = run(capsys, "predict", out, new, "--out", tmp_path / "n2.h5ad", "--json")
    assert code == 0
    column = anndata.read_h5ad(tmp_path / "n2.h5ad").obs["found"]
    assert column.astype(int).tolist() == json.loads(printed)["labels"]
    assert column.cat.categories.tolist() == ["0", "1", "2"]


PREDICTING = [
    (["out", "none.h5ad"], 3, "none.h5ad does not exist"),
    (["out", "few.h5ad"], 3, "fitted to 5 columns of X_pca, and few.h5ad has 3"),
    (["out", "raw.h5ad"], 3, "raw.h5ad: use_rep='X_pca' is not in obsm"),
    (["out", "cells.h5ad", "--label-column", "no"], 3, "--label-column 'no' is not in obs"),
    (["out", "cells.h5ad", "--out", "cells.h5ad"], 4, "cells.h5ad exists: pass --force"),
    (["gone", "cells.h5ad"], 3, "gone does not exist: pass a model file"),
    (["table", "cells.h5ad"], 3, "table was not fitted to an .h5ad file"),
]


def test_predicting_says_what_is_wrong(tmp_path, capsys, monkeypatch):
    pytest.importorskip("typer")
    monkeypatch.chdir(tmp_path)
    adata = cells(graph=False)
    adata.write_h5ad("cells.h5ad")
    np.savetxt("table.csv", adata.obsm["X_pca"], delimiter=",")
    assert run(capsys, "fit", "cells.h5ad", "--out", "out")[0] == 0
    assert run(capsys, "fit", "table.csv", "--out", "table")[0] == 0
    few = cells(graph=False)
    few.obsm["X_pca"] = few.obsm["X_pca"][:, :3]
    few.write_h5ad("few.h5ad")
    cells(graph=False, pca=False).write_h5ad("raw.h5ad")
    for words, code, sentence in PREDICTING:
        left, _, error = run(capsys, "predict", *words)
        assert left == code, words
        assert sentence in " ".join(error.split()), words
