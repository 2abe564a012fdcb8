from __future__ import annotations

import copy
import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from dialgauge.dialogue import Act, Dialogue, Goal, Task
from dialgauge.errors import DialgaugeError
from dialgauge.formats import Notes, read
from support.examples import EXAMPLES
from support.reading import read_json

EXAMPLE: dict[str, Any] = json.loads(EXAMPLES["multiwoz"])


def example() -> dict[str, Any]:
    return copy.deepcopy(EXAMPLE)


def one(content: Any) -> tuple[Dialogue, Notes]:
    (dialogue,), notes = read_json("multiwoz", content)
    return dialogue, notes


def test_the_state_of_a_user_turn_is_the_metadata_of_the_next_system_turn() -> None:
    user, system = one(example())[0].turns
    assert (user.speaker, system.speaker) == ("user", "system")
    assert user.state == {"hotel": {"area": ("east",), "type": ("hotel", "guesthouse")}}
    assert system.state is None


def test_acts_have_the_name_of_the_file_and_the_domain_of_the_states() -> None:
    user, system = one(example())[0].turns
    assert user.acts == (Act("Hotel-Inform", "hotel", "Area", ("east",)),)
    assert system.acts == (Act("Booking-Request", "booking", "People", ("?",)), Act("general-reqmore", "general"))


def test_the_goal_keeps_constraints_requests_and_message() -> None:
    dialogue, notes = one(example())
    wish = Task(info={"area": "east"}, book={"people": "2"}, requests=("phone",))
    message = ("You look for a <span class='emphasis'>place to stay</span>",)
    assert dialogue.goal == Goal(tasks={"hotel": wish}, message=message)
    assert dialogue.domains == ("hotel",)
    assert not notes.counts


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ("a|b", ("a", "b")),
        ("monday<thursday", ("monday", "thursday")),
        ("cheap>moderate", ("cheap", "moderate")),
        ("a|b>c", ("a", "b", "c")),
        ("a | a|none", ("a",)),
        ("dontcare", ("dontcare",)),
        ("alpha-milton guest house", ("alpha-milton guest house",)),
        ("מלון", ("מלון",)),
        ("😀|𝔸", ("😀", "𝔸")),
        (["a", "b|c", ""], ("a", "b", "c")),
    ],
)
def test_alternatives_are_taken_apart(written: object, values: tuple[str, ...]) -> None:
    content = example()
    content["MUL0001.json"]["log"][1]["metadata"]["hotel"]["semi"] = {"name": written}
    assert one(content)[0].turns[0].state == {"hotel": {"name": values}}


@pytest.mark.parametrize("absent", ["", "none", "not mentioned", "  ", "None"])
def test_absent_values_are_left_out_and_the_booking_log_is_not_a_slot(absent: str) -> None:
    content = example()
    content["MUL0001.json"]["log"][1]["metadata"]["hotel"] = {
        "semi": {"name": absent},
        "book": {"booked": [{"name": "x", "reference": "1"}], "people": absent},
    }
    assert one(content)[0].turns[0].state == {}


def test_a_state_on_a_users_entry_means_the_log_is_out_of_order() -> None:
    content = example()
    content["MUL0001.json"]["log"].pop(0)
    with pytest.raises(
        DialgaugeError, match=r"dialogue MUL0001\.json, turn 0: it is the user's turn but carries a state"
    ):
        one(content)


def test_counts_of_the_real_data(shared_data: Path) -> None:
    for name, dialogues, user_turns in (("test", 1000, 7372), ("val", 999, 7365)):
        corpus = read(shared_data / "multiwoz21" / f"{name}.json.gz")
        assert corpus.format == "multiwoz"
        assert len(corpus.dialogues) == dialogues
        assert sum(len(list(dialogue.user_turns())) for dialogue in corpus.dialogues) == user_turns
        assert all(turn.state is not None for dialogue in corpus.dialogues for turn in dialogue.user_turns())


def test_real_states_equal_a_plain_reading_of_the_file(shared_data: Path) -> None:
    content = (shared_data / "multiwoz21" / "val.json.gz").read_bytes()
    raw = json.loads(gzip.decompress(content))
    for dialogue in read(shared_data / "multiwoz21" / "val.json.gz").dialogues:
        log = raw[dialogue.id]["log"]
        for index, turn in enumerate(dialogue.turns):
            assert turn.text == log[index]["text"]
            if turn.speaker == "user":
                assert turn.state == plain_state(log[index + 1]["metadata"])


def plain_state(metadata: dict[str, Any]) -> dict[str, dict[str, tuple[str, ...]]]:
    state: dict[str, dict[str, tuple[str, ...]]] = {}
    for domain, groups in metadata.items():
        for slot, value in [*groups["semi"].items(), *groups["book"].items()]:
            if slot != "booked" and value not in ("", "none", "not mentioned"):
                state.setdefault(domain, {})[slot] = tuple(value.split("|"))
    return state
