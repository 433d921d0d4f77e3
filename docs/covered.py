"""Write the page of the site about which lines the tests reach.

``python docs/covered.py build/coverage.json`` is the end of ``make coverage``.
"""

import json
import platform
import sys
from collections import defaultdict
from pathlib import Path

PAGE = Path(__file__).parent / "measured" / "coverage.md"

_PAGE = """# Lines that the tests reach

Lines and branches of the library that `make test` reaches: **{share} %** of {total}.
Reached is not checked: what is computed is compared with published numbers, limiting
cases and brute force. What the slow tests, other processes and PyTorch's own threads
run is not counted.

| part | lines and branches | reached |
|---|---|---|
{rows}

Measured with credalis {version}, Python {python}, by `make coverage`, which also writes
every line to `build/coverage`.
"""


def markdown(report, version):
    """The page, from the report of coverage.py as JSON."""
    parts = defaultdict(lambda: [0, 0])
    for name, file in report["files"].items():
        words = name.replace("\\", "/").split("credalis/", 1)[1].split("/")
        # Files of the top level are one part.
        part = f"credalis.{words[0]}" if len(words) > 1 else "credalis"
        for each in (parts[part], parts[""]):
            each[0] += _number(file["summary"])
            each[1] += _reached(file["summary"])
    total, reached = parts.pop("")
    rows = [
        f"| `{part}` | {of} | {_share(hit, of)} % |"
        for part, (of, hit) in sorted(parts.items())
    ]
    return _PAGE.format(
        share=_share(reached, total),
        total=total,
        rows="\n".join(rows),
        version=version,
        python=platform.python_version(),
    )


def _number(summary):
    return summary["num_statements"] + summary["num_branches"]


def _reached(summary):
    return summary["covered_lines"] + summary["covered_branches"]


def _share(reached, total):
    return f"{100 * reached / total:.1f}" if total else "100.0"


if __name__ == "__main__":
    import credalis

    report = json.loads(Path(sys.argv[1]).read_text("utf-8"))
    PAGE.write_text(markdown(report, credalis.__version__), encoding="utf-8")
