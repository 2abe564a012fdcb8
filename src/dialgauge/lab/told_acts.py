"""Acts of a system that has only words: what it did, read from its calls; what it told, from values in its text.

An answer is the right value, another one, or that it is unknown; where the reading is a guess, the act says just that
(``Car-Unsure``), and whoever judges by it knows that the lab did not understand. A user of ours speaks plain English:
that such a system heard it is taken for granted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from dialgauge.agents import AnswerReader, ServiceWords, SystemListener, Vocabulary
from dialgauge.dialogue import Act, Call, Dialogue, Outcome, Turn
from dialgauge.intents import INFORM, REQUEST, SELECT, UNSURE
from dialgauge.tasks import ACTS_READ
from dialgauge.worlds.domain import UNKNOWN, act as as_act

READ = "read"
REFERENCE = "reference"
_ROW_CALL = "search"


def with_told_acts(dialogue: Dialogue, vocabulary: Vocabulary) -> Dialogue:
    """The dialogue with the acts of a system that gave none; one that has its own stays as it is."""
    system = [turn for turn in dialogue.turns if turn.speaker == "system"]
    if not system or any(turn.acts is not None for turn in system):
        return dialogue
    follower = _ToldActs(vocabulary)
    turns = []
    for turn in dialogue.turns:
        if turn.speaker == "user":
            follower.hear_user(turn)
            turns.append(replace(turn, heard=turn.acts) if turn.heard is None else turn)
        else:
            turns.append(replace(turn, acts=follower.read(turn)))
    outcome = dialogue.outcome or Outcome(success=None)
    outcome = replace(outcome, facts={**outcome.facts, ACTS_READ: READ})
    return replace(dialogue, turns=tuple(turns), outcome=outcome)


class _ServiceTalk:
    """What was said of one service so far."""

    def __init__(self, words: ServiceWords) -> None:
        self.words = words
        #: The cells of the row spoken of, and of the one booked; what the booking gave.
        self.row: Mapping[str, str] | None = None
        self.given: Mapping[str, str] = {}
        self.said: dict[str, str] = {}
        #: Everything asked for, and what was asked in the user's last turn.
        self.asked: dict[str, None] = {}
        self.just_asked: list[str] = []
        self.right: set[str] = set()


class _ToldActs:
    """Follows one conversation."""

    def __init__(self, vocabulary: Vocabulary) -> None:
        self._vocabulary = vocabulary
        self._listener = SystemListener(vocabulary)
        self._talks: dict[str, _ServiceTalk] = {}
        self._own: tuple[Act, ...] = ()
        self._active = ""

    def _talk(self, service: str) -> _ServiceTalk:
        talk = self._talks.get(service)
        if talk is None:
            talk = self._talks[service] = _ServiceTalk(self._vocabulary[service])
        return talk

    def hear_user(self, turn: Turn) -> None:
        """Take in what the user said and asked."""
        self._own = turn.acts or ()
        for talk in self._talks.values():
            talk.just_asked = []
        for act in self._own:
            if act.domain not in self._vocabulary:
                continue
            self._active = act.domain
            talk = self._talk(act.domain)
            if act.intent == REQUEST and act.slot:
                talk.asked[act.slot] = None
                talk.just_asked.append(act.slot)
            elif act.intent == INFORM and act.slot and act.values:
                talk.said[act.slot] = act.values[0]

    def read(self, turn: Turn) -> tuple[Act, ...]:
        heard = self._listener.hear(turn, self._own, self._active)
        # What became of a booking the listener knows from the call; whether it was told is read below.
        own_words = {*self._vocabulary.services, *self._vocabulary.domain.booking_acts}
        acts = [act for act in heard if act.intent == REQUEST or act.domain not in own_words]
        for service in dict.fromkeys([*(call.domain for call in turn.calls or ()), *self._talks]):
            if service in self._vocabulary:
                own = [act for act in heard if act.domain in (service, *self._vocabulary.domain.booking_acts)]
                calls = [call for call in turn.calls or () if call.domain == service]
                reader = AnswerReader(self._vocabulary[service], turn.text)
                acts += self._of_service(self._talk(service), reader, calls, own)
        return tuple(dict.fromkeys(acts))

    def _of_service(
        self, talk: _ServiceTalk, reader: AnswerReader, calls: Sequence[Call], heard: Sequence[Act]
    ) -> Iterator[Act]:
        service = talk.words.service
        bookings = [call for call in calls if call.name != _ROW_CALL]
        done = next((call for call in reversed(bookings) if not call.failed), None)
        if done is not None:
            # The record may call what a booking gives the reference.
            given = {slot: done.values.get(slot) or done.values.get(REFERENCE, "") for slot in service.gives}
            talk.given = {slot: value for slot, value in given.items() if value}
            talk.right -= set(talk.given)
            if done.rows and service.rows:
                talk.row = service.rows[done.rows[0]]
        if bookings and (not bookings[-1].failed or bookings[-1].result == "refused"):
            yield from _booking_told(talk, reader, bookings[-1])
        else:
            yield from self._found(talk, calls, heard)
        yield from self._answers(talk, reader, calls, confirmed=done is not None)

    def _found(self, talk: _ServiceTalk, calls: Sequence[Call], heard: Sequence[Act]) -> Iterator[Act]:
        """The acts for what a search found: nothing, one row that is named, or several to choose from."""
        service = talk.words.service
        if any(act.name == service.act_name("no_offer") for act in heard):
            searched = next((call.given for call in reversed(calls) if call.name == _ROW_CALL), {})
            name = service.act_name("no_offer")
            yield from [as_act(name, slot, value) for slot, value in searched.items()] or [as_act(name)]
            return
        for act in heard:
            if act.slot and act.slot == service.name_slot and act.values and act.intent != REQUEST:
                yield act
                if act.intent != SELECT:
                    talk.row = _row_named(talk, act.values[0], calls)

    def _answers(
        self, talk: _ServiceTalk, reader: AnswerReader, calls: Sequence[Call], *, confirmed: bool
    ) -> Iterator[Act]:
        service, gives = talk.words.service, tuple(talk.given)
        asked = [*talk.just_asked, *(slot for slot in gives if confirmed and slot not in talk.just_asked)]
        explained = {*talk.said.values(), *(str(call.found) for call in calls if call.found is not None)}
        known = {**(talk.row or {}), **talk.given}
        for slot in dict.fromkeys((*asked, *talk.asked, *gives, *service.answer)):
            value = known.get(slot, UNKNOWN)
            if slot not in talk.words.slots or (talk.row is None and slot not in gives and service.rows is not None):
                continue
            if slot not in talk.asked and slot not in gives and not reader.has_label(slot):
                continue  # what was not asked for is told only by its name
            others = {name: other for name, other in known.items() if name != slot and name in talk.words.slots}
            status, told = reader.status(talk.words.slots[slot], value, asked, explained, others)
            name = service.act_name("book" if confirmed and slot in talk.given else "inform")
            if status == "right" and (slot in asked or value != UNKNOWN):
                talk.right.add(slot)
                yield as_act(name, slot, value)
            elif slot in asked and status == "other":
                yield as_act(name, slot, told.partition("|")[0])
            elif slot in asked and status == "unsure" and slot not in talk.right:
                yield as_act(f"{service.prefix}-{UNSURE.capitalize()}", slot)


def _booking_told(talk: _ServiceTalk, reader: AnswerReader, call: Call) -> Iterator[Act]:
    """What is said of a booking that was made or refused; nothing where no word of it is."""
    service, said = talk.words.service, reader.made()
    if call.failed and said == "not made":
        yield from (as_act(service.act_name("no_book"), slot, value) for slot, value in call.arguments.items())
    elif said == "made" or (not call.failed and talk.given):
        yield as_act(service.act_name("book"))
    elif not reader.is_empty():
        yield as_act(f"{service.prefix}-{UNSURE.capitalize()}")


def _row_named(talk: _ServiceTalk, name: str, calls: Sequence[Call]) -> Mapping[str, str] | None:
    """The row of a name; of several one that was found."""
    service = talk.words.service
    named = [row for row in service.rows or () if row.get(service.name_slot) == name]
    found = [service.rows[number] for call in calls for number in call.rows] if service.rows else []
    return next(iter([row for row in named if row in found] or named), talk.row)
