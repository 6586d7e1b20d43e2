"""`python docs/parameters.py`: writes docs/parameters.md, the page of every parameter.

Names, defaults and texts are those of ``KernelConvexClustering``, what a parameter may be is said
by the rules that check it, and choices are the keys of the dictionaries that a fit looks them up
in.
"""

from __future__ import annotations

import inspect
import re
import sys
from importlib import import_module
from pathlib import Path
from textwrap import dedent

from convexcluster import ConvexClustering, KernelConvexClustering
from convexcluster.cli.options import Model
from convexcluster.embedding import EMBEDDINGS
from convexcluster.kernels import ALIASES, KERNELS, METRICS
from convexcluster.selection import SELECTORS
from convexcluster.settings import RULES
from convexcluster.solvers import SOLVERS
from convexcluster.weights import WEIGHTS

PAGE = Path(__file__).with_name("parameters.md")

# In the order of the pipeline; a parameter that is in none of them is an error.
GROUPS = {
    "How many clusters": "n_clusters gamma selection min_cluster_size labels",
    "What is near": "kernel bandwidth kernel_params metric feature_weights",
    "The graph": "weights n_neighbors weight_bandwidth weight_space",
    "Accuracy and proof": "certify tol solver max_iter embedding rank embedding_tol",
    "Size and time": "coarsen max_memory n_jobs random_state verbose",
}
CHOICES = {
    "kernel": KERNELS,
    "metric": METRICS,
    "weights": WEIGHTS,
    "embedding": EMBEDDINGS,
    "selection": SELECTORS,
    "solver": SOLVERS,
}
AUTOMATIC = "Boundaries that stand: valleys of the density or tensions of the path."


def texts() -> dict[str, str]:
    """Parameter → its text in the docstring, as Markdown."""
    doc = inspect.getdoc(KernelConvexClustering) or ""
    block = doc.partition("Parameters\n----------\n")[2].partition("\n\nAttributes\n")[0]
    parts = re.split(r"^(\w+) : (.*)$", block, flags=re.MULTILINE)
    return {
        name: markdown(" ".join(dedent(text).split()))
        for name, text in zip(parts[1::3], parts[3::3], strict=True)
    }


def markdown(text: str) -> str:
    """Docstrings' marks for code and references as those of these pages."""
    text = re.sub(r":(func|class|meth):`([^`]+)`", r"{py:\1}`\2`", text)
    return text.replace("``", "`").replace("|", "\\|")


def first_line(dictionary: object, name: str) -> str:
    """What a choice is: the first sentence of its function, or of the file of a solver."""
    if dictionary is SELECTORS and name == "auto":
        return AUTOMATIC
    if dictionary is SOLVERS:
        found = import_module(f"convexcluster.solvers.{name}").__doc__
    else:
        found = dictionary[name].__doc__
    line = (found or "").strip().splitlines()[0]
    return markdown(re.sub(r":func:`(\w+)`", r"``\1``", line))


def choices(name: str) -> list[str]:
    """A table of the choices, or their names alone."""
    found = CHOICES.get(name)
    if found is None:
        return []
    if not isinstance(found, dict):
        return [", ".join(f"`{choice}`" for choice in found) + ".", ""]
    rows = [f"| `{choice}` | {first_line(found, choice)} |" for choice in found]
    lines = ["| choice | |", "|---|---|", *rows, ""]
    if found is KERNELS:
        also = ", ".join(f"`{short}` ({long})" for short, long in ALIASES.items())
        lines += [f"Other names: {also}.", ""]
    return lines


def default(name: str) -> str:
    """The default of a parameter, as code."""
    value = inspect.signature(KernelConvexClustering).parameters[name].default
    return f'"{value}"' if isinstance(value, str) else repr(value)


def section(name: str) -> list[str]:
    """One parameter: default, what it may be, text, choices, and the option of the command."""
    facts = [f"default `{default(name)}`", f"may be {RULES[name][1]}".replace("|", "\\|")]
    if name in Model.__dataclass_fields__:
        facts.append(f"option `--{name.replace('_', '-')}`")
    if name not in inspect.signature(ConvexClustering).parameters:
        facts.append("not in `ConvexClustering`")
    return [f"### {name}", "", f"*{'; '.join(facts)}*", "", texts()[name], "", *choices(name)]


def page() -> str:
    """The whole page."""
    known = list(inspect.signature(KernelConvexClustering).parameters)
    shown = [name for names in GROUPS.values() for name in names.split()]
    if sorted(known) != sorted(shown):
        raise ValueError(f"in one of both alone: {set(known) ^ set(shown)}")
    lines = [
        "# All parameters",
        "",
        "Of `KernelConvexClustering`; `ConvexClustering` has the same without those of the kernel.",
        "What each does to a picture is in [](choosing.md). This page is written by",
        "`python docs/parameters.py` from the code.",
        "",
        "| parameter | default |",
        "|---|---|",
    ]
    for name in shown:
        lines.append(f"| [`{name}`](#{name}) | `{default(name)}` |")
    for title, names in GROUPS.items():
        lines += ["", f"## {title}", ""]
        for name in names.split():
            lines += section(name)
        lines.pop()
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name}: {len(page().splitlines())} lines", file=sys.stderr)
