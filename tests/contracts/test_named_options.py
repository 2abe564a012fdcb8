"""Every option that a message, a hint or a page of the documentation names exists in the command that it is about."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import dialgauge
from dialgauge.cli import COMMANDS
from dialgauge.cli.app import commands_of
from support.source_trees import syntax_nodes

SOURCE = Path(dialgauge.__file__).parent
ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
#: Options of every command, and what a page says of folded rows, whoever prints it.
EVERYWHERE = {"--help", "--version", "--debug", "--no-project-file", "--wide", "--all"}
#: Modules whose texts are not said to a user as they stand.
SILENT = ("options.py", "project_file.py", "app.py")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*")
_CALL = re.compile(r"dialgauge ([a-z]+)((?: +[^`|;&\n]+)?)")


def options_of(name: str, rest: str = "") -> set[str]:
    """The options of a command; of all its subcommands where the rest of the call names none."""
    commands = commands_of(name)
    called = " ".join([name, *rest.split()][:2])
    chosen = [commands[called]] if called in commands else list(commands.values())
    return {option for command in chosen for one in command.params for option in one.opts} | EVERYWHERE


def said() -> Iterator[tuple[str, str]]:
    """Module, and each string in it but docstrings."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.name not in SILENT or path.parent.name != "cli":
            nodes = syntax_nodes(path)
            documentation = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
            for node in nodes:
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in documentation:
                    yield str(path.relative_to(SOURCE)), node.value


def test_options_that_the_program_names_exist() -> None:
    every = {option for word in COMMANDS for option in options_of(word)}
    found = [(place, option) for place, text in said() for option in _OPTION.findall(text)]
    assert len(found) > 100
    assert [f"{place}: {option}" for place, option in found if option not in every] == []


def calls() -> Iterator[tuple[str, str, str]]:
    """Page and line, command, and what follows it: in blocks of commands, and in code within sentences."""
    for page in PAGES:
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for number, line in enumerate(text.splitlines(), 1):
            spans = [line] if line.startswith(("$ dialgauge", "dialgauge ")) else re.findall(r"`([^`]+)`", line)
            for span in spans:
                for name, rest in _CALL.findall(span.partition(" # ")[0]):
                    if name in COMMANDS:
                        yield f"{page.relative_to(ROOT)}:{number}", name, rest


def test_documented_options_exist() -> None:
    documented = list(calls())
    assert len(documented) > 100
    assert {name for _, name, _ in documented} >= {"score", "compare", "users", "tasks", "lab", "babi", "runs", "sql"}
    assert not [
        f"{place}: dialgauge {name} has no {option}"
        for place, name, rest in documented
        for option in _OPTION.findall(rest)
        if option not in options_of(name, rest)
    ]
