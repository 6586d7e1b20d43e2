"""What is wrong with the input is said by its row and column, with the remedy."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from convexcluster import KernelConvexClustering
from convexcluster.out_of_core import fit_large
from convexcluster.points.scales import ScaleWarning

X, y = make_blobs([30, 30], 2, centers=[[0, 0], [10, 0]], random_state=0)
FRAME = pd.DataFrame(X, columns=["a", "b"])
K = rbf_kernel(X, gamma=0.1)


def refused(rows, **parameters):
    with pytest.raises(ValueError) as error:
        KernelConvexClustering(**parameters).fit(rows)
    return str(error.value)


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ("u", "text"),
        (pd.Categorical(["u", "v"] * 30), "categorical"),
        (pd.date_range("2020", periods=60), "a date"),
        (pd.to_timedelta(np.arange(60), "s"), "a duration"),
    ],
)
def test_a_column_without_numbers_is_named(column, kind):
    assert refused(FRAME.assign(c=column)) == (
        f"column 'c' is {kind}: encode or drop it; "
        "make_pipeline(MixedEncoder(), KernelConvexClustering()) encodes it"
    )


def test_dates_alone_are_refused():
    dates = pd.date_range("2020", periods=60)
    assert "column 'd' is a date" in refused(pd.DataFrame({"d": dates}))
    assert "column 0 is a date" in refused(dates.to_numpy()[:, None])


def test_a_repeated_column_name_is_named():
    repeated = refused(pd.DataFrame(X, columns=["a", "a"]))
    assert repeated == "column name 'a' occurs twice: rename one of the columns"


def test_numbers_in_any_clothes_are_taken():
    odd = FRAME.assign(a=FRAME.a.astype(object), b=FRAME.b.astype("Float64"), c=["1", "2"] * 30)
    assert KernelConvexClustering(2).fit(odd).n_clusters_ == 2


def test_a_missing_value_is_named_by_row_and_column():
    rows = X.copy()
    rows[3, 1] = np.nan
    for table, column in ((rows, "1"), (pd.DataFrame(rows, columns=["a", "b"]), "'b'")):
        message = refused(table)
        assert f"X holds nan in row 3, column {column}" in message
        assert "make_pipeline(MixedEncoder(), KernelConvexClustering()) fills in" in message
        assert "HistGradientBoosting" not in message
    assert "in row 3, column 1" in refused(sparse.csr_array(rows))


def test_a_kernel_in_single_precision_is_symmetric_enough():
    noise = 1e-7 * np.random.default_rng(0).random(K.shape)
    single = np.float32(K + noise)
    assert KernelConvexClustering(2, kernel="precomputed").fit(single).n_clusters_ == 2
    assert "must be symmetric" in refused(K + noise, kernel="precomputed")
    assert KernelConvexClustering(2, weights=single).fit(X).n_clusters_ == 2
    assert "must be symmetric" in refused(X, weights=K + noise)


def test_distances_are_no_kernel():
    message = refused(euclidean_distances(X), kernel="precomputed")
    assert "these look like distances" in message
    assert "np.exp(" in message


@pytest.mark.parametrize("value", [1e4, -999.0, 1e200])
def test_one_far_row_is_named(value):
    rows = np.r_[X, [[0.0, value]]]
    with pytest.warns(ScaleWarning, match=r"row 60 has 99\.\d+% .* in column 1"):
        KernelConvexClustering(2).fit(rows)


def test_ordinary_rows_and_numbers_of_neighbours_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        KernelConvexClustering(2).fit(X)
        KernelConvexClustering(2).fit(X[:5])


def test_a_complete_graph_is_said():
    with pytest.warns(UserWarning, match="n_neighbors=1000 joins every pair of 60"):
        KernelConvexClustering(n_neighbors=1000).fit(X)


@pytest.mark.parametrize("copies", [8, 50])
def test_few_rows_that_are_there_many_times_are_said(copies):
    """Copies are weight and weights have no unit: of five rows nothing but one cluster comes."""
    five = np.column_stack([3.0 * np.arange(5), np.arange(5) ** 2])
    with pytest.warns(UserWarning, match=f"only 5 distinct rows, each {copies} times .*n_cl.*=5"):
        model = KernelConvexClustering().fit(np.repeat(five, copies, axis=0))
    assert model.n_clusters_ == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        told = KernelConvexClustering(5).fit(np.repeat(five, copies, axis=0))
        assert np.bincount(told.labels_).tolist() == [copies] * 5
        KernelConvexClustering().fit(np.repeat(five, 7, axis=0))
        KernelConvexClustering().fit(five, sample_weight=np.full(5, 50.0))
        # answers of two questions: many rows of few values have no clusters to be told of
        KernelConvexClustering().fit(np.random.default_rng(0).integers(1, 6, (500, 2)))


@pytest.mark.parametrize("values", [[2**60, 2**60 + 1, 0], [2**53, 2**53 + 1, 2**53 + 2]])
@pytest.mark.parametrize("dtype", [np.int64, np.uint64, object])
def test_integers_that_collapse_are_refused(values, dtype):
    with pytest.raises(ValueError, match=r"column 0 .* beyond 2⁵³ .* subtract"):
        KernelConvexClustering().fit(np.array(values, dtype=dtype)[:, None])


def test_large_integers_that_stay_apart_are_taken():
    rows = (X[:, :1] * 10).astype(np.int64) * 2**50
    assert KernelConvexClustering(2).fit(rows).n_clusters_ == 2


@pytest.mark.parametrize("returned", [None, "x", [1.0, 2.0], {"k": 1}, np.full((60, 60), np.nan)])
@pytest.mark.parametrize("parameter", ["kernel", "metric", "weights", "selection", "solver"])
def test_a_function_that_returns_something_else_is_named(parameter, returned):
    sentence = refused(X, **{parameter: lambda *_, **__: returned})
    assert sentence.startswith(parameter)
    assert "\n" not in sentence


def test_angles_are_compared_without_raw_warnings():
    """Centroids that meet have no direction: that was a division of zero by zero."""
    moons = make_moons(150, noise=0.05, random_state=0)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        KernelConvexClustering(kernel="cosine").fit(moons)


def test_two_rows_are_one_cluster_with_a_reason():
    model = KernelConvexClustering().fit([[0.0], [1e6]])
    assert (model.n_clusters_, model.selection_.verdict) == (1, "no structure")


# What is no table of numbers, with the sentence of a fit, and that of rows read in blocks
NO_TABLE = {
    "complex numbers": (X + 1j, "Complex data not supported"),
    "a complex column": (pd.DataFrame({"a": X[:, 0], "c": 1j}), "column 'c' holds complex numbers"),
    "dates": (np.array(pd.date_range("2020", periods=60))[:, None], "column 0 is a date"),
    "a column of text": (pd.DataFrame(X).assign(c="u"), "column 'c' is text"),
    "numbers that collapse": (2**60 + np.arange(60)[:, None], "column 0 holds integers beyond"),
    "a mask": (np.ma.masked_array(X, np.arange(120).reshape(60, 2) == 7), "masked in row 3, col"),
}


@pytest.mark.parametrize("kind", NO_TABLE)
@pytest.mark.parametrize("entry", ["fit", "predict", "rows in blocks"])
def test_what_holds_no_real_numbers_is_refused_by_every_entry(kind, entry):
    """Imaginary parts, masks and types went unseen where rows are read in blocks."""
    table, sentence = NO_TABLE[kind]
    if entry == "fit":
        refuses = KernelConvexClustering().fit
    elif entry == "predict":
        refuses = KernelConvexClustering(1).fit(np.zeros((3, table.shape[1]))).predict
    else:
        refuses = fit_large
    with pytest.raises(ValueError, match=sentence) as told:
        refuses(table)
    assert "\n" not in str(told.value)


@pytest.mark.parametrize(
    "given", [(row for row in X), {"a": 1.0}, {1.0, 2.0}, "data.csv", Path("data.csv")]
)
def test_what_holds_no_rows_is_named(given):
    with pytest.raises(TypeError, match=rf"X is a {type(given).__name__}: pass an array"):
        KernelConvexClustering().fit(given)


def test_rows_that_are_not_there_yet_and_named_fields_are_refused():
    frame = pl.DataFrame({"a": X[:, 0], "b": X[:, 1]})
    with pytest.raises(TypeError, match=r"pass X.collect\(\)"):
        KernelConvexClustering().fit(frame.lazy())
    with pytest.raises(TypeError, match="named fields"):
        KernelConvexClustering().fit(pd.DataFrame(X).to_records())


def test_a_mask_that_hides_nothing_and_weights_that_hide_something():
    plain = KernelConvexClustering().fit(X)
    masked = KernelConvexClustering().fit(np.ma.masked_array(X, np.zeros_like(X, dtype=bool)))
    np.testing.assert_array_equal(masked.labels_, plain.labels_)
    with pytest.raises(ValueError, match="sample_weight is masked in row 5"):
        KernelConvexClustering().fit(X, sample_weight=np.ma.masked_equal(np.arange(60.0), 5.0))


def test_no_rows_at_all_are_refused_where_they_are_read_in_blocks():
    with pytest.raises(ValueError, match="no samples"):
        fit_large(X[:0])


def test_sparse_rows_are_read_in_blocks():
    found = fit_large(sparse.coo_array(X))
    np.testing.assert_array_equal(found.predict(sparse.csr_array(X)), fit_large(X).predict(X))


def test_nullable_columns_are_read_in_blocks():
    frame = pd.DataFrame(X).astype("Float64")
    np.testing.assert_array_equal(fit_large(frame).predict(frame), fit_large(X).predict(X))
    frame.iloc[4, 1] = pd.NA
    with pytest.raises(ValueError, match="X holds nan in row 4, column 1"):
        fit_large(frame)


@pytest.mark.parametrize("weight", [np.full(60, 1.0 + 1.0j), ["a"] * 60])
def test_weights_that_are_no_real_numbers_are_refused(weight):
    with pytest.raises(ValueError, match="sample_weight must hold real numbers"):
        KernelConvexClustering().fit(X, sample_weight=weight)


def test_distances_far_beyond_the_bandwidth_are_compared_without_raw_warnings():
    D = euclidean_distances(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = KernelConvexClustering(metric="precomputed").fit(np.where(D > 5, D, 1e-200 * D))
    assert np.bincount(model.labels_).tolist() == [30, 30]
