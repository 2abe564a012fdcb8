from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

from dialgauge.dialogue import Act, Dialogue, Span, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats import read
from support.examples import EXAMPLES
from support.reading import read_bytes, read_json, write_bytes

EXAMPLE: list[dict[str, Any]] = json.loads(EXAMPLES["sgd"])


def example() -> list[dict[str, Any]]:
    return copy.deepcopy(EXAMPLE)


def user(*frames: tuple[str, dict[str, list[str]]]) -> dict[str, Any]:
    states = [{"service": service, "state": {"slot_values": values}} for service, values in frames]
    return {"speaker": "USER", "utterance": "", "frames": states}


def states(*turns: dict[str, Any]) -> list[State | None]:
    (dialogue,), _ = read_json("sgd", [{"dialogue_id": "d", "turns": list(turns)}])
    return [turn.state for turn in dialogue.turns]


def test_everything_in_a_frame_is_read() -> None:
    (dialogue,), _ = read_json("sgd", example())
    assert dialogue.domains == ("Hotels_4",)
    assert dialogue.turns[0] == Turn(
        speaker="user",
        text="A room in London",
        acts=(Act("INFORM", "Hotels_4", "location", ("London",)),),
        state={"Hotels_4": {"location": ("London", "london")}},
        active=("Hotels_4",),
        intents={"Hotels_4": "SearchHotel"},
        requested={"Hotels_4": ("phone_number",)},
        spans=(Span("Hotels_4", "location", 10, 16),),
    )
    assert dialogue.turns[1] == Turn(speaker="system", text="Which one?", active=())


def test_a_service_without_a_frame_keeps_its_state() -> None:
    assert states(
        user(("A", {"x": ["1"]})),
        user(("B", {"y": ["2"]})),
        user(),
        user(("A", {"z": ["3"]})),
        user(("B", {})),
    ) == [
        {"A": {"x": ("1",)}},
        {"A": {"x": ("1",)}, "B": {"y": ("2",)}},
        {"A": {"x": ("1",)}, "B": {"y": ("2",)}},
        {"A": {"z": ("3",)}, "B": {"y": ("2",)}},
        {"A": {"z": ("3",)}},
    ]


def test_before_its_first_frame_an_annotated_dialogue_has_the_empty_state() -> None:
    assert states(user(), user(("A", {"x": ["1"]}))) == [{}, {"A": {"x": ("1",)}}]
    assert states(user(), user()) == [None, None]


def test_numbered_turns_must_be_in_order() -> None:
    content = example()
    for number, turn in enumerate(content[0]["turns"]):
        turn["turn_id"] = str(number)
    read_json("sgd", content)
    content[0]["turns"][1]["turn_id"] = "2"
    with pytest.raises(DialgaugeError, match="dialogue 1_00000, turn 1: turn_id is '2' where 1 should follow"):
        read_json("sgd", content)


@pytest.mark.parametrize("number", ["001", "002", "003", "008"])
@pytest.mark.parametrize("kind", ["dev", "synthetic_pred"])
def test_real_files_survive_the_round_trip(shared_data: Path, kind: str, number: str) -> None:
    corpus = read(shared_data / "sgd" / f"{kind}_dialogues_{number}.json.gz")
    assert (corpus.format, len(corpus.dialogues)) == ("sgd", 128)
    written, notes = write_bytes("sgd", corpus.dialogues)
    assert read_bytes("sgd", written)[0] == corpus.dialogues
    assert not notes.counts


words = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
values = st.lists(words.filter(lambda word: word.strip().lower() not in ("", "none")), min_size=1, max_size=2)
some_states: st.SearchStrategy[State] = st.dictionaries(
    st.sampled_from(["A", "B", "C"]), st.dictionaries(words, values.map(tuple), min_size=1, max_size=2), max_size=3
)
active = st.none() | st.lists(st.sampled_from(["A", "B", "C"]), unique=True).map(tuple)


@given(st.lists(st.tuples(some_states, active), min_size=1, max_size=4))
def test_any_states_survive_whatever_is_called_active(content: list[tuple[State, tuple[str, ...] | None]]) -> None:
    turns = tuple(Turn(speaker="user", state=state, active=services) for state, services in content)
    dialogue = Dialogue(id="d", turns=turns)
    written, _ = write_bytes("sgd", [dialogue])
    (after,), _ = read_bytes("sgd", written)
    expected = [turn.state for turn in turns]
    recorded = any(turn.state or turn.active for turn in turns)
    assert [turn.state for turn in after.turns] == (expected if recorded else [None] * len(turns))


def test_values_that_mean_absent_stay_out_of_the_state_and_are_kept() -> None:
    values = {"city": ["none", "Rome"], "pets": [""], "stars": [], "name": ["Ace"]}
    state = {"active_intent": "Find", "requested_slots": [], "slot_values": values}
    frames = [{"service": "Hotels_1", "state": state}]
    turns = [{"speaker": "USER", "utterance": "", "frames": frames}]
    content = json.dumps([{"dialogue_id": "a", "services": ["Hotels_1"], "turns": turns}]).encode()
    [found], _ = read_bytes("sgd", content)
    assert found.turns[0].state == {"Hotels_1": {"city": ("Rome",), "name": ("Ace",)}}
    assert found.turns[0].blank == {"Hotels_1": {"city": ("none", "Rome"), "pets": ("",), "stars": ()}}
    written, notes = write_bytes("sgd", [found])
    assert read_bytes("sgd", written)[0] == [found] and not notes.counts


def test_a_recorded_goal_is_refused_rather_than_lost() -> None:
    """Where the first dialogue has none, the file is taken for SGD; goals of later ones must not vanish."""
    first, second = example()[0], copy.deepcopy(example()[0])
    second |= {"dialogue_id": "second", "goal": {"Hotels_4": {"info": {"location": "London"}}}}
    with pytest.raises(DialgaugeError, match=r"it records a goal, .* read the file as gcdf1") as caught:
        read_json("sgd", [first, second])
    assert caught.value.dialogue == "second"
