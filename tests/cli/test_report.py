"""``dialgauge report``: what the word latest means after several systems were scored at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.formats import write
from dialgauge.runs import Store
from support.commands import dialgauge
from support.explorer_store import tracked


def test_the_latest_are_all_runs_of_the_last_command(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, seed in (("one", 1), ("two", 2), ("earlier", 3)):
        write(tracked(8, seed), tmp_path / f"{name}.jsonl", format="native")
    for files in (["earlier.jsonl"], ["one.jsonl", "two.jsonl"]):
        words = ["score", "self", *files, "--resamples", "20"]
        monkeypatch.setattr("sys.argv", ["dialgauge", *words])
        assert dialgauge(capsys, *words).code <= 1
    outcome = dialgauge(capsys, "report", "latest", "-n", 1)
    assert outcome.code == 0
    assert "latest: one, two" in outcome.err
    text = Path("report.html").read_text()
    assert "two" in text and "earlier" not in text
    assert len(Store(tmp_path / "runs").list()) == 3
