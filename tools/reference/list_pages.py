"""The pages that list what there is: tables, agents, rankers, formats, profiles, options and checks of users."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator
from importlib import import_module
from typing import Any

from msgspec import Struct
from tools.reference.markdown import code, prose, sections, table
from tools.reference.room_notes import room_notes
from tools.reference.worked import worked_examples

from dialgauge.formats import DialogueFormat, format_listing
from dialgauge.runs import FIXED
from dialgauge.users import GcdfConfig
from dialgauge.users.faults import load_record
from dialgauge.values import profile_listing


def navigation() -> list[Any]:
    """The part of the site's navigation that names these pages."""
    return [
        {"Formats, one by one": "reference/formats.md"},
        {"Profiles, one by one": "reference/profiles.md"},
        {"Agents and rankers": "reference/agents.md"},
        {"Options of users": "reference/users.md"},
        {"Checks of users, measured": "reference/user-faults.md"},
        {"Tables of the run store": "reference/tables.md"},
    ]


def list_pages() -> Iterator[tuple[str, str]]:
    """Path and text of every page."""
    yield "reference/tables.md", _tables()
    yield "reference/agents.md", _agents()
    yield "reference/formats.md", _formats()
    yield "reference/profiles.md", _profiles()
    yield "reference/users.md", _users()
    yield "reference/user-faults.md", _user_faults()


def stored_tables() -> dict[str, dict[str, tuple[str, list[str]]]]:
    """Kind of run to table to (columns with types, examples that have it), from the runs of the worked examples."""
    found: dict[str, dict[str, tuple[str, list[str]]]] = {}
    for example in worked_examples():
        for name in example.run.tables:
            if name not in FIXED:
                schema = example.run.table(name).schema
                columns = ", ".join(f"`{column}` {kind}" for column, kind in schema.items())
                found.setdefault(example.run.kind, {}).setdefault(name, (columns, []))[1].append(example.name)
    return found


def _tables() -> str:
    notes = room_notes("tables")
    fixed = [
        (code(name), notes.get(name, ""), ", ".join(f"`{column}` {kind}" for column, kind in columns.items()))
        for name, columns in FIXED.items()
    ]
    parts = [
        "# Tables of the run store",
        "Columns and types as the [worked examples](../examples/README.md) store them. Optional tables, such as that "
        "of `--sensitivity`, are described on the page of their command. A table without rows may be missing on disk. "
        "[The run store](../runs.md).",
        "## In every run",
        table(("table", "a row is", "columns"), fixed),
    ]
    for kind, tables in sorted(stored_tables().items()):
        rows = [(code(name), notes.get(name, ""), columns) for name, (columns, _) in sorted(tables.items())]
        parts += [f"## Runs of the kind {kind}", table(("table", "a row is", "columns"), rows)]
    return sections(*parts)


def _built_in(room: str) -> Iterator[tuple[str, str, str]]:
    for name, target in sorted(import_module(room).BUILT_IN.items()):
        module, _, attribute = target.partition(":")
        try:
            thing = getattr(import_module(module), attribute)
        except ImportError:
            yield code(name), "needs an extra", ""
            continue
        first = prose(inspect.getdoc(thing)).split("\n\n")[0]
        try:
            taken = [one for one in inspect.signature(thing).parameters.values() if one.kind is not one.VAR_KEYWORD]
        except (TypeError, ValueError):
            taken = []
        settings = ", ".join(
            code(one.name if one.default is one.empty else f"{one.name}={one.default}") for one in taken
        )
        yield code(name), first, settings


def _agents() -> str:
    return sections(
        "# Agents and rankers",
        "What `lab run --system` and `--user` take, and `babi evaluate --model`. Settings are given with "
        "`--system-set`, `--user-set` or `--set`. [Add an agent](../extend/agent.md).",
        "## Agents",
        table(("name", "what it is", "settings"), _built_in("dialgauge.agents")),
        "## Rankers",
        "What `babi evaluate --model` takes. [Add a ranker](../extend/ranker.md).",
        table(("name", "what it is", "settings"), _built_in("dialgauge.rankers")),
    )


def _formats() -> str:
    rows = []
    for entry in format_listing():
        made = entry.content
        if made is None or entry.package != "dialgauge":
            continue
        writes = "yes" if isinstance(made, DialogueFormat) and "write" in dir(made) and _writes(made) else ""
        rows.append((code(entry.name), prose(inspect.getdoc(type(made))).split("\n\n")[0], writes))
    return sections(
        "# Formats, one by one",
        "dialgauge recognises a format by its content. [What each looks like](../formats.md), "
        "[predictions](../formats/predictions.md), [add a format](../extend/format.md).",
        table(("name", "what it is", "can be written"), rows),
    )


def _writes(made: DialogueFormat) -> bool:
    from dialgauge import DialgaugeError
    from dialgauge.formats import writer_named

    try:
        return writer_named(made.name) is not None
    except DialgaugeError:
        return False


def _profiles() -> str:
    parts = [
        "# Profiles, one by one",
        "Value-matching rules by name. [How profiles work, and which to choose](../measures.md#comparison-profiles).",
    ]
    for entry in profile_listing():
        made = entry.content
        if made is not None and entry.package == "dialgauge":
            parts += [f"## {entry.name}", _profile(made)]
    return sections(*parts)


def _profile(made: Any) -> str:
    described = made.explain() if hasattr(made, "explain") else str(made)
    return f"```text\n{described}\n```"


def _users() -> str:
    return sections(
        "# Options of users",
        "What `--config FILE` and `--set PATH=VALUE` of `dialgauge users` take, with defaults. "
        "[Score simulated users](../users.md).",
        table(("path", "about", "options"), _option_groups("", GcdfConfig())),
    )


def _option_groups(path: str, group: Struct) -> Iterator[tuple[str, str, str]]:
    """A row for every group of options: its path, what it is about, and its options with their defaults."""
    values = {name: getattr(group, name) for name in group.__struct_fields__}
    plain = [code(f"{name}: {json.dumps(value)}") for name, value in values.items() if not isinstance(value, Struct)]
    if plain:
        yield code(path), " ".join(prose(inspect.getdoc(type(group))).split()), ", ".join(plain)
    for name, value in values.items():
        if isinstance(value, Struct):
            yield from _option_groups(f"{path}.{name}".strip("."), value)


def _user_faults() -> str:
    record = load_record()
    parts = [
        "# Checks of users, measured",
        "What the checks of `dialgauge users faults` find in labelled conversations, from the record in the package. "
        "[What it means](../user-faults.md#how-far-to-trust-the-checks).",
    ]
    for name, kinds in {**record.logs, "all": record.overall}.items():
        rows = [
            (
                code(kind),
                each.right,
                each.wrong,
                each.missed,
                each.same_message,
                *(_share(one.value, one.low, one.high) for one in (each.precision, each.recall)),
                each.not_checked,
            )
            for kind, each in kinds.items()
            if each.right or each.wrong or each.missed
        ]
        header = ("kind", "right", "wrong", "missed", "same message", "precision", "recall", "not checked")
        parts += [f"## {name}", table(header, rows)]
    return sections(*parts)


def _share(value: float | None, low: float, high: float) -> str:
    return "–" if value is None else f"{value:.2f} [{low:.2f}, {high:.2f}]"
