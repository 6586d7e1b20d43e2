"""A user's mistakes, each of which `mypy --strict` names: the types are no `Any` in disguise."""

from convexcluster import KernelConvexClustering, load

model = KernelConvexClustering("three")  # arg-type
count: str = model.n_clusters_  # assignment
radius: str = model.certificate_.radius  # assignment
model.cut("two")  # arg-type
model.path_.labels(gama=1.0)  # call-arg
load(3.5)  # arg-type
