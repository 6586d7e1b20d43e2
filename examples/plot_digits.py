"""
Handwritten digits
==================

600 scanned digits of 8 × 8 pixels. The clusters of the path are compared with what the writers
meant, which the estimator never sees.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import normalized_mutual_info_score

from convexcluster import KernelConvexClustering

X, y = load_digits(return_X_y=True)
X, y = X[:600], y[:600]
model = KernelConvexClustering(n_clusters=10).fit(X)
print(f"NMI {normalized_mutual_info_score(y, model.labels_):.3f} with 10 clusters")
print(f"relative gap {model.certificate_.relative_gap:.1e}")
print(model.certificate_.partition)

# %%
# The mean image of each cluster, with the digit that most of its members show. In most
# clusters nine of ten images or more are of one digit.

figure, axes = plt.subplots(2, 5, figsize=(9, 4), layout="constrained")
for label, ax in enumerate(axes.flat):
    members = model.labels_ == label
    digit = np.bincount(y[members]).argmax()
    ax.imshow(X[members].mean(axis=0).reshape(8, 8), cmap="Greys")
    share = np.mean(y[members] == digit)
    ax.set_title(f"{members.sum()} images\n{share:.0%} are {digit}", fontsize=9)
    ax.set_axis_off()
plt.show()
