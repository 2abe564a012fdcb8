"""Laws of the evaluation, in a small town, for made-up systems: what must not matter does not, and nothing changes."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dialgauge.runs import Run
from dialgauge.tasks import (
    CLASSES,
    GoldTasks,
    TaskEvaluation,
    TaskOptions,
    TaskState,
    estimated_domains,
    mentions,
    placeholders,
    predictions_from,
)
from support.soak import examples
from support.town import responses, town

relaxed = settings(
    max_examples=examples(60), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
JOB = ("Inform", "Success", "Inform(rules=grounded)", "Success(rules=grounded)")
PIECES = ("[hotel_name]", "[name]", "[train_id]", "[phone]", "[hotel_phone]", "[value_reference]", "[address]",
          "[restaurant_address]", "[postcode]", "[time]", "[nonsense]", "hello", ".")  # fmt: skip
SLOTS = {
    "hotel": {"area": ["north", "centre", "none"], "parking": ["yes", "free"]},
    "train": {"destination": ["ely"], "day": ["monday"], "leaveat": ["9:00", "late"]},
    "restaurant": {"name": ["nando's", "curry"]},
}
states = st.fixed_dictionaries(
    {},
    optional={
        name: st.fixed_dictionaries({}, optional={slot: st.sampled_from(given) for slot, given in slots.items()})
        for name, slots in SLOTS.items()
    },
)
turns = st.fixed_dictionaries(
    {
        "response": st.lists(st.sampled_from(PIECES), max_size=4).map(" ".join),
        "state": states,
        "active_domains": st.lists(st.sampled_from(["hotel", "train", "restaurant", "taxi"]), max_size=2, unique=True),
    }
)
systems = st.fixed_dictionaries(
    {"MUL0001.json": st.lists(turns, max_size=4), "sng0002": st.lists(turns, min_size=1, max_size=2)}
)


def scored(small: GoldTasks, dialogues: Mapping[str, Any], **options: Any) -> Run:
    chosen = TaskOptions(**{"measures": ("all",), "resamples": 0, **options})
    return TaskEvaluation(small, town(), options=chosen).score(predictions_from("x", dialogues))


def values(scores: Run, *without: str) -> dict[str, float | None]:
    return {name: score.value for name, score in scores.scores.items() if name not in without}


def test_a_system_that_does_its_jobs(small: GoldTasks) -> None:
    scores = scored(small, responses())
    assert [scores[name] for name in JOB] == [1.0] * 4
    assert [*map(float, (scores["OfferP"], scores["ReqP"], scores["ReqR"], scores["stuffed"]))] == [1.0, 1.0, 1.0, 0.0]


@relaxed
@given(systems)
def test_nothing_is_changed_and_a_second_call_gives_the_same(small: GoldTasks, dialogues: dict[str, Any]) -> None:
    before = copy.deepcopy(dialogues)
    gold_before = small.checksum
    evaluation = TaskEvaluation(small, town(), options=TaskOptions(measures=("all",), resamples=0))
    system = predictions_from("x", dialogues)
    first, second = evaluation.score(system), evaluation.score(system)
    assert dialogues == before
    assert values(first) == values(second)
    assert first.table("task_verdicts").equals(second.table("task_verdicts"))
    assert TaskEvaluation(small, town()).gold.checksum == gold_before


@relaxed
@given(systems)
def test_the_order_of_dialogues_changes_msttr_only(small: GoldTasks, dialogues: dict[str, Any]) -> None:
    turned = dict(reversed(dialogues.items()))
    assert values(scored(small, dialogues), "MSTTR-50") == pytest.approx(
        values(scored(small, turned), "MSTTR-50"), nan_ok=True, abs=1e-12
    )


@relaxed
@given(systems, st.sampled_from(["file", "state"]), st.randoms())
def test_placeholders_of_one_class_are_alike_under_mwzeval(
    small: GoldTasks, dialogues: dict[str, Any], mode: str, chance: Any
) -> None:
    """Their names matter in the mode that reads domains from them, and under grounded, which asks who owns them."""

    def renamed(response: str) -> str:
        for name in placeholders(response):
            if name in CLASSES:
                same = sorted(other for other, word in CLASSES.items() if word == CLASSES[name])
                response = response.replace(f"[{name}]", f"[{chance.choice(same)}]")
        return response

    other = {key: [{**turn, "response": renamed(turn["response"])} for turn in each] for key, each in dialogues.items()}
    mine, theirs = (
        scored(small, each, mode=mode, measures=("Inform", "Success", "BLEU")) for each in (dialogues, other)
    )
    assert values(mine) == values(theirs)


@relaxed
@given(systems, st.sampled_from(["[phone]", "[address]", "[postcode]", "[reference]"]), st.integers(0, 3))
def test_a_word_more_never_lowers_success_where_inform_stays(
    small: GoldTasks, dialogues: dict[str, Any], word: str, place: int
) -> None:
    more = copy.deepcopy(dialogues)
    for each in more.values():
        for turn in each[place : place + 1]:
            turn["response"] += f" {word}"
    before, after = (scored(small, each, measures=("Inform", "Success")) for each in (dialogues, more))
    if before["Inform"] == after["Inform"]:
        assert after["Success"] >= before["Success"]


@relaxed
@given(systems)
def test_success_implies_inform_and_all_domains(small: GoldTasks, dialogues: dict[str, Any]) -> None:
    run = scored(small, dialogues)
    reasons = set(run.table("reasons").select("dialogue", "domain", "rule").rows())
    for row in run.table("task_verdicts").iter_rows(named=True):
        assert row["inform"] or not row["success"]
        assert ((row["dialogue"], row["domain"], row["rules"]) not in reasons) == row["success"]


def test_silence_is_no_failure_under_mwzeval_and_one_under_grounded(small: GoldTasks) -> None:
    silent = {key: [{"response": "", "state": {}}] * len(each.answers) for key, each in small.dialogues.items()}
    scores = scored(small, silent)
    assert scores["Inform[restaurant]"] == 1.0  # the goal has a name
    assert scores["Inform"] == 0.5
    assert scores["Inform(rules=grounded)"] == 0.0
    assert scores["BLEU"] == 0.0


def test_stuffed_responses_give_nothing_under_grounded(small: GoldTasks) -> None:
    stuffed = responses()
    for turns in stuffed.values():
        for turn in turns:
            turn["response"] = "[name] [trainid] [phone] [address] [postcode] [reference]"
    scores = scored(small, stuffed)
    assert [*map(float, (scores["Success"], scores["Success(rules=grounded)"]))] == [1.0, 0.0]
    assert scores["stuffed"] == 1.0
    assert scores["OfferP"].value is None


@pytest.mark.parametrize(
    ("response", "stuffed"),
    [
        ("[hotel_name] [train_id]", True),
        ("[phone] [address] [postcode]", False),
        ("[phone] [address] [postcode] [reference]", True),
        ("[phone] [phone] [phone] [phone]", False),
        ("[nonsense] [name] [time]", False),
    ],
)
def test_what_is_stuffed(response: str, stuffed: bool) -> None:
    assert mentions(response).stuffed is stuffed


def test_who_owns_a_placeholder() -> None:
    said = mentions("[hotel_phone] [phone] [train_id] [value_car] [value_area] [booktime] [unknown_name]")
    assert said.owned == {
        "hotel": {"PHONE"}, "": {"PHONE", "AREA", "TIME"}, "train": {"TRAINID"}, "taxi": {"TYPE"},
    }  # fmt: skip
    assert said.of("hotel", "hotel") == {"PHONE", "AREA", "TIME"}
    assert said.of("restaurant", "restaurant") == {"PHONE", "AREA", "TIME"}
    assert said.of("restaurant", "hotel") == said.of("restaurant", None) == frozenset()
    assert said.owners(None) == {"hotel", "train", "taxi"}
    assert said.owners("attraction") == {"hotel", "train", "taxi", "attraction"}


def test_the_order_of_domains_decides_a_tie() -> None:
    first: list[TaskState] = [{"hotel": {"area": "north"}, "train": {"day": "monday"}}]
    second: list[TaskState] = [{"train": {"day": "monday"}, "hotel": {"area": "north"}}]
    assert (estimated_domains(first), estimated_domains(second)) == (["hotel"], ["train"])


def test_trains_of_one_id_are_one_under_mwzeval_only(small: GoldTasks) -> None:
    """The state leads to the other TR1: the id is that of a fitting train, the row is not."""
    dialogues = responses()
    dialogues["mul0001"][2]["state"]["train"] = {"departure": "ely", "day": "sunday"}
    scores = scored(small, dialogues, measures=JOB)
    assert [scores[name] for name in JOB] == [1.0, 1.0, 0.5, 0.5]
    rows = scores.table("reasons").filter(_row("grounded", "train")).select("slot", "given", "wanted").rows()
    assert ("day", ["sunday"], "monday") in rows


def test_a_reference_before_the_booking_counts_for_nothing(small: GoldTasks) -> None:
    dialogues = responses()
    dialogues["mul0001"][0]["response"] += " [hotel_reference]"
    dialogues["mul0001"][1]["response"] = "the phone is [hotel_phone] ."
    scores = scored(small, dialogues, measures=JOB)
    assert [scores[name] for name in JOB] == [1.0, 0.5, 1.0, 0.5]
    row = scores.table("reasons").row(by_predicate=_row("mwzeval", "hotel"), named=True)
    assert (row["reason"], row["slot"], row["turn"]) == ("told_unbooked", "reference", 1)


def test_an_unreadable_time_in_a_state(small: GoldTasks) -> None:
    for slot, fits in (("arriveby", False), ("leaveat", True)):
        dialogues = responses()
        dialogues["mul0001"][2]["state"]["train"] = {"destination": "ely", "day": "monday", slot: "a:b pm"}
        assert (scored(small, dialogues)["Inform[train]"] == 1.0) is fits


def test_extra_missing_and_short_dialogues(small: GoldTasks) -> None:
    whole = scored(small, responses())
    extra = responses()
    extra["sng0002"].append({"response": "[name] [trainid]", "state": {}, "active_domains": []})
    assert values(scored(small, extra, measures=JOB)) == values(scored(small, responses(), measures=JOB))
    short = responses()
    del short["mul0001"][2]
    scores = scored(small, short)
    assert [*map(float, (scores["Inform"], scores["Success[train]"]))] == [0.5, 0.0]  # its id was asked for
    assert not scores.coverage.complete
    del short["mul0001"]
    scores, failing = scored(small, short), scored(small, short, missing="fail")
    assert [*map(float, (scores["Inform"], failing["Inform"], scores["Inform(rules=grounded)"]))] == [1.0, 0.5, 0.5]
    assert (scores.coverage.complete, failing.coverage.complete) == (False, True)
    assert scores.details["missing_dialogues"] == ["MUL0001.json"]
    assert whole.coverage.complete
    assert scores["ReqR"] == pytest.approx(1 / 4)


def _row(rules: str, domain: str) -> Any:
    import polars as pl

    return (pl.col("rule") == rules) & (pl.col("domain") == domain)


def test_verdicts_are_records() -> None:
    assert msgspec.json.encode(sorted(mentions("[hotel_name]").owned)) == b'["hotel"]'
