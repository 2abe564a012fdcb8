"""``llm-system`` and ``llm-user`` in a tool domain: the domain's tools, its policy, a task's instruction."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dialgauge.agents.llm.language_system import LlmSystem, SystemSettings, json_instructions
from dialgauge.agents.llm.language_user import DONE, GIVE_UP, ends_conversation
from dialgauge.agents.protocol import SYSTEM_QUIT, USER_DONE, USER_GAVE_UP, Reply, SystemContext, UserContext
from dialgauge.dialogue import Speaker, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.worlds import Desk
from dialgauge.worlds.tools import ToolDesk, ToolPlan

_SYSTEM = """You work at {title}. Follow this policy:

{policy}

How to work:
- Take every fact from the customer, the policy or what your tools return, and make nothing up. Nothing is changed \
unless a tool changed it: never say that something is done before its result says so.
- What the policy does not allow, refuse, and say why.
- When a tool returns an error, put right what was wrong with the call, or tell the customer what cannot be done.
- Tell the customer every figure, name and number that was asked for, in short plain sentences."""
_USER = """You are a customer, not the assistant: you contacted {title}. Your situation:

{instruction}{knows}

How to talk:
- Write only your next message to the assistant, one or two short sentences. Tell what you want first, and the rest \
when you are asked for it.
- Stay with what is above: do not make up names, numbers or wishes. If you are asked for something that is not there, \
say that you don't know it, or that you don't mind. Never mention these instructions.
- If you are asked to confirm, say yes where it is what you want and else what is wrong.{tools}
- When all of it is done, refused or handed over to somebody else, say goodbye and write {done} on a line of its own. \
If the assistant makes no headway, say so and write {give_up} on a line of its own instead."""
_OWN_TOOLS = """
- You have tools of your own, for what only you can look up or do. Use them when the assistant asks for that."""
_OPENING = "(The assistant is listening. Say your first message.)"
_NOTHING = "(Nothing was said.)"


class _ToolAgent(LlmSystem):
    """A model with the tools of its side."""

    def _take(self, desk: Desk, context: UserContext | SystemContext, prompt: str) -> None:
        self._desk = desk
        if not self._tools:
            self._way = "none"
        elif self._way == "json":
            prompt += json_instructions(self._tools)
        self._open(context, prompt)


class ToolSystem(_ToolAgent):
    """A language model behind the desk of a tool domain."""

    name = "llm-system"

    def start(self, context: SystemContext) -> None:
        """A new conversation."""
        if not isinstance(context.office, ToolDesk):
            raise DialgaugeError(f"{self.name} needs the desk of a tool domain here")
        desk = context.office
        prompt = _SYSTEM.format(title=desk.title, policy=desk.policy.strip() or "Help the customer.")
        self._take(desk, context, prompt)

    def _answer(self, turn: Turn | None) -> Reply:
        self._messages.append({"role": "user", "content": (turn.text if turn else "") or _NOTHING})
        words, _ = self._worded(self._spoken())
        ended = self._desk.ended
        return Reply(
            turn=Turn(speaker="system", text=words),
            done=ended,
            end_reason=SYSTEM_QUIT if ended else "",
            usage=self._usage,
        )


class ToolUser(_ToolAgent):
    """A language model that was given a task of a tool domain."""

    name = "llm-user"
    side: Speaker = "user"

    def start(self, context: UserContext) -> None:  # type: ignore[override]
        """A new task."""
        plan = context.plan
        if not isinstance(plan, ToolPlan):
            raise DialgaugeError(f"{self.name} needs a task of a tool domain here")
        knows = "".join(f"\n* {name}: {value}" for name, value in plan.knows.items())
        prompt = _USER.format(
            title=plan.title,
            instruction=plan.instruction,
            knows=f"\n\nYou know:{knows}" if knows else "",
            tools=_OWN_TOOLS if plan.desk.tools(self.side) else "",
            done=DONE,
            give_up=GIVE_UP,
        )
        self._take(plan.desk, context, prompt)

    def _answer(self, turn: Turn | None) -> Reply:
        self._messages.append({"role": "user", "content": _OPENING if turn is None else turn.text or _NOTHING})
        utterance, gave_up, done = ends_conversation(self._spoken())
        words, _ = self._worded(utterance)
        ends = gave_up or done
        return Reply(
            turn=None if ends and not words else Turn(speaker="user", text=words),
            done=ends,
            end_reason=(USER_GAVE_UP if gave_up else USER_DONE) if ends else "",
            usage=self._usage,
        )


def tool_agent(name: str, settings: Mapping[str, Any]) -> ToolSystem | ToolUser:
    """The language model of a side, by the name that it has in every domain."""
    kind = ToolSystem if name == ToolSystem.name else ToolUser
    return kind(SystemSettings(**settings))
