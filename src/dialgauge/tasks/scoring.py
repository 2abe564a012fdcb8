"""The responses of systems judged against the goals of a MultiWOZ file and its database, as runs.

tasks = dialgauge.score_tasks("test.json", ["augpt.json", "ubar.json"])
tasks["augpt"]["Success"], tasks["augpt"]["Success(rules=grounded)"], tasks["augpt"]["Success[hotel]"]
print(tasks.explain("mul0003"))
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.engine import SILENT, Progress
from dialgauge.errors import DialgaugeError, choice
from dialgauge.formats import named_sources
from dialgauge.measures import (
    Count,
    Coverage,
    Lists,
    Resampling,
    Scores,
    Signature,
    SystemEvidence,
    asked_for,
    cards,
    parse_measures,
    score_systems,
)
from dialgauge.report import RunSet
from dialgauge.runs import Run, new_run
from dialgauge.tasks.database import DATABASE_DOMAINS, TownDatabase
from dialgauge.tasks.delexical import cleaned
from dialgauge.tasks.gold import GOLD_STATES, SPAN_REFERENCES, read_gold
from dialgauge.tasks.measures import BY_DOMAIN, DEFAULT, INFORM, RICHNESS, SUCCESS, TaskEvidence
from dialgauge.tasks.predictions import (
    MODES,
    DomainMode,
    Responses,
    TaskPredictions,
    active_domains,
    estimated_domains,
    human_responses,
    named_domains,
    read_predictions,
)
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
    References,
    bleu_obstacle,
    bleu_signature,
    read_references,
)
from dialgauge.text import MANY_NAMED, Note, counted, some_of
from dialgauge.worlds.domain import database_beside, read_database

KIND = "tasks"
Missing: TypeAlias = Literal["skip", "fail"]
MISSING: tuple[Missing, ...] = ("skip", "fail")


def score_tasks(
    gold: str | Path,
    systems: str | Path | Sequence[str | Path] | Mapping[str, Responses],
    *,
    database: str | Path | None = None,
    references: str | Path | None = None,
    references_are: str | None = None,
    mode: str | None = None,
    missing: str = "skip",
    measures: str | Iterable[str] = ("default",),
    resamples: int = 1000,
    seed: int = 0,
    human: bool = True,
    progress: Progress = SILENT,
) -> RunSet:
    """Inform, Success, BLEU, Combined and what they hide, for each system: files, or responses by the system's name.

    ``database`` is the folder ``db`` of MultiWOZ, looked for beside the gold file unless given. ``references`` is a
    file of your own (dialogue to list of texts), and then ``references_are`` says whether its texts have bracketed
    placeholders (``raw``) or are to be used as they are (``clean``). With ``human`` the corpus's own responses are
    scored too and stand beside every system.

    With the example files of ``dialgauge init``:

    >>> import dialgauge
    >>> tasks = dialgauge.score_tasks("town/gold.json", ["town/terse.json"], measures="Inform,Success")
    >>> tasks["terse"]["Inform"], tasks["terse"]["Success"]
    (<Score 1 [0.1826, 1], n=2>, <Score 0.5 [0.01676, 0.9832], n=2>)
    """
    named = named_sources(systems)  # a file given twice is refused before the work
    chosen = None if mode is None else choice(mode, MODES, "--domains")
    with progress.reading():
        evaluation = TaskEvaluation(
            gold, database, references, references_are,
            missing=missing, measures=measures, resamples=resamples, seed=seed,
        )  # fmt: skip
    runs = []
    with progress.bar("scoring", len(named)) as advance:
        for name, system in named.items():
            runs.append(evaluation.score(read_predictions(system, name), human=human, mode=chosen))
            advance(1)
    return RunSet(runs)


class TaskEvaluation:
    """Gold, database and references, read once for all systems."""

    def __init__(
        self,
        gold: str | Path,
        database: str | Path | None = None,
        references: str | Path | None = None,
        references_are: str | None = None,
        *,
        missing: str = "skip",
        measures: str | Iterable[str] = ("default",),
        resamples: int = 1000,
        seed: int = 0,
    ) -> None:
        self._missing = choice(missing, MISSING, "--unanswered")
        self._asked = (measures,) if isinstance(measures, str) else tuple(measures)
        self.measures = parse_measures(self._asked, KIND, _LISTS)  # a misspelt one is an error before the work
        self._how = Resampling(resamples, seed) if resamples else None
        self._seed = seed
        self.gold = read_gold(gold)
        read = database_beside(self.gold.source) if database is None else read_database(database)
        # The other tables constrain nothing.
        self.town = TownDatabase(read.tables, read.files[: len(DATABASE_DOMAINS)])
        kind = None if references_are is None else choice(references_are, REFERENCE_KINDS, "references_are")
        if kind is not None and references is None:
            raise DialgaugeError("references_are says what your references are; name their file as references")
        self.references = References(SPAN_REFERENCES, self.gold.references) if self.gold.has_spans else None
        if references is not None:
            self.references = read_references(references, kind)
        self._inputs = [("gold", self.gold.source), *(("database", file) for file in self.town.files)]
        self._inputs += [("references", str(references))] if references is not None else []

    def score(self, system: TaskPredictions, *, human: bool = True, mode: DomainMode | None = None) -> Run:
        """One system as a run in memory; with ``human``, the human responses' values stand beside its own.

        Without a ``mode`` of active domains the system's own default counts.
        """
        system.check_against(self.gold)
        notes: list[str] = system.notes(self.gold)
        mode = mode or system.default_mode
        if mode == "file" and system.turns_without_domains:
            raise DialgaugeError(
                f"the key 'active_domains' is missing in {system.turns_without_domains:,} of "
                f"{counted(system.turns, 'turn')}, so there are no lists to use; choose "
                "--domains state or placeholders",
                file=system.source or system.name,
            )
        judged = self._judge(system, mode)
        evidence = self._evidence(system, judged)
        coverage = self._coverage(system)
        signature = Signature(
            domains=mode,
            states="file" if system.has_states else f"gold={GOLD_STATES}",
            missing=self._missing,
            dialogues=str(len(system.dialogues)),
            turns=str(coverage["turns"].read),
            gold=self.gold.checksum,
            database=self.town.checksum,
        )
        scores = self._scores(evidence, signature, coverage)
        lacking = [task.id for key, task in self.gold.dialogues.items() if key not in system.dialogues]
        if lacking:
            notes.append(Note("missing", f"no responses for {some_of(lacking, MANY_NAMED)}; {coverage.policy}"))
        notes += [Note("left_out", f"{name} is left out: {why}") for name, why in scores.left_out.items()]
        return new_run(
            kind=KIND,
            name=system.name,
            scores=scores,
            tables={
                **run_tables(judged, self.town),
                **({DIALOGUE_SUMS: scores.sums_frame} if scores.has_several_sums else {}),
            },
            corpus=lambda: run_dialogues(judged),
            config={"system": system.name, "domains": mode, "missing": self._missing},
            inputs=[*self._inputs, *([("predictions", system.source)] if system.source else [])],
            seeds=self._seed,
            signature=signature.with_(interval=_interval(self._how, scores)),
            details={
                "domains": mode,
                "states": "file" if system.has_states else "gold",
                "references": self._reference_name,
                "domains_per_turn": _domains_per_turn(system, mode),
                "human": self.human_values if human else {},
                "stuffed_responses": sum(each.stuffed for each in evidence.verdicts["grounded"] if each),
                "missing_dialogues": lacking,
            },
            notes=notes,
        )

    @cached_property
    def human_values(self) -> dict[str, float | None]:
        """What the corpus's own responses reach, as a system; BLEU only against references that are not themselves."""
        if not self.gold.has_spans:
            return {}
        people = human_responses(self.gold)
        own = self._reference_name == SPAN_REFERENCES
        evidence = self._evidence(people, self._judge(people, "state"), bleu=not own)
        values = {str(measure): measure.value(evidence) for measure in self.measures if not measure.obstacle(evidence)}
        return {name: None if math.isnan(value) else float(value) for name, value in values.items()}

    def _judge(self, system: TaskPredictions, mode: DomainMode) -> list[JudgedDialogue]:
        """Every dialogue of the gold file beside the system's responses."""
        judged = []
        for key, gold in self.gold.dialogues.items():
            if key not in system.dialogues:
                failed = missing_verdict(gold)
                standard = failed if self._missing == "fail" else None
                judged.append(JudgedDialogue(gold, (), (), {"mwzeval": standard, "grounded": failed}))
                continue
            turns = system.dialogues[key][: gold.turns]  # what a system says after the end answers nobody
            # All or nothing: a system that has no state in one turn gets gold states in all.
            states = [turn.state or {} for turn in turns] if system.has_states else gold.states[: len(turns)]
            estimate = estimated_domains(states)
            active = active_domains(turns, estimate, mode)
            fitting = fitting_rows(gold, self.town)
            verdicts: Verdicts = {
                "mwzeval": judge_mwzeval(gold, fitting, turns, states, active, self.town),
                "grounded": judge_grounded(gold, fitting, turns, states, estimate, self.town),
            }
            judged.append(JudgedDialogue(gold, turns, states, verdicts, active))
        return judged

    def _evidence(
        self, system: TaskPredictions, judged: Sequence[JudgedDialogue], *, bleu: bool = True
    ) -> TaskEvidence:
        obstacle = self._bleu_obstacle if bleu else "the references are these responses"
        read = obstacle is None or any(each.card.name in RICHNESS for each in self.measures)
        texts = {
            key: [cleaned(turn.response) for turn in turns[: self.gold.dialogues[key].turns]]
            for key, turns in (system.dialogues.items() if read else ())
        }
        sums: NDArray[np.float64] | str = obstacle or ""
        if obstacle is None and self.references is not None:
            answered = {key: own for key, own in texts.items() if own}
            places = {key: index for index, key in enumerate(self.gold.dialogues)}
            sums = np.zeros((STATISTICS, len(places)))
            sums[:, [places[key] for key in answered]] = self.references.statistics(answered).T
        return TaskEvidence(
            verdicts={rules: [each.verdicts[rules] for each in judged] for rules in RULES},
            turns=[len(each.turns) for each in judged],
            bleu=sums,
            responses=[text for own in texts.values() for text in own],
        )

    @cached_property
    def _bleu_obstacle(self) -> str | None:
        if not any(measure.card.sums for measure in self.measures):
            return "it was not requested"
        if self.references is None:
            return "the gold file has no span_info, so there are no references; in Python, references=FILE gives some"
        return bleu_obstacle()

    @property
    def _reference_name(self) -> str:
        return self.references.name if self.references else ""

    def _coverage(self, system: TaskPredictions) -> Coverage:
        """How much there is; missing dialogues that are to fail are scored."""
        gold = {key: each.turns for key, each in self.gold.dialogues.items()}
        answered = [min(len(own), gold[key]) for key, own in system.dialogues.items()]
        missing = [turns for key, turns in gold.items() if key not in system.dialogues]
        fails = self._missing == "fail"
        counts = {
            "dialogues": (len(gold), len(answered), len(missing)),
            "turns": (sum(gold.values()), sum(answered), sum(missing)),
        }
        return Coverage(
            {
                name: Count(expected=expected, read=read, scored=read + lacking if fails else read, failed=0)
                for name, (expected, read, lacking) in counts.items()
            },
            policy="a missing dialogue has failed" if fails else "under mwzeval a missing dialogue is not counted",
        )

    def _scores(self, evidence: TaskEvidence, signature: Signature, coverage: Coverage) -> Scores:
        """Scores of tasks and of texts, which depend on references too."""
        obstacles = {str(each): why for each in self.measures if (why := each.obstacle(evidence))}
        for name in asked_for(self._asked, KIND, _LISTS):
            if name in obstacles:
                raise DialgaugeError(f"{name} cannot be computed: {obstacles[name]}")
        # Domains that no goal has are not worth a word unless somebody asked for them.
        left_out = {name: why for name, why in obstacles.items() if name not in BY_DOMAIN}
        possible = [each for each in self.measures if str(each) not in obstacles]
        texts = [each for each in possible if each.card.sums]
        named = signature.with_(references=self._reference_name, bleu=bleu_signature()) if texts else signature
        tasks, more = score_systems(
            [
                SystemEvidence(
                    evidence=evidence,
                    measures=measures,
                    dialogues=[each.id for each in self.gold.dialogues.values()],
                    signature=signed,
                    coverage=coverage,
                    left_out=left_out,
                )
                for measures, signed in (([each for each in possible if each not in texts], signature), (texts, named))
            ],
            self._how,
        )
        return tasks.joined(more)


def _every_measure() -> list[str]:
    others = cards(KIND).keys() - {*DEFAULT, *RICHNESS, INFORM, SUCCESS}
    return [*DEFAULT, *BY_DOMAIN, *RICHNESS, *others]


_LISTS: Lists = {"default": (*DEFAULT, *BY_DOMAIN), "richness": RICHNESS, "all": _every_measure}


def _interval(how: Resampling | None, scores: Scores) -> str:
    """How the intervals of a run are made: as most are, or all; a score with another method says it itself."""
    own = {Signature.parse(score.signature).get("interval", str(how)) for score in scores.scores.values()}
    return (own.pop() if len(own) == 1 else str(how)) if how else ""


def _domains_per_turn(system: TaskPredictions, mode: DomainMode) -> float | None:
    """How many domains the lists or the placeholders of a file give a turn on average, where they are what counts."""
    if mode == "state":
        return None
    turns = (turn for each in system.dialogues.values() for turn in each)
    named = (set(turn.active or ()) if mode == "file" else named_domains(turn.response) for turn in turns)
    return sum(map(len, named)) / system.turns
