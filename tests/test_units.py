"""Extreme numbers: data, weights and γ from 1e-300 to 1e300 give the answer of ordinary ones."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from convexcluster import ConvexClustering, KernelConvexClustering, load, solve_path
from convexcluster.out_of_core import fit_large
from convexcluster.points.units import beside_grid, exponent_of
from convexcluster.tuning import tune

X, y = make_blobs([30, 30], 2, centers=[[0, 0], [10, 0]], random_state=0)


def same(model, plain, s=0, gamma=None, energy=None):
    """``model`` found what ``plain`` found, with lengths 2^s, γ 2^gamma and energies 2^energy."""
    gamma = s if gamma is None else gamma
    energy = 2 * s if energy is None else energy
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.selection_.verdict == plain.selection_.verdict
    assert model.certificate_.partition == plain.certificate_.partition

    def close(a, b, exponent):
        np.testing.assert_allclose(np.ldexp(a, -exponent), b, rtol=1e-6, atol=1e-12)

    close(model.gamma_, plain.gamma_, gamma)
    close(model.selection_.gamma, plain.selection_.gamma, gamma)
    close(model.path_.gammas, plain.path_.gammas, gamma)
    close(np.sort(model.path_.fusion_values), np.sort(plain.path_.fusion_values), gamma)
    close(model.path_.centroids(model.gamma_), plain.path_.centroids(plain.gamma_), s)
    close(np.abs(model.centroids_), np.abs(plain.centroids_), s)
    close(np.abs(model.embedding_), np.abs(plain.embedding_), s)
    close(model.certificate_.embedding_error, plain.certificate_.embedding_error, energy // 2)
    np.testing.assert_array_equal(model.linkage_[:, [0, 1, 3]], plain.linkage_[:, [0, 1, 3]])
    close(model.linkage_[:, 2], plain.linkage_[:, 2], 0)
    np.testing.assert_allclose(model.dual_coef_, plain.dual_coef_, rtol=1e-6, atol=1e-9)
    for name, other in plain.selection_.table.items():
        first = model.selection_.table[name]
        k = min(len(first), len(other))  # how many are looked at depends on the sum of masses
        close(first[:k], other[:k], 0)
    assert len(model.selection_.layers) == len(plain.selection_.layers)
    for layer, known in zip(model.selection_.layers, plain.selection_.layers):
        np.testing.assert_array_equal(layer.labels, known.labels)
        close(layer.gamma_range, known.gamma_range, gamma)
        close(layer.confidence, known.confidence, 0)


@pytest.mark.parametrize("s", [-1000, -531, -300, 300, 531, 990])
@pytest.mark.parametrize("kind", [ConvexClustering, KernelConvexClustering])
def test_rows_of_any_size_have_the_same_clusters_in_their_own_units(kind, s):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model, plain = kind().fit(np.ldexp(X, s)), kind().fit(X)
    linear = kind is ConvexClustering
    same(model, plain, s if linear else 0)
    new = np.array([[0.5, 0.0], [9.0, 1.0], [30.0, 0.0]])
    np.testing.assert_array_equal(model.predict(np.ldexp(new, s)), plain.predict(new))
    distances = np.ldexp(model.transform(np.ldexp(new, s)), -s if linear else 0)
    np.testing.assert_allclose(distances, plain.transform(new), rtol=1e-6)


@pytest.mark.parametrize("s", [-500, 500])
def test_lengths_and_strengths_that_are_given_are_in_the_units_of_the_rows(s):
    options = {"bandwidth": 2.0, "weight_bandwidth": 1.5, "gamma": 0.3}
    plain = KernelConvexClustering(**options).fit(X)
    options = {"bandwidth": np.ldexp(2.0, s), "weight_bandwidth": np.ldexp(1.5, s), "gamma": 0.3}
    same_labels = KernelConvexClustering(**options).fit(np.ldexp(X, s))
    np.testing.assert_array_equal(same_labels.labels_, plain.labels_)
    assert same_labels.gamma_ == plain.gamma_
    one = ConvexClustering(gamma=np.ldexp(3.0, s), solver="ssnal").fit(np.ldexp(X, s))
    np.testing.assert_array_equal(one.labels_, ConvexClustering(gamma=3.0).fit(X).labels_)
    assert one.gamma_ == np.ldexp(3.0, s)
    heights = ConvexClustering(gamma=3.0).fit(X).linkage_[:, 2]
    np.testing.assert_allclose(np.ldexp(one.linkage_[:, 2], -s), heights, atol=1e-3)
    fused = ConvexClustering(2, labels="fusion").fit(X).linkage_[:, 2]
    again = ConvexClustering(2, labels="fusion").fit(np.ldexp(X, s)).linkage_[:, 2]
    np.testing.assert_allclose(np.ldexp(again, -s), fused, rtol=1e-6)


@pytest.mark.parametrize("s", [-600, 600])
def test_a_sparse_or_precomputed_matrix_of_any_size(s):
    near = sparse.csr_array(np.where(np.abs(X) < 0.3, 0.0, X))
    plain = ConvexClustering().fit(near)
    scaled = near.copy()
    scaled.data = np.ldexp(scaled.data, s)
    same(ConvexClustering().fit(scaled), plain, s)
    K = rbf_kernel(X, gamma=0.1)
    plain = KernelConvexClustering(kernel="precomputed").fit(K)
    same(KernelConvexClustering(kernel="precomputed").fit(np.ldexp(K, s)), plain, s // 2)


@pytest.mark.parametrize("t", [-1000, -400, 400, 990])
@pytest.mark.parametrize("options", [{}, {"weights": "local"}, {"weight_bandwidth": 2.0}])
def test_sample_weights_of_any_size_have_the_same_clusters(options, t):
    weight = np.random.default_rng(0).uniform(1, 2, 60)
    plain = KernelConvexClustering(**options).fit(X, sample_weight=weight)
    model = KernelConvexClustering(**options).fit(X, sample_weight=np.ldexp(weight, t))
    same(model, plain, 0, gamma=0 if options else t, energy=t)
    w = np.ldexp(model.graph_.weights, -t if options else 0)
    np.testing.assert_allclose(w, plain.graph_.weights, rtol=1e-9)


def test_cells_of_tiny_rows_and_their_file(tmp_path):
    rows = np.ldexp(X, -700)
    model = KernelConvexClustering(2, coarsen=20).fit(rows)
    plain = KernelConvexClustering(2, coarsen=20).fit(X)
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    np.testing.assert_allclose(model.certificate_.radius, plain.certificate_.radius, rtol=1e-6)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(rows), model.predict(rows))


def test_ordinary_rows_are_left_alone():
    for exponent in (-240, 0, 240):
        assert exponent_of(np.ldexp(X, exponent)) == 0
    assert not hasattr(KernelConvexClustering(2).fit(X), "_unit")
    refitted = KernelConvexClustering(2).fit(np.ldexp(X, 400)).fit(X)
    np.testing.assert_array_equal(refitted.predict(X), refitted.labels_)


@pytest.mark.parametrize("gamma", [[0.0], [0.0, 0.5], [0.0, 0.1, 30.0]])
@pytest.mark.parametrize("rows", [X, X[:2], X[:1]])
@pytest.mark.parametrize("kind", [ConvexClustering, KernelConvexClustering])
def test_a_grid_may_start_at_zero(kind, rows, gamma):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kind(gamma=gamma).fit(rows)
    assert model.path_.gammas[0] == 0
    assert model.path_.n_clusters[0] == len(rows)
    np.testing.assert_allclose(model.path_.gammas, gamma)


@pytest.mark.parametrize("solver", ["auto", "admm", "ama", "mm", "ssnal", "sweeps"])
@pytest.mark.parametrize(("gamma", "k"), [(1e-300, 60), (1e-150, 60), (1e150, 1), (1e300, 1)])
def test_any_strength_has_an_answer(solver, gamma, k):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # mm and ssnal say how far they came
        assert ConvexClustering(gamma=gamma, solver=solver).fit(X).n_clusters_ == k


@pytest.mark.parametrize("bandwidth", [1e-300, 1e-160, 1e160, 1e300])
@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "matern"])
def test_a_bandwidth_out_of_proportion_is_refused_by_a_sentence(kernel, bandwidth):
    with pytest.raises(ValueError, match=r"bandwidth=1e.* is out of proportion .* numbers up to 1"):
        KernelConvexClustering(kernel=kernel, bandwidth=bandwidth).fit(X)


def test_what_has_no_units_says_so():
    with pytest.raises(ValueError, match=r"kernel 'polynomial' .* scale X"):
        KernelConvexClustering(kernel="polynomial").fit(X * 1e-300)
    with pytest.raises(ValueError, match=r"gamma=1e.30 is out of proportion to X"):
        ConvexClustering(gamma=1e30).fit(X * 1e-300)
    weight = np.r_[np.full(30, 1e-50), np.ones(30)]
    with pytest.raises(ValueError, match="sample_weight spans more than 30 decades"):
        KernelConvexClustering().fit(X, sample_weight=weight)
    with pytest.raises(ValueError, match=r'weights="full", .* sample_weight'):
        KernelConvexClustering(weights="full").fit(X, sample_weight=np.full(60, 1e-300))


@pytest.mark.parametrize("width", [1, 2, 5, 9])
def test_equal_samples_have_one_centroid(width):
    path = solve_path(np.ones((3, width)), [[0, 1], [1, 2]], [1, 1])
    np.testing.assert_array_equal(path.centroids(path.gammas[0]), np.ones((1, width)))


def test_progress_is_told_in_the_units_of_the_rows():
    seen = []
    model = ConvexClustering(verbose=lambda *step: seen.append(step[2])).fit(np.ldexp(X, -600))
    np.testing.assert_array_equal(seen, model.path_.gammas)


def test_rows_elsewhere_and_searches_say_that_rows_must_be_scaled():
    with pytest.raises(ValueError, match=r"numbers up to 1e-299, .* must be scaled first"):
        fit_large(X * 1e-300)
    with pytest.raises(ValueError, match=r"numbers up to 1e-299, .* scale X"):
        tune(X * 1e-300)


def p_values(n=30):
    """Rows of which most are too small for squares, beside ordinary ones."""
    tiny = X * 1e-200
    return {
        "one far": np.vstack([tiny, [[1.0, 0.0]]]),
        "two of a kind": np.vstack([tiny, np.tile([1.0, 0.0], (n, 1))]),
        "beside a yes or no": np.column_stack([np.arange(60) % 2, np.abs(tiny[:, 0])]),
        "beyond the range": np.vstack([X, [[1e200, 0.0], [-1e200, 0.0]]]),
    }


@pytest.mark.parametrize("kind", list(p_values()))
@pytest.mark.parametrize("entry", ["kernel", "linear", "sparse"])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_numbers_whose_squares_are_zero_count_as_zero(kind, entry):
    """Before, rows at distance 0 of each other were five clusters, "structure"."""
    rows = p_values()[kind]
    zeros = np.where(np.abs(rows) < 1e-160 * np.abs(rows).max(), 0.0, rows)
    make = ConvexClustering if entry == "linear" else KernelConvexClustering
    if entry == "sparse":
        rows, zeros = sparse.csr_array(rows), sparse.csr_array(zeros)
    for k in (None, 2):
        model, plain = make(k).fit(rows), make(k).fit(zeros)
        np.testing.assert_array_equal(model.labels_, plain.labels_)
        assert model.selection_.verdict == plain.selection_.verdict
        assert model.certificate_.partition == plain.certificate_.partition
        np.testing.assert_array_equal(model.predict(rows), model.labels_)


def test_rows_beside_tiny_ones_keep_their_digits(tmp_path):
    rows = np.vstack([X, [[1e-200, 3e-120]]])
    model, plain = KernelConvexClustering().fit(rows), KernelConvexClustering()
    plain.fit(np.vstack([X, [[0.0, 3e-120]]]))
    np.testing.assert_array_equal(model.labels_, plain.labels_)
    assert model.gamma_ == plain.gamma_
    assert model.recovery().sufficient == plain.recovery().sufficient
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load(tmp_path / "model").predict(rows), model.labels_)


def test_a_kernel_of_the_user_sees_the_numbers_as_they_are():
    seen = []

    def kernel(A, B):
        seen.append(np.abs(A).min())
        return np.exp(-np.abs(np.log(A[:, None, 0] / B[None, :, 0])))

    rows = np.array([[1e-200], [2e-200], [1.0], [2.0]])
    KernelConvexClustering(2, kernel=kernel).fit(rows)
    assert min(seen) == 1e-200


def test_scales_that_are_beyond_all_numbers_apart_are_said():
    with pytest.warns(UserWarning, match="is 1e(399|400) times that of feature 0"):
        KernelConvexClustering().fit(X * [1e-200, 1e200])


def test_rows_out_of_proportion_to_those_of_the_fit_are_refused():
    model = KernelConvexClustering().fit(X * 1e-300)
    for far in (1.0, 1e300):
        with pytest.raises(ValueError, match="more than 1e150 times those of the fit"):
            model.predict([[far, 0.0]])
    assert model.predict(X[:1] * 1e-300) == model.labels_[0]


def test_large_rows_are_looked_at_in_pieces():
    X = np.ones((4_000, 1_000))
    tracemalloc.start()
    try:
        assert not beside_grid(X, 0)
        held = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert held < X.nbytes / 8
    X[-1, -1] = 1e-152
    assert beside_grid(X, 0)
