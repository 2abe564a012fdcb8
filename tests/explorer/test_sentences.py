from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars
import pytest

from dialgauge.explorer import run_sentences
from dialgauge.measures import Count, Coverage, Score, Scores
from dialgauge.presentation import Glossary, listed, numbers, percent
from dialgauge.runs import Run, new_run
from dialgauge.text import Note
from dialgauge.tracking import score

SHARE = Score(value=0.5, unit="share", higher_is_better=True, lower=0.0, upper=1.0)


def run_of(
    kind: str,
    scores: Mapping[str, Score],
    *,
    name: str = "ours",
    tables: Mapping[str, polars.DataFrame] | None = None,
    coverage: Coverage | None = None,
    details: Mapping[str, object] | None = None,
    notes: Sequence[str] = (),
) -> Run:
    told = Scores(dialogues=(), sums={}, scores=dict(scores), coverage=coverage or Coverage())
    return new_run(kind=kind, name=name, scores=told, tables=tables, details=details, notes=notes)


def test_digits_grow_until_a_number_is_not_printed_as_nothing() -> None:
    assert numbers(SHARE, 0.058, 0.041, 0.075) == ["5.8", "4.1", "7.5"]
    assert numbers(SHARE, 0.01, 0.0004) == ["1.00", "0.04"]
    assert numbers(SHARE, 0.0, None, math.nan) == ["0.0", "undefined", "undefined"]
    assert numbers(SHARE, -1e-12) == ["0.000000"]
    assert (percent(1, 3), percent(9999, 10000), percent(0, 0)) == ("33%", "99.99%", "0%")
    assert (listed([]), listed(["a"]), listed(list("abc")), listed(list("abcd"), 2)) == (
        "",
        "a",
        "a, b and c",
        "a, b and 2 more",
    )


def test_a_measure_is_explained_once_and_by_its_own_family() -> None:
    words = Glossary("tasks")
    assert words.said("Success").startswith("Success (share of the dialogues that are informed")
    assert words.said("Success(rules=grounded)") == "Success(rules=grounded)"
    assert "came for" in Glossary("lab").said("Success(rules=strict)")
    assert Glossary().said("<script>") == "<script>"
    assert Glossary().said("a\nb\x1b") == "a b�"


def test_a_tracking_run() -> None:
    slots = polars.DataFrame(
        {
            "dialogue": ["a", "a", "b"],
            "domain": ["hotel", "hotel", "taxi"],
            "slot": ["type", "area", "leave"],
            "correct": [1, 2, 3],
            "wrong_value": [1, 0, 1],
            "missed": [5, 0, 0],
            "spurious": [0, 3, 0],
        }
    )
    turns = polars.DataFrame(
        {"dialogue": ["a", "a", "b", "c"], "turn": [0, 2, 0, 0], "exact": [True, False, True, True]}
    )
    exact = Score(value=0.4948, low=0.478, high=0.512, unit="share", higher_is_better=True)
    whole = Coverage({"dialogues": Count(expected=1000, read=1000, scored=1000, failed=0)})
    run = run_of(
        "tracking", {"JGA": exact}, name="augpt", tables={"slot_scores": slots, "turn_scores": turns}, coverage=whole
    )
    assert run_sentences(run) == [
        "augpt gets 49.5% [47.8, 51.2] of the turns of 1,000 dialogues exactly right: JGA (joint goal accuracy).",
        "In 2 of 3 dialogues (67%) every turn is right.",
        "Most errors are missed slots (50%), then spurious slots (30%) and wrong values (20%); the slot most often "
        "wrong is hotel-type (60% of 10 errors, turn by turn).",
    ]
    none = slots.with_columns(polars.lit(0).alias(name) for name in ("wrong_value", "missed", "spurious"))
    assert "No slot is ever wrong." in run_sentences(run_of("tracking", {"JGA": exact}, tables={"slot_scores": none}))


def test_what_is_missing_comes_first() -> None:
    part = Coverage({"dialogues": Count(expected=1000, read=944, scored=944, failed=3)}, "intersection")
    told = run_sentences(run_of("tracking", {"JGA": SHARE}, name="ubar", coverage=part, notes=["look out"]))
    assert told[0] == "ubar is incomplete: it lacks 56 of 1,000 dialogues, 3 failed (intersection)."
    assert told[-1] == "Look out."
    said = [Note("coverage", "all of it"), Note("partial_coverage", "half of it"), Note("uncounted", "tokens: odd")]
    noted = run_sentences(run_of("tracking", {"JGA": SHARE}, name="ubar", notes=said))
    assert noted[-2:] == ["Half of it.", "tokens: odd."] and "All of it." not in noted
    assert noted[:-2] == run_sentences(run_of("tracking", {"JGA": SHARE}, name="ubar", notes=said), notes=False)
    unknown = Coverage({"turns": Count(scored=3)})
    assert not any("incomplete" in one for one in run_sentences(run_of("x", {"JGA": SHARE}, coverage=unknown)))


def test_a_run_of_replies() -> None:
    replies = polars.DataFrame(
        {
            "dialogue": ["a"] * 6,
            "class": ["api 1", "api 1", "fixed", "fixed", "fixed", "phone"],
            "chosen": ["x", "", "x", "x", "x", "x"],
            "correct": [False, False, True, True, False, False],
            "tied": [True, False, False, False, False, False],
        }
    )
    scores = {"per-response": Score(value=1 / 3, unit="share"), "per-dialog": Score(value=0.0, unit="share")}
    assert run_sentences(run_of("responses", scores, name="bot", tables={"replies": replies})) == [
        "bot gets 33.3% of the replies right, and every reply right in 0.0% of the dialogues: per-response "
        "(per-response accuracy; 33.3%) and per-dialog (per-dialog accuracy; 0.0%).",
        "Most wrong replies are of the class api 1 (50% of 4 wrong replies; none of that class is right); of the class "
        "phone none is right either.",
        "Several candidates shared the highest score in 1 reply (17%): there the order of the candidate file decided.",
        "1 reply (17%) had no answer.",
    ]


def test_a_run_of_users() -> None:
    verdicts = polars.DataFrame(
        {
            "verdict": ["credited", "repeated-penalised", "repeated-penalised", "repeated-penalised", "missing"],
            "fault": [None, "user NLU", "user NLU", "gremlins", "user policy"],
        }
    )
    scores = {"I-GCDF1": SHARE, "I-GCDF1 recall": Score(value=0.75, unit="share")}
    details = {"lost": {"I-GCDF1": {"combined": {"user NLU": 0.3, "system": 0.0, "user policy": 0.2}}}}
    tables = {
        "verdicts": verdicts,
        "conversation_facts": polars.DataFrame({"end": ["loop", "goodbye"]}),
        "loops": polars.DataFrame({"cause": ["user NLU"]}),
    }
    assert run_sentences(run_of("users", scores, tables=tables, details=details)) == [
        "On average the user expresses 75.0% of the constraints of its goal; together that is I-GCDF1 (goal- and "
        "context-driven F1 of informing; 50.0%).",
        "Over all conversations together, 75% of what the user says are needless repetitions, caused by the "
        "user's understanding (67%) and gremlins (33%).",
        "What I-GCDF1 lacks is lost to the user's understanding 30.0 points and the user's policy 20.0 points.",
        "50% of 2 conversations end in a loop; loops are caused by the user's understanding (100%).",
    ]


def reasons_of(rule: str, *codes: str) -> polars.DataFrame:
    """Reasons of tasks that failed for one reason each."""
    tasks = [str(number) for number in range(len(codes))]
    return polars.DataFrame({"dialogue": tasks, "domain": "taxi", "rule": rule, "reason": codes})


def test_a_run_of_tasks_beside_humans_and_with_doubts() -> None:
    details = {
        "human": {"Inform": 0.925},
        "stuffed_responses": 50,
        "request_precision": {"system": 0.1, "human": 0.7},
        "domains_per_turn": 3.0,
        "domains": "file",
    }
    whole = Coverage({"turns": Count(expected=100, read=100, scored=100, failed=0)})
    verdicts = polars.DataFrame(
        {
            "rules": ["grounded", "grounded", "grounded", "mwzeval"],
            "success": [False, False, True, False],
        }
    )
    reasons = reasons_of("grounded", "never_told", "never_told", "told_stuffed", "never_told")
    told = run_sentences(
        run_of(
            "tasks",
            {"Inform": SHARE},
            tables={"task_verdicts": verdicts, "reasons": reasons},
            details=details,
            coverage=whole,
        )
    )
    assert told[0].startswith("ours has 50.0% by Inform (share of the dialogues in which")
    assert told[0].endswith("; human responses: 92.5%).")
    frequent = "never told (3); given in the wrong place (1)."
    assert told[1] == f"Of 2 domains that fail by grounded the most frequent reasons are: {frequent}"
    assert [one.split(" ")[0] for one in told[2:]] == ["Beware:"] * 3
    assert "50 of 100 responses are stuffed" in told[2]


def test_a_run_of_the_lab() -> None:
    conversations = polars.DataFrame({"reason": ["user_done", "user_done", "bored"], "longest_run": [1, 3, 18]})
    outcomes = polars.DataFrame({"rule": ["strict", "strict", "compat"], "success": [False, True, False]})
    reasons = reasons_of("strict", "not_booked")
    scores = {"Success(rules=strict)": SHARE, "Success(rules=compat)": Score(value=0.25, unit="share")}
    tables = {"conversations": conversations, "outcomes": outcomes, "reasons": reasons}
    assert run_sentences(run_of("lab", scores, tables=tables)) == [
        "With ours the users got everything they came for in 50.0% of the conversations (Success by strict rules); by "
        "compat rules, ConvLab-2's, which go by what the user heard, in 25.0%.",
        "Conversations ended because the user was done (67%) and bored (33%).",
        "In 2 conversations (67%) the user says the same 3 times or more in a row, at most 18 times.",
        "Of 1 failed task the most frequent reasons are: booking refused (1).",
    ]


@pytest.mark.parametrize(
    "kind", ["tracking", "responses", "training", "users", "tasks", "lab", "interaction", "odd kind"]
)
def test_runs_without_their_headline_without_values_and_with_odd_tables(kind: str) -> None:
    assert run_sentences(run_of(kind, {}, name="bare")) == ["bare has no scores."]
    undefined = run_sentences(run_of(kind, {"my own": Score(value=None), "NaN": Score(value=math.nan, unit="share")}))
    assert undefined[0] == "ours has no value of my own and NaN: nothing that counts has one."
    mixed = run_sentences(run_of("odd kind", {"my own": Score(value=None), "other": Score(value=2.0)}))
    assert mixed[0] == "ours has 2.00 by other, and no value of my own."
    names = (
        "slot_scores",
        "turn_scores",
        "replies",
        "verdicts",
        "loops",
        "conversations",
        "outcomes",
        "task_verdicts",
        "reasons",
    )
    columns: tuple[str, ...] = (
        "dialogue",
        "domain",
        "slot",
        "missed",
        "spurious",
        "wrong_value",
        "exact",
        "class",
        "chosen",
        "correct",
    )
    columns += ("tied", "verdict", "fault", "cause", "reason", "longest_run", "rule", "success", "rules")
    for content in ([None, None], ["<b>", "x"], [[1], [2]]):
        tables = {name: polars.DataFrame(dict.fromkeys(columns, content)) for name in names}
        tables["conversation_facts"] = polars.DataFrame({"end": content})
        odd = run_of(kind, {"JGA": SHARE}, tables=tables, details={"lost": 3, "human": []})
        assert run_sentences(odd)
    empty = {name: polars.DataFrame({column: [] for column in columns}) for name in names}
    assert run_sentences(run_of(kind, {"JGA": SHARE}, tables=empty))


def test_hostile_names_are_plain_text() -> None:
    (told,) = run_sentences(run_of("odd", {"<script>\n": SHARE}, name="<img src=x>\x1b[31m\n| a"))
    assert told == "<img src=x>�[31m | a has 50.0% by <script>."
    assert all("\n" not in one and "\x1b" not in one for one in [told])


def test_real_trackers(shared_data: Path) -> None:
    predictions = {name: shared_data / "dst_predictions" / f"{name}.json.gz" for name in ("augpt", "dots", "ubar")}
    runs = score(shared_data / "multiwoz21" / "test.json.gz", predictions, measures=["JGA", "FGA@1"]).runs
    for run in runs:
        value, slots = run.scores["JGA"].value, run.table("slot_scores")
        assert value is not None
        headline, _, errors, *notes = run_sentences(run)
        assert all("the inventory lacks" in note for note in notes)
        assert headline.startswith(f"{run.name} gets {100 * value:.1f}% [")
        assert headline.endswith("] of the turns of 1,000 dialogues exactly right: JGA (joint goal accuracy).")
        counts = {kind: int(slots[kind].sum()) for kind in ("missed", "spurious", "wrong_value")}
        assert f"({100 * max(counts.values()) / sum(counts.values()):.0f}%), then " in errors
        assert f"of {sum(counts.values()):,} errors" in errors


def test_parts_are_not_spoken_of_unless_there_is_nothing_else() -> None:
    (told,) = run_sentences(run_of("odd", {"X[hotel]": SHARE, "X": SHARE}))
    assert told == "ours has 50.0% by X."
    (told,) = run_sentences(run_of("odd", {"X[hotel]": SHARE, "X[taxi]": SHARE}))
    assert told == "ours has 50.0% by X[hotel] and 50.0% by X[taxi]."
