"""Which files of a folder hold conversations of an agent, where others lie between them that hold none.

Settings, logs of programs, summaries and patches are passed over, and said to be, where the conversations say
themselves how they went, or one file says it of all by their ids; else one of them may say it, and all are refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import PurePosixPath

import msgspec

from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import AnyFormat, Resource, ResourceFormat
from dialgauge.formats.logs.beside import first_record, is_judged, labels_beside, stem_of
from dialgauge.formats.logs.chat import ChatMessages, RunFolders
from dialgauge.formats.logs.record_fields import task_and_trial
from dialgauge.formats.logs.run_folders import run_folders
from dialgauge.formats.notes import Notes
from dialgauge.formats.peek import Peek
from dialgauge.formats.registry import LAST_RESORT, UnknownFormat, recognise
from dialgauge.formats.source import Part
from dialgauge.text import some_of

#: Formats of agents' logs.
LOGS = frozenset({"tau", "tau2", "messages", "inspect", "otel", "langfuse"})
#: Files that should be JSON.
_JSON = frozenset({".json", ".jsonl", ".ndjson"})
#: What a message has that no format understands.
_MESSAGE = b'"role"'
_NAMED = 8
#: Files that are looked into for a task.
_LOOKED_AT = 200


class PassedOver(ResourceFormat):
    """Files between those of a log, in which nothing is said of a conversation."""

    name = "passed-over"
    summary = "files beside a log that hold no conversation"
    kind = "document"

    def __init__(self, parts: Sequence[Part]) -> None:
        self._parts = parts

    def recognise(self, peek: Peek) -> bool:
        return False

    def load(self, part: Part, notes: Notes) -> Resource:
        names = some_of(dict.fromkeys(other.stem for other in self._parts), _NAMED)
        notes.add(f"files in which no conversation is found passed over: {names}")
        return Resource(kind="document")


def logs_among(parts: Sequence[Part]) -> list[tuple[Part, AnyFormat]]:
    """The files that hold conversations, and those passed over; none where that cannot be told."""
    if run_folders(parts):
        folders = RunFolders()
        return [(part, folders) for part in parts]
    counts = Counter(part.folder for part in parts)
    logs: list[tuple[Part, AnyFormat]] = []
    others: list[Part] = []
    for part in parts:
        try:
            found = recognise(part, counts)
        except UnknownFormat as error:
            if error.damage and PurePosixPath(part.stem).suffix.lower() in _JSON:
                return []
            others.append(part)
        except DialgaugeError:  # it is empty
            others.append(part)
        else:
            if found.name in LOGS:
                logs.append((part, found))
            elif found.name == LAST_RESORT or not isinstance(found, ResourceFormat):
                others.append(part)
            else:
                logs.append((part, found))
    talks = [part for part, found in logs if found.name in LOGS]
    if not talks or any(_MESSAGE in part.head() for part in others):
        return []
    joined = bool(labels_beside(talks, Notes())[1])
    labels = None if joined else next((part for part in others if labels_beside([*talks, part], Notes())[1]), None)
    judged = joined or labels is not None or all(is_judged(part) for part in talks if _is_messages(part, logs))
    beside = [part for part in others if part is not labels]
    if not judged or any(_names_another(part, talks) for part in beside):
        return []
    passed_over, chat = PassedOver(beside), ChatMessages()
    return [*logs, *([(labels, chat)] if labels else []), *((part, passed_over) for part in beside)]


def _is_messages(part: Part, logs: Sequence[tuple[Part, AnyFormat]]) -> bool:
    return any(found.name == "messages" for each, found in logs if each is part)


def _names_another(part: Part, talks: Sequence[Part]) -> bool:
    """Is a file about a task that no log is of, as where one of many has another shape?"""
    first = first_record(part.head())
    task = next(iter(task_and_trial(first)), "") if first else ""
    name = msgspec.json.encode(task)
    return bool(task) and not any(name in talk.head() or stem_of(talk) == task for talk in talks[:_LOOKED_AT])
