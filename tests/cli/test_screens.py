"""What only some screens of 80 columns have: long names, many systems, codes as words.

For all screens: tests/contracts/test_commands.py.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dialgauge.users import LABELS, REASONS
from support.agent_results import tau_file
from support.commands import Outcome, dialgauge
from support.screens import uncoloured
from support.trackers import gold_dialogues, tracker, write_predictions
from support.workbench import Workbench

Capture = pytest.CaptureFixture[str]


def printed(outcome: Outcome) -> str:
    assert outcome.code in (0, 1), outcome.err
    return uncoloured(outcome.out)


def test_every_behaviour_on_the_screen_can_be_explained(capsys: Capture) -> None:
    shown = set(printed(dialgauge(capsys, "explain", "behaviours")).split())
    assert {label.rpartition("/")[2] for label in (*LABELS, *REASONS)} <= shown
    longest = max(LABELS, key=len)
    assert longest.rpartition("/")[2] in printed(dialgauge(capsys, "explain", longest))


LONG = [
    "our-organisation-experiment-2026-11-16-large-model-seed-0",
    "our-organisation-experiment-2026-11-16-large-seed-1",
]


def test_long_names_of_systems_leave_every_score_and_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    gold = gold_dialogues(12)
    for place, name in enumerate([*LONG, "dots"]):
        write_predictions(tmp_path / f"{name}.json", gold, tracker(gold, 0.1 + 0.3 * place, place))
    files = [f"{name}.json" for name in [*LONG, "dots"]]
    scored = dialgauge(capsys, "score", "self", *files, "-m", "JGA,F1", "--no-store").out
    values = re.findall(r"^(?:our-\S+|dots) +([\d.]+) \w +([\d.]+) \w$", scored, re.MULTILINE)
    assert len(values) == 3 and len(set(values)) == 3, scored
    assert max(map(len, scored.splitlines())) <= 80


def test_codes_are_words_on_screen(bench: Workbench, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(bench.folder)
    ended = printed(dialgauge(capsys, "review", "tau.json", "--resamples", 0))
    assert not re.search(r"user_stop|agent_stop|max_steps", ended)
    faults = printed(dialgauge(capsys, "users", "faults", "tau.json", "--resamples", 20))
    assert "early end" in faults and "role swap" in faults
    study = printed(dialgauge(capsys, "lab", "study", "-n", 2, "--errors", "drop", "--rates", 0.05, "--resamples", 5))
    assert "5% of acts are lost" in study and "drop=" not in study.partition("Conditions")[2]


def test_no_system_is_left_out_however_many_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    monkeypatch.chdir(tmp_path)
    names = [f"agent-of-model-{place}" for place in range(6)]
    for name in names:
        tau_file(tmp_path / f"{name}.json", {"cancel a flight": "+-+", "book a room": "--+"})
    shown = printed(dialgauge(capsys, "review", *(f"{name}.json" for name in names)))
    scores = shown.partition("Scores")[2].partition("\n\n")[0]
    assert {line.split()[0] for line in scores.splitlines() if line.startswith("agent")} == set(names)
