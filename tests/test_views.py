"""Several kernels and views as one kernel: sums, weights by agreement, and what is refused."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_digits, make_blobs
from sklearn.metrics import adjusted_rand_score

from convexcluster import KernelConvexClustering, load
from convexcluster.embedding import embed
from convexcluster.kernels import SumKernel, mix, resolve_kernel
from convexcluster.kernels.views import _agreement, _centred
from convexcluster.out_of_core import fit_large
from problems import assert_same_fit

Y, y = make_blobs(90, 3, centers=3, random_state=0)
RNG = np.random.default_rng(0)
X = np.hstack([Y, RNG.normal(size=(90, 2)), Y[:, :2] ** 2])
VIEWS = [("rbf", [0, 1, 2]), ("laplacian", slice(3, 5)), ("linear", [5, -1])]


def fitted(views, weights="equal", rows=X, **options):
    return KernelConvexClustering(kernel=SumKernel(views, weights), **options).fit(rows)


def test_the_sum_is_that_of_its_parts():
    model = fitted(VIEWS, [3, 1, 2], n_clusters=3)
    np.testing.assert_allclose(model.kernel_.weights_, [1 / 2, 1 / 6, 1 / 3])
    parts = []
    for name, columns in (("rbf", [0, 1, 2]), ("laplacian", [3, 4]), ("linear", [5, 6])):
        K = _centred(resolve_kernel(name, "auto", None, X[:, columns])(X[:, columns]))
        parts.append(K * len(X) / np.trace(K))
    K = np.tensordot(model.kernel_.weights_, parts, axes=1)
    Z = model.embedding_
    # ZZᵀ is HKH up to the trace that the embedding reports as lost
    lost = np.trace(K - Z @ Z.T)
    assert -1e-9 <= lost <= model.certificate_.embedding_error**2 + 1e-9
    np.testing.assert_allclose(_centred(model.kernel_(X)), K, atol=1e-9)
    np.testing.assert_allclose(model.kernel_.diag(X), model.kernel_(X).diagonal(), atol=1e-12)
    side, weights = mix([resolve_kernel("linear")(X, X), model.kernel_(X)], [0, 1])
    np.testing.assert_allclose(side, K, atol=1e-9)
    assert weights.tolist() == [0, 1]


def test_the_trace_that_a_cut_rank_loses_is_known():
    model = fitted(VIEWS, rank=10, embedding="pivoted", n_clusters=3)
    K, Z = _centred(model.kernel_(X)), model.embedding_
    assert np.trace(K - Z @ Z.T) <= model.certificate_.embedding_error**2 + 1e-9


@pytest.mark.filterwarnings("ignore:distances hardly see")
@pytest.mark.parametrize("name", ["rbf", "laplacian", "linear"])
def test_one_view_is_that_kernel(name):
    alone = KernelConvexClustering(kernel=name, weight_space="embedding").fit(X)
    assert (fitted([(name, slice(None))]).labels_ == alone.labels_).all()


def test_a_view_without_weight_is_not_there():
    alone = fitted([("rbf", [0, 1, 2])], rows=X[:, :3])
    both = fitted([("rbf", [0, 1, 2]), ("rbf", slice(3, 7))], [1, 0])
    assert_same_fit(alone, both)
    assert (both.predict(X + 0.1) == alone.predict(X[:, :3] + 0.1)).all()


def test_a_doubled_view_is_a_doubled_weight():
    twice = fitted([VIEWS[0], VIEWS[0], *VIEWS[1:]])
    weighted = fitted(VIEWS, [2, 1, 1])
    np.testing.assert_allclose(twice.kernel_(X), weighted.kernel_(X), atol=1e-12)
    assert (twice.labels_ == weighted.labels_).all()


def test_agreement_leaves_out_noise_and_shuffled_views():
    pixels, digits = load_digits(return_X_y=True)
    pixels, digits = pixels[:300], digits[:300]
    images = pixels.reshape(-1, 8, 8)
    tables = [
        pixels,
        np.hstack([images.sum(1), images.sum(2)]),
        np.abs(np.fft.rfft2(images)).reshape(300, -1),
        RNG.normal(size=(300, 20)),
        pixels[RNG.permutation(300)],
    ]
    ends = np.cumsum([0, *(table.shape[1] for table in tables)])
    views = [("rbf", slice(a, b)) for a, b in pairwise(ends)]
    rows = np.hstack([(t - t.mean(0)) / np.maximum(t.std(0), 1e-9) for t in tables])
    found = fitted(views, "agreement", rows, n_clusters=10)
    assert (found.kernel_.weights_[:3] > 0.2).all()
    assert (found.kernel_.weights_[3:] == 0).all()
    better = adjusted_rand_score(digits, found.labels_)
    assert better > adjusted_rand_score(digits, fitted(views, rows=rows, n_clusters=10).labels_)


def test_the_null_of_agreement():
    """Cosines of relabelled views have mean 0 and deviation √2/(n − 1)."""
    n = 60
    K, L = (resolve_kernel("rbf", 1.0)(RNG.normal(size=(n, 2))) for _ in range(2))

    def tilde(K):
        C = _centred(K)
        return C - np.trace(C) / (n - 1) * (np.eye(n) - 1 / n)

    P, Q = tilde(K), tilde(L)
    found = []
    for _ in range(2000):
        order = RNG.permutation(n)
        found.append((P * Q[np.ix_(order, order)]).sum())
    scores = np.array(found) / np.linalg.norm(P) / np.linalg.norm(Q) * (n - 1) / np.sqrt(2)
    assert abs(scores.mean()) < 4 / np.sqrt(2000)  # four standard errors
    assert 0.9 < scores.std() < 1.1
    assert (_agreement([K, L, tilde(np.eye(n)) + RNG.normal(size=(n, n))]) == 1).all()


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(3, 12))
def test_mixtures_of_degenerate_views(seed, count, n):
    """Any number of views, with equal rows: trace n, weights that sum to one, no negative part."""
    rng = np.random.default_rng(seed)
    grams = []
    for _ in range(count):
        Z = rng.integers(3, size=(n, 2)).astype(float)
        Z[0] += 1.5  # not constant
        grams.append(Z @ Z.T)
    beta = rng.integers(3, size=count).astype(float)
    beta[0] += 1
    for weights in ("equal", "agreement", beta):
        K, found = mix(grams, weights)
        assert found.sum() == pytest.approx(1)
        assert (found >= 0).all()
        assert np.trace(K) == pytest.approx(n)
        assert np.linalg.eigvalsh(K).min() > -1e-9


def test_below_three_views_agreement_is_equal():
    assert mix([Y @ Y.T, X @ X.T], "agreement")[1].tolist() == [0.5, 0.5]


def test_constant_views_are_left_out():
    rows = np.hstack([X, np.ones((90, 1))])
    with pytest.warns(UserWarning, match="views 1 are constant and left out"):
        model = fitted([("rbf", slice(0, 7)), ("linear", [7])], rows=rows, n_clusters=3)
    assert model.kernel_.weights_.tolist() == [1, 0]
    with pytest.raises(ValueError, match="every view is constant"):
        fitted([("rbf", [0])], rows=np.ones((20, 1)))


def test_names_of_columns():
    frame = pd.DataFrame(X, columns=list("abcdefg"))
    named = fitted(
        [("rbf", ["a", "b", "c"]), ("rbf", list("de")), ("linear", ["f", "g"])], rows=frame
    )
    placed = fitted([("rbf", [0, 1, 2]), ("rbf", [3, 4]), ("linear", [5, 6])])
    assert (named.labels_ == placed.labels_).all()
    mask = fitted([("rbf", np.arange(7) < 3), ("rbf", np.arange(7) >= 3)])
    assert mask.kernel_.seen[0].tolist() == [0, 1, 2]


def test_prediction_saving_and_large_fits(tmp_path):
    model = fitted(VIEWS, "agreement", n_clusters=3)
    assert (model.predict(X) == model.labels_).all()
    new = X + 0.05
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.predict(new) == model.predict(new)).all()
    np.testing.assert_array_equal(again.transform(new), model.transform(new))
    np.testing.assert_array_equal(again.kernel_.weights_, model.kernel_.weights_)
    assert (again.fit(X).labels_ == model.labels_).all()
    large = fit_large(X, KernelConvexClustering(3, kernel=SumKernel(VIEWS), coarsen=40, rank=20))
    assert len(np.concatenate(list(large.labels(X)))) == 90


def test_rank_and_error_of_a_mixture():
    kernel = SumKernel(VIEWS).fit(X)
    found = embed(X, kernel, method="pivoted", rank=8)
    K = _centred(kernel(X))
    assert np.trace(K - found.Z @ found.Z.T) <= found.trace_error + 1e-9


@pytest.mark.parametrize(
    ("views", "weights", "words"),
    [
        ([], "equal", "wants a list of"),
        ("rbf", "equal", "wants a list of"),
        ([("rbf",)], "equal", r"view 0 of a SumKernel must be \(kernel, columns\)"),
        (["rbf"], "equal", r"view 0 of a SumKernel must be \(kernel, columns\)"),
        ([("precomputed", [0])], "equal", "mix Gram matrices with kernels.mix"),
        ([("what", [0])], "equal", "kernel 'what' is unknown"),
        ([(SumKernel([("rbf", 0)]), [0])], "equal", "write sums as one list"),
        (VIEWS, "best", '"equal", "agreement" or numbers'),
        (VIEWS, [1, 2], r"weights of 3 views must have shape \(3,\)"),
        (VIEWS, [1, -1, 1], "≥ 0, finite, and not all zero"),
        (VIEWS, [0, 0, 0], "≥ 0, finite, and not all zero"),
        (VIEWS, [1, np.nan, 0], "≥ 0, finite, and not all zero"),
        (VIEWS, ["a", "b", "c"], "must be numbers ≥ 0"),
        ([("rbf", [0, 7])], "equal", "view 0 asks for column 7, but X has 7 columns"),
        ([("rbf", [0, -8])], "equal", "view 0 asks for column -8"),
        ([("rbf", [0, 1, 2])], "equal", "columns 3, 4, 5, 6 of X are in no view"),
        ([("rbf", [])], "equal", "columns of view 0 must be positions"),
        ([("rbf", ["a"])], "equal", "columns of view 0 must be positions, names"),
        ([("rbf", [0.5])], "equal", "columns of view 0 must be positions"),
        ([("rbf", np.ones(6, bool))], "equal", "columns of view 0 must be positions"),
    ],
)
def test_bad_views(views, weights, words):
    with pytest.raises(ValueError, match=words):
        fitted(views, weights)


def test_a_sum_takes_no_parameters_and_no_sparse_rows(monkeypatch):
    monkeypatch.setattr("convexcluster.estimators.predict.SMALL", 0)  # no matrix is its array
    from scipy import sparse

    with pytest.raises(ValueError, match="kernel_params are of one kernel"):
        fitted(VIEWS, kernel_params={"degree": 2})
    with pytest.raises(ValueError, match="does not take a sparse X"):
        fitted(VIEWS, rows=sparse.csr_array(np.where(X > 1, X, 0)))


@pytest.mark.parametrize(
    ("grams", "weights", "words"),
    [
        ([], "equal", "mix wants a list"),
        (np.eye(3), "equal", "mix wants a list"),
        ([np.eye(3), np.eye(4)], "equal", "must be of the same samples, got the sizes"),
        ([np.ones((3, 2)), np.ones((3, 2))], "equal", "must be square"),
        ([np.triu(np.ones((3, 3)))], "equal", "must be symmetric"),
        ([np.eye(3), np.eye(3)], [0, 0], "not all zero"),
        ([np.eye(3), np.full((3, 3), np.nan)], "equal", "matrix 1 holds nan"),
        ([np.ones((3, 3)), np.eye(3)], [1, 0], "zero for every view that is not constant"),
    ],
)
@pytest.mark.filterwarnings("ignore:views 0 are constant")
def test_bad_mixtures(grams, weights, words):
    with pytest.raises(ValueError, match=words):
        mix(grams, weights)
