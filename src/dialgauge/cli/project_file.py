"""``dialgauge.toml``: defaults of options for everybody who works in a project.

    [defaults]
    store = "runs"

    [score]
    profile = "trade"

It becomes click's ``default_map``. It comes with a repository that somebody else may have written, so it can set no
option that writes, overwrites, deletes, listens, sends or runs code: those are typed. docs/decisions.md.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from dialgauge.cli import COMMANDS
from dialgauge.cli.options import FILE, FOLDER, InputPath, long_name
from dialgauge.errors import DialgaugeError, nearest

FILE_NAME = "dialgauge.toml"
DEFAULTS = "defaults"
#: What [defaults] may set, for every command that has it.
SHARED = (
    "confidence", "coverage", "database", "dataset", "dialogues", "gold-format",
    "measures", "pred-format", "profile", "resamples", "seed", "store", "unanswered", "workers",
)  # fmt: skip
#: Options that act beyond reading and computing, that name code to run, or that say where secrets go.
TYPED_ONLY = frozenset({
    "address", "cassette", "domain", "endpoint", "engine", "judge", "judge-set",
    "load-tools", "model", "port", "run", "set", "system", "system-set", "user", "user-set", "yes",
})  # fmt: skip
_LARGEST = 100_000
_CODE = re.compile(r"\.py(:|$)")


def find_project_file(folder: Path | None = None) -> Path | None:
    """The file in the current folder or, inside a repository, in the nearest parent up to its root."""
    try:
        folder = folder or Path.cwd()
        if (folder / FILE_NAME).is_file():
            return folder / FILE_NAME
        inside = [folder, *folder.parents]
        root = next((index for index, path in enumerate(inside) if (path / ".git").exists()), 0)
        return next((path / FILE_NAME for path in inside[1 : root + 1] if (path / FILE_NAME).is_file()), None)
    except OSError:  # a folder that is gone, or that nobody may look into
        return None


def project_defaults(command: click.Command, words: Sequence[str]) -> tuple[Path | None, dict[str, Any]]:
    """The file, and the defaults that it sets for a command, by click's names."""
    path = find_project_file()
    if path is None:
        return None, {}
    try:
        return path, _defaults(path, command, list(words))
    except DialgaugeError as error:
        raise error.at(file=str(path)) from error


def _defaults(path: Path, command: click.Command, words: list[str]) -> dict[str, Any]:
    from dialgauge.cli.app import commands_of

    content = _parsed(path)
    known = {long_name(each).removeprefix("--"): each for each in command.params if isinstance(each, click.Option)}
    for name, section in content.items():
        if name != DEFAULTS and name not in COMMANDS:
            raise DialgaugeError(f"unknown section [{name}].{nearest(name, [DEFAULTS, *COMMANDS])}")
        if not isinstance(section, dict):
            raise DialgaugeError(f"'{name}' must be a section: write [{name}]")
    for key in content.get(DEFAULTS, {}):
        if key not in SHARED:
            raise DialgaugeError(f"unknown key '{key}' in [{DEFAULTS}].{nearest(key, SHARED)}")
    own: Any = content.get(words[0], {})
    if len(words) > 1:
        siblings = commands_of(words[0])
        for name, section in own.items():
            if f"{words[0]} {name}" not in siblings or not isinstance(section, dict):
                hint = nearest(f"{words[0]}.{name}", [each.replace(" ", ".") for each in siblings])
                raise DialgaugeError(f"unknown section or key '{words[0]}.{name}'.{hint}")
        own = own.get(words[1], {})
    for key in own:
        if key not in known:
            raise DialgaugeError(f"unknown key '{key}' in [{'.'.join(words)}].{nearest(key, known)}")
    taken = {key: value for key, value in content.get(DEFAULTS, {}).items() if key in known} | own
    return {str(known[key].name): _value(path, key, value, known[key]) for key, value in taken.items()}


def _parsed(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        if path.stat().st_size > _LARGEST:
            raise DialgaugeError(f"too large for a project file (over {_LARGEST:,} bytes)")
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DialgaugeError(f"not valid TOML: {error}") from error
    except OSError as error:
        raise DialgaugeError(f"cannot be read ({error.strerror})") from error


def _value(path: Path, key: str, value: Any, option: click.Option) -> Any:
    """A value as click takes it, checked as if it were typed; paths are relative to the file."""
    values = value if isinstance(value, list) and option.multiple else [value]
    if key in TYPED_ONLY or option.type is FILE or (option.type is FOLDER and key != "store"):
        raise DialgaugeError(f"'{key}' cannot be set in a project file; type --{key} on the command line")
    if any("\0" in str(each) for each in values):
        raise DialgaugeError(f"'{key}' must be a text or a number")
    if any(isinstance(each, str) and _CODE.search(each) for each in values):
        raise DialgaugeError(f"'{key}' names code to run; type --{key} on the command line")
    if option.is_flag != isinstance(value, bool) or any(isinstance(each, list | dict) for each in values):
        raise DialgaugeError(f"'{key}' must be {'true or false' if option.is_flag else 'a text or a number'}")
    if option.is_flag:
        return value
    try:
        checked = [option.type.convert(_beside(path, each, option), option, None) for each in values]
    except click.UsageError as error:
        raise DialgaugeError(f"'{key}': {error.message}") from error
    return checked if option.multiple else checked[0]


def _beside(path: Path, value: Any, option: click.Option) -> Any:
    is_path = isinstance(option.type, InputPath) or (isinstance(value, str) and value.startswith(("./", "../")))
    return str(path.parent / str(value)) if is_path and str(value) else value
