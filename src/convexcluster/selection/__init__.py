"""Path → clusters: the boundaries that the path holds apart, and a choice among their cuts.

Input is a path with its graph, and valleys of the density where the graph was built with them;
output is a :class:`Selection`. Nothing here knows of estimators or of the samples' features.
"""

from .choose import Layer, Selection, select, select_at
from .scores import SELECTORS, Candidates, lifetimes

__all__ = ["SELECTORS", "Candidates", "Layer", "Selection", "lifetimes", "select", "select_at"]
