"""The scoring of the benchmarks on labellings whose scores are known, and the kept figures."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.kept import Kept
from benchmarks.scoring import (
    Score,
    best,
    join_nearest,
    score,
    share_changed,
    told_k,
    told_nothing,
)

PAIRS = np.array([1, 1, 2, 2, 3, 3])
HALVES = np.array([1, 1, 1, 2, 2, 2])


def test_names_of_clusters_do_not_matter():
    found = score(PAIRS, np.array([7, 7, 0, 0, 4, 4]))
    assert found == Score(1.0, 1.0, 3, 3)
    assert found.exact


def test_the_adjusted_rand_index_of_a_small_table():
    # Table [[2, 0], [1, 1], [0, 2]]: 2 pairs together in both, 3 and 6 in each, 15 in all:
    # (2 − 3·6/15) / ((3 + 6)/2 − 3·6/15) = 0.8/3.3.
    found = score(PAIRS, HALVES - 1)
    assert found.ari == pytest.approx(0.8 / 3.3)
    assert (found.k, found.classes, found.exact) == (2, 3, False)


def test_one_cluster_scores_nothing():
    assert score(PAIRS, np.zeros(6, dtype=int)).ari == 0.0
    assert score(PAIRS, np.zeros(6, dtype=int)).ami == pytest.approx(0.0)


def test_noise_of_the_reference_is_not_scored():
    reference = np.array([1, 1, 2, 2, 0, 0])
    assert score(reference, np.array([0, 0, 1, 1, 0, 1])) == Score(1.0, 1.0, 2, 2)
    # … but a cluster of noise alone is a cluster too many.
    assert score(reference, np.array([0, 0, 1, 1, 2, 2])) == Score(1.0, 1.0, 3, 2)


def test_noise_of_a_method_is_a_group_and_no_cluster():
    found = score(PAIRS, np.array([0, 0, 1, 1, -1, -1]))
    assert (found.ari, found.k) == (1.0, 2)
    one = score(PAIRS, np.array([0, 0, 1, 1, -1, 2]))
    assert (one.k, one.ari < 1) == (3, True)


def test_the_best_labelling_counts():
    found = told_nothing([PAIRS, HALVES], HALVES)
    assert found == Score(1.0, 1.0, 2, 2)
    assert told_nothing([PAIRS], HALVES).ari < 1


def test_each_score_is_the_greatest_and_k_is_that_of_the_greatest_ari():
    found = best([Score(0.5, 0.9, 4, 3), Score(0.7, 0.2, 4, 4)])
    assert found == Score(0.7, 0.9, 4, 4)
    # Of two labellings that fit equally well, the one with as many classes as were found.
    assert best([Score(0.7, 0.2, 4, 3), Score(0.7, 0.2, 4, 4)]).exact


def test_told_k_is_asked_once_for_each_number_of_classes():
    asked = []

    def answer(k):
        asked.append(k)
        return {2: np.array([0, 0, 0, 0, 0, 1]), 3: PAIRS}[k]

    others = np.array([1, 2, 3, 1, 2, 3])
    assert told_k([HALVES, PAIRS, others], answer).ari == 1.0
    assert asked == [2, 3]


def test_told_k_scores_an_answer_only_against_labellings_of_its_k():
    # The answer for 2 is the labelling with 3 classes: that is not what was asked.
    swapped = {2: PAIRS, 3: HALVES}
    assert told_k([HALVES, PAIRS], swapped.__getitem__).ari == pytest.approx(0.8 / 3.3)


def test_noise_joins_the_nearest_cluster():
    X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.5]])
    labels = np.array([0, 0, -1, -1, 1, -1])
    assert join_nearest(X, labels).tolist() == [0, 0, 0, 1, 1, 1]
    assert labels.tolist() == [0, 0, -1, -1, 1, -1]  # what was given is left as it was
    assert join_nearest(X, np.full(6, -1)).tolist() == [0] * 6


def test_share_of_samples_that_change():
    before = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    assert share_changed(before, 1 - before) == 0.0
    assert share_changed(before, np.array([0, 0, 0, 1, 1, 1, 1, 1])) == 1 / 8
    # A cluster that falls in two keeps its greater part; two that join keep one of them.
    assert share_changed(before, np.array([0, 0, 0, 2, 1, 1, 1, 1])) == 1 / 8
    assert share_changed(before, np.zeros(8, dtype=int)) == 1 / 2


def test_kept_figures_are_not_computed_again(tmp_path):
    file = tmp_path / "some" / "figures.jsonl"
    assert Kept(file).get("a", lambda: {"ari": 1.0}) == {"ari": 1.0}

    def again():
        raise AssertionError("computed again")

    assert Kept(file).get("a", again) == {"ari": 1.0}
    with file.open("a", encoding="utf-8") as lines:
        lines.write('{"key": "b", "fig')  # a run that was stopped while it wrote
    stopped = Kept(file)
    assert stopped.known == {"a": {"ari": 1.0}}
    stopped.get("b", lambda: {"ari": 0.5})
    assert Kept(file).known == {"a": {"ari": 1.0}, "b": {"ari": 0.5}}
