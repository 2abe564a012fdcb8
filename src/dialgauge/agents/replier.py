"""An agent asked place by place, as teacher-forced evaluation asks: before each reply the record is what was said."""

from __future__ import annotations

from msgspec.structs import replace

from dialgauge.agents.protocol import Agent, Overrulable, SystemContext
from dialgauge.dialogue import Fact, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import NO_RESULT
from dialgauge.rankers import Line, Point, code_of


class AgentReplier:
    """A system agent that answers points: it follows the lines before each, overruled by what they say.

    Points of one dialogue that come in order are answered one after the other; at any other the agent starts anew.
    """

    def __init__(self, agent: Agent, context: SystemContext) -> None:
        if not isinstance(agent, Overrulable):
            raise DialgaugeError(
                f"the agent {agent.name} cannot be evaluated on recorded dialogues: it has no method overrule(turn), "
                "by which it learns what was said instead of its reply"
            )
        self.name = agent.name
        self.options: dict[str, str] = {}
        self.seed = 0
        #: For signatures: whose code answers.
        self.code = code_of(agent)
        self._agent: Overrulable = agent
        self._context = context
        self._last: Point | None = None
        agent.start(context)  # one that cannot work here says so at once

    def reply(self, point: Point) -> str:
        """What the agent says here."""
        lines = self._new_lines(point)
        shown: tuple[Fact, ...] | None = None
        for line in lines:
            if line.kind == "fact":
                facts = [] if line.text == NO_RESULT else [Fact(*line.text.split(" ", 2))]
                shown = (*(shown or ()), *facts)
            elif line.kind == "user":
                reply = self._agent.respond(Turn(speaker="user", text=line.text, results=shown))
                shown = None
            else:
                self._agent.overrule(Turn(speaker="system", text=line.text))
        self._last = point
        return reply.turn.text if reply.turn is not None else ""

    def _new_lines(self, point: Point) -> tuple[Line, ...]:
        """The lines the agent has not followed yet, the user's words last."""
        utterance = Line("user", point.utterance)
        last = self._last
        if last is not None and last.dialogue == point.dialogue:
            known = (*last.history, Line("user", last.utterance))
            if point.history[: len(known)] == known:
                return (*point.history[len(known) :], utterance)
        self._agent.start(replace(self._context, dialogue_id=point.dialogue))
        return (*point.history, utterance)
