"""One dialogue scored: what decides its scores, and everything that is known of it then."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Dialogue, Goal, Speaker, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DEFAULT_LIMIT, CanonicalMapFile, Notes, resolve
from dialgauge.measures import Signature
from dialgauge.users.acts import EQUALS, REQUEST, ActReader
from dialgauge.users.causes import Causes, End, Loop, Occurrence
from dialgauge.users.config import GcdfConfig, load_config
from dialgauge.users.normalise import Attempt, Normaliser
from dialgauge.users.profile import DatasetProfile, chosen_profile, load_profile
from dialgauge.users.rules import verdicts_of
from dialgauge.users.talk import Talk
from dialgauge.users.verdicts import MEASURES, Verdict, pooled
from dialgauge.values import CanonicalMap


class UserOptions(Struct, frozen=True):
    """The options of a user of dialgauge; files are named, not yet read."""

    canonical_map: str | Path | None = None
    config: str | Path | None = None
    overrides: tuple[str, ...] = ()
    #: A shipped one by name, one of your own by its file or the folder of a domain, or the profile itself.
    profile: str | DatasetProfile | None = None
    format: str | None = None
    limit: int = DEFAULT_LIMIT


#: How a user brings a part of its goal across (Figures 4 and 6a): ``miss_all`` when nothing of it was said; otherwise
#: ``miss`` or ``no_miss`` (is any left unsaid?) and ``one`` or ``mult`` (do those said share a turn?).
PATTERNS = ("no_miss_one", "no_miss_mult", "miss_one", "miss_mult", "miss_all")
PatternKind: TypeAlias = Literal["search", "booking", "request"]
_PARTS: dict[str, PatternKind] = {"info": "search", "fail_info": "search", "book": "booking", "fail_book": "booking"}


class Pattern(Struct, frozen=True, array_like=True, gc=False):
    """The pattern of one part of a goal: which part of which domain, how many things it wants, and the pattern."""

    kind: PatternKind
    domain: str
    part: str
    wanted: int
    pattern: str


class DialogueScore(Struct, frozen=True, kw_only=True, gc=False):
    """The records of one scored dialogue."""

    id: str
    turns: int
    goal: Goal
    #: The pooled verdicts of a measure follow its others.
    verdicts: tuple[Verdict, ...]
    #: Acts about a domain, those of them that the profile recognises, slots of the goal, those that anybody uttered.
    acts: int
    acts_known: int
    slots: int
    slots_uttered: int
    #: Requested slots, and those that are not written as the profile expects.
    requested: int
    misnamed: int
    #: The sides of whom it was recorded what they understood.
    heard_by: tuple[Speaker, ...]
    #: Source, turn, value that was brought to a canonical form, how often the reference evaluator records it.
    attempts: tuple[tuple[str, int, Attempt, int], ...]
    #: Domains whose requests a failed search removed from the goal before R-GCDF1.
    requests_removed: tuple[str, ...]
    warnings: tuple[str, ...]
    patterns: tuple[Pattern, ...]
    loops: tuple[Loop, ...]
    #: What was heard otherwise than it was said.
    confusions: tuple[Occurrence, ...]
    end: End


class Scorer:
    """I-GCDF1 and R-GCDF1 for one dataset profile, configuration and canonical map; everything is prepared once."""

    def __init__(
        self,
        config: GcdfConfig | None = None,
        profile: DatasetProfile | None = None,
        canonical_map: dict[str, Any] | None = None,
    ) -> None:
        self.config = config or GcdfConfig()
        self.profile = profile or load_profile("multiwoz21")
        self._map = canonical_map or {}
        self._reader = ActReader(self.config, self.profile, strict=self.config.strict)
        # The reference gives no causes, so its misspelt families need not be kept for them.
        self._listener = ActReader(self.config, self.profile, strict=False)
        self._normaliser = Normaliser(self.config, self.profile, CanonicalMap(self._map) if self._map else None)

    @classmethod
    def of(cls, options: UserOptions, format: str = "") -> Scorer:
        """The scorer that the options name, for dialogues of a format."""
        profile = chosen_profile(options.profile, format)
        config = load_config(options.config, options.overrides, defaults=profile.defaults)
        return cls(config, profile, load_map(options.canonical_map, options.limit) if options.canonical_map else None)

    def signature(self) -> Signature:
        """Everything here that could change a score."""
        return Signature(
            mode=self.config.mode,
            profile=f"{self.profile.name}-{_digest(self.profile)}",
            map=_digest(self._map) if self._map else "none",
            config=_digest(self.config, order="deterministic"),
        )

    def score(self, dialogue: Dialogue) -> DialogueScore:
        """Both measures of one dialogue; raises the reason when it cannot be scored."""
        try:
            return self._score(dialogue)
        except DialgaugeError as error:
            raise error.at(dialogue=dialogue.id) from error

    def _talk(self, dialogue: Dialogue) -> Talk:
        turns = self._reader.turns(dialogue)
        if dialogue.goal is None:
            raise DialgaugeError("it has no goal to measure the user against")
        talk = Talk(turns, dialogue.goal.tasks, self.config, self.profile, self._normaliser)
        if not dialogue.turns:
            # The reference gives it 0 like any silent user.
            if not self.config.strict:
                raise DialgaugeError("the conversation is empty: there is no user to measure", turn=0)
            talk.warn("the conversation is empty, and counts as a user that says nothing")
        elif all(turn.acts is None for turn in dialogue.turns):
            raise DialgaugeError("no turn of it has dialogue acts, and GCDF1 measures acts, not words; annotate them")
        elif not any(turn.acts for turn in dialogue.turns) and any(turn.text for turn in dialogue.turns):
            talk.warn("there is text but no turn has an act, so it counts as a user that says nothing")
        return talk

    def _score(self, dialogue: Dialogue) -> DialogueScore:
        talk = self._talk(dialogue)
        causes = Causes(talk.turns, self._listener, self.profile)
        explained = [causes.explained(verdict) for verdict in verdicts_of(talk)]
        by_measure = [[each for each in explained if each.measure == measure] for measure in MEASURES]
        acts = [act for turn in talk.turns for act in turn.said or () if act.in_domain]
        slots = _goal_slots(talk)
        requests = [
            (service, request)
            for turn in talk.turns
            for service, requested in turn.requested.items()
            for request in requested
        ]
        carried = self.profile.requests_carry_service
        return DialogueScore(
            id=dialogue.id,
            turns=len(dialogue.turns),
            goal=Goal(tasks=talk.tasks),
            verdicts=tuple(_shared(each) for own in by_measure for each in (*own, *pooled(own))),
            acts=len(acts),
            acts_known=sum(bool(act.families) for act in acts),
            slots=len(slots),
            slots_uttered=len(slots & _uttered(talk, requests)),
            requested=len(requests),
            misnamed=sum(
                request.startswith(f"{service}-".lower() * (1 if carried else 2)) != carried
                for service, request in requests
            ),
            heard_by=_listeners(dialogue.turns),
            attempts=tuple(talk.attempts()),
            requests_removed=tuple(talk.requests_removed),
            warnings=tuple(talk.warnings),
            patterns=tuple(_patterns(talk)),
            loops=causes.loops,
            confusions=tuple(map(_shared, causes.occurrences())),
            end=causes.end,
        )


@lru_cache(1 << 16)
def _shared(record: Any) -> Any:
    """One shared record for all equal ones, to save memory."""
    return record


def _listeners(turns: Sequence[Turn]) -> tuple[Speaker, ...]:
    sides: tuple[tuple[Speaker, int], ...] = (("system", 0), ("user", 1))
    return tuple(side for side, first in sides if any(turn.heard is not None for turn in turns[first::2]))


def _goal_slots(talk: Talk) -> set[tuple[str, str]]:
    return {
        (domain, slot.lower())
        for domain, task in talk.tasks.items()
        for slots in (*task.constraints, task.requests)
        for slot in slots
    }


def _uttered(talk: Talk, requests: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    """The slots that either side said or asked for; what is said in booking counts for every domain of the goal."""
    uttered = {(act.act.domain, act.slot) for turn in talk.turns for act in turn.said or () if act.in_domain}
    uttered |= {(service, request.removeprefix(f"{service}-".lower())) for service, request in requests}
    booked = {slot for service, slot in uttered if service == talk.profile.booking_service}
    return uttered | {(domain, slot) for domain in talk.tasks for slot in booked}


def load_map(source: str | Path, limit: int = DEFAULT_LIMIT) -> dict[str, Any]:
    """The content of a canonical map."""
    parts = resolve(source, limit=limit)
    if len(parts) != 1:
        raise DialgaugeError("a canonical map is one file", file=os.fspath(source))
    return dict(CanonicalMapFile().load(parts[0], Notes()).values)


def _digest(content: Any, order: Any = None) -> str:
    return hashlib.sha256(msgspec.json.encode(content, order=order)).hexdigest()[:8]


def _patterns(talk: Talk) -> Iterator[Pattern]:
    """The patterns of all parts of the goal that want more than one thing."""
    for domain, task in talk.tasks.items():
        informed = talk.informed.get(domain, {})
        for part, kind in _PARTS.items():
            stated: dict[str, str] = getattr(task, part)
            if len(stated) < 2:
                continue
            constraints = dict.fromkeys([f"{slot}{EQUALS}{value}".lower() for slot, value in stated.items()])
            if len(constraints) > 1:
                turns = [informed.get(constraint, ()) for constraint in constraints]
                yield Pattern(kind, domain, part, len(constraints), expression_pattern(turns))
        requests = dict.fromkeys([slot.lower() for slot in task.requests])
        if len(requests) > 1:
            requested: dict[str, list[int]] = {}
            for turn in talk.turns[::2]:
                for act in turn.acts(REQUEST, [domain]):
                    requested.setdefault(act.slot, []).append(turn.position)
            turns = [requested.get(slot, ()) for slot in requests]
            yield Pattern("request", domain, "reqt", len(requests), expression_pattern(turns))


def expression_pattern(turns: Collection[Collection[int]]) -> str:
    """The pattern of several things, each given by the turns it was said in.

    >>> expression_pattern([[0, 4], [4]]), expression_pattern([[0], [2], []]), expression_pattern([[], []])
    ('no_miss_one', 'miss_mult', 'miss_all')
    """
    expressed = [set(each) for each in turns if each]
    if not expressed:
        return "miss_all"
    completeness = "no_miss" if len(expressed) == len(turns) else "miss"
    return f"{completeness}_{'one' if set.intersection(*expressed) else 'mult'}"
