"""Embeddings: Z Zᵀ against the centred Gram matrix, with the error each one reports."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from convexcluster import solve
from convexcluster.embedding import EMBEDDINGS, Embedding, IndefiniteKernel, embed
from convexcluster.kernels import Kernel, resolve_kernel
from convexcluster.storage import Container
from convexcluster.weights import build_graph

PSD = ["rbf", "laplacian", "polynomial", "cosine", "matern", "linear"]
FOURIER = {"rbf", "laplacian", "matern"}
PROJECTIONS = ["auto", "exact", "pivoted", "greedy", "nystroem"]


def samples(n=60, d=3, seed=0, copies=8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    X[:copies] = X[copies : 2 * copies]
    return X


def centred(K, masses=None):
    n = len(K)
    m = np.ones(n) if masses is None else masses
    H = np.eye(n) - np.outer(np.ones(n), m / m.sum())
    root = np.sqrt(m)
    return root[:, None] * (H @ K @ H.T) * root


def roundoff(K):
    """n² eps ‖K‖: n entries of a product of n terms each, summed over the spectrum."""
    return len(K) ** 2 * np.finfo(float).eps * np.abs(K).max() * 4


def nuclear_error(E, K, masses=None):
    n = len(K)
    m = np.ones(n) if masses is None else masses
    Z = np.sqrt(m)[:, None] * (E.Z - m @ E.Z / m.sum())
    return np.abs(np.linalg.eigvalsh(centred(K, masses) - Z @ Z.T)).sum()


def methods_for(name):
    return PROJECTIONS + (["rff"] if name in FOURIER else []) + (["identity"] * (name == "linear"))


@pytest.mark.parametrize("name", PSD)
def test_gram_matrix_is_met_within_the_error_reported(name):
    X = samples()
    kernel = resolve_kernel(name, 1.5)
    K = kernel(X)
    for method in methods_for(name):
        E = embed(X, kernel, method=method)
        assert nuclear_error(E, K) <= E.trace_error + roundoff(K), method
        if method in ("auto", "pivoted", "greedy"):
            assert E.trace_error <= 1e-6 * np.trace(centred(K)) + roundoff(K)
        assert E.is_bound
        assert E.clipped_share == 0


@pytest.mark.parametrize("name", ["rbf", "laplacian", "matern"])
@pytest.mark.parametrize("sample", [None, 20])
def test_few_axes_of_pivots_from_a_sample_report_what_all_samples_lose(name, sample):
    X = samples()
    kernel, masses = resolve_kernel(name, 1.5), 1.0 + np.arange(len(X)) % 3
    K = kernel(X)
    E = embed(X, kernel, rank=15, masses=masses, axes=6, sample=sample)
    assert E.Z.shape == (len(X), 6)
    assert nuclear_error(E, K, masses) <= E.trace_error + roundoff(K)
    np.testing.assert_allclose(masses @ E.Z, 0, atol=1e-10)
    np.testing.assert_allclose(masses @ E.Z**2, E.variances, rtol=1e-10)
    np.testing.assert_allclose(E.transform(X), E.Z, atol=1e-9)
    # what is lost is what is missing from the trace: the columns are orthogonal projections
    whole = np.trace(centred(K, masses))
    assert E.trace_error >= whole - E.variances.sum() - roundoff(K)
    assert E.trace_error <= 1.5 * (whole - E.variances.sum())


@pytest.mark.parametrize("name", PSD)
def test_training_samples_are_transformed_to_their_own_rows(name):
    X = samples()
    kernel = resolve_kernel(name, 1.5)
    for method in methods_for(name):
        E = embed(X, kernel, method=method)
        # B amplifies the round-off of the features by at most its norm
        size = 1.0 if E.B is None else np.linalg.norm(E.B, 2)
        tolerance = 1e-13 * (1 + size) * max(1.0, np.abs(kernel(X)).max()) * len(X)
        assert np.abs(E.transform(X) - E.Z).max() <= tolerance, method
        assert E.transform(X[:1]).shape == (1, E.rank)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 30),
    d=st.integers(1, 4),
    sigma=st.floats(0.05, 50),
    distinct=st.integers(1, 30),
    method=st.sampled_from(PROJECTIONS),
)
def test_any_samples_any_masses(seed, n, d, sigma, distinct, method):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(distinct, d))[rng.integers(0, distinct, n)] + rng.normal(size=d) * 1e3
    masses = rng.uniform(0.1, 5, n)
    kernel = resolve_kernel("rbf", sigma)
    E = embed(X, kernel, method=method, masses=masses)
    K = kernel(X)
    assert E.Z.shape[0] == n
    assert np.isfinite(E.Z).all()
    assert nuclear_error(E, K, masses) <= E.trace_error + 5 * roundoff(K) + 1e-9 * masses.sum()
    same = (X[:, None] == X).all(axis=2)
    i, j = np.nonzero(same)
    assert (E.Z[i] == E.Z[j]).all()


def test_columns_are_principal_axes_and_truncation_costs_what_it_says():
    X, masses = samples(), np.linspace(0.5, 2, 60)
    kernel = resolve_kernel("rbf", 1.0)
    for method in (*PROJECTIONS, "rff"):
        E = embed(X, kernel, method=method, masses=masses, tol=0)
        C = (E.Z * masses[:, None]).T @ E.Z
        np.testing.assert_allclose(C, np.diag(E.variances), atol=1e-11 * masses.sum())
        assert (np.diff(E.variances) <= 1e-12 * E.variances[0]).all()
        T = E.truncate(0.1 * E.variances.sum())
        assert T.rank < E.rank
        lost = (masses[:, None] * E.Z[:, T.rank :] ** 2).sum()
        assert T.trace_error - E.trace_error == pytest.approx(lost, rel=1e-9)
        np.testing.assert_array_equal(T.Z, E.Z[:, : T.rank])
        np.testing.assert_allclose(T.transform(X), T.Z, atol=1e-9)


def test_rank_caps_every_method():
    X, kernel = samples(), resolve_kernel("rbf", 1.0)
    K = kernel(X)
    for method in (*PROJECTIONS, "rff"):
        E = embed(X, kernel, method=method, rank=6)
        assert E.rank <= 6
        assert nuclear_error(E, K) <= E.trace_error + roundoff(K)
    best = np.linalg.eigvalsh(centred(K))[:-6].sum()
    assert embed(X, kernel, method="exact", rank=6).trace_error == pytest.approx(best)


def test_a_projection_reports_no_more_than_twice_the_best_error():
    # the law of random pivots is near the best rank-r error in expectation; greedy likewise here
    X, kernel = samples(200, 2), resolve_kernel("rbf", 0.7)
    best = embed(X, kernel, method="exact", rank=20).trace_error
    for method in ("pivoted", "greedy"):
        assert best <= embed(X, kernel, method=method, rank=20).trace_error <= 10 * best


def test_pivots_follow_the_greatest_residual():
    X = np.array([[0.0], [0.1], [10.0], [10.1]])
    E = embed(X, resolve_kernel("rbf", 1.0), method="greedy", rank=2)
    assert {int(i) // 2 for i in E.index} == {0, 1}


def test_pivoted_is_reproducible_and_differs_by_seed():
    X, kernel = samples(200, 2), resolve_kernel("rbf", 0.7)
    a, b = (embed(X, kernel, method="pivoted", rank=10) for _ in range(2))
    np.testing.assert_array_equal(a.Z, b.Z)
    c = embed(X, kernel, method="pivoted", rank=10, random_state=1)
    assert set(a.index) != set(c.index)


def test_pivots_in_blocks_have_the_law_of_one_at_a_time_drawing():
    X = np.array([[0.0], [0.4], [1.0], [3.0]])
    kernel = resolve_kernel("rbf", 1.0)
    K = kernel(X)
    want = np.zeros((4, 4))
    for i in range(4):
        residual = np.maximum(1 - K[:, i] ** 2, 0)
        want[i] = residual / residual.sum() / 4
    draws = 600
    counts = np.zeros((4, 4))
    for seed in range(draws):
        i, j = embed(X, kernel, method="pivoted", rank=2, random_state=seed).index
        counts[i, j] += 1
    possible = want > 1e-12
    assert counts[~possible].sum() == 0
    # χ² with 11 degrees of freedom exceeds 40 with probability 4e-5; the seeds are fixed
    assert ((counts - draws * want)[possible] ** 2 / (draws * want[possible])).sum() < 40


def test_zoo_has_59_distinct_animals(data_dir):
    with np.load(data_dir / "zoo.npz") as stored:
        X = stored["X"]
    for method in PROJECTIONS:
        E = embed(X, resolve_kernel("rbf", "auto", X=X), method=method)
        assert E.rank <= 58
        assert len(np.unique(E.Z, axis=0)) == 59


@pytest.mark.parametrize("method", ["pivoted", "greedy", "nystroem", "exact"])
@pytest.mark.parametrize("gamma", [0.02, 0.1])
def test_centroids_move_by_at_most_tau(method, gamma):
    X, kernel = samples(60, 2), resolve_kernel("rbf", 1.0)
    graph = build_graph(X, n_neighbors=5, bandwidth=2.0)
    few = embed(X, kernel, method=method, rank=5)
    assert few.trace_error > 1e-4
    values, U = np.linalg.eigh(kernel(X))
    Phi = U * np.sqrt(np.maximum(values, 0))  # φ(x) in coordinates, K = ΦΦ'
    # z = (Φ_P φ(x) − shift) B, so the columns of R = Φ_P' B are its axes in the RKHS
    R = Phi[few.index].T @ few.B
    np.testing.assert_allclose(R.T @ R, np.eye(few.rank), atol=1e-8)
    a = solve(Phi - Phi.mean(axis=0), graph.edges, graph.weights, gamma, tol=1e-8)
    b = solve(few.Z, graph.edges, graph.weights, gamma, tol=1e-8)
    moved = np.linalg.norm(a.A - b.A @ R.T)
    assert moved <= np.sqrt(few.trace_error) + np.sqrt(2 * a.gap) + np.sqrt(2 * b.gap) + 1e-7


def test_indefinite_kernel_is_clipped_reported_and_warned_of():
    X = samples(50, 3)
    kernel = resolve_kernel("tanh", params={"c": 1.0, "scale": 2.0})
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        E = embed(X, kernel)
    values = np.linalg.eigvalsh(centred(kernel(X)))
    share = -values[values < 0].sum() / np.abs(values).sum()
    assert E.clipped_share == pytest.approx(share, rel=1e-9)
    clipped = np.maximum(values, 0).sum()
    assert (E.Z**2).sum() + E.trace_error == pytest.approx(clipped, rel=1e-9)
    with pytest.raises(IndefiniteKernel, match="exact"):
        embed(X, kernel, method="pivoted")


def test_conditionally_positive_definite_kernels_are_exact_after_centring():
    X = samples(40, 2)
    K = -np.sqrt(((X[:, None] - X) ** 2).sum(axis=2))  # −‖x − y‖
    E = embed(K, resolve_kernel("precomputed"))
    assert E.clipped_share == 0
    assert nuclear_error(E, K) <= E.trace_error + roundoff(K)


def test_precomputed_equals_the_kernel_it_came_from():
    X = samples()
    kernel, given = resolve_kernel("rbf", 1.0), resolve_kernel("precomputed")
    K = kernel(X)
    new = kernel(X[:5] + 0.1, X)
    for method in PROJECTIONS:
        E = embed(K, given, method=method)
        assert nuclear_error(E, K) <= E.trace_error + roundoff(K)
        F = embed(X, kernel, method=method)
        G, G2 = E.transform(new), F.transform(X[:5] + 0.1)
        # up to rotation: inner products with the training rows
        np.testing.assert_allclose(G @ E.Z.T, G2 @ F.Z.T, atol=4e-3)
        if method == "exact":
            np.testing.assert_allclose(G @ E.Z.T, G2 @ F.Z.T, atol=1e-9)
    with pytest.raises(ValueError, match="training"):
        E.transform(new[:, :-1])


def test_nystroem_takes_landmarks_as_positions_or_points():
    X, kernel = samples(), resolve_kernel("rbf", 1.0)
    index = np.array([0, 20, 30, 40])
    a = embed(X, kernel, method="nystroem", landmarks=index)
    b = embed(X, kernel, method="nystroem", landmarks=X[index])
    np.testing.assert_allclose(a.Z @ a.Z.T, b.Z @ b.Z.T, atol=1e-12)
    assert a.trace_error == pytest.approx(b.trace_error)
    with pytest.raises(ValueError, match="distinct positions"):
        embed(X, kernel, method="nystroem", landmarks=[0, 99])
    with pytest.raises(ValueError, match="features"):
        embed(X, kernel, method="nystroem", landmarks=np.ones((2, 7)))


@pytest.mark.parametrize("name", sorted(FOURIER))
@pytest.mark.parametrize("orthogonal", [True, False])
def test_fourier_features_converge_to_the_kernel(name, orthogonal):
    X = samples(40, 2)
    kernel = resolve_kernel(name, 2.0)
    D = 300
    E = embed(X, kernel, method="rff", rank=2 * D, orthogonal=orthogonal, random_state=3)
    K = centred(kernel(X))
    # an entry is a mean of D terms in [−1, 1]; Hoeffding at 1e-9, times 4 for centring, all pairs
    assert np.abs(E.Z @ E.Z.T - K).max() <= 4 * np.sqrt(2 * np.log(2 * 1600 / 1e-9) / D)
    assert nuclear_error(E, kernel(X)) <= E.trace_error + roundoff(K)


def test_fourier_error_of_many_samples_is_an_estimate_and_says_so():
    X = np.random.default_rng(0).normal(size=(1_500, 2))
    kernel = resolve_kernel("rbf", 1.0)
    E = embed(X, kernel, method="rff", rank=200)
    assert not E.is_bound
    assert E.trace_error == pytest.approx(nuclear_error(E, kernel(X)), rel=0.25)


def test_linear_kernel_of_more_features_than_samples_is_reduced_exactly():
    X = np.random.default_rng(0).normal(size=(20, 500)) + 7
    kernel = resolve_kernel("linear")
    E = embed(X, kernel)
    assert E.Z.shape == (20, 19)
    assert nuclear_error(E, kernel(X)) <= roundoff(kernel(X))
    np.testing.assert_allclose(E.transform(X), E.Z, atol=1e-11)
    narrow = embed(X[:, :5], kernel)
    np.testing.assert_array_equal(narrow.Z, X[:, :5])
    two = embed(X[:, :5], kernel, rank=2)
    assert two.Z.shape == (20, 2)
    assert nuclear_error(two, kernel(X[:, :5])) <= two.trace_error + roundoff(kernel(X[:, :5]))


@pytest.mark.parametrize("name", ["rbf", "linear", "cosine", "laplacian", "polynomial"])
def test_sparse_samples_give_what_dense_ones_do(name):
    X = sparse.random(40, 30, density=0.2, random_state=0, format="csr")
    kernel = resolve_kernel(name, 1.0)
    dense = embed(X.toarray(), kernel, method="exact")
    for S in (X, sparse.csc_array(X)):
        E = embed(S, kernel, method="exact")
        np.testing.assert_allclose(E.Z @ E.Z.T, dense.Z @ dense.Z.T, atol=1e-10)
        np.testing.assert_allclose(E.transform(S[[3]]), E.Z[[3]], atol=1e-9)
    with pytest.raises(ValueError, match="toarray"):
        embed(X, resolve_kernel("matern", 1.0))


def test_exact_embedding_of_200000_samples_is_refused_before_allocating():
    X = np.zeros((200_000, 1))
    X[:, 0] = np.arange(200_000)
    with pytest.raises(MemoryError, match=r'exact.*200,000.*embedding="pivoted"'):
        embed(X, resolve_kernel("rbf", 1.0), method="exact")


@pytest.mark.parametrize("method", [m for m in EMBEDDINGS if m != "identity"])
@pytest.mark.parametrize("X", [np.zeros((1, 2)), np.ones((5, 2)), np.array([[0.0], [1.0]])])
def test_degenerate_samples(method, X):
    E = embed(X, resolve_kernel("rbf", 1.0), method=method)
    assert E.rank >= 1
    assert np.isfinite(E.Z).all()
    assert np.isfinite(E.transform(X)).all()
    if len(X) != 2:
        np.testing.assert_allclose(E.Z, 0, atol=1e-15)


def test_bad_arguments_are_refused_by_name():
    X, kernel = samples(), resolve_kernel("rbf", 1.0)
    for arguments, words in [
        ({"method": "magic"}, "magic"),
        ({"rank": 0}, "rank"),
        ({"rank": 61}, "rank"),
        ({"tol": -1}, "tol"),
        ({"method": "exact", "landmarks": [1]}, "landmarks"),
        ({"method": "pivoted", "pivoting": "odd"}, "pivoting"),
        ({"method": "identity"}, "linear"),
        ({"masses": -np.ones(60)}, "masses"),
    ]:
        with pytest.raises(ValueError, match=words):
            embed(X, kernel, **arguments)
    with pytest.raises(ValueError, match="rff"):
        embed(X, resolve_kernel("cosine"), method="rff")
    with pytest.raises(ValueError, match="features"):
        embed(X, kernel).transform(X[:, :1])
    with pytest.raises(ValueError, match="overflows"):
        embed(1e80 * X, resolve_kernel("polynomial", params={"degree": 6}))


def test_memory_layout_and_type_do_not_matter_and_input_is_left_alone():
    X = np.round(samples() * 4)
    kernel = resolve_kernel("rbf", 2.0)
    want = embed(X, kernel).Z
    frozen = X.copy()
    frozen.flags.writeable = False
    for form in (X.astype(np.float32), X.astype(int), np.asfortranarray(X), frozen, X.tolist()):
        np.testing.assert_allclose(embed(form, kernel).Z, want, atol=1e-12)
    K = kernel(X)
    K.flags.writeable = False
    embed(K, resolve_kernel("precomputed"))


def stored(embedding, path):
    file = Container("embedding", 1, {"Embedding": Embedding, "Kernel": Kernel})
    file.write(path, {"embedding": embedding})
    return file.read(path)["embedding"]


@pytest.mark.parametrize("method", [*PROJECTIONS, "rff"])
def test_a_file_rebuilds_the_embedding(method, tmp_path):
    X, kernel = samples(), resolve_kernel("rbf", 1.0)
    E = embed(X, kernel, method=method)
    F = stored(E, tmp_path / "e")
    np.testing.assert_array_equal(F.transform(X), E.transform(X))
    assert (F.method, F.kernel, F.trace_error) == (E.method, E.kernel, E.trace_error)


def test_a_file_holds_sparse_landmarks_but_no_callables(tmp_path):
    X = sparse.random(30, 10, density=0.3, random_state=0, format="csr")
    E = embed(X, resolve_kernel("cosine"), method="exact")
    np.testing.assert_allclose(stored(E, tmp_path / "e").transform(X), E.Z, atol=1e-9)
    E = embed(samples(), Kernel("callable", {}, lambda A, B: A @ B.T))
    with pytest.raises(TypeError, match="function or object of code"):
        stored(E, tmp_path / "c")


def test_more_fourier_features_than_memory_has_room_for_are_refused():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(MemoryError, match=r"1,000,000 Fourier features .* lower rank"):
        embed(X, resolve_kernel("rbf", 1.0), method="rff", rank=1_000_000)


def test_centring_leaves_no_negative_part_of_three_samples():
    X = np.array([[0.0], [1.0], [9.0]])
    assert embed(X, resolve_kernel("rbf", X=X), method="exact").clipped_share == 0.0
