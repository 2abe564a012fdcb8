"""What reading prediction files costs beside ``orjson.loads``, and what the rest of the time is spent on.

    python benchmarks/bench_read_predictions.py

The files are made up in the size of MultiWOZ's test set; one new slot in fourteen is predicted wrongly, so that about
half of the turns are right, as with real trackers. ``reading_parts`` says what the columns mean.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any, TypeAlias

from reading_parts import HEADER, Anatomy, Change, row

from dialgauge.formats.predictions import common, flags, mwzeval, state_files, trippy
from dialgauge.formats.predictions.common import Beliefs

DIALOGUES, TURNS = 1000, 7
WRONG = 1 / 14
SLOTS = [(domain, slot.replace("_", " ")) for domain, slots in flags.FLAG_SLOTS.items() for slot in slots]

Written: TypeAlias = dict[tuple[str, str], str]
TEXTS: dict[str, list[Change]] = {"states": [(Beliefs, "_made", lambda self, texts: ({}, 0))]}
ANATOMIES = {
    "nested": Anatomy(
        lambda content, part: state_files.Nested.layout._whole.decode(content),
        {"states": [(state_files, "clean_state", lambda raw: {})]},
    ),
    "som-dst": Anatomy(lambda content, part: each(state_files.SomDst.sides.decode, content), TEXTS),
    "trade": Anatomy(lambda content, part: state_files.Trade.layout._whole.decode(content), TEXTS),
    "t5-dst": Anatomy(
        lambda content, part: each(
            lambda raw: state_files.T5Dst.turns.decode(state_files.T5Dst.dialogue.decode(raw).turns), content
        ),
        TEXTS,
    ),
    "hi-dst": Anatomy(
        lambda content, part: state_files.HiDst.layout._whole.decode(content),
        {"states": [(state_files, "slot_state", lambda values: {})]},
    ),
    "flags": Anatomy(
        lambda content, part: flags._FILE._whole.decode(content), {"verdicts": [(flags, "_judged", lambda raw: {})]}
    ),
    "simpletod": Anatomy(lambda content, part: each(state_files.SimpleTod.dialogue.decode, content), TEXTS),
    "mwzeval": Anatomy(
        lambda content, part: mwzeval._FILE._whole.decode(content),
        {"states": [(mwzeval, "clean_state", lambda raw, blank: {})]},
    ),
    "trippy": Anatomy(
        lambda content, part: [trippy._RECORD.decode(raw) for raw in trippy._RECORDS.decode(content)],
        {"states": [(trippy, "slot_state", lambda values: {})]},
    ),
}


def each(decode: Callable[[Any], object], content: bytes) -> object:
    """The members of the file's object, decoded one by one."""
    return [decode(raw) for raw in common._MEMBERS.decode(content).values()]


def corpus() -> dict[str, list[tuple[Written, Written]]]:
    """Growing states of made-up values: gold and prediction of each turn."""
    draw = random.Random(0)
    dialogues = {}
    for number in range(DIALOGUES):
        gold: Written = {}
        predicted: Written = {}
        turns = []
        for _ in range(TURNS):
            new = {draw.choice(SLOTS): f"value {draw.randrange(50)}" for _ in range(draw.randrange(3))}
            gold = gold | new
            predicted = predicted | {slot: "wrong" if draw.random() < WRONG else value for slot, value in new.items()}
            turns.append((gold, predicted))
        dialogues[f"MUL{number:04}.json"] = turns
    return dialogues


def as_objects(state: Written) -> dict[str, dict[str, str]]:
    """A state as nested objects."""
    found: dict[str, dict[str, str]] = {}
    for (domain, slot), value in state.items():
        found.setdefault(domain, {})[slot] = value
    return found


def texts(state: Written, joint: str = "-") -> list[str]:
    """A state as a list of texts."""
    return [joint.join((*name, value)) for name, value in state.items()]


def files() -> dict[str, Any]:
    """The corpus in each format."""
    dialogues = corpus()

    def by_turn(turn: Callable[[Written, Written], Any]) -> dict[str, Any]:
        return {name: {str(n): turn(*sides) for n, sides in enumerate(turns)} for name, turns in dialogues.items()}

    t5 = by_turn(lambda gold, predicted: {"turn_belief": texts(gold), "pred_belief": texts(predicted)})
    return {
        "nested": by_turn(lambda gold, predicted: {"gt": as_objects(gold), "pr": as_objects(predicted)}),
        "som-dst": {
            f"{name}_{n}": [texts(predicted), texts(gold)]
            for name, turns in dialogues.items()
            for n, (gold, predicted) in enumerate(turns)
        },
        "trade": by_turn(lambda gold, predicted: {"turn_belief": texts(gold), "pred_bs_ptr": texts(predicted)}),
        "t5-dst": {name: {"domain": "hotel", "turns": turns} for name, turns in t5.items()},
        "hi-dst": by_turn(lambda gold, predicted: {"gt": hyphenated(gold), "pr_turn": hyphenated(predicted)}),
        "flags": by_turn(lambda gold, predicted: [int(gold.get(slot) == predicted.get(slot)) for slot in SLOTS]),
        "simpletod": {
            name: {
                "generated_turn_belief": [texts(predicted, " ") for _, predicted in turns],
                "target_turn_belief": [texts(gold, " ") for gold, _ in turns],
            }
            for name, turns in dialogues.items()
        },
        "mwzeval": {
            name: [{"response": "there are 5 of them .", "state": as_objects(predicted)} for _, predicted in turns]
            for name, turns in dialogues.items()
        },
        "trippy": [record(name, n, *sides) for name, turns in dialogues.items() for n, sides in enumerate(turns)],
    }


def hyphenated(state: Written) -> dict[str, str]:
    """A state from ``domain-slot`` to value."""
    return {"-".join(name): value for name, value in state.items()}


def record(dialogue: str, turn: int, gold: Written, predicted: Written) -> dict[str, Any]:
    """One object of TripPy's file: nine fields a slot, three of them used."""
    made: dict[str, Any] = {"guid": ["test", dialogue, str(turn)]}
    for domain, slot in SLOTS:
        name, value = f"{domain}-{slot.replace(' ', '_')}", predicted.get((domain, slot), "none")
        made |= {f"class_prediction_{name}": 2 * (value != "none"), f"class_label_id_{name}": 0}
        made |= {f"{what}_{name}": 0 for what in ("start_prediction", "end_prediction", "refer_prediction", "refer_id")}
        made |= {f"input_ids_{name}": "", f"slot_prediction_{name}": value}
        made[f"slot_groundtruth_{name}"] = gold.get((domain, slot), "none")
    return made


def main() -> None:
    """Print one line a format."""
    print(HEADER)
    for name, value in files().items():
        print(row(name, json.dumps(value, indent=1).encode(), ANATOMIES[name]))


if __name__ == "__main__":
    main()
