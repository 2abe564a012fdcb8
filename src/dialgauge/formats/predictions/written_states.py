"""A dialogue state in whatever way people write one down: nested, flat, as pairs, as texts.

``{"hotel": {"area": "north"}}``, ``{"hotel-area": "north"}`` (or ``hotel.area``, ``hotel_area``, ``hotel area``),
``["hotel-area-north"]``, ``[["hotel-area", "north"]]``, ``[{"slot": "hotel-area", "value": "north"}]``, and texts
(:mod:`~dialgauge.formats.predictions.state_texts`). Values are read as :mod:`~dialgauge.formats.predictions.loose`
reads them; what no reading makes a state of is an invalid output, scored as an empty prediction.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

from dialgauge.dialogue import State, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.json_text import rows_by_columns
from dialgauge.formats.notes import INVALID, PARTLY, Notes
from dialgauge.formats.predictions.common import TWO_VALUES, example_rows, refuse_gates
from dialgauge.formats.predictions.loose import (
    NO_NAME,
    NO_SLOT,
    NO_VALUE,
    NUMBER,
    RAN_ON,
    Seen,
    answer_before,
    loose_value,
)
from dialgauge.formats.predictions.model_answers import call_of, calls_in, domain_of_tool, is_answer, texts_in
from dialgauge.formats.predictions.state_texts import TextReader, Triple, is_domain, names_domain, slot_name, split_name
from dialgauge.formats.state_values import present_text
from dialgauge.text import plain

FIRST = "answers with several texts, of which the first was read"
#: Names of how good an output is.
_SCORES = frozenset(("score", "logprob", "log_prob", "prob", "probability", "confidence", "rank"))

#: Letters of a text that are shown.
_QUOTED = 80
#: What may stand around a state.
_AROUND = frozenset(
    {"state", "belief_state", "dialogue_state", "predicted_state", "slot_values", "slots", "inform", "informed"}
)
#: What the slots of a domain may be divided into, or stand in, and what they are called there.
_PARTS = {
    **dict.fromkeys(("semi", "inform", "info", "constraints", "slot_values"), ""),
    **dict.fromkeys(("book", "booking"), "book "),
}
#: Names in an object that is a part of a state: a slot, its value, or the slots of a domain.
_SLOT_NAMES = ("slot", "slotname", "name", "key")
_VALUE_NAMES = ("value", "values", "val", "slotvalue")
_DOMAIN_NAMES = frozenset({"domain", "service"})
#: Names beside a state in what a model answers.
_BESIDE = re.compile(
    "response|text|(?:dialogue_)?acts?|actions?|reasoning|thoughts?|explanation|rationale|confidence|intent|"
    "active_intent|(?:active_)?domains?|request(?:s|ed)?|score|log_?prob|prob|probability"
)
#: A sign between a domain and its slot.
_NAMES_DOMAIN = re.compile(r"[-.:/]")
#: An act around a slot: ``inform(hotel-area=north)``.
_ACT = re.compile(r"(?:inform|set|update|add|slot)\s?\((.{1,500})\)", re.IGNORECASE)
_QUOTES = ("'", '"', "`")
_IN_QUOTES = re.compile(r"""(["`])([^"`]*)\1|'((?:[^']|(?<=\w)'(?=\w)|(?<=s)'(?=\s))*)'""")
_DELETE = re.compile(r"[\[<(]?(?:delete|deleted|remove|removed)[\]>)]?", re.IGNORECASE)
#: Numbers and times as spreadsheets write them: 4.0, 17:30:00.
_IN_CELLS = re.compile(r"([0-9]{1,9})\.0|([0-9]{1,2}:[0-9]{2}):00")


class StateReader:
    """The states of one file, and what had to be read as something else, for its notes.

    All states are shown first (:meth:`learn`), for what a text means depends on the others.
    """

    def __init__(self, notes: Notes, *, cells: bool = False, texts: TextReader | None = None) -> None:
        """``cells``: values come from the cells of a text table, where 4 may be written 4.0."""
        self._notes, self._cells = notes, cells
        self.texts = texts or TextReader()
        #: What of the last state was not understood.
        self._unread = ""
        self.slots: set[tuple[str, str]] = set()
        self.read_states = self.sound_states = self.invalid_states = 0
        self.nameless_states = self.valueless_states = 0
        self.first_invalid: Any = None

    def learn(self, written: Any) -> None:
        """Take a look at a state before the first is read."""
        written = _unnested(written)
        for text in written if isinstance(written, list | tuple) else (written,):
            if isinstance(text, Mapping):
                names = [text["domain"]] if isinstance(text.get("domain"), str) else [str(name) for name in text]
                self.texts.learn_domains((split_name(name) or (name,))[0] for name in names)
            elif isinstance(text, str):
                self.texts.learn(text)

    def attempt(self, written: Any) -> State:
        """The state that was meant, in small letters; empty where there is none."""
        try:
            state = self.read(written, "", 0)
        except (DialgaugeError, RecursionError):
            return {}
        return {
            domain.lower(): {slot.lower(): tuple(value.lower() for value in values) for slot, values in slots.items()}
            for domain, slots in state.items()
        }

    def read(self, written: Any, dialogue: str, turn: int, before: State | None = None) -> State:
        """The state that was meant; where it holds changes only, they are made to the state ``before``."""
        seen: Seen = Counter()
        self._unread = ""
        written = self._single(_unnested(written))
        state: State = {domain: dict(slots) for domain, slots in (before or {}).items()}
        given: dict[tuple[str, str], Values] = {}
        for domain, slot, value in self._triples(written, seen):
            values = () if before is not None and is_deletion(value) else self._values(value, seen)
            if not values:
                if before:
                    state.get(domain, {}).pop(slot, None)
                continue
            slots = state.setdefault(domain, {})
            if given.get((domain, slot), values) != values:
                self._notes.add_at(TWO_VALUES, 1, f"dialogue {dialogue}, turn {turn}")
            slots[slot] = given[domain, slot] = values
            self.slots.add((domain, slot))
        if seen[NO_SLOT] or seen[NO_VALUE]:
            seen[PARTLY], self._unread = 1, self._unread or str(written)
        for what, count in (+seen).items():
            quoted = f": '{plain(self._unread)[:_QUOTED]}'" if what in (INVALID, PARTLY) and self._unread else ""
            self._notes.add_at(what, count, f"dialogue {dialogue}, turn {turn}{quoted}")
        self.read_states += 1
        self.sound_states += bool(given) and not (seen[INVALID] or seen[PARTLY])
        if seen[INVALID]:
            self.first_invalid = self.first_invalid or written
            self.invalid_states += 1
        self.nameless_states += bool(seen[NO_SLOT])
        self.valueless_states += bool(seen[NO_VALUE])
        return {domain: slots for domain, slots in state.items() if slots}

    def _single(self, written: Any) -> Any:
        """What is written; an error where it is a list of whole states: they share slots, or one is empty."""
        if not isinstance(written, list | tuple) or not written:
            return written
        if all(map(call_of, written)):
            return {"tool_calls": written}
        several = any(map(_is_scored, written))
        several |= len(written) > 1 and any(isinstance(item, str) and item.count("=") > 1 for item in written)
        if (
            not several
            and len(written) > 1
            and all(isinstance(item, Mapping) and not (item.keys() & _DOMAIN_NAMES or _pair(item)) for item in written)
        ):
            filled = [{triple[:2] for triple in self._of_mapping(item, Counter())} for item in written]
            several = not all(filled) or sum(map(len, filled)) > len(set().union(*filled))
        if not several:
            return written
        raise DialgaugeError(
            "this is a list of outputs for one turn, as of the best few; write one of them, without a list or a score",
            example=example_rows(),
        )

    def _values(self, value: Any, seen: Seen) -> Values:
        if type(value) is str and not self._cells:
            return present_text(_unquoted(value.strip()))
        while isinstance(value, Mapping) and ("value" in value or "values" in value):
            named = "value" if "value" in value else "values"
            _note_beside(value, {named}, seen)
            value = value[named]
        if isinstance(value, float) and value != value:  # a gap of pandas
            return ()
        if self._cells and isinstance(value, str):
            if value.strip().lower() in ("nan", "-"):
                return ()
            if written := _IN_CELLS.fullmatch(value):
                seen[NUMBER] += 1
                value = written[1] or written[2]
        return loose_value(_unquoted(value.strip()) if isinstance(value, str) else value, seen)

    def _triples(self, written: Any, seen: Seen) -> Iterator[Triple]:
        if (only := _only_text(written)) and (only.lstrip()[:1] in ("{", "[", "`") or self.texts.is_whole(only)):
            written = only
        if isinstance(written, Mapping) and {"service", "state"} <= written.keys():
            written = rows_by_columns(written)  # frames, as the package datasets writes them
        if isinstance(written, set | frozenset):
            written = sorted(written, key=str)
        if isinstance(written, Mapping):
            yield from self._of_mapping(written, seen)
        elif isinstance(written, list | tuple):
            for item in written:
                yield from self._of_item(item, seen)
        elif isinstance(written, str):
            yield from self._of_text(written, seen)
        elif written is not None and written == written:  # NaN is a gap of pandas
            raise DialgaugeError(
                f"a state cannot be {written!r:.40}; write slots with values, such as {{'hotel-area': 'north'}}"
            )

    def _of_mapping(self, written: Mapping[Any, Any], seen: Seen) -> Iterator[Triple]:
        if is_answer(written):
            if calls := [*calls_in(written)]:
                for name, given in calls:
                    yield from self._of_call(name, given, seen)
                return
            [*texts] = texts_in(written)
            seen[INVALID] += not texts
            seen[FIRST] += len(texts) > 1
            yield from self._of_text(texts[0] if texts else "", seen)
            return
        around = [key for key in written if key in _AROUND]
        named = {key: content for key, content in written.items() if not _is_beside(key)}
        if around and (len(written) == 1 or [*named] == around[:1] or "slot_values" in written):
            inner = written.get("slot_values", written[around[0]])
            if isinstance(inner, Mapping | list | tuple):
                yield from self._triples(inner, seen)
                return
        for key, content in named.items() if written.keys() - {"response", "text"} else written.items():
            name = "-".join(map(str, key)) if isinstance(key, tuple) else str(key)
            shares = split_name(name) is not None and _are_shares(content)
            if isinstance(content, Mapping) and not shares and not content.keys() & {"value", "values"}:
                yield from _of_domain(name, content)
            elif isinstance(content, list | tuple) and split_name(name) is None:
                yield from self._of_entries(name, content, seen)
            else:
                yield self._named(name, content, seen)

    def _of_call(self, name: str, given: Mapping[Any, Any], seen: Seen) -> Iterator[Triple]:
        """The arguments of a call: slots that name their domain, or those of the domain that the tool is named by."""
        domain = domain_of_tool(name)
        if not domain and (given.keys() & _DOMAIN_NAMES or _pair(given)):
            yield from self._of_item(given, seen)
        elif not domain or any(
            isinstance(value, Mapping) or _NAMES_DOMAIN.search(str(key)) for key, value in given.items()
        ):
            yield from self._of_mapping(given, seen)
        else:
            yield from _of_domain(domain, given)

    def _named(self, name: str, value: Any, seen: Seen, domain: str = "") -> Triple:
        pair = (domain, slot_name(name)) if domain else split_name(name)
        if pair is None:
            seen[NO_SLOT] += value not in (None, "")
            return name or "unknown", NO_NAME, value
        return *pair, value

    def _of_entries(self, domain: str, entries: Iterable[Any], seen: Seen) -> Iterator[Triple]:
        """``{"hotel": ["area=north", ["stars", "4"]]}``: a domain with a list of its slots."""
        for entry in entries:
            if isinstance(entry, str) and (triple := self.texts.piece(entry.strip(), domain)) is not None:
                yield triple
            elif isinstance(entry, list | tuple) and len(entry) == 2:
                yield self._named(str(entry[0]), entry[1], seen, domain)
            elif isinstance(entry, Mapping) and _pair(entry):
                yield from self._of_item({"domain": domain, **entry}, seen)
            elif isinstance(entry, Mapping):
                yield from _of_domain(domain, entry)
            else:
                yield self._named(domain, entry, seen)

    def _of_item(self, item: Any, seen: Seen) -> Iterator[Triple]:
        """One entry of a state that is a list."""
        if isinstance(item, str):
            bare = item.strip()
            triple = self.texts.piece(act[1] if (act := _ACT.fullmatch(bare)) else bare, "", alone=True)
            if triple is None:
                seen[INVALID] += bool(item.strip())
            else:
                yield triple
        elif isinstance(item, list | tuple) and len(item) == 2 and is_domain(item[0]):
            yield from self._of_mapping({item[0]: item[1]}, seen)
        elif isinstance(item, list | tuple) and len(item) == 2:
            yield self._named(str(item[0]), item[1], seen)
        elif isinstance(item, list | tuple) and len(item) == 3:
            yield str(item[0]), slot_name(str(item[1])), item[2]
        elif isinstance(item, Mapping):
            domain = str(item.get("domain") or item.get("service") or "")
            frame = _listed_slots(item.get("state", item.get("slots")))
            rest = {key: value for key, value in item.items() if key not in _DOMAIN_NAMES and not _is_beside(key)}
            if "slot" in item:
                refuse_gates(item)
            if given := _pair(item):
                slot, value, used = given
                _note_beside(item, used, seen)
                pair = split_name(slot) if domain and slot.lower().startswith(domain.lower() + "-") else None
                yield self._named(pair[1] if pair else slot, value, seen, domain)
            elif domain and isinstance(frame, Mapping) and isinstance(frame.get("slot_values", frame), Mapping):
                yield from _of_domain(domain, frame.get("slot_values", frame))
            elif domain and isinstance(frame, str):
                yield from self._of_text(frame, seen, domain)
            elif domain and isinstance(frame, list | tuple):
                yield from self._of_entries(domain, frame, seen)
            elif domain and rest:
                yield from _of_domain(domain, rest)
            else:
                yield from self._of_mapping(item, seen)
        else:
            seen[INVALID] += 1

    def _of_text(self, written: str, seen: Seen, domain: str = "") -> Iterator[Triple]:
        """The slots of a text; ``domain``: the one that they need not name."""
        text = answer_before(written)
        seen[RAN_ON] += text != written
        literal, triples, unread = self.texts.read(text, domain)
        if unread:
            self._unread = unread
            seen[PARTLY if literal is not None or triples else INVALID] += 1
        if domain and isinstance(literal, Mapping):
            yield from _of_domain(domain, literal)
        elif literal is not None:
            yield from self._triples(literal, seen)
        yield from triples


def is_deletion(value: Any) -> bool:
    """Does it say that a slot is emptied, where a state holds changes?"""
    return isinstance(value, str) and _DELETE.fullmatch(value.strip()) is not None


def _listed_slots(frame: Any) -> Any:
    """A frame whose slots and their values are two lists, as the package datasets writes them, with them as objects."""
    held = frame.get("slots_values") if isinstance(frame, Mapping) else None
    if not isinstance(held, Mapping) or not {"slots_values_name", "slots_values_list"} <= held.keys():
        return frame
    return {"slot_values": dict(zip(held["slots_values_name"], held["slots_values_list"], strict=False))}


def _only_text(written: Any) -> str:
    """The only text of a list, as the only output of a beam; empty where it has more, or none."""
    only = written[0] if isinstance(written, list | tuple) and len(written) == 1 else None
    return only if isinstance(only, str) else ""


def _unnested(written: Any) -> Any:
    """The only list in a list of lists, where it holds a text of a model: ``[[{"text": "{...}"}]]``, ``[["..."]]``."""
    only = written[0] if isinstance(written, list | tuple) and len(written) == 1 else None
    if not isinstance(only, list | tuple) or len(only) != 1:
        return written
    if isinstance(only[0], Mapping) and isinstance(only[0].get("text"), str):
        return only[0]["text"]
    return only if _only_text(only) else written


def _is_scored(item: Any) -> bool:
    """Is it an output with its score: ``{"text": "hotel-area=north", "score": 0.9}``, ``["hotel-area=north", 0.9]``?"""
    if isinstance(item, Mapping):
        others = [key for key in item if key not in _SCORES]
        return len(item) > len(others) == 1 and not (is_domain(others[0]) or names_domain(str(others[0])))
    if not isinstance(item, list | tuple) or len(item) != 2 or not isinstance(item[1], int | float):
        return False
    return isinstance(item[0], Mapping) or (isinstance(item[0], str) and "=" in item[0])


def _is_beside(name: object) -> bool:
    return isinstance(name, str) and _BESIDE.fullmatch(name.lower()) is not None


def _pair(item: Mapping[Any, Any]) -> tuple[str, Any, frozenset[str]] | None:
    """Slot and value of an object that names them, ``{"slot": "hotel-area", "value": "north"}``, and the keys read."""
    named = {re.sub("[^a-z]", "", key.lower()): key for key in item if isinstance(key, str)}
    slot = next((named[name] for name in _SLOT_NAMES if name in named), None)
    value = next((named[name] for name in _VALUE_NAMES if name in named), None)
    if slot is None or value is None or item[slot] is None:
        return None
    return str(item[slot]), item[value], _DOMAIN_NAMES | {slot, value}


def _note_beside(item: Mapping[Any, Any], used: Container[object], seen: Seen) -> None:
    """Count what stands beside a value and is not read; an error where it may say whether the value is meant."""
    others = [name for name in item if name not in used and not _is_beside(name)]
    refuse_gates(others)
    seen.update(f"fields '{str(name)[:40]}' beside values, not read" for name in others)


def _unquoted(value: str) -> str:
    """A value without the quotes around it."""
    quoted = _IN_QUOTES.fullmatch(value) if value[:1] in _QUOTES else None
    return (quoted[2] or quoted[3] or "").strip() if quoted else value


def _are_shares(content: Any) -> bool:
    """Is it an object of values with how likely each is?"""
    shares = content.values() if isinstance(content, Mapping) else ()
    return bool(shares) and all(isinstance(share, float) and 0 <= share <= 1 for share in shares)


def _of_domain(domain: str, slots: Mapping[Any, Any]) -> Iterator[Triple]:
    for name, value in slots.items():
        slot = str(name)
        if slot in _PARTS and isinstance(value, Mapping):
            inside = ((str(key).removeprefix(f"{domain}-"), given) for key, given in value.items() if key != "booked")
            yield from ((domain, f"{_PARTS[slot]}{key}", given) for key, given in inside)
        elif value != {}:
            yield domain, slot_name(slot.removeprefix(f"{domain}-")), value
