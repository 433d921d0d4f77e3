from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import pdist, squareform
from sklearn.decomposition import PCA
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import StandardScaler

from credalis import EVCLUS, NNEVCLUS, CredalPartition, FocalSets
from credalis.datasets import make_four_class
from credalis.dissimilarity import transform
from credalis.plots import ShepardDisplay

# Masses of ∅, {0}, {1} and {0, 1}.
THREE = CredalPartition(
    [[0.1, 0.2, 0.3, 0.4], [0.05, 0.6, 0.25, 0.1], [0, 1, 0, 0]], FocalSets.full(2)
)


def random_partition(n_samples, seed=0):
    focal_sets = FocalSets.pairs(3)
    weights = np.random.RandomState(seed).dirichlet(np.ones(len(focal_sets)), n_samples)
    return CredalPartition(weights, focal_sets)


def fitted_like(partition, metric="euclidean", **attributes):
    return SimpleNamespace(
        partition_=partition, scale_=2.0, metric=metric, **attributes
    )


@pytest.mark.parametrize("form", [lambda d: d, squareform], ids=["vector", "matrix"])
def test_three_objects_by_hand(form):
    display = ShepardDisplay.from_partition(THREE, form([1.0, 2.0, 4.0]), scale=2.0)
    np.testing.assert_array_equal(display.pairs, [[0, 1], [0, 2], [1, 2]])
    np.testing.assert_array_equal(display.dissimilarities, [1, 2, 4])
    # κ_01 = 0.1 + 0.9 * 0.05 + 0.2 * 0.25 + 0.3 * 0.6; object 2 is certainly in 0.
    np.testing.assert_allclose(display.conflicts, [0.375, 0.1 + 0.3, 0.05 + 0.25])
    targets = [1 - 0.05**0.25, 0.95, 1 - 0.05**4]
    np.testing.assert_allclose(display.targets, targets)
    residuals = np.array([0.375, 0.4, 0.3]) - targets
    np.testing.assert_allclose(display.residuals, residuals)
    assert display.stress == pytest.approx((residuals**2).mean())
    assert (display.scale, display.n_samples, display.n_all_pairs) == (2.0, 3, 3)


@pytest.mark.parametrize("n_samples", [2, 3, 4, 17])
def test_pairs_are_numbered_as_in_a_condensed_vector(n_samples):
    first, second = np.triu_indices(n_samples, 1)
    display = ShepardDisplay.from_partition(
        random_partition(n_samples), np.arange(len(first)), scale=2.0
    )
    np.testing.assert_array_equal(display.pairs, np.column_stack([first, second]))
    np.testing.assert_array_equal(display.dissimilarities, np.arange(len(first)))


def test_a_sample_of_pairs_is_distinct_and_seeded():
    matrix = squareform(pdist(np.random.RandomState(1).randn(60, 2)))
    partition = random_partition(60)

    def sample(seed):
        return ShepardDisplay.from_partition(
            partition, matrix, scale=2, n_pairs=500, random_state=seed
        )

    display = sample(3)
    first, second = display.pairs.T
    assert len(np.unique(display.pairs, axis=0)) == len(display.pairs) == 500
    assert (first < second).all()
    np.testing.assert_array_equal(display.dissimilarities, matrix[first, second])
    np.testing.assert_array_equal(display.pairs, sample(3).pairs)
    np.testing.assert_array_equal(display.pairs, sample(np.random.RandomState(3)).pairs)
    assert not np.array_equal(display.pairs, sample(4).pairs)
    assert display.shown.replace("\N{NO-BREAK SPACE}", " ") == "500 of 1 770 pairs"


def test_every_pair_is_drawn_equally_often():
    partition, counts = random_partition(6), np.zeros(15)
    for seed in range(600):
        display = ShepardDisplay.from_partition(
            partition, np.arange(15), scale=2.0, n_pairs=5, random_state=seed
        )
        counts[display.dissimilarities.astype(int)] += 1
    assert np.abs(counts / 600 - 1 / 3).max() < 0.07


def test_many_objects_need_no_list_of_all_pairs():
    n_samples = 100_000
    X = np.random.RandomState(0).randn(n_samples, 2)
    partition = CredalPartition.from_labels(np.arange(n_samples) % 2)
    display = ShepardDisplay.from_estimator(fitted_like(partition), X, n_pairs=1000)
    first, second = display.pairs.T
    np.testing.assert_allclose(
        display.dissimilarities, np.linalg.norm(X[first] - X[second], axis=1)
    )
    np.testing.assert_array_equal(display.conflicts, (first + second) % 2)
    assert display.n_all_pairs == 4_999_950_000


@pytest.mark.parametrize(
    "metric", ["euclidean", "cityblock", "cosine", "haversine", "nan_euclidean"]
)
def test_dissimilarities_are_those_of_the_metric(metric):
    X = np.random.RandomState(2).uniform(0.1, 1.5, (30, 2))
    estimator = fitted_like(random_partition(30), metric)
    display = ShepardDisplay.from_estimator(estimator, X, n_pairs=200)
    expected = pairwise_distances(X, metric=metric)[tuple(display.pairs.T)]
    np.testing.assert_allclose(display.dissimilarities, expected, atol=1e-7)


def test_metric_may_be_a_function_or_a_transformer():
    X = np.random.RandomState(3).randn(20, 4)

    def chebyshev(first, second):
        return np.abs(first - second).max()

    estimator = fitted_like(random_partition(20), chebyshev)
    display = ShepardDisplay.from_estimator(estimator, X)
    np.testing.assert_allclose(display.dissimilarities, pdist(X, "chebyshev"))
    pca = PCA(2).fit(X)
    estimator = fitted_like(random_partition(20), PCA(2), transformer_=pca)
    display = ShepardDisplay.from_estimator(estimator, X)
    np.testing.assert_allclose(display.dissimilarities, pdist(pca.transform(X)))


def test_dissimilarities_may_be_precomputed_or_given():
    values = np.random.RandomState(4).uniform(1, 2, 190)
    matrix, X = squareform(values), np.zeros((20, 3))
    partition = random_partition(20)
    estimator = fitted_like(partition, "precomputed")
    display = ShepardDisplay.from_estimator(estimator, matrix)
    np.testing.assert_array_equal(display.dissimilarities, values)
    for given in (values, matrix):
        display = ShepardDisplay.from_estimator(
            fitted_like(partition), X, dissimilarities=given
        )
        np.testing.assert_array_equal(display.dissimilarities, values)


def test_an_asymmetric_matrix_is_treated_as_the_estimator_does():
    matrix = squareform(np.random.RandomState(5).uniform(1, 2, 45))
    skew = matrix + np.triu(np.ones((10, 10)), 1)
    partition = random_partition(10)
    estimator = fitted_like(partition, "precomputed", symmetrize=True)
    half = matrix[np.triu_indices(10, 1)] + 0.5
    display = ShepardDisplay.from_estimator(estimator, skew)
    np.testing.assert_allclose(display.dissimilarities, half)
    display = ShepardDisplay.from_estimator(estimator, matrix, dissimilarities=skew)
    np.testing.assert_allclose(display.dissimilarities, half)
    with pytest.raises(ValueError, match="X must be symmetric"):
        ShepardDisplay.from_estimator(fitted_like(partition, "precomputed"), skew)


@pytest.mark.parametrize("metric", ["euclidean", "precomputed", StandardScaler()])
def test_stress_is_that_of_the_fitted_estimator(metric):
    X, _ = make_four_class(80, random_state=0)
    if metric == "precomputed":
        X = squareform(pdist(X))
    model = NNEVCLUS(4, metric=metric, n_init=1, tol=1e-3, random_state=0).fit(X)
    display = ShepardDisplay.from_estimator(model, X)
    assert display.stress == pytest.approx(model.stress_, rel=1e-6)
    assert display.scale == model.scale_


def display_of(n_pairs):
    """A display of so many of the 3160 pairs of 80 objects."""
    X = np.random.RandomState(6).randn(80, 2)
    estimator = fitted_like(random_partition(80))
    return ShepardDisplay.from_estimator(estimator, X, n_pairs=n_pairs)


def test_few_pairs_are_dots_around_the_line(plt):
    display = display_of(200)
    ax = display.plot(title="Fit").ax_
    (dots,) = ax.collections
    np.testing.assert_array_equal(
        dots.get_offsets(), np.column_stack([display.targets, display.conflicts])
    )
    (line,) = ax.lines
    np.testing.assert_array_equal(line.get_xydata(), [[0, 0], [1, 1]])
    label = ax.get_xlabel().replace("\N{NO-BREAK SPACE}", " ")
    assert label == "transformed dissimilarity δ* (200 of 3 160 pairs)"
    assert ax.get_ylabel() == "degree of conflict κ"
    assert ax.get_title(loc="left") == "Fit"
    assert [text.get_text() for text in ax.texts] == [
        f"stress {display.stress:.3g}\nRMS residual {display.stress**0.5:.3g}"
    ]


def test_many_pairs_are_counted_in_hexagons(plt, legend_texts):
    display = display_of(2001).plot()
    (hexagons,) = display.ax_.collections
    assert hexagons.get_array().sum() == 2001
    assert legend_texts(display.ax_) == ["κ = δ*"]
    assert display.figure_.axes[1].get_ylabel() == "pairs in a hexagon"
    display.figure_.canvas.draw()


@pytest.mark.parametrize("n_pairs", [200, 3160])
def test_raw_dissimilarities_have_a_curve(n_pairs, plt, legend_texts):
    display = display_of(n_pairs)
    ax = display.plot(x="raw").ax_
    (line,) = ax.lines
    x, y = line.get_xydata().T
    np.testing.assert_allclose(y, transform(x, display.scale))
    assert x[-1] == display.dissimilarities.max()
    assert ax.get_xlabel().startswith("dissimilarity d (")
    assert legend_texts(ax) == ["κ = φ(d)"]
    display.figure_.canvas.draw()


def test_without_legend_there_is_no_colour_bar(plt):
    display = display_of(3160).plot(legend=False)
    assert display.ax_.get_legend() is None
    assert display.figure_.axes == [display.ax_]


def test_given_axes_are_used(plt):
    figure, ax = plt.subplots()
    display = ShepardDisplay.from_partition(THREE, [1, 2, 3], scale=1, ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
    other = ShepardDisplay.from_estimator(
        fitted_like(THREE), [[0.0], [1.0], [2.0]], ax=ax
    )
    assert other.ax_ is ax


@pytest.mark.parametrize("x", ["transformed", "raw"])
def test_pairs_in_one_place_can_be_drawn(x, plt):
    partition = CredalPartition.from_labels([0] * 80, 2)
    same = ShepardDisplay.from_partition(partition, np.zeros(3160), scale=1)
    assert same.stress == 0
    same.plot(x=x).figure_.canvas.draw()


def test_repr_is_short():
    display = ShepardDisplay.from_partition(THREE, [1, 2, 4], scale=2)
    assert repr(display) == f"ShepardDisplay(3 pairs, stress={display.stress:.3g})"
    two = ShepardDisplay.from_partition(THREE[:2], [1], scale=2)
    assert repr(two).startswith("ShepardDisplay(1 pair, ")


@pytest.mark.parametrize(
    ("dissimilarities", "options", "message"),
    [
        ([1, 2, 3], {"scale": 0}, r"scale must be a finite number > 0, got 0"),
        ([1, 2, 3], {"scale": -1.5}, r"scale must be .* > 0, got -1.5"),
        ([1, 2, 3], {"scale": np.nan}, r"scale must be .* > 0, got nan"),
        ([1, 2, 3], {"scale": 1, "n_pairs": 0}, r"n_pairs must be .* >= 1, got 0"),
        ([1, 2], {"scale": 1}, r"a vector of 3 values .* got shape \(2,\)"),
        (np.zeros((2, 2)), {"scale": 1}, r"of shape \(3, 3\) or .* got shape \(2, 2\)"),
        (np.zeros((3, 2)), {"scale": 1}, r"of shape \(3, 3\) or .* got shape \(3, 2\)"),
        ([1, -2, 3], {"scale": 1}, r"dissimilarities must be finite and >= 0, got -2"),
        ([1, np.nan, 3], {"scale": 1}, r"dissimilarities must be finite .* got nan"),
        (np.ones((3, 3)), {"scale": 1}, r"dissimilarities must have a zero diagonal"),
        (["a", "b", "c"], {"scale": 1}, r"dissimilarities must be an array of numbers"),
    ],
)
def test_wrong_input_is_refused(dissimilarities, options, message):
    with pytest.raises(ValueError, match=message):
        ShepardDisplay.from_partition(THREE, dissimilarities, **options)


def test_one_object_has_no_pairs():
    with pytest.raises(ValueError, match="at least 2 objects, got 1"):
        ShepardDisplay.from_partition(THREE[:1], [], scale=1)


def test_the_horizontal_axis_is_one_of_two(plt):
    display = ShepardDisplay.from_partition(THREE, [1, 2, 3], scale=1)
    with pytest.raises(ValueError, match="x must be one of 'transformed', 'raw', got"):
        display.plot(x="log")


def test_an_estimator_must_be_fitted_to_these_data():
    with pytest.raises(ValueError, match="have scale_, got SimpleNamespace without it"):
        ShepardDisplay.from_estimator(SimpleNamespace(partition_=THREE), np.eye(3))
    with pytest.raises(ValueError, match=r"each of the 3 objects .* got 4 rows"):
        ShepardDisplay.from_estimator(fitted_like(THREE), np.eye(4))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::credalis.exceptions.OutlierWarning")
@pytest.mark.parametrize("metric", ["euclidean", "precomputed"])
@pytest.mark.parametrize("method", [EVCLUS, NNEVCLUS])
def test_novelty_changes_nothing(method, metric):
    X, _ = make_four_class(60, random_state=0)
    if metric == "precomputed":
        X = pairwise_distances(X)
    model = method(4, metric=metric, n_init=1, max_iter=20, random_state=0)
    displays = [
        ShepardDisplay.from_estimator(model.set_params(empty_set=meaning).fit(X), X)
        for meaning in ("stress", "novelty")
    ]
    np.testing.assert_allclose(*(each.conflicts for each in displays), atol=1e-12)
    assert displays[1].stress == pytest.approx(model.stress_)
    # What is reported has other conflicts.
    reported = ShepardDisplay.from_partition(
        model.partition_, pairwise_distances(X), scale=model.scale_
    )
    assert np.abs(reported.conflicts - displays[1].conflicts).max() > 0.01
