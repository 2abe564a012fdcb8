"""``dialgauge lab``: put a system and a user in front of each other, and score what they say in every way there is."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import click
import msgspec

from dialgauge import agents, data, formats, lab as laboratory
from dialgauge.cli.app import EXIT_INCOMPLETE, group
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
from dialgauge.cli.output import Json, OnScreen, Output, Placement, Resampling
from dialgauge.cli.screen import err, line_reader, out, progress_bar
from dialgauge.errors import DialgaugeError
from dialgauge.files import atomic
from dialgauge.worlds import domain as domains, tools

if TYPE_CHECKING:
    pass

Failures: TypeAlias = Literal["live", "paper"]
Level: TypeAlias = Literal["act", "text"]

_CLEAN = "clean"
#: A person may talk as long as they like.
_ENDLESS = 1_000_000

_COUNT = click.option("-n", "--count", type=Whole(1, 100_000), help="Number of goals. Default: all, or 200.")
_LEVEL = click.option("--level", type=click.Choice(["act", "text"]), default="act", help="What is exchanged.")


@options
class Town:
    """The domain and its goals."""

    domain: str = option("--domain", default="town", metavar="NAME|FOLDER", help="town, airline, ... or ./mine.")
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

    def open(self, count: int | None = None, failures: Failures = "live") -> laboratory.LoadedDomain:
        """Load the domain with its goals, or generate them."""
        return laboratory.open_domain(self.domain, self.goals, database=self.database, count=count, failures=failures)


@options
class Talkers:
    """Who talks to whom, each with settings."""

    system: str = option(
        "--system", default="rule-system", metavar="AGENT", shell_complete=AGENTS, help="llm-system, http, ..."
    )
    user: str = option(
        "--user", default="agenda", metavar="AGENT", shell_complete=AGENTS, help="agenda-baseline, llm-user."
    )
    user_set: tuple[str, ...] = option(
        "--user-set", multiple=True, metavar="NAME=VALUE", help="User agent setting; repeatable."
    )
    system_set: tuple[str, ...] = option(
        "--system-set", multiple=True, metavar="NAME=VALUE", help="System agent setting; repeatable."
    )

    def spec(self, side: str, channel: str = _CLEAN, asked: Mapping[str, str] | None = None) -> laboratory.AgentSpec:
        """The agent of a side; ``asked`` are settings of language models that were not set for one side."""
        name = self.user if side == "user" else self.system
        settings = named_settings(self.user_set if side == "user" else self.system_set, f"--{side}-set")
        if name in agents.LANGUAGE_MODELS:
            settings = {**(asked or {}), **settings}
        if name in agents.RULE_AGENTS and channel != _CLEAN:
            settings.setdefault("channel", channel)
        return laboratory.AgentSpec(name, settings)

    def config(self, channel: str, asked: Mapping[str, str] | None = None, **how: Any) -> laboratory.LabConfig:
        """Who talks to whom, and how."""
        user, system = (self.spec(side, channel, asked) for side in ("user", "system"))
        if asked and not {user.name, system.name} & {*agents.LANGUAGE_MODELS}:
            raise DialgaugeError(
                f"--{next(iter(asked)).replace('_', '-')} only applies to language models; choose --user llm-user or "
                "--system llm-system"
            )
        for spec in (user, system):
            if channel != _CLEAN and "channel" not in spec.options:
                err.print(f"--channel has no effect on {spec.name}, which does its own understanding")
        return laboratory.make_lab_config(user, system, **how)

    def tool_config(self, asked: Mapping[str, str], trials: int, seed: int, limits: Limits) -> laboratory.LabConfig:
        """Who talks in a tool domain: the default user gives way to a model before a model, else to a reader."""
        name = self.user
        if name == "agenda":
            name = "llm-user" if self.system == "llm-system" else "reader"
        err.print(f"the user is {name}")
        talkers = dataclasses.replace(self, user=name)
        user, system = (talkers.spec(side, asked=asked) for side in ("user", "system"))
        most = agents.Limits(**asdict(limits))
        return laboratory.LabConfig(user=user, system=system, level="text", trials=trials, seed=seed, limits=most)


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
    cassette: Path | None = option(
        "--cassette", type=PATH, cls=Advanced, help="Record model requests and answers; replay them if it exists."
    )

    def asked(self) -> dict[str, str]:
        """The options that were given, as settings of an agent."""
        return {name: str(value) for name, value in asdict(self).items() if value}


@options
class Limits:
    """When a conversation ends at the latest."""

    exchanges: int = option(
        "--exchanges", type=Whole(1, 10_000), default=20, help="Longest conversation, in exchanges."
    )
    seconds: float = option(
        "--seconds", type=Real(0), default=300.0, cls=Advanced, help="Time limit per conversation; 0 for none."
    )


lab = group("lab", "Let systems and simulated users talk, and score the task, the tracker and the user.")


@options
class Conversations:
    """How many conversations there are, and what is heard in them."""

    count: int | None = option("-n", "--count", type=Whole(1, 100_000), help="Number of goals. Default: all, or 200.")
    trials: int = option("--trials", type=Whole(1, 100), default=1, metavar="K", help="Conversations per goal.")
    level: Level = option("--level", type=click.Choice(["act", "text"]), default="act", help="What is exchanged.")
    channel: str = option(
        "--channel",
        default=_CLEAN,
        metavar="NAME|FILE",
        shell_complete=known(lambda: [_CLEAN, *agents.SHIPPED]),
        help="Simulated errors: mild, paper2021, drop=0.1.",
    )
    failures: Failures = option(
        "--failures",
        type=click.Choice(["live", "paper"]),
        default="live",
        metavar="HOW",
        help="MultiWOZ constraints that should fail but do not: live drops them, paper keeps them.",
    )
    export: Path | None = option("--out", type=FOLDER, help="Also write conversations.jsonl there.")


@lab.command()
@bundle(
    conversations=Conversations,
    talkers=Talkers,
    town=Town,
    model=LanguageModel,
    limits=Limits,
    resampling=Resampling,
    output=Output,
    gates=Gates,
    placement=Placement,
)
def run(
    conversations: Conversations,
    talkers: Talkers,
    town: Town,
    model: LanguageModel,
    limits: Limits,
    resampling: Resampling,
    output: Output,
    gates: Gates,
    placement: Placement,
) -> int:
    """Hold a conversation for every goal, and score task, tracker and user.

    Rerun an interrupted command to resume it; 'show RUN' has all tables.

    Exit code: 1 an agent failed in some conversations, 3 a check failed.
    """
    asked, count, seed = model.asked(), conversations.count, resampling.seed
    how: dict[str, Any] = {"resamples": resampling.resamples, "workers": placement.place, "store": output.folder}
    if town.domain != "town" and tools.names_tool_domain(town.domain):
        gate = gates.gate(output.store, "trials")
        load = partial(tools.load_tool_domain, town.domain, root=data.data_folder().root)
        chosen = talkers.tool_config(asked, conversations.trials, seed, limits)
        with progress_bar("conversations", len(load().tasks[:count]) * conversations.trials) as advance:
            results = laboratory.run_tool_domain(load, chosen, count=count, on_unit=advance, **how)
        complete = results.complete
    else:
        gate = gates.gate(output.store, "lab")
        loaded = town.open(count, conversations.failures)
        config = talkers.config(
            conversations.channel,
            asked,
            level=conversations.level,
            trials=conversations.trials,
            seed=seed,
            **asdict(limits),
        )
        results = laboratory.converse(config, goals=loaded, progress=OnScreen(), **how)
        complete = results.complete and not loaded.refused
    checks = gate.check(results.runs)
    output.present_runs(results, checks)
    if conversations.export is not None and results[0].kind == "lab":
        path = conversations.export / "conversations.jsonl"
        formats.write(list(results[0].dialogues()), path, format="native")
        err.print(f"wrote {path}")
    return checks.exit_code(0 if complete else EXIT_INCOMPLETE)


@lab.command()
@click.argument("name", help="The folder to write; its name becomes the domain's.")
def new(name: str) -> None:
    """Write a small, commented domain to start your own from."""
    written = domains.new_domain(name)
    out.print(f"wrote {', '.join(path.name for path in written)} into {written[0].parent}")
    folder = name if "/" in name else f"./{name}"
    out.print(f"Try it: dialgauge lab run --domain {folder}")


@lab.command("goals")
@_COUNT
@click.option("--goal", metavar="ID", help="Show one goal in full.")
@click.option(
    "--out",
    "folder",
    type=FOLDER,
    help="Write the goals into this folder, as goals.jsonl.",
)
@bundle(town=Town, output=Json)
def show_goals(count: int | None, goal: str | None, folder: Path | None, town: Town, output: Json) -> None:
    """Show what the goals ask for, and which cannot be satisfied."""
    loaded = town.open(count)
    output.present(laboratory.goal_page(loaded, goal) if goal is not None else laboratory.goals_page(loaded))
    if folder is not None:
        with atomic(folder / "goals.jsonl") as scratch:
            scratch.write_bytes(msgspec.json.Encoder().encode_lines(map(domains.declared_goal, loaded.goals)))
        err.print(f"wrote {folder / 'goals.jsonl'}")


@lab.command()
@click.argument(
    "calls", type=PATH, metavar="CALLS.json", help='A JSON list of {"name": …, "arguments": {…}}; - for stdin.'
)
@click.option(
    "--domain",
    required=True,
    metavar="NAME|FOLDER",
    shell_complete=TOOL_DOMAINS,
    help="Tool domain: airline, retail, depot, an installed one, or the path of a folder (./mine).",
)
@click.option("--task", metavar="ID", help="Begin with the state in which this task starts.")
@bundle(output=Json)
def call(calls: Path, domain: str, task: str | None, output: Json) -> None:
    """Call tools of a domain on a fresh copy of its records.

    Prints each outcome and result, and the records that changed.

    Code in a domain's folder runs with your permissions.
    """
    loaded = tools.load_tool_domain(domain, root=data.data_folder().root)
    output.present(tools.call_page(loaded, tools.read_calls(calls), task))


@lab.command()
@click.option("--as", "me", type=click.Choice(["user", "system"]), default="user", help="Which side you play.")
@click.option("--goal", metavar="ID", help="The goal. Default: the first.")
@bundle(talkers=Talkers, town=Town)
def chat(me: Literal["user", "system"], goal: str | None, talkers: Talkers, town: Town) -> None:
    """Talk to a system, or play the system for a simulated user.

    As the user you see the goal and end the conversation with `exit`. As the system you see what the user says.
    Database calls are listed at the end.
    """
    loaded = town.open()
    chosen = laboratory.goal_named(loaded, goal) if goal else loaded.goals[0]
    user, system = (talkers.spec(side) for side in ("user", "system"))
    limits = agents.Limits(exchanges=_ENDLESS)
    config = laboratory.LabConfig(user=user, system=system, level="text", limits=limits)
    laboratory.check_setting(config, loaded.search.domain)
    scenario = laboratory.lab_scenario(loaded.search, chosen, config, ontology=loaded.search.domain.tracked)
    ask = line_reader("you> ")
    if me == "user":
        out.page(laboratory.goal_page(loaded, chosen.id))
        out.print("Say what you want, in your own words; 'exit' to stop.")
        held = agents.converse(agents.KeyboardUser(ask, out.print, raw=True), system.make(), scenario)
    else:
        out.print("Answer the user; 'exit' to stop.")
        held = agents.converse(user.make(), agents.KeyboardSystem(ask, out.print), scenario)
    for turn in held.turns:
        for call in turn.calls or ():
            arguments = ", ".join(f"{slot}={value}" for slot, value in call.arguments.items())
            result = "".join(f" {name} {value}" for name, value in call.values.items())
            out.print(f"  {call.name} {call.domain} ({arguments}): {call.outcome_words}{result}")
    if held.outcome is not None and held.outcome.reason == agents.AGENT_ERROR:
        raise DialgaugeError(held.outcome.facts[agents.EXPLANATION])


@lab.command()
@click.option("-n", "--count", type=Whole(2, 100_000), help="Number of goals. Default: all, or 200.")
@click.option(
    "--errors",
    default="drop,value,relabel,insert",
    metavar="KINDS",
    shell_complete=names_of("agents", "ERROR_KINDS", several=True),
    help="Kinds of NLU error, comma-separated: drop, value, relabel, insert.",
)
@click.option("--rates", default="0.02,0.05,0.1,0.2,0.4", metavar="SHARES", help="Error rates, comma-separated.")
@_LEVEL
@bundle(talkers=Talkers, town=Town, limits=Limits, resampling=Resampling, output=Output, placement=Placement)
def study(
    count: int | None,
    errors: str,
    rates: str,
    level: Level,
    talkers: Talkers,
    town: Town,
    limits: Limits,
    resampling: Resampling,
    output: Output,
    placement: Placement,
) -> None:
    """Find the tracking measure that predicts success.

    The system's understanding is degraded by kind and rate of error.

    The same users pursue the same goals under every condition. Rerun an interrupted command to resume it.
    """
    loaded = town.open(count)
    config = talkers.config(_CLEAN, level=level, trials=1, seed=resampling.seed, **asdict(limits))
    results = laboratory.run_study(
        loaded,
        config,
        laboratory.channel_conditions(config.system, [kind.strip() for kind in errors.split(",")], _shares(rates)),
        store=output.folder,
        workers=placement.place,
        resamples=resampling.resamples,
        progress=OnScreen(),
    )
    output.present_runs(results)


def _shares(text: str) -> list[float]:
    try:
        shares = [float(part) for part in text.split(",") if part.strip()]
    except ValueError:
        shares = []
    if not shares or not all(0 < share <= 1 for share in shares):
        raise DialgaugeError(f"--rates expects comma-separated rates, each > 0 and ≤ 1 (got '{text}')")
    return list(dict.fromkeys(shares))
