"""GCDF1 conversations: what each field becomes, round trips, and dialogues that cannot be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, strategies as st

import dialgauge
from dialgauge.dialogue import Act, Dialogue, Goal, Task, Turn
from dialgauge.errors import DialgaugeError
from support.reading import read_bytes, read_json, write_bytes


def frame(service: str, *actions: dict[str, Any], **state: Any) -> dict[str, Any]:
    base = {"active_intent": "NONE", "requested_slots": [], "slot_values": {}}
    return {"service": service, "actions": list(actions), "slots": [], "state": base | state}


def conversation(**changes: Any) -> dict[str, Any]:
    inform = {"act": "Hotel-Inform", "slot": "area", "values": ["north"]}
    return {
        "dialogue_id": "SNG1.json",
        "goal": {
            "hotel": {
                "info": {"area": "north"},
                "fail_info": {"area": "east"},
                "book": {"day": "monday"},
                "fail_book": {"day": "friday"},
                "reqt": {"phone": "?"},
                "booked": "?",
            }
        },
        "services": ["hotel"],
        "metrics": {},
        "turns": [
            {
                "speaker": "USER",
                "turn_id": "0",
                "utterance": "a hotel in the north, and its phone",
                "frames": [
                    frame("bus"),
                    frame("hotel", inform, active_intent="find_hotel", requested_slots=["hotel-phone"]),
                ],
                "nlu": {"frames": []},
            },
            {
                "speaker": "SYSTEM",
                "turn_id": "1",
                "utterance": "there is none",
                "frames": [{"service": "hotel", "actions": [{"act": "Hotel-NoOffer"}], "slots": []}],
                "nlu": {"frames": [{"service": "hotel", "actions": [inform | {"values": ["south"]}]}]},
            },
        ],
        **changes,
    }


def test_every_field_finds_its_place() -> None:
    (dialogue,), _ = read_json("gcdf1", [conversation()])
    assert dialogue.id == "SNG1.json"
    assert dialogue.domains == ("hotel",)
    assert dialogue.goal is not None
    assert dialogue.goal.tasks["hotel"] == Task(
        info={"area": "north"},
        fail_info={"area": "east"},
        book={"day": "monday"},
        fail_book={"day": "friday"},
        requests=("phone",),
    )
    user, system = dialogue.turns
    assert user.acts == (Act("Hotel-Inform", "hotel", "area", ("north",)),)
    assert user.heard == (Act("Hotel-Inform", "hotel", "area", ("south",)),)
    assert user.active == ("bus", "hotel")
    assert user.intents == {"hotel": "find_hotel"}
    assert user.requested == {"hotel": ("hotel-phone",)}
    assert user.state == {}
    assert (system.acts, system.heard) == ((Act("Hotel-NoOffer", "hotel"),), None)
    assert (system.state, system.intents, system.requested) == (None, None, None)


def test_a_list_of_requests_and_an_object_of_dialogues_are_read_alike() -> None:
    record = conversation()
    record["goal"]["hotel"]["reqt"] = ["phone"]
    assert read_json("gcdf1", {"SNG1.json": record})[0] == read_json("gcdf1", [conversation()])[0]
    del record["dialogue_id"]
    assert read_json("gcdf1", {"other": record})[0][0].id == "other"


@pytest.mark.parametrize(
    ("task", "sentence"),
    [
        ({"infos": {"area": "north"}}, "the goal of 'hotel' .* unknown field `infos`"),
        ({"Reqt": {"phone": "?"}}, "unknown field `Reqt`; its parts are info"),
        ({"info": ["area"]}, "does not have the expected shape"),
        (["area"], "does not have the expected shape"),
    ],
)
def test_a_misspelt_part_of_a_goal_is_no_empty_goal(task: Any, sentence: str) -> None:
    with pytest.raises(DialgaugeError, match=sentence) as caught:
        read_json("gcdf1", [conversation(goal={"hotel": task})])
    assert caught.value.dialogue == "SNG1.json"


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"speaker": "WIZARD"}, "speaker"),
        ({"turn_id": "7"}, "turn_id"),
        ({"frames": [{"service": 3}]}, "service"),
        ({"frames": [{"service": "hotel", "actions": [{"slot": "area"}]}]}, "act"),
    ],
)
def test_a_bad_dialogue_is_named_and_the_others_are_read(change: dict[str, Any], sentence: str) -> None:
    bad = conversation(dialogue_id="bad")
    bad["turns"][0] |= change
    content = msgspec.json.encode([bad, conversation()])
    with pytest.raises(DialgaugeError) as caught:
        read_bytes("gcdf1", content)
    assert (caught.value.dialogue, caught.value.turn) == ("bad", 0)
    assert sentence in str(caught.value)
    sound, notes = read_bytes("gcdf1", content, tolerant=True)
    assert [each.id for each in sound] == ["SNG1.json"]
    assert [error.dialogue for error in notes.refused] == ["bad"]


@pytest.mark.parametrize(
    "turn",
    [
        Turn(speaker="user", state={}),
        Turn(speaker="user", acts=(), state={}, active=()),
        Turn(speaker="user", active=()),
        Turn(speaker="user", acts=(), active=(), intents={}, requested={}),
        Turn(speaker="user"),
    ],
)
def test_recorded_and_empty_is_not_unrecorded(turn: Turn) -> None:
    content, notes = write_bytes("gcdf1", [Dialogue(id="d", turns=(turn,))])
    (again,), _ = read_bytes("gcdf1", content)
    recorded = {name: getattr(again.turns[0], name) for name in turn.__struct_fields__ if name != "active"}
    assert recorded == {name: getattr(turn, name) for name in recorded}
    assert not again.turns[0].active
    assert not notes.counts


words = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), min_size=1, max_size=6)
one_word: st.SearchStrategy[tuple[str, ...]] = words.map(lambda word: (word,))
services = st.sampled_from(["hotel", "train", "general"])
acts = st.builds(Act, words, st.just("hotel"), words, st.lists(words, max_size=2).map(tuple))
slots = st.dictionaries(words, words, max_size=2)
tasks = st.builds(
    Task, info=slots, fail_info=slots, book=slots, fail_book=slots, requests=st.lists(words, unique=True).map(tuple)
)


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    said = draw(st.none() | st.lists(acts, max_size=3).map(tuple))
    active = draw(st.permutations(["hotel", "train"]))
    return Turn(
        speaker=draw(st.sampled_from(["user", "system"])),
        text=draw(words),
        acts=said,
        heard=draw(st.none() | st.lists(acts, max_size=2).map(tuple)),
        state=draw(st.none() | st.dictionaries(st.just("train"), st.dictionaries(words, one_word, min_size=1))),
        active=tuple(active),
        intents=draw(st.none() | st.dictionaries(st.just("hotel"), words.filter(lambda word: word != "NONE"))),
        requested=draw(st.none() | st.dictionaries(st.just("train"), one_word)),
    )


@given(st.lists(turns(), max_size=4), st.none() | st.builds(Goal, tasks=st.dictionaries(services, tasks, max_size=2)))
def test_what_is_written_is_read_back(said: list[Turn], goal: Goal | None) -> None:
    if said:
        said[-1] = msgspec.structs.replace(said[-1], heard=None)
    dialogue = Dialogue(id="d", turns=tuple(said), goal=goal, domains=("hotel",))
    content, _ = write_bytes("gcdf1", [dialogue])
    assert read_bytes("gcdf1", content)[0] == [dialogue]


def test_the_real_conversations_survive_a_round_trip(shared_data: Path, tmp_path: Path) -> None:
    corpus = dialgauge.read(shared_data / "gcdf1" / "conversations" / "dialogues_032.json.gz")
    assert (corpus.format, corpus.notes.counts.total()) == ("gcdf1", 0)
    notes = dialgauge.write(corpus.dialogues, tmp_path / "again.json", format="gcdf1")
    assert not notes.counts
    assert dialgauge.read(tmp_path / "again.json").dialogues == corpus.dialogues
