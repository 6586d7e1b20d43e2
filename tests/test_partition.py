"""Labels as data, each function against its definition; equal rows, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster.hierarchy import is_valid_linkage, linkage

from convexcluster.graph import components
from convexcluster.numerics.linkage import cut, expand, intervals, join, merged_pairs
from convexcluster.partition import (
    by_size,
    canonical,
    distinct_rows,
    first,
    fused,
    means,
    ranks,
    sorted_rows,
    tidy,
    twins,
)

LABELS = st.lists(st.integers(0, 5), min_size=1, max_size=30).map(np.array)


@given(LABELS)
def test_canonical_labels_are_numbered_by_first_appearance(labels):
    found = canonical(labels)
    _, start = np.unique(found, return_index=True)
    assert (np.diff(start) > 0).all()
    assert ((found[:, None] == found) == (labels[:, None] == labels)).all()


@given(LABELS)
def test_first_and_twins_name_every_sample_once(labels):
    labels = np.unique(labels, return_inverse=True)[1]  # all used, in any order
    start, pairs = first(labels), twins(labels)
    np.testing.assert_array_equal(labels[start], np.arange(labels.max() + 1))
    assert sorted([*start, *pairs[:, 1]]) == list(range(len(labels)))
    assert (labels[pairs[:, 0]] == labels[pairs[:, 1]]).all()
    np.testing.assert_array_equal(components(pairs, len(labels)), canonical(labels))


@given(st.permutations(range(9)).map(np.array))
def test_ranks_undo_an_order(order):
    np.testing.assert_array_equal(ranks(order)[order], np.arange(9))
    np.testing.assert_array_equal(order[ranks(order)], np.arange(9))


@given(LABELS)
def test_masses_fall_with_the_label(labels):
    masses = np.arange(1.0, len(labels) + 1)
    found = by_size(canonical(labels), masses)
    assert (np.diff(np.bincount(found, masses)) <= 0).all()
    np.testing.assert_array_equal(canonical(found), canonical(labels))


def test_fused_clusters_are_the_components_of_edges_with_equal_ends():
    rng = np.random.default_rng(0)
    A = rng.integers(0, 2, (60, 2)) * np.array([1.0, -0.0])  # −0.0 is 0.0
    edges = np.unique(np.sort(rng.integers(0, 60, (90, 2)), axis=1), axis=0)
    edges = edges[edges[:, 0] < edges[:, 1]]
    equal = (A[edges[:, 0]] == A[edges[:, 1]]).all(axis=1)
    assert 0 < equal.sum() < len(edges)
    np.testing.assert_array_equal(fused(A, edges), components(edges[equal], 60))
    np.testing.assert_array_equal(fused(A, edges[:0]), np.arange(60))


def test_means_are_weighted_by_mass():
    rng = np.random.default_rng(1)
    Z, masses, labels = rng.normal(size=(20, 3)), rng.uniform(1, 2, 20), np.arange(20) % 4
    want = [np.average(Z[labels == t], axis=0, weights=masses[labels == t]) for t in range(4)]
    np.testing.assert_allclose(means(Z, masses, labels), want, rtol=1e-14)


@pytest.mark.parametrize(("n", "d", "values"), [(1, 1, 1), (40, 1, 5), (60, 30, 2), (80, 9, 3)])
def test_rows_are_sorted_as_numpy_does(n, d, values):
    rng = np.random.default_rng(n + d)
    X = rng.integers(0, values, size=(n, d)).astype(float)
    X[rng.integers(0, n, n // 3)] = X[0]
    _, start, inverse = np.unique(X, axis=0, return_index=True, return_inverse=True)
    found = sorted_rows(X)
    np.testing.assert_array_equal(found[0], start)
    np.testing.assert_array_equal(found[1], inverse.ravel())
    for ours, dense in zip(distinct_rows(sparse.csc_array(X)), distinct_rows(X)):
        np.testing.assert_array_equal(ours, dense)


def test_distinct_rows_come_in_order_of_appearance():
    A = np.array([[1.0, 2.0], [0.0, 0.0], [1.0, 2.0], [-0.0, 0.0], [3.0, 1.0]])
    start, inverse = distinct_rows(A)
    np.testing.assert_array_equal(A[start][inverse], A)
    assert start.tolist() == [0, 1, 4]


def test_a_tidy_matrix_has_one_form():
    """Stored zeros, entries given twice and columns in any order say nothing."""
    untidy = sparse.csr_array(
        (np.array([0.0, 2.0, 1.0, 1.0]), np.array([0, 2, 1, 1]), np.array([0, 4])), shape=(1, 3)
    )
    plain = tidy(sparse.csc_array(np.array([[0, 2, 2]])))
    found = tidy(untidy)
    assert (found.indices.tolist(), found.data.tolist()) == ([1, 2], [2.0, 2.0])
    assert (plain.indices.tolist(), plain.data.tolist()) == ([1, 2], [2.0, 2.0])
    assert untidy.nnz == 4  # what was given is left alone


def test_a_tree_of_groups_expands_to_their_samples():
    rng = np.random.default_rng(2)
    groups = canonical(rng.integers(0, 8, 30))
    tree = linkage(rng.normal(size=(groups.max() + 1, 2)))
    wide = expand(tree, groups)
    assert is_valid_linkage(wide)
    for k in range(1, groups.max() + 2):
        np.testing.assert_array_equal(cut(wide, k), canonical(cut(tree, k)[groups]))
    np.testing.assert_array_equal(expand(tree, np.arange(len(tree) + 1)), tree)
    order = np.random.default_rng(0).permutation(len(tree) + 1)  # one sample each, as by join
    slow = join(merged_pairs(tree, first(order)), tree[:, 2], len(order))
    np.testing.assert_array_equal(expand(tree, order), slow)


def test_intervals_and_pairs_hold_the_members_of_every_node():
    tree = linkage(np.random.default_rng(3).normal(size=(15, 2)))
    low, high = intervals(tree)
    pairs = merged_pairs(tree, np.arange(15))
    members = [{leaf} for leaf in range(15)]
    order = np.argsort(low[:15])
    for (left, right), pair in zip(tree[:, :2].astype(int), pairs.tolist()):
        assert pair[0] in members[left]
        assert pair[1] in members[right]
        members.append(members[left] | members[right])
    for node, samples in enumerate(members):
        assert set(order[low[node] : high[node]].tolist()) == samples
