"""Messages as chat services, model vendors and tracers write them, made into the one kind that becomes turns.

Read are OpenAI's chat messages and *responses* items, the content blocks of Anthropic, Bedrock, Gemini, LlamaIndex,
Pydantic AI and Vercel, the names of LangChain, ShareGPT, AutoGen, Rasa and Botpress, OpenTelemetry's parts, inspect's
messages, and transcripts. Text, tool calls and tool results are kept; pictures, sounds, files and reasoning are counted
in the notes and left out.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Turn
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats.logs.agent_steps import OBSERVATION, is_step, observed, of_openhands, step_keys, usual_message
from dialgauge.formats.logs.content_parts import (
    CALL_KEYS,
    add_calls,
    call_arguments,
    calls_in,
    error_words,
    first_text,
    is_ui_tool,
    message_parts,
    result_text,
    says_failure,
    tool_result,
)
from dialgauge.formats.notes import Notes
from dialgauge.formats.tau_messages import TauMessage, ToolResult, WrittenToolCall, turns_of

Role: TypeAlias = Literal["system", "user", "assistant", "tool"]

ROLES: dict[str, Role] = {
    **dict.fromkeys(("user", "human", "customer", "client", "guest", "visitor", "caller"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "gpt", "chatgpt", "bot", "agent", "model", "bing", "bard", "operator", "support"),
        "assistant",
    ),
    **dict.fromkeys(("system", "developer", "instruction"), "system"),
    **dict.fromkeys(("tool", "function", "observation", "environment", "ipython"), "tool"),
}
#: Under which keys a message says who speaks, and what.
_OTHER_ROLE_KEYS = ("source", "event", "direction", "kind")  # which other things than messages have, too
_ROLE_KEYS = ("role", "from", "speaker", "sender", "author", "type", *_OTHER_ROLE_KEYS)
#: Who speaks where a call, or what came of it, is a message of its own, as LLaMA-Factory writes them.
_CALLED: dict[str, Role] = {
    **dict.fromkeys(("function_call", "tool_call", "tool_calls"), "assistant"),
    **dict.fromkeys(("tool_result", "tool_response", "function_response", "tool_call_result"), "tool"),
}
#: Keys with words of their own for who speaks.
_SIDES: dict[str, dict[str, Role]] = {
    **{key: {**ROLES, **_CALLED} for key in ("role", "from")},
    "direction": {
        **dict.fromkeys(("incoming", "inbound"), "user"),
        **dict.fromkeys(("outgoing", "outbound", "outbound-api", "outbound-reply"), "assistant"),
    },
    "kind": {"request": "user", "response": "assistant"},
    "author": {  # with the words of Intercom and Zendesk
        **ROLES,
        **dict.fromkeys(("lead", "contact", "end-user"), "user"),
        **dict.fromkeys(("admin", "team"), "assistant"),
    },
}
#: Parts of a conversation that its customer does not see.
_INTERNAL = frozenset({"note", "note_and_reopen"})
#: What ends a line in a text of HTML, and every other tag.
_BREAK, _TAG = re.compile(r"</(?:p|div|li|h[1-6])>|<br ?/?>"), re.compile(r"<[^<>]{1,2000}>")
CONTENT_KEYS = ("content", "value", "text", "parts", "blocks", "message", "utterance", "body")
#: Keys that are known in capitals, too.
_HEADINGS = frozenset({"from", "speaker", "sender", "author", *CONTENT_KEYS})
#: How a line of a transcript begins: who speaks, perhaps after a time and in bold.
_SPOKEN_LINE = re.compile(
    r"[ \t]*(?:\[[^\]\n]{1,40}\][ \t]*)?\*{0,2}([A-Za-z]{1,20})[ \t]?(?:\([^)\n]{1,40}\))?(?::\*{0,2}|\*{2}:)(.*)"
)
#: Items of OpenAI's *responses* that are no messages.
_ITEM_CALLS = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_ITEM_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_HOSTED_CALL = re.compile(r"[a-z_]+_call")
#: How a key may go on that words are filed under: ``agent_response``.
_SAYS = re.compile(r"_(?:message|msg|text|utterance|input|response|reply)$")
#: What may stand beside words that are filed under who said them.
_BESIDE = frozenset({"turn", "turn_id", "index", "idx", "id", "timestamp", "time"})
#: Kinds of AutoGen's messages, whose source is the name of an agent.
_AUTOGEN = re.compile(r"[A-Z]\w{2,40}(?:Message|Event)")
_CAPITAL = re.compile(r"(?<=[a-z])(?=[A-Z])")
#: What a line of a session, or a choice of a model, has beside its message.
_AROUND = frozenset({"type", "index", "finish_reason"})
#: Where a message says when it was sent, and how a time begins whose texts are in order.
_TIMES = ("created_at", "createdAt", "timestamp", "time", "date_created")
_DATED = re.compile(r"\d{4}-\d\d-\d\d[T ]\d\d:")
#: Beyond this a conversation was not meant.
MOST_MESSAGES = 100_000


class LogMessages(Struct, frozen=True):
    """The messages of one conversation, and the place of each in its file."""

    messages: tuple[TauMessage, ...]
    places: tuple[int, ...]

    def turns(self) -> tuple[Turn, ...]:
        """What both sides said and did."""
        return tuple(turns_of(self.messages, self.places))

    @property
    def prompt(self) -> str:
        """What the agent was told before anybody spoke."""
        return "\n".join(message.content or "" for message in self.messages if message.role == "system")


def is_message(value: Any) -> bool:
    """Does something look like a message: does it say who speaks, by a name that is known, and what?"""
    if not isinstance(value, dict):
        return False
    value = unwrapped(value)
    if item_kind(value):
        return True
    key, _, role = _speaker(value)
    if key in _OTHER_ROLE_KEYS:
        return (
            role is not None
            and any(isinstance(value.get(held), str | list) for held in ("content", "text", "parts", "body"))
        ) or ("step_id" in value and "message" in value)
    said = any(name in value for name in (*CONTENT_KEYS, *CALL_KEYS, *step_keys(key)))
    return said if role is not None else not key and is_step(value)


def is_spoken(value: Any) -> bool:
    """Does something file words under who said them: ``{"agent": "hello"}``, ``["user", "hi"]``?"""
    return bool(_speakers(value))


def is_talk(value: Any) -> bool:
    """Is it a turn in the words of dialogue data, without any annotation of its own?"""
    if is_spoken(value):
        return True
    return is_message(value) and {"speaker"} < value.keys() <= {"speaker", "utterance", "text", *_BESIDE}


def _speakers(value: Any, roles: Mapping[str, Role] = ROLES) -> list[tuple[str, Any]]:
    """Who says what in an object whose keys are speakers, or in a pair; nothing where it is neither."""
    if isinstance(value, list):
        pair = len(value) == 2 and all(isinstance(text, str) for text in value) and value[0].lower() in roles
        return [(value[0].lower(), value[1])] if pair else []
    if not isinstance(value, dict):
        return []
    spoken = [(_SAYS.sub("", key.lower()), text) for key, text in value.items() if key.lower() not in _BESIDE]
    fits = all(
        role in roles and (text is None or isinstance(text, str) or (role in _CALLED and isinstance(text, dict)))
        for role, text in spoken
    )
    return spoken if fits else []


def unwrapped(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message without what LangChain, transcripts of sessions, Botpress and tracers put around it."""
    if isinstance(said := message.get("content"), dict) and isinstance(said.get("parts"), list):  # of Google's agents
        return {**message, "content": said["parts"], **({"role": said["role"]} if "role" in said else {})}
    if "role" in message:
        return message
    if "source" in message and (event := of_openhands(message)):
        return event
    if "Role" in message or "ROLE" in message:
        return {_CAPITAL.sub("_", key).lower(): value for key, value in message.items()}
    message = _in_small_letters(message)
    data, name, inner, payload = (message.get(key) for key in ("data", "id", "message", "payload"))
    if isinstance(inner, dict) and isinstance(inner.get("role"), str) and not _AROUND.isdisjoint(message):
        return inner
    if not message.keys().isdisjoint(CONTENT_KEYS):
        return message
    if isinstance(data, dict) and isinstance(message.get("type"), str):
        return {**data, "type": message["type"]}
    if isinstance(message.get("kwargs"), dict) and isinstance(name, list) and name and isinstance(name[-1], str):
        return {**message["kwargs"], "type": name[-1]}
    if isinstance(payload, dict) and isinstance(payload.get("text"), str):
        return {**message, "content": payload["text"]}
    if "message.role" in message:
        return {key.removeprefix("message."): value for key, value in message.items()}
    return message


def _in_small_letters(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """A message whose keys for who speaks, and what, may be written as headings are: ``Speaker``, ``TEXT``."""
    small = {key: key.lower() for key in message if not key.islower() and key.lower() in _HEADINGS - message.keys()}
    return {small.get(key, key): value for key, value in message.items()} if small else message


def role_of(message: Mapping[str, Any]) -> Role | None:
    """Who speaks; None where it does not say it by a name that is known."""
    return _speaker(message)[2]


def _speaker(message: Mapping[str, Any]) -> tuple[str, str, Role | None]:
    """Under which key it says who speaks, in which word, and who that is. A ``role`` is the last word on it."""
    first: tuple[str, str, Role | None] = ("", "", None)
    for key in _ROLE_KEYS:
        given = message.get(key)
        if isinstance(given, dict):
            given = given.get("role", given.get("type") if key == "author" else None)
        if not isinstance(given, str) or (key == "type" and given == "message"):
            continue
        word = given.strip().lower().removesuffix("chunk").removesuffix("message")
        role = _SIDES.get(key, ROLES).get(word)
        first = first if first[0] else (key, given, role)
        if role is not None or key == "role":
            return key, given, role
    return first


def transcript(text: str) -> list[dict[str, Any]]:
    """The turns of a text whose lines say who speaks, ``User: hi``; nothing unless both sides do."""
    turns: list[tuple[str, list[str]]] = []
    for line in text.splitlines() if ":" in text else ():
        spoken = _SPOKEN_LINE.fullmatch(line)
        if spoken and spoken[1].lower() in ROLES:
            turns.append((spoken[1].lower(), [spoken[2]]))
        elif turns:
            turns[-1][1].append(line)
        elif line.strip():
            return []
    roles = {ROLES[speaker] for speaker, _ in turns}
    if "user" not in roles or len(roles) < 2:
        return []
    return [{"speaker": speaker, "text": "\n".join(lines).strip()} for speaker, lines in turns]


def item_kind(message: Mapping[str, Any]) -> str:
    """What an item of *responses* that is no message is: a call, a result, a thought; empty for messages."""
    kind = message.get("type")
    if not isinstance(kind, str) or "role" in message:
        return ""
    if kind in _ITEM_CALLS and "name" in message:
        return "call"
    if kind in _ITEM_RESULTS:
        return "result"
    if kind == "reasoning" and ("summary" in message or "content" in message):
        return "thought"
    return "hosted" if _HOSTED_CALL.fullmatch(kind) and "id" in message else ""


def read_messages(given: Sequence[Any], notes: Notes) -> LogMessages:
    """The messages of a conversation. One of an unknown role, or that is no object, is an error with its place."""
    if len(given) > MOST_MESSAGES:
        raise DialgaugeError(f"it has {len(given):,} messages; more than {MOST_MESSAGES:,} were not meant")
    made: list[TauMessage] = []
    places: list[int] = []
    for index, raw in _in_time(given, notes):
        for written in _messages(raw, index, notes):
            message = _as_result(written) if made and made[-1].tool_calls else written
            if made and _goes_on(made[-1], message):
                made[-1] = TauMessage("assistant", None, (*(made[-1].tool_calls or ()), *(message.tool_calls or ())))
            else:
                made.append(message)
                places.append(index)
    if given and _calls_itself_system(given[0], made):
        made = [
            TauMessage("assistant", each.content, each.tool_calls) if each.role == "system" else each for each in made
        ]
    return LogMessages(tuple(made), tuple(places))


def _calls_itself_system(first: Any, made: Sequence[TauMessage]) -> bool:
    """Is the agent called system, as in dialogue data: speakers, none of whom is an assistant, and it answers?"""
    roles = [message.role for message in made]
    if "assistant" in roles or "user" not in roles or "system" not in roles[roles.index("user") :]:
        return False
    return is_spoken(first) or (isinstance(first, dict) and "speaker" in first and not {"role", "from"} & first.keys())


def _in_time(given: Sequence[Any], notes: Notes) -> list[tuple[int, Any]]:
    """Messages with their places, the last of them first where their times say that they are written so."""
    numbered = list(enumerate(given))
    if len(given) < 2 or (
        len(given) == 2 and isinstance(given[0], dict) and role_of(given[0]) == "user"
    ):  # two clocks may differ
        return numbered
    for key in _TIMES:
        times = [raw.get(key) if isinstance(raw, dict) else None for raw in given]
        texts = [time for time in times if isinstance(time, str) and _DATED.match(time)]
        numbers = [time for time in times if isinstance(time, int | float)]
        for known in (texts, numbers):
            if len(known) == len(given) and known == sorted(known, reverse=True) and known[0] != known[-1]:
                notes.add("messages written from the last to the first put in the order of their times")
                return numbered[::-1]
    return numbered


def _as_result(message: TauMessage) -> TauMessage:
    """What was observed after a call, where it is written as the user's words."""
    seen = observed(message.content or "") if message.role == "user" else None
    return message if seen is None else TauMessage("tool", seen)


def _goes_on(last: TauMessage, message: TauMessage) -> bool:
    """Two calls without words in a row were made together: *responses* writes each as an item of its own."""
    both = (last, message)
    return all(each.role == "assistant" and each.tool_calls and not each.content for each in both)


def _messages(raw: Any, number: int, notes: Notes) -> Iterator[TauMessage]:
    if spoken := _speakers(raw, _SIDES["role"]):
        for speaker, text in spoken:
            if text:
                yield from _messages({"role": speaker, "content": text}, number, notes)
        return
    if not isinstance(raw, dict):
        raise DialgaugeError(f"message {number} is no object with a role and a content", turn=number)
    raw = unwrapped(raw)
    if kind := item_kind(raw):
        yield from _item(kind, raw, notes)
        return
    part = raw.get("part_type")
    if isinstance(part, str) and (part in _INTERNAL or not content_of(raw)):
        notes.add(f"parts of the kind {part[:40]} left out")
        return
    if raw.get("public") is False:
        notes.add("messages that are not public left out")
        return
    key, written, role = _speaker(raw)
    if not key and is_step(raw):
        role = "assistant"
    if role is None and key == "event":
        notes.add(f"events of the kind {written[:40]} left out")
        return
    if role is None and isinstance(raw.get("source"), str) and _AUTOGEN.fullmatch(written):
        if written.startswith("Thought"):
            notes.add("reasoning left out")
            return
        role = "user" if "user" in raw["source"].lower() else "assistant"
        notes.add(f"the source '{raw['source'][:40]}' taken for the {'user' if role == 'user' else 'agent'}")
    if role is None:
        keys = ", ".join(str(name)[:30] for name in list(raw)[:8])
        why = f"it has no role, which is user, assistant, system or tool (it has {keys})"
        if written:
            why = f"the role '{written[:60]}' is unknown.{nearest(written, ROLES)}"
        raise DialgaugeError(f"message {number}: {why}", turn=number)
    if role in ("user", "assistant") and ROLES.get(str(raw.get("name")).lower(), role) != role:  # AutoGen before 0.4
        notes.add(f"messages of the name '{raw['name'][:40]}' have the role '{written[:40]}', which counts")
    if key == "direction":
        notes.add(f"the direction {written[:40]} taken for messages of the {'user' if role == 'user' else 'agent'}")
    is_result, raw = usual_message(raw, role, content_of(raw), notes)
    role = "tool" if is_result else role
    called = calls_in(content_of(raw)) if role == "assistant" and written.strip().lower() in _CALLED else []
    parts = message_parts(None if called else content_of(raw), notes)
    parts.calls += called
    add_calls(raw, parts, notes)
    if isinstance(seen := raw.get(OBSERVATION), dict) and isinstance(seen.get("results"), list):
        parts.results += [tool_result(result, notes) for result in seen["results"] if isinstance(result, dict)]
    if isinstance(given := raw.get("tool_results"), list):
        parts.results += [tool_result(result, notes) for result in given if isinstance(result, dict)]
    if role == "tool" and not parts.results:
        text = "\n".join(parts.texts) or error_words(raw.get("error")) or result_text(raw.get("result"), notes)
        call = first_text(raw, "tool_call_id", "call_id", "toolCallId", "id")
        parts.results.append(ToolResult(call, text, says_failure(raw)))
        parts.texts = []
    if parts.prompts:
        yield TauMessage("system", "\n".join(parts.prompts))
    if role == "assistant" and parts.calls and (parts.results or parts.before):
        yield TauMessage(role, None, tuple(parts.calls))
        parts.calls = []
    for result in parts.results:
        yield TauMessage("tool", result.content, None, result.id, None, result.error)
    if role == "tool":
        return
    if parts.texts or parts.calls or not (parts.results or parts.prompts):
        yield TauMessage(role, "\n".join(parts.texts) or None, tuple(parts.calls) or None)


def _item(kind: str, raw: Mapping[str, Any], notes: Notes) -> Iterator[TauMessage]:
    call_id = first_text(raw, "call_id", "id")
    if kind == "thought":
        notes.add("reasoning left out")
    elif kind == "result":
        yield TauMessage("tool", result_text(raw.get("output"), notes), None, call_id, None, says_failure(raw))
    else:
        name = raw["name"] if kind == "call" else str(raw["type"]).removesuffix("_call")
        given = raw.get("arguments", raw.get("input")) if kind == "call" else raw.get("action")
        yield TauMessage("assistant", None, (WrittenToolCall(call_id, str(name), call_arguments(given)),))
        if raw.get("output") is not None:
            yield TauMessage("tool", result_text(raw["output"], notes), None, call_id, None, says_failure(raw))


def content_of(raw: Mapping[str, Any]) -> Any:
    """What a message says, as it was written; in parts where these also say what its tools did."""
    parts = raw.get("parts")
    if isinstance(parts, list) and any(isinstance(part, dict) and is_ui_tool(part) for part in parts):
        return parts
    for key in CONTENT_KEYS:
        given = raw.get(key)
        if given is not None:
            if key == "body" and isinstance(given, str) and given.startswith("<"):
                return html.unescape(_TAG.sub("", _BREAK.sub("\n", given))).strip()
            return given.get("content") if key == "message" and isinstance(given, dict) else given
    return None
