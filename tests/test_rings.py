"""The paper's rings: its own parameters and the default estimator told only k."""

import pytest
from sklearn.metrics import normalized_mutual_info_score

from convexcluster import KernelConvexClustering
from convexcluster.datasets import make_rings


@pytest.mark.parametrize("seed", range(20))
def test_paper_parameters_find_the_rings(seed):
    X, y = make_rings(random_state=seed)
    paper = KernelConvexClustering(
        bandwidth=1.0,
        n_neighbors=6,
        weight_bandwidth=100.0,
        gamma=1.0,
        labels="agglomerative",
        selection="elbow",
    ).fit(X)
    assert paper.n_clusters_ == 5
    assert normalized_mutual_info_score(y, paper.labels_) >= 0.999
    told = KernelConvexClustering(n_clusters=5).fit(X)
    assert normalized_mutual_info_score(y, told.labels_) >= 0.999
