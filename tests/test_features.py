"""Feature weights: given ones in a fit, learned ones by their equations and what they find."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import scale

from convexcluster import ConvexClustering, KernelConvexClustering, features, load, tune
from convexcluster.datasets import make_rings
from convexcluster.features.descent import TOL, Descent, Frozen, simplex_ridge
from convexcluster.features.starts import dependence
from convexcluster.kernels import SumKernel
from convexcluster.out_of_core import fit_large
from convexcluster.settings import Settings
from problems import assert_same_fit

KERNELS = ["rbf", "laplacian", "linear"]
BLOBS, y = make_blobs(60, 4, centers=3, random_state=1)
NOISE = np.random.default_rng(0).normal(size=(60, 3))
X = scale(np.hstack([BLOBS, NOISE]))


def model(kernel="rbf", **options):
    return KernelConvexClustering(kernel=kernel, **options)


@pytest.mark.parametrize("kernel", KERNELS)
def test_equal_weights_change_nothing(kernel):
    plain, told = model(kernel).fit(X), model(kernel, feature_weights=np.full(7, 0.2)).fit(X)
    assert_same_fit(plain, told)
    np.testing.assert_allclose(plain.transform(X + 1), told.transform(X + 1), rtol=1e-9)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_weight_is_a_factor_in_the_distances(kernel):
    theta = np.array([4.0, 1, 0, 0, 1, 1, 0])
    told = model(kernel, feature_weights=theta).fit(X)
    factors = theta if kernel == "laplacian" else np.sqrt(theta)
    factors = factors[theta > 0] * (1.0 if kernel == "laplacian" else np.sqrt(1.0))
    by_hand = model(kernel).fit(X[:, theta > 0] * factors)
    assert (told.labels_ == by_hand.labels_).all()
    new = X + 0.3
    assert (told.predict(new) == by_hand.predict(new[:, theta > 0] * factors)).all()
    assert (told.predict(X) == told.labels_).all()
    assert told.n_features_in_ == 7


def test_the_linear_model_takes_weights():
    told = ConvexClustering(3, feature_weights=[1, 1, 1, 1, 0, 0, 0]).fit(X)
    assert (told.labels_ == ConvexClustering(3).fit(X[:, :4]).labels_).all()


def test_a_refit_without_weights_forgets_them(tmp_path):
    told = model(feature_weights=[1, 1, 0, 0, 0, 0, 0]).fit(X)
    told.save(tmp_path / "model")
    new = X + 0.1
    assert (load(tmp_path / "model").predict(new) == told.predict(new)).all()
    assert (
        told.set_params(feature_weights=None).fit(X).predict(new) == model().fit(X).predict(new)
    ).all()


def test_tune_searches_with_the_weights():
    grid = {"bandwidth": [0.5, 1.0]}
    theta = [1.0, 1, 1, 1, 0, 0, 0]
    told = tune(X, estimator=model(feature_weights=theta), grid=grid)
    by_hand = tune(X[:, :4] * np.sqrt(7 / 4), grid=grid)
    assert told.best_score_ == by_hand.best_score_
    assert (told.best_estimator_.labels_ == by_hand.best_estimator_.labels_).all()
    with pytest.raises(ValueError, match="feature_weights are not searched over"):
        tune(X, grid={"feature_weights": [theta]})


@pytest.mark.parametrize(
    ("weights", "options", "words"),
    [
        ([1, 2], {}, "feature_weights has 2 numbers for 7 features"),
        ([1, -1, 1, 1, 1, 1, 1], {}, "must be a number ≥ 0 for each feature"),
        (np.zeros(7), {}, "finite and not all zero"),
        (np.full(7, np.nan), {}, "finite and not all zero"),
        (np.ones((7, 1)), {}, "must be a number ≥ 0 for each feature"),
        ("all", {}, "must be a number ≥ 0 for each feature"),
        (np.ones(7), {"kernel": "cosine"}, "for the kernels rbf, laplacian, linear, not cosine"),
        (np.ones(7), {"kernel": "precomputed"}, "not precomputed"),
        (np.ones(7), {"kernel": SumKernel([("rbf", slice(None))])}, "not sum"),
    ],
)
def test_bad_weights(weights, options, words):
    with pytest.raises(ValueError, match=words):
        KernelConvexClustering(feature_weights=weights, **options).fit(X)


def test_weights_need_dense_rows_in_memory(monkeypatch):
    monkeypatch.setattr("convexcluster.estimators.predict.SMALL", 0)
    with pytest.raises(ValueError, match="feature_weights need a dense X"):
        model(feature_weights=np.ones(7)).fit(sparse.csr_array(np.where(X > 1, X, 0)))
    with pytest.raises(ValueError, match="feature_weights need all rows in memory"):
        fit_large(X, model(feature_weights=np.ones(7)))


# ------------------------------------------------------------------------------- learning
def frozen(kernel, theta):
    return Frozen.at(X, theta, Settings.of(model(kernel)))


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_gradient_is_that_of_the_optimal_value(kernel, monkeypatch):
    monkeypatch.setattr("convexcluster.features.descent.TOL", 1e-11)
    theta = np.array([0.3, 0.2, 0.15, 0.15, 0.1, 0.05, 0.05])
    at = frozen(kernel, theta)
    value, S = at.value(theta)
    g, h = at.gradient(S), 1e-4
    for f in range(7):
        step = h * np.eye(7)[f]
        difference = (at.value(theta + step)[0] - at.value(theta - step)[0]) / (2 * h)
        assert g[f] == pytest.approx(difference, rel=1e-4)
    # the tangent lies above: V is concave in θ
    for other in np.random.default_rng(1).dirichlet(np.ones(7), 5):
        assert at.value(other)[0] <= value + g @ (other - theta) + 1e-9 * value


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_law_of_a_permuted_feature(kernel):
    theta = np.full(7, 1 / 7)
    at = frozen(kernel, theta)
    S = at.value(theta)[1]
    mean, deviation = at.by_chance(S)
    rng = np.random.default_rng(2)
    drawn = []
    for _ in range(400):
        shuffled = Frozen(rng.permuted(X, axis=0), at.kernel, at.sigma, at.problem, at.gammas)
        drawn.append(shuffled.gradient(S))
    drawn = np.array(drawn)
    assert (np.abs(drawn.mean(axis=0) - mean) < 4.5 * deviation / np.sqrt(400)).all()
    # the deviation of 400 numbers has a relative error of about 1/√800
    assert (np.abs(drawn.std(axis=0) / deviation - 1) < 0.2).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("start", [np.full(7, 1 / 7), np.array([0.5, 0.5, 0, 0, 0, 0, 0])])
def test_steps_never_raise_the_objective(kernel, start):
    found = Descent.of(X, start, Settings.of(model(kernel)))
    assert found.theta.sum() == pytest.approx(1)
    assert (found.theta >= 0).all()
    assert found.objective
    for J in found.objective:
        # both values are known to the gap and to what the embedding lost, relative to F ≤ J
        assert (np.diff(J) <= 4 * TOL * len(X)).all()
        assert len(J) > 1


def test_the_simplex_step_is_optimal():
    rng = np.random.default_rng(3)
    for _ in range(50):
        d = int(rng.integers(1, 9))
        g, tau, allowed = rng.normal(size=d), float(rng.uniform(0.01, 5)), rng.random(d) < 0.7
        allowed[rng.integers(d)] = True
        theta = simplex_ridge(g, tau, allowed)
        assert theta.sum() == pytest.approx(1)
        assert (theta[~allowed] == 0).all()
        slope = g + tau * theta  # equal where θ > 0, no less elsewhere
        on = theta > 0
        assert np.ptp(slope[on]) < 1e-9
        assert (slope[allowed] >= slope[on].min() - 1e-9).all()


def test_dependence_has_the_size_that_it_says():
    """Of independent features a share of at most p has a p-value below p."""
    noise = np.random.default_rng(4).normal(size=(150, 60))
    evidence = dependence(noise)[0][np.triu_indices(60, 1)]
    assert (evidence > 2).mean() < 0.02
    rings = make_rings(random_state=0)[0]
    assert dependence(rings)[0][0, 1] > 10
    assert abs(np.corrcoef(rings.T)[0, 1]) < 0.1


@pytest.fixture(scope="module")
def noisy_rings():
    rings, y = make_rings(random_state=0)
    noise = np.random.default_rng(5).normal(size=(len(rings), 30))
    table = np.hstack([rings, noise])
    return table, y, features.learn(table)


def test_rings_among_noise(noisy_rings):
    table, y, found = noisy_rings
    assert found.learned
    assert np.flatnonzero(found.weights).tolist() == [0, 1]
    assert found.weights.sum() == pytest.approx(1)
    assert (found.table["evidence"][:2] > found.noise).all()
    fitted = model(feature_weights=found.weights).fit(table)
    assert normalized_mutual_info_score(y, fitted.labels_) > 0.99
    assert model().fit(table).n_clusters_ == 1
    assert len(found.to_frame()) == 32


def test_the_picture_has_a_bar_for_each_and_a_line_for_noise(noisy_rings):
    pytest.importorskip("matplotlib").use("agg")
    from convexcluster.plots import FeatureWeightsDisplay

    found = noisy_rings[2]
    names = [f"column {f}" for f in range(32)]
    display = FeatureWeightsDisplay.from_learned(found, names=names, most=10)
    ax = display.plot()
    assert sorted(display.names[:2]) == ["column 0", "column 1"]
    assert [bar.get_width() for bar in ax.patches] == display.evidence.tolist()
    assert ax.lines[0].get_xdata()[0] == found.noise
    assert len(ax.texts) == 2
    with pytest.raises(ValueError, match="no weights were learned"):
        FeatureWeightsDisplay.from_learned(features.FeatureWeights(np.ones(2) / 2, "refused: …"))


def test_blobs_in_ten_of_two_hundred_features():
    """On the way a path has clusters that are apart with equal centroids."""
    rng = np.random.default_rng(0)
    classes = np.arange(200) % 5
    groups = (rng.normal(size=(5, 10)) * np.sqrt(2))[classes] + rng.normal(size=(200, 10))
    table = np.hstack([groups, rng.normal(size=(200, 190))])
    found = features.learn(table)
    assert (np.flatnonzero(found.weights) < 10).all()
    labels = model(n_clusters=5, feature_weights=found.weights).fit_predict(table)
    assert normalized_mutual_info_score(classes, labels) > 0.9


def test_columns_in_another_order_and_unit(noisy_rings):
    table, _, found = noisy_rings
    order = np.random.default_rng(6).permutation(32)
    units = np.random.default_rng(7).uniform(0.1, 10, 32)
    again = features.learn((table * units)[:, order])
    np.testing.assert_allclose(again.table["share"], found.table["share"][order], atol=1e-3)
    one = model(feature_weights=found.weights).fit(table).labels_
    other = model(feature_weights=again.weights).fit((table * units)[:, order]).labels_
    assert adjusted_rand_score(one, other) == 1  # rings of equal size have no order


def test_a_copy_of_a_feature_shares_its_weight():
    rings, y = make_rings(random_state=0)
    noise = np.random.default_rng(8).normal(size=(len(rings), 10))
    found = features.learn(np.hstack([rings, rings[:, :1], noise]))
    assert (found.weights[3:] == 0).all()
    labels = model(feature_weights=found.weights).fit_predict(
        np.hstack([rings, rings[:, :1], noise])
    )
    assert normalized_mutual_info_score(y, labels) > 0.99


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_noise_is_refused(seed):
    rng = np.random.default_rng(seed)
    shared = rng.normal(size=(100, 1)) if seed else 0.0
    with pytest.warns(UserWarning, match="refused: no structure from"):
        found = features.learn(rng.normal(size=(100, 12)) + shared)
    assert not found.learned
    np.testing.assert_allclose(found.weights, 1 / 12)


def test_only_if_none_keeps_equal_weights_that_do():
    found = features.learn(np.hstack([BLOBS, NOISE]), only_if_none=True)
    assert found.note == "refused: equal weights show structure"
    np.testing.assert_allclose(found.weights, 1 / 7)


def test_constant_and_single_features():
    rows = np.hstack([BLOBS[:, :1], np.ones((60, 2))])
    found = features.learn(rows)
    assert found.weights.tolist() == [1, 0, 0]
    assert found.note == "refused: 1 of 3 features vary"
    assert features.learn(BLOBS[:, :1]).weights.tolist() == [1]
    np.testing.assert_allclose(features.learn(np.ones((40, 2))).weights, 0.5)


@pytest.mark.parametrize(
    ("rows", "estimator", "words"),
    [
        (X[:29], None, "needs at least 30 samples, got 29"),
        (sparse.csr_array(X), None, "needs a dense X"),
        (X, model("cosine"), "for the kernels rbf, laplacian, linear, not cosine"),
        (X @ X.T, model("precomputed"), "not precomputed"),
        (X, model(bandwidth=1.0), 'use bandwidth="auto", not 1.0'),
        (X, model(kernel_params={"bandwidth": 2.0}), 'use bandwidth="auto", not 2.0'),
        (X, model(weights="full"), "relies on the test for structure"),
        (X, model(weight_space="embedding"), "relies on the test for structure"),
        (X, model(selection="elbow"), "relies on the test for structure"),
        (np.where(X > 2, np.nan, X), None, "X holds nan in row"),
    ],
)
def test_bad_input_of_learning(rows, estimator, words):
    with pytest.raises(ValueError, match=words):
        features.learn(rows, estimator=estimator)
