"""DSTC2 to task 6, on calls written here in the layout of the original folders."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.dialogue import Dialogue, Fact
from dialgauge.errors import DialgaugeError
from dialgauge.formats.babi import SILENCE
from dialgauge.worlds.restaurant.dstc2 import (
    Joiner,
    convert,
    entities_of,
    one_word,
    read_ontology,
    read_sessions,
    venues_mentioned,
    venues_of,
)
from support.reading import read_bytes, write_bytes

ONTOLOGY = {
    "informable": {
        "food": ["modern european", "french", "chinese"],
        "area": ["north", "centre"],
        "pricerange": ["cheap", "expensive"],
        "name": ["the golden wok", "cote", "la margherita"],
    },
    "requestable": ["phone", "addr"],
    "method": ["none", "byconstraints"],
}

Spoken = tuple[str, list[dict[str, Any]]]


def act(kind: str, /, **slots: str) -> dict[str, Any]:
    return {"act": kind, "slots": [[slot, value] for slot, value in slots.items()]}


WELCOME: Spoken = ("Hello , welcome .", [{"act": "welcomemsg", "slots": []}])
OFFER: Spoken = (
    "The Golden Wok is a nice place in the north of town",
    [act("offer", name="the golden wok"), act("inform", area="north")],
)


def write_call(folder: Path, session: str, system: list[Spoken], user: list[tuple[str, dict[str, str]]]) -> None:
    path = folder / "Mar13_S0A0" / session
    path.mkdir(parents=True)
    said = [
        {"turn-index": place, "output": {"transcript": text, "dialog-acts": acts}, "input": {"live": {"asr-hyps": []}}}
        for place, (text, acts) in enumerate(system)
    ]
    labels = [
        {
            "turn-index": place,
            "transcription": text,
            "goal-labels": goals,
            "requested-slots": [],
            "method-label": "none",
        }
        for place, (text, goals) in enumerate(user)
    ]
    (path / "log.json").write_text(json.dumps({"session-id": session, "caller-id": "c", "turns": said}))
    (path / "label.json").write_text(json.dumps({"session-id": session, "turns": labels}))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "ontology_dstc2.json").write_text(json.dumps(ONTOLOGY))
    north = {"area": "north", "food": "dontcare"}
    write_call(
        tmp_path,
        "voip-1",
        [
            WELCOME,
            ("What part of town ?", [{"act": "request", "slots": [["slot", "area"]]}]),
            OFFER,
            (
                "The phone number of the golden wok is 01223 350688",
                [act("inform", phone="01223 350688", name="the golden wok")],
            ),
            ("Sorry there is no modern european restaurant", [act("canthelp", food="modern european", area="north")]),
            ("cote is nice too", [act("offer", name="cote"), act("inform", pricerange="expensive", food="french")]),
        ],
        [
            ("", {}),
            ("North   any food", north),
            ("phone number", north),
            ("modern european", {**north, "food": "modern european"}),
            ("any area modern european", {"food": "french"}),
            ("thank you good bye", {"food": "french"}),
        ],
    )
    write_call(tmp_path, "voip-2", [WELCOME, OFFER], [("north", {"area": "north"}), ("bye", {"area": "north"})])
    return tmp_path


def converted(folder: Path, **options: Any) -> list[Dialogue]:
    sessions = list(read_sessions(folder))
    joiner = Joiner(entities_of(read_ontology(folder)))
    return [convert(session, venues_mentioned(sessions), joiner, **options) for session in sessions]


def test_a_call_becomes_a_dialog(folder: Path) -> None:
    dialogue = converted(folder)[0]
    exchanges = [(u.text, s.text) for u, s in zip(dialogue.turns[::2], dialogue.turns[1::2], strict=True)]
    assert exchanges == [
        (SILENCE, "Hello , welcome ."),
        (SILENCE, "What part of town ?"),
        ("north any food", "api_call R_cuisine north R_price"),
        (SILENCE, "the_golden_wok is a nice place in the north of town"),
        ("phone number", "The phone number of the_golden_wok is the_golden_wok_phone"),
        ("modern_european", "api_call modern_european north R_price"),
        (SILENCE, "Sorry there is no modern_european restaurant"),
        ("any area modern_european", "api_call french R_location R_price"),
        (SILENCE, "cote is nice too"),
        ("thank you good bye", " you are welcome"),
    ]
    results = [turn.results for turn in dialogue.user_turns() if turn.results is not None]
    assert [sorted({fact.entity for fact in found}) for found in results] == [["the_golden_wok"], [], ["cote"]]
    assert results[0][:3] == (
        Fact("the_golden_wok", "R_post_code", "the_golden_wok_post_code"),
        Fact("the_golden_wok", "R_location", "north"),
        Fact("the_golden_wok", "R_phone", "the_golden_wok_phone"),
    )
    assert results[0][-1] == Fact("the_golden_wok", "R_rating", "10")


def test_labelled_states_are_kept(folder: Path) -> None:
    states = [turn.state for turn in converted(folder)[0].user_turns()]
    assert states[0] == states[1] == {}
    assert states[2] == states[3] == {"restaurant": {"area": ("north",), "food": ("dontcare",)}}


def test_the_result_is_a_file_of_task_6(folder: Path) -> None:
    dialogues = converted(folder)
    content, _ = write_bytes("babi", dialogues)
    again, _ = read_bytes("babi", content)
    assert [[t.text for t in d.turns] for d in again] == [[t.text for t in d.turns] for d in dialogues]


def test_one_call_of_a_kind_is_made_once(folder: Path) -> None:
    replies = [turn.text for turn in converted(folder)[1].turns if turn.speaker == "system"]
    assert [text for text in replies if text.startswith("api_call")] == ["api_call R_cuisine north R_price"]


def test_venues_are_proposed_in_the_order_of_their_ratings(folder: Path) -> None:
    """With a knowledge base, all that fits is listed, and the venue proposed first is rated best."""
    names = [f"venue_{number}" for number in range(20)]
    facts = [Fact(name, "R_location", "north") for name in [*names, "the_golden_wok"]]
    sessions = list(read_sessions(folder))
    for seed in range(5):
        dialogue = convert(sessions[1], venues_of(facts), Joiner([]), seed=seed)
        (found,) = [turn.results for turn in dialogue.user_turns() if turn.results is not None]
        ratings = {fact.entity: int(fact.value) for fact in found if fact.relation == "R_rating"}
        assert len(ratings) == 21
        assert [name for name, rating in ratings.items() if rating == max(ratings.values())] == ["the_golden_wok"]
        assert min(ratings.values()) >= 0 and max(ratings.values()) <= 10
    again = convert(sessions[1], venues_of(facts), Joiner([]), seed=4)
    assert again == dialogue


def test_calls_can_be_listed(folder: Path) -> None:
    listed = folder / "test.flist"
    listed.write_text("Mar13_S0A0/voip-2\n\nMar13_S0A0/voip-1\n")
    assert [session.id for session in read_sessions(folder, listed)] == ["voip-2", "voip-1"]
    listed.write_text("../voip-1\n")
    with pytest.raises(DialgaugeError, match="points outside the folder"):
        list(read_sessions(folder, listed))


def test_joining_entities() -> None:
    joiner = Joiner(["modern european", "european", "river bar steakhouse", "river bar"])
    assert joiner("the River  Bar Steakhouse serves Modern European food") == (
        "the river_bar_steakhouse serves modern_european food"
    )
    assert joiner("moderneuropean") == "moderneuropean"
    assert one_word("darry's cookhouse & wine shop") == "darry_s_cookhouse_wine_shop"


def test_faulty_folders(folder: Path) -> None:
    call = folder / "Mar13_S0A0" / "voip-2"
    label = json.loads((call / "label.json").read_text())
    (call / "label.json").write_text(json.dumps({**label, "turns": label["turns"][:1]}))
    with pytest.raises(DialgaugeError, match=r"2 turns and label\.json 1"):
        list(read_sessions(folder))
    (call / "label.json").write_text("{")
    with pytest.raises(DialgaugeError, match=r"label\.json: it is not valid JSON"):
        list(read_sessions(folder))
    (call / "label.json").unlink()
    with pytest.raises(DialgaugeError, match=r"label\.json: there is no such file"):
        list(read_sessions(folder))
    with pytest.raises(DialgaugeError, match=r"no log\.json below"):
        list(read_sessions(call / "nothing"))
    (folder / "ontology2.json").write_text("{}")
    with pytest.raises(DialgaugeError, match="several files are named"):
        read_ontology(folder)
    with pytest.raises(DialgaugeError, match="informable"):
        read_ontology(folder, folder / "ontology2.json")
