import os
import signal
import stat
import subprocess
import sys

import pytest

from credalis._files import atomic_write


def test_file_appears_when_the_block_ends(tmp_path):
    path = tmp_path / "result.txt"
    with atomic_write(path) as stream:
        stream.write(b"whole")
        assert not path.exists()
    assert path.read_bytes() == b"whole"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_failed_block_leaves_the_old_file_and_nothing_else(tmp_path, error):
    path = tmp_path / "result.txt"
    path.write_bytes(b"old")

    def fail():
        with atomic_write(path) as stream:
            stream.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["result.txt"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_file_has_the_usual_permissions(tmp_path):
    ordinary, ours = tmp_path / "ordinary", tmp_path / "ours"
    ordinary.write_bytes(b"")
    with atomic_write(ours) as stream:
        stream.write(b"")
    assert stat.S_IMODE(ours.stat().st_mode) == stat.S_IMODE(ordinary.stat().st_mode)


def test_missing_directory_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match="missing"),
        atomic_write(tmp_path / "missing" / "result.txt"),
    ):
        pass


@pytest.mark.skipif(os.name == "nt", reason="Windows needs rights for links")
def test_link_stays_a_link(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"old")
    link.symlink_to(target)
    with atomic_write(link) as stream:
        stream.write(b"new")
    assert link.is_symlink()
    assert target.read_bytes() == b"new"


def test_what_is_no_file_is_not_replaced(tmp_path):
    with pytest.raises(OSError, match="not a file"), atomic_write(tmp_path):
        pass
    assert tmp_path.is_dir()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_file_that_is_replaced_keeps_its_permissions(tmp_path):
    path = tmp_path / "secret"
    path.write_bytes(b"old")
    path.chmod(0o640)
    with atomic_write(path) as stream:
        stream.write(b"new")
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signal")
def test_what_a_killed_process_has_left_is_removed_by_the_next(tmp_path):
    path = tmp_path / "result.txt"
    program = f"""
import sys, time
from credalis._files import atomic_write
with atomic_write({str(path)!r}) as stream:
    stream.write(b"half")
    stream.flush()
    print("ready", flush=True)
    time.sleep(60)
"""
    writer = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout.readline() == "ready\n"
    parts = list(tmp_path.iterdir())
    with atomic_write(path) as stream:
        stream.write(b"meanwhile")
    assert [entry for entry in tmp_path.iterdir() if entry != path] == parts
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    assert parts[0].exists()
    with atomic_write(path) as stream:
        stream.write(b"whole")
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == b"whole"


def test_files_with_similar_names_are_left_alone(tmp_path):
    others = [
        ".result.txt.part",
        ".result.txt.0123456789ab.part.old",
        "result.txt.part",
    ]
    for name in others:
        (tmp_path / name).write_bytes(b"")
    with atomic_write(tmp_path / "result.txt") as stream:
        stream.write(b"whole")
    names = {entry.name for entry in tmp_path.iterdir()}
    assert names == {*others, "result.txt"}
