"""The rule bots as rankers: tasks 1-5 are solved completely by a few rules, task 6 only in part."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from numpy.typing import NDArray

from dialgauge.agents.dstc2_bot import Dstc2Bot
from dialgauge.agents.replying import ReplyingRanker
from dialgauge.agents.restaurant_bot import RuleBot
from dialgauge.dialogue import Fact
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import NO_RESULT, Line, Point, RankingTask, Tell, silent
from dialgauge.worlds.restaurant import lexicon_of, load_world

#: The task that has a bot of its own, which also manages without a knowledge base.
_DSTC2 = 6
_CALL = re.compile(r"api_call (\S+) (\S+) (\S+)")


class _Follower(Protocol):
    def reset(self) -> None: ...
    def hear(self, text: str, facts: list[Fact] | None = None) -> None: ...
    def said(self, text: str) -> None: ...
    def reply(self) -> str: ...


class Rules(ReplyingRanker):
    """Hand-written rules, one bot for tasks 1-5 and one for task 6."""

    name = "rules"
    summary = "hand-written rules"

    settable = ("world",)

    #: The world whose sentences the bot of tasks 1-5 speaks: a built-in name or a world file.
    world = "restaurant"

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        self.world = self.options.get("world", self.world)
        if task.number != _DSTC2 and not task.facts:
            raise DialgaugeError(
                "the model rules takes its words from a knowledge base, and there is none; put dialog-babi-kb-all.txt "
                "beside the dialogs, or choose another model"
            )
        self.candidates = task.candidates
        self._prepare(task.number, list(task.facts))

    def _prepare(self, task: int, facts: list[Fact]) -> None:
        self._task, self._facts = task, facts
        self._bot: _Follower
        if task == _DSTC2:
            self._bot = Dstc2Bot(callable_values(self.candidates), facts)
        else:
            self._bot = RuleBot(load_world(self.world).phrases, lexicon_of(facts))

    def reply(self, point: Point) -> str:
        bot = self._bot
        bot.reset()
        shown: list[Fact] | None = None
        for line in (*point.history, Line("user", point.utterance)):
            if line.kind == "fact":
                shown = [*(shown or []), *_fact(line.text)]
            elif line.kind == "user":
                bot.hear(line.text, shown)
                shown = None
            else:
                bot.said(line.text)
        return bot.reply()

    def move(self, candidates: Sequence[str], facts: Sequence[Fact]) -> None:
        self.candidates = tuple(candidates)
        self._prepare(self._task, list(facts))

    def settings(self) -> dict[str, Any]:
        return {"task": self._task, "world": self.world, "facts": [list(_words(fact)) for fact in self._facts]}

    def restore(self, settings: dict[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
        self.world = settings["world"]
        self._prepare(settings["task"], [Fact(*words) for words in settings["facts"]])


def callable_values(candidates: tuple[str, ...]) -> dict[str, frozenset[str]]:
    """The foods, areas and prices that the API calls among the candidates name."""
    called = [found.groups() for found in map(_CALL.fullmatch, candidates) if found]
    return {
        slot: frozenset(call[place] for call in called if not call[place].startswith("R_"))
        for place, slot in enumerate(("food", "area", "price"))
    }


def _fact(text: str) -> list[Fact]:
    return [] if text == NO_RESULT else [Fact(*text.split(" ", 2))]


def _words(fact: Fact) -> tuple[str, str, str]:
    return fact.entity, fact.relation, fact.value
