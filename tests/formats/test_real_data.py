"""Every file under the real data is recognised by exactly one format and loads."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from dialgauge.formats import BUILT_IN, LAST_RESORT, DialogueFormat, Notes, Peek, format_named, recognise, resolve
from support.soak import soak

FOLDERS = [soak("babi"), "dst_predictions", "gcdf1", "multiwoz21", "sgd"]


@pytest.mark.parametrize("folder", FOLDERS)
def test_all_files_load_and_in_one_format_only(folder: str, shared_data: Path) -> None:
    held: Counter[str] = Counter()
    for part in resolve(shared_data / folder):
        chosen = recognise(part)
        if chosen.name != "document":
            peek = Peek(part)
            assert [one for one in BUILT_IN if one != LAST_RESORT and format_named(one).recognise(peek)] == [
                chosen.name
            ]
        if isinstance(chosen, DialogueFormat):
            held[chosen.name] += sum(1 for _ in chosen.read(part, Notes()))
        else:
            assert chosen.load(part, Notes()).kind == chosen.kind
            held[chosen.name] += 1
    assert held == COUNTS[folder]


#: Dialogues by format, and files by format of resource.
COUNTS = {
    "babi": {"babi": 20_000 + 3_235, "babi-candidates": 2, "babi-kb": 2, "document": 5},
    "dst_predictions": {"mwzeval": 7999, "human-eval": 100, "document": 2},
    "gcdf1": {"gcdf1": 1000, "schema": 1, "canonical-map": 1, "document": 2},
    "multiwoz21": {
        "multiwoz": 1999,
        "multiwoz-ontology": 2,
        "schema": 1,
        "document": 11,
    },
    "sgd": {"sgd": 8 * 128, "schema": 2, "document": 2},
}
