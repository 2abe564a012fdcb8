"""What became of a recorded conversation by the rules of ConvLab-2's evaluator, with which published results were made.

They go by what the *user heard*, and do not see the system's last turn. Their quirks are kept, for comparison only
(``docs/tasks.md``): a value counts as told if it looks right, true or not; what was told without need counts against
precision for seven slots and no others; a booking is judged by its row, never by day, people, time or stay; and what
the user wrote down need only resemble something in the database.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache, lru_cache
from typing import Any

from msgspec import Struct
from rapidfuzz.distance import Levenshtein
from rapidfuzz.fuzz import ratio

from dialgauge.dialogue import Dialogue, Goal, Task, Turn
from dialgauge.tasks.reasons import TaskFailure
from dialgauge.tasks.recordings.tracker import said
from dialgauge.values import DAYS
from dialgauge.worlds.domain import ASKED, Domain

#: The slot of a booking's reference.
REFERENCE = "Ref"
#: Slots that can count as told.
_TOLD = {
    "restaurant": frozenset({"address", "area", "food", "name", "phone", "postcode", "pricerange"}),
    "hotel": frozenset(
        {"address", "area", "internet", "parking", "name", "phone", "postcode", "pricerange", "stars", "type"}
    ),
    "attraction": frozenset({"address", "area", "entrance fee", "name", "phone", "postcode", "type"}),
    "train": frozenset(
        {"trainID", "arriveBy", "day", "departure", "destination", "duration", "leaveAt", "price"}
    ),
    "taxi": frozenset({"car type", "phone"}),
    "hospital": frozenset({"postcode", "phone", "address", "department"}),
    "police": frozenset({"postcode", "phone", "address"}),
}  # fmt: skip
#: Slots that can be told without need: those whose long name happens to stand in a list of short names.
_SURPLUS = frozenset({"phone", "area", "type", "food", "internet", "parking", "stars"})
_TELLING = frozenset({"inform", "recommend", "offerbook", "offerbooked"})
#: Acts that answer a request: those that tell, and confirmations.
_ANSWERING = _TELLING | {"book"}
_BOOKABLE = ("hotel", "restaurant", "train")
_NO_VALUE = frozenset({"", "dont care", "not mentioned", "don't care", "dontcare", "do n't care"})
_POSTCODE = re.compile(r"cb\d{1,3}[a-z]{2,3}|pe296fl")
_TIME = r"\A(([01]\d|2[0-3]):([0-5]\d)|24:00)\Z"
#: The forms of values by slot; of slots without one any value looks right.
_FORMS = {
    slot: re.compile(form)
    for slot, form in {
        "area": r"\A(centre|east|south|west|north)\Z", "arriveBy": _TIME, "leaveAt": _TIME,
        "day": rf"\A({'|'.join(DAYS)})\Z", "duration": "minute", "internet": r"\A(yes|no|none)\Z",
        "parking": r"\A(yes|no|none)\Z", "phone": r"\A\d{11}\Z", "price": "pound",
        "pricerange": r"\A(cheap|expensive|moderate|free)\Z", "postcode": rf"\A({_POSTCODE.pattern})\Z",
        "stars": r"\A\d\Z", "trainID": r"\Atr\d{4}\Z",
    }.items()
}  # fmt: skip
_ANY_CASE = frozenset({"area", "day", "trainID"})
#: Domains in which any value of a slot looks right.
_ANY_FORM = {"phone": "restaurant", "pricerange": "attraction"}
#: A reference of ConvLab's own systems is the number of the row.
_ROW_NUMBER = re.compile(r"\d{8}")
#: Slots that were misheard so often that their missing values were read as yes.
_YES_OR_NO = ("internet", "parking")
_ENDS = ("departure", "destination")
_TIMES = {"leaveAt": 1, "arriveBy": -1}
#: How much alike, in percent, an answer and a row's value must be.
_ALIKE = 60


class CompatVerdict(Struct, frozen=True, gc=False):
    """The verdict on a dialogue; None where a measure is undefined."""

    success: bool
    precision: float | None
    recall: float | None
    f1: float | None
    book: float | None
    #: Share of the goal's domains whose constraints and answers the database can satisfy.
    final: float
    #: Success by domain, before the check against the database.
    domains: dict[str, bool]
    #: Why domains failed.
    failures: dict[str, tuple[TaskFailure, ...]]


class _Heard(Struct, gc=False):
    """What a user made of a conversation."""

    told: dict[str, set[str]]
    #: Values that do not look right, by domain.
    malformed: dict[str, int]
    answers: dict[str, dict[str, str]]
    booked: dict[str, int]
    taxi: bool = False


class CompatRules:
    """Judges conversations against a town; one serves all of them."""

    def __init__(self, domain: Domain) -> None:
        self._rows: dict[str, list[Mapping[str, Any]]] = {
            name: list(service.rows) for name, service in domain.services.items() if service.rows is not None
        }
        self._having = cache(self._equal)
        codes = {code for rows in self._rows.values() for row in rows if isinstance(code := row.get("postcode"), str)}
        # ConvLab knows the postcodes of Cambridge by their letters; in another town those of its database are right.
        foreign = codes and not any(map(_POSTCODE.fullmatch, codes))
        self._postcodes = frozenset(codes) if foreign else None

    def _looks_right(self, domain: str, slot: str, value: str) -> bool:
        if slot == "postcode" and self._postcodes is not None:
            return value in self._postcodes
        return looks_right(domain, slot, value)

    def judge(self, dialogue: Dialogue, goal: Goal) -> CompatVerdict:
        heard = self._listen(dialogue, goal)
        counts = {domain: _counts(domain, task, heard) for domain, task in goal.tasks.items()}
        strays = (heard.told.keys() | heard.malformed.keys()) - goal.tasks.keys()
        hits, false, missed = (sum(count[index] for count in counts.values()) for index in range(3))
        precision, recall, f1 = _rates(hits, false + sum(_surplus(domain, heard, Task()) for domain in strays), missed)
        rates = {domain: self._book_rate(domain, task, heard) for domain, task in goal.tasks.items()}
        known = [rate for rate in rates.values() if rate is not None]
        book = sum(known) / len(known) if known else None
        satisfiable = {domain: self._satisfiable(domain, task, heard) for domain, task in goal.tasks.items()}
        domains = {domain: _both(rates[domain], _rates(*counts[domain])[1]) for domain in goal.tasks}
        failures = {
            domain: tuple(_failures(domain, task, heard, rates[domain], satisfiable=satisfiable[domain]))
            for domain, task in goal.tasks.items()
            if not (domains[domain] and satisfiable[domain])
        }
        whole = sum(satisfiable.values()) / len(satisfiable) if satisfiable else 1.0
        success = _both(book, recall) and whole == 1.0
        return CompatVerdict(success, precision, recall, f1, book, whole, domains, failures)

    def _listen(self, dialogue: Dialogue, goal: Goal) -> _Heard:
        """What the user heard; ``about`` is the domain last mentioned by anyone, ``current`` the user's own idea."""
        heard = _Heard({}, {}, {}, {})
        references = registered(dialogue)
        about = current = ""
        for turn in seen_by_user(dialogue):
            if turn.speaker == "user":
                for act in said(turn):
                    if act.domain in _TOLD:
                        about, current = act.domain, current or act.domain
                continue
            for act in (turn.heard if turn.heard is not None else turn.acts) or ():
                domain, _, intent = act.name.lower().partition("-")
                if domain in _TOLD:
                    about = domain
                    current = domain if domain in goal.tasks else current
                for value in act.values:
                    if act.slot.lower() == REFERENCE.lower():
                        self._book(heard, _owner(domain, intent, about), references, value)
                    else:
                        self._hear(heard, domain, intent, act.slot, value, current)
        return heard

    def _hear(self, heard: _Heard, domain: str, intent: str, slot: str, value: str, current: str) -> None:
        """One value of one act."""
        if intent in _ANSWERING:
            answer = "yes" if slot in _YES_OR_NO and value == "none" else value
            heard.answers.setdefault(domain if domain != "booking" else current, {})[slot] = answer
            heard.taxi = heard.taxi or (domain, intent, slot) == ("taxi", "inform", "car type")
        if intent not in _TELLING or slot not in _TOLD.get(domain, ()) or value.strip() in _NO_VALUE:
            return
        if self._looks_right(domain, slot, value):
            heard.told.setdefault(domain, set()).add(slot)
        else:
            heard.malformed[domain] = heard.malformed.get(domain, 0) + 1

    def _book(self, heard: _Heard, owner: str, references: Mapping[str, int], value: str) -> None:
        """A reference was heard."""
        number = references.get(value, int(value) if _ROW_NUMBER.fullmatch(value) else -1)
        if owner and 0 <= number < len(self._rows.get(owner, ())):
            heard.booked.setdefault(owner, number)

    def _book_rate(self, domain: str, task: Task, heard: _Heard) -> float | None:
        """Share of the constraints that the booked row satisfies; None where there is nothing to book or to check."""
        if not task.book or not task.info:
            return None
        if domain == "taxi":
            return float(heard.taxi)
        if domain not in heard.booked:
            return 0.0
        row = self._rows[domain][heard.booked[domain]]
        checked = {slot: value for slot, value in task.info.items() if slot not in _ENDS}
        if not checked:
            return None
        return sum(_booked_fits(slot, value, row) for slot, value in checked.items()) / len(checked)

    def _satisfiable(self, domain: str, task: Task, heard: _Heard) -> bool:
        """Is there a row with these constraints and something like these answers, the booked one if one must be?"""
        if domain == "hospital":
            wanted = task.info.get("department", "").strip().lower()
            return not wanted or any(row["department"].lower() == wanted for row in self._rows.get(domain, ()))
        if domain in ("taxi", "police"):
            return True
        known, table = heard.answers.get(domain, {}), self._rows.get(domain, [])
        rows = set(range(len(table)))
        for slot, value in task.info.items():
            rows &= self._having(domain, slot, value)
        if task.book and domain in heard.booked:
            rows &= {heard.booked[domain]}
        return any(
            all(_resembles(slot, known.get(slot, ASKED), table[number].get(slot)) for slot in task.requests)
            for number in sorted(rows)
        )

    def _equal(self, domain: str, slot: str, value: str) -> frozenset[int]:
        """The numbers of the rows that fit one constraint; those with an unknown value do."""
        table = self._rows.get(domain, [])
        fitting = {cell for cell in {row.get(slot) for row in table} if _fits(slot, value, cell)}
        return frozenset(number for number, row in enumerate(table) if row.get(slot) in fitting)


def _owner(domain: str, intent: str, about: str) -> str:
    """Whose booking a reference is."""
    if domain == "booking":
        return about if intent == "book" and about in _BOOKABLE else ""
    return "train" if domain == "train" and intent in ("offerbooked", "inform") else ""


def _fits(slot: str, wanted: str, has: Any) -> bool:
    if wanted in _NO_VALUE or not isinstance(has, str) or has.strip() == ASKED:
        return True
    if slot in _TIMES:
        return _in_time(slot, wanted, has)
    return wanted.strip().lower() == has.strip().lower() or (slot, wanted, has) == ("area", "center", "centre")


def _failures(
    domain: str, task: Task, heard: _Heard, rate: float | None, *, satisfiable: bool
) -> Iterator[TaskFailure]:
    missing = [slot for slot in task.requests if slot not in heard.told.get(domain, ())]
    if rate == 0 and domain not in heard.booked:
        yield TaskFailure(reason="no_booking_heard")
    elif rate is not None and rate < 1:
        yield TaskFailure(reason="booked_unfit", given=(str(heard.booked.get(domain, 0)),))
    elif missing:
        for slot in missing:
            yield TaskFailure(reason="never_heard", slot=slot)
    else:
        yield TaskFailure(reason="nothing_to_do" if satisfiable else "no_row")


def seen_by_user(dialogue: Dialogue) -> tuple[Turn, ...]:
    """The turns up to, and without, the last one of the system."""
    turns, last = dialogue.turns, len(dialogue.turns) - 1
    while last >= 0 and turns[last].speaker != "system":
        last -= 1
    return turns if last < 0 else (*turns[:last], *turns[last + 1 :])


def registered(dialogue: Dialogue) -> dict[str, int]:
    """The references that were given out, each with the number of its row."""
    return {
        call.values[REFERENCE]: call.rows[0]
        for turn in dialogue.turns
        for call in turn.calls or ()
        if call.name == "book" and REFERENCE in call.values and call.rows
    }


@lru_cache(1 << 14)
def looks_right(domain: str, slot: str, value: str) -> bool:
    """Whether a value has the form that values of its slot have.

    >>> looks_right("hotel", "postcode", "cb21ab"), looks_right("train", "arriveBy", "24:10")
    (True, False)
    """
    if slot in ("phone", "pricerange") and domain == _ANY_FORM[slot]:
        return True
    form = _FORMS.get(slot)
    return form is None or form.search(value.lower() if slot in _ANY_CASE else value) is not None


def _counts(domain: str, task: Task, heard: _Heard) -> tuple[int, int, int]:
    """Requests that were told, what was told wrongly or without need, requests that were not told."""
    answered = heard.told.get(domain, set())
    hits = sum(slot in answered for slot in task.requests)
    return hits, _surplus(domain, heard, task), len(task.requests) - hits


def _surplus(domain: str, heard: _Heard, task: Task) -> int:
    unneeded = heard.told.get(domain, set()) & _SURPLUS - {*task.requests, *task.info}
    return heard.malformed.get(domain, 0) + len(unneeded)


def _rates(hits: int, false: int, missed: int) -> tuple[float | None, float | None, float | None]:
    """Precision, recall and F1: undefined where nothing was asked for, else 0 where a denominator is."""
    if not hits + missed:
        return None, None, None
    recall = hits / (hits + missed)
    if not hits:
        return 0.0, recall, 0.0
    precision = hits / (hits + false)
    return precision, recall, 2 * precision * recall / (precision + recall)


def _both(book: float | None, recall: float | None) -> bool:
    """Is each of the two complete or not asked for, and at least one asked for?"""
    return (book is not None or recall is not None) and book in (None, 1.0) and recall in (None, 1.0)


@lru_cache(1 << 12)
def _digits(value: str) -> int | None:
    """A time as a number of four digits."""
    hours, _, minutes = value.partition(":")
    return int(hours) * 100 + int(minutes) if hours.isdecimal() and minutes.isdecimal() else None


def _in_time(slot: str, wanted: str, has: str) -> bool:
    """Is a time not before, or not after, another? What is no time always fits."""
    limit, time = _digits(wanted), _digits(has)
    return limit is None or time is None or (time - limit) * _TIMES[slot] >= 0


def _booked_fits(slot: str, wanted: str, row: Mapping[str, Any]) -> bool:
    has = str(row.get(slot, ""))
    # Goals are read in small letters here, names of the database are not.
    return _in_time(slot, wanted, has) if slot in _TIMES else wanted.strip().lower() == has.strip().lower()


def _resembles(slot: str, answer: str, has: Any) -> bool:
    """Is an answer like what a row has?"""
    if answer in _NO_VALUE or not isinstance(has, str):
        return True
    if slot in _TIMES:
        return _in_time(slot, answer, has)
    return has.strip() == ASKED or _alike(answer.strip().lower(), has.strip().lower())


@lru_cache(1 << 15)
def _alike(answer: str, value: str) -> bool:
    """Whether one text is much like a part of the other: the parts that begin where the texts agree are tried.

    That is how the library did it that ConvLab-2 uses. Later ones try every part, and find more alike.
    """
    short, long = sorted((answer, value), key=len)
    blocks = Levenshtein.editops(short, long).as_matching_blocks()
    starts = {max(0, block.b - block.a) for block in blocks}
    return any(round(ratio(short, long[start : start + len(short)])) >= _ALIKE for start in starts)
