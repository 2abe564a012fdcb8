"""The published benchmark table reproduced: what agrees, and exactly what does not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.reproduce import Reproduction, reproduce
from dialgauge.tasks import published_rows


@pytest.fixture(scope="module")
def record(shared_data: Path) -> Reproduction:
    return reproduce("mwzeval", shared_data)


def test_our_file_says_what_the_table_says(expected: Path) -> None:
    systems = json.loads((expected / "e2e_mwzeval.json").read_bytes())["systems"]
    rows = published_rows()
    assert len(rows) == 16
    for name, system in systems.items():
        theirs, row = system["published"], rows[name]
        assert row.figures["bleu"] == theirs["bleu_mwz22"]
        assert (row.figures["inform"], row.figures["success"]) == (theirs["inform"], theirs["success"])
        assert row.mode == theirs["mode"]
        assert (row.kind == "policy") == (system["states"] != "file")


def test_only_the_known_lines_differ(record: Reproduction) -> None:
    """Specification, section 13: gold states of 2.1 for 2.2 in policies, references, and the human responses of 2.1."""
    assert {item.what for item in record.items if item.verdict == "differs"} == {
        "augpt, BLEU", "mintl, BLEU", "ubar, BLEU", "galaxy-policy, BLEU",
        "hdsa, Inform", "hdsa, Success", "lava, Inform", "lava, Success", "galaxy-policy, Success",
        "Inform", "Success", "words per response", "conditional entropy of words", "different words",
        "different triples of words",
    }  # fmt: skip
    assert all(item.note for item in record.items if item.verdict == "differs")


def test_every_row_is_there(record: Reproduction) -> None:
    systems = {item.what.partition(",")[0] for item in record.items}
    assert published_rows().keys() <= systems
    computed = {item.what.partition(",")[0] for item in record.items if item.verdict != "cannot be computed"}
    assert {"augpt", "dots", "mintl", "ubar", "hdsa", "lava", "sfn", "galaxy-policy"} <= computed
    assert "damd" not in computed
    assert "damd.json" in record.missing[0]


def test_bleu_is_never_shown_as_if_against_their_references(record: Reproduction) -> None:
    lines = [item for item in record.items if item.what.endswith("BLEU") and item.ours is not None]
    assert len(lines) == 8
    assert all("mwz21-span" in item.note for item in lines)


def test_without_data_it_says_so(tmp_path: Path) -> None:
    record = reproduce("mwzeval", tmp_path)
    assert "multiwoz-2.1/test.json" in record.missing[0]
    assert {item.verdict for item in record.items} == {"cannot be computed"}
