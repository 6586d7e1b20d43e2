"""Theorem 1 as an inequality that can be checked, on any graph.

For any reference U, graph and γ write Z − U = ε̄ + DᵀΨ, with ε̄ the mean of Z − U over each component
of the graph and the electrical flow Ψ = diag(w) D L_w⁺(Z − U − ε̄). With θ = max_l ‖ψ_l‖/(γ w_l) and
P(A) = Σ w_l ‖(DA)_l‖

    ‖A* − U‖² ≤ ‖ε̄‖² + (1 + θ) γ P(U) − (1 − θ) γ P(A*).

Proof. F is 1-strongly convex: ‖A* − U‖² ≤ ⟨Z − U, A* − U⟩ + γP(U) − γP(A*). The means of A* are
those of Z, so that the inner product is ‖ε̄‖² + ⟨Ψ, D(A* − U)⟩ ≤ ‖ε̄‖² + θγ(P(A*) + P(U)). ∎

No weight has to be positive for every pair, as the proof of Theorem 1 needs.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np

from ..graph import components, gamma_range
from ..partition import means
from ..plots.appearance import COLOURS, log_axis, tidy
from ..problem import Floats, Problem
from ..solvers import solve_problem
from ..weights import automatic_graph
from . import theorem
from .cells import Cell, Page, Result, Results
from .writing import figure, formatted, markdown_table

# n with all pairs, and of neighbour graphs, whose edges are few.
SIZES = {"complete": (20, 40, 80, 160), "neighbours": (20, 40, 80, 160, 1_000)}
# Neighbours of each sample, as in the estimators.
NEIGHBOURS = 7
HEADER = ["graph", "n", "error", "this bound", "the paper's bound", "above this bound"]


def bound(problem: Problem, U: Floats, A: Floats) -> float:
    """Right-hand side for the optimum A of ``problem``, whose masses are 1.

    Examples
    --------
    >>> problem = Problem.of([[0.0], [2.0]], [[0, 1]], [1.0], gamma=1.0)
    >>> bound(problem, problem.Z, np.array([[1.0], [1.0]]))
    2.0
    """
    noise = problem.Z - U
    mean = means(noise, problem.masses, labels := components(problem.edges, problem.n))[labels]
    # max ‖ψ_l‖/w_l, the γ at which the flow of the noise fits into the capacities
    _, load = gamma_range(noise, problem.edges, problem.weights, problem.masses)
    at_truth, at_optimum = (_penalty(problem, B) for B in (U, A))
    first = (problem.gamma + load) * at_truth
    return float((mean**2).sum()) + first - (problem.gamma - load) * at_optimum


def _penalty(problem: Problem, A: Floats) -> float:
    i, j = problem.edges.T
    return float(problem.weights @ np.linalg.norm(A[i] - A[j], axis=1))


def draws(graph: str, n: int) -> Result:
    """Cell: error and both bounds, over 2n, in repeated draws of the data of Theorem 1.

    γ is the theorem's with all pairs; on a neighbour graph, for which the theorem has none, it is
    the γ with θ = 1, which only a simulation knows.
    """
    rows = []
    for repeat in range(theorem.REPEATS):
        U, Z = theorem.sample(n, np.random.default_rng([n, repeat]))
        if graph == "complete":
            edges = np.column_stack(np.triu_indices(n, 1))
            problem = Problem.of(Z, edges, np.ones(len(edges)), 2 * theorem.z0(n))
            paper = 3 * problem.gamma * _penalty(problem, U) + 2 * n * theorem.tail(n)
        else:
            found = automatic_graph(Z, n_neighbors=NEIGHBOURS, masses=np.ones(n))
            problem = Problem.of(Z, found.edges, found.weights)
            load = gamma_range(Z - U, problem.edges, problem.weights, problem.masses)[1]
            problem, paper = problem.at(load), float("nan")
        A = solve_problem(problem, tol=1e-6).A
        rows.append([float(((A - U) ** 2).sum()), bound(problem, U, A), paper])
    table = np.array(rows) / (2 * n)
    error, ours, paper = table.mean(axis=0).tolist()
    above = int((table[:, 0] > table[:, 1]).sum())
    return {
        "graph": graph,
        "n": n,
        "error": error,
        "bound": ours,
        "paper": None if np.isnan(paper) else paper,
        "violations": above,
        "repeats": len(rows),
    }


def page() -> Generator[list[Cell], Results, Page]:
    """Error and both bounds, as a table and one figure."""
    wanted = [
        Cell(f"oracle-{graph}-{n}", draws, {"graph": graph, "n": n})
        for graph, sizes in SIZES.items()
        for n in sizes
    ]
    results = yield wanted
    rows: list[dict[str, Any]] = [results[cell.key] for cell in wanted]
    shown = [
        {**row, "said": "–" if row["paper"] is None else f"{row['paper']:.4f}"} for row in rows
    ]
    figures = ("{error:.4f}", "{bound:.4f}", "{said}", "{violations} of {repeats}")
    above, all_draws = (sum(row[key] for row in rows) for key in ("violations", "repeats"))
    text = f"""# Theorem 1 as a bound that can be checked on any graph

For any reference U, graph and γ, with Z − U = ε̄ + DᵀΨ (ε̄ the mean over each component of the
graph, Ψ the electrical flow of the rest), θ = max ‖ψ_l‖/(γ w_l) and P(A) = Σ w_l ‖(DA)_l‖,

    ‖A* − U‖² ≤ ‖ε̄‖² + (1 + θ) γ P(U) − (1 − θ) γ P(A*).

Strong convexity gives ‖A* − U‖² ≤ ⟨Z − U, A* − U⟩ + γP(U) − γP(A*); the means of A* are those of
Z, so that the inner product is ‖ε̄‖² + ⟨Ψ, D(A* − U)⟩ ≤ ‖ε̄‖² + θγ(P(A*) + P(U)). The proof of
Theorem 1 needs a positive weight for every pair ([theorem1](theorem1.md)); this one needs none.

![error and bounds](oracle.png)

Data as in [theorem1](theorem1.md), means over the draws, all divided by 2n. With all pairs γ is the
theorem's threshold. On the graph of {NEIGHBOURS} neighbours γ is the one with θ = 1, which only a
simulation knows: the bound says what a good γ reaches, not how to find it.

{markdown_table(HEADER, formatted(shown, "{graph}", "{n:,}", *figures))}

- The bound was exceeded {above} times of {all_draws}.
- On neighbour graphs most of the weight lies inside the groups, P(U) is small, and so are the bound
  and the error; Theorem 1 says nothing there.
"""
    return Page(text, {"oracle.csv": rows}, {"oracle.png": _draw(rows)})


def _draw(rows: list[dict[str, Any]]) -> Any:
    made, axes = figure(1, 2, 10, 4.2)
    titles = {"complete": "all pairs", "neighbours": f"graph of {NEIGHBOURS} neighbours"}
    for ax, (graph, title) in zip(axes, titles.items()):
        mine = [row for row in rows if row["graph"] == graph]
        for rank, (key, name, line) in enumerate(
            [("error", "error", "o-"), ("bound", "this bound", "s--"), ("paper", "paper", "^:")]
        ):
            if mine[0][key] is not None:
                values = [row[key] for row in mine]
                ax.plot([row["n"] for row in mine], values, line, color=COLOURS[rank], label=name)
        log_axis(ax)
        ax.set_yscale("log")
        tidy(ax, title, "number of samples n", "mean squared error of the centroids / 2")
        ax.legend(frameon=False, fontsize=8)
    return made
