"""Dialogue acts as the scorer sees them: families found in the act's name, and parameters in lower case.

Every distinct set of acts is prepared once for a whole corpus: simulated users repeat themselves.
"""

from __future__ import annotations

import re
from itertools import cycle
from typing import TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Act, Dialogue, Speaker, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.text import counted
from dialgauge.users.profile import FAMILIES, DatasetProfile

(INFORM, REQUEST, NOBOOK, BOOKING_INFORM, RECOMMEND, OFFERBOOKED, OFFERBOOK, BOOK, NOOFFER) = (
    1 << index for index in range(len(FAMILIES))
)
#: What a system can say a value with.
SLOT_VALUE = INFORM | RECOMMEND | OFFERBOOKED | BOOK | NOOFFER
#: What a system can present an entity with.
PRESENT = INFORM | RECOMMEND | BOOK

EQUALS = "==="
BETWEEN = "###"


class ActParameter(Struct, frozen=True, eq=False, gc=False):
    """A slot and its value as one text ``slot===value`` (or only ``slot`` when there is no value).

    ``matchable``: may its value be brought to a canonical form? Not in requests and general acts.
    """

    text: str
    slot: str
    value: str
    matchable: bool


#: An act without regard to case: its name, its slot, its values.
Folded: TypeAlias = tuple[str, str, tuple[str, ...]]


def folded(act: Act) -> Folded:
    """What two acts have in common that say the same."""
    return act.name.lower(), act.slot.lower(), tuple([value.lower().strip() for value in act.values])


class Said(Struct, frozen=True, eq=False, gc=False):
    """One act: its families as bits, its slot, and one parameter for each of its values. Equal acts are one object.

    ``torn``: a value that is taken apart because it contains the separator of values.
    """

    act: Act
    folded: Folded
    families: int
    slot: str
    parameters: tuple[ActParameter, ...]
    has_value: bool
    torn: str
    #: Service and slot; None for pleasantries.
    about: tuple[str, str] | None


class Utterance(Struct, frozen=True, eq=False, gc=False):
    """The acts of one turn, also by service in order of appearance, and the families of all acts together.

    ``torn``: the first value of the turn that is taken apart.
    """

    acts: tuple[Said, ...]
    services: dict[str, list[Said]]
    families: int
    torn: str = ""
    #: Acts that are about a domain, the names of those that belong to no family, and the slots that are spoken of.
    in_domains: int = 0
    unknown: tuple[str, ...] = ()
    slots: frozenset[tuple[str, str]] = frozenset()


#: What is said where no acts are recorded.
SILENCE = Utterance((), {}, 0)


class ActLexicon:
    """Prepares acts for one dataset profile."""

    def __init__(self, profile: DatasetProfile, *, merge_values: bool, strict: bool) -> None:
        self._merge, self._strict = merge_values, strict
        repaired = {} if strict else profile.acts_repaired
        self._expressions = [
            [re.compile(expression) for acts in (profile.acts, repaired) for expression in acts.get(family, ())]
            for family in FAMILIES
        ]
        self._request = self._expressions[FAMILIES.index("request")]
        self._general = profile.general_service
        self._slot_names = profile.slot_names
        self._families: dict[str, int] = {}
        self._utterances: dict[tuple[Said, ...], Utterance] = {}
        self._acts: dict[Act, Said] = {}

    def families(self, name: str) -> int:
        """The families an act's name belongs to, as bits."""
        known = self._families.get(name)
        if known is None:
            known = 0
            for index, expressions in enumerate(self._expressions):
                if any(expression.search(name) for expression in expressions):
                    known |= 1 << index
            self._families[name] = known
        return known

    def utterance(self, acts: tuple[Act, ...]) -> Utterance:
        """The acts of one turn, prepared. Equal acts give the very same utterance."""
        prepared = tuple([self._acts.get(act) or self._prepare(act) for act in acts])
        known = self._utterances.get(prepared)
        if known is None:
            known = self._utterances[prepared] = self._utterance(prepared)
        return known

    def _utterance(self, acts: tuple[Said, ...]) -> Utterance:
        services: dict[str, list[Said]] = {}
        families = in_domains = 0
        torn = ""
        unknown: list[str] = []
        slots: set[tuple[str, str]] = set()
        for act in acts:
            families |= act.families
            torn = torn or act.torn
            services.setdefault(act.act.domain, []).append(act)
            if act.about is not None:
                in_domains += 1
                slots.add(act.about)
                if not act.families:
                    unknown.append(act.act.name)
        return Utterance(acts, services, families, torn, in_domains, tuple(unknown), frozenset(slots))

    def _prepare(self, act: Act) -> Said:
        slot = self.slot(act)
        values = self._values(act)
        prepared = self._acts[act] = Said(
            act=act,
            folded=folded(act),
            families=self.families(act.name),
            slot=slot,
            parameters=tuple(self._parameter(act.name, slot, value) for value in values) if slot else (),
            has_value=values != ("",),
            torn=next((value for value in act.values if BETWEEN in value), "") if self._strict else "",
            about=None if act.domain == self._general else (act.domain, slot),
        )
        return prepared

    def slot(self, act: Act) -> str:
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

    def _parameter(self, name: str, slot: str, value: str) -> ActParameter:
        text = f"{slot}{EQUALS}{value}" if value else slot
        whole = f"{name.lower()}<<<{text}"
        matchable = (
            bool(value)
            and not (self._general and self._general in whole)
            and not any(expression.search(whole) for expression in self._request)
        )
        return ActParameter(text, slot, value, matchable)


# A dialogue prepared for scoring: its turns' acts by service, what was heard of them, and what was requested.


class PreparedTurn(Struct, gc=False):
    """One turn: what was said, what the *other* side understood (None when not recorded), what was requested."""

    position: int
    speaker: Speaker
    text: str
    said: Utterance
    services: dict[str, list[Said]]
    #: The families of all acts together, so that most questions are answered without looking at them.
    families: int
    heard: Utterance | None
    requested: dict[str, tuple[str, ...]]

    def has(self, families: int, services: tuple[str, ...]) -> bool:
        """Is there an act of one of the families in one of the services?"""
        if not self.families & families:
            return False
        for service in services:
            for act in self.services.get(service, ()):
                if act.families & families:
                    return True
        return False

    def slots(self, families: int, services: tuple[str, ...]) -> set[str]:
        if not self.families & families:
            return set()
        return {
            act.slot
            for service in services
            for act in self.services.get(service, ())
            if act.families & families and act.slot
        }

    def services_with(self, families: int) -> list[str]:
        if not self.families & families:
            return []
        return [service for service, acts in self.services.items() if any(act.families & families for act in acts)]


class Preparation:
    """Prepares the dialogues of a corpus for one dataset profile."""

    def __init__(self, lexicon: ActLexicon, *, requests_carry_service: bool, max_turns: int) -> None:
        self._lexicon = lexicon
        self._carry_service, self._max_turns = requests_carry_service, max_turns

    def turns(self, dialogue: Dialogue) -> list[PreparedTurn]:
        """The turns prepared, or the reason why the dialogue cannot be scored."""
        if len(dialogue.turns) > self._max_turns:
            raise DialgaugeError(
                f"it has {counted(len(dialogue.turns), 'turn')}, more than the {self._max_turns:,} allowed; raise "
                "max_turns if that is intended",
                turn=self._max_turns,
            )
        turns: list[PreparedTurn] = []
        for position, (expected, turn) in enumerate(zip(cycle(("user", "system")), dialogue.turns, strict=False)):
            if turn.speaker != expected:
                raise DialgaugeError(
                    f"the {turn.speaker} speaks where the {expected} should: turns must alternate and the user must "
                    "begin",
                    turn=position,
                )
            turns.append(self._turn(turn, position))
        return turns

    def _turn(self, turn: Turn, position: int) -> PreparedTurn:
        said = SILENCE if turn.acts is None else self._lexicon.utterance(turn.acts)
        if "" in said.services:
            raise DialgaugeError("an act has no service, so nobody knows which domain it is about", turn=position)
        requested = self._as_requests(turn.requested) if turn.requested else {}
        if turn.requested is None and turn.speaker == "user":
            requested = _requests_in_acts(said.services)
        heard = None
        if turn.heard is not None:
            heard = said if turn.heard is turn.acts else self._lexicon.utterance(turn.heard)
        return PreparedTurn(position, turn.speaker, turn.text, said, said.services, said.families, heard, requested)

    def _as_requests(self, requested: dict[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        return {
            service: tuple(
                dict.fromkeys((slot if self._carry_service else f"{service}-{slot}").lower() for slot in slots)
            )
            for service, slots in requested.items()
            if slots
        }


def _requests_in_acts(services: dict[str, list[Said]]) -> dict[str, tuple[str, ...]]:
    """Where no requested slots were recorded, the request acts say what was asked."""
    requests: dict[str, tuple[str, ...]] = {}
    for service, acts in services.items():
        slots = [f"{service}-{act.slot}".lower() for act in acts if act.families & REQUEST and act.slot]
        if slots:
            requests[service] = tuple(dict.fromkeys(slots))
    return requests
