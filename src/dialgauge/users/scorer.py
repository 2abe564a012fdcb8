"""What decides the scores of users, and both measures of one dialogue."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Dialogue, Goal, Speaker, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DEFAULT_LIMIT, CanonicalMapFile, Notes, resolve
from dialgauge.measures import Signature
from dialgauge.users.acts import ActReader
from dialgauge.users.causes import Causes
from dialgauge.users.config import GcdfConfig, load_config
from dialgauge.users.constraints import score_constraints
from dialgauge.users.normalise import Normaliser
from dialgauge.users.patterns import patterns
from dialgauge.users.profile import DatasetProfile, load_profile
from dialgauge.users.requests import score_requests
from dialgauge.users.talk import Talk
from dialgauge.users.verdicts import (
    MEASURES,
    DialogueScore,
    LostPoints,
    MeasureName,
    PrfScore,
    ProfileFit,
    behaviours,
    lost_points,
    pooled,
    scores,
)
from dialgauge.values import CanonicalMap


class Failure(Struct, frozen=True):
    """A dialogue that could not be scored, and why."""

    dialogue: str
    reason: str
    turn: int | None = None
    file: str | None = None

    @classmethod
    def of(cls, error: DialgaugeError) -> Failure:
        return cls(error.dialogue or "", error.message, error.turn, error.file)

    def __str__(self) -> str:
        return str(DialgaugeError(self.reason, file=self.file, dialogue=self.dialogue, turn=self.turn))


class Scorer:
    """I-GCDF1 and R-GCDF1 for one dataset profile, configuration and canonical map; everything prepared once."""

    def __init__(
        self,
        config: GcdfConfig | None = None,
        profile: DatasetProfile | None = None,
        canonical_map: CanonicalMap | None = None,
    ) -> None:
        self.config = config or GcdfConfig()
        self.profile = profile or load_profile("multiwoz21")
        merge, most = self.config.igcd_f1.multiple_values_for_slot_in_turn.merge, self.config.max_turns
        self._reader = ActReader(self.profile, merge_values=merge, strict=self.config.strict, max_turns=most)
        # The reference gives no causes, so its misspelt families need not be kept for them.
        self._listener = ActReader(self.profile, merge_values=merge, strict=False, max_turns=most)
        self._normaliser = Normaliser(self.config, self.profile, canonical_map)

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
        causes = Causes(turns, self._listener, self.profile.booking_service)
        talk = Talk(turns, dialogue.goal.tasks, self.config, self.profile, self._normaliser, causes)
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
        verdicts = []
        by_measure: dict[MeasureName, dict[str, PrfScore]] = {}
        lost: dict[MeasureName, LostPoints] = {}
        for measure in MEASURES:
            own = score_constraints(talk) if measure == "I-GCDF1" else score_requests(talk)
            met = pooled(own)
            verdicts += [*own, *met]
            by_measure[measure], lost[measure] = scores([*own, *met]), lost_points(own, met)
        goal = Goal(tasks=talk.tasks)
        acts = [act for turn in talk.turns for act in turn.said or ()]
        return DialogueScore(
            id=dialogue.id,
            turns=len(dialogue.turns),
            goal=goal,
            scores=by_measure,
            lost=lost,
            verdicts=tuple(verdicts),
            behaviours=tuple(behaviours(verdicts, goal, self.config)),
            fit=_fit(talk),
            unknown_acts=tuple(act.act.name for act in acts if act.in_domain and not act.families),
            worded=sum(turn.text != "" for turn in dialogue.turns),
            acting=sum(bool(turn.acts) for turn in dialogue.user_turns()),
            heard_by=_listeners(dialogue.turns),
            attempts=tuple(talk.attempts()),
            requests_removed=tuple(talk.requests_removed),
            warnings=tuple(talk.warnings),
            patterns=tuple(patterns(talk.tasks, talk.turns, talk.informed)),
            loops=talk.causes.loops,
            confusions=tuple(talk.causes.hearing.occurrences()),
            end=talk.causes.end,
        )


def _listeners(turns: Sequence[Turn]) -> tuple[Speaker, ...]:
    sides: tuple[tuple[Speaker, int], ...] = (("system", 0), ("user", 1))
    return tuple(side for side, first in sides if any(turn.heard is not None for turn in turns[first::2]))


def _fit(talk: Talk) -> ProfileFit:
    """How much the profile could make of the conversation."""
    acts = [act for turn in talk.turns for act in turn.said or () if act.in_domain]
    uttered = {(act.act.domain, act.slot) for act in acts}
    requested = misnamed = 0
    carried = talk.profile.requests_carry_service
    for turn in talk.turns:
        for service, requests in turn.requested.items():
            prefix = f"{service}-".lower()
            for request in requests:
                slot = request.removeprefix(prefix)
                uttered.add((service, slot))
                requested += 1
                misnamed += request == slot if carried else slot.startswith(prefix)
    wanted = {
        (domain, slot.lower())
        for domain, task in talk.tasks.items()
        for slots in (task.info, task.fail_info, task.book, task.fail_book, task.requests)
        for slot in slots
    }
    booking = talk.profile.booking_service
    said = sum((domain, slot) in uttered or (booking, slot) in uttered for domain, slot in wanted)
    known = sum(bool(act.families) for act in acts)
    return ProfileFit(len(acts), known, len(wanted), said, requested, misnamed)


#: Which profile goes with dialogues of a format, unless one is named.
PROFILES = {"multiwoz": "multiwoz21-people"}
DEFAULT_PROFILE = "multiwoz21"


def profile_for(format: str) -> str:
    """The profile that goes with dialogues of a format."""
    return PROFILES.get(format, DEFAULT_PROFILE)


class UserOptions(Struct, frozen=True):
    """What a user of dialgauge chooses; files are named, not yet read."""

    canonical_map: str | Path | None = None
    config: str | Path | None = None
    overrides: tuple[str, ...] = ()
    #: A shipped one by name, one of your own by its file or the folder of a domain, or the profile itself.
    profile: str | DatasetProfile | None = None
    format: str | None = None
    limit: int = DEFAULT_LIMIT


class ScorerSettings(Struct, frozen=True):
    """Everything a scorer is made of, read once, so that all processes score alike."""

    config: GcdfConfig
    profile: DatasetProfile
    canonical_map: dict[str, Any]

    @classmethod
    def load(cls, options: UserOptions, format: str = "") -> ScorerSettings:
        """The settings that the options name, for dialogues of a format."""
        chosen = options.profile or profile_for(format)
        profile = load_profile(chosen) if isinstance(chosen, str) else chosen
        return cls(
            config=load_config(options.config, options.overrides, defaults=profile.defaults),
            profile=profile,
            canonical_map={} if options.canonical_map is None else load_map(options.canonical_map, options.limit),
        )

    def scorer(self) -> Scorer:
        values = CanonicalMap(self.canonical_map) if self.canonical_map else None
        return Scorer(self.config, self.profile, values)

    def signature(self) -> Signature:
        """Everything here that could change a score."""
        return Signature(
            mode=self.config.mode,
            profile=f"{self.profile.name}-{_digest(self.profile)}",
            map=_digest(self.canonical_map) if self.canonical_map else "none",
            config=_digest(self.config, order="deterministic"),
        )


def load_map(source: str | Path, limit: int = DEFAULT_LIMIT) -> dict[str, Any]:
    """The content of a canonical map."""
    parts = resolve(source, limit=limit)
    if len(parts) != 1:
        raise DialgaugeError("a canonical map is one file", file=os.fspath(source))
    return dict(CanonicalMapFile().load(parts[0], Notes()).values)


def _digest(content: Any, order: Any = None) -> str:
    return hashlib.sha256(msgspec.json.encode(content, order=order)).hexdigest()[:8]
