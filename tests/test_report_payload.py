"""What the report is made of: packing, sentences, the page as text."""

import base64
import json
import zlib
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convexcluster import ConvexClustering, KernelConvexClustering, load, solve_path
from convexcluster.answers.describe import explained, features_of
from convexcluster.certificate import Certificate, Robustness
from convexcluster.partition import canonical
from convexcluster.path.builder import PathBuilder
from convexcluster.report import notebook_html, report_html, write_report
from convexcluster.report.page import embed_json, pack
from convexcluster.report.payload import Changes, Features, stored_steps
from convexcluster.report.words import (
    certificate_sentences,
    path_sentence,
    plain_sentences,
    robustness_sentence,
    verdict_sentence,
)


def chain(n=6):
    """Path of n points on a line, 0, 1, 3, 6, …"""
    X = np.cumsum(np.arange(n, dtype=float))[:, None]
    edges = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
    return solve_path(X, edges, np.ones(n - 1)), X


def unpacked(page):
    """Facts and arrays of a page, read as a browser would."""

    def block(name):
        return page.split(f'id="{name}">', 1)[1].split("</script>", 1)[0]

    facts = json.loads(block("facts"))
    raw = zlib.decompress(base64.b64decode(block("arrays")))
    arrays = {
        name: np.frombuffer(raw, "<" + kind, length, offset)
        for name, kind, offset, length in facts["manifest"]
    }
    return facts, arrays


def replay(steps, n):
    heads, made = np.arange(n), []
    for t in range(len(steps.absorbed_at) - 1):
        a, b = steps.absorbed_at[t : t + 2]
        to = np.arange(n)
        to[steps.absorbed[a:b]] = steps.into[a:b]
        heads = to[heads]
        a, b = steps.moved_at[t : t + 2]
        heads[steps.moved[a:b]] = steps.moved_to[a:b]
        made.append(canonical(heads))
    return made


@settings(max_examples=50, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), min_size=7, max_size=7), min_size=1, max_size=6))
def test_any_sequence_of_partitions_comes_back(sequence):
    partitions = [canonical(np.array(labels)) for labels in sequence]
    for made, labels in zip(replay(Changes.of(partitions), 7), partitions):
        np.testing.assert_array_equal(made, labels)


def test_nested_partitions_need_one_entry_per_merge():
    path, _ = chain(12)
    steps = Changes.of([path.labels(gamma=g) for g in path.gammas])
    assert len(steps.absorbed) == 12 - path.n_clusters[-1]
    assert len(steps.moved) == 0


@pytest.mark.parametrize("kind", [np.int64, np.float64, np.float32, np.uint16, np.uint8])
def test_packed_arrays_come_back(kind):
    arrays = {"a": np.arange(5).astype(kind), "b": np.arange(6).reshape(2, 3).astype(kind)}
    manifest, text = pack(arrays)
    raw = zlib.decompress(base64.b64decode(text))
    for name, code, offset, length in manifest:
        found = np.frombuffer(raw, "<" + code, length, offset)
        np.testing.assert_array_equal(found, arrays[name].ravel())
        assert offset % 8 == 0


def test_embedded_json_holds_no_markup_and_comes_back():
    text = "</script><!--<script>&amp;\u2028'\"\\ {{script}}"
    made = embed_json({"x": text})
    assert not set("<>&\u2028") & set(made)
    assert json.loads(made) == {"x": text}


def test_positions_are_the_projected_centroids_to_sixteen_bits():
    path, X = chain()
    facts, arrays = unpacked(report_html(path))
    data = path.centroids(path.gammas[0])[path.labels(gamma=path.gammas[0])][:, 0]
    offset = 0
    for gamma, k in zip(path.gammas, path.n_clusters):
        rows = arrays["positions"].reshape(-1, 2)[offset : offset + k, 0] / 65_535
        expected = (path.centroids(gamma)[:, 0] - data.min()) / np.ptp(data)
        np.testing.assert_allclose(rows, expected, atol=0.5001 / 65_535)
        offset += k
    assert facts["n"] == len(X)


def test_samples_of_a_path_are_drawn_where_they_are():
    path, X = chain()
    _, arrays = unpacked(report_html(path, Z=X))
    shown = arrays["view0"].reshape(-1, 2)[:, 0] / 65_535
    np.testing.assert_allclose(shown, X[:, 0] / X.max(), atol=0.5001 / 65_535)


def test_large_paths_keep_fewer_positions():
    counts = np.full(10, 100)
    assert len(stored_steps(counts, most=1_000)) == 10
    kept = stored_steps(counts, most=350)
    assert kept[0] == 0
    assert counts[kept].sum() <= 350


def test_features_are_chosen_by_what_the_clusters_explain(monkeypatch):
    monkeypatch.setattr("convexcluster.report.payload.MOST_FEATURE_BYTES", 0)
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1], 20)
    X = rng.normal(size=(40, 30))
    X[:, 7] += 5 * labels
    kept = Features.of(*features_of(X, None, 40), labels)
    assert kept.total == 30
    assert len(kept.names) == 10
    assert "feature 7" in kept.names
    assert explained(X.T, labels).argmax() == 7


def test_feature_types_keep_the_values():
    labels = np.zeros(3, dtype=int)
    bytes_ = np.array([[0.0, 255], [1, 2], [3, 4]])
    assert Features.of(bytes_, ["a", "b"], labels).values.dtype == np.uint8
    assert Features.of(np.array([[0.5], [1], [2]]), ["a"], labels).values.dtype == np.float32
    far = np.array([[1e9], [1e9 + 1], [1e9 + 2]])
    np.testing.assert_array_equal(Features.of(far, ["a"], labels).values, far.T)


def test_a_data_frame_brings_names_and_ids():
    pandas = pytest.importorskip("pandas")
    path, X = chain()
    frame = pandas.DataFrame({"size": X[:, 0], "name": list("abcdef")}, index=list("uvwxyz"))
    facts, arrays = unpacked(report_html(path, X=frame))
    assert facts["ids"] == list("uvwxyz")
    assert facts["features"] == ["size"]
    np.testing.assert_array_equal(arrays["features"], X[:, 0])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"ids": ["a"]}, "ids has 1 entries for 6 samples"),
        ({"y": [1, 2]}, "y has 2 entries for 6 samples"),
        ({"Z": np.zeros((2, 1))}, "Z has 2 rows for 6 samples"),
        ({"X": np.zeros((3, 2))}, "X has 3 rows for 6 samples"),
        ({"X": np.zeros((6, 2)), "feature_names": ["a"]}, "1 feature names for 2 features"),
        (
            {"coordinates": np.zeros((5, 2))},
            r"coordinates must have the shape \(6, 2\), got \(5, 2\)",
        ),
        (
            {"coordinates": {"umap": np.zeros(6)}},
            r"'umap' must have the shape \(6, 2\), got \(6,\)",
        ),
        (
            {"coordinates": {"umap": [[0, 0]] * 5 + [[0, np.nan]]}},
            "'umap' holds nan in row 5, column 1",
        ),
    ],
)
def test_what_does_not_fit_is_refused(options, words):
    with pytest.raises(ValueError, match=words):
        report_html(chain()[0], **options)


def test_what_is_no_path_is_refused():
    with pytest.raises(TypeError, match="this KernelConvexClustering is neither"):
        report_html(KernelConvexClustering())
    with pytest.raises(ValueError, match="path is empty"):
        report_html(PathBuilder(np.ones(3), 1.0).build(complete=False))


def test_an_unwritable_report_leaves_the_old_one(tmp_path):
    path, _ = chain()
    out = write_report(path, tmp_path / "report.html")
    before = out.read_bytes()
    with pytest.raises(ValueError, match="ids"):
        write_report(path, out, ids=["a"])
    assert out.read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["report.html"]


def test_certificates_in_words():
    certificate = Certificate(1e-5, relative_gap=3.21e-7, radius=0.0044, partition="certified")
    text = " ".join(certificate_sentences(certificate))
    assert "3.2e-07" in text
    assert "0.0044" in text
    assert "embedding is exact" in text
    assert "partition is certified" in text
    unsure = replace(certificate, partition="not certified: cluster 3 may split")
    text = certificate_sentences(unsure)[-1]
    assert "not proved" in text
    assert "Reason: cluster 3 may split." in text
    assert certificate_sentences(None) == []


def test_an_unknown_gap_is_said_to_be_unknown():
    builder = PathBuilder(np.ones(2), 1.0)
    builder.add(0.1, np.array([0, 1]), np.array([[0.0], [1.0]]), np.nan, False)
    path = builder.build()
    assert "without certificates" in path_sentence(path)
    facts, arrays = unpacked(report_html(path))
    assert np.isnan(arrays["gaps"]).all()
    assert facts["step"] == 0


def test_one_sample_has_a_report():
    builder = PathBuilder(np.ones(1), 0.0)
    builder.add(0.1, np.array([0]), np.array([[2.0]]), 0.0, True)
    facts, _ = unpacked(report_html(builder.build()))
    assert facts["n"] == 1


def large_path(n, steps):
    """n samples whose clusters halve from step to step."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(n, 4))
    order = np.argsort(Z[:, 0])
    builder = PathBuilder(np.ones(n), 0.5 * ((Z - Z.mean(axis=0)) ** 2).sum())
    for t in range(steps):
        k = max(n >> t, 1)
        labels = np.empty(n, dtype=np.int64)
        labels[order] = np.arange(n) * k // n
        labels = canonical(labels)
        centers = np.stack([np.bincount(labels, z) for z in Z.T], axis=1)
        centers /= np.bincount(labels)[:, None]
        builder.add(2.0**t, labels, centers, 1e-7, True)
    return builder.build(), Z


def test_ten_thousand_samples_stay_below_ten_megabytes(tmp_path):
    path, _ = large_path(10_000, 15)
    X = np.random.default_rng(1).normal(size=(10_000, 150))  # noise: the worst to compress
    ids = [f"patient {i:06d} of the second cohort" for i in range(10_000)]
    out = write_report(path, tmp_path / "large.html", X=X, ids=ids, y=np.arange(10_000) % 9)
    assert out.stat().st_size < 10_000_000


def test_a_notebook_shows_a_summary_and_a_button(monkeypatch):
    path, X = chain()
    estimator = SimpleNamespace(
        path_=path,
        labels_=path.labels(n_clusters=2),
        n_clusters=2,
        n_clusters_=2,
        gamma_=1.0,
        embedding_=X,
        linkage_=path.to_linkage(),
        selection_=SimpleNamespace(verdict="<i>", confidence=np.nan, layers=()),
        certificate_=Certificate(gap=0.0, relative_gap=0.0, radius=0.0),
        _embedding=SimpleNamespace(kernel=SimpleNamespace(name="<b>", is_precomputed=False)),
    )
    shown = notebook_html(estimator)
    words, _, frame = shown.partition("<details>")
    assert "<p>2 clusters, as asked: &lt;i&gt;.</p>" in words
    assert "Show the report</summary>" in frame
    assert 'sandbox="allow-scripts allow-downloads"' in frame
    assert frame.count("<") == 5  # the page itself is escaped
    assert len(shown) < 300_000
    monkeypatch.setattr("convexcluster.report.NOTEBOOK_BYTES", 0)
    summary = notebook_html(estimator)
    assert "2 clusters" in summary
    assert "&lt;b&gt; kernel" in summary


def test_two_features_are_drawn_in_their_own_plane():
    path, Z = chain()
    X = np.stack([Z[:, 0], np.arange(6.0)], axis=1)
    facts, arrays = unpacked(report_html(path, X=X, feature_names=["length", "width"]))
    own, _ = facts["views"]
    assert own["axes"] == ["length", "width"]
    assert own["equal"]
    assert facts["moving"] == 1  # centroids of a kernel have no place among the features
    shown = arrays["view0"].reshape(-1, 2) / 65_535 * own["span"] + own["low"]
    np.testing.assert_allclose(shown, X, atol=1e-3)
    # with the linear kernel they do, and the features' plane is the only one
    linear = ConvexClustering(2).fit(X)
    facts, arrays = unpacked(report_html(linear))
    assert (len(facts["views"]), facts["moving"]) == (1, 0)
    k = linear.path_.n_clusters[0]
    place = arrays["positions"][: 2 * k].reshape(-1, 2) / 65_535 * facts["views"][0]["span"]
    first = linear.path_.centroids(linear.path_.gammas[0])
    shift = X.mean(axis=0) - linear.embedding_.mean(axis=0)
    np.testing.assert_allclose(place + X.min(axis=0), first + shift, atol=1e-3)
    # income and age in one unit would be a line
    facts, _ = unpacked(report_html(path, X=X * [1e4, 1]))
    assert not facts["views"][0]["equal"]


def test_a_model_fitted_to_a_data_frame_knows_names_and_ids(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(15, 2)), rng.normal(8, size=(15, 2))])
    X[3] = X[4]
    frame = pandas.DataFrame(X, columns=["length", "width"], index=[f"p{i}" for i in range(30)])
    model = KernelConvexClustering().fit(frame)
    facts, arrays = unpacked(report_html(model))
    assert facts["ids"] == list(frame.index)
    assert facts["features"] == ["length", "width"]
    np.testing.assert_array_equal(arrays["features"].reshape(2, 30), X.T.astype(np.float32))
    assert unpacked(report_html(model, X=X))[0]["features"] == ["length", "width"]
    wide = unpacked(report_html(model, X=np.column_stack([X, X])))[0]["features"]
    assert wide == [f"feature {f}" for f in range(4)]
    told = " ".join(facts["plain"])
    a, b = model.robustness().weakest
    assert f"joins samples p{a} and p{b}." in told
    weighted = KernelConvexClustering(feature_weights=[0.0, 4.0]).fit(frame)
    facts, arrays = unpacked(report_html(weighted))
    assert facts["features"] == ["width"]
    np.testing.assert_allclose(arrays["features"], X[:, 1], rtol=1e-6)
    model.save(tmp_path / "model", path=True)
    assert unpacked(report_html(load(tmp_path / "model")))[0]["ids"] == list(frame.index)
    model.fit(X)
    assert unpacked(report_html(model))[0]["ids"] is None


def test_what_is_no_table_of_features_brings_none():
    X = np.random.default_rng(0).normal(size=(20, 3))
    far = np.abs(X[:, :1] - X[:, 0])
    for model in (
        KernelConvexClustering(metric="precomputed", n_clusters=2).fit(far),
        KernelConvexClustering(kernel="precomputed", n_clusters=2).fit(X @ X.T),
        KernelConvexClustering(coarsen=6, n_clusters=2).fit(X),
    ):
        assert "features" not in unpacked(report_html(model))[0]


def test_robustness_in_plain_words():
    found = Robustness(1.0, 0.0349, 2.0, 0.5079, 0.0, {}, (0, 2))
    assert "each sample may move by 0.034 in the kernel's space" in found.statement()
    assert "every weight may change by 50 %, or γ by 0 %" in found.statement()
    assert found.statement(names=["u", "v", "w"]).endswith("joins samples u and w.")
    # 0.0349 of a Gaussian kernel of bandwidth 2 is 2√(−2 ln(1 − 0.0349²/2)) = 0.0698
    assert "may move by 0.069 in any direction" in found.statement(2.0)
    assert "may move anywhere" in Robustness(1.0, 1.5, 2.0, 0.5, 0.5).statement(2.0)
    assert Robustness(reason="why").statement().endswith("is not proved: why.")
    assert "No room is proved" in Robustness().statement()


def test_robustness_is_only_told_of_what_is_proved():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(15, 2)), rng.normal(8, size=(15, 2))])
    model = KernelConvexClustering().fit(X)
    assert model.certificate_.partition == "certified"
    assert "each sample may move by" in robustness_sentence(model)
    model.certificate_ = replace(model.certificate_, partition="not certified: no")
    assert robustness_sentence(model) == ""
    assert "Not all of this is proved" in " ".join(plain_sentences(model, None))


@pytest.mark.parametrize(
    ("verdict", "asked", "words"),
    [
        ("structure", None, "2 clusters: the data have structure"),
        ("structure", 2, "2 clusters, as asked: the data have structure"),
        ("no structure", None, "2 clusters: nothing stands out from chance (no structure)"),
        ("not tested: why", None, "2 clusters: not tested: why; confidence 0.70 of 1."),
    ],
)
def test_the_verdict_in_one_line(verdict, asked, words):
    selection = SimpleNamespace(verdict=verdict, confidence=0.7)
    model = SimpleNamespace(n_clusters_=2, n_clusters=asked, selection_=selection)
    assert verdict_sentence(model).startswith(words)
    assert verdict_sentence(model).endswith("confidence 0.70 of 1.")


def test_representations_are_one_line():
    X = np.random.default_rng(0).normal(size=(30, 2))
    model = KernelConvexClustering().fit(X)
    for shown in (repr(model.path_), repr(model.selection_)):
        assert "\n" not in shown
        assert len(shown) < 200
