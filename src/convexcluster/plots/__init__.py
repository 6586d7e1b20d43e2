"""Pictures of data, paths and fitted estimators, as matplotlib ``Display`` objects.

A display computes its arrays when it is made (``from_data``, ``from_path``, ``from_estimator``) and
draws late, by ``plot(ax=None)``, which returns the axes. matplotlib is only needed to draw.
"""

from __future__ import annotations

from .along import ClusterCountDisplay, ClusterPathDisplay
from .blocks import ClusterSizesDisplay, KernelMatrixDisplay
from .condensed import CondensedTreeDisplay
from .curves import ElbowDisplay, NMIDisplay
from .features import FeatureWeightsDisplay
from .heatmap import HeatmapDisplay
from .points import LabelScatterDisplay, TSNEDisplay
from .silhouettes import SilhouetteDisplay
from .trees import DendrogramDisplay
from .trials import GapDisplay, HyperparameterDisplay

__all__ = [
    "ClusterCountDisplay",
    "ClusterPathDisplay",
    "ClusterSizesDisplay",
    "CondensedTreeDisplay",
    "DendrogramDisplay",
    "ElbowDisplay",
    "FeatureWeightsDisplay",
    "GapDisplay",
    "HeatmapDisplay",
    "HyperparameterDisplay",
    "KernelMatrixDisplay",
    "LabelScatterDisplay",
    "NMIDisplay",
    "SilhouetteDisplay",
    "TSNEDisplay",
]
