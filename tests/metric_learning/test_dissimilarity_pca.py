"""Principal components of dissimilarities."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.base import clone
from sklearn.decomposition import PCA

from credalis.datasets import fetch_benchmark
from credalis.metric_learning import DissimilarityPCA

# Four objects on a line, at 0, 1, 4 and 5.
LINE = np.array([[0, 1, 4, 5], [1, 0, 3, 4], [4, 3, 0, 1], [5, 4, 1, 0]], dtype=float)


def distances(rng, n_samples=30, n_features=4):
    points = rng.normal(size=(n_samples, n_features))
    return cdist(points, points)


def assert_same_up_to_signs(scores, expected, **tolerances):
    signs = np.sign((scores * expected).sum(axis=0))
    np.testing.assert_allclose(scores * signs, expected, **tolerances)


def test_worked_example():
    # Singular values and scores computed apart from this code to ten digits.
    pca = DissimilarityPCA(n_components=2).fit(LINE)
    np.testing.assert_allclose(pca.mean_, [2.5, 2, 2, 2.5])
    np.testing.assert_allclose(
        pca.scale_ * np.sqrt(3), [7.1622776602, 1.4142135624], rtol=0, atol=1e-9
    )
    scores = pca.transform(LINE) * pca.scale_
    np.testing.assert_allclose(
        np.abs(scores),
        [
            [4.1085320736, 0.7071067812],
            [2.9612623729, 0.7071067812],
            [2.9612623729, 0.7071067812],
            [4.1085320736, 0.7071067812],
        ],
        rtol=0,
        atol=1e-9,
    )
    new = pca.transform([[0.5, 0.5, 3.5, 4.5]]) * pca.scale_
    np.testing.assert_allclose(np.abs(new), [[3.5348972232, 0]], rtol=0, atol=1e-9)


def test_reference_scores_of_proteins(reference, benchmark_data):
    # scale(prcomp(D)$x[, 1:3]) in R; signs are arbitrary.
    D = fetch_benchmark("protein", download_if_missing=False).dissimilarities
    scores = DissimilarityPCA(n_components=3).fit_transform(D)
    assert_same_up_to_signs(
        scores, reference("protein_pca3_scaled.csv"), rtol=1e-9, atol=1e-10
    )


@pytest.mark.parametrize("n_components", [1, 3, 8])
def test_scores_are_standardised_principal_components(n_components, rng):
    D = distances(rng)
    pca = DissimilarityPCA(n_components=n_components)
    scores = pca.fit_transform(D)
    expected = PCA(n_components, svd_solver="full").fit(D)
    np.testing.assert_allclose(scores.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(scores.std(axis=0, ddof=1), 1, rtol=1e-9)
    np.testing.assert_allclose(pca.scale_**2, expected.explained_variance_, rtol=1e-9)
    assert_same_up_to_signs(
        scores * pca.scale_, expected.transform(D), rtol=1e-7, atol=1e-9
    )
    new = rng.random((5, 30))
    assert_same_up_to_signs(
        pca.transform(new) * pca.scale_, expected.transform(new), rtol=1e-7, atol=1e-7
    )


def test_directions_are_orthonormal_with_their_largest_entry_positive(rng):
    components = DissimilarityPCA(n_components=6).fit(distances(rng)).components_
    np.testing.assert_allclose(components @ components.T, np.eye(6), atol=1e-12)
    largest = np.abs(components).argmax(axis=1)
    assert (components[np.arange(6), largest] > 0).all()


def test_transform_of_the_training_objects_is_fit_transform(rng):
    D = distances(rng)
    pca = DissimilarityPCA()
    np.testing.assert_allclose(pca.fit_transform(D), pca.transform(D), rtol=1e-13)


@pytest.mark.parametrize("unit", [1e-30, 1e30])
def test_units_do_not_matter(unit, rng):
    D = distances(rng)
    expected = DissimilarityPCA().fit(D)
    pca = DissimilarityPCA().fit(unit * D)
    assert pca.n_components_ == expected.n_components_
    np.testing.assert_allclose(
        pca.transform(unit * D), expected.transform(D), rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(pca.scale_, unit * expected.scale_, rtol=1e-9)


# Number of components.


def test_auto_takes_nine_tenths_of_the_variance(rng):
    D = distances(rng, n_samples=60, n_features=6)
    shares = PCA().fit(D).explained_variance_ratio_.cumsum()
    n_components = DissimilarityPCA().fit(D).n_components_
    assert 2 < n_components < 20
    assert shares[n_components - 1] >= 0.9 > shares[n_components - 2]


def test_auto_takes_at_least_two():
    # Two groups far apart: the first component has nearly all the variance.
    points = np.repeat([0.0, 100.0], 10) + np.arange(20) / 100
    pca = DissimilarityPCA().fit(np.abs(points[:, None] - points))
    assert pca.n_components_ == 2
    assert pca.transform(np.zeros((3, 20))).shape == (3, 2)


def test_auto_takes_at_most_twenty(rng):
    # Independent dissimilarities: no direction stands out.
    D = np.triu(rng.random((80, 80)), 1)
    assert DissimilarityPCA().fit(D + D.T).n_components_ == 20


@pytest.mark.parametrize("n_samples", [2, 3])
def test_auto_takes_no_more_than_the_objects(n_samples, rng):
    pca = DissimilarityPCA().fit(distances(rng, n_samples))
    assert pca.n_components_ == 2


@pytest.mark.parametrize("n_components", [0, -1, 5, 1.5, True, None, "all"])
def test_bad_numbers_of_components_are_refused(n_components):
    with pytest.raises(ValueError, match="n_components must be"):
        DissimilarityPCA(n_components).fit(LINE)


def test_numpy_integers_are_numbers():
    pca = DissimilarityPCA(np.int64(2)).fit(LINE)
    assert pca.n_components_ == 2
    assert type(pca.n_components_) is int


# Directions without variance.


@pytest.mark.parametrize("unit", [1e-30, 1.0, 1e30])
@pytest.mark.parametrize("n_components", ["auto", 4, 10])
def test_directions_without_variance_have_zero_scores(n_components, unit, rng):
    # Two points, ten times each: one direction has all the variance, and the others
    # are rounding. Divided by their deviation they would swamp it.
    group = np.repeat([0, 1], 10)
    D = unit * 0.7 * (group[:, None] != group)
    pca = DissimilarityPCA(n_components=n_components).fit(D)
    for rows in (D, unit * rng.random((5, 20))):
        scores = pca.transform(rows)
        assert scores[:, 0].all()
        assert not scores[:, 1:].any()
    np.testing.assert_allclose(pca.transform(D)[:, 0].std(ddof=1), 1, rtol=1e-9)


def test_dissimilarities_that_are_all_zero_have_zero_scores():
    scores = DissimilarityPCA().fit_transform(np.zeros((5, 5)))
    np.testing.assert_array_equal(scores, np.zeros((5, 2)))


# Input.


@pytest.mark.parametrize(
    ("D", "message"),
    [
        (LINE[:3], "square"),
        (-LINE, "negative"),
        (LINE + np.eye(4), "zero diagonal"),
        (np.where(LINE == 5, np.nan, LINE), "NaN"),
        (np.triu(LINE), "symmetric, entries differ from their mirror image by up to 5"),
    ],
)
def test_bad_matrices_are_refused(D, message):
    with pytest.raises(ValueError, match=message):
        DissimilarityPCA().fit(D)


def test_symmetrize_fits_the_mean_of_both_halves(rng):
    D = LINE * rng.uniform(0.5, 1.5, size=(4, 4))
    pca = DissimilarityPCA(n_components=2, symmetrize=True).fit(D)
    expected = DissimilarityPCA(n_components=2).fit((D + D.T) / 2)
    np.testing.assert_allclose(pca.mean_, expected.mean_)
    np.testing.assert_allclose(pca.components_, expected.components_)
    np.testing.assert_allclose(pca.scale_, expected.scale_)


def test_new_objects_need_dissimilarities_to_all_training_objects():
    with pytest.raises(ValueError, match="3 features"):
        DissimilarityPCA().fit(LINE).transform(LINE[:, :3])


def test_the_given_matrix_is_not_changed(rng):
    D = distances(rng)
    kept = D.copy()
    DissimilarityPCA().fit_transform(D)
    np.testing.assert_array_equal(D, kept)


# The contract.


def test_names_of_the_components(rng):
    pca = DissimilarityPCA(n_components=3).fit(distances(rng))
    names = pca.get_feature_names_out()
    assert names.tolist() == [f"dissimilaritypca{k}" for k in range(3)]
    assert names.dtype == object


def test_output_can_be_a_data_frame(rng):
    pytest.importorskip("pandas")
    pca = DissimilarityPCA(n_components=2).set_output(transform="pandas")
    frame = pca.fit_transform(distances(rng))
    assert list(frame.columns) == ["dissimilaritypca0", "dissimilaritypca1"]


def test_clones_and_states(rng):
    D, new = distances(rng), rng.random((4, 30))
    pca = DissimilarityPCA(n_components=3, symmetrize=True).fit(D)
    copy = clone(pca)
    assert copy.get_params() == {"n_components": 3, "symmetrize": True}
    assert not hasattr(copy, "components_")
    np.testing.assert_array_equal(copy.fit(D).transform(new), pca.transform(new))

    state = pca.to_state()
    restored = DissimilarityPCA.from_state(state)
    assert restored.get_params() == pca.get_params()
    assert restored.n_features_in_ == 30
    np.testing.assert_array_equal(restored.transform(new), pca.transform(new))
    assert "fitted" in state
    assert "components_" in state["fitted"]


def test_the_matrix_is_known_to_be_pairwise():
    # Cross-validation then cuts rows and columns.
    assert DissimilarityPCA().__sklearn_tags__().input_tags.pairwise
