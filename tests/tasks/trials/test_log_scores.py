"""Scores of logs in general: which are verdicts, means over tasks, shares of labels, and what stays unknown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dialgauge import compare
from dialgauge.comparison import compare_runs
from dialgauge.dialogue import Dialogue, Outcome, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.presentation import trials_sentence
from dialgauge.runs import Store
from dialgauge.stats import share_mean_interval
from dialgauge.tasks import are_results, score_attempts, score_results
from support.commands import dialgauge as command

TALK = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]


def log(folder: Path, *records: dict[str, Any], name: str = "log") -> Path:
    path = folder / f"{name}.jsonl"
    path.write_text("\n".join(json.dumps({"messages": TALK, **record}) for record in records))
    return path


def test_means_are_over_tasks_and_so_are_standard_errors(tmp_path: Path) -> None:
    given = {"a": [1.0, 2.0, 6.0], "b": [4.0], "c": [10.0, -2.0]}
    records = [{"task_id": task, "score": score} for task, scores in given.items() for score in scores]
    [run] = score_results([log(tmp_path, *records)]).runs
    means = [float(np.mean(scores)) for scores in given.values()]
    assert run["Score[score]"].value == pytest.approx(np.mean(means))
    assert run.details["standard_errors"]["Score[score]"] == pytest.approx(np.std(means, ddof=1) / np.sqrt(3))
    assert "pass^1" not in run.scores
    assert run.coverage.complete


@pytest.mark.parametrize(
    ("records", "verdict", "passed"),
    [
        ([{"reward": 1}, {"reward": 0}], "reward", 0.5),
        ([{"reward": 1}, {"reward": 0.5}], None, None),
        ([{"scores": {"goal_met": True}}, {"scores": {"goal_met": False}}], "goal_met", 0.5),
        ([{"metrics": {"num_errors": 1}}, {"metrics": {"num_errors": 0}}], None, None),
        ([{"success": True, "reward": 0}, {"success": True, "reward": 1}], "", 1.0),
        ([{"scores": {"tone": "good"}}, {"scores": {"tone": "bad"}}], None, None),
    ],
)
def test_a_score_is_a_verdict_where_it_is_yes_or_no_everywhere(
    records: list[dict[str, Any]], verdict: str | None, passed: float | None, tmp_path: Path
) -> None:
    named = [{"id": f"c{place}", **record} for place, record in enumerate(records)]
    [run] = score_results([log(tmp_path, *named)]).runs
    if passed is None:
        assert "pass^1" not in run.scores and run.scores
    else:
        assert run["pass^1"].value == passed
        assert run.details["verdict_score"] == verdict


def test_any_binary_score_has_its_own_pass_k(tmp_path: Path) -> None:
    records = [
        {"task_id": task, "scores": {"match": match, "polite_score": polite}}
        for task, match, polite in (("a", 1, 0), ("a", 0, 0), ("b", 1, 1), ("b", 1, 0))
    ]
    [run] = score_results([log(tmp_path, *records)], measures=["pass^1", "pass^2[match]", "pass^1[polite_score]"]).runs
    assert (run["pass^1"].value, run["pass^2[match]"].value, run["pass^1[polite_score]"].value) == (0.75, 0.5, 0.25)
    with pytest.raises(DialgaugeError, match=r"'mood' is no score that is 0 or 1"):
        score_results([log(tmp_path, *records)], measures=["pass^1[mood]"])


@pytest.mark.parametrize("yes", [1, True])
def test_any_score_of_0_and_1_has_pass_k_where_it_is_asked_for(yes: float, tmp_path: Path) -> None:
    records = [{"task_id": f"t{n % 4}", "trial": n // 4, "scores": {"safe": yes if n else yes - yes}} for n in range(8)]
    [run] = score_results([log(tmp_path, *records)], measures=["pass^1[safe]"]).runs
    assert run["pass^1[safe]"].value == 0.875
    assert any("ask for pass^1[safe]" in note for note in run.notes)


@pytest.mark.parametrize(
    ("scores", "more", "bounds"),
    [
        ([1, 1, 0, 1], {}, (0, 1)),
        ([0.9, 1.0, 0.95, 0.1], {}, (0, 1)),
        ([1, 1, 1, 1], {}, (0, 1)),
        ([9, 10, 10, 10], {"out_of": 10}, (0, 10)),
    ],
)
def test_intervals_of_scores_stay_within_their_bounds(
    scores: list[float], more: dict[str, Any], bounds: tuple[float, float], tmp_path: Path
) -> None:
    """The interval is that of one more task at either bound, as pass^1's is where scores are 0 or 1."""
    records = [{"task_id": f"t{n}", "score": score, **more} for n, score in enumerate(scores)]
    [run] = score_results([log(tmp_path, *records)], measures=["Score[score]"]).runs
    score = run["Score[score]"]
    assert (score.lower, score.upper) == bounds
    assert score.low is not None and score.high is not None
    assert bounds[0] <= score.low < score.high <= bounds[1]
    assert "interval:0.95-one-more-unit" in score.signature
    ends = share_mean_interval(scores, np.ones(4), bounds=bounds)
    assert (score.low, score.high) == pytest.approx(ends)


def test_equal_scores_without_bounds_have_no_interval(tmp_path: Path) -> None:
    records = [{"task_id": f"t{n}", "score": 5, "scores": {"tone": 4 + n % 2}} for n in range(8)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert (run["Score[score]"].low, run["Score[score]"].upper) == (None, None)
    assert run["Score[tone]"].low is not None


def test_the_bounds_of_compared_scores_are_those_of_all_runs(tmp_path: Path) -> None:
    files = [
        log(tmp_path, *({"task_id": f"t{n}", "scores": {"mood": mood}} for n in range(8)), name=f"m{number}")
        for number, mood in enumerate((1, -1))
    ]
    told = "Score(scale=-1:1)[mood]"
    compared = compare_runs(score_results(files, measures=told).runs, resamples=200)
    assert compared.scores.bounds("Score[mood]") == (-1, 1)
    difference = compared.difference("m0", "m1", "Score[mood]")
    assert 0 < difference.low < difference.difference == difference.high == 2
    apart = compare_runs(score_results(files[:1]).runs + score_results({"again": files[0]}).runs, resamples=200)
    same = apart.difference("m0", "again", "Score[mood]")
    assert (-1 < same.low < 0 < same.high < 1) and "Score[mood]" in apart.one_more


@pytest.mark.parametrize(
    ("name", "scores", "bounds", "told"),
    [
        ("rating", [5, 5, 5, 1], (None, None), "may leave the scale of 'rating', which is not known"),
        ("n_retries", [0, 1, 0, 0], (0, 1), ""),
        ("on_time", [True, True, False, True], (0, 1), ""),
        ("mood", [-1, 1, 0, 1], (None, None), "may leave the scale of 'mood', which is not known"),
        ("f", [0.5, 1, 0.25, 1], (0, 1), ""),
    ],
)
def test_values_between_0_and_1_are_a_scale_and_others_are_told_one(
    name: str, scores: list[float], bounds: tuple[float | None, float | None], told: str, tmp_path: Path
) -> None:
    file = log(tmp_path, *({"task_id": f"t{n}", "scores": {name: score}} for n, score in enumerate(scores)))
    [run] = score_results([file]).runs
    score = run[f"Score[{name}]"]
    assert (score.lower, score.upper) == bounds and score.low is not None and score.high is not None
    assert bounds[0] is None or score.low >= bounds[0]
    assert bounds[1] is None or score.high <= bounds[1]
    scales = [note for note in run.notes if "scale" in note]
    assert [told in note for note in scales] == [True] * bool(told)
    [again] = score_results([file], measures=[f"Score(scale=-2:100)[{name}]"]).runs
    assert (again[f"Score[{name}]"].lower, again[f"Score[{name}]"].upper) == (-2, 100)
    assert not any("scale" in note for note in again.notes)


@pytest.mark.parametrize(
    ("scale", "why"),
    [("1:4", "the log has 5, which is not on this scale"), ("5:1", "two numbers, the lower one first"), ("5", "two n")],
)
def test_a_scale_that_cannot_be_is_an_error(scale: str, why: str, tmp_path: Path) -> None:
    file = log(tmp_path, *({"task_id": f"t{n}", "scores": {"q": 4 + n % 2}} for n in range(4)))
    with pytest.raises(DialgaugeError, match=why):
        score_results([file], measures=[f"Score(scale={scale})[q]"])


@pytest.mark.parametrize(("name", "same"), [("q", -1), ("q", -0.5), ("q", 5), ("rating", 97)])
def test_a_score_that_is_the_same_everywhere_has_an_interval_on_a_told_scale_only(
    name: str, same: float, tmp_path: Path
) -> None:
    file = log(tmp_path, *({"task_id": f"t{n}", "scores": {name: same}} for n in range(8)))
    assert score_results([file]).runs[0][f"Score[{name}]"].low is None
    told = score_results([file], measures=[f"Score(scale=-2:100)[{name}]"]).runs[0][f"Score[{name}]"]
    assert told.low is not None and told.high is not None and -2 <= told.low <= same <= told.high


@pytest.mark.parametrize("large", [1e308, -1e308, 1e15])
def test_numbers_that_no_mean_can_hold_are_told(large: float, tmp_path: Path) -> None:
    file = log(tmp_path, *({"task_id": f"t{n}", "scores": {"q": large if n < 3 else 2.0}} for n in range(4)))
    [run] = score_results([file]).runs
    assert run["Score[q]"].value == 2.0
    assert any("'q' is left out of 3 conversations, where it is no number that a mean can hold" in n for n in run.notes)


def test_compared_scores_tell_their_scales_once(tmp_path: Path) -> None:
    files = [
        log(tmp_path, *({"task_id": f"t{n}", "scores": {"tone": 2 + n % 3 + more}} for n in range(8)), name=f"m{more}")
        for more in (0, 1)
    ]
    notes = [note for note in compare_runs(score_results(files).runs, resamples=200).notes if "scale" in note]
    assert len(notes) == 1 and "may leave the scale of 'tone'" in notes[0]


@pytest.mark.parametrize(("name", "amount"), [("q", True), ("q", False)])
def test_scores_without_a_known_end_are_compared_as_amounts_are(name: str, amount: bool, tmp_path: Path) -> None:
    """Of skewed scores with equal means the randomisation alone calls 9 to 11 in 100 different."""
    files = [
        log(tmp_path, *({"task_id": f"t{n}", "scores": {name: 1 + n % m}} for n in range(8)), name=f"m{m}")
        for m in (4, 5)
    ]
    told = () if amount else f"Score(scale=1:5)[{name}]"
    compared = compare_runs(score_results(files, measures=told).runs, resamples=200)
    assert (f"Score[{name}]" in compared.amounts) is amount
    assert (f"Score[{name}]" in compared.one_more) is not amount


def test_labels_have_shares(tmp_path: Path) -> None:
    records = [
        {"task_id": str(place // 2), "scores": {"tone": tone}} for place, tone in enumerate(("x", "y", "y", "y"))
    ]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert (run["Label[tone=x]"].value, run["Label[tone=y]"].value) == (0.25, 0.75)


def test_a_log_without_any_verdict_says_so_and_still_counts_turns(tmp_path: Path) -> None:
    results = score_results([log(tmp_path, {"id": "a"}, {"id": "b"})])
    [run] = results.runs
    assert run["Turns"].value == 2.0
    assert not results.complete and "pass^1" not in run.scores
    assert any("no conversation is judged" in note for note in run.notes)
    assert any(
        "unknown, as nothing that is read in the log says it: cost, tokens, how conversations ended" in note
        for note in run.notes
    )
    [ends] = [table for table in results.tables() if table.title == "How conversations ended"]
    assert ends.cells[0][-1].value is None


def test_a_log_of_which_every_conversation_failed_by_infrastructure_has_no_undefined_scores() -> None:
    turns = (Turn(speaker="user", text="hi"), Turn(speaker="system", text="hello"))
    broken = Outcome(success=None, reason="infrastructure_error", details={"benchmark": "chat", "task": "t"})
    run = score_attempts([Dialogue(id=name, turns=turns, outcome=broken) for name in "ab"], "r", resamples=10)
    assert run.details["finished"] == 0
    assert not run.scores


def test_tokens_and_costs_are_means_of_those_that_say_them(tmp_path: Path) -> None:
    records = [{"id": "a", "cost": 1.0, "tokens": 10}, {"id": "b", "cost": 3.0}]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert (run["Cost"].value, run["ModelTokens"].value) == (2.0, 10.0)
    assert run.details["conversations"]["ModelTokens"] == 1


def test_native_conversations_are_judged_by_their_success() -> None:
    talks = [
        Dialogue(id=name, turns=(Turn(speaker="user", text="hi"),), outcome=Outcome(success=success))
        for name, success in (("a", True), ("b", False), ("c", None))
    ]
    with pytest.raises(DialgaugeError, match="dialogue c: it says neither whether its task was done"):
        score_attempts(talks, "native")
    run = score_attempts(talks[:2], "native", resamples=0)
    assert run["pass^1"].value == 0.5
    assert "Reward" not in run.scores


def test_a_results_file_without_parts_of_the_reward_guesses_no_end(tmp_path: Path) -> None:
    stop = {"role": "user", "content": "Thanks ###STOP###"}
    path = tmp_path / "tau.json"
    talks = [
        {"task_id": 1, "reward": 1.0, "info": {}, "traj": [*TALK, stop], "trial": 0},
        {"task_id": 2, "reward": 1.0, "info": {}, "traj": TALK, "trial": 0},
    ]
    path.write_text(json.dumps(talks))
    [run] = score_results([path]).runs
    assert run.table("trials")["reason"].to_list() == ["user_stop", ""]


def test_folders_and_archives_of_logs_are_results(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    log(folder, {"task_id": "t", "success": True}, name="a")
    log(folder, {"task_id": "t", "success": False}, name="b")
    assert are_results([folder])
    assert score_results([folder])[0]["pass^1"].value == 0.5


def test_what_of_a_log_is_not_read_is_told(tmp_path: Path) -> None:
    [run] = score_results([log(tmp_path, {"id": "a", "success": True, "mood": 3})]).runs
    assert "fields of the log that are not read: mood" in run.notes


def judged(folder: Path, *records: dict[str, Any]) -> Any:
    [run] = score_results([log(folder, *({"id": f"c{place}", **one} for place, one in enumerate(records)))]).runs
    return run


@pytest.mark.parametrize("order", [["safety_score", "reward"], ["reward", "safety_score"]])
def test_the_reward_is_the_verdict_wherever_it_stands(order: list[str], tmp_path: Path) -> None:
    given = {"safety_score": 1, "reward": 0}
    run = judged(tmp_path, *[{"scores": {name: given[name] for name in order}}] * 2)
    assert (run["pass^1"].value, run.details["verdict_score"]) == (0.0, "reward")


def test_of_several_scores_that_may_be_the_verdict_none_is(tmp_path: Path) -> None:
    run = judged(
        tmp_path, {"scores": {"safety_score": 1, "style_score": 0}}, {"scores": {"safety_score": 1, "style_score": 1}}
    )
    assert "pass^1" not in run.scores
    assert any(
        "'safety_score', 'style_score' are 0 or 1" in note and "pass^1[safety_score]" in note for note in run.notes
    )
    same = judged(
        tmp_path, {"scores": {"help_score": 1, "task_score": 1}}, {"scores": {"help_score": 0, "task_score": 0}}
    )
    assert (same["pass^1"].value, same.details["verdict_score"]) == (0.5, "help_score")


@pytest.mark.parametrize("name", ["failure_score", "error_score", "refusal_grade", "policy_violation_score"])
def test_what_went_wrong_is_no_success(name: str, tmp_path: Path) -> None:
    run = judged(tmp_path, {name: 1}, {name: 0})
    assert "pass^1" not in run.scores
    assert run[f"Score[{name}]"].value == 0.5


def test_why_there_is_no_pass_k_is_told(tmp_path: Path) -> None:
    run = judged(tmp_path, {"reward": 0.25}, {"reward": 0.5})
    [told] = [note for note in run.notes if note.startswith("pass^k is left out")]
    assert told.endswith("('reward' is between 0.25 and 0.5)")


@pytest.mark.parametrize(("yes", "no"), [(True, False), ("Yes", "No"), ("true", "false")])
def test_a_conversation_passed_that_did_not_fail(yes: Any, no: Any, tmp_path: Path) -> None:
    run = judged(tmp_path, *({"failed": value} for value in (no, no, no, yes)))
    assert run["pass^1"].value == 0.75 and "a conversation passed where 'failed' is no" in run.notes
    counts = judged(tmp_path, {"failed": 0}, {"failed": 1})
    assert "pass^1" not in counts.scores
    for beside in ({"success": True}, {"reward": 1.0}, {"result": "pass"}):
        run = judged(tmp_path, {"failed": yes, **beside})
        assert run["pass^1"].value == 1.0 and "a conversation passed where 'failed' is no" not in run.notes
    [told] = [note for note in judged(tmp_path, *[{"failed": no}] * 2).notes if note.startswith("CHECK THE VERDICT")]
    assert "'failed' says success of every conversation" in told
    beside = judged(tmp_path, {"failed": no, "goal_met": 1}, {"failed": no, "goal_met": 0})
    assert beside["pass^1"].value == 0.5


@pytest.mark.parametrize("broken", [{"status": "failed"}, {"failed": True}])
def test_a_run_that_failed_without_a_score_fails_beside_those_that_have_one(
    broken: dict[str, Any], tmp_path: Path
) -> None:
    run = judged(tmp_path, {"reward": 1}, {"reward": 1}, {"reward": 0}, broken)
    assert run["pass^1"].value == 0.5 and run.coverage.complete


def test_true_and_false_may_be_letters_and_grades_are_none(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("task,trial,success\na,0,t\na,1,f\nb,0,t\nb,1,t\n")
    [run] = score_results([path]).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.75, 0.5)
    assert "a conversation passed where the score 'success' is t: it is f or t in all of them" in run.notes
    assert "pass^1" not in judged(tmp_path, {"success": "A"}, {"success": "F"}).scores


@pytest.mark.parametrize(
    ("name", "beside", "most"),
    [
        ("score", {"max_score": 5}, "5"),
        ("score", {"out_of": "10"}, "10"),
        ("reward", {"maxReward": 2.5}, "2.5"),
        ("score", {"max_score": 1}, ""),
        ("reward", {"max_score": 5}, ""),
    ],
)
def test_a_score_that_may_be_more_than_1_is_no_verdict(
    name: str, beside: dict[str, Any], most: str, tmp_path: Path
) -> None:
    run = judged(tmp_path, {name: 1, **beside}, {name: 0, **beside})
    assert ("pass^1" in run.scores) is not bool(most)
    told = [note for note in run.notes if note.startswith("pass^k is left out")]
    assert [f"'{name}' is between 0 and 1 of {most}" in note for note in told] == [True] * bool(most)
    assert judged(tmp_path, {"success": True, name: 1, **beside}, {"success": False, **beside})["pass^1"].value == 0.5


@pytest.mark.parametrize(
    ("record", "passed", "pair"),
    [
        ({"status": "success", "reward": 0}, 0.0, "'reward' and 'status'"),
        ({"success": True, "reward": 0}, 1.0, "'success' and 'reward'"),
        ({"outcome": "failed", "scores": {"reward": 1}}, 1.0, "'reward' and 'outcome'"),
        ({"success": True, "reward": 1}, 1.0, ""),
        ({"status": "success", "reward": 0.5}, 1.0, ""),
    ],
)
def test_facts_that_contradict_each_other_are_told(
    record: dict[str, Any], passed: float, pair: str, tmp_path: Path
) -> None:
    run = judged(tmp_path, record, record)
    assert run["pass^1"].value == passed
    told = [f"{pair} contradict each other: {pair.split()[0]} counts (2 times)"] if pair else []
    assert [note for note in run.notes if "contradict" in note] == told


@pytest.mark.parametrize(
    ("yes", "no"),
    [
        ({"feedback": {"correctness": {"score": 1.0}}}, {"feedback": {"correctness": {"score": 0.0}}}),
        ({"scores": {"correctness": 1}}, {"scores": {"correctness": 0}}),
        ({"correctness": 1.0}, {"correctness": 0.0}),
        ({"feedback_stats": {"correctness": {"n": 1, "avg": 1.0}}}, {"feedback_stats": {"correctness": {"avg": 0.0}}}),
        ({"judge_verdict": "correct"}, {"judge_verdict": "incorrect"}),
    ],
)
def test_the_status_of_a_run_is_no_verdict_beside_one(yes: dict[str, Any], no: dict[str, Any], tmp_path: Path) -> None:
    run = judged(tmp_path, {"status": "success", **yes}, {"status": "success", **no})
    assert run["pass^1"].value == 0.5
    assert [note for note in run.notes if note.startswith("'status' is not read as a verdict")]
    assert not [note for note in run.notes if "fields of the log" in note]
    failed = judged(tmp_path, {"status": "success", **yes}, {"status": "failed"})
    assert failed["pass^1"].value == 0.5


def test_a_status_alone_is_a_verdict(tmp_path: Path) -> None:
    run = judged(
        tmp_path, {"status": "success", "scores": {"tone": 0.3}}, {"status": "failed", "scores": {"tone": 0.1}}
    )
    assert run["pass^1"].value == 0.5
    assert not [note for note in run.notes if "'status'" in note]
    several = judged(tmp_path, *({"status": "success", "a_score": a, "b_score": 1 - a} for a in (0, 1)))
    assert "pass^1" not in several.scores


@pytest.mark.parametrize(
    ("name", "yes", "no", "word"),
    [
        ("feedback.task_success", "1.0", "0.0", "success"),
        ("goal_matched", 1.0, 0.0, "success"),
        ("goal", 1, 0, "success"),
        ("goal_state", 1, 0, "passed"),
        ("is_ok", True, False, "resolved"),
    ],
)
def test_a_status_that_hardly_varies_gives_way_to_a_field_that_judges(
    name: str, yes: Any, no: Any, word: str, tmp_path: Path
) -> None:
    records = [{"status": word, name: value} for value in (yes,) * 14 + (no,) * 6]
    run = judged(tmp_path, *records)
    assert run["pass^1"].value == 0.7
    [told] = [note for note in run.notes if note.startswith("'status' says success of every conversation, and is not")]
    assert told.endswith(f"whether one passed is read from '{name}'")
    for ended in ("timeout", "failed"):
        run = judged(tmp_path, *records[:-1], {"status": ended, name: no})
        assert run["pass^1"].value == 0.7 and run.coverage.complete
        assert [note for note in run.notes if note.startswith("'status' says success of 19 of 20 conversations")]


@pytest.mark.parametrize("name", ["goal_id", "pass_number", "matchIndex", "retries"])
def test_a_number_that_judges_nothing_does_not_outrank_a_status(name: str, tmp_path: Path) -> None:
    run = judged(tmp_path, *({"status": "success", name: value} for value in (1, 0)))
    assert run["pass^1"].value == 1.0


def test_two_fields_that_judge_are_both_named_beside_a_status(tmp_path: Path) -> None:
    records = [{"status": "success", "goal_met": n % 2, "db_match": n // 2} for n in range(4)]
    run = judged(tmp_path, *records)
    [told] = [note for note in run.notes if note.startswith("CHECK THE VERDICT")]
    assert run["pass^1"].value == 1.0 and "'goal_met' is no in 2 conversations, 'db_match' is no in 2" in told
    named = judged(tmp_path, *({**record, "task_success": n // 3} for n, record in enumerate(records)))
    assert named["pass^1"].value == 0.25


def test_a_status_that_varies_is_a_verdict_beside_a_field_that_judges(tmp_path: Path) -> None:
    run = judged(tmp_path, *({"status": status, "goal": 1} for status in ("passed", "failed")))
    assert run["pass^1"].value == 0.5


def test_a_status_of_success_everywhere_and_nothing_else_is_doubted(tmp_path: Path) -> None:
    def doubts(*records: dict[str, Any]) -> list[str]:
        return [note for note in judged(tmp_path, *records).notes if note.startswith("CHECK THE VERDICT")]

    [told] = doubts(*[{"status": "success"}] * 3)
    assert told.startswith("CHECK THE VERDICT: 'status' says success of every conversation, and nothing else judges")
    [told] = doubts(*[{"status": "success"}] * 3, {"status": "error"})
    assert "'status' says success of 3 of 4 conversations" in told
    assert not doubts({"status": "success"}, {"status": "failed"})
    assert not doubts({"status": "success", "success": True}, {"status": "success", "success": True})


@pytest.mark.parametrize(
    "name",
    ["needs_review", "aborted", "flagged", "gave_up", "handoff", "loop_detected", "off_topic", "polite", "happy"],
)
def test_a_flag_whose_name_says_no_success_is_no_verdict(name: str, tmp_path: Path) -> None:
    records = [{"scores": {name: True}}, {"scores": {name: False}}]
    run = judged(tmp_path, *records)
    assert "pass^1" not in run.scores and run[f"Score[{name}]"].value == 0.5
    assert [note for note in run.notes if f"'{name}' is not read as a verdict" in note and f"pass^1[{name}]" in note]
    beside = judged(tmp_path, *({"status": "success", **record} for record in records))
    assert beside["pass^1"].value == 1.0


def test_rewards_in_objects_and_costs_in_dollars(tmp_path: Path) -> None:
    assert judged(tmp_path, {"reward_info": {"reward": 1.0}}, {"reward_info": {"reward": 0.0}})["pass^1"].value == 0.5
    assert judged(tmp_path, {"score": {"value": 1}}, {"score": {"value": 0}})["pass^1"].value == 0.5
    run = judged(tmp_path, {"success": True, "cost": "$0.04"}, {"success": True, "cost": "0.06 USD"})
    assert run["Cost"].value == pytest.approx(0.05)


@pytest.mark.parametrize("record", [{"status": "ok"}, {"outcome": "completed"}, {"cost": "cheap"}, {"reward_x": [1]}])
def test_facts_that_say_nothing_are_told(record: dict[str, Any], tmp_path: Path) -> None:
    run = judged(tmp_path, record)
    assert f"fields of the log that are not read: {next(iter(record))}" in run.notes


@pytest.mark.parametrize(
    "record",
    [
        {"task_id": "a", "steps": [{"thought": "Who is it?", "action": "greet"}], "success": True},
        {"task_id": "a", "transcript": "User: hi", "success": True},
    ],
)
def test_a_log_whose_messages_are_not_understood_is_judged_by_its_verdicts(
    record: dict[str, Any], tmp_path: Path
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(record))
    [run] = score_results([path]).runs
    assert run["pass^1"].value == 1.0 and "Turns" not in run.scores
    assert f"fields of the log that are not read: {list(record)[1]}" in run.notes
    assert "a conversation has no messages, and counts by what is said of it (once)" in run.notes


@pytest.mark.parametrize(
    "record",
    [{"task_id": "a", "steps": [{"thought": "Who is it?", "action": "greet"}]}, {"task_id": "a", "log": "User: hi"}],
)
def test_a_log_without_messages_and_verdicts_is_refused_with_a_line_that_is_read(
    record: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps(record))
    outcome = command(capsys, "tasks", "score", path)
    assert outcome.code == 2
    path.write_text(outcome.err.strip().splitlines()[-1].strip())
    assert score_results([path])[0]["pass^1"].value == 1.0


@pytest.mark.parametrize(
    ("name", "values", "passed"),
    [
        ("success", [100, 0, 0, 100], 0.5),
        ("passed", [100.0, 0.0], 0.5),
        ("resolved", ["100", "0"], 0.5),
        ("success", [1, -1, 1, 1], 0.75),
        ("passed", [3, 1, 1], None),
        ("correct", [5, 0], None),
        ("success", [1.0, 0.5], None),
        ("success", [100, 50, 0], None),
        ("success", [True, "true", 1, "1", "0", "no", 0, False], 0.5),
        ("success", [True, False, 0.9, 1], 0.5),
        ("verdict", ["passed", "not passed", "not_passed", "failed"], 0.25),
        ("verdict", [1, 0], 0.5),
    ],
)
def test_numbers_are_verdicts_only_where_all_of_them_are(
    name: str, values: list[Any], passed: float | None, tmp_path: Path
) -> None:
    run = judged(tmp_path, *({name: value} for value in values))
    assert (run["pass^1"].value if "pass^1" in run.scores else None) == passed


def test_what_passes_is_told_where_it_is_no_usual_number(tmp_path: Path) -> None:
    run = judged(tmp_path, {"success": 100}, {"success": 0})
    assert "a conversation passed where the score 'success' is 100: it is 0 or 100 in all of them" in run.notes


@pytest.mark.parametrize("name", ["success", "verdict"])
def test_what_is_neither_yes_nor_no_is_not_judged_and_named(name: str, tmp_path: Path) -> None:
    run = judged(tmp_path, {name: "passed"}, {name: "failed"}, {name: "unsure"}, {name: "unsure"})
    assert (run["pass^1"].value, run.details["not_judged"]) == (0.5, 2)
    assert f"not judged: '{name}' is neither yes nor no in 2 conversations (unsure 2)" in run.notes


@pytest.mark.parametrize(
    ("records", "passed", "told"),
    [
        ([{"outcome": "resolved"}, {"outcome": "escalated"}], 1.0, "not judged: 'outcome' is neither yes nor no in 1 "),
        (
            [{"success": True}, {"success": None}],
            1.0,
            "not judged: 'success' is neither yes nor no in 1 conversation (null",
        ),
        ([{"outcome": 1}, {"outcome": 0}], None, "'outcome' is neither yes nor no in 2 conversations (1 1, 0 1)"),
        ([{"grade": "GOOD"}, {"grade": "BAD"}], None, "('grade' is BAD or GOOD)"),
        ([{"failed": True}, {"failed": False}], 0.5, "a conversation passed where 'failed' is no"),
        ([{"failed": 1}, {"failed": 0}], None, "say in 'success' (true or false) how each went"),
        ([{"evaluation": "PASS"}, {"evaluation": "FAIL"}], 0.5, ""),
        ([{"judge": {"verdict": "yes"}}, {"judge": {"verdict": "no"}}], 0.5, "read from 'judge.verdict'"),
        ([{"final_verdict": "yes"}, {"final_verdict": "no"}], 0.5, "read from 'final_verdict'"),
        ([{"safety_verdict": "yes"}, {"safety_verdict": "yes"}], None, "not read: safety_verdict"),
    ],
)
def test_what_stands_where_a_verdict_should_is_read_or_named(
    records: list[dict[str, Any]], passed: float | None, told: str, tmp_path: Path
) -> None:
    run = judged(tmp_path, *records)
    assert (run["pass^1"].value if "pass^1" in run.scores else None) == passed
    assert any(told in note for note in run.notes)
    assert passed is None or not any("not read" in note for note in run.notes)


def test_conversations_numbered_throughout_are_trials_of_their_tasks(tmp_path: Path) -> None:
    records = [{"task_id": str(number // 2), "run": number, "success": True} for number in range(8)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert run.details["planned"]["trials"] == 2 and "pass^2" in run.scores


@pytest.mark.parametrize("record", [{"scores": {"hallucinated": True}}, {"toxicity_score": 1}, {"is_harmful_grade": 1}])
def test_a_score_whose_name_is_bad_is_no_success(record: dict[str, Any], tmp_path: Path) -> None:
    assert "pass^1" not in judged(tmp_path, record, record).scores


def test_conversations_of_several_models_are_no_trials_of_one(tmp_path: Path) -> None:
    records = [{"task_id": "t", "metadata": {"model": model}, "success": True} for model in "aab"]
    with pytest.raises(DialgaugeError, match=r"log\.jsonl: it has conversations of 2 models \(a 2, b 1\).*file of its"):
        score_results([log(tmp_path, *records)])
    numbered = [{"task_id": "t", "trial": 0, "model": model, "success": True} for model in "ab"]
    with pytest.raises(DialgaugeError, match=r"Keep conversations of each model \(a, b\) in a file of its own"):
        score_results([log(tmp_path, *numbered)])
    assert (
        score_results([log(tmp_path, *({**record, "agent_model": "x"} for record in records))])[0]["pass^1"].value == 1
    )


@pytest.mark.parametrize(
    "words", [["compare", "a.csv", "b.csv"], ["tasks", "score", "a.csv", "b.csv"], ["review", "a.csv"]], ids=" ".join
)
def test_a_table_of_results_under_unknown_names_is_refused_alike_by_every_command(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "b.csv"):
        Path(name).write_text("Aufgabe;Durchlauf;Erfolg\nx;1;nein\nx;2;ja\ny;1;ja\ny;2;ja\n")
    alone = command(capsys, "tasks", "score", "a.csv")
    outcome = command(capsys, *words)
    assert outcome.code == alone.code == 2
    assert outcome.err == alone.err
    with pytest.raises(DialgaugeError, match="no known format of agents' logs fits it"):
        compare(["a.csv", "b.csv"])


def test_a_log_in_another_encoding_is_told_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = log(tmp_path, {"success": True})
    path.write_text(path.read_text(), encoding="utf-16")
    outcome = command(capsys, "tasks", "score", path)
    assert outcome.code == 2 and "it is UTF-16 text; save it as UTF-8" in " ".join(outcome.err.split())


def test_a_log_that_is_not_held_in_memory_is_stored_the_same_by_the_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    call = {"role": "assistant", "tool_calls": [{"id": "c", "name": "look", "arguments": {"q": "ä" * 50}}]}
    talk = [*TALK, call, {"role": "tool", "tool_call_id": "c", "content": "found " * 50}, TALK[1]]
    path = log(tmp_path, *({"task_id": f"t{number}", "messages": talk, "success": True} for number in range(40)))
    stored = []
    for name, held, piece in (("whole", 1 << 40, 1 << 40), ("pieces", 1000, 900)):
        monkeypatch.setattr("dialgauge.formats.held.MOST_HELD", held)
        monkeypatch.setattr("dialgauge.runs.tables._PIECE_BYTES", piece)
        [run] = score_results([path]).runs
        stored.append(Store(tmp_path / name).add(run))
    one, other = stored
    assert one.manifest.corpus == other.manifest.corpus and one.tables["calls"].rows == 40
    for table in one.tables:
        assert one.table(table).equals(other.table(table)), table


@pytest.mark.parametrize(
    "name", ["test_case", "testCase", "case", "test_name", "scenario_name", "group_id", "tags.test_case", "tags.case"]
)
@pytest.mark.parametrize("numbered", [True, False])
def test_a_task_has_many_names(name: str, numbered: bool, tmp_path: Path) -> None:
    verdicts = [("a", 0, True), ("a", 1, False), ("b", 0, True), ("b", 1, True)]
    records: list[dict[str, Any]] = []
    for task, trial, passed in verdicts:
        *outer, inner = name.split(".")
        told = {
            inner: task,
            **({"iteration": str(trial)} if numbered else {}),
            "outcome": "resolved" if passed else "no",
        }
        records.append({"id": f"c{len(records)}", **({outer[0]: told} if outer else told)})
    [run] = score_results([log(tmp_path, *records)]).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.75, 0.5)


def test_groups_of_an_experiment_are_no_tasks(tmp_path: Path) -> None:
    records = [{"id": f"c{place}", "group_id": "ab"[place % 2], "success": True} for place in range(6)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert "pass^2" not in run.scores


def test_trials_with_numbers_and_without_a_task_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    records = [{"what": "ab"[place // 2], "attempt": place % 2, "success": True} for place in range(4)]
    outcome = command(capsys, "tasks", "score", log(tmp_path, *records), "--resamples", 0)
    assert "trials have numbers (0, 1), and no task was found" in " ".join((outcome.out + outcome.err).split())


@pytest.mark.parametrize("numbered", [True, False])
def test_tasks_of_different_domains_are_different_tasks(numbered: bool, tmp_path: Path) -> None:
    verdicts = [("retail", True), ("airline", False), ("retail", True), ("airline", True)]
    records = [
        {"task_id": 0, "domain": domain, "success": passed, **({"trial": place // 2} if numbered else {})}
        for place, (domain, passed) in enumerate(verdicts)
    ]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.75, 0.5)
    assert {name: told["tasks"] for name, told in run.details["domains"].items()} == {"retail": 1, "airline": 1}


@pytest.mark.parametrize("domains", [("", "shop", ""), ("shop", "", "shop"), ("", "", "shop")])
def test_a_trial_that_names_no_domain_is_one_of_its_task(domains: tuple[str, ...], tmp_path: Path) -> None:
    records = [{"task_id": 0, "success": True, **({"domain": domain} if domain else {})} for domain in domains]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert run["pass^3"].value == 1


def test_a_trial_that_is_there_twice_is_told_as_such(tmp_path: Path) -> None:
    records = [{"task_id": 7, "trial": 1, "success": True}] * 2
    with pytest.raises(DialgaugeError, match=r"two conversations of the task '7' with the number 1 of a trial"):
        score_results([log(tmp_path, *records)])


@pytest.mark.parametrize(
    ("yes", "no", "passed"),
    [
        ({"status": "success", "judge": {"passed": True}}, {"status": "success", "judge": {"passed": False}}, 0.5),
        ({"judge": {"passed": True}}, {"judge": {"passed": False}}, 0.5),
        ({"result": "success", "human_label": "pass"}, {"result": "success", "human_label": "fail"}, 0.5),
        ({"result": "success", "human_label": 1}, {"result": "success", "human_label": 0}, 0.5),
        ({"result": "success", "review": {"ok": True}}, {"result": "success", "review": {"ok": False}}, 0.5),
        ({"result": "success", "order": 1}, {"result": "success", "order": 0}, 1.0),
        ({"success": True, "eval": {"passed": True}}, {"success": True, "eval": {"passed": False}}, 0.5),
        ({"success": True, "evaluation": {"success": 1}}, {"success": True, "evaluation": {"success": 0}}, 0.5),
        ({"success": True, "judge": {"passed": True}}, {"success": True, "judge": {"passed": False}}, 0.5),
        ({"Passed": "Y"}, {"Passed": "N"}, 0.5),
        ({"grade": "PASS"}, {"grade": "FAIL"}, 0.5),
        ({"result": "success", "human_label": "fail"}, {"result": "failed", "human_label": "pass"}, 0.5),
    ],
)
def test_a_success_said_of_every_conversation_gives_way_to_a_judgement(
    yes: dict[str, Any], no: dict[str, Any], passed: float, tmp_path: Path
) -> None:
    [run] = score_results([log(tmp_path, {"task_id": "a", **yes}, {"task_id": "b", **no})]).runs
    assert run["pass^1"].value == passed


def test_a_success_that_varies_counts_before_an_evaluation_and_the_contradiction_is_told(tmp_path: Path) -> None:
    said = [(True, True), (True, False), (False, True), (False, False)]
    run = judged(tmp_path, *({"success": success, "eval": {"success": other}} for success, other in said))
    assert run["pass^1"].value == 0.5
    [told] = [note for note in run.notes if "contradict" in note]
    assert told == "'success' and 'eval.success' contradict each other in 2 conversations: 'success' counts"


@pytest.mark.parametrize(
    "beside", [("human_label", "pass", "fail"), ("handled", True, False), ("reward", 1, 0), ("score", 1, 0)]
)
def test_a_success_of_every_conversation_is_doubted_where_something_beside_it_is_no(
    beside: tuple[str, Any, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name, *values = beside
    path = log(tmp_path, *({"task_id": str(value), "success": True, name: value} for value in values))
    outcome = command(capsys, "tasks", "score", path, "--resamples", 0)
    told = " ".join((outcome.out + outcome.err).split())
    assert f"CHECK THE VERDICT: 'success' says success of every conversation, while '{name}' is no in 1" in told
    assert score_results([path]).runs[0].notes[0].startswith("CHECK THE VERDICT")


@pytest.mark.parametrize(
    ("name", "beside", "trials"), [("baseline", {}, 1), ("testCases", {"name": "a"}, 2), ("t", {"trial": 0}, 2)]
)
def test_the_name_of_the_only_list_is_no_task(name: str, beside: dict[str, Any], trials: int, tmp_path: Path) -> None:
    records = [{"messages": TALK, "success": True, **beside} for _ in range(2)]
    if "trial" in beside:
        records[1]["trial"] = 1
    (tmp_path / "log.json").write_text(json.dumps({name: records}))
    [run] = score_results([tmp_path / "log.json"]).runs
    assert ("pass^2" in run.scores) is (trials == 2)


@pytest.mark.parametrize("header", ["Task,Trial,Turn,Speaker,Text,Result", "task,trial,turn,SPEAKER,text,result"])
def test_headings_of_a_table_may_have_capitals(header: str, tmp_path: Path) -> None:
    rows = [f"{task},{trial},{turn}" for task in "12" for trial in "01" for turn in (",Customer,hi,", ",Agent,bye,no")]
    (tmp_path / "log.csv").write_text("\n".join([header, *(row.replace(",,", ",0,", 1) for row in rows)]))
    [run] = score_results([tmp_path / "log.csv"]).runs
    assert run["pass^2"].value == 0 and run["Turns"].value == 2


def test_letters_of_graders_are_verdicts_where_there_are_no_others(tmp_path: Path) -> None:
    def scored(*letters: str) -> Any:
        records = [{"id": f"c{place}", "scores": {"qa": {"value": one}}} for place, one in enumerate(letters)]
        return score_results([log(tmp_path, *records)]).runs[0].scores

    assert scored("C", "I", "C", "C")["pass^1"].value == 0.75
    assert "pass^1" not in scored("C", "I", "B")


def test_a_log_alone_that_looks_like_predictions_is_told_what_a_log_has(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = {"dialogue_id": "d", "turn": 0, "state": {"hotel-area": "north"}}
    (tmp_path / "p.jsonl").write_text(json.dumps(record))
    outcome = command(capsys, "tasks", "score", tmp_path / "p.jsonl")
    told = " ".join(outcome.err.split())
    assert outcome.code == 2
    assert told.index("a file alone must be a log of an agent, and it is in the format") < told.index("give the gold")
    weave = {"id": "d-0", "inputs": {"turn": 0}, "output": {"output": {"messages": TALK}, "scores": {"x": {"y": 1}}}}
    (tmp_path / "p.jsonl").write_text(json.dumps(weave | {"turn": 0, "pred": {"hotel-area": "north"}}))
    told = " ".join(command(capsys, "tasks", "score", tmp_path / "p.jsonl").err.split())
    assert "in the format predictions" not in told


def test_promptfoo_with_variables_and_tables_with_ids_are_logs(tmp_path: Path) -> None:
    results = [
        {"promptIdx": 0, "testIdx": test, "vars": {"task": "t", "q": "hi"}, "prompt": {"raw": "hi", "label": "p"},
         "response": {"output": "hello"}, "success": test == 0}
        for test in (0, 0, 1, 1)
    ]  # fmt: skip
    (tmp_path / "p.json").write_text(json.dumps({"version": 3, "results": {"results": results}}))
    head, talk = "Conversation,Task,Trial,Turn,Speaker,Text,Result\n", ("0,Customer,hi,", "1,Agent,bye,pass")
    rows = [f"{task}-{trial},{task},{trial},{said}" for task in "12" for trial in "12" for said in talk]
    (tmp_path / "t.csv").write_text(head + "\n".join(rows))
    assert score_results([tmp_path / "p.json"])[0]["pass^2"].value == 0.5
    assert score_results([tmp_path / "t.csv"])[0]["pass^2"].value == 1


def test_amounts_are_listed_with_one_comma(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcome = command(capsys, "tasks", "score", log(tmp_path, {"id": "a"}, {"id": "b"}), "--resamples", 0)
    assert "where lower is better, " in " ".join(outcome.out.split()) and ",," not in outcome.out


def test_an_index_that_repeats_is_that_of_a_task(tmp_path: Path) -> None:
    records = [{"index": n % 2, "success": success} for n, success in enumerate((True, False, True, True))]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.75, 0.5)
    named = judged(tmp_path, *records)  # with ids
    assert named["pass^1"].value == 0.75 and "pass^2" not in named.scores


@pytest.mark.parametrize("orient", ["split", "columns", "records"])
def test_tables_by_columns_are_logs(orient: Any, tmp_path: Path) -> None:
    import pandas

    records = [{"task_id": "t", "trial": n, "messages": TALK, "success": n == 0} for n in range(2)]
    path = tmp_path / "log.json"
    pandas.DataFrame(records).to_json(path, orient=orient)
    assert score_results([path]).runs[0]["pass^1"].value == 0.5


def test_promptfoo_repeats_a_test_under_another_number_and_shares_the_prompt(tmp_path: Path) -> None:
    tests: list[dict[str, Any]] = [
        {"description": "refund", "vars": {"q": "a refund"}, "assert": [{"value": 1}]},
        {"description": "refund", "vars": {"q": "a refund"}, "assert": [{"value": 2}]},
        {"vars": {"q": "a flight"}},
    ]
    results = [
        {"promptIdx": 0, "testIdx": 2 * number + again, "promptId": "p1", "testCase": test, "vars": test["vars"],
         "prompt": {"raw": "{{q}}", "label": "p"}, "response": {"output": "ok"}, "success": bool(number or again)}
        for number, test in enumerate(tests) for again in range(2)
    ]  # fmt: skip
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 3, "results": {"results": results}}))
    run = score_results([path]).runs[0]
    assert run["pass^1"].value == pytest.approx(5 / 6)
    assert run["pass^2"].value == pytest.approx(2 / 3)
    assert any("results of promptfoo of one test" in note for note in run.notes)


def test_what_a_report_of_swe_bench_did_not_run_is_missing(tmp_path: Path) -> None:
    report = {
        "total_instances": 5, "submitted_ids": ["a", "b", "c"], "resolved_ids": ["a"], "unresolved_ids": ["b"],
        "empty_patch_ids": ["c"], "incomplete_ids": ["d"],
    }  # fmt: skip
    (tmp_path / "report.json").write_text(json.dumps(report))
    [run] = score_results([tmp_path / "report.json"]).runs
    assert run["pass^1"].value == pytest.approx(1 / 3)
    assert trials_sentence(run).startswith("INCOMPLETE") and "1 task never begun" in trials_sentence(run)


@pytest.mark.parametrize("inside", [False, True])
def test_what_a_file_says_of_its_plan_is_kept(inside: bool, tmp_path: Path) -> None:
    results = [{"task_id": task, "trial": trial, "success": True, "n_tasks": 9} for task in "ab" for trial in range(2)]
    plan = {"num_trials": 2, "num_tasks": 3}
    planned = {**({"config": plan} if inside else plan), "results": results}
    (tmp_path / "log.json").write_text(json.dumps(planned))
    [run] = score_results([tmp_path / "log.json"]).runs
    assert trials_sentence(run).startswith("INCOMPLETE: 4 of 6 conversations scored (3 tasks x 2 trials planned)")


@pytest.mark.parametrize(
    ("second", "numbered"),
    [("task_index", False), ("problem_id", True), ("task_index", True), ("scenario", False), ("index", False)],
)
def test_a_domain_and_what_names_a_task_of_it_are_the_task_together(
    second: str, numbered: bool, tmp_path: Path
) -> None:
    records = [
        {"task": "airline", second: f"t{task}", "success": task != 1 or trial == 0}
        | ({"trial": trial} if numbered else {})
        for trial in range(2)
        for task in range(2)
    ]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.75, 0.5)
    assert any(f"'{second}' differs between conversations of one task" in note for note in run.notes)


def test_a_number_of_a_task_comes_before_what_may_number_rows(tmp_path: Path) -> None:
    records = [{"task": "a", "sample_id": n % 2, "task_index": n // 2, "success": n > 1} for n in range(4)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert run["pass^2"].value == 0.5
    assert any("'task_index' differs between conversations of one task" in note for note in run.notes)


def test_what_may_number_rows_leaves_trials_as_they_are_and_is_told(tmp_path: Path) -> None:
    records = [{"task": f"t{n % 2}", "sample_id": n, "success": n > 0} for n in range(4)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert run["pass^2"].value == 0.5
    assert any("'sample_id' differs between all conversations of one task" in note for note in run.notes)
    same = [{"task": f"t{n % 2}", "task_index": n % 2, "success": n > 0} for n in range(4)]
    [run] = score_results([log(tmp_path, *same, name="same")]).runs
    assert run["pass^2"].value == 0.5 and not any("differs between" in note for note in run.notes)


def test_a_record_that_is_there_twice_is_a_further_trial(tmp_path: Path) -> None:
    records = [{"id": f"r{n}", "task": f"t{n % 2}", "success": n > 0, "messages": TALK} for n in range(4)]
    [run] = score_results([log(tmp_path, *records, records[0], records[2])]).runs
    assert len(run.table("trials")) == 6
    assert any(note.startswith("conversations that are word for word another one") for note in run.notes)


def test_an_id_that_all_trials_of_a_task_have_is_that_of_the_task(tmp_path: Path) -> None:
    records = [{"id": n % 2, "task": f"t{n % 2}", "success": n % 2 == 0} for n in range(4)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert run["pass^2"].value == 0.5


def test_promptfoo_without_prompts_is_a_log(tmp_path: Path) -> None:
    results = [
        {"promptIdx": 0, "testIdx": test, "vars": {"task": "t", "q": "hello, a booking"}, "success": test == 0,
         "response": {"output": "Done."}}
        for test in range(2)
    ]  # fmt: skip
    path = tmp_path / "log.json"
    path.write_text(json.dumps({"version": 3, "results": {"results": results}}))
    run = score_results([path]).runs[0]
    assert run["pass^1"].value == 0.5
    assert "'vars.q' read as what the user said, as there is no prompt (2 times)" in run.notes


@pytest.mark.parametrize("name", ["variant", "agent_name", "temperature", "file"])
def test_what_may_tell_two_agents_in_one_log_apart_is_told(name: str, tmp_path: Path) -> None:
    records = [{"task_id": task, "success": True, "messages": TALK} for task in ("a", "b") for _ in range(2)]
    if name == "file":
        for agent in ("old", "new"):
            log(tmp_path, *records, name=agent)
        path = tmp_path
    else:
        path = log(tmp_path, *({**record, name: agent} for agent in (1, 2) for record in records))
    [run] = score_results([path]).runs
    [told] = [note for note in run.notes if note.startswith("CHECK THE TRIALS")]
    assert f"'{name}' differs between conversations of one task that are counted as its trials" in told


@pytest.mark.parametrize(
    "field",
    [
        {"version": 1}, {"agent_version": 1}, {"commit": 1}, {"tag": 1}, {"suite": 1}, {"user_model": 1},
        {"agent": {"name": 1}}, {"config": {"temperature": 1}}, {"metadata": {"arm": 1}}, {"run": {"commit": 1}},
    ],
)  # fmt: skip
def test_trials_of_two_agents_are_told_and_end_with_one(
    field: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def named(agent: str) -> dict[str, Any]:
        [(name, value)] = field.items()
        return {name: dict.fromkeys(value, agent) if isinstance(value, dict) else agent}

    records = [{"task_id": task, "success": True, "messages": TALK} for task in ("a", "b") for _ in range(2)]
    path = log(tmp_path, *({**record, **named(agent)} for agent in ("old", "new") for record in records))
    outcome = command(capsys, "tasks", "score", path, "--resamples", 0)
    assert (outcome.code, outcome.err.count("CHECK THE TRIALS")) == (1, 1)
    alone = log(tmp_path, *({**record, **named("old")} for record in records), name="alone")
    outcome = command(capsys, "tasks", "score", alone, "--resamples", 0)
    assert (outcome.code, outcome.err.count("CHECK THE TRIALS")) == (0, 0)


@pytest.mark.parametrize("owner", ["agent", "config", "run", "params", "settings"])
def test_models_in_an_object_that_says_what_ran_are_not_trials_of_one_agent(owner: str, tmp_path: Path) -> None:
    records = [{"task_id": "a", owner: {"model": model}, "success": True, "messages": TALK} for model in ("x", "y")]
    with pytest.raises(DialgaugeError, match=r"conversations of 2 models \(x 1, y 1\)"):
        score_results([log(tmp_path, *records)])
    [run] = score_results([log(tmp_path, *({**record, "agent_model": "z"} for record in records))]).runs
    assert run["pass^2"].value == 1.0


@pytest.mark.parametrize("name", ["{agent}_run{trial}", "{agent}/run_{trial}", "run{trial}/{agent}"])
def test_files_of_two_agents_with_a_run_each_are_told(name: str, tmp_path: Path) -> None:
    records = [{"task_id": task, "success": True, "messages": TALK} for task in ("a", "b")]
    for agent in ("old", "new"):
        for trial in range(2):
            path = tmp_path / f"{name.format(agent=agent, trial=trial)}.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    results = score_results([tmp_path])
    assert not results.trials_stand
    assert sum("'name of the file' differs" in note for note in results.notes) == 1
    for path in tmp_path.rglob("*new*"):
        for file in path.iterdir() if path.is_dir() else [path]:
            file.unlink()
    assert score_results([tmp_path]).trials_stand


def _grown(task: str, trial: int) -> list[list[dict[str, str]]]:
    """A conversation as it was written after each answer."""
    said = [{"role": role, "content": f"{task} {trial} {n}"} for n in range(3) for role in ("user", "assistant")]
    return [said[:2], said[:4], said]


def test_states_of_one_conversation_are_told_and_end_with_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    states = [(task, state) for task in ("a", "b") for trial in range(2) for state in _grown(task, trial)]
    records = [{"task_id": task, "messages": state, "success": len(state) > 4} for task, state in states]
    outcome = command(capsys, "tasks", "score", log(tmp_path, *records), "--resamples", 0)
    assert outcome.code == 1
    assert "CHECK THE TRIALS: 8 of 12 conversations are the beginning of another one of their task" in outcome.err
    last = log(tmp_path, *(record for record in records if record["success"]), name="last")
    assert score_results([last]).trials_stand


def test_a_conversation_that_broke_off_is_no_state_of_another_one(tmp_path: Path) -> None:
    records = [{"task_id": "a", "messages": [*TALK, {"role": "user", "content": str(n)}]} for n in range(4)]
    path = log(tmp_path, *({**record, "success": True} for record in [{"task_id": "a", "messages": TALK}, *records]))
    assert score_results([path]).trials_stand


def test_errors_that_count_as_failed_are_told(tmp_path: Path) -> None:
    records = [{"task_id": "a", "success": n > 1, "error": "" if n else "timed out"} for n in range(4)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert run["pass^1"].value == 0.5
    [told] = [note for note in run.notes if "with an error" in note]
    assert "counted as failed, as the log says so: 1 conversation with an error ('timed out' 1)" in told
    [run] = score_results([log(tmp_path, *records[1:], name="others")]).runs
    assert not [note for note in run.notes if "with an error" in note]


def test_a_trial_that_comes_again_is_told_to_be_kept_once(tmp_path: Path) -> None:
    records = [{"task_id": "a", "trial": 0, "messages": TALK, "success": n == 1} for n in range(2)]
    with pytest.raises(DialgaugeError, match="run again after an error, or written again as it grew, keep the last"):
        score_results([log(tmp_path, *records)])
    with pytest.raises(DialgaugeError, match="costs and tokens are to be added up where each line has only its own"):
        score_results([log(tmp_path, *records)])


def test_results_of_tools_whose_calls_nobody_recorded_count_no_calls(tmp_path: Path) -> None:
    said = [*TALK, {"role": "tool", "content": "{}"}, {"role": "assistant", "content": "done"}]
    records = [{"task_id": "a", "messages": said, "success": True} for _ in range(2)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert "Turns" in run.scores and "ToolCalls" not in run.scores
    [told] = [note for note in run.notes if note.startswith("unknown, ")]
    assert told.endswith(", tool calls (there are only results of tools)")
    made = [{"id": "1", "function": {"name": "f", "arguments": "{}"}}]
    called = {"role": "assistant", "content": None, "tool_calls": made}
    [run] = score_results([log(tmp_path, {**records[0], "messages": [TALK[0], called, *said[1:]]}, name="b")]).runs
    assert run["ToolCalls"].value == 1.0


@pytest.mark.parametrize(
    ("scores", "stray"),
    [([4, 5, -1, 3, -1], "-1 in 2"), ([4, 99, 3], "99 in 1"), ([0, 1, -1], ""), ([80, 99, 60], ""), ([-1, -2, 3], "")],
)
def test_a_number_that_may_say_that_nobody_judged_is_doubted_and_counts(
    scores: list[int], stray: str, tmp_path: Path
) -> None:
    records = [{"task_id": f"t{n}", "score": score} for n, score in enumerate(scores)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert run["Score[score]"].value == pytest.approx(np.mean(scores))
    assert any(note.startswith(f"'score' is {stray} conversation") for note in run.notes) is bool(stray)
    assert any("if that says that nobody judged" in note for note in run.notes) is bool(stray)


@pytest.mark.parametrize(
    ("of_message", "beside", "calls"),
    [
        ({"tool_used": "f"}, {}, 1.0),
        ({"toolsUsed": ["f", "g"]}, {}, 2.0),
        ({"tool_calls": '[{"id": "1", "function": {"name": "f", "arguments": "{}"}}]'}, {}, 1.0),
        ({"tool_calls": "[{'name': 'f', 'arguments': {}}, {'name': 'g', 'arguments': None}]"}, {}, 2.0),
        ({"tool_calls": "f, g"}, {}, 2.0),
        ({"tool_calls": ["f"]}, {}, 1.0),
        ({"tool_calls": "[]"}, {}, 0.0),
        ({"tool_calls": "[ToolCall(id='1', name='f')]"}, {}, None),
        ({"tool_calls": "2"}, {}, None),
        ({"tools_used": "[{'name': 'f', 'args': {}}]"}, {}, 1.0),
        ({"tool_log": "f({})"}, {}, None),
        ({"tools": ["f"]}, {}, None),
        ({"tool_used": "none"}, {}, 0.0),
        ({"tools": [{"name": "f", "description": "finds", "parameters": {"type": "object"}}]}, {}, None),
        ({}, {"tool_calls": [{"name": "f", "args": {}}]}, None),
        ({}, {"tool_calls": 0}, 0.0),
        ({}, {"expected_tools": ["f"]}, 0.0),
        ({"mood": "calm", "sent_at": "noon", "messageId": 7}, {}, 0.0),
    ],
)
def test_what_may_be_calls_and_is_not_read_leaves_their_number_unknown(
    of_message: dict[str, Any], beside: dict[str, Any], calls: float | None, tmp_path: Path
) -> None:
    said = [TALK[0], {**TALK[1], **of_message}]
    [run] = score_results([log(tmp_path, {"task_id": "a", "messages": said, "success": True, **beside})]).runs
    assert (run["ToolCalls"].value if "ToolCalls" in run.scores else None) == calls
    named = next(iter({**of_message, **beside}))
    assert any(f"tool calls ('{named}' may hold them)" in note for note in run.notes) is (calls is None)
    unread = [note for note in run.notes if note.startswith("fields of messages that are not read")]
    told = (calls is None and not beside) or named == "mood"
    assert unread == ([f"fields of messages that are not read: {named}"] if told else [])


def test_ids_that_a_program_drew_name_no_tasks(tmp_path: Path) -> None:
    records = [{"id": f"{n:04d}3e8{part}-aaaa", "messages": TALK, "success": True} for n in range(2) for part in "abcd"]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert not [note for note in run.notes if note.startswith(_REPEATED)]


@pytest.mark.parametrize(
    ("header", "row"),
    [
        ("Task,Trial,Verdict,Comment", "a,{trial},{word},"),
        ("task,trial,Result", "a,{trial},{word}"),
        ("task_id,Outcome", "a,{word}"),
        ("task_id,messages,success", "a,[],{word}"),
    ],
)
def test_tables_of_verdicts_alone_are_logs(header: str, row: str, tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    rows = [row.format(trial=trial, word="fail" if trial else "pass") for trial in range(4)]
    path.write_text("\n".join([header, *rows, ""]))
    assert are_results([path])
    [run] = score_results([path]).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.25, 0.0)


_REPEATED = "each conversation counts as a task of its own, and "


@pytest.mark.parametrize(
    ("field", "told"),
    [
        ("name", "'name' repeats: if it names the task, call it 'task_id'"),
        ("persona", "'persona' repeats"),
        ("scenario_description", "'scenario_description' repeats"),
        ("instruction", "the instruction repeats"),
        ("messages", "what the user says first repeats"),
        ("id", "ids repeat but for their numbers ('0_refund'): if the rest names the task, call it 'task_id'"),
    ],
)
def test_what_may_name_the_tasks_is_told_where_nothing_does(field: str, told: str, tmp_path: Path) -> None:
    def record(task: str, trial: int) -> dict[str, Any]:
        named = {"id": f"{trial}_{task}", "messages": [{"role": "user", "content": task}, TALK[1]]}.get(field, task)
        return {"id": f"x{ord(task[0]) * 10 + trial}", "messages": TALK, "success": trial > 0, field: named}

    records = [record(task, trial) for trial in range(2) for task in ("refund", "cancel", "book")]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert next(note.removeprefix(_REPEATED) for note in run.notes if note.startswith(_REPEATED)).startswith(told)
    [run] = score_results([log(tmp_path, *({**each, "task_id": each["id"]} for each in records), name="named")]).runs
    assert not [note for note in run.notes if note.startswith(_REPEATED)]


def test_a_field_that_differs_with_each_trial_tells_no_agents_apart(tmp_path: Path) -> None:
    records = [{"task_id": task, "success": True, "run_name": f"r{n}"} for task in ("a", "b") for n in range(2)]
    [run] = score_results([log(tmp_path, *records)]).runs
    assert not [note for note in run.notes if note.startswith("CHECK THE TRIALS")]
    assert "conversations that are word for word another one of their task (2 times)" in run.notes


def test_ids_are_the_same_as_whole_numbers_and_as_texts(tmp_path: Path) -> None:
    [run] = score_results([log(tmp_path, *({"task_id": task, "success": True} for task in (0, "0", 0.0)))]).runs
    assert run["pass^3"].value == 1.0


def test_a_field_that_splits_all_trials_alike_is_named(tmp_path: Path) -> None:
    def scored(**fields: Any) -> list[str]:
        records = [
            {"task_id": task, "success": day > 0, "messages": [{"role": "user", "content": f"{task}{day}{n}"}, TALK[1]],
             **{name: values[day] for name, values in fields.items()}}
            for task in ("a", "b") for day in (0, 1) for n in range(2)
        ]  # fmt: skip
        return list(map(str, score_results([log(tmp_path, *records)]).runs[0].notes))

    told = "'date' splits the trials of every task alike (mon 4, tue 4)"
    assert [note for note in scored(date=("mon", "tue")) if note.startswith(told)]
    assert not [note for note in scored(date=("mon", "mon")) if "splits" in note]
    assert [note for note in scored(lang=("en", "de")) if note.startswith("CHECK THE TRIALS: 'lang' differs")]


def test_what_may_be_the_verdict_is_named_where_there_is_none(tmp_path: Path) -> None:
    records = [{"task_id": f"t{n}", "crashed": n > 2, "checks": {"db": n % 2}, "steps": n} for n in range(9)]
    [run] = score_results([log(tmp_path, *records)]).runs
    told = next(note for note in run.notes if note.startswith("no conversation is judged"))
    assert "with two values and not read: 'crashed' (true 6, false 3), 'checks.db' (0 5, 1 4); where one" in told


def test_a_verdict_that_somebody_set_right_is_told(tmp_path: Path) -> None:
    records = [{"task_id": f"t{n}", "success": True, **({"human_override": False} if n else {})} for n in range(2)]
    records[1]["success"] = False
    records.append({"task_id": "t2", "success": True, "human_override": False})
    [run] = score_results([log(tmp_path, *records)]).runs
    told = "'success' and 'human_override' contradict each other in 1 conversation: 'success' counts"
    assert told in run.notes


def test_numbers_at_the_end_of_the_names_of_tasks_may_be_trials(tmp_path: Path) -> None:
    def notes(*ids: str) -> list[str]:
        [run] = score_results([log(tmp_path, *({"sample_id": name, "success": True} for name in ids))]).runs
        return [note for note in run.notes if "that of a trial" in note]

    assert notes(*(f"{task}.{n}" for task in ("book", "cancel", "refund") for n in range(2)))
    assert not notes("math.7", "math.12", "code.3")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", "task,run,ann,bob\nbuy,1,yes,no\n"),
        ("a.xml", "<runs><run>buy went well</run></runs>"),
        ("a.bin", "\0\1\2"),
        ("a.json", '[["buy", 0, true]]'),
    ],
)
def test_other_files_are_told_what_to_write(
    name: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(content)
    outcome = command(capsys, "tasks", "score", tmp_path / name)
    assert outcome.code == 2
    (tmp_path / "log.jsonl").write_text(outcome.err.strip().splitlines()[-1].strip())
    assert score_results([tmp_path / "log.jsonl"])[0]["pass^1"].value == 1.0


def test_a_file_of_a_folder_that_is_no_log_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log(tmp_path, {"task_id": "a", "success": True})
    (tmp_path / "metrics.json").write_text('{"pass_rate": 0.5}')
    outcome = command(capsys, "tasks", "score", tmp_path)
    assert outcome.code == 2
    assert "metrics.json: no known format of agents' logs fits it; name the logs alone" in " ".join(outcome.err.split())


def test_results_that_a_report_lists_come_before_what_sums_them_up(tmp_path: Path) -> None:
    rows = [
        {"id": f"{task}{n}", "trial_name": f"{task}.{n}", "task_id": task, "is_resolved": n > 0, "instruction": "do"}
        for task in "ab"
        for n in range(2)
    ]
    report = {"id": "r1", "results": rows, "accuracy": 0.5, "resolved_ids": ["a", "b"], "unresolved_ids": ["a", "b"]}
    (tmp_path / "results.json").write_text(json.dumps(report))
    [run] = score_results([tmp_path / "results.json"]).runs
    assert (run["pass^1"].value, run["pass^2"].value) == (0.5, 0.0)


def test_tasks_that_differ_only_in_case_are_told(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("task,trial,success\nBuy,0,true\nbuy,1,false\nsell,0,true\n")
    [run] = score_results([tmp_path / "log.csv"]).runs
    assert any("differ only in case count as several ('Buy' and 'buy')" in str(note) for note in run.notes)


def test_a_title_above_a_table_is_told(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text("Nightly report\ntask,success\nbuy,true\nsell,maybe,x\n")
    with pytest.raises(DialgaugeError, match="line 4: the row has another number of cells"):
        score_results([tmp_path / "log.csv"])
    (tmp_path / "log.csv").write_text("Nightly report\ntask,success\nbuy,true\nsell,false\n")
    [run] = score_results([tmp_path / "log.csv"]).runs
    assert any("above the heading of a table passed over, such as 'Nightly report'" in str(n) for n in run.notes)


@pytest.mark.parametrize(
    ("verdicts", "name", "share", "number"),
    [
        (("pass", "unsure", "fail", "unsure"), "Label[verdict=unsure]", 0.5, 8),
        (("pass", "unsure", "fail", None), "Label[verdict=unsure]", 1 / 3, 6),
        ((True, True, False, None), "Label[tone=rude]", 0.5, 8),
    ],
)
def test_labels_are_shares_of_the_conversations_that_say_how_it_went(
    verdicts: tuple[Any, ...],
    name: str,
    share: float,
    number: int,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows: list[dict[str, Any]] = [
        {"task_id": f"t{n}", "verdict": verdicts[n % 4], "scores": {"tone": "rude" if n % 2 else "kind"}}
        for n in range(8)
    ]
    (tmp_path / "log.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    [run] = score_results([tmp_path / "log.jsonl"]).runs
    assert run[name].value == pytest.approx(share) and run.details["conversations"][name] == number
    outcome = command(capsys, "tasks", "score", tmp_path / "log.jsonl")
    assert f"{name} (n = {number} of 8)" in outcome.out


@pytest.mark.parametrize(
    ("names", "code"),
    [
        (("gpt-4o.jsonl", "claude-sonnet-4.jsonl"), 1),
        (("claude-3.jsonl", "claude-4.jsonl"), 1),
        (("before.jsonl", "after.jsonl"), 1),
        (("retail.jsonl", "airline.jsonl"), 1),
        (("v1.jsonl", "v2.jsonl"), 1),
        (("run_1.jsonl", "run_2.jsonl"), 0),
        (("2026-11-01.jsonl", "2026-11-02.jsonl"), 0),
        (("gpt-4o.run1.jsonl", "gpt-4o.run2.jsonl"), 0),
    ],
)
def test_files_with_one_trial_of_each_task_are_trials_by_their_names(
    names: tuple[str, str], code: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, success in zip(names, (True, False), strict=True):
        rows = [{"task_id": f"t{number}", "success": success} for number in range(3)]
        (tmp_path / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    outcome = command(capsys, "tasks", "score", tmp_path, "--resamples", 0)
    assert (outcome.code, outcome.err.count("CHECK THE TRIALS")) == (code, code)


def test_the_id_of_an_episode_may_hold_task_and_trial(tmp_path: Path) -> None:
    rows = [
        {"episode_id": f"{task}__t{trial}", "messages": TALK, "reward": int(trial < passed)}
        for task, passed in (("lost_bag", 3), ("refund", 1), ("rebook", 0), ("upgrade", 2))
        for trial in range(3)
    ]
    [run] = score_results(log(tmp_path, *rows), resamples=0).runs
    assert run.coverage["tasks"].read == 4
    assert run["pass^2"].value == pytest.approx((1 + 0 + 0 + 1 / 3) / 4)
