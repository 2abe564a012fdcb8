"""What ``dialgauge data get`` writes is what ``dialgauge reproduce`` and the other commands find."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from dialgauge.formats import read
from support.commands import dialgauge
from support.town import ROWS, gold_file, responses

Capture = pytest.CaptureFixture[str]


def multiwoz_archive() -> bytes:
    """MultiWOZ as published: all dialogues in one file, lists of ids, the database beside them."""
    test = gold_file()
    others = {"PMUL0003.json": test["MUL0001.json"], "PMUL0004.json": test["MUL0001.json"]}
    files = {
        "data.json": json.dumps(test | others),
        "testListFile.txt": "\n".join(test),
        "valListFile.txt": "PMUL0003.json\n",
        "ontology.json": "{}",
    } | {f"{domain}_db.json": json.dumps(rows) for domain, rows in ROWS.items()}
    return zipped(files)


def zipped(files: dict[str, str]) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        for name, content in files.items():
            packed.writestr(f"MultiWOZ_2.1/{name}", content)
    return held.getvalue()


def human_evaluation_archive() -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as packed:
        packed.writestr("FGA-1/README.md", "text")
        packed.writestr("FGA-1/human_evaluation_files/MUL0001.json.txt", "text")
    return held.getvalue()


@pytest.fixture
def mirror(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder of all datasets, with downloads from a mirror in memory that has small files of the same names."""

    def fetch(url: str, target: Path, **_: Any) -> None:
        target.parent.mkdir(parents=True, exist_ok=True)
        if url.endswith("MultiWOZ_2.1.zip"):
            target.write_bytes(multiwoz_archive())
        elif url.endswith(".zip"):
            target.write_bytes(human_evaluation_archive())
        else:
            target.write_text(json.dumps(responses()))

    monkeypatch.setattr("dialgauge.data.install.fetch_file", fetch)
    monkeypatch.delenv("DIALGAUGE_OFFLINE", raising=False)
    monkeypatch.setenv("DIALGAUGE_DATA", str(tmp_path))
    return tmp_path


def test_multiwoz_comes_in_splits_with_its_database_beside_them(mirror: Path, capsys: Capture) -> None:
    folder = mirror / "multiwoz-2.1"
    assert dialgauge(capsys, "data", "get", "multiwoz-2.1").out == f"{folder}\n"
    held = {split: [one.id for one in read(folder / f"{split}.json").dialogues] for split in ("train", "val", "test")}
    assert held == {"train": ["PMUL0004.json"], "val": ["PMUL0003.json"], "test": list(gold_file())}
    assert json.loads((folder / "test.json").read_text()) == gold_file()
    assert not (folder / "data.json").exists() and (folder / "db" / "hotel_db.json").is_file()


def test_an_archive_without_lists_is_left_as_it_is(
    mirror: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"data.json": json.dumps(gold_file()), "testListFile.txt": "MUL0001.json"}
    monkeypatch.setattr(f"{__name__}.multiwoz_archive", lambda: zipped(files))
    assert dialgauge(capsys, "data", "get", "multiwoz-2.1").code == 0
    folder = mirror / "multiwoz-2.1"
    assert {name: (folder / name).read_text() for name in files} == files
    assert not (folder / "test.json").exists()


def test_reproduce_says_what_to_get_and_finds_what_was_got(mirror: Path, capsys: Capture) -> None:
    nothing = dialgauge(capsys, "reproduce", "mwzeval")
    assert nothing.code == 2
    assert nothing.err.strip() == (
        f"dialgauge: nothing of mwzeval could be computed: multiwoz-2.1 and dst_predictions are not in {mirror}; "
        "run 'dialgauge data get multiwoz-2.1' and 'dialgauge data get dst_predictions'"
    )
    assert dialgauge(capsys, "data", "get", "multiwoz-2.1").code == 0
    (mirror / "dst_predictions").mkdir()
    (mirror / "dst_predictions" / "ubar.json").write_text(json.dumps(responses()))
    found = dialgauge(capsys, "reproduce", "mwzeval", "--json", "-", "--data", mirror)
    [verdicts] = json.loads(found.out)["page"]["tables"]["verdicts"]["rows"]
    assert found.code == 1 and verdicts["computed"] > 6
