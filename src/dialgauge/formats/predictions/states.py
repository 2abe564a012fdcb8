"""States as files write them: openers that get at a state, and strict decoders that each read one way of writing it.

A decoder gives domain, slot and value of everything in a state, or raises :class:`Misfit`; none of them guesses. What a
decoder normalises is said in its line. Values stay what the file says: quotes, spaces and numbers in texts are kept.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any, TypeAlias

import msgspec

from dialgauge.dialogue import State, Values
from dialgauge.formats.jsonfile import decode
from dialgauge.formats.source import Part

Slot: TypeAlias = tuple[str, str, Any]
Decoder: TypeAlias = Callable[[Any], Iterator[Slot]]
Opener: TypeAlias = Callable[[Any], Any]

#: Values that mean that a slot is not filled, and what means that none is, in any way of writing states.
ABSENT = frozenset({"", "none", "not mentioned"})
EMPTY: tuple[Any, ...] = (None, "", [], {})
#: A longer answer of a model is no state, and in one of them no more than so many beginnings are tried.
MOST_TEXT, _MOST_STARTS = 50_000, 50
_SPAN_SLOTS = frozenset(
    "area arrive arriveby day departure dest destination food internet leave leaveat name parking people price "  # noqa: SIM905
    "pricerange stars stay time type".split()
)
_DOMAIN = re.compile(r"[^\W\d]\w*")
#: What may part a domain from its slot; the first of these that a name has does.
_SIGNS = ("->", "-", ".", ":", "/", " ")
_EQUATION = re.compile(r"\s*([^\W\d][\w ./>-]*?)\s*(=|:)([^=\n]*)")
_TAG = re.compile(r"\[([\w ]+)\]|(?:book (?:day|people|stay|time)|leave at|arrive by|price range)\b|\S+")


class Misfit(Exception):
    """What is there is not written in the way that was expected."""


def shown(value: Any) -> str:
    """A value for an error, cut."""
    text = value if isinstance(value, str) else repr(value)
    return f"'{text[:60]}'" if isinstance(value, str) else f"{type(value).__name__} {text[:60]}"


def domain_and_slot(name: Any, signs: Sequence[str] = _SIGNS) -> tuple[str, str]:
    """``hotel-area`` as domain and slot, parted at the first of ``->``, ``-``, ``.``, ``:``, ``/``, space.

    >>> domain_and_slot("hotel-book people"), domain_and_slot("Hotels_1-area")
    (('hotel', 'book people'), ('Hotels_1', 'area'))
    """
    sign = next((sign for sign in signs if sign in name), "") if isinstance(name, str) else ""
    domain, _, slot = name.partition(sign) if sign else ("", "", "")
    domain, slot = domain.strip(), slot.strip()
    if not slot or not _DOMAIN.fullmatch(domain):
        raise Misfit(f"{shown(name)} is not domain-slot")
    return domain, slot


#: The same, remembered: a file repeats its few names in every turn.
_flat_name: Callable[[str], tuple[str, str]] = lru_cache(maxsize=1 << 16)(domain_and_slot)


# -- decoders --------------------------------------------------------------------------------------------------------


def nested(value: Any) -> Iterator[Slot]:
    """``{"hotel": {"area": "north"}}``; a slot may repeat its domain, as in ``hotel-area``."""
    for domain, slots in _object(value, "domains with slots").items():
        if not _DOMAIN.fullmatch(domain.strip()):
            raise Misfit(f"{shown(domain)} is no domain")
        for slot, given in _object(slots, f"slots of {domain}").items():
            before, sign, _ = slot.partition("-")
            if sign and before.lower() not in (domain.lower(), "book", "semi"):
                raise Misfit(f"{shown(slot)} stands below {domain}, and is of another domain")
            yield domain, slot.removeprefix(f"{domain}-"), given


def flat(value: Any) -> Iterator[Slot]:
    """``{"hotel-area": "north"}``, parted at the first of ``->``, ``-``, ``.``, ``:``, ``/``, space."""
    for name, given in _object(value, "domain-slot with values").items():
        yield (*_flat_name(name), given)


def underscored(value: Any) -> Iterator[Slot]:
    """``{"hotel_area": "north"}``, parted at the first underscore; only where a mapping names it."""
    for name, given in _object(value, "domain_slot with values").items():
        domain, _, slot = name.partition("_")
        if not slot or not domain.isalpha():
            raise Misfit(f"{shown(name)} is not domain_slot")
        yield domain, slot, given


def strings(value: Any) -> Iterator[Slot]:
    """``["hotel-area-north"]``, parted at the first two hyphens."""
    for text in _list(value, "domain-slot-value"):
        yield _parted(text) if isinstance(text, str) else _parted("")


def _parted(text: str) -> Slot:
    domain, slot, given = (*text.split("-", 2), "", "")[:3]
    if not slot or not _DOMAIN.fullmatch(domain) or re.search("[=:]", slot) or text.count("-") < 2:
        raise Misfit(f"{shown(text)} is not domain-slot-value")
    return domain, slot, given


def pairs(value: Any) -> Iterator[Slot]:
    """``[["hotel-area", "north"]]``."""
    for pair in _list(value, "[domain-slot, value]"):
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise Misfit(f"{shown(pair)} is not [domain-slot, value]")
        yield (*domain_and_slot(pair[0]), pair[1])


def triples(value: Any) -> Iterator[Slot]:
    """``[["hotel", "area", "north"]]``."""
    for triple in _list(value, "[domain, slot, value]"):
        if not isinstance(triple, list | tuple) or len(triple) != 3:
            raise Misfit(f"{shown(triple)} is not [domain, slot, value]")
        domain, slot, given = triple
        if not isinstance(domain, str) or not isinstance(slot, str):
            raise Misfit(f"{shown(triple)} is not [domain, slot, value]")
        yield domain, slot, given


def objects(value: Any) -> Iterator[Slot]:
    """``[{"slot": "hotel-area", "value": "north"}]``, or with the domain beside: ``{"domain", "slot", "value"}``."""
    for item in _list(value, "{slot, value}"):
        if not isinstance(item, dict) or item.keys() - {"domain"} != {"slot", "value"}:
            raise Misfit(f"{shown(item)} is not {{slot, value}} or {{domain, slot, value}}")
        named = (item["domain"], item["slot"]) if "domain" in item else domain_and_slot(item["slot"])
        if not all(isinstance(name, str) for name in named):
            raise Misfit(f"{shown(item)} names no domain and slot")
        yield (*named, item["value"])


def multiwoz(value: Any) -> Iterator[Slot]:
    """``{"hotel": {"semi": {"area": "north"}, "book": {"people": "2"}}}``; slots of book become ``book people``."""
    for domain, parts in _object(value, "domains with semi and book").items():
        if not _object(parts, "semi and book") or parts.keys() - {"semi", "book"}:
            raise Misfit(f"{shown(parts)} is not semi and book")
        for part, slots in parts.items():
            for slot, given in _object(slots, "slots with values").items():
                if slot != "booked":
                    yield domain, f"book {slot}" if part == "book" else slot, given


def equations(value: Any) -> Iterator[Slot]:
    """``hotel-area=north; hotel-stars=4``, or ``:``, parted by ``;``, lines, ``|`` or commas, or a list.

    A comma that no slot follows belongs to the value. Spaces and quotes around values are dropped.
    """
    for text in value if isinstance(value, list) else [value]:
        yield from _equations(text)


def _equations(text: Any) -> Iterator[Slot]:
    if not isinstance(text, str):
        raise Misfit(f"{shown(text)} is no text")
    sign = next((sign for sign in (";", "\n", "|") if sign in text), ",")
    found: list[Slot] = []
    for part in [] if is_empty(text) else text.split(sign):
        match = _EQUATION.fullmatch(part)
        try:
            if match is None or (match[2] == ":" and match[1].count("-") > 1):
                raise Misfit(f"{shown(part)} is not domain-slot=value")
            found.append((*domain_and_slot(match[1], _SIGNS[:-1]), _unquoted(match[3].strip())))
        except Misfit:
            if not part.strip():
                continue
            if sign != "," or not found or re.search("[=\n]", part):
                raise
            domain, slot, given = found.pop()
            found.append((domain, slot, f"{given},{part}".rstrip()))
    return iter(found)


def _unquoted(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return text[1:-1] if quoted else text


def spans(value: Any) -> Iterator[Slot]:
    """``[hotel] area north stars 4 [train] day monday``, as UBAR writes it; ``[hotel] [value_area] north``, as DAMD."""
    if not isinstance(value, str) or not value.lstrip().startswith("[") or value.lstrip().startswith("[value_"):
        raise Misfit(f"{shown(value)} is no belief span such as [hotel] area north")
    found: dict[tuple[str, str], list[str]] = {}
    domain = slot = ""
    for token in _TAG.finditer(value):
        tag = token[1] or ""
        if tag.startswith("value_"):
            slot = tag.removeprefix("value_")
        elif tag:
            domain, slot = tag, ""
        elif token[0] == "is" or re.search("[={}]|:$", token[0]):
            raise Misfit(f"{shown(value)} is no belief span such as [hotel] area north")
        elif (token[0] in _SPAN_SLOTS or " " in token[0]) and (not slot or found.get((domain, slot))):
            slot = token[0]
        elif domain and slot:
            found.setdefault((domain, slot), []).append(token[0])
        else:
            raise Misfit(f"{shown(token[0])} belongs to no slot")
    for (domain, slot), said in found.items():
        yield domain, slot, " ".join(said)


def _object(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise Misfit(f"{shown(value)} is no object of {what}")
    return value


def _list(value: Any, what: str) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise Misfit(f"{shown(value)} is no list of {what}")
    return list(value)


DECODERS: dict[str, Decoder] = {
    each.__name__: each
    for each in (
        nested,
        flat,
        underscored,
        strings,
        pairs,
        triples,
        objects,
        multiwoz,
        equations,
        spans,
    )
}


# -- openers ---------------------------------------------------------------------------------------------------------


def require_single_keys(written: bytes, value: Any) -> None:
    """:class:`Misfit` where JSON has a key twice in one object, of which parsers keep the later in silence."""
    if written.count(b'":') + written.count(b'" :') > _keys_in(value):
        json.loads(written, object_pairs_hook=_single)


def _keys_in(value: Any) -> int:
    if isinstance(value, dict):
        return len(value) + sum(map(_keys_in, value.values()))
    return sum(map(_keys_in, value)) if isinstance(value, list) else 0


def _single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    held = dict(pairs)
    if len(held) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in held if names.count(name) > 1)
        raise Misfit(f"an object has the key {shown(twice)} twice; keep one of them")
    return held


def open_json(value: Any) -> Any:
    """JSON in a text."""
    if not isinstance(value, str):
        raise Misfit(f"{shown(value)} is no text")
    if not value.strip():
        return {}
    try:
        held = msgspec.json.decode(value)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        raise Misfit(f"{shown(value)} is not JSON") from None
    require_single_keys(value.encode("utf-8", "surrogatepass"), held)
    return held


def _is_json(text: str) -> bool:
    """True for JSON with something in it; the empty dictionary and list are written alike in Python."""
    try:
        return bool(msgspec.json.decode(text))
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return False


def open_python(value: Any) -> Any:
    """A dictionary, list, tuple or set as Python prints it, where it is not JSON; nothing is run."""
    if not isinstance(value, str) or _is_json(value):
        raise Misfit(f"{shown(value)} is no text of Python")
    held = _python_literal(value.strip()) if len(value) <= MOST_TEXT else None
    if isinstance(held, set | frozenset):
        return sorted(held, key=str)
    if value.strip() and not isinstance(held, dict | list | tuple):
        raise Misfit(f"{shown(value)} is no dictionary or list of Python")
    return held or {}


def _python_literal(text: str) -> Any:
    """What Python means by a text; None where it is no literal."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what a model wrote may look like a bad escape
        try:
            return ast.literal_eval(text)
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            return None


def open_answer(value: Any) -> Any:
    """The last JSON object in what a model wrote; an answer without one is an invalid output, scored as empty."""
    if not isinstance(value, str):
        raise Misfit(f"{shown(value)} is no text")
    text = value[:MOST_TEXT].rpartition("</think>")[2]
    decoder, at, last = json.JSONDecoder(object_pairs_hook=_single), 0, None
    for _ in range(_MOST_STARTS):
        at = text.find("{", at)
        if at < 0:
            break
        try:
            last, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
    if last is None:
        raise Misfit(f"there is no JSON object in {shown(value)}")
    return last


#: Decoders of which one must fit where none is named.
CLOSED = tuple(name for name in DECODERS if name != "underscored")
OPENERS: dict[str, Opener] = {"json": open_json, "python": open_python, "answer": open_answer}


# -- states ----------------------------------------------------------------------------------------------------------


def opened(value: Any, openers: Iterable[str]) -> Any:
    """A value without the texts around it."""
    for name in openers:
        if is_empty(value):
            break
        value = OPENERS[name](value)
    return value


def slots_of(value: Any, chain: tuple[str, ...]) -> list[Slot]:
    """Everything in a state, by its openers and decoder; :class:`Misfit` where it is written otherwise."""
    held = opened(value, chain[:-1])
    return [] if is_empty(held) else list(DECODERS[chain[-1]](held))


def is_empty(value: Any) -> bool:
    """Whether a state is empty in any way of writing it: null, no members, or a text such as none."""
    return value in EMPTY or (isinstance(value, str) and value.strip().lower() in ABSENT)


def values_of(given: Any, absent: Collection[str] = ABSENT) -> Values:
    """The acceptable values of a slot as texts; none where it is absent."""
    if isinstance(given, str):
        return () if given.strip().lower() in absent else (given,)
    if given is None:
        return ()
    if isinstance(given, bool):
        return ("true" if given else "false",)
    if isinstance(given, int | float):
        return () if given != given else (str(given),)
    if isinstance(given, list | tuple) and not any(isinstance(item, list | tuple | dict) for item in given):
        return tuple(text for item in given for text in values_of(item, absent))
    raise Misfit(f"{shown(given)} is no value")


def state_of(slots: Iterable[Slot], absent: Collection[str] = ABSENT) -> tuple[State, int]:
    """The state of slots with values, and how many slots had two; the later stands, as in a JSON object."""
    state: State = {}
    twice = 0
    for domain, slot, given in slots:
        values = values_of(given, absent)
        if values:
            inside = state.setdefault(domain.strip(), {})
            twice += inside.get(slot.strip(), values) != values
            inside[slot.strip()] = values
    return state, twice


@lru_cache(maxsize=1 << 12)
def state_of_text(text: str, chain: tuple[str, ...], absent: frozenset[str]) -> tuple[State, int]:
    """The same of a text, remembered: most turns repeat a state, and most predictions that of gold."""
    return state_of(slots_of(text, chain), absent)


# -- nested states of named formats ----------------------------------------------------------------------------------


def clean_state(raw: dict[str, dict[str, str | list[str]]], blank: State | None = None) -> State:
    """A nested domain → slot → value(s) mapping as a state, without slots that mean "absent" (they go to ``blank``)."""
    state: State = {}
    for domain, slots in raw.items():
        for slot, value in slots.items():
            if values := values_of(value):
                state.setdefault(domain, {})[slot] = values
            elif blank is not None:
                blank.setdefault(domain, {})[slot] = (value,) if isinstance(value, str) else tuple(value)
        if blank is not None and domain not in state:  # to MultiWOZ_Evaluation a domain without slots is there
            blank.setdefault(domain, {})
    return state


_NESTED = msgspec.json.Decoder(dict[str, dict[str, str | list[str]]])


def read_state(content: bytes, part: Part, blank: State | None = None) -> State:
    """:func:`clean_state` of JSON."""
    return clean_state(decode(_NESTED, content, part), blank)


def alternatives(value: str, separators: str = "|<>") -> Values:
    """Acceptable values written in one string, ``a|b`` (MultiWOZ 2.4 also has ``a<b`` and ``a>b``), each once.

    >>> alternatives("hotel|guesthouse"), alternatives("none")
    (('hotel', 'guesthouse'), ())
    """
    pieces = [value]
    for separator in separators:
        if separator in value:
            pieces = [part for piece in pieces for part in piece.split(separator)]
    if len(pieces) == 1:
        return values_of(value)
    return tuple(dict.fromkeys(piece.strip() for piece in pieces if piece.strip().lower() not in ABSENT))
