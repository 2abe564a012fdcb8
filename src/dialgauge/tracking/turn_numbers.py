"""How predictions number the user's turns; they are recounted as asked."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.text import Note

_TURN_OFFSET = re.compile(r"[0-9]{1,2}")


class Counting(NamedTuple):
    """How predictions number the user's turns: ``number = shift + step * turn``."""

    shift: int = 0
    step: int = 1

    def __str__(self) -> str:
        parts = {"shift": self.shift, "step": self.step if self.step > 1 else 0}
        return ",".join(f"{name}={value}" for name, value in parts.items() if value) or "shift=0"

    def sentence(self) -> str:
        if self == AS_READ:
            return "as they were read, so nothing changed"
        by = " in steps of 2, as where the system's turns are counted too" if self.step == 2 else ""
        return f"numbered from {self.shift}{by}"

    def place(self, number: int) -> int | None:
        """The user turn of a number; None where it is that of no user turn."""
        turn, rest = divmod(number - self.shift, self.step)
        return turn if turn >= 0 and not rest else None


AS_READ = Counting()
#: The ways in which files count turns.
COUNTINGS = (AS_READ, Counting(1), Counting(2), Counting(0, 2), Counting(1, 2))


def counting_named(text: str) -> Counting:
    """A way of counting: ``shift=1``, ``step=2``, or both with a comma between."""
    values = {"shift": 0, "step": 1}
    for part in text.split(","):
        name, _, number = part.strip().partition("=")
        if name not in values or not _TURN_OFFSET.fullmatch(number):
            lacking = "; a file that lacks the first turns needs them, with empty states" if "=-" in text else ""
            raise DialgaugeError(f"--turns must be shift=1, step=2 or shift=1,step=2 (got '{text}'){lacking}")
        values[name] = int(number)
    if values["step"] not in (1, 2):
        raise DialgaugeError(f"--turns: a step is 1 or 2 (got {values['step']})")
    return Counting(**values)


def counted_as_asked(dialogues: Iterable[Dialogue], turns: str, numbered_from: int) -> tuple[list[Dialogue], Note]:
    """Dialogues whose first turns a file numbers so, counted in a way that was named."""
    counting = counting_named(turns)
    if counting.step == 1:
        counting = Counting(counting.shift - numbered_from)
    return _recounted(dialogues, counting), Note("renumbered", f"turns counted as asked: {counting.sentence()}")


def _recounted(dialogues: Iterable[Dialogue], counting: Counting) -> list[Dialogue]:
    recounted = []
    for dialogue in dialogues:
        places = {counting.place(number): turn for number, turn in enumerate(dialogue.user_turns())}
        length = max((place for place in places if place is not None), default=-1) + 1
        turns = tuple(places.get(place, Turn(speaker="user")) for place in range(length))
        recounted.append(replace(dialogue, turns=turns))
    return recounted
