"""Verdicts, and what counts."""

import pytest

from credalis.reproduce._framework._data import SETS, DataSet
from credalis.reproduce._framework._findings import (
    BETTER,
    NOT_AVAILABLE,
    NOT_COMPARABLE,
    NOT_RUN,
    REPRODUCED,
    WORSE,
    Finding,
    best_by_loss,
    judge,
    share_good,
)
from credalis.reproduce._framework._tables import (
    agreement_finding,
    matrix_table,
    spread,
)

RUNS = [{"ari": 0.8, "loss": 3.0}, {"ari": 0.9, "loss": 1.0}, {"ari": 0.7, "loss": 2.0}]


@pytest.mark.parametrize(
    ("value", "verdict"),
    [
        (0.80, REPRODUCED),
        (0.83, REPRODUCED),
        (0.77, REPRODUCED),
        (0.831, BETTER),
        (0.769, WORSE),
    ],
)
def test_verdict_on_an_agreement(value, verdict):
    assert judge(0.80, value, 0.03) == verdict


def test_verdict_on_a_loss():
    assert judge(5.0, 4.0, 0.1, lower_is_better=True) == BETTER
    assert judge(5.0, 5.05, 0.1, lower_is_better=True) == REPRODUCED
    assert judge(5.0, 6.0, 0.1, lower_is_better=True) == WORSE


def test_best_is_that_of_the_lowest_loss_not_of_the_highest_value():
    assert best_by_loss([0.9, 0.8], [2.0, 1.0]) == 0.8
    assert best_by_loss([], []) is None


def test_finding_of_repetitions():
    found = agreement_finding(SETS["Wine"], "ECM", 0.81, RUNS, 0.03)
    assert found.verdict == REPRODUCED
    assert found.best == 0.9
    assert found.mean == pytest.approx(0.8)
    assert found.deviation == pytest.approx(0.1)
    assert spread(found).split() == ["0.800", "±", "0.100"]


def test_other_data_are_not_judged():
    other = DataSet("Other", "other", 3, "another draw", is_comparable=False)
    found = agreement_finding(other, "ECM", 0.2, RUNS, 0.03)
    assert (found.verdict, found.why) == (NOT_COMPARABLE, "another draw")
    assert agreement_finding(other, "ECM", 0.2, [], 0.03).verdict == NOT_RUN
    absent = agreement_finding(SETS["Seeds"], "ECM", 0.2, [], 0.03)
    assert absent.verdict == NOT_AVAILABLE
    assert agreement_finding(SETS["Wine"], "ECM", 0.2, [], 0.03).verdict == NOT_RUN


def test_only_compared_findings_count():
    verdicts = (REPRODUCED, BETTER, WORSE, NOT_COMPARABLE, NOT_RUN, NOT_AVAILABLE)
    findings = [Finding("a", "b", 0.5, (), None, verdict) for verdict in verdicts]
    assert share_good(findings) == (2, 3)
    assert share_good([]) == (0, 0)


def test_table_of_many_marks_each_cell():
    found = [
        agreement_finding(SETS["Wine"], "ECM", 0.85, RUNS, 0.03),
        agreement_finding(SETS["Wine"], "CCM", 0.45, [], 0.03),
        agreement_finding(SETS["Iris"], "CCM", 0.50, RUNS, 0.03),
    ]
    table = matrix_table(found, ("ECM", "CCM"), "")
    assert table.rows == (
        ("Wine", "0.85 → 0.80 −", "0.45 → – ·"),
        ("Iris", "", "0.50 → 0.80 +"),
    )
