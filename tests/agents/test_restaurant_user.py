"""The simulated user in front of bots that make mistakes: it notices each one and says which."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from dialgauge.agents.restaurant_bot import RuleBot
from dialgauge.agents.restaurant_user import PATIENCE
from dialgauge.agents.session import Conversation, converse, simulated_user
from dialgauge.dialogue import Fact
from dialgauge.worlds.restaurant.goals import prepare
from dialgauge.worlds.restaurant.knowledge import lexicon_of_world
from dialgauge.worlds.restaurant.world import Parameters
from dialgauge.worlds.restaurant.world_file import load_world

WORLD = load_world()
BOT = WORLD.phrases.bot


class Spoiled:
    """The rule bot with its replies changed on the way."""

    def __init__(self, spoil: Callable[[str], str]) -> None:
        self._bot, self._spoil = RuleBot(WORLD.phrases, lexicon_of_world(WORLD)), spoil

    def reset(self) -> None:
        self._bot.reset()

    def respond(self, text: str, facts: Iterable[Fact] | None = None) -> str:
        return self._spoil(self._bot.respond(text, facts))


def one_conversation(task: int, spoil: Callable[[str], str], position: int = 1) -> Conversation:
    setting = prepare(WORLD, task, "tst", Parameters(fields={1: (0, 0)}))
    (conversation,) = converse(setting, Spoiled(spoil), 1, start=position)
    return conversation


@pytest.mark.parametrize(
    ("task", "spoil", "reason"),
    [
        (1, lambda text: "what?", "'what?' has no place here; expected: greet"),
        (1, lambda text: text.replace("where should it be", BOT.look), "without asking for location"),
        (1, lambda text: text.replace("api_call ", "api_call x "), "the call should be for"),
        (1, lambda text: text.replace(BOT.look, BOT.welcome), "expected: ask, look"),
        (2, lambda text: text.replace(BOT.more, BOT.look), "expected: more"),
        (3, lambda text: text.replace("option: resto", "option: rest"), "the next option should be resto"),
        (3, lambda text: text.replace(BOT.reserve, BOT.other), "expected: reserve"),
        (4, lambda text: text.replace("_phone", "_").replace("_address", "_phone"), "the answer should be"),
        (5, lambda text: text.replace(BOT.anything, BOT.greet), "expected: anything"),
    ],
)
def test_mistakes_end_the_conversation(task: int, spoil: Callable[[str], str], reason: str) -> None:
    conversation = one_conversation(task, spoil)
    assert not conversation.success
    assert reason in conversation.failure


def test_questions_may_come_in_any_order_and_twice() -> None:
    class Backwards:
        """Asks for everything, price first, then calls."""

        def reset(self) -> None:
            ask = [BOT.ask[field] for field in ("price", "size", "size", "location", "cuisine")]
            self._lines = iter([BOT.greet, BOT.on_it, *ask, BOT.look])
            self._values: dict[str, str] = {}

        def respond(self, text: str, facts: Iterable[Fact] | None = None) -> str:
            fields = lexicon_of_world(WORLD).fields
            self._values |= {fields[word]: word for word in text.split() if word in fields}
            in_order = [self._values.get(field, "") for field in ("cuisine", "location", "size", "price")]
            return next(self._lines, WORLD.phrases.api_call(in_order))

    setting = prepare(WORLD, 1, "tst", Parameters())
    assert [talk.failure for talk in converse(setting, Backwards(), 20)] == [""] * 20


def test_patience_ends() -> None:
    class Asks:
        def reset(self) -> None:
            self._start = iter([BOT.greet, BOT.on_it])

        def respond(self, text: str, facts: Iterable[Fact] | None = None) -> str:
            return next(self._start, BOT.ask["size"])

    (conversation,) = converse(prepare(WORLD, 1, "tst", Parameters()), Asks(), 1)
    assert conversation.failure == f"no end after {PATIENCE} exchanges"


def test_the_user_is_an_object_to_talk_to() -> None:
    user = simulated_user(prepare(WORLD, 4, "tst", Parameters()), 1)
    name = user.plan.results[0].name
    assert user.respond() in WORLD.phrases.user.greet
    request = user.respond(BOT.greet)
    assert request is not None and request.endswith(f"at {name}")
    assert user.respond("nonsense") is None
    assert user.finished and not user.success
    assert user.respond(BOT.reserve) is None
