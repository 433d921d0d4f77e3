"""The butterfly: twelve objects, one between two clusters and one far from both."""

import numpy as np
from sklearn.utils import Bunch

BUTTERFLY = (
    (-5.0, 0.0),
    (-3.34, 1.67),
    (-3.34, 0.0),
    (-3.34, -1.67),
    (-1.67, 0.0),
    (0.0, 0.0),
    (1.67, 0.0),
    (3.34, -1.67),
    (3.34, 0.0),
    (3.34, 1.67),
    (5.0, 0.0),
    (10.0, 10.0),
)

DESCRIPTION = """\
Butterfly data: 12 objects in the plane. Rows 0 to 4 and rows 6 to 10 form two
symmetric clusters; row 5 lies exactly between them, and row 11 is an outlier.
There is no ground truth: the target is -1 for every object."""

PROVENANCE = """\
The coordinates printed in the literature on evidential clustering: Windham's eleven
points (Windham, 1985) and an outlier. Equal to the Butterfly data of Denœux,
"NN-EVCLUS: Neural network-based evidential clustering" (2021).
Licence: published coordinates; no file of another package is included."""


def load_butterfly() -> Bunch:
    """Twelve points: two small clusters, a point between them and an outlier.

    The smallest set on which a credal partition says more than a fuzzy one: mass
    on {cluster 0, cluster 1} is expected for object 6 (row 5), which lies between
    the wings, and mass on the empty set for object 12 (row 11), which is far from
    everything. It is Windham's set [1]_ with one outlier, in the manner of [2]_.

    Returns
    -------
    Bunch
        With the attributes

        data : ndarray of shape (12, 2)
            The objects, in the published order.
        target : ndarray of shape (12,)
            -1 everywhere: nobody can say to which wing the middle object belongs,
            and the outlier belongs to none, so there is no true partition.
        feature_names : list of str
            The names of the columns.
        target_names : list of str
            Empty, for there are no classes.
        DESCR : str
            What the set is.
        provenance : str
            Where the numbers come from.

    References
    ----------
    .. [1] M. P. Windham, "Numerical classification of proximity data with
       assignment measures", Journal of Classification, 2, 157-172, 1985.
    .. [2] M.-H. Masson and T. Denœux, "ECM: An evidential version of the fuzzy
       c-means algorithm", Pattern Recognition, 41, 1384-1397, 2008.

    Examples
    --------
    >>> from credalis.datasets import load_butterfly
    >>> butterfly = load_butterfly()
    >>> butterfly.data[[0, 5, 11]]
    array([[-5.,  0.],
           [ 0.,  0.],
           [10., 10.]])
    """
    data = np.array(BUTTERFLY)
    return Bunch(
        data=data,
        target=np.full(len(data), -1, dtype=np.int64),
        feature_names=["x1", "x2"],
        target_names=[],
        DESCR=DESCRIPTION,
        provenance=PROVENANCE,
    )
