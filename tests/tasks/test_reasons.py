"""Reasons of failure: every code has words, is given by the rules, and comes from a stored run onto a page."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import dialgauge
import dialgauge.tasks
from dialgauge.dialogue import Task
from dialgauge.tasks import REASON_GROUPS, TaskFailure, failure_texts
from support.recorded import compat, conversation, system, user
from support.source_trees import syntax_nodes
from support.town import responses, write_town


def test_every_code_is_given_by_the_rules() -> None:
    written = {
        node.value
        for path in Path(dialgauge.tasks.__file__).parent.rglob("*.py")
        if path.name != "reasons.py"
        for node in syntax_nodes(path)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert REASON_GROUPS.keys() <= written


def test_reasons_of_one_kind_are_one_sentence() -> None:
    tries = [TaskFailure(reason="not_booked", turn=turn, given=("refused",)) for turn in (5, 5, 9)]
    assert failure_texts(tries) == ["not booked (refused in turn 5, refused in turn 5, refused in turn 9)"]
    told = [("never_told", "post", None), ("never_told", "phone", None), ("told_stuffed", "address", 3)]
    told += [("told_off_goal", "address", 5), ("told_stuffed", "address", 7), ("told_stuffed", "reference", 7)]
    assert failure_texts(TaskFailure(reason=code, slot=slot, turn=turn) for code, slot, turn in told) == [
        "never told: post, phone",
        "given in the wrong place: address (turn 3, 7: the response is stuffed; "
        "turn 5: the state does not fit the goal)",
        "given in the wrong place: reference (turn 7: the response is stuffed)",
    ]


def test_codes_that_no_other_test_brings_about(tmp_path: Path) -> None:
    idle = compat(conversation({"hotel": Task(info={"area": "north"})}, user("general-greet"), system("general-greet")))
    assert idle.failures == {"hotel": (TaskFailure(reason="nothing_to_do"),)}
    dialogues: dict[str, Any] = responses()
    dialogues["mul0001"][1]["response"] = "[phone] [address] [postcode] [reference]"
    [run] = dialgauge.score_tasks(write_town(tmp_path), {"mine": dialogues}, resamples=0).runs
    assert ("grounded", "told_stuffed", "phone", 3) in run.table("reasons").select(
        "rule", "reason", "slot", "turn"
    ).rows()
