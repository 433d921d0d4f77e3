"""What an update of a monitor returns."""

from dataclasses import dataclass


@dataclass(frozen=True)
class StreamState:
    """Where a stream stands after an update.

    Attributes
    ----------
    n_seen : int
        Objects of the stream so far.
    n_rejected : int
        How many of them were rejected.
    p_value : float
        At most the probability, if there is no new cluster, that the evidence is ever
        as large as it has been so far.
    alarm : bool
        Whether the p-value has reached ``false_alarm_rate``.
    """

    n_seen: int
    n_rejected: int
    p_value: float
    alarm: bool
