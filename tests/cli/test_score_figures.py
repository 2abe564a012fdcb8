"""``--figures`` on the commands that score: what is drawn, and what is refused before any work is done."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dialgauge as package
from dialgauge.runs import Store
from support.agent_results import tau_result
from support.commands import dialgauge
from support.town import responses, write_town
from support.trackers import gold_dialogues, tracker

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("own_folder")
Words = list[object]


def _trackers(folder: Path) -> Words:
    gold = gold_dialogues(8)
    for name, dialogues in {"gold": gold, "mine": tracker(gold, 0.2, 1), "other": tracker(gold, 0.4, 2)}.items():
        package.write(dialogues, folder / f"{name}.jsonl", format="native")
    return ["score", "gold.jsonl", "mine.jsonl", "other.jsonl", "--resamples", 50]


def _responses(folder: Path) -> Words:
    (folder / "mine.json").write_text(json.dumps(responses()))
    return ["tasks", "score", write_town(folder), "mine.json", "--by", "domain", "--resamples", 50]


def _results(folder: Path) -> Words:
    content = [tau_result(task, trial, float(trial)) for task in ("a", "b") for trial in (0, 1)]
    (folder / "tau.json").write_text(json.dumps(content))
    return ["tasks", "score", "tau.json", "--resamples", 50]


@pytest.mark.soak
def test_stored_runs_are_drawn_as_the_files_were(capsys: Capture, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    words = _trackers(tmp_path)
    assert dialgauge(capsys, *words, "--run", "--figures", "fresh", "--figure-format", "json").code == 0
    ids = [word for one in Store().list() for word in ("--from", one.id)]
    assert dialgauge(capsys, "score", *ids, "--figures", "stored", "--figure-format", "json").code == 0
    fresh, stored = ({file.name: file.read_bytes() for file in Path(name).iterdir()} for name in ("fresh", "stored"))
    assert fresh == stored


def test_a_system_under_two_profiles_is_told_apart(capsys: Capture, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    words = _trackers(tmp_path)[:3]
    assert (
        dialgauge(capsys, *words, "-p", "canon", "-p", "trade", "--figures", "f", "--figure-format", "json").code == 0
    )
    assert "Scores of mine (canon), mine (trade)" in Path("f/scores.json").read_text(encoding="utf-8")


def _drawn(folder: str, name: str) -> str:
    return Path(folder, f"{name}.json").read_text(encoding="utf-8")


def test_systems_with_gold_states_are_marked_in_figures_as_in_tables(capsys: Capture, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    words = _responses(tmp_path)
    stateless = {name: [{"response": turn["response"]} for turn in turns] for name, turns in responses().items()}
    (tmp_path / "policy.json").write_text(json.dumps(stateless))
    outcome = dialgauge(capsys, *words[:4], "policy.json", *words[4:], "--figures", "f", "--figure-format", "json")
    assert outcome.code == 0, outcome.err
    files = [file.stem for file in Path("f").iterdir()]
    assert {"scores", "other_units"} < set(files)
    for name in files:
        assert '"policy *"' in _drawn("f", name), name
        assert '"policy"' not in _drawn("f", name), name
        assert '"mine"' in _drawn("f", name), name
        assert "* with gold states: a score of the policy; never rank it with end-to-end scores." in _drawn("f", name)
    assert "BLEU@mwz21-span" in outcome.out
    assert '"BLEU@mwz21-span, points"' in _drawn("f", "other_units")


def test_a_single_small_cost_has_a_readable_axis(capsys: Capture, tmp_path: Path) -> None:
    pytest.importorskip("altair")
    assert dialgauge(capsys, *_results(tmp_path), "--figures", "f", "--figure-format", "json").code == 0
    assert '"Cost (of the user), dollars"' in _drawn("f", "other_units")
    assert "0.00999" not in _drawn("f", "other_units")
    assert "right actions (r_actions)" in _drawn("f", "by_part_of_the_reward")


def test_failures_by_cause_and_by_side_are_two_figures(capsys: Capture) -> None:
    """In one list they added up to 200%, and the sum of all causes, which is always 100%, was drawn as a score."""
    pytest.importorskip("altair")
    words = ["lab", "run", "-n", 12, "--channel", "drop=0.3", "--resamples", 50]
    assert dialgauge(capsys, *words, "--figures", "f", "--figure-format", "json").code in (0, 1)
    for name in ("by_cause", "by_side_at_fault"):
        (rows,) = [one["values"] for one in _data(json.loads(_drawn("f", name)))]
        assert sum(row["value"] for row in rows) == pytest.approx(100.0), name
    assert "Blame" not in _drawn("f", "scores_conversation")
    title = json.loads(_drawn("f", "scores_task"))["title"]["text"]
    assert title == "Scores of rule-system (channel: drop: 0.3) with agenda (channel: drop: 0.3): task"


def _data(chart: object) -> list[dict[str, list[dict[str, float]]]]:
    """All data in a specification."""
    if isinstance(chart, list):
        return [one for each in chart for one in _data(each)]
    if not isinstance(chart, dict):
        return []
    own = [chart["data"]] if "values" in chart.get("data", {}) else []
    return own + [one for each in chart.values() for one in _data(each)]
