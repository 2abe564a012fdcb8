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
from dialgauge.formats.predictions.beside import is_flag, meant_value
from dialgauge.formats.predictions.common import TWO_VALUES, example_rows
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
from dialgauge.formats.predictions.state_texts import TextReader, Triple, is_domain, slot_name, split_name
from dialgauge.formats.state_values import present_text
from dialgauge.text import plain

FIRST = "answers with several texts, of which the first was read"
LIKELIEST = "values with probabilities, of which the likeliest was read"
BEST = "lists of states with scores, of which the best was read"
#: Names of how good a state is, the highest being the best.
_SCORES = ("score", "logprob", "log_prob", "prob", "probability", "confidence")
#: Names of what a model put out, beside its score.
_OUTPUTS = frozenset(
    """
    text output prediction predicted pred generated generation generatedtext sequence hypothesis completion answer
    decoded state beliefstate
    """.split()  # noqa: SIM905
)
#: The same, of what a turn changes.
_CHANGES = frozenset(("update", "updates", "change", "changes", "delta", "deltas", "diff"))
#: What probabilities sum up to, rounded.
_WHOLE, _HALF = 1.01, 0.5

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
        self.read_states = self.sound_states = self.invalid_states = self.nameless_states = 0
        self.first_invalid: Any = None

    def learn(self, written: Any) -> None:
        """Take a look at a state before the first is read."""
        written = _unnested(written)
        for item in written if isinstance(written, list | tuple) else (written,):
            text = _scored(item)[0]
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
        if before is None and (name := _changes_among(written)):
            raise DialgaugeError(
                f"'{name}' holds what a turn changes, in a list of several outputs: keep the best of them, in a field "
                "'changes' of its own, and the changes are added up",
                example=example_rows(dialogue, name="changes"),
            )
        written = self._single(_unnested(written), seen)
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
        return {domain: slots for domain, slots in state.items() if slots}

    def _single(self, written: Any, seen: Seen) -> Any:
        """The best of a list of whole states, as of a beam: they share slots, or one is empty; else what is written.

        It is an error where no scores say which is the best.
        """
        if not isinstance(written, list | tuple) or not written:
            return written
        if all(map(call_of, written)):
            return {"tool_calls": written}
        outputs = [_scored(item) for item in written]
        several = any(output is not item for (output, _), item in zip(outputs, written, strict=True))
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
        scores = [score for _, score in outputs if score is not None]
        if len(scores) == len(written) and scores.count(max(scores)) == 1:
            seen[BEST] += len(written) > 1
            return outputs[scores.index(max(scores))][0]
        raise DialgaugeError(
            f"this is a list of {len(written)} states for one turn, as of the best few outputs; keep one of them, or "
            "give each a 'score', as in {'text': 'hotel-area=north', 'score': 0.9}, and that with the highest is read",
            example=example_rows(),
        )

    def _values(self, value: Any, seen: Seen) -> Values:
        if type(value) is str and not self._cells:
            return present_text(_unquoted(value.strip()))
        while isinstance(value, Mapping) and ("value" in value or "values" in value):
            named = "value" if "value" in value else "values"
            beside = _flags_in(value, {named}) if len(value) > 1 else {}
            value = meant_value(value[named], beside, seen) if beside else value[named]
        best = _best_value(value)
        seen[LIKELIEST] += best is not value
        value = best
        if _are_pairs(value):  # [["north", 0.9], ["south", 0.1]]
            value = dict(value)
        if _are_probabilities(value):
            seen[LIKELIEST] += 1
            value = max(value, key=value.__getitem__)
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
            likely = split_name(name) is not None and _are_probabilities(content)
            if isinstance(content, Mapping) and not likely and not content.keys() & {"value", "values"}:
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
            if given := _pair(item):
                slot, value, beside = given
                value = {"value": value, **beside} if beside else value
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


def _scored(item: Any) -> tuple[Any, float | None]:
    """An output and its score: ``{"text": "hotel-area=north", "score": 0.9}``, ``["hotel-area=north", 0.9]``.

    Without a score it is the item itself; slots beside a score are a state.
    """
    if isinstance(item, Mapping):
        score = next((item[name] for name in _SCORES if _is_number(item.get(name))), None)
        score = -item["rank"] if _is_number(item.get("rank")) else score  # which says more than a score, or a cost
        others = [key for key in item if key not in _SCORES and key != "rank"]
        is_output = len(others) == 1 and re.sub("[^a-z]", "", str(others[0]).lower()) in _OUTPUTS | _CHANGES
        return (item[others[0]] if is_output and score is not None else item), score
    if isinstance(item, list | tuple) and len(item) == 2 and _is_number(item[1]):
        output, score = item
        is_output = isinstance(output, Mapping) or (isinstance(output, str) and ("=" in output or not output.strip()))
        return (output, score) if is_output else (item, None)
    return item, None


def _changes_among(written: Any) -> str:
    """The name of what turns change in a list of outputs with scores; empty where they hold states."""
    first = written[0] if isinstance(written, list) and written and isinstance(written[0], Mapping) else {}
    named = next((str(key) for key in first if str(key).lower() in _CHANGES), "")
    return named if named and _scored(first)[1] is not None else ""


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value == value


def _is_beside(name: object) -> bool:
    return isinstance(name, str) and _BESIDE.fullmatch(name.lower()) is not None


def _pair(item: Mapping[Any, Any]) -> tuple[str, Any, dict[str, Any]] | None:
    """Slot and value of an object that names them: ``{"slot": "hotel-area", "value": "north"}``, and what is beside."""
    named = {re.sub("[^a-z]", "", key.lower()): key for key in item if isinstance(key, str)}
    slot = next((named[name] for name in _SLOT_NAMES if name in named), None)
    value = next((named[name] for name in _VALUE_NAMES if name in named), None)
    if slot is None or item[slot] is None:
        return None
    beside = _flags_in(item, {slot, value, *_DOMAIN_NAMES}) if len(item) > 2 or value is None else {}
    if value is None and not any(map(is_deletion, beside.values())):
        return None
    return str(item[slot]), item[value] if value else "", beside


def _flags_in(item: Mapping[Any, Any], used: Container[object]) -> dict[str, Any]:
    """What stands beside a value and may say whether it is meant."""
    others = ((name, held) for name, held in item.items() if name not in used and name not in _SCORES)
    return {name: held for name, held in others if not _is_beside(name) or is_flag(name, [held])}


def _unquoted(value: str) -> str:
    """A value without the quotes around it."""
    quoted = _IN_QUOTES.fullmatch(value) if value[:1] in _QUOTES else None
    return (quoted[2] or quoted[3] or "").strip() if quoted else value


def _best_value(value: Any) -> Any:
    """The value with the highest score: ``[{"value": "north", "score": 0.9}, ...]``; where none is, what is written."""
    if not isinstance(value, list | tuple) or not value or not all(isinstance(item, Mapping) for item in value):
        return value
    scores = [item[key] for item in value for key in _SCORES if _is_number(item.get(key))]
    words = [item["value"] for item in value if "value" in item]
    if not len(scores) == len(words) == len(value) or scores.count(max(scores)) > 1:
        return value
    return words[scores.index(max(scores))]


def _are_pairs(value: Any) -> bool:
    """Is it a list of values, each with how likely it is?"""
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(
            isinstance(pair, list | tuple)
            and len(pair) == 2
            and isinstance(pair[0], str)
            and isinstance(pair[1], float)
            for pair in value
        )
    )


def _are_probabilities(value: Any) -> bool:
    """Is it an object of values with how likely each is?"""
    if not isinstance(value, Mapping) or not any(isinstance(share, float) for share in value.values()):
        return False
    shares = [share for share in value.values() if isinstance(share, int | float) and 0 <= share <= 1]
    likely = sum(share > _HALF for share in shares)  # each value may have been asked for by itself
    return len(shares) == len(value) and (sum(shares) <= _WHOLE or likely == 1)


def _of_domain(domain: str, slots: Mapping[Any, Any]) -> Iterator[Triple]:
    for name, value in slots.items():
        slot = str(name)
        if slot in _PARTS and isinstance(value, Mapping) and not _are_probabilities(value):
            inside = ((str(key).removeprefix(f"{domain}-"), given) for key, given in value.items() if key != "booked")
            yield from ((domain, f"{_PARTS[slot]}{key}", given) for key, given in inside)
        elif value != {}:
            yield domain, slot_name(slot.removeprefix(f"{domain}-")), value
