"""Scoring dialogues: both measures of one dialogue after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Goal, Speaker, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.users.config import GcdfConfig
from dialgauge.users.constraints import score_constraints
from dialgauge.users.context import DialogueContext, refusal
from dialgauge.users.loops import conversation_end, loops
from dialgauge.users.mishearing import Misheard
from dialgauge.users.normalise import Matching, Normaliser
from dialgauge.users.patterns import patterns
from dialgauge.users.point_causes import Blame
from dialgauge.users.profile import DatasetProfile, load_profile
from dialgauge.users.records import DialogueScore, ProfileFit, close
from dialgauge.users.requests import score_requests
from dialgauge.users.turns import ActLexicon, Preparation
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
        merge = self.config.igcd_f1.multiple_values_for_slot_in_turn.merge
        self._preparation = Preparation(
            ActLexicon(self.profile, merge_values=merge, strict=self.config.strict),
            requests_carry_service=self.profile.requests_carry_service,
            max_turns=self.config.max_turns,
        )
        # The reference gives no causes, so its misspelt families need not be kept for them.
        self._hearing = ActLexicon(self.profile, merge_values=merge, strict=False)
        self._settings = self._normalisation(canonical_map)

    def _normalisation(self, canonical_map: CanonicalMap | None) -> Matching:
        matching = self.config.igcd_f1.value_matching
        return Matching(
            canonical_map=canonical_map if matching.use_canonical_map else None,
            enabled=matching.use_fuzzy_match,
            threshold=matching.fuzzy_match_threshold,
            strict=self.config.strict,
            coreference=self.profile.coreference,
            time_slots=self.profile.time_slots,
            refusal=refusal(self.profile),
        )

    def context(self, dialogue: Dialogue) -> DialogueContext:
        turns = self._preparation.turns(dialogue)
        if dialogue.goal is None:
            raise DialgaugeError("it has no goal to measure the user against")
        tasks = dialogue.goal.tasks
        misheard = Misheard(turns, self._hearing)
        repeats = tuple(loops(turns, misheard, self.profile.booking_service))
        return DialogueContext(
            turns,
            tasks,
            self.config,
            self.profile,
            Normaliser(self._settings, tasks),
            Blame(turns, repeats, conversation_end(turns, repeats), misheard),
        )

    def score(self, dialogue: Dialogue, *, brief: bool = False) -> DialogueScore:
        """Both measures of one dialogue; raises the reason when it cannot be scored. ``brief``: the scores alone."""
        try:
            return self._score(dialogue, brief)
        except DialgaugeError as error:
            raise error.at(dialogue=dialogue.id) from error

    def _score(self, dialogue: Dialogue, brief: bool) -> DialogueScore:
        context = self.context(dialogue)
        if not dialogue.turns:
            context.empty()
        elif all(turn.acts is None for turn in dialogue.turns):
            raise DialgaugeError("no turn of it has dialogue acts, and GCDF1 measures acts, not words; annotate them")
        elif not any(turn.acts for turn in dialogue.turns) and any(turn.text for turn in dialogue.turns):
            context.warn("there is text but no turn has an act, so it counts as a user that says nothing")
        informing = close(score_constraints(context), "I-GCDF1")
        requesting = close(score_requests(context), "R-GCDF1")
        scores = DialogueScore(
            id=dialogue.id,
            turns=len(dialogue.turns),
            goal=Goal(tasks=context.tasks),
            scores={"I-GCDF1": informing.scores, "R-GCDF1": requesting.scores},
            lost={"I-GCDF1": informing.lost, "R-GCDF1": requesting.lost},
        )
        if brief:
            return scores
        fit, unuttered = _fit(context)
        return replace(
            scores,
            behaviours=tuple(context.behaviours),
            verdicts=(*informing.verdicts, *requesting.verdicts),
            fit=fit,
            unuttered=unuttered,
            unknown_acts=tuple(
                name
                for utterance, count in context.utterances.items()
                for name in utterance.unknown * count
                if utterance.unknown
            ),
            worded=sum([turn.text != "" for turn in dialogue.turns]),
            acting=sum([bool(turn.acts) for turn in dialogue.turns]),
            heard_by=_listeners(dialogue.turns),
            attempts=tuple(context.attempts),
            requests_removed=tuple(context.requests_removed),
            warnings=tuple(context.warnings),
            patterns=tuple(patterns(context.tasks, context.turns, context.user_parameters())),
            loops=context.blame.loops,
            confusions=tuple(context.blame.misheard.occurrences()),
            end=context.blame.end,
        )

    def score_all(self, dialogues: Iterable[Dialogue], *, brief: bool = False) -> Iterator[DialogueScore | Failure]:
        """A score or a failure for each dialogue, in order. The second dialogue of one id is a failure."""
        seen: set[str] = set()
        for dialogue in dialogues:
            key = dialogue_key(dialogue.id)
            if key in seen:
                yield Failure(dialogue.id, "this id was already used by an earlier dialogue; ids must be unique")
                continue
            seen.add(key)
            try:
                yield self.score(dialogue, brief=brief)
            except DialgaugeError as error:
                yield Failure.of(error)


def _listeners(turns: Sequence[Turn]) -> tuple[Speaker, ...]:
    sides: tuple[tuple[Speaker, int], ...] = (("system", 0), ("user", 1))
    return tuple(side for side, first in sides if any(turn.heard is not None for turn in turns[first::2]))


def _asked(context: DialogueContext) -> dict[str, dict[str, int]]:
    """Service to request to how often it was made, by either side."""
    asked: dict[str, dict[str, int]] = {}
    for turn in context.turns:
        for service, requests in turn.requested.items():
            of_service = asked.setdefault(service, {})
            for request in requests:
                of_service[request] = of_service.get(request, 0) + 1
    return asked


def _fit(context: DialogueContext) -> tuple[ProfileFit, tuple[tuple[str, str], ...]]:
    """How much the profile could make of the conversation, and the slots of the goal that nobody uttered."""
    in_domains = unknown = requested = misnamed = 0
    uttered = set[tuple[str, str]]().union(*[utterance.slots for utterance in context.utterances])
    for utterance, count in context.utterances.items():
        in_domains += count * utterance.in_domains
        unknown += count * len(utterance.unknown)
    carried = context.profile.requests_carry_service
    for service, requests in _asked(context).items():
        prefix = f"{service}-".lower()
        for request, count in requests.items():
            slot = request.removeprefix(prefix)
            uttered.add((service, slot))
            requested += count
            if request == slot if carried else slot.startswith(prefix):
                misnamed += count
    wanted = {
        (domain, slot.lower())
        for domain, task in context.tasks.items()
        for slots in (task.info, task.fail_info, task.book, task.fail_book, task.requests)
        for slot in slots
    }
    booking = context.profile.booking_service
    silent = [pair for pair in wanted if pair not in uttered and (booking, pair[1]) not in uttered]
    fit = ProfileFit(in_domains, in_domains - unknown, len(wanted), len(wanted) - len(silent), requested, misnamed)
    return fit, tuple(sorted(silent))
