"""Trainings, judged on the development split alone: one as a run with its log, and a search over settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from statistics import mean
from typing import NamedTuple

from dialgauge.errors import DialgaugeError
from dialgauge.rankers import RankingTask, ReplyModel, Tell, fresh_model, options_by_model, place_of, ranker_class
from dialgauge.rendering import Column, Table
from dialgauge.responses.cells import CellKey, epochs_table, job_cells, reply_details, stored_cells
from dialgauge.responses.evaluation import corpus_of, evaluate
from dialgauge.responses.measures import PER_DIALOG, PER_RESPONSE, score_replies
from dialgauge.responses.tables import shared_signature
from dialgauge.runs import Run, Store, new_run

KIND = "training"
_SPLIT = "dev"


def training_run(model: ReplyModel, task: RankingTask) -> Run:
    """A fitted model, evaluated on the development split it chose its settings by: a run in memory."""
    dialogs = task.split(_SPLIT)
    result = evaluate(model, dialogs, task.candidates)
    key = CellKey.of(model, task, _SPLIT)
    return new_run(
        kind=KIND,
        name=f"{model.name}-task{task.number}",
        scores=score_replies(result, signature=key.signature(task, result), seed=key.seed),
        corpus=corpus_of(dialogs),
        tables={"replies": lambda: result.frame(task.candidates), **epochs_table(model, timed=True)},
        config={**key.config(), "settings": model.settings().get("config", {})},
        inputs=task.inputs,
        seeds=model.seed,
        details={**reply_details(result), "epochs": len(model.log)},
    )


def log_table(run: Run) -> Table:
    """The epochs of a training, the best on dev in bold: its weights were kept."""
    key = CellKey.of_run(run)
    trained = "epochs" in run.tables
    table = Table(
        f"Training of {key.model} on {place_of(key.task)}, seed {key.seed}",
        [
            "epoch",
            Column("loss", digits=4),
            Column("dev per-response", digits=2, percent=True, best="max"),
            Column("seconds", digits=1),
        ],
        notes=[] if trained else [f"The model {key.model} is fitted without epochs."],
    )
    for epoch in run.table("epochs").iter_rows(named=True) if trained else ():
        table.add(epoch["epoch"], epoch["loss"], epoch["dev"], epoch["seconds"])
    return table


#: Trainings of one search; each takes from seconds to an hour.
MOST_TRAININGS = 1_000


class Tried(NamedTuple):
    """One combination of settings and its runs on the development split, one for each seed."""

    settings: dict[str, str]
    runs: list[Run]

    def reached(self, measure: str) -> float:
        """The mean over seeds."""
        return mean(run.scores[measure].value or 0.0 for run in self.runs)


def combinations(options: Mapping[str, str]) -> list[dict[str, str]]:
    """Every combination of comma-separated values.

    >>> combinations({"dim": "32,64", "hops": "2"})
    [{'dim': '32', 'hops': '2'}, {'dim': '64', 'hops': '2'}]
    """
    values = [[value.strip() for value in text.split(",") if value.strip()] for text in options.values()]
    empty = next((name for name, listed in zip(options, values, strict=True) if not listed), None)
    if empty is not None:
        raise DialgaugeError(f"the setting {empty} has no value to try")
    return [dict(zip(options, chosen, strict=True)) for chosen in product(*(dict.fromkeys(value) for value in values))]


def search_settings(
    model: str, task: RankingTask, options: Mapping[str, str], seeds: Sequence[int], store: Store, tell: Tell
) -> Iterator[Tried]:
    """Train a model with every combination of settings; trainings in the store are reused, half-done ones resumed."""
    if _SPLIT not in task.splits:
        raise DialgaugeError("a search is judged on development dialogs, and there are none")
    tried = combinations(options_by_model([model], options)[model])
    if len(tried) * len(seeds) > MOST_TRAININGS:
        raise DialgaugeError(f"that is {len(tried) * len(seeds):,} trainings; at most {MOST_TRAININGS:,} are made")
    for settings in tried:
        runs: list[Run] = []
        for seed in seeds if ranker_class(model).seeded else seeds[:1]:
            tell(f"{model}, {_text(settings)}, seed {seed}")
            runs += job_cells(fresh_model(model, seed, settings), task, (_SPLIT,), store, stored_cells(store), tell)
        yield Tried(settings, runs)


def best_of(tried: Sequence[Tried]) -> Tried:
    """The best on the development split: most replies, then most dialogues; among equals the first."""
    return max(tried, key=lambda trial: (trial.reached(PER_RESPONSE), trial.reached(PER_DIALOG)))


def search_table(model: str, task: RankingTask, tried: Sequence[Tried]) -> Table:
    """Settings that vary, and what each combination reached on dev."""
    names = list(tried[0].settings)
    varied = [name for name in names if len({trial.settings[name] for trial in tried}) > 1] or names
    best = best_of(tried)
    table = Table(
        f"Search over settings of {model} on {place_of(task.number)}: development split",
        [
            *(Column(name, align="right", exact=True) for name in varied),
            Column(PER_RESPONSE, digits=2, percent=True, best="max"),
            Column(PER_DIALOG, digits=2, percent=True),
            "seeds",
        ],
        notes=[f"Best on dev: {_text(best.settings)}. No test dialogue was answered."],
        signature=shared_signature([run for trial in tried for run in trial.runs]),
    )
    for trial in tried:
        shown = (trial.settings[name] for name in varied)
        table.add(*shown, trial.reached(PER_RESPONSE), trial.reached(PER_DIALOG), len(trial.runs))
    return table


def _text(settings: Mapping[str, str]) -> str:
    return ", ".join(f"{name}={value}" for name, value in settings.items()) or "no settings"
