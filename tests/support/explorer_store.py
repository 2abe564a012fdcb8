"""Stores for the tests of the explorer: small ones that are scored for real, and large ones that are made up."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path

from dialgauge import Dialogue, Store, Turn, score
from dialgauge.dialogue import State
from dialgauge.runs import Run

SLOTS = ("area", "food", "pricerange", "name")
VALUES = ("north", "south", "cheap", "dear", "italian")
DOMAINS = ("hotel", "restaurant")


def tracked(count: int, seed: int, *, error: float = 0.2, say: Callable[[str], str] = str) -> list[Dialogue]:
    """Dialogues in which the states are predicted with some errors; ``say`` changes every text in them."""
    draw = random.Random(seed)
    dialogues = []
    for number in range(count):
        turns: list[Turn] = []
        gold: State = {}
        seen: State = {}
        same = random.Random(number)  # gold and words are the same whatever the errors
        for _ in range(same.randint(1, 5)):
            domain, slot, value = (say(same.choice(names)) for names in (DOMAINS, SLOTS, VALUES))
            gold = {**gold, domain: {**gold.get(domain, {}), slot: (value,)}}
            if draw.random() > error:
                told = value if draw.random() > error / 2 else say("wrong")
                seen = {**seen, domain: {**seen.get(domain, {}), slot: (told,)}}
            turns.append(Turn(speaker="user", text=say(f"I want {slot} {value}"), state=gold, predicted=seen))
            turns.append(Turn(speaker="system", text=say(f"How about {same.choice(VALUES)}?")))
        dialogues.append(Dialogue(id=say(f"D{number:04}"), turns=tuple(turns), domains=tuple(gold)))
    return dialogues


def tracking_store(
    folder: Path, *, count: int = 60, systems: Sequence[str] = ("alpha", "beta")
) -> tuple[Store, list[Run]]:
    """A store with a tracking run of each system over the same dialogues."""
    store = Store(folder)
    scored = score(
        tracked(count, 0),
        {name: tracked(count, place, error=0.15 + 0.15 * place) for place, name in enumerate(systems)},
        resamples=200,
    )
    return store, [store.add(run) for run in scored.runs]
