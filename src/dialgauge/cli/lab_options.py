"""What the commands of the lab share: which agents, which goals, how they talk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeAlias

from msgspec import Struct

from dialgauge.cli.choices import AGENTS, words
from dialgauge.cli.options import Option, WholeNumber
from dialgauge.cli.screen import err
from dialgauge.errors import DialgaugeError

if TYPE_CHECKING:
    from dialgauge.lab import AgentSpec, LabConfig, LoadedDomain

Failures: TypeAlias = Literal["live", "paper", "masked"]


DatabaseOption = Annotated[
    Path | None,
    Option("--database", metavar="FOLDER", help="Database folder. Default: the folder db next to the goals."),
]
CountOption = Annotated[
    int | None,
    WholeNumber(
        "--count",
        "-n",
        of="goals",
        metavar="N",
        min=1,
        help="Number of goals. Default: all, or 200 drawn ones.",
    ),
]
LevelOption = Annotated[
    Literal["act", "text"],
    Option("--level", metavar="act|text", help="What the agents exchange: dialogue acts or text."),
]
ChannelOption = Annotated[
    str,
    Option(
        "--channel",
        metavar="NAME|FILE",
        known=words("clean mild paper2021", closed=False),
        help="Simulated NLU errors: clean, mild, paper2021, drop=0.1, or a YAML file.",
    ),
]
FailuresOption = Annotated[
    Failures,
    Option("--failures", metavar="MODE", help="Goals whose first try should fail but would succeed: live drops the "
           "first try, paper keeps it, masked makes it fail."),
]  # fmt: skip
EndpointOption = Annotated[
    str,
    Option("--endpoint", metavar="URL|local", help="Language model endpoint: an OpenAI-compatible URL, or local."),
]
ModelOption = Annotated[str, Option("--model", metavar="NAME", help="Model name at the endpoint.")]
KeyOption = Annotated[str, Option("--key-env", metavar="NAME", help="Environment variable that holds the API key.")]
ExchangesOption = Annotated[int, WholeNumber(of="exchanges", min=1, help="Maximum exchanges per conversation.")]
LabSeedOption = Annotated[int, Option(min=0, help="Random seed for conversations and resampling.")]

CLEAN = "clean"
#: Language models, and agents of ours that have a use for a channel.
_MODELS = ("llm-user", "llm-system")
_HEARING = ("agenda", "agenda-baseline", "rule-system", "rule-baseline")


class Town(Struct, frozen=True):
    """The domain and its goals."""

    domain: Annotated[
        str,
        Option(
            "--domain",
            metavar="NAME|FOLDER",
            help="town, airline, retail, depot, another installed domain, or a folder: ./mine.",
        ),
    ] = "town"
    goals: Annotated[
        str,
        Option(
            "--goals",
            metavar="FILE",
            help="Goals of a domain (JSON Lines); for the town dialogues with goals "
            "(MultiWOZ). Default: the domain's, or drawn.",
        ),
    ] = "town"
    database: DatabaseOption = None
    town_seed: Annotated[
        int, Option("--town-seed", min=0, help="Random seed for the synthetic town and for drawn goals.")
    ] = 0

    @property
    def has_tools(self) -> bool:
        """Is it a domain of tools over records, whose tasks take the place of goals?"""
        if self.domain == "town":
            return False
        from dialgauge.worlds.tools import names_tool_domain

        return names_tool_domain(self.domain)

    def open(self, count: int | None = None, failures: Failures = "live") -> LoadedDomain:
        """Read it, or make it."""
        from dialgauge.lab import open_domain

        return open_domain(
            self.domain,
            self.goals,
            database=self.database,
            count=count,
            seed=self.town_seed,
            failures=failures,
        )


class Agents(Struct, frozen=True):
    """Who talks to whom, each with settings."""

    system: Annotated[
        str,
        Option(
            "--system",
            metavar="AGENT",
            known=AGENTS,
            help="System agent: rule-system, llm-system, http, corpus-system, ... or a plugin.",
        ),
    ] = "rule-system"
    user: Annotated[
        str,
        Option(
            "--user",
            metavar="AGENT",
            known=AGENTS,
            help="User agent: agenda, agenda-baseline, llm-user, corpus-user, ... or a plugin.",
        ),
    ] = "agenda"
    user_set: Annotated[
        list[str] | None, Option("--user-set", metavar="NAME=VALUE", help="User agent setting; repeatable.")
    ] = None
    system_set: Annotated[
        list[str] | None, Option("--system-set", metavar="NAME=VALUE", help="System agent setting; repeatable.")
    ] = None

    def given(self, side: str) -> tuple[str, Sequence[str] | None]:
        """The agent of a side, by name, and its settings."""
        return (self.user, self.user_set) if side == "user" else (self.system, self.system_set)


def lab_config_from(
    *,
    user: tuple[str, Sequence[str] | None],
    system: tuple[str, Sequence[str] | None],
    channel: str,
    level: Literal["act", "text"],
    render: bool,
    asked: Mapping[str, str] | None = None,
    **how: Any,
) -> LabConfig:
    """Who talks to whom, and how, as the options say it."""
    from dialgauge.lab import make_lab_config

    sides = {"user": user, "system": system}
    specs = {
        side: agent_spec(name, given, side, channel, render=render, asked=asked)
        for side, (name, given) in sides.items()
    }
    _refuse_unused(asked, specs)
    for spec in specs.values():
        if channel != CLEAN and "channel" not in spec.options:
            err.print(f"--channel has no effect on {spec.name}, which does its own understanding")
    return make_lab_config(specs["user"], specs["system"], level=level, **how)


def _refuse_unused(asked: Mapping[str, str] | None, specs: Mapping[str, AgentSpec]) -> None:
    named = [name for name, text in (asked or {}).items() if text]
    if named and not any(spec.name in _MODELS for spec in specs.values()):
        option = named[0].replace("_", "-")
        raise DialgaugeError(
            f"--{option} only applies to language models; choose --user llm-user or --system llm-system"
        )


def agent_spec(
    name: str,
    given: Sequence[str] | None,
    side: str,
    channel: str,
    *,
    render: bool,
    asked: Mapping[str, str] | None = None,
) -> AgentSpec:
    """An agent with its settings; ``asked`` are those of language models on either side that were not set for one."""
    from dialgauge.lab import AgentSpec

    options = named_settings(given, f"--{side}-set")
    if name in _MODELS:
        options = {**{setting: text for setting, text in (asked or {}).items() if text}, **options}
    if name in _HEARING:
        if channel != CLEAN:
            options.setdefault("channel", channel)
        if render:
            options.setdefault("render", "true")
    return AgentSpec(name, options)


def named_settings(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """Settings given as NAME=VALUE."""
    settings = {}
    for text in given or ():
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise DialgaugeError(f"{option} expects NAME=VALUE (got '{text}')")
        settings[key.replace("-", "_")] = value
    return settings
