"""Why a user did not say what its goal has: its own doing, or something it misheard, or steps that others used up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from dialgauge.agents import SYSTEM_QUIT, USER_GAVE_UP
from dialgauge.dialogue import Act, Turn
from dialgauge.intents import INFORM, REFUSING, REQUEST, name_halves
from dialgauge.lab.blame.broken_links import CUT_OFF, BrokenLink, Cause
from dialgauge.lab.blame.false_refusals import sent_away_falsely
from dialgauge.lab.blame.spoken_record import (
    DomainRecord,
    TalkRecord,
    Word,
    names_one,
    same_slot,
)
from dialgauge.values import constrains, same_value
from dialgauge.worlds.domain import GENERAL, SEARCH

#: A user that repeated itself so often in a domain may have lost patience over it.
_PATIENCE = 2


class UserOmissions:
    """The silences of a user in one domain."""

    def __init__(self, talk: TalkRecord, record: DomainRecord) -> None:
        self._talk, self._record = talk, record
        self._names, self._references = talk.domains.names, talk.domains.references

    @property
    def _last_chance(self) -> int:
        """The turn in which the user went on to something else, or left."""
        last, turns = self._record.last_turn, self._talk.turns
        users = [index for index, turn in enumerate(turns) if turn.speaker == "user" and (last is None or index > last)]
        if last is None:
            return self._talk.last_user_turn
        return users[0] if users else last

    def unsaid(self, part: str, slot: str, wanted: str) -> BrokenLink:
        """The user never said something."""
        if phantom := self._phantom(part, slot):
            turn, domain = phantom.turn, self._record.domain
            what = f"{name_halves(phantom.name)[1]} {phantom.slot} {phantom.value}".strip()
            return BrokenLink("answer_unsaid", part, slot, turn, answered_turn=turn, given=(what,), entity=domain)
        if missed := self._missed_question(slot):
            return BrokenLink("question_missed", part, slot, missed, answered_turn=missed)
        if cut := self._used_up(part, slot) or self._sent_away(part, slot):
            return cut
        if false := sent_away_falsely(self._talk, self._record, self._last_chance):
            return false
        return BrokenLink(
            "value_never_said" if slot or wanted else "wish_never_said", part, slot, self._last_chance, wanted=wanted,
            entity=self._record.domain,
        )  # fmt: skip

    def said_otherwise(
        self, part: str, slot: str, wanted: str, spoken_word: Word, linked: str = "", since: int | None = None
    ) -> BrokenLink:
        """The user said another value than its goal has, perhaps because it heard another name than the system said.

        ``linked`` is the domain whose venue was meant, ``since`` the turn that named the one that the user ended up
        with.
        """
        names = self._talk.domain(linked) if linked else None
        spoken = names.told_heard if names else []
        heard = [word for word in spoken if word.value == spoken_word.value and word.tells and word.slot in self._names]
        if names and since is not None and since < spoken_word.turn and self._unheard_name(names, since):
            return BrokenLink(
                "name_misheard", part, slot, since, answered_turn=since, said_turn=spoken_word.turn,
                given=(spoken_word.value,), entity=linked,
            )  # fmt: skip
        if heard and not self.was_told(spoken_word, linked):
            return BrokenLink(
                "name_unsaid", part, slot, heard[0].turn, answered_turn=heard[0].turn, said_turn=spoken_word.turn,
                given=(spoken_word.value,),
            )  # fmt: skip
        if (
            names
            and since is not None
            and since > spoken_word.turn
            and (late := self._named_late(names, since, part, slot))
        ):
            return late
        return BrokenLink(
            "said_otherwise", part, slot, spoken_word.turn, said_turn=spoken_word.turn, given=(spoken_word.value,),
            wanted=wanted,
        )  # fmt: skip

    def was_told(self, spoken_word: Word, domain: str) -> bool:
        """Did the system tell what the user says then?"""
        return any(
            same_value(word.value, spoken_word.value)
            and word.tells
            and word.slot in self._names
            and word.turn < spoken_word.turn
            for word in self._talk.domain(domain).told
        )

    def _unheard_name(self, names: DomainRecord, turn: int) -> bool:
        """Did the system name something in a turn, and the user heard no such name?"""
        named = [word for word in names.told if word.turn == turn and word.slot in self._names and word.tells]
        heard = {(word.slot, word.value) for word in names.told_heard if word.turn == turn}
        recorded = self._talk.turns[turn].heard is not None
        return recorded and bool(named) and not any((word.slot, word.value) in heard for word in named)

    def _named_late(self, names: DomainRecord, since: int, part: str, slot: str) -> BrokenLink | None:
        """The system named something else, which an earlier turn had found, when the user had gone on."""
        searches = [turn for turn, _ in names.called(SEARCH, since)]
        wished = any(
            word.turn == since - 1 and word.intent == INFORM and word.slot in names.informable for word in names.heard
        )
        if not searches or searches[-1] == since or wished:
            return None
        search_turn = searches[-1]
        return BrokenLink(
            "reply_late", part, slot, search_turn, said_turn=search_turn - 1, heard_turn=search_turn - 1,
            answered_turn=since,
        )  # fmt: skip

    def name_lost(self, since: int) -> BrokenLink | None:
        """Why the user did not end up with what the system named since a turn. None: it named nothing."""
        record, domain = self._record, self._record.domain
        named = [word for word in record.told if names_one(word, self._names) and word.turn >= since]
        if not named:
            return None
        first = named[0].turn
        if spoken_word := self._other_name(first):
            heard = next((word.turn for word in record.told_heard if word.value == spoken_word.value), spoken_word.turn)
            other = self.said_otherwise("constraint", spoken_word.slot, named[0].value, spoken_word, domain)
            return self._misheard_before(first, heard) or other
        if self._unheard_name(record, first):
            return BrokenLink(
                "name_unheard", "constraint", named[0].slot, first, answered_turn=first, entity=named[0].value
            )
        if misheard := self._misheard_before(first, self._talk.last):
            return misheard
        return self._used_up("constraint", named[0].slot) or BrokenLink(
            "name_not_taken", "constraint", named[0].slot, self._last_chance, answered_turn=first,
            entity=named[0].value,
        )  # fmt: skip

    def named_otherwise(self, since: int) -> bool:
        """Did the system name something since a turn, and the user then speak of one that was never named?"""
        named = [word.turn for word in self._record.told if names_one(word, self._names) and word.turn >= since]
        return bool(named) and self._other_name(named[0]) is not None

    def _other_name(self, after: int) -> Word | None:
        """The first name that the user said after a turn and that the system had not told."""
        words = (
            word
            for slot in self._names
            for word in self._record.says(slot)
            if word.turn > after and names_one(word, self._names)
        )
        return next((word for word in words if not self.was_told(word, self._record.domain)), None)

    def _misheard_before(self, since: int, until: int) -> BrokenLink | None:
        """The first turn about the domain, after one and before another, of which the system heard nothing."""
        for index in range(since + 1, until):
            turn = self._talk.turns[index]
            if (
                turn.speaker == "user"
                and _nothing_heard(turn)
                and any(act.domain == self._record.domain for act in turn.acts or ())
            ):
                return BrokenLink("reply_unheard", "constraint", turn=index, said_turn=index, answered_turn=since)
        return None

    def unasked(self, slot: str, since: int | None) -> BrokenLink:
        """The user never asked for something, or not about what it ended up with since a turn."""
        if since is None:
            link = self.unsaid("request", slot, "")
            if link.cause != "never_said" or not slot:
                return link
            return BrokenLink("never_asked", "request", slot, link.turn)
        if self._unheard_name(self._record, since):
            return BrokenLink("other_name_unheard", "request", slot, since, answered_turn=since)
        if late := self._named_late(self._record, since, "request", slot):
            return late
        return self._used_up("request", slot) or BrokenLink(
            "never_asked_again", "request", slot, self._last_chance, given=(str(since),)
        )

    def after_refusal(self, part: str, slot: str, wanted: str, intent: str, refusals: list[int]) -> BrokenLink:
        """The first try was refused, and the user never said what comes after."""
        hearable = [turn for turn in refusals if self._talk.turns[turn].heard is not None]
        if hearable and not self._record.user_heard(intent, hearable):
            return BrokenLink("refusal_unheard", part, slot, hearable[0], answered_turn=hearable[0])
        if not self._talk.user_hears:
            return BrokenLink("refusal_untraceable", part, slot, refusals[0], answered_turn=refusals[0])
        return self._used_up(part, slot) or BrokenLink(
            "second_try_unsaid", part, slot, self._last_chance, answered_turn=refusals[0], wanted=wanted
        )

    def invented(self, wanted: Mapping[str, str]) -> Iterator[BrokenLink]:
        """Constraints that the goal does not have: heard without being said, or said."""
        record = self._record
        for slot in record.informable:
            heard = record.hears(slot, self._talk.last)
            if slot in wanted or heard is None or not constrains(heard.value):
                continue
            words = record.says(slot)
            if not words or not same_value(words[-1].value, heard.value):
                yield BrokenLink(
                    "heard_unsaid", "constraint", slot, heard.turn, heard_turn=heard.turn, given=(heard.value,)
                )
            elif not self.was_told(words[-1], record.domain):  # picking what the system named is no fault
                yield self.said_otherwise("constraint", slot, "none", words[-1], record.domain)

    # What excuses a user

    def _phantom(self, part: str, slot: str) -> Word | None:
        """What the user heard though nobody said it, and took for the answer or a refusal."""
        for word in self._record.told_heard:
            now = [spoken for spoken in self._record.told if spoken.turn == word.turn]
            if word.intent in REFUSING and not any(spoken.intent == word.intent for spoken in now):
                return word
            answer = word.slot in self._references or (part == "request" and same_slot(word.slot, slot))
            if answer and word.tells and not any(same_slot(spoken.slot, word.slot) and spoken.tells for spoken in now):
                return word
        return next(iter(self._phantom_references()), None) if part == "booking" else None

    def _phantom_references(self) -> Iterator[Word]:
        """References that the user heard, of whatever domain, in turns that told none."""
        for index, turn in enumerate(self._talk.turns):
            if turn.speaker == "system" and not any(act.slot in self._references for act in turn.acts or ()):
                for act in turn.heard or ():
                    if act.slot in self._references:
                        yield Word(index, act.name, act.slot, ", ".join(act.values), act.intent)

    def _missed_question(self, slot: str) -> int | None:
        """The first turn in which the system asked for a slot, where the user heard none of them."""
        asked = [
            word.turn
            for word in self._record.told
            if word.intent == REQUEST and word.slot == slot and self._talk.turns[word.turn].heard is not None
        ]
        heard = any(word.intent == REQUEST and word.slot == slot for word in self._record.told_heard)
        return asked[0] if asked and not heard else None

    def _sent_away(self, part: str, slot: str) -> BrokenLink | None:
        """The user left because the system said goodbye, or seemed to."""
        outcome = self._talk.dialogue.outcome
        if outcome is None or outcome.reason != SYSTEM_QUIT:
            return None
        byes = [index for index, turn in enumerate(self._talk.turns) if turn.speaker == "system" and _bids(turn.acts)]
        own = [index for index, turn in enumerate(self._talk.turns) if turn.speaker == "user" and _bids(turn.acts)]
        early = [place for place in byes if not own or place < own[0]]
        if not early:
            return BrokenLink("goodbye_misheard", part, slot, self._talk.last)
        if _bids(self._talk.turns[early[0] - 1].heard):
            return BrokenLink("goodbye_unsaid", part, slot, early[0] - 1)
        return BrokenLink("goodbye_early", part, slot, early[0])

    def _used_up(self, part: str, slot: str) -> BrokenLink | None:
        """Who used up the steps of a conversation that was cut off, or the user's patience."""
        turns, outcome = self._talk.turns, self._talk.dialogue.outcome
        reason = outcome.reason if outcome else ""
        if reason not in (*CUT_OFF, USER_GAVE_UP):
            return None
        gave_up = reason == USER_GAVE_UP
        domain = self._record.domain if gave_up else ""
        lost = _misheard(turns, domain) or _unanswered(turns, domain)
        if lost and (not gave_up or _repetitions(turns, domain) >= _PATIENCE):
            turn, cause, times = _mostly(lost)
            how = "gave_up" if gave_up else "exchanges_lost"
            return BrokenLink(how, part, slot, turn, cause, times=times, of=len(lost))
        if gave_up:
            return None
        last = self._record.last_turn
        later = [] if last is None else [turn for turn in turns[last + 1 :] if turn.speaker == "user"]
        if any(act.domain != GENERAL for turn in later for act in turn.acts or ()):  # it had gone on to other things
            return None
        exchanges = sum(turn.speaker == "user" for turn in turns)
        return BrokenLink(
            "limit", part, slot, self._talk.last, given=(reason,), of=exchanges, entity=self._record.domain
        )


def _about(turn: Turn, domain: str) -> set[Act]:
    """What a turn says of a domain, or of all."""
    return {act for act in turn.acts or () if act.domain != GENERAL and domain in ("", act.domain)}


def _misheard(turns: Sequence[Turn], domain: str) -> list[tuple[int, Cause]]:
    """The turns of a domain, or of all, that were not heard as they were said."""
    return [
        (index, "said_not_heard" if turn.speaker == "user" else "answered_not_heard")
        for index, turn in enumerate(turns)
        if turn.heard is not None and _about(turn, domain) and set(turn.heard) != set(turn.acts or ())
    ]


def _unanswered(turns: Sequence[Turn], domain: str) -> list[tuple[int, Cause]]:
    """The turns in which the user said again what was heard, as the answer had been about something else."""
    said = [(index, _about(turn, domain)) for index, turn in enumerate(turns) if turn.speaker == "user"]
    lost: list[tuple[int, Cause]] = []
    for place, (index, acts) in enumerate(said):
        again = any(acts <= before for _, before in said[:place])
        answered = {act.domain for act in turns[index - 1].acts or ()} if index else set()
        if acts and again and turns[index].heard is not None and not answered & {"booking", *(a.domain for a in acts)}:
            lost.append((index, "heard_not_acted_on"))
    return lost


def _repetitions(turns: Sequence[Turn], domain: str) -> int:
    """How often the user said nothing new of a domain."""
    said = [acts for turn in turns if turn.speaker == "user" and (acts := _about(turn, domain))]
    return sum(any(acts <= before for before in said[:place]) for place, acts in enumerate(said))


def _nothing_heard(turn: Turn) -> bool:
    """Did the other side hear nothing at all of what a turn said? The intent may be taken for another one."""
    said = {(act.domain, act.slot, act.values) for act in turn.acts or () if act.domain != GENERAL}
    return bool(said) and turn.heard is not None and not said & {(a.domain, a.slot, a.values) for a in turn.heard}


def _mostly(lost: list[tuple[int, Cause]]) -> tuple[int, Cause, int]:
    """The most frequent cause, of several the one that came first: its first turn, and how often."""
    counts = Counter(cause for _, cause in lost)
    turn, cause = min(lost, key=lambda pair: (-counts[pair[1]], pair[0]))
    return turn, cause, counts[cause]


def _bids(acts: tuple[Act, ...] | None) -> bool:
    return any(act.intent == "bye" for act in acts or ())
