"""scikit-learn's estimator checks of every comparison method."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from convexcluster import baselines


def _estimators() -> list[Any]:
    return [
        baselines.BiconvexClustering(),
        baselines.CPaint(),
        baselines.KernelKMeans(random_state=0),
        baselines.KernelPowerKMeans(random_state=0),
        baselines.NoiseRobustSpectralClustering(random_state=0),
        baselines.TreeGuidedConvexClustering(),
    ]


@parametrize_with_checks(_estimators())
def test_scikit_learn_contract(estimator: Any, check: Any) -> None:
    check(estimator)
