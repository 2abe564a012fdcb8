"""What the commands of the lab share: which agents, which goals, how they talk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from msgspec import Struct

from dialgauge import agents, lab
from dialgauge.agents import town as town_agents
from dialgauge.cli.choices import AGENTS, KnownNames
from dialgauge.cli.options import Option, WholeNumber
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError
from dialgauge.worlds import tools

Failures: TypeAlias = Literal["live", "paper"]

BrokenOption = Annotated[
    Literal["leave-out", "fail"] | None,
    Option(
        help="Conversations that an agent's error, the time limit or a spent budget ended: left out of success, or "
        "failed. Default: judged by what was done, and left out where the user failed."
    ),
]

SystemOption = Annotated[
    str,
    Option(
        metavar="AGENT",
        known=AGENTS,
        help="System agent: rule-system, llm-system, http, corpus-system, ... or a plugin.",
    ),
]
UserOption = Annotated[
    str,
    Option(
        metavar="AGENT",
        known=AGENTS,
        help="User agent: agenda, agenda-baseline, llm-user, corpus-user, ... or a plugin.",
    ),
]
UserSetting = Annotated[list[str] | None, Option(metavar="NAME=VALUE", help="User agent setting; repeatable.")]
SystemSetting = Annotated[list[str] | None, Option(metavar="NAME=VALUE", help="System agent setting; repeatable.")]
DomainOption = Annotated[
    str,
    Option(metavar="NAME|FOLDER", help="town, airline, retail, depot, another installed domain, or a folder: ./mine."),
]
GoalsOption = Annotated[
    str,
    Option(metavar="FILE", help="Goals of a domain (JSON Lines); for the town dialogues with goals "
           "(MultiWOZ). Default: the domain's, or drawn.")
]  # fmt: skip
DatabaseOption = Annotated[
    Path | None, Option(metavar="FOLDER", help="Database folder. Default: the folder db next to the goals.")
]
CountOption = Annotated[
    int | None,
    WholeNumber("--count", "-n", of="goals", min=1, help="Number of goals. Default: all, or 200 drawn ones."),
]
LevelOption = Annotated[Literal["act", "text"], Option(help="What the agents exchange: dialogue acts or text.")]
ChannelOption = Annotated[
    str,
    Option(
        metavar="NAME|FILE",
        known=KnownNames(lambda: [_CLEAN, *town_agents.SHIPPED]),
        help="Simulated NLU errors: clean, mild, paper2021, drop=0.1, or a YAML file.",
    ),
]
FailuresOption = Annotated[
    Failures,
    Option(metavar="MODE", help="Goals whose first try should fail but would succeed: live drops the "
           "first try, paper keeps it.")
]  # fmt: skip
EndpointOption = Annotated[
    str, Option(metavar="URL|local", help="Language model endpoint: an OpenAI-compatible URL, or local.")
]
ModelOption = Annotated[str, Option(metavar="NAME", help="Model name at the endpoint.")]
KeyOption = Annotated[str, Option(metavar="NAME", help="Environment variable that holds the API key.")]
ExchangesOption = Annotated[int, WholeNumber(of="exchanges", min=1, help="Maximum exchanges per conversation.")]
LabSeedOption = Annotated[int, Option(min=0, help="Random seed for conversations and resampling.")]
TownSeedOption = Annotated[int, Option(min=0, help="Random seed for the synthetic town and for drawn goals.")]

_CLEAN = "clean"


class Town(Struct, frozen=True):
    """The domain and its goals."""

    domain: DomainOption = "town"
    goals: GoalsOption = "town"
    database: DatabaseOption = None
    town_seed: TownSeedOption = 0

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


class Agents(Struct, frozen=True):
    """Who talks to whom, each with settings."""

    system: SystemOption = "rule-system"
    user: UserOption = "agenda"
    user_set: UserSetting = None
    system_set: SystemSetting = None

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
    options = named_settings(given, f"--{side}-set")
    if name in agents.LANGUAGE_MODELS:
        options = {**{setting: text for setting, text in (asked or {}).items() if text}, **options}
    if name in agents.RULE_AGENTS and channel != _CLEAN:
        options.setdefault("channel", channel)
    return lab.AgentSpec(name, options)


def named_settings(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """Settings given as NAME=VALUE."""
    settings = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise DialgaugeError(f"{option} expects NAME=VALUE (got '{text}')")
        settings[key.replace("-", "_")] = value
    return settings
