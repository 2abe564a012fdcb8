"""``dialgauge babi chat``: talk to any model or agent, with the knowledge base answering its API calls."""

from __future__ import annotations

from typing import Annotated

from dialgauge import agents, rankers
from dialgauge.cli.babi_interact import system_named
from dialgauge.cli.babi_options import Bot, DataOption, ModelSettings, task_of, tell
from dialgauge.cli.options import Option, command
from dialgauge.cli.screen import line_reader, out
from dialgauge.errors import DialgaugeError
from dialgauge.worlds import restaurant

#: A person may talk as long as they like.
_ENDLESS = 1_000_000


@command()
def chat(
    data: DataOption,
    task: Annotated[
        int | None, Option(min=1, max=6, help="Task to train on. Default: the loaded model's, or 5.")
    ] = None,
    seed: Annotated[int | None, Option(min=0, help="Random seed for the model. Default: 0.")] = None,
    *,
    bot: Bot,
    settings: ModelSettings,
) -> None:
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
            raise DialgaugeError(outcome.details[agents.EXPLANATION])
