"""Files that are whole or absent: one atomic write, one container of arrays with a JSON header."""

from .atomic import check_writable, clear_partial, replacing
from .container import Container, FileRefused

__all__ = ["Container", "FileRefused", "check_writable", "clear_partial", "replacing"]
