"""First steps: ``dialgauge demo``, ``init`` and ``explain``."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from dialgauge.demo import PROFILE
from dialgauge.formats import read
from dialgauge.runs import Store
from runs.contract import assert_run_contract
from support.commands import dialgauge

Capture = pytest.CaptureFixture[str]


def test_the_demo_asks_answers_and_ends_with_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("demo")
    outcome = dialgauge(capsys, "demo", "--out", folder, "--dialogues", 10)
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    everything = [*lines, *outcome.err.splitlines()]
    assert len(everything) <= 40 and max(map(len, everything)) <= 80
    assert "Report: demo/report.html" in lines
    explore, _, check, score = (line.split()[1:] for line in lines[-4:])
    assert (explore[0], check) == ("explore", ["data", "check", "YOUR_FILE"])
    assert score == ["score", "GOLD", "YOUR_PREDICTIONS"]
    files = sorted(Path("demo/predictions").glob("*.json"))
    again = dialgauge(capsys, "score", "self", *files, "-p", PROFILE, "--json", "again.json", "--store", "again")
    assert again.code == 0 and "latest is ahead of stubborn by " in " ".join(again.out.split())
    assert_same_scores(Store(folder / "runs"), json.loads(Path("again.json").read_text())["runs"])
    report = (folder / "report.html").read_text("utf-8")
    assert "latest is ahead of stubborn by " in report
    answers = re.findall(r'<div class="verdict[^>]*>\s*<p>(.*?)</p>', report)
    assert len(answers) >= 4 and '<section class="dialogue"' in report
    kinds = sorted({manifest.kind for manifest in Store(folder / "runs").list()})
    assert kinds == ["interaction", "lab", "responses", "tracking", "trials"]
    for manifest in Store(folder / "runs").list():
        assert_run_contract(Store(folder / "runs").open(manifest.id))
    assert len(read(folder / "predictions" / "latest.json").dialogues) == 20


def assert_same_scores(store: Store, systems: list[dict[str, Any]]) -> None:
    """What is to be tried next gives the numbers of the tour and its report, by every measure."""
    again = {one["name"]: {name: score["value"] for name, score in one["scores"].items()} for one in systems}
    stored = [run for run in store.list() if run.kind == "tracking"]
    assert {run.name for run in stored} == set(again) == {"latest", "stubborn"}
    for run in stored:
        assert "SA" in run.scores
        assert {name: score.value for name, score in run.scores.items()} == again[run.name]


def test_a_folder_with_other_things_is_not_touched(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    outcome = dialgauge(capsys, "demo", "--out", tmp_path, "--dialogues", 10)
    assert outcome.code == 2
    assert "choose another with --out" in outcome.err
    assert [item.name for item in tmp_path.iterdir()] == ["mine.txt"]


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
    assert "kept 1 that already existed" in dialgauge(capsys, "init").err
    assert Path("dialgauge.toml").read_text() == "[defaults]\nseed = 7\n"
    Path("file").write_text("x")
    assert dialgauge(capsys, "init", "file").code == 2


@pytest.mark.parametrize("name", ["JGA", "jga", "JGA(over=dialogues)"])
def test_a_measure_is_explained(name: str, capsys: Capture) -> None:
    outcome = dialgauge(capsys, "explain", name)
    assert outcome.code == 0, outcome.err
    assert outcome.out.startswith("JGA (tracking): Joint goal accuracy\n")
    for field in ("meaning", "formula", "parameters", "unit", "better", "source"):
        assert any(line.startswith(f"{field} ") for line in outcome.out.splitlines()), field


def test_a_measure_of_several_families_is_explained_in_each(capsys: Capture) -> None:
    document = json.loads(dialgauge(capsys, "explain", "Success", "--json", "-").out)
    titles = [table["title"] for table in document["page"]["tables"].values()]
    assert titles and len(set(titles)) == len(titles) and all(title.startswith("Success (") for title in titles)
