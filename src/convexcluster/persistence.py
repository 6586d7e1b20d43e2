"""Models on disk: a fitted estimator in one file, and back with predictions equal to the last bit.

The file is a :class:`~convexcluster.storage.Container`: arrays of numbers and JSON with checksums,
never pickled code. It holds what ``predict`` and ``transform`` read, labels, tree, choice and
certificate; the path, the graph and what else is as large only where they are asked for.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .certificate import Certificate
from .embedding import EMBEDDINGS, Embedding
from .estimators import ConvexClustering, KernelConvexClustering
from .graph import Graph
from .kernels import Kernel, Mixture, SumKernel, resolve_kernel
from .path.clusterpath import ClusterPath
from .points import CoarseningError, Points, Vote
from .points.cells import Cells
from .points.units import Unit
from .selection import Layer, Selection
from .settings import Settings
from .storage.container import Container, FileRefused, first_line


class ModelFileError(FileRefused):
    """The file is no model, is damaged, or is of another format version; the message says which."""


def _kernel(
    name: str, params: dict[str, Any], function: None = None, metric: str = "auto"
) -> Kernel:
    """A kernel that has a name, with parameters that it takes."""
    if function is not None:
        raise ValueError("a kernel of code, which no model file holds")
    return resolve_kernel(name, 1.0, params, metric=metric)


def _mixture(name: str, params: dict[str, Any], function: None = None, **parts: Any) -> Mixture:
    """A sum of kernels that have names."""
    if (name, params, function) != ("sum", {}, None):
        raise ValueError("a sum of kernels with something else")
    if not all(isinstance(view, Kernel) for view in parts["views"]):
        raise ValueError("a sum of something else than kernels")
    return Mixture(name, **parts)


def _embedding(method: str, **parts: Any) -> Embedding:
    """An embedding whose method has a name."""
    if method not in EMBEDDINGS:
        raise ValueError(f"embedding {method!r} is unknown")
    return Embedding(method=method, **parts)


def _selection(runner_up: int | None = None, **parts: Any) -> Selection:
    """A choice; files of format 2 name a runner-up as well, which layers have replaced."""
    return Selection(**parts)


# What a file may name: nothing else is ever built for it.
ESTIMATORS = {cls.__name__: cls for cls in (KernelConvexClustering, ConvexClustering)}
CHOICE = (Layer, Selection)
PLAIN = (Cells, Certificate, ClusterPath, CoarseningError, Graph, *CHOICE, Points, Unit, Vote)
RECORDS: dict[str, Callable[..., Any]] = {cls.__name__: cls for cls in PLAIN}
RECORDS |= {"Embedding": _embedding, "Kernel": _kernel, "Selection": _selection}
RECORDS |= {"Mixture": _mixture, "SumKernel": SumKernel}
FORMAT, FORMAT_VERSION = "convexcluster model", 3
MODEL = Container(FORMAT, FORMAT_VERSION, RECORDS, ModelFileError, reads=(2,))

# What a fitted model cannot be without, and of which type.
STATE = {
    "labels_": np.ndarray,
    "n_clusters_": int,
    "n_features_in_": int,
    "gamma_": float,
    "centroids_": np.ndarray,
    "linkage_": np.ndarray,
    "selection_": Selection,
    "certificate_": Certificate,
    "_embedding": Embedding,
    "_vote": Vote,
    "_index": np.ndarray,
    "_point_labels": np.ndarray,
}
# What is as large as the path, and is kept with it alone.
WITH_PATH = {
    "path_": ClusterPath,
    "graph_": Graph,
    "dual_coef_": np.ndarray,
    "points_": Points,
    "coarsening_": CoarseningError,
    "_links": np.ndarray,
    "_valleys": np.ndarray,
}


def save(
    model: Any,
    file: str | os.PathLike[str],
    *,
    path: bool = False,
    notes: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted estimator to one file that :func:`load` reads.

    Parameters
    ----------
    model : KernelConvexClustering or ConvexClustering
        Fitted.
    file : path-like
        Replaced if it exists; left as it was if writing fails.
    path : bool
        Whether to keep ``path_``, ``embedding_``, ``graph_``, ``dual_coef_``, ``points_`` and
        ``coarsening_`` as well, and a graph that was given as ``weights``. They are many times as
        large as the rest, and reports, pictures of the path and soft answers are made of them.
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
    if not path:
        left = {*WITH_PATH, "_ids"}
        state = {key: value for key, value in state.items() if key not in left}
        state["_embedding"] = replace(model._embedding, Z=model._embedding.Z[:0])
        if not isinstance(parameters["weights"], str):
            parameters["weights"] = None  # another fit asks for the graph again
    content = {"estimator": name, "parameters": parameters, "state": state}
    MODEL.write(file, {**content, "notes": dict(notes or {})})


def load(file: str | os.PathLike[str]) -> Any:
    """Read an estimator back; its predictions are those of the saved one, to the last bit.

    No code of the file is run. See :func:`save` for an example.

    Raises
    ------
    ModelFileError
        If the file is not a model, is damaged, or is of another format version.
    """
    content = MODEL.read(file)
    try:
        make, parameters = ESTIMATORS[content["estimator"]], content["parameters"]
        model = make(**parameters)
        for key, value in content["state"].items():
            if not key.strip("_").isidentifier() or hasattr(type(model), key):
                raise ValueError(f"unknown attribute {key!r}")
            setattr(model, key, value)
        if "_index" in vars(model) and "_point_labels" not in vars(model):  # format version 2
            model._point_labels = _point_labels(model)
        if model.weights is None:  # a graph that was given, and left out of the file
            parameters = {**parameters, "weights": "knn"}
        Settings.of(make(**parameters))  # refuses what no fit would have taken
        for key, kind in (STATE | WITH_PATH).items():
            if key in WITH_PATH and key not in vars(model):
                continue
            if not isinstance(vars(model).get(key), kind):
                raise ValueError(f"{key} is missing or is not of the type {kind.__name__}")
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise ModelFileError(f"{os.fspath(file)} is damaged: {first_line(error)}") from error
    return model


def _point_labels(model: Any) -> np.ndarray:
    """Labels of the points of a file that does not have them."""
    count = int(model._index.max()) + 1
    if len(model._vote.labels) == count:
        return np.asarray(model._vote.labels)
    labels = np.zeros(count, dtype=np.int64)
    labels[model._index] = model.labels_  # every row is a point
    return labels


def load_notes(file: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the notes that were saved beside a model."""
    return dict(MODEL.read(file).get("notes", {}))
