"""Chat messages in JSON, JSON Lines or tables, in the ways in which people keep them.

``{"messages": [...]}`` a line or a file, a list of such objects, an object of them by id, lists of messages, messages
one a line or row with the id of their conversation, ShareGPT (``conversations``), OpenAI's *responses* (``input`` and
``output``), prompts with their completions, trials by their task, transcripts. ``conversations`` finds them; what
stands beside the messages is read by ``facts``.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, read_details, write_details
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import DialogueFormat
from dialgauge.formats.logs.beside import (
    labels_beside,
    named_conversation,
    outcomes_beside,
    stem_of,
    trials_of_files,
    without_trial,
)
from dialgauge.formats.logs.conversations import (
    NO_MESSAGES,
    FoundConversation,
)
from dialgauge.formats.logs.fact_names import TRIAL_NAME, may_be_calls
from dialgauge.formats.logs.fact_values import message_costs, message_tokens
from dialgauge.formats.logs.facts import CONTINUES, GROUP, RECORD, RECORD_ID, UNREAD_CALLS, facts_of
from dialgauge.formats.logs.file_conversations import conversations_of
from dialgauge.formats.logs.folder_trials import agents_of_folders, is_trial
from dialgauge.formats.logs.log_signs import (
    holds_conversations,
)
from dialgauge.formats.logs.logged import Numbering, logged_dialogue
from dialgauge.formats.logs.message_fields import unread_fields
from dialgauge.formats.logs.messages import LogMessages, read_messages, unwrapped
from dialgauge.formats.logs.record_fields import task_and_trial
from dialgauge.formats.logs.run_folders import run_folders
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.source import Part
from dialgauge.formats.tau_messages import as_text, checksum

#: What hardly two conversations have alike, and what is noted where they do.
_MEASURED = frozenset({"cost", "agent_cost", "duration", "tokens"})
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
        """The conversations of several files; where these share a name, their folders say which is which."""
        alone, labels = labels_beside(parts, notes)
        talks, outcomes = (alone, {}) if labels else outcomes_beside(parts, notes)
        numbering, trials = Numbering(), trials_of_files(talks)
        stems = Counter(map(stem_of, talks))
        agents = agents_of_folders([f"{part.folder}{stem_of(part)}" for part in talks], notes)
        for part in talks:
            folders = trials.get(part.name)
            beside = outcomes.get(part.name)
            place = f"{_folder_of(part)}/" if stems[stem_of(part)] > 1 and not is_trial(_folder_of(part)) else ""
            read = _dialogues(part, notes, numbering, folders, beside, labels, several=len(talks) > 1, place=place)
            agent = agents.get(f"{part.folder}{stem_of(part)}")
            yield from ((part, _made_by(agent, dialogue) if agent else dialogue) for dialogue in read)


class RunFolders(ChatMessages):
    """Conversations of which each has a folder of several files."""

    def read_parts(self, parts: Sequence[Part], notes: Notes) -> Iterator[tuple[Part, Dialogue]]:
        """The conversations of these folders, by what their files say together."""
        numbering = Numbering()
        for folder in run_folders(parts, notes):
            part, place, said = folder.talk or folder.first, folder.place, folder.messages
            alone = FoundConversation(folder.record, (), said, "" if place else folder.name)
            found = None if folder.talk else [alone]
            notes.add("what several files of a folder say taken together, as of one conversation", folder.files > 1)
            unclear = folder.talks and not folder.talk and not said
            notes.add("messages in several files of a folder not read, as nothing says which are meant", bool(unclear))
            notes.add(NO_MESSAGES, not folder.talks)
            named: dict[str, Any] = {}
            if not task_and_trial(folder.record):
                named = {"task_id": place[0], "trial": place[1]} if place else {"task_id": folder.name}
                notes.add("task and trial taken from the names of folders", bool(place))
            read = _dialogues(part, notes, numbering, None, {**named, **folder.record}, found=found, several=True)
            yield from ((part, dialogue) for dialogue in read)


def _dialogues(
    part: Part,
    notes: Notes,
    numbering: Numbering,
    folders: tuple[str, int] | None = None,
    beside: Mapping[str, Any] | None = None,
    labels: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    found: Iterable[FoundConversation] | None = None,
    several: bool = False,
    place: str = "",
) -> Iterator[Dialogue]:
    """The conversations of a file; ``place`` is its folder where another one has the same name, and no trial is."""
    stem, file = stem_of(part), "/".join(filter(None, (_folder_of(part), re.split(r"[/\\!]", part.name)[-1])))
    said_before: set[tuple[str, int]] = set()
    beginnings = _Beginnings()
    for number, (conversation, alone) in enumerate(_with_last(found or conversations_of(part, notes)), start=1):
        fallback = conversation.key or (stem if alone else f"{place}{stem}-{number:04d}")
        if beside and not alone:
            reason = "it holds several conversations, and a file beside it has one outcome; put outcomes into this file"
            raise DialgaugeError(reason, file=part.name)
        try:
            said = labels.get(named_conversation(conversation.record) or conversation.key) if labels else beside
            facts = facts_of({**(said or {}), **conversation.record}, notes, conversation.used)
            if place and GROUP in facts.details:
                facts.details[GROUP] = f"{place}{facts.details[GROUP]}"
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
            if facts.id and facts.task and facts.trial is None:
                content = as_text([conversation.record, conversation.messages])
                facts.details |= {RECORD_ID: facts.id, RECORD: checksum(content)}
            if conversation.grouped and not facts.id and not facts.task:
                facts.task = conversation.key
                notes.add("the name of a list of conversations taken for the task that they are trials of")
            if folders and alone and not (facts.id or facts.task or conversation.key) and facts.trial is None:
                notes.add("task and trial taken from the names of folders")
                facts.task, facts.trial = folders
            if conversation.grouped and facts.task and not TRIAL_NAME.fullmatch(conversation.key):
                facts.details |= write_details("variant", {"name of the list": conversation.key})
            if conversation.key and not facts.id:
                facts.id = conversation.key
            if several and not conversation.messages and conversation.key and not facts.task:
                facts.task = conversation.key  # other files may have other trials of it
            if several and facts.trial is None:
                files = {} if folders else {"file": file}
                facts.details |= write_details("variant", {**files, "name of the file": without_trial(file)})
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


def _made_by(agent: str, dialogue: Dialogue) -> Dialogue:
    """A conversation of the agent that the folder of its file names, where nothing in it names another one."""
    outcome = dialogue.outcome
    if outcome is None or "agent" in dialogue.details:
        return dialogue
    return replace(dialogue, outcome=replace(outcome, details={**outcome.details, "agent": agent}))


def _folder_of(part: Part) -> str:
    return re.split(r"[/\\!]", part.folder.rstrip("/\\!"))[-1]


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
