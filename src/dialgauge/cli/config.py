"""``dialgauge config``: the project file in effect, checked whole."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

from dialgauge.cli import COMMANDS
from dialgauge.cli.common import (
    JsonOption,
    TableOption,
    check_table,
    present_tables,
    write_document,
)
from dialgauge.cli.options import application
from dialgauge.cli.project_file import DEFAULTS, FILE_NAME, find_project_file, project_words, read_project_file
from dialgauge.cli.screen import err
from dialgauge.text import counted

app = application("The project file in effect.")


@app.command()
def config(json: JsonOption = None, table: TableOption = None) -> None:
    """Show which dialgauge.toml is in effect and what it sets, after checking every section."""
    from dialgauge.report import Table

    check_table(table)
    path = find_project_file()
    content = read_project_file(path) if path is not None else {}
    shown = Table(f"Project file {path}", ["section", "option", "value"])
    for section, key, value in _settings(content):
        shown.add(section, key, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
    if path is None:
        err.print(f"no {FILE_NAME} here or in the folders above, up to the repository root")
    else:
        _check(path, content)
        present_tables([shown], table, json)
        err.print(f"{path}: {counted(len(shown.cells), 'setting')}, no errors")
    write_document(json, "config", {"file": str(path) if path else None, "settings": shown.records()})


def _settings(content: dict[str, Any]) -> list[tuple[str, str, Any]]:
    rows = []
    for section, items in content.items():
        for key, value in items.items():
            if isinstance(value, dict):
                rows += [(f"{section}.{key}", inner, each) for inner, each in value.items()]
            else:
                rows.append((section, key, value))
    return rows


def _check(path: Path, content: dict[str, Any]) -> None:
    """Every section as if its command ran, with nothing typed."""
    for name in COMMANDS if content.get(DEFAULTS) else [name for name in content if name != DEFAULTS]:
        group = importlib.import_module(f"dialgauge.cli.{name}").app
        for command in group.commands:
            project_words(path, group, name, [command] if len(group.commands) > 1 else [])
