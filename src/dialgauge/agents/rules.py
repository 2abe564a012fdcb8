"""The rule bots under one name, as an agent and as a model: tasks 1-5 are solved completely, task 6 in part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from dialgauge.agents.dstc2_bot import Dstc2Bot
from dialgauge.agents.history_bots import NOT_UNDERSTOOD
from dialgauge.agents.protocol import Reply, SystemContext
from dialgauge.agents.replier import AgentReplier
from dialgauge.agents.restaurant_bot import FollowingBot, RuleBot
from dialgauge.dialogue import Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import is_silence
from dialgauge.rankers import Point, RankingTask, ReplyModel, Tell, silent
from dialgauge.worlds.restaurant import DEFAULT_WORLD, FactDatabase, load_world

#: The task that has a bot of its own, which also manages without a knowledge base.
_DSTC2 = 6


class RuleAgent:
    """Hand-written rules, one bot for tasks 1-5 and one for task 6.

    ``world`` is the world whose sentences the bot of tasks 1-5 speaks: a built-in name or a world file.
    """

    name = "rules"
    #: Whether it says so when it understood nothing; recorded dialogs want other answers.
    asks_back = False

    def __init__(self, world: str = DEFAULT_WORLD) -> None:
        self._world = world
        self._bots: dict[bool, FollowingBot] = {}

    def start(self, context: SystemContext) -> None:
        real_calls = context.task == _DSTC2
        if not real_calls and not context.database.facts:
            raise DialgaugeError(
                "the model rules takes its words from a knowledge base, and there is none; put dialog-babi-kb-all.txt "
                "beside the dialogues, or choose another model"
            )
        if real_calls not in self._bots:
            self._bots[real_calls] = Dstc2Bot() if real_calls else RuleBot(load_world(self._world).phrases)
        self._bot = self._bots[real_calls]
        self._bot.start(context)

    def respond(self, turn: Turn | None) -> Reply:
        if not self.asks_back or turn is None or is_silence(turn.text):
            return self._bot.respond(turn)
        if self._bot.understands(turn.text):
            reply = self._bot.respond(turn)
            if not self._bot.lost:
                return reply
            self._bot.take_back()
        return Reply(turn=Turn(speaker="system", text=NOT_UNDERSTOOD))

    def overrule(self, turn: Turn) -> None:
        self._bot.overrule(turn)


class Rules(ReplyModel):
    """The rules as a model, evaluated with the recorded history."""

    name = "rules"
    summary = "hand-written rules"
    settable = ("world",)

    def __init__(self, seed: int = 0) -> None:
        super().__init__(seed)
        self.agent = RuleAgent()

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        del tell
        self.agent = RuleAgent(**self.options)
        self._enter(task.candidates, task.facts, task.number)

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        self._enter(candidates, facts, self._task)

    def _enter(self, candidates: Sequence[str], facts: Sequence[Fact], task: int) -> None:
        self.candidates, self._facts, self._task = tuple(candidates), facts, task
        self._replier = AgentReplier(
            self.agent,
            SystemContext(
                dialogue_id="", database=FactDatabase(self._facts), candidates=self.candidates, task=self._task
            ),
        )

    def reply(self, point: Point) -> str:
        """What the rules say here."""
        return self._replier.reply(point)

    def settings(self) -> dict[str, Any]:
        return {"task": self._task, "facts": [[fact.entity, fact.relation, fact.value] for fact in self._facts]}

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        del arrays
        self.agent = RuleAgent(**self.options)
        self._enter(self.candidates, [Fact(*words) for words in settings["facts"]], settings["task"])
