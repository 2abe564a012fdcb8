"""Chat messages in JSON, JSON Lines or tables, in the ways in which people keep them.

``{"messages": [...]}`` a line or a file, a list of such objects, an object of them by id, lists of messages, messages
one a line or row with the id of their conversation, ShareGPT (``conversations``), OpenAI's *responses* (``input`` and
``output``), prompts with their completions, trials by their task, transcripts. ``conversations`` finds them; what
stands beside the messages is read by ``facts``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from dialgauge.dialogue import Dialogue, read_details, write_details
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.logs.conversations import FoundConversation
from dialgauge.formats.logs.fact_names import AGENT_NAME, TRIAL_NAME, TRIAL_WORDS, may_be_calls
from dialgauge.formats.logs.fact_values import message_costs, message_tokens
from dialgauge.formats.logs.facts import CONTINUES, UNREAD_CALLS, facts_of
from dialgauge.formats.logs.file_conversations import conversations_of
from dialgauge.formats.logs.log_signs import holds_conversations
from dialgauge.formats.logs.logged import Numbering, logged_dialogue
from dialgauge.formats.logs.message_fields import unread_fields
from dialgauge.formats.logs.messages import LogMessages, read_messages, unwrapped
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part
from dialgauge.formats.tau_messages import as_text

#: What hardly two conversations have alike, and what is noted where they do.
_MEASURED = frozenset({"cost", "agent_cost", "duration", "tokens"})
#: The trial in the name of a file or its folder, and numbers that may be one: no version is.
_TRIAL_IN_NAME = re.compile(rf"[-_ .]?(?<![a-z])(?:{TRIAL_WORDS})[-_ =]?[0-9]{{1,6}}(?![0-9])", re.IGNORECASE)
_MERE_NUMBER = re.compile(r"(?<![0-9v])[0-9]{1,20}(?![0-9])", re.IGNORECASE)
AGAIN = (
    "a conversation is another one of its task in all that is said of it, and counts as a further trial (is the log "
    "there twice? number the trials in 'trial')"
)


class ChatMessages(DialogueFormat):
    """Conversations as lists of messages with roles."""

    name = "messages"
    summary = "chat messages (role, content, tool_calls) in JSON or JSON Lines, with scores beside them; ShareGPT"
    fields = frozenset({"text", "calls", "source", "goal", "domains", "outcome"})
    goes_on = True

    def recognise(self, peek: Peek) -> bool:
        return holds_conversations(peek)

    def read(self, part: Part, notes: Notes) -> Iterator[Dialogue]:
        return _dialogues(part, notes, Numbering())

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """The conversations of several files, whose tasks and trials are counted together.

        A file of verdicts alone beside one of conversations without any is an error.
        """
        numbering = Numbering()
        verdicts_alone = unjudged = ""
        for part in parts:
            spoken = judged = False
            for dialogue in _dialogues(part, notes, numbering, several=len(parts) > 1):
                spoken |= bool(dialogue.turns)
                judged |= _is_judged(dialogue)
                yield part, dialogue
            verdicts_alone = verdicts_alone or (part.name if judged and not spoken else "")
            unjudged = unjudged or (part.name if spoken and not judged else "")
        if verdicts_alone and unjudged:
            raise DialgaugeError(
                f"it has verdicts and no messages, and conversations of {unjudged} have no verdict: put what it says "
                "of a conversation beside its messages, or take it away",
                file=verdicts_alone,
            )


def _dialogues(part: Part, notes: Notes, numbering: Numbering, *, several: bool = False) -> Iterator[Dialogue]:
    """The conversations of a file, which may be one of several."""
    stem = part.stem.removesuffix(".jsonl").removesuffix(".json").removesuffix(".ndjson")
    file = "/".join(re.split(r"[/\\!]", part.name)[-2:]).lstrip("/")
    said_before: set[tuple[str, int]] = set()
    beginnings = _Beginnings()
    for number, (conversation, alone) in enumerate(_with_last(conversations_of(part, notes)), start=1):
        fallback = conversation.key or (stem if alone else f"{stem}-{number:04d}")
        try:
            facts = facts_of(conversation.record, notes, conversation.used)
            messages = read_messages(conversation.messages, notes)
            for field in unread_fields(conversation.messages, conversation.record):
                notes.add_unread(field[:60], of_messages=True)
                if may_be_calls(field):
                    facts.details.setdefault(UNREAD_CALLS, field[:60])
            if "tokens" not in facts.details and (
                tokens := message_tokens(
                    (unwrapped(message) for message in conversation.messages if isinstance(message, dict)), notes
                )
            ):
                facts.details["tokens"] = tokens
            unread = "cost" in read_details("unread", facts.details)
            known_costs = unread or {"cost", "agent_cost"} & facts.details.keys()
            if not known_costs and (costs := message_costs(conversation.messages)):
                notes.add("cost taken to be the sum of what messages say that they cost")
                facts.details["cost"] = costs
            if conversation.grouped and not facts.id and not facts.task:
                facts.task = conversation.key
                notes.add("the name of a list of conversations taken for the task that they are trials of")
            if conversation.grouped and facts.task and not TRIAL_NAME.fullmatch(conversation.key):
                facts.details |= write_details("variant", {"name of the list": conversation.key})
            if conversation.key and not facts.id:
                facts.id = conversation.key
            if several and not conversation.messages and conversation.key and not facts.task:
                facts.task = conversation.key  # other files may have other trials of it
            if several and facts.trial is None:
                names = {"file": file, "name of the file": _without_trial(file)}
                facts.details |= write_details("variant", names)
            named = numbering.take(facts, fallback, part.name)
            if facts.task and (begun := beginnings.of(facts.task, named[0], messages)):
                facts.details[CONTINUES] = begun
            dialogue = logged_dialogue("chat", messages, facts, named, {})
            if facts.task and facts.trial is None and dialogue.turns:
                words = (facts.task, hash(tuple((turn.speaker, turn.text) for turn in dialogue.turns)))
                notes.add("conversations that are word for word another one of their task", words in said_before)
                said_before.add(words)
            elif facts.task and facts.trial is None and not facts.id and _MEASURED & facts.details.keys():
                words = (facts.task, hash(as_text(conversation.record)))
                notes.add(AGAIN, words in said_before)
                said_before.add(words)
            yield dialogue
        except DialgaugeError as error:
            notes.refuse(error.at(file=part.name, dialogue=fallback))


def _is_judged(dialogue: Dialogue) -> bool:
    """Does a conversation say how it went, in a verdict or a score?"""
    outcome = dialogue.outcome
    return outcome is not None and (outcome.success is not None or bool(read_details("score", outcome.details)))


def _without_trial(name: str) -> str:
    """The name of a file without the number of its trial; numbers of a model stay."""
    named = _TRIAL_IN_NAME.sub("*", name)
    return named if AGENT_NAME.search(named) else _MERE_NUMBER.sub("*", named)


class _Beginnings:
    """Conversations that are the beginning of a later one of their task, as where each step is written anew."""

    def __init__(self) -> None:
        self._whole: dict[tuple[str, int], str] = {}

    def of(self, task: str, name: str, messages: LogMessages) -> str:
        """The id of the longest conversation before that this one goes on with; empty without one."""
        begun, words = "", 0
        for message in messages.messages:
            begun = self._whole.get((task, words), begun) if words else begun
            words = hash((words, message.role, message.content, len(message.tool_calls or ())))
        if words:
            self._whole.setdefault((task, words), name)
        return begun


def _with_last(conversations: Iterable[FoundConversation]) -> Iterator[tuple[FoundConversation, bool]]:
    """Each conversation, and whether it is the only one of its file."""
    several = False
    before: FoundConversation | None = None
    for conversation in conversations:
        if before is not None:
            several = True
            yield before, False
        before = conversation
    if before is not None:
        yield before, not several
