"""Bordes, Boureau and Weston, ICLR 2017: end-to-end goal-oriented dialog.

Rankers that need no training are computed here and now. The learned ones come from results that are kept with the
package (``kept/``, with the command, seeds and machine that made them), or are trained anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from dialgauge._version import __version__
from dialgauge.errors import DialgaugeError
from dialgauge.rankers import TASKS, RankingTask, fit_model, load_task, ranker_class
from dialgauge.reproduce.babi.attention import MODEL, SEED, AttentionSample, attention_tables, stored_attention
from dialgauge.reproduce.babi.claims import Looked, claims
from dialgauge.reproduce.babi.kept import (
    OURS,
    SPLITS,
    TRAINING_NAMES,
    TRAININGS,
    Kept,
    kept_results,
    machine,
    trained_attention,
    trained_cells,
    write_kept,
)
from dialgauge.reproduce.babi.layout import Accuracies, as_printed, in_layout
from dialgauge.reproduce.babi.reasons import SAME_ROW, why_learned, why_untrained
from dialgauge.reproduce.babi.settings import hyperparameters, table_1
from dialgauge.reproduce.reproduction import Fresh, PrintedNumber, Reproduction
from dialgauge.reproduce.sources import published as of_paper
from dialgauge.responses import column_of, evaluate, published, split_is_released, training_is_released
from dialgauge.text import counted

TITLE = "Learning End-to-End Goal-Oriented Dialog"
CITATION = "Bordes, Boureau and Weston, ICLR 2017"
#: The data of the paper, in the folder of all data.
FOLDER = "babi"
#: Two points of accuracy.
_NEAR = 0.02
#: Computed each time: our model, and whose row of the paper it stands beside.
UNTRAINED = {
    "rules": "rules",
    "tfidf": "tfidf",
    "tfidf-dev": "tfidf",
    "tfidf-type": "tfidf-type",
    "tfidf-type-dev": "tfidf-type",
    "nearest": "nearest",
}
#: Taken from the kept results, and the table of the paper each stands in.
LEARNED = {
    "embeddings": "Table 2",
    "memn2n": "Table 2",
    "memn2n-type": "Table 2",
    "embeddings-type": "Table 10",
    "embeddings-bigrams": "Table 10",
}


def reproduce(
    data: Path | None,
    fresh: Fresh | None = None,
    preset: str | None = None,
    keep: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> Reproduction:
    """Tables 1 to 10 and the claims, theirs beside ours.

    ``preset`` shows one training of the learned models, else both; ``fresh`` trains them anew by its own, and ``keep``
    is where the accuracies of those go. ``tell`` hears what is being computed.
    """
    paper = of_paper("babi")
    record = Reproduction("babi", TITLE, CITATION)
    record.missing.append("the Concierge conversations (a proprietary data set that was never released)")
    tasks = _tasks(record, data)
    kept, attention = _results(record, data, tasks, fresh)
    if fresh is not None and keep is not None:
        write_kept(keep, kept[fresh.preset])
    shown = [name for name in TRAININGS if name in kept and preset in (None, name)]
    if preset is not None and not shown:
        record.missing.append(f"results of the preset {preset} ('dialgauge reproduce babi --fresh --preset {preset}')")
    table_1(record, tasks, paper["concierge"])
    record.notes.setdefault("Table 2", []).append(SAME_ROW)
    for part in sorted(set(LEARNED.values())):
        record.notes.setdefault(part, [])[:0] = [_origin(name, kept[name], fresh) for name in shown]
    accuracies: Accuracies = {}
    untrained = _Untrained(tell)
    for model, row in UNTRAINED.items():
        _untrained(record, model, _printed(row), tasks, accuracies, untrained)
    for model, (response, dialog) in paper["concierge"]["table2"].items():
        for measure, theirs in (("per-response", response), ("per-dialog", dialog)):
            what = f"Concierge, {model}: {measure} (among the first 10)"
            record.impossible("Table 2", what, theirs, paper["concierge"]["why"])
    for part in ("Table 2", "Table 10"):
        if part == "Table 10":
            attention_tables(record, attention.samples, tasks, attention.how)
            hyperparameters(record, paper["concierge"]["why"])
        for model in (name for name, own_part in LEARNED.items() if own_part == part):
            for training in shown or [OURS]:
                _learned(record, part, model, training, kept.get(training), accuracies)
        record.tables.setdefault(part, []).extend(in_layout(part, accuracies, shown))
    record.notes.setdefault("Table 10", []).extend(
        nearness(_differences(accuracies, training), training) for training in shown or [OURS]
    )
    claims(record, accuracies, kept, tasks, untrained.looked(tasks), paper)
    return record


def _differences(accuracies: Accuracies, training: str) -> Iterator[float | None]:
    """By how much each per-response accuracy differs from the paper's; None for those that could not be computed."""
    for model, row in (UNTRAINED | {model: model for model in LEARNED}).items():
        for column, (theirs, _) in _printed(row).items():
            reached = accuracies.get((training, model, column))
            yield None if reached is None else reached[0] - PrintedNumber.parse(theirs).value


def nearness(cells: Iterable[float | None], training: str = OURS) -> str:
    """How many per-response cells are near the paper's, in one sentence; far above is as far as far below."""
    cells = list(cells)
    differences = [difference for difference in cells if difference is not None]
    above, below = (sum(sign * difference > _NEAR + 1e-9 for difference in differences) for sign in (1, -1))
    absent = len(cells) - len(differences)
    which = "" if training == OURS else " with the paper's training"
    return (
        f"Of the {len(cells)} per-response cells of Tables 2 and 10{which}, {len(differences) - above - below} are "
        f"within two points of the paper, {above} are more than two points above it and {below} more than two points "
        f"below{f'; {absent} could not be computed' if absent else ''}."
    )


class _Looked(NamedTuple):
    """Where memory networks looked, and where that is from."""

    samples: list[AttentionSample]
    how: str


def _results(
    record: Reproduction, data: Path | None, tasks: list[RankingTask] | None, fresh: Fresh | None
) -> tuple[dict[str, Kept], _Looked]:
    """Training to the accuracies of the learned models, and where their memory network looks."""
    kept = {name: results for name in TRAININGS if (results := kept_results(name)) is not None}
    if fresh is not None:
        if data is None or tasks is None:
            raise DialgaugeError(
                "to train models anew (--fresh), give --data FOLDER with the released bAbI files in FOLDER/babi"
            )
        cells = trained_cells(data / FOLDER, tuple(LEARNED), fresh)
        command = f"dialgauge reproduce babi --fresh --preset {fresh.preset} --seeds {fresh.seeds}"
        kept[fresh.preset] = Kept(command, machine(), f"version {__version__}", cells)
        if fresh.preset == OURS:
            how = f"{MODEL} freshly trained on task {{task}}, seed {SEED}"
            return kept, _Looked(trained_attention(tasks, fresh), how)
    samples = stored_attention()
    if not kept or samples is None:
        record.missing.append("results of the learned models ('dialgauge reproduce babi --fresh' trains them)")
    return kept, _Looked(samples.samples if samples else [], samples.command if samples else "")


def _origin(training: str, kept: Kept, fresh: Fresh | None) -> str:
    """Where the results of a training are from; freshly trained ones are from here."""
    name = TRAINING_NAMES[training]
    if fresh is not None and fresh.preset == training:
        return f"Learned models of {name}: trained now."
    return (
        f"Learned models of {name}: kept from '{kept.command}' (commit {kept.commit}; {kept.hardware}). --fresh trains "
        "anew."
    )


def _tasks(record: Reproduction, data: Path | None) -> list[RankingTask] | None:
    """The released tasks; other dialogs of the same names are none."""
    folder = data / FOLDER if data is not None else None
    if folder is None or not folder.is_dir():
        record.lacks("babi", "the dialog bAbI files: a folder 'babi' in the data folder")
        return None
    present = [number for number in TASKS if any(folder.glob(f"dialog-babi-task{number}-*"))]
    absent = [f"task {number}" for number in TASKS if number not in present]
    if absent:
        record.lacks("babi", f"the dialog bAbI files of {', '.join(absent)} in {folder}")
    if not present:
        return None
    tasks = [load_task(folder, number) for number in present]
    other = next((task for task in tasks if not _is_released(task)), None)
    if other is None:
        return tasks
    record.lacks(
        "babi",
        f"the dialog bAbI files as released: the dialogs or candidates of task {other.number} in {folder} are others",
    )
    return None


def _is_released(task: RankingTask) -> bool:
    tests = [split for split in SPLITS if split in task.splits]
    return training_is_released(task) and all(split_is_released(task, split) for split in tests)


class _Untrained:
    """Evaluations of rankers that need no training; one that chose what an earlier one has is not evaluated again."""

    def __init__(self, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._known: list[tuple[Any, ...]] = []
        self._inputs: dict[int, str] = {}

    def results(self, model: str, task: RankingTask) -> dict[str, tuple[float, float]]:
        """Split to per-response and per-dialog accuracy."""
        self._tell(f"{model}, task {task.number}")
        ranker = ranker_class(model)()
        fit_model(ranker, task)
        settings = ranker.settings()
        if model == "tfidf-dev":
            self._inputs[task.number] = settings["input"]
        how = (task.number, getattr(type(ranker), "scores", model), settings)
        for *earlier, reached in self._known:
            if tuple(earlier) == how:
                return dict(reached)
        results = {name: evaluate(ranker, task.split(name)) for name in SPLITS if name in task.splits}
        reached = {name: (result.per_response, result.per_dialog) for name, result in results.items()}
        self._known.append((*how, reached))
        return reached

    def looked(self, tasks: list[RankingTask] | None) -> Looked:
        """What else the sentences of the paper are about."""
        real = next((task for task in tasks or () if task.number == 6), None)
        if real is None:
            return Looked(self._inputs, None)
        rules = ranker_class("rules")()
        fit_model(rules, real)
        return Looked(self._inputs, evaluate(rules, real.split("dev")).per_response)


def _untrained(
    record: Reproduction,
    model: str,
    printed: dict[str, tuple[str, str]],
    tasks: list[RankingTask] | None,
    accuracies: Accuracies,
    untrained: _Untrained,
) -> None:
    absent = set(TASKS) - {task.number for task in tasks or ()}
    lost = {column_of(number, split) for number in absent for split in SPLITS}
    for column, (theirs, _) in printed.items():
        if tasks is None or column in lost:
            record.impossible("Table 2", f"{model}, {column}: per-response", theirs, "the data is not present")
    for task in tasks or ():
        for split, reached in untrained.results(model, task).items():
            named = column_of(task.number, split) or ""
            for training in TRAININGS:
                accuracies[training, model, named] = reached
            for measure, theirs, ours in zip(("per-response", "per-dialog"), printed[named], reached, strict=True):
                why = why_untrained(model, named)
                record.printed("Table 2", f"{model}, {named}: {measure}", theirs, ours, why=why)


def _learned(
    record: Reproduction, part: str, model: str, training: str, kept: Kept | None, accuracies: Accuracies
) -> None:
    """The lines of a learned model: the mean over seeds, their spread, and why it differs."""
    for column, theirs in _printed(model).items():
        cells = [
            cell
            for split in SPLITS
            for task in TASKS
            if column_of(task, split) == column and kept is not None
            for cell in kept.of(model, task, split)
        ]
        reached = [cell.per_response for cell in cells], [cell.per_dialog for cell in cells]
        if cells:
            accuracies[training, model, column] = mean(reached[0]), mean(reached[1])
        for measure, printed, values in zip(("per-response", "per-dialog"), theirs, reached, strict=True):
            label = f"{_labelled(model, training)}, {column}: {measure}"
            if not values:
                record.impossible(part, label, printed, "no kept result; --fresh trains the model")
                continue
            spread = (min(values), max(values))
            seeds = f"{counted(len(values), 'seed')}, least to most" if len(values) > 1 else "1 seed"
            above = mean(values) > PrintedNumber.parse(printed).value
            why = why_learned(training, column, cells, above=above)
            record.sampled(part, label, printed, mean(values), spread, note=seeds, why=why)


def _labelled(model: str, training: str) -> str:
    return model if training == OURS else f"{model} (paper's training)"


def _printed(model: str) -> dict[str, tuple[str, str]]:
    """Column to per-response and per-dialog accuracy as printed."""
    accuracies = {}
    for column in published().columns:
        accuracy = published().accuracy(model, column)
        if accuracy is None:
            raise DialgaugeError(f"the paper has no {model} in column {column}")
        accuracies[column] = (f"{as_printed(accuracy[0])}%", f"{as_printed(accuracy[1])}%")
    return accuracies
