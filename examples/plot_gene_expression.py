"""
Gene expression
===============

96 tissue samples, 4,026 genes, nine kinds of lymphoma and normal cells (Alizadeh and others, 2000):
far more features than samples. The data are not part of the package; the folder that holds them is
named by ``CONVEXCLUSTER_DATA``.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import normalized_mutual_info_score

from convexcluster import KernelConvexClustering
from convexcluster.datasets import load_lymphoma
from convexcluster.plots import DendrogramDisplay, TSNEDisplay

X, y = load_lymphoma()
model = KernelConvexClustering(n_clusters=9).fit(X)
print(f"{X.shape[0]} samples × {X.shape[1]} genes")
print(f"NMI {normalized_mutual_info_score(y, model.labels_):.3f}")
print(f"relative gap {model.certificate_.relative_gap:.1e}")

# %%
# The tree of fusions, and the clusters in a t-SNE map.

figure, (left, right) = plt.subplots(1, 2, figsize=(12, 5), layout="constrained")
DendrogramDisplay.from_estimator(model).plot(left)
TSNEDisplay.from_data(X, model.labels_).plot(right)
plt.show()
