"""FDA and LFDA: linear features from labels."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr

from credalis import _archive
from credalis._checks import check_choice, check_integer, check_number
from credalis.metric_learning._base import Components, LinearLearner, Matrix
from credalis.metric_learning._information import class_numbers
from credalis.metric_learning._scatter import (
    discriminant_directions,
    local_affinities,
    local_scatters,
    scatters,
)

_SCALINGS = ("weighted", "plain", "orthonormal")


class FDA(LinearLearner):
    """Fisher discriminant analysis: directions in which classes lie far apart.

    The directions t solve

        max_t tᵀ S_b t / tᵀ (S_w + ε I) t

    with the between-class and within-class scatters S_b and S_w (per object) of the
    labelled objects, each orthogonal to those before it in the sense of S_w + ε I, and
    scaled so that tᵀ (S_w + ε I) t = 1: the features have unit variance within classes.
    All objects are projected, labelled or not.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of features, at most n_features and the number of classes minus one,
        which "auto" takes.
    regularization : float, default=1e-6
        ε relative to the mean variance within classes, tr(S_w) / n_features.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Directions, the best first; the largest entry of each is positive.
    eigenvalues_ : array of shape (n_components_,)
        What the directions reach.
    mean_ : array of shape (n_features,)
        Mean of the labelled objects, where all features are 0.
    n_components_ : int
        Number of features.
    n_features_in_ : int
        Number of features seen during fit.

    See Also
    --------
    LFDA : for classes made of several groups.
    KFDA : features that are not linear.

    References
    ----------
    R. A. Fisher (1936), The use of multiple measurements in taxonomic problems, Annals
    of Eugenics 7(2), 179-188.

    Examples
    --------
    >>> from credalis.metric_learning import FDA
    >>> X = [[0, 0], [0, 4], [1, 1], [1, 5], [5, 2], [7, 3]]
    >>> fda = FDA().fit(X, y=[0, 0, 1, 1, -1, -1])
    >>> fda.transform(X).shape
    (6, 1)
    """

    _schema = LinearLearner._schema.extended(
        {"eigenvalues_": _archive.Array("f", ("n_components",))}
    )

    _needs_labels = True

    def __init__(
        self, n_components: Components = "auto", *, regularization: float = 1e-6
    ) -> None:
        self.n_components = n_components
        self.regularization = regularization

    def _learn(
        self,
        X: Matrix,
        y: ArrayLike | None,
        must_link: ArrayLike | None,
        cannot_link: ArrayLike | None,
    ) -> None:
        classes = class_numbers("FDA", y, must_link, cannot_link, len(X))
        ridge = check_number("regularization", self.regularization, at_least=0)
        labelled, classes = X[classes >= 0], classes[classes >= 0]
        largest = min(X.shape[1], len(np.unique(classes)) - 1)
        n_components = self._count(largest, largest)
        self.eigenvalues_, directions = discriminant_directions(
            *scatters(labelled, classes), n_components, ridge
        )
        self._store(labelled.mean(axis=0), directions)


class LFDA(LinearLearner):
    """Local Fisher discriminant analysis: for classes made of several groups.

    As `FDA`, with scatters in which two objects of a class count by their affinity

        A_ij = exp(-‖x_i - x_j‖² / (σ_i σ_j)),

    σ_i being the distance of x_i to a near neighbour of its class: distant objects of a
    class need not be brought together. With A = 1 it is FDA.

    Parameters
    ----------
    n_components : int or "auto", default="auto"
        Number of features, at most n_features; "auto" is the number of classes minus
        one.
    n_neighbors : int, default=7
        Which neighbour σ is the distance to; the farthest one in smaller classes.
    scaling : {"weighted", "plain", "orthonormal"}, default="weighted"
        Lengths of the directions: "plain" as in FDA, "weighted" these times the root of
        their eigenvalue, "orthonormal" an orthonormal basis of the same space.
    regularization : float, default=1e-6
        ε relative to tr(S_w) / n_features, as in FDA.

    Attributes
    ----------
    components_ : array of shape (n_components_, n_features)
        Directions, the best first; the largest entry of each is positive.
    eigenvalues_ : array of shape (n_components_,)
        What the directions reach.
    mean_ : array of shape (n_features,)
        Mean of the labelled objects, where all features are 0.
    n_components_ : int
        Number of features.
    n_features_in_ : int
        Number of features seen during fit.

    References
    ----------
    M. Sugiyama (2006), Local Fisher discriminant analysis for supervised dimensionality
    reduction, ICML, 905-912.

    Examples
    --------
    >>> from credalis.metric_learning import LFDA
    >>> X = [[0, 0], [9, 0], [0, 1], [9, 1], [0, 4], [9, 4], [0, 5], [9, 5]]
    >>> lfda = LFDA().fit(X, y=[0, 0, 0, 0, 1, 1, 1, 1])
    >>> int(abs(lfda.components_).argmax())  # the second attribute tells them apart
    1
    """

    _schema = LinearLearner._schema.extended(
        {"eigenvalues_": _archive.Array("f", ("n_components",))}
    )

    _needs_labels = True

    def __init__(
        self,
        n_components: Components = "auto",
        *,
        n_neighbors: int = 7,
        scaling: Literal["weighted", "plain", "orthonormal"] = "weighted",
        regularization: float = 1e-6,
    ) -> None:
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.scaling = scaling
        self.regularization = regularization

    def _learn(
        self,
        X: Matrix,
        y: ArrayLike | None,
        must_link: ArrayLike | None,
        cannot_link: ArrayLike | None,
    ) -> None:
        classes = class_numbers("LFDA", y, must_link, cannot_link, len(X))
        ridge = check_number("regularization", self.regularization, at_least=0)
        n_neighbors = check_integer("n_neighbors", self.n_neighbors, at_least=1)
        scaling = check_choice("scaling", self.scaling, _SCALINGS)
        labelled, classes = X[classes >= 0], classes[classes >= 0]
        n_features = X.shape[1]
        automatic = min(n_features, len(np.unique(classes)) - 1)
        n_components = self._count(n_features, automatic)
        within, between = local_scatters(
            labelled, classes, lambda members: local_affinities(members, n_neighbors)
        )
        self.eigenvalues_, directions = discriminant_directions(
            within, between, n_components, ridge
        )
        if scaling == "weighted":
            directions = directions * np.sqrt(np.maximum(self.eigenvalues_, 0))[:, None]
        elif scaling == "orthonormal":
            directions = qr(directions.T, mode="economic")[0].T
        self._store(labelled.mean(axis=0), directions)
