"""The path as data: labels, tree, splits and arrays of a path built by hand."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage

from convexcluster import solve_path
from convexcluster.labels import cut
from convexcluster.path.builder import PathBuilder
from convexcluster.path.clusterpath import ABOVE, ClusterPath, Split
from convexcluster.storage import Container


def build(partitions, gammas, **kw):
    n = len(partitions[0])
    builder = PathBuilder(np.ones(n), 1.0)
    for labels, gamma in zip(partitions, gammas):
        labels = np.array(labels)
        centers = np.array(
            [[float(np.flatnonzero(labels == t)[0])] for t in range(max(labels) + 1)]
        )
        builder.add(gamma, labels, centers, 0.0, True, **kw)
    return builder.build()


@pytest.fixture
def merging() -> ClusterPath:
    return build([[0, 1, 2, 3, 4], [0, 1, 1, 2, 3], [0, 0, 0, 1, 1]], [1.0, 2.0, 4.0])


@pytest.fixture
def splitting() -> ClusterPath:
    return build([[0, 0, 0, 1], [0, 0, 1, 1], [0, 0, 0, 0]], [1.0, 2.0, 3.0])


def test_labels_at_and_between_the_grid(merging):
    np.testing.assert_array_equal(merging.labels(2.0), [0, 1, 1, 2, 3])
    np.testing.assert_array_equal(merging.labels(3.9), [0, 1, 1, 2, 3])
    np.testing.assert_array_equal(merging.labels(2.0 * (1 - 1e-12)), [0, 1, 1, 2, 3])
    np.testing.assert_array_equal(merging.labels(99.0), [0, 0, 0, 1, 1])
    with pytest.raises(ValueError, match="below the path"):
        merging.labels(0.5)
    with pytest.raises(ValueError, match="either"):
        merging.labels()


def test_labels_of_a_step(merging, splitting):
    for path in (merging, splitting):
        for step, gamma in enumerate(path.gammas):
            np.testing.assert_array_equal(path.labels(step=step), path.labels(gamma))
            np.testing.assert_array_equal(path.labels(step=step - len(path)), path.labels(gamma))
    with pytest.raises(IndexError):
        merging.labels(step=3)
    with pytest.raises(ValueError, match="either"):
        merging.labels(1.0, step=0)


def test_labels_by_count_fall_back_on_the_tree(merging):
    np.testing.assert_array_equal(merging.labels(n_clusters=2), [0, 0, 0, 1, 1])
    assert len(np.unique(merging.labels(n_clusters=3))) == 3  # not on the grid
    np.testing.assert_array_equal(merging.labels(n_clusters=1), np.zeros(5))
    with pytest.raises(ValueError, match="n_clusters"):
        merging.labels(n_clusters=6)


def test_rows_of_the_centroids_belong_to_the_labels():
    builder = PathBuilder(np.ones(3), 1.0)
    builder.add(1.0, np.array([2, 0, 1]), np.array([[10.0], [20.0], [30.0]]), 0.0, True)
    path = builder.build()
    np.testing.assert_array_equal(path.labels(1.0), [0, 1, 2])
    np.testing.assert_array_equal(path.centroids(1.0), [[30.0], [10.0], [20.0]])
    path.centroids(1.0)[:] = 0  # a copy: the path does not change
    np.testing.assert_array_equal(path.centroids(1.0), [[30.0], [10.0], [20.0]])


def test_merges_take_the_values_of_the_candidates():
    builder = PathBuilder(np.ones(4), 1.0)
    builder.add(1.0, np.arange(4), np.zeros((4, 1)), 0.0, True)
    pairs, values = np.array([[0, 1], [1, 2], [0, 2], [2, 3]]), np.array([1.2, 1.9, 1.4, 5.0])
    builder.add(2.0, np.array([0, 0, 0, 1]), np.zeros((2, 1)), 0.0, True, pairs, values)
    path = builder.build()
    np.testing.assert_array_equal(path.merges, [[0, 1], [0, 2]])
    np.testing.assert_array_equal(path.fusion_values, [1.2, 1.4])
    np.testing.assert_array_equal(path.brackets, [[1.0, 2.0], [1.0, 2.0]])


def test_tree_is_a_linkage_and_contains_every_partition(merging):
    tree = merging.to_linkage()
    assert is_valid_linkage(tree)
    assert tree[-1, 2] == pytest.approx(4.0 * ABOVE)  # two clusters are left at the last γ
    for gamma, k in zip(merging.gammas, merging.n_clusters):
        np.testing.assert_array_equal(cut(tree, k), merging.labels(gamma))


def test_splits_are_recorded_and_closed_in_the_tree(splitting):
    assert splitting.splits == (Split(1, 2.0, 0, (0, 1)),)
    np.testing.assert_array_equal(splitting.labels(1.0), [0, 0, 0, 1])
    np.testing.assert_array_equal(splitting.labels(2.0), [0, 0, 1, 1])
    np.testing.assert_array_equal(splitting.labels(3.0), [0, 0, 0, 0])
    tree = splitting.to_linkage()
    assert is_valid_linkage(tree)
    np.testing.assert_array_equal(tree[:, 2], [1.0, 1.0, 2.0])  # together once, together for good


def test_a_file_holds_everything(splitting, tmp_path):
    file = Container("path", 1, {"ClusterPath": ClusterPath})
    file.write(tmp_path / "p", {"path": splitting})
    again = file.read(tmp_path / "p")["path"]
    for gamma in splitting.gammas:
        np.testing.assert_array_equal(again.labels(gamma), splitting.labels(gamma))
        np.testing.assert_array_equal(again.centroids(gamma), splitting.centroids(gamma))
    assert again.splits == splitting.splits
    np.testing.assert_array_equal(again.to_linkage(), splitting.to_linkage())


def test_tables_and_graphs(merging):
    pytest.importorskip("pandas")
    pytest.importorskip("networkx")
    assert list(merging.to_frame()["n_clusters"]) == [5, 4, 2]
    tree = merging.to_networkx()
    assert tree.number_of_nodes() == 9
    assert tree.nodes[8]["size"] == 5
    assert sorted(d for _, d in tree.in_degree()) == [0] + [1] * 8


def test_nothing_on_the_path_is_still_a_tree():
    assert is_valid_linkage(PathBuilder(np.ones(3), 1.0).build(False).to_linkage())


def test_clusters_left_over_are_joined_by_ward_with_their_masses():
    # three components at 0, 1 and 2.2: equal masses join 0 and 1 first (½ < 0.72), but moving a
    # hundred samples costs 100/101, more than the other pair's ½ · 1.2²
    Z = np.concatenate([np.zeros(100), [1.0, 2.2]])[:, None]
    edges = np.stack([np.arange(99), np.arange(1, 100)], axis=1)
    path = solve_path(Z, edges, np.ones(99), [0.1])
    tree = path.to_linkage()
    assert sorted(tree[-2, :2]) == [100, 101]
    heavy = solve_path([[0.0], [1.0], [2.2]], np.empty((0, 2), int), [], [0.1], masses=[100, 1, 1])
    assert sorted(heavy.to_linkage()[0, :2]) == [1, 2]
    equal = solve_path([[0.0], [1.0], [2.2]], np.empty((0, 2), int), [], [0.1])
    assert sorted(equal.to_linkage()[0, :2]) == [0, 1]


def test_labels_belong_to_who_asked_and_are_those_of_any_order(merging, splitting):
    for path in (merging, splitting):
        wanted = [path.labels(step=step) for step in range(len(path))]
        path.labels(step=0)[:] = 9
        for step in (0, 0, 2, 1, 2, 0, 1, 1):
            path.labels(step=step)[:] = -1
            np.testing.assert_array_equal(path.labels(step=step), wanted[step])


def test_a_partition_that_stays_is_built_once(merging, monkeypatch):
    longer = build(
        [[0, 1, 2], [0, 1, 1], [0, 1, 1], [0, 1, 1], [0, 0, 0]], [1.0, 2.0, 3.0, 4.0, 5.0]
    )
    built, partition = [], ClusterPath._partition
    monkeypatch.setattr(
        ClusterPath, "_partition", lambda path, step: built.append(step) or partition(path, step)
    )
    for step in range(5):
        longer.labels(step=step)
    assert built == [0, 1, 4]
