"""The estimator on a cluster of two processes: same labels, nothing lost, no hang."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score

from problems import rings

distributed = pytest.importorskip("distributed")
array = pytest.importorskip("dask.array")

from convexcluster import KernelConvexClustering as Local  # noqa: E402
from convexcluster import tune as local_tune  # noqa: E402
from convexcluster.dask import ClusterLost, KernelConvexClustering, tune  # noqa: E402
from convexcluster.kernels import SumKernel  # noqa: E402
from convexcluster.rows.cluster import ClusterRows  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def fitted(client):
    X, y = rings(2000)
    rows = array.from_array(X, chunks=(250, 1))
    model = KernelConvexClustering(n_clusters=2, coarsen=150, rank=30, client=client).fit(rows)
    return X, y, rows, model


def test_labels_are_a_dask_array_and_right(fitted):
    _, y, rows, model = fitted
    assert isinstance(model.labels_, array.Array)
    assert model.labels_.chunks[0] == rows.chunks[0]
    assert adjusted_rand_score(y, model.labels_.compute()) == 1.0


def test_predict_and_transform_by_block_and_in_memory(fitted):
    X, _, rows, model = fitted
    np.testing.assert_array_equal(model.predict(rows).compute(), model.labels_.compute())
    np.testing.assert_array_equal(model.predict(X[:100]), model.labels_[:100].compute())
    np.testing.assert_allclose(model.transform(rows).compute(), model.transform(X), atol=1e-9)


def test_a_sum_of_kernels(client):
    """Workers get the fitted kernel, and weights of features are refused."""
    rng = np.random.default_rng(0)
    y = np.arange(2000) % 2
    X = 9.0 * y[:, None] + rng.normal(size=(2000, 2))
    rows = array.from_array(X, chunks=(250, 2))
    kernel = SumKernel([("linear", [0, 1]), ("linear", [1])])
    options = {"n_clusters": 2, "coarsen": 150, "rank": 60, "client": client}
    model = KernelConvexClustering(kernel=kernel, **options).fit(rows)
    assert adjusted_rand_score(y, model.labels_.compute()) == 1.0
    np.testing.assert_array_equal(model.predict(X[:100]), model.labels_[:100].compute())
    with pytest.raises(ValueError, match="feature_weights need all rows in memory"):
        KernelConvexClustering(feature_weights=[1, 2], **options).fit(rows)


def made_block(b):
    rng = np.random.default_rng(b)
    y = np.arange(500) % 2
    return np.column_stack([9.0 * y[:, None] + rng.normal(size=(500, 2)), y])


def test_blocks_that_are_made_and_cut_on_the_workers(client):
    """Optimised graphs give such blocks other names in every pass, which workers do not find."""
    delayed = pytest.importorskip("dask").delayed(made_block)
    parts = [array.from_delayed(delayed(b), (500, 3), np.float64) for b in range(4)]
    rows = ClusterRows(array.concatenate(parts, axis=0)[:, :2], client)
    means = []
    for _ in range(2):
        total = rows.reduce(lambda block, masses, b: block.sum(axis=0), sum)
        means += [total / 2000, np.mean(list(rows.parts(lambda block: block.mean(axis=0))), axis=0)]
    np.testing.assert_allclose(means, np.broadcast_to(means[0], (4, 2)))


def test_a_dataframe_gives_the_same(fitted, client):
    pandas, frame = pytest.importorskip("pandas"), pytest.importorskip("dask.dataframe")
    X, _, _, model = fitted
    table = frame.from_pandas(pandas.DataFrame(X, columns=["a", "b"]), chunksize=250)
    other = KernelConvexClustering(n_clusters=2, coarsen=150, rank=30, client=client).fit(table)
    labels = model.labels_.compute()
    np.testing.assert_array_equal(other.labels_.compute(), labels)
    np.testing.assert_array_equal(other.predict(table).compute(), labels)
    np.testing.assert_allclose(other.transform(table).compute(), model.transform(X), atol=1e-9)


def test_tune_over_the_cluster_is_the_local_tune(client):
    X, y = rings(80)
    grid = {"bandwidth": [0.5, 1.0], "n_neighbors": [5, 7]}
    here = local_tune(X, y, grid=grid)
    there = tune(X, y, grid=grid, client=client)
    assert there.best_score_ == here.best_score_
    assert there.best_estimator_.get_params() == here.best_estimator_.get_params()
    np.testing.assert_array_equal(there.best_estimator_.labels_, here.best_estimator_.labels_)
    np.testing.assert_allclose(there.table["score"], here.table["score"])


def process(y, labels):
    """A score that says where it was computed."""
    return float(os.getpid())


def test_tune_runs_on_the_workers(client):
    X, y = rings(40)
    result = tune(X, y, grid={"n_neighbors": [5, 7]}, scoring=process, client=client)
    assert set(result.table["score"]) <= set(client.run(os.getpid).values())


def test_local_and_cluster_agree_within_their_certified_errors(fitted, monkeypatch):
    X, _, _, model = fitted
    monkeypatch.setattr("convexcluster.stages.points.GRAPHED_ROWS", 0)
    local = Local(n_clusters=2, coarsen=150, rank=30).fit(X)
    assert adjusted_rand_score(local.labels_, model.labels_.compute()) == 1.0
    # the kernel's distances from rows to centroids, in units of the spread of the rows
    apart = np.abs(np.sort(local.transform(X), axis=1) - np.sort(model.transform(X), axis=1))
    reach = local.certificate_.radius + model.certificate_.radius
    assert np.sqrt((apart.min(axis=1) ** 2).sum()) <= reach


def test_fewer_rows_than_cells_is_the_local_problem(client):
    X, _ = rings(120)
    rows = array.from_array(X, chunks=(50, 2))
    model = KernelConvexClustering(n_clusters=2, client=client).fit(rows)
    assert len(model.points_.X) == 120
    assert model.certificate_.coarsening_error == 0
    np.testing.assert_array_equal(model.membership_.argmax(axis=1), model.point_labels_)
    assert model.outlier_score_.shape == (120,)
    assert len(model.subcluster(0)) == (model.point_labels_ == 0).sum()
    local = Local(n_clusters=2).fit(X)
    assert adjusted_rand_score(local.labels_, model.labels_.compute()) == 1.0


def test_the_same_problem_has_the_same_centroids_within_the_certified_error(client):
    X, _ = rings(120)
    given = {"n_clusters": 2, "gamma": 0.5, "tol": 1e-6}
    rows = array.from_array(X, chunks=(50, 2))
    far = KernelConvexClustering(**given, client=client).fit(rows)
    near = Local(**given).fit(X)
    np.testing.assert_array_equal(far.labels_.compute(), near.labels_)
    # ‖c − c′‖ ≤ (R + R′)/√m of a cluster of mass m, and φ(x) is known up to the embedding error
    mass = np.bincount(near.labels_)
    reach = far.certificate_.radius + near.certificate_.radius
    lost = far.certificate_.embedding_error + near.certificate_.embedding_error
    apart = np.abs(far.transform(X) - near.transform(X))
    assert (apart <= reach / np.sqrt(mass) + lost + 1e-9).all()
    assert reach < 0.05 * np.sqrt(len(X))  # the bound says something: φ(x) has length 1


def test_parameters_are_those_of_the_local_estimator_and_two_more():
    ours = set(KernelConvexClustering().get_params())
    assert ours == set(Local().get_params()) | {"client", "patience"}
    assert KernelConvexClustering(rank=7).get_params()["rank"] == 7


def slow_step(X, masses, b):
    time.sleep(0.4)
    return X.sum()


def test_a_killed_worker_changes_nothing(fitted, client, monkeypatch):
    _, _, rows, model = fitted
    pids = client.run(os.getpid)
    killed = []

    wait = ClusterRows.wait

    def killing(self, future):
        if not killed:
            time.sleep(0.05)  # the first tasks are on their way
            killed.append(next(iter(pids.values())))
            os.kill(killed[0], signal.SIGKILL)
        return wait(self, future)

    monkeypatch.setattr(ClusterRows, "wait", killing)
    again = KernelConvexClustering(n_clusters=2, coarsen=150, rank=30, client=client).fit(rows)
    assert killed
    np.testing.assert_array_equal(again.point_labels_, model.point_labels_)
    np.testing.assert_array_equal(again.labels_.compute(), model.labels_.compute())


def test_without_workers_there_is_an_error_and_no_hang():
    """Workers without nannies, which nobody starts again."""
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as client,
    ):
        command = [sys.executable, "-m", "distributed.cli.dask_worker", "--no-nanny"]
        command += ["--nthreads", "1", "--no-dashboard", cluster.scheduler_address]
        workers = [
            subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            for _ in range(2)
        ]
        try:
            client.wait_for_workers(2, timeout=60)
            rows = array.from_array(np.ones((4000, 2)), chunks=(100, 2))

            class Killing(ClusterRows):
                def wait(self, future):
                    time.sleep(0.5)
                    for worker in workers:
                        worker.kill()
                    return super().wait(future)

            start = time.monotonic()
            with pytest.raises(ClusterLost, match="no worker"):
                Killing(rows, client, patience=2.0).reduce(slow_step, sum)
            assert time.monotonic() - start < 60
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()
