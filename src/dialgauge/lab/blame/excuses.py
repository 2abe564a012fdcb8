"""Why a user did not say what its goal has: its own doing, or something it misheard, or steps that others used up."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from dialgauge.agents import LOOP_GUARD, MAX_EXCHANGES, SYSTEM_QUIT, USER_GAVE_UP
from dialgauge.dialogue import Act, Turn
from dialgauge.lab.blame.broken_links import CAUSES, BrokenLink, Cause
from dialgauge.lab.blame.spoken_record import DomainRecord, TalkRecord, Word, constrains, same_slot, same_value
from dialgauge.worlds.town import REFERENCE, SEARCH_SLOTS

_REFUSALS = ("NoOffer", "NoBook")
_GENERAL = "general"
_BYE = "general-bye"
_NAMES = ("name", "trainID")
#: A user that repeated itself so often in a domain may have lost patience over it.
_PATIENCE = 2


class Excuses:
    """The silences of a user in one domain."""

    def __init__(self, talk: TalkRecord, record: DomainRecord) -> None:
        self._talk, self._record = talk, record

    @property
    def _last_chance(self) -> int:
        """The turn in which the user went on to something else, or left."""
        last, turns = self._record.last_turn, self._talk.turns
        users = [place for place, turn in enumerate(turns) if turn.speaker == "user" and (last is None or place > last)]
        if last is None:
            return self._talk.last_user_turn
        return users[0] if users else last

    def unsaid(self, part: str, slot: str, wanted: str) -> BrokenLink:
        """The user never said something."""
        if phantom := self._phantom(part, slot):
            return _answer_missed(part, slot, phantom, self._record.domain)
        if missed := self._missed_question(slot):
            why = f"The system asked for {slot} in turn {missed}, and the user did not hear it."
            return BrokenLink(
                cause="answered_not_heard", part=part, slot=slot, turn=missed, answered_turn=missed, sentence=why
            )
        if cut := self._used_up(part, slot) or self._sent_away(part, slot):
            return cut
        what = f"{slot} {wanted}".strip() or f"what it wants of the {self._record.domain}"
        return BrokenLink(
            cause="never_said", part=part, slot=slot, turn=self._last_chance, sentence=f"The user never said {what}."
        )

    def said_otherwise(
        self, part: str, slot: str, wanted: str, said: Word, linked: str = "", since: int | None = None
    ) -> BrokenLink:
        """The user said another value than its goal has, perhaps because it heard another name than the system said.

        ``linked`` is the domain whose venue was meant, ``since`` the turn that named the one that the user ended up
        with.
        """
        names = self._talk.domain(linked) if linked else None
        spoken = names.told_heard if names else []
        heard = [word for word in spoken if word.value == said.value and word.tells and word.slot in _NAMES]
        if names and since is not None and since < said.turn and self._unheard_name(names, since):
            return BrokenLink(
                cause="answered_not_heard", part=part, slot=slot, turn=since, answered_turn=since, said_turn=said.turn,
                sentence=f"The system named another {linked} in turn {since}, which the user did not hear; it gave "
                f"{slot} {said.value} in turn {said.turn}.",
            )  # fmt: skip
        if heard and not self.was_told(said, linked):
            return BrokenLink(
                cause="answered_not_heard", part=part, slot=slot, turn=heard[0].turn, answered_turn=heard[0].turn,
                said_turn=said.turn,
                sentence=f"The user heard of {said.value} in turn {heard[0].turn}, which the system did not say, and "
                f"gave it as {slot} in turn {said.turn}.",
            )  # fmt: skip
        return BrokenLink(
            cause="never_said", part=part, slot=slot, turn=said.turn, said_turn=said.turn,
            sentence=f"The user said {slot} {said.value} in turn {said.turn}; its goal has {wanted}.",
        )  # fmt: skip

    def was_told(self, said: Word, domain: str) -> bool:
        """Did the system tell what the user says then?"""
        return any(
            same_value("name", word.value, said.value) and word.tells and word.slot in _NAMES and word.turn < said.turn
            for word in self._talk.domain(domain).told
        )

    def _unheard_name(self, names: DomainRecord, turn: int) -> bool:
        """Did the system name something in a turn, and the user heard no such name?"""
        named = [word for word in names.told if word.turn == turn and word.slot in _NAMES and word.tells]
        heard = {(word.slot, word.value) for word in names.told_heard if word.turn == turn}
        recorded = self._talk.turns[turn].heard is not None
        return recorded and bool(named) and not any((word.slot, word.value) in heard for word in named)

    def unasked(self, slot: str, since: int | None) -> BrokenLink:
        """The user never asked for something, or not about what it ended up with since a turn."""
        if since is None:
            link = self.unsaid("request", slot, "")
            if link.cause != "never_said" or not slot:
                return link
            return BrokenLink(
                cause=link.cause, part="request", slot=slot, turn=link.turn,
                sentence=f"The user never asked for the {slot}.",
            )  # fmt: skip
        if self._unheard_name(self._record, since):
            return BrokenLink(
                cause="answered_not_heard", part="request", slot=slot, turn=since, answered_turn=since,
                sentence=f"The system named another one in turn {since}, which the user did not hear.",
            )  # fmt: skip
        return BrokenLink(
            cause="never_said", part="request", slot=slot, turn=self._last_chance,
            sentence=f"The user did not ask for the {slot} of what was named in turn {since}.",
        )  # fmt: skip

    def after_refusal(self, part: str, slot: str, wanted: str, intent: str, told: list[int]) -> BrokenLink:
        """The first try was refused, and the user never said what comes after."""
        hearable = [turn for turn in told if self._talk.turns[turn].heard is not None]
        if hearable and not self._record.user_heard(intent, hearable):
            return BrokenLink(
                cause="answered_not_heard", part=part, slot=slot, turn=hearable[0], answered_turn=hearable[0],
                sentence=f"The system refused the first try in turn {hearable[0]}, and the user never heard it.",
            )  # fmt: skip
        if not self._talk.user_hears:
            return BrokenLink(
                cause="unclear", part=part, slot=slot, turn=told[0], answered_turn=told[0],
                sentence=f"The system refused the first try in turn {told[0]}; the user does not record what it heard.",
            )  # fmt: skip
        return self._used_up(part, slot) or BrokenLink(
            cause="never_said", part=part, slot=slot, turn=self._last_chance, answered_turn=told[0],
            sentence=f"The user heard that its first try was refused and never said {slot} {wanted}.",
        )  # fmt: skip

    def invented(self, wanted: Mapping[str, str]) -> Iterator[BrokenLink]:
        """Constraints that the goal does not have: heard without being said, or said."""
        record = self._record
        for slot in SEARCH_SLOTS[record.domain]:
            heard = record.hears(slot, self._talk.last)
            if slot in wanted or heard is None or not constrains(heard.value):
                continue
            said = record.says(slot)
            if not said or not same_value(slot, said[-1].value, heard.value):
                yield BrokenLink(
                    cause="said_not_heard", part="constraint", slot=slot, turn=heard.turn, heard_turn=heard.turn,
                    sentence=f"The system heard {slot} {heard.value} in turn {heard.turn}, which the user did not say.",
                )  # fmt: skip
            elif not self.was_told(said[-1], record.domain):  # picking what the system named is no fault
                yield self.said_otherwise("constraint", slot, "none", said[-1], record.domain)

    # What excuses a user

    def _phantom(self, part: str, slot: str) -> Word | None:
        """What the user heard though nobody said it, and took for the answer or a refusal."""
        for word in self._record.told_heard:
            now = [one for one in self._record.told if one.turn == word.turn]
            if word.intent in _REFUSALS and not any(one.intent == word.intent for one in now):
                return word
            answer = same_slot(word.slot, REFERENCE) or (part == "request" and same_slot(word.slot, slot))
            if answer and word.tells and not any(same_slot(one.slot, word.slot) and one.tells for one in now):
                return word
        return next(iter(self._phantom_references()), None) if part == "booking" else None

    def _phantom_references(self) -> Iterator[Word]:
        """References that the user heard, of whatever domain, in turns that told none."""
        for place, turn in enumerate(self._talk.turns):
            if turn.speaker == "system" and not any(same_slot(act.slot, REFERENCE) for act in turn.acts or ()):
                for act in turn.heard or ():
                    if same_slot(act.slot, REFERENCE):
                        yield Word(place, act.name.partition("-")[2], act.slot, ", ".join(act.values))

    def _missed_question(self, slot: str) -> int | None:
        """The first turn in which the system asked for a slot, where the user heard none of them."""
        asked = [
            word.turn
            for word in self._record.told
            if word.intent == "Request" and word.slot == slot and self._talk.turns[word.turn].heard is not None
        ]
        heard = any(word.intent == "Request" and word.slot == slot for word in self._record.told_heard)
        return asked[0] if asked and not heard else None

    def _sent_away(self, part: str, slot: str) -> BrokenLink | None:
        """The user left because the system said goodbye, or seemed to."""
        outcome = self._talk.dialogue.outcome
        if outcome is None or outcome.reason != SYSTEM_QUIT:
            return None
        byes = [place for place, turn in enumerate(self._talk.turns) if turn.speaker == "system" and _bids(turn.acts)]
        own = [place for place, turn in enumerate(self._talk.turns) if turn.speaker == "user" and _bids(turn.acts)]
        early = [place for place in byes if not own or place < own[0]]
        if not early:
            turn, cause = self._talk.last, "answered_not_heard"
            why = "The user left because it heard a goodbye that the system did not say."
        elif _bids(self._talk.turns[early[0] - 1].heard):
            turn, cause = early[0] - 1, "said_not_heard"
            why = f"The system heard a goodbye in turn {turn} that the user did not say."
        else:
            turn, cause = early[0], "heard_not_acted_on"
            why = f"The system said goodbye in turn {turn} before the user was done."
        return BrokenLink(cause=_cause(cause), part=part, slot=slot, turn=turn, sentence=why)

    def _used_up(self, part: str, slot: str) -> BrokenLink | None:
        """Whoever made the user repeat itself used up the steps of a conversation that was cut off, or its patience."""
        reason = self._talk.dialogue.outcome.reason if self._talk.dialogue.outcome else ""
        cut_off = reason in (MAX_EXCHANGES, LOOP_GUARD)
        domain = "" if cut_off else self._record.domain
        repeats = list(_repeats(self._talk.turns, domain)) if cut_off or reason == USER_GAVE_UP else []
        if len(repeats) < (1 if cut_off else _PATIENCE):
            return None
        counts = Counter(cause for _, cause in repeats)
        cause = min(counts, key=lambda one: (-counts[one], CAUSES.index(one)))
        if not cut_off and cause == "never_said":
            return None
        turn = next(place for place, one in repeats if one == cause)
        why = {
            "said_not_heard": "what the system did not hear",
            "answered_not_heard": "what was answered, since it did not hear the answers",
            "heard_not_acted_on": "what the system heard and did not answer",
        }.get(cause, "what was heard and answered")
        end = "The conversation was cut off" if cut_off else "The user gave up"
        return BrokenLink(
            cause=cause, part=part, slot=slot, turn=turn,
            sentence=f"{end}: from turn {turn} on the user repeated {why}, "
            f"{counts[cause]} of {len(repeats)} times.",
        )  # fmt: skip


def _repeats(turns: tuple[Turn, ...], domain: str) -> Iterator[tuple[int, Cause]]:
    """The user turns that say nothing new, of a domain or of all, each with what made the user say it again."""
    before: dict[Act, int] = {}
    for place, turn in enumerate(turns):
        if turn.speaker != "user":
            continue
        acts = [act for act in turn.acts or () if act.domain != _GENERAL]
        spoken = not domain or any(act.domain == domain for act in acts)
        if acts and spoken and all(act in before for act in acts):
            yield place, _why_repeated(acts, before, turns, place)
        before.update(dict.fromkeys(acts, place))


def _why_repeated(acts: list[Act], before: Mapping[Act, int], turns: tuple[Turn, ...], place: int) -> Cause:
    if any(act not in (turns[before[act]].heard or ()) for act in acts if turns[before[act]].heard is not None):
        return "said_not_heard"
    replies = [turns[before[act] + 1] for act in acts] + [turns[place - 1]]
    if any(reply.heard is not None and set(reply.acts or ()) != set(reply.heard) for reply in replies):
        return "answered_not_heard"
    if any(all(act.domain == _GENERAL for act in reply.acts or ()) for reply in replies):
        return "heard_not_acted_on"
    return "never_said"


def _answer_missed(part: str, slot: str, phantom: Word, domain: str) -> BrokenLink:
    what = f"{phantom.intent} {phantom.slot} {phantom.value}".strip()
    return BrokenLink(
        cause="answered_not_heard", part=part, slot=slot, turn=phantom.turn, answered_turn=phantom.turn,
        sentence=f"The user heard '{what}' of the {domain} in turn {phantom.turn}, which the system did not say, and "
        "left it at that.",
    )  # fmt: skip


def _bids(acts: tuple[Act, ...] | None) -> bool:
    return any(act.name == _BYE for act in acts or ())


def _cause(name: str) -> Cause:
    return next(cause for cause in CAUSES if cause == name)
