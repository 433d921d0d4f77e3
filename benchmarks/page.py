"""The page of the site about the benchmarks, written from stored runs."""

import json

from benchmarks.journal import HERE

RUNS = HERE.parent / "docs" / "measured" / "runs"
PAGE = RUNS.parent / "benchmarks.md"

_INTRODUCTION = """# Benchmarks

How long work takes here, and the same work done in another way in the same run, on one
core: processor seconds, the best of several. A ratio above 1 says how many times as
fast credalis is. Ratios travel from machine to machine better than seconds do.

`python -m benchmarks NAME --store` runs one of them and writes its run to
`docs/measured/runs` and this page anew; without `--store` it only prints.
`python -m benchmarks --help` lists all, among them those about quality and memory, with
figures on other pages: [doubt](doubt.md), [scale](scale.md),
[the paper's experiments](reproduction.md).
"""


def store(name, content):
    """Keep a run, and write the page from all that are kept."""
    RUNS.mkdir(exist_ok=True)
    text = json.dumps(content, indent=1, ensure_ascii=False)
    (RUNS / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    PAGE.write_text(markdown(), encoding="utf-8")


def markdown():
    """The page, from the stored runs."""
    sections = [_INTRODUCTION]
    for path in sorted(RUNS.glob("*.json")):
        sections.append(_section(path.stem, json.loads(path.read_text("utf-8"))))
    return "\n".join(sections)


def _section(name, run):
    about = ", ".join(f"{what} {value}" for what, value in run["environment"].items())
    rows = [
        "| work | baseline | here | baseline | ratio |",
        "|---|---|---|---|---|",
        *(
            f"| {each['work']} | {each['baseline']} | {_seconds(each['seconds'])} | "
            f"{_seconds(each['baseline_seconds'])} | {_ratio(each['ratio'])} |"
            for each in run["measurements"]
        ),
    ]
    return f"## {name}\n\n{chr(10).join(rows)}\n\nMeasured with {about}.\n"


def _seconds(value):
    units = {"s": 0.1, "ms": 1e-4, "µs": 1e-7}
    unit = next((each for each, least in units.items() if value >= least), "ns")
    return f"{value * {'s': 1, 'ms': 1e3, 'µs': 1e6, 'ns': 1e9}[unit]:.2g} {unit}"


def _ratio(value):
    return f"{value:.1f}" if value >= 0.1 else f"{value:.1g}"
