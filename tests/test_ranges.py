"""Where a range of γ ends, and by which words: the search by itself, and on small problems."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from convexcluster.certificate import ranges, recovery
from convexcluster.certificate.ranges import FACTOR, NEAR, STATES, TIGHT, TRIED, _Search
from convexcluster.partition import fused
from convexcluster.solvers import solve_problem
from test_recovery import CHAIN, clusters

SHARP = partial(solve_problem, tol=1e-11)


class Known(_Search):
    """A search that is told at which γ labels hold, from ``low`` up to ``high``."""

    def __init__(self, low, high, need=(0.0, np.inf), enough=None, reach=0.1):
        self.low, self.high, self.need, self.enough = low, high, need, enough
        self.asked, self.size, self.solve, self.first = [], reach, None, 0
        self.proof = SimpleNamespace(pairs=np.array([[0, 1], [1, 2]]), pull=np.array([1.0, 9.0]))

    def holds(self, gamma, corrected=True):
        self.asked.append(gamma)
        return self.need[0] <= gamma < self.need[1] and self.low <= gamma < self.high

    def state(self, gamma):
        apart = np.array([0.3, 0.9])  # in units of the pull the second pair is nearer
        return SimpleNamespace(apart=apart, gamma=gamma) if gamma < self.high else None

    def _named(self, t):
        return (7, 4, 5)[t]


class Told(_Search):
    """A search that is told which clusters are whole, and at which γ the reduced ones are apart."""

    def __init__(self, whole, need, enough):
        self.proof, self.whole, self.asked = SimpleNamespace(k=len(whole)), whole, []
        self.need, self.enough, self.first = need, enough, 2

    def state(self, gamma):
        return None if gamma == 5.0 else SimpleNamespace(gamma=gamma)

    def _whole(self, t, state, corrected):
        self.asked.append(t)
        return self.whole[t]


def test_labels_hold_at_a_gamma_if_every_cluster_does():
    """Between the necessary ends; the cluster that failed last is asked first."""
    search = Told([True, True, True], (1.0, 9.0), (2.0, 3.0))
    assert search.holds(2.0)
    assert search.asked == []  # that is known
    assert [search.holds(gamma) for gamma in (1.0, 3.0, 8.9)] == [True, True, True]
    assert search.asked == [2, 0, 1] * 3
    assert not any(search.holds(gamma) for gamma in (0.9, 9.0, 5.0))
    search = Told([True, False, True], (1.0, 9.0), None)
    assert not search.holds(4.0)
    assert not search.holds(4.0)
    assert search.asked == [2, 0, 1, 1]


def test_without_a_sufficient_range_labels_are_tried_between_the_necessary_ends():
    search = Known(np.inf, np.inf, (2.0, 500.0))
    assert search.start(None) is None
    inside = np.geomspace(2.0, 500.0, TRIED + 2)[1:-1]
    np.testing.assert_allclose(search.asked, inside, rtol=1e-12)
    assert Known(3.0, 7.0, (2.0, 500.0)).start(6.0) == 6.0
    first = Known(3.0, 7.0, (2.0, 500.0)).start(8.0)
    assert first == pytest.approx(inside[inside >= 3.0][0], rel=1e-12)


@pytest.mark.parametrize("rel", [1e-2, 1e-6])
@pytest.mark.parametrize("need", [(0.0, np.inf), (0.5, 40.0), (2.0, 7.0)])
def test_an_end_is_bisected_to_the_width_that_was_asked_for(rel, need):
    for side, end in ((0, 2.0), (1, 7.0)):
        found = Known(2.0, 7.0, need).end(3.0, side, rel)
        assert 2.0 <= found < 7.0
        assert abs(np.log(found / end)) <= rel


@pytest.mark.parametrize("enough", [None, (1.5, 4.0)])
def test_what_holds_at_every_gamma_has_no_end(enough):
    assert Known(0.0, np.inf, enough=enough).end(2.0, 1, 1e-3) == np.inf
    assert Known(0.0, np.inf, enough=enough).end(2.0, 0, 1e-3) == 0.0
    assert Known(0.0, np.inf, enough=(1.0, np.inf)).end(2.0, 1, 1e-3) == np.inf


def test_a_search_for_an_end_begins_at_that_of_the_sufficient_range():
    """Where the start lies in it; both ends of the range belong to what is known already."""
    for start in (1.0, 2.0):  # closed below
        search = Known(0.5, 7.0, (0.1, 9.0), enough=(1.0, 4.0))
        assert search.end(start, 1, 1e-3) == pytest.approx(7.0, rel=1e-3)
        assert min(search.asked) > 4.0
    outside = Known(0.5, 7.0, enough=(1.0, 4.0))
    outside.end(4.0, 1, 1e-3)  # open above
    assert outside.asked[0] == 4.0 * FACTOR


def test_the_pair_that_keeps_gamma_from_being_larger_is_the_one_that_meets():
    """The least distance in units of √(1/m_s + 1/m_t); or a cluster that is not proved."""
    assert Known(2.0, 7.0).above(7.0, 1e-3) == "; above: the clusters of samples 4 and 5 meet"
    for last in (0.0, np.inf):
        assert Known(2.0, 7.0).above(last, 1e-3) == ""
    # they are apart a hundredth further up: it is the proof that ends
    loose = "the cluster of sample 7 is not proved to be whole"
    assert Known(2.0, 7.0).above(6.9, 1e-3) == f"; above 6.9 {loose}"


@pytest.mark.parametrize("enough", [None, (2.5, 3.5)])
def test_the_inside_is_covered_up_to_the_goals_and_not_far_beyond(enough, monkeypatch):
    """Steps of a state's reach lead from the start, or the range there is, to either goal."""
    monkeypatch.setattr("convexcluster.certificate.ranges.reach", lambda *_: 0.1)
    low, high = Known(1.0, 9.0, enough=enough).cover(3.0, 1.2, 7.5)
    assert 1.2 * 0.9 <= low <= 1.2
    assert 7.5 <= high <= 7.5 * 1.1
    # no reach at all, and states that end, leave what there was
    monkeypatch.setattr("convexcluster.certificate.ranges.reach", lambda *_: 0.0)
    assert Known(1.0, 9.0, enough=enough).cover(3.0, 1.2, 7.5) == enough
    monkeypatch.setattr("convexcluster.certificate.ranges.reach", lambda *_: 1e-3)
    low, high = Known(1.0, 9.0, enough=enough).cover(3.0, 1.2, 7.5)
    begin = (3.0, 3.0) if enough is None else enough
    assert high == pytest.approx(begin[1] * (1.0 + 0.999e-3) ** STATES, rel=1e-9)
    assert low == pytest.approx(begin[0] * (1.0 - 0.999e-3) ** STATES, rel=1e-9)


@pytest.mark.parametrize("seed", [2, 3, 4, 6])
def test_the_words_at_either_end_are_those_of_what_happens_there(seed):
    problem, truth, _ = clusters(seed)
    found = recovery(problem, truth, solve=SHARP)
    below, _, above = found.blocking.partition("; above")
    loose = found.gamma_low > (1.0 + TIGHT) * found.necessary[0]
    assert below.endswith("is not proved to be whole") == loose
    assert below.startswith("a cut: ")
    # Just beyond the upper end the first samples that the words name are in one cluster.
    joined = fused(SHARP(problem.at(found.gamma_high * (1.0 + 3e-3))).A, problem.edges)
    a, b = (int(word) for word in above.split() if word.isdigit())
    assert truth[a] != truth[b]
    assert joined[a] == joined[b]


@pytest.mark.parametrize("inside", [False, True])
def test_the_range_is_found_without_a_sufficient_one(inside, monkeypatch):
    """At one γ after another: its ends are those of the closed form, to the width of the search."""
    monkeypatch.setattr(ranges, "interval", lambda proof: (np.inf, 0.0))
    found = recovery(CHAIN, [0, 0, 1], rel=0.02, inside=inside)
    low, high = (1.0, 17 / 3) if not inside else (found.gamma_low, found.gamma_high)
    assert found.sufficient == ((low, high) if inside else None)
    assert found.status == ("proved throughout" if inside else "certified at both ends")
    assert found.gamma_low == pytest.approx(1.0, rel=0.04)
    assert found.gamma_high == pytest.approx(17 / 3, rel=0.04)


def test_ends_alone_are_claimed_unless_the_inside_is_covered():
    """The ends of CHAIN are those of its sufficient range; of other problems they lie beyond it."""
    assert recovery(CHAIN, [0, 0, 1]).status == "proved throughout"
    problem, truth, _ = clusters(11)
    ends, inside = (recovery(problem, truth, rel=0.01, inside=cover) for cover in (False, True))
    assert ends.status == "certified at both ends"
    assert ends.gamma_low < ends.sufficient[0] * (1.0 - 1e-2)
    assert inside.status == "proved throughout"
    assert (inside.gamma_low, inside.gamma_high) == inside.sufficient
    assert inside.gamma_low <= ends.gamma_low * (1.0 + NEAR)
    assert inside.gamma_high >= ends.gamma_high * (1.0 - NEAR)
