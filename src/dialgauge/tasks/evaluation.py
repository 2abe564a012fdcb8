"""Task scores from Python: the responses of systems against the goals of a MultiWOZ file and its database.

tasks = dialgauge.score_tasks("test.json", ["augpt.json", "ubar.json"])
tasks[0]["Success"], tasks[0]["Success(rules=grounded)"]
print(tasks[0].explain("mul0003"))
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
import numpy as np
from msgspec import Struct

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import bulk_load
from dialgauge.measures import (
    Count,
    Coverage,
    Measure,
    Resampling,
    Signature,
    SystemEvidence,
    asked_for,
    cards,
    parse_measures,
    score_systems,
)
from dialgauge.runs import new_run
from dialgauge.tasks.delexical import cleaned
from dialgauge.tasks.gold import GOLD_STATES, SPAN_REFERENCES, GoldTask, GoldTasks, TaskState, read_gold
from dialgauge.tasks.measures import DEFAULT, INFORM, RICHNESS, SUCCESS, TaskEvidence
from dialgauge.tasks.predictions import (
    DomainMode,
    TaskPredictions,
    active_domains,
    human_responses,
    read_predictions,
    states_of,
)
from dialgauge.tasks.results import TaskScores
from dialgauge.tasks.rules import JudgedDialogue, judge_grounded, judge_mwzeval, missing_verdict
from dialgauge.tasks.tables import run_tables
from dialgauge.tasks.texts import References, bleu_signature, richness
from dialgauge.worlds.town import TownDatabase, load_town, town_beside

KIND = "tasks"
Missing: TypeAlias = Literal["skip", "fail"]
#: A prediction file, or what one holds.
Predictions: TypeAlias = str | Path | TaskPredictions


class TaskOptions(Struct, frozen=True, kw_only=True):
    """What a user chooses; None for the mode means each file's own default."""

    mode: DomainMode | None = None
    missing: Missing = "skip"
    strict: bool = False
    measures: tuple[str, ...] = ("default",)
    resamples: int = 1000
    seed: int = 0


def score_tasks(
    gold: str | Path | GoldTasks,
    systems: Predictions | Sequence[Predictions] | Mapping[str, Predictions],
    *,
    database: str | Path | TownDatabase | None = None,
    references: str | Path | References | None = None,
    references_are: Literal["raw", "clean"] | None = None,
    mode: DomainMode | None = None,
    missing: Missing = "skip",
    strict: bool = False,
    measures: Iterable[str] = ("default",),
    resamples: int = 1000,
    seed: int = 0,
    human: bool = True,
) -> list[TaskScores]:
    """Inform, Success, BLEU, Combined and what they hide, for each system.

    ``database`` is the folder ``db`` of MultiWOZ, looked for beside the gold file unless given. ``references`` is a
    file of your own (dialogue to list of texts), and then ``references_are`` says whether its texts have bracketed
    placeholders (``raw``) or are to be used as they are (``clean``). With ``human`` the corpus's own responses are
    scored too and stand beside every system.
    """
    options = TaskOptions(
        mode=mode, missing=missing, strict=strict, measures=tuple(measures), resamples=resamples, seed=seed
    )
    evaluation = TaskEvaluation(gold, database, references, references_are, options)
    humans = evaluation.human() if human else None
    return [evaluation.score(each, humans=humans) for each in _listed(systems)]


def _listed(systems: Predictions | Sequence[Predictions] | Mapping[str, Predictions]) -> list[TaskPredictions]:
    if isinstance(systems, str | Path | TaskPredictions):
        systems = [systems]
    named = systems.items() if isinstance(systems, Mapping) else ((None, each) for each in systems)
    read = [each if isinstance(each, TaskPredictions) else read_predictions(each, name) for name, each in named]
    if not read:
        raise DialgaugeError("there is nothing to score: name at least one prediction file")
    return read


class TaskEvaluation:
    """Gold, database and references, read once for all systems."""

    def __init__(
        self,
        gold: str | Path | GoldTasks,
        database: str | Path | TownDatabase | None = None,
        references: str | Path | References | None = None,
        references_are: Literal["raw", "clean"] | None = None,
        options: TaskOptions | None = None,
    ) -> None:
        self.options = options or TaskOptions()
        self.measures = task_measures(self.options.measures)  # a misspelt one is an error before the work
        self.town = _town(database, gold)
        with bulk_load():
            self.gold = gold if isinstance(gold, GoldTasks) else read_gold(gold)
        self.references = _references(references, references_are, self.gold)
        self._gold_checksum = _checksum(self.gold)
        self._bleu_signature = bleu_signature()
        self._inputs = [("gold", self.gold.source)] if self.gold.source else []

    def human(self) -> TaskScores:
        """The corpus's own responses, as a system."""
        return self.score(human_responses(self.gold))

    def score(
        self, system: TaskPredictions, *, humans: TaskScores | None = None, advance: Callable[[int], None] | None = None
    ) -> TaskScores:
        """One system as a run in memory."""
        system.require_known(self.gold)
        notes = system.notes(strict=self.options.strict)
        mode = self.options.mode or system.default_mode
        if mode == "file" and system.listless:
            raise DialgaugeError(
                f"{system.listless:,} turns lack the key 'active_domains', so there are no lists to use; "
                "choose --domains state or placeholders",
                file=system.source or system.name,
            )
        judged = [self._judged(key, gold, system, mode) for key, gold in self.gold.dialogues.items()]
        evidence = self._evidence(judged, system)
        signature = Signature(
            domains=mode,
            states="file" if system.has_states else f"gold={GOLD_STATES}",
            missing=self.options.missing,
            references=self.references.name,
            bleu=self._bleu_signature,
            dialogues=str(len(system.dialogues)),
            turns=str(system.turns),
            gold=self._gold_checksum,
        )
        how = Resampling(self.options.resamples, self.options.seed) if self.options.resamples else None
        measured, left_out = _possible(self.measures, evidence, self.options.measures)
        [scores] = score_systems(
            [
                SystemEvidence(
                    evidence=evidence,
                    measures=measured,
                    dialogues=[each.gold.id for each in judged],
                    signature=signature,
                    coverage=_coverage(judged),
                    left_out=left_out,
                )
            ],
            how,
        )
        run = new_run(
            kind=KIND,
            name=system.name,
            scores=scores,
            tables=run_tables(judged, self.town),
            corpus=lambda: _dialogues(judged),
            config={"system": system.name, "domains": mode, "missing": self.options.missing},
            inputs=[*self._inputs, *([("predictions", system.source)] if system.source else [])],
            seeds=self.options.seed,
            signature=signature.with_(interval=str(how) if how else ""),
            details={
                "domains": mode,
                "states": "file" if system.has_states else "gold",
                "listed_domains": _listed_domains(system, mode),
                "human": {name: score.value for name, score in humans.scores.items()} if humans else {},
                "stuffed_responses": sum(each.stuffed for each in evidence.verdicts["grounded"] if each),
                "missing_dialogues": [each.gold.id for each in judged if not each.turns],
            },
            notes=notes,
        )
        if advance:
            advance(1)
        return TaskScores(run)

    def _judged(self, key: str, gold: GoldTask, system: TaskPredictions, mode: DomainMode) -> JudgedDialogue:
        if key not in system.dialogues:
            failed = missing_verdict(gold)
            standard = failed if self.options.missing == "fail" else None
            return JudgedDialogue(gold, (), (), {"mwzeval": standard, "grounded": failed})
        turns = system.dialogues[key]
        states = states_of(turns, gold, own=system.has_states)
        active = active_domains(turns, states, mode)
        return JudgedDialogue(
            gold,
            turns,
            states,
            {
                "mwzeval": judge_mwzeval(gold, turns, states, active, self.town),
                "grounded": judge_grounded(gold, turns, states, self.town),
            },
        )

    def _evidence(self, judged: Sequence[JudgedDialogue], system: TaskPredictions) -> TaskEvidence:
        texts = {
            key: [cleaned(turn.response) for turn in turns[: len(self.gold.dialogues[key].answers)]]
            for key, turns in system.dialogues.items()
        }
        sums = {key: self.references.statistics(key, each) for key, each in texts.items()}
        none = np.zeros_like(next(iter(sums.values())))
        return TaskEvidence(
            {rules: [each.verdicts[rules] for each in judged] for rules in ("mwzeval", "grounded")},
            [len(each.turns) for each in judged],
            np.stack([sums.get(key, none) for key in self.gold.dialogues], axis=1),
            richness([text for turns in system.dialogues.values() for text in (cleaned(t.response) for t in turns)]),
        )


def task_measures(names: Sequence[str]) -> list[Measure[Any]]:
    """Measures by name; ``default``, ``domains`` (Inform and Success of each), ``richness`` and ``all`` are lists."""
    return parse_measures(names, KIND, _lists())


def _lists() -> dict[str, Any]:
    by_domain = [
        f"{name}{rules}[{domain}]"
        for rules in ("", "(rules=grounded)")
        for name in (INFORM, SUCCESS)
        for domain in ("attraction", "hotel", "restaurant", "taxi", "train")
    ]
    return {
        "default": DEFAULT,
        "domains": by_domain,
        "richness": RICHNESS,
        "all": lambda: [
            *DEFAULT,
            *by_domain,
            *RICHNESS,
            *(cards(KIND).keys() - {*DEFAULT, *RICHNESS, INFORM, SUCCESS}),
        ],
    }


def _possible(
    measures: Sequence[Measure[Any]], evidence: TaskEvidence, names: Sequence[str]
) -> tuple[list[Measure[Any]], dict[str, str]]:
    obstacles = {str(measure): why for measure in measures if (why := measure.obstacle(evidence))}
    for name in asked_for(names, KIND, _lists()):
        if name in obstacles:
            raise DialgaugeError(f"{name} cannot be computed: {obstacles[name]}")
    return [measure for measure in measures if str(measure) not in obstacles], obstacles


def _town(database: str | Path | TownDatabase | None, gold: str | Path | GoldTasks) -> TownDatabase:
    if isinstance(database, TownDatabase):
        return database
    if database is not None:
        return load_town(database)
    source = gold.source if isinstance(gold, GoldTasks) else gold
    if not source:
        raise DialgaugeError("name the folder of the MultiWOZ database")
    return town_beside(source)


_REFERENCE_FILE = msgspec.json.Decoder(dict[str, list[str]])


def _references(
    given: str | Path | References | None, are: Literal["raw", "clean"] | None, gold: GoldTasks
) -> References:
    from dialgauge.dialogue import dialogue_key
    from dialgauge.formats import resolve, system_name

    if isinstance(given, References):
        return given
    if given is None:
        return References(SPAN_REFERENCES, gold.references)
    if are is None:
        raise DialgaugeError(
            "say what your references are: raw (with placeholders in brackets) or clean (used as they are); "
            "cleaning them twice would destroy the classes",
            file=str(given),
        )
    try:
        texts = _REFERENCE_FILE.decode(resolve(given)[0].read())
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise DialgaugeError(
            f"references are an object of dialogue to list of texts ({error})", file=str(given)
        ) from error
    plain = {
        dialogue_key(name): [cleaned(one) for one in each] if are == "raw" else each for name, each in texts.items()
    }
    digest = hashlib.sha256(msgspec.json.encode(plain)).hexdigest()[:8]
    return References(f"{system_name(given)}-{are}-{digest}", plain)


def _checksum(gold: GoldTasks) -> str:
    """Of everything on the gold side that can change a verdict."""
    digest = hashlib.sha256()
    for key in sorted(gold.dialogues):
        each = gold.dialogues[key]
        content = [key, each.goal.tasks, [sorted(booked) for booked in each.booked], each.states]
        digest.update(msgspec.json.encode(content))
    return digest.hexdigest()[:12]


def _coverage(judged: Sequence[JudgedDialogue]) -> Coverage:
    expected = sum(len(each.gold.answers) for each in judged)
    read = sum(len(each.turns) for each in judged)
    scored = sum(min(len(each.turns), len(each.gold.answers)) for each in judged)
    there = sum(bool(each.turns) for each in judged)
    return Coverage(
        {
            "dialogues": Count(expected=len(judged), read=there, scored=there, failed=0),
            "turns": Count(expected=expected, read=read, scored=scored, failed=0),
        }
    )


def _listed_domains(system: TaskPredictions, mode: DomainMode) -> float | None:
    """How many domains the lists of a file have on average, where they are what counts."""
    if mode != "file":
        return None
    sizes = [len(set(turn.active or ())) for turns in system.dialogues.values() for turn in turns]
    return sum(sizes) / len(sizes)


def _dialogues(judged: Sequence[JudgedDialogue]) -> Iterable[Dialogue]:
    """What was said: the user's recorded words, and the system's responses."""
    for each in judged:
        turns: list[Turn] = []
        for number, words in enumerate(each.gold.user_texts):
            theirs = each.turns[number] if number < len(each.turns) else None
            state = theirs.state if theirs else None
            predicted = None if state is None else _as_state(state)
            turns.append(
                Turn(speaker="user", text=words, predicted=predicted, active=theirs.active if theirs else None,
                     state=_as_state(each.gold.states[number]) if number < len(each.gold.states) else None)
            )  # fmt: skip
            if theirs is not None:
                turns.append(Turn(speaker="system", text=theirs.response))
        yield Dialogue(id=each.gold.id, turns=tuple(turns), goal=each.gold.goal, domains=tuple(each.gold.domains))


def _as_state(state: TaskState) -> dict[str, dict[str, tuple[str, ...]]]:
    return {domain: {slot: (value,) for slot, value in slots.items()} for domain, slots in state.items()}
