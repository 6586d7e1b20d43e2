"""Compiled passes over edges against their plain NumPy twins."""

import numpy as np
import pytest

from convexcluster.graph import components
from convexcluster.loops.clusters import join
from convexcluster.loops.edges import equal_ends, hessian, means, residual
from convexcluster.partition import means as label_means


def plain_residual(tail, head, c, sigma, mass, Z, Lam, A):
    T = Lam + sigma[:, None] * (A[tail] - A[head])
    norm = np.linalg.norm(T, axis=1)
    scale = np.where(norm > c, c / np.where(norm > 0, norm, 1), 1.0)
    P = scale[:, None] * T
    grad = mass[:, None] * (A - Z)
    np.add.at(grad, tail, P)
    np.subtract.at(grad, head, P)
    huber = np.where(norm > c, c * norm - 0.5 * c**2, 0.5 * norm**2)
    value = 0.5 * mass @ ((A - Z) ** 2).sum(axis=1)
    value += ((huber - 0.5 * (Lam**2).sum(axis=1)) / sigma).sum()
    return value, T, P, scale, grad


@pytest.fixture(params=[1, 2, 7])
def parts(request):
    rng = np.random.default_rng(request.param)
    n, m, r = 10, 25, request.param
    pairs = np.column_stack(np.triu_indices(n, k=1))[rng.permutation(45)[:m]]
    tail, head = np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])
    mass = rng.uniform(0.5, 3.0, n)
    Z = rng.normal(size=(n, r))
    Lam = 0.2 * rng.normal(size=(m, r))
    c = rng.uniform(0.05, 0.6, m)
    return tail, head, c, mass, Z, Lam, rng


def test_residual(parts):
    tail, head, c, mass, Z, Lam, rng = parts
    sigma = rng.uniform(0.5, 2.0, len(c))
    A = Z + 0.3 * rng.normal(size=Z.shape)
    A[head[0]] = A[tail[0]]  # an edge of length zero
    T, P, scale, grad = (np.empty_like(x) for x in (Lam, Lam, c, A))
    value = residual(tail, head, c, sigma, mass, Z, Lam, A, T, P, scale, grad)
    plain = plain_residual(tail, head, c, sigma, mass, Z, Lam, A)
    for ours, theirs in zip((value, T, P, scale, grad), plain):
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


def test_hessian(parts):
    tail, head, c, mass, Z, Lam, rng = parts
    sigma = rng.uniform(0.5, 2.0, len(c))
    A = Z + 0.3 * rng.normal(size=Z.shape)
    _, T, _, scale, _ = plain_residual(tail, head, c, sigma, mass, Z, Lam, A)
    X = rng.normal(size=Z.shape)
    out = np.empty_like(X)
    hessian(tail, head, sigma, mass, T, scale, X, out)
    # the gradient's derivative along X; both sides of the kinks are generic here
    step = 1e-6
    up = plain_residual(tail, head, c, sigma, mass, Z, Lam, A + step * X)[-1]
    down = plain_residual(tail, head, c, sigma, mass, Z, Lam, A - step * X)[-1]
    np.testing.assert_allclose(out, (up - down) / (2 * step), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("share", [0.0, 0.2, 0.5, 1.0])
def test_join_and_means(parts, share):
    tail, head, _, mass, Z, _, rng = parts
    fused = rng.uniform(size=len(tail)) < share
    labels = np.empty(len(Z), dtype=np.int64)
    count = join(tail, head, fused, labels)
    plain = components(np.column_stack([tail, head])[fused], len(Z))
    np.testing.assert_array_equal(labels, plain)
    assert count == plain.max() + 1
    ours = means(labels, count, mass, Z)
    np.testing.assert_allclose(ours, label_means(Z, mass, plain)[plain], rtol=1e-12, atol=1e-14)
    for label in range(count):
        rows = ours[labels == label]
        assert (rows == rows[0]).all()  # to the last bit


def test_equal_ends_are_equal_in_every_column():
    A = np.array([[1.0, 2.0], [1.0, 2.0], [1.0, 3.0], [-0.0, 3.0], [0.0, 3.0]])
    tail, head = np.array([0, 0, 2, 3]), np.array([1, 2, 3, 4])
    found = np.empty(4, dtype=np.bool_)
    equal_ends(tail, head, A, found)
    assert found.tolist() == (A[tail] == A[head]).all(axis=1).tolist() == [True, False, False, True]
