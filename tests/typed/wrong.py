"""A user's mistakes, each of which `mypy --strict` names: the types are no `Any` in disguise."""

from convexcluster import KernelConvexClustering, load


def mistakes() -> None:
    """Never called; what mypy must say stands behind each line."""
    model = KernelConvexClustering("three")  # arg-type
    count: str = model.n_clusters_  # assignment
    radius: str = model.certificate_.radius  # assignment
    verdict: int = model.selection_.verdict  # assignment
    model.cut("two")  # arg-type
    model.path_.labels(gama=1.0)  # call-arg
    load(3.5)  # arg-type
    print(count, radius, verdict)
