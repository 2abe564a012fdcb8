"""How commands declare options: types that check their values, and bundles that become one value each.

@options
class Output:
    json: Path | None = option("--json", type=FILE, help="Write JSON.")

@command("score")
@click.argument("files", nargs=-1, required=True)
@bundle(output=Output)
def score(files: tuple[str, ...], output: Output) -> int:
    ...
"""

from __future__ import annotations

import dataclasses
import functools
import importlib
import math
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar, dataclass_transform

import click
from click.shell_completion import CompletionItem

from dialgauge.errors import DialgaugeError

Command = TypeVar("Command", bound=Callable[..., Any])
Bundle = TypeVar("Bundle")

#: Whole numbers from here on are not exact everywhere.
_HUGE = 2**53


class Advanced(click.Option):
    """A rare option, which stands at the end of the help page."""


def option(*names: str, default: Any = None, **settings: Any) -> Any:
    """A field of a bundle that is an option; the same settings as those of ``click.option``."""
    if settings.get("multiple"):
        default = default or ()
    elif settings.get("is_flag"):
        default = bool(default)
    return dataclasses.field(default=default, metadata={"names": names, "settings": settings})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(option,))
def options(cls: type[Bundle]) -> type[Bundle]:
    """Make a class whose fields are options a bundle."""
    return dataclasses.dataclass(frozen=True, kw_only=True)(cls)


def bundle(**bundles: type[Any]) -> Callable[[Command], Command]:
    """Add the options of bundles to a command, which gets each bundle as one value."""

    def decorate(command: Command) -> Command:
        fields = {name: dataclasses.fields(cls) for name, cls in bundles.items()}

        @functools.wraps(command)
        def call(**given: Any) -> Any:
            made = {
                name: cls(**{field.name: given.pop(field.name) for field in fields[name]})
                for name, cls in bundles.items()
            }
            return command(**given, **made)

        decorated: Any = call
        for field in reversed([field for own in fields.values() for field in own]):
            decorated = click.option(
                *field.metadata["names"], field.name, default=field.default, **field.metadata["settings"]
            )(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def given(bundle: Any) -> dict[str, Any]:
    """The options of a bundle by name, without those that nobody gave and that have no default."""
    values = {field.name: getattr(bundle, field.name) for field in dataclasses.fields(bundle)}
    return {name: value for name, value in values.items() if value is not None and value != ()}


def typed_options(*names: str) -> list[str]:
    """Those of the current command's options that were typed, by their long names; all unless some are named."""
    context = click.get_current_context(silent=True)
    return (
        []
        if context is None
        else [
            long_name(parameter)
            for parameter in context.command.params
            if (not names or parameter.name in names)
            and context.get_parameter_source(parameter.name) is click.core.ParameterSource.COMMANDLINE
        ]
    )


def refuse(why: str, *bundles: type[Any], names: Iterable[str] = ()) -> None:
    """An error where options were typed, of bundles or by name, that have no effect on these inputs."""
    fields = [field.name for each in bundles for field in dataclasses.fields(each)]
    if unfit := typed_options(*fields, *names):
        raise DialgaugeError(f"{why}; leave out {', '.join(unfit)}")


def long_name(parameter: click.Parameter) -> str:
    """``--measures`` of an option, ``PRED...`` of an argument."""
    if isinstance(parameter, click.Argument):
        return parameter.human_readable_name
    return next((name for name in parameter.opts if name.startswith("--")), parameter.opts[0])


# Types of values


class Whole(click.IntRange):
    """A whole number within bounds."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """The number; one beyond 2^53 is refused."""
        number: int = super().convert(value, param, ctx)
        if abs(number) >= _HUGE:
            self.fail(f"{number} must be below 2^53.", param, ctx)
        return number


class Real(click.FloatRange):
    """A number within bounds, neither infinite nor NaN."""

    name = "n"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number."""
        number: float = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{number} is not a number that can be counted with.", param, ctx)
        return number


class InputPath(click.ParamType[Path]):
    """A file or folder to read; whoever reads it says whether it is there."""

    name = "file"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path."""
        if not str(value):
            self.fail("it must name a file or folder.", param, ctx)
        if "\0" in str(value):
            self.fail("a name cannot hold the character 0.", param, ctx)
        return Path(value)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The shell's own completion of file names."""
        return [CompletionItem(incomplete, type="file")]


class OutputFile(InputPath):
    """A file to write: what cannot be written is refused before the command begins."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path, after a look whether it can be written."""
        from dialgauge.files import check_output

        path = super().convert(value, param, ctx)
        if ctx is None or not ctx.resilient_parsing:
            check_output(path)
        return path


class OutputFolder(InputPath):
    """A folder to write into."""

    name = "folder"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        """The path, after a look whether it can be written into."""
        from dialgauge.files import check_writable

        path = super().convert(value, param, ctx)
        if ctx is None or not ctx.resilient_parsing:
            check_writable(path)
        return path


class RunName(click.ParamType[str]):
    """A stored run; completed by id."""

    name = "run"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """The ids in the store."""
        store = Path(ctx.params.get("store") or os.environ.get("DIALGAUGE_RUNS") or "runs")
        ids = sorted(path.parent.name for path in store.glob("*/run.json")) if store.is_dir() else []
        return [CompletionItem(each) for each in ids if each.startswith(incomplete)]


PATH, FILE, FOLDER, RUN = InputPath(), OutputFile(), OutputFolder(), RunName()

# Names that a room knows, for completion

Complete = Callable[[click.Context, click.Parameter, str], list[str]]


def known(names: Callable[[], Iterable[str]], *, several: bool = False, ending: str = "") -> Complete:
    """Complete by known names; ``several`` are separated by commas, ``ending`` follows each: ``JGA=50%``."""

    def complete(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[str]:
        done, comma, rest = incomplete.rpartition(",") if several else ("", "", incomplete)
        return [f"{done}{comma}{name}{ending}" for name in names() if name.startswith(rest)]

    return complete


def names_of(module: str, name: str, *, several: bool = False) -> Complete:
    """Complete by a list, a dictionary or the answer of a function of a room's face."""

    def names() -> Iterable[str]:
        found = getattr(importlib.import_module(f"dialgauge.{module}"), name)
        return list(found() if callable(found) else found)

    return known(names, several=several)


def measures_of(*families: str, several: bool = True, ending: str = "") -> Complete:
    """Complete by the measures of some families, or of all."""

    def names() -> list[str]:
        from dialgauge import measures

        chosen = families or measures.families()
        return list(dict.fromkeys(name for family in chosen for name in measures.cards(family)))

    return known(names, several=several, ending=ending)


def _datasets() -> Iterable[str]:
    from dialgauge import data

    return data.catalogue().names()


AGENTS = names_of("agents", "agent_names")
DATASETS = known(_datasets)
FORMATS = names_of("formats", "formats")
MODELS = names_of("rankers", "ranker_names")
PROFILES = names_of("values", "profile_names")
TOOL_DOMAINS = names_of("worlds", "installed_domains")
WORLDS = names_of("worlds.restaurant", "BUILT_IN")


def measures_option(help: str, *families: str) -> Any:
    """The option ``-m`` of a command that scores."""
    complete = measures_of(*families)
    return option("-m", "--measures", multiple=True, metavar="NAMES", shell_complete=complete, help=help)


def format_option() -> Any:
    """The option ``--format`` of a command that reads files."""
    about = "Input format; overrides format detection."
    return option("--format", metavar="NAME", shell_complete=FORMATS, help=about)


def named_settings(given: Iterable[str], option: str) -> dict[str, str]:
    """Settings given as NAME=VALUE."""
    settings = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key.strip():
            raise DialgaugeError(f"{option} expects NAME=VALUE (got '{text}')")
        settings[key.strip().replace("-", "_")] = value.strip()
    return settings
