"""States that were lost, cut off, moved by two turns or rewritten by a program: told or refused."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import msgspec
import pytest

import dialgauge
from dialgauge.engine import WorkPlace
from dialgauge.errors import DialgaugeError
from dialgauge.runs import Store
from dialgauge.text import note_kind

States: TypeAlias = dict[str, list[dict[str, str]]]

NAMES = ("the golden curry", "the gardenia", "the oak bistro", "la margherita", "pizza hut")
SLOTS = ("hotel-area", "hotel-stars", "hotel-day", "restaurant-food", "restaurant-area", "train-day", "train-people")


def _gold() -> States:
    draws, gold = random.Random(5), States()
    for number in range(20):
        order = draws.sample(SLOTS, len(SLOTS))
        name = {"restaurant-name": NAMES[number % len(NAMES)]}
        gold[f"MUL{number}"] = [
            {**name, **{slot: draws.choice("abc") for slot in order[:turn]}} if turn or number % 2 else {}
            for turn in range(7)
        ]
    return gold


GOLD = _gold()
#: One state in seven is wrong.
PREDICTED = {name: [*states[:5], {**states[5], "hotel-area": "z"}, states[6]] for name, states in GOLD.items()}


def score(predictions: Any, **how: Any) -> Any:
    return dialgauge.score(GOLD, predictions, measures="JGA", intervals=False, **how)["system"]


def each(make: Callable[[list[dict[str, str]]], list[dict[str, str]]]) -> States:
    return {name: make(states) for name, states in PREDICTED.items()}


@pytest.mark.parametrize(
    ("mistake", "kind", "told"),
    [
        (each(lambda states: [{}, {}, *states[:-2]]), "turn_numbers", "those of two turns before"),
        (each(lambda states: [*states[2:], states[-1], states[-1]]), "turn_numbers", "those of two turns after"),
        (each(lambda states: [dict([*state.items()][:3]) for state in states]), "turn_changes", "more than 3 slots"),
    ],
)
def test_states_of_other_turns_and_states_cut_off_are_refused(mistake: States, kind: str, told: str) -> None:
    with pytest.raises(DialgaugeError, match=rf"{told}.*--accept {kind}"):
        score(mistake)
    assert float(score(mistake, accept=kind)["JGA"]) < float(score(PREDICTED)["JGA"])


def test_right_states_are_not_suspected() -> None:
    assert not [note for note in score(PREDICTED).notes if note_kind(note) not in ("coverage", "understood")]


def rows(states: States, lost: Callable[[str, int], bool]) -> list[dict[str, Any]]:
    return [
        {"dialogue_id": name, "turn": turn, "slot": slot, "value": value}
        for name, several in states.items()
        for turn, state in enumerate(several)
        if not lost(name, turn)
        for slot, value in state.items()
    ]


def test_rows_that_are_lost_within_a_dialogue_are_told_and_many_refused() -> None:
    assert float(score(rows(GOLD, lambda name, turn: False))["JGA"]) == 1
    notes = {note_kind(note): str(note) for note in score(rows(GOLD, lambda *turn: turn == ("MUL3", 4))).notes}
    assert notes["invalid_outputs"].startswith("1 of 140 turns have no row or an empty state between turns")
    with pytest.raises(DialgaugeError, match=r"20 of 140 turns have no row .* add their rows if they were lost"):
        score(rows(GOLD, lambda name, turn: turn == 4))


def test_turns_without_a_row_beside_gold_have_empty_gold_and_are_not_told_as_lost() -> None:
    """The row with an empty prediction is there; the turn without a row is empty on both sides."""
    cells = [("d", 0, "", "north"), ("d", 2, "east", "east"), ("d", 3, "east", "east"), ("e", 0, "east", "east"),
             ("e", 1, "east", ""), ("e", 2, "east", "east")]  # fmt: skip
    keys = ("dialogue_id", "turn", "gold", "pred")
    table: Any = [{**dict(zip(keys, cell, strict=True)), "domain": "hotel", "slot": "area"} for cell in cells]
    run = dialgauge.score(None, table, measures="JGA", intervals=False)[0]
    assert float(run["JGA"]) == pytest.approx(5 / 7)
    assert [str(note) for note in run.notes if note_kind(note) == "invalid_outputs"] == [
        "1 of 7 turns have no row or an empty state between turns of their dialogue that have slots, and gold fills "
        "slots there: they are scored as empty; add their rows if they were lost"
    ]


@pytest.mark.parametrize("lost", [lambda name, turn: turn == 6, lambda name, turn: turn < 2 and name == "MUL7"])
def test_first_turns_without_rows_are_empty_and_last_ones_missing(lost: Callable[[str, int], bool]) -> None:
    notes = {note_kind(note): str(note) for note in score(rows(GOLD, lost)).notes}
    assert "invalid_outputs" not in notes
    if lost("MUL0", 6):
        assert "20 turns behind the last row of their dialogue have no row" in notes["turn_numbers"]
        assert notes["turn_numbers"].endswith("to score them as empty states, add --coverage empty")
    again = [note_kind(note) for note in score(rows(GOLD, lost), coverage="empty").notes]
    assert "turn_numbers" not in again


@pytest.mark.parametrize(
    ("write", "told"),
    [
        (
            lambda value: value.removeprefix("the "),
            "values are gold's without their article, such as restaurant-name 'g",
        ),
        (str.upper, ""),
    ],
)
def test_what_a_program_took_from_values_is_told(write: Callable[[str], str], told: str) -> None:
    written = {
        name: [{slot: write(value) for slot, value in state.items()} for state in states]
        for name, states in GOLD.items()
    }
    run = score(written, profile="verbatim" if told else "canon")
    spellings = [str(note) for note in run.notes if note_kind(note) == "value_spellings"]
    assert len(spellings) == bool(told) and all(told in note for note in spellings)


def test_two_names_of_a_slot_are_told_over_many_files(tmp_path: Path) -> None:
    (tmp_path / "truth.json").write_text(json.dumps(GOLD))
    (tmp_path / "mine").mkdir()
    for part in range(2):
        some = {
            name: [{**state, "hotel-book day": "z"} if "hotel-day" in state else state for state in states]
            for name, states in list(GOLD.items())[part::2]
        }
        (tmp_path / "mine" / f"{part}.json").write_text(json.dumps(some))

    def told(workers: WorkPlace | None) -> list[str]:
        how: dict[str, Any] = {"workers": workers, "store": Store(tmp_path / "store"), "profile": "canon"}
        how |= {"measures": "JGA", "intervals": False, "accept": "slot_names,value_spellings"}
        run = dialgauge.score(str(tmp_path / "truth.json"), {"mine": str(tmp_path / "mine")}, **how)["mine"]
        return [str(note) for note in run.notes if note_kind(note) == "several_values"]

    assert "two names in one turn, with different values (hotel-book day and hotel-day)" in told(None)[0]
    assert told(WorkPlace("local")) == told(None)


def _rows(order: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], **beside: Any) -> list[dict[str, Any]]:
    """Records without turn numbers, in an order of their own."""
    return order(
        [
            {"dialogue_id": name, "state": state, **({"user": f"{name}, I say {turn}!"} if beside else {})}
            for name, states in PREDICTED.items()
            for turn, state in enumerate(states)
        ]
    )


def _shuffled(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return random.Random(2).sample(rows, len(rows))


def _by_turn(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for turn in range(7) for row in rows[turn::7]]


def _newest_first(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [row for first in range(0, len(rows), 7) for row in reversed(rows[first : first + 7])]


def _gold_with_words() -> list[dialgauge.Dialogue]:
    return [
        dialgauge.Dialogue(
            id=name,
            turns=tuple(
                dialgauge.Turn(
                    speaker="user",
                    text=f"{name} , i say {turn} !",
                    state=dialgauge.read({name: [state]})[0].turns[0].predicted,
                )
                for turn, state in enumerate(states)
            ),
        )
        for name, states in GOLD.items()
    ]


def test_rows_in_no_order_are_refused_where_nothing_numbers_the_turns() -> None:
    with pytest.raises(DialgaugeError, match=r"in 20 dialogues rows of other dialogues stand between.*turn_numbers"):
        score(_rows(_shuffled))
    assert score(_rows(list))["JGA"] == score(_rows(_by_turn))["JGA"] == score(PREDICTED)["JGA"]


def test_turns_beside_the_words_of_another_gold_turn_are_refused() -> None:
    gold = _gold_with_words()

    def jga(rows: Any) -> Any:
        return dialgauge.score(gold, rows, measures="JGA", intervals=False)["system"]["JGA"]

    with pytest.raises(
        DialgaugeError, match=r"with the user's words.*first turn 0 of dialogue MUL0, which is gold's turn 6"
    ):
        jga(_rows(_newest_first, words=True))
    assert jga(_rows(list, words=True)) == score(PREDICTED)["JGA"]


def _active_domains() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of gold, and of predictions that hold the domains spoken of: now and then two."""
    hotel, train, taxi = {"hotel-area": "north"}, {"train-day": "friday"}, {"taxi-departure": "ely"}
    whole, two = {**hotel, **train, **taxi}, {**train, **taxi}
    states = {f"MUL{n}": [hotel, train, two if n < 7 else taxi, taxi] for n in range(20)}
    gold = {name: [hotel, {**hotel, **train}, whole, whole] for name in states}
    return (
        [{"dialogue_id": name, "turn": n, "state": state} for name, of in gold.items() for n, state in enumerate(of)],
        [{"dialogue_id": name, "turn": n, "pred": state} for name, of in states.items() for n, state in enumerate(of)],
    )


def _last_changes() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Rows of gold, and of the changes of each slot: none behind the last."""
    names = [f"MUL{n}" for n in range(9)]
    gold = [{"dialogue_id": name, "turn": turn, "state": {"hotel-area": "north"}} for name in names for turn in (0, 1)]
    return gold, [{"dialogue_id": name, "turn": 0, "slot": "hotel-area", "changed_value": "north"} for name in names]


@pytest.mark.parametrize(
    ("gold", "rows", "sentence"),
    [
        (_gold_with_words(), _rows(_newest_first, words=True), "first turn 0 of dialogue MUL0, which is gold's turn 6"),
        (*_active_domains(), "of 40 turns that fill a new domain 33 lose all slots of those before, which gold keeps"),
        (*_last_changes(), "9 turns behind the last change of their dialogue have no row and count as missing"),
        (_rows(list), _gold_with_words(), "it has gold states but no predictions"),
    ],
    ids=["words of another turn", "active domains", "last changes", "swapped files"],
)
def test_many_files_are_guarded_as_one_is(gold: list[Any], rows: list[Any], sentence: str, tmp_path: Path) -> None:
    whole, folder, truth = tmp_path / "one" / "mine.jsonl", tmp_path / "mine", tmp_path / "truth.jsonl"
    half = next(n for n, row in enumerate(rows) if _name(row) == "MUL5")
    texts = {truth: gold, whole: rows, folder / "1.jsonl": rows[:half], folder / "2.jsonl": rows[half:]}
    for path, written in texts.items():
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(b"\n".join(map(msgspec.json.encode, written)))

    def told(path: Path, workers: WorkPlace | None) -> str:
        how: dict[str, Any] = {"workers": workers, "store": Store(tmp_path / "store"), "intervals": False}
        try:
            run = dialgauge.score(str(truth), {"mine": str(path)}, measures="JGA", **how)["mine"]
        except DialgaugeError as error:
            return str(error).replace(str(path), "mine").replace(str(folder / "1.jsonl"), "mine")
        return "; ".join(str(note) for note in run.notes if note_kind(note) != "understood")

    here = WorkPlace("local")
    assert sentence in told(whole, None)
    assert told(whole, here) == told(whole, None)
    if not sentence.startswith("it has"):
        assert told(folder, here) == told(whole, None)
    assert sentence in told(folder, here)


def _name(row: Any) -> str:
    return row.id if isinstance(row, dialgauge.Dialogue) else str(row["dialogue_id"])


def test_missing_turns_are_told_where_nothing_numbers_them() -> None:
    run = score(_rows(lambda rows: [row for row in rows if row["state"]]))
    assert any("10 dialogues have fewer than gold (MUL0 has 6 of 7)" in note for note in run.notes)


def test_dialogues_that_are_counted_in_two_ways_are_refused() -> None:
    def rows(first: Callable[[int], int]) -> list[dict[str, Any]]:
        return [
            {"dialogue_id": name, "turn": turn + first(number), "state": state}
            for number, (name, states) in enumerate(PREDICTED.items())
            for turn, state in enumerate(states)
        ]

    with pytest.raises(
        DialgaugeError, match=r"of 4 of 20 dialogues fit gold if they are numbered from 1, and .* 16 as"
    ):
        score(rows(lambda number: int(number % 5 == 4)))
    assert score(rows(lambda number: 0))["JGA"] == score(PREDICTED)["JGA"]


def sgd_shaped(states: States, folder: Path) -> Path:
    """The states as SGD has them: in the frames of user turns, and nowhere called predicted."""

    def frames(state: dict[str, str]) -> list[dict[str, Any]]:
        services: dict[str, dict[str, list[str]]] = {name: {} for name in ("hotel", "restaurant", "train")}
        for name, value in state.items():
            service, slot = name.split("-", 1)
            services[service][slot] = [value]
        held = {"active_intent": "NONE", "requested_slots": list[str]()}
        return [{"service": name, "state": {**held, "slot_values": slots}} for name, slots in services.items()]

    dialogues = [
        {
            "dialogue_id": name,
            "services": ["hotel"],
            "turns": [{"speaker": "USER", "utterance": "", "frames": frames(state)} for state in turns],
        }
        for name, turns in states.items()
    ]
    (folder / "dialogues_001.json").write_text(json.dumps(dialogues))
    return folder / "dialogues_001.json"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda states: [{}, *states[:-1]], "those of the turn before"),
        (lambda states: states[1:], "those of the turn after"),
        (
            lambda states: [
                {slot: value for slot, value in state.items() if slot not in before}
                for before, state in zip([{}, *states], states, strict=False)
            ],
            "only what changed",
        ),
        (lambda states: [turn for state in states for turn in (state, state)], "in steps of 2"),
    ],
)
def test_states_that_nothing_calls_predicted_are_guarded_too(
    make: Callable[[list[dict[str, str]]], list[dict[str, str]]], told: str, tmp_path: Path
) -> None:
    with pytest.raises(DialgaugeError, match=told):
        dialgauge.score(GOLD, sgd_shaped(each(make), tmp_path), measures="JGA", intervals=False)


def test_changes_alone_are_told_in_a_pilot_of_few_dialogues() -> None:
    """Gold itself may lose a slot somewhere, in dialogues that nobody predicted."""
    gold = {
        f"MUL{n}": [{"hotel-area": "north"}] * 2 + [{"hotel-area": "north", "hotel-day": "monday"}] for n in range(19)
    }
    gold["MUL8"] = [{"hotel-area": "north"}, {}]
    pilot = {"MUL0": [{"hotel-area": "north", "hotel-day": "monday", "hotel-stars": "4"}, {}, {"hotel-day": "monday"}]}
    notes = dialgauge.score(gold, {"pilot": pilot}, measures="JGA", intervals=False).notes
    assert any("3 of 3 predicted slots are gone in the next turn, which gold keeps" in note for note in notes)


def test_turns_behind_the_last_of_gold_say_nothing_of_changes() -> None:
    """End-to-end systems write a row without words at the end of each dialogue."""
    notes = score(each(lambda states: [*states, {}])).notes
    assert "turn_changes" not in map(note_kind, notes)


def test_the_step_that_is_proposed_starts_where_the_states_fit() -> None:
    """The state before each user turn, and the one after it."""
    doubled = each(lambda states: [turn for pair in zip([{}, *states], states, strict=False) for turn in pair])
    with pytest.raises(DialgaugeError, match="add --turns shift=1,step=2"):
        score(doubled)
    assert float(score(doubled, turns="shift=1,step=2")["JGA"]) == float(score(PREDICTED)["JGA"])
