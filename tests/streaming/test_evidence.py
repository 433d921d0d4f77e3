import numpy as np
import pytest
from scipy.stats import binom

from credalis.streaming._evidence import (
    CURRENT,
    EARLIER,
    detectable_share,
    log_evidence,
    log_likelihood,
    log_supremum,
)

N_KNOWN = 25
N_STREAM = 18


def all_counts():
    """Every pair of counts that can happen."""
    known, hits = np.meshgrid(np.arange(N_KNOWN + 1), np.arange(N_STREAM + 1))
    return known.ravel(), hits.ravel()


def evidence(known, hits, tolerated, bets=CURRENT):
    trials = np.full_like(hits, N_STREAM)
    return log_evidence(known, N_KNOWN, hits, trials, tolerated, bets)


all_bets = pytest.mark.parametrize("bets", [EARLIER, CURRENT], ids=["earlier", "now"])


@all_bets
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
def test_evidence_has_a_mean_of_at_most_one_under_the_null(p, q, tolerated, bets):
    known, hits = all_counts()
    probabilities = binom.pmf(known, N_KNOWN, p) * binom.pmf(hits, N_STREAM, q)
    assert probabilities @ np.exp(evidence(known, hits, tolerated, bets)) <= 1


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


@all_bets
def test_evidence_that_is_watched_all_the_time_rarely_reaches_its_bound(rng, bets):
    """Ville's inequality on streams without a change, looked at after every object."""
    n_streams, length, p, bound = 2000, 300, 0.05, 10
    known = rng.binomial(100, p, size=n_streams)
    hits = (rng.random((n_streams, length)) < p).cumsum(axis=1)
    ever = np.zeros(n_streams, dtype=bool)
    for n in range(1, length + 1):
        trials = np.full(n_streams, n)
        values = log_evidence(known, 100, hits[:, n - 1], trials, 0.0, bets)
        ever |= values >= np.log(bound)
    assert ever.mean() <= 1 / bound


def test_without_a_stream_there_is_no_evidence():
    known = np.arange(5)
    zeros = np.zeros(5, dtype=int)
    assert (log_evidence(known, 100, zeros, zeros, 0.01) <= 0).all()


@all_bets
def test_stakes_sum_to_at_most_one(bets):
    # Whichever of the regions are new places.
    numbers = np.arange(1, 200_001)
    for every in (1, 3, 200_001):
        places = np.where(numbers % every == 0, numbers // every, 0)
        stakes = np.exp(bets.log_stakes_on(numbers, places))
        assert 0.4 < stakes.sum() <= 1
        assert (stakes > 0).all()


def test_stakes_are_differences_that_leave_nothing_over():
    numbers = np.arange(1, 1001)
    stakes = np.exp(CURRENT.log_stakes(numbers))
    assert stakes.sum() == pytest.approx(1 - 1 / np.log2(1002), rel=1e-12)
    later = np.exp(CURRENT.log_stakes(np.array([10**12])))
    assert later == pytest.approx(np.log(2) / (1e12 * np.log(1e12) ** 2), rel=1e-6)


def test_evidence_of_a_region_that_calibration_never_hits_has_a_bound():
    # (1 - q)^-N, and the stream's bet on q can only lose.
    trials = np.array([10**3, 10**5, 10**7])
    none = np.zeros(3, dtype=int)
    values = log_evidence(none, 200, trials // 10, trials, 0.0)
    assert (values < -200 * np.log(0.9)).all()
    assert values.max() > 10


def test_detectable_share_falls_with_more_calibration_objects():
    setting = {"rejection_rate": 0.05, "tolerated": 0.005}
    sizes = (50, 100, 300, 1000, 10_000)
    shares = [detectable_share(n, false_alarm_rate=0.01, **setting) for n in sizes]
    assert (np.diff(shares) < 0).all()
    # No ball may be of interest below the tolerated share.
    assert shares[-1] > 0.005
    assert detectable_share(100, false_alarm_rate=0.1, **setting) < shares[1]
    assert detectable_share(2, false_alarm_rate=0.01, **setting) == np.inf
    earlier = detectable_share(300, false_alarm_rate=0.01, bets=EARLIER, **setting)
    assert earlier > 1.5 * shares[2]
