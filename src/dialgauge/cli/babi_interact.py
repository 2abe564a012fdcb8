"""``dialgauge babi interact``: a model or agent in front of the simulated user, in a world of its own or another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dialgauge import agents, lab, rankers, rendering, runs
from dialgauge.cli.babi_options import (
    DEFAULT_MODEL,
    Bot,
    ModelSettings,
    SimulatedWorld,
    fitted_ranker,
    loaded_ranker,
    task_of,
    tell,
)
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Option, WholeNumber, command
from dialgauge.cli.output import AlwaysStoredOutput
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted
from dialgauge.worlds import restaurant

if TYPE_CHECKING:
    from collections.abc import Callable

#: The task that cannot be simulated.
REAL_CALLS = 6


@command()
def interact(
    data: Annotated[
        Path | None,
        Option(metavar="FOLDER", not_with=("--url",), help="Folder of dialog bAbI files, plain or gzipped."),
    ] = None,
    task: Annotated[int | None, Option(min=1, max=5, help="Task. Default: the loaded model's, or 5.")] = None,
    half: Annotated[
        list[str] | None,
        Option(help="Half of the world: A, or B (unseen entities); repeatable. Default: both."),
    ] = None,
    dialogs: Annotated[int, WholeNumber("--dialogues", of="dialogues", min=1, help="Conversations per half.")] = 200,
    seed: Annotated[int, Option(min=0, help="Random seed for the world and its users.")] = 0,
    *,
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
