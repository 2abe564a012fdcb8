"""The town as a domain: what ``domain.yaml`` says of its services, with the rows of a database."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from msgspec.structs import replace

from dialgauge.worlds.domain import Domain, RowsFile, domain_of
from dialgauge.worlds.town.database import TownDatabase
from dialgauge.yaml_file import YamlDocument, shipped_yaml

_MISSING = ("?", "", "none")
_DIGITS = tuple("0123456789")


def town_domain(town: TownDatabase | None = None) -> Domain:
    """The domain with the rows of a town; of a synthetic one where none is given."""
    if town is None:
        from dialgauge.worlds.town.generator import generate_town

        town = generate_town()
    tables = town.raw

    def rows(table: str) -> RowsFile:
        known = [(number, _told(row)) for number, row in enumerate(tables.get(table, ()), start=1)]
        columns = dict.fromkeys(column for row in tables.get(table, ()) for column in row)
        return RowsFile(f"{table}_db.json", tuple(columns) or _columns(table), known)

    domain = domain_of(_document(), rows=rows)
    cars = (tuple(town.taxi["taxi_colors"]), (" ",), tuple(town.taxi["taxi_types"]))
    taxi = domain.services["taxi"]
    if taxi.book is None:
        return domain
    book = replace(taxi.book, made={"car type": cars, "phone": (("07",), *[_DIGITS] * 9)})
    return replace(domain, services={**domain.services, "taxi": replace(taxi, book=book)}, files=town.files)


@cache
def _document() -> YamlDocument:
    return shipped_yaml("dialgauge.worlds.town", "domain.yaml", as_text=True)


def _columns(table: str) -> tuple[str, ...]:
    """The columns of a table that has no rows."""
    service = _document().content["services"][table]
    return (service["name"], *service.get("search", {}), *service.get("answer", ()))


def _told(row: Mapping[str, Any]) -> dict[str, str]:
    return {
        column: value
        for column, value in row.items()
        if isinstance(value, str) and value.strip().lower() not in _MISSING
    }
