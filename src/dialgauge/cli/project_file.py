"""``dialgauge.toml``: defaults of options for everybody who works in a project.

    [defaults]
    store = "runs"

    [score]
    profile = "trade"

What it says becomes words of the command line, before those that were typed, and is parsed as they are. It comes with a
repository that somebody else may have written, so it can set no option that writes, overwrites, deletes, listens or
sends: those are typed, or not given at all. docs/decisions/command-line.md.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dialgauge.cli import COMMANDS
from dialgauge.cli.options import OutputFile, OutputFolder
from dialgauge.cli.parse import named_options, unfit_value
from dialgauge.errors import DialgaugeError, nearest

if TYPE_CHECKING:
    from dialgauge.cli.options import CommandGroup
    from dialgauge.cli.parse import CommandParameter

FILE_NAME = "dialgauge.toml"
DEFAULTS = "defaults"
#: What [defaults] may set, for every command that has it.
SHARED = (
    "confidence", "coverage", "database", "dataset", "device", "dialogues", "gold-format",
    "measures", "missing", "pred-format", "profile", "resamples", "seed", "store", "town-seed", "unanswered", "wide",
    "workers",
)  # fmt: skip
#: Options that act beyond reading and computing, or that say where secrets go; files to write are known by their type.
TYPED_ONLY = frozenset({
    "accept-change", "address", "cassette", "endpoint", "engine", "force", "judge", "judge-set",
    "key-env", "load", "port", "run", "set", "system-set", "url", "user-set", "view", "yes",
})  # fmt: skip
_LARGEST = 100_000


def find_project_file(folder: Path | None = None) -> Path | None:
    """The file in the current folder or, inside a repository, in the nearest parent up to its root."""
    try:
        return _found(folder or Path.cwd())
    except OSError:  # a folder that is gone, or that nobody may look into
        return None


def _found(folder: Path) -> Path | None:
    if (folder / FILE_NAME).is_file():
        return folder / FILE_NAME
    inside = [folder, *folder.parents]
    root = next((index for index, path in enumerate(inside) if (path / ".git").exists()), 0)
    return next((path / FILE_NAME for path in inside[1 : root + 1] if (path / FILE_NAME).is_file()), None)


def read_project_file(path: Path) -> dict[str, Any]:
    """The tables of the file; a section that is no command is an error."""
    content = _parsed(path)
    for problem in _section_problems(content):
        raise DialgaugeError(problem, file=str(path))
    return content


def _parsed(path: Path) -> dict[str, Any]:
    """The content of the file, whatever it says."""
    import tomllib

    try:
        if path.stat().st_size > _LARGEST:
            raise DialgaugeError(f"too large for a project file (over {_LARGEST:,} bytes)", file=str(path))
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DialgaugeError(f"not valid TOML: {error}", file=str(path)) from error
    except OSError as error:
        raise DialgaugeError(f"cannot be read ({error.strerror})", file=str(path)) from error


def _section_problems(content: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with the names of sections, and of what [defaults] sets."""
    for name, section in content.items():
        if name != DEFAULTS and name not in COMMANDS:
            yield f"unknown section [{name}].{nearest(name, [DEFAULTS, *COMMANDS])}"
        elif not isinstance(section, dict):
            yield f"'{name}' must be a section: write [{name}]"
        elif name == DEFAULTS:
            unknown = [key for key in section if key not in SHARED]
            yield from (f"unknown key '{key}' in [{DEFAULTS}].{nearest(key, SHARED)}" for key in unknown)


def project_words(path: Path, group: CommandGroup, command: str, subcommand: str, typed: Collection[str]) -> list[str]:
    """The words that the project file adds to a call: what it sets for the command and what was not typed."""
    content = read_project_file(path)
    options = _settable(group.find(subcommand) or group.commands[subcommand])
    taken = {key: value for key, value in content.get(DEFAULTS, {}).items() if key in options}
    section = _section(path, content, command, None if group.single else subcommand, group)
    for key in section:
        if key not in options:
            called = command if group.single else f"{command}.{subcommand}"
            raise DialgaugeError(f"unknown key '{key}' in [{called}].{nearest(key, options)}", file=str(path))
    words: list[str] = []
    for key, value in {**taken, **section}.items():
        if problem := _unsafe(key, options[key]) or _unfit(value, options[key]):
            raise DialgaugeError(f"'{key}' {problem}", file=str(path))
        if f"--{key}" not in typed and _has_use(options[key], options.values(), typed):
            words += _words(path, key, value, options[key])
    return words


def _has_use(option: CommandParameter, others: Iterable[CommandParameter], typed: Collection[str]) -> bool:
    """Whether a default can stand beside what was typed."""
    refused = [*option.not_with, *(other.long_name for other in others if option.long_name in other.not_with)]
    return not any(name in typed for name in refused) and option.declaration.settings.get("needs") in {None, *typed}


def _section(
    path: Path, content: Mapping[str, Any], command: str, subcommand: str | None, group: CommandGroup
) -> dict[str, Any]:
    """What is said for one command; ``[tasks.score]`` where the command is a group."""
    section = content.get(command, {})
    if subcommand is None:
        return dict(section)
    for name, inner in section.items():
        if name not in group.commands or not isinstance(inner, dict):
            known = [f"{command}.{each}" for each in group.commands]
            raise DialgaugeError(
                f"unknown section or key '{command}.{name}'.{nearest(f'{command}.{name}', known)}", file=str(path)
            )
    return dict(section.get(subcommand, {}))


def _settable(command: Callable[..., object]) -> dict[str, CommandParameter]:
    """The options of a command by the names that the file has them under."""
    named = named_options(command)
    return {name.removeprefix("--"): option for name, option in named.items() if name.startswith("--")}


def _unsafe(key: str, option: CommandParameter) -> str | None:
    """Why a project file may not set this option, as the end of a sentence; None if it may."""
    if key in TYPED_ONLY or isinstance(option.declaration, OutputFile | OutputFolder):
        return f"cannot be set in a project file; type --{key} on the command line"
    return None


def _unfit(value: object, option: CommandParameter) -> str | None:
    """Why a value is not of the option's type or not within its bounds, as the end of a sentence."""
    if option.type is bool:
        return None if isinstance(value, bool) else f"must be true or false (got {value!r})"
    values = value if isinstance(value, list) and option.many else [value]
    return next((problem for each in values if (problem := unfit_value(each, option))), None)


def _words(path: Path, key: str, value: Any, option: CommandParameter) -> Iterator[str]:
    """One key as words: ``--key=value``, several times for a list."""
    if option.type is bool:
        if value:
            yield f"--{key}"
        return
    for word in value if isinstance(value, list) else [value]:
        beside = option.type is Path or (isinstance(word, str) and word.startswith(("./", "../")))
        yield f"--{key}={path.parent / str(word) if beside else word}"
