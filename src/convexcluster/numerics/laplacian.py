"""Systems of a weighted graph, (M + L_w) X = B and L_w Y = B, all columns of B at once.

Input is ``edges`` (m, 2), ``weights`` (m,) and positive ``masses`` (n,); L_w = Dᵀ diag(w) D. A
sparse factor solves them where its fill is foreseen to be small, gradients elsewhere, with the
multigrid where the diagonal is no good preconditioner. (Along a path, where two digits are enough
and every system is new, the multigrid alone is faster than either:
:func:`convexcluster.numerics.multigrid.solve`.)
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee
from scipy.sparse.linalg import splu

from ..partition import first
from ..problem import Floats, Ints
from .gradients import conjugate_gradients


def laplacian(edges: Ints, weights: Floats, n: int) -> sparse.csr_array:
    """L_w = Dᵀ diag(w) D."""
    i, j = edges.T
    degree = np.bincount(i, weights, n) + np.bincount(j, weights, n)
    rows = np.concatenate([i, j, np.arange(n)])
    columns = np.concatenate([j, i, np.arange(n)])
    values = np.concatenate([-weights, -weights, degree])
    return sparse.csr_array((values, (rows, columns)), shape=(n, n))


def factor(edges: Ints, weights: Floats, masses: Floats) -> Callable[[Floats], Floats]:
    """Solver of (M + L_w) X = B: a sparse factor, or conjugate gradients where it would fill up."""
    system = sparse.csr_array(laplacian(edges, weights, len(masses)) + sparse.diags_array(masses))
    if factors_cheaply(system):
        return _factored(system)
    return _gradients(edges, weights, masses, rtol=1e-10)


def preconditioner(edges: Ints, weights: Floats, masses: Floats) -> Callable[[Floats], Floats]:
    """Like :func:`factor`, but only the diagonal where a factor would fill up or is singular."""
    system = sparse.csr_array(laplacian(edges, weights, len(masses)) + sparse.diags_array(masses))
    if factors_cheaply(system):
        try:
            return _factored(system)
        except RuntimeError:
            pass  # masses vanish beside the weights; as a preconditioner the diagonal will do
    diagonal = system.diagonal()[:, None]
    return lambda X: X / diagonal


# Numbers of a right-hand side from which its columns are solved a few at a time. SuperLU holds
# Python's lock while it solves, which took six seconds for 10,000 × 256, and neither Ctrl-C nor
# another thread came through. Half: nothing gained. Ten times: Ctrl-C waits half a second.
AT_ONCE = 250_000

# Columns at a time: in the plane 16 of them take a twentieth of the time of 256 together, as they
# stay in the cache. Half: no faster. Twice: half again as long.
FEW_COLUMNS = 16


def _factored(system: sparse.csr_array) -> Callable[[Floats], Floats]:
    """Solve by a sparse factor; ordering and pivoting suit symmetric positive definite matrices."""
    factor = splu(
        sparse.csc_array(system),
        permc_spec="MMD_AT_PLUS_A",
        options={"SymmetricMode": True},
        diag_pivot_thresh=0.0,
    )

    def solve(b: Floats) -> Floats:
        if b.size <= AT_ONCE or b.ndim == 1:
            return factor.solve(b)
        Y = np.empty_like(b)
        for at in range(0, b.shape[1], FEW_COLUMNS):
            few = slice(at, at + FEW_COLUMNS)
            Y[:, few] = factor.solve(np.ascontiguousarray(b[:, few]))
        return Y

    return solve


# Any graph of this size factors within some hundredths of a second.
SMALL = 1_000
# n b² bounds the operations of a factor of bandwidth b; minimum degree needs far fewer, but grows
# alike. Graphs of points in two or three dimensions stay below for n in the tens of thousands,
# graphs of points in many dimensions, whose factors fill up, do not; on these gradients are fast.
# At this bound gradients take a third of the time on one cloud in five dimensions and more, and as
# long on clouds far apart; at ten times it 2.3 s against 0.1 for 5,000 points in ten dimensions, at
# a third of it two to five times as long for clouds far apart.
BAND_WORK = 4e9
# b²/n up to which a graph is taken for one of points in the plane, where it was 2 to 7; in space it
# was 60 and more. The bound lies between them, and nearer to the plane.
FLAT_BAND = 16.0


def factors_cheaply(system: sparse.csr_array) -> bool:
    """Whether a sparse factor of a matrix with this pattern costs seconds at most."""
    n = system.shape[0]
    return n <= SMALL or square_band(system) <= max(BAND_WORK / n, FLAT_BAND * n)


def square_band(system: sparse.csr_array) -> float:
    """Mean square of the bandwidths of the rows, in the order of Cuthill and McKee."""
    place = np.argsort(reverse_cuthill_mckee(system, symmetric_mode=True))
    entries = system.tocoo()
    rows, columns = entries.coords
    band = np.zeros(system.shape[0], dtype=np.int64)
    np.maximum.at(band, rows, np.abs(place[rows] - place[columns]))
    return float(np.mean(band.astype(np.float64) ** 2))


# Steps with the diagonal as preconditioner before the multigrid takes over. A graph whose factor
# fills up usually joins points in many dimensions, and 20 to 60 steps reach 1e-6 there: with half
# as many it would pay for levels that it does not need. Twice as many cost others more than levels.
DIAGONAL_STEPS = 100
# Residual of rough potentials, which tells the widest edge inside clusters within two per cent. At
# three times as much it is within a tenth; at a tenth of it systems take half as long again.
ROUGH = 0.1
# Steps with the multigrid, of which ten digits take about 20. Weights over so many decades that
# twice as many would help are beyond double precision too.
CYCLES = 200


def _gradients(
    edges: Ints, weights: Floats, ground: Floats, rtol: float
) -> Callable[[Floats], Floats]:
    """Solver of (diag(ground) + L_w) X = B, B balanced in components without ground."""
    n = len(ground)
    system = sparse.csr_array(laplacian(edges, weights, n) + sparse.diags_array(ground))
    diagonal = np.where(system.diagonal() > 0, system.diagonal(), 1.0)[:, None]

    def apply(P: Floats, out: Floats) -> None:
        out[:] = system @ P

    @cache
    def cycle() -> Callable[[Floats], Floats]:
        from .multigrid import preconditioner  # late: it loads numba

        tail, head = edges.T
        return preconditioner(n, tail, head, weights, ground)

    def solve(B: Floats) -> Floats:
        def enough(first: float) -> float:
            return rtol**2 * first

        X, steps = conjugate_gradients(apply, lambda R: R / diagonal, B, enough, DIAGONAL_STEPS)
        if steps < DIAGONAL_STEPS:
            return X
        goal = enough(float(np.vdot(B, B)))
        left = B - system @ X
        more, _ = conjugate_gradients(apply, cycle(), left, lambda _: goal, CYCLES, plain=True)
        return X + more

    return solve


def rough_potentials(edges: Ints, weights: Floats, b: Floats, labels: Ints) -> Floats | None:
    """Y with L_w Y = b to a few per cent; None where that takes more than few gradients.

    ``b`` is balanced in each component of ``labels``. Few are enough in clouds of many dimensions.
    """
    n, sizes = len(b), np.bincount(labels)
    system = laplacian(edges, weights, n)
    compact = is_compact(system, float(sizes @ sizes) / n)
    return _by_few_gradients(system, b, ROUGH**2) if compact else None


# Weaker ties to the ground than this, relative to the weights of a sample, are lost in rounding.
GROUNDED = 1e-14


def laplacian_solver(
    edges: Ints, weights: Floats, labels: Ints, *, rough: bool = False
) -> Callable[[Floats], Floats]:
    """Solver of L_w y = b, b balanced in each component of ``labels``; one sample of each is 0.

    Weights that vanish beside their neighbours make L_w singular in floats: a RuntimeError, or, if
    ``rough``, as flows that are checked and corrected can bear, the solution of a matrix near L_w.
    """
    n = len(labels)
    free = np.setdiff1d(np.arange(n), first(labels))
    inner = sparse.csr_array(laplacian(edges, weights, n)[free][:, free])
    if not factors_cheaply(inner):  # close enough to bound γ_max, and for flows corrected again
        return _gradients(edges, weights, np.zeros(n), rtol=1e-6)
    try:
        solve_inner = _factored(inner)
    except RuntimeError:
        if not rough:
            raise
        grounded = inner + sparse.diags_array(GROUNDED * inner.diagonal())
        solve_inner = _factored(sparse.csr_array(grounded))

    def solve(b: Floats) -> Floats:
        Y = np.zeros_like(b)
        if b.size <= AT_ONCE or b.ndim == 1:
            Y[free] = solve_inner(b[free])
            return Y
        for at in range(0, b.shape[1], FEW_COLUMNS):  # no copies of the size of b
            few = slice(at, at + FEW_COLUMNS)
            Y[free, few] = solve_inner(b[free, few])
        return Y

    return solve


def solve_laplacian(
    edges: Ints, weights: Floats, b: Floats, labels: Ints, *, rough: bool = False
) -> Floats:
    """Solve L_w y = b once: see :func:`laplacian_solver`."""
    return laplacian_solver(edges, weights, labels, rough=rough)(b)


# Samples of a cluster from which gradients are tried before a factor, and b²/n from which it is no
# cluster of the plane or of space: of 800 samples in ten dimensions they take a third of the time,
# of 300 as long; in space a factor is as fast.
COMPACT, COMPACT_BAND = 500, 4 * FLAT_BAND


def solve_compact(edges: Ints, weights: Floats, b: Floats) -> Floats:
    """:func:`solve_laplacian` of one cluster: few gradients are enough if it is a cloud."""
    n = len(b)
    system = laplacian(edges, weights, n)
    # ten digits: the proof adds what is missed to its flows
    Y = _by_few_gradients(system, b, 1e-20) if is_compact(system, n) else None
    if Y is not None:
        return Y
    return solve_laplacian(edges, weights, b, np.zeros(n, dtype=np.int64))


def is_compact(system: sparse.csr_array, size: float) -> bool:
    """Whether gradients are tried on a system before a factor; its components are of that size."""
    return size >= COMPACT and square_band(system) > COMPACT_BAND * size


def _by_few_gradients(system: sparse.csr_array, b: Floats, share: float) -> Floats | None:
    """Y that leaves at most this share of ‖b‖², or None if that takes many steps."""
    diagonal = np.where(system.diagonal() > 0, system.diagonal(), 1.0)[:, None]

    def apply(P: Floats, out: Floats) -> None:
        out[:] = system @ P

    def enough(first: float) -> float:
        return share * first

    Y, steps = conjugate_gradients(apply, lambda R: R / diagonal, b, enough, DIAGONAL_STEPS)
    return Y if steps < DIAGONAL_STEPS else None
