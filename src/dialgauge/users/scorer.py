"""What decides the scores of users, and both measures of one dialogue."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
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
from dialgauge.users.normalise import Normaliser
from dialgauge.users.patterns import patterns
from dialgauge.users.profile import DatasetProfile, chosen_profile, load_profile
from dialgauge.users.rules import score_constraints, score_requests
from dialgauge.users.talk import Talk
from dialgauge.users.verdicts import DialogueScore, pooled
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
        informs = score_constraints(talk)
        asks = score_requests(talk)
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
            verdicts=tuple(map(_shared, [*informs, *pooled(informs), *asks, *pooled(asks)])),
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
            patterns=tuple(patterns(talk.tasks, talk.turns, talk.informed)),
            loops=talk.causes.loops,
            confusions=tuple(map(_shared, talk.causes.occurrences())),
            end=talk.causes.end,
        )


@lru_cache(1 << 16)
def _shared(record: Any) -> Any:
    """The same record for equal ones: of many conversations the memory holds each only once."""
    return record


def _listeners(turns: Sequence[Turn]) -> tuple[Speaker, ...]:
    sides: tuple[tuple[Speaker, int], ...] = (("system", 0), ("user", 1))
    return tuple(side for side, first in sides if any(turn.heard is not None for turn in turns[first::2]))


def _goal_slots(talk: Talk) -> set[tuple[str, str]]:
    return {
        (domain, slot.lower())
        for domain, task in talk.tasks.items()
        for slots in (task.info, task.fail_info, task.book, task.fail_book, task.requests)
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
