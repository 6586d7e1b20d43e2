"""The same data give the same answer, however they are written and wherever they are fitted."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons

import convexcluster
from convexcluster import KernelConvexClustering

SOURCE = str(Path(convexcluster.__file__).parents[1])


def halves(X):
    """Numbers that single precision holds exactly."""
    return X.astype(np.float32).astype(np.float64)


DATA = {
    "moons": halves(make_moons(120, noise=0.06, random_state=0)[0]),
    "blobs": halves(make_blobs(90, 5, centers=3, cluster_std=1.5, random_state=1)[0]),
    "unbalanced": halves(
        make_blobs([80, 12], 2, centers=[[0, 0], [7, 0]], random_state=3)[0],
    ),
}


def answer(X, order=None, **parameters):
    """Labels in order of first appearance, how many, and the verdict."""
    model = KernelConvexClustering(**parameters).fit(X)
    labels = np.asarray(model.labels_)
    if order is not None:
        labels = labels[np.argsort(order)]
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    renamed = np.argsort(np.argsort(first))[inverse]
    return renamed.tolist(), model.n_clusters_, model.selection_.verdict


@pytest.fixture(scope="module")
def plain():
    return {name: answer(X) for name, X in DATA.items()}


def each(test):
    return pytest.mark.parametrize("name", DATA)(test)


@each
def test_columns_in_any_order(name, plain):
    assert answer(DATA[name][:, ::-1]) == plain[name]


@pytest.mark.parametrize("power", [-40, -3, 1, 50])
@each
def test_powers_of_two(name, power, plain):
    assert answer(DATA[name] * 2.0**power) == plain[name]


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@each
def test_any_number_of_threads(name, n_jobs, plain):
    assert answer(DATA[name], n_jobs=n_jobs) == plain[name]


def test_fits_side_by_side(plain):
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(answer, [DATA[name] for name in DATA for _ in range(2)])
        assert list(found) == [plain[name] for name in DATA for _ in range(2)]


CLOTHES = {
    "float32": lambda X: X.astype(np.float32),
    "Fortran": np.asfortranarray,
    "every other row of a larger array": lambda X: np.repeat(X, 2, axis=0)[::2],
    "lists": lambda X: X.tolist(),
    "read-only": lambda X: np.frombuffer(X.tobytes()).reshape(X.shape),
    "big-endian": lambda X: X.astype(">f8"),
    "objects": lambda X: X.astype(object),
    "pandas": lambda X: pd.DataFrame(X),
    "nullable pandas": lambda X: pd.DataFrame(X).astype("Float64"),
    "polars": lambda X: pytest.importorskip("polars").DataFrame(
        X, schema=[f"c{k}" for k in range(X.shape[1])]
    ),
}


@pytest.mark.parametrize("clothes", CLOTHES)
@each
def test_any_container(name, clothes, plain):
    assert answer(CLOTHES[clothes](DATA[name])) == plain[name]


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
@pytest.mark.parametrize("name", ["moons", "unbalanced"])
def test_sparse_is_dense_where_the_number_is_told(name, form):
    """In the plane, where both have Euclidean distances."""
    X = DATA[name]
    assert answer(form(X), n_clusters=2) == answer(X, n_clusters=2)


@each
def test_sparse_is_dense(name, plain):
    assert answer(sparse.csr_array(DATA[name])) == plain[name]


def words(n=150, d=400, seed=0):
    """Counts of words in texts of three topics, a tenth of which are not zero."""
    rng = np.random.default_rng(seed)
    often = np.where(rng.random((3, d)) < 0.1, 12.0, 1.0) / np.arange(1, d + 1) ** 0.7
    often /= often.sum(axis=1, keepdims=True)
    return np.array([rng.multinomial(120, often[t % 3]) for t in range(n)]).astype(float)


@pytest.mark.parametrize("kernel", ["rbf", "laplacian", "linear", "cosine"])
@pytest.mark.parametrize("normalised", [False, True])
def test_a_matrix_of_few_entries_is_its_array(kernel, normalised):
    X = words()
    if normalised:
        X /= np.linalg.norm(X, axis=1, keepdims=True)
    assert 0.05 < (X != 0).mean() < 0.2
    assert answer(sparse.csr_array(X), kernel=kernel) == answer(X, kernel=kernel)


def test_texts_divided_by_their_lengths_are_compared_as_directions(monkeypatch):
    """By Euclidean distances, in arrays and matrices of any size; three topics are found."""
    X = words()
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    topics = (np.arange(150) % 3).tolist()
    assert answer(X, n_clusters=3)[0] == topics
    assert answer(1024 * X, n_clusters=3)[0] == topics
    monkeypatch.setattr("convexcluster.estimators.predict.SMALL", 0)
    assert answer(sparse.csr_array(X), n_clusters=3)[0] == topics


ELSEWHERE = """
import json, sys
import numpy as np
from test_same_answer import DATA, answer
print(json.dumps({name: answer(X) for name, X in DATA.items()}))
"""


@pytest.mark.parametrize("cpu", [None, pytest.param("generic", marks=pytest.mark.slow)])
def test_another_process_and_another_processor(cpu, plain, tmp_path):
    """A generic processor has no vector units to speak of: sums round differently there."""
    here = os.environ | {"PYTHONPATH": os.pathsep.join([SOURCE, str(Path(__file__).parent)])}
    if cpu:
        here |= {"NUMBA_CPU_NAME": cpu, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", ELSEWHERE], capture_output=True, text=True, env=here, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert {name: tuple(found) for name, found in json.loads(done.stdout).items()} == plain


@pytest.mark.parametrize("seed", range(3))
@each
def test_rows_in_any_order(name, seed, plain):
    order = np.random.default_rng(seed).permutation(len(DATA[name]))
    assert answer(DATA[name][order], order) == plain[name]


@pytest.mark.parametrize("seed", range(3))
@each
def test_any_random_state(name, seed, plain):
    assert answer(DATA[name], random_state=seed) == plain[name]


NEAR = make_blobs([39, 39], 2, centers=[[0, 0], [6, 0]], random_state=17)[0]


def test_rows_of_two_near_blobs_in_any_order():
    orders = [np.random.default_rng(seed).permutation(len(NEAR)) for seed in range(6)]
    found = [answer(NEAR[order], order) for order in orders]
    assert found == 6 * [answer(NEAR)]


def test_two_near_blobs_with_any_random_state():
    assert [answer(NEAR, random_state=seed) for seed in range(6)] == 6 * [answer(NEAR)]


# three blobs of 24 rows in a line and two that touch: the answer with copies was another one
FAINT = {
    "three": make_blobs(73, 2, centers=3, random_state=5)[0],
    "touching": make_blobs([39, 39], 2, centers=[[0, 0], [6, 0]], random_state=17)[0],
}


@pytest.mark.parametrize("name", [*DATA, *FAINT])
def test_every_row_twice_is_every_row_once(name):
    """What is a cluster by its size alone counts distinct rows, not copies."""
    X = (DATA | FAINT)[name]
    once, n = answer(X), len(X)
    labels, *others = answer(np.r_[X, X])
    assert (labels[:n], *others) == once
    assert (labels[n:], *others) == once


@each
def test_some_copies_are_weights(name):
    """Rows with any number of copies are rows with these weights."""
    X = DATA[name]
    counts = np.random.default_rng(0).integers(1, 4, len(X))
    heavy = KernelConvexClustering().fit(X, sample_weight=counts)
    copied = KernelConvexClustering().fit(np.repeat(X, counts, axis=0))
    np.testing.assert_array_equal(copied.labels_, np.repeat(heavy.labels_, counts))
    assert copied.selection_.verdict == heavy.selection_.verdict


@each
def test_copies_are_weight(name):
    """Every row twice is every row with weight two."""
    X = DATA[name]
    twice = KernelConvexClustering().fit(np.r_[X, X])
    heavy = KernelConvexClustering().fit(X, sample_weight=np.full(len(X), 2.0))
    np.testing.assert_array_equal(twice.labels_[: len(X)], twice.labels_[len(X) :])
    np.testing.assert_array_equal(twice.labels_[: len(X)], heavy.labels_)
    assert twice.selection_.verdict == heavy.selection_.verdict


def scene(rng):
    """One to four groups of up to 80 rows in one to five columns, rounded now and then."""
    n, d, k = rng.integers(20, 80), rng.integers(1, 6), rng.integers(1, 5)
    group, size = rng.integers(k, size=n), rng.choice([0.3, 1.0], size=(k, 1))
    X = (rng.normal(size=(k, d)) * rng.choice([1, 4, 10]))[group]
    X += rng.normal(size=(n, d)) * size[group]
    return halves(X if rng.random() < 0.7 else X.round(1))


def copies(X, rng):
    """Any number of copies of every row: weights, and the rows as often."""
    counts = rng.integers(1, 4, len(X))
    heavy = KernelConvexClustering().fit(X, sample_weight=counts)
    many = KernelConvexClustering().fit(np.repeat(X, counts, axis=0))
    np.testing.assert_array_equal(many.labels_, np.repeat(heavy.labels_, counts))
    assert many.n_clusters_ == heavy.n_clusters_
    assert many.selection_.verdict == heavy.selection_.verdict


def shuffled(X, rng):
    order = rng.permutation(len(X))
    return answer(X[order], order)


def side_by_side(X, rng):
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(answer, [X, X])
    assert first == second
    return first


# what may be done to data without another answer; copies are compared with weights
CHANGES = {
    "rows": shuffled,
    "columns": lambda X, rng: answer(X[:, rng.permutation(X.shape[1])]),
    "power of two": lambda X, rng: answer(X * 2.0 ** int(rng.integers(-60, 60))),
    "mirror": lambda X, rng: answer(-X),
    "n_jobs": lambda X, rng: answer(X, n_jobs=int(rng.integers(1, 5))),
    "random_state": lambda X, rng: answer(X, random_state=int(rng.integers(100))),
    "threads": side_by_side,
    "sparse": lambda X, rng: answer(sparse.csr_array(X)),
    "copies": copies,
} | {name: lambda X, rng, wear=wear: answer(wear(X)) for name, wear in CLOTHES.items()}


def unchanged(change, seed):
    rng = np.random.default_rng(seed)
    X = scene(rng)
    found = CHANGES[change](X, rng)
    assert found is None or found == answer(X)


@settings(max_examples=30, deadline=None)
@given(st.sampled_from([*CHANGES]), st.integers(0, 10**6))
def test_no_change_of_form_changes_the_answer(change, seed):
    unchanged(change, seed)


@pytest.mark.parametrize("turned", [lambda X: -X, lambda X: X * [1, -1]])
def test_mirror_images_are_the_same_to_the_last_bit(turned):
    """At one γ of its path half of these samples were left, or one more, as sums rounded."""
    X = scene(np.random.default_rng(83))
    one, other = KernelConvexClustering().fit(X), KernelConvexClustering().fit(turned(X))
    np.testing.assert_array_equal(one.labels_, other.labels_)
    np.testing.assert_array_equal(one.linkage_, other.linkage_)
    np.testing.assert_array_equal(one.path_.gaps, other.path_.gaps)
    assert one.gamma_ == other.gamma_


def test_columns_of_the_plane_in_another_order():
    """Of the scene above they had another answer, too."""
    X = scene(np.random.default_rng(83))
    assert answer(X[:, ::-1]) == answer(X)


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_no_change_of_form_changes_the_answer_of_many_scenes(change, seed):
    unchanged(change, seed)
