"""The table of the demo: the irises of Anderson and Fisher, as a file."""

import csv
from pathlib import Path

from sklearn.datasets import load_iris

NAME = "irises.csv"
# Which columns name and describe the rows, so that the measurements alone count.
ROLES = {"flower": "id", "species": "describes"}


def write_demo(path: Path) -> None:
    """Write 150 irises with their measurements in centimetres."""
    bunch = load_iris()
    columns = [name.removesuffix(" (cm)") for name in bunch.feature_names]
    with open(path, "w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["flower", *columns, "species"])
        for i, (row, k) in enumerate(zip(bunch.data, bunch.target, strict=True)):
            writer.writerow([f"F{i:03d}", *row.tolist(), bunch.target_names[k]])
