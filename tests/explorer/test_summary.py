from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
import polars
import pytest

from dialgauge.comparison import compare_runs
from dialgauge.dialogue import Dialogue, Turn
from dialgauge.explorer import markdown_summary, worst_of
from dialgauge.measures import Count, Coverage, Score, Scores, Signature
from dialgauge.runs import Run, new_run
from dialgauge.tasks import TaskFailure, reasons_table

DIALOGUES = [f"d{number:02}" for number in range(40)]


def made(
    name: str,
    share: float,
    *,
    kind: str = "tracking",
    measure: str = "JGA",
    ids: list[str] = DIALOGUES,
    tables: Mapping[str, polars.DataFrame] | None = None,
    higher: bool = True,
) -> Run:
    den = np.full(len(ids), 6.0)
    num = np.random.default_rng(len(name)).binomial(6, share, size=len(ids)).astype(float)
    score = Score(
        value=float(num.sum() / den.sum()),
        low=0.1,
        high=0.9,
        unit="share",
        higher_is_better=higher,
        lower=0.0,
        upper=1.0,
        signature=Signature(measure=measure, profile="exact").long(),
    )
    count = Count(expected=len(ids), read=len(ids), scored=len(ids), failed=0)
    scores = Scores(
        dialogues=ids, sums={measure: (num, den)}, scores={measure: score}, coverage=Coverage({"dialogues": count})
    )
    corpus = [Dialogue(id=one, turns=(Turn(speaker="user", text="hi"),)) for one in ids]
    return new_run(kind=kind, name=name, scores=scores, corpus=corpus, tables=tables)


def test_three_systems_on_sixty_lines_with_letters_worst_dialogues_and_signatures() -> None:
    runs = [made("augpt", 0.8), made("dots", 0.5), made("low", 0.2)]
    comparison = compare_runs(runs, resamples=300)
    text = markdown_summary(runs, comparison)
    lines = text.splitlines()
    assert len(lines) <= 60
    assert lines[0].startswith("- augpt is ahead of every other system in JGA, of dots by ")
    assert lines[1:3] == ["", "What each run says:"]
    (header,) = [line for line in lines if line.startswith("| system")]
    assert header == "| system | JGA |"
    rows = [line for line in lines if line.startswith(("| augpt", "| dots", "| low"))]
    assert [re.sub(r"[\d., *]|\\\[.*\\\]", "", row) for row in rows] == ["|augpt|a|", "|dots|b|", "|low|c|"]
    assert sum(line.startswith("- low, d") for line in lines) == 3
    assert lines[-1] == "</details>"
    assert "- comparison: dialogues:40\\|test:paired-randomisation" in text
    assert text.endswith("\n")


def test_runs_that_are_not_compared_have_a_table_for_each_kind() -> None:
    runs = [made("one", 0.5), made("two", 0.5, kind="odd", measure="mine"), made("three", 0.4)]
    text = markdown_summary(runs)
    assert text.count("| run |") == 2
    assert "| run | JGA |" in text
    assert "| run | mine |" in text
    assert markdown_summary([]) == "\n"
    bare = new_run(kind="odd", name="bare")
    assert markdown_summary([bare]) == "- **bare** (odd): bare has no scores.\n"


def test_runs_of_one_name_are_told_apart_by_their_ids() -> None:
    runs = [made("same", 0.5), made("same", 0.5)]
    text = markdown_summary(runs)
    assert all(run.id in text for run in runs)


HOSTILE = "<script>alert(1)</script> [x](javascript:1) | `c` @team\n# h"


def test_hostile_names_and_texts_are_text() -> None:
    errors = polars.DataFrame(
        {
            "dialogue": ["<b>1"], "turn": [2], "domain": ["<i>"], "slot": ["|"], "kind": ["wrong"],
            "gold": ["</details>"], "predicted": [HOSTILE],
        }
    )  # fmt: skip
    ids = ["<b>1", *DIALOGUES[1:]]
    runs = [made(HOSTILE, 0.1, ids=ids, tables={"slot_errors": errors}), made("- 1. x", 0.9, ids=ids)]
    text = markdown_summary(runs, compare_runs(runs, resamples=200))
    own = (
        text.replace("<details><summary>Signatures</summary>", "").replace("\n</details>\n", "").replace("<!-- -->", "")
    )
    assert not re.search(r"(?<!\\)[<>`]", own)
    assert not re.search(r"(?<!\\)\[", own)
    assert "@team" not in text
    assert "\n#" not in text
    assert "- - 1" not in text
    assert "\n- \\- 1. x" in text
    for line in text.splitlines():
        if line.startswith("| "):
            assert len(re.findall(r"(?<!\\)\|", line)) == 3


def test_the_worst_dialogues_are_those_of_the_lowest_value_and_say_what_went_wrong() -> None:
    errors = polars.DataFrame(
        {
            "dialogue": ["d01", "d01", "d02"], "turn": [4, 2, 0], "domain": ["hotel", "hotel", "taxi"],
            "slot": ["type", "area", "leave"], "kind": ["missed", "wrong", "spurious"],
            "gold": ["inn", "north", None], "predicted": [None, "south", "noon"],
        }
    )  # fmt: skip
    run = made("x", 0.6, ids=["d01", "d02", "d03"], tables={"slot_errors": errors})
    by_value = {
        name: num / den for name, _, num, den in run.table("dialogue_scores").iter_rows()
    }  # the draw of this test
    worst = worst_of(run, 3)
    values = [by_value[one.dialogue] for one in worst]
    assert values == sorted(values)
    assert all(value < 1 for value in values)
    phrases = {one.dialogue: one.phrase for one in worst}
    assert phrases["d01"] == "first, in turn 2, hotel-area is ‘south’, not ‘north’"
    assert phrases["d02"] == "first, in turn 0, taxi-leave is spurious"
    assert phrases["d03"] == ""


def test_where_less_is_better_the_highest_value_is_the_worst() -> None:
    run = made("x", 0.5, higher=False)
    (one,) = worst_of(run, 1)
    rows = {name: num / den for name, _, num, den in run.table("dialogue_scores").iter_rows()}
    assert rows[one.dialogue] == max(rows.values())


def reasons(*codes: tuple[str, str]) -> dict[str, list[object]]:
    """The columns of the reasons of a taxi, by rule set and code."""
    frame = reasons_table(("a", "taxi", rule, TaskFailure(reason=code)) for rule, code in codes)
    return frame.to_dict(as_series=False)


@pytest.mark.parametrize(
    ("kind", "tables", "phrase"),
    [
        (
            "responses",
            {
                "replies": {
                    "dialogue": ["a", "a"],
                    "turn": [3, 1],
                    "gold": ["g", "g"],
                    "chosen": ["c", ""],
                    "correct": [False] * 2,
                }
            },
            "first, in turn 1, it says nothing instead of ‘g’",
        ),
        (
            "users",
            {"verdicts": {"dialogue": ["a"] * 4, "verdict": ["credited", "missing", "repeated-penalised", "missing"]}},
            "2 missing, 1 repeated-penalised",
        ),
        (
            "tasks",
            {"reasons": reasons(("grounded", "no_responses"), ("mwzeval", "x"))},
            "taxi: the system has no responses for this dialogue",
        ),
        (
            "lab",
            {
                "reasons": reasons(("strict", "no_taxi")),
                "conversations": {"dialogue": ["a"], "reason": ["user_gave_up"]},
            },
            "taxi: no taxi was sent; ended by user_gave_up",
        ),
        ("odd", {}, ""),
    ],
)
def test_what_went_wrong_in_each_family(kind: str, tables: dict[str, dict[str, list[object]]], phrase: str) -> None:
    frames = {name: polars.DataFrame(content) for name, content in tables.items()}
    (one,) = worst_of(made("x", 0.3, kind=kind, ids=["a"], tables=frames), 2)
    assert one.phrase == phrase


def test_the_summary_begins_with_the_verdict_and_says_below_the_table_who_lacks_what() -> None:
    runs = [made("augpt", 0.8), made("dots", 0.5, ids=DIALOGUES[4:])]
    comparison = compare_runs(runs, resamples=300)
    summary = markdown_summary(runs, comparison).replace("\\", "")
    assert summary.startswith(f"- {comparison.verdict}.\n\nWhat each run says:")
    assert "dots lacks 4 of 40 dialogues." in summary.partition("| system |")[2]
    assert "--missing" not in summary
    assert summary.count("test:paired-randomisation") == 1  # the signature, with those of the runs


def test_only_the_first_measures_have_a_column_and_notes_speak_of_these() -> None:
    def several(name: str, share: float) -> Run:
        draw = np.random.default_rng(len(name)).binomial(6, share, size=len(DIALOGUES)).astype(float)
        den = np.full(len(DIALOGUES), 6.0)
        score = Score(value=0.5, unit="share", higher_is_better=True, lower=0.0, upper=1.0)
        measures = {f"M{number}": score for number in range(6)}
        measures["Exchanges"] = Score(value=0.5, unit="exchanges", higher_is_better=False)
        scores = Scores(dialogues=DIALOGUES, sums=dict.fromkeys(measures, (draw, den)), scores=measures)
        return new_run(kind="odd", name=name, scores=scores)

    runs = [several("a", 0.8), several("bb", 0.4)]
    summary = markdown_summary(runs, compare_runs(runs, resamples=200))
    assert "| system | M0 | M1 | M2 | M3 | M4 |" in summary
    assert "Measures not shown: 2." in summary
    assert "Lower is better" not in summary
