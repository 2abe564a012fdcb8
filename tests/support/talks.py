"""Conversations between a user and a system, written down in a few words.

    talk({"hotel": Task(info={"area": "north"})}, ("hotel inform area=north",), ("hotel recommend name=acorn",))

Each further argument is a turn, a tuple of acts ``service act slot=value`` (or ``service act slot`` without a value);
user and system take turns. What the other side hears is what was said, unless :func:`mishear` changes it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from dialgauge.dialogue import Act, Dialogue, Goal, Speaker, Task, Turn
from dialgauge.users import GcdfConfig, load_config

_NAMES = {"nooffer": "NoOffer", "nobook": "NoBook", "offerbook": "OfferBook", "offerbooked": "OfferBooked"}

SPEAKERS: tuple[Speaker, Speaker] = ("user", "system")


def act(text: str) -> Act:
    """``hotel inform area=north`` is the act Hotel-Inform of the service hotel; ``request`` asks ``?``."""
    service, name, *rest = text.split(" ", 2)
    slot, equals, value = (rest[0] if rest else "").partition("=")
    values = tuple(value.split("|")) if equals else (("?",) if name == "request" else ())
    return Act(f"{service.capitalize()}-{_NAMES.get(name, name.capitalize())}", service, slot, values)


def turn(position: int, acts: Sequence[str], text: str = "") -> Turn:
    """One turn; a user's requests are recorded as requested slots too, as the GCDF1 files do."""
    said = tuple(map(act, acts))
    requested: dict[str, tuple[str, ...]] = {}
    for each in said:
        if each.name.endswith("-Request"):
            requested[each.domain] = (*requested.get(each.domain, ()), f"{each.domain}-{each.slot}")
    speaker = SPEAKERS[position % 2]
    return Turn(speaker=speaker, text=text, acts=said, heard=said, requested=requested if speaker == "user" else None)


def talk(tasks: dict[str, Task], *turns: Sequence[str], id: str = "d1") -> Dialogue:
    """A whole conversation."""
    return Dialogue(id=id, turns=tuple(turn(place, acts) for place, acts in enumerate(turns)), goal=Goal(tasks=tasks))


def mishear(dialogue: Dialogue, position: int, *acts: str) -> Dialogue:
    """The conversation with one turn heard as something else."""
    turns = list(dialogue.turns)
    turns[position] = msgspec.structs.replace(turns[position], heard=tuple(map(act, acts)))
    return msgspec.structs.replace(dialogue, turns=tuple(turns))


def configured(options: Mapping[str, Any]) -> GcdfConfig:
    """The default configuration with the options at some dotted paths changed."""
    return load_config(overrides=[f"{path}={json.dumps(value)}" for path, value in options.items()])
