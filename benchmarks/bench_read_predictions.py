"""What reading a MultiWOZ-sized prediction file costs, and what the time beyond parsing is spent on.

For each format, in CPU seconds of one run: ``orjson.loads`` of the bytes, our reading of the same bytes into dialogues,
and of that the part no JSON parser does: taking texts apart and building the states of both sides.

python benchmarks/bench_read_predictions.py
"""

from __future__ import annotations

import gc
import io
import json
import random
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import orjson

from turnwise.formats.base import DialogueFormat, Notes
from turnwise.formats.flags import FLAG_SLOTS
from turnwise.formats.registry import format_named
from turnwise.formats.source import Part

DIALOGUES, TURNS, REPEATS = 1000, 7, 5
SLOTS = [(domain, slot.replace("_", " ")) for domain, slots in FLAG_SLOTS.items() for slot in slots]


def corpus() -> dict[str, list[dict[tuple[str, str], str]]]:
    """Growing states of made-up values, about five slots a turn."""
    draw = random.Random(0)
    dialogues = {}
    for number in range(DIALOGUES):
        state: dict[tuple[str, str], str] = {}
        states = []
        for _ in range(TURNS):
            state = state | {draw.choice(SLOTS): f"value {draw.randrange(50)}" for _ in range(2)}
            states.append(state)
        dialogues[f"MUL{number:04}.json"] = states
    return dialogues


def nested(state: dict[tuple[str, str], str]) -> dict[str, dict[str, str]]:
    """A state as nested objects."""
    found: dict[str, dict[str, str]] = {}
    for (domain, slot), value in state.items():
        found.setdefault(domain, {})[slot] = value
    return found


def texts(state: dict[tuple[str, str], str], joint: str = "-") -> list[str]:
    """A state as a list of texts."""
    return [joint.join((*name, value)) for name, value in state.items()]


def files() -> dict[str, Any]:
    """The corpus in each format; gold and prediction are the same."""
    dialogues = corpus()

    def by_turn(turn: Callable[[dict[tuple[str, str], str]], Any]) -> dict[str, Any]:
        return {name: {str(n): turn(state) for n, state in enumerate(states)} for name, states in dialogues.items()}

    trade = by_turn(lambda state: {"turn_belief": texts(state), "pred_bs_ptr": texts(state)})
    t5 = by_turn(lambda state: {"turn_belief": texts(state), "pred_belief": texts(state)})
    spaced = {name: [texts(state, " ") for state in states] for name, states in dialogues.items()}
    return {
        "nested": by_turn(lambda state: {"gt": nested(state), "pr": nested(state)}),
        "som-dst": {
            f"{name}_{n}": [texts(s), texts(s)] for name, states in dialogues.items() for n, s in enumerate(states)
        },
        "trade": trade,
        "t5-dst": {name: {"domain": "hotel", "turns": turns} for name, turns in t5.items()},
        "hi-dst": by_turn(
            lambda s: {side: {"-".join(name): value for name, value in s.items()} for side in ("gt", "pr_turn")}
        ),
        "flags": by_turn(lambda state: [int(slot in state) for slot in SLOTS]),
        "simpletod": {n: {"generated_turn_belief": one, "target_turn_belief": one} for n, one in spaced.items()},
        "mwzeval": {
            name: [{"response": "there are 5 of them .", "state": nested(state)} for state in states]
            for name, states in dialogues.items()
        },
        "trippy": [trippy(name, n, state) for name, states in dialogues.items() for n, state in enumerate(states)],
    }


def trippy(dialogue: str, turn: int, state: dict[tuple[str, str], str]) -> dict[str, Any]:
    """One object of TripPy's file: nine fields a slot, three of them used."""
    record: dict[str, Any] = {"guid": ["test", dialogue, str(turn)]}
    for domain, slot in SLOTS:
        name, value = f"{domain}-{slot.replace(' ', '_')}", state.get((domain, slot), "none")
        record |= {f"class_prediction_{name}": 2 * (value != "none"), f"class_label_id_{name}": 0}
        record |= {
            f"{what}_{name}": 0 for what in ("start_prediction", "end_prediction", "refer_prediction", "refer_id")
        }
        record |= {f"input_ids_{name}": "", f"slot_prediction_{name}": value, f"slot_groundtruth_{name}": value}
    return record


def best(work: Callable[[], object]) -> float:
    """The least CPU seconds of a few tries."""
    times = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print one line a format."""
    print(f"{'format':<10} {'MB':>6} {'orjson':>8} {'reading':>8} {'ratio':>6}   beyond parsing, µs a turn")
    gc.disable()
    for name, value in files().items():
        content = json.dumps(value, indent=1).encode()
        reader = format_named(name)
        assert isinstance(reader, DialogueFormat)
        part = Part(name, partial(io.BytesIO, content), 1 << 40)
        parsing = best(partial(orjson.loads, content))
        reading = best(lambda reader=reader, part=part: list(reader.read(part, Notes())))  # type: ignore[misc]
        beyond = (reading - parsing) / (DIALOGUES * TURNS) * 1e6
        numbers = f"{len(content) / 1e6:6.1f} {parsing:8.4f} {reading:8.4f} {reading / parsing:6.2f}"
        print(f"{name:<10} {numbers}   {beyond:.1f}")


if __name__ == "__main__":
    main()
