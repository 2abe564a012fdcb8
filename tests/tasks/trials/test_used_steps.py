"""Who used up the steps of a conversation that ended at a limit."""

from __future__ import annotations

from pathlib import Path

import pytest

from dialgauge.dialogue import Call, Dialogue, Outcome, Turn
from dialgauge.presentation import steps_sentence
from dialgauge.tasks import score_results, trial_tables
from dialgauge.tasks.trials.used_steps import used_steps

INSIST = "I really do want my money back for this flight, please."
ASK = "To go on I need the reservation number. Could you please provide it?"
REFUSE = "I am sorry, our policy allows no refund for this ticket. Is there anything else I can help you with?"


def talk(*turns: Turn, reason: str = "max_steps") -> Dialogue:
    return Dialogue(id="d", turns=turns, outcome=Outcome(success=False, reason=reason))


def user(text: str, *calls: Call) -> Turn:
    return Turn(speaker="user", text=text, calls=calls)


def agent(text: str, *calls: Call) -> Turn:
    return Turn(speaker="system", text=text, calls=calls)


def call(name: str, *, outcome: str = "done", gave: str = "a row", **arguments: str) -> Call:
    return Call(name=name, arguments=arguments, outcome=outcome, result={"content": gave})


@pytest.mark.parametrize(
    ("turns", "side", "turn", "told"),
    [
        ((user(INSIST), agent(REFUSE)) * 4, "user", 2, "The user lost 3 steps, from turn 2 on: 3 messages said before"),
        ((agent(ASK), user("It is ABC123, as I told you before now.")) * 3, "agent", 2, "2 messages said before"),
        (
            (user("Hello there"), agent("", *(call("search", day="1"),) * 4)),
            "agent", 1, "The agent lost 3 steps, from turn 1 on: 3 tool calls made before",
        ),
        (
            (user("Hello there"), agent("", call("book", outcome="error"), call("think", gave=""))),
            "agent", 1, "1 failed tool call, 1 tool call without an answer",
        ),
        (
            (agent("Restart it."), user("", call("restart", outcome="error"), call("restart", outcome="error"))),
            "user", 1, "2 failed tool calls",
        ),
        ((user("Hello there"), agent("", call("search", day="1"), call("search", day="2"))), "unclear", None, ""),
    ],
    ids=["insists", "asks again", "searches again", "books in vain", "a user's tools", "nothing was lost"],
)  # fmt: skip
def test_whoever_lost_most_steps_used_them_up(turns: tuple[Turn, ...], side: str, turn: int | None, told: str) -> None:
    used = used_steps(talk(*turns))
    assert (used.side, used.turn) == (side, turn)
    columns = {"steps_used_by": used.side, "steps_turn": used.turn, "steps_lost": used.lost, "steps_other": used.other}
    assert told in steps_sentence(columns)


def test_an_agent_that_failed_is_to_blame() -> None:
    assert used_steps(talk(user("Hello there"), reason="agent_error")).side == "agent"
    columns = {"steps_used_by": "agent", "steps_turn": None, "steps_lost": (), "steps_other": 0}
    assert steps_sentence(columns) == "The agent failed."


def test_real_conversations_at_the_limit_agree_with_their_labels(shared_data: Path) -> None:
    """Labelled by people as the user's: 6#0 and 46#3. The latter for passengers it made up, which no count of steps can
    see: there the agent lost the steps, with bookings that failed. All six were seen while the rule was written."""
    files = [shared_data / "tau" / f"{name}.json.gz" for name in ("tau2_airline_grok-3", "tau_airline_gpt-4o")]
    runs = score_results(files, resamples=0).runs
    rows = [row for run in runs for row in run.table("trials").to_dicts() if row["end"] == "limit"]
    assert {row["dialogue"]: row["steps_used_by"] for row in rows} == {
        "6#0": "user", "33#0": "agent", "2#1": "agent", "9#2": "agent", "9#3": "agent", "46#3": "agent",
    }  # fmt: skip
    for run in runs:
        assert run.table("trials").filter(run.table("trials")["end"] != "limit")["steps_used_by"].null_count() > 0
    shown = "\n".join(table.render("markdown") for table in trial_tables(runs))
    assert "| step limit reached | failed at a limit, the user used up the steps | 1 | 0 |" in shown
    assert "| step limit reached | failed at a limit, the agent used up the steps | 5 | 0 |" in shown
