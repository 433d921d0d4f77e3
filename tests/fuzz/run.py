"""Rounds of cases in processes of their own, and the table of how they ended."""

import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from typing import IO

from tests.fuzz.case import Outcome
from tests.fuzz.families import run_case
from tests.fuzz.models import quiet, warm_up

# Cases of one round; those of killed workers take long and come in every 150th.
ROUND = {"api": 600, "files": 120, "tables": 12, "kills": 2, "disks": 4}
WORKERS_EVERY = 150
# Of a kind that is named alone.
_NAMED_ROUND = 60

# A process may take this much more memory than the one that starts it.
_MORE_MEMORY = 3 * 2**30

# Seconds in which a case must end, however busy the machine is: C code cannot be
# interrupted, and a process that waits uses no processor time.
_PATIENCE = 300.0


@dataclass
class Tally:
    """How many cases have ended how.

    Attributes
    ----------
    kinds : dict of str to Counter
        How the cases of a family have ended.
    subjects : dict of str to Counter
        The same for each function or method.
    failures : list of Outcome
        Those that must not end so.
    seconds : dict of str to float
        Processor time of each family, without that of killed children.
    slowest : Outcome or None
        The one that took the most of it.
    """

    kinds: dict[str, Counter] = field(default_factory=dict)
    subjects: dict[str, Counter] = field(default_factory=dict)
    failures: list[Outcome] = field(default_factory=list)
    seconds: Counter = field(default_factory=Counter)
    slowest: Outcome | None = None

    def add(self, outcome: Outcome) -> None:
        """Count one more."""
        family = outcome.case.partition(":")[0]
        kind = "failure" if outcome.is_failure else outcome.kind
        self.kinds.setdefault(family, Counter())[kind] += 1
        self.subjects.setdefault(f"{family} {outcome.what}", Counter())[kind] += 1
        self.seconds[family] += outcome.seconds
        if outcome.is_failure:
            self.failures.append(outcome)
        if self.slowest is None or outcome.seconds > self.slowest.seconds:
            self.slowest = outcome

    def lines(self) -> Iterator[str]:
        """A table in Markdown."""
        yield "| family | cases | accepted | refused | failures | processor time |"
        yield "|---|---|---|---|---|---|"
        for family, kinds in self.kinds.items():
            refused = [
                f"{count} {kind}"
                for kind, count in kinds.most_common()
                if kind not in ("accepted", "failure")
            ]
            yield (
                f"| {family} | {sum(kinds.values())} | {kinds['accepted']} | "
                f"{', '.join(refused) or '0'} | {kinds['failure']} | "
                f"{self.seconds[family]:.0f} s |"
            )

    def subject_lines(self) -> Iterator[str]:
        """A longer table, with a row for each function or method."""
        yield "| subject | cases | accepted | refused | failures |"
        yield "|---|---|---|---|---|"
        for subject, kinds in sorted(self.subjects.items()):
            n_all = sum(kinds.values())
            rest = n_all - kinds["accepted"] - kinds["failure"]
            yield (
                f"| {subject} | {n_all} | {kinds['accepted']} | {rest} | "
                f"{kinds['failure']} |"
            )


def outcomes(cases: Sequence[str], *, is_limited: bool = True) -> Iterator[Outcome]:
    """Run cases in a process of its own, which may crash; the rest is then left out."""
    reading, writing = os.pipe()
    sys.stdout.flush()
    with quiet():
        child = os.fork()
    if child == 0:
        _work(cases, writing, is_limited)
    os.close(writing)
    begun: str | None = None
    with os.fdopen(reading) as lines:
        for line in _patiently(lines, child):
            told = json.loads(line)
            if "begin" in told:
                begun = told["begin"]
            else:
                begun = None
                yield Outcome(**told)
    _, status = os.waitpid(child, 0)
    if begun is not None or status:
        yield Outcome(begun or cases[-1], "process", f"crash, status {status}", True)


def _work(cases: Sequence[str], writing: int, is_limited: bool) -> None:
    """What a child does; it never returns."""
    code = 1
    try:
        if is_limited:
            limit = _used_memory() + _MORE_MEMORY
            hard = resource.getrlimit(resource.RLIMIT_AS)[1]
            resource.setrlimit(resource.RLIMIT_AS, (limit, hard))
        with os.fdopen(writing, "w", buffering=1) as lines:
            for case in cases:
                lines.write(json.dumps({"begin": case}) + "\n")
                lines.write(json.dumps(asdict(run_case(case))) + "\n")
        code = 0
    except BaseException as error:
        sys.stderr.write(f"{type(error).__name__}: {error}\n")
    finally:
        os._exit(code)


def _used_memory() -> int:
    """Bytes of address space of this process; none where nobody says."""
    try:
        with open("/proc/self/statm") as stream:
            return int(stream.read().split()[0]) * resource.getpagesize()
    except OSError:
        return 2**33


def _patiently(lines: IO[str], child: int) -> Iterator[str]:
    """Lines as they come; a child that says nothing for long is killed."""
    while True:
        ready, _, _ = select.select([lines], [], [], _PATIENCE)
        if not ready:
            os.kill(child, signal.SIGKILL)
            return
        line = lines.readline()
        if not line:
            return
        yield line
        # What is buffered is not seen by select.
        while True:
            os.set_blocking(lines.fileno(), False)
            try:
                line = lines.readline()
            finally:
                os.set_blocking(lines.fileno(), True)
            if not line:
                break
            while not line.endswith("\n"):
                line += lines.readline()
            yield line


def run_for(
    seconds: float, first: int, report: IO[str], only: Sequence[str] = ()
) -> Tally:
    """Rounds of new cases until the time is over, of all families or of those named.

    What is named is a family, or a kind of one, as ``api/uses.reports``.
    """
    started = time.monotonic()
    with quiet():
        warm_up()
    tally = Tally()
    n_rounds = 0
    while time.monotonic() - started < seconds:
        ended = _named_round(only, first, n_rounds) if only else _round(first, n_rounds)
        for outcome in ended:
            tally.add(outcome)
            if outcome.is_failure:
                report.write(f"{outcome.case} {outcome.what}: {outcome.kind}\n")
                report.write(f"    {outcome.message}\n")
                report.flush()
        n_rounds += 1
        if n_rounds % 20 == 0:
            counts = {name: sum(kinds.values()) for name, kinds in tally.kinds.items()}
            minutes = (time.monotonic() - started) / 60
            report.write(
                f"{minutes:.1f} min: {counts}, {len(tally.failures)} failures\n"
            )
            report.flush()
    return tally


def _round(first: int, number: int) -> Iterator[Outcome]:
    together = [
        f"{family}:{first + number * count + k}"
        for family, count in ROUND.items()
        for k in range(count)
    ]
    light = [c for c in together if c.startswith(("api", "files", "tables"))]
    yield from outcomes(light)
    yield from outcomes([c for c in together if c not in set(light)], is_limited=False)
    if number % WORKERS_EVERY == 0:
        yield alone(f"workers:{first + number}")


def _named_round(only: Sequence[str], first: int, number: int) -> Iterator[Outcome]:
    """A round of what is named alone, as many of each."""
    for named in only:
        count = ROUND.get(named, _NAMED_ROUND)
        cases = [f"{named}:{first + number * count + k}" for k in range(count)]
        is_light = named.startswith(("api", "files", "tables"))
        yield from outcomes(cases, is_limited=is_light)


def alone(case: str) -> Outcome:
    """Run a case that starts processes of its own, in a new interpreter."""
    command = [sys.executable, "-m", "tests.fuzz", "--replay", case, "--json"]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=_PATIENCE, check=False
        )
        return Outcome(**json.loads(done.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        return Outcome(case, "process", "hang", True, f"more than {_PATIENCE:g} s")
    except (IndexError, ValueError):
        return Outcome(case, "process", "crash", True, done.stderr[-400:])
