import numpy as np
import pytest
from scipy.stats import binom

from credalis.streaming._evidence import log_evidence, log_likelihood, log_supremum

N_KNOWN = 25
N_STREAM = 18


def all_counts():
    """Every pair of counts that can happen."""
    known, hits = np.meshgrid(np.arange(N_KNOWN + 1), np.arange(N_STREAM + 1))
    return known.ravel(), hits.ravel()


def evidence(known, hits, tolerated):
    return log_evidence(known, N_KNOWN, hits, np.full_like(hits, N_STREAM), tolerated)


@pytest.mark.parametrize(
    ("p", "q", "tolerated"),
    [
        (0.01, 0.01, 0.0),
        (0.1, 0.1, 0.0),
        (0.5, 0.5, 0.0),
        (0.3, 0.1, 0.0),
        (0.02, 0.2, 0.2),
        (0.0, 0.1, 0.1),
        (0.3, 0.3, 0.05),
    ],
)
def test_evidence_has_a_mean_of_at_most_one_under_the_null(p, q, tolerated):
    known, hits = all_counts()
    probabilities = binom.pmf(known, N_KNOWN, p) * binom.pmf(hits, N_STREAM, q)
    assert probabilities @ np.exp(evidence(known, hits, tolerated)) <= 1


def test_evidence_has_a_mean_above_one_for_a_new_cluster():
    known, hits = all_counts()
    probabilities = binom.pmf(known, N_KNOWN, 0.01) * binom.pmf(hits, N_STREAM, 0.5)
    assert probabilities @ evidence(known, hits, 0.05) > 1


@pytest.mark.parametrize("tolerated", [0.0, 0.1, 0.4])
def test_supremum_is_the_largest_likelihood_under_the_null(tolerated):
    known, hits = all_counts()
    trials = np.full_like(hits, N_STREAM)
    shares = np.linspace(0, 1, 101)
    p, q = np.meshgrid(shares, shares)
    is_null = q <= np.maximum(p, tolerated)
    p, q = p[is_null], q[is_null]
    with np.errstate(divide="ignore"):
        on_grid = [
            (log_likelihood(a, N_KNOWN, p) + log_likelihood(b, N_STREAM, q)).max()
            for a, b in zip(known, hits, strict=True)
        ]
    found = log_supremum(known, N_KNOWN, hits, trials, tolerated)
    assert (found >= np.array(on_grid) - 1e-12).all()
    # The grid misses the best point by little.
    np.testing.assert_allclose(found, on_grid, atol=0.06)


def test_more_hits_are_more_evidence():
    hits = np.arange(2, N_STREAM + 1)
    values = evidence(np.full_like(hits, 1), hits, 0.01)
    assert (np.diff(values) > 0).all()


def test_evidence_that_is_watched_all_the_time_rarely_reaches_its_bound(rng):
    """Ville's inequality on streams without a change, looked at after every object."""
    n_streams, length, p, bound = 2000, 300, 0.05, 10
    known = rng.binomial(100, p, size=n_streams)
    hits = (rng.random((n_streams, length)) < p).cumsum(axis=1)
    ever = np.zeros(n_streams, dtype=bool)
    for n in range(1, length + 1):
        trials = np.full(n_streams, n)
        values = log_evidence(known, 100, hits[:, n - 1], trials, 0.0)
        ever |= values >= np.log(bound)
    assert ever.mean() <= 1 / bound


def test_without_a_stream_there_is_no_evidence():
    known = np.arange(5)
    zeros = np.zeros(5, dtype=int)
    assert (log_evidence(known, 100, zeros, zeros, 0.01) <= 0).all()
