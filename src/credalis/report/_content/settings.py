"""How a result was made: settings, versions, seed, and how to make it again."""

import inspect
import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from typing import Any

import numpy as np

from credalis.partition import CLEAR_LEVEL
from credalis.report._content.subject import Subject
from credalis.report._content.summary import NONSPECIFICITY_RANGE
from credalis.report._content.text import number, plain

# Longer values of parameters are cut.
_MAX_VALUE_LENGTH = 200
_MAX_LINE_LENGTH = 20_000
_SIDE_INFORMATION = ("partial_labels", "must_link", "cannot_link")
_PACKAGES = ("numpy", "scipy", "scikit-learn")


@dataclass(frozen=True)
class Settings:
    """How a result was made: code that makes it again, what it cannot say, tables."""

    code: str
    note: str
    facts: list[tuple[str, str]]
    parameters: list[tuple[str, str]]


def settings_of(subject: Subject, command: str | None) -> Settings:
    """The command given or lines of Python, facts, and all parameters."""
    if command is None:
        code, note = _python_lines(subject)
    else:
        lines = (plain(line, _MAX_LINE_LENGTH) for line in command.splitlines())
        code, note = "\n".join(lines), ""
    known = (
        {} if subject.estimator is None else subject.estimator.get_params(deep=False)
    )
    parameters = [(plain(name), _value(value)) for name, value in known.items()]
    return Settings(code, note, _facts(subject), parameters)


def _python_lines(subject: Subject) -> tuple[str, str]:
    """Code that makes the result again, and what it cannot say."""
    estimator = subject.estimator
    if estimator is None:
        return (
            'from credalis import report\n\nreport(partition, X, "report.html")',
            "The partition was given as it is: how it was made is not known here.",
        )
    name = type(estimator).__name__
    changed, unreadable = [], []
    for key, value in _changed(estimator).items():
        text = _value(value)
        # Objects without a readable form show an address or a cut text.
        if " at 0x" in repr(value) or text.endswith("…"):
            unreadable.append(key)
        changed.append(f"{key}={text}")
    call = _call(name, changed)
    imports = f"from credalis import {name}, report"
    if subject.steps:
        imports = "\n".join([*_imports(subject.steps), imports])
        steps = [_value(step) for step in subject.steps]
        unreadable += [step for step in steps if step.endswith("…")]
        call = _call("make_pipeline", [*steps, call.replace("\n", "\n    ")])
    given = "" if subject.dissimilarities is None else ", dissimilarities=D"
    level = subject.verdicts.clear_level
    shown = "" if level == CLEAR_LEVEL else f", clear_level={level!r}"
    code = (
        f"{imports}\n\nmodel = {call}.fit(X{given})\n"
        f'report(model, X, "report.html"{given}{shown})'
    )
    return code, " ".join(_reservations(subject, unreadable))


def _call(name: str, arguments: list[str]) -> str:
    """A call on one line, or with an argument on each if that would be long."""
    call = f"{name}({', '.join(arguments)})"
    if len(call) <= 70 and "\n" not in call:
        return call
    return f"{name}(\n" + "".join(f"    {each},\n" for each in arguments) + ")"


def _imports(steps: list[Any]) -> list[str]:
    """Lines that import the classes of a pipeline from where they are public."""
    found = {"from sklearn.pipeline import make_pipeline"}
    for step in steps:
        parts = type(step).__module__.split(".")
        public = takewhile(lambda part: not part.startswith("_"), parts)
        found.add(f"from {'.'.join(public)} import {type(step).__name__}")
    return sorted(found)


def _reservations(subject: Subject, unreadable: list[str]) -> list[str]:
    """What else a second run needs to be the same."""
    estimator = subject.estimator
    scaled = "" if subject.steps else ", scaled in the same way"
    notes = [f"X must be what the model was fitted to{scaled}."]
    if unreadable:
        notes.append(f"Put in your own {', '.join(unreadable)}: the text is not code.")
    known = inspect.signature(getattr(estimator, "fit", lambda: None)).parameters
    side = [name for name in _SIDE_INFORMATION if name in known]
    if side:
        notes.append(f"If fit was given {' or '.join(side)}, give them again.")
    if not isinstance(_seed(estimator), (int, np.integer)):
        notes.append("No seed was given as a number: another run may differ.")
    return notes


def _changed(estimator: Any) -> dict[str, Any]:
    """Parameters that differ from their defaults."""
    defaults = {
        name: parameter.default
        for name, parameter in inspect.signature(type(estimator)).parameters.items()
    }
    return {
        name: value
        for name, value in estimator.get_params(deep=False).items()
        if name not in defaults or repr(value) != repr(defaults[name])
    }


def _value(value: Any) -> str:
    return plain(repr(value), _MAX_VALUE_LENGTH)


def _seed(estimator: Any) -> Any:
    return getattr(estimator, "random_state", None)


def _facts(subject: Subject) -> list[tuple[str, str]]:
    """What was fitted, how it ended, and with which versions."""
    estimator, partition = subject.estimator, subject.partition
    facts = [("objects", number(partition.n_samples))]
    if not subject.is_precomputed:
        n_features = len(subject.compared_by or range(subject.matrix.shape[1]))
        facts.append(("features", number(n_features)))
    facts += [
        ("clusters", number(partition.n_clusters)),
        ("focal sets", number(len(partition.focal_sets))),
        (
            "nonspecificity",
            f"{partition.average_nonspecificity:.3f} ({NONSPECIFICITY_RANGE})",
        ),
        ("belief of a clear object", f"at least {subject.verdicts.clear_level:g}"),
    ]
    if estimator is not None:
        facts += [
            ("method", type(estimator).__name__),
            ("seed", _value(_seed(estimator))),
        ]
    for name, attribute in (
        ("loss", "loss_"),
        ("stress", "stress_"),
        ("iterations", "n_iter_"),
        ("δ₀", "scale_"),
    ):
        found = getattr(estimator, attribute, None)
        if found is not None and np.ndim(found) == 0:
            facts.append((name, f"{found:.6g}"))
    return [*facts, ("versions", _versions())]


def _versions() -> str:
    from credalis import __version__

    found = [f"credalis {__version__}", f"Python {platform.python_version()}"]
    for package in _PACKAGES:
        try:
            found.append(f"{package} {version(package)}")
        except PackageNotFoundError:
            continue
    return ", ".join(found)
