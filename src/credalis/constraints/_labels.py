"""What labels and must-links say together."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import connected_components

from credalis._refusals import refuses_by_name
from credalis.constraints._pairs import Pairs, link_graph


@refuses_by_name
def spread_labels(
    labels: NDArray[np.integer],
    must_link: Pairs,
    cannot_link: Pairs,
    *,
    name: str,
    rows: NDArray[np.integer] | None = None,
) -> NDArray[np.intp]:
    """Labels handed on along chains of must-links.

    Parameters
    ----------
    labels : array of int, shape (n_samples,)
        Classes 0, 1, ...; -1 for unknown.
    must_link, cannot_link : array of int, shape (n_pairs, 2)
        Checked pairs that do not contradict each other.
    name : str
        Name of the parameter that holds the labels, for the message.
    rows : array of int, shape (n_samples,), default=None
        What messages call the objects; None: by their row numbers.

    Returns
    -------
    array of intp, shape (n_samples,)
        The labels, and those of the objects that must-links join to labelled ones.

    Raises
    ------
    ValueError
        If two labels of linked objects differ, or a cannot-link joins two equal ones.

    Examples
    --------
    >>> import numpy as np
    >>> from credalis.constraints import spread_labels
    >>> no_pairs = np.empty((0, 2), dtype=int)
    >>> labels = np.array([4, -1, -1, 0])
    >>> spread_labels(labels, np.array([(0, 1)]), no_pairs, name="y")
    array([ 4,  4, -1,  0])
    """
    labels = labels.astype(np.intp)
    known = np.flatnonzero(labels >= 0)
    called = np.arange(len(labels)) if rows is None else rows
    graph = link_graph(must_link, len(labels))
    n_groups, group = connected_components(graph, directed=False)
    owner = np.full(n_groups, -1, dtype=np.intp)
    owner[group[known]] = known
    owners = owner[group]  # a labelled object of the same group, or -1
    differ = labels[known] != labels[owners[known]]
    if differ.any():
        one = known[differ.argmax()]
        raise ValueError(
            f"{name} must agree with must_link, got other labels for the linked "
            f"objects {called[one]} and {called[owners[one]]}"
        )
    spread = np.where(owners >= 0, labels[owners], -1)
    first, second = spread[cannot_link].T
    equal = (first == second) & (first >= 0)
    if equal.any():
        one, other = cannot_link[equal.argmax()]
        raise ValueError(
            f"{name} must agree with cannot_link, got the same label for the objects "
            f"{called[one]} and {called[other]} or those linked to them"
        )
    return spread
