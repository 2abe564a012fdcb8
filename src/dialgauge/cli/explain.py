"""``dialgauge explain``: what profiles, measures and behaviours mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from dialgauge.cli.common import (
    JsonOption,
    TableOption,
    WideOption,
    check_table,
    on_screen,
    present_tables,
    tables_document,
    write_document,
    write_table_file,
)
from dialgauge.cli.options import Argument, application
from dialgauge.cli.screen import out

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from dialgauge.report import Table

app = application("What profiles, measures and behaviours mean.")


@app.command()
def profile(
    name: Annotated[
        str | None, Argument(metavar="[NAME|FILE]", help="Profile name or YAML file. Default: list all.")
    ] = (None),
    json: JsonOption = None,
    table: TableOption = None,
    wide: WideOption = False,
) -> None:
    """Print the value-matching rules of a profile, or list the profiles."""
    out.wide = wide
    from dialgauge.report import Table
    from dialgauge.values import profile_listing, profile_named

    if name is None:
        listing = Table("Profiles", ["name", "what it is"])
        for entry in profile_listing():
            listing.add(entry.name, entry.content.summary if entry.content else entry.reason)
        _present([listing], table, json)
        return
    check_table(table)
    text = profile_named(name).explain()
    lines = Table(f"Profile {name}", ["rule"], [[line] for line in text.splitlines()])
    if on_screen(json):
        out.print(text)
    write_table_file([lines], table)
    write_document(json, "tables", tables_document([lines]))


@app.command()
def measures(
    family: Annotated[
        str | None, Argument(metavar="[FAMILY]", help="tracking, responses, users, tasks, ... Default: all.")
    ] = None,
    json: JsonOption = None,
    table: TableOption = None,
    wide: WideOption = False,
) -> None:
    """List the measures with parameters, formula and meaning, including plugins."""
    out.wide = wide
    from dialgauge.errors import DialgaugeError, nearest
    from dialgauge.measures import FAMILIES

    if family is not None and family not in FAMILIES:
        raise DialgaugeError(f"unknown family of measures '{family}'.{nearest(family, FAMILIES)}")
    _present([_measures_of(one) for one in FAMILIES if family in (None, one)], table, json)


@app.command()
def behaviours(json: JsonOption = None, table: TableOption = None, wide: WideOption = False) -> None:
    """List the behaviours of simulated users and the reasons for lost points, as 'users find' takes them."""
    out.wide = wide
    from dialgauge.report import Table
    from dialgauge.users import LABELS, REASONS

    listed = {"Behaviours": LABELS, "Reasons for lost points": REASONS}
    _present([Table(title, ["name", "meaning"], list(items.items())) for title, items in listed.items()], table, json)


def _measures_of(family: str) -> Table:
    from dialgauge.measures import card_listing
    from dialgauge.report import Table

    table = Table(f"Measures: {family}", ["name", "parameters", "formula", "meaning"])
    for entry in card_listing(family):
        card = entry.content
        if card is None:
            table.notes.append(f"{entry.name}: {entry.reason}")
            continue
        parameters = [f"@{card.cutoff.name}"] if card.cutoff else []
        parameters += [f"{one.name}={'|'.join(one.choices)}" for one in card.parameters]
        table.add(card.name, " ".join(parameters), card.formula, card.summary)
    return table


def _present(tables: Sequence[Table], file: Path | None, json: Path | None) -> None:
    check_table(file)
    present_tables(tables, file, json)
    write_document(json, "tables", tables_document(tables))
