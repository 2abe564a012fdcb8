"""Conversations of a source, scored one by one: those that fail are named, and the others go on."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct, field

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import Corpus, Notes, hold, in_memory, stream, system_name
from dialgauge.runs import Run
from dialgauge.users.scorer import Failure, Scorer, ScorerSettings, UserOptions, profile_for
from dialgauge.users.verdicts import DialogueScore

if TYPE_CHECKING:
    from collections.abc import Sequence

    from dialgauge.formats import AnyFrame

#: Files by name, or dialogues: a corpus, a run, a frame, any iterable.
Conversations: TypeAlias = "str | Path | Corpus | Run | AnyFrame | Iterable[Dialogue]"


class ScoredConversations(Struct):
    """What came of a source: results in the order of its dialogues, failures, and the dialogues themselves."""

    name: str
    settings: ScorerSettings
    results: list[DialogueScore] = []
    failures: list[Failure] = []
    #: The dialogues that could be read, each id once.
    dialogues: Sequence[Dialogue] = []
    #: What reading left out or changed, counted.
    notes: Counter[str] = field(default_factory=Counter)
    #: Dialogues that could not be read, and turns of those that could.
    unread: int = 0
    turns: int = 0
    #: The file or folder they come from.
    source: str | None = None


class _Given(Struct):
    """A dialogue with the file and the format it was read from."""

    dialogue: Dialogue
    format: str
    file: str | None = None


def score_conversations(
    source: Conversations,
    options: UserOptions | None = None,
    *,
    name: str | None = None,
    advance: Callable[[int], None] = lambda number: None,
) -> ScoredConversations:
    """Score all conversations of a source. A dialogue that cannot be read or scored is a failure; the others go on."""
    chosen, notes = options or UserOptions(), Notes(tolerant=True)
    given = _given(source, chosen, notes)
    first = next(given, None)
    file = os.fspath(source) if isinstance(source, str | Path) else None
    own = system_name(source) if isinstance(source, str | Path) else getattr(source, "name", "")
    settings = ScorerSettings.load(chosen, first.format if first else "")
    scored = ScoredConversations(name or own or "conversations", settings, source=file)
    if first is not None:
        rest = _of_one_profile(first, given, chosen)
        scored.dialogues = hold(_scoring(scored, settings.scorer(), rest, advance))
    scored.notes.update(notes.counts)
    scored.failures += [Failure.of(error) for error in notes.refused]
    scored.unread = len(notes.refused)
    return scored


def _given(source: Conversations, options: UserOptions, notes: Notes) -> Iterator[_Given]:
    if isinstance(source, str | Path):
        for part, form, dialogue in stream(source, format=options.format, limit=options.limit, notes=notes):
            yield _Given(dialogue, form.name, part.name)
    elif isinstance(source, Run):
        yield from (_Given(dialogue, "") for dialogue in source.dialogues())
    else:
        corpus = in_memory(source)
        yield from (_Given(dialogue, corpus.format) for dialogue in corpus)


def _of_one_profile(first: _Given, rest: Iterable[_Given], options: UserOptions) -> Iterator[_Given]:
    """All dialogues, or an error where their formats go with different profiles and none was named."""
    yield first
    for each in rest:
        if options.profile is None and profile_for(each.format) != profile_for(first.format):
            raise DialgaugeError(
                f"it holds conversations of several datasets (formats {first.format}, {each.format}); score them "
                "separately, or name a profile",
                file=each.file,
            )
        yield each


def _scoring(
    scored: ScoredConversations, scorer: Scorer, given: Iterable[_Given], advance: Callable[[int], None]
) -> Iterator[Dialogue]:
    """The dialogues, each of which is scored as it passes. The second one of an id is a failure and left out."""
    seen: set[str] = set()
    for each in given:
        key = dialogue_key(each.dialogue.id)
        if key in seen:
            why = "this id was already used by an earlier dialogue; ids must be unique"
            scored.failures.append(Failure(each.dialogue.id, why, file=each.file))
            continue
        seen.add(key)
        try:
            scored.results.append(scorer.score(each.dialogue))
        except DialgaugeError as error:
            scored.failures.append(Failure.of(error.at(file=each.file)))
        scored.turns += len(each.dialogue.turns)
        advance(1)
        yield each.dialogue
