"""Checks of prediction files: what stops a score, what is only noted, and that published systems pass."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import dialgauge
from dialgauge.text import note_kind
from dialgauge.values import profile_listing

State = dict[str, str]
States = dict[str, list[State]]

SLOTS = {
    "hotel-area": ["north", "south", "east", "west", "centre"],
    "hotel-stars": ["1", "2", "3", "4", "5"],
    "hotel-parking": ["yes", "no"],
    "restaurant-food": ["thai", "indian", "italian", "french"],
    "restaurant-pricerange": ["cheap", "moderate", "expensive"],
    "train-day": ["monday", "tuesday", "friday", "sunday"],
}
SYSTEMS = ["augpt", "dots", "mintl", "ubar"]
KINDS = {"turns", "ids", "changes", "names", "values", "empty", "frozen", "below_empty"}


def corpus(dialogues: int = 60, seed: int = 0) -> States:
    """Dialogues of five or six turns, each turn with one slot more."""
    draw = random.Random(seed)
    made = {}
    for number in range(dialogues):
        order = draw.sample(sorted(SLOTS), draw.randint(5, 6))
        state: State = {}
        turns = []
        for slot in order:
            state = {**state, slot: draw.choice(SLOTS[slot])}
            turns.append(state)
        made[f"MUL{number:04}"] = turns
    return made


def tracker(gold: States, errors: float = 0.08, seed: int = 1) -> States:
    """A tracker that changes each slot with some probability, and keeps it so."""
    draw = random.Random(seed)
    made = {}
    for name, turns in gold.items():
        wrong = {slot: draw.choice(SLOTS[slot]) for slot in SLOTS if draw.random() < errors}
        made[name] = [{slot: wrong.get(slot, value) for slot, value in state.items()} for state in turns]
    return made


def each(change: Callable[[list[State]], list[State]]) -> Callable[[States], States]:
    return lambda states: {name: change(turns) for name, turns in states.items()}


def values(change: Callable[[str, str], tuple[str, str]]) -> Callable[[States], States]:
    return each(lambda turns: [dict(change(slot, value) for slot, value in state.items()) for state in turns])


def changes(turns: list[State]) -> list[State]:
    before: list[State] = [{}, *turns]
    return [
        {slot: state[slot] for slot in state if slot not in last} for last, state in zip(before, turns, strict=False)
    ]


GOLD = corpus()
STOPPED: dict[str, tuple[str, Callable[[States], States]]] = {
    "one turn late": ("turns", each(lambda turns: [{}, *turns[:-1]])),
    "one turn early": ("turns", each(lambda turns: [*turns[1:], turns[-1]])),
    "two turns late": ("turns", each(lambda turns: [{}, {}, *turns[:-2]])),
    "other ids": ("ids", lambda states: {name if name < "MUL0010" else f"d{name}": t for name, t in states.items()}),
}
NOTED: dict[str, tuple[str, Callable[[States], States]]] = {
    "changes only": ("changes", each(changes)),
    "other slot names": ("names", values(lambda slot, value: (slot.replace("hotel", "lodging"), value))),
    "other words": ("values", values(lambda slot, value: (slot, f"{value}-ish"))),
    "empty": ("empty", each(lambda turns: [{} for _ in turns])),
    "the last state everywhere": ("frozen", each(lambda turns: [turns[-1]] * len(turns))),
}


def kinds(gold: object, predicted: object, **options: object) -> set[str]:
    [run] = dialgauge.score(gold, {"mine": predicted}, measures="JGA", intervals=False, **options).runs  # type: ignore[arg-type, dict-item]
    return {note_kind(note) for note in run.notes} & KINDS


def test_a_tracker_that_errs_is_not_noted() -> None:
    assert kinds(GOLD, tracker(GOLD)) == set()
    assert kinds(GOLD, tracker(GOLD, errors=0.5)) == set()


@pytest.mark.parametrize("name", STOPPED)
def test_what_stops_a_score(name: str) -> None:
    kind, damage = STOPPED[name]
    with pytest.raises(dialgauge.DialgaugeError) as stopped:
        kinds(GOLD, damage(tracker(GOLD)))
    assert f"--accept {kind}" in str(stopped.value)
    assert kind in kinds(GOLD, damage(tracker(GOLD)), accept=kind)


@pytest.mark.parametrize("name", NOTED)
def test_what_is_noted(name: str) -> None:
    kind, damage = NOTED[name]
    assert kind in kinds(GOLD, damage(tracker(GOLD)))


def test_a_weak_tracker_one_turn_late_is_noted() -> None:
    """Too few of its predictions equal a state of gold to stop the score."""
    gold = corpus(400)
    weak = {
        name: turns if number % 25 == 0 else [dict.fromkeys(state, "wrong") for state in turns]
        for number, (name, turns) in enumerate(gold.items())
    }
    late = {name: [{}, *turns[:-1]] for name, turns in weak.items()}
    assert "turns" not in kinds(gold, weak)
    assert "turns" in kinds(gold, late)


def test_the_last_state_everywhere_is_no_shift() -> None:
    gold = {name: turns[:3] for name, turns in GOLD.items()}
    assert kinds(gold, {name: [turns[2]] * 3 for name, turns in gold.items()}) == {"frozen"}


def test_turns_that_are_counted_otherwise_name_the_option() -> None:
    states = tracker(GOLD)
    counted = {
        "shift=1": each(lambda turns: [{}, *turns]),
        "step=2": each(lambda turns: [state for turn in turns for state in (turn, {})]),
    }
    for option, damage in counted.items():
        with pytest.raises(dialgauge.DialgaugeError) as stopped:
            kinds(GOLD, damage(states))
        assert f"--turns {option}" in str(stopped.value)
        assert "turns" not in kinds(GOLD, damage(states), turns=option)


def test_fewer_right_turns_than_an_empty_file() -> None:
    gold = {name: [{}, {}, turns[0]] for name, turns in GOLD.items()}
    predicted = {name: [{"hotel-area": "north"}] * 3 for name in GOLD}
    assert "below_empty" in kinds(gold, predicted)
    assert "below_empty" not in kinds(gold, {name: [{}, {}, {}] for name in GOLD})


def test_swapped_roles_can_be_accepted(tmp_path: Path) -> None:
    turns = (dialgauge.Turn(speaker="user", state={"hotel": {"area": ("north",)}}),) * 3
    gold = [dialgauge.Dialogue(id=name, turns=turns) for name in GOLD]
    file = tmp_path / "gold.jsonl"
    dialgauge.write(gold, file, format="native")
    with pytest.raises(dialgauge.DialgaugeError) as refused:
        kinds(file, file)
    assert "--accept roles" in str(refused.value)
    assert kinds(file, file, accept="roles") == set()


@pytest.mark.parametrize("system", SYSTEMS)
def test_published_systems_score_under_every_profile(shared_data: Path, system: str) -> None:
    gold = dialgauge.read(shared_data / "multiwoz21" / "test.json.gz")
    predicted = dialgauge.read(shared_data / "dst_predictions" / f"{system}.json.gz")
    names = [profile.name for profile in profile_listing()]
    results = dialgauge.score(gold, {system: predicted}, profile=names, measures="JGA", intervals=False)
    assert len(results.runs) == len(names) and all(run["JGA"] > 0.15 for run in results.runs)


def test_a_system_of_one_domain_scores(shared_data: Path) -> None:
    gold = dialgauge.read(shared_data / "multiwoz21" / "test.json.gz")
    predicted = {
        one.id: [
            {f"hotel-{slot}": value[0] for slot, value in (turn.predicted or {}).get("hotel", {}).items()}
            for turn in one.user_turns()
        ]
        for one in dialgauge.read(shared_data / "dst_predictions" / "augpt.json.gz").dialogues
    }
    assert not kinds(gold, predicted) & {"turns", "ids"}


def every_other(first: int) -> list[dict[str, Any]]:
    """Rows of every other user turn, whose numbers could also be those of all turns, both speakers counted."""
    return [
        {"dialogue_id": name, "turn": turn + first, "pred": state}
        for name, turns in GOLD.items()
        for turn, state in list(enumerate(turns))[:5:2]
    ]


@pytest.mark.parametrize("first", [0, 1])
def test_turns_by_two_that_may_be_every_other_turn_are_refused_until_somebody_says(first: int) -> None:
    step_1, step_2 = (f"shift={first},step={step}" if first else f"step={step}" for step in (1, 2))
    with pytest.raises(dialgauge.DialgaugeError) as stopped:
        dialgauge.score(GOLD, {"mine": every_other(first)}, measures="JGA")
    assert f"--turns {step_1} " in str(stopped.value) and f"--turns {step_2} " in str(stopped.value)
    [run] = dialgauge.score(GOLD, {"mine": every_other(first)}, measures="JGA", turns=step_1).runs
    assert run["JGA"] == 1
    accepted = dialgauge.score(GOLD, {"mine": every_other(first)}, measures="JGA", turns=step_2, accept="turns")
    assert accepted.runs[0]["JGA"] < 0.5


def test_a_file_without_first_turns_is_taken_as_it_is_numbered() -> None:
    rows = [
        {"dialogue_id": name, "turn": turn, "pred": state}
        for name, turns in GOLD.items()
        for turn, state in enumerate(turns)
        if turn
    ]
    with pytest.raises(dialgauge.DialgaugeError, match="--turns shift=0 takes the numbers as they are"):
        dialgauge.score(GOLD, {"mine": rows}, measures="JGA")
    [run] = dialgauge.score(GOLD, {"mine": rows}, measures="JGA", turns="shift=0").runs
    assert run["JGA"] == 1
    with pytest.raises(dialgauge.DialgaugeError, match=r"shift is the number of the first turn \(0, 1, ...\)"):
        dialgauge.score(GOLD, {"mine": rows}, measures="JGA", turns="shift=-1")


def test_no_option_mends_columns_of_a_file_that_disagree() -> None:
    rows = [
        {"dialogue_id": name, "turn": turn, "gold": state, "pred": before}
        for name, turns in GOLD.items()
        for turn, (before, state) in enumerate(zip([{}, *turns], turns, strict=False))
    ]
    with pytest.raises(dialgauge.DialgaugeError, match="move one of the two by a turn"):
        dialgauge.score(None, {"mine": rows}, measures="JGA")


def test_rows_of_the_system_are_not_taken_for_changes() -> None:
    rows = [
        {"dialogue_id": name, "turn": number, "gold": state, "pred": state}
        for name, turns in GOLD.items()
        for number, state in enumerate(state for turn in turns for state in (turn, {}))
    ]
    [run] = dialgauge.score(None, {"mine": rows}, measures="JGA").runs
    [note] = [note for note in run.notes if note_kind(note) in KINDS]
    assert "every second row of all dialogues is empty on both sides" in note
