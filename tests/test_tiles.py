"""Neighbours by tiles are those of all distances, in order, ties by number."""

import numpy as np
import pytest
from scipy.spatial import KDTree
from scipy.spatial.distance import cdist

from convexcluster.weights import neighbors
from convexcluster.weights.landscape import Landscape, n_around
from convexcluster.weights.neighbors import Nearest
from convexcluster.weights.search import TILED, Around, Search
from convexcluster.weights.tiles import Tiles, along_curve, boxes


def clouds(kind: str, n: int, d: int) -> np.ndarray:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, d))
    if kind == "far":  # a hundredth of the points is far away, in all directions
        X[::100] = rng.standard_cauchy((len(X[::100]), d)) * 1e6
    elif kind == "dense":  # half of the points are a billion times as close
        X[: n // 2] *= 1e-9
    elif kind == "lattice":
        X = np.rint(4 * X)
        X = np.unique(X, axis=0)
    elif kind == "line":
        X[:, 1:] = 0.0
    elif kind == "decades":  # rows that stand in turn are at scales far apart
        X = 10.0 ** rng.uniform(-60, 60, size=(n, d))
    return X


def by_all_distances(X: np.ndarray, rows: np.ndarray, k: int):
    """The twin: all squared distances as sums over features, sorted by distance, then number."""
    square = np.zeros((len(rows), len(X)))
    for q in range(X.shape[1]):
        square += (X[:, q] - X[rows, q][:, None]) ** 2
    order = np.lexsort((np.broadcast_to(np.arange(len(X)), square.shape), square), axis=1)[:, :k]
    return np.sqrt(np.take_along_axis(square, order, axis=1)), order


@pytest.mark.parametrize("kind", ["cloud", "far", "dense", "lattice", "line", "decades"])
@pytest.mark.parametrize("d", [1, 2, 3])
def test_neighbours_are_those_of_all_distances(kind, d):
    X = clouds(kind, 700, d)
    tiles, rows = Tiles.of(X), np.arange(len(X))
    for k in (1, 2, 11, min(130, len(X)), len(X)):
        for some in (rows, rows[::-3], rows[:1]):
            length, found = tiles.nearest(some, k)
            want, order = by_all_distances(X, some, k)
            assert (length == want).all()
            assert (found == order).all()


def test_copies_and_equal_points_are_found():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0]], 40, axis=0)
    length, found = Tiles.of(X).nearest(np.array([0, 79]), 80)
    assert (length[0] == np.repeat([0.0, 1.0], 40)).all()
    assert (found[0] == np.arange(80)).all()
    assert (found[1] == np.r_[40:80, 0:40]).all()


def test_numbers_of_any_size_are_compared():
    X = np.random.default_rng(0).normal(size=(300, 2))
    wanted = Tiles.of(X).nearest(np.arange(300), 20)
    for power in (-500, 300):  # squares of 2^-1000 and of 2^600
        length, found = Tiles.of(np.ldexp(X, power)).nearest(np.arange(300), 20)
        assert (found == wanted[1]).all()
        assert (length == np.ldexp(wanted[0], power)).all()


def test_threads_and_pieces_change_nothing():
    X = clouds("far", 20_000, 2)
    rows = np.arange(len(X))
    alone, beside = (Tiles.of(X).nearest(rows, 30, jobs) for jobs in (1, 2))
    for one, other in zip(alone, beside):
        assert (one == other).all()
    tree = KDTree(X).query(X, 30)
    assert (alone[0] == tree[0]).all()


def test_the_curve_visits_every_point_and_goes_to_a_neighbour():
    side = 16
    X = np.array(np.meshgrid(range(side), range(side), indexing="ij")).reshape(2, -1).T
    X = X + 1e-3 * np.arange(side * side)[:, None] / side**2  # no two coordinates tie
    order = along_curve(X.astype(float))
    assert (np.sort(order) == np.arange(side * side)).all()
    cells = np.rint(X[order]).astype(int)
    assert (np.abs(np.diff(cells, axis=0)).sum(axis=1) == 1).all()


@pytest.mark.parametrize("kind", ["cloud", "far", "decades"])
def test_of_many_points_those_of_a_tree_are_found(kind):
    X = clouds(kind, 6_000, 2)
    length, _ = Tiles.of(X).nearest(np.arange(6_000), 9)
    assert (length == KDTree(X).query(X, 9)[0]).all()


def test_boxes_hold_their_points():
    P = np.random.default_rng(1).normal(size=(3, 50))
    low, high = boxes(P, 16)
    for t in range(4):
        assert (low[t] == P[:, 16 * t : 16 * t + 16].min(axis=1)).all()
        assert (high[t] == P[:, 16 * t : 16 * t + 16].max(axis=1)).all()


def test_few_points_plant_a_tree_and_many_lay_tiles():
    X = clouds("cloud", TILED + 1, 2)
    assert isinstance(Search.of(X).tree, Tiles)
    assert isinstance(Search.of(X[:TILED]).tree, KDTree)
    assert isinstance(Search.of(clouds("cloud", TILED + 1, 4)).tree, KDTree)
    assert Search.of(cdist(X, X), "precomputed").tree is None


@pytest.mark.parametrize("n", [400, 1_500])
def test_neighbours_of_the_graph_are_the_first_of_many(n):
    X = clouds("cloud", n, 2)
    near, few = Nearest.of(X, 10, many=n_around(n)), Nearest.of(X, 10)
    assert near.around is not None
    assert few.around is None
    assert (near.index == few.index).all()
    assert (near.length == few.length).all()
    assert (near.around.index[:, :21] == near.index).all()


def test_a_fit_searches_once(monkeypatch):
    """The graph and the density of a fit of the plane take their neighbours from one search."""
    from convexcluster import KernelConvexClustering

    calls, of = [], Around.of.__func__

    def counted(cls, *args, **options):
        calls.append(args)
        return of(cls, *args, **options)

    monkeypatch.setattr(Around, "of", classmethod(counted))
    monkeypatch.setattr(neighbors, "nearest_neighbors", None)
    X = clouds("cloud", 300, 2) + np.repeat([[0, 0], [9, 0]], 150, axis=0)
    assert KernelConvexClustering().fit(X).n_clusters_ == 2
    assert len(calls) == 1


def test_a_landscape_of_known_neighbours_is_that_of_its_own():
    X = clouds("cloud", 500, 2)
    around = Around.of(X, n_around(500))
    given, own = Landscape.of(X, np.ones(500), around=around), Landscape.of(X, np.ones(500))
    assert (given.near == own.near).all()
    assert (given.lengths == own.lengths).all()
