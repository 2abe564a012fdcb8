"""``dialgauge babi chat``: talk to any model, with the knowledge base answering its API calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from dialgauge.cli.babi_options import (
    DataOption,
    DeviceOption,
    LoadOption,
    ModelOption,
    SetOption,
    fitted_ranker,
    settings,
    task_of,
    tell,
)
from dialgauge.cli.common import out

if TYPE_CHECKING:
    from dialgauge.agents import RankerBot
    from dialgauge.dialogue import Fact
    from dialgauge.worlds.restaurant import FactDatabase

_MOST_CALLS = 5
_MOST_NAMES = 8


def register(app: typer.Typer) -> None:
    """Add the command to ``dialgauge babi``."""
    app.command("chat")(chat)


def chat(
    data: DataOption,
    model: ModelOption = None,
    task: Annotated[
        int | None, typer.Option(min=1, max=6, help="The task to fit on. Default: the loaded model's, or 5.")
    ] = None,
    folder: LoadOption = None,
    given: SetOption = None,
    device: DeviceOption = None,
    seed: Annotated[int | None, typer.Option(min=0, help="Seed of the model. Default: 0.")] = None,
) -> None:
    """Talk to a model in the terminal.

    An empty line is silence: the bot goes on with what it announced. API calls are answered by the knowledge base, and
    the bot speaks again. `restart` begins a new dialog, `exit` (or end of input) ends.
    """
    from dialgauge.agents import RankerBot
    from dialgauge.rankers import load_task
    from dialgauge.worlds.restaurant import FactDatabase

    loaded = load_task(data, task_of(folder, task, 5), ("trn", "dev"))
    ranker = fitted_ranker(loaded, model, folder, seed, settings(given, None, device))
    bot, database = RankerBot(ranker), FactDatabase(loaded.facts)
    tell(f"{ranker.name}, task {loaded.number}. Empty line: silence. 'restart' begins anew, 'exit' ends.")
    while (text := _heard()) != "exit":
        if text == "restart":
            bot.reset()
            continue
        _answer(bot, database, text)


def _answer(bot: RankerBot, database: FactDatabase, text: str) -> None:
    """The bot's reply; while it is an API call, show what was found and let the bot go on."""
    reply = bot.respond(text)
    out.print(f"bot> {reply}", markup=False)
    for _ in range(_MOST_CALLS):
        facts = database.answer(reply)
        if facts is None:
            return
        out.print(f"     ({_found(facts)})", markup=False)
        reply = bot.respond("", facts)
        out.print(f"bot> {reply}", markup=False)


def _found(facts: Iterable[Fact]) -> str:
    names = list(dict.fromkeys(fact.entity for fact in facts))
    if not names:
        return "nothing found"
    return f"{len(names)} found: {', '.join(names[:_MOST_NAMES])}{' …' if len(names) > _MOST_NAMES else ''}"


def _heard() -> str:
    try:
        return out.input("you> ").strip()
    except EOFError:
        out.print()
        return "exit"
