"""The search: what it shares, what it returns, and that the winner is what it says."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import normalized_mutual_info_score
from sklearn.metrics.pairwise import rbf_kernel

from convexcluster import ConvexClustering, KernelConvexClustering, tune
from convexcluster.tuning import default_grid, nmi


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    X = X[::3]
    return (X - X.mean(axis=0)) / X.std(axis=0), y[::3]


def test_nmi_is_scikit_learns():
    rng = np.random.default_rng(0)
    for k in (1, 2, 7):
        a, b = rng.integers(0, 3, 50), rng.integers(0, k, 50)
        assert nmi(a, b) == pytest.approx(normalized_mutual_info_score(a, b), abs=1e-12)


def test_with_classes_the_winner_has_the_score_that_is_reported(iris):
    X, y = iris
    result = tune(X, y, grid={"bandwidth": [0.5, 1.0]})
    model = result.best_estimator_
    assert result.best_score_ == pytest.approx(normalized_mutual_info_score(y, model.labels_))
    assert result.best_params_["n_clusters"] == model.n_clusters_
    assert {"bandwidth", "gamma", "n_clusters", "score"} <= set(result.table)
    # the default at the same bandwidths is among the candidates
    for bandwidth in (0.5, 1.0):
        default = KernelConvexClustering(3, bandwidth=bandwidth).fit_predict(X)
        assert result.best_score_ >= normalized_mutual_info_score(y, default) - 0.02


def test_without_classes_a_selector_decides(iris):
    X, _ = iris
    result = tune(X, grid={"bandwidth": [0.5, 1.0]}, scoring="silhouette")
    assert result.best_score_ == max(result.table["score"])
    assert result.best_estimator_.n_clusters_ == result.best_params_["n_clusters"]


def test_the_linear_estimator_has_no_kernel_to_tune(iris):
    X, y = iris
    result = tune(X, y, estimator=ConvexClustering(n_neighbors=5), grid={"n_neighbors": [5, 9]})
    assert set(result.table["n_neighbors"]) == {5, 9}
    assert isinstance(result.best_estimator_, ConvexClustering)
    assert set(default_grid(X)) == {"bandwidth", "weight_bandwidth"}


def test_unknown_scoring_is_named(iris):
    with pytest.raises(ValueError, match="scoring"):
        tune(*iris, grid={"bandwidth": [1.0]}, scoring="purity")


def test_every_value_of_the_grid_is_scored_as_if_alone():
    X, y = make_moons(100, noise=0.05, random_state=0)
    base = KernelConvexClustering(rank=5, random_state=0)

    def scores(name, value, values):
        table = tune(X, y, estimator=base, grid={name: values}).table
        return np.sort(table.score[[v is value for v in table[name]]])

    def narrow(A, B):
        return rbf_kernel(A, B, gamma=10.0)

    def product(A, B):
        return A @ B.T

    for name, first, other in (
        ("embedding", "exact", "rff"),
        ("kernel", narrow, product),
        ("embedding_tol", 0.0, 0.3),
        ("random_state", 0, 1),
    ):
        together, alone = (scores(name, other, v) for v in ([first, other], [other]))
        np.testing.assert_array_equal(together, alone)


def test_a_parameter_that_does_not_exist_is_named():
    with pytest.raises(ValueError, match="no parameter 'bandwith'"):
        tune(np.eye(5), grid={"bandwith": [1.0]})
