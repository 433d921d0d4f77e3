"""How soon the evidence of balls gives an alarm, and how seldom a false one.

Objects are in three Gaussian clusters; the distance to the nearest centre stands for
the score of a model.
"""

import numpy as np
import pytest

from credalis.streaming._balls import Balls, Reference
from credalis.streaming._calibration import conformal_threshold
from credalis.streaming._evidence import CURRENT, detectable_share

N_CALIBRATION = 300
N_SHAPING = N_CALIBRATION // 4
NEW = np.array([14.0, 0.0])  # 6 standard deviations from the nearest centre
CENTERS = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])


def scores(X):
    return np.hypot(*(X[:, np.newaxis] - CENTERS).transpose(2, 0, 1)).min(axis=1)


def objects(rng, n_objects, share):
    """Objects of the known clusters, and a share of them of the new one."""
    centers = CENTERS[rng.integers(3, size=n_objects)]
    centers[rng.random(n_objects) < share] = NEW
    return centers + rng.standard_normal((n_objects, 2))


def first_alarm(seed, *, n_ordinary=0, n_mixed=0, share=0.0, false_alarm_rate=0.01):
    """Objects between the beginning of the new cluster and the alarm, or infinity."""
    rng = np.random.default_rng(seed)
    known = objects(rng, N_CALIBRATION, 0)
    shaping, counted = known[:N_SHAPING], known[N_SHAPING:]
    threshold = conformal_threshold(scores(shaping), 0.05)
    reference = Reference(
        counted[scores(counted) > threshold],
        len(counted),
        metric="euclidean",
        radius=2.0,
        tolerated=0.005,
        bets=CURRENT,
    )
    X = np.concatenate([objects(rng, n_ordinary, 0), objects(rng, n_mixed, share)])
    rejected = np.flatnonzero(scores(X) > threshold)
    _, totals, _ = Balls.none(2, 2).followed_by(
        X[rejected],
        X[rejected],
        rejected + 1,
        n_rejected=0,
        n_places=0,
        at_most=1000,
        reference=reference,
    )
    reached = rejected[totals >= -np.log(false_alarm_rate)]
    return reached[0] + 1 - n_ordinary if len(reached) else np.inf


@pytest.mark.parametrize("n_ordinary", [0, pytest.param(1000, marks=pytest.mark.slow)])
def test_new_cluster_of_a_tenth_is_found_within_500_objects(n_ordinary):
    found = np.array(
        [
            first_alarm(seed, n_ordinary=n_ordinary, n_mixed=500, share=0.1)
            for seed in range(100)
        ]
    )
    assert (found > 0).all()
    assert np.isfinite(found).sum() >= 95


def test_ordinary_streams_give_no_more_alarms_than_they_may():
    rate = 0.1
    alarms = [
        first_alarm(seed, n_ordinary=1000, false_alarm_rate=rate) for seed in range(100)
    ]
    assert np.isfinite(alarms).mean() <= rate


@pytest.mark.slow
@pytest.mark.parametrize("rate", [0.01, 0.1])
def test_many_long_ordinary_streams(rate):
    alarms = [
        first_alarm(seed, n_ordinary=5000, false_alarm_rate=rate)
        for seed in range(1000)
    ]
    assert np.isfinite(alarms).mean() <= rate


def test_detectable_share_tells_what_is_found_from_what_is_not():
    share = detectable_share(
        N_CALIBRATION - N_SHAPING,
        false_alarm_rate=0.01,
        rejection_rate=0.05,
        tolerated=0.005,
    )
    assert share == pytest.approx(0.056, abs=0.002)
    found = {
        factor: np.isfinite(
            [
                first_alarm(seed, n_mixed=2000, share=factor * share)
                for seed in range(20)
            ]
        ).mean()
        for factor in (0.4, 1.3)
    }
    assert found[0.4] <= 0.1
    assert found[1.3] >= 0.9
