from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from dialgauge.demo import PROFILE, Answer
from dialgauge.formats import read
from dialgauge.runs import Store, new_run
from runs.contract import assert_run_contract
from support.commands import dialgauge


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
    answers = re.findall(r'<p class="verdict">(.*?)</p>', report)
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


def test_without_any_extra_the_demo_ends_with_a_report(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for package in ("starlette", "uvicorn", "altair"):
        monkeypatch.setitem(sys.modules, package, None)
    answer = Answer(question="?", sentence="!", runs=(new_run(kind="tracking", name="mine"),))
    monkeypatch.setattr("dialgauge.demo.STEPS", (lambda _: answer,))
    outcome = dialgauge(capsys, "demo", "--out", "demo", "--dialogues", 10)
    assert outcome.code == 0, outcome.err
    lines = outcome.out.splitlines()
    assert "Report: demo/report.html" in lines
    report = Path("demo/report.html").read_text("utf-8")
    assert "mine" in report and "data:image" not in report
    after = lines[lines.index("Try next:") + 1 :]
    assert after[0] == "  pip install 'dialgauge[explorer]'" and after[1].startswith("  dialgauge explore ")
    assert max(map(len, lines)) <= 80
