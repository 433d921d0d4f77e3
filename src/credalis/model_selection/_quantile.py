"""Which δ0: the quantile of the dissimilarities whose partitions are most stable."""

from collections.abc import Iterable
from functools import partial

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator

from credalis._checks import check_n_jobs, check_number
from credalis._control import fitting
from credalis._refusals import refuses_by_name
from credalis.model_selection._criteria import most_telling
from credalis.model_selection._fits import checked_task, distinct, draw_resamples, sweep
from credalis.model_selection._selection import Selection

# Beyond, φ makes nearly all pairs of objects alike, and the trivial partitions (all
# objects outliers, or all in one cluster) fit best.
_LOWEST, _HIGHEST = 0.1, 0.95


@refuses_by_name
@fitting("select_dissimilarity_quantile")
def select_dissimilarity_quantile(
    estimator: BaseEstimator,
    X: ArrayLike,
    quantiles: Iterable[float] = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95),
    *,
    n_resamples: int = 10,
    resample_share: float = 0.8,
    partial_labels: ArrayLike | None = None,
    must_link: ArrayLike | None = None,
    cannot_link: ArrayLike | None = None,
    dissimilarities: ArrayLike | None = None,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> Selection:
    """Choose δ0, as a quantile of the dissimilarities, by stability under resampling.

    The stress cannot choose δ0: where the transformed dissimilarities are nearly all 0
    or nearly all 1, the partitions with all objects in one cluster or with all objects
    as outliers have no stress at all. Instead, fits to random parts of the rows should
    agree on the rows they share about which objects are certainly together, an
    agreement that is 0 for both trivial partitions (see `select_n_clusters`).

    With ``empty_set="novelty"`` these are the masses that were trained, not those with
    ∅ as novelty that are reported: δ0 acts on the former.

    Of the quantiles whose stability is less than 0.02 below the best, that with the
    smallest average nonspecificity is suggested: it says most about the objects.

    Parameters
    ----------
    estimator : clusterer or Pipeline
        What is fitted, with the parameter ``dissimilarity_quantile``; it is cloned.
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Data, or dissimilarities for a clusterer with ``metric="precomputed"``.
    quantiles : iterable of float, default=(0.1, 0.2, ..., 0.9, 0.95)
        Quantiles to try, from 0.1 to 0.95.
    n_resamples, resample_share, n_jobs, random_state
        As in `select_n_clusters`.
    partial_labels, must_link, cannot_link, dissimilarities
        As in `select_n_clusters`.

    Returns
    -------
    Selection
        With ``best``, ``reason``, a table and the fitted estimators.

    Examples
    --------
    >>> from credalis import NNEVCLUS
    >>> from credalis.datasets import make_four_class
    >>> from credalis.model_selection import select_dissimilarity_quantile
    >>> X, _ = make_four_class(120, random_state=0)
    >>> model = NNEVCLUS(4, focal_sets="singletons", n_init=2)
    >>> selection = select_dissimilarity_quantile(
    ...     model, X, [0.3, 0.5], n_resamples=4, random_state=0
    ... )
    >>> selection.best
    0.5
    """
    check = partial(check_number, "quantiles", at_least=_LOWEST, at_most=_HIGHEST)
    values = distinct("quantiles", quantiles, check)
    given = {
        "partial_labels": partial_labels,
        "must_link": must_link,
        "cannot_link": cannot_link,
        "dissimilarities": dissimilarities,
    }
    clusterer, information = checked_task(estimator, X, given, "dissimilarity_quantile")
    if clusterer.parameters.get("dissimilarity_scale") is not None:
        raise ValueError(
            "estimator must have dissimilarity_scale=None, which would take the place "
            f"of the quantile, got {clusterer.parameters['dissimilarity_scale']!r}"
        )
    check_n_jobs(n_jobs)
    seed, resamples = draw_resamples(
        information.n_samples, n_resamples, resample_share, random_state
    )
    fits = sweep(
        [clusterer.with_parameters(dissimilarity_quantile=q) for q in values],
        X,
        information,
        seed=seed,
        resamples=resamples,
        n_jobs=n_jobs,
    )
    partitions = fits.partitions
    nonspecificity = np.array([each.average_nonspecificity for each in partitions])
    vote = most_telling(np.array(values), fits.stability, nonspecificity)
    which = "No quantile" if vote.value is None else f"The quantile {vote.value:g}"
    return Selection(
        parameter="dissimilarity_quantile",
        values=np.array(values),
        best=vote.value,
        reason=f"{which} for δ0: {vote.reason}.",
        curves={"stability": fits.stability, "nonspecificity": nonspecificity},
        errors={"stability": fits.error},
        votes={"stability": vote},
        details={
            "outlier_share": np.array([each.is_outlier.mean() for each in partitions]),
            "scale": np.array([each.scale_ for each in fits.clusterers]),
        },
        fixed_params={},
        estimators=dict(zip(values, fits.estimators, strict=True)),
    )
