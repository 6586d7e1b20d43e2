"""What fits claim about their labels, and what they say where they can claim nothing."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_wine, make_blobs, make_moons
from sklearn.preprocessing import scale

from convexcluster import ConvexClustering, KernelConvexClustering, Problem, load, solve
from convexcluster.certificate import Certificate
from convexcluster.certificate.claims import TELLS, claimed, prove_labels
from convexcluster.certificate.space import Space
from convexcluster.graph import Graph
from convexcluster.partition import canonical, fused, means
from convexcluster.solvers import prove

MOONS = make_moons(200, noise=0.05, random_state=0)[0]
BLOBS = make_blobs(90, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=0.6, random_state=0)[0]


def test_an_interval_is_that_of_the_exact_optimum():
    model = KernelConvexClustering().fit(MOONS)
    found = model.certificate_
    low, high = found.gamma_interval
    assert low <= model.gamma_ < high
    assert found.partition == "certified"
    these = "the exact optimum has exactly these 2 clusters."
    assert found.statement == f"For every γ from {low:.4g} up to {high:.4g} {these}"
    assert found.clusters.all()
    assert found.cores.all()
    assert found.relative_radius < 1e-9
    edges, weights = model.graph_.edges, model.graph_.weights
    for gamma in (low * 1.001, model.gamma_, high * 0.999):  # the embedding of 200 rows is exact
        problem = Problem.of(model.embedding_, edges, weights, gamma)
        best, proved = prove(problem, solve(problem.Z, edges, weights, gamma, tol=1e-10))
        assert proved.partition == "certified"
        np.testing.assert_array_equal(fused(best.A, edges), canonical(model.labels_))
        if gamma == model.gamma_:
            exact = means(best.A, np.ones(200), model.labels_)
            np.testing.assert_allclose(model.centroids_, exact, atol=1e-6)


def test_clusters_that_are_each_fused_may_be_one_together():
    """Two pairs of a chain, at a γ at which the optimum has joined them."""
    Z, edges, weights = (
        np.array([[0.0], [1.0], [0.9], [1.9]]),
        np.array([[0, 1], [1, 2], [2, 3]]),
        np.ones(3),
    )
    labels, gamma = np.array([0, 0, 1, 1]), 100.0
    best = solve(Z, edges, weights, gamma, tol=1e-10)
    assert fused(best.A, edges).max() == 0
    space, graph = Space.of_coordinates(Z), Graph(edges, weights)
    claim = prove_labels(space, graph, np.ones(4), labels, gamma=gamma, movable=False)
    assert claim.clusters.all()
    assert not claim.whole
    unsure = Certificate(
        gap=1.0,
        relative_gap=1.0,
        radius=1.0,
        embedding_error=0.0,
        clipped_share=0.0,
        partition="not certified: the gap is too wide",
    )
    said = claimed(unsure, claim, None, labels, np.ones(4, dtype=int), gamma)
    assert "exactly" not in said.statement
    assert said.statement == (
        "At γ = 100 each of the 2 clusters is fused in the exact optimum, perhaps with others."
    )
    assert said.partition != "certified"


def test_coefficients_make_the_centroids():
    model = KernelConvexClustering().fit(MOONS)
    assert (model.dual_coef_ >= 0).all()
    np.testing.assert_allclose(model.dual_coef_.sum(axis=1), 1.0)
    np.testing.assert_allclose(model.dual_coef_ @ model.embedding_, model.centroids_, atol=1e-9)


def test_cores_of_labels_that_a_tree_joined():
    X = scale(load_wine().data)
    model = KernelConvexClustering(3).fit(X)
    found = model.certificate_
    assert found.gamma_interval is None
    assert found.cores.sum() >= 0.95 * len(X)
    assert f"{found.cores.sum()} of 178 samples lie in the core of their label." in found.statement
    np.testing.assert_allclose(model.dual_coef_ @ model.embedding_, model.centroids_, atol=1e-9)
    # the optimum at this γ, solved by itself, fuses every core
    edges, weights = model.graph_.edges, model.graph_.weights
    problem = Problem.of(model.embedding_, edges, weights, model.gamma_)
    best, proved = prove(problem, solve(problem.Z, edges, weights, model.gamma_, tol=1e-10))
    assert proved.partition == "certified"
    clusters = fused(best.A, edges)
    for label in range(3):
        core = found.cores & (model.labels_ == label)
        assert len(np.unique(clusters[core])) == 1
        assert (model.labels_[clusters == clusters[core][0]] == label).all()


def test_copies_and_weights_are_proved_alike():
    doubled = KernelConvexClustering(bandwidth=0.3).fit(np.vstack([MOONS, MOONS]))
    weighed = KernelConvexClustering(bandwidth=0.3).fit(MOONS, sample_weight=np.full(200, 2.0))
    assert doubled.certificate_.gamma_interval == weighed.certificate_.gamma_interval
    assert len(doubled.certificate_.cores) == 400
    assert len(weighed.certificate_.cores) == 200


def test_claims_are_in_the_units_of_the_user():
    plain = ConvexClustering(3).fit(BLOBS).certificate_
    tiny = ConvexClustering(3).fit(BLOBS * 2.0**-700).certificate_
    ends = np.ldexp(tiny.gamma_interval, 700)
    np.testing.assert_allclose(ends, plain.gamma_interval, rtol=1e-9)
    for end in tiny.gamma_interval:
        assert f"{end:.4g}" in tiny.statement


def test_claims_are_saved_and_loaded(tmp_path):
    model = KernelConvexClustering().fit(MOONS)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model").certificate_
    assert again == model.certificate_
    np.testing.assert_array_equal(again.cores, model.certificate_.cores)
    assert again.gamma_interval == model.certificate_.gamma_interval


def test_claims_of_coarse_fits_are_about_cells():
    model = KernelConvexClustering(2, coarsen=60).fit(MOONS)
    found = model.certificate_
    assert found.statement.startswith(
        "Of the cells into which the rows were grouped, in the embedd"
    )
    assert found.cores is None
    assert found.coarsening_error > 0
    assert found.partition.startswith("not certified: rows were grouped into cells")


def test_a_given_gamma_is_kept():
    model = KernelConvexClustering(gamma=[1.0, 2.0, 4.0]).fit(MOONS)
    assert model.gamma_ in (1.0, 2.0, 4.0)
    assert KernelConvexClustering(gamma=1.5).fit(MOONS).gamma_ == 1.5


CHAIN = np.column_stack([np.arange(89), np.arange(1, 90)])
DECADES = 10.0 ** np.random.default_rng(0).uniform(-18, 0, 89)
INDEFINITE = (lambda A: (A + A.T) / 2)(np.random.default_rng(1).normal(size=(40, 40)))


def manhattan(x, y):
    return np.exp(-np.abs(x - y).sum())


@pytest.mark.parametrize(
    ("model", "X", "said"),
    [
        (KernelConvexClustering(kernel="precomputed"), INDEFINITE, "without its negative part: "),
        (KernelConvexClustering(kernel="sigmoid"), BLOBS, "without its negative part: "),
        (KernelConvexClustering(2, weights=(CHAIN[::2], np.ones(45))), BLOBS, "γ = "),
        (KernelConvexClustering(3, weights=(CHAIN, DECADES)), BLOBS, "γ = "),
        (KernelConvexClustering(), BLOBS[:1], "from 0 on the exact optimum is one cluster"),
        (KernelConvexClustering(), BLOBS[:2], "on the exact optimum is one cluster"),
        (KernelConvexClustering(), np.ones((20, 2)), "from 0 on the exact optimum is one cluster"),
        (KernelConvexClustering(), np.vstack([BLOBS, [[1e6, 1e6]]]), "γ"),
        (ConvexClustering(), np.vstack([BLOBS, [[1e6, 1e6]]]), "γ"),
        (KernelConvexClustering(3, kernel="laplacian"), BLOBS, "exact optimum"),
        (KernelConvexClustering(3, kernel="matern"), BLOBS, "exact optimum"),
        (KernelConvexClustering(3, kernel="polynomial"), BLOBS / 6, "exact optimum"),
        (KernelConvexClustering(3, kernel="cosine"), BLOBS + 1, "exact optimum"),
        (KernelConvexClustering(3, kernel="precomputed"), BLOBS @ BLOBS.T, "exact optimum"),
        (KernelConvexClustering(3, kernel=manhattan), BLOBS, "exact optimum"),
        (KernelConvexClustering(3), sparse.csr_array(BLOBS), "exact optimum"),
        (ConvexClustering(3), BLOBS, "exact optimum"),
        (KernelConvexClustering(3, embedding="rff", rank=40), BLOBS, "exact optimum"),
    ],
)
def test_a_claim_that_holds_or_a_sentence_why_there_is_none(model, X, said):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        found = model.fit(X).certificate_
    assert said in found.statement
    assert found.statement.endswith(".")
    if found.gamma_interval is not None:
        assert found.gamma_interval[0] <= model.gamma_ < found.gamma_interval[1]
    assert len(found.clusters) == model.n_clusters_
    assert len(found.cores) == X.shape[0]
    if "of the spread" in found.statement:
        assert found.relative_radius <= TELLS  # a larger one says nothing


@pytest.mark.parametrize("n", [1, 2, 90])
def test_claims_about_masses_over_eighteen_decades(n):
    masses = 10.0 ** np.linspace(-18, 0, n)
    model = KernelConvexClustering().fit(BLOBS[:n], sample_weight=masses)
    found = model.certificate_
    assert found.statement.endswith(".")
    assert len(found.clusters) == model.n_clusters_
    assert len(found.cores) == n
    if found.gamma_interval is not None:
        assert found.gamma_interval[0] <= model.gamma_ < found.gamma_interval[1]


def test_a_kernel_that_is_not_known_to_be_definite_has_a_proviso():
    X = make_blobs(1_100, centers=[[0, 0], [9, 0]], cluster_std=0.5, random_state=0)[0]
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 2)
    found = KernelConvexClustering(2, kernel="precomputed").fit(K).certificate_
    assert found.statement.endswith(
        ", provided that the kernel is positive semi-definite, which was not checked in full."
    )


def test_without_the_full_space_the_embedding_certifies():
    """The fused clusters stay as the gap closes, and are then those of the optimum."""
    model = ConvexClustering(gamma=20.0, labels="fusion", tol=1e-6, certify=False).fit(BLOBS)
    assert model.n_clusters_ == 3
    assert model.certificate_.partition == "certified"
    assert model.certificate_.relative_gap < 1e-8


def test_weights_of_rows_leave_the_interval_about_as_wide():
    """What flows miss is rounding whatever the masses are: intervals were a tenth as long."""
    weight = np.random.default_rng(0).integers(1, 4, len(BLOBS)).astype(float)
    ratios = []
    for given in None, weight:
        model = KernelConvexClustering().fit(BLOBS, sample_weight=given)
        low, high = model.certificate_.gamma_interval
        ratios.append(high / low)
    assert ratios[1] > 0.5 * ratios[0]
