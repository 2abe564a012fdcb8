"""The file that describes the town, ``domain.yaml``, as it is written; what comes of it is in the vocabulary."""

from __future__ import annotations

from dialgauge.yaml_file import shipped_yaml

DOCUMENT = shipped_yaml("dialgauge.worlds.town", "domain.yaml", as_text=True)


def described(table: str) -> tuple[str, ...]:
    """The columns of a table that people hear of; ids, places on the map and texts stay inside."""
    service = DOCUMENT.content["services"][table]
    return tuple(dict.fromkeys((service["name"], *service.get("search", ()), *service.get("answer", ()))))
