"""``dialgauge explain``: what profiles, measures and behaviours mean."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

from dialgauge import rendering, users, values
from dialgauge.cli import common, writing
from dialgauge.cli.choices import BEHAVIOURS, EXPLAINED_MEASURES, PROFILES
from dialgauge.cli.options import Argument, application
from dialgauge.cli.screen import out
from dialgauge.errors import DialgaugeError, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from dialgauge.measures import Card

#: One or several: nobody has to remember which word has an s.
_ALSO = {"profiles": "profile", "measure": "measures", "behaviour": "behaviours"}

app = application("What profiles, measures and behaviours mean.", also=_ALSO, parts=__name__)


@app.command()
def profile(
    name: Annotated[
        str | None,
        Argument(metavar="[NAME|FILE]", known=PROFILES, help="Profile name or YAML file. Default: list all."),
    ] = (None),
    *,
    output: common.TableOutput,
) -> None:
    """Print the value-matching rules of a profile, or list the profiles. 'explain profiles' is the same."""
    if name is None:
        listing = rendering.Table("Profiles", [rendering.Column("name", exact=True), "what it is"])
        for entry in values.profile_listing():
            listing.add(entry.name, entry.content.summary if entry.content else entry.reason)
        _present([listing], output)
        return
    text = values.profile_named(name).explain()
    lines = rendering.Table(f"Profile {name}", ["rule"], [[line] for line in text.splitlines()])
    if output.on_screen:
        out.print(text)
    writing.write_table_file([lines], output.table)
    output.document("tables", writing.tables_document([lines]))


@app.command()
def measures(
    name: Annotated[
        str | None,
        Argument(
            metavar="[FAMILY|NAME]",
            known=EXPLAINED_MEASURES,
            help="A family (tracking, users, ...) or a measure (JGA). Default: all.",
        ),
    ] = None,
    *,
    output: common.TableOutput,
) -> None:
    """List the measures with parameters, formula and meaning, including plugins, or explain one of them.

    'explain measure' is the same.
    """
    from dialgauge.measures import families

    if name is None or name in families():
        _present([_measures_of(family) for family in families() if name in (None, family)], output)
    else:
        _present([_card_table(card) for card in _cards_named(name)], output)


@app.command()
def behaviours(
    name: Annotated[str | None, Argument(known=BEHAVIOURS, help="Name of a behaviour. Default: list all.")] = None,
    *,
    output: common.TableOutput,
) -> None:
    """List the behaviours of simulated users and the reasons for lost points, as 'users find' takes them.

    With a name, only those that it matches. 'explain behaviour' is the same.
    """
    listed = {"Behaviours": users.LABELS, "Reasons for lost points": users.REASONS}
    if name is not None:
        listed = {title: _matching(items, name) for title, items in listed.items()}
        if not any(listed.values()):
            known = {label.rpartition("/")[2] for label in (*users.LABELS, *users.REASONS)}
            raise DialgaugeError(f"there is no behaviour named '{name}'.{nearest(name, known)}")
    columns: list[str | rendering.Column] = [rendering.Column("name", exact=True), "meaning"]
    tables = [rendering.Table(title, columns, list(items.items())) for title, items in listed.items() if items]
    _present(tables, output)


def _matching(items: Mapping[str, str], name: str) -> dict[str, str]:
    """The entries with this name, given with or without its group."""
    wanted = name.lower()
    return {key: text for key, text in items.items() if wanted in (key.lower(), key.lower().rpartition("/")[2])}


def _cards_named(name: str) -> list[Card[Any]]:
    """The measures of a name in all families, in any case of letters; parameters may follow the name."""
    from dialgauge.measures import cards, families, parse_measure

    bare = re.split(r"[@^(\[]", name, maxsplit=1)[0].strip()
    by_family = {family: cards(family) for family in families()}
    every = [card for family in by_family.values() for card in family.values()]
    same = list({id(card): card for card in every if card.name.lower() == bare.lower()}.values())
    if not same:
        known = [*families(), *dict.fromkeys(measure for family in by_family.values() for measure in family)]
        raise DialgaugeError(f"there is no measure or family of measures '{name}'.{nearest(name, known)}")
    parse_measure(name if name != bare else same[0].name, None if len(same) > 1 else same[0].family)
    return same


def _card_table(card: Card[Any]) -> rendering.Table:
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
    return rendering.Table(f"{card.name} ({card.family}): {card.title}", ["field", "value"], list(rows.items()))


def _measures_of(family: str) -> rendering.Table:
    from dialgauge.measures import card_listing

    table = rendering.Table(
        f"Measures: {family}", [rendering.Column("name", exact=True), "parameters", "formula", "meaning"]
    )
    letters: dict[str, str] = {}
    for entry in card_listing(family):
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


def _present(tables: Sequence[rendering.Table], output: common.TableOutput) -> None:
    output.show(tables)
    output.document("tables", writing.tables_document(tables))
