"""``--fail-under`` and ``--fail-on-drop``: exit code 3 exactly where a check fails, with the measure in the message."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dialgauge as package
from dialgauge.cli.gates import Threshold
from dialgauge.errors import DialgaugeError
from dialgauge.measures import Score
from support.commands import Outcome, dialgauge
from support.trackers import gold_dialogues, tracker

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.usefixtures("own_folder")
SHARE = Score(value=0.5, unit="share", higher_is_better=True)
POINTS = Score(value=12.0, unit="points", higher_is_better=True)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    gold = gold_dialogues(40)
    for name, dialogues in {
        "gold": gold, "good": tracker(gold, 0.05, 1), "alike": tracker(gold, 0.05, 7), "bad": tracker(gold, 0.5, 2)
    }.items():  # fmt: skip
        package.write(dialogues, tmp_path / f"{name}.jsonl", format="native")
    return tmp_path


def stored(outcome: Outcome) -> str:
    assert outcome.code == 0, outcome.err
    return outcome.err.split("stored as run ")[1].split()[0]


@pytest.mark.parametrize(
    ("text", "score", "least"),
    [
        ("JGA=50%", SHARE, 0.5),
        ("JGA=12.5 %", SHARE, 0.125),
        ("JGA=0.5", SHARE, 0.5),
        ("JGA=1.0", SHARE, 1.0),
        ("JGA=0", SHARE, 0.0),
        ("FGA@0.5(rule=paper)=.4", SHARE, 0.4),
        ("BLEU=12.5", POINTS, 12.5),
    ],
)
def test_a_threshold_is_a_percentage_or_a_fraction(text: str, score: Score, least: float) -> None:
    threshold = Threshold.parse(text)
    assert threshold.least(score) == pytest.approx(least)
    assert threshold.measure == text.rpartition("=")[0]


@pytest.mark.parametrize(
    ("text", "score", "sentence"),
    [
        ("JGA=50", SHARE, "ambiguous: write 50% or a fraction such as 0.5"),
        ("JGA=1", SHARE, "ambiguous: write 1%"),
        ("JGA=1.5", SHARE, "between 0% and 100%"),
        ("JGA=120%", SHARE, "between 0% and 100%"),
        ("BLEU=12%", POINTS, "not a share"),
        ("Cost=3", Score(value=1.0, unit="USD", higher_is_better=False), "lower is better"),
    ],
)
def test_what_could_mean_two_things_is_refused(text: str, score: Score, sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=sentence):
        Threshold.parse(text).least(score)


def test_only_a_significant_drop_fails(capsys: Capture, files: Path) -> None:
    run = stored(dialgauge(capsys, "score", "gold.jsonl", "good.jsonl"))
    against = ("--resamples", "0", "--fail-on-drop", run)
    alike = dialgauge(capsys, "score", "gold.jsonl", "alike.jsonl", *against)
    assert alike.code == 0, alike.err
    assert f"no significant drop compared with {run}" in alike.err
    worse = dialgauge(capsys, "score", "gold.jsonl", "bad.jsonl", *against)
    assert worse.code == 3
    [told] = [line for line in worse.err.splitlines() if line.startswith("FAILED: bad: JGA dropped by")]
    for part in (" points from ", f"compared with {run}", "95% interval ", "p = ", "40 dialogues"):
        assert part in told
    better = stored(dialgauge(capsys, "score", "gold.jsonl", "bad.jsonl"))
    assert dialgauge(capsys, "score", "gold.jsonl", "good.jsonl", "--fail-on-drop", better).code == 0


def test_the_same_predictions_moved_by_nothing(capsys: Capture, files: Path) -> None:
    Path("same.jsonl").write_bytes(Path("good.jsonl").read_bytes())
    stored(dialgauge(capsys, "score", "gold.jsonl", "good.jsonl", "-m", "JGA"))
    words = ("score", "gold.jsonl", "same.jsonl", "-m", "JGA", "--fail-on-drop", "good", "--json", "x.json")
    assert dialgauge(capsys, *words).code == 0
    text = Path("x.json").read_text(encoding="utf-8")
    [check] = json.loads(text)["checks"]
    assert (str(check["value"]), check["limit"], check["passed"]) == ("0.0", 0.0, True)
    assert "95% interval 0.00 to 0.00 points" in check["sentence"]


@pytest.mark.parametrize("dialogues", [4, 20])
def test_a_drop_without_an_interval_is_told_without_one(dialogues: int, capsys: Capture) -> None:
    """Too few dialogues, or all of them wrong now: neither has an interval that could be printed."""
    gold = gold_dialogues(dialogues)
    for name, predicted in {"gold": gold, "right": tracker(gold, 0.0, 1), "wrong": tracker(gold, 1.0, 1)}.items():
        package.write(predicted, f"{name}.jsonl", format="native")
    stored(dialgauge(capsys, "score", "gold.jsonl", "right.jsonl", "-m", "FinalJGA"))
    words = ("score", "gold.jsonl", "wrong.jsonl", "-m", "FinalJGA", "--fail-on-drop", "right", "--json", "x.json")
    assert dialgauge(capsys, *words).code == (3 if dialogues == 20 else 0)
    [check] = json.loads(Path("x.json").read_text(encoding="utf-8"))["checks"]
    assert "(no 95% interval, p = " in check["sentence"]


def test_small_drops_may_pass(capsys: Capture, files: Path) -> None:
    """A margin is on top of significance."""
    run = stored(dialgauge(capsys, "score", "gold.jsonl", "good.jsonl", "-m", "JGA,F1"))
    call = ("score", "gold.jsonl", "bad.jsonl", "-m", "JGA,F1", "--fail-on-drop", run, "--json", "b")
    assert dialgauge(capsys, *call).code == 3
    found = json.loads(Path("b").read_text())["checks"]
    assert all(check["value"] > 0 and not check["passed"] for check in found)
    largest = 100 * max(check["value"] for check in found)
    assert dialgauge(capsys, *call, "--margin", f"{largest + 0.01}").code == 0
    between = dialgauge(capsys, *call, "--margin", f"{largest - 0.01}")
    assert between.code == 3 and between.err.count("FAILED") == 1


def test_missing_dialogues_of_the_baseline_fail_the_check(capsys: Capture, files: Path) -> None:
    """What is missing may be what got worse, so the build must not be green; a drop still has its own exit code."""
    lines = Path("good.jsonl").read_text().splitlines(keepends=True)
    Path("cut.jsonl").write_text("".join(lines[:-3]))
    run = stored(dialgauge(capsys, "score", "gold.jsonl", "good.jsonl", "-m", "JGA"))
    held = ("-m", "JGA", "--fail-on-drop", run, "--json", "out.json")
    cut = dialgauge(capsys, "score", "gold.jsonl", "cut.jsonl", *held)
    assert cut.code == 1
    assert f"FAILED: cut: it lacks 3 of 40 dialogues that {run} has" in cut.err
    assert "measures are compared on the other 37" in cut.err
    missing, jga = json.loads(Path("out.json").read_text())["checks"]
    assert (missing["value"], missing["passed"], jga["name"][-3:], jga["passed"]) == (3, False, "JGA", True)
    shorter = json.loads(lines[0])
    shorter["turns"].pop()
    Path("short.jsonl").write_text("".join([json.dumps(shorter) + "\n", *lines[1:-3]]))
    short = dialgauge(capsys, "score", "gold.jsonl", "short.jsonl", *held)
    assert f"lacks 3 of 40 dialogues that {run} has, and 1 more was scored on different turns, so" in short.err
    assert "measures are compared on the other 36" in short.err
    Path("bad-cut.jsonl").write_text("".join(Path("bad.jsonl").read_text().splitlines(keepends=True)[:-3]))
    assert dialgauge(capsys, "score", "gold.jsonl", "bad-cut.jsonl", *held).code == 3
    Path("cut-too.jsonl").write_text("".join(lines[:-3]))
    dialgauge(capsys, "score", "gold.jsonl", "cut-too.jsonl", "-m", "JGA")
    both_lack = dialgauge(capsys, "score", "gold.jsonl", "cut.jsonl", "-m", "JGA", "--fail-on-drop", "cut-too")
    assert "FAILED" not in both_lack.err


def test_missing_tasks_of_the_baseline_fail_the_check(capsys: Capture, tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    rows = [
        json.dumps({"task_id": f"t{n}", "trial": trial, "messages": messages, "success": n > 2}) + "\n"
        for n in range(8)
        for trial in range(2)
    ]
    Path("old.jsonl").write_text("".join(rows))
    Path("new.jsonl").write_text("".join(rows[6:]))
    old = stored(dialgauge(capsys, "review", "old.jsonl", "-m", "pass^1"))
    lacking = dialgauge(capsys, "review", "new.jsonl", "--fail-on-drop", "old", "-m", "pass^1")
    assert (lacking.code, f"FAILED: new: it lacks 3 of 8 tasks that {old} has" in lacking.err) == (1, True)
    more = dialgauge(capsys, "review", "old.jsonl", "--fail-on-drop", "new", "-m", "pass^1")
    assert (more.code, "FAILED" in more.err) == (0, False)
