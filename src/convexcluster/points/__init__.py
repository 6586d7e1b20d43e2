"""What the path runs on: distinct rows or cells of rows, and what grouping them costs."""

from .aggregates import make_aggregates
from .distinct import Merged, check_sample_weight, keep_all, merge_equal
from .error import CoarseningError
from .expand import expand_graph, expand_path, expand_tree
from .links import check_groups, link
from .passes import cut_finer, make_cells
from .points import Points
from .sure import RowLabels
from .vote import Vote

__all__ = [
    "CoarseningError",
    "Merged",
    "Points",
    "RowLabels",
    "Vote",
    "check_groups",
    "check_sample_weight",
    "cut_finer",
    "expand_graph",
    "expand_path",
    "expand_tree",
    "keep_all",
    "link",
    "make_aggregates",
    "make_cells",
    "merge_equal",
]
