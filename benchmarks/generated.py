"""Generated tables whose clusters, sizes, outliers and posteriors are known.

A case is a name and a way to draw a table from a seed: the same seed, the same table.
Lengths are in standard deviations of a cluster, ``separation`` is the distance between
the two nearest centres.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from zlib import crc32

import numpy as np
from scipy.special import gammaln, softmax
from scipy.stats import ortho_group


@dataclass(frozen=True)
class Table:
    """Rows, and what is true about them."""

    X: np.ndarray
    y: np.ndarray  # class of each row, -1 for none
    n_clusters: int
    is_planted: np.ndarray | None = None
    # Rows that are not fitted, and whether they are like none of the clusters.
    new_rows: np.ndarray | None = None
    new_is_novel: np.ndarray | None = None
    posterior: np.ndarray | None = None

    def sample(self, n_rows, rng):
        """At most so many rows at random, in the order of the table."""
        if len(self.X) <= n_rows:
            return self
        rows = np.sort(rng.choice(len(self.X), n_rows, replace=False))
        chosen = {
            name: getattr(self, name)[rows]
            for name in ("X", "y", "is_planted", "posterior")
            if getattr(self, name) is not None
        }
        return replace(self, **chosen)


@dataclass(frozen=True)
class Case:
    """A table that can be drawn."""

    name: str
    family: str
    draw: Callable[[np.random.Generator], Table]

    def table(self, seed):
        # By name, so that cases of the same shape are not the same rows.
        return self.draw(np.random.default_rng([seed, crc32(self.name.encode())]))


@dataclass(frozen=True)
class Mixture:
    """Elliptical clusters: Gaussian, or Student's t with ``df`` degrees of freedom."""

    centers: np.ndarray  # (c, d)
    factors: np.ndarray  # (c, d, d), scale matrix = factor @ factor.T
    weights: np.ndarray  # (c,)
    df: float | None = None

    def draw(self, n_rows, rng):
        """Rows in random order and their clusters; sizes follow the weights."""
        n_clusters, n_features = self.centers.shape
        ends = np.rint(np.cumsum(self.weights) * n_rows).astype(int)
        y = rng.permutation(np.repeat(np.arange(n_clusters), np.diff(ends, prepend=0)))
        deviations = rng.standard_normal((n_rows, n_features))
        if self.df is not None:
            deviations /= np.sqrt(rng.chisquare(self.df, (n_rows, 1)) / self.df)
        X = np.empty_like(deviations)
        for cluster in range(n_clusters):
            rows = y == cluster
            X[rows] = self.centers[cluster] + deviations[rows] @ self.factors[cluster].T
        return X, y

    def posterior(self, X):
        """Probability of each cluster given a row, (n, c)."""
        return softmax(np.log(self.weights) + self.log_densities(X), axis=1)

    def log_densities(self, X):
        """Log density of each cluster at each row, (n, c), up to a common constant."""
        squared = self.squared_distances(X)
        log_volumes = np.linalg.slogdet(self.factors)[1]
        if self.df is None:
            return -0.5 * squared - log_volumes
        d, df = X.shape[1], self.df
        constant = gammaln((df + d) / 2) - gammaln(df / 2)
        return constant - log_volumes - (df + d) / 2 * np.log1p(squared / df)

    def squared_distances(self, X):
        """Squared Mahalanobis distance of each row to each centre, (n, c)."""
        squared = np.empty((len(X), len(self.centers)))
        for cluster, factor in enumerate(self.factors):
            deviations = np.linalg.solve(factor, (X - self.centers[cluster]).T)
            squared[:, cluster] = (deviations**2).sum(axis=0)
        return squared


def make_mixture(n_clusters, n_features, separation, rng, *, ratio=1, axes=1, df=None):
    """Clusters at random places.

    ``ratio`` is the size of the largest by that of the smallest cluster, ``axes`` the
    largest by the smallest variance of a cluster, 1 for spheres; the product of the
    variances is 1.
    """
    weights = np.geomspace(ratio, 1, n_clusters)
    return Mixture(
        spread_centers(n_clusters, n_features, separation, rng),
        np.array([_factor(n_features, axes, rng) for _ in range(n_clusters)]),
        weights / weights.sum(),
        df,
    )


def spread_centers(n_clusters, n_features, separation, rng):
    """Centres at random in a box as small as can be, the nearest so far apart."""
    side, rejected, centers = n_clusters ** (1 / n_features), 0, []
    while len(centers) < n_clusters:
        center = rng.uniform(0, side, n_features)
        if all(np.linalg.norm(center - other) >= 1 for other in centers):
            centers.append(center)
        else:
            rejected += 1
            side *= 1.01 if rejected % 20 == 0 else 1
    gaps = [np.linalg.norm(a - b) for i, a in enumerate(centers) for b in centers[:i]]
    return np.array(centers) * separation / min(gaps)


def _factor(n_features, axes, rng):
    if axes == 1:
        return np.eye(n_features)
    deviations = axes ** np.linspace(-0.25, 0.25, n_features)
    return ortho_group.rvs(n_features, random_state=rng) * deviations


def blobs(n_clusters, n_rows, n_features, separation, ratio=1):
    def draw(rng):
        mixture = make_mixture(n_clusters, n_features, separation, rng, ratio=ratio)
        return Table(*mixture.draw(n_rows, rng), n_clusters)

    sizes = "" if ratio == 1 else f", {ratio}:1"
    name = f"{n_clusters} blobs, n={n_rows}, d={n_features}, {separation} sd{sizes}"
    return Case(name, "blobs", draw)


def elliptical(n_clusters, n_rows, n_features, separation):
    def draw(rng):
        mixture = make_mixture(n_clusters, n_features, separation, rng, axes=20)
        return Table(*mixture.draw(n_rows, rng), n_clusters)

    name = f"{n_clusters} elliptical, n={n_rows}, d={n_features}, {separation} sd"
    return Case(name, "elliptical", draw)


def student(n_clusters, n_rows, n_features, separation, df=5):
    def draw(rng):
        mixture = make_mixture(n_clusters, n_features, separation, rng, df=df)
        return Table(*mixture.draw(n_rows, rng), n_clusters)

    name = f"{n_clusters} t{df}, n={n_rows}, d={n_features}, {separation} sd"
    return Case(name, "t-distributed", draw)


def planted(n_clusters, n_rows, n_features, share=0.05, distance=6.0):
    """Blobs of which a share of the rows lies far from all of them, anywhere around."""

    def draw(rng):
        mixture = make_mixture(n_clusters, n_features, 8, rng)
        n_planted = round(share * n_rows)
        X, y = mixture.draw(n_rows - n_planted, rng)
        outliers = far_rows(mixture, n_planted, distance, rng)
        order = rng.permutation(n_rows)
        return Table(
            np.concatenate([X, outliers])[order],
            np.append(y, np.full(n_planted, -1))[order],
            n_clusters,
            is_planted=order >= n_rows - n_planted,
        )

    name = f"{n_clusters} blobs with {share:.0%} planted, n={n_rows}, d={n_features}"
    return Case(name, "planted", draw)


def far_rows(mixture, n_rows, distance, rng):
    """Uniform in a box around the centres, without what is nearer to one of them."""
    low = mixture.centers.min(axis=0) - distance
    high = mixture.centers.max(axis=0) + distance
    rows = []
    while len(rows) < n_rows:
        row = rng.uniform(low, high)
        if mixture.squared_distances(row[None]).min() >= distance**2:
            rows.append(row)
    return np.array(rows).reshape(n_rows, len(low))


def novelty(n_clusters, n_rows, n_features, distance=7.0):
    """Blobs around a place that is empty when they are fitted and then is not.

    The new rows are half from the blobs and half from the middle, as far from each
    centre as ``distance`` says.
    """

    def draw(rng):
        angles = 2 * np.pi * np.arange(n_clusters) / n_clusters
        circle = np.column_stack([np.cos(angles), np.sin(angles)]) * distance
        plane = ortho_group.rvs(n_features, random_state=rng)[:2]
        weights = np.full(n_clusters, 1 / n_clusters)
        identities = np.broadcast_to(
            np.eye(n_features), (n_clusters, n_features, n_features)
        )
        mixture = Mixture(circle @ plane, identities, weights)
        X, y = mixture.draw(n_rows, rng)
        ordinary, _ = mixture.draw(100, rng)
        middle = rng.normal(scale=0.1, size=(100, n_features))
        return Table(
            X,
            y,
            n_clusters,
            new_rows=np.concatenate([ordinary, middle]),
            new_is_novel=np.arange(200) >= 100,
        )

    name = f"novelty amid {n_clusters} blobs, n={n_rows}, d={n_features}"
    return Case(name, "novelty", draw)


def noise(n_clusters, n_rows, n_features, kind):
    """No clusters at all: one Gaussian, or a uniform distribution."""

    def draw(rng):
        sample = rng.standard_normal if kind == "Gaussian" else rng.random
        X = sample((n_rows, n_features))
        return Table(X, np.full(n_rows, -1), n_clusters)

    name = f"{kind} noise as {n_clusters} clusters, n={n_rows}, d={n_features}"
    return Case(name, "noise", draw)


def overlapping(
    n_clusters, n_features, separation, n_rows, *, ratio=1, axes=1, df=None
):
    """A mixture whose posteriors are known: some rows nobody can be sure about."""

    def draw(rng):
        mixture = make_mixture(
            n_clusters, n_features, separation, rng, ratio=ratio, axes=axes, df=df
        )
        X, y = mixture.draw(n_rows, rng)
        return Table(X, y, n_clusters, posterior=mixture.posterior(X))

    kind = f"t{df}" if df else "Gaussian" if axes == 1 else "elliptical"
    sizes = "" if ratio == 1 else f", {ratio}:1"
    name = f"{n_clusters} {kind}, n={n_rows}, d={n_features}, {separation} sd{sizes}"
    return Case(name, "mixtures", draw)


BLOB_SHAPES = (
    # n, d, separation
    (200, 2, 8),
    (200, 10, 8),
    (1000, 2, 8),
    (1000, 2, 4),
    (1000, 10, 8),
    (1000, 10, 4),
    (1000, 50, 8),
    (5000, 2, 8),
    (5000, 10, 8),
)
CASES = (
    *(
        blobs(c, n, d, separation, ratio)
        for c in (2, 4, 8, 12, 20, 30)
        for n, d, separation in BLOB_SHAPES
        for ratio in (1, 10)
        if n >= 20 * c
    ),
    *(elliptical(c, 600, d, 5) for c in (3, 6) for d in (2, 5, 10)),
    *(student(c, 800, d, 6) for c in (4, 8) for d in (2, 5, 10)),
    *(planted(c, n, d) for n in (60, 100, 200, 500) for c in (2, 4) for d in (2, 5)),
    *(novelty(c, 400, d) for c in (3, 4) for d in (2, 5)),
    *(noise(4, 400, d, kind) for d in (2, 10) for kind in ("Gaussian", "uniform")),
)
# A part that takes minutes: every c, every shape of blob, and each other family.
QUICK = (
    blobs(2, 200, 2, 8, 10),
    blobs(2, 1000, 10, 8, 10),
    blobs(4, 200, 10, 8),
    blobs(4, 1000, 2, 4),
    blobs(8, 1000, 50, 8),
    blobs(8, 1000, 10, 4, 10),
    blobs(12, 1000, 2, 8),
    blobs(12, 1000, 10, 8, 10),
    blobs(20, 1000, 10, 8),
    blobs(20, 5000, 2, 8),
    blobs(30, 1000, 2, 8),
    blobs(30, 1000, 10, 8, 10),
    elliptical(3, 600, 5, 5),
    elliptical(6, 600, 10, 5),
    student(4, 800, 2, 6),
    student(8, 800, 10, 6),
    *(planted(c, n, 2) for c in (2, 4) for n in (60, 500)),
    novelty(4, 400, 2),
    novelty(3, 400, 5),
    noise(4, 400, 2, "uniform"),
    noise(4, 400, 10, "Gaussian"),
)
MIXTURES = (
    overlapping(2, 2, 2, 500),
    overlapping(3, 2, 3, 500),
    overlapping(4, 5, 3, 500),
    overlapping(8, 2, 3, 500),
    overlapping(3, 2, 3, 500, ratio=5),
    overlapping(6, 10, 3, 500, ratio=5),
    overlapping(2, 2, 2, 500, axes=20),
    overlapping(3, 5, 3, 500, axes=20),
    overlapping(5, 10, 3, 500, axes=20),
    overlapping(3, 2, 3, 500, df=4),
    overlapping(4, 5, 4, 500, df=4),
    overlapping(6, 2, 4, 500, df=4, ratio=5),
)
