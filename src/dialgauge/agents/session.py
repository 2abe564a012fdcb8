"""Free interaction: a bot in front of the simulated user, which answers what the bot really said.

Every user is drawn from a stream of its own, keyed by seed, task, split and position. What it wants therefore does not
depend on how many others there are, in which order they come or in which process.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Protocol

from msgspec import Struct

from dialgauge.agents.restaurant_user import SimulatedUser
from dialgauge.dialogue import Dialogue, Fact, Turn
from dialgauge.worlds.restaurant import Draws, Setting, draw_plan


class Bot(Protocol):
    """Anything that answers: it sees the user's words and what the knowledge base showed since the last turn."""

    def reset(self) -> None:
        """A new conversation begins."""

    def respond(self, text: str, facts: Iterable[Fact] | None = None) -> str:
        """The bot's next sentence."""


class Conversation(Struct, frozen=True, kw_only=True):
    """What was said, and whether the bot carried it to the end; if not, why."""

    dialogue: Dialogue
    success: bool
    failure: str = ""


def simulated_user(setting: Setting, position: int) -> SimulatedUser:
    """The user of one dialog; ``setting.prepare`` gives the setting."""
    draws = Draws(setting.parameters.seed, "dialog", setting.task, setting.split, position)
    return SimulatedUser(draw_plan(setting, draws), setting.world, draws)


def converse(setting: Setting, bot: Bot, count: int, *, start: int = 1) -> Iterator[Conversation]:
    """Let a bot talk to ``count`` simulated users, one after the other, from position ``start``."""
    for position in range(start, start + count):
        user = simulated_user(setting, position)
        turns = tuple(_turns(user, bot))
        dialogue = Dialogue(
            id=f"task{setting.task}-{setting.split}-{position:04d}",
            turns=turns,
            goal=user.goal,
            domains=(setting.world.domain,),
        )
        yield Conversation(dialogue=dialogue, success=user.success, failure=user.failure)


def _turns(user: SimulatedUser, bot: Bot) -> Iterator[Turn]:
    bot.reset()
    said = user.turn()
    while said is not None:
        reply = bot.respond(said.text, said.results)
        yield said
        yield Turn(speaker="system", text=reply)
        said = user.turn(reply)
