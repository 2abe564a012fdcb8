"""What a listener believes the user wants, from the user's acts alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from dialgauge.dialogue import Act, State, Values
from dialgauge.intents import INFORM, INTENTS
from dialgauge.worlds.domain import Domain


class Belief:
    """A belief state that grows with the user's acts.

    ``wanted`` holds the plain values; ``state`` is the same as records keep it. A state is never changed once it was
    looked at: the next act makes a new one, which shares what did not change.
    """

    def __init__(self, domain: Domain) -> None:
        self._services, self._referring = domain.services, domain.referring
        self.wanted: dict[str, dict[str, str]] = {}
        self.state: State = {}
        #: The service that was spoken of last.
        self.domain = ""

    def hear(self, acts: Iterable[Act], places: Callable[[], Mapping[str, str]] = dict) -> dict[str, dict[str, str]]:
        """Take in a user's turn; the values it gave, by service. ``places`` says what "the hotel" is."""
        given: dict[str, dict[str, str]] = {}
        for act in acts:
            domain, slot = act.domain, act.slot
            service = self._services.get(domain)
            if service is None:
                continue
            self.domain = domain
            if slot and act.values and slot in service.known and INTENTS[act.name] == INFORM:
                value = act.values[0].strip()
                if service.multiwoz:
                    value = value.lower()
                if slot in self._referring and value.lower().startswith("the "):
                    value = places().get(value.lower(), value)
                if domain in given:
                    given[domain][slot] = value
                else:
                    given[domain] = {slot: value}
        for domain, values in given.items():
            self.wanted[domain] = {**self.wanted.get(domain, {}), **values}
            kept: dict[str, Values] = {slot: (value,) for slot, value in values.items()}
            self.state = {**self.state, domain: {**self.state.get(domain, {}), **kept}}
        return given
