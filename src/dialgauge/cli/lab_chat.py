"""``dialgauge lab chat``: a person in the place of the user or of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from dialgauge.cli.common import (
    WideOption,
)
from dialgauge.cli.lab_options import Agents, ChannelOption, LabSeedOption, Town, agent_spec
from dialgauge.cli.options import Option
from dialgauge.cli.screen import line_reader, out
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue

#: A person may talk as long as they like.
_ENDLESS = 1_000_000


def chat(
    me: Annotated[
        Literal["user", "system"], Option("--as", metavar="user|system", help="Which side you play.")
    ] = "user",
    goal: Annotated[str | None, Option("--goal", metavar="ID", help="The goal. Default: the first.")] = None,
    channel: ChannelOption = "clean",
    seed: LabSeedOption = 0,
    wide: WideOption = False,
    *,
    agents: Agents,
    town: Town,
) -> None:
    """Talk to a system with a goal in mind, or answer a simulated user in the system's place.

    As the user you see the goal and end the conversation with `exit`. As the system you see what the user says.
    Database calls are listed at the end.
    """
    out.wide = wide
    from dialgauge.agents import AGENT_ERROR, EXPLANATION, KeyboardSystem, KeyboardUser, Limits, converse
    from dialgauge.lab import LabConfig, check_setting, goal_named, lab_scenario, one_goal_table

    loaded = town.open()
    chosen = goal_named(loaded, goal) if goal else loaded.goals[0]
    sitting = LabConfig(
        user=agent_spec(*agents.given("user"), "user", channel, render=False),
        system=agent_spec(*agents.given("system"), "system", channel, render=False),
        level="text",
        seed=seed,
        limits=Limits(exchanges=_ENDLESS),
    )
    check_setting(sitting, loaded.search.domain)
    scenario = lab_scenario(loaded.search, chosen, sitting, ontology=loaded.search.tracked)
    ask = line_reader("you> ")
    if me == "user":
        out.print(one_goal_table(loaded, chosen.id).render("terminal"))
        out.print("Say what you want, in your own words; 'exit' to stop.")
        held = converse(KeyboardUser(ask, out.print, raw=True), sitting.system.make(), scenario)
    else:
        out.print("Answer the user; 'exit' to stop.")
        held = converse(sitting.user.make(), KeyboardSystem(ask, out.print), scenario)
    _tell_calls(held)
    if held.outcome is not None and held.outcome.reason == AGENT_ERROR:
        raise DialgaugeError(held.outcome.details[EXPLANATION])


def _tell_calls(held: Dialogue) -> None:
    for turn in held.turns:
        for call in turn.calls or ():
            given = ", ".join(f"{slot}={value}" for slot, value in call.arguments.items())
            result = "".join(f" {name} {value}" for name, value in call.result.items())
            out.print(f"  {call.name} {call.domain} ({given}): {call.outcome}{result}")
