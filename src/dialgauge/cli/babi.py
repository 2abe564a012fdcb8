"""``dialgauge babi``: the restaurant world, its simulator, and converters to its format."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click
import msgspec
from msgspec import to_builtins

from dialgauge import agents, formats, lab, rankers, rendering, responses, runs
from dialgauge.cli import common, writing
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.common import AlwaysStored, DrawnOutput, TableOutput
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import (
    FILE,
    FOLDER,
    MODELS,
    PATH,
    WORLDS,
    Real,
    Whole,
    bundle,
    known,
    measures_of,
    names_of,
    option,
    options,
    refuse,
    typed_options,
)
from dialgauge.cli.output import AlwaysStoredOutput, OnScreen
from dialgauge.cli.screen import err, line_reader, out, progress_bar, tracked
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.files import atomic
from dialgauge.text import counted
from dialgauge.worlds import restaurant

if TYPE_CHECKING:
    from collections.abc import Callable

    from dialgauge.runs import Run


#: What is fitted when neither --model nor --load is given.
DEFAULT_MODEL = "rules"


@options
class Replies:
    """The dialogues that a model learns from or is evaluated on: the bAbI files, or chat logs."""

    data: Path | None = option(
        "--data", type=PATH, metavar="FOLDER", help="Folder of dialog bAbI files, plain or gzipped."
    )
    logs: str | None = option(
        "--logs",
        metavar="FILE",
        help="Recorded dialogues in any format, instead of --data; all replies become candidates.",
    )
    candidates: Path | None = option("--candidates", type=PATH, help="With --logs: candidate replies, one per line.")
    facts: Path | None = option(
        "--facts", type=PATH, help="With --logs: knowledge base with tab-separated entity, relation, value."
    )
    messages: Literal["joined", "apart"] = option(
        "--messages",
        type=click.Choice(["joined", "apart"]),
        default="joined",
        help="With --logs: join consecutive messages of a user, or make each a memory of its own.",
    )

    def task(
        self, task: int | None, seed: int, *, folder: Path | None = None, splits: tuple[str, ...] | None = None
    ) -> rankers.RankingTask:
        """A task of the bAbI files (the one asked for, else that of the model in the folder, else 1), or of logs."""
        if self.data is not None:
            refuse("--data has candidates and facts", names=("logs", "candidates", "facts", "messages"))
            return rankers.load_task(self.data, task_of(folder, task, 1), splits or rankers.SPLITS)
        if self.logs is None:
            raise DialgaugeError("give --data FOLDER (dialog bAbI files) or --logs FILE (recorded dialogues)")
        refuse("chat logs have no tasks", names=("task", "world"))
        apart = self.messages == "apart"
        return rankers.log_task(str(self.logs), candidates=self.candidates, facts=self.facts, seed=seed, apart=apart)


@options
class ModelSettings:
    """The settings of a model."""

    given: tuple[str, ...] = option(
        "--set", multiple=True, metavar="NAME=VALUE", help="Model setting, for example dim=64; repeatable."
    )
    device: str | None = option(
        "--device",
        metavar="NAME",
        shell_complete=known("cpu cuda auto".split),
        help="Device for learned models: cpu, cuda, or auto (a GPU if present).",
    )

    def options(self) -> dict[str, str]:
        """The settings by name: those of ``--set``, the preset and the device."""
        named: dict[str, str] = {}
        for item in self.given or ():
            name, equals, value = item.partition("=")
            if not equals or not name.strip():
                raise DialgaugeError(f"--set expects NAME=VALUE, for example dim=64 (got '{item}')")
            named[name.strip()] = value.strip()
        by_option = {"preset": getattr(self, "preset", None), "device": self.device}
        return named | {name: value for name, value in by_option.items() if value is not None}


@options
class TrainingSettings(ModelSettings):
    """The settings of a model that is yet to be trained."""

    preset: Literal["default", "paper"] | None = option(
        "--preset",
        type=click.Choice(["default", "paper"]),
        help="Settings preset for learned models: default or paper (slow).",
    )


@options
class Bot:
    """Who answers: a model by name, a trained one, or a bot at an address."""

    model: str | None = option(
        "--model",
        metavar="NAME",
        shell_complete=MODELS,
        help=f"Model name, such as tfidf or memn2n. Default: {DEFAULT_MODEL}.",
    )
    folder: Path | None = option("--load", type=PATH, metavar="FOLDER", help="Load the trained model in this folder.")
    url: str | None = option("--url", metavar="URL", help="Use the bot at this HTTP address instead of a model.")


@options
class SimulatedWorld:
    """A world of restaurants or the like, and how its users behave."""

    world: str = option(
        "--world",
        default="restaurant",
        metavar="NAME|FILE",
        shell_complete=WORLDS,
        help="restaurant, bakery, or a world file (YAML).",
    )
    accept: float = option(
        "--accept", type=Real(0, 1), default=0.25, help="Probability that the user accepts an offer (tasks 3, 5)."
    )
    min_results: str = option(
        "--min-results",
        default="3",
        help="Minimum number of results for a query (tasks 3, 5), or per task, for example 3:3,5:1.",
    )

    def parameters(self, seed: int, **more: Any) -> restaurant.Parameters:
        """The parameters of a simulation."""
        least = _least_results(self.min_results)
        return restaurant.Parameters(seed=seed, accept=self.accept, min_results=least, **more)


def task_numbers(text: str, *, most: int) -> list[int]:
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


def _least_results(text: str) -> int | dict[int, int]:
    """``3``, or ``3:3,5:1`` as task to number."""
    if re.fullmatch(r"\s*\d{1,9}\s*", text):
        return int(text)
    least: dict[int, int] = {}
    for piece in text.split(","):
        parts = re.fullmatch(r"\s*(\d+):(\d{1,9})\s*", piece)
        if not parts:
            raise DialgaugeError(f"--min-results expects a number, or TASK:NUMBER such as 5:1 (got '{text}')")
        least[int(parts[1])] = int(parts[2])
    return least


def tell(line: str) -> None:
    """Print a line about progress on standard error."""
    err.print(line, style="dim")


def fresh_ranker(model: str, seed: int, options: dict[str, str]) -> rankers.ReplyModel:
    """A model that is still to be fitted, with the options given."""
    ranker = rankers.ranker_class(model)(seed)
    ranker.options = rankers.options_by_model([model], options)[model]
    return ranker


def fitted_ranker(
    task: rankers.RankingTask, model: str | None, folder: Path | None, seed: int | None, options: dict[str, str]
) -> rankers.ReplyModel:
    """The model in the folder, or else a new one fitted on the task."""
    if folder is not None:
        return loaded_ranker(folder, model, seed, options, task)
    ranker = fresh_ranker(model or DEFAULT_MODEL, seed or 0, options)
    rankers.fit_model(ranker, task, tell)
    return ranker


def loaded_ranker(
    folder: Path, model: str | None, seed: int | None, options: dict[str, str], task: rankers.RankingTask | None = None
) -> rankers.ReplyModel:
    """The trained model in the folder; an error if other settings than the device are given."""
    name = next((name for name in options if name != "device"), None)
    if name is not None:
        raise DialgaugeError(f"the loaded model is already trained; '{name}' can no longer be set")
    ranker = rankers.load_ranker(folder, task=task, options=options)
    if model not in (None, ranker.name):
        raise DialgaugeError(f"the folder holds the model {ranker.name}, not {model}; drop --model", file=str(folder))
    if seed not in (None, ranker.seed):
        raise DialgaugeError(f"the model was trained with seed {ranker.seed}; drop the seed", file=str(folder))
    return ranker


def task_of(folder: Path | None, given: int | None, default: int) -> int:
    """The task asked for, else the one the model in the folder was fitted on, else the default."""
    if given is not None or folder is None:
        return given or default
    if (fitted := rankers.fitted_on(folder)) == rankers.LOGS:
        raise DialgaugeError("the model was trained on chat logs; give them with --logs FILE", file=str(folder))
    return fitted


app = group("babi", "The bAbI restaurant tasks: simulate them, convert data to their format, evaluate bots on them.")


@app.command()
@click.option("--out", "folder", type=FOLDER, required=True, help="Folder to write to.")
@click.option("--seed", "seed", type=Whole(), default=0, help="Random seed; the same seed gives the same bytes.")
@click.option("--tasks", "tasks", default="1-5", help="Tasks from 1 to 5, for example 1-5 or 1,3.")
@click.option(
    "--splits",
    "splits",
    default="",
    show_default=False,
    shell_complete=names_of("rankers", "SPLITS", several=True),
    help="Splits of trn,dev,tst,tst-OOV. Default: all that the world has.",
)
@click.option("--dialogues", "dialogs", type=Whole(1, 100_000), default=1000, help="Dialogues per task and split.")
@click.option(
    "--pool-share", "pool_share", type=Real(0, 1), default=0.5, help="Share of requests that training may use."
)
@click.option(
    "--fields",
    "fields",
    default="",
    show_default=False,
    help="Fields in the first request per task, for example 1:0-4,5:1-3.",
)
@click.option("--updates", "updates", default="", show_default=False, help="Updates per task, for example 2:1-4,5:1-3.")
@click.option(
    "--info", "info", default="0.25,0.25,0.5", help="Shares of dialogues asking for phone only, address only, both."
)
@click.option(
    "--to",
    "to",
    type=click.Choice(["babi", "native", "both"]),
    default="babi",
    help="Output format. babi: as released; native: JSONL with acts and belief states.",
)
@click.option("--force", "force", is_flag=True, help="Replace another simulation in the folder.")
@bundle(simulated=SimulatedWorld, output=common.TableOutput)
def simulate(
    folder: Path,
    seed: int,
    tasks: str,
    splits: str,
    dialogs: int,
    pool_share: float,
    fields: str,
    updates: str,
    info: str,
    to: Literal["babi", "native", "both"],
    force: bool,
    simulated: SimulatedWorld,
    output: common.TableOutput,
) -> None:
    """Simulate tasks 1 to 5: dialogs, candidates and knowledge base, in the released format.

    A folder holds one world with one seed. Another simulation in it is refused unless --force replaces it; files that
    no simulation wrote are never touched.
    """
    loaded = restaurant.load_world(simulated.world)
    numbers = sorted(task_numbers(tasks, most=5))
    named = tuple(dict.fromkeys(split.strip() for split in splits.split(",")))
    names = named if splits else lab.splits_of(loaded)
    parameters = simulated.parameters(
        seed,
        pool_share=pool_share,
        fields=_ranges(fields, "--fields"),
        updates=_ranges(updates, "--updates"),
        info=_shares(info),
    )
    forms: tuple[lab.Form, ...] = ("babi", "native") if to == "both" else (to,)
    with progress_bar("simulating", dialogs * len(numbers) * len(names) * len(forms)) as made:
        written = lab.write_release(
            loaded,
            folder,
            tasks=numbers,
            splits=names,
            dialogs=dialogs,
            parameters=parameters,
            forms=forms,
            force=force,
            made=made,
        )
    files = rendering.Table(
        f"{loaded.title}, seed {seed}",
        ["file", "dialogs", "turns", "facts", rendering.Column("turns per dialog", digits=2)],
    )
    for item in written:
        files.add(item.file, item.dialogs, item.turns, item.facts, item.turns / item.dialogs)
    output.show([files])
    err.print(f"candidates and knowledge base are in {folder} too")
    settings = to_builtins(parameters, str_keys=True)
    output.document("babi-simulate", {"world": loaded.title, **settings, "files": to_builtins(written)})


@app.command("convert-dstc2")
@click.argument("folder", type=PATH, help="Folder of calls (each with log.json and label.json).")
@click.option("--out", "target", type=FILE, required=True, help="File to write.")
@click.option("--ontology", "ontology", type=PATH, help="Ontology. Default: ontology*.json in the folder.")
@click.option("--list", "listed", type=PATH, help="Only these calls, in this order: one path per line.")
@click.option("--kb", "kb", type=PATH, help="Knowledge base (babi-kb). Default: venues the systems mentioned.")
@click.option("--candidates-out", "candidates", type=FILE, help="Also write all replies as candidates.")
@click.option("--seed", "seed", type=Whole(), default=0, help="Random seed; the same seed gives the same bytes.")
@click.option(
    "--to",
    "to",
    type=click.Choice(["babi", "native"]),
    default="babi",
    help="Output format. babi: as in task 6; native: JSONL with the labelled states.",
)
@click.option("--json", "json", type=FILE, help="Write JSON to FILE; - for stdout, without tables.")
def convert_dstc2(
    folder: Path,
    target: Path,
    ontology: Path | None,
    listed: Path | None,
    kb: Path | None,
    candidates: Path | None,
    seed: int,
    to: Literal["babi", "native"],
    json: Path | None,
) -> None:
    """Convert DSTC2 as published (a folder per call, an ontology) to the task 6 format."""
    words = restaurant.read_ontology(folder, ontology)
    sessions = list(tracked(restaurant.read_sessions(folder, listed), "reading calls"))
    venues = restaurant.venues_of(formats.load_kb(kb)) if kb else restaurant.venues_mentioned(sessions)
    lexicon = restaurant.Lexicon(words, venues)
    dialogues = [restaurant.convert(session, venues, lexicon, seed=seed) for session in sessions]
    formats.write(dialogues, target, format=to)
    replies = list(dict.fromkeys(t.text for d in dialogues for t in d.turns if t.speaker == "system"))
    calls = sum(t.text.startswith("api_call ") for d in dialogues for t in d.turns if t.speaker == "system")
    if candidates:
        _write_candidates(candidates, replies)
    if writing.on_screen(json):
        out.print(f"{target}: dialogs {len(dialogues)}, API calls {calls}, different replies {len(replies)}")
    writing.write_document(
        json, "babi-convert-dstc2", {"dialogs": len(dialogues), "calls": calls, "candidates": len(replies)}
    )


def _ranges(text: str, option: str) -> dict[int, restaurant.Range]:
    """``1:0-4,5:1-3`` as task to range."""
    ranges: dict[int, restaurant.Range] = {}
    for piece in filter(None, text.split(",")):
        parts = re.fullmatch(r"\s*(\d+):(\d+)(?:-(\d+))?\s*", piece)
        if not parts:
            raise DialgaugeError(f"{option} expects TASK:FROM-TO, for example 5:1-3 (got '{piece}')")
        ranges[int(parts[1])] = (int(parts[2]), int(parts[3] or parts[2]))
    return ranges


def _shares(text: str) -> tuple[float, float, float]:
    try:
        phone, address, both = (float(piece) for piece in text.split(","))
    except ValueError as error:
        raise DialgaugeError(f"--info expects three numbers, for example 0.25,0.25,0.5 (got '{text}')") from error
    return phone, address, both


def _write_candidates(path: Path, texts: list[str]) -> None:
    with atomic(path) as scratch, scratch.open("wb") as opened:
        formats.write_candidates(texts, opened)


#: What the page of ``babi table`` is about, whichever tables it holds.
PAGE_TITLE = "Response selection on the dialog bAbI tasks"


@app.command()
@click.option("--task", "task", type=Whole(1, 6), help="Task in --data. Default: the loaded model's, or 1.")
@click.option(
    "--split",
    "split",
    type=click.Choice(["dev", "tst", "tst-OOV"]),
    multiple=True,
    help="dev, tst or tst-OOV; repeatable. Default: all.",
)
@click.option(
    "--transfer",
    "transfer",
    is_flag=True,
    help="Evaluate the loaded model on candidates, facts or tasks it was not trained on.",
)
@click.option(
    "--world",
    "world",
    shell_complete=WORLDS,
    help="Instead of --data, simulate dialogues: restaurant, bakery, or a world file (YAML).",
)
@click.option("--dialogues", "dialogs", type=Whole(1, 100_000), default=200, help="With --world: dialogues per split.")
@click.option("--world-seed", "world_seed", type=Whole(0), default=0, help="With --world: random seed.")
@click.option("--save", "save", type=FOLDER, help="Save the trained model in this folder.")
@click.option(
    "--seed",
    "seed",
    type=Whole(0),
    help="Random seed for the model and, with --logs, for the train/test split. Default: 0.",
)
@click.option("--seeds", "seeds", type=Whole(1, 1000), default=1, help="Number of seeds, starting at --seed.")
@click.option(
    "-m",
    "--measures",
    "measures",
    multiple=True,
    shell_complete=measures_of("responses"),
    help="Measures, comma-separated, for example hits@1,MRR; 'default' for the defaults.",
)
@click.option(
    "--attention",
    "attention",
    type=Whole(0, 100_000),
    default=0,
    help="Also store a memory network's attention for the first N dialogues.",
)
@bundle(bot=Bot, replies=Replies, training=TrainingSettings, output=AlwaysStoredOutput, gates=Gates)
def evaluate(
    task: int | None,
    split: tuple[Literal["dev", "tst", "tst-OOV"], ...],
    transfer: bool,
    world: str | None,
    dialogs: int,
    world_seed: int,
    save: Path | None,
    seed: int | None,
    seeds: int,
    measures: tuple[str, ...],
    attention: int,
    bot: Bot,
    replies: Replies,
    training: TrainingSettings,
    output: AlwaysStoredOutput,
    gates: Gates,
) -> int:
    """Evaluate a model or an agent: per-response, per-dialog, hits@10, MRR, by class of reply. Runs are always stored.

    With --load the model comes from a folder. With --transfer or --world it is evaluated on other dialogs than those it
    was trained on: it gets their candidates and knowledge base, and is not retrained.

    Rerun an interrupted training to resume after its last finished epoch. Exit code 3: a --fail-under or --fail-on-drop
    check failed.
    """
    gate = gates.gate(output.store, kinds=("responses",), family="responses")
    if bot.url is not None:
        refuse("--url names the bot", TrainingSettings, names=("model", "folder", "save", "seeds"))
    if bot.folder is not None:
        refuse("a loaded model is finished", names=("save", "seeds"))
    else:
        refuse("only a trained model moves: give --load FOLDER", names=("transfer",))
    options = training.options()
    first = seed if seed is not None else rankers.seed_of(bot.folder) if bot.folder is not None else 0
    chosen = responses.reply_measures(measures) if measures else None
    gate.require(chosen or responses.reply_measures())
    if world is not None:
        refuse("--world simulates the dialogues", Replies)
        loaded = _world_task(world, task_of(bot.folder, task, 1), dialogs, world_seed)
    else:
        loaded = replies.task(task, first, folder=bot.folder)
    evaluated = partial(
        responses.evaluate_bot,
        splits=split,
        measures=chosen,
        attention=attention,
        store=output.store,
        progress=OnScreen(),
    )
    if bot.url is not None:
        results = evaluated(agents.HttpBot(bot.url), loaded)
    elif bot.folder is not None:
        elsewhere = transfer or world is not None
        ready = loaded_ranker(bot.folder, bot.model, seed, options, None if elsewhere else loaded)
        if elsewhere:
            ready.move(loaded.candidates, loaded.facts)
            trained_on = rankers.place_of(rankers.fitted_on(bot.folder))
            tell(f"{ready.name} was trained on {trained_on} elsewhere and is not retrained here")
        results = evaluated(ready, loaded)
    elif bot.model is not None and _is_agent(bot.model):
        if save is not None or seed is not None or seeds > 1:
            raise DialgaugeError(f"the agent {bot.model} is not trained; drop --save, --seed and --seeds")
        results = evaluated(responses.agent_replier(agents.make_agent(bot.model, options), loaded, options), loaded)
    else:
        if world is not None:
            raise DialgaugeError("--world has no training dialogues; give --load FOLDER (a trained model) or an agent")
        runs: list[Run] = []
        for number in range(first, first + seeds):
            fresh = fresh_ranker(bot.model or DEFAULT_MODEL, number, options)
            if replies.logs is not None and number > first:
                loaded = replies.task(None, number)
            target = save if save is None or seeds == 1 else save / f"seed{number}"
            runs += evaluated(fresh, loaded, fit=True, save=target).runs
            if not fresh.seeded:
                break
        results = responses.ReplyRuns(runs)
    checks = gate.check(results.runs)
    figures = partial(rendering.run_figures, results.runs)
    output.present(results, "babi-evaluate", tables=results.tables(), checks=checks, figures=figures)
    return checks.exit_code(0)


def _world_task(world: str, task: int, dialogs: int, seed: int) -> rankers.RankingTask:
    loaded = restaurant.load_world(world)
    splits = [split for split in lab.splits_of(loaded) if split in rankers.EVALUATED]
    return lab.world_task(loaded, task, splits, dialogs, restaurant.Parameters(seed=seed), source=world)


@app.command()
@click.option(
    "--data", "data", type=PATH, required=True, metavar="FOLDER", help="Folder of dialog bAbI files, plain or gzipped."
)
@click.option(
    "--models",
    "models",
    default="rules,tfidf,tfidf-type,nearest",
    shell_complete=names_of("rankers", "ranker_names", several=True),
    help="Models, comma-separated.",
)
@click.option("--tasks", "tasks", default="1-6", help="Tasks from 1 to 6, for example 1-5 or 1,3.")
@click.option(
    "--splits",
    "splits",
    default="dev,tst,tst-OOV",
    shell_complete=names_of("rankers", "EVALUATED", several=True),
    help="Splits, comma-separated.",
)
@click.option("--seeds", "seeds", type=Whole(1, 1000), default=1, help="Seeds per model that uses random numbers.")
@click.option("--fresh", "fresh", is_flag=True, help="Recompute everything, including stored results.")
@bundle(training=TrainingSettings, output=AlwaysStoredOutput, placement=common.Placement)
def table(
    data: Path,
    models: str,
    tasks: str,
    splits: str,
    seeds: int,
    fresh: bool,
    training: TrainingSettings,
    output: AlwaysStoredOutput,
    placement: common.Placement,
) -> None:
    """The paper's Table 2: every model on every task, ours next to theirs. Cells are always stored, and reused."""
    wanted = task_numbers(tasks, most=6)
    results = responses.evaluate_models(
        data,
        _items(models),
        tasks=wanted,
        splits=responses.evaluated_splits(_items(splits)),
        seeds=seeds,
        options=training.options(),
        fresh=fresh,
        workers=placement.place,
        store=output.store,
        progress=OnScreen(),
    )
    data_table = responses.statistics_table([rankers.load_task(data, number) for number in wanted])
    shown = [data_table, responses.results_table(results.runs)]
    output.present(results, "babi-evaluate", tables=shown, title=PAGE_TITLE)


def _items(text: str) -> list[str]:
    names = [item.strip() for item in text.split(",") if item.strip()]
    if not names:
        raise DialgaugeError(f"'{text}' names nothing; give comma-separated names")
    return list(dict.fromkeys(names))


@app.command()
@click.option("--out", "folder", type=FOLDER, required=True, help="Folder for the model and its checkpoint.")
@click.option("--model", "model", default="memn2n", shell_complete=MODELS, help="Model name, such as tfidf or memn2n.")
@click.option("--task", "task", type=Whole(1, 6), help="Task in --data. Default: 1.")
@click.option(
    "--seed",
    "seed",
    type=Whole(0),
    default=0,
    help="Random seed for the model and, with --logs, for the train/test split.",
)
@click.option("--force", "force", is_flag=True, help="Replace the finished model in the folder.")
@bundle(replies=Replies, training=TrainingSettings, output=TableOutput, stored=AlwaysStored)
def train(
    folder: Path,
    model: str,
    task: int | None,
    seed: int,
    force: bool,
    replies: Replies,
    training: TrainingSettings,
    output: TableOutput,
    stored: AlwaysStored,
) -> None:
    """Train a model on a task's training and development dialogs (or on chat logs) and save it in a folder.

    Rerun an interrupted command to resume after the last finished epoch. A folder with another model or checkpoint is
    refused; --force replaces a model. The training log is always stored as a run.
    """
    loaded = replies.task(task, seed, splits=("trn", "dev"))
    ranker = fresh_ranker(model, seed, training.options())
    ranker.checkpoint = rankers.claim_folder(folder, ranker, loaded, force=force)
    store = runs.Store(stored.store)
    store.check_writable()
    rankers.fit_model(ranker, loaded, tell)
    rankers.save_ranker(ranker, folder, loaded.number)
    tell(f"model saved in {folder}")
    run = store.add(responses.training_run(ranker, loaded))
    output.show([responses.log_table(run)])
    tell(f"log stored as run {run.id}")
    epochs = run.table("epochs").to_dicts() if "epochs" in run.tables else []
    output.document("babi-train", {"systems": [{**responses.run_record(run), "epochs": epochs}]})


@app.command()
@click.option(
    "--load", "folder", type=PATH, required=True, metavar="FOLDER", help="Folder of the trained memory network."
)
@click.option(
    "--dialogue", "dialogue", type=Whole(1), default=1, help="Dialogue to show: its number within the split, from 1."
)
@click.option("--turn", "turn", type=Whole(1), help="Reply number, from 1. Default: all.")
@click.option(
    "--split",
    "split",
    type=click.Choice(["trn", "dev", "tst", "tst-OOV"]),
    default="tst",
    help="trn, dev, tst or tst-OOV.",
)
@click.option(
    "--answers",
    "answers",
    type=Whole(0, 1000),
    default=0,
    help="Also show the model's N best answers, and where the right one is.",
)
@click.option(
    "--limit", "limit", type=Whole(0), default=0, help="Rows to show of each list; 0 for all. Files have all."
)
@click.option(
    "--device",
    "device",
    metavar="NAME",
    shell_complete=known("cpu cuda auto".split),
    help="Device for learned models: cpu, cuda, or auto (a GPU if present).",
)
@click.option(
    "--run", "run", is_flag=True, help="Store the results in the run store, one run per system. --store implies it."
)
@click.option(
    "--store", "store", type=PATH, metavar="FOLDER", help="Run store folder. Default: $DIALGAUGE_RUNS or ./runs."
)
@bundle(replies=Replies, output=DrawnOutput)
def attention(
    folder: Path,
    dialogue: int,
    turn: int | None,
    split: Literal["trn", "dev", "tst", "tst-OOV"],
    answers: int,
    limit: int,
    device: str | None,
    run: bool,
    store: Path | None,
    replies: Replies,
    output: DrawnOutput,
) -> None:
    """Show the memories of a dialog with their weights in every hop, and the model's reply. Figures are heat maps."""
    task = replies.task(None, rankers.seed_of(folder), folder=folder, splits=(split,))
    ranker = rankers.load_ranker(folder, task=task, options={} if device is None else {"device": device})
    chosen = _dialog(task, split, dialogue)
    made = responses.attention_run(ranker, task, split, chosen, _replies(chosen, turn), answers=answers)
    if run or typed_options("store"):
        made = runs.Store(store).add(made)
        tell(f"stored as run {made.id}")
    shown = responses.attention_of(made)
    best = _best_answers(made, shown) if answers else {}
    output.show(
        [
            table
            for sample in shown
            for table in (responses.attention_table(sample, limit or None), *best.get(sample.turn, ()))
        ],
        in_file=[
            table for sample in shown for table in (responses.attention_table(sample), *best.get(sample.turn, ()))
        ],
    )
    maps = {f"attention{sample.turn + 1}": partial(responses.attention_figure, sample, limit or 24) for sample in shown}
    output.draw(maps)
    weights = [msgspec.to_builtins(sample) | {"turn": sample.turn + 1} for sample in shown]
    output.document("babi-attention", {"systems": [{**responses.run_record(made), "attention": weights}]})


def _best_answers(made: runs.Run, shown: Sequence[rankers.Attention]) -> dict[int, list[rendering.Table]]:
    """Number of the reply to the table of answers to it."""
    turns = made.table("replies")["turn"].to_list()
    return {
        sample.turn: [responses.answers_table(made, sample, turn)] for sample, turn in zip(shown, turns, strict=True)
    }


def _dialog(task: rankers.RankingTask, split: str, dialog: int) -> rankers.Episode:
    dialogs = task.split(split)
    if dialog > len(dialogs):
        raise DialgaugeError(f"the split '{split}' has {counted(len(dialogs), 'dialogue')}, so no dialogue {dialog}")
    return dialogs[dialog - 1]


def _replies(dialog: rankers.Episode, turn: int | None) -> list[int]:
    """The numbers of the replies to show."""
    count = len(dialog.prompts)
    if turn is None:
        return list(range(count))
    if turn > count:
        raise DialgaugeError(f"the dialogue has {counted(count, 'reply', 'replies')}, so no reply {turn}")
    return [turn - 1]


#: The task that cannot be simulated.
REAL_CALLS = 6


@app.command()
@click.option("--data", "data", type=PATH, metavar="FOLDER", help="Folder of dialog bAbI files, plain or gzipped.")
@click.option("--task", "task", type=Whole(1, 5), help="Task. Default: the loaded model's, or 5.")
@click.option(
    "--half", "half", multiple=True, help="Half of the world: A, or B (unseen entities); repeatable. Default: both."
)
@click.option("--dialogues", "dialogs", type=Whole(1, 100_000), default=200, help="Conversations per half.")
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed for the world and its users.")
@bundle(bot=Bot, simulated=SimulatedWorld, settings=ModelSettings, output=AlwaysStoredOutput)
def interact(
    data: Path | None,
    task: int | None,
    half: tuple[str, ...],
    dialogs: int,
    seed: int,
    bot: Bot,
    simulated: SimulatedWorld,
    settings: ModelSettings,
    output: AlwaysStoredOutput,
) -> int:
    """Let a model or an agent talk to simulated users and count the dialogs it completes. The runs are always stored.

    The world is generated from the seed; a model gets its candidates and knowledge base without retraining. The exit
    code is 1 if conversations ended because an agent failed.
    """
    number = _task(bot.folder, task)
    name = bot.model or DEFAULT_MODEL
    if data is not None and bot.folder is None and _is_agent(name):
        raise DialgaugeError(f"the agent {name} is not trained; drop --data, or choose a model with --model")
    system = system_named(bot, None, settings.options(), lambda: _training_data(data, number))
    world = simulated.world
    loaded, parameters = restaurant.load_world(world), simulated.parameters(seed)
    if isinstance(system, rankers.ReplyModel):
        lab.move_to(system, loaded, seed)
    store, talks = runs.Store(output.store), []
    for half_name in half or [halve.name for halve in loaded.halves]:
        tell(f"{system.name} talks to {counted(dialogs, 'user')} of half {half_name}")
        talks.append(store.add(lab.interact(system, loaded, number, half_name, dialogs, parameters, source=world)))
    title = f"{system.name} in conversation: {loaded.title}, seed {seed}"
    output.present(
        rendering.RunSet.of(talks),
        "babi-interact",
        tables=[lab.interaction_table(talks, title)],
        document=lambda: {"world": world, "seed": seed, "systems": [_record(run) for run in talks]},
    )
    for run in talks:
        tell(f"stored as run {run.id}")
    return EXIT_INCOMPLETE if any(lab.failed(run) for run in talks) else 0


def _record(run: runs.Run) -> dict[str, Any]:
    facts = {name: run.manifest.config[name] for name in ("model", "options", "task", "half", "dialogs")}
    scores = {name: score.as_dict() for name, score in run.scores.items()}
    return {"name": run.name, "run": run.id, **facts, "scores": scores, "failures": lab.failures(run)}


def _task(folder: Path | None, given: int | None) -> int:
    """The number of the task whose users are simulated."""
    number = task_of(folder, given, 5)
    if number == REAL_CALLS:
        raise DialgaugeError(
            "the model was trained on task 6 (real calls), which cannot be simulated", file=str(folder)
        )
    if folder is not None:
        rankers.check_task(folder, number)
    return number


def _training_data(data: Path | None, number: int) -> rankers.RankingTask | None:
    return None if data is None else rankers.load_task(data, number, ("trn", "dev"))


def system_named(
    bot: Bot, seed: int | None, options: dict[str, str], task: Callable[[], rankers.RankingTask | None]
) -> agents.Agent | rankers.ReplyModel:
    """The system that the command line names: an endpoint, a fitted model, an agent, or a model to be fitted."""
    if bot.url is not None:
        refuse("--url names the bot", ModelSettings, names=("model", "folder", "data"))
        return agents.HttpBot(bot.url)
    if bot.folder is not None:
        loaded = loaded_ranker(bot.folder, bot.model, seed, options, task())
        return loaded.agent if isinstance(loaded, agents.Rules) else loaded
    name = bot.model or DEFAULT_MODEL
    if _is_agent(name):
        return agents.make_agent(name, options)
    data = task()
    if data is None:
        raise DialgaugeError(f"give --data FOLDER (dialogues to train {name} on) or --load FOLDER (a trained model)")
    return fitted_ranker(data, name, None, seed, options)


def _is_agent(name: str) -> bool:
    """Is it the name of an agent and not of a model? An unknown name is an error."""
    if name in agents.BUILT_IN:
        return True
    models, others = rankers.ranker_names(), agents.agent_names()
    if name not in models and name not in others:
        raise DialgaugeError(f"unknown model or agent '{name}'.{nearest(name, {*models, *others})}")
    return name not in models


#: A person may talk as long as they like.
_ENDLESS = 1_000_000


@app.command()
@click.option(
    "--data", "data", type=PATH, required=True, metavar="FOLDER", help="Folder of dialog bAbI files, plain or gzipped."
)
@click.option("--task", "task", type=Whole(1, 6), help="Task to train on. Default: the loaded model's, or 5.")
@click.option("--seed", "seed", type=Whole(0), help="Random seed for the model. Default: 0.")
@bundle(bot=Bot, settings=ModelSettings)
def chat(data: Path, task: int | None, seed: int | None, bot: Bot, settings: ModelSettings) -> None:
    """Talk to a model or an agent in the terminal.

    An empty line (or `<SILENCE>`) lets the bot continue. API calls are answered by the knowledge base, and the bot
    speaks again. A bot that knows none of your words says so. `restart` starts a new dialog; `exit` or end of input
    quits.
    """
    loaded = rankers.load_task(data, task_of(bot.folder, task, 5), ("trn", "dev"))
    chosen = system_named(bot, seed, settings.options(), lambda: loaded)
    system = agents.ModelBot(chosen, asks_back=True) if isinstance(chosen, rankers.ReplyModel) else chosen
    if isinstance(system, agents.RuleAgent):
        system.asks_back = True
    database = restaurant.FactDatabase(loaded.facts)
    scenario = agents.Scenario(
        dialogue_id="chat",
        database=database,
        environment=database,
        candidates=loaded.candidates,
        task=loaded.number,
        limits=agents.Limits(exchanges=_ENDLESS),
    )
    person = agents.KeyboardUser(line_reader("you> "), out.print)
    tell(f"{system.name}, task {loaded.number}. Empty line: silence; 'restart': new dialogue; 'exit': quit.")
    reason = agents.RESTART
    while reason == agents.RESTART:
        outcome = agents.converse(person, system, scenario).outcome
        reason = outcome.reason if outcome else ""
        if outcome and reason == agents.AGENT_ERROR:
            raise DialgaugeError(outcome.facts[agents.EXPLANATION])
