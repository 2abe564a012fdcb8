"""Conversion: what is kept, what is told to be dropped, and that a failure leaves nothing behind."""

from __future__ import annotations

import errno
import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest

import dialgauge
from dialgauge.data import convert
from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import write

DIALOGUES = [
    Dialogue(
        id=f"d{number}",
        turns=(
            Turn(speaker="user", text="a room", state={"hotel": {"area": ("north",)}}, acts=(Act("inform", "hotel"),)),
            Turn(speaker="system", text="which?"),
        ),
        goal=Goal(tasks={"hotel": Task(info={"area": "north"})}),
        domains=("hotel",),
    )
    for number in range(3)
]


@pytest.fixture
def source(tmp_path: Path) -> Path:
    write(DIALOGUES, tmp_path / "source.jsonl", format="native")
    return tmp_path / "source.jsonl"


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_kept_and_dropped_are_counted(source: Path, tmp_path: Path) -> None:
    done = convert(source, tmp_path / "out.json", to="sgd")
    assert (done.source_format, done.target_format, done.dialogues, done.turns) == ("native", "sgd", 3, 6)
    assert done.kept["state"] == 3 and done.kept["text"] == 6
    assert done.writing["field goal dropped"] == 3
    assert dialgauge.read(tmp_path / "out.json").dialogues[1].turns[0].state == {"hotel": {"area": ("north",)}}


def test_a_native_copy_is_the_same_bytes(source: Path, tmp_path: Path) -> None:
    done = convert(source, tmp_path / "copy.jsonl", to="native")
    assert (tmp_path / "copy.jsonl").read_bytes() == source.read_bytes()
    assert done.writing == {} and done.kept == {"acts": 3, "domains": 3, "goal": 3, "state": 3, "text": 6}


def test_the_name_decides_about_compression(source: Path, tmp_path: Path) -> None:
    convert(source, tmp_path / "a.jsonl.gz", to="native")
    convert(source, tmp_path / "b.jsonl.gz", to="native")
    content = (tmp_path / "a.jsonl.gz").read_bytes()
    assert gzip.decompress(content) == source.read_bytes()
    assert content == (tmp_path / "b.jsonl.gz").read_bytes(), "the same input gives the same bytes"


def test_an_existing_file_is_kept_unless_forced(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("precious")
    with pytest.raises(DialgaugeError, match="the file exists; --force overwrites it"):
        convert(source, target, to="native")
    assert target.read_text() == "precious"
    convert(source, target, to="native", force=True)
    assert target.read_bytes() == source.read_bytes()


def test_a_file_can_be_converted_onto_itself(source: Path) -> None:
    before = source.read_bytes()
    convert(source, source, to="native", force=True)
    assert source.read_bytes() == before


def test_a_folder_is_no_target(source: Path, tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match="this is a folder"):
        convert(source, tmp_path, to="native", force=True)


def test_bad_formats(source: Path, tmp_path: Path) -> None:
    with pytest.raises(DialgaugeError, match=r"no format named 'sdg'. Did you mean 'sgd'"):
        convert(source, tmp_path / "x", to="sdg")
    with pytest.raises(DialgaugeError, match="can be read but not written; writable: babi"):
        convert(source, tmp_path / "x", to="multiwoz")
    assert names(tmp_path) == ["source.jsonl"]


def test_the_same_id_twice_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    write([DIALOGUES[0], DIALOGUES[1]], tmp_path / "one.jsonl", format="native")
    write([DIALOGUES[1]], tmp_path / "two.jsonl", format="native")
    with pytest.raises(DialgaugeError, match=r"two.jsonl, dialogue d1: this id was used before"):
        convert(f"{tmp_path}/*.jsonl", tmp_path / "out.json", to="sgd")
    assert names(tmp_path) == ["one.jsonl", "two.jsonl"]


def test_two_formats_in_one_source_are_refused(source: Path, tmp_path: Path) -> None:
    convert(source, tmp_path / "z.json", to="sgd")
    with pytest.raises(DialgaugeError, match="in the format sgd, but files before it are in native"):
        convert(tmp_path, tmp_path / "out.jsonl", to="native")
    assert "out.jsonl" not in names(tmp_path)


def test_a_source_that_breaks_in_the_middle_leaves_nothing(source: Path, tmp_path: Path) -> None:
    source.write_bytes(source.read_bytes() + b"{broken\n")
    with pytest.raises(DialgaugeError, match="line 4"):
        convert(source, tmp_path / "out.jsonl", to="native")
    assert names(tmp_path) == ["source.jsonl"]


def test_an_interruption_leaves_nothing(source: Path, tmp_path: Path) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(source, tmp_path / "out.jsonl", to="native", advance=stop)
    assert names(tmp_path) == ["source.jsonl"]


class FullDisk:
    """A file that takes 100 bytes and then says that the disk is full."""

    def __init__(self, real: IO[bytes]) -> None:
        self.real, self.room = real, 100

    def __enter__(self) -> FullDisk:
        return self

    def __exit__(self, *_: object) -> None:
        self.real.close()

    def write(self, content: bytes) -> int:
        self.room -= len(content)
        if self.room < 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return self.real.write(content)


@pytest.fixture
def full_disk(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    real = Path.open

    def opened(self: Path, mode: str = "r", *rest: Any, **more: Any) -> Any:
        handle = real(self, mode, *rest, **more)
        return FullDisk(handle) if mode == "wb" else handle

    with monkeypatch.context() as patched:
        patched.setattr(Path, "open", opened)
        yield


@pytest.mark.usefixtures("full_disk")
def test_a_full_disk_leaves_the_old_file(tmp_path: Path) -> None:
    lines = [{"id": "a", "turns": [{"speaker": "user", "text": "x" * 200}]}]
    source, target = tmp_path / "source.jsonl", tmp_path / "out.jsonl"
    source.write_text("\n".join(str(line).replace("'", '"') for line in lines))
    target.write_text("old")
    with pytest.raises(DialgaugeError, match=r"out.jsonl: it cannot be written \(the disk is full\)"):
        convert(source, target, to="native", force=True)
    assert target.read_text() == "old"
    assert names(tmp_path) == ["out.jsonl", "source.jsonl"]


def test_no_permission_for_the_target(source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = os.open

    def forbidden(path: Any, flags: int, *rest: Any, **more: Any) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied")
        return whole(path, flags, *rest, **more)

    monkeypatch.setattr("os.open", forbidden)
    with pytest.raises(DialgaugeError, match=r"cannot be written \(Permission denied\)"):
        convert(source, tmp_path / "out.jsonl", to="native")


REAL = {
    "multiwoz21/test.json.gz": 1000,
    "gcdf1/conversations/dialogues_001.json.gz": 32,
    "babi/dialog-babi-task6-dstc2-dev.txt.gz": 500,
    "dst_predictions/augpt.json.gz": 1000,
    "dst_predictions/somdst_human100.tar.gz": 100,
    "sgd/dev_dialogues_001.json.gz": 128,
}


@pytest.mark.parametrize(("name", "dialogues"), REAL.items())
def test_real_files_pass_through_native_unchanged(name: str, dialogues: int, shared_data: Path, tmp_path: Path) -> None:
    done = convert(shared_data / name, tmp_path / "out.jsonl", to="native")
    assert done.dialogues == dialogues and done.writing == {}
    assert dialgauge.read(tmp_path / "out.jsonl").dialogues == dialgauge.read(shared_data / name).dialogues


@pytest.mark.parametrize("name", ["x.zip", "x.tar", "x.tar.gz", "x.tgz"])
def test_archives_are_not_written(source: Path, tmp_path: Path, name: str) -> None:
    with pytest.raises(DialgaugeError, match="archives are read but not written"):
        convert(source, tmp_path / name, to="native")
    assert names(tmp_path) == ["source.jsonl"]


def test_standard_output_gets_all_or_nothing(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    monkeypatch.chdir(tmp_path)
    convert(source, "-", to="native")
    assert capfdbinary.readouterr().out == source.read_bytes()
    (tmp_path / "twice.jsonl").write_bytes(source.read_bytes() * 2)
    with pytest.raises(DialgaugeError, match="this id was used before"):
        convert(tmp_path / "twice.jsonl", "-", to="native")
    assert capfdbinary.readouterr().out == b""
    assert names(tmp_path) == ["source.jsonl", "twice.jsonl"]
