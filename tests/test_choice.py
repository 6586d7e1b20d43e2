"""Who decides: the valleys of the density, or the path. The rule, whatever its constants are."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from convexcluster.numerics.boundaries import FAINT, Boundaries
from convexcluster.selection import Selection
from convexcluster.settings import Settings
from convexcluster.stages import choice
from convexcluster.stages.choice import (
    AS_CLEAR,
    CLEAREST,
    DISTINCT,
    Seen,
    clearer,
    see,
    tightened,
    with_copies,
)
from convexcluster.stages.space import measure_space
from test_stages import boxes, points_of

FEW, FEW_TOLD = 40, 60


def tree(*heights, together=False, turned=False):
    """Boundaries of these heights between the parts of a chain, the clearest first.

    The chain grows from its first point, or ``turned`` from its last, which has other clusters.
    """
    n, linkage = len(heights) + 1, []
    for step, height in enumerate(sorted(heights)):
        end = n - step - 2 if turned else step + 1
        linkage.append([n + step - 1 if step else turned * (n - 1), end, height, step + 2])
    return Boundaries(np.array(linkage, dtype=float), "valleys", together=together)


def asked(monkeypatch, found, n, d=2, k=None):
    """What is seen, and whether the path was asked; ``found`` are the valleys, without gaps."""
    monkeypatch.setattr(choice, "FEW_POINTS", FEW)
    monkeypatch.setattr(choice, "FEW_TOLD", FEW_TOLD)
    given, calls = {}, []

    def valleys(land, k, least, checked):
        np.testing.assert_array_equal(land.weight, np.ones(n))  # in rows
        given.update(k=k, checked=checked)
        return found

    def ask(points, own, space, seen, *rest):
        calls.append(seen)
        return seen

    monkeypatch.setattr(choice, "valleys", valleys)
    monkeypatch.setattr(choice, "find_gaps", lambda *_: None)
    monkeypatch.setattr(choice, "clearer", ask)
    points, settings = points_of(boxes(n, d), np.full(n, 2.0), n_clusters=k)
    seen = see(points, None, measure_space(points, None, settings), settings)
    assert given["k"] == k
    assert given["checked"] == (n <= FEW and d > 1)
    return seen, bool(calls)


@pytest.mark.parametrize("n", [FEW, FEW + 1, FEW_TOLD, FEW_TOLD + 1])
@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("k", [None, 2])
def test_the_path_is_asked_of_few_samples_and_where_no_valley_stands_alone(
    monkeypatch, n, together, k
):
    """Told how many clusters there are, of more samples, and whatever stands alone."""
    found = tree(3.0, 0.1, together=together)
    seen, path = asked(monkeypatch, found, n, k=k)
    few = n <= (FEW if k is None else FEW_TOLD)
    assert path == (few or (together and k is None))
    assert seen.valleys is found
    assert seen.structure


@pytest.mark.parametrize("n", [FEW, FEW_TOLD + 1])
def test_on_a_line_the_density_decides_alone(monkeypatch, n):
    for heights, structure in (((3.0, 0.1), True), ((0.3, 0.1), False)):
        found = tree(*heights)
        seen, path = asked(monkeypatch, found, n, d=1)
        assert (seen.valleys is found, seen.structure, path) == (True, structure, False)


@pytest.mark.parametrize("n", [FEW, FEW_TOLD + 1])
def test_a_density_without_the_clusters_that_were_asked_for_leaves_all_to_the_path(monkeypatch, n):
    """Without any valley; or without as many distinct ones as were told."""
    flat = tree(0.9 * DISTINCT, 0.1)
    assert asked(monkeypatch, flat, n) == (Seen(), False)
    for count, k in ((1, 2), (2, 3)):
        found = tree(*[3.0] * (count - 1), 0.9 * DISTINCT, 0.0)
        assert asked(monkeypatch, found, n, k=k) == (Seen(structure=count > 1), False)
        found = tree(*[3.0] * (count - 1), 1.1 * DISTINCT, 0.0)
        seen, path = asked(monkeypatch, found, n, k=k)
        assert (seen.valleys is found, seen.structure) == (True, count > 1)
        assert path == (n <= FEW_TOLD)
    assert asked(monkeypatch, None, n) == (Seen(), False)


class Path(SimpleNamespace):
    def __len__(self):
        return self.steps


def decided(monkeypatch, found, other, k=None, steps=9, scale=1.0):
    """The valleys ``found``, or None where a path whose tension has the boundaries ``other`` is."""
    monkeypatch.setattr(choice, "run_path", lambda *_: Path(steps=steps, scale=scale))
    monkeypatch.setattr(choice, "tension_of", lambda *_: other)
    points, settings = points_of(boxes(20), n_clusters=k)
    seen = Seen(found, structure=found.count > 1)
    return clearer(points, None, measure_space(points, None, settings), seen, settings).valleys


@pytest.mark.parametrize("clear", [1.5, CLEAREST, 3.0 * CLEAREST])
def test_the_path_decides_if_its_clusters_stand_out_about_as_clearly(monkeypatch, clear):
    """Up to a ratio beyond which valleys only say that nothing is left below the level."""
    found = tree(clear * 0.9, 0.9) if clear * 0.9 > 1.0 else tree(clear, 1.0)
    least = AS_CLEAR * min(clear, CLEAREST)
    for share, path in ((1.02, True), (0.98, False)):
        top = max(1.01, FAINT * share * least)  # the boundary below it is none that stands
        other = tree(top, top / (share * least))
        assert other.count == 2
        assert (decided(monkeypatch, found, other) is None) == path
    assert decided(monkeypatch, found, tree(9.0, 0.0), steps=0) is found
    assert decided(monkeypatch, found, tree(9.0, 0.0), scale=0.0) is found


def test_a_path_without_clusters_does_not_decide(monkeypatch):
    """However clearly one cluster is one."""
    found, other = tree(1.2, 0.8), tree(0.3, 0.0)
    other = Boundaries(other.linkage, "tension", beside=2.0)
    assert other.count == 1
    assert other.clarity(1) > AS_CLEAR * found.clarity(2)
    assert decided(monkeypatch, found, other) is found


def test_clusters_that_the_density_shows_are_looked_for_on_the_path_too(monkeypatch):
    """A boundary below the level stands where valleys have shown that there are clusters."""
    linkage = tree(0.9, 0.0).linkage
    faint = Boundaries(linkage, "tension", beside=0.8)
    assert (faint.count, faint.with_structure(True).count) == (1, 2)
    assert decided(monkeypatch, tree(1.2, 0.8), faint) is None
    assert decided(monkeypatch, tree(1.2, 0.8), Boundaries(linkage, "tension", 0.95)) is not None


def test_told_a_number_the_clusters_of_that_number_are_compared(monkeypatch):
    """By how clearly they stand out, or by their faintest boundary."""
    found = tree(9.0, 0.8, 0.4)  # three clusters stand out by a ratio of two, two by more
    for share, path in ((1.02, True), (0.98, False)):
        third = 0.79  # fainter than that of the valleys
        other = tree(9.0, third, third / (share * AS_CLEAR * 2.0), turned=True)
        assert (decided(monkeypatch, found, other, k=3) is None) == path
    for third, path in ((0.81, True), (0.79, False)):  # as clear as nothing
        other = tree(9.0, third, third, turned=True)
        assert (decided(monkeypatch, found, other, k=3) is None) == path
    # no more of a path are compared than were told, though it shows four clusters clearly
    other = tree(9.0, 0.79, 0.78, 0.0, turned=True)
    assert decided(monkeypatch, tree(9.0, 0.8, 0.4, 0.3), other, k=3) is not None


@pytest.mark.parametrize("k", [None, 3])
def test_gaps_part_the_valleys_that_are_followed_and_do_not_decide(monkeypatch, k):
    """They part the tension of a path likewise, once that has decided."""
    high = tree(9.0, 8.0, 7.0, turned=True)

    def beside(boundaries):
        given.append(boundaries)
        return high

    points, settings = points_of(boxes(40), n_clusters=k)
    space = measure_space(points, None, settings)
    found = tree(9.0, 0.8, 0.4)
    seen = Seen(found, SimpleNamespace(beside=beside), structure=True)
    monkeypatch.setattr(choice, "run_path", lambda *_: Path(steps=9, scale=1.0))
    for other, followed in ((tree(0.3, 0.2, 0.2), True), (tree(99.0, 98.0, 0.1), False)):
        given = []
        monkeypatch.setattr(choice, "tension_of", lambda *_, other=other: other)
        valleys = clearer(points, None, space, seen, settings).valleys
        assert (valleys is high, valleys is None) == (followed, not followed)
        assert all(boundaries is found for boundaries in given)


def test_equal_rows_that_a_graph_pulls_apart_are_joined_with_their_clusters():
    """Rows 0 and 1 are equal, so that clusters 0 and 1 are one, with row 4; 2 stays."""
    X = np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 3.0], [5.0, 5.0], [6.0, 5.0]])
    points = SimpleNamespace(X=X, coarse=False)
    graph = SimpleNamespace(merges_equal_rows=False)
    apart = Selection(np.array([0, 1, 2, 2, 1]), 3, 1.0, tree(0.3, 0.2, 0.1, 0.0).linkage, "given")
    joined = with_copies(apart, points, graph)
    assert (joined.labels.tolist(), joined.n_clusters) == ([0, 0, 1, 1, 0], 2)
    together = Selection(np.array([0, 0, 1, 1, 2]), 3, 1.0, apart.linkage, "given")
    assert with_copies(together, points, graph) is together
    for merged, coarse in ((True, False), (False, True)):
        given = SimpleNamespace(X=X, coarse=coarse), SimpleNamespace(merges_equal_rows=merged)
        assert with_copies(apart, *given) is apart


@pytest.mark.parametrize(
    ("given", "sharp"),
    [
        ({"gamma": 1.0}, True),
        ({"gamma": 1.0, "labels": "fusion"}, True),
        ({"gamma": 1.0, "n_clusters": 3}, False),
        ({"gamma": 1.0, "labels": "agglomerative"}, False),
        ({"gamma": 1.0, "certify": False}, False),
        ({"gamma": [1.0, 2.0]}, False),
        ({}, False),
    ],
)
def test_a_gamma_that_is_given_is_solved_as_sharply_as_a_proof_needs(given, sharp):
    assert tightened(Settings(**given)) == sharp
