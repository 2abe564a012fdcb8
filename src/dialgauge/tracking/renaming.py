"""Names of a prediction file that gold calls otherwise: slots, domains and dialogues, from a file that people write.

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

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, State, Turn, dialogue_key
from dialgauge.errors import DialgaugeError
from dialgauge.text import Note, counted, some_of
from dialgauge.yaml_file import read_yaml

T = TypeVar("T")


class Renaming(Struct, frozen=True, forbid_unknown_fields=True):
    """Old name to new name."""

    slots: dict[str, str] = {}
    domains: dict[str, str] = {}
    dialogues: dict[str, str] = {}


def read_renaming(given: Renaming | Mapping[str, Mapping[str, str]] | str | Path) -> Renaming:
    """A renaming from a file, or from a mapping of the same content."""
    if isinstance(given, Renaming):
        renaming, file = given, None
    elif isinstance(given, str | Path):
        renaming, file = read_yaml(given).as_record(Renaming, "a file of names"), str(given)
    else:
        file = None
        try:
            renaming = msgspec.convert(given, Renaming)
        except msgspec.ValidationError as error:
            raise DialgaugeError(f"a renaming maps slots, domains and dialogues to names: {error}") from error
    for name in [*renaming.slots, *renaming.slots.values()]:
        if not all(name.partition("-")[::2]):
            raise DialgaugeError(f"'{name}' is not of the form domain-slot", file=file)
    return renaming


def renamed(dialogues: Sequence[Dialogue], renaming: Renaming) -> tuple[list[Dialogue], dict[str, int]]:
    """The predictions under their new names, and how often each name was met."""
    worker = _Renamer(renaming, _sides(dialogues))
    return [worker.dialogue(dialogue) for dialogue in dialogues], worker.used


def renaming_notes(renaming: Renaming, used: Mapping[str, int]) -> list[Note]:
    """What to say of names that were met so often."""
    wanted = {**renaming.slots, **renaming.domains, **renaming.dialogues}
    done = [f"{old} to {wanted[old]} ({counted(count, 'time')})" for old, count in used.items()]
    notes = [Note("renamed", f"renamed as asked: {some_of(done, 5)}" if used else "nothing to rename as asked")]
    if unused := [name for name in wanted if name not in used]:
        notes.append(Note("renamed", f"no such name in the predictions, so not renamed: {some_of(unused, 5)}"))
    return notes


def named_as_gold(
    gold: Sequence[Dialogue], dialogues: Sequence[Dialogue], originals: Mapping[str, str]
) -> tuple[Sequence[Dialogue], list[Note]]:
    """The predictions with ids and slots as gold has them, and what to say of it."""
    named = with_original_ids(gold, dialogues, originals)
    prefixed = prefixed_as_gold(gold, named)
    changed = ((named is not dialogues, _ORIGINALS), (prefixed is not named, _REPREFIXED))
    return prefixed, [note for is_other, note in changed if is_other]


#: What is said where :func:`prefixed_as_gold` changed something.
_REPREFIXED = Note(
    "renamed", "slots read as gold names them, with or without the domain before them (hotel-area of hotel, or area)"
)


def prefixed_as_gold(gold: Sequence[Dialogue], dialogues: Sequence[Dialogue]) -> Sequence[Dialogue]:
    """The predictions with the domain before each slot, as MultiWOZ 2.2 writes it, where gold has it, and without it
    where gold has not; the same object where both agree."""
    sides = _sides(dialogues)
    of_gold = [_repeats_domain(*name) for name in _first_names(gold, ("state",))]
    ours = [_repeats_domain(*name) for name in _first_names(dialogues, sides)]
    if any(ours) and not any(of_gold):
        wanted = False
    elif ours and not any(ours) and of_gold and all(of_gold):
        wanted = True
    else:
        return dialogues
    slots = {
        f"{domain}-{slot}": f"{domain}-{domain}-{slot}" if wanted else slot
        for dialogue in dialogues
        for turn in dialogue.turns
        for side in sides
        for domain, inside in (getattr(turn, side) or {}).items()
        for slot in inside
        if _repeats_domain(domain, slot) is not wanted
    }
    worker = _Renamer(Renaming(slots=slots), sides)
    return [worker.dialogue(dialogue) for dialogue in dialogues]


#: What is said where :func:`with_original_ids` changed something.
_ORIGINALS = Note("renamed", "dialogues called by their original_id, as gold calls them")


def with_original_ids(
    gold: Sequence[Dialogue], dialogues: Sequence[Dialogue], originals: Mapping[str, str]
) -> Sequence[Dialogue]:
    """The predictions under the ids of the dataset that ConvLab-3 took them from, where gold has these and none of
    theirs; the same object elsewhere."""
    known = {dialogue_key(dialogue.id) for dialogue in gold} if originals else set()
    theirs = {dialogue_key(name) for name in originals.values()}
    if known.isdisjoint(theirs) or len(theirs) < len(originals):
        return dialogues
    if any(dialogue_key(dialogue.id) in known for dialogue in dialogues):
        return dialogues
    return [replace(dialogue, id=originals.get(dialogue.id, dialogue.id)) for dialogue in dialogues]


def _sides(dialogues: Sequence[Dialogue]) -> tuple[str, ...]:
    """What of a turn was predicted; in SGD's format it is called the state."""
    predicts = any(
        turn.predicted is not None or turn.judged is not None for dialogue in dialogues for turn in dialogue.turns
    )
    return ("predicted", "blank", "judged") if predicts else ("state", "blank")


def _first_names(dialogues: Sequence[Dialogue], sides: Sequence[str]) -> list[tuple[str, str]]:
    """The slots of the first state that has any."""
    states = (getattr(turn, side) for dialogue in dialogues for turn in dialogue.turns for side in sides)
    first: State = next(filter(None, states), {})
    return [(domain, slot) for domain, slots in first.items() for slot in slots]


def _repeats_domain(domain: str, slot: str) -> bool:
    return slot.lower().startswith(f"{domain.lower()}-")


class _Renamer:
    def __init__(self, renaming: Renaming, sides: Sequence[str]) -> None:
        self._sides = sides
        self._slots = {old.lower(): (old, *new.split("-", 1)) for old, new in renaming.slots.items()}
        self._domains = {old.lower(): (old, new) for old, new in renaming.domains.items()}
        self._dialogues = {dialogue_key(old): (old, new) for old, new in renaming.dialogues.items()}
        self.used: dict[str, int] = {}

    def dialogue(self, dialogue: Dialogue) -> Dialogue:
        known = self._dialogues.get(dialogue_key(dialogue.id))
        if known:
            self._count(known[0])
        turns = dialogue.turns
        if self._slots or self._domains:
            try:
                turns = tuple(map(self._turn, turns))
            except DialgaugeError as error:
                raise error.at(dialogue=dialogue.id) from error
        return replace(dialogue, id=known[1] if known else dialogue.id, turns=turns)

    def _turn(self, turn: Turn) -> Turn:
        changed = {name: self._state(state) for name in self._sides if (state := getattr(turn, name)) is not None}
        return replace(turn, **changed) if changed else turn

    def _state(self, state: Mapping[str, Mapping[str, T]]) -> dict[str, dict[str, T]]:
        made: dict[str, dict[str, T]] = {}
        for domain, slots in state.items():
            for slot, value in slots.items():
                new_domain, new_slot = self._pair(domain, slot)
                renamed = made.setdefault(new_domain, {})
                if renamed.setdefault(new_slot, value) != value:
                    raise DialgaugeError(
                        f"--rename makes {new_domain}-{new_slot} of two slots with different values in one turn, "
                        f"{domain}-{slot} and another; give each a name of its own"
                    )
        return made

    def _pair(self, domain: str, slot: str) -> tuple[str, str]:
        if known := self._slots.get(f"{domain}-{slot}".lower()):
            self._count(known[0])
            return known[1], known[2]
        if new := self._domains.get(domain.lower()):
            self._count(new[0])
            return new[1], slot
        return domain, slot

    def _count(self, name: str) -> None:
        self.used[name] = self.used.get(name, 0) + 1
