"""Bringing the values of one turn to their canonical form, as the GCDF1 evaluator does.

The reference rewrites the constraints of a turn together, and its bookkeeping has consequences that must be matched:
two raw values of one turn that mean the same stay raw, an act said twice is rewritten only once, and a slot also takes
the values of constraints whose text merely contains its name. In recommended mode each value is rewritten by itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Task
from dialgauge.errors import DialgaugeError
from dialgauge.users.acts import EQUALS, Spoken
from dialgauge.users.config import GcdfConfig
from dialgauge.users.profile import DatasetProfile
from dialgauge.values import Candidates, CanonicalMap, ValueTable


class Attempt(Struct, frozen=True, gc=False):
    """One value that was not canonical: the nearest known form, its canonical value, and whether it was near enough."""

    domain: str
    slot: str
    value: str
    nearest: str
    canonical: str
    method: str
    matched: bool


#: By slot as written.
GoalValues: TypeAlias = Mapping[str, tuple[str, ...]]


def goal_values(task: Task) -> GoalValues:
    """The goal's values by slot as written, values in lower case, booking before search."""
    values: dict[str, list[str]] = {}
    for constraints in task.constraints:
        for slot, value in constraints.items():
            values.setdefault(slot, []).append(value.lower())
    return {slot: tuple(dict.fromkeys(texts)) for slot, texts in values.items()}


class Normaliser:
    """Canonical values for one configuration, profile and canonical map."""

    def __init__(self, config: GcdfConfig, profile: DatasetProfile, values: CanonicalMap | None) -> None:
        matching = config.igcd_f1.value_matching
        self._enabled, self._threshold = matching.use_fuzzy_match, matching.fuzzy_match_threshold
        self._strict = config.strict
        self._map = values if matching.use_canonical_map else None
        self._coreference = profile.coreference
        self._try = lru_cache(1 << 14)(self._attempt)

    def constraints(
        self, domain: str, wanted: GoalValues | None, acts: Sequence[Spoken]
    ) -> tuple[list[str], list[Attempt]]:
        """The constraints of some acts with canonical values, and what was tried; ``wanted`` are the goal's values.

        Acts with several values come last, later acts first: the order in which the reference takes them.
        """
        single = [act for act in acts if len(act.constraints) == 1]
        several = [act for act in reversed(acts) if len(act.constraints) > 1]
        pairs = [pair for act in (*single, *several) for pair in zip(act.constraints, act.matchable, strict=True)]
        if wanted is None or not self._enabled:
            return [text for text, _ in pairs], []
        return self._together(domain, wanted, pairs) if self._strict else self._each(domain, wanted, pairs)

    def _together(
        self, domain: str, wanted: GoalValues, pairs: Sequence[tuple[str, bool]]
    ) -> tuple[list[str], list[Attempt]]:
        """The reference's way: places of the turn's constraints by text, values moved, lone places written back."""
        texts = [text for text, _ in pairs]
        places = {text: [index] for index, (text, matchable) in enumerate(pairs) if matchable}
        said = list(places)
        slots = dict.fromkeys(text.partition(EQUALS)[0] for text in said)
        attempts = []
        for slot, value in dict.fromkeys(
            (slot, text.partition(EQUALS)[2]) for slot in slots for text in said if slot in text
        ):
            attempt = self._try(domain, slot, value, wanted.get(slot, ()))
            if attempt is None:
                continue
            attempts.append(attempt)
            if attempt.matched:
                moved = places.pop(f"{slot}{EQUALS}{value}", None)
                if moved is None:
                    raise DialgaugeError(
                        f"the value {value!r} also matches the slot '{slot}', whose name its constraint contains"
                    )
                target = f"{slot}{EQUALS}{attempt.canonical}"
                places[target] = sorted([*places.get(target, ()), *moved])
        for text, at in places.items():
            if len(at) == 1:
                texts[at[0]] = text
        return texts, attempts

    def _each(
        self, domain: str, wanted: GoalValues, pairs: Sequence[tuple[str, bool]]
    ) -> tuple[list[str], list[Attempt]]:
        """The recommended way: every value by itself, slots compared without regard to case."""
        lower = {**{slot.lower(): values for slot, values in wanted.items()}, **wanted}
        texts, attempts = [], []
        for text, matchable in pairs:
            slot, _, value = text.partition(EQUALS)
            attempt = self._try(domain, slot, value, lower.get(slot, ())) if matchable else None
            attempts += [attempt] if attempt else []
            texts.append(f"{slot}{EQUALS}{attempt.canonical}" if attempt and attempt.matched else text)
        return texts, attempts

    def _attempt(self, domain: str, slot: str, value: str, wanted: tuple[str, ...]) -> Attempt | None:
        """The nearest known form of a value; None when it is canonical already or cannot be looked up."""
        if value in self._coreference.get(domain, ()):
            return None
        if self._map is None:
            found = None if value in wanted else self._nearest(value, Candidates(wanted))
            return found and Attempt(domain, slot, value, found[0], found[0], "simple", found[1])
        try:
            table = self._map.table(slot, domain)
        except DialgaugeError:
            if self._strict:
                raise
            return None
        if table is None or value in table.known or (not self._strict and value in wanted):
            return None
        attempt = None
        for method, candidates in (
            ("simple", Candidates([text for each in wanted for text in self._spellings(domain, slot, table, each)])),
            ("extended", table.candidates),
        ):
            found = self._nearest(value, candidates)
            if found is not None:
                attempt = Attempt(domain, slot, value, found[0], table.canonical(found[0]), method, found[1])
                if attempt.matched:
                    break
        return attempt

    def _spellings(self, domain: str, slot: str, table: ValueTable, value: str) -> list[str]:
        """All spellings of a value of the goal."""
        listed = table.paraphrases(value)
        if listed is None and self._strict:
            raise DialgaugeError(
                f"the canonical map has no value {value!r} for the slot '{slot}', which the goal of the domain "
                f"'{domain}' asks for; add it to the map"
            )
        return [value] if listed is None else listed

    def _nearest(self, value: str, candidates: Candidates) -> tuple[str, bool] | None:
        """The nearest text, and whether it is near enough; None without candidates."""
        if not candidates:
            return None
        nearest, score = candidates.nearest(value)
        return nearest, score > self._threshold or math.isclose(score, self._threshold, rel_tol=1e-9)
