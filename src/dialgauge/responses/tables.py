"""The paper's Tables 1 and 2 with our numbers, read from runs, beside theirs."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import msgspec

from dialgauge.engine import SILENT, Progress, Workers
from dialgauge.errors import DialgaugeError
from dialgauge.formats import SILENCE
from dialgauge.measures import Measure, Signature
from dialgauge.rankers import EVALUATED, LOGS, RankingTask, ReplyModel, attentive, fit_model, save_ranker, tokens
from dialgauge.report import PERCENT, Cell, Chart, Column, Number, Page, RunSet, Table, score_cell, view_of
from dialgauge.responses.cells import BY_CLASS, TIES, UNANSWERED, CellKey, evaluation_run, table_cells
from dialgauge.responses.evaluation import Replier
from dialgauge.responses.measures import DEFAULT, PER_DIALOG, PER_RESPONSE
from dialgauge.responses.paper import column_of, published, training_is_released
from dialgauge.runs import Run, Store


def evaluated_splits(names: Sequence[str] | None, available: Collection[str] = EVALUATED) -> list[str]:
    """The splits to evaluate on: those named, or all that are available."""
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
    progress: Progress = SILENT,
) -> list[Run]:
    """Let a model, an agent or an endpoint answer every reply of a task: a run for each split.

    With ``fit`` a model is trained on the task first and, if ``save`` names a folder, saved there. ``attention`` keeps
    where a memory network looked in the first so many dialogues.
    """
    names = evaluated_splits(splits, task.splits)
    if attention:
        attentive(bot)  # an error before a training of hours
    if fit and isinstance(bot, ReplyModel):
        fit_model(bot, task, progress.say)
        if save is not None:
            save_ranker(bot, save, task.number)
            progress.say(f"model saved in {save}")
    runs = []
    for split in names:
        progress.say(f"{bot.name} on {split}, seed {bot.seed}")
        runs.append(evaluation_run(bot, task, split, measures, attention=attention))
    return runs


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
    store: Store | str | Path | None = None,
    progress: Progress = SILENT,
) -> RunSet:
    """Train models on bAbI tasks and let them answer every reply; runs are stored, and reused unless ``fresh``."""
    chosen = store if isinstance(store, Store) else Store(store)
    with progress.bar("models on tasks") as advance:
        cells = table_cells(
            Path(data), models, tasks, splits, seeds, chosen,
            options=options, fresh=fresh, workers=workers, advance=advance,
        )  # fmt: skip
        return RunSet(cells)


def replies_page(runs: Sequence[Run], tables: Mapping[str, Table] | None = None, title: str = "") -> Page:
    """The page of evaluated bots: the tables given, accuracy beside the paper's, accuracy by class of reply."""
    view, single = view_of(runs[0]), len(runs) == 1
    own = view.tables["classes"](runs[0]) if single else None
    shown = {**(tables or {}), "accuracy": accuracy_table(runs), "classes": own or class_table(runs)}
    return Page(
        title=title or ", ".join(dict.fromkeys(run.name for run in runs)),
        runs=[run.id for run in runs],
        verdict=view.verdict(runs[0]) if single else "",
        tables=shown,
        notes=list(dict.fromkeys(note for run in runs for note in run.notes)),
        signature=Signature.shared(Signature.parse(run.signature) for run in runs).long(),
    )


def accuracy_table(runs: Iterable[Run]) -> Table:
    """Ours and, where the data is the paper's, theirs with the difference; several seeds become mean and spread."""
    groups: dict[CellKey, list[Run]] = {}
    for run in runs:
        groups.setdefault(msgspec.structs.replace(CellKey.of_run(run), seed=0), []).append(run)
    every = dict.fromkeys(name for group in groups.values() for run in group for name in run.scores)
    others = [name for name in every if name not in DEFAULT]
    beside_paper = any(key.released for key in groups)
    seeds = any(len(group) > 1 for group in groups.values())
    table = Table(
        "Response selection: accuracy in percent",
        [
            "cell",
            Column(PER_RESPONSE, PERCENT),
            Column(PER_DIALOG, PERCENT),
            *(_PAPER_COLUMNS if beside_paper else ()),
            Column("hits@10", PERCENT, spare=1),
            *(Column(name, PERCENT, spare=1) for name in others),
            Column("spread", PERCENT, help="standard deviation of per-response over seeds", spare=2),
            Column("seeds", spare=3),
            Column("unanswered", help="replies that are no candidate", spare=4),
            Column("top ties", help="replies whose best score several candidates share", spare=5),
        ],
        notes=_notes_on_paper(groups),
        chart=Chart("intervals", (PER_RESPONSE, PER_DIALOG)),
    )
    for key, group in groups.items():
        reached = _values(group, PER_RESPONSE)
        table.add(
            cell_name(key),
            _mean(group, PER_RESPONSE),
            _mean(group, PER_DIALOG),
            *(_papers(key, reached) if beside_paper else ()),
            _mean(group, "hits@10").value,
            *(_mean(group, name) for name in others),
            stdev(reached) if len(reached) > 1 else None,
            len(group) if seeds else None,
            sum(run.details[UNANSWERED] for run in group) or None,
            sum(run.details[TIES] for run in group) or None,
        )
    return table


_PAPER_COLUMNS = (
    Column("paper", Number(1, percent=True)),
    Column("paper per-dialog", Number(1, percent=True), spare=1),
    Column("difference", Number(2, percent=True, signed=True), help="per-response, ours minus the paper's", spare=1),
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
    if tested and not any(tested):
        return ["Fitted or tested on other dialogues than the released ones: not comparable with the paper's numbers."]
    if not all(tested):
        return ["The paper's numbers are shown only beside results on the released dialogues."]
    return []


def class_table(runs: Iterable[Run]) -> Table:
    """Accuracy by reply class: which kinds of replies a model gets right."""
    cells = [(CellKey.of_run(run), run.details[BY_CLASS]) for run in runs]
    names = sorted({name for _, classes in cells for name in classes})
    columns = [Column(name, Number(1, percent=True)) for name in names]
    seeds = any(key.seed for key, _ in cells)
    table = Table("Accuracy by class of reply, in percent", ["cell", *columns])
    for key, classes in cells:
        shares = [classes[name][0] / classes[name][1] if name in classes else None for name in names]
        table.add(f"{cell_name(key)}, seed {key.seed}" if seeds else cell_name(key), *shares)
    return table


def _values(runs: Sequence[Run], measure: str) -> list[float]:
    scores = [run.scores[measure].value for run in runs if measure in run.scores]
    return [value for value in scores if value is not None]


def _mean(runs: Sequence[Run], measure: str) -> Cell:
    """A mean over seeds carries the interval of its only seed; several seeds show their spread instead."""
    if len(runs) == 1:
        return score_cell(runs[0].scores.get(measure))
    values = _values(runs, measure)
    return Cell(mean(values) if values else None)


def cell_name(key: CellKey) -> str:
    """A row of a table: task (``logs`` for chat logs), split, model and its options."""
    task = f"T{key.task}" if key.task != LOGS else "logs"
    return f"{task} {key.split} {key.model}{f' ({key.options})' if key.options else ''}"


def statistics_table(tasks: Sequence[RankingTask]) -> Table:
    """Averages per training dialog (the paper's Table 1), theirs beside ours where the data is theirs."""
    released = [training_is_released(task) for task in tasks]
    sides = ("", " (paper)") if any(released) else ("",)
    pairs = [
        Column(f"{name.replace('_', ' ')}{side}", Number(1), spare=place)
        for place, name in enumerate(_COUNTED)
        for side in sides
    ]
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
