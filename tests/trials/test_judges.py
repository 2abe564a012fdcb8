"""Graders: figures by hand, verdict files as people write them, and what is refused."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from dialgauge import review
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Store
from dialgauge.stats import cohen_kappa, rogan_gladen
from dialgauge.trials import GraderVerdict, judge_figures, read_verdicts
from support.agent_results import tau_file
from support.commands import dialgauge


def graded(grader: str, **replicates: str) -> list[GraderVerdict]:
    """``a0="+-"``: conversation a#0 was graded twice, passed and failed."""
    return [
        GraderVerdict(f"{name[0]}#{name[1:]}", name[0], grader, str(number), mark == "+")
        for name, marks in replicates.items()
        for number, mark in enumerate(marks)
    ]


def test_flips_agreement_and_kappa_by_hand() -> None:
    ours = graded("bot", a0="++-", a1="++", b0="--", b1="+-")
    theirs = graded("ann", a0="+", a1="-", b0="-")
    figures = judge_figures([*ours, *theirs])
    bot, ann = figures.graders
    assert bot.pass_rate.value == pytest.approx((2 / 3 + 1 + 0 + 1 / 2) / 4)
    assert bot.flip_rate is not None
    assert bot.flip_rate.value == pytest.approx((2 / 3 + 0 + 0 + 1) / 4)
    assert ann.flip_rate is None
    [pair] = figures.pairs
    assert pair.agreement is not None
    assert pair.agreement.value == pytest.approx(2 / 3)
    assert pair.conversations == 3
    assert pair.kappa is not None
    assert pair.kappa.value == pytest.approx(cohen_kappa([(1, 1), (1, 0), (0, 0)]))


def test_a_grader_that_says_what_the_log_says_has_the_interval_of_its_pass_rate(tmp_path: Path) -> None:
    marks = {"a": "++", "b": "+-", "c": "--"}
    log = tau_file(tmp_path / "log.json", marks)
    rows = [f"{task}#{trial},{mark == '+'}" for task, own in marks.items() for trial, mark in enumerate(own)]
    (tmp_path / "same.csv").write_text("\n".join(["conversation,verdict", *rows]))
    [run] = review(log, judges=[tmp_path / "same.csv"]).runs
    score = run.scores["pass^1"]
    for grader in run.details["graders"]["graders"]:
        assert list(grader["pass_rate"].values()) == pytest.approx([score.value, score.low, score.high])


@pytest.mark.parametrize(("true", "sensitivity", "specificity"), [(0.4, 0.9, 0.85), (0.15, 0.8, 0.95)])
def test_the_interval_covers_the_true_share(true: float, sensitivity: float, specificity: float) -> None:
    draws, covered = np.random.default_rng(1), []
    for _ in range(1500):
        passed = draws.binomial(200, true)
        positive = draws.binomial(passed, sensitivity) + draws.binomial(200 - passed, 1 - specificity)
        hits, rejections = draws.binomial(40, sensitivity), draws.binomial(40, specificity)
        _, low, high = rogan_gladen(int(positive), 200, int(hits), 40, int(rejections), 40)
        covered.append(low <= true <= high)
    assert fmean(covered) > 0.92


@pytest.mark.parametrize(
    ("truth", "why"),
    [
        (graded("ann", a0="-", a1="-"), "its sensitivity is unknown"),
        (graded("ann", a0="+", a1="+"), "its specificity is unknown"),
        (graded("ann", a0="-", a1="+"), "add up to 1 or less"),
        (graded("ann", z0="+"), "its sensitivity is unknown"),
    ],
)
def test_no_rate_is_corrected_by_errors_that_nobody_knows(truth: list[GraderVerdict], why: str) -> None:
    [row] = judge_figures([*graded("bot", a0="+", a1="-"), *truth], truth="ann").corrected
    assert row.corrected is None
    assert row.refused is not None
    assert why in row.refused


def test_verdicts_as_people_write_them(tmp_path: Path) -> None:
    (tmp_path / "ann.csv").write_text("Task,Trial,Verdict\n7,1,PASS\n7,2,no\n")
    (tmp_path / "others.csv").write_text("conversation,grader,verdict\n7#1,bot,true\n7#1,bot,0\n")
    verdicts = read_verdicts([tmp_path / "ann.csv", tmp_path / "others.csv"])
    assert [(each.grader, each.conversation, each.task, each.passed) for each in verdicts] == [
        ("ann", "7#1", "7", True), ("ann", "7#2", "7", False), ("bot", "7#1", "7", True), ("bot", "7#1", "7", False),
    ]  # fmt: skip
    assert [each.replicate for each in verdicts[2:]] == ["1", "2"]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("v.csv", "task,verdict\n1,maybe\n", "pass or fail, yes or no"),
        ("v.csv", "task,verdict\n", "there are no verdicts"),
        ("v.csv", "grader,verdict\nann,1\n", "needs a conversation"),
        ("v.csv", "conversation,grader,replicate,verdict\na,x,1,1\na,x,1,0\n", "twice as replicate 1"),
        ("v.csv", "conversation\na\n", "the column verdict"),
        ("v.csv", "", "there are no verdicts"),
    ],
)
def test_what_is_no_verdict_is_refused(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DialgaugeError, match=message):
        read_verdicts([tmp_path / name])
    with pytest.raises(DialgaugeError, match="cannot be read"):
        read_verdicts([tmp_path / f"not-there-{name}"])


def test_graders_stand_beside_the_log(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tau_file(tmp_path / "r.json", {"a": "+-", "b": "--"})
    rows = ["a#0,ann,1", "a#0,bot,1", "a#1,ann,1", "b#0,ann,0", "b#0,bot,0", "z#0,bot,1"]
    (tmp_path / "v.csv").write_text("\n".join(["conversation,grader,verdict", *rows]))
    judge = ["review", log, "--judge", tmp_path / "v.csv", "--store", tmp_path / "runs"]
    done = dialgauge(capsys, *judge, "--truth", "anna")
    assert (done.code, "Did you mean 'ann'" in done.err) == (2, True)
    done = dialgauge(capsys, *judge, "--truth", "ann")
    assert done.code == 0 and "Pass rate if ann is right" in " ".join(done.out.split()), done.out
    run = Store(tmp_path / "runs").open("latest")
    assert {name: run.scores[name].value for name in ("pass^1", "pass^1[ann]", "pass^1[bot]", "pass^2[ann]")} == {
        "pass^1": 0.25, "pass^1[ann]": 0.5, "pass^1[bot]": 0.5, "pass^2[ann]": 1.0,
    }  # fmt: skip
    assert any("1 verdict of graders about conversations that are not in this log" in note for note in run.notes)
    assert run.table("gradings").height == 5


def test_verdicts_on_another_log_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tau_file(tmp_path / "r.json", {"a": "+"})
    (tmp_path / "bot.csv").write_text("task,trial,verdict\nz,0,pass\n")
    done = dialgauge(capsys, "review", log, "--judge", tmp_path / "bot.csv")
    assert done.code == 2 and "none of 1 verdict is about a conversation of r" in done.err
