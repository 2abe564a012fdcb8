"""``dialgauge babi evaluate | table | models``: how far a bot is from carrying whole dialogs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

from dialgauge.cli.babi_options import (
    DEFAULT_MODEL,
    CandidatesOption,
    DataOption,
    DeviceOption,
    FactsOption,
    LoadOption,
    LogsOption,
    MaybeDataOption,
    ModelOption,
    PresetOption,
    SetOption,
    data_or_logs,
    fresh_ranker,
    loaded_ranker,
    settings,
    task_numbers,
    task_of,
    tell,
)
from dialgauge.cli.common import JsonOption, StoreOption, WideOption, err, on_screen, out, progress_bar, write_json
from dialgauge.cli.options import CommandGroup, Option, OutputFile, OutputFolder
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.measures import Measure
    from dialgauge.rankers import RankingTask, ReplyModel
    from dialgauge.report import Table
    from dialgauge.responses import Replier
    from dialgauge.runs import Run, Store


#: What the page of ``babi table`` is about, whichever tables it holds.
PAGE_TITLE = "Response selection on the dialog bAbI tasks"


def register(app: CommandGroup) -> None:
    """Add the commands to ``dialgauge babi``."""
    app.command("models")(models)
    app.command("evaluate")(evaluate)
    app.command("table")(table)


def models(wide: WideOption = False) -> None:
    """List the models that can be evaluated, and what the others lack."""
    out.wide = wide
    from dialgauge.rankers import ranker_listing
    from dialgauge.report import Table

    listing = ranker_listing()
    table = Table("Models", ["name", "what it is", "seeds matter", "settings"])
    for entry in listing:
        if entry.content is not None:
            table.add(entry.name, entry.content.summary, entry.content.seeded, " ".join(entry.content.settable))
    out.print(table.render("terminal"))
    for entry in listing:
        if entry.reason is not None:
            err.print(entry.reason)


def evaluate(
    data: MaybeDataOption = None,
    logs: LogsOption = None,
    candidates: CandidatesOption = None,
    facts: FactsOption = None,
    model: ModelOption = None,
    task: Annotated[
        int | None, Option(min=1, max=6, help="Which task of --data. Default: the loaded model's, or 1.")
    ] = None,
    split: Annotated[list[str] | None, Option(help="dev, tst or tst-OOV; repeat for several. Default: all.")] = None,
    url: Annotated[str | None, Option(help="Evaluate the bot behind this HTTP address instead of a model.")] = None,
    folder: LoadOption = None,
    transfer: Annotated[
        bool, Option("--transfer", help="Take the loaded model to other candidates, facts or tasks than its own.")
    ] = False,
    world: Annotated[
        str | None,
        Option(help="Instead of --data, dialogs simulated in a world: a file (YAML), restaurant or bakery."),
    ] = None,
    dialogs: Annotated[int, Option(min=1, help="With --world: dialogs per split.")] = 200,
    world_seed: Annotated[int, Option(min=0, help="With --world: its seed.")] = 0,
    save: Annotated[Path | None, OutputFolder(metavar="FOLDER", help="Store the fitted model in this folder.")] = None,
    given: SetOption = None,
    preset: PresetOption = None,
    device: DeviceOption = None,
    seed: Annotated[
        int | None, Option(min=0, help="Seed of the model; with --logs also of the deal. Default: 0.")
    ] = None,
    seeds: Annotated[int, Option(min=1, help="How many seeds, from --seed on.")] = 1,
    measures: Annotated[
        list[str] | None,
        Option("--measures", "-m", help="Measures, comma-separated, such as hits@1,MRR; 'default' is the usual ones."),
    ] = None,
    attention: Annotated[
        int, Option(min=0, help="Also store where a memory network looks, for this many dialogs from the first on.")
    ] = 0,
    store: StoreOption = None,
    json: JsonOption = None,
    wide: WideOption = False,
) -> None:
    """Evaluate a model fitted on a task, or an agent: per-response, per-dialog, hits@10, MRR, by class of reply.

    With --load the model comes from a folder. With --transfer or --world it is evaluated on dialogs of another origin
    than those it was fitted on: it gets their candidates and knowledge base, and learns nothing new.

    A training that was interrupted goes on after its last finished epoch when the same command runs again.
    """
    out.wide = wide
    from dialgauge.rankers import fitted_on, place_of, seed_of
    from dialgauge.responses import reply_measures
    from dialgauge.runs import Store

    options = settings(given, preset, device)
    if url is not None and (folder or save or options or model or seeds > 1):
        raise DialgaugeError("the bot behind --url is not ours to choose, load, save or set; leave those options out")
    if folder is not None and seeds > 1:
        raise DialgaugeError("the model in the folder is fitted already and has one seed; leave --seeds out")
    first = seed if seed is not None else seed_of(folder) if folder is not None else 0
    chosen = reply_measures(measures) if measures else None
    if transfer and folder is None:
        raise DialgaugeError("--transfer takes a fitted model elsewhere; name its folder with --load")
    if world is not None:
        if data is not None or logs is not None:
            raise DialgaugeError("give either --world, or --data or --logs")
        loaded = _world_task(world, task_of(folder, task, 1), dialogs, world_seed)
    else:
        loaded = data_or_logs(data, logs, task, first, candidates=candidates, facts=facts, folder=folder)
    measuring = _Measuring(loaded, _splits(split, loaded.splits), Store(store), chosen, attention)
    if url is not None:
        from dialgauge.agents import HttpBot

        runs = measuring.runs(HttpBot(url))
    elif folder is not None:
        elsewhere = transfer or world is not None
        ready = loaded_ranker(folder, model, seed, options, None if elsewhere else loaded)
        if elsewhere:
            ready.move(loaded.candidates, loaded.facts)
            tell(f"{ready.name} was fitted on {place_of(fitted_on(folder))} elsewhere; here it learns nothing new")
        if save is not None:
            raise DialgaugeError("the model in the folder is stored already; leave --save out, or copy the folder")
        runs = measuring.runs(ready)
    elif model is not None and _is_agent(model):
        from dialgauge.agents import make_agent
        from dialgauge.responses import agent_replier

        if save is not None or seed is not None or seeds > 1:
            raise DialgaugeError(f"the agent {model} is not fitted; leave --save, --seed and --seeds out")
        runs = measuring.runs(agent_replier(make_agent(model, options), loaded, options))
    else:
        if world is not None:
            raise DialgaugeError("--world has no training dialogs; give --load FOLDER, a fitted model, or an agent")
        runs = []
        for number in range(first, first + seeds):
            fresh = fresh_ranker(model or DEFAULT_MODEL, number, options)
            if logs is not None and number > first:
                dealt = data_or_logs(None, logs, None, number, candidates=candidates, facts=facts)
                measuring = measuring._replace(task=dealt)
            runs += measuring.runs_of_new(fresh, save and (save if seeds == 1 else save / f"seed{number}"))
            if not fresh.seeded:
                break
    _show(runs, json)


def _world_task(world: str, task: int, dialogs: int, seed: int) -> RankingTask:
    from dialgauge.lab import splits_of, world_task
    from dialgauge.rankers import EVALUATED
    from dialgauge.worlds.restaurant import Parameters, load_world

    place = load_world(world)
    splits = [split for split in splits_of(place) if split in EVALUATED]
    return world_task(place, task, splits, dialogs, Parameters(seed=seed), source=world)


def _is_agent(name: str) -> bool:
    """Whether a name that no model bears is that of an agent."""
    from dialgauge.agents import agent_names
    from dialgauge.rankers import BUILT_IN, ranker_names

    return name not in BUILT_IN and name not in ranker_names() and name in agent_names()


class _Measuring(NamedTuple):
    """What models are evaluated on and by which measures, and where the results go."""

    task: RankingTask
    splits: Sequence[str]
    store: Store
    measures: Sequence[Measure[Any]] | None
    #: Of how many dialogs the runs keep where the model looked.
    attention: int = 0

    def save(self, model: ReplyModel, folder: Path | None) -> None:
        from dialgauge.rankers import save_ranker

        if folder is not None:
            save_ranker(model, folder, self.task.number)
            tell(f"model stored in {folder}")

    def runs(self, bot: ReplyModel | Replier) -> list[Run]:
        """The runs of a bot that is ready to answer, one for each split."""
        from dialgauge.responses import CellKey, evaluation_run

        self._refuse_inattentive(bot)
        runs = []
        for key in (CellKey.of(bot, self.task, name) for name in self.splits):
            tell(f"{bot.name} on {key.split}, seed {bot.seed}")
            made = evaluation_run(key, bot, self.task, self.measures, attention=self.attention)
            runs.append(self.store.add(made))
        return runs

    def _refuse_inattentive(self, bot: ReplyModel | Replier) -> None:
        """Before it is fitted, which may take hours."""
        from dialgauge.responses import attentive

        if self.attention:
            attentive(bot)

    def runs_of_new(self, model: ReplyModel, save: Path | None) -> list[Run]:
        """The same for a model that is still to be fitted."""
        from dialgauge.rankers import claim_folder, fit_model
        from dialgauge.responses import CellKey, checkpointed

        self._refuse_inattentive(model)
        if save is not None:
            claim_folder(save, model, self.task)
        with checkpointed(model, CellKey.planned(model, self.task, self.splits[0]), self.store, tell):
            fit_model(model, self.task, tell)
            self.save(model, save)
            return self.runs(model)


def table(
    data: DataOption,
    models: Annotated[str, Option(help="Models, separated by commas.")] = "rules,tfidf,tfidf-type,nearest",
    tasks: Annotated[str, Option(help="Tasks from 1 to 6, such as 1-5 or 1,3.")] = "1-6",
    splits: Annotated[str, Option(help="Splits, separated by commas.")] = "dev,tst,tst-OOV",
    seeds: Annotated[int, Option(min=1, help="Seeds per model that draws random numbers.")] = 1,
    given: SetOption = None,
    preset: PresetOption = None,
    device: DeviceOption = None,
    workers: Annotated[int, Option(min=0, help="Processes; 0 is one per core.")] = 1,
    fresh: Annotated[bool, Option("--fresh", help="Compute everything again, stored results included.")] = False,
    statistics: Annotated[bool, Option(help="Show the paper's Table 1 too.")] = True,
    markdown: Annotated[Path | None, OutputFile(metavar="FILE", help="Also write Markdown.")] = None,
    latex: Annotated[Path | None, OutputFile(metavar="FILE", help="Also write LaTeX.")] = None,
    html: Annotated[Path | None, OutputFile(metavar="FILE", help="Also write a web page.")] = None,
    store: StoreOption = None,
    json: JsonOption = None,
    wide: WideOption = False,
) -> None:
    """The paper's Table 2: every model on every task, ours beside theirs. Finished cells are stored and reused."""
    out.wide = wide
    from dialgauge.rankers import load_task
    from dialgauge.responses import jobs_of, results_table, run_jobs, statistics_table

    wanted = task_numbers(tasks, most=6)
    names = _splits(_items(splits), None)
    options = settings(given, preset, device)
    jobs = jobs_of(data, _items(models), wanted, names, seeds, store, options=options, fresh=fresh)
    runs: list[Run] = []
    with progress_bar("models on tasks", len(jobs)) as advance:
        for cells in run_jobs(jobs, workers=workers, tell=tell):
            runs.extend(cells)
            advance(1)
    tables = [results_table(runs)]
    if statistics:
        tables.insert(0, statistics_table([load_task(data, number) for number in wanted]))
    if on_screen(json):
        for shown in tables:
            out.print(shown.render("terminal"))
    _write_tables(tables, {"markdown": markdown, "latex": latex, "html": html})
    _write(runs, json)


def _items(text: str) -> list[str]:
    names = [item.strip() for item in text.split(",") if item.strip()]
    if not names:
        raise DialgaugeError(f"'{text}' names nothing; separate names by commas")
    return list(dict.fromkeys(names))


def _splits(names: Sequence[str] | None, available: Collection[str] | None) -> list[str]:
    from dialgauge.rankers import EVALUATED

    present = [name for name in EVALUATED if available is None or name in available]
    if not present:
        raise DialgaugeError(f"this data has none of the splits to evaluate on ({', '.join(EVALUATED)})")
    for name in names or ():
        if name not in present:
            raise DialgaugeError(f"there is no split '{name}' to evaluate on; there are {', '.join(present)}")
    return list(dict.fromkeys(names or present))


def _show(runs: list[Run], json: Path | None) -> None:
    from dialgauge.measures import short_form
    from dialgauge.responses import class_table, results_table

    if on_screen(json):
        out.print(results_table(runs).render("terminal"))
        out.print(class_table(runs).render("terminal"))
        for run in runs:
            out.print(f"Signature: {short_form(run.signature)}", style="dim")
    _write(runs, json)


def _write_tables(tables: Sequence[Table], targets: dict[str, Path | None]) -> None:
    from dialgauge.report import write_tables

    for kind, path in targets.items():
        if path is not None:
            write_tables(tables, path, kind, title=PAGE_TITLE)


def _write(runs: list[Run], json: Path | None) -> None:
    from dialgauge.responses import run_record

    if json is not None:
        write_json(json, {"systems": [run_record(run) for run in runs]})
