"""States by a mapping: rows put together to the turns of dialogues, and the one decoder that reads all states."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
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
    state_of_text,
    values_of,
)
from dialgauge.formats.row_paths import Pattern, Row, as_text
from dialgauge.text import encodable

MAP_IT = "'dialgauge data map {}' proposes a mapping"


class StateReader:
    """Reads states by a mapping. ``place`` says in which line of the mapping a field stands.

    ``documented``: nobody wrote the mapping, and the rows tell whether turns begin at 0 or 1, and go by one or two.
    """

    def __init__(
        self, mapping: Mapping, file: str, place: Callable[..., str] = lambda *path: "", *, documented: bool = False
    ) -> None:
        self._mapping, self._file, self._place, self._documented = mapping, file, place, documented

    def read(self, chosen: Sequence[Row], notes: Notes) -> Iterator[Dialogue]:
        """The dialogues of rows, in the order in which they begin."""
        mapping = self._mapping
        sides = [_Side(name, wanted, mapping) for name in SIDES if (wanted := mapping.field(name)) is not None]
        for side in sides:
            try:
                side.prepare(chosen)
            except Misfit as error:
                raise DialgaugeError(f"{side.name}: {error}{self._place(side.name)}", file=self._file) from None
        self._mapping = replace(mapping, **{side.name: side.wanted for side in sides})
        numbered = self._by_dialogue(chosen)
        mapping = self._mapping
        if notes.reading is not None:
            notes.reading.mapping, notes.reading.unread = mapping, unread_fields(mapping, chosen[:200])
        turn = mapping.field("turn") or Field()
        notes.numbered = max(notes.numbered, (turn.first, turn.step))
        for name, turns in numbered.items():
            try:
                yield Dialogue(id=name, turns=tuple(self._turns(name, sorted(turns.items()), sides, notes)))
            except DialgaugeError as error:
                notes.refuse(error)

    def _refuse(self, row: Row, name: str, error: object) -> NoReturn:
        raise DialgaugeError(f"row {row.number + 1}: {name}: {error}{self._place(name)}", file=self._file) from None

    def _matched(self, name: str, chosen: Sequence[Row]) -> list[dict[str, Any]]:
        """What each row says of a field, under its name, or under the names of the groups of its pattern."""
        wanted = self._mapping.field(name)
        if wanted is None:
            return [{}] * len(chosen)
        values = []
        for row in chosen:
            try:
                values.append(row.get(wanted.at))
            except Misfit as error:
                self._refuse(row, name, error)
        if not wanted.match:
            return [{name: value} for value in values]
        try:
            groups = Pattern(wanted.match).groups([as_text(value) for value in values])
        except Misfit as error:
            raise DialgaugeError(f"{name}: {error}{self._place(name)}", file=self._file) from None
        for row, value, found in zip(chosen, values, groups, strict=True):
            if not found:
                self._refuse(row, name, f"{shown(value)} does not match {wanted.match}")
        return [{name: value, **found} for value, found in zip(values, groups, strict=True)]

    def _by_dialogue(self, chosen: Sequence[Row]) -> dict[str, dict[int, list[Row]]]:
        """Rows by dialogue and turn."""
        grouped: dict[str, dict[int, list[Row]]] = {}
        ids, numbers = self._matched("dialogue", chosen), self._matched("turn", chosen)
        if self._documented and "[{turn}]" not in self._mapping.rows:
            self._number(chosen, ids, numbers)
        turn = self._mapping.field("turn") or Field()
        for row, own, given in zip(chosen, ids, numbers, strict=True):
            found = {**own, **given}
            name = "dialogue"
            try:
                row.require_single_keys()
                identifier = identifier_of(own["dialogue"])
                turns = grouped.setdefault(identifier, {})
                name = "turn"
                number = turn_of(found["turn"], turn) if "turn" in found else len(turns)
            except Misfit as error:
                self._refuse(row, name, error)
            if number in turns and not self._mapping.slot:
                raise DialgaugeError(
                    f"row {row.number + 1}: this turn appears twice; keep one of them, or choose rows with 'where'",
                    file=self._file,
                    dialogue=identifier,
                    turn=number,
                )
            turns.setdefault(number, []).append(row)
        return grouped

    def _number(self, chosen: Sequence[Row], ids: Sequence[dict[str, Any]], given: Sequence[dict[str, Any]]) -> None:
        """Finds the first number of turns, and the step: two where each dialogue has every other number."""
        numbers: dict[str, set[int]] = {}
        for row, own, turn in zip(chosen, ids, given, strict=True):
            try:
                found = {**own, **turn}
                if "turn" not in found:
                    return
                numbers.setdefault(as_text(found["dialogue"]), set()).add(whole_number(found["turn"]))
            except Misfit as error:
                self._refuse(row, "turn", error)
        first = min((min(each) for each in numbers.values()), default=0)
        for name, each in numbers.items():
            if first not in (0, 1) or min(each) != first:
                message = f"turns begin at 0, or at 1, in every dialogue; {shown(name)} begins at {min(each)}"
                raise DialgaugeError(message, file=self._file, advice=MAP_IT.format(self._file))
        by_two = all(each == set(range(first, first + 2 * len(each), 2)) for each in numbers.values())
        step = 2 if by_two and any(len(each) > 1 for each in numbers.values()) else 1
        counted = replace(self._mapping.field("turn") or Field(), first=first, step=step)
        self._mapping = replace(self._mapping, turn=None if counted == Field(at="{turn}") else counted)

    def _turns(
        self, name: str, numbered: Sequence[tuple[int, list[Row]]], sides: Sequence[_Side], notes: Notes
    ) -> Iterator[Turn]:
        missing = self._mapping.missing
        before = 0
        empty: dict[str, Any] = {side.field: {} for side in sides}
        last = empty
        for side in sides:
            side.begin()
        for at, here in numbered:
            for _ in range(at - before):
                notes.add(f"missing turns, {missing}" if missing else "missing turns, left as holes")
                yield Turn(speaker="user", **(last if missing == "carry" else empty)) if missing else HOLE
            last = {}
            for side in sides:
                place = f"dialogue {name}, turn {at}"
                try:
                    last[side.field] = side.state(here, place, notes)
                except Misfit as error:
                    self._refuse(side.row or here[0], side.name, f"{error}, in {place}")
            yield Turn(speaker="user", **last)
            before = at + 1


class _Side:
    """The predicted or the gold states, as a mapping says where they stand and how they are written."""

    def __init__(self, name: str, wanted: Field, mapping: Mapping) -> None:
        self.name, self.wanted, self._slot = name, wanted, mapping.slot
        #: What a turn calls them.
        self.field = "state" if name == "gold" else name
        #: The row that is read.
        self.row: Row | None = None
        self._absent = frozenset(str(value).strip().lower() for value in mapping.absent)
        self._columns: dict[tuple[str, ...], list[tuple[str, str, str]]] = {}
        self._changed: dict[tuple[str, str], Slot] = {}

    def prepare(self, chosen: Sequence[Row]) -> None:
        """Finds the only decoder that reads all rows where none is named; :class:`Misfit` where nothing can be read."""
        if "answer" in self.wanted.chain:
            self._require_answers(chosen)
        elif self.wanted.columns:
            if not any(self._from_columns(row) for row in chosen):
                raise Misfit(f"no column matches '{self.wanted.columns}'")
        elif not self.wanted.chain and not self._slot:
            chain = the_decoder(row.get(self.wanted.at) for row in chosen)
            self.wanted = replace(self.wanted, written=chain)

    def _require_answers(self, chosen: Sequence[Row]) -> None:
        reason = ""
        for row in chosen:
            try:
                if self._slots(row):
                    return
            except Misfit as error:
                reason = reason or str(error)
        if reason:
            raise Misfit(f"no answer can be read ({reason})")

    def begin(self) -> None:
        """A dialogue begins."""
        self._changed = {}

    def state(self, here: Sequence[Row], place: str, notes: Notes) -> State | None:
        """The state in the rows of one turn; None where they say that nothing is recorded."""
        self.row = here[0]
        if len(here) == 1 and self._whole and isinstance(written := self.row.get(self.wanted.at), str):
            return self._counted(*state_of_text(written, self.wanted.chain, self._absent), place, notes)
        slots: list[Slot] = []
        for self.row in here:
            try:
                found = self._slots(self.row)
            except Misfit:
                if "answer" not in self.wanted.chain:
                    raise
                notes.add_at(INVALID, 1, place)
                found = []
            if found is None:
                return None
            slots += found
        if self.wanted.changes:
            self._changed.update({(domain, slot): (domain, slot, given) for domain, slot, given in slots})
            slots = list(self._changed.values())
        return self._counted(*state_of(slots, self._absent), place, notes)

    @property
    def _whole(self) -> bool:
        """Is a state all that stands in one field of one row?"""
        wanted = self.wanted
        return not (self._slot or wanted.columns or wanted.match or wanted.changes or "answer" in wanted.chain)

    def _counted(self, state: State, twice: int, place: str, notes: Notes) -> State:
        if twice:
            notes.add_at(f"gold: {TWO_VALUES}" if self.name == "gold" else TWO_VALUES, twice, place)
        return state

    def _slots(self, row: Row) -> list[Slot] | None:
        """What a row says; None where it says that nothing is recorded."""
        wanted = self.wanted
        if self._slot:
            names = [row.get(path) for path in self._slot]
            if names[-1] in EMPTY:
                return []
            domain, slot = domain_and_slot(names[0]) if len(names) == 1 else names
            if not isinstance(domain, str) or not isinstance(slot, str):
                raise Misfit(f"{shown(names)} names no domain and slot")
            return [(domain, slot, row.get(wanted.at))]
        if wanted.columns:
            return self._from_columns(row)
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

    def _from_columns(self, row: Row) -> list[Slot]:
        value = row.value
        if not isinstance(value, dict):
            raise Misfit(f"{shown(value)} has no columns")
        names = tuple(value)
        if names not in self._columns:
            self._columns[names] = [
                (name, groups["domain"] or "", groups["slot"] or "")
                if groups.keys() >= {"domain", "slot"}
                else (name, *domain_and_slot(next(iter(groups.values()))))
                for name, groups in zip(names, Pattern(self.wanted.columns).groups(names), strict=True)
                if groups
            ]
        return [(domain, slot, value[name]) for name, domain, slot in self._columns[names]]


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
