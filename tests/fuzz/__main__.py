"""``python -m tests.fuzz``: an hour of new cases, or one of them again."""

import argparse
import json
import os
import resource
import sys
import time
import traceback
import warnings
from dataclasses import asdict
from pathlib import Path

# Before NumPy is imported: the promise is about one processor.
for library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")

from tests.fuzz.families import drawn, run_case
from tests.fuzz.run import run_for


def main() -> int:
    """Run what the command line says; 1 if something has failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0, help="how long")
    parser.add_argument("--seed", type=int, help="number of the first cases")
    parser.add_argument("--replay", metavar="CASE", help="one case, as in api:17")
    parser.add_argument(
        "--only",
        nargs="+",
        default=(),
        metavar="KIND",
        help="families, or kinds of one, as in api/uses.reports",
    )
    parser.add_argument("--table", type=Path, help="where to write the tables")
    parser.add_argument("--json", action="store_true", help="how it ended, as JSON")
    given = parser.parse_args()
    if given.replay and given.json:
        print(json.dumps(asdict(run_case(given.replay))), flush=True)
        # Without waiting for what libraries leave behind.
        os._exit(0)
    if given.replay:
        return replay(given.replay)
    # New ones each time, and none of those that the tests repeat.
    first = given.seed if given.seed is not None else int(time.time()) * 1000
    print(
        f"seeds from {first} on; python -m tests.fuzz --replay FAMILY:SEED", flush=True
    )
    before = time.monotonic()
    tally = run_for(60 * given.minutes, first, sys.stdout, given.only)
    minutes = (time.monotonic() - before) / 60
    used = sum(
        sum(resource.getrusage(who)[:2])
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    lines = [
        f"{minutes:.0f} minutes, of which {used / 60:.0f} of processor time; seeds "
        f"from {first} on.",
        "",
        *tally.lines(),
        "",
        *tally.subject_lines(),
    ]
    print("\n".join(["", *lines]))
    if tally.slowest is not None:
        slow = tally.slowest
        print(f"\nslowest: {slow.case} {slow.what}, {slow.seconds:.1f} s")
    if given.table is not None:
        given.table.write_text("\n".join(lines) + "\n")
    return 1 if tally.failures else 0


def replay(case: str) -> int:
    """Run one case, and say everything about it."""
    outcome = run_case(case)
    print(outcome)
    if outcome.kind != "accepted":
        call = drawn(case)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            try:
                call.run()
            except Exception:
                traceback.print_exc()
    return int(outcome.is_failure)


if __name__ == "__main__":
    sys.exit(main())
