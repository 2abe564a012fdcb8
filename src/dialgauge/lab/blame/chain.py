"""Follows one thing that a goal asks for from the user's mouth to what became of it, up to the link that broke.

    said ── heard ── acted on ── answered ── heard by the user

What the user gives goes the way of :mod:`~dialgauge.lab.blame.given_values`; here is what became of the whole: nothing
found, nothing booked, no taxi, no answer. ``docs/decisions/blame.md`` has the rules for several failures and for ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialgauge.dialogue import Call
from dialgauge.intents import NO_OFFER, REQUEST, SELECT
from dialgauge.lab.blame.broken_links import BrokenLink, Cause
from dialgauge.lab.blame.false_refusals import false_refusal
from dialgauge.lab.blame.given_values import GivenValues
from dialgauge.lab.blame.spoken_record import Word, same_slot
from dialgauge.tasks import TaskFailure
from dialgauge.values import constrains, same_value
from dialgauge.worlds.domain import BOOK, SEARCH

#: Reasons of a user's ending up with nothing.
_NOTHING = ("nothing_named", "turned_down", "given_up")
#: A refusal was not told as one, and why nothing was booked after it is told by that.
_HIDDEN = ("refusal_denied", "refusal_untold", "outcome_unread")


class Chain(GivenValues):
    """The chains of one task."""

    def of_failure(self, failure: TaskFailure) -> Iterator[BrokenLink]:
        """The links that broke for one reason why the task failed."""
        slot, turn, task = failure.slot, failure.turn, self._task
        match failure.reason:
            case "unfit":
                yield from self._given("constraint", slot, task.info[slot], turn)
            case "booked_otherwise" if slot in task.links:
                link, _ = self._linked("booking", slot, turn)
                yield from [link] if link is not None else []
            case "booked_otherwise":
                yield from self._given("booking", slot, (task.book or {})[slot], turn)
            case "no_taxi" | "taxi_differs" | "taxi_end_missing":
                yield from self._sent([slot] if slot else [*task.info, *task.links], turn)
            case "nothing_named" | "turned_down" | "given_up":
                yield from self._nothing()
            case "never_tried" | "not_booked":
                yield from self._unbooked()
            case "booked_besides" | "refusal_denied" | "refusal_untold" | "booking_untold":
                untold = failure.reason in ("refusal_untold", "booking_untold")
                cause: Cause = "heard_not_acted_on" if untold else "acted_on_wrong"
                yield BrokenLink(failure.reason, "booking", "", turn or 0, cause, acted_turn=turn, given=failure.given)
            case "unread" | "reference_unread" | "outcome_unread":
                told: dict[str, Any] = {"answered_turn": turn, "wanted": failure.wanted}
                yield BrokenLink(failure.reason, "request", slot, turn or 0, "not_understood", **told)
            case "reference_untold" | "reference_wrong":
                yield self._reference(failure)
            case _:
                yield from self._request(failure)

    def unnoticed(self) -> Iterator[BrokenLink]:
        """Links that broke without harm, or whose harm the verdict does not see: for who erred at all."""
        task, record = self._task, self._record
        for part, given in {"constraint": task.info, "booking": task.book or {}}.items():
            for slot, value in given.items():
                link, _ = self._heard(part, slot, value, None)
                if link is not None:
                    yield link
        answers = [*task.requests, *(self._record.gives if task.book is not None else ())]
        for slot in dict.fromkeys(answers):
            told_words = [word for word in record.told if word.tells and same_slot(word.slot, slot)]
            heard = {(word.turn, word.value) for word in record.told_heard if same_slot(word.slot, slot)}
            last = self._talk.last
            if (
                told_words
                and self._talk.user_hears
                and not any((word.turn, word.value) in heard for word in told_words)
            ):
                if all(word.turn == last for word in told_words):  # nobody is left to hear the last turn
                    continue
                yield BrokenLink(
                    "answer_unheard", "request", slot, told_words[0].turn, answered_turn=told_words[0].turn
                )

    # Nothing found, nothing booked, no taxi

    def _nothing(self) -> Iterator[BrokenLink]:
        task, record = self._task, self._record
        wanted = {slot: value for slot, value in task.info.items() if slot in self._service.wishes}
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
        searches = record.called(SEARCH, self._talk.last)
        for call_turn, call in searches:
            if call.found == 0 and _holds(call, wanted):
                return false_refusal(self._talk, record, call_turn, call) or BrokenLink(
                    "nothing_in_database", "constraint", turn=call_turn, heard_turn=known, acted_turn=call_turn
                )
        call_turn, call = searches[-1] if searches else (known + 1, Call(name=SEARCH))
        seen: dict[str, Any] = {
            "part": "constraint",
            "heard_turn": known,
            "acted_turn": call_turn if searches else None,
        }
        missing = next((slot for slot in wanted if slot not in call.arguments), "")
        if missing or not searches:
            return BrokenLink(
                reason="search_without" if searches else "never_searched", slot=missing, turn=known + 1, **seen
            )
        right = next((turn for turn, search in searches if _holds(search, wanted)), call_turn)
        if self._excuses.named_otherwise(right) and (lost := self._excuses.name_lost(right)):
            return lost
        refusals = record.tells(NO_OFFER, right - 1)
        if refusals or not _holds(call, wanted):
            false = (false_refusal(self._talk, record, turn, search) for turn, search in searches)
            return next(filter(None, false), None) or BrokenLink(
                reason="named_unfit", turn=call_turn, **seen, given=(call.outcome_words,)
            )
        asked = any(word.intent in (REQUEST, SELECT) and word.turn == call_turn for word in record.told)
        if asked and record.last_turn is not None and record.last_turn < call_turn:  # the user had gone on by then
            return self._excuses.unsaid("constraint", "", "")
        return self._excuses.name_lost(call_turn) or BrokenLink(
            reason="named_nothing", turn=call_turn, **seen, given=(call.outcome_words,)
        )

    def _unbooked(self) -> Iterator[BrokenLink]:
        task, record, last = self._task, self._record, self._talk.last
        book = task.book or {}
        attempts = record.called(BOOK, last)
        for call_turn, call in attempts:
            if _holds(call, book):
                yield BrokenLink(
                    "booking_came_back", "booking", turn=call_turn, acted_turn=call_turn, given=(call.outcome_words,)
                )
                return
        if any(failure.reason in _HIDDEN for failure in self._outcome.failures):
            return
        broken, known = self._all_heard("booking", book)
        if broken:
            yield from broken
            return
        if any(failure.reason in _NOTHING for failure in self._outcome.failures):
            return  # there was nothing to book, and why is told elsewhere
        if not attempts:
            yield BrokenLink("never_booked", "booking", turn=known + 1, heard_turn=known, said_turn=known)
            return
        for slot, value in book.items():
            given = attempts[-1][1].arguments.get(slot, "")
            heard = record.hears(slot, last)
            if not same_value(given, value) and heard is not None:
                yield self._acted("booking", slot, value, heard, last)

    def _sent(self, slots: list[str], sent: int | None) -> Iterator[BrokenLink]:
        """Why nothing was sent, or with other slots than wanted."""
        broken, known = [], 0
        for slot in slots:
            link, heard = self._linked(self._service.call, slot, sent)
            broken += [link] if link is not None else []
            known = max(known, heard.turn if heard is not None else 0)
        if not broken and sent is None:
            broken.append(BrokenLink("never_sent", self._service.call, turn=known + 1, heard_turn=known))
        yield from broken

    def _linked(self, part: str, slot: str, sent: int | None) -> tuple[BrokenLink | None, Word | None]:
        """The link that broke for one slot, which may be what was settled on elsewhere; or what was heard of it."""
        until = self._talk.last if sent is None else sent
        domain = self._task.links.get(slot)
        if domain is None:
            wanted = self._task.info[slot]
        else:
            entity = self._outcomes[domain].entity if domain in self._outcomes else ""
            spoken = [word for word in self._record.says(slot) if word.turn <= until]
            if not entity and domain in self._blamed:
                return self._blamed[domain], None
            if not spoken:
                return self._excuses.unsaid(part, slot, f"the {domain}"), None
            if not _means(spoken[-1].value, domain, entity, in_part=sent is None):
                since = self._outcomes[domain].turn if domain in self._outcomes else None
                meant = entity or f"the {domain}"
                return self._excuses.said_otherwise(part, slot, meant, spoken[-1], domain, since), None
            wanted = spoken[-1].value
        link, heard = self._heard(part, slot, wanted, sent)
        if domain and heard is not None and heard.value.lower() != wanted.lower():  # "the hotel" is not "hotel"
            return self._misheard(part, slot, [word for word in spoken if word.value == wanted], heard), None
        if link is None and heard is not None and sent is not None:
            return self._acted(part, slot, wanted, heard, sent), None
        return link, heard

    # What the system tells

    def _reference(self, failure: TaskFailure) -> BrokenLink:
        told_turn = failure.turn if failure.reason == "reference_wrong" else None
        cause: Cause = "heard_not_acted_on" if told_turn is None else "acted_on_wrong"
        booked = [turn for turn, call in self._record.called(BOOK, self._talk.last) if not call.failed]
        turn = booked[-1] if booked else self._talk.last
        return BrokenLink(
            failure.reason, "reference", failure.slot, turn if told_turn is None else told_turn, cause,
            acted_turn=turn, answered_turn=told_turn, given=failure.given, wanted=failure.wanted,
        )  # fmt: skip

    def _request(self, failure: TaskFailure) -> Iterator[BrokenLink]:
        """Why a question was not answered, or not with the truth about what the user has."""
        slot, record = failure.slot, self._record
        nothing = any(other.reason in (*_NOTHING, "no_taxi") for other in self._outcome.failures)
        if failure.turn is not None and (nothing or not failure.elsewhere):
            if not nothing:
                yield from self._name_misheard(failure.turn)
                yield BrokenLink(
                    failure.reason, "request", slot, failure.turn, "acted_on_wrong", answered_turn=failure.turn,
                    given=failure.given, wanted=failure.wanted, entity=failure.entity,
                )  # fmt: skip
            return
        since = (self._outcome.turn or 0) if failure.elsewhere else -1
        asked = [turn for turn in record.asks(slot) if turn > since]
        if not asked:
            yield self._excuses.unasked(slot, since if failure.elsewhere else None)
        elif not self._talk.system_hears or (record.believed and not record.heard):
            yield self._untraceable("request", slot, asked[0])
        elif not (heard := [turn for turn in record.asks_heard(slot) if turn > since]):
            yield BrokenLink("question_unheard", "request", slot, asked[0], said_turn=asked[0])
        elif not nothing:
            yield BrokenLink(
                "question_unanswered", "request", slot, heard[0] + 1, said_turn=asked[0], heard_turn=heard[0]
            )

    def _name_misheard(self, turn: int) -> Iterator[BrokenLink]:
        """What was told may be true of another one, because the system did not hear which one the user asked for."""
        slot = self._service.offer_slot
        name = self._task.info.get(slot)
        link, _ = self._heard("constraint", slot, name, turn) if name else (None, None)
        if link is not None and link.cause in ("said_not_heard", "unclear") and link.turn < turn:
            yield link


def _holds(call: Call, wanted: Mapping[str, str]) -> bool:
    """Does a call have every value that is wanted?"""
    return all(same_value(call.arguments.get(slot, ""), value) for slot, value in wanted.items())


def _means(value: str, domain: str, entity: str, *, in_part: bool) -> bool:
    """Does a value mean the venue that the user settled on, by its name or by a part of it?"""
    if value.lower() == f"the {domain}":
        return True
    return (
        bool(entity)
        and constrains(value)
        and (same_value(value, entity) or (in_part and value.lower() in entity.lower()))
    )
