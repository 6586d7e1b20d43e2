"""Clusters of an AnnData object, by the conventions of ``scanpy.tl.leiden``.

Input: a representation of the cells (``obsm["X_pca"]``) and their graph (``obsp["connectivities"]``
of ``scanpy.pp.neighbors``); output: a column of ``obs`` and what is known about it in ``uns``. Only
anndata is needed, not scanpy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse

from ..estimators import KernelConvexClustering
from ..optional import need
from ..problem import Ints
from ..tables.check import check_container

__all__ = ["cluster"]


def cluster(
    adata: Any,
    n_clusters: int | None = None,
    *,
    use_rep: str | None = None,
    n_pcs: int | None = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    adjacency: Any = None,
    restrict_to: tuple[str, Sequence[str]] | None = None,
    key_added: str = "convexcluster",
    rng: Any = None,
    copy: bool = False,
    **parameters: Any,
) -> Any:
    """Cluster the observations of an AnnData object.

    Parameters
    ----------
    adata : AnnData
    n_clusters : int, optional
        Chosen on the path if not given.
    use_rep : str, optional
        Key of ``obsm``, or "X"; by default "X_pca" where there is one, else X.
    n_pcs : int, optional
        Only the first columns of it.
    neighbors_key : str, optional
        Key of ``uns`` where ``scanpy.pp.neighbors`` has put its graph.
    obsp : str, optional
        Key of ``obsp`` of a graph.
    adjacency : sparse matrix of shape (n_obs, n_obs), optional
        A graph: symmetric, weights ≥ 0. Without any of the three ``obsp["connectivities"]`` is
        taken where there is one; ``weights="knn"`` builds a graph from the representation instead.
    restrict_to : (str, sequence of str), optional
        Key of ``obs`` and the categories of it that are clustered; the others stay as they are.
    key_added : str
        Name of the new column of ``obs``; with ``restrict_to`` and the default ``_R`` is appended.
    rng : int, Generator or None
    copy : bool
        Whether to return a changed copy instead of changing ``adata``.
    **parameters
        Of :class:`convexcluster.KernelConvexClustering`.

    Returns
    -------
    AnnData or None
        None unless ``copy``. Sets

        ``obs[key_added]`` : categorical of strings "0", "1", …, the largest cluster first
        ``obs[key_added + "_membership"]`` : share of the own cluster, nan where not clustered
        ``obs[key_added + "_outlier_score"]`` : minus the log density
        ``obsm[key_added + "_membership"]`` : shares of all clusters, shape (n_obs, n_clusters)
        ``uns[key_added]`` : "params", "n_clusters", "verdict", "confidence", "gamma",
        "certificate", "linkage" (SciPy's format), "medoids" (names of observations), "layers" (for
        every further number of clusters that would stand: "labels", "gamma_range", "confidence")

    Examples
    --------
    >>> from anndata import AnnData  # doctest: +SKIP
    >>> adata = AnnData(np.repeat(np.eye(3) * 9, 20, axis=0))  # doctest: +SKIP
    >>> cluster(adata)  # doctest: +SKIP
    >>> adata.obs["convexcluster"].value_counts().tolist()  # doctest: +SKIP
    [20, 20, 20]
    """
    _check(adata, key_added, parameters)
    adata = adata.copy() if copy else adata
    where: dict[str, Any] = {
        "use_rep": use_rep,
        "n_pcs": n_pcs,
        "neighbors_key": neighbors_key,
        "obsp": obsp,
    }
    where |= {"adjacency": adjacency, "restrict_to": restrict_to}
    clustered(adata, n_clusters, where, key_added, rng, parameters)
    return adata if copy else None


def clustered(
    adata: Any,
    n_clusters: int | None,
    where: Mapping[str, Any],
    key_added: str,
    rng: Any,
    parameters: Mapping[str, Any],
) -> tuple[KernelConvexClustering, str]:
    """Cluster ``adata`` in place: the fitted model, and the key of ``obs`` and ``uns``.

    ``where`` names the representation, the graph and the observations, as in :func:`cluster`.
    """
    _check(adata, key_added, parameters)
    restrict_to, n_pcs = where.get("restrict_to"), where.get("n_pcs")
    members, named = _restricted(adata, restrict_to)
    X, place = representation(adata, where.get("use_rep"), n_pcs)
    graph, source = _graph(adata, where, parameters)
    if restrict_to is not None:
        X = X[members]
        graph = None if graph is None else graph[members][:, members]
        key_added = f"{key_added}_R" if key_added == "convexcluster" else key_added
    given = dict(parameters) if graph is None else {**parameters, "weights": graph}
    whole = isinstance(rng, int | np.integer)
    seed = rng if rng is None or whole else np.random.default_rng(rng)
    model = KernelConvexClustering(n_clusters, **given, random_state=seed).fit(X)
    told: dict[str, Any] = {"n_clusters": n_clusters, "use_rep": place, "n_pcs": n_pcs}
    told |= {"graph": source, "random_state": rng if whole else None, **parameters}
    if restrict_to is not None:
        told["restrict_to"] = [restrict_to[0], *named]
    _write(adata, model, members, named, key_added, told)
    return model, key_added


def _check(adata: Any, key: Any, parameters: Mapping[str, Any]) -> None:
    if not (hasattr(adata, "obsm") and hasattr(adata, "obsp") and hasattr(adata, "uns")):
        raise TypeError(
            f"adata must be an AnnData object, got {type(adata).__name__}: arrays and data frames "
            "are fitted by KernelConvexClustering().fit(X)"
        )
    if adata.n_obs == 0:
        raise ValueError("adata has no observations")
    if not isinstance(key, str) or not key or "/" in key:
        raise ValueError(f"key_added must be a name without '/', got {key!r}")
    known = set(signature(KernelConvexClustering).parameters) - {"n_clusters", "random_state"}
    for name in parameters:
        if name == "resolution":
            raise TypeError(
                "there is no resolution: the number of clusters is chosen, or is n_clusters; "
                "uns[key_added]['layers'] has further numbers that would stand"
            )
        if name == "random_state":
            raise TypeError("random_state is called rng here")
        if name not in known:
            raise TypeError(f"cluster has no parameter {name!r}, nor has KernelConvexClustering")


def representation(adata: Any, use_rep: str | None, n_pcs: int | None) -> tuple[Any, str]:
    """Rows that are clustered, and where they are."""
    place = use_rep or ("X_pca" if "X_pca" in adata.obsm else "X")
    if place != "X" and place not in adata.obsm:
        raise ValueError(f"use_rep={place!r} is not in obsm, which has {_listed(adata.obsm)}, or X")
    X = adata.X if place == "X" else adata.obsm[place]
    if X is None:
        raise ValueError("adata has no X: name a representation with use_rep")
    check_container(X)
    if hasattr(X, "to_numpy"):
        X = X.to_numpy()
    X = _csr(X) if sparse.issparse(X) else np.asarray(X)
    if n_pcs is not None:
        if not isinstance(n_pcs, int | np.integer) or not 1 <= n_pcs <= X.shape[1]:
            raise ValueError(
                f"n_pcs must be in 1 … {X.shape[1]}, the columns of {place}: {n_pcs!r}"
            )
        X = X[:, :n_pcs]
    return X.astype(np.float64), place


def _graph(adata: Any, where: Mapping[str, Any], parameters: Mapping[str, Any]) -> tuple[Any, str]:
    """The graph that was named, or that of the default key; and where it is."""
    named = {name: where.get(name) for name in ("neighbors_key", "obsp", "adjacency")}
    neighbors_key, obsp, adjacency = named.values()
    told = [name for name, value in named.items() if value is not None]
    told += ["weights"] if "weights" in parameters else []
    if len(told) > 1:
        raise ValueError(f"pass one of {' and '.join(told)}, not both: each is a graph")
    if "weights" in parameters:
        return None, "weights"
    if adjacency is not None:
        shape = np.shape(adjacency)
        if shape != (adata.n_obs, adata.n_obs):
            raise ValueError(f"adjacency must be n_obs × n_obs = {adata.n_obs:,}², got {shape}")
        return _csr(adjacency), "adjacency"
    key = obsp
    if neighbors_key is not None:
        if neighbors_key not in adata.uns:
            raise ValueError(
                f"neighbors_key={neighbors_key!r} is not in uns: run "
                f"scanpy.pp.neighbors(adata, key_added={neighbors_key!r}) first"
            )
        entry = adata.uns[neighbors_key]
        if not isinstance(entry, Mapping) or "connectivities_key" not in entry:
            raise ValueError(f"uns[{neighbors_key!r}] was not made by scanpy.pp.neighbors")
        key = entry["connectivities_key"]
    if key is not None and key not in adata.obsp:
        raise ValueError(f"obsp has no {key!r}; it has {_listed(adata.obsp)}")
    if key is None and "connectivities" not in adata.obsp:
        return None, "made from the representation"
    key = key or "connectivities"
    return _csr(adata.obsp[key]), f"obsp/{key}"


def _csr(matrix: Any) -> Any:
    return sparse.csr_array(matrix)


def _listed(keys: Any) -> str:
    return ", ".join(map(repr, keys)) or "nothing"


def _restricted(adata: Any, restrict_to: Any) -> tuple[Ints, list[str]]:
    """Positions of the observations that are clustered, and the categories that hold them."""
    if restrict_to is None:
        return np.arange(adata.n_obs), []
    try:
        key, names = restrict_to
        wanted = [names] if isinstance(names, str) else [str(name) for name in names]
    except (TypeError, ValueError):
        raise ValueError(
            f"restrict_to must be (key of obs, list of categories), got {restrict_to!r}"
        ) from None
    if key not in adata.obs:
        raise ValueError(f"restrict_to: obs has no column {key!r}")
    column = adata.obs[key].astype(str).to_numpy()
    missing = [name for name in wanted if name not in set(column)]
    if missing or not wanted:
        raise ValueError(
            f"restrict_to: {missing[0] if missing else names!r} is no category of obs[{key!r}], "
            f"which has {_listed(sorted(set(column)))}"
        )
    return np.flatnonzero(np.isin(column, wanted)), wanted


def _write(
    adata: Any,
    model: Any,
    members: Ints,
    named: list[str],
    key: str,
    told: dict[str, Any],
) -> None:
    """Set ``obs``, ``obsm`` and ``uns``; what is there by these names is replaced."""
    pandas, natsort = need("pandas", "anndata"), need("natsort", "anndata")
    groups = model.labels_.astype(str).astype(object)
    if not named:
        values = groups
    else:
        before = adata.obs[told["restrict_to"][0]]
        values = before.astype(str).astype(object).where(before.notna(), None).to_numpy(copy=True)
        values[members] = [f"{'-'.join(named)},{group}" for group in groups]
    order = natsort.natsorted(set(values) - {None})
    index = adata.obs_names
    shares = np.full((adata.n_obs, model.n_clusters_), np.nan)
    shares[members] = model.membership_
    lonely = np.full(adata.n_obs, np.nan)
    lonely[members] = model.outlier_score_
    own = np.full(adata.n_obs, np.nan)
    own[members] = shares[members, model.labels_]
    adata.obs[key] = pandas.Series(pandas.Categorical(values, categories=order), index=index)
    adata.obs[f"{key}_membership"] = own
    adata.obs[f"{key}_outlier_score"] = lonely
    adata.obsm[f"{key}_membership"] = shares
    selection, certificate = model.selection_, model.certificate_
    plain = {field.name: getattr(certificate, field.name) for field in fields(certificate)}
    adata.uns[key] = {
        "params": {name: _plain(value) for name, value in told.items() if value is not None},
        "n_clusters": int(model.n_clusters_),
        "verdict": selection.verdict,
        "confidence": float(selection.confidence),
        "gamma": float(model.gamma_),
        "certificate": {
            name: _plain(value)
            for name, value in plain.items()
            if isinstance(value, bool | int | float | str)
        },
        "linkage": model.linkage_,
        "medoids": index[members[model.medoid_indices_]].to_numpy(dtype=object),
        "layers": {
            str(layer.n_clusters): {
                "labels": np.asarray(layer.labels),
                "gamma_range": np.asarray(layer.gamma_range, dtype=np.float64),
                "confidence": float(layer.confidence),
            }
            for layer in getattr(selection, "layers", ())
        },
    }


def _plain(value: Any) -> Any:
    """A parameter as h5ad files hold it: numbers, text, and lists of text as arrays."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, bool | int | float | str | np.ndarray):
        return value
    if isinstance(value, list | tuple):
        return np.asarray(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(inner) for name, inner in value.items()}
    return str(value)
