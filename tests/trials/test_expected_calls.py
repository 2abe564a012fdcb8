"""Expected calls beside those that were made."""

from __future__ import annotations

from dialgauge.dialogue import Call, Dialogue, Outcome, Turn
from dialgauge.trials.calls import ExpectedAction, expected_actions


def _call(name: str, *, failed: bool = False, **arguments: object) -> Call:
    return Call(name=name, arguments=arguments, result="", failed=failed)


def matched(wanted: list[Call], made: list[Call]) -> list[ExpectedAction]:
    turn = Turn(speaker="system", calls=tuple(made))
    return expected_actions(Dialogue(id="d", turns=(turn,), outcome=Outcome(expected=tuple(wanted))))


def test_a_call_that_matches_one_is_no_second_try_at_another() -> None:
    wanted = [_call("cancel", id=1), _call("cancel", id=2)]
    made = [_call("cancel", id=2)]
    assert [(each.call is not None, each.same) for each in matched(wanted, made)] == [(False, False), (True, True)]
    made = [_call("cancel", id=3), _call("cancel", id=2)]
    assert [(each.call is not None, each.same) for each in matched(wanted, made)] == [(True, False), (True, True)]


def test_a_number_and_its_text_differ() -> None:
    [action] = matched([_call("cancel", id=1)], [_call("cancel", id="1")])
    assert (action.call is not None, action.same) == (True, False)


def test_a_call_that_failed_is_no_try_where_another_was_made() -> None:
    failed, made = _call("book", failed=True, total=5), _call("book", total=55)
    [action] = matched([_call("book", total=250)], [failed, made])
    assert (action.call, action.tried) == (1, {"total": 55})
    [alone] = matched([_call("book", total=250)], [failed])
    assert alone.call == 0
