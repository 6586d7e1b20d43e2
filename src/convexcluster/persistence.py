"""Models on disk: a fitted estimator in one file, and back with predictions equal to the last bit.

The file is a :class:`~convexcluster.storage.Container`: arrays of numbers and JSON with checksums,
never pickled code.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from .certificate import Certificate
from .embedding import Embedding
from .estimators import ConvexClustering, KernelConvexClustering
from .graph import Graph
from .kernels import Kernel
from .path.clusterpath import ClusterPath
from .points import CoarseningError, Points
from .points.cells import Cells
from .selection import Selection
from .storage.container import Container, FileRefused, first_line


class ModelFileError(FileRefused):
    """The file is no model, is damaged, or is of another format version; the message says which."""


# What a file may name: nothing else is ever built for it.
ESTIMATORS = {cls.__name__: cls for cls in (KernelConvexClustering, ConvexClustering)}
RECORDS = (
    Cells,
    Certificate,
    ClusterPath,
    CoarseningError,
    Embedding,
    Graph,
    Kernel,
    Points,
    Selection,
)
MODEL = Container("convexcluster model", 2, {cls.__name__: cls for cls in RECORDS}, ModelFileError)


def save(
    model: Any, path: str | os.PathLike[str], *, notes: Mapping[str, Any] | None = None
) -> None:
    """Write a fitted estimator to one file that :func:`load` reads.

    Parameters
    ----------
    model : KernelConvexClustering or ConvexClustering
        Fitted.
    path : path-like
        Replaced if it exists; left as it was if writing fails.
    notes : mapping, optional
        Plain data to keep beside the model, for :func:`load_notes`.

    Raises
    ------
    TypeError
        If a parameter is code (a callable kernel, a random generator), which data cannot hold.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from convexcluster import KernelConvexClustering, load
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> model = KernelConvexClustering(n_clusters=2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/model")
    ...     again = load(f"{folder}/model")
    >>> again.predict([[0.2], [4.0]])
    array([0, 1])
    """
    name = type(model).__name__
    if name not in ESTIMATORS or not hasattr(model, "labels_"):
        raise TypeError(f"save wants a fitted {' or '.join(ESTIMATORS)}, got {name}")
    parameters = model.get_params(deep=False)
    if callable(parameters["verbose"]):
        parameters["verbose"] = 0  # the function that a fit reports to is no part of the model
    state = {key: value for key, value in vars(model).items() if key.strip("_") != key}
    content = {"estimator": name, "parameters": parameters, "state": state}
    MODEL.write(path, {**content, "notes": dict(notes or {})})


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator back; its predictions are those of the saved one, to the last bit.

    No code of the file is run. See :func:`save` for an example.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or is of another format version.
    """
    content = MODEL.read(path)
    try:
        model = ESTIMATORS[content["estimator"]](**content["parameters"])
        for key, value in content["state"].items():
            if not key.strip("_").isidentifier() or hasattr(type(model), key):
                raise ValueError(f"unknown attribute {key!r}")
            setattr(model, key, value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"{os.fspath(path)} is damaged: {first_line(error)}") from error
    return model


def load_notes(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the notes that were saved beside a model."""
    return dict(MODEL.read(path).get("notes", {}))
