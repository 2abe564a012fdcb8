"""Conversion: what is kept, what is told to be dropped, and that a failure leaves nothing behind."""

from __future__ import annotations

from pathlib import Path

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


def test_an_existing_file_is_kept_unless_forced(source: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    target.write_text("precious")
    with pytest.raises(DialgaugeError, match="the file exists; delete it"):
        convert(source, target, to="native")
    assert target.read_text() == "precious"
    convert(source, target, to="native", force=True)
    assert target.read_bytes() == source.read_bytes()


def test_the_same_id_twice_is_refused_and_nothing_is_written(tmp_path: Path) -> None:
    write([DIALOGUES[0], DIALOGUES[1]], tmp_path / "one.jsonl", format="native")
    write([DIALOGUES[1]], tmp_path / "two.jsonl", format="native")
    with pytest.raises(DialgaugeError, match=r"two.jsonl, dialogue d1: this id was already used"):
        convert(f"{tmp_path}/*.jsonl", tmp_path / "out.json", to="sgd")
    assert names(tmp_path) == ["one.jsonl", "two.jsonl"]


def test_an_interruption_leaves_nothing(source: Path, tmp_path: Path) -> None:
    def stop(_: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert(source, tmp_path / "out.jsonl", to="native", advance=stop)
    assert names(tmp_path) == ["source.jsonl"]


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
    with pytest.raises(DialgaugeError, match="this id was already used"):
        convert(tmp_path / "twice.jsonl", "-", to="native")
    assert capfdbinary.readouterr().out == b""
    assert names(tmp_path) == ["source.jsonl", "twice.jsonl"]
