"""Names and turn numbers of predictions, changed as a person asks: ``--rename FILE`` and ``--turns shift=1``.

.. code-block:: yaml

    slots:
      hotel-price: hotel-pricerange
    domains:
      hotels: hotel
    dialogues:
      d0001: MUL0001.json

Names on the left are those of the predictions; case does not count. What a slot is renamed to holds before what its
domain is renamed to.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.text import Note, counted, some_of
from dialgauge.tracking.inputs import SystemInput
from dialgauge.yaml_file import read_yaml

T = TypeVar("T")


class Renaming(Struct, frozen=True, forbid_unknown_fields=True):
    """Old name to new name."""

    slots: dict[str, str] = {}
    domains: dict[str, str] = {}
    dialogues: dict[str, str] = {}


def read_renaming(given: Renaming | Mapping[str, Mapping[str, str]] | str | Path) -> Renaming:
    """A renaming from a file, or from a mapping of the same content."""
    file = str(given) if isinstance(given, str | Path) else None
    if isinstance(given, str | Path):
        renaming = read_yaml(given).as_record(Renaming, "a file of names")
    elif isinstance(given, Renaming):
        renaming = given
    else:
        try:
            renaming = msgspec.convert(given, Renaming)
        except msgspec.ValidationError as error:
            raise DialgaugeError(f"a renaming maps slots, domains and dialogues to names: {error}") from error
    for name in [*renaming.slots, *renaming.slots.values()]:
        if not all(name.partition("-")[::2]):
            raise DialgaugeError(f"'{name}' is not of the form domain-slot", file=file)
    return renaming


def renamed(system: SystemInput, renaming: Renaming) -> SystemInput:
    """The predictions under their new names, and notes on what was renamed."""
    predicts = system.predicts
    #: What of a turn was predicted; in SGD's format it is called the state.
    sides = ("predicted", "blank", "judged") if predicts else ("state", "blank")
    names = _Names(renaming)
    made = [names.dialogue(dialogue, sides) for dialogue in system.dialogues]
    wanted = {**renaming.slots, **renaming.domains, **renaming.dialogues}
    done = [f"{old} to {wanted[old]} ({counted(count, 'time')})" for old, count in names.used.items()]
    notes = [Note("renamed", f"renamed as asked: {some_of(done, 5)}" if done else "nothing to rename as asked")]
    if unused := [name for name in wanted if name not in names.used]:
        notes.append(Note("renamed", f"no such name in the predictions, so not renamed: {some_of(unused, 5)}"))
    return replace(system, dialogues=made, notes=(*system.notes, *notes))


class _Names:
    """New names by old ones in small letters, and how often each was met."""

    def __init__(self, renaming: Renaming) -> None:
        self._slots = {old.lower(): (old, *new.split("-", 1)) for old, new in renaming.slots.items()}
        self._domains = {old.lower(): (old, new) for old, new in renaming.domains.items()}
        self._dialogues = {dialogue_key(old): (old, new) for old, new in renaming.dialogues.items()}
        self.used: Counter[str] = Counter()

    def dialogue(self, dialogue: Dialogue, sides: Sequence[str]) -> Dialogue:
        name, turns = dialogue.id, dialogue.turns
        if known := self._dialogues.get(dialogue_key(name)):
            self.used[known[0]] += 1
            name = known[1]
        if self._slots or self._domains:
            try:
                turns = tuple(
                    replace(turn, **{side: self._state(getattr(turn, side)) for side in sides}) for turn in turns
                )
            except DialgaugeError as error:
                raise error.at(dialogue=dialogue.id) from error
        return replace(dialogue, id=name, turns=turns)

    def _state(self, state: Mapping[str, Mapping[str, T]] | None) -> dict[str, dict[str, T]] | None:
        if state is None:
            return None
        made: dict[str, dict[str, T]] = {}
        for domain, slots in state.items():
            for slot, value in slots.items():
                new_domain, new_slot = self._pair(domain, slot)
                if made.setdefault(new_domain, {}).setdefault(new_slot, value) != value:
                    raise DialgaugeError(
                        f"--rename makes {new_domain}-{new_slot} of two slots with different values in one turn, "
                        f"{domain}-{slot} and another; give each a name of its own"
                    )
        return made

    def _pair(self, domain: str, slot: str) -> tuple[str, str]:
        if known := self._slots.get(f"{domain}-{slot}".lower()):
            self.used[known[0]] += 1
            return known[1], known[2]
        if new := self._domains.get(domain.lower()):
            self.used[new[0]] += 1
            return new[1], slot
        return domain, slot


_TURN_OFFSET = re.compile(r"[0-9]{1,2}")


class Counting(NamedTuple):
    """How predictions number the user's turns: ``number = shift + step * turn``."""

    shift: int = 0
    step: int = 1

    def __str__(self) -> str:
        parts = {"shift": self.shift, "step": self.step if self.step > 1 else 0}
        return ",".join(f"{name}={value}" for name, value in parts.items() if value) or "shift=0"

    def place(self, number: int) -> int | None:
        """The user turn of a number; None where it is that of no user turn."""
        turn, rest = divmod(number - self.shift, self.step)
        return turn if turn >= 0 and not rest else None


AS_READ = Counting()
#: The ways in which files count turns.
COUNTINGS = (AS_READ, Counting(1), Counting(2), Counting(0, 2), Counting(1, 2))


def recounted(system: SystemInput, turns: str) -> SystemInput:
    """The turns of a system by the numbers of its file, counted as ``shift=1``, ``step=2`` or both say."""
    values = {"shift": 0, "step": 1}
    for part in turns.split(","):
        name, _, number = part.strip().partition("=")
        if name not in values or not _TURN_OFFSET.fullmatch(number):
            raise DialgaugeError(
                "--turns: shift is the number of the first turn (0, 1, ...), step the distance to the next (1 or 2), "
                f"such as shift=0, step=1 or shift=1,step=2 (got '{turns}')"
            )
        values[name] = int(number)
    if values["step"] not in (1, 2):
        raise DialgaugeError(f"--turns: a step is 1 or 2 (got {values['step']})")
    counting, (first, step) = Counting(**values), system.numbered
    made = []
    for dialogue in system.dialogues:
        places = {counting.place(first + step * at): turn for at, turn in enumerate(dialogue.user_turns())}
        length = max((place for place in places if place is not None), default=-1) + 1
        moved = tuple(places.get(place, Turn(speaker="user")) for place in range(length))
        made.append(replace(dialogue, turns=moved))
    note = Note("renumbered", f"turns counted as asked: --turns {turns}")
    return replace(system, dialogues=made, numbered=counting, recounted=True, notes=(*system.notes, note))
