"""Single bits of files: a changed one is always noticed, in every kind of file."""

import io
import pickle
import warnings
from pathlib import Path

import numpy as np
import pytest

from credalis import (
    CCM,
    ECM,
    NNEVCLUS,
    CredalPartition,
    FocalSets,
    _archive,
    load,
    metric_learning,
)
from credalis._archive import _objects
from credalis.checkpoints import Checkpoint
from credalis.cluster import estimator_classes
from credalis.streaming import NewClusterMonitor

X = np.array([[0.0], [0.2], [0.5], [5.0], [5.3], [5.9]])
Y = [0, 0, 0, 1, 1, 1]

# As small as files get, so that all of their bits can be tried.
FEW = {
    "n_init": 1,
    "n_bootstrap": 2,
    "max_iter": 3,
    "random_state": 0,
    "committee_size": 10,
    "focal_sets": "singletons",
}


def small(cls, **parameters):
    made = cls(**parameters)
    few = {name: FEW[name] for name in FEW.keys() & made.get_params()}
    return made.set_params(**few)


def fitted(cls):
    told = {"must_link": [[0, 1]]} if cls._needs_side_information else {}
    return small(cls).fit(X, **told)


def monitor():
    made = NewClusterMonitor(fitted(ECM), rejection_rate=0.5, radius=1.0)
    made.fit(X + 0.01).update([[40.0]])
    return made


def tabular():
    pytest.importorskip("pyarrow")
    from credalis.tabular import Columns, TabularModel, prepare

    prepared = prepare(Columns(("a",), X, {}, {}))
    return TabularModel(prepared.preparation, small(ECM).fit(prepared.X), {"seed": 0})


def checkpoint_of(model):
    """The bytes of a checkpoint, through the method that saves."""

    def make(path):
        model.fit(X, checkpoint=Checkpoint(path, 0.0))

    return make


def saving(make):
    return lambda path: make().save(path)


LEARNERS = ("FDA", "LFDA", "KFDA", "PCCA", "KPCCA", "LSI", "DMLeig")

WRITERS = {
    **{
        cls.__name__: saving(lambda cls=cls: fitted(cls)) for cls in estimator_classes()
    },
    **{
        name: saving(lambda name=name: small(getattr(metric_learning, name)).fit(X, Y))
        for name in LEARNERS
    },
    "monitor": saving(monitor),
    "tabular": saving(tabular),
    "partition": saving(lambda: CredalPartition.from_labels(Y)),
    "focal sets": lambda path: _archive.save(FocalSets.full(2), path),
    "checkpoint of ECM": checkpoint_of(small(ECM)),
    "checkpoint of CCM": checkpoint_of(small(CCM)),
    "checkpoint of NNEVCLUS": checkpoint_of(small(NNEVCLUS, solver="adam")),
}


@pytest.fixture
def written(tmp_path):
    def write(make, key=None):
        path = tmp_path / "file.credalis"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make(path)
        return path

    return write


@pytest.fixture
def in_memory(monkeypatch):
    """Files are what was put there: millions of them take no time."""
    content = []
    monkeypatch.setattr(
        _objects, "open", lambda path, mode: io.BytesIO(content[-1]), raising=False
    )
    return content


def refusal(path):
    """What is said against a file; `pytest.raises` takes longer than the file."""
    try:
        _archive.load(path)
    except ValueError as error:
        return str(error)
    return None


def assert_noticed(whole, positions, in_memory):
    changed = bytearray(whole)
    for position in positions:
        byte, bit = divmod(int(position), 8)
        changed[byte] ^= 1 << bit
        in_memory[:] = [bytes(changed)]
        told = refusal("file.credalis")
        assert told is not None, f"bit {bit} of byte {byte} may change"
        assert "damaged" in told
        changed[byte] ^= 1 << bit
    assert changed == whole
    in_memory[:] = [whole]
    _archive.load("file.credalis")


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.slow
def test_every_bit_of_a_small_file(name, written, in_memory):
    whole = written(WRITERS[name]).read_bytes()
    assert len(whole) < 10_000
    assert_noticed(whole, range(8 * len(whole)), in_memory)


@pytest.mark.parametrize("cls", [ECM, NNEVCLUS, CCM], ids=lambda cls: cls.__name__)
def test_some_bits_of_a_large_file(cls, written, in_memory, rng):
    rows = rng.normal(size=(3000, 4))
    model = small(cls, n_clusters=3)
    path = written(lambda path: model.fit(rows).save(path))
    whole = path.read_bytes()
    assert len(whole) > 100_000
    assert_noticed(whole, rng.integers(8 * len(whole), size=100), in_memory)


@pytest.mark.parametrize("name", ["partition", "ecm", "evclus", "eknnclus", "nnevclus"])
def test_bits_of_format_1(name, tmp_path, rng):
    # It has no digest: what is not covered by a checksum must not matter.
    from fuzz.models import predictions

    whole = (Path(__file__).parent / f"fixtures/format1/{name}.credalis").read_bytes()
    path = tmp_path / "file.credalis"
    path.write_bytes(whole)
    expected = predictions(load(path))
    n_read = 0
    for position in rng.integers(8 * len(whole), size=200):
        changed = bytearray(whole)
        changed[position // 8] ^= 1 << position % 8
        path.write_bytes(changed)
        try:
            loaded = load(path)
        except ValueError:
            continue
        n_read += 1
        for found, before in zip(predictions(loaded), expected, strict=True):
            np.testing.assert_array_equal(found, before)
    assert n_read < 100


def test_the_bytes_of_a_model_are_those_of_its_copy(written):
    path = written(WRITERS["ECM"])
    copy = pickle.loads(pickle.dumps(load(path)))
    copy.save(path.with_name("again"))
    assert path.with_name("again").read_bytes() == path.read_bytes()
