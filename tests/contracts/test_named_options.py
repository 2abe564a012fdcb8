"""Every option that a message, hint or help text names exists in the command that says it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import dialgauge
from dialgauge.cli import COMMANDS, module_of
from dialgauge.cli.app import commands_of
from support.source_trees import syntax_nodes

SOURCE = Path(dialgauge.__file__).parent
#: Options of every command.
EVERYWHERE = {
    "--help",
    "--version",
    "--debug",
    "--no-project-file",
    "--wide",
}
EVERYWHERE |= {"--all"}  # what a page says of folded rows, whoever prints it
#: Modules whose texts are not said to a user as they stand.
SILENT = ("options.py", "project_file.py", "app.py")
#: Which commands say what a room has to say. What any command may say must name the command beside the option.
ROOMS = {
    "agents": ("babi", "lab"),
    "comparison": ("compare", "score"),
    "data": ("data",),
    "demo": ("demo",),
    "engine": ("score", "tasks", "users", "lab", "babi"),
    "explorer": ("explore",),
    "formats": (),
    "lab": ("babi", "lab"),
    "measures": ("score", "compare", "users"),
    "rankers": ("babi",),
    "report": (),
    "reproduce": ("reproduce",),
    "responses": ("babi",),
    "runs": (),
    "stats": (),
    "tasks": ("tasks",),
    "tracking": ("score", "show"),
    "trials": ("review",),
    "users": ("users", "show"),
    "values": ("score", "compare"),
    "worlds": ("babi", "tasks"),
}
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_COMMAND = re.compile(r"dialgauge ([a-z]+)")


@cache
def options_of(command: str) -> frozenset[str]:
    """The options of a command, with those of its subcommands."""
    found = set(EVERYWHERE)
    for own in commands_of(command).values():
        found |= {name for one in own.params for name in one.opts if name.startswith("--")}
    return frozenset(found)


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """The strings of a module but for docstrings; an f-string as one text."""
    skipped: set[ast.AST] = set()
    nodes = syntax_nodes(path)
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "…" for part in node.values]
            skipped.update(node.values)
            yield node.lineno, "".join(map(str, parts))
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in skipped:
            yield node.lineno, node.value


def speakers(path: Path) -> tuple[str, ...]:
    """The commands that may print the strings of a module."""
    room, *rest = path.relative_to(SOURCE).parts
    if room != "cli":
        return ROOMS.get(room, ())
    module = f"dialgauge.cli.{rest[0].removesuffix('.py')}"
    return tuple(word for word in COMMANDS if module_of(word) == module) or tuple(COMMANDS)


def mentions() -> Iterator[tuple[str, str, tuple[str, ...]]]:
    for path in sorted(SOURCE.rglob("*.py")):
        if (path.parts[-2] == "cli" and path.name in SILENT) or not _OPTION.search(path.read_text(encoding="utf-8")):
            continue
        for line, text in texts(path):
            named = _COMMAND.search(text)
            for option in dict.fromkeys(_OPTION.findall(text)):
                said_by = ((named[1],) if named and named[1] in COMMANDS else ()) + speakers(path)
                yield f"{path.relative_to(SOURCE)}:{line}", option, said_by


def test_every_named_option_exists() -> None:
    assert {"--profile", "--sensitivity", "--schema"} <= options_of("score")
    found = [(place, option, said_by) for place, option, said_by in mentions() if option not in EVERYWHERE]
    assert len(found) > 100
    nameless = [f"{place}: {option}" for place, option, said_by in found if not said_by]
    assert not nameless, "any command may say this, and not all have the option: name the command too"
    assert not [
        f"{place}: {said_by} have no {option}"
        for place, option, said_by in found
        if not any(option in options_of(command) for command in said_by)
    ]
