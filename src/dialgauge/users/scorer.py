"""Scoring dialogues: the goal a user is measured against, and both measures of one dialogue after another."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from dialgauge.dialogue import Dialogue, Fact, Goal, State, Task, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.formats import DialogueFormat, Notes, recognise, resolve
from dialgauge.users.analyses import Loop, confusions, loops, patterns
from dialgauge.users.config import GcdfConfig
from dialgauge.users.constraints import score_constraints
from dialgauge.users.context import DialogueContext
from dialgauge.users.normalise import Matching, Normaliser, SharedMemory
from dialgauge.users.profile import DatasetProfile, load_profile
from dialgauge.users.records import DialogueScore, End, MeasureName, PrfScore, close
from dialgauge.users.requests import score_requests
from dialgauge.users.turns import ActLexicon, prepared_turns
from dialgauge.values import NOT_IN_GOAL, SPECIAL, CanonicalMap

#: Domain to its entities, each from slot to value.
VenueRows: TypeAlias = dict[str, list[dict[str, str]]]

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


# Goals for datasets that record none: a dialogue's own final states and requests.
#
# For each service, the goal's constraints are the slots of the state after the last user turn, with the first of their
# acceptable values, and its requests are all slots the user asked for in that service, in order of first mention. The
# acceptable values of a slot in any turn that agree with the final ones are ways of writing the same value: they make
# the dialogue's own canonical map. Values the user replaced on the way are no part of the goal.


def derived_goal(dialogue: Dialogue) -> Goal:
    """The goal the user can be said to have had, judged by where the dialogue ended."""
    final = _final_state(dialogue)
    requests: dict[str, dict[str, None]] = {}
    for turn in dialogue.user_turns():
        for service, slots in (turn.requested or {}).items():
            requests.setdefault(service, {}).update(dict.fromkeys(slots))
    services = dict.fromkeys([*final, *requests])
    return Goal(
        tasks={
            service: Task(
                info={slot: values[0] for slot, values in final.get(service, {}).items()},
                requests=tuple(requests.get(service, ())),
            )
            for service in services
        }
    )


def derived_map(dialogue: Dialogue) -> CanonicalMap:
    """The values of the final state with all their spellings, split by service; other slots have no known values."""
    content: dict[str, dict[str, Any]] = {}
    for turn in dialogue.turns:
        for act in turn.acts or ():
            _table(content, act.slot, act.domain)
    for service, slots in _final_state(dialogue).items():
        for slot, values in slots.items():
            spellings = _spellings(dialogue, service, slot, set(values))
            table = _table(content, slot, service)
            table[values[0].lower()] = list(dict.fromkeys(text.lower() for text in [*values, *sorted(spellings)]))
    return CanonicalMap(content)


def _final_state(dialogue: Dialogue) -> State:
    """The state after the last user turn; a slot without acceptable values is an empty slot."""
    states = [turn.state for turn in dialogue.user_turns() if turn.state is not None]
    if not states:
        raise DialgaugeError("it has no states to derive the user's goal from")
    return {
        service: {slot: values for slot, values in slots.items() if values} for service, slots in states[-1].items()
    }


def _spellings(dialogue: Dialogue, service: str, slot: str, known: set[str]) -> set[str]:
    """Going back from the end, every set of acceptable values that overlaps with those known belongs to them."""
    for turn in reversed(dialogue.turns):
        values = (turn.state or {}).get(service, {}).get(slot, ())
        if known.intersection(values):
            known.update(values)
    return known


def _table(content: dict[str, dict[str, Any]], slot: str, service: str) -> dict[str, Any]:
    by_service: dict[str, Any] = content.setdefault(slot.lower(), {})
    table: dict[str, Any] = by_service.setdefault(service, {SPECIAL: {NOT_IN_GOAL: {}}})
    return table


# Which failures of a goal are real: a ``fail_info`` is *live* when the database has nothing for it.
#
# Many recorded goals carry a ``fail_info`` although the search would succeed; nobody ever asked for those (0 of 329 in
# MultiWOZ 2.1). Taking them for constraints to be stated costs every user, human or simulated, recall it did not lose.

#: Values of a goal that every entity satisfies.
_ANYTHING = frozenset({"dontcare", "do not care", "don't care", ""})
_ENDING = "_db.json"


class VenueDatabase:
    """The entities of each domain, asked whether any fits some constraints."""

    def __init__(self, rows: VenueRows) -> None:
        self._rows = rows
        self._answers: dict[tuple[str, tuple[tuple[str, str], ...]], bool] = {}

    def __contains__(self, domain: str) -> bool:
        return domain in self._rows

    def finds(self, domain: str, constraints: Mapping[str, str]) -> bool:
        """Is there an entity that satisfies all constraints whose slots the domain's entities have?"""
        wanted = tuple((slot.lower(), _folded(value)) for slot, value in constraints.items())
        key = (domain, tuple(sorted(wanted)))
        if key not in self._answers:
            chosen = [(slot, value) for slot, value in wanted if value not in _ANYTHING]
            self._answers[key] = any(
                all(row.get(slot, value) == value for slot, value in chosen) for row in self._rows[domain]
            )
        return self._answers[key]


def load_database(source: str | Path) -> VenueRows:
    """The entities in the files ``DOMAIN_db.json`` of a folder or archive."""
    rows: VenueRows = {}
    for part in resolve(source):
        if not part.stem.endswith(_ENDING):
            continue
        reader = recognise(part)
        if isinstance(reader, DialogueFormat) or reader.kind != "knowledge base":
            raise DialgaugeError("it is no database", file=part.name)
        rows[part.stem.removesuffix(_ENDING)] = _entities(reader.load(part, Notes()).facts)
    if not rows:
        raise DialgaugeError("it holds no database: files named like hotel_db.json", file=str(source))
    return rows


def live_goal(goal: Goal, database: VenueDatabase, typos: Mapping[str, str]) -> Goal:
    """The goal with misspelt values put right and without the ``fail_info`` that the database can satisfy."""
    return Goal(
        tasks={domain: _live_task(domain, task, database, typos) for domain, task in goal.tasks.items()},
        message=goal.message,
    )


def _live_task(domain: str, task: Task, database: VenueDatabase, typos: Mapping[str, str]) -> Task:
    info, failing = (
        {slot: typos.get(value.lower(), value) for slot, value in constraints.items()}
        for constraints in (task.info, task.fail_info)
    )
    if failing and domain in database and database.finds(domain, failing):
        failing = {}
    return msgspec.structs.replace(task, info=info, fail_info=failing)


def _entities(facts: Iterable[Fact]) -> list[dict[str, str]]:
    rows: dict[str, dict[str, str]] = {}
    for fact in facts:
        rows.setdefault(fact.entity, {})[fact.relation.lower()] = _folded(fact.value)
    return list(rows.values())


def _folded(value: str) -> str:
    return " ".join(value.lower().split())
