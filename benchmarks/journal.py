"""Results in a file of JSON lines, so that a long benchmark can be interrupted."""

import hashlib
import json
from pathlib import Path

import sklearn

import credalis

HERE = Path(__file__).parent
RESULTS = HERE / "results"


class Journal:
    """What has been measured so far, by a key that says what and of which sources."""

    def __init__(self, path):
        self.path = path
        self._records = {}
        path.parent.mkdir(exist_ok=True)
        if path.exists():
            for line in path.read_text().splitlines():
                try:
                    entry = json.loads(line)
                except json.JSONDecodeError:
                    continue  # written when it was interrupted
                self._records[_text(entry["key"])] = entry["record"]

    def recall(self, key, measure, *arguments):
        """The record of a key, measured and written down if it is not there yet."""
        text = _text(key)
        if text not in self._records:
            # Through JSON, so that a new record is what it will be when it is read.
            line = json.dumps({"key": key, "record": measure(*arguments)})
            with self.path.open("a") as file:
                file.write(line + "\n")
            self._records[text] = json.loads(line)["record"]
        return self._records[text]


def fingerprint(benchmark, *, of_credalis):
    """Changes whenever results may: with any source, or scikit-learn's version."""
    sources = (benchmark, "choose", "comparison", "contenders", "generated", "scores")
    files = [HERE / f"{name}.py" for name in sources]
    if of_credalis:
        files += sorted(Path(credalis.__file__).parent.rglob("*.py"))
    digest = hashlib.sha256(sklearn.__version__.encode())
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:12]


def _text(key):
    return json.dumps(key, sort_keys=True)
