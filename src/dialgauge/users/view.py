"""A dialogue prepared for scoring: its turns' acts by service, what was heard of them, and what was requested."""

from __future__ import annotations

from msgspec import Struct

from dialgauge.dialogue import Dialogue, Turn
from dialgauge.errors import DialgaugeError
from dialgauge.users.acts import REQUEST, Lexicon, Said, Utterance


class Moment(Struct):
    """One turn. ``heard`` is what the *other* side understood of it; None when that was not recorded."""

    position: int
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
            for said in self.services.get(service, ()):
                if said.families & families:
                    return True
        return False

    def slots(self, families: int, services: tuple[str, ...]) -> set[str]:
        """The slots of the acts of the families in the services."""
        if not self.families & families:
            return set()
        return {
            said.slot
            for service in services
            for said in self.services.get(service, ())
            if said.families & families and said.slot
        }

    def services_with(self, families: int) -> list[str]:
        """The services that have an act of the families."""
        if not self.families & families:
            return []
        return [service for service, acts in self.services.items() if any(act.families & families for act in acts)]


def moments(dialogue: Dialogue, lexicon: Lexicon, *, requests_carry_service: bool, max_turns: int) -> list[Moment]:
    """The turns prepared, or the reason why the dialogue cannot be scored."""
    if len(dialogue.turns) > max_turns:
        raise DialgaugeError(
            f"it has {len(dialogue.turns):,} turns, more than the {max_turns:,} allowed; raise max_turns if meant",
            turn=max_turns,
        )
    return [_moment(place, turn, lexicon, requests_carry_service) for place, turn in enumerate(dialogue.turns)]


def _moment(position: int, turn: Turn, lexicon: Lexicon, carry_service: bool) -> Moment:
    expected = "system" if position % 2 else "user"
    if turn.speaker != expected:
        raise DialgaugeError(
            f"the {turn.speaker} speaks where the {expected} should: turns must alternate and the user must begin",
            turn=position,
        )
    said = lexicon.utterance(turn.acts or ())
    services = said.services
    if "" in services:
        raise DialgaugeError("an act has no service, so nobody knows which domain it is about", turn=position)
    requested = {} if not turn.requested else _requested(turn.requested, carry_service)
    if turn.requested is None and position % 2 == 0:
        requested = _requests_in_acts(services)
    return Moment(
        position=position,
        text=turn.text,
        said=said,
        services=services,
        families=said.families,
        heard=None if turn.heard is None else lexicon.utterance(turn.heard),
        requested=requested,
    )


def _requested(requested: dict[str, tuple[str, ...]], carry_service: bool) -> dict[str, tuple[str, ...]]:
    return {
        service: tuple(dict.fromkeys((slot if carry_service else f"{service}-{slot}").lower() for slot in slots))
        for service, slots in requested.items()
        if slots
    }


def _requests_in_acts(services: dict[str, list[Said]]) -> dict[str, tuple[str, ...]]:
    """Where no requested slots were recorded, the request acts say what was asked."""
    found: dict[str, tuple[str, ...]] = {}
    for service, acts in services.items():
        slots = [f"{service}-{act.slot}".lower() for act in acts if act.families & REQUEST and act.slot]
        if slots:
            found[service] = tuple(dict.fromkeys(slots))
    return found
