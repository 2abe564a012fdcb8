"""Where the messages of a record stand.

Under a usual name, as its only list of messages or its only transcript, further inside, or as what was asked and how it
was answered.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import Struct

from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import literal
from dialgauge.formats.logs.fact_names import plain_key, says_outcome
from dialgauge.formats.logs.messages import content_of, is_message, is_talk, role_of, transcript, unwrapped
from dialgauge.formats.logs.record_fields import PROMPTFOO
from dialgauge.formats.logs.record_verdicts import says_done
from dialgauge.formats.tau_messages import is_tau_result

#: Where the messages of a conversation stand.
_MESSAGES = ("messages", "conversations", "conversation", "dialogue", "dialog", "chat", "chat_history", "history",
             "transcript", "traj", "trajectory", "items", "turns", "message_history", "full_history",
             "contents", "steps")  # fmt: skip
#: What a conversation is asked to go on with, and how it went on.
_BEGUN = ("input", "prompt", "request", "inputs", "question", "user_input", "query")
ANSWERS = ("output", "completion", "response", "responses", "choices")
ENDED = (*ANSWERS, "outputs", "actual_output", "actualOutput")
#: Names under which a record has something that was said.
SPOKEN = frozenset((*_MESSAGES, *_BEGUN, *ENDED))
#: Where one side of an exchange keeps what it says.
_SIDE = ("messages", "contents", "input", "choices", "candidates", "output", "raw")
#: Members whose messages nobody said in this conversation.
NOT_SAID = frozenset(
    """
    expected expectedoutput reference references gold golden target targets ideal example examples fewshot fewshots
    fewshotexamples demonstrations initialstate evaluationcriteria tools functions config testcase vars judge judges
    judgement judgment grader graders grading evaluator evaluation critic
    """.split()  # noqa: SIM905
)
#: Messages that are looked at, and how deep they lie in a record.
_LOOKED_AT, _DEEPEST = 3, 3
#: Messages that were written as a text, by JSON or by Python; longer ones are none of Python's.
_EMPTY = re.compile(r"\s{0,99}\[\s{0,99}\]\s{0,99}")
_LISTED = re.compile(r"\s{0,99}\[\s{0,99}\{\s{0,99}[\"']")
_OPENED = re.compile(r"\s{0,99}[\[{]\s{0,99}[\[{\"']")
_LONGEST_LITERAL = 1 << 20


class Talk(Struct):
    """The messages of a record, the keys that hold them, and what stands beside them further inside."""

    messages: Sequence[Any]
    used: tuple[str, ...]
    beside: Mapping[str, Any] = {}
    #: The keys that lead to what was read, where that is not usual, and what is told of it.
    path: tuple[str, ...] = ()
    how: str = "messages read from '{path}'"


def messages_key(record: Mapping[str, Any]) -> str:
    """The usual name under which a record has its messages."""
    for key in _MESSAGES:
        given = record.get(key)
        if key == "messages" and isinstance(given, str) and _EMPTY.fullmatch(given):
            return key
        if isinstance(given, str) and _LISTED.match(given) and (key == "messages" or are_messages(_literal(given))):
            return key
        if not isinstance(given, list):
            continue
        meant = not given or (isinstance(given[0], dict) and "role" in given[0])
        if meant and key == "messages":  # what is wrong with a message is said when it is read
            return key
        if given and is_message(given[0]) and (key != "turns" or has_role(given[0])):
            return key
        if given and is_talk(given[0]) and (says_outcome(record) or says_done(record)) and not _is_framed(record):
            return key
    return ""


def has_role(message: Any) -> bool:
    """Does a message name a role, as no turn of dialogue data does?"""
    return isinstance(message, dict) and not {"role", "from"}.isdisjoint(message)


def _is_framed(record: Mapping[str, Any]) -> bool:
    """Is it a dialogue of a format that has turns, too?"""
    return "metrics" in record or isinstance(record.get("goal"), dict)


def opened_messages(messages: Any) -> Any:
    """Messages, also where they are written as a text."""
    given = _literal(messages) if isinstance(messages, str) else messages
    if not isinstance(given, list):
        raise DialgaugeError("'messages' is a text, and no list of messages in JSON")
    return given


def _literal(text: str) -> list[Any] | dict[str, Any] | None:
    """The list or object that JSON or Python means by a text; None where it is none."""
    given = literal(text.strip(), _LONGEST_LITERAL)
    return given if isinstance(given, list | dict) else None


def exchange(record: Mapping[str, Any], *, texts: bool = False) -> Talk | None:
    """What was asked and how it was answered, of which at least one is messages; or with ``texts`` two texts."""
    begun = next((name for name in _BEGUN if record.get(name) is not None), "")
    ended = next((name for name in ENDED if record.get(name) is not None), "")
    answered = said_by(record.get(ended), "assistant")
    if not begun and answered and record.keys() >= PROMPTFOO and isinstance(record.get("vars"), dict):
        name, asked = max(record["vars"].items(), key=lambda each: len(each[1]) if isinstance(each[1], str) else 0)
        how = "'{path}' read as what the user said, as there is no prompt"
        return Talk([*said_by(asked, "user"), *answered], (ended,), {}, ("vars", name), how)
    asked = said_by(record.get(begun), "user")
    if begun and not texts and _is_whole(answered) and not (asked and "speaker" not in asked[0]):
        held = record[ended] if isinstance(record[ended], dict) and not asked else {}
        beside = {key: member for key, member in held.items() if key not in _SIDE}
        how = f"'{{path}}' not read as a message: '{ended}' holds what the user said"
        return Talk(answered, (ended,), beside, (begun,), how)
    if not begun or not ended or (isinstance(record[begun], dict) and not asked):
        return None
    if texts:
        how = f"'{{path}}' read as what the user said, '{ended}' as what the agent answered"
        both = asked and answered and not {"dialogue", "turn", "output"} <= record.keys()
        return Talk([*asked, *answered], (begun, ended), {}, (begun,), how) if both else None
    if all("speaker" in message for message in (*asked[:1], *answered[:1])):
        return None
    used = tuple(name for name, side in ((begun, asked), (ended, answered)) if side)
    return Talk([*asked, *answered[_repeated(asked, answered) :]], used)


def _is_whole(answered: Sequence[Any]) -> bool:
    """Is an answer a whole conversation, which the user begins?"""
    roles = (role_of(unwrapped(message)) for message in answered if isinstance(message, dict))
    return next((role for role in roles if role != "system"), "") == "user"


def _repeated(asked: Sequence[Any], answered: Sequence[Any]) -> int:
    """With how many messages an answer begins that were asked, as where it holds the whole."""
    for length in range(min(len(asked), len(answered)), 0, -1):
        if all(map(same_message, asked[-length:], answered)):
            return length
    return 0


def same_message(message: Any, other: Any) -> bool:
    """Does the same side say the same in both?"""
    first, second = unwrapped(message), unwrapped(other)
    return role_of(first) == role_of(second) and content_of(first) == content_of(second)


def said_by(given: Any, role: str) -> list[Any]:
    """What one side of an exchange says, as messages, a text as that of a speaker; nothing where it is not clear."""
    if isinstance(given, str):
        opened = said_by(_literal(given), role) if _OPENED.match(given) else []
        if opened and "speaker" not in opened[0]:
            return opened
        return [{"speaker": role, "text": given}] if given.strip() else []
    if isinstance(given, dict):
        if is_message(given):
            return [given]
        if key := next((name for name in _SIDE if name in given), ""):
            return said_by(given[key], role)
        return said_by(next(iter(given.values())), role) if len(given) == 1 else []
    first = given[0] if isinstance(given, list) and given and isinstance(given[0], dict) else {}
    for held in (first.get("message"), first.get("content")):  # of the first choice, or candidate
        if isinstance(held, dict) and (held is first.get("message") or is_message(held)):
            return [held]
    return given if are_messages(given) else []


def are_messages(given: Any) -> bool:
    """Is it a list of messages, by its first ones?"""
    return isinstance(given, list) and bool(given) and all(map(is_message, given[:_LOOKED_AT]))


def hidden(record: Mapping[str, Any], depth: int = 0) -> Talk | None:
    """Messages under no usual name: the only list of them, in an object inside, in a transcript, or two texts."""
    if any(plain_key(key).endswith("spanid") for key in record):  # a part of a trace
        return None
    members = {key: member for key, member in record.items() if plain_key(key) not in NOT_SAID}
    lists = [key for key, member in members.items() if isinstance(member, list) and _holds_messages(member)]
    if lists:
        return Talk(record[lists[0]], (lists[0],), {}, (lists[0],)) if len(lists) == 1 else None
    inner = [
        (key, member, talk)
        for key, member in members.items()
        if isinstance(member, dict) and depth < _DEEPEST and (talk := _inside(member, depth + 1))
    ]
    if inner:
        key, held, talk = inner[0]
        beside = {**talk.beside, **{name: member for name, member in held.items() if name not in talk.used}}
        path = (key, *(talk.path or [" and ".join(talk.used)]))
        return Talk(talk.messages, (key,), beside, path, talk.how) if len(inner) == 1 else None
    prompts = _BEGUN if any(name in record for name in ENDED) else ()
    texts = [
        (key, turns)
        for key, member in members.items()
        if isinstance(member, str) and key not in prompts and (turns := transcript(member))
    ]
    if len(texts) == 1:
        key, turns = texts[0]
        return Talk(turns, (key,), {}, (key,), "the text of '{path}' taken apart where lines begin with a speaker")
    return exchange(record, texts=True) if depth == 0 and not texts and says_outcome(record) else None


def _inside(record: Mapping[str, Any], depth: int) -> Talk | None:
    if is_other(record):
        return None
    key = messages_key(record)
    return Talk(opened_messages(record[key]), (key,)) if key else exchange(record) or hidden(record, depth)


def _holds_messages(given: Sequence[Any]) -> bool:
    """Is it a list of messages, between which there may be events of other kinds?"""
    first = next((message for message in given[:20] if not _is_event(message)), None)
    return isinstance(first, dict) and is_message(first) and "speaker" not in first


def _is_event(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("event"), str) and not is_message(value)


def is_other(record: Mapping[str, Any]) -> bool:
    """A file of another family that also has messages in it."""
    keys = record.keys()
    tau2 = {"task_id", "termination_reason"} <= keys and bool({"reward_info", "ticks"} & keys)
    return (
        tau2
        or {"eval", "version"} <= keys
        or "observations" in keys
        or "resourceSpans" in keys
        or "evaluation_criteria" in keys
        or is_tau_result(record)
        or {"epoch", "target", "scores", "messages"} <= keys
    )


def has_messages(record: Mapping[str, Any]) -> bool:
    """Has a record messages under a usual name, or in what was asked and answered?"""
    return bool(messages_key(record)) or exchange(record) is not None
