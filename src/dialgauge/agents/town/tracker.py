"""What a listener believes the user wants, from the user's acts alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from dialgauge.dialogue import Act, State, Values, read_acts
from dialgauge.intents import INFORM
from dialgauge.worlds.domain import Domain

#: Values that a turn gave, by service.
Given: TypeAlias = dict[str, dict[str, str]]
#: What listeners of each domain believe before anything is said, with the domain whose identity must not be reused.
_beginnings: dict[int, tuple[Domain, _Believed]] = {}
_MOST_BELIEVED = 1 << 14


class _Believed:
    """What is believed after some turns, and what is after one more: users begin alike, and both the system and the
    record follow what they say."""

    made = 0

    def __init__(self, wanted: Given, state: State) -> None:
        self.wanted, self.state = wanted, state
        self.after: dict[tuple[Act, ...], tuple[_Believed, str, Given]] = {}
        _Believed.made += 1


def _beginning(domain: Domain) -> _Believed:
    if _Believed.made > _MOST_BELIEVED:
        _beginnings.clear()
        _Believed.made = 0
    known = _beginnings.get(id(domain))
    if known is None:
        known = _beginnings[id(domain)] = domain, _Believed({}, {})
    return known[1]


class Belief:
    """A belief state that grows with the user's acts.

    ``wanted`` holds the plain values; ``state`` is the same as records keep it. Neither is ever changed: the next act
    makes a new one, which shares what did not change.
    """

    def __init__(self, domain: Domain) -> None:
        self._services, self._referring = domain.services, domain.referring
        self._now = _beginning(domain)
        #: The service that was spoken of last.
        self.domain = ""

    @property
    def wanted(self) -> Given:
        """The plain values, by service."""
        return self._now.wanted

    @property
    def state(self) -> State:
        """The same as records keep it."""
        return self._now.state

    def hear(self, acts: tuple[Act, ...], places: Callable[[], Mapping[str, str]] = dict) -> Given:
        """Take in a user's turn; the values it gave, by service. ``places`` says what "the hotel" is."""
        self._now, domain, given = self._now.after.get(acts) or self._step(acts, places)
        self.domain = domain or self.domain
        return given

    def _step(self, acts: tuple[Act, ...], places: Callable[[], Mapping[str, str]]) -> tuple[_Believed, str, Given]:
        given: Given = {}
        spoken, refers = "", False
        for _, intent, domain, slot, values in read_acts(acts).each:
            service = self._services.get(domain)
            if service is None:
                continue
            spoken = domain
            if slot and values and slot in service.known and intent == INFORM:
                value = values[0].strip()
                if service.multiwoz:
                    value = value.lower()
                if slot in self._referring and value.lower().startswith("the "):
                    refers, value = True, places().get(value.lower(), value)
                given.setdefault(domain, {})[slot] = value
        now = self._now
        if given:
            wanted, state = dict(now.wanted), dict(now.state)
            for domain, told in given.items():
                kept: dict[str, Values] = {slot: (value,) for slot, value in told.items()}
                wanted[domain] = {**wanted.get(domain, {}), **told}
                state[domain] = {**state.get(domain, {}), **kept}
            now = _Believed(wanted, state)
        step = now, spoken, given
        if not refers:
            self._now.after[acts] = step
        return step
