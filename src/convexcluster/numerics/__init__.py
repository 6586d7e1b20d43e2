"""Numerics on arrays alone: linear systems of graphs, principal axes, Ward's trees.

Nothing here knows a problem, a solver or a path; every function is given the arrays it works on.
"""
