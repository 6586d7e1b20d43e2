"""The stages of a fit, each by itself: what it reads of the settings, the masses and the points."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from convexcluster import ConvexClustering, KernelConvexClustering
from convexcluster.rows import array_rows
from convexcluster.selection.tension import LEAST
from convexcluster.settings import Settings
from convexcluster.stages import space as stage
from convexcluster.stages.choice import in_rows, see
from convexcluster.stages.error import BEARABLE, BEARABLE_OF_LOST, is_bearable
from convexcluster.stages.penalty import make_vote, weigh
from convexcluster.stages.points import distinct_points, graph_of_rows, make_points
from convexcluster.stages.space import fetch, measure_space, put_away, space_of
from convexcluster.weights import automatic_graph, automatic_nearest


def rows_of(X, masses=None):
    return array_rows(X, np.ones(len(X)) if masses is None else np.asarray(masses, float))


def points_of(X, masses=None, **settings):
    given = Settings(**settings)
    return distinct_points(rows_of(X, masses), given), given


def boxes(n=60, d=2, seed=0):
    return np.random.default_rng(seed).uniform(size=(n, d))


@pytest.mark.parametrize(
    ("masses", "size", "one"),
    [
        ([1, 1, 4], None, 1.0),
        ([2, 2, 2], None, 2.0),
        ([3, 5, 4], None, 3.0),
        ([0.5, 0.5, 0.5], None, 0.5),
        ([0.25, 1.0, 0.25], None, 0.5),
        ([2, 2, 4], 6, 2.0),
    ],
)
def test_the_mass_of_one_row(masses, size, one):
    mass, least = in_rows(
        SimpleNamespace(masses=np.array(masses, float)), Settings(min_cluster_size=size)
    )
    assert mass == one
    assert least == (LEAST if size is None else size / max(one, 1.0))


@pytest.mark.parametrize("scale", [0.3, 7.0])
@pytest.mark.parametrize("lost", [0.0, 0.2, 9.0])
def test_a_coarsening_error_is_bearable_up_to_the_greater_of_two_shares(scale, lost):
    points = SimpleNamespace(scale=scale, embedding=SimpleNamespace(trace_error=lost))
    most = max(BEARABLE * 2.0 * scale, BEARABLE_OF_LOST * lost)
    for share, answer in ((0.99, True), (1.01, False)):
        assert is_bearable(SimpleNamespace(total=np.sqrt(share * most)), points) == answer
    points.scale = points.embedding.trace_error = 0.0
    assert is_bearable(SimpleNamespace(total=0.0), points)


def test_distinct_rows_have_the_masses_that_were_given():
    X = np.array([[0.0, 1.0], [2.0, 0.0], [0.0, 1.0], [3.0, 3.0]])
    points, _ = points_of(X, [1.0, 2.0, 4.0, 0.5])
    np.testing.assert_array_equal(points.masses[points.index], [5.0, 2.0, 5.0, 0.5])
    np.testing.assert_array_equal(points.X[points.index], X)
    everyone = distinct_points(replace(rows_of(X), masses=None), Settings())
    np.testing.assert_array_equal(everyone.masses[everyone.index], [2.0, 1.0, 2.0, 1.0])


def test_threads_change_nothing():
    X = np.concatenate([boxes(700), boxes(800) + 1.5])
    one, two = (KernelConvexClustering(n_jobs=jobs).fit(X) for jobs in (1, 2))
    for name in ("labels_", "gamma_", "centroids_", "dual_coef_", "linkage_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))
    assert one.certificate_.statement == two.certificate_.statement
    assert one.certificate_.gamma_interval == two.certificate_.gamma_interval


@pytest.mark.parametrize("space", ["input", "embedding"])
@pytest.mark.parametrize("d", [2, 5])
def test_neighbours_are_looked_for_where_the_graph_measures(space, d):
    """Found once, or each time anew by whoever asks: graph and vote are the same."""
    points, given = points_of(boxes(d=d), weight_space=space)
    placed = space == "embedding"
    where = points.Z if placed else points.X
    found = measure_space(points, None, given)
    nearest, few = found.nearest, not placed and d == 2
    metric = "euclidean" if placed else "auto"
    expected = automatic_nearest(where, given.n_neighbors, metric, few)
    np.testing.assert_array_equal(nearest.index, expected.index)
    np.testing.assert_array_equal(nearest.length, expected.length)
    graph = weigh(found, points.masses, given, distinct=True)
    options = {"n_neighbors": given.n_neighbors, "masses": points.masses}
    plain = automatic_graph(where, **options, metric=metric, few=few)
    np.testing.assert_array_equal(graph.edges, plain.edges)
    np.testing.assert_array_equal(graph.weights, plain.weights)
    labels = np.arange(len(points)) % 3
    votes = [make_vote(points, labels, given, replace(found, nearest=n)) for n in (nearest, None)]
    np.testing.assert_array_equal(votes[0].scales, votes[1].scales)
    new = boxes(20, d, seed=1)
    np.testing.assert_array_equal(votes[0].shares(new), votes[1].shares(new))


def test_no_neighbours_are_kept_for_a_graph_of_the_user():
    points, given = points_of(boxes(), weights="local")
    assert measure_space(points, None, given).nearest is None
    points, given = points_of(boxes())
    own = weigh(space_of(points.X, given), points.masses, given)
    assert measure_space(points, own, given).nearest is None


@pytest.mark.parametrize("metric", ["manhattan", "euclidean", "chebyshev"])
@pytest.mark.parametrize("d", [2, 5])
def test_graph_and_vote_measure_by_the_metric_that_is_given(metric, d):
    """Of two groups of columns, one that another metric would not count like this one."""
    X = boxes(80, d, seed=3)
    points, given = points_of(X, metric=metric)
    space = measure_space(points, None, given)
    graph = weigh(space, points.masses, given)
    order = {"manhattan": 1, "euclidean": 2, "chebyshev": np.inf}[metric]
    D = np.linalg.norm(points.X[:, None] - points.X[None], order, axis=2)
    away = np.argsort(np.argsort(D, axis=1), axis=1)
    i, j = graph.edges.T
    first = np.minimum(away[i, j], away[j, i])
    asked = 10 if d == 2 and metric != "chebyshev" else 7
    assert (first <= asked).mean() > 0.99  # but for edges that join components
    cosine = replace(given, metric="cosine")
    other = weigh(space_of(points.X, cosine), points.masses, cosine)
    assert {*map(tuple, graph.edges)} != {*map(tuple, other.edges)}
    vote = make_vote(points, np.arange(len(points)) % 2, given, space)
    new = boxes(10, d, seed=4)
    D = np.linalg.norm(new[:, None] - points.X[None], order, axis=2)
    near = np.argsort(D, axis=1)[:, : vote.n_neighbors]
    expected = np.zeros((len(new), 2))
    s_x = np.take_along_axis(D, near, axis=1)[:, -1]
    for row in range(len(new)):
        for j in near[row]:
            w = np.exp(-((D[row, j] ** 2 / (s_x[row] * vote.scales[j])) ** 0.75))
            expected[row, vote.labels[j]] += w if D[row, j] <= vote.scales[j] else w / 2
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(vote.shares(new), expected, rtol=1e-9)


def test_rows_in_cells_have_a_graph_of_their_own_where_they_are_few():
    X = boxes(300)
    rows, given = rows_of(X), Settings(coarsen=40)
    points = make_points(rows, given.plan(rows), given)
    found = graph_of_rows(rows, points, given)
    plain = weigh(space_of(X, given), rows.masses, given)
    np.testing.assert_array_equal(found.edges, plain.edges)
    np.testing.assert_array_equal(found.weights, plain.weights)
    masses = np.ones(300)
    masses[7] = 0.0
    for other, settings in [
        (rows_of(X, masses), given),
        (rows_of(boxes(300, 4)), given),
        (rows, replace(given, weight_space="embedding")),
        (rows, replace(given, weights="full")),
    ]:
        own = make_points(other, settings.plan(other), settings)
        assert graph_of_rows(other, own, settings) is None
    assert graph_of_rows(rows, distinct_points(rows, given), given) is None


def test_cells_keep_the_grid_that_is_given():
    X, y = make_moons(300, noise=0.05, random_state=0)
    given = KernelConvexClustering(2, coarsen=60, gamma=[0.5, 2.0, 8.0, 32.0]).fit(X)
    np.testing.assert_array_equal(given.path_.gammas, [0.5, 2.0, 8.0, 32.0])
    free = KernelConvexClustering(2, coarsen=60).fit(X)
    assert len(free.path_) > 10
    assert adjusted_rand_score(y, free.labels_) > 0.95


def test_the_relative_radius_of_cells_counts_what_the_embedding_lost():
    X, _ = make_blobs(300, 2, centers=3, random_state=0)
    model = KernelConvexClustering(3, rank=3, coarsen=30).fit(X)
    points, proof = model.points_, model.certificate_
    lost = model._embedding.trace_error
    spread = 2.0 * points.scale + lost
    assert lost > 0.01 * spread
    assert proof.relative_radius == pytest.approx(proof.radius / np.sqrt(spread), rel=1e-9)


@pytest.mark.parametrize("rank", [3, 20, None])
def test_the_relative_radius_is_a_share_of_the_whole_spread(rank):
    """Of the kernel, with what the embedding lost: Σ k(x, x) − n·k̄."""
    X, _ = make_blobs(60, 2, centers=3, random_state=0)
    model = KernelConvexClustering(3, rank=rank).fit(X)
    K = model.kernel_(X, X)
    spread = np.trace(K) - K.mean() * len(X)
    proof = model.certificate_
    assert proof.relative_radius == pytest.approx(proof.radius / np.sqrt(spread), rel=1e-3)


def test_copies_are_counted_where_a_proof_counts_samples():
    X, _ = make_blobs([30, 20], 2, centers=[[0, 0], [9, 0]], cluster_std=1.5, random_state=1)
    rows = np.r_[0:50, 0:50, 0:5]
    model = KernelConvexClustering(3).fit(X[rows])
    inside = int(model.certificate_.cores.sum())
    assert 0 < inside < 105
    assert f"{inside} of 105 samples lie in the core" in model.certificate_.statement


@pytest.mark.parametrize(
    ("how", "said"),
    [
        ({"gamma": 1.23456789e300}, "gamma=1.23457e+300 is out of proportion"),
        ({"gamma": [1e300, 1.0]}, "gamma=[1e+300, 1.0] is out of proportion"),
    ],
)
def test_a_value_out_of_proportion_is_shown_as_it_was_given(how, said):
    with pytest.raises(ValueError) as error:
        ConvexClustering(**how).fit(boxes() * 1e-300)
    assert said in str(error.value)


@pytest.mark.parametrize("factor", [1e-300, 1e300])
def test_the_graph_has_the_weights_of_ordinary_masses(factor):
    X = boxes()
    for how in ({}, {"weights": "local"}):
        plain = KernelConvexClustering(**how).fit(X).graph_
        model = KernelConvexClustering(**how).fit(X, sample_weight=np.full(60, factor))
        unit = 1.0 if not how else factor
        np.testing.assert_allclose(model.graph_.weights, plain.weights * unit, rtol=1e-9)


def valleys_of(points, given):
    return see(points, None, measure_space(points, None, given), given).valleys


def test_valleys_are_for_few_features_and_for_what_was_asked():
    centers = [[0, 0], [12, 0], [0, 12]]
    X, _ = make_blobs([400, 400, 400], 2, centers=centers, random_state=0)
    points, given = points_of(X, rank=20)
    assert valleys_of(points, given).count == 3
    three = valleys_of(points, replace(given, n_clusters=3))
    assert np.bincount(three.labels(3)).tolist() == [400, 400, 400]
    for how in (
        {"labels": "fusion"},
        {"gamma": 1.0},
        {"weights": "local"},
        {"metric": "manhattan"},
    ):
        assert valleys_of(points, replace(given, **how)) is None
    # as many clusters as no density shows
    assert valleys_of(points, replace(given, n_clusters=60)) is None
    wide, given = points_of(np.random.default_rng(0).normal(size=(300, 5)), rank=20)
    assert valleys_of(wide, given) is None
    # of few samples the path is asked, which shows these as clearly
    for rows in (X[::6], X[:800:8]):
        few, given = points_of(rows)
        assert valleys_of(few, given) is None
    # on a line the density is all that there is
    rng = np.random.default_rng(0)
    for apart, count in ((0.0, 1), (8.0, 2)):
        line = np.concatenate([rng.normal(size=150), rng.normal(size=150) + apart])
        few, given = points_of(line[:, None])
        assert valleys_of(few, given).count == count
    noise, given = points_of(boxes(1200), rank=20)
    assert valleys_of(noise, given) is None


def test_rows_of_weight_zero_are_voted_on_and_not_given_to_the_nearest_row():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 2)) + np.repeat([0.0, 1.8], 120)[:, None]
    weight = (rng.random(240) < 0.5).astype(float)
    model = KernelConvexClustering(2, labels="agglomerative").fit(X, sample_weight=weight)
    out, used = weight == 0, weight > 0
    np.testing.assert_array_equal(model.labels_[out], model.predict(X[out]))
    D = np.linalg.norm(X[out][:, None] - X[used][None], axis=2)
    assert (model.labels_[used][D.argmin(axis=1)] != model.labels_[out]).any()


def test_large_rows_are_put_away_and_come_back_as_they_were(monkeypatch):
    X = boxes(3_000, 5)  # more than an exact embedding takes
    X[::3] = X[1::3]
    X[5, 0] = X[7, 2] = -0.0
    rows = rows_of(X)
    points, settings = points_of(X)
    space = measure_space(points, None, settings)
    assert put_away(points, space, rows) == (points, space)  # too small to be worth it
    monkeypatch.setattr(stage, "LARGE", 0)
    bare, there = put_away(points, space, rows)
    assert bare.X is None
    assert there.X is None
    again, back = fetch(bare, there, rows)
    assert back.X is again.X
    assert again.X.tobytes() == points.X.tobytes()


def test_rows_that_are_needed_stay(monkeypatch):
    monkeypatch.setattr(stage, "LARGE", 0)
    X = boxes(60)
    points, settings = points_of(X)
    space = measure_space(points, None, settings)
    assert points.embedding.basis is points.X
    assert put_away(points, space, rows_of(X))[0] is points
    X, masses = boxes(3_000, 5), np.ones(3_000)
    masses[7] = 0.0  # stood for by another row
    points, settings = points_of(X, masses)
    assert put_away(points, space_of(points.X, settings), rows_of(X, masses))[0] is points


def test_no_stage_misses_rows_that_were_put_away(monkeypatch):
    X = make_blobs(3_000, n_features=5, centers=4, random_state=1)[0]
    known, away = KernelConvexClustering().fit(X), []

    def counted(points, space, rows):
        found = put_away(points, space, rows)
        away.append(found[0].X is None)
        return found

    monkeypatch.setattr(stage, "LARGE", 0)
    monkeypatch.setattr("convexcluster.fit.put_away", counted)
    model = KernelConvexClustering().fit(X)
    assert away
    assert all(away)
    np.testing.assert_array_equal(model.labels_, known.labels_)
    np.testing.assert_array_equal(model.predict(X + 0.1), known.predict(X + 0.1))
    assert model.certificate_.statement == known.certificate_.statement
    for a, b in zip(model.path_.centers, known.path_.centers, strict=True):
        np.testing.assert_array_equal(a, b)
