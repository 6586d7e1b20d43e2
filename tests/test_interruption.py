"""Ctrl-C and kills: an interrupted fit is not a fit, and a resumed path is the path."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import CancelledError, ThreadPoolExecutor
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from joblib import effective_n_jobs
from sklearn.datasets import make_moons
from threadpoolctl import threadpool_info

import convexcluster
import kill_and_resume
from convexcluster import KernelConvexClustering, solve, solve_path, tune
from convexcluster.graph import Graph
from convexcluster.numerics.threads import Workers, interruptible, stop_if_asked
from convexcluster.path import checkpoint as checkpoint_module
from convexcluster.path import components, engine
from convexcluster.path.builder import PathBuilder
from convexcluster.plots import ClusterCountDisplay, ClusterPathDisplay
from convexcluster.report import report_html
from convexcluster.selection import select
from convexcluster.selection.tension import tension
from convexcluster.stages import choice, path, penalty, proof
from convexcluster.weights.search import LOOKED_UP, tree_neighbors
from kill_and_resume import PROBLEMS, as_bytes

# of processes that run in another folder: the package that is tested here
HERE = os.environ | {"PYTHONPATH": str(Path(convexcluster.__file__).parents[1])}

CHAIN = [[0.0], [1.0], [5.0]], [[0, 1], [1, 2]], [1.0, 1.0]


def press(*_):
    """Ctrl-C."""
    os.kill(os.getpid(), signal.SIGINT)


def at_step(count):
    def pressed(step, *_):
        if step == count:
            press()

    return pressed


@pytest.fixture(autouse=True)
def listening():
    """A shell that runs tests in the background has them ignore Ctrl-C; here it is to be heard."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def moons():
    return make_moons(300, noise=0.05, random_state=0)[0]


@pytest.fixture
def partial_path():
    path = solve_path(*CHAIN, [0.1, 1.2, 4.0], callback=at_step(1))
    assert not path.complete
    return path


# a fit


@pytest.mark.parametrize("certify", ["selected", "path"])
def test_ctrl_c_during_the_path_of_a_fit_is_no_fit(moons, certify):
    threads = threading.active_count()
    model = KernelConvexClustering(verbose=at_step(10), certify=certify)
    with pytest.raises(KeyboardInterrupt):
        model.fit(moons)
    assert threading.active_count() == threads
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.mark.parametrize(
    ("home", "name"),
    [
        (penalty, "weigh"),
        (choice, "valleys"),
        (path, "path_of"),
        (choice, "select"),
        (proof, "prove_labels"),
        (path, "routed"),
        (proof, "prove"),
        (proof, "on_rows"),
    ],
)
def test_an_interrupted_refit_leaves_the_earlier_fit_whole(moons, home, name, monkeypatch):
    model = KernelConvexClustering(coarsen=100).fit(moons)
    model.set_params(coarsen=False, n_clusters=2)
    if name in ("routed", "prove"):  # where the proof in the full space has no centroids
        model.set_params(certify=False)
    before, threads = dict(vars(model)), set(threading.enumerate())
    stage = getattr(home, name)

    def pressed(*given, **options):
        press()
        return stage(*given, **options)

    monkeypatch.setattr(home, name, pressed)
    with pytest.raises(KeyboardInterrupt):
        model.fit(moons[:150])
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is before[name] for name in before)
    assert set(threading.enumerate()) <= threads


def test_a_refit_without_cells_drops_those_of_the_earlier_fit(moons):
    model = KernelConvexClustering(coarsen=100).fit(moons)
    assert hasattr(model, "points_")
    model.set_params(coarsen=False).fit(moons)
    assert not hasattr(model, "points_")
    assert not hasattr(model, "coarsening_")


def test_a_signal_inside_a_compiled_loop_is_a_keyboard_interrupt(moons, monkeypatch, partial_path):
    """Python answers it with SystemError("… returned a result with an exception set")."""

    def fuse(*_):
        try:
            raise SystemError("unpickle returned a result …") from KeyboardInterrupt()
        except SystemError as inner:
            raise SystemError("fuse returned a result with an exception set") from inner

    monkeypatch.setattr("convexcluster.path.grid.widest", fuse)
    with pytest.raises(KeyboardInterrupt):
        solve_path(*CHAIN)  # before its first step
    monkeypatch.setattr("convexcluster.path.top.fuse", fuse)
    with pytest.raises(KeyboardInterrupt):
        KernelConvexClustering().fit(moons)
    assert not solve_path(*CHAIN, [0.1, 1.2]).complete
    monkeypatch.setattr("convexcluster.solvers.duality_gap", fuse)
    with pytest.raises(KeyboardInterrupt):
        solve(*CHAIN, 0.5)
    with pytest.raises(SystemError, match="other"), interruptible():
        raise SystemError("other")


@pytest.mark.parametrize("field", ["split_labels", "split_steps", "merges", "gammas", "centers"])
def test_a_step_that_was_cut_short_is_not_part_of_the_path(field):
    """Ctrl-C while a step was written down left a path whose arrays were of different steps."""

    class Cut(list):
        def append(self, _):
            raise KeyboardInterrupt

    builder = PathBuilder(np.ones(3), 1.0)
    builder.add(0.1, np.array([0, 0, 1]), np.zeros((2, 1)), 0.0, True)
    whole = builder.build(complete=False)
    setattr(builder, field, Cut(getattr(builder, field)))
    with pytest.raises(KeyboardInterrupt):
        builder.add(0.2, np.array([0, 1, 0]), np.zeros((2, 1)), 0.0, True)  # splits 0 and 1
    cut = builder.build(complete=False)
    for name in ("gammas", "gaps", "merges", "merge_steps", "fusion_values", "split_steps"):
        np.testing.assert_array_equal(getattr(cut, name), getattr(whole, name), name)
    np.testing.assert_array_equal(cut.labels(step=0), [0, 0, 1])
    assert builder.reached(0.1)
    assert not builder.reached(0.2)


def test_a_path_that_ctrl_c_met_at_its_end_is_whole():
    def stop(step, count, *_):
        if step + 1 == count:
            raise KeyboardInterrupt

    assert solve_path(*CHAIN, [0.1, 1.2], callback=stop).complete


def test_ctrl_c_during_a_search_for_neighbours_leaves_no_thread():
    """The threads of SciPy's own search went on in freed memory: a crash."""
    X, calls, threads = np.zeros((4 * LOOKED_UP, 2)), [], set(threading.enumerate())

    class Tree:
        n = 0

        def query(self, rows, k, p):
            calls.append(len(rows))
            if len(calls) == 1:
                press()
            time.sleep(0.1)
            return np.zeros((len(rows), k)), np.zeros((len(rows), k), dtype=np.int64)

    with pytest.raises(KeyboardInterrupt):
        tree_neighbors(Tree(), X, 2, jobs=2)
    assert not set(threading.enumerate()) - threads
    assert len(calls) < 4


def test_workers_stop_when_their_block_is_left():
    begun, ended = threading.Event(), []

    def work(depth):
        if depth:
            with Workers(1) as inner:
                return inner.submit(work, depth - 1).result()
        begun.set()
        try:
            while True:
                stop_if_asked()
                time.sleep(0.001)
        except CancelledError:
            ended.append(True)
            raise

    threads, futures = threading.active_count(), []

    def block():
        with Workers(2) as workers:
            futures.extend(workers.submit(work, 1) for _ in range(4))
            begun.wait()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        block()
    first, *waiting = futures
    assert threading.active_count() == threads
    assert isinstance(first.exception(), CancelledError)
    assert 1 <= len(ended) <= 2
    assert all(future.cancelled() for future in waiting[1:])
    stop_if_asked()  # this thread is nobody's worker


def test_ctrl_c_while_workers_end_leaves_none_of_them(monkeypatch):
    shutdown, calls = ThreadPoolExecutor.shutdown, []

    def interrupted(self, *args, **options):
        calls.append(options)
        if len(calls) == 1:
            press()
        shutdown(self, *args, **options)

    monkeypatch.setattr(ThreadPoolExecutor, "shutdown", interrupted)
    threads = threading.active_count()
    with pytest.raises(KeyboardInterrupt), Workers(2) as workers:
        assert workers.submit(abs, -1).result() == 1
    assert threading.active_count() == threads
    assert len(calls) == 2


# a path that is not whole


def test_nothing_is_selected_on_a_partial_path(partial_path):
    Z, edges, weights = (np.array(x) for x in CHAIN)
    graph = Graph(edges, weights)
    with pytest.raises(ValueError, match="interrupted after 2 values of γ"):
        select(Z, partial_path, None)
    with pytest.raises(ValueError, match="solve it to its end"):
        tension(partial_path, graph, 1.0)


def test_plots_and_report_say_that_a_path_is_partial(partial_path):
    for display in (ClusterCountDisplay, ClusterPathDisplay):
        assert "interrupted" in display.from_path(partial_path).plot().get_title()
    complete = solve_path(*CHAIN, [0.1, 1.2])
    assert "interrupted" not in ClusterCountDisplay.from_path(complete).plot().get_title()
    assert '"complete": false' in report_html(partial_path).replace('":', '": ').replace("  ", " ")


def test_a_search_stops(moons, monkeypatch):
    calls = []

    def advance(self, gamma, pool):
        calls.append(gamma)
        press()
        return before(self, gamma, pool)

    before = components.Components.advance
    monkeypatch.setattr(components.Components, "advance", advance)
    with pytest.raises(KeyboardInterrupt):
        tune(moons[:60], grid={"bandwidth": [0.5, 1.0, 2.0]})
    assert len(calls) == 1


def test_threads_of_a_search_are_those_that_ctrl_c_ends(moons, monkeypatch):
    names = set()

    def score(y, labels):
        names.add(threading.current_thread().name)
        stop_if_asked()
        if len(names) == 2:
            press()
        time.sleep(0.001)
        return 0.0

    threads, y = threading.active_count(), np.arange(60) % 2
    with pytest.raises(KeyboardInterrupt):
        tune(moons[:60], y, grid={"bandwidth": [0.5, 1.0, 2.0]}, scoring=score, n_jobs=2)
    assert threading.active_count() == threads
    assert all(name.startswith("convexcluster ") for name in names)


# checkpoints


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_path_that_stops_after_every_step_is_the_path(name, tmp_path, monkeypatch):
    monkeypatch.setattr(checkpoint_module, "EVERY", 0.0)
    monkeypatch.setattr(components, "APART", kill_and_resume.APART)
    Z, edges, weights, options = PROBLEMS[name](np.random.default_rng(1))
    whole = solve_path(Z, edges, weights, **options)
    file = tmp_path / "state"
    for count in range(1, len(whole) + 1):
        stop = at_step(count - 1)
        part = solve_path(Z, edges, weights, **options, checkpoint=file, callback=stop)
        assert len(part) == count
    again = solve_path(Z, edges, weights, **options, checkpoint=file)
    expected, found = as_bytes(whole), as_bytes(again)
    assert [field for field in expected if expected[field] != found[field]] == []


def test_the_problems_refine_rotate_and_have_parts(monkeypatch):
    """Else the tests of resuming would not meet what is hard to resume."""
    monkeypatch.setattr(components, "APART", kill_and_resume.APART)
    rotated, refined, engines = {}, {}, {}
    rotate, init = engine.Engine._rotate, engine.Engine.__init__
    calls = []

    def rotating(self, Q):
        calls.append("rotate")
        rotate(self, Q)

    def making(self, *given):
        calls.append("make")
        init(self, *given)

    monkeypatch.setattr(engine.Engine, "_rotate", rotating)
    monkeypatch.setattr(engine.Engine, "__init__", making)
    for name, make in PROBLEMS.items():
        calls.clear()
        Z, edges, weights, options = make(np.random.default_rng(1))
        path = solve_path(Z, edges, weights, **options, refine=False)
        rotated[name], engines[name] = calls.count("rotate"), calls.count("make")
        refined[name] = len(solve_path(Z, edges, weights, **options)) - len(path)
    assert rotated["wide"] >= 1
    assert rotated["uncertified"] >= 1
    assert engines["parts"] >= 3
    assert sum(count > 0 for count in refined.values()) >= 2


def killed(name, kills, folder, seed):
    script = Path(kill_and_resume.__file__)
    done = subprocess.run(
        [sys.executable, script, name, str(kills), str(seed), folder],
        capture_output=True,
        text=True,
        env=HERE,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["killed"] == kills
    assert found["resumed"] >= kills / 3  # the others were killed before the first γ
    assert found["complete"]
    assert found["differ"] == []
    assert found["left"] == ["answer", "whole"]


def test_a_killed_path_goes_on_as_the_path(tmp_path):
    killed("plane", 4, tmp_path, seed=0)


@pytest.mark.slow
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_path_killed_25_times_is_the_path(name, tmp_path):
    killed(name, 25, tmp_path, seed=1)


def never(*_):
    raise AssertionError("a γ was solved")


@pytest.mark.parametrize("content", [b"", b"hello\n", b"PK\x05\x06" + 18 * b"\0", "older", "cut"])
def test_a_checkpoint_that_cannot_be_continued_is_refused(tmp_path, content, monkeypatch):
    file = tmp_path / "state"
    if isinstance(content, str):
        if content == "older":
            old = checkpoint_module.FILE.__class__(checkpoint_module.FILE.format, 3)
            old.write(file, {"key": "", "engines": []})
        else:
            solve_path(*CHAIN, checkpoint=file)
            file.write_bytes(file.read_bytes()[:-30])
    else:
        file.write_bytes(content)
    monkeypatch.setattr(components.Components, "advance", never)
    with pytest.raises(ValueError, match=re.escape(str(file))) as refused:
        solve_path(*CHAIN, checkpoint=file)
    assert "delete it" in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("change", ["problem", "grid", "tol"])
def test_a_checkpoint_of_something_else_is_refused(tmp_path, change, monkeypatch):
    file = tmp_path / "state"
    solve_path(*CHAIN, checkpoint=file)
    monkeypatch.setattr(components.Components, "advance", never)
    Z = [[0.0], [1.5], [5.0]] if change == "problem" else CHAIN[0]
    options = {"grid": {"gammas": [0.1, 1.2]}, "tol": {"tol": 1e-7}}.get(change, {})
    with pytest.raises(ValueError, match=r"another problem or grid.*delete it"):
        solve_path(Z, *CHAIN[1:], **options, checkpoint=file)


@pytest.mark.parametrize("place", ["missing/state", "file/state", ".", "a" * 300])
def test_a_checkpoint_that_cannot_be_written_is_refused_first(tmp_path, place, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(components.Components, "advance", never)
    with pytest.raises(OSError, match="checkpoint") as refused:
        solve_path(*CHAIN, checkpoint=tmp_path / place)
    assert str(tmp_path / place) in str(refused.value)
    assert "pass a file" in str(refused.value)
    assert [f.name for f in tmp_path.iterdir()] == ["file"]


def test_what_a_kill_left_is_cleaned_up_at_the_next_start(tmp_path):
    for name in (".state.0123abcd", ".state.other", ".states.0123abcd", "state.0123abcd"):
        (tmp_path / name).write_bytes(b"half")
    solve_path(*CHAIN, checkpoint=tmp_path / "state")
    left = {f.name for f in tmp_path.iterdir()}
    assert left == {"state", ".state.other", ".states.0123abcd", "state.0123abcd"}


# the command

# The command as it is, with a Ctrl-C whose moment does not depend on the machine's speed: at the
# COUNT-th call of NAME.
COMMAND = """
import os, signal, sys
from importlib import import_module
import convexcluster.fit
from convexcluster.cli import main
name, count = sys.argv.pop(1), int(sys.argv.pop(1))
module, _, attribute = name.partition(":")
owner = import_module(module)
*inside, last = attribute.split(".")
for part in inside:
    owner = getattr(owner, part)
before, calls = getattr(owner, last), []
def pressed(*given, **options):
    calls.append(1)
    if len(calls) == count:
        os.kill(os.getpid(), signal.SIGINT)
    return before(*given, **options)
setattr(owner, last, pressed)
main()
"""


@pytest.fixture
def command(tmp_path, moons):
    np.savetxt(tmp_path / "data.csv", moons[:120], delimiter=",", header="a,b", comments="")

    def call(name, count, *more):
        return subprocess.run(
            [sys.executable, "-c", COMMAND, name, str(count), "fit", "data.csv", *more],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env=HERE,
        )

    return call


@pytest.mark.parametrize(
    ("name", "count"),
    [
        ("convexcluster.optional:need", 1),
        ("convexcluster.path.builder:PathBuilder.add", 11),
        ("convexcluster.weights.valleys:at_scale", 1),
        ("convexcluster.persistence:save", 1),
        ("convexcluster.cli.write:check_folder", 1),
    ],
)
def test_an_interrupted_command_writes_nothing(command, tmp_path, name, count):
    done = command(name, count, "--out", "deep/results")
    assert done.returncode == 130, done.stderr
    assert done.stderr == "convexcluster: interrupted; nothing was written\n"
    assert [f.name for f in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize("name", ["cli.write:_swap", "cli.fitting:show"])
def test_a_command_that_has_written_is_done(command, tmp_path, name):
    done = command(f"convexcluster.{name}", 1, "--out", "results")
    assert (done.returncode, done.stderr) == (0, "")
    assert sorted(f.name for f in tmp_path.iterdir()) == ["data.csv", "results"]
    summary = json.loads((tmp_path / "results" / "summary.json").read_text())
    assert summary["files"] == sorted(f.name for f in (tmp_path / "results").iterdir())


def test_an_interrupted_command_keeps_what_it_was_to_replace(command, tmp_path):
    assert command("convexcluster.persistence:save", 9, "--out", "results").returncode == 0
    before = {f.name: f.read_bytes() for f in (tmp_path / "results").iterdir()}
    done = command("convexcluster.persistence:save", 1, "--out", "results", "--force")
    assert done.returncode == 130
    assert {f.name: f.read_bytes() for f in (tmp_path / "results").iterdir()} == before
    assert sorted(f.name for f in tmp_path.iterdir()) == ["data.csv", "results"]


def test_an_interrupt_that_is_swallowed_still_counts(command, tmp_path):
    """Ctrl-C inside a finaliser is printed by Python and lost: nothing may be written after it."""
    source = COMMAND.replace(
        "        os.kill(os.getpid(), signal.SIGINT)\n",
        "        try:\n            os.kill(os.getpid(), signal.SIGINT)\n"
        "        except KeyboardInterrupt:\n            pass\n",
    )
    done = subprocess.run(
        [sys.executable, "-c", source, "convexcluster.path.builder:PathBuilder.add", "3", "fit",
         "data.csv", "--out", "results"],
        cwd=tmp_path, capture_output=True, text=True, env=HERE,
    )  # fmt: skip
    assert done.returncode == 130, done.stderr
    assert [f.name for f in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.slow
def test_a_command_interrupted_at_any_moment_writes_all_or_nothing(tmp_path, moons):
    np.savetxt(tmp_path / "data.csv", moons, delimiter=",", header="a,b", comments="")
    main = [sys.executable, "-m", "convexcluster", "fit", "data.csv", "--out", "results"]
    begin = time.perf_counter()
    subprocess.run(main, cwd=tmp_path, check=True, capture_output=True, env=HERE)
    seconds = time.perf_counter() - begin
    codes = []
    for share in np.linspace(0.2, 1.1, 40):
        subprocess.run(["rm", "-r", "results"], cwd=tmp_path, check=False, capture_output=True)
        process = subprocess.Popen(main, cwd=tmp_path, stderr=subprocess.PIPE, text=True,
                                   stdout=subprocess.DEVNULL, env=HERE)  # fmt: skip
        time.sleep(share * seconds)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate()
        left = sorted(f.name for f in tmp_path.iterdir())
        codes.append(process.returncode)
        # −2: before the package had its handler, while Python itself started
        assert process.returncode in (0, 130, -signal.SIGINT), said
        assert left == (["data.csv", "results"] if process.returncode == 0 else ["data.csv"])
    assert codes.count(130) > 10


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_blas_leaves_the_cores_to_workers_and_has_them_back_when_the_last_has_ended():
    before, share = blas_threads(), max(1, effective_n_jobs(-1) // 2)
    first, second = Workers(1), Workers(2)
    first.__enter__()
    second.__enter__()
    assert all(count <= share for count in blas_threads())
    first.__exit__(None, None, None)
    assert all(count <= share for count in blas_threads())
    second.__exit__(ValueError, None, None)  # left by an error
    assert blas_threads() == before


def test_a_small_fit_has_one_blas_thread_and_large_ones_all_of_them(monkeypatch):
    stages, seen, before = import_module("convexcluster.fit"), [], blas_threads()
    build = stages.build_penalty

    def watching(*given):
        seen.append(blas_threads())
        return build(*given)

    monkeypatch.setattr(stages, "build_penalty", watching)
    X = make_moons(60, noise=0.05, random_state=0)[0]
    KernelConvexClustering().fit(X)
    assert seen == [[1] * len(before)]
    assert blas_threads() == before
    monkeypatch.setattr(stages, "SMALL", X.size - 1)
    KernelConvexClustering().fit(X)
    assert seen[1] == before
