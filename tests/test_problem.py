"""The problem and what it refuses: the edge, weight or column that is named is the bad one."""

from __future__ import annotations

import numpy as np
import pytest

from convexcluster import Problem
from convexcluster.problem import check_finite, check_graph

REFUSED = [
    # edges, weights, number of samples, sentence
    ([[0, 1], [0, 4]], [1.0, 1.0], 4, r"edges\[1\] = \[0, 4\] is out of range for 4 samples"),
    ([[0, 1], [-1, 2]], [1.0, 1.0], 4, r"edges\[1\] = \[-1, 2\] is out of range for 4 samples"),
    ([[0, 1], [2, 1]], [1.0, 1.0], 4, r"edges\[1\] = \[2, 1\] must have i < j"),
    ([[0, 1], [2, 2]], [1.0, 1.0], 4, r"edges\[1\] = \[2, 2\] must have i < j"),
    ([[0, 1], [1, 2], [1, 2]], np.ones(3), 4, r"edges\[2\] = \[1, 2\] is repeated"),
    ([[1, 2], [0, 3], [0, 1], [0, 3]], np.ones(4), 4, r"edges\[3\] = \[0, 3\] is repeated"),
    ([[0, 1], [0, 2]], [0.5, -1.0], 4, r"weights\[1\] is -1.0"),
    ([[0, 1], [0, 2]], [0.0, -1.0], 4, r"weights\[1\] is -1.0"),
    ([[0, 1], [0, 2]], [0.5, np.inf], 4, r"weights\[1\] is inf"),
    ([[0, 1], [0, 2]], [0.5, np.nan], 4, r"weights\[1\] is nan"),
    ([[0, 1], [0.5, 2]], [1.0, 1.0], 4, "edges must be integer sample indices"),
    ([["0", "1"]], [1.0], 4, "edges must be integer sample indices"),
]


@pytest.mark.parametrize(("edges", "weights", "n", "sentence"), REFUSED)
def test_the_bad_edge_or_weight_is_named(edges, weights, n, sentence):
    with pytest.raises(ValueError, match=sentence):
        check_graph(edges, weights, n)


def test_edges_that_only_look_alike_are_not_repeated():
    # at n = 4 the pairs (0, 3), (1, 2) and (1, 3) share sums and differences of their ends
    given = [[1, 3], [0, 3], [1, 2], [0, 1], [0, 2], [2, 3]]
    edges, weights = check_graph(given, np.arange(1.0, 7.0), 4)
    np.testing.assert_array_equal(edges, given)
    np.testing.assert_array_equal(weights, np.arange(1.0, 7.0))


def test_an_edge_of_weight_zero_is_dropped():
    edges, weights = check_graph([[0, 1], [0, 2], [1, 2]], [1.0, 0.0, 2.0], 3)
    np.testing.assert_array_equal(edges, [[0, 1], [1, 2]])
    np.testing.assert_array_equal(weights, [1.0, 2.0])


def test_no_edge_is_copied_where_none_is_dropped():
    edges, weights = np.array([[0, 1], [0, 2]]), np.ones(2)
    found = check_graph(edges, weights, 3)
    assert found[0] is edges
    assert found[1] is weights


def test_whole_numbers_may_be_floats():
    edges, _ = check_graph([[0.0, 1.0], [1.0, 2.0]], [1.0, 1.0], 3)
    assert edges.dtype == np.int64
    np.testing.assert_array_equal(edges, [[0, 1], [1, 2]])


def test_no_edges_are_a_graph():
    edges, weights = check_graph([], [], 3)
    assert edges.shape == (0, 2)
    assert weights.shape == (0,)


def test_the_scale_is_half_the_weighted_spread():
    # mean (1·0 + 3·4)/4 = 3, hence ½(1·3² + 3·1²) = 6
    problem = Problem.of([[0.0], [4.0]], [[0, 1]], [1.0], 0.5, masses=[1.0, 3.0])
    assert problem.scale == 6.0
    assert problem.relative(1.5) == 0.25
    # below one as well
    small = Problem.of([[0.0], [0.4]], [[0, 1]], [1.0], 0.5)
    assert small.scale == pytest.approx(0.04, rel=1e-15)
    assert small.relative(0.01) == pytest.approx(0.25, rel=1e-15)


def test_gaps_of_equal_rows_are_none_or_without_bound():
    equal = Problem.of([[2.0], [2.0]], [[0, 1]], [1.0], 0.5)
    assert equal.scale == 0.0
    assert equal.relative(0.0) == 0.0
    assert equal.relative(1.0) == np.inf


def test_a_bad_entry_is_named_by_its_column():
    Z = np.array([[0.0, 1.0], [2.0, np.nan]])
    with pytest.raises(ValueError, match="Z holds nan in row 1, column 1:"):
        check_finite(Z, "Z")
    with pytest.raises(ValueError, match="Z holds nan in row 8, column 'height':"):
        check_finite(Z, "Z", offset=7, columns=["width", "height"])
