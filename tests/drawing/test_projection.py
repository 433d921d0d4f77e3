import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from credalis._drawing.inputs import check_feature_names
from credalis._drawing.projection import convex_hull, interval, planar_view

planar_points = arrays(
    np.float64,
    st.tuples(st.integers(0, 12), st.just(2)),
    elements=st.integers(-5, 5).map(float),
)


def area_and_sides(corners, points):
    """Signed doubled areas of the triangles (corner, next corner, point)."""
    edges = np.roll(corners, -1, axis=0) - corners
    offsets = points[:, None, :] - corners
    return edges[:, 0] * offsets[..., 1] - edges[:, 1] * offsets[..., 0]


@given(planar_points)
def test_corners_are_points_and_no_point_is_outside(points):
    corners = convex_hull(points)
    members = {tuple(point) for point in points}
    assert {tuple(corner) for corner in corners} <= members
    assert len(corners) <= len(members)
    if len(corners) > 2:
        assert (area_and_sides(corners, points) >= -1e-9).all()
    elif len(corners) == 2:
        low, high = np.sort(corners, axis=0)
        assert (points >= low).all()
        assert (points <= high).all()
        np.testing.assert_allclose(area_and_sides(corners, points), 0, atol=1e-9)
    else:
        assert len(corners) == min(len(members), 1)


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_units_far_apart_do_not_flatten_a_hull(scale, rng):
    points = rng.normal(size=(50, 2))
    scaled = convex_hull(points * [scale, 1.0])
    np.testing.assert_allclose(scaled, convex_hull(points) * [scale, 1.0])


def test_points_on_a_slanted_line_span_a_segment():
    positions = np.linspace(0, 1, 30)
    points = np.column_stack([positions, 0.1 + positions / 3])
    np.testing.assert_allclose(convex_hull(points)[[0, 1]], points[[0, -1]])


def test_interval_is_the_range_at_a_height():
    points = np.array([[3.0, 0.2], [1.0, 0.9], [2.0, 0.1]])
    assert interval(points, -0.5).tolist() == [[1.0, -0.5], [3.0, -0.5]]
    assert interval(points[:1], -0.5).tolist() == [[3.0, -0.5]]
    assert interval(points[:0], -0.5).shape == (0, 2)


def test_two_features_are_shown_as_they_are(rng):
    X = rng.normal(size=(10, 2))
    view = planar_view(X, ["a", "b"], np.zeros(10), X[:3])
    np.testing.assert_array_equal(view.points, X)
    np.testing.assert_array_equal(view.centers, X[:3])
    assert view.axis_labels == ("a", "b")


def test_more_features_are_projected_with_their_prototypes(rng):
    X = rng.normal(size=(50, 5)) * [10, 3, 1, 1, 1]
    view = planar_view(X, list("abcde"), np.zeros(50), X[:3])
    assert view.points.shape == (50, 2)
    np.testing.assert_allclose(view.centers, view.points[:3], atol=1e-9)
    shares = view.points.var(axis=0) / X.var(axis=0).sum()
    for j, (label, share) in enumerate(zip(view.axis_labels, shares, strict=True)):
        assert (
            label
            == f"principal component {j + 1} ({share:.0%} of variance)".replace(
                "%", " %"
            )
        )


def test_a_component_without_variance_says_so():
    X = np.arange(10.0)[:, None] * [1, 2, 3]
    view = planar_view(X, list("abc"), np.zeros(10))
    assert view.axis_labels[0] == "principal component 1 (100 % of variance)"


@pytest.mark.parametrize("X", [np.ones((4, 3)), np.arange(3.0)[None]])
def test_equal_objects_have_no_principal_components(X):
    view = planar_view(X, ["a", "b", "c"], np.zeros(len(X)))
    np.testing.assert_array_equal(view.points, X[:, :2])
    assert view.axis_labels == ("a", "b")


def test_one_feature_is_shown_against_doubt():
    view = planar_view(np.ones((2, 1)), ["a"], np.array([0.1, 0.7]), np.ones((1, 1)))
    assert view.points.tolist() == [[1.0, 0.1], [1.0, 0.7]]
    assert view.centers.tolist() == [[1.0, 0.0]]
    assert view.axis_labels == ("a", "doubt")
    assert view.is_strip


def test_names_come_from_the_user_then_the_frame_then_the_estimator():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0], "b": [2.0]})

    class Fitted:
        feature_names_in_ = np.array(["c", "d"], dtype=object)

    assert check_feature_names(["x", "y"], frame, 2, Fitted()) == ["x", "y"]
    assert check_feature_names(None, frame, 2, Fitted()) == ["a", "b"]
    assert check_feature_names(None, frame.to_numpy(), 2, Fitted()) == ["c", "d"]
    assert check_feature_names(None, frame.to_numpy(), 2) == ["feature 0", "feature 1"]


@pytest.mark.parametrize("names", [["a"], "ab", ["a", "b", "c"]])
def test_wrong_number_of_names(names):
    with pytest.raises(ValueError, match=r"feature_names must hold .* 2 features, got"):
        check_feature_names(names, None, 2)
