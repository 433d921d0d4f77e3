import numpy as np
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from credalis.datasets import load_butterfly


def test_butterfly_has_twelve_points_in_the_plane():
    butterfly = load_butterfly()
    assert butterfly.data.shape == (12, 2)
    assert butterfly.data.dtype == np.float64
    assert butterfly.feature_names == ["x1", "x2"]


def test_butterfly_has_no_ground_truth():
    butterfly = load_butterfly()
    assert_array_equal(butterfly.target, np.full(12, -1))
    assert butterfly.target.dtype == np.int64
    assert butterfly.target_names == []
    assert "no ground truth" in butterfly.DESCR


def test_the_wings_mirror_each_other_and_the_sixth_object_lies_between_them():
    data = load_butterfly().data
    mirrored = data[:11] * [-1, 1]
    assert_allclose(
        data[:11][np.lexsort(data[:11].T)], mirrored[np.lexsort(mirrored.T)]
    )
    assert_array_equal(data[5], [0, 0])


def test_the_last_object_is_the_outlier():
    data = load_butterfly().data
    distances = cdist(data, data)
    np.fill_diagonal(distances, np.inf)
    nearest = distances.min(axis=1)
    assert nearest.argmax() == 11
    assert nearest[11] > 5 * nearest[:11].max()


def test_every_call_returns_a_fresh_copy():
    load_butterfly().data[:] = 0
    assert load_butterfly().data.any()


def test_butterfly_says_where_it_comes_from():
    assert "Windham" in load_butterfly().provenance
    assert "Licence" in load_butterfly().provenance
