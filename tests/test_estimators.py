"""The estimators: scikit-learn's contract, the attributes, dirty input, and the paper's rings."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import (
    check_estimator_sparse_array,
    check_estimator_sparse_matrix,
    parametrize_with_checks,
)

from convexcluster import ConvexClustering, KernelConvexClustering, load
from convexcluster.estimators.predict import Predictions
from convexcluster.numerics.progress import STAGES

BOTH = [KernelConvexClustering, ConvexClustering]


# These take whatever has predict_proba for a classifier of four classes; see the test after.
SPARSE_CHECKS = {
    check.__name__: "asks a clusterer for the tags of a classifier"
    for check in (check_estimator_sparse_array, check_estimator_sparse_matrix)
}


@parametrize_with_checks(
    [KernelConvexClustering(), ConvexClustering()],
    expected_failed_checks=lambda estimator: SPARSE_CHECKS,
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.parametrize("check", [check_estimator_sparse_array, check_estimator_sparse_matrix])
@pytest.mark.parametrize("base", BOTH)
def test_scikit_learn_contract_on_sparse_rows(base, check, monkeypatch):
    monkeypatch.delattr(Predictions, "predict_proba")
    check(base.__name__, base())


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, centers=3, cluster_std=0.4, random_state=1)


@pytest.fixture(scope="module")
def fitted(blobs):
    return KernelConvexClustering(n_clusters=3).fit(blobs[0])


def test_attributes(fitted, blobs):
    X, y = blobs
    n, k = len(X), 3
    assert adjusted_rand_score(y, fitted.labels_) == 1.0
    assert fitted.n_clusters_ == k
    assert fitted.embedding_.shape[0] == n
    assert fitted.centroids_.shape == (k, fitted.embedding_.shape[1])
    assert fitted.dual_coef_.shape == (k, n)
    assert is_valid_linkage(fitted.linkage_)
    assert len(fitted.path_.labels(gamma=fitted.gamma_)) == n
    assert fitted.certificate_.relative_gap <= 1e-6  # tol="auto" where no rank was cut
    sizes = np.bincount(fitted.labels_)
    assert (np.diff(sizes) <= 0).all()


def test_everything_is_numbered_by_the_rows_of_the_user():
    X, y = make_moons(200, noise=0.05, random_state=0)
    X, y = np.r_[X, X[:20]], np.r_[y, y[:20]]  # copies as well
    model = KernelConvexClustering().fit(X)
    i, j = model.graph_.edges.T
    assert (y[i] == y[j]).mean() > 0.98  # edges join neighbours
    assert (i < j).all()
    np.testing.assert_array_equal(model.selection_.labels, model.labels_)
    for values in (model.labels_, model.embedding_, model.path_.masses, model.dual_coef_.T):
        assert len(values) == len(X)
    assert model.selection_.linkage.shape == model.linkage_.shape == (len(X) - 1, 4)


def test_a_fit_that_fails_leaves_the_one_before():
    X = make_moons(60, noise=0.05, random_state=0)[0]
    model = KernelConvexClustering(2).fit(X)
    before = dict(vars(model))
    with pytest.raises(ValueError, match="exceeds"):
        model.set_params(n_clusters=99).fit(np.c_[X, X])
    assert {**vars(model), "n_clusters": 2} == before
    assert len(model.set_params(n_clusters=2).predict(X)) == 60


def test_a_fit_on_rows_forgets_the_cells_of_the_one_before():
    X = make_moons(300, noise=0.05, random_state=0)[0]
    model = KernelConvexClustering(2, coarsen=50, rank=20).fit(X)
    assert len(model.points_.X) <= 75
    model.set_params(coarsen=False).fit(X)
    assert not hasattr(model, "points_")
    assert not hasattr(model, "coarsening_")


def test_the_gap_is_what_was_asked_or_a_small_share_of_the_lost_trace():
    X = make_moons(1_100, noise=0.05, random_state=0)[0]
    loose, sharp = (KernelConvexClustering(2, tol=tol).fit(X) for tol in ("auto", 1e-6))
    proved = loose.certificate_
    assert proved.relative_gap <= 1e-3
    assert proved.radius <= 1.005 * proved.embedding_error
    assert sharp.certificate_.relative_gap <= 1e-6
    ranked = KernelConvexClustering(2, rank=20).fit(X)
    assert ranked.certificate_.relative_gap <= 1e-6
    with pytest.raises(ValueError, match="between 0 and 1"):
        KernelConvexClustering(tol="tight").fit(X)


def test_progress_goes_to_a_function_or_to_standard_error(blobs, capsys, tmp_path):
    steps = []
    model = KernelConvexClustering(3, verbose=lambda *step: steps.append(step)).fit(blobs[0])
    assert [step[0] for step in steps] == list(range(len(model.path_)))
    assert [step[2] for step in steps] == model.path_.gammas.tolist()
    assert capsys.readouterr().err == ""
    model.save(tmp_path / "model")  # the function is left behind
    assert load(tmp_path / "model").verbose == 0
    KernelConvexClustering(3, verbose=1).fit(blobs[0])
    begun = [stage for stage in STAGES if stage not in ("cells", "solution")]
    lines = [f"[convexcluster] {stage}" for stage in begun]
    shown = capsys.readouterr().err.splitlines()
    assert [line for line in shown if "compiling" not in line] == lines
    KernelConvexClustering(3, verbose=2).fit(blobs[0])
    assert capsys.readouterr().err.count("γ=") == len(model.path_)


def test_loops_that_cannot_be_kept_are_compiled_and_it_is_said_once(monkeypatch):
    from numba.core.caching import CacheImpl

    from convexcluster.loops import compile as compiled

    monkeypatch.setattr(CacheImpl, "_locator_classes", [])
    compiled._warn_of_no_cache.cache_clear()
    with pytest.warns(RuntimeWarning, match="set NUMBA_CACHE_DIR") as said:
        loops = [compiled.njit(cache=True)(lambda x: x + 1) for _ in range(2)]
    assert len(said) == 1
    assert [loop(1) for loop in loops] == [2, 2]


def test_compiling_is_announced_once_where_a_person_waits_and_where_it_happens(capsys, monkeypatch):
    from convexcluster.loops import compile as compiled

    def loop_of(module):
        def more(x):
            return x + 1

        more.__module__ = module
        return compiled.njit()(more)

    compiled._say_compiling.cache_clear()
    ours, loop = "convexcluster.loops.one", loop_of("convexcluster.loops.one")
    with compiled.announced(asked=False):
        assert loop_of(ours)(1) == 2
    with compiled.announced(asked=True):
        loop_of("another.package")(1)
        assert capsys.readouterr().err == ""
        assert (loop(1), loop_of(ours)(1)) == (2, 2)
    said = capsys.readouterr().err
    assert said == "[convexcluster] compiling, once in every process: some seconds\n"
    with compiled.announced(asked=True):
        loop(1)  # is there already
    loop_of(ours)(1)
    assert capsys.readouterr().err == ""
    compiled._say_compiling.cache_clear()


def test_dual_coefficients_are_convex_combinations(fitted):
    beta = fitted.dual_coef_
    assert beta.min() >= 0
    np.testing.assert_allclose(beta.sum(axis=1), 1.0, atol=1e-9)
    # c = βZ holds at the optimum: ‖A − A*‖ ≤ radius for the centroids, and β is as far off at most
    # to first order, so a few radii bound the difference
    error = np.linalg.norm(beta @ fitted.embedding_ - fitted.centroids_)
    assert error <= 10 * fitted.certificate_.radius


def test_order_of_samples_changes_nothing(blobs):
    X = blobs[0]
    order = np.random.default_rng(0).permutation(len(X))
    a, b = KernelConvexClustering().fit(X), KernelConvexClustering().fit(X[order])
    assert (a.labels_[order] == b.labels_).all()
    assert a.gamma_ == b.gamma_


def test_weight_two_is_a_repeated_sample(blobs):
    X = blobs[0][:30]
    times = np.random.default_rng(1).integers(0, 3, 30)
    weighted = KernelConvexClustering(2).fit(X, sample_weight=times)
    repeated = KernelConvexClustering(2).fit(np.repeat(X, times, axis=0))
    np.testing.assert_array_equal(weighted.centroids_, repeated.centroids_)
    np.testing.assert_array_equal(np.repeat(weighted.labels_, times), repeated.labels_)


@pytest.mark.parametrize("Estimator", BOTH)
def test_pickle_clone_pipeline_and_grid_search(Estimator, blobs):
    X, y = blobs
    model = Estimator(n_clusters=3).fit(X)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert clone(model).get_params() == model.get_params()
    assert len(make_pipeline(StandardScaler(), Estimator(3)).fit_predict(X)) == len(X)

    def score(estimator, X, y):
        return adjusted_rand_score(y, estimator.predict(X))

    search = GridSearchCV(Estimator(), {"n_clusters": [2, 3]}, scoring=score, cv=2).fit(X, y)
    assert search.best_params_ == {"n_clusters": 3}


def test_pandas_in_and_out(blobs):
    frame = pd.DataFrame(blobs[0], columns=["a", "b"])
    model = KernelConvexClustering(3).set_output(transform="pandas").fit(frame)
    out = model.transform(frame)
    assert list(out.columns) == [f"kernelconvexclustering{t}" for t in range(3)]
    assert list(model.feature_names_in_) == ["a", "b"]


def test_notebook_shows_the_report_once_fitted(fitted, tmp_path):
    assert "<iframe" in fitted._repr_html_()
    assert len(fitted._repr_html_()) < 300_000
    fitted.save(tmp_path / "model")
    assert "path is not in the file" in load(tmp_path / "model")._repr_html_()
    assert fitted._repr_mimebundle_()["text/html"] == fitted._repr_html_()
    assert "<iframe" not in KernelConvexClustering()._repr_mimebundle_()["text/html"]


def test_results_are_shown_in_one_line(fitted):
    for shown in (repr(fitted.path_), repr(fitted.selection_)):
        assert "\n" not in shown
        assert len(shown) < 160
    assert f"{len(fitted.path_)} γ" in repr(fitted.path_)
    assert f"of {fitted.n_clusters_} clusters" in repr(fitted.selection_)


def test_one_gamma_and_a_grid(blobs):
    X = blobs[0]
    one = KernelConvexClustering(gamma=0.3).fit(X)
    assert one.gamma_ == 0.3
    assert len(one.path_) == 1
    np.testing.assert_array_equal(one.n_clusters_, len(np.unique(one.path_.labels(gamma=0.3))))
    grid = KernelConvexClustering(3, gamma=[0.1, 0.3, 1.0]).fit(X)
    np.testing.assert_allclose(grid.path_.gammas, [0.1, 0.3, 1.0])
    assert grid.gamma_ in (0.1, 0.3, 1.0)


def test_precomputed_equals_its_kernel():
    X, _ = make_moons(60, noise=0.05, random_state=0)
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / (2 * 0.3**2))
    a = KernelConvexClustering(2, kernel="precomputed", gamma=0.5).fit(K)
    b = KernelConvexClustering(2, bandwidth=0.3, weight_space="embedding", gamma=0.5).fit(X)
    assert adjusted_rand_score(a.labels_, b.labels_) == 1.0
    # both centroids are within their radius of those of the same optimum, in bases of their own
    tolerance = a.certificate_.radius + b.certificate_.radius
    near_a, near_b = np.sort(a.transform(K), axis=1), np.sort(b.transform(X), axis=1)
    np.testing.assert_allclose(near_a, near_b, rtol=0, atol=tolerance)
    assert tolerance < 0.1 * near_a.max()


def test_sparse_samples(blobs):
    X = blobs[0]
    dense = KernelConvexClustering(3, weights="local").fit(X)
    thin = KernelConvexClustering(3, weights="local").fit(sparse.csr_array(X))
    assert adjusted_rand_score(dense.labels_, thin.labels_) == 1.0


@pytest.mark.parametrize("Estimator", BOTH)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_samples(Estimator, n):
    X = np.arange(2.0 * n).reshape(n, 2)
    model = Estimator().fit(X)
    assert len(model.labels_) == n
    assert np.isfinite(model.centroids_).all()


@pytest.mark.parametrize("Estimator", BOTH)
def test_all_rows_equal_are_one_cluster(Estimator):
    model = Estimator().fit(np.ones((6, 3)))
    assert model.labels_.tolist() == [0] * 6
    with pytest.warns(UserWarning, match="only 1 samples are distinct"):
        assert Estimator(n_clusters=2).fit(np.ones((6, 3))).n_clusters_ == 1


@pytest.mark.parametrize("Estimator", BOTH)
def test_constant_columns_and_dtypes(Estimator, blobs):
    X = blobs[0]
    padded = np.column_stack([X, np.full(len(X), 7.0)])
    expected = Estimator(3).fit(X).labels_
    np.testing.assert_array_equal(Estimator(3).fit(padded).labels_, expected)
    frozen = np.asfortranarray(X)
    frozen.flags.writeable = False
    np.testing.assert_array_equal(Estimator(3).fit(frozen).labels_, expected)
    assert adjusted_rand_score(Estimator(3).fit(X.astype(np.float32)).labels_, expected) == 1.0
    integers = (100 * X).astype(int)
    assert adjusted_rand_score(Estimator(3).fit(integers).labels_, expected) == 1.0


@pytest.mark.parametrize(
    ("parameters", "X", "message"),
    [
        ({"n_clusters": 9}, np.eye(4), "exceeds the number of samples"),
        ({"n_clusters": 0}, np.eye(4), "n_clusters must be"),
        ({"gamma": -1.0}, np.eye(4), "gamma must be"),
        ({"rank": 9}, np.eye(4), "rank must be"),
        ({"kernel": "precomputed"}, np.ones((3, 2)), "square"),
        ({"kernel": "precomputed"}, np.array([[1.0, 0.2], [0.9, 1.0]]), "symmetric"),
        ({"kernel": "nonsense"}, np.eye(4), "unknown"),
        ({"labels": "nonsense"}, np.eye(4), "labels must be"),
        ({"embedding": "nonsense"}, np.eye(4), "embedding"),
        ({"selection": "nonsense"}, np.eye(4), "selection must be"),
        ({"weights": -np.ones((4, 4))}, np.eye(4), "weights must be"),
        ({"weights": ([[0, 9]], [1.0])}, np.eye(4), "out of range"),
        ({"weights": ([[1, 0]], [1.0])}, np.eye(4), "i < j"),
        ({"weights": ([[0, 1], [0, 1]], [1.0, 1.0])}, np.eye(4), "repeated"),
        ({}, np.array([[1.0, np.nan]]), "X holds nan in row 0, column 1"),
        ({}, np.array([[1.0, np.inf]]), "X holds inf in row 0, column 1"),
        ({}, np.array([["a", "b"]]), "could not convert"),
        ({}, np.array([[1j]]), "Complex"),
        ({}, np.ones(4), "2D array"),
        ({}, np.empty((0, 3)), "0 sample"),
    ],
)
def test_bad_input_is_refused_with_a_sentence(parameters, X, message):
    with pytest.raises(ValueError, match=message):
        KernelConvexClustering(**parameters).fit(X)


def test_exact_embedding_of_too_many_samples_is_refused_before_allocating():
    X = np.random.default_rng(0).normal(size=(200_000, 2))
    with pytest.raises(MemoryError, match="pivoted"):
        KernelConvexClustering(embedding="exact", gamma=1.0).fit(X)
