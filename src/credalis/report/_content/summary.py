"""The result in brief, for readers who know nothing of evidence theory."""

from dataclasses import dataclass

from credalis._drawing.palette import BASE_COLORS, INK
from credalis.report._content.subject import Subject
from credalis.report._content.text import counted, listed, number, percentage

NONSPECIFICITY_RANGE = "0: precise, 1: nothing is known"
_MAX_NAMES = 6


def lead(subject: Subject) -> str:
    """What was found, in one sentence a manager understands."""
    verdicts, n_samples = subject.verdicts, subject.n_samples
    parts: list[str] = []
    for members, none, one, several in (
        (verdicts.is_clear, "none is clear", "is clear", "are clear"),
        (
            verdicts.is_between,
            "none is between clusters",
            "is between clusters",
            "are between clusters",
        ),
        (verdicts.is_outlier, "none is an outlier", "is an outlier", "are outliers"),
    ):
        count = int(members.sum())
        share = f"{number(count)} ({percentage(count, n_samples)})"
        parts.append(f"{share} {one if count == 1 else several}" if count else none)
    clusters = counted(subject.partition.n_clusters, "cluster")
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


def facts(subject: Subject) -> list[Fact]:
    """The numbers behind the sentence."""
    verdicts = subject.verdicts
    counts = (
        ("clear", verdicts.is_clear, "clearly in one cluster", BASE_COLORS[0]),
        ("between", verdicts.is_between, "between two or more", BASE_COLORS[1]),
        ("outliers", verdicts.is_outlier, "in none of them", INK),
    )
    found = []
    for name, chosen, words, color in counts:
        count = int(chosen.sum())
        note = f"{percentage(count, subject.n_samples)}, {words}"
        found.append(Fact(name, number(count), note, color))
    precision = f"{subject.partition.average_nonspecificity:.2f}"
    return [*found, Fact("nonspecificity", precision, NONSPECIFICITY_RANGE)]
