"""What the analyst has chosen, and the words of the command line that say the same.

A fit of the page is the command ``credalis cluster`` with these words: nothing else
decides on a result, so that the command that is shown makes it again.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from credalis._choices import MISSING, SCALINGS

# What a column can be to a clustering.
ROLES = ("counts", "describes", "out", "id")

# Names of files beside the table, which no table may have.
LABELS, MUST_LINK, CANNOT_LINK = "labels.csv", "must_link.csv", "cannot_link.csv"
MEMBERSHIPS, MODEL, REPORT = "memberships.csv", "model.credalis", "report.html"

# Choices that change what the rows are compared by.
OF_TABLE = (
    "roles",
    "scale",
    "missing",
    "sheet",
    "delimiter",
    "decimal",
    "precomputed",
)

_MAX_TEXT = 1000
_MAX_ITEMS = 10_000
_MAX_ROWS = 2**40


@dataclass(frozen=True)
class Settings:
    """Choices about a table and a method; what is None is left to the library.

    Attributes
    ----------
    roles : dict of str to str
        Columns whose role is not the one that they would have anyway, see `ROLES`.
    scale, missing, sheet, delimiter, decimal, precomputed, outlier_rate, clear_level
        The options of ``credalis cluster`` of these names.
    n_clusters : int or None
        Number of clusters; None: not chosen yet.
    n_neighbors, quantile
        K and q of the δ-Bel graph.
    centers : tuple of int
        Rows of the table that were picked as centres.
    uses_centers : bool
        Whether the fit is told about them.
    method : str or None
        Name of the method.
    parameters : tuple of str
        Its parameters, as in "key=value".
    seed : int
        Seed of everything that is random.
    """

    roles: dict[str, str] = field(default_factory=dict)
    scale: str | None = None
    missing: str | None = None
    sheet: str | None = None
    delimiter: str | None = None
    decimal: str | None = None
    precomputed: bool = False
    n_clusters: int | None = None
    n_neighbors: int | None = None
    quantile: float = 0.9
    centers: tuple[int, ...] = ()
    uses_centers: bool = False
    method: str | None = None
    parameters: tuple[str, ...] = ()
    outlier_rate: float | None = None
    clear_level: float | None = None
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)

    def changed(self, values: object) -> "Settings":
        """With some values from a browser or a file, or a ValueError that names one."""
        if not isinstance(values, dict):
            raise ValueError(f"settings must be an object, got {values!r:.80}")
        known = {each.name for each in fields(self)}
        strange = sorted(set(values) - known)
        if strange:
            raise ValueError(f"settings have no {strange[0]!r:.80}")
        checked = {name: _CHECKS[name](name, value) for name, value in values.items()}
        return Settings(**{**self.__dict__, **checked})


def table_words(settings: Settings, table: str, usual: Mapping[str, str]) -> list[str]:
    """Words about the table.

    Parameters
    ----------
    settings : Settings
        What was chosen.
    table : str
        Name of the file.
    usual : dict of str to str
        For each column the role that it has if nothing is said.
    """
    roles = {**usual, **{k: v for k, v in settings.roles.items() if k in usual}}
    words = [table]
    is_forced = any(
        role == "counts" and usual[name] != "counts" for name, role in roles.items()
    )
    for name, role in roles.items():
        if role == "id":
            words += ["--id", name]
        elif role == "describes":
            words += ["--describe", name]
        elif role == "counts" and is_forced:
            words += ["--columns", name]
        elif role == "out" and usual[name] == "counts" and not is_forced:
            words += ["--exclude", name]
    for option in ("scale", "missing", "sheet", "delimiter", "decimal"):
        value = getattr(settings, option)
        if value is not None:
            words += [f"--{option}", value]
    return [*words, "--precomputed"] if settings.precomputed else words


def method_words(settings: Settings, *, finds_number: bool = False) -> list[str]:
    """Words about the method; without a number of clusters it is to be found."""
    words = []
    if not finds_number:
        words += ["-c", str(settings.n_clusters or "auto")]
    if settings.method is not None:
        words += ["-m", settings.method]
    for parameter in settings.parameters:
        words += ["--param", parameter]
    for option in ("outlier_rate", "clear_level"):
        value = getattr(settings, option)
        if value is not None:
            words += [f"--{option.replace('_', '-')}", repr(value)]
    return [*words, "--seed", str(settings.seed)]


def output_words() -> list[str]:
    """Words about the files that are taken away."""
    return ["-o", MEMBERSHIPS, "--model", MODEL, "--report", REPORT]


def _text(name: str, value: object, longest: int = _MAX_TEXT) -> str:
    if not isinstance(value, str) or len(value) > longest or "\0" in value:
        raise ValueError(f"{name} must be a text, got {value!r:.80}")
    return value


def _optional_text(name: str, value: object) -> str | None:
    return None if value in (None, "") else _text(name, value)


def _choice(*allowed: str) -> Any:
    def check(name: str, value: object) -> str | None:
        if value is None or value == "":
            return None
        if value not in allowed:
            raise ValueError(
                f"{name} must be one of {', '.join(allowed)}, got {value!r:.80}"
            )
        return str(value)

    return check


def _whole(least: int, most: int) -> Any:
    def check(name: str, value: object) -> int:
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not least <= value <= most:  # type: ignore[operator]
            raise ValueError(
                f"{name} must be a whole number from {least} to {most}, got "
                f"{value!r:.80}"
            )
        return int(value)  # type: ignore[call-overload]

    return check


def _number(name: str, value: object) -> float:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not is_number or not math.isfinite(value):  # type: ignore[arg-type]
        raise ValueError(f"{name} must be a number, got {value!r:.80}")
    return float(value)  # type: ignore[arg-type]


def _optional(check: Any) -> Any:
    return lambda name, value: None if value is None else check(name, value)


def _each(check: Any) -> Any:
    def check_all(name: str, value: object) -> tuple[Any, ...]:
        if not isinstance(value, (list, tuple)) or len(value) > _MAX_ITEMS:
            raise ValueError(f"{name} must be a list, got {value!r:.80}")
        return tuple(check(name, item) for item in value)

    return check_all


def _roles(name: str, value: object) -> dict[str, str]:
    if not isinstance(value, dict) or len(value) > _MAX_ITEMS:
        raise ValueError(f"{name} must be an object, got {value!r:.80}")
    roles = {_text(name, column): role for column, role in value.items()}
    for role in roles.values():
        if role not in ROLES:
            raise ValueError(
                f"{name} must be some of {', '.join(ROLES)}, got {role!r:.80}"
            )
    if list(roles.values()).count("id") > 1:
        raise ValueError("one column can identify the rows, got several")
    return roles


def _flag(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise ValueError(f"{name} must be true or false, got {value!r:.80}")
    return value


def check_rows(name: str, value: object) -> tuple[int, ...]:
    """Row numbers of a table."""
    return _each(_whole(0, _MAX_ROWS))(name, value)


def check_text(name: str, value: object, longest: int = _MAX_TEXT) -> str:
    """A text that is not too long."""
    return _text(name, value, longest)


_CHECKS: dict[str, Any] = {
    "roles": _roles,
    "scale": _choice(*SCALINGS),
    "missing": _choice(*MISSING),
    "sheet": _optional_text,
    "delimiter": _optional_text,
    "decimal": _choice(".", ","),
    "precomputed": _flag,
    "n_clusters": _optional(_whole(2, 1000)),
    "n_neighbors": _optional(_whole(1, 100_000)),
    "quantile": _number,
    "centers": check_rows,
    "uses_centers": _flag,
    "method": _optional_text,
    "parameters": _each(_text),
    "outlier_rate": _optional(_number),
    "clear_level": _optional(_number),
    "seed": _whole(0, 2**32 - 1),
}


def shown_command(words: Sequence[str]) -> str:
    """A command as it is typed in a shell."""
    import shlex

    return shlex.join(["credalis", "cluster", *words])
