"""A few thousand cases with fixed seeds; `make fuzz` runs new ones for an hour."""

import signal

import pytest

pytest.importorskip("resource", reason="there are no limits to set")
pytest.importorskip("click")
pytest.importorskip("pyarrow")
if not hasattr(signal, "setitimer"):
    pytest.skip("there is no timer of processor time", allow_module_level=True)

from tests.fuzz.families import run_case

# Family, how many cases each test runs, how many tests there are, and how many of them
# always run.
FAMILIES = [
    ("api", 700, 20, 5),
    ("files", 500, 5, 2),
    ("tables", 150, 3, 1),
    ("kills", 8, 2, 1),
    ("disks", 60, 1, 1),
]
PARTS = [
    pytest.param(
        *(family, n_cases, part),
        id=f"{family}-{part}",
        marks=pytest.mark.slow if part >= n_always else (),
    )
    for family, n_cases, n_parts, n_always in FAMILIES
    for part in range(n_parts)
]


@pytest.mark.parametrize(("family", "n_cases", "part"), PARTS)
def test_no_case_fails(family, n_cases, part):
    outcomes = [
        run_case(f"{family}:{seed}")
        for seed in range(part * n_cases, (part + 1) * n_cases)
    ]
    assert [outcome for outcome in outcomes if outcome.is_failure] == []
    kinds = {outcome.kind for outcome in outcomes}
    # Hostile calls are refused, and the others are not.
    assert "accepted" in kinds
    assert len(kinds) > 1 or family == "kills"


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4))
def test_workers_may_be_killed(seed):
    outcome = run_case(f"workers:{seed}")
    assert not outcome.is_failure, outcome
