"""Verdicts, and what counts."""

import pytest

from credalis.reproduce import Finding
from credalis.reproduce._framework._data import SETS, DataSet
from credalis.reproduce._framework._findings import (
    best_by_loss,
    claimed,
    compared,
    share_good,
    verdict_on,
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
        (0.80, "reproduced"),
        (0.83, "reproduced"),
        (0.77, "reproduced"),
        (0.831, "better"),
        (0.769, "worse"),
    ],
)
def test_verdict_on_an_agreement(value, verdict):
    assert verdict_on(value, 0.80, 0.03) == verdict


def test_verdict_on_a_loss():
    assert verdict_on(4.0, 5.0, 0.1, lower_is_better=True) == "better"
    assert verdict_on(5.05, 5.0, 0.1, lower_is_better=True) == "reproduced"
    assert verdict_on(6.0, 5.0, 0.1, lower_is_better=True) == "worse"


def test_a_single_value_and_a_claim():
    found = compared("Wine", "ARI", 0.8, 0.82, 0.03, "one start")
    assert found == Finding(
        "Wine", "ARI", 0.8, (0.82,), 0.82, "reproduced", "one start"
    )
    assert compared("Wine", "ARI", 0.8, None, 0.03).verdict == "not run"
    assert compared("Wine", "loss", 5.0, 4.0, 0.1, lower_is_better=True).is_compared
    assert claimed("Wine", "it is best", True).verdict == "reproduced"
    assert claimed("Wine", "it is best", False).verdict == "worse"


def test_best_is_that_of_the_lowest_loss_not_of_the_highest_value():
    assert best_by_loss([0.9, 0.8], [2.0, 1.0]) == 0.8
    assert best_by_loss([], []) is None


def test_finding_of_repetitions():
    found = agreement_finding(SETS["Wine"], "ECM", 0.81, RUNS, 0.03)
    assert found.verdict == "reproduced"
    assert found.best == 0.9
    assert found.mean == pytest.approx(0.8)
    assert found.deviation == pytest.approx(0.1)
    assert spread(found).split() == ["0.800", "±", "0.100"]


def test_no_verdict_on_other_data():
    other = DataSet("Other", "other", 3, "another draw", is_comparable=False)
    found = agreement_finding(other, "ECM", 0.2, RUNS, 0.03)
    assert (found.verdict, found.why) == ("not comparable", "another draw")
    assert agreement_finding(other, "ECM", 0.2, [], 0.03).verdict == "not run"
    absent = agreement_finding(SETS["Seeds"], "ECM", 0.2, [], 0.03)
    assert absent.verdict == "not available"
    assert agreement_finding(SETS["Wine"], "ECM", 0.2, [], 0.03).verdict == "not run"


def test_only_compared_findings_count():
    verdicts = (
        "reproduced",
        "better",
        "worse",
        "not comparable",
        "not run",
        "not available",
    )
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
