"""Parameters: every entry refuses the same values with the same sentences."""

import io
import tempfile
from contextlib import redirect_stderr
from dataclasses import fields
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from convexcluster import ConvexClustering, KernelConvexClustering, solve, solve_path
from convexcluster.out_of_core import fit_large
from convexcluster.path.solve import RULES as path_rules
from convexcluster.settings import AXES, PLANE_AXES, RULES, Settings
from convexcluster.solvers import RULES as solver_rules
from convexcluster.tuning import tune

X = np.random.default_rng(0).normal(size=(40, 2))

BAD = [
    ({"n_clusters": 2.5}, "n_clusters must be a whole number ≥ 1, or None, got 2.5"),
    ({"n_clusters": 0}, "n_clusters must be a whole number ≥ 1"),
    ({"n_clusters": True}, "n_clusters must be a whole number ≥ 1"),
    ({"n_clusters": 1000}, "n_clusters=1000 exceeds the number of samples, 40"),
    ({"n_neighbors": 0}, "n_neighbors must be a whole number ≥ 1, got 0"),
    ({"labels": "bogus"}, "labels must be one of"),
    ({"selection": "bogus"}, "selection must be one of"),
    ({"weight_space": "bogus"}, "weight_space must be"),
    ({"embedding": "bogus"}, "embedding must be one of auto, "),
    ({"kernel": "bogus"}, "kernel 'bogus' is unknown"),
    ({"kernel_params": {"bogus": 1}}, "has no parameter 'bogus'"),
    ({"feature_weights": [-1.0, 2.0]}, "feature_weights must be a number ≥ 0 for each feature"),
    ({"bandwidth": -1.0}, 'bandwidth must be "auto" or a finite number > 0, got -1.0'),
    ({"weights": "bogus"}, "weights must be one of knn, "),
    ({"weights": None}, "weights must be one of"),
    ({"weight_bandwidth": 0.0}, 'weight_bandwidth must be "auto" or a finite number > 0'),
    ({"solver": "bogus"}, "solver must be one of"),
    ({"certify": "bogus"}, "certify must be one of"),
    ({"tol": 2.0}, "tol must be"),
    ({"embedding_tol": -1.0}, "embedding_tol must be a number in [0, 1)"),
    ({"gamma": "auto"}, "gamma must be a finite number ≥ 0, a sequence"),
    ({"gamma": True}, "gamma must be a finite number ≥ 0, a sequence"),
    ({"gamma": -1.0}, "gamma must be a finite number ≥ 0"),
    ({"gamma": [1.0, np.nan]}, "gamma must be a finite number ≥ 0"),
    ({"rank": 0}, "rank must be a whole number"),
    ({"max_iter": 0}, "max_iter must be a whole number"),
    ({"min_cluster_size": -2}, "min_cluster_size must be a whole number"),
    ({"coarsen": -5}, "coarsen must be"),
    ({"max_memory": "lots"}, "max_memory must be"),
    ({"random_state": "x"}, "random_state must be"),
    ({"n_jobs": 0}, "n_jobs must be"),
    ({"verbose": "x"}, "verbose must be"),
    ({"metric": "bogus"}, "metric 'bogus' is unknown"),
]
# Values that are wrong for most parameters: each is taken, or refused by a sentence that names the
# parameter, and never an error from further down.
ODD = [
    *(True, np.True_, None, "bogus", "", "1", -1, 0, 2.5, np.nan, np.inf, -np.inf, 10**400, 1j),
    *([], {}, {1}, ["a"], (1,), b"x", object(), np.array([1.0, 2.0]), np.array([[1, 2]])),
    *(Decimal("0.5"), Fraction(1, 2), np.int64(3), np.float32(0.5), 1e-320),
]
# What needs all rows in memory is refused where they are not.
NEEDS_ROWS = [
    ({"kernel": "precomputed"}, "groups rows into cells, but the kernel is precomputed"),
    ({"weights": (np.array([[0, 1]]), np.ones(1))}, "but the graph is given"),
    ({"embedding": "exact"}, 'but embedding="exact"'),
    ({"coarsen": False}, "coarsen=False needs all rows in memory"),
]


def in_memory(parameters):
    KernelConvexClustering(**parameters).fit(X)


def from_blocks(parameters):
    fit_large(X, KernelConvexClustering(**parameters))


def on_dask(parameters):
    pytest.importorskip("distributed")
    array = pytest.importorskip("dask.array")
    from convexcluster.dask import KernelConvexClustering as OnDask

    OnDask(**parameters, client=object()).fit(array.from_array(X, chunks=(20, 2)))


def in_a_search(parameters):
    tune(X, estimator=KernelConvexClustering(**parameters))


def by_command(parameters):
    """The same through the options of ``convexcluster fit``, if the value can be written there."""
    pytest.importorskip("typer")
    from convexcluster.cli import main

    ((name, value),) = parameters.items()
    if name == "kernel_params":
        given = ["--kernel-param", *(f"{key}={number}" for key, number in value.items())]
    elif name == "gamma" and isinstance(value, list):
        given = ["--gammas", ",".join(str(gamma) for gamma in value)]
    elif name == "verbose" or value is None or isinstance(value, bool):
        pytest.skip("the command has no way to say this")
    else:
        given = [f"--{name.replace('_', '-')}", str(value)]
    with tempfile.TemporaryDirectory() as folder, redirect_stderr(io.StringIO()) as said:
        np.save(f"{folder}/X.npy", X)
        with pytest.raises(SystemExit) as left:
            main(["path" if "--gammas" in given else "fit", f"{folder}/X.npy", *given])
    assert left.value.code in (2, 3)
    line = said.getvalue()
    assert line.startswith("convexcluster: ")
    assert line.count("\n") == 1
    if left.value.code == 2:  # the option is no number at all: named as it was written
        assert given[0] in line
        pytest.skip("refused where options are read")
    raise ValueError(line)


@pytest.mark.parametrize("entry", [in_memory, from_blocks, on_dask, in_a_search, by_command])
@pytest.mark.parametrize(("parameters", "message"), BAD)
def test_a_bad_value_is_refused_by_every_entry_with_one_sentence(entry, parameters, message):
    with pytest.raises(ValueError) as refused:
        entry(parameters)
    assert message in str(refused.value)


def test_every_parameter_is_in_the_tables():
    names = {field.name for field in fields(Settings)}
    assert set(RULES) == names
    assert {name for parameters, _ in BAD for name in parameters} == names


def refusal(call, *given, **named):
    """The sentence of a refusal; None if there was none."""
    try:
        call(*given, **named)
    except ValueError as error:
        return str(error)
    return None


@pytest.mark.parametrize("name", RULES)
def test_odd_values_are_taken_or_refused_by_name(name):
    refused = 0
    for value in ODD:
        sentence = refusal(Settings, **{name: value})
        if sentence is not None:
            assert name in sentence
            assert "\n" not in sentence
            assert len(sentence) < 300
            refused += 1
        elif name not in ("n_jobs", "verbose"):  # as many threads as it says
            # a fit takes it as well, or says why these rows do not go with it
            assert name in (refusal(in_memory, {name: value}) or name)
    assert refused >= len(ODD) / 2


@pytest.mark.parametrize("answer", [None, 3.0])
def test_a_solver_of_the_user_must_return_a_solution(answer):
    with pytest.raises(ValueError, match="solver must return a Solution"):
        KernelConvexClustering(solver=lambda *_: answer, gamma=0.5).fit(X)


@pytest.mark.parametrize("entry", [from_blocks, on_dask])
@pytest.mark.parametrize(("parameters", "message"), NEEDS_ROWS)
def test_what_needs_all_rows_is_refused_where_they_are_elsewhere(entry, parameters, message):
    with pytest.raises(ValueError) as refused:
        entry(parameters)
    assert message in str(refused.value)


@pytest.mark.parametrize("kernel", ["precomputed", "Precomputed", "PRECOMPUTED"])
def test_a_kernel_is_what_it_resolves_to(kernel):
    K = np.exp(-((X[:, None] - X) ** 2).sum(axis=2))
    settings = Settings(kernel=kernel)
    assert settings.kernel_name == "precomputed"
    assert KernelConvexClustering(2, kernel=kernel).fit(K).n_clusters_ == 2


def test_linear_is_the_kernel_estimator_with_the_linear_kernel():
    linear = ConvexClustering(3).fit(X)
    kernel = KernelConvexClustering(3, kernel="linear").fit(X)
    np.testing.assert_array_equal(linear.labels_, kernel.labels_)
    np.testing.assert_array_equal(linear.centroids_, kernel.centroids_)
    assert set(linear.get_params()) < set(kernel.get_params())


def test_the_linear_kernel_has_no_rank_to_cut():
    assert Settings(kernel="rbf").cuts_rank(1_001)
    assert not Settings(kernel="linear").cuts_rank(1_001)
    assert not Settings(kernel="rbf", rank=300).cuts_rank(1_001)
    assert not Settings(kernel="rbf", gamma=1.0).cuts_rank(1_001)


def test_an_automatic_path_runs_on_fewer_axes_where_nothing_else_needs_them():
    plane, wide = (Settings().embedding_options(5_000, width) for width in (2, 10))
    assert (plane["axes"], wide["axes"]) == (PLANE_AXES, AXES)
    for given in (
        {"certify": "path"},
        {"weight_space": "embedding"},
        {"rank": 300},
        {"gamma": 1.0},
        {"embedding": "greedy"},
        {"kernel": "cosine"},
        {"kernel": "precomputed"},
    ):
        assert "axes" not in Settings(**given).embedding_options(5_000, 2), given


CHAIN = [[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0]
OF_PATHS = ["gammas", *path_rules]
OF_SOLVERS = ["gamma", "masses", *solver_rules]


@pytest.mark.parametrize(
    ("entry", "name"),
    [*((solve_path, name) for name in OF_PATHS), *((solve, name) for name in OF_SOLVERS)],
)
def test_odd_values_are_refused_by_paths_and_solvers_too(entry, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # some values are names of files
    refused = 0
    for value in ODD:
        given = {name: value} if entry is solve_path else {"gamma": 0.5} | {name: value}
        sentence = refusal(entry, *CHAIN, **given)
        if sentence is not None:
            assert name.removesuffix("s") in sentence
            assert "\n" not in sentence
            refused += 1
    assert refused >= len(ODD) / 2


def test_a_path_takes_no_threads_that_are_none():
    with pytest.raises(ValueError, match="n_jobs must be a number of threads"):
        solve_path(*CHAIN, n_jobs=0)
    with pytest.raises(ValueError, match="max_gammas must be a whole number ≥ 1, got 0"):
        solve_path(*CHAIN, max_gammas=0)
