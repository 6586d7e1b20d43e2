"""Files that are whole or absent: one atomic write, one container of arrays with a JSON header."""

from .atomic import replacing
from .container import Container

__all__ = ["Container", "replacing"]
