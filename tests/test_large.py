"""The problem on weighted points: passes, errors, refinement."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from convexcluster import ConvexClustering, KernelConvexClustering, load
from convexcluster.certificate import certify
from convexcluster.embedding import embed
from convexcluster.embedding.projector import Projector
from convexcluster.graph import quotient
from convexcluster.kernels import Kernel, resolve_kernel
from convexcluster.out_of_core import fit_large
from convexcluster.points import cut_finer, make_cells
from convexcluster.points.passes import join_scans, refine_block, scan_block
from convexcluster.problem import Problem
from convexcluster.rows import array_rows
from convexcluster.rows.plan import EXACT_PLANAR_ROWS, EXACT_ROWS, plan_fit
from convexcluster.rows.source import fold
from convexcluster.settings import Settings
from convexcluster.solvers import solve_problem
from convexcluster.stages.error import coarsening_error
from convexcluster.weights import build_graph
from problems import inherited_graph, rings


def coarse_of(X, budget, *, method="pivoted", rank=30, kernel=None, rows=100, masses=None, jobs=1):
    weight = np.ones(len(X)) if masses is None else masses
    engine = array_rows(X, weight, jobs).in_blocks(rows)
    kernel_of = (lambda P: kernel) if kernel else partial(resolve_kernel, "rbf", 0.8, None)
    embed_rows = partial(embed, method=method, rank=rank, tol=1e-9, random_state=0)
    return engine, make_cells(engine, budget, kernel_of, embed_rows)[0]


def certified(rows, points, problem, solution, own=None):
    """Certificate of a solution on cells, and the error cell by cell."""
    error = coarsening_error(rows, points, own, problem, solution)
    lost = float(np.sqrt(points.embedding.trace_error))
    parts = {"embedding_error": lost, "coarsening_error": error.total, "partition": False}
    return certify(problem, solution, **parts), error


def features(kernel, X):
    """φ(x) of every row, in coordinates: E Eᵀ = K."""
    values, U = np.linalg.eigh(kernel(X))
    return U * np.sqrt(np.maximum(values, 0.0))


def in_feature_space(coarse, A, X, E):
    """Coarse centroids as vectors of the whole feature space: o + axes · a."""
    embedding = coarse.embedding
    landmarks = E[[int(np.flatnonzero((row == X).all(axis=1))[0]) for row in embedding.basis]]
    a = np.linalg.lstsq(landmarks @ landmarks.T, embedding.shift, rcond=1e-10)[0]
    axes = landmarks.T @ embedding.B
    np.testing.assert_allclose(axes.T @ axes, np.eye(axes.shape[1]), atol=1e-6)
    return landmarks.T @ a + A @ axes.T


@pytest.mark.parametrize("gamma", [0.5, 5.0])
@pytest.mark.parametrize("rank", [6, 40])
def test_the_certified_error_covers_coarsening_embedding_and_gap(gamma, rank):
    X, _ = rings(120)
    rows, coarse = coarse_of(X, 40, rank=rank)
    index = coarse.assign(X)
    graph = build_graph(coarse.X, n_neighbors=4, masses=coarse.masses)
    problem = Problem.of(coarse.Z, graph.edges, graph.weights, gamma, coarse.masses)
    solution = solve_problem(problem, tol=1e-3)
    certificate, _ = certified(rows, coarse, problem, solution)
    fine = inherited_graph(graph, index, np.ones(len(X)))
    E = features(coarse.embedding.kernel, X)
    exact = solve_problem(Problem.of(E, fine.edges, fine.weights, gamma), tol=1e-9)
    true = np.linalg.norm(in_feature_space(coarse, solution.A[index], X, E) - exact.A)
    # axes are orthonormal to 1e-6, hence the second term
    assert true <= certificate.radius + np.sqrt(2 * exact.gap) + 1e-6 * np.linalg.norm(E)
    assert certificate.radius**2 == pytest.approx(
        2 * certificate.gap + certificate.coarsening_error**2 + certificate.embedding_error**2
    )
    spread = 2 * coarse.scale + coarse.embedding.trace_error
    assert certificate.radius < np.sqrt(spread)  # it says something


@pytest.mark.parametrize("gamma", [0.1, 2.0])
def test_the_certified_error_on_the_graph_of_the_rows(gamma):
    X, _ = rings(200, seed=1)
    rows, coarse = coarse_of(X, 60, method="identity", kernel=Kernel("linear"))
    index = coarse.assign(X)
    graph = build_graph(X, n_neighbors=6)
    between = quotient(graph.edges, graph.weights, index)
    problem = Problem.of(coarse.Z, between.edges, between.weights, gamma, coarse.masses)
    solution = solve_problem(problem, tol=1e-4)
    certificate, error = certified(rows, coarse, problem, solution, graph)
    exact = solve_problem(Problem.of(X, graph.edges, graph.weights, gamma), tol=1e-10)
    true = np.linalg.norm(solution.A[index] - exact.A)
    assert true <= certificate.radius + np.sqrt(2 * exact.gap) + 1e-12
    assert error.graph == "rows"
    assert certificate.embedding_error == 0


def test_as_many_cells_as_rows_is_no_coarsening():
    X, _ = rings(90)
    _, coarse = coarse_of(X, 90, method="identity", kernel=Kernel("linear"))
    assert len(coarse.masses) == 90
    np.testing.assert_allclose(coarse.Z[coarse.assign(X)], X, atol=1e-12)
    assert coarse.scatter.sum() == pytest.approx(0, abs=1e-20)


def test_masses_count_as_copies():
    X, _ = rings(80)
    copies = np.random.default_rng(0).integers(0, 4, size=80)
    _, weighted = coarse_of(
        X, 1000, method="identity", kernel=Kernel("linear"), masses=copies.astype(float)
    )
    _, repeated = coarse_of(
        np.repeat(X, copies, axis=0), 1000, method="identity", kernel=Kernel("linear")
    )
    order = [np.lexsort(c.X.T) for c in (weighted, repeated)]
    np.testing.assert_allclose(weighted.X[order[0]], repeated.X[order[1]])
    np.testing.assert_allclose(weighted.masses[order[0]], repeated.masses[order[1]])


def test_threads_and_repetition_change_nothing():
    X, _ = rings(3000)
    with threadpool_limits(1):  # threads of an old OpenBLAS round otherwise in a thread of ours
        first, again, threads = (coarse_of(X, 200, rows=500, jobs=j)[1] for j in (1, 1, 3))
    for other in (again, threads):
        np.testing.assert_array_equal(first.Z, other.Z)
        assert first.embedding.trace_error == other.embedding.trace_error


def test_embedding_error_is_the_distance_of_the_rows_from_their_projection():
    X, _ = rings(150)
    kernel = resolve_kernel("rbf", 0.8)
    embedding = embed(X[:60], kernel, method="pivoted", rank=12, random_state=0)
    Z, lost = Projector.of(embedding)(X)
    # the Gram matrix of what is lost is K − Z Zᵀ up to the origin, which differences do not see
    K = kernel(X)
    i, j = np.triu_indices(len(X), 1)
    missing = K[i, i] + K[j, j] - 2 * K[i, j] - ((Z[i] - Z[j]) ** 2).sum(axis=1)
    assert missing.min() >= -1e-9
    assert (missing <= (np.sqrt(lost[i]) + np.sqrt(lost[j])) ** 2 + 1e-9).all()
    assert lost.min() >= 0
    # and it is no more than with the origin itself as approximation
    assert lost.sum() < np.trace(K - K.mean())


def test_refinement_lowers_the_error_where_it_is_largest():
    X, _ = rings(2000)
    engine, coarse = coarse_of(X, 60, rows=600, rank=20)

    def error_of(c):
        graph = build_graph(c.X, n_neighbors=5, masses=c.masses)
        p = Problem.of(c.Z, graph.edges, graph.weights, 0.02, c.masses)
        return certified(engine, c, p, solve_problem(p, tol=1e-4))[1]

    before = error_of(coarse)
    finer = cut_finer(engine, coarse, before, 120)
    after = error_of(finer)
    assert 60 < len(finer.masses) <= 180
    assert finer.masses.sum() == pytest.approx(2000)
    assert after.total < 0.8 * before.total
    same = cut_finer(engine, coarse, before, 0)
    assert same is coarse


def test_a_sample_is_uniform_and_does_not_depend_on_the_order_of_work():
    X = np.arange(4000.0).reshape(-1, 1)
    parts = [
        scan_block(X[s : s + 500], np.ones(500), b, budget=10, sample=200, seed=3)
        for b, s in enumerate(range(0, 4000, 500))
    ]
    whole = fold(parts, partial(join_scans, budget=10, sample=200))
    assert len(np.unique(whole.sample)) == 200
    # the mean of 200 draws without replacement has a standard deviation of 1155/√200 · 0.97 = 80
    assert abs(whole.sample.mean() - 2000) < 4 * 80
    assert whole.cells.masses.sum() == 4000


def test_a_sample_is_not_tied_to_data_made_from_the_same_seed():
    drawn = np.random.default_rng(0).random(3000)
    X = np.column_stack([drawn, np.zeros(3000)])
    scan = scan_block(X, np.ones(3000), 0, budget=10, sample=300, seed=0)
    # uniform numbers: the mean of 300 of them is ½ to 0.29/√300 = 0.017
    assert abs(scan.sample[:, 0].mean() - 0.5) < 4 * 0.017


@pytest.fixture(scope="module")
def two_rings():
    return rings(1500)


@pytest.mark.parametrize("own", [True, False])
def test_the_estimator_on_cells(two_rings, own, monkeypatch):
    X, y = two_rings
    if not own:
        monkeypatch.setattr("convexcluster.stages.points.GRAPHED_ROWS", 0)
    model = KernelConvexClustering(n_clusters=2, coarsen=150, rank=40).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0
    assert model.embedding_.shape[0] == model.path_.n_samples == 1500
    assert model.linkage_.shape == (1499, 4)
    certificate = model.certificate_
    assert model.coarsening_.graph == ("rows" if own else "cells")
    assert certificate.radius**2 == pytest.approx(
        2 * certificate.gap + certificate.coarsening_error**2 + certificate.embedding_error**2
    )
    np.testing.assert_array_equal(model.points_.assign(X), model.points_.assign(X.copy()))


def test_coarsening_is_automatic_only_beyond_a_size(two_rings):
    X, _ = two_rings
    model = ConvexClustering(gamma=1.0).fit(X[:50])
    assert not hasattr(model, "points_")
    for n in (EXACT_ROWS, EXACT_ROWS + 1):
        rows = array_rows(np.arange(4.0 * n).reshape(n, 4), np.ones(n))
        assert Settings.of(model).plan(rows).coarse == (n > EXACT_ROWS)


def test_coarsening_needs_rows(two_rings):
    X, _ = two_rings
    K = resolve_kernel("rbf", 1.0)(X[:60])
    with pytest.raises(ValueError, match="precomputed"):
        KernelConvexClustering(kernel="precomputed", coarsen=10).fit(K)
    with pytest.raises(ValueError, match="exact"):
        KernelConvexClustering(embedding="exact", coarsen=10).fit(X)


def test_the_linear_estimator_on_cells_of_weighted_rows():
    X, _ = rings(600)
    weight = np.random.default_rng(0).integers(0, 3, size=600).astype(float)
    model = ConvexClustering(n_clusters=2, coarsen=100).fit(X, sample_weight=weight)
    assert model.certificate_.embedding_error == 0
    assert len(model.labels_) == 600
    assert model.points_.masses.sum() == pytest.approx(weight.sum())


def test_out_of_core_labels_go_to_disk(two_rings, tmp_path):
    X, y = two_rings
    np.save(tmp_path / "x.npy", X.astype(np.float32))
    estimator = KernelConvexClustering(n_clusters=2, coarsen=150, rank=40)
    fit = fit_large(tmp_path / "x.npy", estimator, labels_to=tmp_path / "labels.npy")
    assert adjusted_rand_score(y, np.load(tmp_path / "labels.npy")) == 1.0
    assert fit.n == 1500
    assert not hasattr(estimator, "labels_")
    np.testing.assert_array_equal(fit.predict(X[:9]), np.load(tmp_path / "labels.npy")[:9])


def write_npy(X, path):
    np.save(path / "x.npy", X)
    return path / "x.npy"


def write_memmap(X, path):
    return np.load(write_npy(X, path), mmap_mode="r")


def write_parquet(X, path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.table({"a": X[:, 0], "b": X[:, 1]}), path / "x.parquet", 1_500)
    return path / "x.parquet"


def write_zarr(X, path):
    pytest.importorskip("zarr").open_array(
        str(path / "x.zarr"), mode="w", shape=X.shape, chunks=X.shape, dtype="f8"
    )[:] = X
    return path / "x.zarr"


@pytest.mark.parametrize("write", [write_npy, write_memmap, write_parquet, write_zarr])
@pytest.mark.parametrize("name", ["labels.npy", "labels.parquet"])
def test_every_file_gives_the_labels_of_the_rows_in_memory(two_rings, write, name, tmp_path):
    X, _ = two_rings
    estimator = KernelConvexClustering(n_clusters=2, coarsen=60, rank=20, gamma=[0.1, 1.0, 10.0])
    fit = fit_large(write(X, tmp_path), estimator, labels_to=tmp_path / name)
    expected = np.concatenate(list(fit_large(X, estimator).labels(X)))
    if name.endswith("npy"):
        read = np.load(tmp_path / name)
    else:
        read = pytest.importorskip("pyarrow.parquet").read_table(tmp_path / name)["label"]
    np.testing.assert_array_equal(np.asarray(read), expected)
    assert fit.n == len(X)


def test_a_coarse_model_is_saved_and_loaded(two_rings, tmp_path):
    X, _ = two_rings
    model = KernelConvexClustering(n_clusters=2, coarsen=150, rank=40).fit(X)
    model.save(tmp_path / "model", path=True)
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(again.points_.assign(X), model.points_.assign(X))


def test_cells_are_cut_finer_in_blocks_of_the_plan(monkeypatch):
    X, _ = rings(3000)
    blocks = []

    def watched(*arguments, **options):
        blocks.append(len(arguments[0]))
        return refine_block(*arguments, **options)

    monkeypatch.setattr("convexcluster.points.passes.refine_block", watched)
    model = ConvexClustering(gamma=0.1, coarsen=24, max_memory="100KB").fit(X)
    assert len(model.points_) > 24  # cut finer once
    assert sum(blocks) == 3000
    assert max(blocks) < 3000


def test_copies_of_few_rows_are_merged_before_cells_are_cut():
    few = np.random.default_rng(0).normal(size=(60, 2)) + 4 * (np.arange(60) % 2)[:, None]
    X = np.tile(few, (EXACT_PLANAR_ROWS // 60 + 1, 1))
    assert len(X) > EXACT_PLANAR_ROWS
    model = KernelConvexClustering(2).fit(X)
    weighed = KernelConvexClustering(2).fit(few, sample_weight=np.full(60, len(X) / 60))
    assert not hasattr(model, "points_")
    np.testing.assert_array_equal(model.labels_[:60], weighed.labels_)


@pytest.mark.parametrize(
    ("d", "most"), [(2, EXACT_PLANAR_ROWS), (3, EXACT_PLANAR_ROWS), (4, EXACT_ROWS)]
)
def test_rows_of_few_columns_stay_rows_for_longer(d, most):
    assert not plan_fit(most, d, 64, max_memory="20GB").coarse
    assert plan_fit(most + 1, d, 64, max_memory="20GB").coarse
