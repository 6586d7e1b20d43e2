"""Measured sets beyond the paper's: tables of KEEL and UCI, MNIST and scikit-learn's digits.

They come from their homes, or from the folder CONVEXCLUSTER_DATA, and must have the digests that
are written here. Continuous features are standardised, discrete ones are left as they are; of a
larger table 400 rows are drawn.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.datasets import load_digits
from sklearn.preprocessing import StandardScaler

from convexcluster.datasets import load_mnist10k, readers
from convexcluster.datasets.real import KEEL, UCI, RealSet, load_set

from .data import Pair

ROWS = 400


@dataclass(frozen=True)
class Table:
    """A set with its home, and whether its features are continuous."""

    known: RealSet
    standardise: bool = True


def keel(name: str, digest: str, standardise: bool = True, first: int = 0) -> Table:
    read = partial(readers.keel, first=first)
    return Table(RealSet(digest, f"{KEEL}{name}.zip", read), standardise)


def uci(name: str, digest: str) -> Table:
    read = partial(readers.table, first=1, separator=None)  # the first column has names of rows
    return Table(RealSet(digest, f"{UCI}{name}/{name}.data", read))


# Held out while the rules of docs/defaults.md were made, together with a draw of MNIST.
HELD_OUT: dict[str, Table] = {
    "iris": keel("iris", "792d8a8ff8000d72caebd8968757b3ea78b4f7b8d133f02df569888888f2c5dd"),
    "wine": keel("wine", "e2350063c3338bbfdfd62509a8f8b510818ea4adcd81d8e9dfa792161ef834d8"),
    "wdbc": keel("wdbc", "f68458c86f28e7bc9c62e12a46eff25367bf4ced200788e08f9363870f4cc444"),
    "segment": keel("segment", "9883cdeebd20de8fe9fc39268388e4647b2e7da74b6b2f16ff41b3d6aaca4f84"),
    "satimage": keel(
        "satimage", "94da04384338b49c781269b70dc906b54fea842c8a9356545069ca7960fb35a2"
    ),
    "texture": keel("texture", "ae3408774defc671423a71e309dcbf3c8cdf58ef7012afdd82ff56edd4186826"),
    "libras": keel(
        "movement_libras", "8a1cd1fb63a57d0abff9d2d00637c1537abe682f912a52c11fa2f02603ae201c"
    ),
    "twonorm": keel("twonorm", "fd5f5ce0c973f91022664bd4135b8fa72b43a9a35f3aa1955a34fc3ab3c95a37"),
    "optdigits": keel(
        "optdigits",
        "6cdf0a2dbf679d1f9599359c3da3a4a6b2430b10c4cdcdaf1ca590c4c59f2a90",
        standardise=False,
    ),
    "penbased": keel(
        "penbased",
        "0a1d5aba568f71f32a3aa167b57e3f52c35f376c7b3fc7568a8d6d109ca0f0b6",
        standardise=False,
    ),
    "wisconsin": keel(
        "wisconsin",
        "82e39ce978b6e98aaef69094d8c3b418b9e81b873db7640074f476cd2c54e2ca",
        standardise=False,
    ),
    "led7digit": keel(
        "led7digit",
        "672915fdf7a4970709144952c47512315f39f5c41a83784489c30ffaea105dc2",
        standardise=False,
    ),
    "dermatology": keel(
        "dermatology", "3dddf25db2bab8f3b160a2a2cf558ac1ccbea9cf500734b2793cc911f72b00d7"
    ),
    "ecoli": uci("ecoli", "e7bada5194b30c9702d100a278c695ce49c7f56e17acc27450b22522918ccbf7"),
    "yeast": uci("yeast", "d31aea56e7fd3bc40e0208ddb00f6e470294865956b6127040f3b731d8b5f332"),
}

# Not among those, and in none of the means by which a rule was chosen. The first three columns of
# vowel are the speaker's.
FURTHER: dict[str, Table] = {
    "vowel": keel(
        "vowel", "6a6cd520c07bb12bbfd7bcdc8d4980a8ccbec56f19604251a534c6a46bea3167", first=3
    ),
    "vehicle": keel("vehicle", "9359fe7b94ad9b1c9c8634c8b461ccfb5d507ed29932ba3ee941cb3795143176"),
    "ionosphere": keel(
        "ionosphere", "4897849563d9143bde5fc3599f9a99d2641c2552d0018c70dacedd212e3d3ead"
    ),
    "sonar": keel("sonar", "99a27cd7712922c6143cbcf9e958de04c8d92781d32dd0a014ebae8964d31ebe"),
}


def held_out() -> Iterator[tuple[str, Pair]]:
    """The sets that were held out while rules were made, prepared."""
    for name, table in HELD_OUT.items():
        yield name, prepared(name, table)
    X, y = load_mnist10k()
    rows = np.random.default_rng(1).permutation(len(X))[:ROWS]
    yield "MNIST, another draw", (X[rows], y[rows])


def further() -> Iterator[tuple[str, Pair]]:
    """The others; all 1,797 of scikit-learn's digits, which are from the source of optdigits."""
    for name, table in FURTHER.items():
        yield name, prepared(name, table)
    yield "digits", load_digits(return_X_y=True)


def prepared(name: str, table: Table) -> Pair:
    """At most ``ROWS`` rows without constant features, standardised if they are continuous."""
    X, y = load_set(name, table.known)
    if len(X) > ROWS:
        rows = np.random.default_rng(0).permutation(len(X))[:ROWS]
        X, y = X[rows], y[rows]
    X = X[:, X.std(axis=0) > 0]
    return (StandardScaler().fit_transform(X) if table.standardise else X), y
