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
    centers=[[0, 0], [4, 0], [14, 10], [18, 10]],
    cluster_std=0.5,
    random_state=3,
)
model = KernelConvexClustering(certify="path").fit(X)
print(f"{model.n_clusters_} clusters at γ = {model.gamma_:.3g}")
print(f"confidence of the choice: {model.selection_.confidence:.2f}")

# %%
# Some γ of the path, with the number of clusters and the relative duality gap.

print(model.path_.to_frame().iloc[::3].to_string(index=False))

# %%
# How clear each number of clusters is: ``height`` of its faintest boundary, in units of the level
# that a boundary must reach to stand, and ``clarity``, that height over the next fainter one, both
# taken as a quarter at least. Four clusters are the clearest.

print(model.selection_.to_frame().head(6).to_string(index=False))

# %%
# The choice, and the other numbers of clusters that would stand, each over its range of γ: the two
# pairs of groups are clusters as well.

for layer in model.selection_.layers:
    print(layer)

figure, (top, bottom) = plt.subplots(2, 1, figsize=(8, 8), layout="constrained")
ClusterCountDisplay.from_estimator(model).plot(top)
DendrogramDisplay.from_estimator(model).plot(bottom)
plt.show()
