"""A tag, the package, the changelog and the citations name the same version.

``python tests/tagged.py v1.2.3`` ends with an error and says what differs, if not.
"""

import re
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]


def found(path, pattern):
    """The version that a file names, and where."""
    match = re.search(pattern, (_ROOT / path).read_text(encoding="utf-8"), re.M)
    return match[1] if match else "none"


def versions():
    """File and version of each that is to name one."""
    return {
        "src/credalis/__init__.py": found(
            "src/credalis/__init__.py", r'^__version__ = "(.+)"$'
        ),
        "CITATION.cff": found("CITATION.cff", r"^version: (.+)$"),
        "docs/howto/citing.md": found(
            "docs/howto/citing.md", r"note +=.*version (\d[^}\s]*)"
        ),
        # The newest one with a date.
        "CHANGELOG.md": found("CHANGELOG.md", r"^## \[(\d\S*)\] - \d{4}-\d{2}-\d{2}$"),
    }


def main():
    if len(sys.argv) != 2 or not sys.argv[1].startswith("v"):
        sys.exit("usage: python tests/tagged.py v1.2.3")
    tag = sys.argv[1].removeprefix("v")
    others = {path: name for path, name in versions().items() if name != tag}
    for path, name in others.items():
        print(f"{path} names {name}, the tag {tag}", file=sys.stderr)
    sys.exit(bool(others))


if __name__ == "__main__":
    main()
