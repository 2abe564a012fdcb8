"""A whole source of conversations scored: file by file, on one core or several, with the same result."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge._version import __version__
from dialgauge.dialogue import Dialogue, dialogue_key
from dialgauge.engine import map_ordered
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import (
    DEFAULT_LIMIT,
    AnyFormat,
    CanonicalMapFile,
    DialogueFormat,
    Notes,
    Part,
    bulk_load,
    format_named,
    recognise,
    resolve,
)
from dialgauge.users.config import GcdfConfig, load_config
from dialgauge.users.goals import load_database
from dialgauge.users.profile import load_profile
from dialgauge.users.records import DialogueScore
from dialgauge.users.scorer import Failure, Scorer
from dialgauge.values import CanonicalMap

#: Which profile goes with dialogues of a format, unless one is named.
PROFILES = {"sgd": "sgd", "multiwoz": "multiwoz21-people"}
DEFAULT_PROFILE = "multiwoz21"

_DIGITS = re.compile(r"\d+")


@dataclass
class UserEvaluation:
    """One user model, scored: the dialogues' scores in order, those that failed, and what the files held besides."""

    name: str
    format: str
    config: GcdfConfig
    profile: str
    #: Everything that could change a score, as text.
    settings: str
    files: list[str] = field(default_factory=list)
    scores: list[DialogueScore] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    @property
    def turns(self) -> int:
        """Turns of both sides in the scored dialogues."""
        return sum(score.turns for score in self.scores)

    @property
    def signature(self) -> str:
        """The settings, the number of dialogues and turns, and the version, in one line."""
        return f"{self.settings}|dialogues:{len(self.scores)}|turns:{self.turns}|version:{__version__}"

    @property
    def warnings(self) -> list[tuple[str, str]]:
        """What was odd about scored dialogues: dialogue and sentence."""
        return [(score.id, warning) for score in self.scores for warning in score.warnings]

    def coverage(self) -> dict[str, int]:
        """How many dialogues were scored and how many failed."""
        return {
            "dialogues": len(self.scores) + len(self.failures),
            "scored": len(self.scores),
            "failed": len(self.failures),
            "turns": self.turns,
        }


class _Outcome(Struct):
    """What came of one file."""

    scores: list[DialogueScore]
    failures: list[Failure]
    notes: dict[str, int]


@dataclass(frozen=True)
class Settings:
    """What a user of dialgauge chooses; files are named, not yet read."""

    canonical_map: str | Path | None = None
    config: Path | None = None
    overrides: tuple[str, ...] = ()
    profile: str | None = None
    database: str | Path | None = None
    format: str | None = None
    limit: int = DEFAULT_LIMIT


def evaluate(
    source: str | Path,
    settings: Settings | None = None,
    *,
    name: str | None = None,
    workers: int | None = None,
    on_file: Callable[[int, int], None] | None = None,
) -> UserEvaluation:
    """Score all conversations of a source. A dialogue that cannot be read or scored is a failure; the others go on.

    ``on_file`` is called with the number of files done and the number of all, while the work goes on.
    """
    chosen = settings or Settings()
    parts = list(_dialogue_parts(source, chosen))
    kind = _one_kind(source, [kind for _, kind in parts], chosen)
    scorer, values = _scorer(chosen, kind)
    evaluation = UserEvaluation(
        name=name or system_name(source),
        format=kind,
        config=scorer.config,
        profile=scorer.profile.name,
        settings=_described(scorer, values, chosen),
        files=[part.name for part, _ in parts],
    )
    seen: set[str] = set()
    with bulk_load():
        for done, outcome in enumerate(_outcomes(scorer, parts, workers), start=1):
            _gather(evaluation, outcome, seen, evaluation.files[done - 1])
            if on_file:
                on_file(done, len(parts))
    return evaluation


def evaluate_one(source: str | Path, dialogue: str, settings: Settings | None = None) -> tuple[Dialogue, DialogueScore]:
    """One dialogue of a source and its score; raises the reason when it is not there or cannot be scored."""
    chosen = settings or Settings()
    ids: list[str] = []
    for part, kind in _dialogue_parts(source, chosen):
        for each in _reader(kind).read(part, Notes(tolerant=True)):
            if dialogue_key(each.id) == dialogue_key(dialogue):
                return each, _scorer(chosen, kind)[0].score(each)
            ids.append(each.id)
    raise DialgaugeError(f"there is no dialogue '{dialogue}'.{_near(dialogue, ids)}", file=os.fspath(source))


def score_of(evaluation: UserEvaluation, dialogue: str) -> DialogueScore:
    """The score of one dialogue of an evaluation, or the reason why it has none."""
    key = dialogue_key(dialogue)
    for score in evaluation.scores:
        if dialogue_key(score.id) == key:
            return score
    for failure in evaluation.failures:
        if dialogue_key(failure.dialogue) == key:
            raise DialgaugeError(failure.reason, file=failure.file, dialogue=failure.dialogue, turn=failure.turn)
    ids = [score.id for score in evaluation.scores]
    raise DialgaugeError(f"{evaluation.name} has no dialogue '{dialogue}'.{_near(dialogue, ids)}")


def _near(dialogue: str, ids: list[str]) -> str:
    """The ids most like a wrong one; a corpus has too many to list."""
    hint = nearest(dialogue, ids)
    return hint if "Did you mean" in hint else ""


def _scorer(settings: Settings, kind: str) -> tuple[Scorer, dict[str, Any]]:
    """A scorer for dialogues of a format, and the content of its canonical map."""
    profile = load_profile(settings.profile or PROFILES.get(kind, DEFAULT_PROFILE))
    config = load_config(settings.config, settings.overrides, defaults=profile.defaults)
    values = {} if settings.canonical_map is None else load_canonical_map(settings.canonical_map, settings.limit)
    database = load_database(settings.database) if settings.database is not None else None
    return Scorer(config, profile, CanonicalMap(values) if values else None, database), values


def system_name(source: str | Path) -> str:
    """A short name for a source: its file or folder without endings."""
    if str(source) == "-":
        return "standard-input"
    path = Path(os.fspath(source))
    return path.name.split(".")[0] or path.resolve().name


def load_canonical_map(source: str | Path, limit: int = DEFAULT_LIMIT) -> dict[str, Any]:
    """The content of a canonical map."""
    parts = resolve(source, limit=limit)
    if len(parts) != 1:
        raise DialgaugeError("a canonical map is one file", file=os.fspath(source))
    return dict(CanonicalMapFile().load(parts[0], Notes()).values)


def _reader(kind: str) -> DialogueFormat:
    """The format that :func:`_dialogue_parts` chose."""
    reader = format_named(kind)
    if not isinstance(reader, DialogueFormat):
        raise TypeError(f"the format {kind} holds no dialogues")
    return reader


def _dialogue_parts(source: str | Path, settings: Settings) -> Iterator[tuple[Part, str]]:
    """The files with conversations. Of files whose names differ in digits only, one is looked at for all."""
    found = False
    known: dict[str, AnyFormat] = {}
    for part in resolve(source, limit=settings.limit):
        family = _DIGITS.sub("#", part.name)
        if family not in known:
            known[family] = format_named(settings.format) if settings.format else recognise(part)
        chosen = known[family]
        if isinstance(chosen, DialogueFormat):
            found = True
            yield part, chosen.name
    if not found:
        raise DialgaugeError("it holds no conversations", file=os.fspath(source))


def _one_kind(source: str | Path, kinds: list[str], settings: Settings) -> str:
    """The format of the files; formats may differ where that leaves no doubt about the profile."""
    profiles = {PROFILES.get(kind, DEFAULT_PROFILE) for kind in kinds}
    if len(profiles) > 1 and settings.profile is None:
        found = ", ".join(sorted(set(kinds)))
        raise DialgaugeError(
            f"it holds conversations of different datasets (formats {found}); score them apart, or name a profile",
            file=os.fspath(source),
        )
    return kinds[0]


def _outcomes(scorer: Scorer, parts: list[tuple[Part, str]], workers: int | None) -> Iterator[_Outcome]:
    """What came of each file, in order; from other processes it comes as bytes, which is faster than pickling."""
    if workers in (None, 1):
        yield from (_score_file(scorer, item) for item in parts)
        return
    decoder = msgspec.msgpack.Decoder(_Outcome)
    portable = ((_portable(part), kind) for part, kind in parts)
    work = partial(_score_elsewhere, pickle.dumps(scorer))
    for content in map_ordered(work, portable, workers=workers):
        yield decoder.decode(content)


def _portable(part: Part) -> Part:
    """A file that can travel to another process: how to open it, or else (a member of an archive) its bytes."""
    try:
        pickle.dumps(part)
    except (pickle.PicklingError, AttributeError, TypeError):
        return Part(part.name, partial(io.BytesIO, part.read()), DEFAULT_LIMIT)
    return part


@lru_cache(maxsize=1)
def _received(scorer: bytes) -> Scorer:
    """The scorer another process sent, kept from file to file: what it remembers of values and acts is its speed.

    The bytes come from this program, through the pool, which pickles everything else that passes it too.
    """
    received: Scorer = pickle.loads(scorer)  # noqa: S301
    return received


def _score_elsewhere(scorer: bytes, item: tuple[Part, str]) -> bytes:
    with bulk_load():
        return msgspec.msgpack.encode(_score_file(_received(scorer), item))


def _score_file(scorer: Scorer, item: tuple[Part, str]) -> _Outcome:
    part, kind = item
    notes = Notes(tolerant=True)
    outcome = _Outcome([], [], notes.counts)
    for result in scorer.score_all(_reader(kind).read(part, notes)):
        if isinstance(result, Failure):
            outcome.failures.append(msgspec.structs.replace(result, file=part.name))
        else:
            outcome.scores.append(result)
    outcome.failures += [Failure.of(error) for error in notes.refused]
    return outcome


def _gather(evaluation: UserEvaluation, outcome: _Outcome, seen: set[str], file: str) -> None:
    evaluation.notes.update(outcome.notes)
    evaluation.failures += outcome.failures
    for score in outcome.scores:
        key = dialogue_key(score.id)
        if key in seen:
            reason = "this id was already used in a file before it; ids must be unique"
            evaluation.failures.append(Failure(score.id, reason, file=file))
            continue
        seen.add(key)
        evaluation.scores.append(score)


def _described(scorer: Scorer, canonical_map: dict[str, Any], settings: Settings) -> str:
    config = msgspec.json.encode(scorer.config, order="deterministic")
    failures = "live" if scorer.live and settings.database is not None else "paper"
    values = _digest(msgspec.json.encode(canonical_map)) if canonical_map else "none"
    return "|".join(
        [
            f"mode:{scorer.config.mode}",
            f"profile:{scorer.profile.name}-{_digest(msgspec.json.encode(scorer.profile))}",
            f"map:{values}",
            f"failures:{failures}",
            f"config:{_digest(config)}",
        ]
    )


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:8]
