"""Acts for agents that have only words: those they report themselves, and a user's as the domain's words show them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress

from dialgauge.agents.speech import DomainNlu, ParseContext, Vocabulary
from dialgauge.dialogue import Act
from dialgauge.intents import REQUEST, service_of

#: Characters of a value that anybody can have meant.
_LONGEST_VALUE = 200


class Observer:
    """Follows one conversation and labels what the user says. It is on the record that the acts are its own."""

    def __init__(self, vocabulary: Vocabulary, *, most: int = 12) -> None:
        """``most`` are the acts a turn may have."""
        self._nlu, self._vocabulary, self._most = DomainNlu(vocabulary), vocabulary, most
        self._service = ""

    def label(self, text: str, asked: tuple[Act, ...] = ()) -> tuple[Act, ...]:
        """The acts of what was said next; ``asked`` is what the other side asked for before."""
        own = tuple(act for act in asked if act.intent == REQUEST)
        acts = self._nlu.parse(text, ParseContext(own=own, domain=self._service)).acts[: self._most]
        self._service = next((act.domain for act in reversed(acts) if act.domain in self._vocabulary), self._service)
        return acts


def reported_acts(given: object, inventory: Mapping[str, tuple[str, ...]], most: int) -> tuple[Act, ...]:
    """The acts that an agent says it meant: ``[["Hotel-Inform", "area", "north"], …]``, or the JSON of that.

    Those that nobody can say are left out.
    """
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    if not isinstance(given, list):
        return ()
    known = {name.lower(): (name, slots) for name, slots in inventory.items()}
    acts = []
    for entry in given:
        words = [str(word).strip() for word in entry] if isinstance(entry, list) else []
        name, slot, value = (*words, "", "", "")[:3]
        if name.lower() in known and len(value) <= _LONGEST_VALUE:
            spelled, slots = known[name.lower()]
            if slot in slots and (value or not slot):
                acts.append(Act(name=spelled, domain=service_of(spelled), slot=slot, values=(value,) if slot else ()))
    return tuple(dict.fromkeys(acts))[:most]
