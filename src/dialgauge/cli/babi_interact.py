"""``dialgauge babi interact | chat``: a model or agent in front of the simulated user, or of a person."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from dialgauge.cli.babi_options import (
    DEFAULT_MODEL,
    DataOption,
    LoadOption,
    MaybeDataOption,
    ModelOption,
    ModelSettings,
    UrlOption,
    least_results,
    loaded_ranker,
    task_of,
    tell,
)
from dialgauge.cli.common import AcceptOption, AlwaysStored, DrawnOutput, MinResultsOption, WorldOption
from dialgauge.cli.dispatch import EXIT_INCOMPLETE
from dialgauge.cli.options import Option, WholeNumber
from dialgauge.cli.screen import line_reader, out
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted

if TYPE_CHECKING:
    from collections.abc import Callable

    from dialgauge.agents import Agent
    from dialgauge.rankers import RankingTask, ReplyModel
    from dialgauge.runs import Run


#: The task that cannot be simulated.
REAL_CALLS = 6


def interact(
    data: MaybeDataOption = None,
    model: ModelOption = None,
    folder: LoadOption = None,
    url: UrlOption = None,
    task: Annotated[int | None, Option(min=1, max=5, help="Task. Default: the loaded model's, or 5.")] = None,
    half: Annotated[
        list[str] | None,
        Option(help="Half of the world: A, or B (unseen entities); repeatable. Default: both."),
    ] = None,
    dialogs: Annotated[int, WholeNumber("--dialogues", of="dialogues", min=1, help="Conversations per half.")] = 200,
    world: WorldOption = "restaurant",
    accept: AcceptOption = 0.25,
    min_results: MinResultsOption = "3",
    seed: Annotated[int, Option(min=0, help="Random seed for the world and its users.")] = 0,
    model_seed: Annotated[int | None, Option(min=0, help="Random seed for a model trained here. Default: 0.")] = None,
    *,
    settings: ModelSettings,
    output: DrawnOutput,
    stored: AlwaysStored,
) -> int:
    """Let a model or an agent talk to simulated users and count the dialogs it completes. The runs are always stored.

    The world is generated from the seed; a model gets its candidates and knowledge base without retraining. The exit
    code is 1 if conversations ended because an agent failed.
    """
    from dialgauge.lab import failed, interaction_table, move_to
    from dialgauge.lab import interact as hold
    from dialgauge.rankers import ReplyModel
    from dialgauge.runs import Store
    from dialgauge.worlds.restaurant import Parameters, load_world

    number = _task(folder, task)
    if folder is None:
        _refuse_training(model, url, {"--data": data, "--model-seed": model_seed})
    system = system_named(model, url, folder, model_seed, settings.options(), lambda: _training_data(data, number))
    place = load_world(world)
    parameters = Parameters(seed=seed, accept=accept, min_results=least_results(min_results))
    if isinstance(system, ReplyModel):
        move_to(system, place, seed)
    runs = []
    for name in half or [halve.name for halve in place.halves]:
        tell(f"{system.name} talks to {counted(dialogs, 'user')} of half {name}")
        runs.append(Store(stored.store).add(hold(system, place, number, name, dialogs, parameters, source=world)))
    title = f"{system.name} in conversation: {place.title}, seed {seed}"
    output.show([interaction_table(runs, title)])
    for run in runs:
        tell(f"stored as run {run.id}")
    output.document("babi-interact", {"world": world, "seed": seed, "systems": [_record(run) for run in runs]})
    output.draw_scores(runs)
    return EXIT_INCOMPLETE if any(failed(run) for run in runs) else 0


def _record(run: Run) -> dict[str, Any]:
    from dialgauge.lab import failures

    facts = {name: run.manifest.config[name] for name in ("model", "options", "task", "half", "dialogs")}
    scores = {name: score.as_dict() for name, score in run.scores.items()}
    return {"name": run.name, "run": run.id, **facts, "scores": scores, "failures": failures(run)}


def _task(folder: Path | None, given: int | None) -> int:
    """The task to meet users of."""
    from dialgauge.rankers import check_task

    number = task_of(folder, given, 5)
    if number == REAL_CALLS:
        raise DialgaugeError(
            "the model was trained on task 6 (real calls), which cannot be simulated", file=str(folder)
        )
    if folder is not None:
        check_task(folder, number)
    return number


def _refuse_training(model: str | None, url: str | None, training: dict[str, object]) -> None:
    """An error where something is given to train with, and nothing is trained."""
    named = [option for option, value in training.items() if value is not None]
    name = model or DEFAULT_MODEL
    if named and (url is not None or _is_agent(name)):
        who = f"the agent {name}" if url is None else "the bot at --url"
        raise DialgaugeError(f"{who} is not trained; drop {' and '.join(named)}, or choose a model with --model")


def _training_data(data: Path | None, number: int) -> RankingTask | None:
    from dialgauge.rankers import load_task

    return None if data is None else load_task(data, number, ("trn", "dev"))


def system_named(
    model: str | None,
    url: str | None,
    folder: Path | None,
    seed: int | None,
    options: dict[str, str],
    task: Callable[[], RankingTask | None],
) -> Agent | ReplyModel:
    """The system that the command line names: an endpoint, a fitted model, an agent, or a model to be fitted."""
    from dialgauge.agents import HttpBot, Rules, make_agent
    from dialgauge.rankers import fit_model, fresh_model

    if url is not None:
        return HttpBot(url)
    if folder is not None:
        loaded = loaded_ranker(folder, model, seed, options, task())
        return loaded.agent if isinstance(loaded, Rules) else loaded
    name = model or DEFAULT_MODEL
    if _is_agent(name):
        return make_agent(name, options)
    data = task()
    if data is None:
        raise DialgaugeError(f"give --data FOLDER (dialogues to train {name} on) or --load FOLDER (a trained model)")
    ranker = fresh_model(name, seed or 0, options)
    fit_model(ranker, data, tell)
    return ranker


def _is_agent(name: str) -> bool:
    """Agents and models share one list of names."""
    from dialgauge.agents import BUILT_IN, agent_names
    from dialgauge.rankers import ranker_names

    if name in BUILT_IN:
        return True
    models, agents = ranker_names(), agent_names()
    if name not in models and name not in agents:
        raise DialgaugeError(f"unknown model or agent '{name}'.{nearest(name, {*models, *agents})}")
    return name not in models


#: A person may talk as long as they like.
_ENDLESS = 1_000_000


def chat(
    data: DataOption,
    model: ModelOption = None,
    task: Annotated[
        int | None, Option(min=1, max=6, help="Task to train on. Default: the loaded model's, or 5.")
    ] = None,
    folder: LoadOption = None,
    url: UrlOption = None,
    seed: Annotated[int | None, Option(min=0, help="Random seed for the model. Default: 0.")] = None,
    raw: Annotated[
        bool, Option("--raw", help="Pass your input unchanged instead of lower-cased without punctuation.")
    ] = False,
    *,
    settings: ModelSettings,
) -> None:
    """Talk to a model or an agent in the terminal.

    An empty line (or `<SILENCE>`) lets the bot continue. API calls are answered by the knowledge base, and the bot
    speaks again. A bot that knows none of your words says so. `restart` starts a new dialog; `exit` or end of input
    quits.
    """
    from dialgauge.agents import (
        AGENT_ERROR,
        EXPLANATION,
        RESTART,
        KeyboardUser,
        Limits,
        ModelBot,
        RuleAgent,
        Scenario,
        converse,
    )
    from dialgauge.rankers import ReplyModel, load_task
    from dialgauge.worlds.restaurant import FactDatabase

    loaded = load_task(data, task_of(folder, task, 5), ("trn", "dev"))
    chosen = system_named(model, url, folder, seed, settings.options(), lambda: loaded)
    system = ModelBot(chosen, asks_back=True) if isinstance(chosen, ReplyModel) else chosen
    if isinstance(system, RuleAgent):
        system.asks_back = True
    database = FactDatabase(loaded.facts)
    scenario = Scenario(
        dialogue_id="chat",
        database=database,
        environment=database,
        candidates=loaded.candidates,
        task=loaded.number,
        limits=Limits(exchanges=_ENDLESS),
    )
    person = KeyboardUser(line_reader("you> "), out.print, raw=raw)
    tell(f"{system.name}, task {loaded.number}. Empty line: silence; 'restart': new dialogue; 'exit': quit.")
    reason = RESTART
    while reason == RESTART:
        outcome = converse(person, system, scenario).outcome
        reason = outcome.reason if outcome else ""
        if outcome and reason == AGENT_ERROR:
            raise DialgaugeError(outcome.details[EXPLANATION])
