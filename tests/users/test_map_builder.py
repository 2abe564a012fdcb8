"""Canonical maps of one's own, and what a check says of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dialgauge.data import check
from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.formats import write
from dialgauge.users import build_map, score_users
from support.commands import dialgauge
from support.domains import PETS, domain_folder

_SCHEMA = [
    {
        "service_name": "hotel",
        "description": "hotels",
        "slots": [
            {
                "name": "hotel-area",
                "description": "",
                "is_categorical": True,
                "possible_values": ["the north", "south"],
            },
            {"name": "hotel-people", "description": "", "is_categorical": True, "possible_values": ["1", "2"]},
            {"name": "hotel-note", "description": "", "is_categorical": False, "possible_values": []},
        ],
        "intents": [],
    }
]


def _said(slot: str, *values: str) -> tuple[Act, ...]:
    return tuple(Act(name="Hotel-Inform", domain="hotel", slot=slot, values=(value,)) for value in values)


@pytest.fixture
def talks(tmp_path: Path) -> Path:
    turns = (
        Turn(speaker="user", text="so", acts=(*_said("area", "the norths", "downtown"), *_said("people", "two"))),
        Turn(speaker="system", text="ok", acts=()),
    )
    goal = Goal(tasks={"hotel": Task(info={"area": "the north"}, book={"people": "2"})})
    path = tmp_path / "talks.jsonl"
    write([Dialogue(id="a", turns=turns, goal=goal)], path, format="native")
    return path


def test_from_an_ontology_and_what_dialogues_say(
    tmp_path: Path, talks: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "schema.json").write_text(json.dumps(_SCHEMA))
    built = build_map(tmp_path / "schema.json", talks)
    assert built.content["area"]["the north"] == ["the north", "north", "the norths"]
    assert built.content["people"]["2"] == ["2", "two"]
    assert built.open_slots == ["hotel-note"]
    assert [(one.slot, one.value, one.times) for one in built.unplaced] == [("area", "downtown", 1)]
    outcome = dialgauge(
        capsys, "users", "map", tmp_path / "schema.json", "--out", tmp_path / "map.json", "--dialogues", talks
    )
    assert outcome.code == 0 and "downtown" in outcome.out
    assert json.loads((tmp_path / "map.json").read_text()) == built.content
    scored = score_users(talks, canonical_map=tmp_path / "map.json", resamples=0)[0]
    assert scored.scores["I-GCDF1 recall"].value == 1  # the north, and two of them
    assert score_users(talks, resamples=0)[0].scores["I-GCDF1 recall"].value != 1


def test_from_the_folder_of_a_domain(tmp_path: Path) -> None:
    built = build_map(domain_folder(tmp_path / "pets", PETS))
    assert set(built.content) == {"kind", "name"}
    assert built.content["kind"]["dog"] == ["dog"]
    assert set(built.content["name"]) == {"rex", "tom", "ida", "bob", "dontcare", "special_keys"}


def test_a_check_names_what_matches_by_chance(tmp_path: Path) -> None:
    table = {"north": ["up", "north"], "south": ["Up!", "down"], "east": [], "special_keys": {"not_in_goal": {}}}
    (tmp_path / "map.json").write_text(json.dumps({"area": table}))
    [resource] = check([tmp_path / "map.json"]).resources
    assert resource.holds == "1 slot, 3 values, 4 ways of writing them"
    assert {finding.kind: [place.detail for place in finding.places] for finding in resource.findings} == {
        "unwritten": ["area: 'south'"],
        "empty": ["area: 'east'"],
        "shared": ["area: 'up' under north, south"],
    }


def test_the_released_map(shared_data: Path) -> None:
    """Sorted tokens do not tell 3:15 in the morning from the afternoon."""
    [resource] = check([shared_data / "gcdf1/multiwoz21_canonical_map.json.gz"]).resources
    assert resource.holds.startswith("17 slots, ")
    assert {finding.kind: finding.count for finding in resource.findings} == {"shared": 36}
