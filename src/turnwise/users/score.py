"""Scoring dialogues: one after another, each failing for itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from turnwise.dialogue import Dialogue, Goal, dialogue_key
from turnwise.errors import TurnwiseError
from turnwise.users.acts import Lexicon
from turnwise.users.config import Config
from turnwise.users.constraints import score_constraints
from turnwise.users.ledger import close
from turnwise.users.normalise import Normaliser, Settings, SharedMemory
from turnwise.users.profile import Profile, load_profile
from turnwise.users.records import DialogueScore, Measure, Score
from turnwise.users.requests import score_requests
from turnwise.users.scene import Scene
from turnwise.users.view import moments
from turnwise.values.canonical_map import CanonicalMap


class Failure(Struct, frozen=True):
    """A dialogue that could not be scored, and why."""

    dialogue: str
    reason: str
    turn: int | None = None
    file: str | None = None

    @classmethod
    def of(cls, error: TurnwiseError) -> Failure:
        """The failure an error describes."""
        return cls(error.dialogue or "", error.message, error.turn, error.file)

    def __str__(self) -> str:
        return str(TurnwiseError(self.reason, file=self.file, dialogue=self.dialogue, turn=self.turn))


class Scorer:
    """I-GCDF1 and R-GCDF1 for one dataset profile, configuration and canonical map; everything prepared once."""

    def __init__(
        self,
        config: Config | None = None,
        profile: Profile | None = None,
        canonical_map: CanonicalMap | None = None,
    ) -> None:
        self.config = config or Config()
        self.profile = profile or load_profile("multiwoz21")
        options = self.config.igcd_f1
        merge = options.multiple_values_for_slot_in_turn.merge
        self._lexicon = Lexicon(self.profile, merge_values=merge, strict=self.config.strict)
        self._settings = Settings(
            canonical_map=canonical_map if options.value_matching.use_canonical_map else None,
            enabled=options.value_matching.use_fuzzy_match,
            threshold=options.value_matching.fuzzy_match_threshold,
            strict=self.config.strict,
            coreference=self.profile.coreference,
            time_slots=self.profile.time_slots,
        )
        self._shared = SharedMemory()

    def scene(self, dialogue: Dialogue) -> Scene:
        """The dialogue prepared for the rules."""
        goal = self.goal(dialogue)
        turns = moments(
            dialogue,
            self._lexicon,
            requests_carry_service=self.profile.requests_carry_service,
            max_turns=self.config.max_turns,
        )
        normaliser = Normaliser(self._settings, goal.tasks, self._shared)
        return Scene(turns, goal.tasks, self.config, self.profile, normaliser)

    def goal(self, dialogue: Dialogue) -> Goal:
        """The goal the user is measured against."""
        if dialogue.goal is None:
            raise TurnwiseError("it has no goal to measure the user against")
        return dialogue.goal

    def score(self, dialogue: Dialogue) -> DialogueScore:
        """Both measures of one dialogue; raises the reason when it cannot be scored."""
        try:
            scene = self.scene(dialogue)
            if not dialogue.turns:
                scene.warnings.append("the conversation is empty")
            scores: dict[Measure, dict[str, Score]] = {}
            scores["I-GCDF1"], verdicts = close(score_constraints(scene), "I-GCDF1")
            scores["R-GCDF1"], more = close(score_requests(scene), "R-GCDF1")
        except TurnwiseError as error:
            raise error.at(dialogue=dialogue.id) from error
        return DialogueScore(
            id=dialogue.id,
            turns=len(dialogue.turns),
            goal=Goal(tasks=scene.tasks),
            scores=scores,
            behaviours=tuple(scene.behaviours),
            verdicts=(*verdicts, *more),
            attempts=tuple(scene.attempts),
            requests_removed=tuple(scene.requests_removed),
            warnings=tuple(scene.warnings),
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
            except TurnwiseError as error:
                yield Failure.of(error)
