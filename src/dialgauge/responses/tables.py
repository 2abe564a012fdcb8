"""The paper's Tables 1 and 2 with our numbers, read from runs, beside theirs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import msgspec

from dialgauge.engine import SILENT, Progress, Workers
from dialgauge.errors import DialgaugeError
from dialgauge.formats import SILENCE
from dialgauge.measures import Measure, Signature
from dialgauge.rankers import (
    EVALUATED,
    LOGS,
    RankingTask,
    ReplyModel,
    attentive,
    claim_folder,
    fit_model,
    save_ranker,
    tokens,
)
from dialgauge.rendering import (
    INTERVALS,
    Cell as TableCell,
    Column,
    RunSet,
    Table,
    interval_note,
    interval_plot,
    score_column,
)
from dialgauge.responses.cells import (
    BY_CLASS,
    TIES,
    UNANSWERED,
    CellKey,
    checkpointed,
    evaluation_run,
    jobs_of,
    run_jobs,
)
from dialgauge.responses.evaluation import Replier
from dialgauge.responses.measures import DEFAULT, PER_DIALOG, PER_RESPONSE
from dialgauge.responses.paper import column_of, published, training_is_released
from dialgauge.runs import Run, Store
from dialgauge.text import counted


class ReplyRuns(RunSet):
    """Bots that choose replies: a run for each model, task, split and seed."""

    def tables(self) -> list[Table]:
        """Accuracy beside the paper's, and by kind of reply."""
        return [results_table(self.runs), class_table(self.runs)]

    def document(self) -> dict[str, Any]:
        """The JSON that ``dialgauge babi evaluate --json`` writes."""
        return {"systems": [run_record(run) for run in self.runs]}

    def figures(self) -> Mapping[str, Callable[[], Any]]:
        """Accuracy by task and model, beside the paper's."""
        return cell_figures(self.runs)


def evaluated_splits(names: Sequence[str] | None, available: Collection[str] = EVALUATED) -> list[str]:
    """Those splits that models are evaluated on, of the ones named or of all that are available."""
    present = [name for name in EVALUATED if name in available]
    if not present:
        raise DialgaugeError(f"this data has none of the evaluation splits ({', '.join(EVALUATED)})")
    for name in names or ():
        if name not in present:
            raise DialgaugeError(f"unknown split '{name}'; choose from {', '.join(present)}")
    return list(dict.fromkeys(names or present))


def evaluate_bot(
    bot: ReplyModel | Replier,
    task: RankingTask,
    *,
    splits: Sequence[str] | None = None,
    measures: Sequence[Measure[Any]] | None = None,
    attention: int = 0,
    fit: bool = False,
    save: Path | None = None,
    store: Store | str | Path | None = None,
    progress: Progress = SILENT,
) -> ReplyRuns:
    """Let a model, an agent or an endpoint answer every reply of a task: a run for each split, always stored.

    With ``fit`` a model is trained on the task first, or goes on after the last epoch of an interrupted training, and
    is saved in the folder ``save``. ``attention`` keeps where a memory network looked in the first so many dialogues.
    """
    names = evaluated_splits(splits, task.splits)
    chosen = store if isinstance(store, Store) else Store(store)
    if attention:
        attentive(bot)  # an error before a training of hours
    runs = []
    with ExitStack() as training:
        if fit and isinstance(bot, ReplyModel):
            if save is not None:
                claim_folder(save, bot, task)
            key = CellKey.planned(bot, task, names[0])
            training.enter_context(checkpointed(bot, key, chosen, progress.say))
            fit_model(bot, task, progress.say)
            if save is not None:
                save_ranker(bot, save, task.number)
                progress.say(f"model saved in {save}")
        for key in (CellKey.of(bot, task, name) for name in names):
            progress.say(f"{bot.name} on {key.split}, seed {bot.seed}")
            runs.append(chosen.add(evaluation_run(key, bot, task, measures, attention=attention)))
    return ReplyRuns(runs)


def evaluate_models(
    data: str | Path,
    models: Sequence[str],
    *,
    tasks: Sequence[int] = (1, 2, 3, 4, 5),
    splits: Sequence[str] = ("tst",),
    seeds: int = 1,
    options: Mapping[str, str] | None = None,
    fresh: bool = False,
    workers: Workers = 1,
    store: str | Path | None = None,
    progress: Progress = SILENT,
) -> ReplyRuns:
    """Train models on bAbI tasks and let them answer every reply; runs are stored, and reused unless ``fresh``."""
    folder = None if store is None else Path(store)
    jobs = jobs_of(Path(data), models, tasks, splits, seeds, folder, options=options, fresh=fresh)
    runs: list[Run] = []
    with progress.bar("models on tasks", len(jobs)) as advance:
        for cells in run_jobs(jobs, workers=workers, tell=progress.say):
            runs += cells
            advance(1)
    return ReplyRuns(runs)


def results_table(runs: Iterable[Run]) -> Table:
    """Ours and, where the data is the paper's, theirs with the difference; several seeds become mean and spread."""
    groups: dict[CellKey, list[Run]] = {}
    others: dict[str, Column] = {}
    shown = list(runs)
    for run in shown:
        key = CellKey.of_run(run)
        groups.setdefault(msgspec.structs.replace(key, seed=0), []).append(run)
        others |= {name: score_column(name, score) for name, score in run.scores.items() if name not in DEFAULT}
    beside_paper = any(key.released for key in groups)
    table = Table(
        "Response selection: per-response (per-dialog) accuracy in percent",
        [
            "task",
            "split",
            "model",
            Column(PER_RESPONSE, digits=2, percent=True),
            Column(PER_DIALOG, digits=2, percent=True),
            Column("hits@10", digits=2, percent=True, drop=1),
            *others.values(),
            *(_PAPER_COLUMNS if beside_paper else ()),
            Column("spread", digits=2, percent=True, drop=2),
            Column("seeds", drop=3),
            Column("top ties", drop=5),
            Column("unanswered", drop=4),
        ],
        signature=shared_signature(shown),
    )
    table.explain("Intervals: 95%, from resampling dialogues.", INTERVALS)
    table.explain("Several seeds: means; the spread is the standard deviation of per-response.", "spread", "seeds")
    table.notes += _notes_on_paper(groups)
    for key, group in groups.items():
        reached = _values(group, PER_RESPONSE)
        table.add(
            task_name(key.task),
            key.split,
            f"{key.model} ({key.options})" if key.options else key.model,
            _mean(group, PER_RESPONSE),
            _mean(group, PER_DIALOG),
            _mean(group, "hits@10").value,
            *(_mean(group, name) for name in others),
            *(_papers(key, reached) if beside_paper else ()),
            stdev(reached) if len(reached) > 1 else None,
            len(group),
            sum(run.details[TIES] for run in group),
            sum(run.details[UNANSWERED] for run in group),
        )
    return table


def shared_signature(runs: Sequence[Run]) -> str:
    """What all numbers depend on; what differs between rows is in the rows and, in full, in JSON."""
    try:
        return Signature.shared(Signature.parse(run.signature) for run in runs).long() if runs else ""
    except DialgaugeError:  # what another version wrote
        return ""


_PAPER_COLUMNS = (
    Column("paper", digits=1, percent=True),
    Column("paper per-dialog", digits=1, percent=True),
    Column("difference", digits=2, percent=True, signed=True),
)


def _papers(key: CellKey, reached: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """Per-response and per-dialog of the paper, and ours less theirs; nothing beside data of another origin."""
    column = column_of(key.task, key.split)
    theirs = published().accuracy(key.model, column) if column and key.released else None
    if theirs is None:
        return None, None, None
    return *theirs, mean(reached) - theirs[0] if reached else None


def _notes_on_paper(keys: Iterable[CellKey]) -> list[str]:
    tested = [key.released for key in keys if column_of(key.task, key.split)]
    if not tested:
        return []
    if not any(tested):
        return ["Fitted or tested on other dialogues than the released ones: not comparable with the paper's numbers."]
    notes = ["Difference: per-response, ours minus the paper's."]
    if not all(tested):
        notes.append("The paper's numbers are shown only beside results on the released dialogues.")
    return notes


def class_table(runs: Iterable[Run]) -> Table:
    """Accuracy by reply class: which kinds of replies a model gets right."""
    cells = [(CellKey.of_run(run), run.details[BY_CLASS]) for run in runs]
    names = sorted({name for _, classes in cells for name in classes})
    columns = [Column(name, digits=1, percent=True) for name in names]
    table = Table("Accuracy by class of reply, in percent", ["task", "split", "model", "seed", *columns])
    for key, classes in cells:
        shares = [classes[name][0] / classes[name][1] if name in classes else None for name in names]
        table.add(task_name(key.task), key.split, key.model, key.seed, *shares)
    return table


def run_record(run: Run) -> dict[str, Any]:
    """A run of replies as one of the ``systems`` that ``--json`` writes."""
    return {
        "name": run.name,
        "run": run.id,
        **msgspec.structs.asdict(CellKey.of_run(run)),
        "scores": {name: score.as_dict() for name, score in run.scores.items()},
        "coverage": msgspec.to_builtins(run.coverage),
        **run.details,
    }


def _values(runs: Sequence[Run], measure: str) -> list[float]:
    scores = [run.scores[measure].value for run in runs if measure in run.scores]
    return [value for value in scores if value is not None]


def _mean(runs: Sequence[Run], measure: str) -> TableCell:
    """A mean over seeds carries the interval of its only seed; several seeds show their spread instead."""
    values = _values(runs, measure)
    if len(runs) == 1 and values:
        return TableCell(values[0], runs[0].scores[measure].low, runs[0].scores[measure].high)
    return TableCell(mean(values) if values else None)


def task_name(number: int) -> str:
    """A task in a table: ``T1`` to ``T6``, and ``logs`` for chat logs."""
    return f"T{number}" if number != LOGS else "logs"


def statistics_table(tasks: Sequence[RankingTask]) -> Table:
    """Averages per training dialog (the paper's Table 1), theirs beside ours where the data is theirs."""
    released = [training_is_released(task) for task in tasks]
    sides = ("", " (paper)") if any(released) else ("",)
    pairs = [Column(f"{name.replace('_', ' ')}{side}", digits=1) for name in _COUNTED for side in sides]
    table = Table(
        "Statistics of the tasks: averages per dialog of the split 'trn'",
        ["task", "dialogs", *pairs, "vocabulary", "candidates"],
        notes=[
            "User utterances without silences. Ours are counted on these files, not adjusted to match the paper's.",
            "Vocabulary: different words between white space, lower-cased, in all dialogues, candidates and facts of "
            "the knowledge base.",
        ],
    )
    for task, of_paper in zip(tasks, released, strict=True):
        ours, theirs = averages(task, "trn"), published().statistics
        values = [
            value
            for name in _COUNTED
            for value in (ours[name], theirs[name][task.number - 1] if of_paper else None)[: len(sides)]
        ]
        table.add(f"T{task.number}", len(task.split("trn")), *values, len(_words(task)), len(task.candidates))
    of_release = [task for task, of_paper in zip(tasks, released, strict=True) if of_paper]
    restaurant = [task for task in of_release if task.number != 6]
    if len(restaurant) == 5:
        joint, theirs_joint = joint_vocabulary(restaurant), published().vocabulary["T1-T5"]
        table.notes.append(f"Vocabulary of T1 to T5 together: {joint:,} (paper {theirs_joint:,}).")
    for task in (task for task in of_release if task.number == 6):
        alone, theirs_alone = len(_said(task)), published().vocabulary["T6"]
        table.notes.append(
            f"Vocabulary of T6 without what only the knowledge base has: {alone:,} "
            f"(paper {theirs_alone:,}; it does not say what it counts)."
        )
    return table


_COUNTED = ("utterances", "user", "bot", "api_outputs")


def averages(task: RankingTask, split: str) -> dict[str, float]:
    """Utterances of user (without silences) and bot, and lines of API output (facts, or that there are none)."""
    dialogs = task.split(split)
    lines = [line for dialog in dialogs for line in dialog.lines]
    user = sum(line.kind == "user" and line.text != SILENCE for line in lines) / len(dialogs)
    bot = sum(line.kind == "bot" for line in lines) / len(dialogs)
    outputs = sum(line.kind == "fact" for line in lines) / len(dialogs)
    return {"utterances": user + bot + outputs, "user": user, "bot": bot, "api_outputs": outputs}


def joint_vocabulary(tasks: Sequence[RankingTask]) -> int:
    """How many different words the tasks have together."""
    return len(set().union(*map(_words, tasks)))


def _words(task: RankingTask) -> set[str]:
    """The distinct lower-cased words of all dialogs, candidates and facts of the task."""
    return _said(task) | {word.lower() for fact in task.facts for word in (fact.entity, fact.relation, fact.value)}


def _said(task: RankingTask) -> set[str]:
    """The words of the dialogs and candidates."""
    lines = (line for dialogs in task.splits.values() for dialog in dialogs for line in dialog.lines)
    words = {word for line in lines for word in tokens(line.text)}
    words.update(word for text in task.candidates for word in tokens(text))
    return words


def cell_figures(runs: Sequence[Run]) -> dict[str, Callable[[], Any]]:
    """File name without ending to the function that draws it: both accuracies, on each split."""
    splits: dict[str, list[tuple[CellKey, Run]]] = {}
    for run in runs:
        key = CellKey.of_run(run)
        splits.setdefault(key.split, []).append((key, run))
    return {
        f"{measure}_{split}": partial(_cells, measure, split, cells)
        for split, cells in splits.items()
        for measure in (PER_RESPONSE, PER_DIALOG)
    }


def _cells(measure: str, split: str, cells: Sequence[tuple[CellKey, Run]]) -> Any:
    seeds = {key.seed for key, _ in cells}
    sizes = {run.coverage["dialogues"].scored or 0 for _, run in cells}
    rows = []
    for key, run in cells:
        score, cases = run.scores[measure], run.coverage["dialogues"].scored
        model = f"{key.model} ({key.options})" if key.options else key.model
        rows.append({
            "system": f"{model}, seed {key.seed}" if len(seeds) > 1 else model,
            "measure": task_name(key.task),
            "value": score.value,
            "low": score.low,
            "high": score.high,
            "percent": True,
            "cases": cases if len(sizes) > 1 else None,
        })  # fmt: skip
    models = counted(len({row["system"] for row in rows}), "model")
    return interval_plot(
        rows,
        whole_axis=True,
        title=f"{measure.capitalize()} accuracy on {split}",
        note=[
            f"{models}; n: dialogues"
            if len(sizes) > 1
            else f"{models}; {counted(sizes.pop() or 0, 'dialogue')} of each task",
            interval_note([run.scores[measure] for _, run in cells], [run for _, run in cells]),
        ],
    )
