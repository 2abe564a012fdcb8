"""No output option may write over a file that the command reads, under whatever name."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.agent_results import tau_file
from support.commands import dialgauge
from support.documented_calls import EXAMPLES
from support.trackers import gold_dialogues, tracker, write_predictions


@pytest.mark.usefixtures("own_store")
@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["score", "gold.jsonl", "careful.jsonl"],
            "careful gets 69.2% of the turns and 2 of 3 dialogues",
        ),
        (
            ["score", "gold.jsonl", "careful.jsonl", "--resamples", "0"],
            "careful gets 69.2% of the turns and 2 of 3 dialogues",
        ),
        (["score", "gold.jsonl", "careful.jsonl", "hasty.jsonl"], "No verdict: 3 dialogues are too few"),
        (
            ["users", "faults", "tau.json"],
            "A fault of the user was found in 8.3% [0.57, 58.86] of 12 conversations of tau",
        ),
        (["review", "tau.json"], "pass^1"),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, list) else "",
)
def test_the_first_words_on_the_screen_are_the_verdict(
    words: list[str],
    sentence: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(EXAMPLES)
    monkeypatch.setenv("DIALGAUGE_RUNS", str(tmp_path))
    outcome = dialgauge(capsys, *words)
    assert outcome.code == 0, outcome.err
    assert sentence in " ".join(outcome.out.partition("\n\n")[0].split())


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


def test_results_files_of_one_name_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Both were called by the name of the file, so the JSON had the coverage of one of them."""
    for folder, marks in (("a", "++"), ("b", "+-")):
        (tmp_path / folder).mkdir()
        tau_file(tmp_path / folder / "tau.json", {"t": marks})
    files = [tmp_path / "a" / "tau.json", tmp_path / "b" / "tau.json"]
    document = json.loads(dialgauge(capsys, "review", *files, "--resamples", 0, "--no-store", "--json", "-").out)
    assert [run["name"] for run in document["runs"]] == ["a/tau", "b/tau"]
