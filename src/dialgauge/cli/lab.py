"""``dialgauge lab``: put a system and a user in front of each other, and score what they say in every way there is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click
import msgspec
from msgspec.structs import replace

from dialgauge import agents, agents as talkers, data, lab, report, runs
from dialgauge.cli.app import EXIT_INCOMPLETE, group
from dialgauge.cli.common import Placement
from dialgauge.cli.gates import Gates
from dialgauge.cli.options import (
    AGENTS,
    FOLDER,
    PATH,
    TOOL_DOMAINS,
    Advanced,
    Real,
    Whole,
    bundle,
    known,
    named_settings,
    names_of,
    option,
    options,
)
from dialgauge.cli.output import OnScreen, Output, PageOutput
from dialgauge.cli.screen import err, line_reader, out, progress_bar
from dialgauge.cli.writing import typed_command
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.text import counted
from dialgauge.worlds import domain, tools

if TYPE_CHECKING:
    from dialgauge.dialogue import Dialogue, Turn
    from dialgauge.worlds.domain import Domain


Failures: TypeAlias = Literal["live", "paper"]


_CLEAN = "clean"
CHANNELS = known(lambda: [_CLEAN, *agents.SHIPPED])


@options
class Town:
    """The domain and its goals."""

    domain: str = option(
        "--domain",
        default="town",
        metavar="NAME|FOLDER",
        help="town, airline, ... or ./mine.",
    )
    goals: str = option(
        "--goals",
        default="town",
        metavar="FILE",
        cls=Advanced,
        help="Goals (JSON Lines, MultiWOZ).",
    )
    database: Path | None = option(
        "--database", type=PATH, metavar="FOLDER", cls=Advanced, help="Default: the folder db next to the goals."
    )
    town_seed: int = option("--town-seed", type=Whole(0), default=0, cls=Advanced, help="Random seed for drawn goals.")

    @property
    def has_tools(self) -> bool:
        """Is it a tool domain, which has tasks instead of goals?"""
        if self.domain == "town":
            return False
        return tools.names_tool_domain(self.domain)

    def open(self, count: int | None = None, failures: Failures = "live") -> lab.LoadedDomain:
        """Load the domain with its goals, or generate them."""
        return lab.open_domain(
            self.domain,
            self.goals,
            database=self.database,
            count=count,
            seed=self.town_seed,
            failures=failures,
        )


@options
class Agents:
    """Who talks to whom, each with settings."""

    system: str = option(
        "--system",
        default="rule-system",
        metavar="AGENT",
        shell_complete=AGENTS,
        help="llm-system, http, ...",
    )
    user: str = option(
        "--user",
        default="agenda",
        metavar="AGENT",
        shell_complete=AGENTS,
        help="agenda-baseline, llm-user.",
    )
    user_set: tuple[str, ...] = option(
        "--user-set", multiple=True, metavar="NAME=VALUE", help="User agent setting; repeatable."
    )
    system_set: tuple[str, ...] = option(
        "--system-set", multiple=True, metavar="NAME=VALUE", help="System agent setting; repeatable."
    )

    def given(self, side: str) -> tuple[str, Sequence[str] | None]:
        """The agent of a side, by name, and its settings."""
        return (self.user, self.user_set) if side == "user" else (self.system, self.system_set)


def lab_config_from(
    *,
    user: tuple[str, Sequence[str] | None],
    system: tuple[str, Sequence[str] | None],
    channel: str,
    level: Literal["act", "text"],
    asked: Mapping[str, str] | None = None,
    **how: Any,
) -> lab.LabConfig:
    """Who talks to whom, and how, as the options say it."""
    sides = {"user": user, "system": system}
    specs = {side: agent_spec(name, given, side, channel, asked) for side, (name, given) in sides.items()}
    _refuse_unused(asked, specs)
    for spec in specs.values():
        if channel != _CLEAN and "channel" not in spec.options:
            err.print(f"--channel has no effect on {spec.name}, which does its own understanding")
    return lab.make_lab_config(specs["user"], specs["system"], level=level, **how)


def _refuse_unused(asked: Mapping[str, str] | None, specs: Mapping[str, lab.AgentSpec]) -> None:
    named = [name for name, text in (asked or {}).items() if text]
    if named and not any(spec.name in agents.LANGUAGE_MODELS for spec in specs.values()):
        option = named[0].replace("_", "-")
        raise DialgaugeError(
            f"--{option} only applies to language models; choose --user llm-user or --system llm-system"
        )


def agent_spec(
    name: str, given: Sequence[str] | None, side: str, channel: str, asked: Mapping[str, str] | None = None
) -> lab.AgentSpec:
    """An agent with its settings; ``asked`` are those of language models on either side that were not set for one."""
    options = named_settings(given or (), f"--{side}-set")
    if name in agents.LANGUAGE_MODELS:
        options = {**{setting: text for setting, text in (asked or {}).items() if text}, **options}
    if name in agents.RULE_AGENTS and channel != _CLEAN:
        options.setdefault("channel", channel)
    return lab.AgentSpec(name, options)


app = group("lab", "Let systems and simulated users talk, and score the task, the tracker and the user.")


@options
class LanguageModel:
    """The language model of agents that are made of one, on either side."""

    endpoint: str = option(
        "--endpoint",
        default="",
        show_default=False,
        metavar="URL|local",
        help="OpenAI-compatible URL, or local.",
    )
    model: str = option("--model", default="", show_default=False, metavar="NAME", help="Model name at the endpoint.")
    key_env: str = option(
        "--key-env",
        default="",
        show_default=False,
        metavar="NAME",
        cls=Advanced,
        help="Environment variable with the API key.",
    )
    cassette: Path | None = option(
        "--cassette", type=PATH, cls=Advanced, help="Records requests to models and answers."
    )

    def asked(self) -> dict[str, str]:
        """The options as settings of an agent."""
        return {name: str(value or "") for name, value in asdict(self).items()}


@options
class CutOff:
    """When a conversation ends at the latest."""

    exchanges: int = option("--exchanges", type=Whole(1, 10_000), default=20, help="Most exchanges.")
    seconds: float = option(
        "--seconds", type=Real(0), default=300.0, cls=Advanced, help="Time limit per conversation; 0 for none."
    )


def _tool_config(agents: Agents, asked: Mapping[str, str], trials: int, seed: int, limits: CutOff) -> lab.LabConfig:
    """Who talks in a tool domain, where the agenda user gives way to a model before a model, else to a reader."""
    specs = {}
    for side in ("system", "user"):
        name, given = agents.given(side)
        if (side, name) == ("user", "agenda"):
            name = "llm-user" if agents.system == "llm-system" else "reader"
        specs[side] = agent_spec(name, given, side, _CLEAN, asked)
    err.print(f"the user is {specs['user'].name}")
    bounds = talkers.Limits(exchanges=limits.exchanges, seconds=limits.seconds)
    return lab.LabConfig(**specs, level="text", trials=trials, seed=seed, limits=bounds)


@app.command()
@click.option("-n", "--count", "count", type=Whole(1, 100_000), help="Number of goals. Default: all, or 200.")
@click.option("--trials", "trials", type=Whole(1, 100), default=1, metavar="K", help="Conversations per goal.")
@click.option(
    "--level",
    "level",
    type=click.Choice(["act", "text"]),
    default="act",
    help="What is exchanged.",
)
@click.option(
    "--channel",
    "channel",
    default="clean",
    metavar="NAME|FILE",
    shell_complete=CHANNELS,
    help="Simulated errors: mild, paper2021, drop=0.1.",
)
@click.option(
    "--failures",
    "failures",
    type=click.Choice(["live", "paper"]),
    default="live",
    metavar="HOW",
    help="Stale first tries: live drops, paper keeps.",
)
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed.")
@click.option(
    "--resamples",
    "resamples",
    type=Whole(0, 1_000_000),
    default=1000,
    help="For the 95% intervals.",
)
@click.option("--out", "export", type=FOLDER, help="Also write them as native JSONL and GCDF1.")
@bundle(
    agents=Agents,
    town=Town,
    model=LanguageModel,
    limits=CutOff,
    output=Output,
    gates=Gates,
    placement=Placement,
)
def run(
    count: int | None,
    trials: int,
    level: Literal["act", "text"],
    channel: str,
    failures: Failures,
    seed: int,
    resamples: int,
    export: Path | None,
    agents: Agents,
    town: Town,
    model: LanguageModel,
    limits: CutOff,
    output: Output,
    gates: Gates,
    placement: Placement,
) -> int:
    """Hold a conversation for every goal, and score task, tracker and user.

    Rerun an interrupted command to resume it; 'show RUN' has all tables.

    Exit code: 1 an agent failed in some conversations, 3 a check failed.
    """
    gate = gates.gate(output.store, kinds=("trials",) if town.has_tools else ("lab",))
    store = None if output.no_store else runs.Store(output.store)
    if town.has_tools:
        load = partial(tools.load_tool_domain, town.domain, root=data.data_folder().root)
        chosen = _tool_config(agents, model.asked(), trials, seed, limits)
        with progress_bar("conversations", len(load().tasks[:count]) * trials) as advance:
            results = lab.run_tool_domain(
                load, chosen, count=count, resamples=resamples, on_unit=advance, workers=placement.place, store=store
            )
        checks = gate.check(results.runs)
        output.present(results, checks=checks)
        return checks.exit_code(0 if results.complete else EXIT_INCOMPLETE)
    loaded = town.open(count, failures)
    config = lab_config_from(
        user=agents.given("user"),
        system=agents.given("system"),
        channel=channel,
        level=level,
        asked=model.asked(),
        trials=trials,
        seed=seed,
        **asdict(limits),
    )
    results = lab.converse(
        config,
        goals=loaded,
        resamples=resamples,
        workers=placement.place,
        store=store,
        progress=OnScreen(),
    )
    checks = gate.check(results.runs)
    output.present(results, checks=checks)
    if export is not None:
        for path in lab.write_conversations(results[0], export, loaded.search.domain, loaded.search.tracked):
            err.print(f"wrote {path}")
    complete = results.complete and not loaded.refused
    return checks.exit_code(0 if complete else EXIT_INCOMPLETE)


@app.command("new")
@click.argument("name", help="The folder to write; its name becomes the domain's.")
def new(name: str) -> None:
    """Write the folder of a small, commented domain that runs as it is: a start for your own."""
    written = domain.new_domain(name)
    out.print(f"wrote {', '.join(path.name for path in written)} into {written[0].parent}")
    folder = name if "/" in name else f"./{name}"
    out.print(f"Try it: {typed_command(f'dialgauge lab run --domain {folder}')}")


@app.command("goals")
@click.option("-n", "--count", "count", type=Whole(1, 100_000), help="Number of goals. Default: all, or 200.")
@click.option(
    "--failures",
    "failures",
    type=click.Choice(["live", "paper"]),
    default="live",
    metavar="HOW",
    help="Stale first tries: live drops, paper keeps.",
)
@click.option("--goal", "goal", metavar="ID", help="Show one goal in full.")
@click.option(
    "--out",
    "folder",
    type=FOLDER,
    help="Write the goals into this folder, as goals.jsonl.",
)
@bundle(town=Town, output=PageOutput)
def show_goals(
    count: int | None, failures: Failures, goal: str | None, folder: Path | None, town: Town, output: PageOutput
) -> None:
    """Show what the goals ask for, which cannot be satisfied, and which failures are real."""
    loaded = town.open(count, failures)
    output.present(lab.goal_page(loaded, goal) if goal is not None else lab.goals_page(loaded))
    if folder is not None:
        _write_goals(loaded, folder)


def _write_goals(loaded: lab.LoadedDomain, folder: Path) -> None:
    from dialgauge.files import atomic

    with atomic(folder / "goals.jsonl") as scratch:
        scratch.write_bytes(msgspec.json.Encoder().encode_lines(map(domain.declared_goal, loaded.goals)))
    err.print(f"wrote {folder / 'goals.jsonl'}")


@app.command()
@click.argument(
    "calls", type=PATH, metavar="CALLS.json", help='A JSON list of {"name": …, "arguments": {…}}; - for stdin.'
)
@click.option(
    "--domain",
    "domain",
    required=True,
    metavar="NAME|FOLDER",
    shell_complete=TOOL_DOMAINS,
    help="Tool domain: airline, retail, depot, an installed one, or the path of a folder (./mine).",
)
@click.option("--task", "task", metavar="ID", help="Begin with the state in which this task starts.")
@bundle(output=PageOutput)
def call(calls: Path, domain: str, task: str | None, output: PageOutput) -> None:
    """Call tools of a domain on a fresh copy of its records: each outcome and result, and the records that changed.

    Code in a domain's folder runs with your permissions.
    """
    from copy import deepcopy

    wanted = tools.read_calls(calls)
    loaded = tools.load_tool_domain(domain, root=data.data_folder().root)
    begun = loaded.task(task) if task is not None else None
    if task is not None and begun is None:
        raise DialgaugeError(f"there is no task '{task}'.{nearest(task, [each.id for each in loaded.tasks])}")
    world = loaded.world(begun)
    started = deepcopy(world.changes())
    outcomes = world.call_all(wanted)
    ended = world.changes()
    after = {key: ended[key] if key in ended else loaded.record(key) for key in {**started, **ended}}
    before = {key: started[key] if key in started else loaded.record(key) for key in after}
    made = report.Table("Calls", ["call", "tool", "outcome", "result"])
    for number, (each, outcome) in enumerate(zip(wanted, outcomes, strict=True)):
        made.add(number, each.name, report.Cell("ok" if outcome.ok else "error", tone=_TONES[outcome.ok]), outcome.text)
    records = report.Table("What changed", ["record", "field", "before", "after"])
    for key in sorted(after):
        was, is_now = before[key], after[key]
        if was == is_now:
            continue
        fields = [("", was, is_now)] if was is None or is_now is None else tools.field_changes(was, is_now)
        for field, old, new in fields:
            records.add(key, field, _json_text(old), _json_text(new))
    failed = sum(not outcome.ok for outcome in outcomes)
    output.present(
        report.Page(
            title=f"Calls in {loaded.name}",
            verdict=f"{len(wanted) - failed} of {counted(len(wanted), 'call')} succeeded; "
            f"{counted(len({row[0].value for row in records.rows}), 'record')} changed.",
            tables={"calls": made, "changes": records} if records.rows else {"calls": made},
        )
    )


_TONES: Mapping[bool, report.Tone] = {True: "good", False: "bad"}


def _json_text(value: Any) -> str | None:
    return None if value is None else msgspec.json.encode(value).decode()


#: A person may talk as long as they like.
_ENDLESS = 1_000_000


@app.command()
@click.option("--as", "me", type=click.Choice(["user", "system"]), default="user", help="Which side you play.")
@click.option("--goal", "goal", metavar="ID", help="The goal. Default: the first.")
@click.option(
    "--channel",
    "channel",
    default="clean",
    metavar="NAME|FILE",
    shell_complete=CHANNELS,
    help="Simulated errors: mild, paper2021, drop=0.1.",
)
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed.")
@bundle(agents=Agents, town=Town)
def chat(me: Literal["user", "system"], goal: str | None, channel: str, seed: int, agents: Agents, town: Town) -> None:
    """Talk to a system with a goal in mind, or answer a simulated user in the system's place.

    As the user you see the goal and end the conversation with `exit`. As the system you see what the user says.
    Database calls are listed at the end.
    """
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
        out.page(lab.goal_page(loaded, chosen.id))
        out.print("Say what you want, in your own words; 'exit' to stop.")
        system = _SystemThatAsks(config.system.make(), loaded.search.domain)
        held = converse(KeyboardUser(ask, out.print, raw=True), system, scenario)
    else:
        out.print("Answer the user; 'exit' to stop.")
        held = converse(config.user.make(), KeyboardSystem(ask, out.print), scenario)
    _tell_calls(held)
    if held.outcome is not None and held.outcome.reason == AGENT_ERROR:
        raise DialgaugeError(held.outcome.facts[EXPLANATION])


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
            result = "".join(f" {name} {value}" for name, value in call.values.items())
            out.print(f"  {call.name} {call.domain} ({given}): {call.outcome_words}{result}")


@options
class StudiedAgents(Agents):
    """The agents, of which the system is made to misunderstand."""

    system: str = option(
        "--system",
        default="rule-system",
        metavar="AGENT",
        shell_complete=AGENTS,
        help="System whose understanding is degraded.",
    )


@app.command()
@click.option("-n", "--count", "count", type=Whole(2, 100_000), help="Number of goals. Default: all, or 200.")
@click.option(
    "--errors",
    "errors",
    default="drop,value,relabel,insert",
    metavar="KINDS",
    shell_complete=names_of("agents", "ERROR_KINDS", several=True),
    help="Kinds of NLU error, comma-separated: drop, value, relabel, insert.",
)
@click.option(
    "--rates", "rates", default="0.02,0.05,0.1,0.2,0.4", metavar="SHARES", help="Error rates, comma-separated."
)
@click.option(
    "--level",
    "level",
    type=click.Choice(["act", "text"]),
    default="act",
    help="What is exchanged.",
)
@click.option("--exchanges", "exchanges", type=Whole(1, 10_000), default=20, help="Most exchanges.")
@click.option("--seed", "seed", type=Whole(0), default=0, help="Random seed.")
@click.option(
    "--resamples",
    "resamples",
    type=Whole(1, 1_000_000),
    default=1000,
    help="Bootstrap resamples of goals for the 95% intervals.",
)
@click.option(
    "--workers",
    "workers",
    type=Whole(0, 512),
    default=1,
    help="Number of workers; 0 for one per core. Results do not depend on it.",
)
@bundle(agents=StudiedAgents, town=Town, output=Output)
def study(
    count: int | None,
    errors: str,
    rates: str,
    level: Literal["act", "text"],
    exchanges: int,
    seed: int,
    resamples: int,
    workers: int,
    agents: StudiedAgents,
    town: Town,
    output: Output,
) -> None:
    """Degrade the system's understanding by kind and rate, and see which tracking measure predicts success.

    The same users pursue the same goals under every condition. Rerun an interrupted command to resume it.
    """
    loaded = town.open(count)
    config = lab_config_from(
        user=agents.given("user"), system=agents.given("system"), channel="clean", level=level, trials=1,
        seed=seed, exchanges=exchanges, seconds=300.0,
    )  # fmt: skip
    conditions = lab.channel_conditions(config.system, [kind.strip() for kind in errors.split(",")], _shares(rates))
    results = lab.run_study(
        loaded,
        config,
        conditions,
        store=None if output.no_store else runs.Store(output.store),
        workers=workers,
        resamples=resamples,
        progress=OnScreen(),
    )
    output.present(results)


def _shares(text: str) -> list[float]:
    try:
        shares = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        shares = []
    if not shares or not all(0 < share <= 1 for share in shares):
        raise DialgaugeError(f"--rates expects comma-separated rates, each > 0 and ≤ 1 (got '{text}')")
    return list(dict.fromkeys(shares))
