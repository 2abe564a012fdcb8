"""``dialgauge babi``: the bAbI restaurant tasks: simulate and convert them, train and evaluate bots, talk to them."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import click

from dialgauge import agents, formats, lab, rankers, report, responses
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import (
    FILE,
    FOLDER,
    MODELS,
    PATH,
    WORLDS,
    Advanced,
    Whole,
    bundle,
    measures_option,
    named_settings,
    names_of,
    option,
    options,
    refuse,
)
from dialgauge.cli.output import Json, OnScreen, Output, Placement, Stored, Tables
from dialgauge.cli.screen import err, line_reader, out, progress_bar
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import Column, Number, Page, Table
from dialgauge.text import counted
from dialgauge.worlds import restaurant

DEFAULT_MODEL = "rules"
#: A person may talk as long as they like.
_ENDLESS = 1_000_000


@options
class Replies:
    """The dialogues that a model learns from or is evaluated on: the bAbI files, or chat logs."""

    data: Path | None = option(
        "--data", type=PATH, metavar="FOLDER", help="Folder of dialog bAbI files, plain or gzipped."
    )
    task: int | None = option("--task", type=Whole(1, 6), help="Task. Default: the loaded model's, or 1.")
    logs: str | None = option(
        "--logs",
        metavar="FILE",
        cls=Advanced,
        help="Recorded dialogues, instead of --data.",
    )
    candidates: Path | None = option("--candidates", type=PATH, cls=Advanced, help="With --logs: candidate replies.")
    facts: Path | None = option("--facts", type=PATH, cls=Advanced, help="With --logs: entity, relation, value.")
    seed: int | None = option("--seed", type=Whole(0), help="Random seed. Default: 0.")

    def number(self, folder: Path | None = None) -> int:
        """The task asked for, else the one the model in the folder was fitted on, else 1."""
        return self.task or (rankers.read_manifest(folder).task if folder is not None else 1)

    def load(self, folder: Path | None = None, splits: tuple[str, ...] = rankers.SPLITS) -> rankers.RankingTask:
        """A task of the bAbI files, or the one that chat logs make."""
        if self.data is not None:
            refuse("--data has candidates and facts", names=("logs", "candidates", "facts"))
            if (number := self.number(folder)) == rankers.LOGS:
                raise DialgaugeError("the model was trained on chat logs; give them with --logs FILE", file=str(folder))
            return rankers.load_task(self.data, number, splits)
        if self.logs is None:
            raise DialgaugeError("give --data FOLDER (dialog bAbI files) or --logs FILE (recorded dialogues)")
        refuse("chat logs have no tasks", names=("task",))
        seed = self.seed if self.seed is not None or folder is None else rankers.read_manifest(folder).seed
        return rankers.log_task(self.logs, candidates=self.candidates, facts=self.facts, seed=seed or 0)


_SET = click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Model setting: dim=64, device=cuda; repeatable."
)


@options
class Bot:
    """Who answers: a model to train, a trained one in a folder, an agent, or a bot at an address."""

    model: str = option(
        "--model",
        default=DEFAULT_MODEL,
        metavar="NAME|FOLDER|URL",
        shell_complete=MODELS,
        help="A model or agent such as tfidf or memn2n, the folder of a trained model, or the address of a bot.",
    )
    given: tuple[str, ...] = option(
        "--set", multiple=True, metavar="NAME=VALUE", help="Model setting: dim=64, device=cuda; repeatable."
    )

    def __post_init__(self) -> None:
        names = {*rankers.ranker_names(), *agents.agent_names()}
        if self.url and self.given:
            raise DialgaugeError("--model names a bot at an address; leave out --set")
        if not self.url and self.folder is None and self.model not in names:
            raise DialgaugeError(f"unknown model or agent '{self.model}'.{nearest(self.model, names)}")

    @property
    def settings(self) -> dict[str, str]:
        return named_settings(self.given, "--set")

    @property
    def url(self) -> str:
        return self.model if "://" in self.model else ""

    @property
    def folder(self) -> Path | None:
        named = self.url or self.model in (*rankers.ranker_names(), *agents.agent_names())
        return Path(self.model) if not named and Path(self.model).is_dir() else None

    @property
    def is_agent(self) -> bool:
        """Whether it is no model."""
        is_model = self.model in rankers.ranker_names() and self.model not in agents.BUILT_IN
        return self.folder is None and not is_model

    def agent(self) -> agents.Agent:
        """The agent, or the bot at the address."""
        return agents.HttpBot(self.url) if self.url else agents.make_agent(self.model, self.settings)

    def fit(self, seed: int | None, task: Callable[[], rankers.RankingTask]) -> rankers.ReplyModel:
        """The trained model, or one trained on the task now."""
        if self.folder is not None:
            return self.load()
        ranker = rankers.fresh_model(self.model, seed or 0, self.settings)
        rankers.fit_model(ranker, task(), tell)
        return ranker

    def load(self, task: rankers.RankingTask | None = None) -> rankers.ReplyModel:
        """The trained model, which was trained on the task if one is given."""
        if self.folder is None:
            raise DialgaugeError("--transfer and --world have no training dialogues; --model names a trained model")
        if name := next((name for name in self.settings if name != "device"), ""):
            raise DialgaugeError(f"the model is already trained; '{name}' can no longer be set")
        return rankers.load_ranker(self.folder, task=task, options=self.settings)


def tell(line: str) -> None:
    """Print a line about progress on standard error."""
    err.print(line, style="dim")


def task_numbers(text: str, most: int) -> list[int]:
    """``1-3,5`` as a list of numbers, in order."""
    numbers: list[int] = []
    for piece in text.split(","):
        bounds = re.fullmatch(rf"\s*([1-{most}])\s*(?:-\s*([1-{most}])\s*)?", piece)
        if not bounds or (bounds[2] and bounds[1] > bounds[2]):
            raise DialgaugeError(
                f"--tasks expects numbers from 1 to {most}, for example 1-{most} or 1,3 (got '{text}')"
            )
        numbers += range(int(bounds[1]), int(bounds[2] or bounds[1]) + 1)
    return list(dict.fromkeys(numbers))


def _items(text: str) -> list[str]:
    return list(dict.fromkeys(item.strip() for item in text.split(",") if item.strip()))


babi = group("babi", "The bAbI restaurant tasks: simulate them, convert data to their format, evaluate bots on them.")


@babi.command()
@click.option("--out", "folder", type=FOLDER, required=True, help="Folder to write to.")
@click.option(
    "--world",
    default="restaurant",
    metavar="NAME|FILE",
    shell_complete=WORLDS,
    help="restaurant, bakery, or a YAML file.",
)
@click.option("--seed", type=Whole(), default=0, help="Random seed; the same seed gives the same bytes.")
@click.option("--tasks", default="1-5", help="Tasks from 1 to 5, for example 1-5 or 1,3.")
@click.option(
    "--splits",
    default="",
    show_default=False,
    shell_complete=names_of("rankers", "SPLITS", several=True),
    help="Splits of trn,dev,tst,tst-OOV. Default: all that the world has.",
)
@click.option("--dialogues", "dialogs", type=Whole(1, 100_000), default=1000, help="Dialogues per task and split.")
@click.option(
    "--to",
    type=click.Choice(["babi", "native", "both"]),
    default="babi",
    help="Output format. babi: as released; native: JSONL with acts and belief states.",
)
@bundle(output=Json)
def simulate(
    folder: Path,
    world: str,
    seed: int,
    tasks: str,
    splits: str,
    dialogs: int,
    to: Literal["babi", "native", "both"],
    output: Json,
) -> None:
    """Simulate tasks 1 to 5 in the released format.

    A folder holds one world with one seed. Files that no simulation wrote are never touched.
    """
    loaded, numbers = restaurant.load_world(world), sorted(task_numbers(tasks, 5))
    names = tuple(_items(splits)) or lab.splits_of(loaded)
    forms: tuple[lab.Form, ...] = ("babi", "native") if to == "both" else (to,)
    with progress_bar("simulating", dialogs * len(numbers) * len(names) * len(forms)) as made:
        written = lab.write_release(
            loaded,
            folder,
            tasks=numbers,
            splits=names,
            dialogs=dialogs,
            parameters=restaurant.Parameters(seed=seed),
            forms=forms,
            made=made,
        )
    columns = [*map(Column, ("file", "dialogs", "turns", "facts")), Column("turns per dialog", Number(2))]
    files = Table(f"{loaded.title}, seed {seed}", columns)
    for item in written:
        files.add(item.file, item.dialogs, item.turns, item.facts, item.turns / item.dialogs)
    output.present(Page(title=files.title, tables={"files": files}))
    tell(f"{counted(len(written), 'file')}, candidates and knowledge base are in {folder}")


@babi.command()
@click.argument("folder", type=PATH)
@click.option("--out", "target", type=FILE, required=True, help="File to write.")
@click.option("--kb", type=PATH, required=True, help="Knowledge base of task 6, dialog-babi-task6-dstc2-kb.txt.")
@click.option("--list", "listed", type=PATH, help="Only these calls, in this order: one path per line.")
@click.option("--seed", type=Whole(), default=0, help="Random seed; the same seed gives the same bytes.")
@click.option(
    "--to",
    type=click.Choice(["babi", "native"]),
    default="babi",
    help="Output format. babi: as in task 6; native: JSONL with the labelled states.",
)
def convert(
    folder: Path, target: Path, kb: Path, listed: Path | None, seed: int, to: Literal["babi", "native"]
) -> None:
    """Convert DSTC2 as published to task 6.

    It has a folder per call with log.json and label.json, and ontology*.json."""
    venues = restaurant.venues_of(formats.load_kb(kb))
    lexicon = restaurant.Lexicon(restaurant.read_ontology(folder), venues)
    sessions = list(restaurant.read_sessions(folder, listed))
    dialogues = [restaurant.convert(session, venues, lexicon, seed=seed) for session in sessions]
    formats.write(dialogues, target, format=to)
    out.print(f"wrote {counted(len(dialogues), 'dialogue')} to {target}")


@babi.command()
@click.option("--out", "folder", type=FOLDER, required=True, help="Folder for the model and its checkpoint.")
@click.option("--model", default="memn2n", shell_complete=MODELS, help="Model name, such as tfidf or memn2n.")
@_SET
@bundle(replies=Replies, store=Stored)
def train(folder: Path, model: str, settings: tuple[str, ...], replies: Replies, store: Stored) -> None:
    """Train a model on a task's training and development dialogs (or on chat logs) and save it in a folder.

    Rerun an interrupted command to resume after the last finished epoch. The log of the training is stored as a run.
    """
    task = replies.load(splits=("trn", "dev"))
    ranker = rankers.fresh_model(model, replies.seed or 0, named_settings(settings, "--set"))
    ranker.checkpoint = rankers.claim_folder(folder)
    rankers.fit_model(ranker, task, tell)
    rankers.save_ranker(ranker, folder, task.number)
    tell(f"model saved in {folder}")
    run = store.folder.add(responses.evaluation_run(ranker, task, "dev", trained=True))
    tell(f"stored as run {run.id} in {store.folder.folder}")
    out.page(report.run_page(run, ["epochs"]))


@options
class Evaluation:
    """Which dialogues are answered, and what is measured."""

    split: tuple[Literal["dev", "tst", "tst-OOV"], ...] = option(
        "--split",
        type=click.Choice(["dev", "tst", "tst-OOV"]),
        multiple=True,
        help="Repeatable. Default: all that exist.",
    )
    transfer: bool = option("--transfer", is_flag=True, help="Evaluate on data it was not trained on.")
    world: str | None = option(
        "--world", metavar="NAME|FILE", shell_complete=WORLDS, help="Simulate: restaurant, bakery or a YAML file."
    )
    live: bool = option("--live", is_flag=True, help="Let it talk with simulated users of --world.")
    dialogues: int = option(
        "--dialogues", type=Whole(1, 100_000), default=200, cls=Advanced, help="With --world, --live: how many."
    )
    measures: tuple[str, ...] = measures_option("hits@1,MRR, ... or default.", "responses")
    attention: int = option(
        "--attention", type=Whole(0, 100_000), default=0, help="Keep attention in the first N dialogues."
    )


@babi.command()
@bundle(asked=Evaluation, bot=Bot, replies=Replies, output=Output, gates=Gates)
def evaluate(asked: Evaluation, bot: Bot, replies: Replies, output: Output, gates: Gates) -> int:
    """Evaluate a model, an agent or a bot over HTTP.

    Per-response and per-dialog accuracy, hits@10, MRR, by class of reply.

    A model is trained on --data first, unless its folder is named; with --transfer, --world or --live it gets the
    candidates and the knowledge base of where it goes, and is not retrained. 'dialgauge show RUN --dialogue ID' shows
    replies, candidates and attention.

    Exit code 1: in conversation, the bot failed. Exit code 3: a check failed.
    """
    if asked.live:
        refuse("in conversation there are no splits", Gates, names=("split", "transfer", "measures", "attention"))
        return _converse(asked.world or restaurant.DEFAULT_WORLD, asked.dialogues, bot, replies, output)
    gate = gates.gate(output.store, "responses")
    chosen = responses.reply_measures(asked.measures) if asked.measures else None
    if asked.world is not None:
        refuse("--world simulates the dialogues", names=("data", "logs", "candidates", "facts"))
        task = _world_task(asked.world, replies.number(bot.folder), asked.dialogues, replies.seed or 0)
    else:
        task = replies.load(bot.folder)
    ready: rankers.ReplyModel | responses.Replier
    if bot.url:
        ready = agents.HttpBot(bot.url)
    elif bot.is_agent:
        ready = responses.agent_replier(bot.agent(), task, bot.settings)
    elif asked.transfer or asked.world is not None:
        ready = bot.load()
        ready.move(task.candidates, task.facts)
    elif bot.folder is not None:
        ready = bot.load(task)
    else:
        ready = bot.fit(replies.seed, lambda: task)
    made = responses.evaluate_bot(
        ready, task, splits=asked.split, measures=chosen, attention=asked.attention, progress=OnScreen()
    )
    stored = output.store_runs(made)
    checks = gate.check(stored)
    output.present(responses.replies_page(stored), runs=stored, checks=checks)
    return checks.exit_code(0)


def _world_task(world: str, task: int, dialogs: int, seed: int) -> rankers.RankingTask:
    loaded = restaurant.load_world(world)
    splits = [split for split in lab.splits_of(loaded) if split in rankers.EVALUATED]
    return lab.world_task(loaded, task, splits, dialogs, restaurant.Parameters(seed=seed), source=world)


def _converse(world: str, dialogs: int, bot: Bot, replies: Replies, output: Output) -> int:
    """``--live``: the bot's own words count, and a mistake affects later replies."""
    number, loaded, seed = replies.number(bot.folder), restaurant.load_world(world), replies.seed or 0
    if number not in restaurant.TASKS:
        raise DialgaugeError("tasks 1 to 5 have simulated users; task 6 and chat logs have none")
    system: agents.Agent | rankers.ReplyModel
    if bot.is_agent:
        system = bot.agent()
    else:
        system = bot.fit(replies.seed, lambda: replies.load(splits=("trn", "dev")))
        lab.move_to(system, loaded, seed)
    made, parameters = [], restaurant.Parameters(seed=seed)
    for half in (each.name for each in loaded.halves):
        tell(f"{system.name} talks to {counted(dialogs, 'user')} of half {half}")
        made.append(lab.interact(system, loaded, number, half, dialogs, parameters, source=world))
    stored = output.store_runs(made)
    output.present(lab.interaction_page(stored), runs=stored)
    return EXIT_INCOMPLETE if any(lab.failed(run) for run in stored) else 0


@babi.command()
@click.option("--data", type=PATH, required=True, metavar="FOLDER", help="Folder of dialog bAbI files.")
@click.option(
    "--models",
    default="rules,tfidf,tfidf-type,nearest",
    shell_complete=names_of("rankers", "ranker_names", several=True),
    help="Models, comma-separated.",
)
@click.option("--tasks", default="1-6", help="Tasks from 1 to 6, for example 1-5 or 1,3.")
@click.option(
    "--splits",
    default="dev,tst,tst-OOV",
    shell_complete=names_of("rankers", "EVALUATED", several=True),
    help="Splits, comma-separated.",
)
@click.option("--seeds", type=Whole(1, 1000), default=1, help="Seeds per model that uses random numbers.")
@_SET
@bundle(store=Stored, output=Tables, placement=Placement)
def table(
    data: Path,
    models: str,
    tasks: str,
    splits: str,
    seeds: int,
    settings: tuple[str, ...],
    store: Stored,
    output: Tables,
    placement: Placement,
) -> None:
    """The paper's Table 2: every model on every task, ours next to theirs. Cells are always stored, and reused.

    Rerun an interrupted command to go on after the last finished model.
    """
    wanted = task_numbers(tasks, 6)
    store.folder.check_writable()
    results = responses.evaluate_models(
        data,
        _items(models),
        tasks=wanted,
        splits=responses.evaluated_splits(_items(splits)),
        seeds=seeds,
        options=named_settings(settings, "--set"),
        workers=placement.place,
        store=store.folder,
        progress=OnScreen(),
    )
    statistics = responses.statistics_table([rankers.load_task(data, number) for number in wanted])
    title = "Response selection on the dialog bAbI tasks"
    page = responses.replies_page(results.runs, {"statistics": statistics}, title)
    output.present(page, runs=results.runs)


@babi.command()
@bundle(bot=Bot, replies=Replies)
def chat(bot: Bot, replies: Replies) -> None:
    """Talk to a model or an agent in the terminal.

    An empty line (or `<SILENCE>`) lets the bot continue. API calls are answered by the knowledge base, and the bot
    speaks again. A bot that knows none of your words says so. `restart` starts a new dialog; `exit` or end of input
    quits.
    """
    task = replies.load(bot.folder, ("trn", "dev"))
    system: agents.Agent
    if bot.is_agent:
        system = bot.agent()
    else:
        ranker = bot.fit(replies.seed, lambda: task)
        system = ranker.agent if isinstance(ranker, agents.Rules) else agents.ModelBot(ranker, asks_back=True)
    if isinstance(system, agents.RuleAgent):
        system.asks_back = True
    database = restaurant.FactDatabase(task.facts)
    scenario = agents.Scenario(
        dialogue_id="chat",
        database=database,
        environment=database,
        candidates=task.candidates,
        task=task.number,
        limits=agents.Limits(exchanges=_ENDLESS),
    )
    person = agents.KeyboardUser(line_reader("you> "), out.print)
    tell(f"{system.name}, task {task.number}. Empty line: silence; 'restart': new dialogue; 'exit': quit.")
    reason = agents.RESTART
    while reason == agents.RESTART:
        outcome = agents.converse(person, system, scenario).outcome
        reason = outcome.reason if outcome else ""
        if outcome and reason == agents.AGENT_ERROR:
            raise DialgaugeError(outcome.facts[agents.EXPLANATION])
