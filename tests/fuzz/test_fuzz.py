"""A few thousand cases with fixed seeds; `make fuzz` runs new ones for an hour."""

import signal

import pytest

pytest.importorskip("resource", reason="there are no limits to set")
pytest.importorskip("click")
pytest.importorskip("pyarrow")
if not hasattr(signal, "setitimer"):
    pytest.skip("there is no timer of processor time", allow_module_level=True)

from tests.fuzz.families import run_case

# Family, and how many cases each test runs.
PARTS = [
    *(("api", 700, part) for part in range(20)),
    *(("files", 500, part) for part in range(5)),
    *(("tables", 150, part) for part in range(3)),
    *(("kills", 8, part) for part in range(2)),
    ("disks", 60, 0),
]


@pytest.mark.parametrize(
    ("family", "n_cases", "part"), PARTS, ids=[f"{f}-{p}" for f, _, p in PARTS]
)
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
