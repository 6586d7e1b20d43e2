"""Input that breaks what defaults take for granted: a claim that holds, or why there is none."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons

from convexcluster import ConvexClustering, KernelConvexClustering
from convexcluster.partition import canonical
from convexcluster.report.words import robustness_sentence
from convexcluster.stages import points as stages_points

BOTH = [KernelConvexClustering, ConvexClustering]


@pytest.mark.parametrize("base", BOTH)
@pytest.mark.parametrize("n", [1, 2, 50])
def test_rows_that_are_all_equal_are_their_own_centroids(base, n):
    model = base().fit(np.full((n, 2), 0.3))
    proved = model.certificate_
    assert (proved.gap, proved.relative_gap, proved.relative_radius) == (0.0, 0.0, 0.0)
    assert proved.statement == "For every γ from 0 on the exact optimum is one cluster."
    assert proved.partition == "certified"
    if n > 1:  # a copy that moved away would be a cluster of its own
        assert "no edge holds its copies together" in model.robustness().reason
        assert "anywhere" not in robustness_sentence(model)


def test_copies_move_together_and_it_is_said():
    X = make_moons(60, noise=0.05, random_state=0)[0]
    alone = robustness_sentence(KernelConvexClustering().fit(X))
    twice = robustness_sentence(KernelConvexClustering().fit(np.vstack([X, X])))
    assert "Equal samples move together in it." not in alone
    assert twice.endswith("Equal samples move together in it.")


def test_cells_that_are_proved_are_called_so():
    X = make_moons(3_000, noise=0.05, random_state=0)[0]
    model = KernelConvexClustering(coarsen=500).fit(X)
    proved = model.certificate_
    assert "the exact optimum has exactly" in proved.statement
    assert "not asked for" not in proved.partition
    assert proved.partition.endswith("on the cells: certified")
    equal = KernelConvexClustering(coarsen=20).fit(np.ones((300, 2))).certificate_
    assert equal.partition in ("certified", "not certified: proved in the embedding alone")


def test_copies_are_merged_before_cells_are_cut(monkeypatch):
    rng = np.random.default_rng(0)
    few = rng.normal(size=(60, 2)) + 8.0 * (np.arange(60) % 3)[:, None]
    X = np.repeat(few, 40, axis=0)[rng.permutation(2_400)]
    graphed = []
    weigh = stages_points.weigh

    def counted(space, masses, settings, **options):
        graphed.append(len(masses))
        return weigh(space, masses, settings, **options)

    monkeypatch.setattr(stages_points, "weigh", counted)
    copies = KernelConvexClustering(coarsen=50).fit(X)
    assert graphed == [60]
    heavy = KernelConvexClustering(coarsen=50).fit(few, sample_weight=np.full(60, 40.0))
    # three clusters of one size, which are numbered as they come
    np.testing.assert_array_equal(canonical(copies.predict(few)), canonical(heavy.labels_))
    np.testing.assert_array_equal(copies.predict(X), copies.labels_)
    assert np.bincount(copies.labels_).tolist() == [800, 800, 800]


KERNELS = {
    "indefinite": {"kernel": "precomputed"},
    "sigmoid": {"kernel": "sigmoid"},
}


@pytest.mark.parametrize("name", KERNELS)
def test_claims_of_a_kernel_with_a_negative_part_say_so(name):
    X = np.random.default_rng(0).normal(size=(80, 80))
    with pytest.warns(UserWarning, match="not positive semi-definite"):
        model = KernelConvexClustering(**KERNELS[name]).fit((X + X.T) / 2)
    assert model.certificate_.clipped_share > 0
    assert model.certificate_.statement.startswith("For the kernel without its negative part: ")
    assert np.isfinite(model.certificate_.radius)


@pytest.mark.parametrize("far", [1e12, 1e150])
@pytest.mark.parametrize("base", BOTH)
def test_one_far_value_is_named_and_what_is_claimed_is_finite(base, far):
    X = make_moons(200, noise=0.05, random_state=0)[0]
    X[0, 0] = far
    with pytest.warns(UserWarning, match="row 0 has 99.99% of the spread"):
        proved = base().fit(X).certificate_
    assert 0 <= proved.relative_radius < 1e-2
    assert "γ" in proved.statement


def test_weights_over_many_decades_and_graphs_in_pieces_end_in_a_sentence():
    X, rng = make_moons(200, noise=0.05, random_state=0)[0], np.random.default_rng(0)
    pairs = rng.integers(0, 200, (800, 2))
    W = np.zeros((200, 200))
    W[pairs[:, 0], pairs[:, 1]] = 10.0 ** rng.uniform(-9, 9, 800)
    np.fill_diagonal(W, 0.0)
    W = np.maximum(W, W.T)
    proved = KernelConvexClustering(weights=W).fit(X).certificate_
    assert proved.statement.endswith("the exact optimum is one cluster.")
    chain = np.zeros((200, 200))
    chain[np.arange(0, 180, 2), np.arange(2, 182, 2)] = 1.0
    proved = KernelConvexClustering(2, weights=chain + chain.T).fit(X).certificate_
    assert proved.statement.startswith("No cluster is proved")
    assert "a tree is not part of the optimum" in proved.partition
