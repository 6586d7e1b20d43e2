"""Centred rows of very many features, a copy of some columns at a time.

Input is X (n × d) with n ≤ d, of which a centred copy may take as much memory as the rest of a fit.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..problem import Floats

# Numbers of X that are centred in one piece: 32 MB, little beside a process that has imported what
# a fit needs. Sums over several pieces round otherwise, in the last digits.
WHOLE = 2**22

# Numbers of each of several pieces, 8 MB. Half: matrix products of 50 rows are no slower. Ten
# times: as much memory as the copy of X that is to be saved, for X of a hundred megabytes.
AT_ONCE = 2**20


def centred_pieces(X: Floats, scale: float = 1.0) -> Iterator[Floats]:
    """Columns of X less their means, over ``scale``; the pieces are the caller's."""
    few = X.shape[1] if X.size <= WHOLE else max(1, AT_ONCE // len(X))
    for at in range(0, X.shape[1], few):
        piece = X[:, at : at + few] - X[:, at : at + few].mean(axis=0)
        piece /= scale
        yield piece


def centred_gram(X: Floats, scale: float = 1.0) -> Floats:
    """Inner products (n × n) of the centred rows over ``scale``.

    Examples
    --------
    >>> centred_gram(np.array([[1.0, 0.0], [3.0, 0.0]]))
    array([[ 1., -1.],
           [-1.,  1.]])
    """
    gram = np.zeros((len(X), len(X)))
    for piece in centred_pieces(X, scale):
        gram += piece @ piece.T
    return gram
