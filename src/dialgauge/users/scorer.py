"""Scoring dialogues: both measures of one dialogue after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct

from dialgauge.dialogue import Dialogue, Goal, Speaker, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.users.acts import ActReader
from dialgauge.users.causes import Causes
from dialgauge.users.config import GcdfConfig
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

    def score_all(self, dialogues: Iterable[Dialogue]) -> Iterator[DialogueScore | Failure]:
        """A score or a failure for each dialogue, in order. The second dialogue of one id is a failure."""
        seen: set[str] = set()
        for dialogue in dialogues:
            key = dialogue_key(dialogue.id)
            if key in seen:
                yield Failure(dialogue.id, "this id was already used by an earlier dialogue; ids must be unique")
                continue
            seen.add(key)
            try:
                yield self.score(dialogue)
            except DialgaugeError as error:
                yield Failure.of(error)

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
        fit, unuttered = _fit(talk)
        acts = [act for turn in talk.turns for act in turn.said or ()]
        return DialogueScore(
            id=dialogue.id,
            turns=len(dialogue.turns),
            goal=goal,
            scores=by_measure,
            lost=lost,
            verdicts=tuple(verdicts),
            behaviours=tuple(behaviours(verdicts, goal, self.config)),
            fit=fit,
            unuttered=unuttered,
            unknown_acts=tuple(act.act.name for act in acts if act.in_domain and not act.families),
            worded=sum(turn.text != "" for turn in dialogue.turns),
            acting=sum(bool(turn.acts) for turn in dialogue.turns),
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


def _fit(talk: Talk) -> tuple[ProfileFit, tuple[tuple[str, str], ...]]:
    """How much the profile could make of the conversation, and the slots of the goal that nobody uttered."""
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
    silent = sorted(pair for pair in wanted if pair not in uttered and (booking, pair[1]) not in uttered)
    known = sum(bool(act.families) for act in acts)
    fit = ProfileFit(len(acts), known, len(wanted), len(wanted) - len(silent), requested, misnamed)
    return fit, tuple(silent)
