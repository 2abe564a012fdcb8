"""Graders: figures by hand, verdict files as people write them, and what is refused."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from statistics import fmean

import numpy as np
import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.measures import pass_chance
from dialgauge.stats import cohen_kappa, rogan_gladen
from dialgauge.trials import GraderVerdict, judge_figures, read_verdicts, score_results
from dialgauge.trials.grading import pass_squares
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
    [run] = score_results(log, judges=[tmp_path / "same.csv"]).runs
    score = run.scores["pass^1"]
    for grader in run.details["graders"]["graders"]:
        assert list(grader["pass_rate"].values()) == pytest.approx([score.value, score.low, score.high])


@pytest.mark.parametrize(("chances", "k"), [([1.0, 0.5], 1), ([0.2, 0.5, 0.9], 2), ([0.5, 0.5, 0.5, 0.25], 3)])
def test_the_grader_s_part_in_pass_k_is_that_of_all_gradings(chances: list[float], k: int) -> None:
    weighed = []
    for marks in product((0, 1), repeat=len(chances)):
        weight = np.prod([chance if mark else 1 - chance for chance, mark in zip(chances, marks, strict=True)])
        weighed.append((float(weight), pass_chance(sum(marks), len(marks), k)))
    mean = sum(weight * value for weight, value in weighed)
    square = sum(weight * value**2 for weight, value in weighed)
    means, squares = pass_squares(chances, chances)
    assert (means[k - 1], squares[k - 1]) == pytest.approx((mean, square))
    assert pass_squares(chances, [chance**2 for chance in chances])[1][k - 1] == pytest.approx(mean**2)


def test_pass_k_of_a_grader_that_never_wavers_is_that_of_the_trials() -> None:
    figures = judge_figures(graded("bot", a0="++", a1="--", b0="++", b1="++"))
    assert [(part.k, part.value, part.grader_spread) for part in figures.pass_parts] == [(1, 0.75, 0.0), (2, 0.5, 0.0)]
    once = judge_figures(graded("bot", a0="+", a1="-"))
    assert [part.grader_part for part in once.pass_parts] == [None, None]


def test_spread_by_grading_is_what_drawn_gradings_vary_by() -> None:
    """Over many files: the variances that are told are, in the mean, those of the true chances."""
    draws, told = np.random.default_rng(0), []
    chances = draws.beta(0.5, 0.5, size=(12, 3))
    for _ in range(200):
        verdicts = [
            GraderVerdict(f"{task}#{trial}", str(task), "bot", str(number), bool(draws.random() < chances[task, trial]))
            for task, trial in product(range(12), range(3))
            for number in range((2, 3, 4)[(task + trial) % 3])
        ]
        told.append([(part.grader_spread or 0.0) ** 2 for part in judge_figures(verdicts, resamples=0).pass_parts])
    once = (draws.random((20000, 12, 3)) < chances).sum(axis=2)
    for k in (1, 2, 3):
        values = np.array([pass_chance(passes, 3, k) for passes in range(4)])[once].mean(axis=1)
        assert fmean(each[k - 1] for each in told) == pytest.approx(float(values.var()), rel=0.1)


@pytest.mark.parametrize(("gradings", "regraded"), [(2, 60), (5, 60), (20, 60), (2, 20)])
def test_a_coin_is_all_grader_however_often_it_was_thrown(gradings: int, regraded: int) -> None:
    """Nothing but the grading varies; what is left for tasks is their chance spread, whose mean is nothing."""
    draws, parts, balance = np.random.default_rng(3), [], []
    for _ in range(40):
        verdicts = [
            GraderVerdict(f"{task}#0", str(task), "coin", str(number), bool(draws.random() < 0.5))
            for task in range(60)
            for number in range(gradings if task < regraded else 1)
        ]
        [part] = judge_figures(verdicts, resamples=0).pass_parts
        assert part.grader_part is not None and part.grader_spread is not None
        parts.append(part.grader_part)
        balance.append(part.grader_spread**2 * 60)
    assert fmean(balance) == pytest.approx(0.25, rel=0.06)
    assert fmean(parts) > 0.85 and sorted(parts)[len(parts) // 2] > 0.9


def test_a_grader_that_repeats_itself_has_no_part() -> None:
    figures = judge_figures(graded("bot", a0="++", b0="---", c0="+", d0="--"))
    assert [part.grader_part for part in figures.pass_parts] == [0.0]
    mixed = judge_figures(graded("bot", a0="+-", b0="++", c0="--", d0="+-", e0="++", f0="--"))
    [part] = mixed.pass_parts
    within, seen = (0.5 + 0.5) / 6, 0.2  # by hand: two of six waver; shares 1, 1, 1/2, 1/2, 0, 0 vary by 0.2
    assert part.grader_part == pytest.approx(within / (within + seen - within / 2))


def test_rogan_gladen_by_hand_and_where_the_test_is_perfect() -> None:
    assert rogan_gladen(60, 100, 45, 50, 40, 50)[0] == pytest.approx((0.6 + 0.8 - 1) / (0.9 + 0.8 - 1))
    assert rogan_gladen(30, 100, 50, 50, 50, 50)[0] == pytest.approx(0.3)


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
        (graded("ann", a0="-", a1="+"), "add up to no more than 1"),
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
    lines = [{"dialogue": "7#1", "judge": "bot", "passed": True}, {"dialogue": "7#1", "judge": "bot", "passed": 0}]
    (tmp_path / "bot.jsonl").write_text("\n".join(map(json.dumps, lines)))
    verdicts = read_verdicts([tmp_path / "ann.csv", tmp_path / "bot.jsonl"])
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
        ("v.csv", "id,grader,replicate,verdict\na,x,1,1\na,x,1,0\n", "twice as replicate 1"),
        ("v.jsonl", "[1]\n", "no JSON object"),
        ("v.jsonl", '{"id": "a"}', "there is none"),
    ],
)
def test_what_is_no_verdict_is_refused(name: str, content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content)
    with pytest.raises(DialgaugeError, match=message):
        read_verdicts([tmp_path / name])
    with pytest.raises(DialgaugeError, match="cannot be read"):
        read_verdicts([tmp_path / f"not-there-{name}"])


def test_the_command_names_graders_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "v.csv").write_text("id,grader,verdict\na#0,ann,1\na#0,bot,1\nb#0,ann,0\nb#0,bot,0\n")
    done = dialgauge(capsys, "tasks", "judges", tmp_path / "v.csv", "--truth", "anna")
    assert (done.code, "Did you mean 'ann'" in done.err) == (2, True)
    done = dialgauge(capsys, "tasks", "judges", tmp_path / "v.csv", "--truth", "ann")
    assert done.code == 0
    assert "Pass rate corrected for errors against ann" in done.out


def test_verdicts_on_another_log_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tau_file(tmp_path / "r.json", {"a": "+"})
    (tmp_path / "bot.csv").write_text("task,trial,verdict\nz,0,pass\n")
    done = dialgauge(capsys, "tasks", "score", log, "--judge", tmp_path / "bot.csv")
    assert done.code == 2 and "no verdict of --judge is about a conversation of r" in done.err
    gold = dialgauge(capsys, "tasks", "score", "gold.json", "pred.json", "--judge", tmp_path / "bot.csv")
    assert gold.code == 2
