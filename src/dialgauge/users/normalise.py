"""Bringing the values of one turn to their canonical form, as the GCDF1 evaluator does.

The reference normalises the acts of a turn together, and its bookkeeping has consequences that must be matched: two raw
values of one turn that mean the same stay raw, an act said twice is rewritten only once, and a slot also collects the
values of parameters whose text merely contains its name. In recommended mode none of that holds: each value is
normalised for itself, times are compared as times, and a goal value the map lacks stands for itself.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence

from msgspec import Struct

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.users.turns import EQUALS, ActParameter
from dialgauge.values import Candidates, CanonicalMap, ValueTable, spoken


class Attempt(Struct, frozen=True, gc=False):
    """One value that was not canonical: the nearest known form, its canonical value, and whether it was near enough."""

    domain: str
    slot: str
    value: str
    nearest: str
    canonical: str
    method: str
    matched: bool


class Matching(Struct, frozen=True):
    """What normalisation depends on besides goal and values."""

    canonical_map: CanonicalMap | None
    enabled: bool
    threshold: float
    strict: bool
    coreference: dict[str, tuple[str, ...]]
    time_slots: tuple[str, ...]
    #: Who refuses what reference mode refuses, as the end of a sentence.
    refusal: str = ""


def goal_values(task: Task) -> dict[str, tuple[str, ...]]:
    """The goal's values by slot as written, values in lower case, in the order booking, then search constraints."""
    values: dict[str, list[str]] = {}
    for constraints in (task.book, task.fail_book, task.info, task.fail_info):
        for slot, value in constraints.items():
            values.setdefault(slot, []).append(value.lower())
    return {slot: tuple(dict.fromkeys(texts)) for slot, texts in values.items()}


class Normaliser:
    """Normalises the parameters of a dialogue's turns; one for each dialogue, because the goal's values come first."""

    def __init__(self, settings: Matching, tasks: dict[str, Task]) -> None:
        self._settings = settings
        self._tasks = tasks
        self._goal_values: dict[str, dict[str, tuple[str, ...]]] = {}

    def texts(self, domain: str, parameters: Sequence[ActParameter]) -> tuple[Sequence[str], Sequence[Attempt]]:
        """The parameters' texts with canonical values, and what was tried."""
        task = self._tasks.get(domain)
        if task is None or not self._settings.enabled:
            return [parameter.text for parameter in parameters], ()
        if domain not in self._goal_values:
            self._goal_values[domain] = goal_values(task)
        if not self._settings.strict:
            return self._each(domain, parameters)
        return self._together(domain, parameters)

    def _together(self, domain: str, parameters: Sequence[ActParameter]) -> tuple[list[str], list[Attempt]]:
        """The reference's way: places of the turn's parameters by text, values moved, lone places written back."""
        if len(parameters) == 1:
            slot, _, value = parameters[0].text.partition(EQUALS)
            if not parameters[0].matchable or self._attempt(domain, slot, value) is None:
                return [parameters[0].text], []
        texts = dict.fromkeys([parameter.text for parameter in parameters if parameter.matchable])
        halves = [(text, *text.partition(EQUALS)) for text in texts]
        places: dict[str, list[int]] = {}
        attempts: list[Attempt] = []
        slots = dict.fromkeys([slot for _, slot, _, _ in halves])
        pairs = [(slot, value) for slot in slots for text, _, _, value in halves if slot in text]
        for slot, value in dict.fromkeys(pairs):
            attempt = self._attempt(domain, slot, value)
            if attempt is None:
                continue
            attempts.append(attempt)
            if attempt.matched:
                places = places or _places(parameters)
                moved = places.pop(f"{slot}{EQUALS}{value}", None)
                if moved is None:
                    raise DialgaugeError(
                        f"the value {value!r} also matches the slot '{slot}', whose name its parameter contains; "
                        f"{self._settings.refusal}"
                    )
                target = f"{slot}{EQUALS}{attempt.canonical}"
                places[target] = sorted([*places.get(target, ()), *moved])
        rewritten = {at[0]: text for text, at in places.items() if len(at) == 1}
        return [rewritten.get(index, parameter.text) for index, parameter in enumerate(parameters)], attempts

    def _each(self, domain: str, parameters: Sequence[ActParameter]) -> tuple[list[str], list[Attempt]]:
        """The recommended way: every value for itself."""
        texts: list[str] = []
        attempts: list[Attempt] = []
        for parameter in parameters:
            attempt = self._attempt(domain, parameter.slot, parameter.value) if parameter.matchable else None
            if attempt is None:
                texts.append(parameter.text)
                continue
            attempts.append(attempt)
            texts.append(f"{parameter.slot}{EQUALS}{attempt.canonical}" if attempt.matched else parameter.text)
        return texts, attempts

    def _attempt(self, domain: str, slot: str, value: str) -> Attempt | None:
        """What becomes of one value; None when it needs nothing or nothing can be done."""
        settings = self._settings
        if value in settings.coreference.get(domain, ()):
            return None
        if settings.canonical_map is None:
            wanted = self._wanted(domain, slot)
            if value in wanted or not wanted:
                return None
            return self._as_time(domain, slot, value, wanted) or self._search(
                domain, slot, value, [("simple", Candidates(wanted))], str
            )
        table = self._table(settings.canonical_map, slot, domain)
        if table is None or value in table.known:
            return None
        wanted = self._wanted(domain, slot)
        if not settings.strict and value in wanted:
            return None
        return self._look_up(domain, slot, value, wanted, table)

    def _look_up(
        self, domain: str, slot: str, value: str, wanted: tuple[str, ...], table: ValueTable
    ) -> Attempt | None:
        """The goal's own values first, then all others of the map."""
        simple = self._paraphrases(domain, slot, table, wanted)
        if not self._settings.strict and value not in simple.texts:
            time = self._as_time(domain, slot, value, wanted)
            if time is not None:
                return time
        canonical = table.canonical if self._settings.strict else _goal_first(table, wanted)
        return self._search(domain, slot, value, [("simple", simple), ("extended", table.candidates)], canonical)

    def _as_time(self, domain: str, slot: str, value: str, wanted: tuple[str, ...]) -> Attempt | None:
        """A time of day compared as such, in recommended mode; None when the slot or the value is none."""
        if self._settings.strict or slot not in self._settings.time_slots:
            return None
        clock = same_time(value, wanted)
        return None if clock is None else Attempt(domain, slot, value, clock, clock, "time", True)

    def _wanted(self, domain: str, slot: str) -> tuple[str, ...]:
        """The goal's values of a slot. The reference compares the slot with the goal's own spelling, so that it finds
        nothing for camel-case goal slots; recommended mode compares in lower case."""
        values = self._goal_values[domain]
        if self._settings.strict or slot in values:
            return values.get(slot, ())
        return next((texts for name, texts in values.items() if name.lower() == slot), ())

    def _table(self, canonical_map: CanonicalMap, slot: str, domain: str) -> ValueTable | None:
        try:
            return canonical_map.table(slot, domain)
        except DialgaugeError:
            if self._settings.strict:
                raise
            return None

    def _paraphrases(self, domain: str, slot: str, table: ValueTable, wanted: tuple[str, ...]) -> Candidates:
        texts: list[str] = []
        for value in wanted:
            listed = table.paraphrases(value)
            if listed is None and self._settings.strict:
                raise DialgaugeError(
                    f"the canonical map has no value {value!r} for the slot '{slot}', which the goal of the domain "
                    f"'{domain}' asks for; add it to the map"
                )
            texts += [value] if listed is None else listed
        return Candidates(texts)

    def _search(
        self,
        domain: str,
        slot: str,
        value: str,
        tiers: Sequence[tuple[str, Candidates]],
        canonical: Callable[[str], str],
    ) -> Attempt | None:
        attempt = None
        for method, candidates in tiers:
            if not candidates:
                continue
            nearest, score = candidates.nearest(value)
            near = score > self._settings.threshold or math.isclose(score, self._settings.threshold, rel_tol=1e-9)
            attempt = Attempt(domain, slot, value, nearest, canonical(nearest), method, near)
            if near:
                break
        return attempt


def _places(parameters: Sequence[ActParameter]) -> dict[str, list[int]]:
    """Where each text of a turn stands; of several places the last, as in the reference."""
    return {parameter.text: [index] for index, parameter in enumerate(parameters) if parameter.matchable}


def _goal_first(table: ValueTable, wanted: tuple[str, ...]) -> Callable[[str], str]:
    """A paraphrase that several values share means the one the goal asks for (the reference takes the file's first)."""

    def canonical(paraphrase: str) -> str:
        for value in wanted:
            if paraphrase == value or paraphrase in (table.paraphrases(value) or ()):
                return value
        return table.canonical(paraphrase)

    return canonical


# Times as times: in recommended mode ``6 : 00 pm``, ``18.00`` and ``18:00`` are one value, and 09:15 is not 15:09.

_TIME = re.compile(r"([01]\d|2[0-3]):([0-5]\d)")
_HALF_DAY_MARK = re.compile(r"[ap]\s*(?:\.\s*)?m\b|noon|night|morning|evening|afternoon")


def same_time(value: str, wanted: Iterable[str]) -> str | None:
    """The wanted value that is the same time of day, else the time as ``HH:MM``; None when the value is no time.

    A time before noon without "am" or "pm" is the afternoon one when the goal wants that and not the morning one:

    >>> same_time("6 : 00", ["18:00"]), same_time("6:00", ["06:00"]), same_time("6:00 am", ["18:00"])
    ('18:00', '06:00', '06:00')
    >>> same_time("09:15", ["9:15"]), same_time("cheap", ["9:15"])
    ('9:15', None)
    """
    clock = spoken(value)
    parts = _TIME.fullmatch(clock)
    if parts is None:
        return None
    spellings = {spoken(text): text for text in wanted}
    if clock in spellings or _HALF_DAY_MARK.search(value):
        return spellings.get(clock, clock)
    return spellings.get(f"{int(parts[1]) + 12}:{parts[2]}", clock)
