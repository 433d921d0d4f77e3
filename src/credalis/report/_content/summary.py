"""The result in brief, for readers who know nothing of evidence theory."""

from dataclasses import dataclass

from credalis._coverage import DEFAULT_LEVEL
from credalis._drawing.palette import BASE_COLORS, INK
from credalis.partition._presentation import coverage_lines, set_sizes
from credalis.report._content.subject import Subject
from credalis.report._content.text import counted, listed, number, percentages, plain

NONSPECIFICITY_RANGE = "0: precise, 1: nothing is known"
_MAX_NAMES = 6
# Names of many classes are cut here.
_MAX_WORDS_LENGTH = 2000


def lead(subject: Subject) -> str:
    """What was found, in one sentence a manager understands."""
    words = (
        ("none is clear", "is clear", "are clear"),
        ("none is between them", "is between them", "are between them"),
        ("none is an outlier", "is an outlier", "are outliers"),
    )
    parts: list[str] = []
    for (count, share), (none, one, several) in zip(
        _shares(subject), words, strict=True
    ):
        verb = one if count == 1 else several
        parts.append(f"{number(count)} ({share}) {verb}" if count else none)
    clusters = counted(subject.partition.n_clusters, "cluster")
    return f"{counted(subject.n_samples, 'object')} in {clusters}: {listed(parts)}."


def _shares(subject: Subject) -> list[tuple[int, str]]:
    """How many objects are clear, between clusters, and outliers, and their shares."""
    verdicts = subject.verdicts
    kinds = (verdicts.is_clear, verdicts.is_between, verdicts.is_outlier)
    counts = [int(each.sum()) for each in kinds]
    return list(zip(counts, percentages(counts), strict=True))


def how(subject: Subject) -> str:
    """How it was found, and what the objects were compared by."""
    if subject.is_precomputed:
        basis = "Compared by their dissimilarities"
    else:
        names = subject.compared_by
        n_features = len(names) if names else subject.matrix.shape[1]
        basis = f"Compared by {counted(n_features, 'feature')}"
        if names:
            basis += f" ({listed(names, _MAX_NAMES)})"
    if subject.estimator is None:
        return f"{basis}. The partition was given as it is."
    name = type(subject.estimator).__name__
    words = getattr(subject.estimator, "_words", "")
    return f"{basis}; method {name}" + (f": {words}." if words else ".")


def coverage_text(subject: Subject, level: float | None) -> str:
    """How large sets with a level are, and what it promises; "" if there are none."""
    calibration = getattr(subject.estimator, "calibration_", None)
    if calibration is None:
        if level is not None:
            raise ValueError(
                "coverage must be None for a result without calibration, got "
                f"{level!r}: call calibrate of the model first"
            )
        return ""
    level = DEFAULT_LEVEL if level is None else level
    sets = subject.partition.decide("coverage", level=level, calibration=calibration)
    lines = coverage_lines(set_sizes(sets), level, calibration)
    sentences = (line[0].upper() + line[1:] for line in lines)
    return plain(". ".join(sentences), _MAX_WORDS_LENGTH)


@dataclass(frozen=True)
class Fact:
    """A number at the top of the page, perhaps with a coloured mark."""

    name: str
    value: str
    note: str
    color: str | None = None


def facts(subject: Subject) -> list[Fact]:
    """The numbers behind the sentence."""
    words = (
        ("clear", "clearly in one cluster", BASE_COLORS[0]),
        ("between", "between two or more", BASE_COLORS[1]),
        ("outliers", "in none of them", INK),
    )
    found = [
        Fact(name, number(count), f"{share}, {note}", color)
        for (count, share), (name, note, color) in zip(
            _shares(subject), words, strict=True
        )
    ]
    precision = f"{subject.partition.average_nonspecificity:.2f}"
    return [*found, Fact("nonspecificity", precision, NONSPECIFICITY_RANGE)]
