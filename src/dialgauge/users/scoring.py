"""Conversations scored one file after another, or all that are in memory."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.formats import Corpus, Notes, Part, in_memory, system_name
from dialgauge.runs import Run
from dialgauge.users.conversation_files import dialogue_parts, dialogue_reader, one_format
from dialgauge.users.scorer import Failure, Scorer
from dialgauge.users.scorer_settings import ScorerSettings, UserOptions
from dialgauge.users.verdicts import DialogueScore

if TYPE_CHECKING:
    from dialgauge.formats import AnyFrame

#: Files by name, or dialogues: a corpus, a run, a frame, any iterable.
Conversations: TypeAlias = "str | Path | Corpus | Run | AnyFrame | Iterable[Dialogue]"


class ScoredConversations(Struct):
    """What came of a source: results in the order of its dialogues, failures, and the dialogues themselves."""

    name: str
    format: str
    settings: ScorerSettings
    results: list[DialogueScore] = []
    failures: list[Failure] = []
    #: The dialogues that could be read, each id once.
    dialogues: list[Dialogue] = []
    #: What reading left out or changed, counted.
    notes: Counter[str] = msgspec.field(default_factory=Counter)
    #: Dialogues that could not be read.
    unread: int = 0
    #: The file or folder they come from.
    source: str | None = None


class _Read(NamedTuple):
    """The dialogues of one file, or all that are in memory."""

    dialogues: list[Dialogue]
    notes: Notes
    file: str | None = None


def score_conversations(
    source: Conversations,
    options: UserOptions | None = None,
    *,
    name: str | None = None,
    on_file: Callable[[int], None] | None = None,
) -> ScoredConversations:
    """Score all conversations of a source. A dialogue that cannot be read or scored is a failure; the others go on.

    ``on_file`` is called with 1 for every file that is done, and once for dialogues in memory.
    """
    scored, parts = _opened(source, options or UserOptions(), name)
    scorer = scored.settings.scorer()
    seen: set[str] = set()
    dialogues: dict[str, Dialogue] = {}
    for part in parts:
        _add(scored, scorer, part, seen, dialogues)
        if on_file is not None:
            on_file(1)
    scored.dialogues = list(dialogues.values())
    return scored


def _opened(
    source: Conversations, options: UserOptions, name: str | None
) -> tuple[ScoredConversations, Iterable[_Read]]:
    """Nothing scored yet, and what there is to read."""
    notes, kind = Notes(), ""
    parts: Iterable[_Read]
    if isinstance(source, str | Path):
        files = list(dialogue_parts(source, options, notes))
        kind = one_format(source, [kind for _, kind in files], options)
        name = name or system_name(source)
        parts = _files(files)
    elif isinstance(source, Run):
        parts = [_Read(list(source.dialogues()), Notes())]
    else:
        corpus = in_memory(source)
        kind = corpus.format
        parts = [_Read(list(corpus), Notes())]
    scored = ScoredConversations(
        name or getattr(source, "name", "") or "conversations",
        kind,
        ScorerSettings.load(options, kind),
        source=os.fspath(source) if isinstance(source, str | Path) else None,
    )
    scored.notes.update(notes.counts)
    return scored, parts


def _files(files: Iterable[tuple[Part, str]]) -> Iterator[_Read]:
    for part, kind in files:
        notes = Notes(tolerant=True)
        yield _Read(list(dialogue_reader(kind).read(part, notes)), notes, part.name)


def _add(
    scored: ScoredConversations, scorer: Scorer, part: _Read, seen: set[str], dialogues: dict[str, Dialogue]
) -> None:
    """Score what was read. An id counts as used when a dialogue of it was scored, and that dialogue is kept."""
    file, accepted, again = part.file, set[str](), list[Failure]()
    for each in scorer.score_all(part.dialogues):
        if isinstance(each, Failure):
            scored.failures.append(msgspec.structs.replace(each, file=file))
            continue
        identity = dialogue_key(each.id)
        if identity in seen:
            again.append(Failure(each.id, "this id was already used in an earlier file; ids must be unique", file=file))
            continue
        seen.add(identity)
        accepted.add(identity)
        scored.results.append(each)
    scored.notes.update(part.notes.counts)
    scored.failures += [*(Failure.of(error) for error in part.notes.refused), *again]
    scored.unread += len(part.notes.refused)
    for dialogue in part.dialogues:
        identity = dialogue_key(dialogue.id)
        if identity in accepted or identity not in dialogues:
            dialogues[identity] = dialogue
            accepted.discard(identity)  # the next one of this id in the file is not the one that was scored
