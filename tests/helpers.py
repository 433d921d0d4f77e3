"""What several tests need: validity of a partition, strategies, contents of files."""

import json
import os
import threading
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from credalis import CredalPartition, FocalSets
from credalis._archive import _container

# The settings of the articles, which are not the defaults.
PAPER_EVCLUS = {"dissimilarity_quantile": "paper", "empty_set": "stress"}
PAPER_NNEVCLUS = {**PAPER_EVCLUS, "init": "random", "weight_decay": 0.0}


def assert_valid_partition(partition, n_samples=None):
    """Masses are mass functions, and the views respect the order of evidence."""
    assert isinstance(partition, CredalPartition)
    masses = partition.masses
    if n_samples is not None:
        assert len(partition) == n_samples
    assert masses.dtype == np.float64
    assert not masses.flags.writeable
    assert np.isfinite(masses).all()
    assert (masses >= 0).all()
    np.testing.assert_allclose(masses.sum(axis=1), 1.0, atol=1e-9)
    inside = 1 - partition.outlier_mass[:, None]
    assert (partition.belief <= partition.plausibility + 1e-12).all()
    assert (partition.belief <= partition.pignistic * inside + 1e-9).all()
    assert (partition.pignistic * inside <= partition.plausibility + 1e-9).all()


def assert_decreasing(values, rtol=1e-10):
    """Values never increase beyond rounding."""
    values = np.asarray(values)
    assert (np.diff(values) <= rtol * np.abs(values[:-1])).all(), values


def central_differences(function, point, step):
    """Derivatives of a function of an array, entry by entry."""
    slopes = np.empty_like(point)
    for index in np.ndindex(*point.shape):
        values = []
        for sign in (1, -1):
            moved = point.copy()
            moved[index] += sign * step
            values.append(function(moved))
        slopes[index] = (values[0] - values[1]) / (2 * step)
    return slopes


@st.composite
def focal_set_lists(draw, min_clusters=2, max_clusters=4):
    """Any focal sets: the usual builders, or an arbitrary list of subsets."""
    n_clusters = draw(st.integers(min_clusters, max_clusters))
    kind = draw(st.sampled_from(["singletons", "pairs", "full", "any"]))
    if kind == "any":
        every = FocalSets.full(n_clusters).subsets
        chosen = draw(
            st.lists(st.sampled_from(every), min_size=1, max_size=8, unique=True)
        )
        return FocalSets.from_subsets(n_clusters, chosen)
    empty, frame = draw(st.booleans()), draw(st.booleans())
    return getattr(FocalSets, kind)(n_clusters, empty=empty, frame=frame)


@st.composite
def mass_matrices(draw, focal_sets, min_rows=1, max_rows=6):
    """Rows of masses, exact zeros included."""
    n_rows = draw(st.integers(min_rows, max_rows))
    weights = draw(
        arrays(
            np.float64,
            (n_rows, len(focal_sets)),
            elements=st.one_of(st.just(0.0), st.floats(0.001, 1.0)),
        )
    )
    # A row of zeros becomes a mass on the first set.
    weights[weights.sum(axis=1) == 0, 0] = 1.0
    return weights / weights.sum(axis=1, keepdims=True)


@st.composite
def credal_partitions(draw, min_rows=1, max_rows=8, **sizes):
    """Credal partitions of a few objects."""
    focal_sets = draw(focal_set_lists(**sizes))
    return CredalPartition(
        draw(mass_matrices(focal_sets, min_rows, max_rows)), focal_sets
    )


def contents(path):
    """Header and arrays of a file, to be changed and written again."""
    with np.load(path) as archive:
        found = {name: archive[name] for name in archive.files}
    return json.loads(found.pop("credalis").tobytes()), found


def write(path, header, members):
    """A file with any content and the right digest."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    _container.write(path, {**members, "credalis": np.frombuffer(text, dtype=np.uint8)})


# Programs that fixtures of other tests may have left open.
_BROWSERS = ("chrom", "node")


def _own_processes():
    """This process and all that it has started but browsers, on Linux; else none."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended
            name, _, fields = entry.read_text().rpartition(")")
            if not any(browser in name for browser in _BROWSERS):
                parents[int(entry.parent.name)] = int(fields.split()[1])
    own, n_before = {os.getpid()}, 0
    while len(own) > n_before:
        n_before = len(own)
        own |= {pid for pid, parent in parents.items() if parent in own}
    return own


def _is_computing(pids):
    """Whether any thread but this one has a processor, or waits for one."""
    for pid in pids:
        for entry in Path(f"/proc/{pid}/task").glob("[0-9]*/stat"):
            with suppress(OSError):
                state = entry.read_text().rpartition(")")[2].split()[0]
                is_self = entry.parent.name == str(threading.get_native_id())
                if state == "R" and not is_self:
                    return True
    return False


def _processor_seconds(pids):
    """Processor time that processes have used so far, without that of who looks."""
    ticks = 0
    for pid in pids:
        with suppress(OSError):
            stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            ticks += int(stat[11]) + int(stat[12])
    return ticks / os.sysconf("SC_CLK_TCK") - time.thread_time()


def assert_idle_soon():
    """Nothing is computing after another second of processor time, if not before.

    Idle is who asks for no processor, or hardly uses one: where others want the
    processors, too, those who only look at a clock now and then are often seen waiting,
    and by the clock it may take longer.
    """
    begin, pids = time.monotonic(), _own_processes()
    before = last = _processor_seconds(pids)
    share = rate = 1.0
    while share > 0.25 and rate > 0.15:
        used = last - before
        assert used < 1.0, f"{used} s, computing in {share:.0%} of the looks"
        assert time.monotonic() - begin < 30
        start, looks = time.monotonic(), []
        for _ in range(20):
            time.sleep(0.01)
            looks.append(_is_computing(pids))
        share = np.mean(looks)
        now = _processor_seconds(pids)
        rate, last = (now - last) / (time.monotonic() - start), now
