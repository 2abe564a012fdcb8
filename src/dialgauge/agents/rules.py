"""The rule bots under one name, as an agent and as a model: tasks 1-5 are solved completely, task 6 in part."""

from __future__ import annotations

from typing import ClassVar

from dialgauge.agents.dstc2_bot import Dstc2Bot
from dialgauge.agents.protocol import Reply, SystemContext
from dialgauge.agents.replier import AgentReplier
from dialgauge.agents.restaurant_bot import FollowingBot, RuleBot
from dialgauge.dialogue import Turn
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import RankingTask, Tell, silent
from dialgauge.worlds.restaurant import load_world

#: The task that has a bot of its own, which also manages without a knowledge base.
_DSTC2 = 6


class RuleAgent:
    """Hand-written rules, one bot for tasks 1-5 and one for task 6.

    ``world`` is the world whose sentences the bot of tasks 1-5 speaks: a built-in name or a world file.
    """

    name = "rules"

    def __init__(self, world: str = "restaurant") -> None:
        self._world = world
        self._bots: dict[bool, FollowingBot] = {}

    def start(self, context: SystemContext) -> None:
        real_calls = context.task == _DSTC2
        if not real_calls and not context.database.facts:
            raise DialgaugeError(
                "the model rules takes its words from a knowledge base, and there is none; put dialog-babi-kb-all.txt "
                "beside the dialogs, or choose another model"
            )
        if real_calls not in self._bots:
            self._bots[real_calls] = Dstc2Bot() if real_calls else RuleBot(load_world(self._world).phrases)
        self._bot = self._bots[real_calls]
        self._bot.start(context)

    def respond(self, turn: Turn | None) -> Reply:
        return self._bot.respond(turn)

    def overrule(self, turn: Turn) -> None:
        self._bot.overrule(turn)


class Rules(AgentReplier):
    """The rules as a model that is evaluated with the recorded history."""

    name = "rules"
    summary: ClassVar[str] = "hand-written rules"
    settable: ClassVar[tuple[str, ...]] = ("world",)

    def __init__(self, seed: int = 0) -> None:
        super().__init__(RuleAgent(), seed=seed)

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        self.agent = RuleAgent(**self.options)
        super().fit(task, tell)
