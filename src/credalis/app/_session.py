"""The state of a session, which all tabs share and which outlives the server."""

from collections.abc import Callable
from typing import Any

from credalis.app._folder import Folder, checked_name
from credalis.app._settings import OF_TABLE, Settings, check_rows, check_text

ANSWERS = ("same", "different", "unknown")

_FORMAT = 1
_MAX_GROUP_NAME = 40
_MAX_ANSWERS = 10_000
_STATUSES = ("running", "done", "failed", "cancelled", "interrupted")


class Session:
    """What was chosen, answered and computed.

    Parameters
    ----------
    folder : Folder
        Where it is kept.

    Attributes
    ----------
    version : int
        Grows with every change.
    table : dict or None
        ``name``, ``size``, and the ``usual`` role of each column.
    settings : Settings
        What was chosen.
    answers : list of dict
        ``{"id", "kind": "pair", "a", "b", "answer"}``, a and b being rows of the table,
        or ``{"id", "kind": "group", "name", "rows"}``.
    runs : list of dict
        ``number`` and ``status`` of each fit; what it was told and what it found.
    recommendation : dict or None
        How many clusters are recommended, with the choices that it is about.
    """

    def __init__(self, folder: Folder) -> None:
        self.folder = folder
        self.version = 0
        self.is_reopened = False
        self._hear: list[Callable[[], None]] = []
        self._reset()

    def _reset(self) -> None:
        self.table: dict[str, Any] | None = None
        self.settings = Settings()
        self.answers: list[dict[str, Any]] = []
        self.runs: list[dict[str, Any]] = []
        self.recommendation: dict[str, Any] | None = None

    def reopen(self) -> None:
        """Take up what is in the folder; what cannot be read is an error."""
        state = self.folder.read_session()
        if state is None:
            return
        self._reset()
        if not isinstance(state, dict) or state.get("format") != _FORMAT:
            raise ValueError("the work is of another version of the page")
        self.settings = Settings().changed(state.get("settings", {}))
        self.table = _checked_table(state.get("table"))
        self.answers = _checked_answers(state.get("answers", []))
        self.runs = _checked_runs(state.get("runs", []))
        self.recommendation = _checked_plain(state.get("recommendation"))
        for run in self.runs:
            if run["status"] == "running":
                run["status"] = "interrupted"
                self.folder.remove_run(run["number"])
            elif (
                run["status"] == "done" and not self.folder.run(run["number"]).is_dir()
            ):
                run["status"] = "interrupted"
        if self.table is not None:
            place = self.folder.tables / self.table["name"]
            if not place.exists():
                raise ValueError("the work has no table")
        self.is_reopened = self.table is not None
        self.changed()

    def listen(self, hear: Callable[[], None]) -> Callable[[], None]:
        """Call after every change; what is returned ends that."""
        self._hear.append(hear)
        return lambda: self._hear.remove(hear)

    def changed(self) -> None:
        """Keep the state, and tell everybody."""
        self.version += 1
        self.folder.write_session(self.to_dict())
        self.tell()

    def tell(self) -> None:
        """Tell everybody that there is something new."""
        for hear in list(self._hear):
            hear()

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "format": _FORMAT,
            "version": self.version,
            "table": self.table,
            "settings": self.settings.to_dict(),
            "answers": self.answers,
            "runs": self.runs,
            "recommendation": self.recommendation,
        }

    def begin_table(self, name: str, size: int, preview: dict[str, Any]) -> None:
        """Begin with a table; what there was about another one is forgotten."""
        runs = [run["number"] for run in self.runs]
        self._reset()
        for number in runs:
            self.folder.remove_run(number)
        for path in self.folder.tables.iterdir():
            if path.name != name:
                path.unlink()
        usual = {column["name"]: column["role"] for column in preview["columns"]}
        self.table = {"name": name, "size": size, "usual": usual}
        self.is_reopened = False
        self.changed()

    def forget(self) -> None:
        """Remove everything."""
        self.folder.clear()
        self._reset()
        self.is_reopened = False
        self.changed()

    def change_settings(self, values: object) -> None:
        """Take over choices; what rests on others of the table is forgotten."""
        before, self.settings = self.settings, self.settings.changed(values)
        if any(
            getattr(before, name) != getattr(self.settings, name) for name in OF_TABLE
        ):
            self.recommendation = None
            self.settings = self.settings.changed(
                {"centers": [], "uses_centers": False}
            )
        self.changed()

    def add_answer(self, given: object) -> None:
        """Take down an answer, unless it contradicts those before."""
        if len(self.answers) >= _MAX_ANSWERS:
            raise ValueError(f"there are {_MAX_ANSWERS} answers already")
        answer = _checked_answer(given)
        answer["id"] = 1 + max((each["id"] for each in self.answers), default=0)
        if answer["kind"] == "pair":
            pair = {answer["a"], answer["b"]}
            kept = [
                each
                for each in self.answers
                if each["kind"] != "pair" or {each["a"], each["b"]} != pair
            ]
            _check_agreement([*kept, answer])
        else:
            kept = _without_rows(self.answers, set(answer["rows"]))
        self.answers = [*kept, answer]
        self.changed()

    def remove_answer(self, number: int | None) -> None:
        """Take back an answer; None: the last one."""
        if number is None:
            self.answers = self.answers[:-1]
        else:
            self.answers = [each for each in self.answers if each["id"] != number]
        self.changed()

    def last_result(self) -> dict[str, Any] | None:
        """The last fit that has a result."""
        done = [run for run in self.runs if run["status"] == "done"]
        return done[-1] if done else None

    def run(self, number: int) -> dict[str, Any]:
        """A fit that has a result, or a ValueError."""
        for run in self.runs:
            if run["number"] == number and run["status"] == "done":
                return run
        raise ValueError(f"there is no result {number}")


def _without_rows(answers: list[dict[str, Any]], rows: set[int]) -> list[dict]:
    """Answers without the groups of some rows: the last name of a row counts."""
    kept = []
    for each in answers:
        if each["kind"] == "group":
            left = [row for row in each["rows"] if row not in rows]
            if not left:
                continue
            each = {**each, "rows": left}
        kept.append(each)
    return kept


def _check_agreement(answers: list[dict[str, Any]]) -> None:
    """Refuse pairs that cannot all be true."""
    leader: dict[int, int] = {}

    def top(row: int) -> int:
        while leader.get(row, row) != row:
            row = leader[row]
        return row

    pairs = [each for each in answers if each["kind"] == "pair"]
    for each in pairs:
        if each["answer"] == "same":
            leader[top(each["a"])] = top(each["b"])
    for each in pairs:
        if each["answer"] == "different" and top(each["a"]) == top(each["b"]):
            raise ValueError(
                "this contradicts what you have said before: the answers “same” join "
                "these two, directly or through others. Take one of the answers back, "
                "or say that you cannot tell"
            )


def _checked_answer(given: object) -> dict[str, Any]:
    if not isinstance(given, dict):
        raise ValueError(f"an answer must be an object, got {given!r:.80}")
    if given.get("kind") == "pair":
        a, b = check_rows("a pair", [given.get("a"), given.get("b")])
        if a == b:
            raise ValueError(f"a pair joins two different rows, got {a} twice")
        if given.get("answer") not in ANSWERS:
            raise ValueError(
                f"answer must be one of {', '.join(ANSWERS)}, got "
                f"{given.get('answer')!r:.80}"
            )
        return {"kind": "pair", "a": a, "b": b, "answer": given["answer"]}
    if given.get("kind") == "group":
        name = check_text("the name of a group", given.get("name"), _MAX_GROUP_NAME)
        rows = sorted(set(check_rows("rows", given.get("rows"))))
        if not name.strip() or name.strip() == "-1":
            raise ValueError(f"a group must have a name, got {name!r}")
        if not rows:
            raise ValueError("a group must have rows, got none")
        return {"kind": "group", "name": name.strip(), "rows": rows}
    raise ValueError(f"kind must be pair or group, got {given.get('kind')!r:.80}")


def _checked_answers(given: object) -> list[dict[str, Any]]:
    if not isinstance(given, list) or len(given) > _MAX_ANSWERS:
        raise ValueError("answers must be a list")
    return [
        {**_checked_answer(each), "id": number}
        for number, each in enumerate(given, start=1)
    ]


def _checked_table(given: object) -> dict[str, Any] | None:
    if given is None:
        return None
    if not isinstance(given, dict) or not isinstance(given.get("usual"), dict):
        raise ValueError("table must be an object")
    name = check_text("name", given.get("name"))
    if checked_name(name) != name:
        raise ValueError(f"a table cannot be called {name!r:.80}")
    roles = Settings().changed({"roles": given["usual"]}).roles
    (size,) = check_rows("size", [given.get("size")])
    return {"name": name, "size": size, "usual": roles}


def _checked_runs(given: object) -> list[dict[str, Any]]:
    if not isinstance(given, list):
        raise ValueError("runs must be a list")
    runs = []
    for each in given:
        if not isinstance(each, dict) or each.get("status") not in _STATUSES:
            raise ValueError("a run must have a status")
        check_rows("number", [each.get("number")])
        runs.append(_checked_plain(each))
    return runs


def _checked_plain(value: Any) -> Any:
    """An object of JSON, which is only shown."""
    if value is not None and not isinstance(value, dict):
        raise ValueError(f"expected an object, got {value!r:.80}")
    return value
