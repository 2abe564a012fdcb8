"""``dialgauge babi evaluate | table | models``: how far a bot is from carrying whole dialogs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from dialgauge import agents, lab, rankers, rendering, responses
from dialgauge.cli import common
from dialgauge.cli.babi_options import (
    DEFAULT_MODEL,
    Bot,
    DataOption,
    Replies,
    TrainingSettings,
    fresh_ranker,
    loaded_ranker,
    task_numbers,
    task_of,
    tell,
)
from dialgauge.cli.choices import WORLDS, measures_of, names_of
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import Option, OutputFolder, WholeNumber, command
from dialgauge.cli.output import AlwaysStoredOutput, OnScreen
from dialgauge.errors import DialgaugeError
from dialgauge.worlds import restaurant

if TYPE_CHECKING:
    from dialgauge.runs import Run


#: What the page of ``babi table`` is about, whichever tables it holds.
PAGE_TITLE = "Response selection on the dialog bAbI tasks"


@command()
def evaluate(
    task: Annotated[
        int | None,
        Option(min=1, max=6, not_with=("--logs",), help="Task in --data. Default: the loaded model's, or 1."),
    ] = None,
    split: Annotated[
        list[Literal["dev", "tst", "tst-OOV"]] | None,
        Option(metavar="TEXT", help="dev, tst or tst-OOV; repeatable. Default: all."),
    ] = None,
    transfer: Annotated[
        bool,
        Option(needs="--load", help="Evaluate the loaded model on candidates, facts or tasks it was not trained on."),
    ] = False,
    world: Annotated[
        str | None,
        Option(
            known=WORLDS,
            not_with=("--logs",),
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
            known=measures_of("responses"),
            help="Measures, comma-separated, for example hits@1,MRR; 'default' for the defaults.",
        ),
    ] = None,
    attention: Annotated[
        int,
        WholeNumber(of="dialogues", min=0, help="Also store a memory network's attention for the first N dialogues."),
    ] = 0,
    *,
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
    options = training.options()
    first = seed if seed is not None else rankers.seed_of(bot.folder) if bot.folder is not None else 0
    chosen = responses.reply_measures(measures) if measures else None
    gate.require(chosen or responses.reply_measures())
    if world is not None:
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


def _is_agent(name: str) -> bool:
    """Is it the name of an agent, and of no model?"""
    return name not in rankers.BUILT_IN and name not in rankers.ranker_names() and name in agents.agent_names()


@command()
def table(
    data: DataOption,
    models: Annotated[
        str,
        Option(known=names_of("rankers", "ranker_names", several=True), help="Models, comma-separated."),
    ] = "rules,tfidf,tfidf-type,nearest",
    tasks: Annotated[str, Option(help="Tasks from 1 to 6, for example 1-5 or 1,3.")] = "1-6",
    splits: Annotated[
        str, Option(known=names_of("rankers", "EVALUATED", several=True), help="Splits, comma-separated.")
    ] = "dev,tst,tst-OOV",
    seeds: Annotated[int, WholeNumber(of="seeds", min=1, help="Seeds per model that uses random numbers.")] = 1,
    fresh: Annotated[bool, Option(help="Recompute everything, including stored results.")] = False,
    *,
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
