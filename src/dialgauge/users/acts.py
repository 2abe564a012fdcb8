"""Dialogue acts as the scorer sees them: families found in the act's name, and parameters in lower case.

Every distinct set of acts is prepared once for a whole corpus: simulated users repeat themselves.
"""

from __future__ import annotations

import re

from msgspec import Struct

from dialgauge.dialogue import Act
from dialgauge.users.profile import FAMILIES, Profile

(INFORM, REQUEST, NOBOOK, BOOKING_INFORM, RECOMMEND, OFFERBOOKED, OFFERBOOK, BOOK, NOOFFER) = (
    1 << place for place in range(len(FAMILIES))
)
#: What a system can say a value with.
SLOT_VALUE = INFORM | RECOMMEND | OFFERBOOKED | BOOK | NOOFFER
#: What a system can present an entity with.
PRESENT = INFORM | RECOMMEND | BOOK

EQUALS = "==="
BETWEEN = "###"


class Parameter(Struct, frozen=True, gc=False):
    """A slot and its value as one text ``slot===value`` (or only ``slot`` when there is no value).

    ``matchable``: may its value be brought to a canonical form? Not in requests and general acts.
    """

    text: str
    slot: str
    value: str
    matchable: bool


class Said(Struct, frozen=True):
    """One act: its families as bits, its slot, and one parameter for each of its values."""

    families: int
    slot: str
    parameters: tuple[Parameter, ...]
    has_value: bool


class Utterance(Struct, frozen=True, eq=False):
    """The acts of one turn by service, services in order of appearance, and the families of all acts together.

    ``torn``: a value of the turn that is taken apart because it contains the separator of values.
    """

    services: dict[str, list[Said]]
    families: int
    torn: str = ""


class Lexicon:
    """Prepares acts for one dataset profile."""

    def __init__(self, profile: Profile, *, merge_values: bool, strict: bool) -> None:
        self._merge, self._strict = merge_values, strict
        self._expressions = [self._compile(profile, family, repaired=not strict) for family in FAMILIES]
        self._request = self._expressions[FAMILIES.index("request")]
        self._general = profile.general_service
        self._slot_names = profile.slot_names
        self._families: dict[str, int] = {}
        self._utterances: dict[tuple[Act, ...], Utterance] = {}

    @staticmethod
    def _compile(profile: Profile, family: str, *, repaired: bool) -> list[re.Pattern[str]]:
        expressions = [*profile.acts.get(family, ()), *(profile.acts_repaired.get(family, ()) if repaired else ())]
        return [re.compile(expression) for expression in expressions]

    def families(self, name: str) -> int:
        """The families an act's name belongs to, as bits."""
        known = self._families.get(name)
        if known is None:
            known = 0
            for place, expressions in enumerate(self._expressions):
                if any(expression.search(name) for expression in expressions):
                    known |= 1 << place
            self._families[name] = known
        return known

    def utterance(self, acts: tuple[Act, ...]) -> Utterance:
        """The acts of one turn, prepared. Equal acts give the very same utterance."""
        known = self._utterances.get(acts)
        if known is None:
            services: dict[str, list[Said]] = {}
            families = 0
            for act in acts:
                said = self._prepare(act)
                families |= said.families
                services.setdefault(act.domain, []).append(said)
            known = self._utterances[acts] = Utterance(services, families, self._torn(acts))
        return known

    def _torn(self, acts: tuple[Act, ...]) -> str:
        if not self._strict:
            return ""
        return next((value for act in acts for value in act.values if BETWEEN in value), "")

    def _prepare(self, act: Act) -> Said:
        slot = self._slot(act)
        values = self._values(act)
        return Said(
            families=self.families(act.name),
            slot=slot,
            parameters=tuple(self._parameter(act.name, slot, value) for value in values) if slot else (),
            has_value=values != ("",),
        )

    def _slot(self, act: Act) -> str:
        """The act's slot under the name that goals use."""
        slot = act.slot.lower()
        for service in (act.domain, "*"):
            name = self._slot_names.get(service, {}).get(slot)
            if name is not None:
                return name
        return slot

    def _values(self, act: Act) -> tuple[str, ...]:
        """The values to take one by one. The reference joins with ``###`` and takes apart at ``###`` again, so that a
        value which contains the mark comes apart too; in recommended mode it stays whole."""
        if not self._strict:
            given = tuple(value.lower() for value in act.values if value)
            return ((" ".join(given),) if self._merge else given) or ("",)
        joined = BETWEEN.join(act.values).lower()
        return (joined.replace(BETWEEN, " "),) if self._merge else tuple(joined.split(BETWEEN))

    def _parameter(self, name: str, slot: str, value: str) -> Parameter:
        text = f"{slot}{EQUALS}{value}" if value else slot
        whole = f"{name.lower()}<<<{text}"
        matchable = (
            bool(value)
            and not (self._general and self._general in whole)
            and not any(expression.search(whole) for expression in self._request)
        )
        return Parameter(text, slot, value, matchable)
