"""Ward's trees where many distances tie: nearest-neighbour chains must not cycle."""

import numpy as np
import pytest
from scipy.cluster import hierarchy
from sklearn.datasets import load_wine

from convexcluster import KernelConvexClustering
from convexcluster.labels import sse_curve, ward_tree
from convexcluster.numerics.ward import ward_points


@pytest.mark.parametrize("masses", [np.ones(36), 1 + np.arange(36) % 3 / 3.0])
def test_lattice(masses):
    points = np.stack(np.meshgrid(np.arange(6.0), np.arange(6.0)), axis=-1).reshape(-1, 2) / 3
    cost = ward_points(points, masses).cost
    # the increases of all merges add up to the scatter about the mean, whatever the ties
    scatter = float(masses @ ((points - masses @ points / masses.sum()) ** 2).sum(axis=1))
    assert cost.sum() == pytest.approx(scatter, rel=1e-12)
    assert sse_curve(ward_tree(points, masses))[0] == pytest.approx(scatter, rel=1e-12)


def test_wine_whose_single_paths_tie():
    X = load_wine().data
    model = KernelConvexClustering().fit((X - X.mean(axis=0)) / X.std(axis=0))
    assert hierarchy.is_valid_linkage(model.linkage_)
    assert len(model.labels_) == 178
