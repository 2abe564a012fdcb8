"""States by a mapping: rows put together to the turns of dialogues, and the one decoder that reads all states."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any, NoReturn

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, State, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.formats.mapping import SIDES, Field, Mapping, unread_fields
from dialgauge.formats.notes import INVALID, Notes
from dialgauge.formats.predictions.reading import HOLE, MOST_TURNS, TWO_VALUES
from dialgauge.formats.predictions.states import (
    CLOSED,
    EMPTY,
    MOST_TEXT,
    Misfit,
    Slot,
    domain_and_slot,
    is_empty,
    shown,
    slots_of,
    state_of,
    values_of,
)
from dialgauge.formats.row_paths import Pattern, Row, as_text
from dialgauge.text import encodable

#: Pairs of turns from which on states that keep no slot are refused, and not only noted.
FEW_PAIRS = 3
_MAY_BE_CHANGES = "more than one reading is possible: no state keeps a slot of the turn before, so these may be changes"
_HOW_TO_SAY = "a mapping says whether states are changes of each turn, predicted: {at: ..., changes: true} or false"
_ID_AND_TURN = re.compile(r"(?P<stem>.*?[-_ :/#|.]+(?:turn|t)?[-_ :]?)\d{1,4}")
_TURNS_IN_IDS = (
    "dialogues of one turn, whose ids end in numbers: where these are turns, take the ids apart, "
    r"dialogue: {at: ..., match: '^(?P<dialogue>.+)-(?P<turn>\d+)$'}"
)
#: Different states that are remembered at once.
_REMEMBERED = 1 << 17


class StateReader:
    """Reads states by a mapping. ``place`` says in which line of the mapping a field stands."""

    def __init__(self, mapping: Mapping, file: str, place: Callable[..., str] = lambda *path: "") -> None:
        self._mapping, self._file, self._place = mapping, file, place
        self._absent = frozenset(str(value).strip().lower() for value in mapping.absent)
        self._columns: dict[tuple[str, tuple[str, ...]], list[tuple[str, str, str]]] = {}
        #: States by how they are written and their text: most turns repeat another's.
        self._states: dict[tuple[tuple[str, ...], str, str], State] = {}

    def read(self, chosen: Sequence[Row], notes: Notes) -> Iterator[Dialogue]:
        """The dialogues of rows; states that may be changes are noted or, where there are several, refused."""
        vanishing: list[str] | None = []
        for dialogue in self.dialogues(chosen, notes):
            if vanishing is not None:
                vanishing = vanishing_slots(dialogue, vanishing)
            yield dialogue
        stated = [wanted for side in SIDES if (wanted := self._mapping.field(side)) and wanted.changes is not None]
        if not vanishing or stated:
            return
        if len(vanishing) >= FEW_PAIRS:
            message = f"{_MAY_BE_CHANGES}, as in {vanishing[0]}{self._place('predicted')}"
            raise DialgaugeError(message, file=self._file, advice=_HOW_TO_SAY)
        notes.add_at(f"turns that keep no slot of the turn before: {_HOW_TO_SAY}", len(vanishing), vanishing[0])

    def dialogues(self, chosen: Sequence[Row], notes: Notes) -> Iterator[Dialogue]:
        """The dialogues of rows, in the order in which they begin."""
        mapping = self._with_decoders(chosen)
        self._mapping = mapping
        if notes.reading is not None:
            notes.reading.mapping = mapping
            notes.reading.unread = unread_fields(mapping, chosen[:200])
        turn = mapping.field("turn") or Field()
        notes.numbered_from = max(notes.numbered_from, turn.first)
        numbered = self._by_dialogue(chosen)
        self._note_turns_in_ids(numbered, notes)
        for name, turns in numbered.items():
            try:
                yield self._dialogue(name, turns, notes)
            except DialgaugeError as error:
                notes.refuse(error)

    def _note_turns_in_ids(self, dialogues: Iterable[str], notes: Notes) -> None:
        """Note ids that end in numbers, as in MUL1-0, MUL1-1, where the mapping says nothing of turns."""
        names = [] if self._mapping.field("turn") is not None else list(dialogues)
        stems = {match["stem"] for name in names if (match := _ID_AND_TURN.fullmatch(name))}
        if len(names) > 1 and len(stems) < len(names) and all(map(_ID_AND_TURN.fullmatch, names)):
            notes.add_at(_TURNS_IN_IDS, len(names), f"dialogue {names[0]}")

    def _refuse(self, row: Row, name: str, error: object) -> NoReturn:
        raise DialgaugeError(f"row {row.number + 1}: {name}: {error}{self._place(name)}", file=self._file) from None

    def _texts_of(self, name: str, chosen: Sequence[Row]) -> tuple[list[Any], list[dict[str, str | None]]]:
        """The values of a field in all rows, and what its pattern finds in them."""
        wanted = self._mapping.field(name)
        if wanted is None:
            return [None] * len(chosen), []
        values = []
        for row in chosen:
            try:
                values.append(row.get(wanted.at))
            except Misfit as error:
                self._refuse(row, name, error)
        if not wanted.match:
            return values, []
        try:
            groups = Pattern(wanted.match).groups([as_text(value) for value in values])
        except Misfit as error:
            raise DialgaugeError(f"{name}: {error}{self._place(name)}", file=self._file) from None
        for row, value, found in zip(chosen, values, groups, strict=True):
            if not found:
                self._refuse(row, name, f"{shown(value)} does not match {wanted.match}")
        return values, groups

    def _by_dialogue(self, chosen: Sequence[Row]) -> dict[str, list[tuple[int, list[Row]]]]:
        """Rows by dialogue and turn; turns in order, with the rows of each."""
        mapping = self._mapping
        names, from_name = self._texts_of("dialogue", chosen)
        numbers, from_turn = self._texts_of("turn", chosen)
        has_turn = mapping.field("turn") is not None or any("turn" in found for found in from_name[:1])
        grouped: dict[str, dict[int, list[Row]]] = {}
        for place, row in enumerate(chosen):
            found = from_name[place] if from_name else {}
            name = found["dialogue"] if "dialogue" in found else names[place]
            try:
                row.require_single_keys()
                identifier = identifier_of(name)
            except Misfit as error:
                self._refuse(row, "dialogue", error)
            turns = grouped.setdefault(identifier, {})
            number = len(turns)
            if has_turn:
                given = from_turn[place].get("turn", numbers[place]) if from_turn else found.get("turn", numbers[place])
                try:
                    number = turn_of(given, mapping.field("turn") or Field())
                except Misfit as error:
                    self._refuse(row, "turn", error)
            if number in turns and not mapping.slot:
                raise DialgaugeError(
                    f"row {row.number + 1}: this turn appears twice; keep one of them, or choose rows with 'where'",
                    file=self._file,
                    dialogue=identifier,
                    turn=number,
                )
            turns.setdefault(number, []).append(row)
        return {name: sorted(turns.items()) for name, turns in grouped.items()}

    def _dialogue(self, name: str, numbered: list[tuple[int, list[Row]]], notes: Notes) -> Dialogue:
        mapping = self._mapping
        turns: list[Turn] = []
        values: dict[str, dict[tuple[str, str], Slot]] = {side: {} for side in SIDES}
        for number, here in numbered:
            while len(turns) < number:
                turns.append(self._missing_turn(turns))
                notes.add(
                    "missing turns, left as holes" if not mapping.missing else f"missing turns, {mapping.missing}"
                )
            states: dict[str, State | None] = {}
            for side in SIDES:
                if (wanted := mapping.field(side)) is not None:
                    states[side] = self._state(
                        side, wanted, here, values[side], f"dialogue {name}, turn {number}", notes
                    )
            turns.append(Turn(speaker="user", predicted=states.get("predicted"), state=states.get("gold")))
        return Dialogue(id=name, turns=tuple(turns))

    def _missing_turn(self, before: Sequence[Turn]) -> Turn:
        if not self._mapping.missing:
            return HOLE
        carried = before[-1] if before and self._mapping.missing == "carry" else None
        empty: State = {}
        sides = {"predicted" if side == "predicted" else "state": empty for side in SIDES if self._mapping.field(side)}
        return carried or Turn(speaker="user", **sides)  # type: ignore[arg-type]

    def _state(
        self,
        side: str,
        wanted: Field,
        here: Sequence[Row],
        values: dict[tuple[str, str], Slot],
        place: str,
        notes: Notes,
    ) -> State | None:
        plain = len(here) == 1 and not (wanted.changes or wanted.columns or self._mapping.slot)
        text = _text_at(here[0], wanted.at) if plain else ""
        key = wanted.chain, wanted.match, text
        if text and key in self._states:
            return self._states[key]
        slots: list[Slot] = []
        invalid = False
        for row in here:
            try:
                found = self._slots(side, wanted, row)
            except Misfit as error:
                if "answer" not in wanted.chain:
                    self._refuse(row, side, f"{error}, in {place}")
                notes.add_at(INVALID, 1, place)
                found, invalid = [], True
            if found is None:
                return None
            slots += found
        if wanted.changes:
            for slot in slots:
                values[slot[0], slot[1]] = slot
            slots = list(values.values())
        try:
            state, twice = state_of(slots, self._absent)
        except Misfit as error:
            self._refuse(here[0], side, f"{error}, in {place}")
        if twice:
            notes.add_at(f"gold: {TWO_VALUES}" if side == "gold" else TWO_VALUES, twice, place)
        elif text and not invalid:
            if len(self._states) == _REMEMBERED:
                self._states.clear()
            self._states[key] = state
        return state

    def _slots(self, side: str, wanted: Field, row: Row) -> list[Slot] | None:
        """What a row says of a side; None where it says that nothing is recorded."""
        if self._mapping.slot:
            names = [row.get(path) for path in self._mapping.slot]
            if names[-1] in EMPTY:
                return []
            domain, slot = domain_and_slot(names[0]) if len(names) == 1 else names
            if not isinstance(domain, str) or not isinstance(slot, str):
                raise Misfit(f"{shown(names)} names no domain and slot")
            return [(domain, slot, row.get(wanted.at))]
        if wanted.columns:
            return self._from_columns(wanted.columns, row)
        value = row.get(wanted.at)
        if value is None:
            return None
        if wanted.match and not is_empty(value):
            [found] = Pattern(wanted.match).groups([as_text(value)], MOST_TEXT)
            if not found:
                raise Misfit(f"{shown(value)} does not match {wanted.match}")
            value = found.get("state", next(iter(found.values())))
        slots = slots_of(value, wanted.chain)
        for _, _, given in slots:
            values_of(given)  # a value that is an object is an answer that cannot be read, too
        return slots

    def _from_columns(self, pattern: str, row: Row) -> list[Slot]:
        value = row.value
        if not isinstance(value, dict):
            raise Misfit(f"{shown(value)} has no columns")
        names = tuple(value)
        if (pattern, names) not in self._columns:
            found = zip(names, Pattern(pattern).groups(names), strict=True)
            self._columns[pattern, names] = [
                (name, groups["domain"] or "", groups["slot"] or "")
                if groups.keys() >= {"domain", "slot"}
                else (name, *domain_and_slot(next(iter(groups.values()))))
                for name, groups in found
                if groups
            ]
        return [(domain, slot, value[name]) for name, domain, slot in self._columns[pattern, names]]

    def _with_decoders(self, chosen: Sequence[Row]) -> Mapping:
        """The mapping with the decoder of each side that does not name one: the only one that reads all rows."""
        mapping = self._mapping
        for side in SIDES:
            wanted = mapping.field(side)
            if wanted is not None and "answer" in wanted.chain:
                self._require_answers(side, wanted, chosen)
            if wanted is None or wanted.chain or mapping.slot:
                continue
            if wanted.columns:
                try:
                    found = any(self._from_columns(wanted.columns, row) for row in chosen)
                except Misfit as error:
                    raise DialgaugeError(f"{side}: {error}{self._place(side)}", file=self._file) from None
                if not found:
                    message = f"{side}: no column matches '{wanted.columns}'{self._place(side)}"
                    raise DialgaugeError(message, file=self._file)
                continue
            try:
                chain = the_decoder(row.get(wanted.at) for row in chosen)
            except Misfit as error:
                raise DialgaugeError(f"{side}: {error}{self._place(side)}", file=self._file) from None
            mapping = replace(mapping, **{side: replace(wanted, written=chain)})
        return mapping

    def _require_answers(self, side: str, wanted: Field, chosen: Sequence[Row]) -> None:
        """An error where none of a model's answers is written as the mapping says."""
        reason = ""
        for row in chosen:
            try:
                if self._slots(side, wanted, row):
                    return
            except Misfit as error:
                reason = reason or str(error)
        if reason:
            raise DialgaugeError(f"{side}: no answer can be read ({reason}){self._place(side)}", file=self._file)


def _text_at(row: Row, path: str) -> str:
    """The text at a path; empty where there is none."""
    try:
        value = row.get(path)
    except Misfit:
        return ""
    return value if isinstance(value, str) else ""


def vanishing_slots(dialogue: Dialogue, found: list[str]) -> list[str] | None:
    """Where no slot of the turn before is left, after the places found before; None once a state keeps a slot."""
    states = [turn.predicted if turn.predicted is not None else turn.state or {} for turn in dialogue.turns]
    slots = [{(domain, slot) for domain in state for slot in state[domain]} for state in states]
    for number, (before, after) in enumerate(pairwise(slots), 1):
        if before & after:
            return None
        if before and after:
            found.append(f"dialogue {dialogue.id}, turn {number}")
    return found


def the_decoder(values: Iterable[Any]) -> tuple[str, ...]:
    """The one way of writing states in which all values are; :class:`Misfit` where there is none, or several."""
    openers: tuple[tuple[str, ...], ...] = ((), ("json",), ("python",))
    chains = [(*opener, name) for opener in openers for name in CLOSED]
    reasons: dict[tuple[str, ...], str] = {}
    filled, seen = False, set[str]()
    for value in values:
        if isinstance(value, str):
            if value in seen:
                continue
            seen.add(value)
        if is_empty(value):
            continue
        for chain in chains if len(chains) > 1 or not filled else ():
            try:
                filled |= bool(slots_of(value, chain) and state_of(slots_of(value, chain)))
            except Misfit as error:
                reasons[chain] = str(error)
        if not (fitting := [chain for chain in chains if chain not in reasons]):
            reason = reasons[min(chains, key=len)] if len(chains) < 4 else f"{shown(value)} is written in no known way"
            raise Misfit(f"{reason}; decoders: {', '.join(CLOSED)}")
        chains = fitting
    if not filled:
        return chains[0]
    if len(chains) > 1:
        raise Misfit(
            f"it can be read in several ways: {' or '.join(' '.join(chain) for chain in chains)}; name one (as)"
        )
    return chains[0]


def identifier_of(value: Any) -> str:
    """The id of a dialogue as a text; a whole number that a frame made a float is whole again."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise Misfit(f"{shown(value)} is no id of a dialogue")
    return encodable(str(value))


def turn_of(value: Any, wanted: Field) -> int:
    """The index of a user turn."""
    number = whole_number(value) - wanted.first
    if number < 0 or number % wanted.step:
        by = f", {wanted.first + wanted.step}, ..." if wanted.step > 1 else " on"
        raise Misfit(f"{shown(value)} is no number of a turn from {wanted.first}{by}")
    if number // wanted.step >= MOST_TURNS:
        raise Misfit(f"turn {number:,} is beyond the {MOST_TURNS:,} turns a dialogue may have")
    return number // wanted.step


def whole_number(value: Any) -> int:
    """A whole number, also as a text."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = value.strip().removesuffix(".0")
        if text.isascii() and text.isdigit() and len(text) < 10:
            return int(text)
    hint = r"; match: '(?P<turn>\d+)' in a mapping takes the number out" if re.search(r"\d", str(value)) else ""
    raise Misfit(f"{shown(value)} is no number of a turn{hint}")
