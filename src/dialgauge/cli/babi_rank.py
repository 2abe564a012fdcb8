"""``dialgauge babi evaluate | table | models``: how far a bot is from carrying whole dialogs."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

from dialgauge import agents, lab, rankers, report, responses
from dialgauge.cli import common
from dialgauge.cli.babi_options import (
    DEFAULT_MODEL,
    DataOption,
    LoadOption,
    ModelOption,
    Replies,
    TrainingSettings,
    UrlOption,
    fresh_ranker,
    loaded_ranker,
    task_numbers,
    task_of,
    tell,
)
from dialgauge.cli.choices import WORLDS, measures_of, names_of
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import Option, OutputFolder, WholeNumber, command
from dialgauge.cli.screen import err, out, progress_bar
from dialgauge.errors import DialgaugeError
from dialgauge.worlds import restaurant

if TYPE_CHECKING:
    from dialgauge.measures import Measure
    from dialgauge.runs import Run, Store


#: What the page of ``babi table`` is about, whichever tables it holds.
PAGE_TITLE = "Response selection on the dialog bAbI tasks"


@command()
def models(output: common.TableOutput) -> None:
    """List the available models, and what the others need."""
    listing = rankers.ranker_listing()
    made = report.Table("Models", [report.Column("name", exact=True), "what it is", "seeds matter", "settings"])
    for entry in listing:
        if entry.content is not None:
            made.add(entry.name, entry.content.summary, entry.content.seeded, " ".join(entry.content.settable))
    output.show([made])
    output.document("tables", common.tables_document([made]))
    for entry in listing:
        if entry.reason is not None:
            err.print(entry.reason)


@command()
def evaluate(
    model: ModelOption = None,
    task: Annotated[int | None, Option(min=1, max=6, help="Task in --data. Default: the loaded model's, or 1.")] = None,
    split: Annotated[
        list[Literal["dev", "tst", "tst-OOV"]] | None,
        Option(metavar="TEXT", help="dev, tst or tst-OOV; repeatable. Default: all."),
    ] = None,
    url: UrlOption = None,
    folder: LoadOption = None,
    transfer: Annotated[
        bool,
        Option(needs="--load", help="Evaluate the loaded model on candidates, facts or tasks it was not trained on."),
    ] = False,
    world: Annotated[
        str | None,
        Option(
            known=WORLDS,
            not_with=("--data", "--logs"),
            alone="--world simulates the dialogues",
            help="Instead of --data, simulate dialogues: restaurant, bakery, or a world file (YAML).",
        ),
    ] = None,
    dialogs: Annotated[
        int, WholeNumber("--dialogues", of="dialogues", min=1, help="With --world: dialogues per split.")
    ] = 200,
    world_seed: Annotated[int, Option(min=0, help="With --world: random seed.")] = 0,
    save: Annotated[
        Path | None, OutputFolder(not_with=("--url", "--load"), help="Save the trained model in this folder.")
    ] = None,
    seed: Annotated[
        int | None,
        Option(min=0, help="Random seed for the model and, with --logs, for the train/test split. Default: 0."),
    ] = None,
    seeds: Annotated[
        int, WholeNumber(of="seeds", min=1, not_with=("--url", "--load"), help="Number of seeds, starting at --seed.")
    ] = 1,
    measures: Annotated[
        list[str] | None,
        Option(
            "--measures",
            "-m",
            known=measures_of("responses", check=["default"]),
            help="Measures, comma-separated, for example hits@1,MRR; 'default' for the defaults.",
        ),
    ] = None,
    attention: Annotated[
        int,
        WholeNumber(of="dialogues", min=0, help="Also store a memory network's attention for the first N dialogues."),
    ] = 0,
    *,
    replies: Replies,
    training: TrainingSettings,
    output: common.DrawnOutput,
    gates: Gates,
    stored: common.AlwaysStored,
) -> int:
    """Evaluate a model or an agent: per-response, per-dialog, hits@10, MRR, by class of reply. Runs are always stored.

    With --load the model comes from a folder. With --transfer or --world it is evaluated on other dialogs than those it
    was trained on: it gets their candidates and knowledge base, and is not retrained.

    Rerun an interrupted training to resume after its last finished epoch. Exit code 3: a --fail-under or --fail-on-drop
    check failed.
    """
    from dialgauge.runs import Store

    gate = gates.gate(stored.store, kinds=("responses",), family="responses")
    options = training.options()
    first = seed if seed is not None else rankers.seed_of(folder) if folder is not None else 0
    chosen = responses.reply_measures(measures) if measures else None
    gate.require(chosen or responses.reply_measures())
    if world is not None:
        loaded = _world_task(world, task_of(folder, task, 1), dialogs, world_seed)
    else:
        loaded = replies.task(task, first, folder=folder)
    measuring = _Measuring(loaded, _splits(split, loaded.splits), Store(stored.store), chosen, attention)
    if url is not None:
        runs = measuring.runs(agents.HttpBot(url))
    elif folder is not None:
        elsewhere = transfer or world is not None
        ready = loaded_ranker(folder, model, seed, options, None if elsewhere else loaded)
        if elsewhere:
            ready.move(loaded.candidates, loaded.facts)
            trained_on = rankers.place_of(rankers.fitted_on(folder))
            tell(f"{ready.name} was trained on {trained_on} elsewhere and is not retrained here")
        runs = measuring.runs(ready)
    elif model is not None and _is_agent(model):
        if save is not None or seed is not None or seeds > 1:
            raise DialgaugeError(f"the agent {model} is not trained; drop --save, --seed and --seeds")
        runs = measuring.runs(responses.agent_replier(agents.make_agent(model, options), loaded, options))
    else:
        if world is not None:
            raise DialgaugeError("--world has no training dialogues; give --load FOLDER (a trained model) or an agent")
        runs = []
        for number in range(first, first + seeds):
            fresh = fresh_ranker(model or DEFAULT_MODEL, number, options)
            if replies.logs is not None and number > first:
                measuring = measuring._replace(task=replies.task(None, number))
            runs += measuring.runs_of_new(fresh, save and (save if seeds == 1 else save / f"seed{number}"))
            if not fresh.seeded:
                break
    output.show([responses.results_table(runs), responses.class_table(runs)])
    checks = gate.check(runs)
    output.document("babi-evaluate", {"systems": [responses.run_record(run) for run in runs], **checks.document()})
    output.draw_scores(runs)
    return checks.exit_code(0)


def _world_task(world: str, task: int, dialogs: int, seed: int) -> rankers.RankingTask:
    loaded = restaurant.load_world(world)
    splits = [split for split in lab.splits_of(loaded) if split in rankers.EVALUATED]
    return lab.world_task(loaded, task, splits, dialogs, restaurant.Parameters(seed=seed), source=world)


def _is_agent(name: str) -> bool:
    """Whether a name that no model bears is that of an agent."""
    return name not in rankers.BUILT_IN and name not in rankers.ranker_names() and name in agents.agent_names()


class _Measuring(NamedTuple):
    """What models are evaluated on and by which measures, and where the results go."""

    task: rankers.RankingTask
    splits: Sequence[str]
    store: Store
    measures: Sequence[Measure[Any]] | None
    #: Of how many dialogs the runs keep where the model looked.
    attention: int = 0

    def save(self, model: rankers.ReplyModel, folder: Path | None) -> None:
        if folder is not None:
            rankers.save_ranker(model, folder, self.task.number)
            tell(f"model saved in {folder}")

    def runs(self, bot: rankers.ReplyModel | responses.Replier) -> list[Run]:
        """The runs of a bot that is ready to answer, one for each split."""
        self._refuse_inattentive(bot)
        runs = []
        for key in (responses.CellKey.of(bot, self.task, name) for name in self.splits):
            tell(f"{bot.name} on {key.split}, seed {bot.seed}")
            made = responses.evaluation_run(key, bot, self.task, self.measures, attention=self.attention)
            runs.append(self.store.add(made))
        return runs

    def _refuse_inattentive(self, bot: rankers.ReplyModel | responses.Replier) -> None:
        """Before it is fitted, which may take hours."""
        if self.attention:
            rankers.attentive(bot)

    def runs_of_new(self, model: rankers.ReplyModel, save: Path | None) -> list[Run]:
        """The same for a model that is still to be fitted."""
        self._refuse_inattentive(model)
        if save is not None:
            rankers.claim_folder(save, model, self.task)
        with responses.checkpointed(
            model, responses.CellKey.planned(model, self.task, self.splits[0]), self.store, tell
        ):
            rankers.fit_model(model, self.task, tell)
            self.save(model, save)
            return self.runs(model)


@command()
def table(
    data: DataOption,
    models: Annotated[
        str,
        Option(known=names_of("rankers", "ranker_names", closed=False, several=True), help="Models, comma-separated."),
    ] = "rules,tfidf,tfidf-type,nearest",
    tasks: Annotated[str, Option(help="Tasks from 1 to 6, for example 1-5 or 1,3.")] = "1-6",
    splits: Annotated[
        str, Option(known=names_of("rankers", "EVALUATED", several=True), help="Splits, comma-separated.")
    ] = "dev,tst,tst-OOV",
    seeds: Annotated[int, WholeNumber(of="seeds", min=1, help="Seeds per model that uses random numbers.")] = 1,
    fresh: Annotated[bool, Option(help="Recompute everything, including stored results.")] = False,
    *,
    training: TrainingSettings,
    output: common.DrawnOutput,
    stored: common.AlwaysStored,
    placement: common.Placement,
) -> None:
    """The paper's Table 2: every model on every task, ours next to theirs. Cells are always stored, and reused."""
    wanted = task_numbers(tasks, most=6)
    names = _splits(_items(splits), None)
    options = training.options()
    jobs = responses.jobs_of(data, _items(models), wanted, names, seeds, stored.store, options=options, fresh=fresh)
    runs: list[Run] = []
    with progress_bar("models on tasks", len(jobs)) as advance:
        for cells in responses.run_jobs(jobs, workers=placement.place, tell=tell):
            runs.extend(cells)
            advance(1)
    data_table = responses.statistics_table([rankers.load_task(data, number) for number in wanted])
    tables = [data_table, responses.results_table(runs)]
    for shown in tables if output.on_screen else ():
        out.print(shown.render("terminal"))
    if output.table is not None:
        report.write_tables(tables, output.table, title=PAGE_TITLE)
    if output.figures is not None:
        output.draw(responses.cell_figures(runs))
    output.document("babi-evaluate", {"systems": [responses.run_record(run) for run in runs]})


def _items(text: str) -> list[str]:
    names = [item.strip() for item in text.split(",") if item.strip()]
    if not names:
        raise DialgaugeError(f"'{text}' names nothing; give comma-separated names")
    return list(dict.fromkeys(names))


def _splits(names: Sequence[str] | None, available: Collection[str] | None) -> list[str]:
    present = [name for name in rankers.EVALUATED if available is None or name in available]
    if not present:
        raise DialgaugeError(f"this data has none of the evaluation splits ({', '.join(rankers.EVALUATED)})")
    for name in names or ():
        if name not in present:
            raise DialgaugeError(f"unknown split '{name}'; choose from {', '.join(present)}")
    return list(dict.fromkeys(names or present))
