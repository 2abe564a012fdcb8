"""``dialgauge init``: everything it writes works with the commands it names, and nothing that was there is touched."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import dialgauge

Capture = pytest.CaptureFixture[str]


def test_the_folder_works_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("DIALGAUGE_RUNS", raising=False)
    begun = dialgauge(capsys, "init", "mine")
    assert begun.code == 0 and "dialgauge.toml" in {path.name for path in (tmp_path / "mine").iterdir()}
    monkeypatch.chdir(tmp_path / "mine")
    commands = [line.split()[1:] for line in begun.out.splitlines() if line.startswith("  dialgauge ")]
    assert len(commands) == 3
    for words in commands[:2]:
        assert dialgauge(capsys, *words).code == 0, words
    assert "did you mean examples/gold.jsonl?" in dialgauge(capsys, "data", "check", "gold.jsonl").err
    assert list((tmp_path / "mine" / "runs").iterdir()) and Path("tour.ipynb").stat().st_size > 1000


def test_what_was_there_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    Path("dialgauge.toml").write_text("[defaults]\nseed = 7\n")
    assert "kept 1 that were there" in dialgauge(capsys, "init").err
    assert Path("dialgauge.toml").read_text() == "[defaults]\nseed = 7\n"
    Path("file").write_text("x")
    assert dialgauge(capsys, "init", "file").code == 2
