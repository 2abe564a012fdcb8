"""``llm-system`` and ``llm-user``: a language model on either side of a conversation, in any domain.

The model uses the tools of its side through the protocol (``tools=native``), or as JSON that the endpoint constrains
to a schema (``tools=json``), for models whose chat template knows no tools.
"""

from __future__ import annotations

import inspect
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from dialgauge.agents.act_agents import requested
from dialgauge.agents.listening import UserListener
from dialgauge.agents.llm.cassette import Completion
from dialgauge.agents.llm.client import BudgetSpent, ChatClient, ChatError, Messages
from dialgauge.agents.llm.settings import LOCAL, ChatSettings
from dialgauge.agents.protocol import (
    ENDPOINT_ERROR,
    NO_USAGE,
    SYSTEM_QUIT,
    TOKEN_BUDGET,
    USER_DONE,
    USER_GAVE_UP,
    Reply,
    SystemContext,
    Usage,
    UserContext,
)
from dialgauge.agents.vocabulary import ServiceWords, Vocabulary
from dialgauge.agents.wording import items
from dialgauge.dialogue import Act, Speaker, Turn
from dialgauge.errors import DialgaugeError, choice
from dialgauge.worlds import Desk
from dialgauge.worlds.domain import Domain, DomainGoal, Service, ServiceDesk, ServiceTask
from dialgauge.worlds.tools import ToolPlan

_WAYS = ("native", "json")
_HIGHEST_SEED = 2**31 - 1
_NOTHING = "(Nothing was said.)"
_SAY = re.compile(r'^\s*\{\s*"say"\s*:\s*"')

_SYSTEM = """You work at {title}. You talk to a customer and use your tools to help.

How to work:
- Take every fact from the customer, the policy or what your tools return, and make nothing up. A value that is null \
is unknown: say that you don't know it.
- Look things up as soon as you know something of what the customer wants, and leave out the fields that you know \
nothing of. Do not ask again for what the customer has told you or does not mind.
- When something fits, offer one by its name, or a few to choose from. When nothing fits, say so, name the wishes that \
you searched for, and ask what may be different.
- Book or change only what the customer wants, once it is clear which one; ask for what the tool requires and the \
customer has not said. Do it once, and again only if the customer changes something.
- Nothing is booked or changed before a tool's result says so. Then tell the customer, with all that the result gives, \
word for word. If it is refused, say so, and why.
- When a tool returns an error, put right what was wrong with the call, or tell the customer what cannot be done. What \
the policy does not allow, refuse.
- Answer every question of the message that you answer, in short sentences of plain text. When the customer says \
goodbye, say goodbye."""
_NAMESAKES = """
- More than one {noun} may have the same name: tell them apart by {called}, book by it, and tell the customer in what \
they differ."""
_POLICY = """

Policy of the house, which you must follow:
{policy}"""

DONE, GIVE_UP = "[DONE]", "[GIVE UP]"
#: A marker in brackets ends the conversation wherever it stands, without them only on a line of its own.
_MARKER = re.compile(r"\[\s*(DONE|GIVE[ _-]*UP)\s*\]|^[ \t]*(DONE|GIVE UP)[ \t.!]*$", re.IGNORECASE | re.MULTILINE)
_USER = """You are a customer who contacted {title}; whoever writes to you is its assistant.

How to talk:
- Write only your next message, one or two short sentences. Bring up one or two points at a time, never all at once. \
Never mention these instructions.
- Use what stands below as it stands, and make nothing up: when you are asked about something that is not below, say \
that you don't mind; when you are asked for something that you would have to know and don't, such as a name or a \
number, say that you don't know.
- Take the first offer that has what you wish for; if it lacks something, say what. When you are asked to confirm, say \
yes where it is what you want, else what is wrong. An answer that something is unknown is an answer: go on.{tools}
- If you cannot get one thing, go on with the rest. When all of it is done, refused or handed over to somebody else, \
say goodbye and write {done} on a line of its own. If you did not get everything, or the assistant makes no headway, \
write {give_up} there instead.

{wants}"""
_OWN_TOOLS = """
- You have tools of your own, for what only you can look up or do. Use them when the assistant asks for that."""


class LanguageSettings(ChatSettings, frozen=True, kw_only=True):
    """Settings of a model that takes part in a conversation."""

    #: native or json; without a word what the endpoint can do.
    tools: str = ""
    tool_calls: int = 6


class LanguageAgent(ABC):
    """One side of a conversation, spoken by a language model with the tools of its side."""

    name: str
    side: Speaker
    #: Where the acts of its turns come from.
    acts_source: str
    #: It hears and says words only, and takes its time.
    levels = ("text",)
    remote = True

    def __init__(self, settings: LanguageSettings) -> None:
        self._settings = settings
        self._way = choice(settings.tools or ("json" if settings.endpoint == LOCAL else "native"), _WAYS, "tools")
        self._client = ChatClient(settings)
        self.prices = [settings.price_in, settings.price_out]

    def _begin(self, context: UserContext | SystemContext, prompt: str, desk: Desk | None) -> None:
        """A new conversation, with the tools of a desk if there are any."""
        if context.level != "text":
            raise DialgaugeError(f"{self.name} has words only: it needs --level text")
        if context.streams is None:
            raise DialgaugeError(f"{self.name} needs random streams, as the lab gives them")
        self._desk, self._tools = desk, [] if desk is None else desk.tools(self.side)
        if self._tools and self._way == "json":
            prompt += json_instructions(self._tools)
        self._limits = context.limits
        self._seed = context.streams(f"{self.side}-llm").integer(0, _HIGHEST_SEED)
        self._messages: Messages = [{"role": "system", "content": prompt}]

    def respond(self, turn: Turn | None) -> Reply:
        """The next turn; what a model cannot answer, or may not cost, ends the dialogue and nothing else."""
        self._usage = NO_USAGE
        try:
            return self._answer(turn)
        except (BudgetSpent, ChatError) as error:
            reason = TOKEN_BUDGET if isinstance(error, BudgetSpent) else ENDPOINT_ERROR
            return Reply(
                turn=None, done=True, end_reason=reason, explanation=f"{self.name}: {error}", usage=self._usage
            )

    @abstractmethod
    def _answer(self, turn: Turn | None) -> Reply:
        """What the model says to a turn."""

    def _said_to(self, text: str) -> str:
        """What the model says to a message once it has used its tools; after so many calls it has to speak."""
        self._messages.append({"role": "user", "content": text})
        left = self._settings.tool_calls if self._tools else 0
        while True:
            answer = self._asked(left)
            calls = list(self._wanted(answer)) if left > 0 else []
            if not calls:
                self._messages.append({"role": "assistant", "content": answer.text or " "})
                return self._words(answer)
            self._use(answer, calls, left)
            left -= len(calls)
            if left <= 0:
                enough = "(No more tools for this message: answer the customer now.)"
                self._messages.append({"role": "user", "content": enough})

    def _asked(self, left: int) -> Completion:
        answer = self._client.ask(self._messages, seed=self._seed, **self._offer(left))
        cut = int(answer.finish == "length")
        self._usage += Usage(calls=1, tokens_in=answer.tokens_in, tokens_out=answer.tokens_out, cut=cut)
        if answer.finish == "content_filter":
            raise ChatError("a content filter withheld the model's answer")
        return answer

    def _spoken(self, text: str) -> str:
        """Words no longer than allowed."""
        words = text[: self._limits.characters].strip()
        self._usage += Usage(empty=int(not words), cut=int(len(text) > self._limits.characters))
        return words

    # Tools

    def _offer(self, left: int) -> dict[str, Any]:
        """The parameters that let the model use tools, or keep it from it."""
        if not self._tools:
            return {}
        if self._way == "native":
            tools = [{"type": "function", "function": tool} for tool in self._tools]
            return {"tools": tools, "tool_choice": "auto" if left > 0 else "none"}
        schema = _schema(self._tools if left > 0 else ())
        return {"response_format": {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}}}

    def _wanted(self, answer: Completion) -> Iterator[tuple[str, str, object]]:
        """Id, name and arguments of the tools that the model wants used."""
        if self._way == "native":
            for call in answer.calls:
                yield call.id, call.name, call.arguments
        else:
            given = _object(answer.text)
            if given is not None and isinstance(given.get("tool"), str) and "say" not in given:
                yield "", given["tool"], given.get("arguments")

    def _use(self, answer: Completion, calls: list[tuple[str, str, object]], left: int) -> None:
        results = []
        for number, (_, name, arguments) in enumerate(calls):
            result: Any = {"error": "no more tools for this message"}
            if self._desk is not None and number < left:
                result = self._desk.call(name, arguments, self.side).answer
            results.append(json.dumps(result))
        if self._way == "json":
            self._messages.append({"role": "assistant", "content": answer.text})
            self._messages.append({"role": "user", "content": f"RESULT: {results[0]}"})
            return
        asked = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
            for call in answer.calls
        ]
        self._messages.append({"role": "assistant", "content": answer.text, "tool_calls": asked})
        for (identifier, _, _), result in zip(calls, results, strict=True):
            self._messages.append({"role": "tool", "tool_call_id": identifier, "content": result})

    def _words(self, answer: Completion) -> str:
        """What is said: of JSON that was cut off in the middle as much as there is."""
        if not self._tools or self._way == "native":
            return answer.text
        given = _object(answer.text)
        if given is not None:
            text = given.get("say")
            return text.strip() if isinstance(text, str) else ""
        if begun := _SAY.match(answer.text):
            return answer.text[begun.end() :].strip()
        return "" if answer.text.startswith("{") else answer.text  # half a call is nothing to say


class LlmSystem(LanguageAgent):
    """A language model behind the desk."""

    name = "llm-system"
    side: Speaker = "system"
    acts_source = "words and calls"

    def start(self, context: SystemContext) -> None:
        """A new conversation."""
        if not isinstance(context, SystemContext):
            raise DialgaugeError(f"{self.name} is a system; it cannot take the user's place")
        desk = context.office
        if desk is None:
            raise DialgaugeError(f"{self.name} needs a desk with tools, and this conversation has none")
        services = desk.domain.services.values() if isinstance(desk, ServiceDesk) else ()
        policy = _POLICY.format(policy=desk.policy.strip()) if desk.policy.strip() else ""
        self._begin(context, _SYSTEM.format(title=desk.title) + "".join(map(_namesakes, services)) + policy, desk)

    def _answer(self, turn: Turn | None) -> Reply:
        if turn is None:
            raise DialgaugeError(f"{self.name} was asked to begin; in the lab the user does")
        words = self._spoken(self._said_to(turn.text or _NOTHING))
        desk = self._desk
        ended = desk is not None and desk.ended
        return Reply(
            turn=Turn(speaker="system", text=words),
            state=None if desk is None else desk.state,
            done=ended,
            end_reason=SYSTEM_QUIT if ended else "",
            usage=self._usage,
        )


class LlmUser(LanguageAgent):
    """A language model that was given a goal, or a task of a tool domain."""

    name = "llm-user"
    side: Speaker = "user"
    acts_source = "observer"

    def start(self, context: UserContext) -> None:
        """A new goal."""
        if not isinstance(context, UserContext):
            raise DialgaugeError(f"{self.name} is a user; it cannot take the system's place")
        plan, domain = context.plan, context.domain
        #: Labels what the model says with acts, where the domain has some.
        self._listener: UserListener | None = None
        self._service = ""
        if isinstance(plan, ToolPlan):
            self._begin(context, task_prompt(plan), plan.desk)
        elif isinstance(plan, DomainGoal) and isinstance(domain, Domain):
            self._vocabulary = Vocabulary.of(domain, context.ontology)
            self._listener = UserListener(self._vocabulary)
            self._begin(context, goal_prompt(plan, self._vocabulary), None)
        else:
            raise DialgaugeError(f"{self.name} needs a goal of a domain, and this conversation has none")

    def _answer(self, turn: Turn | None) -> Reply:
        # To the model the roles are the other way round: it is the assistant that answers.
        text, done, gave_up = without_markers(
            self._said_to("Hello, what can I do for you?" if turn is None else turn.text or _NOTHING)
        )
        words, ends = self._spoken(text), done or gave_up
        acts = self._labelled(words)
        asked = None if acts is None else requested(acts)
        return Reply(
            turn=None if ends and not words else Turn(speaker="user", text=words, acts=acts, requested=asked),
            done=ends,
            end_reason=(USER_GAVE_UP if gave_up else USER_DONE) if ends else "",
            success=None if not ends or self._listener is None else not gave_up,
            usage=self._usage,
        )

    def _labelled(self, text: str) -> tuple[Act, ...] | None:
        """The acts that an observer reads in what the user says."""
        if self._listener is None:
            return None
        acts = self._listener.hear(Turn(speaker="user", text=text), (), self._service)[: self._limits.acts]
        self._service = next((act.domain for act in reversed(acts) if act.domain in self._vocabulary), self._service)
        return acts


# Prompts


def _namesakes(service: Service) -> str:
    """What to do about rows that share their name; nothing where none do."""
    names = [row.get(service.name_slot) for row in service.rows or ()]
    if not service.id_slot or len(set(names)) == len(names):
        return ""
    return _NAMESAKES.format(noun=service.name, called=service.id_slot)


def without_markers(text: str) -> tuple[str, bool, bool]:
    """The words without their markers, whether the user is done, and whether it gives up."""
    markers = {(match[1] or match[2]).upper()[:4] for match in _MARKER.finditer(text)}
    return _MARKER.sub("", text).strip(), "DONE" in markers, "GIVE" in markers


def task_prompt(plan: ToolPlan) -> str:
    """The instructions of a task in a tool domain."""
    knows = "".join(f"\n* {name}: {value}" for name, value in plan.knows.items())
    wants = f"Your situation:\n\n{plan.instruction}" + (f"\n\nYou know:{knows}" if knows else "")
    tools = _OWN_TOOLS if plan.desk.tools("user") else ""
    return _USER.format(title=plan.title, wants=wants, tools=tools, done=DONE, give_up=GIVE_UP)


def goal_prompt(goal: DomainGoal, vocabulary: Vocabulary) -> str:
    """The instructions of a goal, numbered, in the order in which it is to be discussed."""
    lines = [line for task in goal.tasks for line in _instructions(task, vocabulary[task.domain])]
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(lines, 1))
    wants = f"What you want, in this order:\n{numbered}"
    return _USER.format(title=vocabulary.domain.title, wants=wants, tools="", done=DONE, give_up=GIVE_UP)


def _instructions(task: ServiceTask, words: ServiceWords) -> Iterator[str]:
    """What to do about one service, in sentences."""
    service, wanted = words.service, task.first or task.info
    told = [items(words, wanted)] if wanted else []
    booked = [items(words, task.book_first or task.book)] if task.book else []
    linked = [
        f"for the {words.label(slot)}, say the name of the {other} that you settled on"
        for slot, other in task.links.items()
    ]
    if service.rows is None:
        yield f"You want to book {service.title}: {'; '.join([*told, *booked, *linked])}."
    else:
        yield f"You need {service.title}.{f' Your wishes: {told[0]}.' if told else ''}"
    if task.first:
        yield f"Only if there is none like that, {_instead(words, task.first, task.info)}."
    asked = [words.label(slot) for slot in task.requests if slot not in service.gives]
    if asked:
        yield f"Find out: {', '.join(asked)}."
    if booked and service.rows is not None:
        yield f"Then book it: {'; '.join([*booked, *linked])}."
    if task.book and task.book_first:
        yield f"Only if that booking is refused, {_instead(words, task.book_first, task.book)}."
    if booked and service.gives:
        yield f"Make sure that you are told: {', '.join(map(words.label, service.gives))}."


def _instead(words: ServiceWords, before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """What is other than before; all that is left where something was only left out."""
    changed = {slot: value for slot, value in after.items() if before.get(slot) != value}
    if changed and before.keys() <= after.keys():
        return f"change this and keep the rest: {items(words, changed)}"
    return f"ask for just this instead: {items(words, after)}"


# Tools as JSON


def json_instructions(tools: Iterable[Mapping[str, Any]]) -> str:
    """How to use tools without the protocol; an endpoint that constrains answers shows the model none of the schema."""
    return (
        '\n\nWrite one JSON object and nothing else: {"say": "WORDS"} to speak, or {"tool": "NAME", "arguments": '
        '{"FIELD": "VALUE"}} to use a tool first; its result comes back in a message that begins with RESULT, and you '
        "write again. Tools and their fields, * for those that must be there:\n"
    ) + "\n".join(map(_usage_line, tools))


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


def _schema(tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The schema of an answer: words to the customer, or one of the tools with its arguments."""
    say = _object_schema({"say": {"type": "string"}})
    calls = [
        _object_schema({"tool": {"type": "string", "enum": [tool["name"]]}, "arguments": tool["parameters"]})
        for tool in tools
    ]
    return {"anyOf": [say, *calls]} if calls else say


def _object_schema(properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object", "properties": properties, "required": list(properties), "additionalProperties": False,
    }  # fmt: skip


def _object(text: str) -> dict[str, Any] | None:
    with suppress(ValueError, RecursionError):
        given = json.loads(text)
        if isinstance(given, dict):
            return given
    return None


def llm_system(**settings: Any) -> LlmSystem:
    """A system that a language model speaks."""
    return LlmSystem(LanguageSettings(**settings))


def llm_user(**settings: Any) -> LlmUser:
    """A user that a language model speaks."""
    return LlmUser(LanguageSettings(**settings))


# The registry checks and converts settings by the signature.
llm_system.__signature__ = llm_user.__signature__ = inspect.signature(LanguageSettings)  # type: ignore[attr-defined]
