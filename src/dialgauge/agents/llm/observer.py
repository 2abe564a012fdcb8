"""An observer that labels what was said with acts, for agents that have only words.

It is the town's NLU, listening from the other side's place. What it says is good enough to score a recording by, and
it is on the record that the acts are its own.
"""

from __future__ import annotations

import json
from contextlib import suppress

from dialgauge.agents.speech import ParseContext
from dialgauge.dialogue import Act, Ontology, Speaker
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.town import SYSTEM_ACTS, TOWN_DOMAINS, USER_ACTS, act

_SIDES: dict[Speaker, Speaker] = {"user": "system", "system": "user"}
_INVENTORY = {"user": USER_ACTS, "system": SYSTEM_ACTS}
#: Characters of a value that anybody can have meant.
_LONGEST_VALUE = 200


class Observer:
    """Follows one conversation and labels each turn."""

    def __init__(self, ontology: Ontology | None, nlu: str = "", *, most: int = 12) -> None:
        """``most`` are the acts a turn may have."""
        from dialgauge.agents.speech.nlu import nlu_from

        if ontology is None:
            raise DialgaugeError("to label words with acts an agent needs the values of its world (an ontology)")
        self._nlu = nlu_from(nlu, ontology)
        self._last: dict[Speaker, tuple[Act, ...]] = {"user": (), "system": ()}
        self._domain = ""
        self._most = most

    def label(self, text: str, speaker: Speaker) -> tuple[Act, ...]:
        """The acts of what was said next."""
        context = ParseContext(
            own=self._last[_SIDES[speaker]], before=self._last[speaker], domain=self._domain, pending=self._domain
        )
        acts = self._nlu.parse(text, speaker, context).acts[: self._most]
        self._last[speaker] = acts
        self._domain = next((one.domain for one in reversed(acts) if one.domain in TOWN_DOMAINS), self._domain)
        return acts


def reported_acts(given: object, speaker: Speaker, most: int) -> tuple[Act, ...]:
    """The acts that an agent says it meant: ``[["Hotel-Inform", "area", "north"], …]``, or the JSON of that.

    Those that nobody can say are left out.
    """
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    if not isinstance(given, list):
        return ()
    known = {name.lower(): (name, slots) for name, slots in _INVENTORY[speaker].items()}
    acts = []
    for one in given:
        words = [str(word).strip() for word in one] if isinstance(one, list) else []
        name, slot, value = (*words, "", "", "")[:3]
        if name.lower() in known and len(value) <= _LONGEST_VALUE:
            spelled, slots = known[name.lower()]
            if slot in slots and (value or not slot):
                acts.append(act(spelled, slot, value if slot else ""))
    return tuple(dict.fromkeys(acts))[:most]
