"""The profile ``llm``: what language models write is what gold means, and different places stay different."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path

from dialgauge.values import profile_named


def test_it_holds_for_both_sides_alike() -> None:
    assert profile_named("llm").treats_sides_alike
    assert profile_named("canon").label == "canon@1-75ba0b9a"


def test_no_two_places_of_the_database_become_one(shared_data: Path) -> None:
    profile = profile_named("llm")
    canon = profile_named("canon")
    kept: dict[tuple[str, str], set[str]] = defaultdict(set)
    for kind in ("hotel", "restaurant", "attraction"):
        table = next((shared_data / "multiwoz21/db").glob(f"{kind}_db*"))
        for name in {row["name"] for row in json.loads(gzip.decompress(table.read_bytes()))}:
            before = canon.normalise((kind, "name"), (name,), "gold")
            kept[kind, profile.normalise((kind, "name"), (name,), "gold")[0]].update(before)
    assert len(kept) > 200
    assert {pair: names for pair, names in kept.items() if len(names) > 1} == {}
