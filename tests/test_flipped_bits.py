"""No bit of a file of any class can change without being noticed."""

from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("pyarrow", reason="models of tables need it")

from tests.fuzz import files, models

import credalis
from credalis.cluster import estimator_classes

# The first one of each class, and the others that files may hold.
CLASSES = {cls.__name__ for cls in estimator_classes()}
OTHERS = tuple(name for name in models.SAVED if name not in models.ESTIMATORS)


def refusals(name: str, path: Path, bits: np.ndarray) -> int:
    """How many of the files with one of these bits flipped are refused as damaged."""
    changed = bytearray(files.saved_bytes(name))
    n_refused = 0
    for bit in bits.tolist():
        changed[bit // 8] ^= 1 << bit % 8
        path.write_bytes(changed)
        try:
            credalis.load(path)
        except ValueError as error:
            n_refused += "damaged" in str(error)
        changed[bit // 8] ^= 1 << bit % 8
    return n_refused


def test_there_is_a_file_of_every_class():
    assert {type(models.estimator(n)).__name__ for n in models.ESTIMATORS} == CLASSES


@pytest.mark.parametrize("name", models.SAVED)
def test_no_random_bit_can_change(name, tmp_path):
    n_bits = 8 * len(files.saved_bytes(name))
    bits = np.random.default_rng(0).choice(n_bits, size=100, replace=False)
    assert refusals(name, tmp_path / "model", bits) == len(bits)


@pytest.mark.slow
@pytest.mark.parametrize("name", [*sorted(CLASSES), *OTHERS])
def test_no_bit_at_all_can_change(name, tmp_path):
    n_bits = 8 * len(files.saved_bytes(name))
    assert refusals(name, tmp_path / "model", np.arange(n_bits)) == n_bits
