"""Dialogue acts as the scorer sees them: families found in the act's name, and constraints in lower case."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache

from msgspec import Struct

from dialgauge.dialogue import Act, Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.users.config import GcdfConfig
from dialgauge.users.profile import FAMILIES, DatasetProfile

(INFORM, REQUEST, NOBOOK, BOOKING_INFORM, RECOMMEND, OFFERBOOKED, OFFERBOOK, BOOK, NOOFFER) = (
    1 << index for index in range(len(FAMILIES))
)
#: Families by which a system says a value, and by which it presents an entity.
SLOT_VALUE = INFORM | RECOMMEND | OFFERBOOKED | BOOK | NOOFFER
PRESENT = INFORM | RECOMMEND | BOOK

#: Between slot and value of a constraint, and, in the reference, between the values of one act.
EQUALS = "==="
BETWEEN = "###"


class Spoken(Struct, frozen=True, eq=False, gc=False):
    """One act: its families as bits, its slot as goals write it, and one ``slot===value`` for each value.

    ``matchable``: which constraints may be brought to a canonical form (not those of requests and general acts).
    """

    act: Act
    families: int
    slot: str
    constraints: tuple[str, ...]
    matchable: tuple[bool, ...]
    has_value: bool
    #: Whether it is about a domain, not a pleasantry.
    in_domain: bool


class SpokenTurn(Struct, gc=False):
    """One turn: what was said, what the other side understood (None: not recorded), which slots were requested."""

    position: int
    text: str
    said: tuple[Spoken, ...] | None
    services: Mapping[str, Sequence[Spoken]]
    heard: tuple[Spoken, ...] | None
    requested: Mapping[str, tuple[str, ...]]
    #: The families of all acts together: most questions are answered by them alone.
    families: int

    def acts(self, families: int, services: Iterable[str]) -> list[Spoken]:
        """The acts of some families in some services."""
        if not self.families & families:
            return []
        return [act for name in services for act in self.services.get(name, ()) if act.families & families]

    def has(self, families: int, services: Iterable[str]) -> bool:
        """Is there an act of one of the families in one of the services?"""
        return bool(self.acts(families, services))

    def slots(self, families: int, services: Iterable[str]) -> set[str]:
        """The slots of such acts."""
        return {act.slot for act in self.acts(families, services) if act.slot}

    def services_with(self, families: int) -> list[str]:
        """The services in which there is an act of one of the families."""
        return [name for name in self.services if self.has(families, [name])]


def by_service(acts: Iterable[Spoken]) -> dict[str, list[Spoken]]:
    """Acts by service, in order of appearance."""
    services: dict[str, list[Spoken]] = {}
    for act in acts:
        services.setdefault(act.act.domain, []).append(act)
    return services


class ActReader:
    """Reads dialogues with the families and slot names of a profile."""

    def __init__(self, config: GcdfConfig, profile: DatasetProfile, *, strict: bool) -> None:
        self._profile, self._strict = profile, strict
        self._merge = config.igcd_f1.multiple_values_for_slot_in_turn.merge
        repaired = {} if strict else profile.acts_repaired
        self._expressions = [
            [re.compile(text) for acts in (profile.acts, repaired) for text in acts.get(family, ())]
            for family in FAMILIES
        ]
        self._spoken = lru_cache(1 << 14)(self._read)
        #: The families an act's name belongs to, as bits.
        self.families = lru_cache(1 << 14)(self._families_of)

    def _families_of(self, name: str) -> int:
        return sum(1 << bit for bit, tests in enumerate(self._expressions) if any(test.search(name) for test in tests))

    def slot(self, act: Act) -> str:
        """The act's slot under the name that goals use."""
        return self._profile.goal_slot(act.domain, act.slot)

    def _read(self, act: Act) -> Spoken:
        slot, values = self.slot(act), self._values(act)
        constraints = tuple(f"{slot}{EQUALS}{value}" if value else slot for value in values) if slot else ()
        general, request = self._profile.general_service, self._expressions[FAMILIES.index("request")]
        whole = [f"{act.name.lower()}<<<{constraint}" for constraint in constraints]
        matchable = tuple(
            bool(value) and not (general and general in text) and not any(test.search(text) for test in request)
            for value, text in zip(values, whole, strict=False)
        )
        in_domain = act.domain != general
        return Spoken(act, self.families(act.name), slot, constraints, matchable, values != ("",), in_domain)

    def _values(self, act: Act) -> tuple[str, ...]:
        """The reference joins values with a mark and splits them again, which also splits values that contain it."""
        if self._strict:
            joined = BETWEEN.join(act.values).lower()
            return (joined.replace(BETWEEN, " "),) if self._merge else tuple(joined.split(BETWEEN))
        values = tuple(value.lower() for value in act.values if value)
        return ((" ".join(values),) if self._merge else values) or ("",)

    def turns(self, dialogue: Dialogue) -> list[SpokenTurn]:
        """The turns, or the reason why the dialogue cannot be scored."""
        for position, turn in enumerate(dialogue.turns):
            expected = ("user", "system")[position % 2]
            if turn.speaker != expected:
                raise DialgaugeError(
                    f"the {turn.speaker} speaks where the {expected} should: turns must alternate and the user must "
                    "begin",
                    turn=position,
                )
        return [self._turn(turn, position) for position, turn in enumerate(dialogue.turns)]

    def _turn(self, turn: Turn, position: int) -> SpokenTurn:
        said = None if turn.acts is None else tuple([self._spoken(act) for act in turn.acts])
        services = by_service(said or ())
        if "" in services:
            raise DialgaugeError("an act has no service, so nobody knows which domain it is about", turn=position)
        heard = None if turn.heard is None else tuple([self._spoken(act) for act in turn.heard])
        families = 0
        for act in said or ():
            families |= act.families
        return SpokenTurn(position, turn.text, said, services, heard, self._requested(turn, services), families)

    def _requested(self, turn: Turn, services: Mapping[str, Sequence[Spoken]]) -> dict[str, tuple[str, ...]]:
        """By service what the turn asks for, as ``service-slot``: requested slots, else the slots of request acts."""
        if turn.requested is None and turn.speaker == "system":
            return {}
        if turn.requested is None:
            asked = {
                service: [f"{service}-{act.slot}" for act in acts if act.families & REQUEST and act.slot]
                for service, acts in services.items()
            }
        else:
            prefixed = self._profile.requests_carry_service
            asked = {
                service: [slot if prefixed else f"{service}-{slot}" for slot in slots]
                for service, slots in turn.requested.items()
            }
        return {service: tuple(dict.fromkeys(map(str.lower, slots))) for service, slots in asked.items() if slots}
