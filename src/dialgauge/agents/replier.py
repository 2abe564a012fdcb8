"""An agent asked place by place, as teacher-forced evaluation asks: before each reply the record is what was said."""

from __future__ import annotations

from typing import ClassVar

from dialgauge.agents.protocol import Agent, Overrulable, SystemContext
from dialgauge.dialogue import Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import NO_RESULT, Line, Point, RankingTask, Tell, silent
from dialgauge.worlds.restaurant import FactDatabase


class AgentReplier:
    """A system agent that answers points: it follows the lines before each, overruled by what they say.

    Points of one dialogue that come in order are answered one after the other; at any other the agent starts anew.
    """

    seeded: ClassVar[bool] = False

    def __init__(self, agent: Agent, *, options: dict[str, str] | None = None, seed: int = 0) -> None:
        if not isinstance(agent, Overrulable):
            raise DialgaugeError(
                f"the agent {agent.name} cannot be evaluated on recorded dialogs: it has no method overrule(turn), by "
                "which it learns what was said instead of its reply"
            )
        self.agent: Overrulable = agent
        self.name = agent.name
        self.options = options or {}
        self.seed = seed
        self._last: Point | None = None

    def fit(self, task: RankingTask, tell: Tell = silent) -> None:
        """Nothing is learned: the agent gets the task's knowledge base and candidates."""
        del tell
        self.enter(
            SystemContext(
                dialogue_id="", database=FactDatabase(task.facts), candidates=task.candidates, task=task.number
            )
        )

    def enter(self, context: SystemContext) -> None:
        """Answer in this world from now on; the agent says at once if it cannot."""
        self._context = context
        self._last = None
        self.agent.start(context)

    def reply(self, point: Point) -> str:
        """What the agent says here."""
        lines = self._new_lines(point)
        shown: tuple[Fact, ...] | None = None
        for line in lines:
            if line.kind == "fact":
                shown = (*(shown or ()), *_facts(line.text))
            elif line.kind == "user":
                reply = self.agent.respond(Turn(speaker="user", text=line.text, results=shown))
                shown = None
            else:
                self.agent.overrule(Turn(speaker="system", text=line.text))
        self._last = point
        return reply.turn.text if reply.turn is not None else ""

    def _new_lines(self, point: Point) -> tuple[Line, ...]:
        """The lines the agent has not followed yet, the user's words last."""
        asked = Line("user", point.utterance)
        last = self._last
        if last is not None and last.dialogue == point.dialogue:
            known = (*last.history, Line("user", last.utterance))
            if point.history[: len(known)] == known:
                return (*point.history[len(known) :], asked)
        self.agent.start(_renamed(self._context, point.dialogue))
        return (*point.history, asked)


def _renamed(context: SystemContext, dialogue: str) -> SystemContext:
    from msgspec.structs import replace

    return replace(context, dialogue_id=dialogue)


def _facts(text: str) -> list[Fact]:
    return [] if text == NO_RESULT else [Fact(*text.split(" ", 2))]
