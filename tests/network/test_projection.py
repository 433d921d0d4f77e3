"""Places of rows of many columns."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances

from credalis.network import Projection
from credalis.network._projection import above_noise, unit_rows


def planted(n_samples, n_features, n_latent, rng, noise=0.1):
    """Rows that vary in a few directions, and a little in all others."""
    axes = np.linalg.qr(rng.normal(size=(n_features, n_latent)))[0]
    X = rng.normal(size=(n_samples, n_latent)) @ axes.T
    return X + noise * rng.normal(size=X.shape)


def project(X, n_components, n_clusters=3, **options):
    rng = np.random.RandomState(0)
    return Projection.of(X, n_components, n_clusters, rng, **options)


def test_places_are_principal_components_and_what_they_leave(rng):
    X = planted(60, 20, 4, rng)
    projection = project(X, 4)
    expected = PCA(4, svd_solver="full").fit(X)
    places = projection.transform(X)
    np.testing.assert_allclose(
        np.abs(places[:, :4]), np.abs(expected.transform(X)), atol=1e-10
    )
    left = X - expected.inverse_transform(expected.transform(X))
    np.testing.assert_allclose(places[:, 4], np.linalg.norm(left, axis=1), atol=1e-8)
    assert projection.n_inputs == 4
    assert projection.inputs(places).shape == (60, 4)
    assert len(projection.get_feature_names_out()) == places.shape[1]


def test_all_components_keep_all_distances(rng):
    X = rng.normal(size=(30, 6)) + 100
    places = project(X, 6).transform(X)
    np.testing.assert_allclose(cdist(places, places), cdist(X, X), atol=1e-6)


@pytest.mark.parametrize("n_components", [None, 6])
def test_squared_distances_of_unit_rows_are_cosines(rng, n_components):
    X = rng.normal(size=(30, 6)) * rng.uniform(1e-3, 1e3, size=(30, 1))
    places = project(X, n_components, normalizes=True).transform(X)
    np.testing.assert_allclose(
        cdist(places, places, "sqeuclidean"),
        pairwise_distances(X, metric="cosine"),
        atol=1e-9,
    )


def test_unit_rows_of_any_size():
    X = np.array([[3.0, 4.0], [3e300, 4e300], [3e-300, 4e-300], [0.0, 0.0]])
    np.testing.assert_allclose(unit_rows(X), [[0.6, 0.8]] * 3 + [[0.0, 0.0]])


def test_few_columns_are_taken_as_they_are(rng):
    assert project(rng.normal(size=(50, 100)), "auto") is None
    assert project(rng.normal(size=(50, 150)), None) is None
    only_turned = project(rng.normal(size=(50, 5)), "auto", normalizes=True)
    assert only_turned.components is None


@pytest.mark.parametrize(
    ("n_latent", "n_clusters", "expected"), [(14, 3, 14), (3, 3, 10), (80, 70, 70)]
)
def test_automatic_number_of_components(rng, n_latent, n_clusters, expected):
    X = planted(400, 150, n_latent, rng)
    assert project(X, "auto", n_clusters).n_inputs == expected


def test_noise_alone_is_below_its_edge(rng):
    X = rng.normal(size=(300, 120))
    variances = np.linalg.svd(X - X.mean(axis=0), compute_uv=False) ** 2
    n_above = above_noise(variances[:20], variances[20:].sum(), *X.shape)
    assert n_above <= 1
    assert above_noise(variances, 0.0, *X.shape) == 120


def test_directions_without_variance_count_nothing(rng):
    X = np.zeros((40, 150))
    X[:, :3] = rng.normal(size=(40, 3))
    assert project(X, "auto").n_inputs == 3
    projection = project(X, 5)
    np.testing.assert_array_equal(projection.components[3:], 0.0)
    strange = X[:1] + 1.0
    np.testing.assert_allclose(projection.transform(strange)[0, 3:5], 0.0)


def test_strangers_off_the_components_are_far_away(rng):
    X = planted(200, 150, 5, rng)
    projection = project(X, "auto")
    direction = rng.normal(size=150)
    direction -= projection.components.T @ (projection.components @ direction)
    stranger = X.mean(axis=0) + 100 * direction / np.linalg.norm(direction)
    nearest = cdist(projection.transform(stranger[None]), projection.transform(X)).min()
    assert nearest == pytest.approx(100, rel=0.05)


def test_wider_projections_see_other_groups(rng):
    X = planted(100, 150, 5, rng)
    projection = project(X, "auto")
    others = rng.normal(size=(20, 150)) * 0.1 + rng.normal(size=150)
    wider = projection.widened([others, others])
    # The second group is where the first is.
    assert wider.n_inputs == projection.n_inputs + 1
    gram = wider.components @ wider.components.T
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-9)
    np.testing.assert_array_equal(wider.components[:-1], projection.components)
    left = wider.transform(others.mean(axis=0)[None])[0, -1]
    assert left == pytest.approx(0, abs=1e-6)
    only_turned = project(X, None, normalizes=True)
    assert only_turned.widened([others]) is only_turned


def test_too_many_components_are_refused(rng):
    with pytest.raises(ValueError, match=r"n_components must be .* <= 7, got 8"):
        project(rng.normal(size=(20, 7)), 8)
