"""The town as a domain: what ``domain.yaml`` says of its services, with the rows of a database."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from dialgauge.worlds.domain import Domain, RowsFile
from dialgauge.worlds.town.database import TownDatabase
from dialgauge.worlds.town.document import described
from dialgauge.worlds.town.vocabulary import town_with

_MISSING = ("?", "", "none")
_DIGITS = tuple("0123456789")
_TAXI = "taxi"


def town_domain(town: TownDatabase | None = None) -> Domain:
    """The domain with the rows of a town; of a synthetic one where none is given."""
    if town is None:
        from dialgauge.worlds.town.generator import generate_town

        town = generate_town()
    domain = town_with({table: _rows(table, rows) for table, rows in town.raw.items() if rows})
    taxi = domain.services[_TAXI]
    if taxi.book is None:
        return domain
    cars = (tuple(town.taxi["taxi_colors"]), (" ",), tuple(town.taxi["taxi_types"]))
    book = replace(taxi.book, made={"car type": cars, "phone": (("07",), *[_DIGITS] * 9)})
    return replace(domain, services={**domain.services, _TAXI: replace(taxi, book=book)}, files=town.files)


def _rows(table: str, rows: list[dict[str, Any]]) -> RowsFile:
    columns = described(table)
    return RowsFile(
        f"{table}_db.json", columns, [(number, _told(row, columns)) for number, row in enumerate(rows, start=1)]
    )


def _told(row: Mapping[str, Any], slots: tuple[str, ...]) -> dict[str, str]:
    return {
        slot: value
        for slot in slots
        if isinstance(value := row.get(slot), str) and value.strip().lower() not in _MISSING
    }
