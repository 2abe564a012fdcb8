"""Does a conversation belong to its task? The shared logs do; shuffled ones are caught as files."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from random import Random

import pytest
from msgspec import structs

from dialgauge.formats import AgentLog, LoggedCall, LoggedConversation, read_agent_log
from dialgauge.worlds.tools import GoldCall, ToolTask, check_integrity, integrity_sentences, load_tool_domain

LOGS = (
    "tau_airline_gpt-4o",
    "tau2_airline_grok-3",
    "tau2_telecom-workflow_grok-3",
    "tau2_airline_grok-3-mini_cut_off",
)


@cache
def shared_log(data: Path, name: str) -> tuple[AgentLog, Sequence[ToolTask] | None]:
    log = read_agent_log(data / "tau" / f"{name}.json.gz")
    return log, load_tool_domain("airline", root=data).tasks if log.benchmark == "tau" else None


def refiled(log: AgentLog, tasks: Sequence[str]) -> AgentLog:
    conversations = [structs.replace(one, task=task) for one, task in zip(log.conversations, tasks, strict=True)]
    return structs.replace(log, conversations=tuple(conversations))


def test_the_shared_logs_are_what_they_say(shared_data: Path) -> None:
    counts = [check_integrity(*shared_log(shared_data, name)).counts for name in LOGS]
    assert sum(count["belongs"] for count in counts) == 248
    assert sum(count["unknown"] for count in counts) == 6
    assert sum(count["foreign"] for count in counts) == 0


def test_identifiers_that_fit_every_task_say_nothing(shared_data: Path) -> None:
    telecom = check_integrity(*shared_log(shared_data, LOGS[2]))
    assert telecom.others_hit == 1.0
    assert {filing.evidence for filing in telecom.filings} == {"actions"}
    airline = check_integrity(*shared_log(shared_data, LOGS[0]))
    assert airline.others_hit is not None
    assert airline.others_hit < 0.03
    assert sum(not filing.identifiers for filing in airline.filings) == 27


@pytest.mark.parametrize("name", LOGS)
@pytest.mark.parametrize("seed", range(3))
def test_shuffled_ids_are_caught_as_a_file(name: str, seed: int, shared_data: Path) -> None:
    log, tasks = shared_log(shared_data, name)
    ids = [one.task for one in log.conversations]
    whole = Random(seed).sample(ids, len(ids))
    moved = sum(now != before for now, before in zip(whole, ids, strict=True))
    integrity = check_integrity(refiled(log, whole), tasks)
    assert not integrity.per_task_stands
    assert len(integrity.foreign) >= 0.8 * moved
    assert integrity.permuted

    chosen = Random(seed).sample(range(len(ids)), max(2, len(ids) // 10))
    some = list(ids)
    for place, other in zip(chosen, chosen[1:] + chosen[:1], strict=True):
        some[place] = ids[other]
    integrity = check_integrity(refiled(log, some), tasks)
    moved_places = [place for place in chosen if some[place] != ids[place]]
    if not moved_places:
        return
    assert len({filing.conversation for filing in integrity.filings}) == len(ids), "names are unambiguous"
    found = [place for place, filing in enumerate(integrity.filings) if filing.belonging == "foreign"]
    assert found
    assert len(found) == 1 or not integrity.per_task_stands, "a tenth is withheld, too"
    assert set(found) <= set(moved_places), "none that is where it belongs is called foreign"
    right = [ids[place] for place in found if integrity.filings[place].fits is not None]
    assert [integrity.filings[place].fits for place in found if integrity.filings[place].fits] == right


def test_permuted_tasks_are_offered_a_mapping_that_nobody_applies(shared_data: Path) -> None:
    log, tasks = shared_log(shared_data, LOGS[0])
    names = sorted({one.task for one in log.conversations})
    to = dict(zip(names, names[1:] + names[:1], strict=True))
    other = refiled(log, [to[one.task] for one in log.conversations])
    integrity = check_integrity(other, tasks)
    assert integrity.permuted
    back = {new: old for old, new in to.items()}
    assert all(back[conversation.partition("#")[0]] == task for conversation, task in integrity.mapping)
    told = " ".join(integrity_sentences("log", integrity))
    assert "totals may stand" in told
    assert "Nothing was moved" in told
    without = check_integrity(other)
    assert without.foreign == [], "every conversation says the same of itself"
    assert "permuted as a whole would not show" in integrity_sentences("log", without)[0]


def test_two_conversations_that_changed_places_withhold_what_is_per_task(shared_data: Path) -> None:
    log, tasks = shared_log(shared_data, LOGS[0])
    ids = [one.task for one in log.conversations]
    first, second = ids.index("1"), ids.index("3")
    swapped = list(ids)
    swapped[first], swapped[second] = ids[second], ids[first]
    integrity = check_integrity(refiled(log, swapped), tasks)
    assert integrity.foreign_share == 2 / len(ids)
    assert integrity.mapping == [("3#0", "1"), ("1#0", "3")]
    assert integrity.permuted and not integrity.per_task_stands
    assert "ids are mixed up, so nothing is said per task" in " ".join(integrity_sentences("log", integrity))
    stray = check_integrity(refiled(log, [*ids[:first], "3", *ids[first + 1 :]]), tasks)
    assert [filing.conversation for filing in stray.foreign] == [f"3#0 (number {first + 1})"]
    assert stray.per_task_stands, "one may be an agent that slipped into another record"


def conversation(
    task: str, *calls: tuple[str, dict[str, str], str], gold: list[object] | None = None, trial: int = 0
) -> LoggedConversation:
    return LoggedConversation(
        task=task,
        trial=trial,
        reward=1.0,
        finished=True,
        calls=tuple(
            LoggedCall(name, dict(arguments), "system", result, result.startswith("Error"), 1)
            for name, arguments, result in calls
        ),
        texts=(),
        parts={},
        gold=gold,
    )


def verdict(task: ToolTask, one: LoggedConversation, *others: ToolTask) -> tuple[str, str]:
    log = AgentLog(file="log", benchmark="tau", domain="", tasks=(), conversations=(one,))
    [filing] = check_integrity(log, [task, *others]).filings
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


def test_identical_conversations_and_trials_beyond_the_plan_are_told() -> None:
    same = ("look", {"order_id": "#W123"}, "{}")
    made = [conversation("1", same, trial=trial) for trial in range(3)]
    log = AgentLog(file="log", benchmark="tau2", domain="", tasks=(), conversations=tuple(made), planned_trials=2)
    integrity = check_integrity(log, [ANN])
    assert integrity.identical == (("1#0", "1#1", "1#2"),)
    assert integrity.beyond_plan == {"1": 3}
