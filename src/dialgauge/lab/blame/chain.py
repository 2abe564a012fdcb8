"""Follows one thing that a goal asks for from the user's mouth to what became of it, up to the link that broke.

    said ── heard ── acted on ── answered ── heard by the user

Constraints, bookings, requests and taxis go the same way and differ in what acting on them is: a search, a booking,
an answer, a taxi. The rules for several faults and for ties are in ``docs/decisions/blame.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialgauge.dialogue import Call
from dialgauge.lab.blame.broken_links import BrokenLink, Cause
from dialgauge.lab.blame.excuses import Excuses
from dialgauge.lab.blame.spoken_record import DomainRecord, TalkRecord, Word, constrains, same_slot, same_value
from dialgauge.tasks import TaskFault, TaskOutcome
from dialgauge.worlds.town import REFERENCE, SEARCH_SLOTS, TownTask

#: What acts on each part.
_CALLS = {"constraint": "search", "booking": "book", "taxi": "taxi"}
_NONE_FOUND = "0 found"


class Chain:
    """The chains of one task."""

    def __init__(
        self,
        task: TownTask,
        outcomes: Mapping[str, TaskOutcome],
        talk: TalkRecord,
        blamed: Mapping[str, BrokenLink] | None = None,
    ) -> None:
        """``blamed`` has what broke in domains that a taxi goes from or to."""
        self._task, self._outcome, self._outcomes = task, outcomes[task.domain], outcomes
        self._blamed = blamed or {}
        self._talk = talk
        self._record: DomainRecord = talk.domain(task.domain)
        self._excuses = Excuses(talk, self._record)

    def of_fault(self, fault: TaskFault) -> Iterator[BrokenLink]:
        """The links that broke for one reason why the task failed."""
        slot, turn, task = fault.slot, fault.turn, self._task
        if fault.part == "constraint":
            yield from self._given("constraint", slot, task.info[slot], turn)
        elif fault.part == "booking":
            yield from self._given("booking", slot, (task.book or {})[slot], turn)
        elif fault.part == "taxi":
            yield from self._taxi([slot] if slot else [*task.info, *task.links], turn)
        elif fault.part == "nothing":
            yield from self._nothing()
        elif fault.part == "unbooked":
            yield from self._unbooked()
        elif fault.part == "reference":
            yield self._reference(fault)
        else:
            yield from self._request(fault)

    def unnoticed(self) -> Iterator[BrokenLink]:
        """Links that broke without harm, or whose harm the verdict does not see: for who erred at all."""
        task, record = self._task, self._record
        for part, given in {"constraint": task.info, "booking": task.book or {}}.items():
            for slot, value in given.items():
                link, _ = self._heard(part, slot, value, None)
                if link is not None:
                    yield link
        answers = list(task.requests) + ([REFERENCE] if task.book else [])
        for slot in dict.fromkeys(answers):
            told = [word for word in record.told if word.tells and same_slot(word.slot, slot)]
            heard = {(word.turn, word.value) for word in record.told_heard if same_slot(word.slot, slot)}
            last = self._talk.last
            if told and self._talk.user_hears and not any((one.turn, one.value) in heard for one in told):
                if all(one.turn == last for one in told):  # nobody is left to hear the last turn
                    continue
                yield BrokenLink(
                    cause="answered_not_heard", part="request", slot=slot, turn=told[0].turn,
                    answered_turn=told[0].turn,
                    sentence=f"The system told the {slot} in turn {told[0].turn}, and the user never heard it.",
                )  # fmt: skip

    # What the user gives: constraints, bookings, taxis

    def _given(self, part: str, slot: str, wanted: str, decided: int | None) -> Iterator[BrokenLink]:
        """The link that broke for a value that the user was to give; ``decided`` is when it was acted upon."""
        broken, heard = self._heard(part, slot, wanted, decided)
        if broken is not None:
            yield broken
        elif heard is not None:
            yield self._acted(part, slot, wanted, heard, self._talk.last if decided is None else decided)

    def _heard(self, part: str, slot: str, wanted: str, decided: int | None) -> tuple[BrokenLink | None, Word | None]:
        """The broken link between user and system, or what the system heard."""
        record, says = self._record, self._record.says(slot)
        right = [word for word in says if same_value(slot, word.value, wanted)]
        if not right:
            return self._unsaid(part, slot, wanted, decided), None
        until = right[-1].turn
        if decided is None:
            until = self._talk.last
        elif right[0].turn < decided:
            until = decided
        last = [word for word in says if word.turn <= until][-1]
        if not same_value(slot, last.value, wanted):
            heard = record.hears(slot, last.turn - 1)
            before = [word for word in right if word.turn < last.turn]
            if self._talk.system_hears and before and (heard is None or not same_value(slot, heard.value, wanted)):
                return self._misheard(part, slot, before, heard), None
            if before and heard is not None and self._passed_over(part, slot, heard, last.turn - 1):
                return self._acted(part, slot, wanted, heard, last.turn - 1), None
            return self._excuses.said_otherwise(part, slot, wanted, last, self._task.domain), None
        if not self._talk.system_hears:
            return self._untraceable(part, slot, right[0].turn), None
        heard = record.hears(slot, until)
        if heard is not None and same_value(slot, heard.value, wanted):
            return None, heard
        return self._misheard(part, slot, right, heard), None

    def _passed_over(self, part: str, slot: str, heard: Word, until: int) -> bool:
        """Was what the system did after hearing a slot done without it?"""
        calls = [call for turn, call in self._record.called(_CALLS[part], until) if turn > heard.turn]
        return bool(calls) and slot not in calls[-1].arguments

    def _misheard(self, part: str, slot: str, right: list[Word], heard: Word | None) -> BrokenLink:
        """Said and not heard: dropped, heard as something else, or heard rightly and then overwritten."""
        said = right[0]
        overwritten = heard is not None and heard.turn not in {word.turn for word in right}
        turn = heard.turn if heard is not None and overwritten and heard.turn > said.turn else said.turn
        what = f"{slot} {heard.value}" if heard is not None else f"no {slot}"
        return BrokenLink(
            cause="said_not_heard", part=part, slot=slot, turn=turn, said_turn=said.turn,
            heard_turn=heard.turn if heard is not None else None,
            sentence=f"The user said {slot} {said.value} in turn {said.turn}; the system heard {what}"
            f"{f' in turn {heard.turn}' if heard is not None and heard.turn != said.turn else ''}.",
        )  # fmt: skip

    def _acted(self, part: str, slot: str, wanted: str, heard: Word, until: int) -> BrokenLink:
        """Said and heard: was it left out of what the system did, or was what it did wrong?"""
        calls = self._record.called(_CALLS[part], until)
        known: dict[str, Any] = {"part": part, "slot": slot, "said_turn": heard.turn, "heard_turn": heard.turn}
        if not calls or slot not in calls[-1][1].arguments:
            done = f"the {_CALLS[part]} of turn {calls[-1][0]} left it out" if calls else f"there was no {_CALLS[part]}"
            turn = next((place for place, _ in calls if place > heard.turn), heard.turn + 1)
            return BrokenLink(
                cause="heard_not_acted_on", turn=turn, **known,
                sentence=f"The system heard {slot} {wanted} in turn {heard.turn}; {done}.",
            )  # fmt: skip
        place, call = calls[-1]
        given = call.arguments[slot]
        why = (
            f"the {call.name} of turn {place} was right, and what turn {until} named does not fit"
            if same_value(slot, given, wanted)
            else f"the {call.name} of turn {place} has {slot} {given}"
        )
        return BrokenLink(
            cause="acted_on_wrong", turn=max(place, heard.turn), acted_turn=place, **known,
            sentence=f"The system heard {slot} {wanted} in turn {heard.turn}; {why}.",
        )  # fmt: skip

    def _unsaid(self, part: str, slot: str, wanted: str, decided: int | None) -> BrokenLink | None:
        """Never said: perhaps because the system heard it unsaid, or a first try was to be refused and was not."""
        task = self._task
        heard = self._record.hears(slot, self._talk.last if decided is None else decided)
        if heard is not None and not any(word.turn <= heard.turn for word in self._record.says(slot)):
            return BrokenLink(
                cause="said_not_heard", part=part, slot=slot, turn=heard.turn, heard_turn=heard.turn,
                sentence=f"The system heard {slot} {heard.value} in turn {heard.turn}, which the user did not say.",
            )  # fmt: skip
        firsts = (task.book_first if part == "booking" else task.first) or {}
        tried = [word for word in self._record.says(slot) if same_value(slot, word.value, firsts.get(slot, ""))]
        if slot in firsts and tried:
            return self._first_try(part, slot, wanted, tried)
        return self._excuses.unsaid(part, slot, wanted)

    def _first_try(self, part: str, slot: str, wanted: str, tried: list[Word]) -> BrokenLink | None:
        """The user said what was to be refused, and never what comes after. None: no call was made with it."""
        said, record = tried[0], self._record
        heard = [word for word in record.heard if word.slot == slot and same_value(slot, word.value, said.value)] or [
            one for one in [record.hears(slot, self._talk.last)] if one and same_value(slot, one.value, said.value)
        ]
        if not heard:
            if not self._talk.system_hears:
                return self._untraceable(part, slot, said.turn)
            return self._misheard(part, slot, tried, record.hears(slot, self._talk.last))
        intent, name = ("NoBook", "book") if part == "booking" else ("NoOffer", "search")
        told = record.tells(intent, said.turn)
        if told:
            return self._excuses.after_refusal(part, slot, wanted, intent, told)
        calls = record.called(name, self._talk.last)
        made = [(turn, call) for turn, call in calls if same_value(slot, call.arguments.get(slot, ""), said.value)]
        if not made:
            return self._acted(part, slot, said.value, heard[0], self._talk.last) if calls else None
        turn, call = made[-1]
        untold = call.outcome in ("refused", _NONE_FOUND)
        cause: Cause = "heard_not_acted_on" if untold else "unclear"
        why = "and that was never told" if untold else "though the goal expects a refusal"
        return BrokenLink(
            cause=cause, part=part, slot=slot, turn=turn if untold else self._talk.last, said_turn=said.turn,
            heard_turn=heard[0].turn,
            acted_turn=turn, sentence=f"The first try with {slot} {said.value} was '{call.outcome}', {why}.",
        )  # fmt: skip

    def _all_heard(self, part: str, wanted: Mapping[str, str]) -> tuple[list[BrokenLink], int]:
        """What broke before the system knew all of it; and the turn in which it did."""
        broken, known = [], 0
        for slot, value in wanted.items():
            link, heard = self._heard(part, slot, value, None)
            if link is not None:
                broken.append(link)
            elif heard is not None:
                known = max(known, heard.turn)
        return broken, known

    # Nothing found, nothing booked, no taxi

    def _nothing(self) -> Iterator[BrokenLink]:
        """Why the user ended up with nothing."""
        task, record = self._task, self._record
        wanted = {slot: value for slot, value in task.info.items() if slot in SEARCH_SLOTS[task.domain]}
        broken, known = self._all_heard("constraint", wanted)
        broken += self._excuses.invented(wanted)
        if broken:
            yield from broken
            return
        if record.last_turn is None:
            yield self._excuses.unsaid("constraint", "", "")
            return
        yield self._searched_in_vain(wanted, known)

    def _searched_in_vain(self, wanted: Mapping[str, str], known: int) -> BrokenLink:
        """The system knew all that was wanted since a turn, and yet named nothing that stayed."""
        record = self._record
        searches = record.called("search", self._talk.last)
        for place, call in searches:
            if call.outcome == _NONE_FOUND and _holds(call, wanted):
                return BrokenLink(
                    cause="refused", part="constraint", turn=place, heard_turn=known, acted_turn=place,
                    sentence=f"The search of turn {place} was for all that was wanted, and the database has nothing.",
                )  # fmt: skip
        place, call = searches[-1] if searches else (known + 1, Call(name="search"))
        seen: dict[str, Any] = {"part": "constraint", "heard_turn": known, "acted_turn": place if searches else None}
        missing = next((slot for slot in wanted if slot not in call.arguments), "")
        if missing or not searches:
            did = f"left {missing} out of its search in turn {place}" if searches else "never searched"
            return BrokenLink(
                cause="heard_not_acted_on", slot=missing, turn=known + 1, **seen,
                sentence=f"The system knew all that was wanted in turn {known} and {did}.",
            )  # fmt: skip
        right = next((turn for turn, one in searches if _holds(one, wanted)), place)
        if self._excuses.named_otherwise(right) and (lost := self._excuses.name_lost(right)):
            return lost
        refusals = record.tells("NoOffer", right - 1)
        if refusals or not _holds(call, wanted):
            return BrokenLink(
                cause="acted_on_wrong", turn=place, **seen,
                sentence=f"The system named nothing that fits, though its search of turn {place} had {call.outcome}.",
            )  # fmt: skip
        if self._asked_back(place):
            return self._excuses.unsaid("constraint", "", "")
        return self._excuses.name_lost(place) or BrokenLink(
            cause="heard_not_acted_on", turn=place, **seen,
            sentence=f"The search of turn {place} had {call.outcome}, and the system named nothing.",
        )  # fmt: skip

    def _asked_back(self, turn: int) -> bool:
        """Did the system ask something in a turn, and the user spoke of something else from then on?"""
        record = self._record
        asked = any(word.intent in ("Request", "Select") and word.turn == turn for word in record.told)
        return asked and record.last_turn is not None and record.last_turn < turn

    def _unbooked(self) -> Iterator[BrokenLink]:
        """Why nothing was booked."""
        task, record, last = self._task, self._record, self._talk.last
        book = task.book or {}
        attempts = record.called("book", last)
        for place, call in attempts:
            if _holds(call, book):
                yield BrokenLink(
                    cause="refused", part="booking", turn=place, acted_turn=place,
                    sentence=f"The booking of turn {place} was as wanted, and it came back '{call.outcome}'.",
                )  # fmt: skip
                return
        broken, known = self._all_heard("booking", book)
        if broken:
            yield from broken
            return
        if any(fault.part == "nothing" for fault in self._outcome.faults):
            return  # there was nothing to book, and why is told elsewhere
        if not attempts:
            yield BrokenLink(
                cause="heard_not_acted_on", part="booking", turn=known + 1, heard_turn=known, said_turn=known,
                sentence=f"The system knew the whole booking in turn {known} and never tried to make it.",
            )  # fmt: skip
            return
        for slot, value in book.items():
            given = attempts[-1][1].arguments.get(slot, "")
            heard = record.hears(slot, last)
            if not same_value(slot, given, value) and heard is not None:
                yield self._acted("booking", slot, value, heard, last)

    def _taxi(self, slots: list[str], sent: int | None) -> Iterator[BrokenLink]:
        """Why no taxi came, or one with other slots than wanted."""
        broken, known = [], 0
        for slot in slots:
            link, heard = self._taxi_slot(slot, sent)
            broken += [link] if link is not None else []
            known = max(known, heard.turn if heard is not None else 0)
        if not broken and sent is None:
            broken.append(
                BrokenLink(
                    cause="heard_not_acted_on", part="taxi", turn=known + 1, heard_turn=known,
                    sentence=f"The system knew all that a taxi needs in turn {known} and sent none.",
                )
            )  # fmt: skip
        yield from broken

    def _taxi_slot(self, slot: str, sent: int | None) -> tuple[BrokenLink | None, Word | None]:
        """The link that broke for one slot of a taxi, or what was heard of it."""
        until = self._talk.last if sent is None else sent
        domain = self._task.links.get(slot)
        if domain is None:
            wanted = self._task.info[slot]
        else:
            entity = self._outcomes[domain].entity if domain in self._outcomes else ""
            said = [word for word in self._record.says(slot) if word.turn <= until]
            if not entity and domain in self._blamed:
                return self._blamed[domain], None
            if not said:
                return self._excuses.unsaid("taxi", slot, f"the {domain}"), None
            if not _means(said[-1].value, domain, entity, in_part=sent is None):
                since = self._outcomes[domain].turn if domain in self._outcomes else None
                meant = entity or f"the {domain}"
                return self._excuses.said_otherwise("taxi", slot, meant, said[-1], domain, since), None
            wanted = said[-1].value
        link, heard = self._heard("taxi", slot, wanted, sent)
        if domain and heard is not None and heard.value.lower() != wanted.lower():  # "the hotel" is not "hotel"
            return self._misheard("taxi", slot, [word for word in said if word.value == wanted], heard), None
        if link is None and heard is not None and sent is not None:
            return self._acted("taxi", slot, wanted, heard, sent), None
        return link, heard

    # What the system tells

    def _reference(self, fault: TaskFault) -> BrokenLink:
        cause: Cause = "heard_not_acted_on" if fault.turn is None else "acted_on_wrong"
        booked = [turn for turn, call in self._record.called("book", self._talk.last) if call.outcome == "booked"]
        turn = booked[-1] if booked else self._talk.last
        return BrokenLink(
            cause=cause, part="reference", slot=REFERENCE, turn=turn if fault.turn is None else fault.turn,
            acted_turn=turn, answered_turn=fault.turn, sentence=f"{fault.why[0].upper()}{fault.why[1:]}.",
        )  # fmt: skip

    def _request(self, fault: TaskFault) -> Iterator[BrokenLink]:
        """Why a question was not answered, or not with the truth about what the user has."""
        slot, record = fault.slot, self._record
        nothing = any(other.part == "nothing" or (other.part == "taxi" and other.turn is None)
                      for other in self._outcome.faults)  # fmt: skip
        if fault.turn is not None and (nothing or not fault.elsewhere):
            if not nothing:
                yield from self._name_misheard(fault.turn)
                yield BrokenLink(
                    cause="acted_on_wrong", part="request", slot=slot, turn=fault.turn, answered_turn=fault.turn,
                    sentence=f"The {fault.why}.",
                )  # fmt: skip
            return
        since = (self._outcome.turn or 0) if fault.elsewhere else -1
        asked = [turn for turn in record.asks(slot) if turn > since]
        if not asked:
            yield self._excuses.unasked(slot, since if fault.elsewhere else None)
        elif not self._talk.system_hears or (record.believed and not record.heard):
            yield self._untraceable("request", slot, asked[0])
        elif not (heard := [turn for turn in record.asks_heard(slot) if turn > since]):
            yield BrokenLink(
                cause="said_not_heard", part="request", slot=slot, turn=asked[0], said_turn=asked[0],
                sentence=f"The user asked for the {slot} in turn {asked[0]}, and the system never heard it.",
            )  # fmt: skip
        elif not nothing:
            yield BrokenLink(
                cause="heard_not_acted_on", part="request", slot=slot, turn=heard[0] + 1, said_turn=asked[0],
                heard_turn=heard[0],
                sentence=f"The system heard in turn {heard[0]} that the user asks for the {slot} and never told it.",
            )  # fmt: skip

    def _name_misheard(self, turn: int) -> Iterator[BrokenLink]:
        """What was told may be true of another one, because the system did not hear which one the user asked for."""
        name = self._task.info.get("name")
        link, _ = self._heard("constraint", "name", name, turn) if name else (None, None)
        if link is not None and link.cause in ("said_not_heard", "unclear") and link.turn < turn:
            yield link

    def _untraceable(self, part: str, slot: str, turn: int) -> BrokenLink:
        return BrokenLink(
            cause="unclear", part=part, slot=slot, turn=turn, said_turn=turn,
            sentence=f"The user gave or asked for {slot} in turn {turn}; the system does not record what it heard.",
        )  # fmt: skip


def _holds(call: Call, wanted: Mapping[str, str]) -> bool:
    """Does a call have every value that is wanted?"""
    return all(same_value(slot, call.arguments.get(slot, ""), value) for slot, value in wanted.items())


def _means(value: str, domain: str, entity: str, *, in_part: bool) -> bool:
    """Does a value mean the venue that the user settled on, by its name or by a part of it?"""
    if value.lower() == f"the {domain}":
        return True
    return (
        bool(entity)
        and constrains(value)
        and (same_value("name", value, entity) or (in_part and value.lower() in entity.lower()))
    )
