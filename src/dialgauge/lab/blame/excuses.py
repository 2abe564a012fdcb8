"""Why a user did not say what its goal has: its own doing, something it misheard, or a conversation that ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from dialgauge.agents import MAX_EXCHANGES, SYSTEM_QUIT, TOKEN_BUDGET
from dialgauge.dialogue import Blame, Call
from dialgauge.intents import INFORM, NO_OFFER, REFUSING
from dialgauge.lab.blame.reasons import Cause
from dialgauge.lab.blame.record import DomainRecord, TalkRecord, Word, about, alike, names_one, same_slot
from dialgauge.tasks import ACTS_READ
from dialgauge.values import constrains
from dialgauge.worlds.domain import SEARCH

#: Limits that end a conversation. One of time is a technical failure: somebody hung.
_CUT_OFF = {MAX_EXCHANGES: "limit of exchanges", TOKEN_BUDGET: "budget of tokens"}


class Excuses:
    """What excuses a user in one domain."""

    def __init__(self, talk: TalkRecord, record: DomainRecord) -> None:
        self._talk, self._record = talk, record
        self._names, self._references = talk.domains.names, talk.domains.references

    @property
    def last_chance(self) -> int:
        """The turn in which the user went on to something else, or left."""
        last, turns = self._record.last_turn, self._talk.turns
        if last is None:
            return self._talk.last_user_turn
        return next((at for at in range(last + 1, len(turns)) if turns[at].speaker == "user"), last)

    def unsaid(self, part: str, slot: str, wanted: str) -> Blame:
        """The user never said something."""
        record = self._record
        if phantom := self._phantom(part, slot):
            what = f"{phantom.intent} {phantom.slot} {phantom.value}".strip()
            return record.blame("answer_unsaid", phantom.turn, slot, what)
        if other := self._sent_away_falsely() or self.cut_off(slot) or self._sent_away():
            return other
        return record.blame("value_never_said", self.last_chance, slot, wanted)

    def _phantom(self, part: str, slot: str) -> Word | None:
        """What the user heard though nobody said it, and took for the answer or a refusal."""
        for word in self._record.told_heard:
            now = [spoken for spoken in self._record.told if spoken.turn == word.turn]
            if word.intent in REFUSING and not any(spoken.intent == word.intent for spoken in now):
                return word
            answer = word.slot in self._references or (part == "request" and same_slot(word.slot, slot))
            if answer and word.tells and not any(same_slot(spoken.slot, word.slot) and spoken.tells for spoken in now):
                return word
        return None

    def cut_off(self, slot: str) -> Blame | None:
        """A limit cut the conversation off while the user was at it; due to the side that misheard most turns, if any.

        Of a system that speaks freely what was heard is our own reading, which is nobody's fault.
        """
        outcome, since = self._talk.dialogue.ended, self._record.last_turn
        if outcome.reason not in _CUT_OFF:
            return None
        lost: list[tuple[int, Cause]] = [
            (at, "said_not_heard" if turn.speaker == "user" else "answered_not_heard")
            for at, turn in enumerate(self._talk.turns)
            if turn.heard is not None and set(turn.heard) != set(turn.acts or ()) and ACTS_READ not in outcome.facts
        ]
        if lost:
            counts = Counter(cause for _, cause in lost)
            first, cause = min(lost, key=lambda pair: (-counts[pair[1]], pair[0]))
            about_it = (slot, str(counts[cause]), _CUT_OFF[outcome.reason])
            return self._record.blame("turns_lost", first, *about_it, cause=cause)
        turns = [turn for turn in self._talk.turns if turn.speaker == "user"]
        if since is not None and about([turn for turn in self._talk.turns[since + 1 :] if turn.speaker == "user"], ""):
            return None  # it had gone on to other things
        why = f"{_CUT_OFF[outcome.reason]}, after {len(turns)}"
        return self._record.blame("limit", self._talk.last, slot, why)

    def _sent_away(self) -> Blame | None:
        """The user left because the system said goodbye first."""
        if self._talk.dialogue.ended.reason != SYSTEM_QUIT:
            return None
        byes = (at for at, turn in enumerate(self._talk.turns) if any(act.intent == "bye" for act in turn.acts or ()))
        first = next(byes, None)
        if first is None or self._talk.turns[first].speaker == "user":
            return None
        return self._record.blame("goodbye_early", first)

    def _sent_away_falsely(self) -> Blame | None:
        """The first of the trailing run of false refusals before the user left."""
        record = self._record
        named = max((word.turn for word in record.told if names_one(word, self._names)), default=-1)
        refusals, first = record.tells(NO_OFFER, named), None
        for turn, call in record.called(SEARCH, self.last_chance - 1):
            if turn in refusals:
                false = self.false_refusal(turn, call)
                first = None if false is None else first or false  # a true refusal ends the run
        return first

    def false_refusal(self, turn: int, call: Call) -> Blame | None:
        """A search found nothing, with a value that is not what the user last said. None: it was the user's search."""
        if call.found != 0:
            return None
        said = {word.slot: word for word in self._record.said if word.intent == INFORM and word.turn < turn}
        for slot, value in call.arguments.items():
            word = said.get(slot)
            if not constrains(value) or (word is not None and alike(word.value, value)):
                continue
            heard = self._record.hears(slot, turn)
            if heard is None or not alike(heard.value, value):
                return self._record.blame("searched_otherwise", turn, slot, value)
            if word is None:
                return self._record.blame("heard_unsaid", heard.turn, slot, value)
            return self._record.blame("misheard", max(word.turn, heard.turn), slot, word.value, value)
        return None

    # What the user said instead

    def said_otherwise(self, slot: str, wanted: str, said: Word, linked: str = "", since: int | None = None) -> Blame:
        """The user said another value than its goal has, perhaps because it misheard a name.

        ``linked`` is the domain whose venue was meant, ``since`` the turn that named the one the user ended up with.
        """
        names = self._talk.domain(linked) if linked else None
        if names and since is not None and since < said.turn and self._unheard_name(names, since):
            return self._record.blame("name_misheard", since, slot, said.value)
        heard = [
            word for word in (names.told_heard if names else ())
            if word.value == said.value and word.tells and word.slot in self._names
        ]  # fmt: skip
        if heard and not self.was_told(said, linked):
            return self._record.blame("name_misheard", heard[0].turn, slot, said.value)
        return self._record.blame("said_otherwise", said.turn, slot, said.value, wanted)

    def was_told(self, said: Word, domain: str) -> bool:
        """Did the system tell what the user says then?"""
        return any(
            alike(word.value, said.value) and word.tells and word.slot in self._names and word.turn < said.turn
            for word in self._talk.domain(domain).told
        )

    def _unheard_name(self, names: DomainRecord, turn: int) -> bool:
        """Did the system name something in a turn, and the user heard no such name?"""
        named = [word for word in names.told if word.turn == turn and word.slot in self._names and word.tells]
        heard = {(word.slot, word.value) for word in names.told_heard if word.turn == turn}
        recorded = self._talk.turns[turn].heard is not None
        return recorded and bool(named) and not any((word.slot, word.value) in heard for word in named)

    def named(self, since: int) -> list[Word]:
        """What the system named since a turn."""
        return [word for word in self._record.told if names_one(word, self._names) and word.turn >= since]

    def other_name(self, after: int) -> Word | None:
        """The first name that the user said after a turn and that the system had not told."""
        words = (word for slot in self._names for word in self._record.says(slot) if word.turn > after)
        return next(
            (word for word in words if constrains(word.value) and not self.was_told(word, self._record.domain)), None
        )

    def name_lost(self, since: int) -> Blame | None:
        """Why the user did not end up with what the system named since a turn. None: it named nothing."""
        record, named = self._record, self.named(since)
        if not named:
            return None
        first = named[0].turn
        if other := self.other_name(first):
            return self.said_otherwise(other.slot, named[0].value, other, record.domain)
        if self._unheard_name(record, first):
            return record.blame("name_misheard", first, named[0].slot)
        return self.cut_off(named[0].slot) or record.blame(
            "name_not_taken", self.last_chance, named[0].slot, named[0].value, str(first)
        )

    def unasked(self, slot: str, since: int | None) -> Blame:
        """The user never asked for something, or not about what it ended up with since a turn."""
        record = self._record
        if since is None:
            blame = self.unsaid("request", slot, "")
            return record.blame("never_asked", blame.turn or 0, slot) if blame.cause == "never_said" else blame
        if self._unheard_name(record, since):
            return record.blame("name_misheard", since, slot)
        return self.cut_off(slot) or record.blame("never_asked", self.last_chance, slot)

    def after_refusal(self, slot: str, wanted: str, intent: str, refusals: list[int]) -> Blame:
        """The first try was refused, and the user never said what comes after."""
        hearable = [turn for turn in refusals if self._talk.turns[turn].heard is not None]
        heard = any(word.intent == intent and word.turn in hearable for word in self._record.told_heard)
        if hearable and not heard:
            return self._record.blame("refusal_unheard", hearable[0], slot)
        if not self._talk.user_hears:
            return self._record.blame("untraceable", refusals[0], slot)
        return self.cut_off(slot) or self._record.blame("value_never_said", self.last_chance, slot, wanted)

    def invented(self, wanted: Mapping[str, str]) -> Iterator[Blame]:
        """Constraints that the goal does not have: heard without being said, or said."""
        record = self._record
        for slot in record.informable:
            heard = record.hears(slot, self._talk.last)
            if slot in wanted or heard is None or not constrains(heard.value):
                continue
            words = record.says(slot)
            if not words or not alike(words[-1].value, heard.value):
                yield record.blame("heard_unsaid", heard.turn, slot, heard.value)
            elif not self.was_told(words[-1], record.domain):  # picking what the system named is no fault
                yield self.said_otherwise(slot, "none", words[-1], record.domain)
