"""GCDF1 in recommended mode, and in the mode of the reference, on conversations with a number worked out by hand.

Recommended mode repairs what makes the authors' evaluator abort or go astray, and changes nothing else.

Notices: precision in place of recall, one mode in place of the other, I-GCDF1 in place of R-GCDF1, a failed dialogue
that is reported as scored.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import surface
import users_oracle as oracle

ASPECTS = ("f1", "precision", "recall")
HOTEL = {"hotel": {"info": {"area": "north"}, "reqt": {"phone": "?"}}}
BUS = {"bus": {"info": {"zone": "1"}}, **HOTEL}
CAFE = {"restaurant": {"info": {"name": "cafe"}}}
DAYS = "hotel inform day=friday; hotel inform holiday=this friday"
FOUR_STARS = {"hotel": {"info": {"area": "north", "stars": "4"}}}


def values(**forms: list[str]) -> dict[str, Any]:
    """Canonical values of a slot with their spellings."""
    return {"special_keys": {"not_in_goal": {}}, **forms}


def hotel(slot: str, value: str) -> dict[str, Any]:
    return {"hotel": {"info": {slot: value}}}


def leaving(time: str) -> dict[str, Any]:
    return {"taxi": {"info": {"leaveAt": time}}}


MAPS: dict[str, Any] = {
    "none": None,
    "areas": {"area": values(north=["north", "the north", "on request"])},
    "names": {"name": values(cafe=["the cafe", "the restaurant"])},
    "taxis": {"departure": {"taxi": values(ely=["ely"])}},
    "days": {"day": values(friday=["friday", "this friday"]), "name": values(x=["x"])},
    "times": {"leaveat": {"taxi": values(**{"09:15": ["09:15"], "15:09": ["15:09"]})}},
}
#: The dialogue cannot be scored.
FAILS = None


class Case(NamedTuple):
    """A goal, what is said in turn (`user / system / ...`), one score, and its value in both modes."""

    name: str
    goal: dict[str, Any]
    said: str
    score: str
    recommended: float | None
    reference: float | None
    map: str = "none"


I_F1, I_PRECISION, I_RECALL = "I-GCDF1 hotel f1", "I-GCDF1 hotel precision", "I-GCDF1 hotel recall"
NORTH, PHONE = "hotel inform area=north", "hotel request phone"
TAXI = "I-GCDF1 taxi f1"
CASES = [
    Case("a constraint without a value", HOTEL, f"hotel inform area; {NORTH} /", I_F1, 1, FAILS),
    Case("=== inside a value", hotel("name", "a===b"), "hotel inform name=a===b /", I_F1, 1, FAILS),
    Case("a slot split by domains", hotel("departure", "ely"), "hotel inform departure=ely /", I_F1, 1, FAILS, "taxis"),
    Case("a value not in the map", hotel("area", "moonbase"), "hotel inform area=moonbases /", I_F1, 1, FAILS, "areas"),
    Case("a slot inside another", hotel("day", "friday"), f"{DAYS} /", I_RECALL, 1, FAILS, "days"),
    Case("two spellings in a turn", HOTEL, f"hotel inform area=the north; {NORTH} /", I_PRECISION, 1, 0.5, "areas"),
    Case("a strange request", HOTEL, f"{PHONE}; taxi request phone /", "R-GCDF1 taxi precision", 0, FAILS),
    Case("a strange request, combined", HOTEL, f"{PHONE}; taxi request phone /", "R-GCDF1 combined f1", 2 / 3, FAILS),
    Case("no answer to the last turn", FOUR_STARS, NORTH, I_RECALL, 0.5, FAILS),
    Case("an unknown domain", BUS, "bus inform zone=1 / / bus inform zone=1 /", "I-GCDF1 bus recall", 1, FAILS),
    Case("a refusal as booking", HOTEL, f"{NORTH} / booking nooffer area=north / {NORTH} /", I_PRECISION, 0.5, FAILS),
    Case("no value", HOTEL, f"{PHONE} / hotel inform phone / {PHONE} /", "R-GCDF1 hotel precision", 0.5, FAILS),
    Case("a refusal in small letters", FOUR_STARS, f"{NORTH} / hotel hotel-nooffer area=north", I_RECALL, 1, 0.5),
    Case("an empty conversation", HOTEL, "", I_F1, FAILS, 0),
    Case(
        "a reference to what was said",
        CAFE,
        "restaurant inform name=the cafe /",
        "I-GCDF1 restaurant f1",
        1,
        1,
        "names",
    ),
    Case("no name", CAFE, "restaurant inform name=the restaurant /", "I-GCDF1 restaurant f1", 0, 0, "names"),
    Case("a value with request in it", HOTEL, "hotel inform area=on request /", I_F1, 0, 0, "areas"),
    Case("no time at all", leaving("09:15"), "taxi inform leaveAt=25:70 /", TAXI, 0, 0, "times"),
]


def conversation(case: Case) -> dict[str, Any]:
    turns = [[act.strip() for act in turn.split(";") if act.strip()] for turn in case.said.split("/")]
    return oracle.talk(case.goal, *(turns if case.said else ()))


@pytest.mark.parametrize("mode", ["recommended", "reference"])
@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_numbers_by_hand(case: Case, mode: str) -> None:
    run = surface.users([conversation(case)], MAPS[case.map], mode=mode)
    wanted = case.recommended if mode == "recommended" else case.reference
    if wanted is FAILS:
        assert surface.failed_dialogues(run).keys() == {"d1"}
        assert surface.user_scores(run) == {"I-GCDF1": {}, "R-GCDF1": {}}
        return
    assert surface.failed_dialogues(run) == {}
    measure, domain, aspect = case.score.split()
    for triple in (surface.user_scores(run)[measure]["d1"][domain], surface.user_means(run)[measure][domain]):
        assert triple[ASPECTS.index(aspect)] == pytest.approx(wanted, abs=1e-12)


def test_every_synthetic_case_can_be_scored(fact: Callable[[str], Any]) -> None:
    """Except a conversation of no turns, and turns that are numbered wrongly."""
    document = fact("gcdf1_synthetic.json.gz")
    names = {case["dialogue"]["dialogue_id"]: case["name"] for case in document["cases"]}
    talks = [case["dialogue"] for case in document["cases"]]
    run = surface.users(talks, document["canonical_map"], mode="recommended")
    assert {names[name] for name in surface.failed_dialogues(run)} == {
        "empty dialogue",
        "reference aborts: turn_id disagrees with position",
    }
    found = surface.user_scores(run)
    for (name, measure), verdicts in oracle.by_dialogue(surface.user_verdicts(run)).items():
        assert oracle.same(found[measure].get(name, {}), oracle.scores_of(verdicts)), names[name]


def test_on_the_papers_conversations_both_modes_agree(shared_data: Path) -> None:
    """Nothing of what recommended mode repairs occurs there."""
    conversations = shared_data / "gcdf1" / "conversations" / "dialogues_001.json.gz"
    mapping = shared_data / "gcdf1" / "multiwoz21_canonical_map.json.gz"
    recommended = surface.user_scores(surface.users(conversations, mapping, mode="recommended"))
    assert len(recommended["I-GCDF1"]) > 20
    assert recommended == surface.user_scores(surface.users(conversations, mapping, mode="reference"))
