"""A dialogue state in whatever way people write one down: nested, flat, as pairs, as texts.

``{"hotel": {"area": "north"}}``, ``{"hotel-area": "north"}`` (or ``hotel.area``, ``hotel_area``, ``hotel area``),
``["hotel-area-north"]``, ``[["hotel-area", "north"]]``, ``[{"slot": "hotel-area", "value": "north"}]``, and texts:
JSON, Python literals, ``hotel-area=north; hotel-stars=4``, ``hotel area north, hotel stars 4``,
``[hotel] area north stars 4``. Values are read as :mod:`~dialgauge.formats.predictions.loose` reads them; what no
reading makes a state of is an invalid output, scored as an empty prediction.
"""

from __future__ import annotations

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

import msgspec

from dialgauge.dialogue import State, Values
from dialgauge.errors import DialgaugeError
from dialgauge.formats.base import INVALID, Notes
from dialgauge.formats.predictions.common import TWO_VALUES
from dialgauge.formats.predictions.loose import (
    MOST_TEXT,
    NO_NAME,
    NO_SLOT,
    NUMBER,
    Seen,
    loose_value,
    object_in,
)

_Triple: TypeAlias = tuple[str, str, Any]

LIKELIEST = "values with probabilities, of which the likeliest was read"
#: What probabilities sum up to, rounded.
_WHOLE = 1.01

#: What people write in place of a state that is empty.
_EMPTY = frozenset({"", "none", "null", "nan", "empty", "n/a", "-", "set()"})
#: What may stand around a state.
_AROUND = frozenset({"state", "belief_state", "dialogue_state", "predicted_state", "slot_values", "slots"})
#: Names in an object that is a part of a state: a slot, or the slots of a domain.
_PARTS = frozenset({"slot", "domain", "service"})
#: Names beside a state in what a model answers.
_BESIDE = frozenset({"response", "text", "act", "acts", "action", "actions", "reasoning", "thought", "confidence"})
_NAME_SEPARATORS = "-.:/_ "
#: Slots of two words, as states in words name them; others have one word.
_TWO_WORDS = r"(?:book|semi)[ _-]\w++|leave at|arrive by|price range"
_SLOT_THEN_VALUE = re.compile(rf"({_TWO_WORDS}|\w++)[-:=\s]\s*+(?:is\s++)?+(.*)", re.DOTALL)
_COLON_NAME = re.compile(r"[A-Za-z]\w*+(?:[-._/ ][A-Za-z_]++){0,2}")
_SEPARATOR = re.compile(r"([;,|\n]|<sep>|\[SEP\])")
_TAG = re.compile(r"<\|[\w ]{1,40}\|>|</?s>|<pad>|<[se]os_b>")
#: Where a text says that the state begins, and where that something else does.
_BELIEF_BEGINS = re.compile(r"<\|belief\w{0,20}\|>|<sos_b>")
_BELIEF_ENDS = re.compile(r"<\|(?:endofbelief\w{0,20}|action|response|dbsearch)\|>|<eos_b>")
_LEAD = re.compile(r"(?:(?:the|current|predicted|updated|dialogue|dialog|belief)\s)*state\s?:\s", re.IGNORECASE)
_FENCE = re.compile(r"```\w{0,20}\s(.*?)(?:```|\Z)", re.DOTALL)
_QUOTED = re.compile(r"""(["`])([^"`]*)\1|'((?:[^']|(?<=\w)'(?=\w)|(?<=s)'(?=\s))*)'""")
_SQL = re.compile(r"SELECT\s\*\sFROM\s(\w+)\sWHERE\s", re.IGNORECASE)
_SQL_AND = re.compile(r"\sAND\s(?=\w+\s?=)", re.IGNORECASE)
_DOMAIN_TAG = re.compile(r"\[(\w{1,40})\]")
#: ``[hotel] area = north, stars is 4``: where a domain or a piece begins, its slot, and what stands before the value.
_TAGGED_PAIR = re.compile(r"((?:\[\w{1,40}\]|[,;\n])\s*+\w++(?: \w++)??)(?:\s*+=|\s++is\s)\s*+")
_BRACED = re.compile(r"\b([A-Za-z]\w*+)\s*+[({]([^(){}]*+)[)}]\s*+[,;]?\s*+")
_BRACKETED = re.compile(r"\(([^(),]{1,100}),([^(),]{1,100}),([^()]{1,500})\)")
_WHOLE_FLOAT = re.compile(r"[0-9]{1,9}\.0")
#: Slots as spans of end-to-end systems name them (DAMD, UBAR): ``[hotel] area north stars 4``.
_SPAN_SLOTS = re.compile(
    r"area|arrive(?:by)?|day|departure|department|destination|food|internet|leave(?:at)?|name|parking|people|"
    r"price(?:range)?|stars|stay|time|type"
)


class StateReader:
    """The states of one file, and what had to be read as something else, for its notes.

    Texts do not say where a value ends: commas stand inside of names, too. So all texts are shown first
    (:meth:`learn`): only words that one of them begins with are taken for domains.
    """

    def __init__(self, notes: Notes, *, cells: bool = False) -> None:
        """``cells``: values come from the cells of a text table, where 4 may be written 4.0."""
        self._notes, self._cells = notes, cells
        self._domains: set[str] = set()
        #: Texts of slots, and those of them that end in a full stop.
        self._texts = self._stopped = 0
        self.slots: set[tuple[str, str]] = set()
        self.read_states = self.invalid_states = self.nameless_states = 0

    def learn(self, written: Any) -> None:
        """Take a look at a state before the first is read."""
        for text in written if isinstance(written, list | tuple) else (written,):
            if isinstance(text, Mapping) and isinstance(domain := text.get("domain"), str):
                self._domains.add(domain.lower())
            if not isinstance(text, str):
                continue
            bare = _bare(text)
            if bare and bare.lower() not in _EMPTY:
                self._texts += 1
                self._stopped += bare.endswith(".")
            if word := re.match(r"[^\w]*+([A-Za-z]\w*)", bare[:200]):
                self._domains.add(word[1].partition("_")[0].lower())

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
        self._refuse_several(written)
        state: State = {domain: dict(slots) for domain, slots in (before or {}).items()}
        for domain, slot, value in self._triples(written, seen):
            values = self._values(value, seen)
            if not values:
                if before:
                    state.get(domain, {}).pop(slot, None)
                continue
            slots = state.setdefault(domain, {})
            if before is None and slots.get(slot, values) != values:
                self._notes.add(TWO_VALUES)
            slots[slot] = values
            self.slots.add((domain, slot))
        for what, count in (+seen).items():
            self._notes.add_at(what, count, f"dialogue {dialogue}, turn {turn}")
        self.read_states += 1
        self.invalid_states += bool(seen[INVALID])
        self.nameless_states += bool(seen[NO_SLOT])
        return {domain: slots for domain, slots in state.items() if slots}

    def _refuse_several(self, written: Any) -> None:
        """An error for a list of whole states, such as the best few of a beam: they share slots, or one is empty."""
        if not isinstance(written, list | tuple) or len(written) < 2:
            return
        several = any(isinstance(item, str) and item.count("=") > 1 for item in written)
        if all(isinstance(item, Mapping) and not item.keys() & _PARTS for item in written):
            filled = [{triple[:2] for triple in self._of_mapping(item, Counter())} for item in written]
            several = not all(filled) or sum(map(len, filled)) > len(set().union(*filled))
        if several:
            raise DialgaugeError(
                f"this is a list of {len(written)} states for one turn, as of the best few outputs; keep one of them"
            )

    def _values(self, value: Any, seen: Seen) -> Values:
        if isinstance(value, Mapping) and len(value) <= 3 and ("value" in value or "values" in value):
            value = value["value"] if "value" in value else value["values"]
        if _are_probabilities(value):
            seen[LIKELIEST] += 1
            value = max(value, key=value.__getitem__)
        if isinstance(value, float) and value != value:  # a gap of pandas
            return ()
        if self._cells and isinstance(value, str):
            if value.strip().lower() in ("nan", "-"):
                return ()
            if _WHOLE_FLOAT.fullmatch(value):
                seen[NUMBER] += 1
                value = value[:-2]
        return loose_value(_unquoted(value.strip()) if isinstance(value, str) else value, seen)

    def _triples(self, written: Any, seen: Seen) -> Iterator[_Triple]:
        if isinstance(written, Mapping):
            yield from self._of_mapping(written, seen)
        elif isinstance(written, list | tuple):
            for item in written:
                yield from self._of_item(item, seen)
        elif isinstance(written, str):
            yield from self._of_text(_bare(written), seen)
        elif written is not None and written == written:  # NaN is a gap of pandas
            raise DialgaugeError(
                f"a state cannot be {written!r:.40}; write slots with values, such as {{'hotel-area': 'north'}}"
            )

    def _of_mapping(self, written: Mapping[Any, Any], seen: Seen) -> Iterator[_Triple]:
        if "choices" in written or "body" in written:  # an answer of OpenAI's API
            yield from self._triples(_completion(written), seen)
            return
        around = [key for key in written if key in _AROUND]
        beside = [key for key in written if key not in _BESIDE]
        if around and (len(written) == 1 or beside == around[:1] or "slot_values" in written):
            inner = written.get("slot_values", written[around[0]])
            if isinstance(inner, Mapping | list | tuple):
                yield from self._triples(inner, seen)
                return
        for key, content in written.items():
            name = "-".join(map(str, key)) if isinstance(key, tuple) else str(key)
            likely = split_name(name) is not None and _are_probabilities(content)
            if isinstance(content, Mapping) and not likely and not content.keys() & {"value", "values"}:
                yield from _of_domain(name, content)
            elif isinstance(content, list | tuple) and split_name(name) is None:
                yield from self._of_entries(name, content, seen)
            else:
                yield self._named(name, content, seen)

    def _named(self, name: str, value: Any, seen: Seen, domain: str = "") -> _Triple:
        pair = (domain, _slot_name(name)) if domain else split_name(name)
        if pair is None:
            seen[NO_SLOT] += value not in (None, "")
            return name or "unknown", NO_NAME, value
        return *pair, value

    def _of_entries(self, domain: str, entries: Iterable[Any], seen: Seen) -> Iterator[_Triple]:
        """``{"hotel": ["area=north", ["stars", "4"]]}``: a domain with a list of its slots."""
        for entry in entries:
            if isinstance(entry, str) and (triple := self._piece(entry.strip(), domain)) is not None:
                yield triple
            elif isinstance(entry, list | tuple) and len(entry) == 2:
                yield self._named(str(entry[0]), entry[1], seen, domain)
            elif isinstance(entry, Mapping) and "slot" in entry:
                yield from self._of_item({"domain": domain, **entry}, seen)
            else:
                yield self._named(domain, entry, seen)

    def _of_item(self, item: Any, seen: Seen) -> Iterator[_Triple]:
        """One entry of a state that is a list."""
        if isinstance(item, str):
            triple = self._piece(item.strip(), "", alone=True)
            if triple is None:
                seen[INVALID] += bool(item.strip())
            else:
                yield triple
        elif isinstance(item, list | tuple) and len(item) == 2:
            yield self._named(str(item[0]), item[1], seen)
        elif isinstance(item, list | tuple) and len(item) == 3:
            yield str(item[0]), _slot_name(str(item[1])), item[2]
        elif isinstance(item, Mapping):
            domain = str(item.get("domain") or item.get("service") or "")
            frame = item.get("state")
            if "slot" in item and ("value" in item or "values" in item):
                slot = str(item["slot"])
                pair = split_name(slot) if domain and slot.lower().startswith(domain.lower() + "-") else None
                name = pair[1] if pair else slot
                yield self._named(name, item.get("value", item.get("values")), seen, domain)
            elif domain and isinstance(frame, Mapping) and isinstance(frame.get("slot_values", frame), Mapping):
                yield from _of_domain(domain, frame.get("slot_values", frame))
            elif domain and isinstance(frame, str):
                yield from self._text_of_domain(domain, _bare(frame), seen)
            else:
                yield from self._of_mapping(item, seen)
        else:
            seen[INVALID] += 1

    # -- texts --

    def _of_text(self, text: str, seen: Seen) -> Iterator[_Triple]:
        if text.lower() in _EMPTY:
            return
        if len(text) > MOST_TEXT:
            seen[INVALID] += 1
            return
        literal = _literal(text) if text[0] in "{[(" else None
        if literal is None and "{" in text and any(sign in text for sign in ('"', "'", "{}")):
            literal = object_in(text, _names_domains)
        if literal is not None:
            if isinstance(literal, Mapping | list | tuple | set):
                yield from self._triples(sorted(literal, key=str) if isinstance(literal, set) else literal, seen)
            return
        if text.startswith("(") and (bracketed := _BRACKETED.findall(text)):
            yield from ((domain.strip(), _slot_name(slot), value) for domain, slot, value in bracketed)
            return
        fenced = _FENCE.search(text)
        text = fenced[1].strip() if fenced else text
        if text[:1] == "{" and text[-1:] == "}" and text.count("{") == 1:
            text = text[1:-1]
        if self._texts == self._stopped > 1:
            text = text.removesuffix(".")
        if _SQL.match(text):
            text = _SQL_AND.sub(";", _SQL.sub(r"\1: ", text))
        if _DOMAIN_TAG.match(text) and _TAGGED_PAIR.match(text):
            text = _DOMAIN_TAG.sub(r";\1:", _TAGGED_PAIR.sub(r"\1=", text))
        triples = list(_of_spans(text) if _DOMAIN_TAG.match(text) else self._of_pieces(text))
        seen[INVALID] += not triples
        yield from triples

    def _text_of_domain(self, domain: str, text: str, seen: Seen) -> Iterator[_Triple]:
        """A text in a row that names the domain, which the slots in it need not name again."""
        literal = _literal(text) if text[:1] == "{" else None
        if isinstance(literal, Mapping):
            yield from _of_domain(domain, literal)
        elif text.lower() not in _EMPTY:
            own = re.match(rf"\W*{re.escape(domain)}\b", text, re.IGNORECASE)
            yield from self._of_text(text if own else f"{domain}: {text}", seen)

    def _of_pieces(self, text: str) -> Iterator[_Triple]:
        """Pieces between separators; one that is nothing of its own belongs to the value before it."""
        if text.endswith((")", "}")) and not _BRACED.sub("", text):
            text = _BRACED.sub(lambda group: f"{group[1]}: {group[2]};", text)
        pending: _Triple | None = None
        current, separator = "", ""
        for number, piece in enumerate(_SEPARATOR.split(text)):
            if number % 2:
                separator = piece
                continue
            triple = self._piece(piece.strip(), current) if piece.strip() else None
            if triple is not None:
                if pending is not None:
                    yield pending
                pending, current = triple, triple[0]
            elif pending is not None and piece.strip():
                pending = (*pending[:2], f"{pending[2]}{separator}{piece.rstrip()}")
        if pending is not None:
            yield pending

    def _piece(self, text: str, current: str, *, alone: bool = False) -> _Triple | None:
        """``hotel-area=north``, ``hotel-area: north``, ``hotel-area-north``, ``hotel area north``; None if it is none.

        ``current`` is the domain of a slot that is named without one: ``hotel: area=north, stars=4``. ``alone``: it
        can be no part of another piece's value.
        """
        name, sign, value = text.partition("=" if "=" in text else "->" if "->" in text else ":")
        name = name.strip().removesuffix(":").strip()
        if sign and sign != ":":
            bare = current and name and not any(separator in name for separator in "-.:/")
            pair = (current, name) if bare and not self._is_domain(re.split("[ _]", name)[0]) else split_name(name)
            return (*pair, value.lstrip("= ")) if pair else None
        if sign and _COLON_NAME.fullmatch(name):
            pair = split_name(name)
            if pair is not None:
                return (*pair, value.strip()) if value.strip() else None
            inner = _SLOT_THEN_VALUE.fullmatch(value.strip())
            return (name, _slot_name(inner[1]), inner[2]) if inner and (alone or self._is_domain(name)) else None
        first = re.match(r"[A-Za-z]\w*+", text)
        if first is None or not (alone or self._is_domain(first[0].partition("_")[0])):
            return None
        rest = text[first.end() :]
        domain, _, slot = first[0].partition("_") if rest[:1].isspace() else (first[0], "", "")
        if slot and not slot.isdigit():  # hotel_area north
            return domain, _slot_name(slot), re.sub(r"^is\s+", "", rest.strip())
        inner = _SLOT_THEN_VALUE.fullmatch(rest[1:].strip())
        return (first[0], _slot_name(inner[1]), inner[2]) if inner and inner[2] else None

    def _is_domain(self, word: str) -> bool:
        return word.lower() in self._domains


def _bare(text: str) -> str:
    """A text without what models and templates put around a state."""
    text = text[: MOST_TEXT + 1]
    if begin := _BELIEF_BEGINS.search(text):
        text = text[begin.end() :]
    if end := _BELIEF_ENDS.search(text):
        text = text[: end.start()]
    text = _TAG.sub(" ", text).strip()
    lead = _LEAD.match(text)
    return text[lead.end() :].strip() if lead else text


def _unquoted(value: str) -> str:
    """A value without the quotes around it."""
    quoted = _QUOTED.fullmatch(value)
    return (quoted[2] or quoted[3] or "").strip() if quoted else value


def _are_probabilities(value: Any) -> bool:
    """Is it an object of values with how likely each is?"""
    if not isinstance(value, Mapping) or not any(isinstance(share, float) for share in value.values()):
        return False
    shares = [share for share in value.values() if isinstance(share, int | float) and 0 <= share <= 1]
    return len(shares) == len(value) and sum(shares) <= _WHOLE


def _completion(answer: Any) -> Any:
    """The text in an answer of OpenAI's API."""
    for key in ("body", "choices", 0, "message", "content"):
        if isinstance(answer, Mapping) and key in answer:
            answer = answer[key]
        elif isinstance(answer, list) and key == 0 and answer:
            answer = answer[0]
    return answer if isinstance(answer, str) else None


def _names_domains(written: dict[Any, Any]) -> bool:
    """Is it an object of slots with their domains, or an empty one?"""
    return not written or any(isinstance(value, Mapping) or split_name(str(key)) for key, value in written.items())


def split_name(name: str) -> tuple[str, str] | None:
    """Domain and slot of a flat name; None where it has no two parts.

    >>> split_name("hotel-area"), split_name("hotel.book.people"), split_name("Hotels_4_location"), split_name("area")
    (('hotel', 'area'), ('hotel', 'book people'), ('Hotels_4', 'location'), None)
    """
    name = name.strip()
    for separator in _NAME_SEPARATORS:
        domain, found, slot = name.partition(separator)
        if not found:
            continue
        number, more, rest = slot.partition(separator)
        if separator == "_" and more and number.isdigit():  # a service of SGD
            domain, slot = f"{domain}_{number}", rest
        domain, slot = domain.strip(), slot.lstrip(">").strip()
        return (domain, _slot_name(slot)) if domain and slot else None
    return None


def _slot_name(name: str) -> str:
    """The slot without MultiWOZ's ``semi``, and with a space behind ``book``."""
    part, _, rest = re.sub(r"[-.:/]", "\0", name.strip(), count=1).partition("\0")
    if rest and part.lower() in ("semi", "book"):
        return rest if part.lower() == "semi" else f"book {rest}"
    return name.strip()


def _of_domain(domain: str, slots: Mapping[Any, Any]) -> Iterator[_Triple]:
    for name, value in slots.items():
        slot = str(name)
        if slot in ("semi", "book", "inform") and isinstance(value, Mapping) and not _are_probabilities(value):
            inside = ((str(key), given) for key, given in value.items() if key != "booked")
            yield from ((domain, f"book {key}" if slot == "book" else key, given) for key, given in inside)
        else:
            yield domain, _slot_name(slot.removeprefix(f"{domain}-")), value


def _of_spans(text: str) -> Iterator[_Triple]:
    """``[hotel] area north stars 4`` and ``[hotel] [value_area] north``."""
    domain = slot = ""
    words: list[str] = []

    def ended() -> Iterable[_Triple]:
        return [(domain, slot, " ".join(words))] if domain and slot and words else []

    for number, part in enumerate(_DOMAIN_TAG.split(text)):
        if number % 2:
            yield from ended()
            words = []
            domain, slot = (domain, part[6:]) if part.startswith("value_") else (part, "")
            continue
        tagged = bool(slot)
        for word in part.split():
            if not tagged and _SPAN_SLOTS.fullmatch(word) and (words or not slot):
                yield from ended()
                slot, words = word, []
            else:
                words.append(word)
    yield from ended()


def _literal(text: str) -> Any:
    """What JSON or Python means by the text; None where it is neither."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is data, not code
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None
