"""From several clusterings to one mass function for each object.

a_b is how far member b can be trusted and r_b its reliability. Its memberships q_bk,
discounted, are the simple evidence r_b q_bk on {k} and 1 - r_b on Ω.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score

from credalis.belief import FocalSets

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# r_b of a member that agrees with all others.
LARGEST_RELIABILITY = 0.8

# So much counts the member that the others are aligned to, if none agree.
SMALLEST_RELIABILITY = 0.02


def pairwise_agreement(labels: list[Indices]) -> Array:
    """Adjusted Rand indices of all pairs of members, (n_members, n_members)."""
    n_members = len(labels)
    agreement = np.eye(n_members)
    for i in range(n_members):
        for j in range(i):
            value = adjusted_rand_score(labels[i], labels[j])
            agreement[i, j] = agreement[j, i] = value
    return agreement


def mean_agreement(agreement: Array) -> Array:
    """a_b: the mean agreement with the others, no less than 0; (n_members,)."""
    n_others = len(agreement) - 1
    if n_others == 0:
        return np.ones(1)
    return np.maximum((agreement.sum(axis=1) - 1.0) / n_others, 0.0)


def trusted_agreement(weights: Array, with_trusted: Array, trust: float) -> Array:
    """(1 - g) a_b + g max(ARI(b, w), 0) for a member w that is trusted by g."""
    return (1.0 - trust) * weights + trust * np.maximum(with_trusted, 0.0)


def reliabilities(weights: Array) -> Array:
    """r_b = 0.8 a_b (a_b / a_max)², and a little for the best if none agree."""
    largest = weights.max()
    if largest <= 0:
        rates = np.zeros(len(weights))
    else:
        rates = LARGEST_RELIABILITY * weights * (weights / largest) ** 2
    best = weights.argmax()
    rates[best] = max(rates[best], SMALLEST_RELIABILITY)
    return rates


def alignment(reference: Array, memberships: Array) -> Indices:
    """Which cluster of the reference each cluster of a member is, (n_own,).

    Clusters are matched one to one so that the common memberships are largest; what
    is left over of a member with more clusters goes where most of it is.
    """
    common = memberships.T @ reference
    names = common.argmax(axis=1)
    own, theirs = linear_sum_assignment(common, maximize=True)
    names[own] = theirs
    return names


def aligned(memberships: Array, names: Indices, n_clusters: int) -> Array:
    """Memberships with column k in column ``names[k]``, (n, n_clusters)."""
    result = np.zeros((len(memberships), n_clusters))
    for column, name in enumerate(names):
        result[:, name] += memberships[:, column]
    return result


def dempster(memberships: list[Array], rates: Array) -> tuple[Array, Array]:
    """Dempster's rule for discounted memberships, in closed form.

    m({k}) ∝ Π_b (r_b q_bk + 1 - r_b) - Π_b (1 - r_b) and m(Ω) ∝ Π_b (1 - r_b).

    Parameters
    ----------
    memberships : list of arrays of shape (n, c)
        q_b of each member.
    rates : array of shape (n_members,)
        r_b.

    Returns
    -------
    singletons : array of shape (n, c)
    frame : array of shape (n,)
    """
    vacuous = float(np.prod(1.0 - rates))
    plausible = np.ones_like(memberships[0])
    for each, rate in zip(memberships, rates, strict=True):
        plausible *= rate * each + (1.0 - rate)
    singletons = np.maximum(plausible - vacuous, 0.0)
    total = singletons.sum(axis=1) + vacuous
    return singletons / total[:, None], vacuous / total


def believed(
    singletons: Array, frame: Array, memberships: Array, trust: float
) -> tuple[Array, Array]:
    """The evidence of the votes by 1 - g, that of a model by g."""
    mixed = (1.0 - trust) * singletons + trust * memberships
    return mixed, (1.0 - trust) * frame


def masses_on(singletons: Array, frame: Array, focal_sets: FocalSets) -> Array:
    """Evidence on single clusters and on Ω as masses on focal sets.

    The mass of Ω moves to the pair of the two most plausible clusters, where this is
    a focal set, by the share of all evidence for clusters that is for these two. That
    of a cluster which is no focal set goes to the smallest set with it, and that of
    Ω, if it is none, to the clusters as they are to each other.

    Parameters
    ----------
    singletons : array of shape (n, c)
        Masses on single clusters.
    frame : array of shape (n,)
        Masses on Ω.
    focal_sets : FocalSets
        Sets that may carry mass.

    Returns
    -------
    array of shape (n, n_focal_sets)
    """
    n, n_clusters = singletons.shape
    masses = np.zeros((n, len(focal_sets)))
    evidence = singletons.sum(axis=1)
    whole = tuple(range(n_clusters))
    rest = frame
    if n_clusters > 2:
        top = np.sort(np.argsort(-singletons, axis=1, kind="stable")[:, :2], axis=1)
        both = np.take_along_axis(singletons, top, axis=1).sum(axis=1)
        share = np.divide(both, evidence, out=np.zeros(n), where=evidence > 0)
        moved = np.zeros(n)
        for pair in (each for each in focal_sets if len(each) == 2):
            is_here = (top == np.array(sorted(pair))).all(axis=1)
            moved[is_here] = share[is_here] * frame[is_here]
            masses[is_here, focal_sets.index(pair)] += moved[is_here]
        rest = frame - moved
    if whole in focal_sets:
        masses[:, focal_sets.index(whole)] += rest
    else:
        even = np.full(n_clusters, 1.0 / n_clusters)
        parts = singletons / np.where(evidence > 0, evidence, 1.0)[:, None]
        parts = np.where(evidence[:, None] > 0, parts, even)
        singletons = singletons + rest[:, None] * parts
    size = np.where(focal_sets.membership, focal_sets.cardinality[:, None], np.inf)
    for cluster, home in enumerate(size.argmin(axis=0)):
        masses[:, home] += singletons[:, cluster]
    return masses / masses.sum(axis=1, keepdims=True)
