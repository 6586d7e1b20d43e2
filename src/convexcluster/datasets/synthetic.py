"""The paper's synthetic data: a circle of points around blobs (§4.1 and §4.2).

A blob: θ ~ U(0, 2π), R ~ U(0, 0.45), (R cos θ, R sin θ) shifted to its centre. The circle: θ ~
U(0, 2π), (3 cos θ, 3 sin θ) plus noise N(0, 0.01) in each coordinate, read as variance 0.01.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..problem import Floats, Ints


def blob_centres(n_blobs: int) -> Floats:
    """Centres of the blobs, (n_blobs, 2): the paper does not give them.

    One blob stands at the origin; two to six stand evenly on a circle of radius 1.5; from seven on
    one is at the origin and the others are on that circle. Up to seven blobs of radius 0.45 keep
    apart by at least 0.6, and from the circle of radius 3 by about 0.8; more come closer.
    """
    if n_blobs == 1:
        return np.zeros((1, 2))
    ring = n_blobs if n_blobs <= 6 else n_blobs - 1
    angle = 2 * np.pi * np.arange(ring) / ring
    centres = 1.5 * np.column_stack([np.cos(angle), np.sin(angle)])
    return centres if n_blobs <= 6 else np.vstack([centres, np.zeros((1, 2))])


def make_rings(
    n_blobs: int = 4,
    *,
    n_per_blob: int = 50,
    n_circle: int = 200,
    centres: Sequence[Sequence[float]] | Floats | None = None,
    blob_radius: float = 0.45,
    circle_radius: float = 3.0,
    noise_variance: float = 0.01,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Ints]:
    """Blobs inside a circle, the paper's synthetic data set.

    Parameters
    ----------
    n_blobs : int
        Blobs inside the circle; there are ``n_blobs + 1`` clusters.
    n_per_blob, n_circle : int
        Points of each blob and of the circle.
    centres : array-like of shape (n_blobs, 2), optional
        Centres of the blobs; by default :func:`blob_centres`.
    blob_radius, circle_radius : float
    noise_variance : float
        Of the circle, in each coordinate.
    random_state : int, Generator or None

    Returns
    -------
    X : ndarray of shape (n_blobs · n_per_blob + n_circle, 2)
    y : ndarray of shape (n,)
        0 … n_blobs − 1 for the blobs, n_blobs for the circle.

    Examples
    --------
    >>> X, y = make_rings(random_state=0)
    >>> X.shape, np.bincount(y)
    ((400, 2), array([ 50,  50,  50,  50, 200]))
    """
    if n_blobs < 0 or n_per_blob < 1 or n_circle < 0:
        raise ValueError("n_blobs and n_circle must be ≥ 0, and n_per_blob ≥ 1")
    rng = np.random.default_rng(random_state)
    middle = blob_centres(n_blobs) if centres is None else np.asarray(centres, dtype=np.float64)
    middle = middle.reshape(-1, 2)
    if len(middle) != n_blobs:
        raise ValueError(f"{n_blobs} blobs need as many centres, got {len(middle)}")
    parts = []
    for centre in middle:
        angle = rng.uniform(0, 2 * np.pi, n_per_blob)
        radius = rng.uniform(0, blob_radius, n_per_blob)
        parts.append(centre + radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]))
    angle = rng.uniform(0, 2 * np.pi, n_circle)
    noise = rng.normal(scale=np.sqrt(noise_variance), size=(n_circle, 2))
    parts.append(circle_radius * np.column_stack([np.cos(angle), np.sin(angle)]) + noise)
    y = np.repeat(np.arange(n_blobs + 1), [n_per_blob] * n_blobs + [n_circle])
    return np.vstack(parts), y.astype(np.int64)


def make_spirals(
    n_arms: int = 2,
    *,
    n_per_arm: int = 200,
    turns: float = 1.5,
    noise_variance: float = 0.0025,
    random_state: int | np.random.Generator | None = None,
) -> tuple[Floats, Ints]:
    """Arms that wind around each other: r = 0.5 + 2.5 t at the angle 2π(turns · t + arm/n_arms).

    Parameters
    ----------
    n_arms, n_per_arm : int
        Arms, and points of each. An arm is cut into as many pieces of equal length as it has
        points, and each piece has one point somewhere in it: points are about even along an arm.
    turns : float
        Of each arm around the origin.
    noise_variance : float
        In each coordinate.
    random_state : int, Generator or None

    Returns
    -------
    X : ndarray of shape (n_arms · n_per_arm, 2)
    y : ndarray of shape (n,)

    Examples
    --------
    >>> X, y = make_spirals(3, n_per_arm=100, random_state=0)
    >>> X.shape, np.bincount(y)
    ((300, 2), array([100, 100, 100]))
    """
    if n_arms < 1 or n_per_arm < 1:
        raise ValueError("n_arms and n_per_arm must be ≥ 1")
    rng = np.random.default_rng(random_state)
    y = np.repeat(np.arange(n_arms), n_per_arm).astype(np.int64)
    place = (np.tile(np.arange(n_per_arm), n_arms) + rng.uniform(0, 1, len(y))) / n_per_arm
    t = np.interp(place, *_length_along(turns))
    angle = 2 * np.pi * (turns * t + y / n_arms)
    curve = (0.5 + 2.5 * t)[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    return curve + rng.normal(scale=np.sqrt(noise_variance), size=(len(y), 2)), y


def _length_along(turns: float) -> tuple[Floats, Floats]:
    """Share of an arm's length up to t, and t: ds/dt = √(2.5² + (2π · turns · r)²)."""
    t = np.linspace(0, 1, 1001)  # the length is smooth: its error is that of the trapezoid, 1e-6
    speed = np.hypot(2.5, 2 * np.pi * turns * (0.5 + 2.5 * t))
    length = np.concatenate([[0.0], np.cumsum(speed[1:] + speed[:-1])])
    return length / length[-1], t
