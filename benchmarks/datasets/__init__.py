"""One file per data set, each with ``make() -> list[Data]``."""

from . import blobs, kernel_moons, moons

DATASETS = {data.__name__.rpartition(".")[2]: data.make for data in (moons, blobs, kernel_moons)}
