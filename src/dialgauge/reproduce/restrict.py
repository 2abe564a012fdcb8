"""Dialogues cut down to one domain (RSA paper, Table 2)."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from dialgauge.dialogue import Dialogue, State, Turn


def restricted(dialogues: Sequence[Dialogue], domain: str) -> list[Dialogue]:
    """The dialogues with both states cut to the domain; turns whose gold state lacks it have no state and no score."""
    return [
        replace(dialogue, turns=tuple(_restricted(turn, domain) for turn in dialogue.turns)) for dialogue in dialogues
    ]


def _restricted(turn: Turn, domain: str) -> Turn:
    if not (turn.state or {}).get(domain):
        return replace(turn, state=None, predicted=None)
    return replace(turn, state=_only(turn.state, domain), predicted=_only(turn.predicted, domain))


def _only(state: State | None, domain: str) -> State | None:
    return None if state is None else {name: slots for name, slots in state.items() if name == domain}
