"""No output option may write over a file that the command reads, under whatever name."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.agent_results import tau_file
from support.commands import dialgauge
from support.trackers import gold_dialogues, tracker, write_predictions


@pytest.mark.parametrize(
    "words",
    [
        ["users", "score", ".", "--json", "mine.json"],
        ["users", "score", "m*.json", "--json", "mine.json"],
    ],
    ids=lambda words: " ".join(words[:2] + words[-2:]),
)
def test_an_input_is_never_written_over(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = gold_dialogues(3)
    for seed, name in enumerate(("mine", "other")):
        write_predictions(tmp_path / f"{name}.json", gold, tracker(gold, 0.1, seed))
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    outcome = dialgauge(capsys, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert "would overwrite an input of this command" in outcome.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize(
    "words",
    [
        ["score", "self", "mine.json", "mine.json"],
        ["score", "self", "mine.json", "./mine.json", "--engine", "local"],
        ["tasks", "score", "mine.json", "mine.json", "mine.json"],
        ["review", "tau.json", "./tau.json"],
        ["users", "score", "tau.json", "tau.json"],
        ["users", "faults", "tau.json", "./tau.json"],
    ],
    ids=" ".join,
)
def test_one_file_given_twice_is_said(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gold = gold_dialogues(3)
    write_predictions(tmp_path / "mine.json", gold, tracker(gold, 0.1, 0))
    tau_file(tmp_path / "tau.json", {"a": "++"})
    monkeypatch.chdir(tmp_path)
    outcome = dialgauge(capsys, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err.endswith(".json: it is given twice; give each file once\n")
