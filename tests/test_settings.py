"""Parameters: every entry refuses the same values with the same sentences."""

import numpy as np
import pytest

from convexcluster import ConvexClustering, KernelConvexClustering
from convexcluster.out_of_core import fit_large
from convexcluster.settings import AXES, PLANE_AXES, Settings
from convexcluster.tuning import tune

X = np.random.default_rng(0).normal(size=(40, 2))

BAD = [
    ({"n_clusters": 2.5}, "n_clusters must be a whole number ≥ 1, or None, got 2.5"),
    ({"n_clusters": 0}, "n_clusters must be a whole number ≥ 1"),
    ({"n_clusters": True}, "n_clusters must be a whole number ≥ 1"),
    ({"n_clusters": 1000}, "n_clusters=1000 exceeds the number of samples, 40"),
    ({"n_neighbors": 0}, "n_neighbors must be a whole number ≥ 1, got 0"),
    ({"labels": "bogus"}, "labels must be one of"),
    ({"selection": "bogus"}, "selection must be one of"),
    ({"weight_space": "bogus"}, "weight_space must be"),
    ({"embedding": "bogus"}, "embedding must be auto or one of"),
    ({"kernel": "bogus"}, "kernel 'bogus' is unknown"),
    ({"kernel_params": {"bogus": 1}}, "has no parameter 'bogus'"),
    ({"bandwidth": -1.0}, "bandwidth must be finite and > 0"),
    ({"weights": "bogus"}, "weights 'bogus' are unknown"),
    ({"weights": None}, "weights must be one of"),
    ({"weight_bandwidth": 0.0}, "bandwidth of the weights"),
    ({"solver": "bogus"}, "solver must be one of"),
    ({"certify": "bogus"}, "certify must be one of"),
    ({"tol": 2.0}, "tol must be"),
    ({"embedding_tol": -1.0}, "tol of an embedding"),
    ({"gamma": "auto"}, "gamma must be a number"),
    ({"gamma": True}, "gamma must be a number"),
    ({"gamma": -1.0}, "gamma must be finite and ≥ 0"),
    ({"gamma": [1.0, np.nan]}, "gammas must be finite"),
    ({"rank": 0}, "rank must be a whole number"),
    ({"max_iter": 0}, "max_iter must be a whole number"),
    ({"min_cluster_size": -2}, "min_cluster_size must be a whole number"),
    ({"coarsen": -5}, "coarsen must be"),
    ({"max_memory": "lots"}, "max_memory must be"),
    ({"random_state": "x"}, "random_state must be"),
    ({"n_jobs": 0}, "n_jobs must be"),
]
# What needs all rows in memory is refused where they are not.
NEEDS_ROWS = [
    ({"kernel": "precomputed"}, "groups rows into cells, but the kernel is precomputed"),
    ({"weights": (np.array([[0, 1]]), np.ones(1))}, "but the graph is given"),
    ({"embedding": "exact"}, 'but embedding="exact"'),
    ({"coarsen": False}, "coarsen=False needs all rows in memory"),
]


def in_memory(parameters):
    KernelConvexClustering(**parameters).fit(X)


def from_blocks(parameters):
    fit_large(X, KernelConvexClustering(**parameters))


def on_dask(parameters):
    pytest.importorskip("distributed")
    array = pytest.importorskip("dask.array")
    from convexcluster.dask import KernelConvexClustering as OnDask

    OnDask(**parameters, client=object()).fit(array.from_array(X, chunks=(20, 2)))


def in_a_search(parameters):
    tune(X, estimator=KernelConvexClustering(**parameters))


@pytest.mark.parametrize("entry", [in_memory, from_blocks, on_dask, in_a_search])
@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_a_bad_value_is_refused_by_every_entry_with_one_sentence(entry, parameters, message):
    with pytest.raises(ValueError) as refused:
        entry(parameters)
    assert message in str(refused.value)


@pytest.mark.parametrize("entry", [from_blocks, on_dask])
@pytest.mark.parametrize(("parameters", "message"), NEEDS_ROWS)
def test_what_needs_all_rows_is_refused_where_they_are_elsewhere(entry, parameters, message):
    with pytest.raises(ValueError) as refused:
        entry(parameters)
    assert message in str(refused.value)


@pytest.mark.parametrize("kernel", ["precomputed", "Precomputed", "PRECOMPUTED"])
def test_a_kernel_is_what_it_resolves_to(kernel):
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    settings = Settings(kernel=kernel)
    assert settings.kernel_name == "precomputed"
    assert KernelConvexClustering(2, kernel=kernel).fit(K).n_clusters_ == 2


def test_linear_is_the_kernel_estimator_with_the_linear_kernel():
    linear = ConvexClustering(3).fit(X)
    kernel = KernelConvexClustering(3, kernel="linear").fit(X)
    np.testing.assert_array_equal(linear.labels_, kernel.labels_)
    np.testing.assert_array_equal(linear.centroids_, kernel.centroids_)
    assert set(linear.get_params()) < set(kernel.get_params())


def test_the_linear_kernel_has_no_rank_to_cut():
    assert Settings(kernel="rbf").cuts_rank(1_001)
    assert not Settings(kernel="linear").cuts_rank(1_001)
    assert not Settings(kernel="rbf", rank=300).cuts_rank(1_001)
    assert not Settings(kernel="rbf", gamma=1.0).cuts_rank(1_001)


def test_an_automatic_path_runs_on_fewer_axes_where_nothing_else_needs_them():
    plane, wide = (Settings().embedding_options(5_000, width) for width in (2, 10))
    assert (plane["axes"], wide["axes"]) == (PLANE_AXES, AXES)
    for given in (
        {"certify": "path"},
        {"weight_space": "embedding"},
        {"rank": 300},
        {"gamma": 1.0},
        {"embedding": "greedy"},
        {"kernel": "cosine"},
        {"kernel": "precomputed"},
    ):
        assert "axes" not in Settings(**given).embedding_options(5_000, 2), given
