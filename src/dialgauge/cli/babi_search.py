"""``dialgauge babi search``: which settings of a model are best on development dialogs."""

from __future__ import annotations

from typing import Annotated

from dialgauge import responses, runs
from dialgauge.cli.babi_options import Replies, TaskOption, TrainingSettings, tell
from dialgauge.cli.choices import MODELS
from dialgauge.cli.common import AlwaysStored, TableOutput
from dialgauge.cli.options import Option, WholeNumber, command


@command()
def search(
    model: Annotated[str, Option(known=MODELS, help="Model name (see 'dialgauge babi models').")] = "memn2n",
    task: TaskOption = None,
    seeds: Annotated[int, WholeNumber(of="seeds", min=1, help="Seeds per combination, from 0.")] = 1,
    *,
    replies: Replies,
    training: TrainingSettings,
    output: TableOutput,
    stored: AlwaysStored,
) -> None:
    """Train a model with every combination of settings (--set dim=32,64,128) and compare them on development dialogs.

    Test dialogs are never answered. Rerun an interrupted search to resume; finished trainings are reused.
    """
    loaded = replies.task(task, 0, splits=("trn", "dev"))
    tried = list(
        responses.search_settings(model, loaded, training.options(), range(seeds), runs.Store(stored.store), tell)
    )
    output.show([responses.search_table(model, loaded, tried)])
    output.document("babi-evaluate", {"systems": [responses.run_record(run) for trial in tried for run in trial.runs]})
