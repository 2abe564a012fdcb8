"""Canonical map files: the real one, and faults."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.errors import DialgaugeError
from dialgauge.formats import CanonicalMapFile, Notes, recognise, resolve
from support.reading import part_of


def load(content: Any) -> dict[str, Any]:
    return dict(CanonicalMapFile().load(part_of(json.dumps(content).encode()), Notes()).values)


def test_the_map_of_multiwoz(shared_data: Path) -> None:
    (part,) = resolve(shared_data / "gcdf1" / "multiwoz21_canonical_map.json.gz")
    assert recognise(part).name == "canonical-map"
    values = CanonicalMapFile().load(part, Notes()).values
    assert len(values) == 17
    tables = [
        table for slot in values.values() for table in ([slot] if "special_keys" in slot else list(slot.values()))
    ]
    canonical = [(key, texts) for table in tables for key, texts in table.items() if key != "special_keys"]
    assert (len(canonical), sum(len(texts) for _, texts in canonical)) == (1188, 5593)


@pytest.mark.parametrize("content", [{"area": {"north": ["up"]}}, {"area": {"hotel": {"north": ["up"]}}}])
def test_a_map_without_special_keys_says_what_to_add(content: Any) -> None:
    with pytest.raises(DialgaugeError, match='add "special_keys"'):
        load(content)
