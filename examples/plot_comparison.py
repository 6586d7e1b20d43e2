"""
Beside k-means and HDBSCAN
==========================

Five shapes that textbooks like, and three methods. k-means is told the number of clusters, and so
is kernel convex clustering in the second column; HDBSCAN and the last column are told nothing. The
moons of the last row are noisy enough to touch, and there nobody finds them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from convexcluster import KernelConvexClustering

A, a = make_blobs(300, random_state=170)
DATA = {
    "moons": make_moons(300, noise=0.06, random_state=0),
    "circles": make_circles(300, factor=0.5, noise=0.04, random_state=0),
    "varied": make_blobs(300, cluster_std=[1.0, 2.5, 0.5], random_state=170),
    "stretched": (A @ [[0.6, -0.6], [-0.4, 0.8]], a),
    "noisy moons": make_moons(300, noise=0.12, random_state=0),
}
METHODS = {
    "k-means, told k": lambda k: KMeans(k, n_init=10, random_state=0),
    "kernel convex, told k": lambda k: KernelConvexClustering(k),
    "HDBSCAN": lambda k: HDBSCAN(copy=True),
    "kernel convex": lambda k: KernelConvexClustering(),
}

figure, axes = plt.subplots(len(DATA), 4, figsize=(12, 15), layout="constrained")
for row, (name, (X, y)) in zip(axes, DATA.items()):
    X = StandardScaler().fit_transform(X)
    for ax, (method, make) in zip(row, METHODS.items()):
        labels = make(len(np.unique(y))).fit_predict(X)
        nmi = normalized_mutual_info_score(y, labels)
        print(f"{name:11s} {method:22s} NMI {nmi:.3f}, {len(np.unique(labels))} labels")
        ax.scatter(*X.T, c=labels % 10, cmap="tab10", s=8, vmin=0, vmax=9)
        ax.set_title(f"{method}\nNMI {nmi:.3f}", fontsize=10)
        ax.set_axis_off()
plt.show()
