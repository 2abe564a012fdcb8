"""Does a conversation belong to its task? The shared logs do; shuffled ones are caught as files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec import structs

from dialgauge.dialogue import Call, Dialogue, Outcome, Turn
from dialgauge.formats import expected_calls, read
from dialgauge.worlds.tools import (
    GoldCall,
    Integrity,
    ToolTask,
    check_integrity,
    load_tool_domain,
    tasks_of_log,
)

LOGS = (
    "tau_airline_gpt-4o",
    "tau2_airline_grok-3",
    "tau2_telecom-workflow_grok-3",
    "tau2_airline_grok-3-mini_cut_off",
)


#: How often the ids of each log are shuffled, and two of them swapped.
SHUFFLES, SWAPS = 10, 20


@cache
def shared_log(data: Path, name: str) -> tuple[Sequence[Dialogue], Sequence[dict[str, Any]], Sequence[ToolTask] | None]:
    """Conversations, the tasks that the log stores, and those of a task file."""
    corpus = read(data / "tau" / f"{name}.json.gz")
    own = corpus.notes.tasks
    return list(corpus), own, None if own else load_tool_domain("airline", root=data).tasks


def checked_log(
    dialogues: Sequence[Dialogue], stored: Sequence[dict[str, Any]] = (), given: Sequence[ToolTask] | None = None
) -> Integrity:
    return check_integrity(dialogues, tasks_of_log(dialogues, stored, given))


def refiled(dialogues: Sequence[Dialogue], tasks: Sequence[str]) -> list[Dialogue]:
    return [
        structs.replace(one, id=f"{task}#{place}", outcome=structs.replace(one.ended, task=task))
        for place, (one, task) in enumerate(zip(dialogues, tasks, strict=True))
    ]


def test_the_shared_logs_are_what_they_say(shared_data: Path) -> None:
    counts = [checked_log(*shared_log(shared_data, name)).counts for name in LOGS]
    assert sum(count["belongs"] for count in counts) == 248
    assert sum(count["unknown"] for count in counts) == 6
    assert sum(count["foreign"] for count in counts) == 0


def test_identifiers_that_fit_every_task_say_nothing(shared_data: Path) -> None:
    telecom = checked_log(*shared_log(shared_data, LOGS[2]))
    assert telecom.others_hit == 1.0
    assert {filing.evidence for filing in telecom.filings} == {"actions"}
    airline = checked_log(*shared_log(shared_data, LOGS[0]))
    assert airline.others_hit is not None
    assert airline.others_hit < 0.03
    assert sum(not filing.identifiers for filing in airline.filings) == 27


def shuffled(ids: Sequence[str], seed: int) -> list[str]:
    """All ids in another order."""
    return Random(seed).sample(ids, len(ids))


def tenth_moved(ids: Sequence[str], seed: int) -> list[str]:
    """The same ids, a tenth of them (two at least) moved round among themselves."""
    chosen = Random(seed).sample(range(len(ids)), max(2, len(ids) // 10))
    some = list(ids)
    for place, other in zip(chosen, chosen[1:] + chosen[:1], strict=True):
        some[place] = ids[other]
    return some


def two_swapped(ids: Sequence[str], seed: int) -> list[str]:
    """The same ids but for two different ones that changed places."""
    draws = Random(seed)
    first, second = draws.sample(range(len(ids)), 2)
    while ids[first] == ids[second]:
        first, second = draws.sample(range(len(ids)), 2)
    some = list(ids)
    some[first], some[second] = ids[second], ids[first]
    return some


@cache
def checked(
    data: Path, name: str, mix: Callable[[Sequence[str], int], list[str]], seed: int
) -> tuple[list[str], Integrity, list[int]]:
    """The ids of a log, its check with mixed ids, and the places whose id is another one now."""
    log, stored, given = shared_log(data, name)
    ids = [one.ended.task for one in log]
    mixed = mix(ids, seed)
    moved = [place for place, (now, before) in enumerate(zip(mixed, ids, strict=True)) if now != before]
    return ids, checked_log(refiled(log, mixed), stored, given), moved


@pytest.mark.parametrize("name", LOGS)
def test_the_page_on_pass_rates_has_what_is_measured(name: str, shared_data: Path) -> None:
    whole = checked_log(*shared_log(shared_data, name))
    row = [name, str(whole.conversations), " / ".join(str(whole.counts[each]) for each in ("belongs", "unknown"))]
    row.append(str(whole.counts["foreign"]))
    for mix in (shuffled, tenth_moved):
        each = [checked(shared_data, name, mix, seed)[1:] for seed in range(SHUFFLES)]
        foreign = sum(len(integrity.foreign) for integrity, _ in each)
        moved = sum(len(places) for _, places in each)
        row.append(f"{sum(bool(integrity.foreign) for integrity, _ in each)} of {SHUFFLES} ({foreign} of {moved})")
    swapped = [checked(shared_data, name, two_swapped, seed)[1] for seed in range(SWAPS)]
    assert not any(each.per_task_stands for each in swapped if len(each.foreign) == 2 and each.mapping)
    row.append(f"{sum(not each.per_task_stands for each in swapped)} of {SWAPS}")
    page = (Path(__file__).parents[2] / "docs" / "review.md").read_text()
    assert f"| {' | '.join(row)} |" in page


def test_permuted_tasks_are_offered_a_mapping_that_nobody_applies(shared_data: Path) -> None:
    log, stored, given = shared_log(shared_data, LOGS[0])
    names = sorted({one.ended.task for one in log})
    to = dict(zip(names, names[1:] + names[:1], strict=True))
    other = refiled(log, [to[one.ended.task] for one in log])
    integrity = checked_log(other, stored, given)
    assert integrity.permuted
    back = {new: old for old, new in to.items()}
    assert all(back[conversation.partition("#")[0]] == task for conversation, task in integrity.mapping)
    without = checked_log(other)
    assert without.foreign == [], "every conversation says the same of itself"


def test_two_conversations_that_changed_places_withhold_what_is_per_task(shared_data: Path) -> None:
    log, stored, given = shared_log(shared_data, LOGS[0])
    ids = [one.ended.task for one in log]
    first, second = ids.index("1"), ids.index("3")
    swapped = list(ids)
    swapped[first], swapped[second] = ids[second], ids[first]
    integrity = checked_log(refiled(log, swapped), stored, given)
    assert integrity.foreign_share == 2 / len(ids)
    assert integrity.mapping == [(f"3#{first}", "1"), (f"1#{second}", "3")]
    assert integrity.permuted and not integrity.per_task_stands
    stray = checked_log(refiled(log, [*ids[:first], "3", *ids[first + 1 :]]), stored, given)
    assert [filing.conversation for filing in stray.foreign] == [f"3#{first}"]
    assert stray.per_task_stands, "one may be an agent that slipped into another record"


def conversation(
    task: str, *calls: tuple[str, dict[str, str], str], gold: list[object] | None = None, trial: int = 0
) -> Dialogue:
    made = tuple(
        Call(name=name, arguments=dict(arguments), result=result, failed=result.startswith("Error"), message=1)
        for name, arguments, result in calls
    )
    outcome = Outcome(
        success=True, end="finished", benchmark="tau", task=task, trial=trial, reward=1.0, planned=(1, 2),
        expected=expected_calls(gold), graded=gold is not None,
    )  # fmt: skip
    turns = (Turn(speaker="system", calls=made),) if made else ()
    return Dialogue(id=f"{task}#{trial}", turns=turns, outcome=outcome)


def verdict(task: ToolTask, one: Dialogue, *others: ToolTask) -> tuple[str, str]:
    [filing] = check_integrity([one], [task, *others]).filings
    return filing.belonging, filing.evidence


ANN = ToolTask(
    id="1",
    rules="tau",
    instruction="You are Ann Lee and want to change order W123.",
    expected=(GoldCall("change", {"order_id": "#W123"}),),
)
OTHERS = (ToolTask(id="2", instruction="You are Bo."), ToolTask(id="3", instruction="You are Cy."))


@pytest.mark.parametrize(
    ("calls", "belonging"),
    [
        ([("look", {"order_id": "#W123"}, "{}")], "belongs"),
        ([("look", {"order_id": "#W1234"}, "{}")], "foreign"),
        ([("look", {"order_id": "W123"}, "{}")], "belongs"),
        ([("look", {"order_id": "#W999"}, "Error: no")], "unknown"),
        ([("look", {"user_id": "ann_lee_77"}, "{}")], "belongs"),
        ([("look", {"user_id": "lee_ann_77"}, "{}")], "foreign"),
        ([("find", {"email": "x@y.org"}, "ann_lee_77")], "belongs"),
        ([("find", {"email": "x@y.org"}, "bo_ray_1")], "foreign"),
        ([("show", {"thing": "x"}, '{"a": [{"user_id": "ann_lee_1"}]}')], "belongs"),
        ([("show", {"thing": "x"}, "12.0")], "unknown"),
        ([], "unknown"),
    ],
)
def test_identifiers(calls: list[tuple[str, dict[str, str], str]], belonging: str) -> None:
    assert verdict(ANN, conversation("1", *calls), *OTHERS)[0] == belonging


def test_stored_actions_decide_and_empty_ones_are_silent() -> None:
    gold: list[object] = [{"name": "change", "kwargs": {"order_id": "#W123"}}]
    assert verdict(ANN, conversation("1", gold=gold)) == ("belongs", "actions")
    other: list[object] = [{"name": "change", "kwargs": {"order_id": "#W124"}}]
    assert verdict(ANN, conversation("1", gold=other)) == ("foreign", "actions")
    assert verdict(ANN, conversation("1", gold=[])) == ("unknown", "silent")
    assert verdict(ANN, conversation("9", gold=gold)) == ("unknown", "no task")


def test_identical_conversations_are_told() -> None:
    same = ("look", {"order_id": "#W123"}, "{}")
    made = [conversation("1", same, trial=trial) for trial in range(3)]
    integrity = check_integrity(made, [ANN])
    assert integrity.identical == (("1#0", "1#1", "1#2"),)


def test_identifiers_of_tasks_that_name_none_cannot_tell() -> None:
    """A domain whose tasks leave the order to the user: its calls fit no task, and contradict none."""
    silent = [ToolTask(id=name, instruction=f"You want {name}.") for name in ("1", "2")]
    made = [conversation(task, ("look", {"order_id": f"W{task}{trial}"}, "{}")) for task in "12" for trial in "01"]
    integrity = check_integrity(made, silent)
    assert integrity.counts == {"belongs": 0, "unknown": 4, "foreign": 0}
    assert integrity.per_task_stands
    stray = conversation("1", ("look", {"order_id": "#W123"}, "{}"))
    named = [*silent, structs.replace(ANN, id="3")]
    integrity = check_integrity([*made, stray], named)
    assert [filing.fits for filing in integrity.foreign] == ["3"], "what is of another task still is"
