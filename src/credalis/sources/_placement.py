"""Which workers of Dask hold the partitions that are trained on together.

Workers that wait for each other are as slow as the one that has most to do. Dask runs a
task where its partition is, and partitions are where they were made or read first: on
two workers five of them and three as often as four and four.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

# What a move must take off the load of the fullest worker to be worth the transfer.
_LEAST_GAIN = 0.05


def leveled(parts: tuple[Any, ...], sizes: Sequence[int]) -> tuple[Any, ...]:
    """The same partitions, moved so that all threads have about as many rows.

    Parameters
    ----------
    parts : tuple of delayed objects
        Persisted partitions. Unless a cluster holds them they stay as they are.
    sizes : sequence of int
        Their numbers of rows.

    Returns
    -------
    tuple of delayed objects
        Persisted. Those that have moved are held by their new worker alone; if it is
        lost, Dask makes them again on any other.
    """
    import dask

    try:
        from distributed import futures_of
    except ImportError:
        return parts
    futures = [future for part in parts for future in futures_of(part)]
    if len(futures) != len(parts):
        return parts
    client = futures[0].client
    holders = client.who_has(futures)
    targets = moves(
        sizes, [tuple(holders[future.key]) for future in futures], client.nthreads()
    )
    if not targets:
        return parts
    moved = list(parts)
    for k, worker in targets.items():
        with dask.annotate(workers=[worker], allow_other_workers=True):
            (moved[k],) = dask.persist(dask.delayed(_same)(parts[k]))
    return tuple(moved)


def moves(
    sizes: Sequence[int], holders: Sequence[Sequence[str]], threads: Mapping[str, int]
) -> dict[int, str]:
    """Which parts should go to which workers, as few as make the loads about equal.

    Parameters
    ----------
    sizes : sequence of int
        Rows of each part.
    holders : sequence of sequences of str
        Workers that hold each part; a part that none holds at the moment stays out.
    threads : mapping of str to int
        Threads of each worker.

    Returns
    -------
    dict of int to str
        New workers by the numbers of the parts.

    Examples
    --------
    >>> from credalis.sources._placement import moves
    >>> moves([10, 10, 10, 10], ["a", "a", "a", "b"], {"a": 1, "b": 1})
    {0: 'b'}
    """
    loads = dict.fromkeys(sorted(threads), 0.0)
    parts_of: dict[str, set[int]] = defaultdict(set)
    # A part with copies counts where there is least to do besides.
    for k in sorted(range(len(holders)), key=lambda k: len(holders[k])):
        known = sorted(worker for worker in holders[k] if worker in loads)
        if known:
            worker = min(known, key=loads.__getitem__)
            loads[worker] += sizes[k] / threads[worker]
            parts_of[worker].add(k)
    targets: dict[int, str] = {}
    while parts_of:
        full = max(parts_of, key=loads.__getitem__)
        free = min(loads, key=loads.__getitem__)

        def higher(k: int, full: str = full, free: str = free) -> float:
            """Load of the fuller of the two after a move."""
            return max(
                loads[full] - sizes[k] / threads[full],
                loads[free] + sizes[k] / threads[free],
            )

        best = min(sorted(parts_of[full]), key=higher)
        if higher(best) >= (1 - _LEAST_GAIN) * loads[full]:
            break
        loads[full] -= sizes[best] / threads[full]
        loads[free] += sizes[best] / threads[free]
        parts_of[full].remove(best)
        if not parts_of[full]:
            del parts_of[full]
        parts_of[free].add(best)
        targets[best] = free
    return targets


def _same(part: Any) -> Any:
    return part
