"""
Choosing γ
==========

γ is the strength of fusion. Instead of one value, look at the whole path: how many clusters there
are at each γ, how long a partition lives, and how sure the answer is.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_blobs

from convexcluster import KernelConvexClustering
from convexcluster.plots import ClusterCountDisplay, DendrogramDisplay

X, y = make_blobs(
    n_samples=[60, 60, 60, 60],
    centers=[[0, 0], [3, 0], [10, 8], [13, 8]],
    cluster_std=0.6,
    random_state=3,
)
model = KernelConvexClustering(bandwidth=2.0).fit(X)
print(f"{model.n_clusters_} clusters at γ = {model.gamma_:.3g}")
print(f"confidence of the choice: {model.selection_.confidence:.2f}")

# %%
# Every γ of the path, with its number of clusters and its duality gap.

print(model.path_.to_frame().iloc[::8].to_string(index=False))

# %%
# Two pairs of blobs: four clusters live long, and two live longer still.

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 8), layout="constrained")
ClusterCountDisplay.from_estimator(model).plot(top)
DendrogramDisplay.from_estimator(model).plot(bottom)
plt.show()
