"""Rows as encoders of text and images give them: many columns, few of them needed.

Nothing is downloaded. `latent` has clusters in few dimensions, `digits` the images of
scikit-learn and `texts` the sources of Python's standard library; all have 768 columns
and rows of length 1.
"""

import sysconfig
from functools import cache
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.random_projection import SparseRandomProjection

N_FEATURES = 768

# Of `latent`: dimensions of the clusters, distance of their centres in units of the
# largest deviation inside a cluster, and length of the noise in all columns as a share
# of that of the rest.
_N_LATENT = 24
_SEPARATION = 6.0
_DEVIATIONS = (0.5, 1.0)
_NOISE = 0.5

# Lines of a piece of text, and packages with at least so many pieces.
_LINES = 30
_LEAST_PIECES = 60
_MOST_PIECES = 400


def latent(n_rows, n_clusters, seed, *, n_features=N_FEATURES, law_seed=0):
    """Clusters of different shapes in 24 dimensions, bent, turned and with noise.

    Rows of any seed come from the same law.
    """
    law = np.random.default_rng([law_seed, n_clusters, n_features])
    centers = law.normal(size=(n_clusters, _N_LATENT))
    centers *= _SEPARATION / np.sqrt(2 * _N_LATENT)
    deviations = law.uniform(*_DEVIATIONS, size=(n_clusters, _N_LATENT))
    axes = law.normal(size=(_N_LATENT, n_features)).astype(np.float32)
    axes /= np.sqrt(n_features)
    rng = np.random.default_rng([seed, law_seed])
    y = rng.integers(n_clusters, size=n_rows)
    points = rng.normal(size=(n_rows, _N_LATENT)) * deviations[y] + centers[y]
    X = points.astype(np.float32) @ axes
    # A bend, as the layers of an encoder have: no linear map takes it back.
    X = np.tanh(X * np.float32(0.5 / X.std()))
    noise = rng.standard_normal(size=X.shape, dtype=np.float32)
    X += noise * np.float32(_NOISE * X.std())
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    return X, y


def digits(n_rows=None, seed=0):
    """Images of digits, some shifted by a pixel, through a layer of random weights."""
    images, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    images = images.reshape(-1, 8, 8) / 16
    if n_rows is not None:
        drawn = rng.integers(len(images), size=n_rows)
        images, y = images[drawn].copy(), y[drawn]
        shifts = rng.integers(-1, 2, size=n_rows)
        for shift in (-1, 1):
            is_shifted = shifts == shift
            images[is_shifted] = np.roll(images[is_shifted], shift, axis=2)
        images += 0.05 * rng.normal(size=images.shape)
    flat = images.reshape(len(images), -1)
    weights = rng.normal(size=(flat.shape[1], N_FEATURES)) / 8
    X = np.maximum(flat @ weights + 0.1 * rng.normal(size=N_FEATURES), 0)
    return X / np.linalg.norm(X, axis=1, keepdims=True), y


def texts(seed=0):
    """Pieces of the sources of packages of the standard library, by package.

    Weights of the words, then a random projection.
    """
    pieces, y = library_pieces()
    weights = TfidfVectorizer(
        token_pattern=r"[A-Za-z]{3,}", sublinear_tf=True, min_df=3, max_df=0.3
    ).fit_transform(pieces)
    X = SparseRandomProjection(N_FEATURES, random_state=seed).fit_transform(weights)
    X = np.asarray(X.todense() if hasattr(X, "todense") else X)
    lengths = np.linalg.norm(X, axis=1)
    is_text = lengths > 0
    return X[is_text] / lengths[is_text, None], y[is_text]


@cache
def library_pieces():
    """Pieces of some lines, and the numbers of the packages they are from."""
    root = Path(sysconfig.get_path("stdlib"))
    by_package = {}
    for path in sorted(root.rglob("*.py")):
        parts = path.relative_to(root).parts
        is_own = len(parts) > 1 and not {"site-packages", "test", "tests"} & {*parts}
        if not is_own:
            continue
        lines = path.read_text(encoding="utf-8", errors="ignore").splitlines()
        starts = range(0, len(lines) - _LINES + 1, _LINES)
        found = ["\n".join(lines[start : start + _LINES]) for start in starts]
        by_package.setdefault(parts[0], []).extend(found)
    kept = [
        package[:_MOST_PIECES]
        for _, package in sorted(by_package.items())
        if len(package) >= _LEAST_PIECES
    ]
    y = np.repeat(np.arange(len(kept)), [len(package) for package in kept])
    return [piece for package in kept for piece in package], y
