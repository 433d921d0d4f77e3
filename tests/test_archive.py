"""Files: what comes back, and what a damaged or hostile one can do."""

import io
import json
import os
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest

from credalis import (
    ECM,
    CredalPartition,
    FocalSets,
    __version__,
    _archive,
    load,
)
from helpers import contents, write

PARTITION = CredalPartition(
    [[0, 1, 0, 0], [0, 0.6, 0.2, 0.2], [0.1, 0, 0.7, 0.2]], FocalSets.full(2)
)


class Bag:
    """An object that holds anything, for trying out what can be saved."""

    def __init__(self, **state):
        self.state = state


_archive.register(
    Bag,
    to_state=lambda bag: bag.state,
    from_state=lambda state: Bag(**state),
    schema=_archive.Anything(),
)


@pytest.fixture
def saved(tmp_path):
    """A file with a partition."""
    path = tmp_path / "partition.credalis"
    PARTITION.save(path)
    return path


def write_format1(path, header, arrays, save=np.savez):
    """A file as version 0.1 wrote it."""
    text = json.dumps({**header, "format": 1}).encode()
    with open(path, "wb") as stream:
        save(stream, credalis=np.frombuffer(text, dtype=np.uint8), **arrays)


class TestRoundTrip:
    def test_values_come_back_with_their_types(self, tmp_path):
        state = {
            "none": None,
            "flag": True,
            "count": 3,
            "number": 0.1 + 0.2,
            "infinite": float("inf"),
            "text": "größer ∅ \n",
            "pair": (1, "a"),
            "list": [1.5, None, (True,)],
            "nested": {"is": "array", "items": {"deeper": [1]}},
            "empty": {},
            "sets": FocalSets.pairs(3),
            "partition": PARTITION,
        }
        path = tmp_path / "bag"
        _archive.save(Bag(**state), path)
        loaded = _archive.load(path).state
        assert loaded == state
        assert [type(value) for value in loaded.values()] == [
            type(value) for value in state.values()
        ]

    @pytest.mark.parametrize(
        "array",
        [
            np.arange(6.0).reshape(2, 3).T,
            np.array([np.nan, -0.0, np.inf]),
            np.array(3, dtype=np.int8),
            np.empty((0, 2), dtype=bool),
            np.array(["a", "größer"]),
            np.array([["x", "y"], ["z", ""]], dtype=object),
        ],
        ids=["fortran", "special", "scalar", "empty", "text", "names"],
    )
    def test_arrays_come_back_to_the_bit(self, tmp_path, array):
        path = tmp_path / "bag"
        _archive.save(Bag(array=array), path)
        loaded = _archive.load(path).state["array"]
        assert loaded.dtype == array.dtype
        assert loaded.shape == array.shape
        if array.dtype == object:
            assert loaded.tolist() == array.tolist()
        else:
            assert loaded.tobytes() == array.tobytes()

    def test_numpy_scalars_come_back_as_numbers(self, tmp_path):
        path = tmp_path / "bag"
        state = {"a": np.float64(0.1), "b": np.int32(7), "c": np.True_}
        _archive.save(Bag(**state), path)
        assert _archive.load(path).state == {"a": 0.1, "b": 7, "c": True}

    def test_the_file_tells_who_wrote_it(self, saved):
        header, _ = contents(saved)
        assert header["format"] == 2
        assert header["versions"]["credalis"] == __version__
        assert header["versions"]["numpy"] == np.__version__

    def test_paths_may_be_text_and_have_any_name(self, tmp_path):
        path = tmp_path / "Größe (1).model"
        PARTITION.save(str(path))
        assert [entry.name for entry in tmp_path.iterdir()] == [path.name]
        assert CredalPartition.load(str(path)) == PARTITION

    @pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
    def test_the_file_gets_the_usual_permissions(self, saved, tmp_path):
        usual = tmp_path / "usual"
        usual.touch()
        assert saved.stat().st_mode == usual.stat().st_mode


class TestSaving:
    @pytest.mark.parametrize(
        ("value", "message"),
        [
            (object(), r"Bag\.part cannot be saved: <object object.* is a object"),
            ({1: "a"}, r"Bag\.part cannot be saved: .* is a dict"),
            ([1, {2, 3}], r"Bag\.part\[1\] cannot be saved: \{2, 3\} is a set"),
            ({"deep": [len]}, r"Bag\.part\.deep\[0\] cannot be saved"),
            (np.array([1, None]), r"Bag\.part cannot be saved: it is an array of Py"),
            (np.array([({},)], dtype=[("x", object)]), "array of Python objects"),
            (1j, r"Bag\.part cannot be saved: 1j is a complex"),
            (np.longdouble(2), r"Bag\.part cannot be saved: .* is a longdouble"),
            (np.ones(2, np.longdouble), r"Bag\.part .* is an array of float128"),
            (np.ones(2, complex), r"Bag\.part .* is an array of complex128"),
            (np.zeros(2, "M8[D]"), r"Bag\.part .* is an array of datetime64"),
        ],
    )
    def test_what_has_no_safe_form_is_named_and_nothing_is_written(
        self, tmp_path, value, message
    ):
        with pytest.raises(ValueError, match=message):
            _archive.save(Bag(part=value), tmp_path / "bag")
        assert list(tmp_path.iterdir()) == []

    def test_objects_of_unknown_classes_point_to_other_tools(self, tmp_path):
        with pytest.raises(ValueError, match="use skops or joblib"):
            _archive.save(object(), tmp_path / "bag")

    def test_a_missing_directory_is_named_and_not_made(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"no directory .*missing to write"):
            PARTITION.save(tmp_path / "missing" / "partition.credalis")
        assert list(tmp_path.iterdir()) == []

    def test_a_directory_is_not_overwritten(self, tmp_path):
        target = tmp_path / "taken"
        (target / "inside").mkdir(parents=True)
        with pytest.raises(OSError, match="taken"):
            PARTITION.save(target)
        assert list(tmp_path.iterdir()) == [target]
        assert [entry.name for entry in target.iterdir()] == ["inside"]

    @pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
    @pytest.mark.parametrize("step", ["write_array", "fsync", "replace"])
    def test_a_failing_save_leaves_the_old_file_and_nothing_else(
        self, saved, monkeypatch, step, error
    ):
        before = saved.read_bytes()

        def fail(target, *args, **kwargs):
            if step == "write_array":
                target.write(b"half of a file")
            raise error

        module = np.lib.format if step == "write_array" else os
        monkeypatch.setattr(module, step, fail)
        with pytest.raises(type(error)):
            PARTITION[:1].save(saved)
        monkeypatch.undo()
        assert saved.read_bytes() == before
        assert list(saved.parent.iterdir()) == [saved]

    def test_saving_again_replaces_the_file(self, saved):
        PARTITION[:1].save(saved)
        assert CredalPartition.load(saved) == PARTITION[:1]
        assert list(saved.parent.iterdir()) == [saved]


class TestBadFiles:
    def test_a_missing_file_is_missing(self, tmp_path):
        with pytest.raises(FileNotFoundError, match=r"nowhere\.credalis"):
            CredalPartition.load(tmp_path / "nowhere.credalis")

    def test_a_truncated_file_is_refused_at_every_length(self, saved):
        whole = saved.read_bytes()
        for length in [*range(0, len(whole), 29), len(whole) - 1]:
            saved.write_bytes(whole[:length])
            with pytest.raises(ValueError, match=r"partition\.credalis is not a file"):
                CredalPartition.load(saved)

    @pytest.mark.parametrize("key", [None, b"a secret of the owner"])
    def test_every_flipped_bit_is_noticed(self, saved, key):
        PARTITION.save(saved, key=key)
        whole = saved.read_bytes()
        for position in range(len(whole)):
            changed = bytearray(whole)
            changed[position] ^= 1 << position % 8
            saved.write_bytes(changed)
            with pytest.raises(ValueError, match=r"partition\.credalis .*damaged"):
                CredalPartition.load(saved)

    def test_the_shape_of_an_array_is_compared_with_its_bytes(self, tmp_path):
        # NumPy reads what the shape says and leaves the rest, checksum and all.
        path = tmp_path / "old.credalis"
        partition = PARTITION[np.zeros(3000, dtype=int)]
        partition.save(path)
        write_format1(path, *contents(path))
        assert CredalPartition.load(path) == partition
        path.write_bytes(path.read_bytes().replace(b"(3000, 4)", b"(1000, 4)"))
        with np.load(path) as archive:
            assert archive["array0"].shape == (1000, 4)
        with pytest.raises(ValueError, match="has 32000 bytes, it has 96000"):
            CredalPartition.load(path)

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"a,b\n1,2\n",
            b"PK\x03\x04 looks like an archive",
            pickle.dumps(PARTITION),
            np.random.default_rng(0).bytes(2000),
        ],
        ids=["empty", "table", "pk", "pickle", "random"],
    )
    def test_other_files_are_refused(self, tmp_path, content):
        path = tmp_path / "other"
        path.write_bytes(content)
        with pytest.raises(ValueError, match="other is not a file saved by credalis"):
            CredalPartition.load(path)

    def test_an_array_file_is_refused(self, tmp_path):
        path = tmp_path / "array.npy"
        np.save(path, np.eye(3))
        with pytest.raises(ValueError, match="not an archive of arrays"):
            CredalPartition.load(path)

    def test_an_archive_of_something_else_is_refused(self, tmp_path):
        path = tmp_path / "arrays.npz"
        np.savez(path, masses=np.eye(4))
        with pytest.raises(ValueError, match="there is no credalis header in it"):
            CredalPartition.load(path)
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("credalis", "not an array")
        with pytest.raises(ValueError, match=r"arrays\.npz is not a file saved by"):
            CredalPartition.load(path)

    def test_a_directory_is_refused(self, tmp_path):
        with pytest.raises(OSError, match=tmp_path.name):
            CredalPartition.load(tmp_path)

    @pytest.mark.parametrize(
        "header",
        [
            b"not json",
            b"\xff\xfe",
            b"[" * 100_000,
            [],
            {},
            {"format": 2},
            {"format": "2", "versions": {"credalis": "0"}, "object": None},
            {"format": 0, "versions": {"credalis": "0"}, "object": None},
            {"format": True, "versions": {"credalis": "0"}, "object": None},
            {"format": 1, "versions": {"credalis": "0"}, "object": None},
            {"format": 2, "versions": {"credalis": "0"}},
        ],
        ids=[
            *("text", "bytes", "deep", "list", "nothing", "format only"),
            *("format as text", "format zero", "format true", "format 1", "no object"),
        ],
    )
    def test_a_header_that_makes_no_sense_is_refused(self, saved, header):
        _, arrays = contents(saved)
        write(saved, header, arrays)
        with pytest.raises(ValueError, match=r"partition\.credalis .*damaged"):
            CredalPartition.load(saved)

    def test_a_newer_format_asks_for_an_upgrade(self, saved):
        header, arrays = contents(saved)
        header["format"] = 3
        header["versions"]["credalis"] = "9.8"
        write(saved, header, arrays)
        with pytest.raises(
            ValueError,
            match=r"format 3, .* up to 2: it was written by credalis 9\.8, .* upgrade",
        ):
            CredalPartition.load(saved)

    def test_a_newer_format_may_hold_what_cannot_be_read(self, saved):
        header, _ = contents(saved)
        header["format"] = 3
        write(saved, header, {"array0": np.array([1j])})
        with pytest.raises(ValueError, match="please upgrade"):
            CredalPartition.load(saved)

    def test_an_object_of_another_class_is_refused(self, tmp_path):
        path = tmp_path / "sets"
        _archive.save(FocalSets.full(2), path)
        with pytest.raises(
            ValueError, match="sets must hold a CredalPartition, it holds a FocalSets"
        ):
            CredalPartition.load(path)
        assert _archive.load(path) == FocalSets.full(2)

    @pytest.mark.parametrize(
        ("change", "message"),
        [
            ({"is": "Elephant", "state": {}}, "unknown class 'Elephant'"),
            (
                {"is": "CredalPartition", "state": {}},
                "CredalPartition.masses is missing",
            ),
            ({"is": ["list"]}, "damaged: TypeError"),
            ({"is": "array", "name": "array9"}, r"about the arrays \['array9'\]"),
            ({"is": "strings", "items": ["a"], "shape": [2]}, "cannot reshape"),
            ("only text", "must hold a CredalPartition, it holds a str"),
        ],
    )
    def test_an_object_that_cannot_be_made_is_refused(self, saved, change, message):
        header, arrays = contents(saved)
        header["object"] = change
        has_array = isinstance(change, dict) and change["is"] == "array"
        write(saved, header, arrays if has_array else {})
        with pytest.raises(ValueError, match=rf"partition\.credalis .*{message}"):
            CredalPartition.load(saved)

    @pytest.mark.parametrize(
        ("masses", "message"),
        [
            (np.full((3, 4), 0.3), "must sum to 1"),
            (np.full((3, 4), np.nan), "masses must be a finite number, got nan"),
            (np.eye(3), r"shape \(n_samples, 4\)"),
            (np.array(["a"]), "masses must be an array of floats, got one of <U1"),
        ],
    )
    def test_masses_are_checked_again(self, saved, masses, message):
        header, _ = contents(saved)
        write(saved, header, {"array0": masses})
        with pytest.raises(ValueError, match=rf"partition\.credalis .*{message}"):
            CredalPartition.load(saved)


class Trap:
    """Leaves a mark when it is unpickled."""

    def __init__(self, mark):
        self.mark = mark

    def __reduce__(self):
        return Path.touch, (self.mark,)


class TestHostileFiles:
    def test_a_pickle_inside_is_not_executed(self, saved, tmp_path):
        mark = tmp_path / "mark"
        trap = np.empty(1, dtype=object)
        trap[0] = Trap(mark)
        header, _ = contents(saved)
        write_format1(saved, header, {"array0": trap})
        with pytest.raises(ValueError, match=r"partition\.credalis .*allow_pickle"):
            CredalPartition.load(saved)
        assert not mark.exists()
        # The trap works: numpy, told to trust the file, falls into it.
        with np.load(saved, allow_pickle=True) as archive:
            _ = archive["array0"]
        assert mark.exists()

    def test_a_pickle_in_the_place_of_the_header_is_not_executed(self, saved, tmp_path):
        mark = tmp_path / "mark"
        trap = np.empty(1, dtype=object)
        trap[0] = Trap(mark)
        stream = io.BytesIO()
        np.savez(stream, credalis=trap)
        saved.write_bytes(stream.getvalue())
        with pytest.raises(ValueError, match="allow_pickle"):
            CredalPartition.load(saved)
        assert not mark.exists()

    @pytest.mark.parametrize("save", [write, write_format1])
    def test_an_array_too_many_is_refused(self, saved, save):
        header, arrays = contents(saved)
        save(saved, header, {**arrays, "array1": np.eye(2)})
        with pytest.raises(ValueError, match=r"it holds \['array0', 'array1'\]"):
            CredalPartition.load(saved)

    def test_a_compressed_member_is_not_inflated(self, saved):
        header, _ = contents(saved)
        bomb = np.zeros((2**20, 4))
        write_format1(saved, header, {"array0": bomb}, np.savez_compressed)
        assert saved.stat().st_size < bomb.nbytes / 100
        with pytest.raises(ValueError, match=r"'credalis\.npy' is compressed"):
            CredalPartition.load(saved)

    def test_members_that_overlap_are_refused(self, saved):
        header, arrays = contents(saved)
        write_format1(saved, header, arrays)
        whole = bytearray(saved.read_bytes())
        # The sizes of the first member in the directory at the end.
        entry = whole.rindex(b"PK\x01\x02", 0, whole.rindex(b"PK\x01\x02"))
        for place in (20, 24):
            whole[entry + place : entry + place + 4] = (2**31).to_bytes(4, "little")
        saved.write_bytes(whole)
        with pytest.raises(ValueError, match="members are larger than the file"):
            CredalPartition.load(saved)

    def test_huge_shapes_are_refused_before_memory_is_asked_for(self, saved):
        header, _ = contents(saved)
        write_format1(saved, header, {"array0": np.ones((3000, 4))})
        whole = saved.read_bytes()
        saved.write_bytes(whole.replace(b"(3000, 4), }       ", b"(300000000, 400), }"))
        with pytest.raises(ValueError, match="says that it has 960000000000 bytes"):
            CredalPartition.load(saved)


class TestSignature:
    KEY = b"a secret of the owner"

    def test_a_signed_file_loads_with_its_key_and_without_one(self, saved):
        PARTITION.save(saved, key=self.KEY)
        assert CredalPartition.load(saved, key=self.KEY) == PARTITION
        assert load(saved, key=self.KEY.decode()) == PARTITION
        assert load(saved) == PARTITION

    def test_another_key_is_refused(self, saved):
        PARTITION.save(saved, key=self.KEY)
        with pytest.raises(ValueError, match=r"credalis was not signed with this key"):
            load(saved, key=b"a secret of somebody else")

    def test_unsigned_files_and_those_of_format_1_are_refused(self, saved):
        with pytest.raises(ValueError, match="has no signature"):
            load(saved, key=self.KEY)
        write_format1(saved, *contents(saved))
        assert load(saved) == PARTITION
        with pytest.raises(ValueError, match="has no signature"):
            load(saved, key=self.KEY)

    @pytest.mark.parametrize(
        ("key", "message"),
        [
            (17, "key must be bytes or text, got int"),
            ("short", "key must have at least 16 bytes, got 5"),
        ],
    )
    def test_other_keys_are_refused(self, saved, key, message):
        with pytest.raises(ValueError, match=message):
            PARTITION.save(saved, key=key)
        with pytest.raises(ValueError, match=message):
            load(saved, key=key)


def test_a_file_without_an_object_of_ours_is_refused(tmp_path):
    path = tmp_path / "number.credalis"
    _archive.save(0.5, path)
    with pytest.raises(ValueError, match=r"number.credalis must hold .* a float"):
        load(path)


def test_equal_objects_are_equal_files(tmp_path):
    for name in ("first", "second"):
        PARTITION.save(tmp_path / name)
    assert (tmp_path / "first").read_bytes() == (tmp_path / "second").read_bytes()


def test_a_file_is_read_with_numpy_alone_as_the_docs_say(tmp_path, monkeypatch):
    page = Path(__file__).parents[1] / "docs" / "reference" / "file_format.md"
    program = page.read_text("utf-8").split("```python\n")[1].split("```")[0]
    assert "credalis" not in program.replace('"model.credalis"', "").replace(
        'arrays.pop("credalis")', ""
    )
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(30, 2))
    fitted = ECM(2, delta=5.0, random_state=0).fit(X)
    fitted.save("model.credalis", key="a secret of the owner")
    found = {}
    exec(program, found)
    model = found["model"]
    assert model["class"] == "ECM"
    assert model["parameters"]["delta"] == 5.0
    np.testing.assert_array_equal(model["fitted"]["centers_"], fitted.centers_)
    partition = model["fitted"]["partition_"]
    np.testing.assert_array_equal(partition["masses"], fitted.partition_.masses)
    assert partition["focal_sets"]["subsets"] == [[], [0], [1], [0, 1]]


def test_the_comment_is_as_long_as_the_docs_say(saved):
    with zipfile.ZipFile(saved) as archive:
        assert len(archive.comment) == 157
