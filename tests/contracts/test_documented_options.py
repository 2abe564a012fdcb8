"""Every option of every ``dialgauge`` command line in the documentation exists in that command."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from dialgauge.cli import COMMANDS
from dialgauge.cli.app import commands_of

ROOT = Path(__file__).parent.parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
ANYWHERE = {"--help", "--version", "--debug", "--no-project-file", "--wide"}
_CALL = re.compile(r"dialgauge ([a-z]+)((?: +[^`|;&\n]+)?)")
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def calls() -> Iterator[tuple[str, str, str]]:
    """Page and line, command, and what follows it: in blocks of commands, and in code within sentences."""
    for page in PAGES:
        if page.name == "options.md":  # it names what was renamed
            continue
        text = page.read_text(encoding="utf-8").replace("\\\n", " ")
        for number, line in enumerate(text.splitlines(), 1):
            spans = [line] if line.startswith(("$ dialgauge", "dialgauge ")) else re.findall(r"`([^`]+)`", line)
            for span in spans:
                for name, rest in _CALL.findall(span.partition(" # ")[0]):
                    if name in COMMANDS:
                        yield f"{page.relative_to(ROOT)}:{number}", name, rest


def options_of(name: str, rest: str) -> set[str]:
    commands = commands_of(name)
    words = [name, *rest.split()]
    chosen = [commands[" ".join(words[:2])]] if " ".join(words[:2]) in commands else list(commands.values())
    return {option for command in chosen for one in command.params for option in one.opts} | ANYWHERE


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
