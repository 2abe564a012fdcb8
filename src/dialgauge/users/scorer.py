"""Scoring dialogues: one after another, each failing for itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from dialgauge.dialogue import Dialogue, Goal, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.users.analyses import Loop, confusions, loops, patterns
from dialgauge.users.config import GcdfConfig
from dialgauge.users.constraints import score_constraints
from dialgauge.users.context import DialogueContext
from dialgauge.users.goals import VenueDatabase, derived_goal, derived_map, live_goal
from dialgauge.users.normalise import Matching, Normaliser, SharedMemory
from dialgauge.users.profile import DatasetProfile, load_profile
from dialgauge.users.records import DialogueScore, End, MeasureName, PrfScore, close
from dialgauge.users.requests import score_requests
from dialgauge.users.turns import ActLexicon, prepared_turns
from dialgauge.values import CanonicalMap

_GOODBYE = "bye"


class Failure(Struct, frozen=True):
    """A dialogue that could not be scored, and why."""

    dialogue: str
    reason: str
    turn: int | None = None
    file: str | None = None

    @classmethod
    def of(cls, error: DialgaugeError) -> Failure:
        """The failure an error describes."""
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
        database: VenueDatabase | None = None,
    ) -> None:
        self.config = config or GcdfConfig()
        self.profile = profile or load_profile("multiwoz21")
        self._database = database if self.config.prunes_failures else None
        if self.config.failures == "live" and database is None:
            raise DialgaugeError("failures=live asks a database which failures are real; name it with --database")
        merge = self.config.igcd_f1.multiple_values_for_slot_in_turn.merge
        self._lexicon = ActLexicon(self.profile, merge_values=merge, strict=self.config.strict)
        self._settings = self._normalisation(canonical_map)
        self._shared = SharedMemory()

    def _normalisation(self, canonical_map: CanonicalMap | None) -> Matching:
        matching = self.config.igcd_f1.value_matching
        return Matching(
            canonical_map=canonical_map if matching.use_canonical_map else None,
            enabled=matching.use_fuzzy_match,
            threshold=matching.fuzzy_match_threshold,
            strict=self.config.strict,
            coreference=self.profile.coreference,
            time_slots=self.profile.time_slots,
        )

    def goal(self, dialogue: Dialogue) -> Goal:
        """The goal the user is measured against."""
        if self.profile.goal == "derived":
            return derived_goal(dialogue)
        if dialogue.goal is None:
            raise DialgaugeError(
                "it has no goal to measure the user against (a profile can derive goals from states, as sgd does)"
            )
        if self._database is None:
            return dialogue.goal
        return live_goal(dialogue.goal, self._database, self.profile.goal_typos)

    def context(self, dialogue: Dialogue) -> DialogueContext:
        """The dialogue prepared for the rules."""
        turns = prepared_turns(
            dialogue,
            self._lexicon,
            requests_carry_service=self.profile.requests_carry_service,
            max_turns=self.config.max_turns,
        )
        tasks = self.goal(dialogue).tasks
        if self.profile.goal == "derived":
            normaliser = Normaliser(self._normalisation(derived_map(dialogue)), tasks, SharedMemory())
        else:
            normaliser = Normaliser(self._settings, tasks, self._shared)
        return DialogueContext(turns, tasks, self.config, self.profile, normaliser)

    def score(self, dialogue: Dialogue) -> DialogueScore:
        """Both measures of one dialogue; raises the reason when it cannot be scored."""
        try:
            return self._score(dialogue)
        except DialgaugeError as error:
            raise error.at(dialogue=dialogue.id) from error

    def _score(self, dialogue: Dialogue) -> DialogueScore:
        context = self.context(dialogue)
        if not dialogue.turns:
            context.empty()
        scores: dict[MeasureName, dict[str, PrfScore]] = {}
        scores["I-GCDF1"], verdicts = close(score_constraints(context), "I-GCDF1")
        scores["R-GCDF1"], more = close(score_requests(context), "R-GCDF1")
        repeats = tuple(loops(dialogue.turns, general_service=self.profile.general_service))
        return DialogueScore(
            id=dialogue.id,
            turns=len(dialogue.turns),
            goal=Goal(tasks=context.tasks),
            scores=scores,
            behaviours=tuple(context.behaviours),
            verdicts=(*verdicts, *more),
            attempts=tuple(dict.fromkeys(context.attempts)),
            requests_removed=tuple(context.requests_removed),
            warnings=tuple(context.warnings),
            patterns=tuple(patterns(context.tasks, context.turns, context.user_parameters())),
            loops=repeats,
            confusions=tuple(confusions(dialogue.turns).items()),
            end=_end(dialogue, repeats, self.profile.general_service),
        )

    def score_all(self, dialogues: Iterable[Dialogue]) -> Iterator[DialogueScore | Failure]:
        """A score or a failure for each dialogue, in order. The second dialogue of one id is a failure."""
        seen: set[str] = set()
        for dialogue in dialogues:
            key = dialogue_key(dialogue.id)
            if key in seen:
                yield Failure(dialogue.id, "this id was already used by a dialogue before it; ids must be unique")
                continue
            seen.add(key)
            try:
                yield self.score(dialogue)
            except DialgaugeError as error:
                yield Failure.of(error)


def _end(dialogue: Dialogue, repeats: tuple[Loop, ...], general_service: str) -> End:
    """How the conversation ends: still in a loop when the user last spoke of anything, with a goodbye, or otherwise."""
    goodbye = False
    for position in range(len(dialogue.turns) - 1, -1, -1):
        turn = dialogue.turns[position]
        if turn.speaker != "user":
            continue
        acts = turn.acts or ()
        goodbye = goodbye or any(_GOODBYE in act.name.lower() for act in acts)
        if any(act.domain != general_service for act in acts):
            if repeats and repeats[-1].last == position:
                return "loop"
            break
        if not goodbye:
            break
    return "goodbye" if goodbye else "open"
