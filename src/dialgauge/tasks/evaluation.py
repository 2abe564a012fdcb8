"""The responses of systems judged against the goals of a gold file and its database, as runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, overload

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.formats import SpooledByKey
from dialgauge.measures import (
    Count,
    Coverage,
    Lists,
    Measure,
    Resampling,
    Scores,
    Signature,
    SystemEvidence,
    asked_for,
    cards,
    parse_measures,
    score_systems,
)
from dialgauge.runs import Run, new_run
from dialgauge.tasks.delexical import cleaned
from dialgauge.tasks.doubts import LEAST_ASKED
from dialgauge.tasks.gold import GOLD_STATES, SPAN_REFERENCES, GoldTask, GoldTasks, read_gold
from dialgauge.tasks.measures import BY_DOMAIN, DEFAULT, INFORM, RICHNESS, SUCCESS, TaskEvidence
from dialgauge.tasks.predictions import (
    MODES,
    DomainMode,
    TaskPredictions,
    active_domains,
    estimated_domains,
    human_responses,
    named_domains,
    states_of,
)
from dialgauge.tasks.results import KIND
from dialgauge.tasks.rules import (
    RULES,
    JudgedDialogue,
    Verdicts,
    fitting_rows,
    judge_grounded,
    judge_mwzeval,
    missing_verdict,
)
from dialgauge.tasks.tables import DIALOGUE_SUMS, run_dialogues, run_tables
from dialgauge.tasks.texts import (
    REFERENCE_KINDS,
    STATISTICS,
    ReferenceKind,
    References,
    bleu_obstacle,
    bleu_signature,
    read_references,
)
from dialgauge.text import Note, counted
from dialgauge.worlds.town import TownDatabase, load_town, town_beside

if TYPE_CHECKING:
    pass

Missing: TypeAlias = Literal["skip", "fail"]
MISSING: tuple[Missing, ...] = ("skip", "fail")
#: Dialogues whose texts are compared with references at a time.
_BLEU_BLOCK = 1 << 12


class TaskOptions(Struct, frozen=True, kw_only=True):
    """What a user chooses; None for the mode means each file's own default."""

    mode: DomainMode | None = None
    missing: Missing = "skip"
    strict: bool = False
    measures: tuple[str, ...] = ("default",)
    resamples: int = 1000
    seed: int = 0

    def __post_init__(self) -> None:
        _require("--domains", self.mode, MODES)
        _require("--unanswered", self.missing, MISSING)


def _require(what: str, chosen: str | None, known: Sequence[str]) -> None:
    if chosen is not None and chosen not in known:
        raise DialgaugeError(f"{what} must be one of {', '.join(known)} (got '{chosen}')")


class TaskEvaluation:
    """Gold, database and references, read once for all systems."""

    def __init__(
        self,
        gold: str | Path | GoldTasks,
        database: str | Path | TownDatabase | None = None,
        references: str | Path | References | None = None,
        references_are: ReferenceKind | None = None,
        options: TaskOptions | None = None,
    ) -> None:
        self.options = options or TaskOptions()
        self.measures = task_measures(self.options.measures)  # a misspelt one is an error before the work
        self.gold = gold if isinstance(gold, GoldTasks) else read_gold(gold)
        self.town = _town(database, self.gold)
        self.references = _references(references, references_are, self.gold)
        self._inputs = [("gold", self.gold.source)] if self.gold.source else []
        self._inputs += [("database", file) for file in self.town.files]
        self._inputs += [("references", str(references))] if isinstance(references, str | Path) else []

    def score(self, system: TaskPredictions, *, human: bool = True, mode: DomainMode | None = None) -> Run:
        """One system as a run in memory; with ``human``, the human responses' values stand beside its own.

        ``mode`` is for this system alone, where the options leave it open.
        """
        system.require_known(self.gold)
        notes = [*system.notes(strict=self.options.strict), *system.length_notes(self.gold)]
        mode = self._mode(system, mode)
        judged = self._judge(system, mode)
        signature = self._signature(system, mode)
        options = self.options
        how = Resampling(options.resamples, options.seed) if options.resamples else None
        evidence = self._evidence(system, judged)
        coverage = self._coverage(system, counted=options.missing == "fail")
        scores = self._scores(evidence, signature, coverage, how)
        return new_run(
            kind=KIND,
            name=system.name,
            scores=scores,
            tables={
                **run_tables(judged, self.town),
                **({DIALOGUE_SUMS: scores.sums_frame} if scores.has_several_sums else {}),
            },
            corpus=lambda: run_dialogues(judged),
            config={"system": system.name, "domains": mode, "missing": options.missing},
            inputs=[*self._inputs, *([("predictions", system.source)] if system.source else [])],
            seeds=options.seed,
            signature=signature.with_(interval=_interval(how, scores)),
            details={
                "domains": mode,
                "states": "file" if system.has_states else "gold",
                "references": self._reference_name,
                "domains_per_turn": _domains_per_turn(system, mode),
                "human": self.human_values if human else {},
                "request_precision": self._request_precisions(evidence),
                "stuffed_responses": sum(each.stuffed for each in evidence.verdicts["grounded"] if each),
                "missing_dialogues": [name for key, name in self.gold.names.items() if key not in system.lengths],
            },
            notes=[*notes, *(Note("left_out", f"{name} is left out: {why}") for name, why in scores.left_out.items())],
        )

    @cached_property
    def human_values(self) -> dict[str, float | None]:
        """What the corpus's own responses reach, as a system; BLEU only against references that are not themselves."""
        if not self.gold.has_spans:
            return {}
        evidence = self._evidence(*self._human, bleu=self._reference_name != SPAN_REFERENCES)
        values = {str(measure): measure.value(evidence) for measure in self.measures if not measure.obstacle(evidence)}
        return {name: None if math.isnan(value) else float(value) for name, value in values.items()}

    @cached_property
    def human_request_precision(self) -> float | None:
        """By which a system's is judged, whatever measures are shown."""
        return _request_precision(self._evidence(*self._human, bleu=False)) if self.gold.has_spans else None

    @cached_property
    def _human(self) -> tuple[TaskPredictions, Sequence[JudgedDialogue]]:
        system = human_responses(self.gold)
        return system, self._judge(system, "state")

    def _request_precisions(self, evidence: TaskEvidence) -> dict[str, float | None]:
        """The system's and, where the system's may be too low, the human one: it costs as much as a system."""
        own = _request_precision(evidence)
        suspicious = own is not None and own < LEAST_ASKED
        return {"system": own, "human": self.human_request_precision if suspicious else None}

    def _mode(self, system: TaskPredictions, chosen: DomainMode | None) -> DomainMode:
        mode = self.options.mode or chosen or system.default_mode
        if mode == "file" and system.listless:
            raise DialgaugeError(
                f"the key 'active_domains' is missing in {system.listless:,} of {counted(system.turns, 'turn')}, so "
                "there are no lists to use; choose --domains state or placeholders",
                file=system.source or system.name,
            )
        return mode

    def _judge(self, system: TaskPredictions, mode: DomainMode) -> Sequence[JudgedDialogue]:
        """All dialogues; of what lies in a file only the verdicts are kept."""
        judged = (self._judged(key, gold, system, mode) for key, gold in self.gold.dialogues.items())
        if not any(isinstance(each, SpooledByKey) for each in (self.gold.dialogues, system.dialogues)):
            return list(judged)
        verdicts = [each.verdicts for each in judged]
        return _JudgedAgain(
            verdicts, lambda key, known: self._judged(key, self.gold.dialogues[key], system, mode, known), self.gold
        )

    def _judged(
        self,
        key: str,
        gold: GoldTask,
        system: TaskPredictions,
        mode: DomainMode,
        known: Verdicts | None = None,
    ) -> JudgedDialogue:
        """One dialogue of a system beside its gold; what is ``known`` of it is not judged again."""
        if key not in system.lengths:
            failed = missing_verdict(gold)
            standard = failed if self.options.missing == "fail" else None
            return JudgedDialogue(gold, (), (), {"mwzeval": standard, "grounded": failed})
        turns = system.dialogues[key][: len(gold.answers)]
        states = states_of(turns, gold, own=system.has_states)
        estimate = estimated_domains(states)
        active = active_domains(turns, estimate, mode)
        if known is None:
            fitting = fitting_rows(gold, self.town)
            known = {
                "mwzeval": judge_mwzeval(gold, fitting, turns, states, active, self.town),
                "grounded": judge_grounded(gold, fitting, turns, states, estimate, self.town),
            }
        return JudgedDialogue(gold, turns, states, known, active)

    def _evidence(
        self, system: TaskPredictions, judged: Sequence[JudgedDialogue], *, bleu: bool = True
    ) -> TaskEvidence:
        obstacle = self._bleu_obstacle if bleu else "the references are these responses"
        verdicts, answered = _verdicts_of(judged), [self._answered(key, system) for key in self.gold.turns]
        return TaskEvidence(
            {rules: [each[rules] for each in verdicts] for rules in RULES},
            answered,
            obstacle or self._bleu_sums(system, answered),
            _Responses(system, self.gold),
        )

    def _answered(self, key: str, system: TaskPredictions) -> int:
        """How many turns of a dialogue count: what a system says after its end answers nobody."""
        return min(system.lengths.get(key, 0), self.gold.turns[key])

    def _coverage(self, system: TaskPredictions, *, counted: bool) -> Coverage:
        """How much there is; with ``counted``, dialogues that are missing are scored, as failed."""
        gold, there = self.gold.turns, len(system.lengths)
        turns = sum(self._answered(key, system) for key in gold)
        missing = sum(length for key, length in gold.items() if key not in system.lengths)
        return Coverage(
            {
                "dialogues": _count(len(gold), there, len(gold) if counted else there),
                "turns": _count(sum(gold.values()), turns, turns + missing if counted else turns),
            },
            policy="a missing dialogue has failed" if counted else "under mwzeval a missing dialogue is not counted",
        )

    def _bleu_sums(self, system: TaskPredictions, answered: Sequence[int]) -> NDArray[np.float64]:
        """Some dialogues at a time: all n-grams of all texts would not fit."""
        references = self.references
        if references is None:
            raise TypeError("there are no references")
        sums = np.zeros((len(answered), STATISTICS))
        there = [(index, key) for index, key in enumerate(self.gold.turns) if answered[index]]
        for start in range(0, len(there), _BLEU_BLOCK):
            block = there[start : start + _BLEU_BLOCK]
            responses = {
                key: [cleaned(turn.response) for turn in system.dialogues[key][: answered[index]]]
                for index, key in block
            }
            sums[[index for index, _ in block]] = references.statistics(responses)
        return sums.T

    @cached_property
    def _bleu_obstacle(self) -> str | None:
        if not any(measure.card.sums for measure in self.measures):
            return "it was not requested"
        if self.references is None:
            return "the gold file has no span_info, so there are no references; name some with --references"
        return bleu_obstacle()

    @property
    def _reference_name(self) -> str:
        return self.references.name if self.references else ""

    def _signature(self, system: TaskPredictions, mode: DomainMode) -> Signature:
        return Signature(
            domains=mode,
            states="file" if system.has_states else f"gold={GOLD_STATES}",
            missing=self.options.missing,
            dialogues=str(len(system.dialogues)),
            turns=str(sum(self._answered(key, system) for key in system.lengths)),
            gold=self.gold.checksum,
            database=self.town.checksum,
        )

    def _scores(
        self, evidence: TaskEvidence, signature: Signature, coverage: Coverage, how: Resampling | None
    ) -> Scores:
        """Scores of tasks and of texts, which depend on references too."""
        possible, left_out = _possible(self.measures, evidence, self.options.measures)
        texts = [measure for measure in possible if measure.card.sums]
        named = signature.with_(references=self._reference_name, bleu=bleu_signature()) if texts else signature
        tasks, more = score_systems(
            [
                SystemEvidence(
                    evidence=evidence,
                    measures=measures,
                    dialogues=list(self.gold.names.values()),
                    signature=signed,
                    coverage=coverage,
                    left_out=left_out,
                )
                for measures, signed in (([each for each in possible if each not in texts], signature), (texts, named))
            ],
            how,
        )
        return tasks.joined(more)


class _JudgedAgain(Sequence[JudgedDialogue]):
    """Dialogues that are put beside their verdicts each time they are asked for."""

    def __init__(
        self,
        verdicts: list[Verdicts],
        beside: Callable[[str, Verdicts], JudgedDialogue],
        gold: GoldTasks,
    ) -> None:
        self.verdicts, self._beside, self._keys = verdicts, beside, list(gold.turns)

    def __len__(self) -> int:
        return len(self.verdicts)

    @overload
    def __getitem__(self, which: int) -> JudgedDialogue: ...
    @overload
    def __getitem__(self, which: slice) -> list[JudgedDialogue]: ...
    def __getitem__(self, which: int | slice) -> JudgedDialogue | list[JudgedDialogue]:
        if isinstance(which, slice):
            return [self[index] for index in range(len(self))[which]]
        return self._beside(self._keys[which], self.verdicts[which])


def _verdicts_of(judged: Sequence[JudgedDialogue]) -> list[Verdicts]:
    return judged.verdicts if isinstance(judged, _JudgedAgain) else [each.verdicts for each in judged]


class _Responses:
    """What a system says before the dialogues end, in its own order."""

    def __init__(self, system: TaskPredictions, gold: GoldTasks) -> None:
        self._system, self._gold = system, gold

    def __iter__(self) -> Iterator[str]:
        return (
            turn.response for key, turns in self._system.dialogues.items() for turn in turns[: self._gold.turns[key]]
        )


def task_measures(names: Sequence[str]) -> list[Measure[Any]]:
    """Measures by name; ``default``, ``domains`` (Inform and Success of each), ``richness`` and ``all`` are lists."""
    return parse_measures(names, KIND, _LISTS)


def _every_measure() -> list[str]:
    others = cards(KIND).keys() - {*DEFAULT, *RICHNESS, INFORM, SUCCESS}
    return [*DEFAULT, *BY_DOMAIN, *RICHNESS, *others]


_LISTS: Lists = {"default": DEFAULT, "domains": BY_DOMAIN, "richness": RICHNESS, "all": _every_measure}


def _possible(
    measures: Sequence[Measure[Any]], evidence: TaskEvidence, names: Sequence[str]
) -> tuple[list[Measure[Any]], dict[str, str]]:
    obstacles = {str(measure): why for measure in measures if (why := measure.obstacle(evidence))}
    for name in asked_for(names, KIND, _LISTS):
        if name in obstacles:
            raise DialgaugeError(f"{name} cannot be computed: {obstacles[name]}")
    return [measure for measure in measures if str(measure) not in obstacles], obstacles


def _town(database: str | Path | TownDatabase | None, gold: GoldTasks) -> TownDatabase:
    if isinstance(database, TownDatabase):
        return database
    if database is not None:
        return load_town(database)
    if not gold.source:
        raise DialgaugeError("the gold dialogues come from no file; say where the MultiWOZ database is (database=...)")
    return town_beside(gold.source)


def _references(given: str | Path | References | None, are: ReferenceKind | None, gold: GoldTasks) -> References | None:
    _require("--references-are", are, REFERENCE_KINDS)
    if isinstance(given, References):
        return given
    if given is not None:
        return read_references(given, are)
    if are is not None:
        raise DialgaugeError("--references-are says what your references are; name them with --references FILE")
    return References(SPAN_REFERENCES, gold.references) if gold.has_spans else None


def _interval(how: Resampling | None, scores: Scores) -> str:
    """How the intervals of a run are made: as most are, or all; a score with another method says it itself."""
    own = {Signature.parse(score.signature).get("interval", str(how)) for score in scores.scores.values()}
    return (own.pop() if len(own) == 1 else str(how)) if how else ""


def _count(expected: int, read: int, scored: int) -> Count:
    return Count(expected=expected, read=read, scored=scored, failed=0)


def _domains_per_turn(system: TaskPredictions, mode: DomainMode) -> float | None:
    """How many domains the lists or the placeholders of a file give a turn on average, where they are what counts."""
    if mode == "state":
        return None
    turns = (turn for each in system.dialogues.values() for turn in each)
    named = (set(turn.active or ()) if mode == "file" else named_domains(turn.response) for turn in turns)
    return sum(map(len, named)) / system.turns


def _request_precision(evidence: TaskEvidence) -> float | None:
    hits, all_told = (float(part.sum()) for part in evidence.counts("hits", "told"))
    return hits / all_told if all_told else None
