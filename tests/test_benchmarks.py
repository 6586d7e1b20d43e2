"""The scoring of the benchmarks on labellings whose scores are known, and the kept figures."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks import cells, series
from benchmarks.kept import Kept
from benchmarks.scenes.data import KINDS, make
from benchmarks.scenes.shapes import band, box, placed
from benchmarks.scoring import (
    Score,
    best,
    join_nearest,
    score,
    share_changed,
    told_k,
    told_nothing,
)
from benchmarks.stability.cases import ALL, SHORT, cases
from benchmarks.stability.changes import CHANGES, NEW
from benchmarks.stability.data import (
    APART,
    LEAST,
    TOYS,
    large_enough,
    shares,
    spread_centres,
    with_background,
)
from benchmarks.stability.page import page
from benchmarks.suite.__main__ import read
from scipy.spatial.distance import cdist

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


def test_many_features_are_standardised_and_few_are_not(tmp_path):
    X = np.random.default_rng(0).normal(size=(20, 5)) * [1.0, 1e3, 1e-3, 0.0, 1.0]
    for d in (3, 5):
        np.savez(tmp_path / f"a.b{d}.npz", X=X[:, :d], y0=np.repeat([0, 1], 10), y1=np.ones(20))
    few, many = read(tmp_path / "a.b3.npz"), read(tmp_path / "a.b5.npz")
    assert np.array_equal(few.X, X[:, :3])
    assert many.X.shape == (20, 4)
    np.testing.assert_allclose(many.X.std(axis=0), 1.0)
    assert np.array_equal(read(tmp_path / "a.b5.npz", raw=True).X, X)
    assert [len(reference) for reference in few.references] == [20, 20]
    assert few.digest != many.digest


def test_sizes_of_groups_are_in_proportion():
    assert shares(2_040, 100, 1, 1).tolist() == [2_000, 20, 20]
    assert shares(10, 1, 1, 1).sum() == 10


@pytest.mark.parametrize(("k", "d"), [(31, 2), (31, 10), (3, 2)])
def test_separable_groups_are_apart(k, d):
    centres = spread_centres(k, d, np.random.default_rng(0))
    distances = np.linalg.norm(centres[:, None] - centres[None], axis=2)
    assert distances[~np.eye(k, dtype=bool)].min() >= APART


def test_background_is_a_share_of_all_samples_and_is_not_scored():
    X, y = with_background(TOYS["moons"].make, 0.2, 500, 0)
    assert len(X) == 500
    assert np.bincount(y).tolist() == [100, 200, 200]


@pytest.mark.parametrize("name", TOYS)
def test_toys_have_as_many_samples_as_asked_and_depend_on_the_seed(name):
    X, y = TOYS[name].make(2_000, 1)
    assert len(X) == len(y) == 2_000
    assert large_enough(y)
    assert np.array_equal(X, TOYS[name].make(2_000, 1)[0])
    assert not np.array_equal(X, TOYS[name].make(2_000, 2)[0])


def test_small_groups_are_not_asked_for():
    assert not large_enough(np.repeat([1, 2], [100, LEAST - 1]))
    asked = {(case.what, case.n) for case in cases(SHORT)}
    assert ("sizes 100:1", 2_000) in asked
    assert ("sizes 100:1", 1_000) not in asked
    assert ("blobs 31 × 2", 300) not in asked


def test_every_case_has_a_key_of_its_own():
    for plan in (SHORT, ALL):
        keys = [case.key for case in cases(plan)]
        assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("d", [1, 3])
@pytest.mark.parametrize("name", CHANGES)
def test_changes_are_harmless(name, d):
    # Distances between rows are those before the change, to the rounding that the change names.
    X = np.random.default_rng(0).normal(size=(40, d)).astype(np.float32).astype(np.float64)
    new = CHANGES[name](X, np.random.default_rng(1))
    old = new.rows != NEW
    before, after = X[new.rows[old]], np.asarray(new.X, dtype=np.float64)[old]
    scale = 1024.0 if name.startswith("times") else 1.0
    between = [np.linalg.norm(Y[:, None] - Y[None], axis=2) for Y in (scale * before, after)]
    rounding = 2 * 0.0005 * np.sqrt(d) if "digits" in name else 1e-13 * scale
    assert np.abs(between[0] - between[1]).max() <= rounding
    assert set(new.rows[old]) == set(range(40))


def test_a_page_counts_what_is_right():
    case = next(cases(SHORT))
    good = {"k": 2, "classes": 2, "ari": 1.0, "ami": 1.0, "verdict": "structure"}
    good |= {"confidence": 0.95, "interval": False, "whole": True}
    rows = [(case, good), (case, good | {"k": 3, "confidence": 0.5, "interval": True})]
    text = page([*rows, (case, {"failed": "ValueError: no"})], "header")
    assert "| separable groups | 1 of 3 (33.3%) |" in text
    assert "| ARI ≥ 0.9: confidence ≥ 0.9 | 1 of 2 (50.0%) |" in text
    assert "| right: proved for an interval of γ | 0 of 1 (0.0%) |" in text
    assert "| right: proved at least at one γ | 1 of 1 (100.0%) |" in text
    assert "ValueError: no" in text


def test_series_and_strings():
    assert series.edits("kitten", "sitting") == 3
    words, y = series.edited(np.random.default_rng(0))
    stems = series.STEMS.split()
    assert len(words) == len(y) == series.EACH * len(stems)
    assert max(series.edits(w, stems[t]) for w, t in zip(words, y)) <= series.EDITS
    X, doubled = series.twice(np.zeros((3, 24)), np.arange(3), np.random.default_rng(0))
    assert X.shape == (6, 24)
    assert doubled.tolist() == [0, 1, 2, 0, 1, 2]


def test_medoids_of_copies():
    places = np.repeat([0.0, 0.0, 9.0], 4)  # more medoids than places may be drawn
    labels = series.k_medoids(np.abs(places[:, None] - places), 3)
    assert len(set(zip(labels.tolist(), places.tolist()))) == 2


@pytest.mark.parametrize("part", [series.BENCHMARK, cells.BENCHMARK])
def test_pages_name_what_made_them(part):
    text = part.page([["x"] * len(part.columns)])
    assert f"`{part.command}` writes" in " ".join(text.split())
    head, ruler, row = text.splitlines()[-3:]
    assert head.count("|") == ruler.count("|") == row.count("|") == len(part.columns) + 1


@pytest.mark.parametrize("kind", KINDS)
def test_a_scene_is_what_its_seed_says(kind):
    """Groups of 15 samples and more, the same rows again, other rows of another seed."""
    X, y = make(kind, 3, 150, 600)
    again, other = make(kind, 3, 150, 600)[0], make(kind, 4, 150, 600)[0]
    assert len(X) == len(y)
    assert np.isfinite(X).all()
    assert X.shape[1] in (2, 3)
    sizes = np.bincount(y)[1:]
    assert len(sizes) >= 2
    assert sizes.min() >= 15
    assert (again == X).all()
    assert not np.array_equal(X, other)


def test_shapes_are_placed_as_far_apart_as_asked():
    rng = np.random.default_rng(0)
    shapes = [box(1, 1), band(0.0, 1.0), box(2, 0.5)]
    at = placed(rng, shapes, 0.5)
    parts = [shape(rng, 400) + place for shape, place in zip(shapes, at)]
    for first, second in [(0, 1), (0, 2), (1, 2)]:
        # outlines are samples of the shapes, which reach a little further
        assert cdist(parts[first], parts[second]).min() > 0.25
