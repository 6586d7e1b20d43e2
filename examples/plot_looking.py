"""
Looking at clusters
===================

Three pictures of one fit: the data beside their tree, the condensed tree, and silhouettes. The
samples are 178 wines by thirteen chemical measurements.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.preprocessing import StandardScaler

from convexcluster import KernelConvexClustering
from convexcluster.plots import CondensedTreeDisplay, HeatmapDisplay, SilhouetteDisplay

wine = load_wine(as_frame=True)
X = StandardScaler().set_output(transform="pandas").fit_transform(wine.data)
model = KernelConvexClustering().fit(X)
print(model.selection_)
print(model.certificate_.statement)
assert model.n_clusters_ == 3

# %%
# Samples stand in the order of the tree that the clusters were cut from. A feature is orange where
# it is above its mean: cluster 0 has little alcohol, cluster 1 much proline, cluster 2 much colour.

HeatmapDisplay.from_estimator(model, wine.data).plot()
high = model.describe(wine.data).to_frame().query("effect > 0").groupby("cluster").feature.first()
low = model.describe(wine.data).to_frame().query("effect < 0").groupby("cluster").feature.first()
print(high.to_dict(), low.to_dict())
assert (high[1], high[2], low[0]) == ("proline", "color_intensity", "alcohol")
plt.show()

# %%
# The condensed tree has a branch for every group of at least ten samples, as wide as the group is
# large. The three clusters last long; what they split into is over within a seventh of that.

CondensedTreeDisplay.from_estimator(model).plot()
lifetimes = model.condensed_tree_.to_pandas().lifetime.nlargest(5).to_numpy()
print(lifetimes.round(2))
assert lifetimes[4] < lifetimes[2] / 7
plt.show()

# %%
# Silhouettes compare the distance to the own cluster with that to the next one. A few samples of
# cluster 0 are nearer to another cluster in the kernel's space: the wines at its border.

display = SilhouetteDisplay.from_estimator(model)
display.plot()
print([f"cluster {t}: {(values < 0).sum()} below 0" for t, values in enumerate(display.values)])
assert (display.values[0] < 0).any()
plt.show()

# %%
# ``model.report("report.html")`` has the rest, to click through.
