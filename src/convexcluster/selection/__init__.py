"""Path → clusters: the averaged tree, scores for every number of clusters, and a choice.

Input is a path with its graph and embedding, output a :class:`Selection`. Nothing here knows of
estimators or of the samples' original features.
"""

from .average import PathAverage, average_tree, path_average, spread
from .choose import Selection, select, select_at
from .null import Null, null_sample
from .scores import SELECTORS, Candidates

__all__ = [
    "SELECTORS",
    "Candidates",
    "Null",
    "PathAverage",
    "Selection",
    "average_tree",
    "null_sample",
    "path_average",
    "select",
    "select_at",
    "spread",
]
