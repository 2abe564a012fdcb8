"""``turnwise babi chat``: talk to any model, with the knowledge base answering its API calls."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from turnwise.cli.babi_rank import DataOption
from turnwise.cli.common import err, out

if TYPE_CHECKING:
    from turnwise.responses.bot import RankerBot
    from turnwise.responses.database import Database

_MOST_CALLS = 5


def register(app: typer.Typer) -> None:
    """Add the command to ``turnwise babi``."""
    app.command("chat")(chat)


def chat(
    data: DataOption,
    model: Annotated[str, typer.Option(help="A model's name (see 'turnwise babi models').")] = "rules",
    task: Annotated[int, typer.Option(min=1, max=6, help="The task the model is fitted on.")] = 5,
    folder: Annotated[Path | None, typer.Option("--load", help="Use the fitted model in this folder.")] = None,
) -> None:
    """Talk to a model in the terminal.

    An empty line is silence: the bot goes on with what it announced. API calls are answered by the knowledge base, and
    the bot speaks again. `restart` begins a new dialog, `exit` (or end of input) ends.
    """
    from turnwise.responses.bot import RankerBot
    from turnwise.responses.database import Database
    from turnwise.responses.ranker import load_ranker, ranker_class
    from turnwise.responses.task import load_task

    loaded = load_task(data, task, ("trn", "dev"))
    if folder is not None:
        ranker = load_ranker(folder, task=loaded)
    else:
        ranker = ranker_class(model)()
        ranker.fit(loaded, lambda line: err.print(line, style="dim"))
    bot, database = RankerBot(ranker), Database(loaded.facts)
    err.print(f"{ranker.name}, task {task}. Empty line: silence. 'restart' begins anew, 'exit' ends.", style="dim")
    while (text := _heard()) != "exit":
        if text == "restart":
            bot.reset()
            continue
        _answer(bot, database, text)


def _answer(bot: RankerBot, database: Database, text: str) -> None:
    """The bot's reply; while it is an API call, show what was found and let the bot go on."""
    reply = bot.respond(text)
    out.print(f"bot> {reply}", markup=False)
    for _ in range(_MOST_CALLS):
        facts = database.answer(reply)
        if facts is None:
            return
        names = list(dict.fromkeys(fact.entity for fact in facts))
        out.print(f"     ({len(names)} found: {', '.join(names[:8])}{' …' if len(names) > 8 else ''})", markup=False)
        reply = bot.respond("", facts)
        out.print(f"bot> {reply}", markup=False)


def _heard() -> str:
    try:
        return out.input("you> ").strip()
    except EOFError:
        return "exit"
