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
    for name, seed in (("one", 1), ("two", 2), ("old", 3)):
        write(tracked(8, seed), tmp_path / f"{name}.jsonl", format="native")
    words = ("--resamples", 20, "--run")
    assert dialgauge(capsys, "score", "self", "old.jsonl", *words).code == 0
    assert dialgauge(capsys, "score", "self", "one.jsonl", "two.jsonl", *words).code <= 1
    outcome = dialgauge(capsys, "report", "latest", "-n", 1)
    assert outcome.code == 0
    assert "latest: one, two" in outcome.err
    text = Path("report.html").read_text()
    assert "two" in text and "old" not in text
    assert len(Store(tmp_path / "runs").list()) == 3
