"""``dialgauge babi train``: fit a model, with checkpoints, and store it in a folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from dialgauge.cli.babi_options import (
    CandidatesOption,
    DeviceOption,
    FactsOption,
    LogsOption,
    MaybeDataOption,
    PresetOption,
    SetOption,
    data_or_logs,
    fresh_ranker,
    settings,
    tell,
)
from dialgauge.cli.common import JsonOption, StoreOption, WideOption, on_screen, out, write_json
from dialgauge.cli.options import CommandGroup, Option, OutputFolder


def register(app: CommandGroup) -> None:
    """Add the command to ``dialgauge babi``."""
    app.command("train")(train)


def train(
    folder: Annotated[Path, OutputFolder("--out", metavar="FOLDER", help="Where the model and its checkpoint go.")],
    data: MaybeDataOption = None,
    logs: LogsOption = None,
    candidates: CandidatesOption = None,
    facts: FactsOption = None,
    model: Annotated[str, Option(help="A model's name (see 'dialgauge babi models').")] = "memn2n",
    task: Annotated[int | None, Option(min=1, max=6, help="Which task of --data. Default: 1.")] = None,
    seed: Annotated[int, Option(min=0, help="Seed of the model; with --logs also of the deal.")] = 0,
    given: SetOption = None,
    preset: PresetOption = None,
    device: DeviceOption = None,
    force: Annotated[bool, Option("--force", help="Replace the finished model in the folder.")] = False,
    store: StoreOption = None,
    json: JsonOption = None,
    wide: WideOption = False,
) -> None:
    """Fit a model on a task's training and development dialogs (or on chat logs) and store it in a folder.

    A training that was interrupted goes on after its last finished epoch when the same command runs again. A folder
    with the model or checkpoint of another training is refused; --force replaces a model.
    """
    out.wide = wide
    from dialgauge.rankers import claim_folder, fit_model, save_ranker
    from dialgauge.responses import log_table, run_record, training_run
    from dialgauge.runs import Store

    loaded = data_or_logs(data, logs, task, seed, candidates=candidates, facts=facts, splits=("trn", "dev"))
    ranker = fresh_ranker(model, seed, settings(given, preset, device))
    ranker.checkpoint = claim_folder(folder, ranker, loaded, force=force)
    runs = Store(store)
    runs.check_writable()
    fit_model(ranker, loaded, tell)
    save_ranker(ranker, folder, loaded.number)
    run = runs.add(training_run(ranker, loaded))
    if on_screen(json):
        out.print(log_table(run).render("terminal"))
    tell(f"model stored in {folder}, log in run {run.id}")
    if json is not None:
        epochs = run.table("epochs").to_dicts() if "epochs" in run.tables else []
        write_json(json, {"systems": [{**run_record(run), "epochs": epochs}]})
