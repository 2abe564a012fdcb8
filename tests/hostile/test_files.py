"""Files appear whole or not at all."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.files import (
    atomic,
    check_output,
    check_writable,
    together,
    write_all,
)
from dialgauge.locks import locked, try_lock

#: Writes half a file and says so; then is killed, or waits.
WRITER = """
import sys, time
from pathlib import Path
from dialgauge.files import atomic
with atomic(Path(sys.argv[1])) as scratch:
    scratch.write_bytes(b"half")
    print(scratch.name, flush=True)
    time.sleep(600)
"""


def half_written(path: Path) -> tuple[subprocess.Popen[str], Path]:
    """A process in the middle of writing, and its scratch file."""
    process = subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    return process, path.parent / process.stdout.readline().strip()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_a_killed_writer_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text("old")
    process, scratch = half_written(path)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert scratch.exists()
    assert path.read_text() == "old"


def test_a_failure_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "scores.json"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic(path) as scratch:
        scratch.write_text("new")
        raise ZeroDivisionError
    assert path.read_text() == "old"
    assert names(tmp_path) == ["scores.json"]


def test_several_files_or_none(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(DialgaugeError, match="this is a folder"):
        write_all({tmp_path / "a": b"1", tmp_path / "b": b"2", tmp_path / "folder": b"3"})
    assert names(tmp_path) == ["folder"]
    write_all({tmp_path / "a": b"1", tmp_path / "new" / "b": b"2"})
    assert (tmp_path / "new" / "b").read_bytes() == b"2"


def test_files_that_belong_together_appear_together(tmp_path: Path) -> None:
    with together():
        for name in ("a", "b"):
            with atomic(tmp_path / "new" / name) as scratch:
                scratch.write_text(name)
            assert not (tmp_path / "new" / name).exists()
    assert names(tmp_path) == ["new"]
    assert names(tmp_path / "new") == ["a", "b"]


def test_a_disk_that_is_full_at_the_very_end_leaves_all_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some file systems find room for the bytes only when they are brought to the disk."""
    (tmp_path / "old").write_text("old")
    calls: list[int] = []

    def sync(handle: int) -> None:
        calls.append(handle)
        if len(calls) == 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", sync)
    refused = pytest.raises(DialgaugeError, match=r"/b: it cannot be written \(the disk is full\)$")
    with refused, together():
        write_one(tmp_path / "a")
        write_one(tmp_path / "b")
    assert names(tmp_path) == ["old"]
    calls.clear()
    with pytest.raises(DialgaugeError, match="the disk is full"):
        write_all({tmp_path / "a": b"1", tmp_path / "b": b"2"})
    assert names(tmp_path) == ["old"]


def write_one(path: Path) -> None:
    with atomic(path) as scratch:
        scratch.write_text("x")


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    for content in (b"one", b"two"):
        check_output(tmp_path / "link")
        with atomic(tmp_path / "link") as scratch:
            scratch.write_bytes(content)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "real" / "file").read_bytes() == content
    assert names(tmp_path / "real") == ["file"]


def test_a_pipe_and_a_device_keep_their_place(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[bytes] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
    reader.start()
    check_output(pipe)
    with atomic(pipe) as scratch:
        scratch.write_bytes(b"through")
    reader.join()
    assert got == [b"through"]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert names(tmp_path) == ["pipe"]
    with atomic(Path("/dev/null")) as scratch:
        scratch.write_bytes(b"away")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_what_cannot_be_written_is_known_before(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    bad = {
        tmp_path: "this is a folder",
        tmp_path / "file" / "below": "cannot be written",
        tmp_path / ("x" * 300) / "y": "cannot be written",
        Path("a\0b"): "a name cannot hold the character 0",
    }
    for path, message in bad.items():
        for attempt in (check_output, lambda path: write_all({path: b""})):
            with pytest.raises(DialgaugeError, match=message):
                attempt(path)
    for good in (Path("-"), tmp_path / "file", tmp_path / "new" / "folders" / "file"):
        check_output(good)
    check_writable(tmp_path / "new")
    with pytest.raises(DialgaugeError, match="nothing can be written there"):
        check_writable(tmp_path / "file")
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o444, 0o755])
@pytest.mark.parametrize("linked", [False, True])
def test_a_file_keeps_its_permissions_when_it_is_written_again(tmp_path: Path, mode: int, linked: bool) -> None:
    path = target = tmp_path / "scores.json"
    path.write_bytes(b"old")
    path.chmod(mode)
    if linked:
        path = tmp_path / "link.json"
        path.symlink_to(target)
    write_all({path: b"new"})
    assert (target.read_bytes(), stat.S_IMODE(target.stat().st_mode)) == (b"new", mode)


@pytest.mark.parametrize(("mask", "mode"), [(0o022, 0o644), (0o077, 0o600), (0o002, 0o664)])
def test_a_new_file_has_the_permissions_that_the_umask_leaves(tmp_path: Path, mask: int, mode: int) -> None:
    before = os.umask(mask)
    try:
        write_all({tmp_path / "scores.json": b"new"})
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "scores.json").stat().st_mode) == mode


def test_a_lock_has_one_holder(tmp_path: Path) -> None:
    path = tmp_path / "new" / "x.lock"
    with locked(path):
        assert try_lock(path) is None
    lock = try_lock(path)
    assert lock is not None
    lock.release()
    (tmp_path / "file").touch()
    with pytest.raises(DialgaugeError, match="cannot be written"), locked(tmp_path / "file" / "x.lock"):
        pass
