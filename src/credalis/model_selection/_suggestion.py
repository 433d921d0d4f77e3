"""How many clusters there are, if any, before any method is fitted."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state

from credalis._checks import (
    check_choice,
    check_flag,
    check_integer,
    check_seed,
    naming,
)
from credalis._control import fitting
from credalis._refusals import refuses_by_name
from credalis._threads import one_thread
from credalis.cluster._inputs._clusters import count_distinct
from credalis.cluster.consensus._choice import Choice
from credalis.cluster.consensus._members import MEMBERS, check_members
from credalis.cluster.consensus._n_clusters import choose_n_clusters, default_numbers
from credalis.model_selection._criteria import Vote
from credalis.model_selection._fits import distinct
from credalis.model_selection._selection import Selection


@refuses_by_name
@fitting("suggest_n_clusters")
def suggest_n_clusters(
    X: ArrayLike,
    n_clusters: str | Iterable[int] = "auto",
    *,
    may_be_one: bool = True,
    members: str | Sequence[Any] = "auto",
    random_state: int | np.random.RandomState | None = None,
    verbose: int = 0,
) -> Selection:
    """Say whether rows have clusters, and how many, by what a committee finds.

    A test comes first: are there groups of rows with gaps between them that chance
    would not leave? Then the members of `credalis.Consensus` cluster the rows into each
    number of clusters. Among the numbers at which their mean agreement (adjusted Rand
    index of two members) is within 0.1 of the best, that with the lowest BIC of a
    Gaussian mixture is suggested.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Rows; 1000 of them are looked at, 1200 by the test. Scale the columns if their
        units differ.
    n_clusters : "auto" or iterable of int, default="auto"
        Numbers to try, all >= 2. "auto" tries 2 to 10, and on to 40 as long as the
        largest is the best, but no more than one for every ten rows.
    may_be_one : bool, default=True
        Whether 1 is suggested if the test finds nothing.
    members : "auto" or list, default="auto"
        As for `credalis.Consensus`.
    random_state : int, RandomState instance or None, default=None
        Seed of the members, and of the halves that the test works with.
    verbose : int, default=0
        1 shows a progress bar on standard error.

    Returns
    -------
    Selection
        With ``best`` and ``reason``, the curves "agreement" and "bic" with the number
        that each alone prefers, and no estimators.

    Notes
    -----
    The test is made at 2 %: if rows are independent, and their density is log-concave
    (Gaussian, uniform in a convex region, exponential …) or has heavier tails such as
    those of the multivariate t, then clusters are claimed with a probability of at most
    0.02. Such a density, confined to any convex region and seen along any line, has a
    single mode. A region and a line with two are searched for in one half of the rows
    and tested in the other by the dip test (J. A. Hartigan and P. M. Hartigan, 1985).
    Clusters without a gap between them, such as two of different spread around the same
    centre, are not found; a single group that is bent, as a ring is, counts as several.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> from credalis.model_selection import suggest_n_clusters
    >>> X, _ = make_blobs(150, centers=4, cluster_std=0.8, random_state=3)
    >>> suggest_n_clusters(X, random_state=0).best
    4
    >>> X = np.random.RandomState(0).uniform(size=(150, 2))
    >>> suggest_n_clusters(X, random_state=0).best
    1
    """
    with naming("X"):
        rows = check_array(X, dtype=np.float64, ensure_min_samples=2, input_name="X")
    check_members(members)
    check_flag("may_be_one", may_be_one)
    check_seed("random_state", random_state)
    if isinstance(n_clusters, str):
        check_choice("n_clusters", n_clusters, ("auto",))
        numbers: Sequence[int]
        numbers, largest = default_numbers(rows)
    else:
        check = partial(check_integer, "n_clusters", at_least=2)
        numbers, largest = distinct("n_clusters", n_clusters, check), None
    n_distinct = count_distinct(rows, numbers[-1])
    if n_distinct < numbers[-1]:
        raise ValueError(
            "n_clusters must not exceed the number of distinct rows of X, got "
            f"n_clusters={numbers[-1]} and {n_distinct} distinct row(s)"
        )
    # Sums depend on the number of threads that add.
    with one_thread():
        choice = choose_n_clusters(
            rows,
            numbers,
            MEMBERS if isinstance(members, str) else members,
            check_random_state(random_state),
            may_be_one=may_be_one,
            method="suggest_n_clusters",
            is_verbose=bool(verbose),
            largest=largest,
        )
    return selection_of(choice)


def selection_of(choice: Choice) -> Selection:
    """What a committee has found, as the result of a selection."""
    return Selection(
        parameter="n_clusters",
        values=choice.numbers,
        best=choice.n_clusters,
        reason=choice.reason,
        curves={"agreement": choice.agreement, "bic": choice.bic},
        errors={},
        votes={
            "agreement": Vote(
                choice.by_agreement,
                f"members agree most ({choice.agreement.max():.2f})",
            ),
            "bic": Vote(choice.by_bic, "the BIC of a Gaussian mixture is lowest"),
        },
        details={},
        fixed_params={},
        estimators={},
        p_value=choice.p_value,
    )
