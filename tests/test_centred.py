"""Rows of very many features, worked on a few columns at a time."""

from __future__ import annotations

import numpy as np
import pytest

from convexcluster import KernelConvexClustering
from convexcluster.embedding import embed
from convexcluster.kernels import formulas, resolve_kernel
from convexcluster.numerics import centred
from convexcluster.numerics.centred import centred_gram, centred_pieces
from convexcluster.points import Points
from convexcluster.points.inner import space_of
from convexcluster.selection.tension import dimension_of

EPS = np.finfo(float).eps


@pytest.fixture
def in_pieces(monkeypatch):
    """Pieces of few columns for rows of any size."""

    def few(columns, rows):
        monkeypatch.setattr(centred, "WHOLE", 0)
        monkeypatch.setattr(formulas, "WHOLE", 0)
        monkeypatch.setattr(centred, "AT_ONCE", columns * rows)

    return few


def rows(n=30, d=100):
    """Three groups of rows far from the origin."""
    rng = np.random.default_rng(0)
    return 50.0 + np.repeat(rng.normal(size=(3, d)), n // 3, axis=0) + rng.normal(size=(n, d)) / 5


def test_pieces_are_the_centred_rows(in_pieces):
    X = rows()
    whole = (X - X.mean(axis=0)) / 3.0
    np.testing.assert_array_equal(np.hstack(list(centred_pieces(X, 3.0))), whole)
    in_pieces(7, len(X))
    pieces = list(centred_pieces(X, 3.0))
    assert [piece.shape[1] for piece in pieces] == [7] * 14 + [2]
    np.testing.assert_array_equal(np.hstack(pieces), whole)


def test_products_in_pieces_are_those_of_the_whole(in_pieces):
    X = rows()
    whole, dimension = centred_gram(X), dimension_of(X)
    in_pieces(7, len(X))
    bound = 4 * EPS * X.shape[1] * whole.max()  # of sums of d products in any order
    assert np.abs(centred_gram(X) - whole).max() <= bound
    assert dimension_of(X) == pytest.approx(dimension, rel=1e-9)


@pytest.mark.parametrize("name", ["rbf", "laplacian"])
def test_kernels_and_their_spaces_in_pieces_are_those_of_the_whole(in_pieces, name):
    X, every = rows(), np.arange(30)
    kernel = resolve_kernel(name, "auto", None, X)
    points = Points(X, np.ones(30), embed(X, kernel), every, True)
    K, space = kernel(X), space_of(points)
    in_pieces(7, len(X))
    again = space_of(points)
    np.testing.assert_allclose(kernel(X), K, rtol=0, atol=space.noise)
    np.testing.assert_allclose(
        again.gram(every, every), space.gram(every, every), rtol=0, atol=space.noise + again.noise
    )


def test_a_fit_in_pieces_has_the_labels_of_the_whole(in_pieces):
    X = rows()
    whole = KernelConvexClustering().fit(X)
    in_pieces(7, len(X))
    found = KernelConvexClustering().fit(X)
    np.testing.assert_array_equal(found.labels_, whole.labels_)
    assert found.gamma_ == pytest.approx(whole.gamma_, rel=1e-9)
    assert found.certificate_.partition == whole.certificate_.partition
