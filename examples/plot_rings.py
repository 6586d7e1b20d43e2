"""
Rings and blobs
===============

The paper's synthetic data: four blobs of 50 samples inside a ring of 200. No straight line
separates the ring from what it holds, so methods that look for compact clusters cut it to pieces.
In the space of a Gaussian kernel the ring is one cluster like the others.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import normalized_mutual_info_score

from convexcluster import KernelConvexClustering
from convexcluster.datasets import make_rings

X, y = make_rings(random_state=0)

# %%
# The number of clusters is all that the estimator is told.

model = KernelConvexClustering(n_clusters=5).fit(X)
print(f"NMI {normalized_mutual_info_score(y, model.labels_):.4f}")
print(f"relative gap {model.certificate_.relative_gap:.1e}")

# %%
# The partition, and the centroids of the samples moving together along the path.

from convexcluster.plots import ClusterPathDisplay, LabelScatterDisplay

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
LabelScatterDisplay.from_data(X, model.labels_).plot(left)
ClusterPathDisplay.from_estimator(model).plot(right)
plt.show()
