"""Tables as they are: columns of numbers, categories, booleans, dates, identifiers and text.

:mod:`~convexcluster.tables.kinds` says what a column holds, :mod:`~convexcluster.tables.check`
refuses what is no number, and :class:`MixedEncoder` makes numbers of it.
"""

from .check import check_table
from .encoder import MixedEncoder
from .kinds import Column, columns_of

__all__ = ["Column", "MixedEncoder", "check_table", "columns_of"]
