"""The result in brief, for readers who know nothing of evidence theory."""

import datetime
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from credalis._coverage import DEFAULT_LEVEL
from credalis._drawing.palette import BASE_COLORS, INK, on_dark
from credalis.partition._presentation import coverage_lines, set_sizes
from credalis.report._content.subject import Subject
from credalis.report._content.text import counted, listed, number, percentages, plain

NONSPECIFICITY_RANGE = "0: precise, 1: nothing is known"
_MAX_NAMES = 6
# Names of many classes are cut here.
_MAX_WORDS_LENGTH = 2000


_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)


def day(date: datetime.date) -> str:
    """A date that no reader takes for another one, as in "3 May 2026"."""
    return f"{date.day} {_MONTHS[date.month - 1]} {date.year}"


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
        if subject.steps:
            made_by = listed([type(step).__name__ for step in subject.steps])
            basis += f", made by {made_by} from "
            basis += counted(len(subject.columns), "column")
    if subject.estimator is None:
        return f"{basis}. The partition was given as it is."
    name = type(subject.estimator).__name__
    words = getattr(subject.estimator, "_words", "")
    return f"{basis}; method {name}" + (f": {words}." if words else ".")


def caveats(subject: Subject) -> str:
    """What the method itself has found against its clusters; "" if it has not."""
    found = getattr(subject.estimator, "_caveats", list)
    return " ".join(found())


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

    @property
    def dark_color(self) -> str | None:
        """The colour of the mark on a dark page."""
        return None if self.color is None else on_dark(self.color)


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
    return [_clusters(subject), *found]


def _clusters(subject: Subject) -> Fact:
    """How many clusters there are, and how large they are."""
    sizes = np.bincount(subject.groups[subject.groups >= 0])
    sizes = sizes[sizes > 0]
    note = "without objects"
    if len(sizes):
        low, high = number(int(sizes.min())), number(int(sizes.max()))
        extent = f"{low} to {high}" if low != high else low
        note = f"of {extent} object{'' if sizes.max() == 1 else 's'}"
    return Fact("clusters", number(subject.partition.n_clusters), note)


def specialist_rows(subject: Subject) -> list[tuple[str, str]]:
    """What a reader who knows belief functions asks first."""
    partition = subject.partition
    focal_sets, masses = partition.focal_sets, partition.masses.mean(axis=0)
    sizes = focal_sets.cardinality
    is_frame = np.arange(len(focal_sets)) == (
        -1 if focal_sets.frame_index is None else focal_sets.frame_index
    )
    kinds = {
        "∅": sizes == 0,
        "single clusters": (sizes == 1) & ~is_frame,
        "two clusters": (sizes == 2) & ~is_frame,
        "more clusters": (sizes > 2) & ~is_frame,
        "Ω": is_frame,
    }
    shares = {name: masses[chosen].sum() for name, chosen in kinds.items()}
    whole = [round(1e6 * float(share)) for share in shares.values()]
    divided = [
        f"{name} {share}"
        for (name, chosen), share in zip(kinds.items(), percentages(whole), strict=True)
        if chosen.any()
    ]
    best = partition.belief.max(axis=1), partition.plausibility.max(axis=1)
    beliefs = [f"{float(each.mean()):.3f}" for each in best]
    return [
        ("focal sets", _sets_in_words(sizes, is_frame)),
        ("mean mass", ", ".join(divided)),
        (
            "nonspecificity",
            f"{partition.average_nonspecificity:.3f} ({NONSPECIFICITY_RANGE})",
        ),
        ("largest belief, plausibility", f"{beliefs[0]}, {beliefs[1]} on average"),
    ]


def _sets_in_words(sizes: NDArray[np.intp], is_frame: NDArray[np.bool_]) -> str:
    """How many focal sets there are of each size, as in "5: ∅, 3 of size 1, Ω"."""
    parts = ["∅"] if (sizes == 0).any() else []
    for size in np.unique(sizes[(sizes > 0) & ~is_frame]).tolist():
        parts.append(f"{int(((sizes == size) & ~is_frame).sum())} of size {size}")
    if is_frame.any():
        parts.append("Ω")
    return f"{len(sizes)}: {', '.join(parts)}"
