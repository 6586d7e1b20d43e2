"""Distinct weighted rows, and paths and trees expanded back to the user's rows."""

from copy import deepcopy

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.metrics import adjusted_rand_score

from convexcluster import solve_path
from convexcluster.labels import cut, ward_tree
from convexcluster.points import check_sample_weight, expand_path, expand_tree, merge_equal
from convexcluster.points.distinct import upright


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8, 2))[rng.integers(0, 8, 20)]
    weight = rng.integers(0, 3, 20).astype(float)
    weight[0] = 0.0
    return X, weight, merge_equal(X, weight)


def test_masses_are_summed_and_rows_sorted(rows):
    X, weight, samples = rows
    assert samples.masses.sum() == weight.sum()
    used = weight > 0
    np.testing.assert_array_equal(samples.X[samples.index[used]], X[used])
    assert (np.lexsort(upright(samples.X).T[::-1]) == np.arange(len(samples.X))).all()


@pytest.mark.parametrize("sign", [[-1, 1], [1, -1], [-1, -1]])
def test_points_have_one_order_in_mirror_images_and_with_copies(rows, sign):
    X, weight, samples = rows
    copies = np.repeat(X * sign, 3 * weight.astype(int), axis=0)
    for turned in (copies, copies[:, ::-1]):
        again = merge_equal(turned, np.ones(len(turned)))
        back = again.X[:, ::-1] if turned is not copies else again.X
        np.testing.assert_array_equal(back * sign, samples.X)


def test_row_of_weight_zero_is_represented_by_the_nearest(rows):
    X, weight, samples = rows
    for i in np.flatnonzero(weight == 0):
        distance = np.linalg.norm(samples.X - X[i], axis=1)
        assert distance[samples.index[i]] == distance.min()


def test_expanded_path_has_the_labels_and_centroids_of_its_rows(rows):
    _, weight, samples = rows
    k = len(samples.X)
    edges = np.column_stack([np.arange(k - 1), np.arange(1, k)])
    path = solve_path(samples.X, edges, np.ones(k - 1), [0.05, 0.3, 1.0], masses=samples.masses)
    own = deepcopy(path)
    wide = expand_path(own, samples.index, weight)
    assert all(a is b for a, b in zip(wide.centers, own.centers, strict=True))  # no copy of them
    for gamma in path.gammas:
        a, b = path.labels(gamma=gamma)[samples.index], wide.labels(gamma=gamma)
        assert adjusted_rand_score(a, b) == 1.0
        np.testing.assert_array_equal(path.centroids(gamma)[a], wide.centroids(gamma)[b])
    assert is_valid_linkage(wide.to_linkage())


def test_expanded_tree_cuts_alike(rows):
    _, _, samples = rows
    tree = ward_tree(samples.X, samples.masses)
    wide = expand_tree(tree, samples.index)
    assert is_valid_linkage(wide)
    for k in range(1, len(samples.X) + 1):
        assert adjusted_rand_score(cut(tree, k)[samples.index], cut(wide, k)) == 1.0


@pytest.mark.parametrize(
    ("weight", "message"),
    [([1.0], "shape"), ([1.0, -1.0], "≥ 0"), ([np.nan, 1.0], "finite"), ([0.0, 0.0], "everywhere")],
)
def test_bad_sample_weight(weight, message):
    with pytest.raises(ValueError, match=message):
        check_sample_weight(weight, 2)
