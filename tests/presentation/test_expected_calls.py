"""Expected actions beside the calls that were made."""

from __future__ import annotations

import json
from pathlib import Path

import dialgauge
from dialgauge.dialogue import Call
from dialgauge.presentation import matched_actions


def _call(name: str, **arguments: str) -> Call:
    return Call(name=name, domain="", arguments=arguments, outcome="")


def test_a_call_that_matches_one_action_is_no_second_try_at_another() -> None:
    actions = [{"name": "cancel", "arguments": {"id": 1}}, {"name": "cancel", "arguments": {"id": 2}}]
    made = [_call("cancel", id="2")]
    assert [(each.made, each.same) for each in matched_actions(actions, made)] == [(False, False), (True, True)]
    made = [_call("cancel", id="3"), _call("cancel", id="2")]
    assert [(each.made, each.same) for each in matched_actions(actions, made)] == [(True, False), (True, True)]


def test_35_of_110_marks_of_the_airline_run_had_no_spare_call(shared_data: Path) -> None:
    """Of the calls of that name each had matched another expected action already, so the call was never made."""
    tried = never = 0
    for dialogue in dialgauge.read(shared_data / "tau" / "tau_airline_gpt-4o.json.gz").dialogues:
        assert dialogue.outcome is not None
        actions = json.loads(dialogue.outcome.details["expected_actions"])
        calls = [call for turn in dialogue.turns for call in turn.calls or ()]
        names = {call.name for call in calls}
        for each in matched_actions(actions, calls):
            tried += each.made and not each.same
            never += not each.made and each.name in names
    assert (tried, never) == (75, 35)


def test_a_call_that_failed_is_no_try_where_another_was_made() -> None:
    failed = Call(name="book", arguments={"total": "5"}, outcome="error")
    made = Call(name="book", arguments={"total": "55"}, outcome="done")
    [action] = matched_actions([{"name": "book", "arguments": {"total": "250"}}], [failed, made])
    assert (action.call, action.tried) == (1, {"total": "55"})
    [alone] = matched_actions([{"name": "book", "arguments": {"total": "250"}}], [failed])
    assert alone.call == 0
