"""The solution path: every γ of a grid, each with the duality gap of the full problem.

    F(A) = ½ Σ mᵢ‖zᵢ − aᵢ‖² + γ Σ_l w_l ‖a_i(l) − a_j(l)‖,   γ₁ < γ₂ < …

Input is an embedding Z, a weighted graph and, if wanted, a grid; output is a
:class:`~convexcluster.ClusterPath`.
"""

from .fusion import fusion_value
from .solve import solve_path

__all__ = ["fusion_value", "solve_path"]
