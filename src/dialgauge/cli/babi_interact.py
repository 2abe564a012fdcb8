"""``dialgauge babi interact``: a model in front of the simulated user, in a world of its own or another."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dialgauge.cli.babi_options import (
    DeviceOption,
    LoadOption,
    MaybeDataOption,
    ModelOption,
    SetOption,
    fitted_ranker,
    loaded_ranker,
    settings,
    task_of,
    tell,
)
from dialgauge.cli.common import (
    AcceptOption,
    JsonOption,
    MinResultsOption,
    StoreOption,
    WorldOption,
    on_screen,
    out,
    write_json,
)
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted

if TYPE_CHECKING:
    from dialgauge.rankers import Ranker


#: The task that cannot be simulated.
REAL_CALLS = 6


def register(app: typer.Typer) -> None:
    """Add the command to ``dialgauge babi``."""
    app.command("interact")(interact)


def interact(
    data: MaybeDataOption = None,
    model: ModelOption = None,
    folder: LoadOption = None,
    task: Annotated[
        int | None, typer.Option(min=1, max=5, help="Which task. Default: the loaded model's, or 5.")
    ] = None,
    half: Annotated[
        list[str] | None,
        typer.Option(help="Half of the world: A, or B (entities never seen). Default: both."),
    ] = None,
    dialogs: Annotated[int, typer.Option(min=1, help="Conversations per half.")] = 200,
    world: WorldOption = "restaurant",
    accept: AcceptOption = 0.25,
    min_results: MinResultsOption = 3,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the world and its users.")] = 0,
    model_seed: Annotated[
        int | None, typer.Option(min=0, help="Seed of a model that is fitted here. Default: 0.")
    ] = None,
    given: SetOption = None,
    device: DeviceOption = None,
    store: StoreOption = None,
    json: JsonOption = None,
) -> None:
    """Let a model talk to simulated users and count the dialogs it carries to the end.

    The world is drawn anew from the seed; the model gets its candidates and its knowledge base and learns nothing new.
    """
    from dialgauge.lab import keep_meeting, meet, meetings_table, move_to
    from dialgauge.runs import Store
    from dialgauge.worlds.restaurant import Parameters, load_world

    options = settings(given, None, device)
    ranker, number = _ranker(data, model, folder, task, model_seed, options)
    place = load_world(world)
    parameters = Parameters(seed=seed, accept=accept, min_results=min_results)
    move_to(ranker, place, seed)
    meetings = []
    for name in half or [one.name for one in place.halves]:
        tell(f"{ranker.name} meets {counted(dialogs, 'user')} of half {name}")
        meetings.append(meet(ranker, place, number, name, dialogs, parameters))
    if on_screen(json):
        title = f"{ranker.name} in conversation: {place.title}, seed {seed}"
        out.print(meetings_table(meetings, title).render("terminal"))
    runs = [keep_meeting(one, ranker, world, parameters, Store(store)) for one in meetings]
    tell(f"kept in {', '.join(runs)}")
    if json is not None:
        records = [one.record() for one in meetings]
        write_json(json, {"model": ranker.name, "world": world, "seed": seed, "meetings": records})


def _ranker(
    data: Path | None,
    model: str | None,
    folder: Path | None,
    task: int | None,
    seed: int | None,
    options: dict[str, str],
) -> tuple[Ranker, int]:
    """The model, and the task to meet users of."""
    from dialgauge.rankers import check_task, load_task

    if folder is None and data is None:
        raise DialgaugeError("give --load FOLDER (a fitted model) or --data FOLDER (dialogs to fit --model on)")
    number = task_of(folder, task, 5)
    if number == REAL_CALLS:
        raise DialgaugeError("its model was fitted on task 6, real calls, which nobody simulates", file=str(folder))
    if folder is not None:
        check_task(folder, number)
        return loaded_ranker(folder, model, seed, options), number
    return fitted_ranker(load_task(Path(str(data)), number, ("trn", "dev")), model, None, seed, options), number
