"""No output option may write over a file that the command reads, under whatever name."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.commands import dialgauge
from support.trackers import gold_dialogues, tracker, write_predictions


@pytest.mark.parametrize(
    "words",
    [
        ["score", "self", "mine.json", "--json", "mine.json"],
        ["score", "self", "mine.json", "--table", "linked.json"],
        ["compare", "self", "mine.json", "other.json", "--json", "./other.json"],
        ["users", "score", "mine.json", "--json", "hard.json"],
        ["tasks", "score", "other.json", "mine.json", "--json", "mine.json"],
        ["data", "check", "mine.json", "--json", "mine.json"],
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
    (tmp_path / "linked.json").symlink_to(tmp_path / "mine.json")
    (tmp_path / "hard.json").hardlink_to(tmp_path / "mine.json")
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    outcome = dialgauge(capsys, *words)
    assert (outcome.code, outcome.out) == (2, "")
    assert "would overwrite an input of this command" in outcome.err
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.parametrize("empty", [["--store", ""], ["--store="], ["--json", ""], ["--table="], ["--figures", ""]])
@pytest.mark.parametrize("option", [[], ["--resamples=9"], ["-mJGA"]], ids=["alone", "quick", "by typer"])
def test_an_empty_name_is_not_the_current_folder(
    empty: list[str],
    option: list[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    gold = gold_dialogues(3)
    write_predictions(tmp_path / "mine.json", gold, tracker(gold, 0.1, 0))
    monkeypatch.chdir(tmp_path)
    outcome = dialgauge(capsys, "score", "self", "mine.json", "--run", *option, *empty)
    name = empty[0].removesuffix("=")
    kind = "folder" if name in ("--store", "--figures") else "file"
    assert (outcome.code, outcome.out, outcome.err) == (2, "", f"dialgauge: {name} must name a {kind} (got '')\n")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]
