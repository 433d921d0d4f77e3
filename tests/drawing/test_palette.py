import numpy as np
import pytest

from credalis import FocalSets
from credalis._drawing.palette import (
    _seen,
    _to_linear,
    cluster_colors,
    cluster_markers,
    mixed_color,
    set_styles,
)


def closest(coordinates):
    apart = np.sqrt(((coordinates[:, None] - coordinates) ** 2).sum(axis=2))
    return apart[np.triu_indices(len(apart), 1)].min()


def test_a_cluster_keeps_its_colour_when_others_are_added():
    many = cluster_colors(64)
    for n_clusters in (1, 2, 8, 9, 40):
        np.testing.assert_array_equal(cluster_colors(n_clusters), many[:n_clusters])


def test_eight_colours_differ_in_lightness_alone():
    luminance = _to_linear(cluster_colors(8)) @ [0.2126, 0.7152, 0.0722]
    lightness = 116 * np.cbrt(luminance) - 16  # L* of CIELAB, 0 to 100
    assert np.diff(np.sort(lightness)).min() > 6


@pytest.mark.parametrize(("n_clusters", "gap"), [(4, 0.15), (8, 0.085), (40, 0.04)])
def test_colours_differ_for_normal_and_for_colour_blind_eyes(n_clusters, gap):
    for coordinates in _seen(cluster_colors(n_clusters)):
        assert closest(coordinates) > gap


def test_colours_are_colours_and_come_back_after_sixty_four():
    colors = cluster_colors(130)
    assert colors.shape == (130, 3)
    assert (colors >= 0).all()
    assert (colors <= 1).all()
    np.testing.assert_array_equal(colors[:64], colors[64:128])


def test_colour_and_marker_together_are_unique():
    pairs = {
        (*color, marker)
        for color, marker in zip(cluster_colors(500), cluster_markers(500), strict=True)
    }
    assert len(pairs) == 500


def test_mixing_a_colour_with_itself_changes_nothing():
    color = cluster_colors(3)[[2, 2]]
    np.testing.assert_allclose(mixed_color(color), color[0], atol=1e-6)


def test_only_sets_between_clusters_and_the_frame_are_hatched():
    styles = set_styles(FocalSets.pairs(3))
    assert [style.hatch is not None for style in styles] == [
        *[False] * 4,
        *[True] * 3,
        False,
    ]
    assert len({style.hatch for style in styles[4:7]}) == 3


@pytest.mark.parametrize("n_clusters", [-1, 2.5, "3"])
def test_a_number_of_colours_that_is_none_is_named(n_clusters):
    with pytest.raises(ValueError, match="n_clusters"):
        cluster_colors(n_clusters)
