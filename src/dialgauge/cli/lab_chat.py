"""``dialgauge lab chat``: a person in the place of the user or of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec.structs import replace

from dialgauge import agents, lab
from dialgauge.cli.common import WideOption
from dialgauge.cli.lab_options import Agents, ChannelOption, LabSeedOption, Town, agent_spec
from dialgauge.cli.options import Option, command
from dialgauge.cli.screen import line_reader, out
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue, Turn
    from dialgauge.worlds.domain import Domain

#: A person may talk as long as they like.
_ENDLESS = 1_000_000


@command()
def chat(
    me: Annotated[Literal["user", "system"], Option("--as", help="Which side you play.")] = "user",
    goal: Annotated[str | None, Option(metavar="ID", help="The goal. Default: the first.")] = None,
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

    loaded = town.open()
    chosen = lab.goal_named(loaded, goal) if goal else loaded.goals[0]
    config = lab.LabConfig(
        user=agent_spec(*agents.given("user"), "user", channel),
        system=agent_spec(*agents.given("system"), "system", channel),
        level="text",
        seed=seed,
        limits=Limits(exchanges=_ENDLESS),
    )
    lab.check_setting(config, loaded.search.domain)
    scenario = lab.lab_scenario(loaded.search, chosen, config, ontology=loaded.search.tracked)
    ask = line_reader("you> ")
    if me == "user":
        out.print(lab.one_goal_table(loaded, chosen.id).render("terminal"))
        out.print("Say what you want, in your own words; 'exit' to stop.")
        system = _SystemThatAsks(config.system.make(), loaded.search.domain)
        held = converse(KeyboardUser(ask, out.print, raw=True), system, scenario)
    else:
        out.print("Answer the user; 'exit' to stop.")
        held = converse(config.user.make(), KeyboardSystem(ask, out.print), scenario)
    _tell_calls(held)
    if held.outcome is not None and held.outcome.reason == AGENT_ERROR:
        raise DialgaugeError(held.outcome.details[EXPLANATION])


class _SystemThatAsks:
    """A system that tells a person when it understood nothing, and what it can do."""

    def __init__(self, system: agents.Agent, domain: Domain) -> None:
        self._system, self._domain = system, domain
        self.name = system.name

    def start(self, context: Any) -> None:
        self._system.start(context)

    def respond(self, turn: Turn | None) -> agents.Reply:
        reply = self._system.respond(turn)
        if reply.heard != () or reply.turn is None or reply.done:  # None: it does not say what it heard
            return reply
        return replace(
            reply, turn=replace(reply.turn, text=f"Sorry, I did not understand that. {_offers(self._domain)}")
        )


def _offers(domain: Domain) -> str:
    """What can be asked of a domain, in words."""
    offers = []
    for service in domain.services.values():
        wishes = [f"by {', '.join(service.informable)}"] if service.informable else []
        answers = [f"asking for {', '.join(service.answer)}"] if service.answer else []
        bookings = [f"booking with {', '.join(service.takes)}"] if service.takes else []
        details = "; ".join([*wishes, *answers, *bookings])
        offers.append(f"{service.title} ({details})" if details else service.title)
    return f"I can help with {', '.join(offers)}."


def _tell_calls(held: Dialogue) -> None:
    for turn in held.turns:
        for call in turn.calls or ():
            given = ", ".join(f"{slot}={value}" for slot, value in call.arguments.items())
            result = "".join(f" {name} {value}" for name, value in call.result.items())
            out.print(f"  {call.name} {call.domain} ({given}): {call.outcome_words}{result}")
