"""Files of conversations: which of a source they are, in which format, and one dialogue of them by its id."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import AnyFormat, DialogueFormat, Notes, Part, format_named, recognise, resolve
from dialgauge.users.scorer_settings import DEFAULT_PROFILE, PROFILES, UserOptions

_DIGITS = re.compile(r"\d+")
#: What the reference evaluator writes into the folder of the conversations, beside a file of scores of any name.
_RESULTS = frozenset({"metrics_per_dialogue.json", "dialogues_and_metrics.json"})
_SCORES = re.compile(rb'\s*\{\s*"(?:igcd|rgcd|rcgd)_\w+"\s*:')
_HEAD = 256


def dialogue_reader(format: str) -> DialogueFormat:
    """The format that :func:`dialogue_parts` chose."""
    reader = format_named(format)
    if not isinstance(reader, DialogueFormat):
        raise TypeError(f"the format {format} holds no dialogues")
    return reader


def dialogue_parts(source: str | Path, options: UserOptions, notes: Notes | None = None) -> Iterator[tuple[Part, str]]:
    """The files with conversations. Of files whose names differ in digits only, one is looked at for all.

    The reference evaluator writes its results into the folder it reads; they are passed over there, and noted.
    """
    none = True
    parts = resolve(source, limit=options.limit)
    known: dict[str, AnyFormat | None] = {}
    for part in parts:
        alike = _DIGITS.sub("#", part.name)
        if alike not in known:
            known[alike] = None
            if len(parts) == 1 or not _is_result(part):
                known[alike] = format_named(options.format) if options.format else recognise(part)
        chosen = known[alike]
        if chosen is None and notes is not None:
            notes.add(f"{part.stem} skipped: results of the reference evaluator, no conversations")
        if isinstance(chosen, DialogueFormat):
            none = False
            yield part, chosen.name
    if none:
        raise DialgaugeError("it holds no conversations", file=os.fspath(source))


def _is_result(part: Part) -> bool:
    """Is this one of the reference evaluator's output files: the scores, or the dialogues again with their metrics?"""
    if part.stem in _RESULTS:
        return True
    return _SCORES.match(part.head(_HEAD)) is not None


def one_format(source: str | Path, formats: list[str], options: UserOptions) -> str:
    """The format of the files; formats may differ where that leaves no doubt about the profile."""
    profiles = {PROFILES.get(each, DEFAULT_PROFILE) for each in formats}
    if len(profiles) > 1 and options.profile is None:
        several = ", ".join(sorted(set(formats)))
        raise DialgaugeError(
            f"it holds conversations of several datasets (formats {several}); score them separately, or name a profile",
            file=os.fspath(source),
        )
    return formats[0]


def conversation_named(
    source: str | Path, dialogue: str, options: UserOptions | None = None
) -> tuple[Dialogue, UserOptions]:
    """One dialogue of a source, and the options with the profile that goes with its format."""
    chosen = options or UserOptions()
    key = dialogue_key(dialogue)
    ids: list[str] = []
    refused: DialgaugeError | None = None
    for part, kind in dialogue_parts(source, chosen):
        notes = Notes(tolerant=True)
        for each in dialogue_reader(kind).read(part, notes):
            if dialogue_key(each.id) == key:
                profile = chosen.profile or PROFILES.get(kind, DEFAULT_PROFILE)
                return each, msgspec.structs.replace(chosen, profile=profile)
            ids.append(each.id)
        ids += [error.dialogue for error in notes.refused if error.dialogue]
        refused = refused or next((error for error in notes.refused if dialogue_key(error.dialogue or "") == key), None)
    if refused is not None:
        raise DialgaugeError(
            f"it could not be read, so it has no scores: {refused.message}",
            file=refused.file,
            dialogue=refused.dialogue,
            turn=refused.turn,
            line=refused.line,
        )
    raise DialgaugeError(f"there is no dialogue '{dialogue}'.{nearest_id(dialogue, ids)}", file=os.fspath(source))


def nearest_id(dialogue: str, ids: Iterable[str]) -> str:
    """The ids most like a wrong one; a corpus has too many to list."""
    return nearest(dialogue, ids, listed=False)
