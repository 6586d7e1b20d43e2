"""The reproduction end to end on a small share of it: pages, resuming, determinism."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convexcluster.graph import Graph, gamma_range
from convexcluster.problem import Problem
from convexcluster.reproduce import (
    TARGETS,
    cells,
    methods,
    one_sweep,
    oracle,
    paper,
    rings,
    run,
    score,
    table1,
    theorem,
    writing,
)
from convexcluster.solvers import solve, solve_problem

pytest.importorskip("matplotlib")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> None:
    """Two data sets, two methods of few settings, two seeds and k = 2, 3."""
    few = {name: methods.METHODS[name] for name in ("KCC", "k-means")}
    few = {
        name: methods.Contender(method.grid[:1], method.partitions, method.default)
        for name, method in few.items()
    }
    for module in (methods, score, table1, rings):
        monkeypatch.setattr(module, "METHODS", few)
    for table in ("TABLE1", "TABLE1_CLUSTERS"):
        kept = {name: getattr(paper, table)[name] for name in ("zoo", "GLIOMA")}
        monkeypatch.setattr(paper, table, kept)
    monkeypatch.setattr(paper, "METHODS", ("KCC", "k-means"))
    monkeypatch.setattr(rings, "SEEDS", 2)
    monkeypatch.setattr(rings, "CLUSTERS", range(5, 6))
    monkeypatch.setattr(theorem, "COMPLETE_SIZES", (8, 12))
    monkeypatch.setattr(theorem, "SPARSE_SIZES", (50, 100))
    monkeypatch.setattr(theorem, "REPEATS", 2)
    monkeypatch.setattr(oracle, "SIZES", {"complete": (8,), "neighbours": (12,)})


SMALL = ("table1", "table2", "fig-nmi-k", "theorem1", "oracle")


@pytest.mark.usefixtures("small")
def test_pages_resume_and_repeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []
    first, second = tmp_path / "a", tmp_path / "b"
    pages = run(SMALL, first, progress=lambda k, text: seen.append(text), n_jobs=1)
    assert [page.stem for page in pages] == ["README", *SMALL]
    assert any("KCC" in text for text in seen)
    text = (first / "table1.md").read_text("utf-8")
    assert "[0.736]" in text  # the paper's figure beside ours
    assert "zoo" in (first / "table1.csv").read_text("utf-8")
    assert (first / "fig-nmi-k.png").stat().st_size > 5_000

    # a cell that is there is not computed again; one that is gone, broken or old is
    files = sorted((first / "cells").glob("*.json"))
    gone, broken, old = files[:3]
    gone.unlink()
    broken.write_text("{")
    record = json.loads(old.read_text("utf-8"))
    old.write_text(json.dumps({**record, "version": "0"}))
    computed: list[str] = []

    def compute(cell: cells.Cell) -> dict[str, object]:
        computed.append(cell.key)
        return original(cell)

    original = cells.compute
    monkeypatch.setattr(cells, "compute", compute)
    run(SMALL, first, n_jobs=1)
    assert sorted(computed) == sorted(file.stem for file in (gone, broken, old))

    # from nothing again: the same files, but for the seconds in the index
    run(SMALL, second, n_jobs=1)
    for file in sorted(first.glob("*.*")):
        if file.name != "README.md":
            assert file.read_bytes() == (second / file.name).read_bytes(), file.name


def test_an_interrupted_run_keeps_what_it_has(tmp_path: Path) -> None:
    wanted = [cells.Cell(f"c{n}", theorem.sparse, {"n": n}) for n in (30, 40, 50)]
    running = cells.finished(wanted, tmp_path)
    next(running)
    running.close()
    assert [file.name for file in tmp_path.glob("*.json")] == ["c30.json"]
    assert len(list(cells.finished(wanted, tmp_path))) == 3
    assert not list(tmp_path.glob(".*"))


def test_workers_change_nothing(tmp_path: Path) -> None:
    wanted = [cells.Cell(f"c{n}", theorem.sparse, {"n": n}) for n in (30, 40)]
    alone = {c.key: r["result"] for c, r in cells.finished(wanted, tmp_path / "1", 1)}
    two = {c.key: r["result"] for c, r in cells.finished(wanted, tmp_path / "2", 2)}
    assert alone == two


def test_unknown_targets_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="table9"):
        run(["table9"], tmp_path)
    assert set(TARGETS) >= {"table1", "table2", "table3", "fig-nmi-k", "theorem1", "one-sweep"}


def test_every_method_has_the_same_budget() -> None:
    for name, method in methods.METHODS.items():
        assert len(method.grid) == (1 if name == "C-PAINT" else methods.SETTINGS), name
    assert list(methods.METHODS)[: len(paper.METHODS)] == list(paper.METHODS)
    assert all(set(row) == set(paper.METHODS) for row in paper.TABLE1.values())


def test_every_method_answers_every_rule() -> None:
    X, y = score.rings(3, 0)
    for name, method in methods.METHODS.items():
        rules = set()
        for part in method.partitions(X, method.grid[0], {"paper": 4, "classes": 3}):
            assert len(part.labels) == len(X)
            assert len(np.unique(part.labels)) <= 20 or part.rule == "own"
            rules.add(part.rule)
        assert rules >= {"paper", "classes"}, name
        assert "told" in method.default(X, 3), name
    assert len(np.unique(y)) == 3


def test_told_k_is_the_estimators_own_answer() -> None:
    from convexcluster import KernelConvexClustering

    X, y = score.rings(3, 1)
    labels = methods.METHODS["KCC"].default(X, 3)["told"]
    own = KernelConvexClustering(3, random_state=0).fit_predict(X)
    assert score.nmi(np.asarray(labels), own) == 1.0
    assert score.nmi(y, own) == 1.0


def test_one_sweep_is_its_closed_form() -> None:
    rng = np.random.default_rng(0)
    Z, rho, n = rng.normal(size=(7, 3)), 0.3, 7
    edges = np.array([[0, 1], [1, 2], [2, 6], [3, 4], [0, 5]])
    A = one_sweep.one_sweep(Z, Graph(edges, rng.uniform(0.5, 1, 5)), 2.0, rho)
    spread = np.zeros_like(Z)
    for i, j in edges:
        spread[i] += Z[i] - Z[j]
        spread[j] += Z[j] - Z[i]
    expected = (Z + 2 * rho * spread + n * rho * Z.mean(axis=0)) / (1 + n * rho)
    np.testing.assert_allclose(A, expected, atol=1e-13)


def test_the_shortcut_solves_another_problem() -> None:
    """On the complete graph it is ADMM and finds the optimum; on a sparse one it does not."""
    rng = np.random.default_rng(1)
    Z = rng.normal(size=(8, 2))
    pairs = np.column_stack(np.triu_indices(8, 1))
    for edges, exact in ((pairs, True), (pairs[::4], False)):
        problem = Problem.of(Z, edges, np.ones(len(edges)), 0.1)
        best = solve(Z, edges, np.ones(len(edges)), 0.1, tol=1e-10)
        excess = problem.objective(one_sweep.iterate(problem, 0.2, 4_000)) - problem.objective(
            best.A
        )
        assert (excess <= 1e-8 * problem.scale) == exact


@settings(deadline=None, max_examples=60)
@given(
    st.sampled_from(["generic", "star", "chain", "apart", "copies"]),
    st.integers(2, 12),
    st.floats(0.001, 10.0),
    st.integers(0, 10**6),
)
def test_the_oracle_inequality_holds(kind: str, n: int, gamma: float, seed: int) -> None:
    """Any reference, graph and γ; A is within √(2·gap) of the optimum, P within its Lipschitz."""
    rng = np.random.default_rng(seed)
    Z, U = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)).round()
    pairs = np.column_stack(np.triu_indices(n, 1))
    if kind == "star":
        edges = pairs[pairs[:, 0] == 0]
    elif kind == "chain":
        edges = pairs[np.diff(pairs, axis=1).ravel() == 1]
    elif kind == "apart":
        edges = pairs[(pairs % 2).sum(axis=1) % 2 == 0]
    else:
        edges = pairs[rng.random(len(pairs)) < 0.6]
    if kind == "copies":
        Z[n // 2 :] = Z[0]
    problem = Problem.of(Z, edges, rng.uniform(0.1, 2.0, len(edges)), gamma)
    found = solve_problem(problem, tol=1e-10)
    A, radius = found.A, float(np.sqrt(2 * found.gap))
    error = float(((A - U) ** 2).sum())
    load = gamma_range(Z - U, problem.edges, problem.weights, problem.masses)[1]
    slack = radius * (2 * np.sqrt(error) + radius)
    slack += radius * (gamma + load) * 2 * float(problem.weights.sum())
    right = oracle.bound(problem, U, A)
    assert error <= right + slack + 1e-9 * abs(right) + 1e-9


def test_theorem_threshold_has_its_tail() -> None:
    n, draws = 6, 200_000
    rng = np.random.default_rng(0)
    noise = rng.normal(scale=theorem.SIGMA / np.sqrt(theorem.DIMENSIONS), size=(draws, 2, 5))
    # a_t = (e_i − e_j)/n: ‖εᵀa_t‖ exceeds z₀ with probability 1/C(n, 2)² = 1/225
    share = (np.linalg.norm(noise[:, 0] - noise[:, 1], axis=1) / n > theorem.z0(n)).mean()
    assert abs(share - 1 / 225) < 5 * np.sqrt(1 / 225 / draws)


def test_tables_are_plain(tmp_path: Path) -> None:
    writing.write_csv(tmp_path / "t.csv", [{"a": 1, "b": "x,y"}])
    assert (tmp_path / "t.csv").read_text("utf-8") == 'a,b\n1,"x,y"\n'
    assert writing.markdown_table(["a", "b"], [["x", 1]], texts=2).splitlines()[1] == "|---|---|"


def test_defaults_see_the_features_as_they_are(monkeypatch):
    """Manhattan distances change when features are rotated."""
    from dataclasses import replace

    from convexcluster.reproduce import score

    X, seen = np.random.default_rng(0).normal(size=(6, 9)), []
    monkeypatch.setattr(score, "benchmark", lambda name: (X, np.arange(6) % 2))
    spy = replace(score.METHODS["KCC"], default=lambda rows, k: seen.append(rows) or {})
    monkeypatch.setitem(score.METHODS, "KCC", spy)
    score.real_default("zoo", "KCC")  # discrete: not scaled either
    np.testing.assert_array_equal(seen[0], X)
