"""The result in brief, for readers who know nothing of evidence theory."""

from dataclasses import dataclass

from credalis._drawing.palette import BASE_COLORS, INK
from credalis.partition import CredalPartition
from credalis.report._content.subject import Subject
from credalis.report._content.text import counted, listed, number, percentage

NONSPECIFICITY_RANGE = "0: precise, 1: nothing is known"
_MAX_NAMES = 6


def lead(partition: CredalPartition) -> str:
    """What was found, in one sentence a manager understands."""
    n_samples = partition.n_samples
    n_clear, n_between, n_outliers = (
        int(chosen.sum())
        for chosen in (partition.lower, partition.is_ambiguous, partition.is_outlier)
    )
    parts: list[str] = []
    for count, none, one, several in (
        (n_clear, "none clearly belongs to one", "clearly belongs", "clearly belong"),
        (n_between, "none lies between several", "lies between", "lie between"),
        (n_outliers, "none is left out", "fits", "fit"),
    ):
        end = ("to one", "several", "none")[len(parts)]
        share = f"{number(count)} ({percentage(count, n_samples)})"
        verb = one if count == 1 else several
        parts.append(f"{share} {verb} {end}" if count else none)
    clusters = counted(partition.n_clusters, "cluster")
    return f"{counted(n_samples, 'object')} in {clusters}: {listed(parts)}."


def how(subject: Subject) -> str:
    """How it was found, and what the objects were compared by."""
    if subject.is_precomputed:
        basis = "Compared by their dissimilarities"
    else:
        basis = f"Compared by {counted(subject.matrix.shape[1], 'feature')}"
        if subject.feature_names:
            basis += f" ({listed(subject.feature_names, _MAX_NAMES)})"
    if subject.estimator is None:
        return f"{basis}. The partition was given as it is."
    name = type(subject.estimator).__name__
    words = getattr(subject.estimator, "_words", "")
    return f"{basis}; method {name}" + (f": {words}." if words else ".")


@dataclass(frozen=True)
class Fact:
    """A number at the top of the page, perhaps with a coloured mark."""

    name: str
    value: str
    note: str
    color: str | None = None


def facts(partition: CredalPartition) -> list[Fact]:
    """The numbers behind the sentence."""
    counts = (
        ("clear", partition.lower, "in one cluster", BASE_COLORS[0]),
        ("ambiguous", partition.is_ambiguous, "between clusters", BASE_COLORS[1]),
        ("outliers", partition.is_outlier, "in no cluster", INK),
    )
    found = []
    for name, chosen, words, color in counts:
        count = int(chosen.sum())
        note = f"{percentage(count, len(partition))}, {words}"
        found.append(Fact(name, number(count), note, color))
    precision = f"{partition.average_nonspecificity:.2f}"
    return [*found, Fact("nonspecificity", precision, NONSPECIFICITY_RANGE)]
