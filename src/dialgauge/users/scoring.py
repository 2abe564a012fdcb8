"""Conversations scored: from files or from memory, in one process or several, with the same results in the same order.

A unit of work is a file, or a batch of dialogues in memory. Where this process scores, it also reads; other processes
read their files themselves, and send the dialogues back with the results.
"""

from __future__ import annotations

import io
import os
import pickle
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, MutableMapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge import engine
from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.engine import Unit, Work, Workers, place_of
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DEFAULT_LIMIT, Corpus, Notes, Part, bulk_load, in_memory, system_name
from dialgauge.measures import Signature
from dialgauge.runs import Run
from dialgauge.users.conversation_files import dialogue_parts, dialogue_reader, file_key, file_states, one_format
from dialgauge.users.records import DialogueScore
from dialgauge.users.scorer import Failure, Scorer
from dialgauge.users.scorer_settings import ScorerSettings, UserOptions

if TYPE_CHECKING:
    from dialgauge.formats import AnyFrame

#: Files by name, or dialogues: a corpus, a run, a frame, any iterable.
Conversations: TypeAlias = "str | Path | Corpus | Run | AnyFrame | Iterable[Dialogue]"

#: Some goals are recorded and some derived.
MIXED = "recorded+derived"

#: Dialogues in memory that make one unit of work.
_BATCH = 32


class PackedDialogue(Struct, array_like=True):
    """A dialogue that another process read, as bytes: unpacked only if somebody asks for it."""

    id: str
    turns: int
    content: msgspec.Raw

    @classmethod
    def of(cls, dialogue: Dialogue) -> PackedDialogue:
        return cls(dialogue.id, len(dialogue.turns), msgspec.Raw(msgspec.msgpack.encode(dialogue)))

    def unpacked(self) -> Dialogue:
        return msgspec.msgpack.decode(self.content, type=Dialogue)


class ScoredConversations(Struct):
    """What came of a source: results in the order of its dialogues, failures, and the dialogues themselves."""

    name: str
    format: str
    settings: ScorerSettings
    results: list[DialogueScore] = []
    failures: list[Failure] = []
    held: list[Dialogue | PackedDialogue] = []
    #: What reading left out or changed, counted.
    notes: Counter[str] = msgspec.field(default_factory=Counter)
    #: Dialogues that could not be read.
    unread: int = 0
    #: The file or folder they come from.
    source: str | None = None

    def goals(self) -> str:
        """Where the goals come from: ``recorded``, ``derived``, or ``recorded+derived``."""
        sources = {result.goal_source for result in self.results}
        return MIXED if len(sources) > 1 else next(iter(sources), "recorded")

    def signature(self) -> Signature:
        """Everything that could change a score; goals are named where they are not all recorded."""
        goals = self.goals()
        return self.settings.signature().with_(goals="" if goals == "recorded" else goals)

    def dialogues(self) -> Iterator[Dialogue]:
        """The dialogues that could be read, each id once."""
        return (each.unpacked() if isinstance(each, PackedDialogue) else each for each in self.held)

    @property
    def turns(self) -> int:
        return sum(each.turns if isinstance(each, PackedDialogue) else len(each.turns) for each in self.held)


class _UnitResult(Struct):
    """What came of one unit; ``dialogues`` only where another process read them."""

    results: list[DialogueScore] = []
    failures: list[Failure] = []
    notes: dict[str, int] = {}
    dialogues: list[PackedDialogue] = []
    unread: int = 0


class _File(Struct):
    """A file of conversations, to be read by whoever scores it."""

    part: Part
    format: str

    def read(self) -> tuple[list[Dialogue], Notes]:
        notes = Notes(tolerant=True)
        return list(dialogue_reader(self.format).read(self.part, notes)), notes

    def portable(self) -> _File:
        """The same for another process: how to open it, or else (a member of an archive) its bytes."""
        try:
            pickle.dumps(self.part)
        except (pickle.PicklingError, AttributeError, TypeError):
            return _File(Part(self.part.name, partial(io.BytesIO, self.part.read()), DEFAULT_LIMIT), self.format)
        return self


class _Batch:
    """Dialogues in memory; on the way to another process they are bytes, which is faster than pickled records."""

    def __init__(self, dialogues: list[Dialogue], file: str | None = None) -> None:
        self.dialogues = dialogues
        self.file = file

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpacked, (msgspec.msgpack.encode(self.dialogues), self.file)


def _unpacked(content: bytes, file: str | None) -> _Batch:
    return _Batch(msgspec.msgpack.decode(content, type=list[Dialogue]), file)


class _Scoring(Work[Scorer, _File | _Batch]):
    """The work of scoring units of conversations."""

    def __init__(self, settings: ScorerSettings) -> None:
        self._settings = settings

    def open(self) -> Scorer:
        return self._settings.scorer()

    def do(self, state: Scorer, unit: Unit[_File | _Batch]) -> bytes:
        with bulk_load():
            return msgspec.msgpack.encode(self.result(state, unit))

    def result(self, state: Scorer, unit: Unit[_File | _Batch]) -> _UnitResult:
        source = unit.payload
        if isinstance(source, _Batch):
            return _score(state, source.dialogues, source.file)
        dialogues, notes = source.read()
        result = _score(state, dialogues, source.part.name)
        result.dialogues = [PackedDialogue.of(dialogue) for dialogue in dialogues]
        _add_reading(result, notes)
        return result


def _score(scorer: Scorer, dialogues: Iterable[Dialogue], file: str | None) -> _UnitResult:
    result = _UnitResult()
    for each in scorer.score_all(dialogues):
        if isinstance(each, Failure):
            result.failures.append(msgspec.structs.replace(each, file=file))
        else:
            result.results.append(each)
    return result


def _add_reading(result: _UnitResult | ScoredConversations, notes: Notes) -> None:
    for what, count in notes.counts.items():
        result.notes[what] = result.notes.get(what, 0) + count
    result.failures += [Failure.of(error) for error in notes.refused]
    result.unread += len(notes.refused)


def score_conversations(
    source: Conversations,
    options: UserOptions | None = None,
    *,
    name: str | None = None,
    workers: Workers = None,
    done: MutableMapping[str, bytes] | None = None,
    on_unit: Callable[[int], None] | None = None,
) -> ScoredConversations:
    """Score all conversations of a source. A dialogue that cannot be read or scored is a failure; the others go on.

    ``on_unit`` is called with 1 for every file (or batch of dialogues in memory) that is done. ``done`` keeps what is
    finished, for the next time the same files are scored.
    """
    chosen = options or UserOptions()
    gathering = _Gathering(source, chosen, name)
    work = _Scoring(gathering.scored.settings)
    advance = on_unit or (lambda units: None)
    kept = done is not None
    decoder = msgspec.msgpack.Decoder(_UnitResult)
    with bulk_load():
        if place_of(workers).here and not kept:  # nothing to send: packing would cost a tenth of the time
            scorer = work.open()
            for unit in gathering.units(distributed=False):
                gathering.take(unit.key, work.result(scorer, unit))
                advance(1)
            return gathering.finished()
        for result in engine.run(work, gathering.units(distributed=True, kept=kept), workers=workers, done=done):
            if result.content is None:
                raise DialgaugeError(result.failure or "a file could not be scored")
            gathering.take(result.key, decoder.decode(result.content))
            advance(1)
    return gathering.finished()


class _Gathering:
    """The units of a source on their way out, and what came of them on their way back."""

    def __init__(self, source: Conversations, options: UserOptions, name: str | None) -> None:
        self._files: list[_File] | None = None
        self._held: Iterator[Dialogue] = iter(())
        notes = Notes()
        kind = ""
        if isinstance(source, str | Path):
            self._files = [_File(*pair) for pair in dialogue_parts(source, options, notes)]
            kind = one_format(source, [each.format for each in self._files], options)
            name = name or system_name(source)
        elif isinstance(source, Run):
            self._held = source.dialogues()
        else:
            corpus = in_memory(source)
            self._held, kind = iter(corpus), corpus.format
        self.scored = ScoredConversations(
            name or getattr(source, "name", "") or "conversations",
            kind,
            ScorerSettings.load(options, kind),
            source=os.fspath(source) if isinstance(source, str | Path) else None,
        )
        self.scored.notes.update(notes.counts)
        self._read: dict[str, tuple[_Batch, Notes]] = {}
        #: The files that workers read, by the keys of their units.
        self._names: dict[str, str] = {}
        self._seen: set[str] = set()
        #: What could be read, each id once; of several dialogues of one id, the one that was scored.
        self._dialogues: dict[str, Dialogue | PackedDialogue] = {}

    def units(self, *, distributed: bool, kept: bool = False) -> Iterator[Unit[_File | _Batch]]:
        """The work. Distributed work reads its own files; keys of what is kept change with the files."""
        states = file_states(self.scored.source) if kept else {}
        for number, (payload, notes) in enumerate(self._payloads(distributed)):
            key = str(number)
            if isinstance(payload, _Batch):
                self._read[key] = (payload, notes)
            elif self._files is not None:
                name = self._files[number].part.name
                key = file_key(name, states)
                self._names[key] = name
            yield Unit(key, payload)

    def _payloads(self, distributed: bool) -> Iterator[tuple[_File | _Batch, Notes]]:
        if self._files is None:
            while batch := list(islice(self._held, _BATCH)):
                yield _Batch(batch), Notes()
            return
        for file in self._files:
            if distributed:
                yield file.portable(), Notes()
            else:
                dialogues, notes = file.read()
                yield _Batch(dialogues, file.part.name), notes

    def finished(self) -> ScoredConversations:
        self.scored.held = list(self._dialogues.values())
        return self.scored

    def take(self, key: str, result: _UnitResult) -> None:
        """Take in what came of a unit; the second dialogue of an id is a failure."""
        dialogues: Sequence[Dialogue | PackedDialogue] = result.dialogues
        file = self._names.pop(key, None)
        if key in self._read:
            batch, notes = self._read.pop(key)
            dialogues, file = batch.dialogues, batch.file
            _add_reading(result, notes)
        scored = self.scored
        scored.notes.update(result.notes)
        scored.failures += result.failures
        scored.unread += result.unread
        accepted = {identity for each in result.results if (identity := self._take(each, file))}
        for dialogue in dialogues:
            identity = dialogue_key(dialogue.id)
            if identity in accepted or identity not in self._dialogues:
                self._dialogues[identity] = dialogue
                accepted.discard(identity)  # the next one of this id in the file is not the one that was scored

    def _take(self, result: DialogueScore, file: str | None) -> str | None:
        """The identity of a result that counts; the second of an id is a failure."""
        identity = dialogue_key(result.id)
        if identity not in self._seen:
            self._seen.add(identity)
            self.scored.results.append(result)
            return identity
        before = "in an earlier file" if file else "by an earlier dialogue"
        reason = f"this id was already used {before}; ids must be unique"
        self.scored.failures.append(Failure(result.id, reason, file=file))
        return None
