"""Single cells beside Leiden: ``python -m benchmarks.cells``.

``sc_celseq2``, ``sc_dropseq`` and ``sc_celseq2_5cl_p1`` (folder ``cells`` of CONVEXCLUSTER_DATA)
are mixtures of cell lines, so that the truth is known by design; ``pbmc68k_reduced`` ships inside
the wheel of scanpy, and its labels are annotations by bulk profiles. Counts are normalised, logged
and reduced to 30 components of 2,000 genes by scanpy's defaults, with scanpy's graph of
neighbours. Ours is ``convexcluster.anndata.cluster`` on that graph with its defaults; Leiden has
resolutions 0.5 and 1. A run with nothing left out writes docs/cells-results.md. Needs the group
``rivals`` of pyproject.toml.
"""

from __future__ import annotations

import os
import time
import warnings
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.metrics import adjusted_rand_score

from benchmarks.sets import Sets

LINES = ("sc_celseq2", "sc_dropseq", "sc_celseq2_5cl_p1")
NAMES = ("pbmc68k_reduced", *LINES)
RESOLUTIONS = (0.5, 1.0)


def load(name):
    """An AnnData object with components and neighbours, and its truth."""
    import anndata
    import scanpy as sc

    if name not in LINES:
        adata = sc.datasets.pbmc68k_reduced()
        return adata, adata.obs["bulk_labels"].astype(str).to_numpy()
    with np.load(Path(os.environ["CONVEXCLUSTER_DATA"]) / "cells" / f"{name}.npz") as part:
        pieces = (part["data"], part["indices"], part["indptr"])
        counts = sparse.csr_matrix(pieces, shape=part["shape"]).astype(np.float32)
        truth = part["classes"][part["y"]]
    adata = anndata.AnnData(counts)
    sc.pp.filter_genes(adata, min_cells=3)
    sc.pp.normalize_total(adata, target_sum=1e4)
    sc.pp.log1p(adata)
    sc.pp.highly_variable_genes(adata, n_top_genes=2000)
    sc.pp.pca(adata, n_comps=30)
    sc.pp.neighbors(adata)
    return adata, truth


def row(name):
    """One row of the table."""
    import scanpy as sc

    from convexcluster.anndata import cluster

    adata, truth = load(name)
    told = cluster(adata, len(np.unique(truth)), copy=True)  # the first one compiles
    start = time.process_time()
    cluster(adata)
    spent = time.process_time() - start
    found = [adata.obs["convexcluster"], told.obs["convexcluster"]]
    for resolution in RESOLUTIONS:
        options = {"flavor": "igraph", "n_iterations": 2, "directed": False, "random_state": 0}
        sc.tl.leiden(adata, resolution, **options)
        found.append(adata.obs["leiden"].copy())
    scores = [f"{adjusted_rand_score(truth, c):.2f} ({c.nunique()})" for c in found]
    ours = adata.uns["convexcluster"]
    sure = f"{ours['verdict']}, {ours['confidence']:.2f}"
    return [name, f"{adata.n_obs:,}", str(len(np.unique(truth))), *scores, sure, f"{spent:.1f}"]


BENCHMARK = Sets(
    command="python -m benchmarks.cells",
    file="cells-results.md",
    title="Single cells beside Leiden",
    text="""Adjusted Rand index, and the number of clusters in brackets, of
    `convexcluster.anndata.cluster` on scanpy's graph of neighbours and of Leiden on the same graph.
    The truth of `sc_celseq2`, `sc_dropseq` and `sc_celseq2_5cl_p1` is known by design: they are
    mixtures of cell lines (Tian et al., Nat. Methods 2019). The labels of `pbmc68k_reduced` are
    annotations by bulk profiles, which need not be clusters of the graph.""",
    packages=("anndata", "scanpy", "leidenalg", "igraph", "pandas"),
    columns=(
        "set",
        "cells",
        "k",
        "ours, told nothing",
        "ours, told k",
        *(f"Leiden {resolution:g}" for resolution in RESOLUTIONS),
        "verdict, confidence",
        "CPU s",
    ),
    names=NAMES,
    row=row,
)

if __name__ == "__main__":
    warnings.simplefilter("ignore")  # scanpy's about versions to come, and sizes of components
    BENCHMARK.run()
