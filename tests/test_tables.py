"""Tables as they are: kinds of columns, the encoder, and what it refuses."""

from __future__ import annotations

import datetime
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from convexcluster import KernelConvexClustering, MixedEncoder
from convexcluster.tables import columns_of

pl = pytest.importorskip("polars")
N = 60
RNG = np.random.default_rng(0)
GROUP = np.arange(N) % 3
FRAME = pd.DataFrame(
    {
        "number": GROUP * 4.0 + RNG.normal(size=N),
        "word": pd.array(["abc"[g] for g in GROUP], dtype="str"),
        "kind": pd.Categorical.from_codes(GROUP, ["u", "v", "w"]),
        "flag": GROUP == 1,
        "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(GROUP * 100 + np.arange(N) % 7, "D"),
        "lasted": pd.to_timedelta(GROUP * 5 + np.arange(N) % 4, "h"),
    }
)
KINDS = ["number", "category", "category", "boolean", "date", "duration"]
GONE = FRAME.astype({"kind": object}).copy()
GONE.loc[[3, 9], "number"] = np.nan
GONE.loc[4, "word"] = None
GONE.loc[5, "when"] = pd.NaT
FRAMES = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "pyarrow": pa.Table.from_pandas,
    "nullable": lambda frame: frame.convert_dtypes(),
    "objects": lambda frame: frame.astype(object),
}


@pytest.mark.parametrize("make", FRAMES)
@pytest.mark.parametrize("frame", [FRAME, GONE], ids=["whole", "missing"])
def test_every_kind_of_frame_is_the_same_table(make, frame):
    table = FRAMES[make](frame)
    encoder = MixedEncoder().fit(table)
    assert list(encoder.kinds_.values()) == KINDS
    assert encoder.n_missing_ == ({} if frame is FRAME else {"number": 2, "word": 1, "when": 1})
    expected = MixedEncoder().fit_transform(frame)
    np.testing.assert_allclose(encoder.transform(table), expected, atol=1e-12)
    assert np.isfinite(expected).all()


def test_every_column_has_variance_one():
    encoder = MixedEncoder().fit(FRAME)
    Z = encoder.transform(FRAME)
    variances, start = [], 0
    for block in encoder.blocks_:
        width = len(block.centre)
        variances.append(Z[:, start : start + width].var(axis=0).sum())
        start += width
    np.testing.assert_allclose(variances, np.ones(len(KINDS)), rtol=1e-12)
    np.testing.assert_allclose(Z.mean(axis=0), 0.0, atol=1e-12)
    names = encoder.get_feature_names_out()
    assert len(names) == Z.shape[1]
    assert list(names[:4]) == ["number", "word_a", "word_b", "word_c"]
    assert list(MixedEncoder().set_output(transform="polars").fit_transform(FRAME).columns) == list(
        names
    )


WORDS = st.lists(st.sampled_from("pqrst"), min_size=4, max_size=30).filter(
    lambda w: len(set(w)) > 1
)


@given(WORDS, st.permutations("pqrst"))
@settings(max_examples=40, deadline=None)
def test_renaming_categories_changes_no_distance(words, renamed):
    def gram(values):
        Z = MixedEncoder().fit_transform(np.array(values, dtype=object)[:, None])
        assert np.isclose(Z.var(axis=0).sum(), 1.0)
        return Z @ Z.T

    other = dict(zip("pqrst", renamed))
    np.testing.assert_allclose(gram(words), gram([other[w] for w in words]), atol=1e-12)


def test_missing_and_new_categories_are_the_mixture():
    encoder = MixedEncoder().fit(FRAME[["number", "word"]])
    new = pd.DataFrame({"number": [0.0, 0.0], "word": ["never seen", None]})
    np.testing.assert_array_equal(encoder.transform(new)[:, 1:], 0.0)


def test_missing_numbers_are_filled_by_neighbours():
    frame = FRAME.copy()
    frame.loc[[0, 10, 20], "number"] = np.nan
    encoder = MixedEncoder().fit(frame)
    found = encoder.features(encoder.transform(frame))[[0, 10, 20], 0]
    np.testing.assert_allclose(found, 4.0 * GROUP[[0, 10, 20]], atol=1.5)
    plain = MixedEncoder(impute="mean").fit(frame)
    assert plain.transform(frame)[0, 0] == 0.0
    middle = MixedEncoder(impute="median").fit(frame)
    assert np.isclose(middle.features(middle.transform(frame))[0, 0], frame["number"].median())


def test_in_a_pipeline_the_groups_are_found():
    model = make_pipeline(MixedEncoder(), KernelConvexClustering())
    for make in FRAMES.values():
        assert adjusted_rand_score(GROUP, model.fit_predict(make(GONE))) == 1.0
    assert (model.predict(GONE[:5]) == model[-1].labels_[:5]).all()


def test_text_goes_through_skrub():
    skrub = pytest.importorskip("skrub")
    topics = (
        ["the cat and the dog", "a dog, a cat"],
        ["stocks and bonds", "bonds fell, stocks too"],
    )
    notes = [f"{topics[g % 2][k % 2]} no. {k}" for k, g in enumerate(GROUP)]
    frame = FRAME[["number"]].assign(note=notes)
    with pytest.raises(ValueError, match="column 'note' is"):
        KernelConvexClustering().fit(frame)
    model = make_pipeline(
        skrub.TableVectorizer(high_cardinality=skrub.StringEncoder(n_components=3)),
        MixedEncoder(),
        KernelConvexClustering(2),
    )
    assert set(model.fit_predict(frame)) == {0, 1}


def test_an_encoder_is_plain_data():
    encoder = MixedEncoder().fit(GONE)
    again = MixedEncoder.from_dict(encoder.to_dict())
    np.testing.assert_array_equal(again.transform(GONE), encoder.transform(GONE))


def test_identifiers_are_left_out_and_named():
    ids = FRAME.assign(who=[f"p{k}" for k in range(N)], row_id=np.arange(N) * 3)
    with pytest.warns(UserWarning, match="identifiers, whose values all differ: 'who', 'row_id'"):
        encoder = MixedEncoder().fit(ids)
    assert encoder.transform(ids).shape == MixedEncoder().fit_transform(FRAME).shape
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = MixedEncoder(categorical=["who", "row_id"]).fit(ids)
    assert told.kinds_["who"] == "category"


def test_numbers_that_are_told_to_be_categories():
    frame = pd.DataFrame({"zip": [10, 20, 10, 30], "a": [1.0, 2.0, 3.0, 4.0]})
    encoder = MixedEncoder(categorical=["zip"]).fit(frame)
    assert list(encoder.get_feature_names_out()) == ["zip_10", "zip_20", "zip_30", "a"]
    floats = frame.astype({"zip": float})  # as pandas has them once a value is missing
    np.testing.assert_array_equal(encoder.transform(floats), encoder.transform(frame))
    array = MixedEncoder(categorical=[0]).fit(frame.to_numpy())
    np.testing.assert_array_equal(array.transform(frame.to_numpy()), encoder.transform(frame))


KIND_OF = {
    "number": [1, 2.5, None, "3"],
    "boolean": [True, False, None, True],
    "category": ["a", "b", None, "a"],
    "date": ["2024-01-01", "2024-02-29 12:30", None, "2023-12-31"],
    "broken": ["1", "2", "three", None],
}


@pytest.mark.parametrize("kind", KIND_OF)
def test_kinds_of_objects(kind):
    (column,) = columns_of(np.array(KIND_OF[kind], dtype=object)[:, None])
    assert column.kind == kind
    assert column.missing.sum() == 1


def test_dates_are_days_in_any_clothes():
    texts = np.array(["2024-01-01", "2024-01-11"], dtype=object)[:, None]
    dotted = np.array(["01.01.2024", "11.1.2024"], dtype=object)[:, None]
    python = np.array([datetime.date(2024, 1, 1), datetime.date(2024, 1, 11)], object)[:, None]
    stamps = pd.DataFrame({0: pd.to_datetime(["2024-01-01", "2024-01-11"]).tz_localize("UTC")})
    for table in (texts, dotted, python, stamps):
        (column,) = columns_of(table)
        assert column.kind == "date"
        assert np.diff(column.numbers("date")) == [10.0]


FEW = FRAME[["number"]]
REFUSED = {
    "nothing in a column": (FEW.assign(b=None), "column 'b' has no value at all: drop it"),
    "nothing in a row": (
        GONE.assign(**{c: [None, *GONE[c][1:]] for c in GONE}),
        "row 0 has no value at all: drop it",
    ),
    "text among numbers": (
        FEW.assign(b=["1"] * 59 + ["?"]),
        r"column 'b' holds '\?' in row 59 among numbers: .*categorical=",
    ),
    "free text": (
        FEW.assign(b=[f"note {k % 50}" for k in range(N)]),
        "column 'b' is text, 50 different values in 60 rows: drop it, .*skrub",
    ),
    "time of day": (
        pa.table({"a": FEW["number"], "t": pa.array([3600] * N, pa.time32("s"))}),
        "column 't' is a time of day",
    ),
    "infinite": (
        FEW.assign(b=[np.inf] + [0.0] * 59),
        "column 'b' holds an infinite value in row 0",
    ),
    "integers that collapse": (
        FEW.assign(b=[2**60, 2**60 + 1] * 30),
        "column 'b' holds integers beyond 2⁵³",
    ),
    "constant": (FEW.assign(number=1.0), "no column varies"),
    "same name": (pd.DataFrame(np.ones((3, 2)), columns=["a", "a"]), "'a' occurs twice"),
    "identifiers alone": (
        pd.DataFrame({"n": [f"k{k}" for k in range(N)]}),
        "'n' is an identifier, and no other column",
    ),
    "no rows": (FRAME[:0], "the table has no rows"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_the_encoder_refuses_by_a_sentence(case):
    table, sentence = REFUSED[case]
    with pytest.raises(ValueError, match=sentence):
        MixedEncoder().fit(table)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"categorical": ["x"]}, "categorical names 'x', which is no column"),
        ({"categorical": "all"}, 'categorical must be "auto" or a sequence'),
        ({"impute": "zero"}, "impute must be one of"),
    ],
)
def test_the_encoder_refuses_parameters(options, sentence):
    with pytest.raises(ValueError, match=sentence):
        MixedEncoder(**options).fit(FRAME)


def test_new_rows_must_be_of_the_same_kind():
    encoder = MixedEncoder().fit(FRAME)
    with pytest.raises(ValueError, match="column 'number' held numbers when"):
        encoder.transform(FRAME.assign(number="high"))


def test_estimators_name_the_pipeline():
    X, _ = make_blobs(30, random_state=0)
    frame = pd.DataFrame(X, columns=["a", "b"])
    for make in (FRAMES["pandas"], FRAMES["polars"], FRAMES["pyarrow"]):
        with pytest.raises(ValueError, match=r"'c' is text: .*make_pipeline\(MixedEncoder\(\)"):
            KernelConvexClustering().fit(make(frame.assign(c=["u", "v"] * 15)))
        frame.loc[3, "a"] = np.nan
        with pytest.raises(ValueError, match=r"row 3, column 'a': .*make_pipeline\(MixedEncoder"):
            KernelConvexClustering().fit(make(frame))
        model = KernelConvexClustering(3).fit(make(frame.fillna(0.0)))
        assert list(model.feature_names_in_) == ["a", "b"]


@parametrize_with_checks([MixedEncoder()])
def test_scikit_learn_checks(estimator, check):
    check(clone(estimator))
