"""FDA, LFDA and KFDA: definitions, identities between them, known answers."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from credalis.metric_learning import FDA, KFDA, LFDA
from credalis.metric_learning._scatter import (
    discriminant_directions,
    local_affinities,
    local_scatters,
    scatters,
)


@pytest.fixture(scope="module")
def labelled():
    X, y = make_blobs(90, n_features=4, centers=4, cluster_std=2.5, random_state=1)
    return X @ np.diag([1, 5, 0.2, 1]), y


def assert_equal_up_to_signs(features, expected, **tolerances):
    signs = np.sign((features * expected).sum(axis=0))
    np.testing.assert_allclose(features * signs, expected, **tolerances)


def scatter_of_weights(X, weights):
    """½ Σ_ij W_ij (x_i - x_j)(x_i - x_j)ᵀ, pair by pair."""
    total = np.zeros((X.shape[1], X.shape[1]))
    for i, x in enumerate(X):
        for j, other in enumerate(X):
            total += 0.5 * weights[i, j] * np.outer(x - other, x - other)
    return total


def test_scatters_add_up_to_the_total(labelled):
    X, y = labelled
    within, between = scatters(X, y)
    np.testing.assert_allclose(within + between, np.cov(X.T, ddof=0), rtol=1e-12)


def test_local_scatters_are_those_of_the_definition(labelled):
    X, y = labelled[0][:25], labelled[1][:25]
    sizes = np.bincount(y)[y]
    same = y[:, None] == y
    A = np.zeros((25, 25))
    for k in np.unique(y):
        A[np.ix_(y == k, y == k)] = local_affinities(X[y == k], 3)
    expected = (
        np.where(same, A / sizes, 0.0),
        np.where(same, A * (1 / 25 - 1 / sizes), 1 / 25),
    )
    found = local_scatters(X, y, lambda members: local_affinities(members, 3))
    for scatter, weights in zip(found, expected, strict=True):
        np.testing.assert_allclose(25 * scatter, scatter_of_weights(X, weights))


def test_unit_affinities_give_the_scatters_of_fda(labelled):
    X, y = labelled
    local = local_scatters(X, y, lambda members: np.ones((len(members),) * 2))
    for scatter, expected in zip(local, scatters(X, y), strict=True):
        np.testing.assert_allclose(scatter, expected, atol=1e-12 * expected.max())


def test_lfda_with_unit_affinities_is_fda(labelled, monkeypatch):
    X, y = labelled
    monkeypatch.setattr(
        "credalis.metric_learning._fda.local_affinities",
        lambda members, _: np.ones((len(members),) * 2),
    )
    lfda = LFDA(scaling="plain").fit(X, y)
    fda = FDA().fit(X, y)
    np.testing.assert_allclose(lfda.components_, fda.components_, atol=1e-9)
    np.testing.assert_allclose(lfda.eigenvalues_, fda.eigenvalues_)


def test_affinities_by_hand():
    # Distances to the second neighbour: 3, 2, 3.
    affinities = local_affinities(np.array([[0.0], [1.0], [3.0]]), 2)
    assert affinities[0, 1] == pytest.approx(np.exp(-1 / 6))
    assert affinities[0, 2] == pytest.approx(np.exp(-1))
    np.testing.assert_array_equal(affinities, affinities.T)
    # Copies make σ = 0: affinity 1 among them, 0 with the rest.
    copies = local_affinities(np.array([[0.0], [0.0], [4.0]]), 1)
    np.testing.assert_array_equal(copies, [[1, 1, 0], [1, 1, 0], [0, 0, 1]])
    np.testing.assert_array_equal(local_affinities(np.ones((1, 2)), 7), [[1.0]])


def test_directions_solve_the_eigenvalue_problem(labelled):
    within, between = scatters(*labelled)
    values, directions = discriminant_directions(within, between, 3, 0.1)
    ridged = within + 0.1 * np.trace(within) / 4 * np.eye(4)
    np.testing.assert_allclose(
        between @ directions.T, ridged @ directions.T * values, atol=1e-9
    )
    np.testing.assert_allclose(directions @ ridged @ directions.T, np.eye(3), atol=1e-9)
    assert (np.diff(values) <= 0).all()


def test_fda_spans_what_scikit_learn_finds(labelled):
    X, y = labelled
    Z = FDA(regularization=0).fit_transform(X, y)
    lda = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    expected = lda.transform(X)[:, :3]
    assert_equal_up_to_signs(
        Z - Z.mean(axis=0), expected - expected.mean(axis=0), rtol=1e-6, atol=1e-6
    )


def test_features_have_unit_variance_within_classes(labelled):
    X, y = labelled
    within, _ = scatters(FDA(regularization=0).fit_transform(X, y), y)
    np.testing.assert_allclose(within, np.eye(3), atol=1e-9)


@pytest.mark.parametrize("regularization", [1e-9, 1e-3, 1.0])
def test_linear_kernel_gives_fda(labelled, regularization, rng):
    X, y = labelled
    y = np.where(rng.random(90) < 0.3, -1, y)
    fda = FDA(regularization=regularization).fit(X, y)
    kfda = KFDA(kernel="linear", regularization=regularization).fit(X, y)
    np.testing.assert_allclose(kfda.eigenvalues_, fda.eigenvalues_)
    for points in (X, rng.normal(size=(20, 4))):
        assert_equal_up_to_signs(
            kfda.transform(points), fda.transform(points), rtol=1e-6, atol=1e-7
        )


def test_kernel_features_are_combinations_of_labelled_objects(labelled):
    X, y = labelled
    y = np.where(np.arange(90) < 40, y, -1)
    kfda = KFDA().fit(X, y)
    np.testing.assert_array_equal(kfda.support_, X[:40])
    largest = np.abs(kfda.dual_coef_).max()
    np.testing.assert_allclose(kfda.dual_coef_.sum(axis=0), 0, atol=1e-7 * largest)
    np.testing.assert_allclose(kfda.transform(X[:40]).mean(axis=0), 0, atol=1e-9)


def test_kernel_may_be_a_function_of_two_rows(labelled):
    X, y = labelled
    by_name = KFDA(kernel="linear").fit(X, y)
    by_function = KFDA(kernel=np.dot).fit(X, y)
    np.testing.assert_allclose(by_function.transform(X), by_name.transform(X))


def test_gamma_by_its_names(labelled):
    X, y = labelled
    assert KFDA().fit(X, y).gamma_ == pytest.approx(1 / (4 * X.var()))
    from scipy.spatial.distance import pdist

    median = np.median(pdist(X) ** 2)
    assert KFDA(gamma="median").fit(X, y).gamma_ == pytest.approx(1 / (2 * median))
    assert KFDA(gamma=0.7).fit(X, y).gamma_ == 0.7


def test_lfda_keeps_the_groups_of_a_class_apart():
    # Class 1 lies on both sides of class 0 along the first attribute; the second is
    # noise. FDA sees equal means, LFDA tells the groups apart.
    rng = np.random.default_rng(0)
    first = np.concatenate([rng.normal(0, 0.3, 40), rng.normal(-4, 0.3, 20)])
    first = np.concatenate([first, rng.normal(4, 0.3, 20)])
    X = np.column_stack([first, 3 * rng.normal(size=80)])
    y = np.repeat([0, 1], 40)
    direction = LFDA(n_components=1).fit(X, y).components_[0]
    assert abs(direction[0]) > 5 * abs(direction[1])


def test_lfda_takes_classes_of_copies_whose_spread_is_rounding():
    # Affinities between the copies are 1 and to the rest 0: S_w is 0 but for rounding,
    # of either sign.
    rng = np.random.default_rng(0)
    X = 0.1 * rng.integers(2, size=(60, 2))
    y = np.arange(60) % 3
    lfda = LFDA(n_neighbors=1).fit(X, y)
    assert np.isfinite(lfda.transform(X)).all()


@pytest.mark.parametrize("n_components", [1, 3])
def test_scalings_span_the_same_space(labelled, n_components):
    X, y = labelled
    bases = {}
    for scaling in ("plain", "weighted", "orthonormal"):
        lfda = LFDA(n_components, scaling=scaling).fit(X, y)
        bases[scaling] = lfda.components_
    np.testing.assert_allclose(
        bases["orthonormal"] @ bases["orthonormal"].T, np.eye(n_components), atol=1e-9
    )
    weights = np.sqrt(lfda.eigenvalues_)[:, None]
    np.testing.assert_allclose(bases["weighted"], weights * bases["plain"])
    projector = bases["orthonormal"].T @ bases["orthonormal"]
    np.testing.assert_allclose(bases["plain"] @ projector, bases["plain"], atol=1e-9)


def test_fda_has_at_most_one_feature_less_than_classes(labelled):
    with pytest.raises(ValueError, match=r"n_components must be .* <= 3, got 4"):
        FDA(n_components=4).fit(*labelled)
    assert LFDA(n_components=4).fit(*labelled).n_components_ == 4
