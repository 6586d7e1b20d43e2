"""
Strings by a precomputed kernel
===============================

Samples need not be vectors. Words are compared by the letter triples that they share (the spectrum
kernel); the matrix of these similarities is all that the estimator sees.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from convexcluster import KernelConvexClustering
from convexcluster.plots import KernelMatrixDisplay

FAMILIES = [
    "station stationary stations stationed nation national nations nationality",
    "flower flowers flowering flowery wallflower sunflower cornflower",
    "thunder thunders thundering thunderous thunderstorm",
    "keyboard keyboards board boards boarding blackboard",
]
WORDS = " ".join(FAMILIES).split()


def triples(word):
    padded = f"^{word}$"
    return Counter(padded[i : i + 3] for i in range(len(padded) - 2))


def spectrum_kernel(first, second):
    """Cosine between the counts of letter triples."""
    counts = [[triples(w) for w in words] for words in (first, second)]
    K = np.array([[sum(a[t] * b[t] for t in a) for b in counts[1]] for a in counts[0]], float)
    norms = [np.sqrt([sum(v * v for v in c.values()) for c in side]) for side in counts]
    return K / np.outer(*norms)


K = spectrum_kernel(WORDS, WORDS)
model = KernelConvexClustering(n_clusters=4, kernel="precomputed", n_neighbors=4).fit(K)
for label in range(model.n_clusters_):
    print(label, [w for w, found in zip(WORDS, model.labels_) if found == label])

# %%
# Each cluster is one family of words. A new word is placed by its similarities to the fitted ones,
# in the family of its stem.

new = ["stationing", "deflowered", "thunderbolt", "dashboard"]
print(dict(zip(new, model.predict(spectrum_kernel(new, WORDS)).tolist())))

# %%
# The kernel matrix, in the order of the tree: blocks are clusters.

KernelMatrixDisplay.from_estimator(model).plot()
plt.show()
