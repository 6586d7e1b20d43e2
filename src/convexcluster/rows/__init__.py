"""Where the data are: rows in memory, in files or on a cluster, worked on block by block."""

from .blocks import Blocks, as_blocks, check_block, write_labels
from .plan import Plan, parse_bytes, plan_fit
from .source import LocalRows, Rows, array_rows, file_rows

__all__ = [
    "Blocks",
    "LocalRows",
    "Plan",
    "Rows",
    "array_rows",
    "as_blocks",
    "check_block",
    "file_rows",
    "parse_bytes",
    "plan_fit",
    "write_labels",
]
