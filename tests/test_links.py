"""Must-link: groups of samples against the constrained problem, and what they leave as it was."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from convexcluster import ConvexClustering, KernelConvexClustering, Problem, load, solve
from convexcluster.certificate.reduced import reduce
from convexcluster.certificate.space import Space
from convexcluster.partition import canonical, fused, means
from convexcluster.points import link
from problems import assert_same_fit

X, y = make_blobs([40, 30, 30], 2, centers=[[0, 0], [6, 0], [0, 6]], random_state=3)


def some_groups(n, seed, groups=4):
    rng = np.random.default_rng(seed)
    return np.where(rng.random(n) < 0.3, rng.integers(groups, size=n), -1)


@pytest.mark.parametrize("gamma", [0.02, 0.1, 0.5])
def test_contraction_is_the_constrained_problem(gamma):
    cvxpy = pytest.importorskip("cvxpy")
    rng = np.random.default_rng(0)
    n = 24
    Z, masses = rng.normal(size=(n, 2)), rng.uniform(0.3, 3.0, n)
    pairs = np.column_stack(np.triu_indices(n, 1))
    edges = pairs[np.sort(rng.choice(len(pairs), 60, replace=False))]
    problem = Problem.of(Z, edges, rng.uniform(0.1, 1, 60), gamma, masses)
    links = canonical(np.where(np.arange(n) % 3 == 0, -(np.arange(n) % 2) - 1, np.arange(n)))
    small = reduce(problem, links)
    found = solve(small.Z, small.edges, small.weights, gamma, masses=small.masses, tol=1e-11)
    A = cvxpy.Variable(Z.shape)
    i, j = edges.T
    fit = 0.5 * cvxpy.sum_squares(cvxpy.multiply(np.sqrt(masses)[:, None], A - Z))
    fusion = problem.c @ cvxpy.norm(A[i] - A[j], 2, axis=1)
    first = np.array([np.flatnonzero(links == t)[0] for t in links])
    model = cvxpy.Problem(cvxpy.Minimize(fit + fusion), [A[first] == A])
    model.solve(solver=cvxpy.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    # ½ m‖A − A*‖² ≤ F(A) − F*, to the accuracy of the other solver
    assert problem.objective(found.A[links]) <= model.value + found.gap + 1e-7
    inner = 0.5 * masses @ ((Z - small.Z[links]) ** 2).sum(axis=1)
    assert small.objective(found.A) + inner == pytest.approx(model.value, abs=1e-6)


@pytest.mark.parametrize("gamma", [0.05, 1.0])
def test_a_fit_with_groups_solves_the_constrained_problem(gamma):
    """Weights of 10⁵ on the links do the same in the limit."""
    groups = some_groups(len(X), 0)
    plain = ConvexClustering(gamma=gamma).fit(X)
    found = ConvexClustering(gamma=gamma, tol=1e-10).fit(X, groups=groups)
    links = np.array(
        [
            p
            for g in range(4)
            for p in zip(np.flatnonzero(groups == g), np.flatnonzero(groups == g)[1:])
        ]
    )
    edges = np.vstack([plain.graph_.edges, links])
    keys, inverse = np.unique(edges, axis=0, return_inverse=True)
    weights = np.bincount(inverse.ravel(), np.r_[plain.graph_.weights, np.full(len(links), 1e5)])
    A = solve(X, keys, weights, gamma, tol=1e-10).A
    np.testing.assert_allclose(found.centroids_[found.labels_], A, atol=1e-3)
    for g in range(4):
        assert len(set(found.labels_[groups == g])) == 1


@pytest.mark.parametrize(
    "model", [KernelConvexClustering(), KernelConvexClustering(3), ConvexClustering()]
)
@pytest.mark.parametrize("groups", [np.full(100, -1), np.r_[5, np.full(98, -1), 7]])
def test_free_samples_are_a_plain_fit(model, groups):
    assert_same_fit(clone(model).fit(X), clone(model).fit(X, groups=groups))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"labels": "fusion"},
        {"n_clusters": 5},
        {"gamma": 0.3},
        {"weight_space": "embedding"},
        {"selection": "silhouette"},
        {"n_neighbors": 3, "weights": "full"},
    ],
)
def test_one_group_has_one_label_and_one_centroid(options):
    groups = some_groups(len(X), 1)
    model = KernelConvexClustering(**options).fit(X, groups=groups)
    for g in range(4):
        rows = groups == g
        assert len(set(model.labels_[rows])) == 1
        for gamma in model.path_.gammas:
            assert len(set(model.path_.labels(gamma=gamma)[rows])) == 1
    assert (model.predict(X) == model.labels_).all()
    assert model.linkage_.shape == (len(X) - 1, 4)
    assert model.embedding_.shape[0] == len(X)
    assert len(np.unique(model.embedding_.round(12), axis=0)) == len(X)  # rows keep their own
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 1.0)
    np.testing.assert_allclose(
        model.dual_coef_ @ model.embedding_,
        model.centroids_,
        atol=2 * model.certificate_.radius + 1e-9,
    )
    assert model.certificate_.relative_gap <= 1e-6


def test_two_groups_may_share_a_cluster():
    groups = np.full(len(X), -1)
    one = np.flatnonzero(y == 0)
    groups[one[:3]], groups[one[3:6]] = 0, 1
    labels = KernelConvexClustering(3).fit_predict(X, groups=groups)
    assert labels[one[0]] == labels[one[3]]


def test_a_link_across_joins_two_blobs():
    groups = np.full(len(X), -1)
    groups[(y == 1) | (y == 2)] = 0
    model = KernelConvexClustering().fit(X, groups=groups)
    assert model.n_clusters_ == 2
    assert (model.labels_[y > 0] == model.labels_[y == 1][0]).all()


def test_equal_rows_join_their_groups():
    rows = np.vstack([X, X[:1], X[:1]])
    groups = np.full(len(rows), -1)
    far = np.flatnonzero(y == 1)[0], np.flatnonzero(y == 2)[0]
    groups[[far[0], 100]], groups[[far[1], 101]] = 0, 1
    labels = KernelConvexClustering(3).fit_predict(rows, groups=groups)
    assert labels[far[0]] == labels[far[1]] == labels[0]


def test_all_in_one_group():
    model = KernelConvexClustering().fit(X, groups=np.zeros(len(X), dtype=int))
    assert model.n_clusters_ == 1
    with pytest.warns(UserWarning, match="only 1 samples are distinct and free of each other"):
        assert KernelConvexClustering(2).fit(X, groups=np.zeros(len(X), int)).n_clusters_ == 1


def test_groups_of_a_precomputed_kernel_and_of_a_given_graph():
    groups = some_groups(len(X), 2)
    plain = KernelConvexClustering(3, weight_space="embedding").fit(X)
    K = plain._embedding.kernel(X)
    for model, rows in (
        (KernelConvexClustering(3, kernel="precomputed"), K),
        (KernelConvexClustering(3, weights=(plain.graph_.edges, plain.graph_.weights)), X),
    ):
        labels = model.fit_predict(rows, groups=groups)
        assert all(len(set(labels[groups == g])) == 1 for g in range(4))


def test_a_model_with_groups_is_saved(tmp_path):
    model = KernelConvexClustering(3).fit(X, groups=some_groups(len(X), 3))
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.predict(X) == model.labels_).all()


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 30), st.integers(1, 8), st.integers(0, 10**6))
def test_links_are_the_finest_partition_that_joins_groups_and_points(n, points, seed):
    rng = np.random.default_rng(seed)
    index = canonical(rng.integers(points, size=n))
    groups = rng.integers(-1, 4, size=n)
    found = link(groups, index)
    samples = np.arange(index.max() + 1) if found is None else found
    assert (canonical(samples) == samples).all()
    reached = np.eye(index.max() + 1, dtype=bool)
    for g in set(groups[groups >= 0]):
        together = np.unique(index[groups == g])
        reached[np.ix_(together, together)] = True
    for _ in range(len(reached)):
        reached = reached @ reached
    assert ((samples[:, None] == samples) == reached).all()


def test_valleys_part_no_linked_samples():
    """Two groups, each in a moon; then one group in both."""
    rows, classes = make_moons(1200, noise=0.12, random_state=0)
    groups = np.full(len(rows), -1)
    for t in range(2):
        groups[np.flatnonzero(classes == t)[:5]] = t
    model = KernelConvexClustering().fit(rows, groups=groups)
    assert (model.selection_.method, model.n_clusters_) == ("valleys", 2)
    assert adjusted_rand_score(model.labels_, classes) > 0.95
    groups[groups == 1] = 0
    joined = KernelConvexClustering().fit(rows, groups=groups)
    assert len(set(joined.labels_[groups == 0])) == 1


def test_groups_are_proved_in_the_full_space():
    groups = np.where(np.arange(len(X)) % 7 == 0, y, -1)
    model = KernelConvexClustering().fit(X, groups=groups)
    claimed = model.certificate_
    assert model.n_clusters_ == 3
    assert claimed.partition == "certified"
    low, high = claimed.gamma_interval
    links = link(groups, np.arange(len(X)))
    embedding = KernelConvexClustering(embedding="exact").fit(X).embedding_
    graph = model.graph_
    for gamma in (1.001 * low, 0.999 * min(high, 1e3 * low)):
        problem = Problem.of(embedding, graph.edges, graph.weights, gamma)
        small = reduce(problem, links)
        best = solve(small.Z, small.edges, small.weights, gamma, masses=small.masses, tol=1e-12)
        found = fused(best.A, small.edges)[links]
        np.testing.assert_array_equal(canonical(found), canonical(model.labels_))


def test_questions_are_about_the_optimum_under_the_links(tmp_path):
    groups = np.where(np.arange(len(X)) % 7 == 0, y, -1)
    model = KernelConvexClustering().fit(X, groups=groups)
    found, (low, high) = model.recovery(), model.certificate_.gamma_interval
    assert found.gamma_low <= low * 1.001
    assert found.gamma_high >= high * 0.999
    assert model.robustness().each > 0
    model.save(tmp_path / "model", path=True)
    assert load(tmp_path / "model").recovery() == found
    torn = np.where(np.arange(len(X)) == 0, 3, y)
    assert "must be together" in model.recovery(torn).status
    assert not hasattr(model.fit(X), "_links")


def test_means_of_a_space_are_means():
    rng = np.random.default_rng(0)
    Z, masses, labels = rng.normal(size=(9, 3)), rng.uniform(0.5, 2, 9), rng.integers(4, size=9)
    labels = canonical(labels)
    space = Space.of_coordinates(Z).means(masses, labels)
    small = means(Z - Z.mean(axis=0), masses, labels)
    rows = np.arange(len(small))[::-1]
    np.testing.assert_allclose(space.gram(rows, rows[:2]), small[rows] @ small[rows[:2]].T)
    assert (space.sizes >= np.linalg.norm(small, axis=1)).all()


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 10**6))
def test_degenerate_data_keep_their_links(seed):
    """Duplicates, singletons, masses: same group, same label, and a gap that holds."""
    rng = np.random.default_rng(seed)
    rows = make_moons(30, noise=0.1, random_state=seed % 1000)[0][rng.integers(30, size=40)]
    groups = rng.integers(-1, 6, size=40)
    weight = rng.uniform(0.1, 5.0, 40)
    model = KernelConvexClustering().fit(rows, sample_weight=weight, groups=groups)
    for g in set(groups[groups >= 0]):
        assert len(set(model.labels_[groups == g])) == 1
    assert (model.predict(rows) == model.labels_).all()
    assert model.certificate_.relative_gap <= 1e-6


@pytest.mark.parametrize(
    ("groups", "words"),
    [
        (np.zeros(99, int), r"groups must have shape \(100,\)"),
        (np.zeros((100, 1), int), r"groups must have shape \(100,\)"),
        (np.r_[0.5, np.zeros(99)], r"groups\[0\] is 0.5"),
        (np.r_[0, -2, np.zeros(98)], r"groups\[1\] is -2"),
        (np.r_[np.nan, np.zeros(99)], r"groups\[0\] is nan"),
        (np.r_[np.inf, np.zeros(99)], r"groups\[0\] is inf"),
        (["a"] * 100, "groups must be whole numbers, −1 for free samples"),
        ([None] * 100, "groups must be whole numbers, −1 for free samples"),
        (np.ones(100, dtype=bool), "groups must be whole numbers, −1 for free samples"),
    ],
)
def test_bad_groups(groups, words):
    with pytest.raises(ValueError, match=words):
        KernelConvexClustering(2).fit(X, groups=groups)


def test_dask_refuses_groups():
    dask = pytest.importorskip("convexcluster.dask")
    with pytest.raises(ValueError, match="groups are not offered on dask arrays"):
        dask.KernelConvexClustering(2).fit(None, groups=np.zeros(100))


def test_groups_need_weight_and_no_cells():
    with pytest.raises(ValueError, match=r"groups\[2\] is 0, but that sample has weight zero"):
        KernelConvexClustering(2).fit(
            X, sample_weight=np.r_[1, 1, 0, np.ones(97)], groups=np.zeros(100)
        )
    with pytest.raises(ValueError, match="coarsen=50 groups rows into cells"):
        KernelConvexClustering(2, coarsen=50).fit(X, groups=np.zeros(100))
