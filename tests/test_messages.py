"""What is wrong with the input is said by its row and column, with the remedy."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import euclidean_distances, rbf_kernel

from convexcluster import KernelConvexClustering
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
