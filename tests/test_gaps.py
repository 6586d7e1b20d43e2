"""Gaps: parts that are apart beyond chance, against their definition; and trees that have them."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import cophenet, linkage
from scipy.spatial.distance import cdist, squareform

from convexcluster import KernelConvexClustering
from convexcluster.numerics.boundaries import Boundaries
from convexcluster.numerics.linkage import join
from convexcluster.weights import Gaps, Landscape, find_gaps
from convexcluster.weights.gaps import LEVEL, RANKS, _walkable, meetings

NONE = np.empty((0, 2), dtype=np.int64)


def strips(seed, n=150, apart=2.5):
    """Two strips of ten by one, one above the other."""
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1], n)
    return rng.uniform(size=(2 * n, 2)) * [10, 1] + np.outer(y, [0, apart]), y


def gaps_of(X, least=8.0):
    return find_gaps(Landscape.of(X, np.ones(len(X))), least)


def rank_across(X, y):
    """The least K such that a point of one side is among the K nearest of one of the other."""
    order = np.argsort(cdist(X, X), axis=1)[:, 1:]
    return int((y[order] != y[:, None]).argmax(axis=1).min()) + 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("apart", [1.6, 2.0, 2.5])
def test_ranks_are_those_of_the_definition(seed, apart):
    X, y = strips(seed, 60, apart)
    land = Landscape.of(X, np.ones(len(X)))
    near = rank_across(X, y) - 1
    # whatever is joined before, the sides meet at their rank
    ends, ranks = meetings(land, y, near)
    assert ranks.tolist() == [near + 1.0]
    assert near < land.near.shape[1]
    assert y[ends].sum() == 1
    _, later = meetings(land, y, land.near.shape[1])
    assert later.tolist() == [min(RANKS, land.near.shape[1]) + 1.0]


def test_a_height_is_the_rank_over_its_level():
    X, y = strips(0)
    found = gaps_of(X)
    assert (found.parts == y).all()
    assert sorted(y[found.ends[0]]) == [0, 1]
    rank, level = rank_across(X, y), LEVEL * np.log2(len(X))
    # the dimension around a gap is from 1 to 2
    assert rank / level <= found.heights[0] <= 2.0 * rank / level


def test_the_level_of_a_gap_depends_neither_on_its_sides_nor_on_gaps_inside_them():
    """Three strips, of which two are hardly apart: their gap fails, and raises no other."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 80)
    X = rng.uniform(size=(240, 2)) * [10, 1] + np.outer(np.array([0.0, 1.7, 5.2])[y], [0, 1])
    land = Landscape.of(X, np.ones(240))
    level = LEVEL * np.log2(240)
    _, ranks = meetings(land, y, 0)
    assert 0.5 * level < ranks[0] < level < ranks[1]  # the first is looked at, and fails
    found = find_gaps(land, 8.0)
    assert np.bincount(found.parts).tolist() == [160, 80]
    dimension = _walkable(land, found.ends, ranks[1:])
    np.testing.assert_allclose(found.heights, ranks[1:] * dimension / level, rtol=1e-12)


def test_units_and_the_order_of_the_rows_do_not_matter():
    X, y = strips(1)
    order = np.random.default_rng(0).permutation(len(X))
    assert (gaps_of(X * 1e-9).parts == y).all()
    moved = gaps_of(X[order])
    assert len(moved.heights) == 1
    assert len(np.unique(moved.parts + 2 * y[order])) == 2
    np.testing.assert_allclose(moved.heights, gaps_of(X).heights)


def curve(rng, n):
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.column_stack([np.cos(angle), np.sin(angle)]) + 0.003 * rng.normal(size=(n, 2))


NOISE = {
    "square": lambda rng, n: rng.uniform(size=(n, 2)),
    "heavy tails": lambda rng, n: rng.standard_t(3, size=(n, 2)),
    "space": lambda rng, n: rng.normal(size=(n, 3)),
    "ring": curve,
    "strip": lambda rng, n: rng.uniform(size=(n, 2)) * [15, 1],
}


@pytest.mark.parametrize("n", [100, 400])
@pytest.mark.parametrize("law", NOISE)
def test_chance_makes_no_gaps(law, n):
    rng = np.random.default_rng(n)
    assert all(len(gaps_of(NOISE[law](rng, n)).heights) == 0 for _ in range(20))


def test_a_group_of_less_than_the_least_mass_is_no_part():
    X, _ = strips(2)
    far = np.random.default_rng(0).normal(size=(9, 2)) * 0.1 + [30, 30]
    rows = np.vstack([X, far])
    assert np.bincount(gaps_of(rows).parts).tolist() == [150, 150, 9]
    assert np.bincount(gaps_of(rows, least=10.0).parts).tolist() == [150, 159]


def random_tree(rng, n):
    X = rng.normal(size=(n, 2))
    return Boundaries(linkage(X, "single"), "valleys")


@pytest.mark.parametrize("seed", range(6))
def test_a_parted_tree_is_itself_inside_parts_and_the_gaps_between_them(seed):
    rng = np.random.default_rng(seed)
    n, p = 40, int(rng.integers(2, 6))
    tree, parts = random_tree(rng, n), rng.permutation(np.arange(n) % p)
    parts = np.unique(parts, return_index=True)[1].argsort().argsort()[parts]  # any numbering
    pairs = np.column_stack([rng.integers(0, np.arange(1, p)), np.arange(1, p)])
    heights = rng.uniform(0.0, 2.0 * tree.heights[0], p - 1)
    before = squareform(cophenet(tree.linkage))
    ends = np.array(
        [[rng.choice(np.flatnonzero(parts == part)) for part in pair] for pair in pairs]
    )
    found = squareform(cophenet(Gaps(parts, ends, heights, NONE).beside(tree).linkage))
    same = parts[:, None] == parts
    np.testing.assert_allclose(found[same], before[same])
    # between two parts: single linkage of what is inside them and of the ends
    closure = np.where(same, before, np.inf)
    for (i, j), height in zip(ends, heights):
        closure[i, j] = closure[j, i] = max(height, before[i, j])
    for c in range(n):
        closure = np.minimum(closure, np.maximum(closure[:, [c]], closure[[c], :]))
    np.testing.assert_allclose(found, closure)


def test_sides_that_meet_in_another_part_only_are_joined_by_neighbours():
    """A chain whose ends are one part and whose middle is another."""
    steps = np.array([[0, 1], [1, 2]])
    tree = Boundaries(join(steps, np.array([0.5, 0.8]), 3), "valleys", edges=steps)
    gaps = Gaps(np.array([0, 1, 0]), np.array([[0, 1]]), np.array([2.0]), np.array([[0, 2]]))
    heights = squareform(cophenet(gaps.beside(tree).linkage))
    assert heights[0, 2] == 0.0
    assert heights[0, 1] == heights[1, 2] == 2.0
    # a tree that does not say over which points its sides meet: they meet as high as in the tree
    unknown = Boundaries(tree.linkage, "valleys")
    assert squareform(cophenet(gaps.beside(unknown).linkage))[0, 2] == 0.8


def test_no_gaps_leave_boundaries_as_they_are():
    tree = random_tree(np.random.default_rng(0), 20)
    none = Gaps(np.zeros(20, dtype=np.int64), NONE, np.empty(0), NONE)
    assert none.beside(tree) is tree


def test_samples_of_several_parts_join_them():
    gaps = Gaps(
        np.array([0, 0, 1, 1, 2, 2]), np.array([[1, 2], [3, 4]]), np.array([2.0, 3.0]), NONE
    )
    linked = gaps.contracted(np.array([0, 1, 1, 2, 3, 4]))  # the second and third point are one
    assert linked.parts.tolist() == [0, 0, 0, 1, 1]
    assert linked.heights.tolist() == [3.0]
    assert linked.ends.tolist() == [[2, 3]]


@pytest.mark.parametrize("told", [None, 3])
def test_bars_that_do_not_meet_are_found(told):
    rng = np.random.default_rng(0)
    shapes = [(700, [4.0, 0.5], [0, 0]), (400, [0.5, 4.0], [0, 1]), (300, [0.5, 4.0], [3.5, 1])]
    X = np.vstack([rng.uniform(size=(n, 2)) * size + at for n, size, at in shapes])
    y = np.repeat([0, 1, 2], [n for n, _, _ in shapes])
    labels = KernelConvexClustering(told).fit_predict(X)
    assert len(np.unique(labels)) == 3
    assert len(np.unique(labels + 3 * y)) == 3


def test_what_has_fused_lies_inside_the_labels_where_gaps_part_them():
    X, y = strips(3, 600, 1.6)
    model = KernelConvexClustering().fit(X)
    assert model.n_clusters_ == 2
    assert len(np.unique(model.labels_ + 2 * y)) == 2
    fused = model.path_.labels(gamma=model.gamma_)
    assert all(len(np.unique(model.labels_[fused == c])) == 1 for c in np.unique(fused))
