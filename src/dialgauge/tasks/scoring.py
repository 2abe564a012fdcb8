"""Task scores from Python: the responses of systems against the goals of a MultiWOZ file and its database.

tasks = dialgauge.score_tasks("test.json", ["augpt.json", "ubar.json"])
tasks["augpt"]["Success"], tasks["augpt"]["Success(rules=grounded)"]
print(tasks.explain("mul0003"))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, cast

from dialgauge.engine import SILENT, Progress
from dialgauge.formats import named_sources
from dialgauge.tasks.evaluation import Missing, TaskEvaluation, TaskOptions
from dialgauge.tasks.gold import GoldTasks
from dialgauge.tasks.predictions import DomainMode, TaskPredictions, read_predictions
from dialgauge.tasks.responses_in_memory import ResponsesInMemory, are_responses, predictions_from
from dialgauge.tasks.results import TaskRuns
from dialgauge.tasks.texts import (
    ReferenceKind,
    References,
)
from dialgauge.worlds.town import TownDatabase

#: A prediction file, or what one holds.
Predictions: TypeAlias = str | Path | TaskPredictions | ResponsesInMemory


def score_tasks(
    gold: str | Path | GoldTasks,
    systems: Predictions | Sequence[Predictions] | Mapping[str, Predictions],
    *,
    database: str | Path | TownDatabase | None = None,
    references: str | Path | References | None = None,
    references_are: str | None = None,
    mode: str | None = None,
    missing: str = "skip",
    strict: bool = False,
    measures: str | Iterable[str] = ("default",),
    resamples: int = 1000,
    seed: int = 0,
    human: bool = True,
    progress: Progress = SILENT,
) -> TaskRuns:
    """Inform, Success, BLEU, Combined and what they hide, for each system: files, or what ``predictions_from`` takes.

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
    options = TaskOptions(
        mode=cast("DomainMode | None", mode),  # checked there
        missing=cast("Missing", missing),
        strict=strict,
        measures=(measures,) if isinstance(measures, str) else tuple(measures),
        resamples=resamples,
        seed=seed,
    )
    kind = cast("ReferenceKind | None", references_are)
    listed = _listed(systems)  # a file given twice is told before the work
    with progress.reading():
        evaluation = TaskEvaluation(gold, database, references, kind, options)
    runs = []
    with progress.bar("scoring", len(listed)) as advance:
        for name, system in listed:
            runs.append(evaluation.score(_read(name, system), human=human))
            advance(1)
    return TaskRuns(runs)


def _listed(
    systems: Predictions | Sequence[Predictions] | Mapping[str, Predictions],
) -> list[tuple[str | None, Predictions]]:
    """Systems with their names, where these are known before they are read."""
    if isinstance(systems, TaskPredictions) or are_responses(systems):
        return [(None, systems)]
    if isinstance(systems, list | tuple) and any(isinstance(each, TaskPredictions) for each in systems):
        return [(None, each) for each in systems]
    return list(named_sources(systems).items())


def _read(name: str | None, given: Predictions) -> TaskPredictions:
    if isinstance(given, TaskPredictions):
        return given
    return read_predictions(given, name) if isinstance(given, str | Path) else predictions_from(name or "system", given)
