"""What a listener believes the user wants, from the user's acts alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dialgauge.dialogue import Act, State, Values
from dialgauge.intents import INFORM
from dialgauge.worlds.town import BOOK_SLOTS, SEARCH_SLOTS

_KNOWN = {domain: {*slots, *BOOK_SLOTS.get(domain, ())} for domain, slots in SEARCH_SLOTS.items()}
_ENDS = ("departure", "destination")


class Belief:
    """A belief state that grows with the user's acts.

    ``wanted`` holds the plain values; ``state`` is the same as records keep it. A state is never changed once it was
    looked at: the next act makes a new one, which shares what did not change.
    """

    def __init__(self) -> None:
        self.wanted: dict[str, dict[str, str]] = {}
        self.state: State = {}
        #: The domain that was spoken of last.
        self.domain = ""

    def hear(self, acts: Iterable[Act], places: Mapping[str, str] | None = None) -> dict[str, dict[str, str]]:
        """Take in a user's turn; the values it gave, by domain. ``places`` says what "the hotel" is."""
        given: dict[str, dict[str, str]] = {}
        for act in acts:
            domain = act.domain
            if domain not in _KNOWN:
                continue
            self.domain = domain
            if act.slot and act.values and act.intent == INFORM and act.slot in _KNOWN[domain]:
                value = act.values[0].strip().lower()
                if places and act.slot in _ENDS and value in places:
                    value = places[value]
                given.setdefault(domain, {})[act.slot] = value
        for domain, values in given.items():
            self.wanted[domain] = {**self.wanted.get(domain, {}), **values}
            kept: dict[str, Values] = {slot: (value,) for slot, value in values.items()}
            self.state = {**self.state, domain: {**self.state.get(domain, {}), **kept}}
        return given
