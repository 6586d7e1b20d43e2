"""The warning about scales: where it speaks, where it is silent, and that it speaks once."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from convexcluster import KernelConvexClustering
from convexcluster.points.scales import ScaleWarning, feature_scales, warn_of_scales


def warned(X):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        warn_of_scales(X)
    return [str(w.message) for w in found if w.category is ScaleWarning]


def one_hot():
    rng = np.random.default_rng(0)
    # category t has probability ∝ 2^−t: the rarest of twelve is seen about once in 4,000
    values = np.minimum(rng.geometric(0.5, size=(2_000, 3)), 12)
    return OneHotEncoder(sparse_output=False).fit_transform(values)


@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_mixed_units_are_named(load):
    X = load().data
    (message,) = warned(X)
    scales = feature_scales(X)
    assert f"feature {scales.argmax()} " in message
    assert "StandardScaler" in message
    assert not warned(StandardScaler().fit_transform(X))


@pytest.mark.parametrize(
    "X",
    [
        load_iris().data,
        load_digits().data,
        one_hot(),
        np.random.default_rng(1).standard_t(3, size=(300, 5)),
        np.exp(np.random.default_rng(2).normal(size=(300, 5))),
        np.zeros((5, 3)),
        np.arange(4.0)[:, None],
    ],
    ids=["iris", "digits", "one-hot", "t3", "log-normal", "constant", "one feature"],
)
def test_silent_where_scales_are_alike(X):
    assert not warned(X)


def test_two_features_may_differ_tenfold():
    x = np.random.default_rng(3).normal(size=500)
    assert not warned(np.column_stack([x, 9 * x]))
    assert warned(np.column_stack([x, 11 * x]))


def test_sparse_rows_are_not_looked_at():
    assert not warned(sparse.csr_array(load_wine().data))


def test_a_fit_warns_once_and_names_the_caller():
    X = load_wine().data[::3]
    with pytest.warns(ScaleWarning) as found:
        KernelConvexClustering(3).fit(X)
    assert [w.filename for w in found if w.category is ScaleWarning] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error", ScaleWarning)
        KernelConvexClustering(3).fit(StandardScaler().fit_transform(X))
        KernelConvexClustering(3, kernel="precomputed").fit(X @ X.T)


def test_measured_images_are_silent(data_dir):
    for name in ("mnist500", "Yale", "orlraws10P", "zoo", "housevotes", "lymphoma"):
        with np.load(data_dir / f"{name}.npz") as found:
            assert not warned(found["X"].astype(float)), name
