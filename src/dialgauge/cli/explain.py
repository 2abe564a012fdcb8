"""``dialgauge explain``: what profiles, measures and behaviours mean."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import click

from dialgauge import measures, report, users, values
from dialgauge.cli.app import command
from dialgauge.cli.options import bundle, known
from dialgauge.cli.output import TablesOutput
from dialgauge.errors import DialgaugeError, nearest

#: What lists everything of a sort.
_LISTS = ("measures", "profiles", "behaviours")


@command("explain")
@click.argument(
    "what",
    required=False,
    shell_complete=known(lambda: [*_LISTS, *_names()]),
    help="A measure (JGA), a family of measures (tracking), a profile (trade, or a YAML file) or a behaviour of users "
    "(unmatched); or measures, profiles or behaviours for a list. Default: all lists.",
)
@bundle(output=TablesOutput)
def app(what: str | None, output: TablesOutput) -> None:
    """Say what a measure, a profile or a behaviour of simulated users means."""
    tables = _listed(what) or _explained(str(what))
    output.present(report.Page(title="", tables={table.title: table for table in tables}))


def _listed(what: str | None) -> list[report.Table]:
    """The tables of a list, a family of measures, or of all lists."""
    lists: dict[str, Callable[[], list[report.Table]]] = {
        "measures": lambda: [_measures_of(family) for family in measures.families()],
        "profiles": lambda: [_profiles()],
        "behaviours": lambda: _behaviours({"Behaviours": users.LABELS, "Reasons for lost points": users.REASONS}),
    }
    if what is None:
        return [table for tables in lists.values() for table in tables()]
    if what in measures.families():
        return [_measures_of(what)]
    return lists[what]() if what in lists else []


def _explained(what: str) -> list[report.Table]:
    """One measure in every family that has it, one profile, or the behaviours of a name."""
    if what.endswith((".yaml", ".yml")) or what in values.profile_names():
        return [_rules(what)]
    listed = {"Behaviours": users.LABELS, "Reasons for lost points": users.REASONS}
    if found := _behaviours({title: _matching(items, what) for title, items in listed.items()}):
        return found
    return [_card_table(card) for card in _cards_named(what)]


def _profiles() -> report.Table:
    listing = report.Table("Profiles", ["name", "what it is"])
    for entry in values.profile_listing():
        listing.add(entry.name, entry.content.summary if entry.content else entry.reason)
    return listing


def _rules(name: str) -> report.Table:
    text = values.profile_named(name).explain()
    return report.Table(f"Profile {name}", ["rule"], [[line] for line in text.splitlines()])


def _behaviours(listed: Mapping[str, Mapping[str, str]]) -> list[report.Table]:
    """A table for each group of labels, the group in its title."""
    tables: dict[str, report.Table] = {}
    for title, items in listed.items():
        for label, meaning in items.items():
            group, slash, name = label.rpartition("/")
            head = f"{title}: {group}{slash}..." if group else title
            tables.setdefault(head, report.Table(head, ["name", "meaning"])).add(name, meaning)
    return list(tables.values())


def _names() -> list[str]:
    """Everything that can be explained, for completion and for hints."""
    labels = [label.rpartition("/")[2] for label in (*users.LABELS, *users.REASONS)]
    return list(dict.fromkeys([*measures.families(), *measures.cards(), *values.profile_names(), *labels]))


def _matching(items: Mapping[str, str], name: str) -> dict[str, str]:
    """The entries with this name, given with or without its group."""
    wanted = name.lower()
    return {key: text for key, text in items.items() if wanted in (key.lower(), key.lower().rpartition("/")[2])}


def _cards_named(name: str) -> list[measures.Card[Any]]:
    """The measures of a name in all families, in any case of letters; parameters may follow the name."""
    bare = re.split(r"[@^(\[]", name, maxsplit=1)[0].strip()
    by_family = {family: measures.cards(family) for family in measures.families()}
    every = [card for family in by_family.values() for card in family.values()]
    same = list({id(card): card for card in every if card.name.lower() == bare.lower()}.values())
    if not same:
        raise DialgaugeError(
            f"there is no measure, profile or behaviour '{name}'.{nearest(name, [*_LISTS, *_names()], listed=False)}"
        )
    measures.parse_measure(name if name != bare else same[0].name, None if len(same) > 1 else same[0].family)
    return same


def _card_table(card: measures.Card[Any]) -> report.Table:
    parameters = [*([card.cutoff] if card.cutoff else []), *card.parameters]
    settings = [
        f"{parameter.name}: {', '.join(parameter.choices) if parameter.choices else 'a number'}"
        for parameter in parameters
    ]
    better = {True: "higher", False: "lower", None: "neither"}[card.higher_is_better]
    rows = {
        "meaning": card.summary,
        "formula": card.formula,
        **(
            {"where": "; ".join(f"{name}: {meaning}" for name, meaning in card.symbols.items())} if card.symbols else {}
        ),
        "parameters": "; ".join(settings) or "none",
        "unit": "percent" if card.unit == "share" else card.unit,
        "better": better,
        "source": card.source,
    }
    return report.Table(f"{card.name} ({card.family}): {card.title}", ["field", "value"], list(rows.items()))


def _measures_of(family: str) -> report.Table:
    table = report.Table(f"Measures: {family}", ["name", "parameters", "formula", "meaning"])
    letters: dict[str, str] = {}
    for entry in measures.card_listing(family):
        card = entry.content
        if card is None:
            table.notes.append(f"{entry.name}: {entry.reason}")
            continue
        parameters = [f"@{card.cutoff.name}"] if card.cutoff else []
        parameters += [f"{parameter.name}={'|'.join(parameter.choices)}" for parameter in card.parameters]
        table.add(card.name, " ".join(parameters), card.formula, card.summary)
        letters.update(card.symbols)
    table.notes += [f"{name}: {meaning}" for name, meaning in letters.items()]
    return table
