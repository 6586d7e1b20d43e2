"""One file per method, each with ``skip(data)``, ``warm_up(data)`` and ``run(data, tol)``."""

from . import certified, clarabel, merging

SOLVERS = {solver.__name__.rpartition(".")[2]: solver for solver in (certified, merging, clarabel)}
