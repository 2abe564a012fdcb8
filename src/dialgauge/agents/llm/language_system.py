"""``llm-system``: a system of any domain whose words are a language model's, with search and booking as its tools.

Tools are called through the protocol (``tools=native``), or as JSON that the endpoint constrains to a schema
(``tools=json``) for models whose chat template knows no tools, or not at all (``tools=none``).
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from dialgauge.agents.llm.cassette import Completion
from dialgauge.agents.llm.settings import LOCAL
from dialgauge.agents.llm.speaker import LanguageAgent, VoiceSettings
from dialgauge.agents.protocol import Reply, SystemContext
from dialgauge.dialogue import Speaker, Turn
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.worlds import Desk
from dialgauge.worlds.domain import Service, ServiceDesk

_WAYS = ("native", "json", "none")
_PROMPT = """You work at {title}. You talk to a customer and use your tools to help.

How to work:
- Take every fact from what your tools return, and make nothing up. A value that is null is unknown: say that you \
don't know it.
- Search as soon as you know something of what the customer wants, and leave out the fields that you know nothing of. \
Do not ask again for what the customer has told you or does not mind.
- When something fits, offer one by its name, or a few to choose from. When nothing fits, say so, name the wishes that \
you searched for, and ask what may be different.
- Book only what the customer wants booked, once it is clear which one; ask for what the tool requires and the \
customer has not said. Book it once, and again only if the customer changes something.
- Nothing is booked before a tool's result says so. Then tell the customer, with all that the result gives, word for \
word. If it is refused, say that it is not booked, and why. When no tool can do what the customer wants, say so.
- Answer every question of the message that you answer, in short sentences of plain text. When the customer says \
goodbye, say goodbye."""
_NO_TOOLS = """
- You have no tools in this conversation: you can look up nothing and book nothing. Say so when you are asked to."""
_NAMESAKES = """
- More than one {noun} may have the same name: tell them apart by {called}, book by it, and tell the customer in what \
they differ."""
_POLICY = """

Policy of the house, which you must follow:
{policy}"""
_JSON_PROMPT = """

Write one JSON object and nothing else: {"say": "WORDS"} to speak, or {"tool": "NAME", "arguments": {"FIELD": \
"VALUE"}} to use a tool first; its result comes back in a message that begins with RESULT, and you write again. Tools \
and their fields, * for those that must be there:
"""
_ENOUGH = "(No more tools for this message: answer the customer now.)"
_SAY = re.compile(r'^\s*\{\s*"say"\s*:\s*"')


class SystemSettings(VoiceSettings, frozen=True, kw_only=True):
    """Settings of a model that has tools."""

    #: native, json or none; without a word what the endpoint can do.
    tools: str = ""
    tool_calls: int = 6
    rows: int = 5


class LlmSystem(LanguageAgent):
    """A language model behind the desk."""

    name = "llm-system"
    side: Speaker = "system"
    _source = "words and calls"

    def __init__(self, settings: SystemSettings) -> None:
        super().__init__(settings)
        self._way = settings.tools or ("json" if settings.endpoint == LOCAL else "native")
        if self._way not in _WAYS:
            raise DialgaugeError(
                f"the setting tools must be native, json or none (got '{self._way}').{nearest(self._way, _WAYS)}"
            )
        if self._way == "json":  # what it writes is one object and nothing else
            self._report_place = 'At the end of the WORDS of each "say", inside the object,'
        self._most, self._rows = settings.tool_calls, settings.rows

    def start(self, context: SystemContext) -> None:
        """A new conversation."""
        if not isinstance(context, SystemContext):
            raise DialgaugeError(f"{self.name} is a system; it cannot take the user's place")
        if not isinstance(context.office, ServiceDesk):
            raise DialgaugeError(f"{self.name} is a system of domains with services: it needs their search and booking")
        desk, domain = context.office, context.office.domain
        desk.shown = self._rows
        self._desk: Desk = desk
        prompt = _PROMPT.format(title=domain.title) + (_NO_TOOLS if self._way == "none" else "")
        prompt += "".join(map(_namesakes, domain.services.values()))
        if domain.policy:
            prompt += _POLICY.format(policy=domain.policy)
        if self._way == "json":
            prompt += json_instructions(self._tools)
        self._begin(context, domain, prompt)

    def _answer(self, turn: Turn | None) -> Reply:
        if turn is None:
            raise DialgaugeError(f"{self.name} was asked to begin; in the lab the user does")
        self._messages.append({"role": "user", "content": turn.text or "(The customer said nothing.)"})
        words, acts = self._worded(self._spoken())
        return Reply(turn=Turn(speaker="system", text=words, acts=acts), state=self._desk.state, usage=self._usage)

    @property
    def _tools(self) -> list[dict[str, Any]]:
        return self._desk.tools(self.side)

    def _spoken(self) -> str:
        """What the model says once it has used its tools; after so many calls it has to speak."""
        left = self._most if self._way != "none" else 0
        while True:
            answer = self._ask(self._messages, **self._offer(left))
            calls = list(self._wanted(answer))
            if not calls or left <= 0:
                text = self._words(answer)
                self._messages.append({"role": "assistant", "content": answer.text or " "})
                return text
            self._use(answer, calls, left)
            left -= len(calls)
            if left <= 0:
                self._messages.append({"role": "user", "content": _ENOUGH})

    def _offer(self, left: int) -> dict[str, Any]:
        """The parameters that let the model use tools, or keep it from it."""
        if self._way == "native":
            tools = [{"type": "function", "function": tool} for tool in self._tools]
            return {"tools": tools, "tool_choice": "auto" if left > 0 else "none"}
        if self._way == "json":
            schema = _schema(self._tools) if left > 0 else _SAY_SCHEMA
            return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}
        return {}

    def _wanted(self, answer: Completion) -> Iterator[tuple[str, str, object]]:
        """Id, name and arguments of the tools that the model wants used."""
        if self._way == "native":
            for call in answer.calls:
                yield call.id, call.name, call.arguments
        elif self._way == "json":
            given = _object(answer.text)
            if given is not None and isinstance(given.get("tool"), str) and "say" not in given:
                yield "", given["tool"], given.get("arguments")

    def _use(self, answer: Completion, calls: list[tuple[str, str, object]], left: int) -> None:
        refused = {"error": "no more tools for this message"}
        results = [
            self._desk.call(name, arguments, self.side).answer if number < left else refused
            for number, (_, name, arguments) in enumerate(calls)
        ]
        if self._way == "json":
            self._messages.append({"role": "assistant", "content": answer.text})
            self._messages.append({"role": "user", "content": f"RESULT: {json.dumps(results[0])}"})
            return
        asked = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in answer.calls
        ]
        self._messages.append({"role": "assistant", "content": answer.text, "tool_calls": asked})
        for (identifier, _, _), result in zip(calls, results, strict=True):
            self._messages.append({"role": "tool", "tool_call_id": identifier, "content": json.dumps(result)})

    def _words(self, answer: Completion) -> str:
        """What is said: of JSON that was cut off in the middle as much as there is."""
        if self._way != "json":
            return answer.text
        given = _object(answer.text)
        if given is not None:
            text = given.get("say")
            return text.strip() if isinstance(text, str) else ""
        if begun := _SAY.match(answer.text):
            return _unquoted(answer.text[begun.end() :])
        # The beginning of a call is nothing to say to a customer; other words are, though no JSON.
        return "" if answer.text.startswith("{") else answer.text


def _namesakes(service: Service) -> str:
    """What to do about rows that share their name; nothing where none do."""
    names = [row.get(service.name_slot) for row in service.rows or ()]
    if not service.id_slot or len(set(names)) == len(names):
        return ""
    return _NAMESAKES.format(noun=service.name, called=service.declared(service.id_slot))


def _object(text: str) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        given = json.loads(text)
        if isinstance(given, dict):
            return given
    return None


def _unquoted(text: str) -> str:
    """The beginning of a JSON string as the words it stands for."""
    for cut in range(7):  # an escape of six signs may be cut in its middle
        with suppress(ValueError):
            return str(json.loads(f'"{text[: len(text) - cut]}"')).strip()
    return text.strip()


def json_instructions(tools: Iterable[Mapping[str, Any]]) -> str:
    """How to use tools without the protocol; an endpoint that constrains answers shows the model none of the schema."""
    return _JSON_PROMPT + "\n".join(map(_usage_line, tools))


def _usage_line(tool: Mapping[str, Any]) -> str:
    required = tool["parameters"].get("required", ())
    fields = [
        f"{name}{'*' if name in required else ''}{_allowed(schema)}"
        for name, schema in tool["parameters"]["properties"].items()
    ]
    return f"- {tool['name']}({', '.join(fields)}): {tool['description']}"


def _allowed(schema: Mapping[str, Any]) -> str:
    """What a field may be: the values to choose from, the range, else what its description adds to its name."""
    if "enum" in schema:
        return f" {'|'.join(map(str, schema['enum']))}"
    _, colon, meaning = str(schema.get("description", "")).partition(": ")
    bounds = f" {schema['minimum']}..{schema['maximum']}" if "minimum" in schema and "maximum" in schema else ""
    return f"{bounds} ({meaning})" if colon else bounds


_SAY_SCHEMA = {
    "type": "object",
    "properties": {"say": {"type": "string"}},
    "required": ["say"],
    "additionalProperties": False,
}


def _schema(tools: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The schema of an answer: words to the customer, or one of the tools with its arguments."""
    calls = [
        {
            "type": "object",
            "properties": {"tool": {"type": "string", "enum": [tool["name"]]}, "arguments": tool["parameters"]},
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {"anyOf": [_SAY_SCHEMA, *calls]}


def llm_system(**settings: Any) -> LlmSystem:
    """A system that a language model speaks."""
    return LlmSystem(SystemSettings(**settings))


# The registry checks and converts settings by the signature.
llm_system.__signature__ = inspect.signature(SystemSettings)  # type: ignore[attr-defined]
