"""The simulated user in front of bots that make mistakes: it notices each one and says which."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from msgspec.structs import replace

from dialgauge.agents import (
    EXPLANATION,
    USER_GAVE_UP,
    Reply,
    RuleBot,
    SystemContext,
)
from dialgauge.dialogue import Outcome, Turn
from dialgauge.lab import conversations_with
from dialgauge.worlds.restaurant import Parameters, lexicon_of_world, load_world, prepare

WORLD = load_world()
BOT = WORLD.phrases.bot


def says(text: str) -> Reply:
    return Reply(turn=Turn(speaker="system", text=text))


class Spoiled:
    """The rule bot with its replies changed on the way."""

    name = "spoiled"

    def __init__(self, spoil: Callable[[str], str]) -> None:
        self._bot, self._spoil = RuleBot(WORLD.phrases, lexicon_of_world(WORLD)), spoil

    def start(self, context: SystemContext) -> None:
        self._bot.start(context)

    def respond(self, turn: Turn | None) -> Reply:
        reply = self._bot.respond(turn)
        assert reply.turn is not None
        return replace(reply, turn=replace(reply.turn, text=self._spoil(reply.turn.text)))


def one_outcome(task: int, spoil: Callable[[str], str], position: int = 1) -> Outcome:
    setting = prepare(WORLD, task, "tst", Parameters())
    (dialogue,) = conversations_with(setting, Spoiled(spoil), 1, start=position)
    assert dialogue.outcome is not None
    return dialogue.outcome


@pytest.mark.parametrize(
    ("task", "spoil", "reason"),
    [
        (1, lambda text: "what?", "'what?': unexpected reply; expected a greeting"),
        (1, lambda text: text.replace("where should it be", BOT.look), "without asking for location"),
        (1, lambda text: text.replace("api_call ", "api_call x "), "the call should be for"),
        (1, lambda text: text.replace(BOT.look, BOT.welcome), "unexpected reply; expected a question or a search"),
        (2, lambda text: text.replace(BOT.more, BOT.look), "expected a question for further changes"),
        (3, lambda text: text.replace("option: resto", "option: rest"), "the next option should be resto"),
        (3, lambda text: text.replace(BOT.reserve, BOT.other), "expected a reservation"),
        (4, lambda text: text.replace("_phone", "_").replace("_address", "_phone"), "the answer should be"),
        (5, lambda text: text.replace(BOT.anything, BOT.greet), "expected an offer of further help"),
    ],
)
def test_mistakes_end_the_conversation(task: int, spoil: Callable[[str], str], reason: str) -> None:
    outcome = one_outcome(task, spoil)
    assert (outcome.success, outcome.reason, outcome.ended_by) == (False, USER_GAVE_UP, "user")
    assert reason in outcome.facts[EXPLANATION]
