"""Random data sets with the shapes that the evidential clustering literature uses."""

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state
from sklearn.utils import shuffle as shuffle_rows

from credalis._checks import (
    check_factor,
    check_flag,
    check_integer,
    check_number,
    check_seed,
)
from credalis._refusals import refuses_by_name

RandomState = int | np.random.RandomState | None
Sample = tuple[NDArray[np.float64], NDArray[np.int64]]

FOUR_CLASS_LOCATIONS = np.array([[0.0, 0.0], [0.0, 4.0], [4.0, 0.0], [4.0, 4.0]])
BANANA_ARC = (-np.pi / 10, 11 * np.pi / 10)
BANANA_SHIFT = np.array([1.0, 0.5])


@refuses_by_name
def make_four_class(
    n_samples: int = 400,
    *,
    df: float = 5.0,
    shuffle: bool = True,
    random_state: RandomState = None,
) -> Sample:
    """Four overlapping clusters with heavy tails, in equal proportions.

    Cluster k is a bivariate Student t distribution with `df` degrees of freedom,
    location (0, 0), (0, 4), (4, 0) or (4, 4) and the identity as scale matrix::

        x = location_k + z / sqrt(w / df),    z ~ N(0, I),    w ~ chi-squared(df).

    The heavy tails give objects between the clusters and objects far from all of
    them. The locations and scales are close to robust estimates on the *fourclass*
    set of [1]_ (400 objects, four bivariate t clusters); the result is similar to
    that set, not equal to it.

    Parameters
    ----------
    n_samples : int, default=400
        Number of objects, at least 4. If it is not a multiple of four, the first
        clusters have one object more.
    df : float, default=5.0
        Degrees of freedom, at least 1 (the Cauchy distribution); the larger, the
        closer to Gaussian clusters.
    shuffle : bool, default=True
        Whether the objects come in random order, or cluster by cluster.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The objects.
    y : ndarray of shape (n_samples,)
        The cluster of each object, 0 to 3.

    References
    ----------
    .. [1] T. Denœux, "NN-EVCLUS: Neural network-based evidential clustering",
       Information Sciences, 572, 297-330, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.datasets import make_four_class
    >>> X, y = make_four_class(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((400, 2), [100, 100, 100, 100])
    """
    n_samples = check_integer("n_samples", n_samples, at_least=4)
    df = check_number("df", df, at_least=1)
    check_flag("shuffle", shuffle)
    check_seed("random_state", random_state)
    rng = check_random_state(random_state)

    y = _labels(_equal_sizes(n_samples, len(FOUR_CLASS_LOCATIONS)))
    normal = rng.standard_normal((n_samples, 2))
    chi_squared = rng.chisquare(df, size=(n_samples, 1))
    X = FOUR_CLASS_LOCATIONS[y] + normal / np.sqrt(chi_squared / df)
    return shuffle_rows(X, y, random_state=rng) if shuffle else (X, y)


@refuses_by_name
def make_circles_in_ring(
    n_samples: int = 500,
    *,
    radius: float = 5.0,
    noise: float = 0.5,
    shuffle: bool = True,
    random_state: RandomState = None,
) -> Sample:
    """A round cluster inside a ring.

    Two fifths of the objects (rounded) are drawn from N(0, I); the others are
    r (cos a, sin a) with r ~ N(radius, noise²) and a uniform on the circle. Opposite
    objects of the ring are far apart and yet in one cluster, so that distances
    alone do not find the two clusters: constraints or labels are needed.

    Parameters
    ----------
    n_samples : int, default=500
        Number of objects, at least 2.
    radius : float, default=5.0
        Mean radius of the ring, > 0.
    noise : float, default=0.5
        Standard deviation of the radius, >= 0.
    shuffle : bool, default=True
        Whether the objects come in random order, or cluster by cluster.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The objects.
    y : ndarray of shape (n_samples,)
        The cluster of each object: 0 inside, 1 on the ring.

    Notes
    -----
    The *circles* set of [1]_ has 500 objects in these proportions; its radius and
    noise are not published, and the defaults are a choice.

    References
    ----------
    .. [1] T. Denœux, "NN-EVCLUS: Neural network-based evidential clustering",
       Information Sciences, 572, 297-330, 2021.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.datasets import make_circles_in_ring
    >>> X, y = make_circles_in_ring(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((500, 2), [200, 300])
    """
    n_samples = check_integer("n_samples", n_samples, at_least=2)
    radius = check_factor("radius", radius, above=0)
    noise = abs(check_factor("noise", noise, at_least=0))  # -0.0 is 0.0
    check_flag("shuffle", shuffle)
    check_seed("random_state", random_state)
    rng = check_random_state(random_state)

    n_inside = round(2 * n_samples / 5)
    n_ring = n_samples - n_inside
    inside = rng.standard_normal((n_inside, 2))
    angles = rng.uniform(0, 2 * np.pi, size=n_ring)
    radii = radius + noise * rng.standard_normal(n_ring)
    X = np.vstack([inside, radii[:, None] * _directions(angles)])
    y = _labels([n_inside, n_ring])
    return shuffle_rows(X, y, random_state=rng) if shuffle else (X, y)


@refuses_by_name
def make_bananas(
    n_samples: int = 500,
    *,
    radius: float = 5.0,
    noise: float = 0.5,
    shuffle: bool = True,
    random_state: RandomState = None,
) -> Sample:
    """Two interlocking banana-shaped clusters, in equal proportions.

    Each cluster follows an arc of 216 degrees of a circle with radius r = `radius`,
    blurred by Gaussian noise. With a uniform on [-π/10, 11π/10] and
    e ~ N(0, noise² I)::

        cluster 0:  x = r (cos a, sin a) + e
        cluster 1:  x = r (1, 1/2) - r (cos a, sin a) + e

    so that the second arc is the first one turned by half a turn about the point
    r (1/2, 1/4), and the end of each lies in the hollow of the other. No method with
    one prototype per cluster separates them.

    Parameters
    ----------
    n_samples : int, default=500
        Number of objects, at least 2. If it is odd, cluster 0 has one object more.
    radius : float, default=5.0
        Radius of the arcs, > 0.
    noise : float, default=0.5
        Standard deviation of the noise in each coordinate, >= 0.
    shuffle : bool, default=True
        Whether the objects come in random order, or cluster by cluster.
    random_state : int, RandomState instance or None, default=None
        Seed or source of the random numbers.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        The objects.
    y : ndarray of shape (n_samples,)
        The cluster of each object, 0 or 1.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.datasets import make_bananas
    >>> X, y = make_bananas(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((500, 2), [250, 250])
    """
    n_samples = check_integer("n_samples", n_samples, at_least=2)
    radius = check_factor("radius", radius, above=0)
    noise = abs(check_factor("noise", noise, at_least=0))  # -0.0 is 0.0
    check_flag("shuffle", shuffle)
    check_seed("random_state", random_state)
    rng = check_random_state(random_state)

    y = _labels(_equal_sizes(n_samples, 2))
    arc = radius * _directions(rng.uniform(*BANANA_ARC, size=n_samples))
    centers = np.where(y[:, None] == 0, arc, BANANA_SHIFT * radius - arc)
    X = centers + noise * rng.standard_normal((n_samples, 2))
    return shuffle_rows(X, y, random_state=rng) if shuffle else (X, y)


def _equal_sizes(n_samples: int, n_clusters: int) -> list[int]:
    """Cluster sizes that sum to n_samples and differ by at most one."""
    size, rest = divmod(n_samples, n_clusters)
    return [size + (cluster < rest) for cluster in range(n_clusters)]


def _labels(sizes: list[int]) -> NDArray[np.int64]:
    """0, ..., 0, 1, ..., 1, ... with the given number of each."""
    return np.repeat(np.arange(len(sizes), dtype=np.int64), sizes)


def _directions(angles: NDArray[np.float64]) -> NDArray[np.float64]:
    """Unit vectors (n, 2) with the given angles (n,)."""
    return np.column_stack([np.cos(angles), np.sin(angles)])
