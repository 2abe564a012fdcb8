"""Follows one thing that a goal asks for from the user's mouth to what became of it, up to the link that broke.

    said ── heard ── acted on ── answered ── heard by the user

``docs/decisions.md`` has the rules for several failures and for ties.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dialgauge.dialogue import Blame, Call
from dialgauge.intents import NO_BOOK, NO_OFFER, REQUEST, SELECT
from dialgauge.lab.blame.excuses import Excuses
from dialgauge.lab.blame.reasons import Cause
from dialgauge.lab.blame.record import TalkRecord, Word, alike, same_slot
from dialgauge.tasks import TaskFailure, TaskOutcome
from dialgauge.values import constrains
from dialgauge.worlds.domain import BOOK, SEARCH, ServiceTask

#: What acts on each part, where that is not called like it.
_CALLS = {"constraint": SEARCH, "booking": BOOK}
#: Failure codes: the user ended up with nothing.
_NOTHING = ("nothing_named", "turned_down", "given_up")
#: A refusal was not told as one, which says why nothing was booked after it.
_HIDDEN = ("refusal_denied", "refusal_untold", "outcome_unread")
#: What the system said or did wrongly, and what the lab could not read, by the failure's own code.
_TOLD: dict[str, Cause] = {
    "booked_besides": "acted_on_wrong", "refusal_denied": "acted_on_wrong",
    "refusal_untold": "heard_not_acted_on", "booking_untold": "heard_not_acted_on",
    "unread": "not_understood", "reference_unread": "not_understood", "outcome_unread": "not_understood",
    "reference_wrong": "acted_on_wrong", "reference_untold": "heard_not_acted_on",
}  # fmt: skip


class Chain:
    """The chains of one task."""

    def __init__(
        self, task: ServiceTask, outcomes: Mapping[str, TaskOutcome], talk: TalkRecord, blamed: Mapping[str, Blame]
    ) -> None:
        """``blamed`` has what broke in services that this one refers to."""
        self._task, self._outcome, self._outcomes = task, outcomes[task.domain], outcomes
        self._talk, self._blamed = talk, blamed
        self._service = talk.domains.services[task.domain]
        self._record = talk.domain(task.domain)
        self._excuses = Excuses(talk, self._record)

    def of_failure(self, failure: TaskFailure) -> Iterator[Blame]:
        """The links that broke for one reason why the task failed."""
        slot, turn, task = failure.slot, failure.turn, self._task
        match failure.reason:
            case "unfit":
                yield from self._given("constraint", slot, task.info[slot], turn)
            case "booked_otherwise" if slot in task.links:
                yield from self._linked("booking", slot, turn)[0]
            case "booked_otherwise":
                yield from self._given("booking", slot, (task.book or {})[slot], turn)
            case "no_taxi" | "taxi_differs" | "taxi_end_missing":
                yield from self._sent([slot] if slot else [*task.info, *task.links], turn)
            case "nothing_named" | "turned_down" | "given_up":
                yield from self._nothing()
            case "never_tried" | "not_booked":
                yield from self._unbooked()
            case reason if reason in _TOLD:
                yield self._as_failed(failure, _TOLD[reason])
            case _:
                yield from self._request(failure)

    def unnoticed(self) -> Iterator[Blame]:
        """Links that broke without harm, or whose harm the verdict does not see: for who erred at all."""
        task, record = self._task, self._record
        for part, given in {"constraint": task.info, "booking": task.book or {}}.items():
            for slot, value in given.items():
                yield from self._heard(part, slot, value, None)[0]
        for slot in dict.fromkeys([*task.requests, *(record.gives if task.book is not None else ())]):
            told = [word for word in record.told if word.tells and same_slot(word.slot, slot)]
            heard = {(word.turn, word.value) for word in record.told_heard if same_slot(word.slot, slot)}
            if not told or not self._talk.user_hears or any((word.turn, word.value) in heard for word in told):
                continue
            if any(word.turn != self._talk.last for word in told):  # nobody is left to hear the last turn
                yield record.blame("answer_unheard", told[0].turn, slot)

    def _as_failed(self, failure: TaskFailure, cause: Cause) -> Blame:
        """What the verdict says itself; what was never told broke with the booking."""
        turn = failure.turn
        if failure.reason == "reference_untold":
            turn = next(
                (at for at, call in reversed(self._record.called(BOOK, self._talk.last)) if not call.failed), turn
            )
        about = (failure.slot, ", ".join(failure.given), failure.wanted, failure.entity)
        return self._record.blame(failure.reason, turn or 0, *about, cause=cause)

    # What the user gives: said, heard, acted on

    def _given(self, part: str, slot: str, wanted: str, decided: int | None) -> Iterator[Blame]:
        """The link that broke for a value that the user was to give; ``decided`` is when it was acted upon."""
        broken, heard = self._heard(part, slot, wanted, decided)
        yield from broken
        if not broken and heard is not None:
            yield self._acted(part, slot, wanted, heard, self._talk.last if decided is None else decided)

    def _heard(self, part: str, slot: str, wanted: str, decided: int | None) -> tuple[list[Blame], Word | None]:
        """The broken link between user and system, if any, and what the system heard."""
        record, says = self._record, self._record.says(slot)
        right = [word for word in says if alike(word.value, wanted)]
        if not right:
            return self._unsaid(part, slot, wanted, decided), None
        until = right[-1].turn
        if decided is None:
            until = self._talk.last
        elif right[0].turn < decided:
            until = decided
        last = [word for word in says if word.turn <= until][-1]
        if not alike(last.value, wanted):
            heard = record.hears(slot, last.turn - 1)
            before = [word for word in right if word.turn < last.turn]
            if self._talk.system_hears and before and (heard is None or not alike(heard.value, wanted)):
                return [self._misheard(slot, before, heard)], None
            if before and heard is not None and self._passed_over(part, slot, heard, last.turn - 1):
                return [self._acted(part, slot, wanted, heard, last.turn - 1)], None
            return [self._excuses.said_otherwise(slot, wanted, last, self._task.domain)], None
        if not self._talk.system_hears:
            return [record.blame("untraceable", right[0].turn, slot)], None
        heard = record.hears(slot, until)
        if heard is not None and alike(heard.value, wanted):
            return [], heard
        return [self._misheard(slot, right, heard)], None

    def _passed_over(self, part: str, slot: str, heard: Word, until: int) -> bool:
        """Was what the system did after hearing a slot done without it?"""
        calls = [call for turn, call in self._record.called(_CALLS.get(part, part), until) if turn > heard.turn]
        return bool(calls) and slot not in calls[-1].arguments

    def _misheard(self, slot: str, right: list[Word], heard: Word | None) -> Blame:
        """Said and not heard: dropped, heard as something else, or heard rightly and then overwritten."""
        said = right[0]
        overwritten = heard is not None and heard.turn not in {word.turn for word in right}
        turn = heard.turn if heard is not None and overwritten and heard.turn > said.turn else said.turn
        return self._record.blame("misheard", turn, slot, said.value, "nothing" if heard is None else heard.value)

    def _acted(self, part: str, slot: str, wanted: str, heard: Word, until: int) -> Blame:
        """Said and heard: was it left out of what the system did, or was what it did wrong?"""
        name = _CALLS.get(part, part)
        calls = self._record.called(name, until)
        if not calls:
            return self._record.blame("never_called", heard.turn + 1, slot, name)
        if slot not in calls[-1][1].arguments:
            turn = next((at for at, _ in calls if at > heard.turn), heard.turn + 1)
            return self._record.blame("called_without", turn, slot, name, wanted)
        turn, call = calls[-1]
        code = "named_beside" if alike(call.arguments[slot], wanted) else "called_otherwise"
        return self._record.blame(code, max(turn, heard.turn), slot, name, wanted, call.arguments[slot])

    def _unsaid(self, part: str, slot: str, wanted: str, decided: int | None) -> list[Blame]:
        """Never said: perhaps because the system heard it unsaid, or a first try was to be refused and was not."""
        task, record = self._task, self._record
        heard = record.hears(slot, self._talk.last if decided is None else decided)
        if heard is not None and not any(word.turn <= heard.turn for word in record.says(slot)):
            return [record.blame("heard_unsaid", heard.turn, slot, heard.value)]
        firsts = (task.book_first if part == "booking" else task.first) or {}
        tried = [word for word in record.says(slot) if alike(word.value, firsts.get(slot, ""))]
        if slot in firsts and tried:
            return self._first_try(part, slot, wanted, tried)
        return [self._excuses.unsaid(part, slot, wanted)]

    def _first_try(self, part: str, slot: str, wanted: str, tried: list[Word]) -> list[Blame]:
        """The user said what was to be refused, and never what comes after. Nothing: no call was made with it."""
        value, record = tried[0].value, self._record
        heard = [word for word in record.heard if word.slot == slot and alike(word.value, value)]
        shown = record.hears(slot, self._talk.last)
        if not heard and not (shown and alike(shown.value, value)):
            if not self._talk.system_hears:
                return [record.blame("untraceable", tried[0].turn, slot)]
            return [self._misheard(slot, tried, shown)]
        intent, name = (NO_BOOK, BOOK) if part == "booking" else (NO_OFFER, SEARCH)
        refusals = record.tells(intent, tried[0].turn)
        if refusals:
            return [self._excuses.after_refusal(slot, wanted, intent, refusals)]
        calls = record.called(name, self._talk.last)
        if not calls:
            return []
        if not any(alike(call.arguments.get(slot, ""), value) for _, call in calls):
            return [self._acted(part, slot, value, (heard or [shown or tried[0]])[0], self._talk.last)]
        return [record.blame("first_try_not_refused", self._talk.last, slot, value, calls[-1][1].outcome_words)]

    def _all_heard(self, part: str, wanted: Mapping[str, str]) -> tuple[list[Blame], int]:
        """What broke before the system knew all of it; and the turn in which it did."""
        pairs = [self._heard(part, slot, value, None) for slot, value in wanted.items()]
        known = max((heard.turn for _, heard in pairs if heard is not None), default=0)
        return [blame for broken, _ in pairs for blame in broken], known

    # Nothing found, nothing booked, nothing sent

    def _nothing(self) -> Iterator[Blame]:
        wanted = {slot: value for slot, value in self._task.info.items() if slot in self._service.wishes}
        broken, known = self._all_heard("constraint", wanted)
        broken += self._excuses.invented(wanted)
        if broken:
            yield from broken
        elif self._record.last_turn is None:
            yield self._excuses.unsaid("constraint", "", "")
        else:
            yield self._searched_in_vain(wanted, known)

    def _searched_in_vain(self, wanted: Mapping[str, str], known: int) -> Blame:
        """The system knew all that was wanted since a turn, and yet named nothing that stayed."""
        record, excuses = self._record, self._excuses
        searches = record.called(SEARCH, self._talk.last)
        for turn, call in searches:
            if call.found == 0 and _holds(call, wanted):
                return excuses.false_refusal(turn, call) or record.blame("nothing_in_database", turn)
        if not searches:
            return record.blame("never_called", known + 1, "", SEARCH)
        turn, call = searches[-1]
        missing = next((slot for slot in wanted if slot not in call.arguments), "")
        if missing:
            return record.blame("called_without", known + 1, missing, SEARCH, wanted[missing])
        right = next((at for at, search in searches if _holds(search, wanted)), turn)
        named = excuses.named(right)
        if named and excuses.other_name(named[0].turn) and (lost := excuses.name_lost(right)):
            return lost
        if record.tells(NO_OFFER, right - 1) or not _holds(call, wanted):
            false = filter(None, (excuses.false_refusal(at, search) for at, search in searches))
            return next(false, None) or record.blame("named_unfit", turn, "", call.outcome_words)
        asked = any(word.intent in (REQUEST, SELECT) and word.turn == turn for word in record.told)
        if asked and record.last_turn is not None and record.last_turn < turn:  # the user had gone on by then
            return excuses.unsaid("constraint", "", "")
        return excuses.name_lost(turn) or record.blame("named_nothing", turn, "", call.outcome_words)

    def _unbooked(self) -> Iterator[Blame]:
        record, book = self._record, self._task.book or {}
        attempts = record.called(BOOK, self._talk.last)
        for turn, call in attempts:
            if _holds(call, book):
                yield record.blame("booking_came_back", turn, "", call.outcome_words)
                return
        if any(failure.reason in _HIDDEN for failure in self._outcome.failures):
            return
        broken, known = self._all_heard("booking", book)
        if broken:
            yield from broken
        elif any(failure.reason in _NOTHING for failure in self._outcome.failures):
            return  # there was nothing to book, and why is told elsewhere
        elif not attempts:
            yield record.blame("never_called", known + 1, "", BOOK)
        else:
            for slot, value in book.items():
                heard = record.hears(slot, self._talk.last)
                if not alike(attempts[-1][1].arguments.get(slot, ""), value) and heard is not None:
                    yield self._acted("booking", slot, value, heard, self._talk.last)

    def _sent(self, slots: list[str], sent: int | None) -> Iterator[Blame]:
        """Why nothing was sent, or with other slots than wanted."""
        pairs = [self._linked(self._service.call, slot, sent) for slot in slots]
        broken = [blame for blames, _ in pairs for blame in blames]
        if not broken and sent is None:
            known = max((heard.turn for _, heard in pairs if heard is not None), default=0)
            broken.append(self._record.blame("never_called", known + 1, "", self._service.call))
        yield from broken

    def _linked(self, part: str, slot: str, sent: int | None) -> tuple[list[Blame], Word | None]:
        """The link that broke for one slot, which may be what was settled on elsewhere; and what was heard of it."""
        until = self._talk.last if sent is None else sent
        domain = self._task.links.get(slot)
        spoken = [word for word in self._record.says(slot) if word.turn <= until]
        if domain is None:
            wanted = self._task.info[slot]
        else:
            outcome = self._outcomes.get(domain)
            entity = outcome.entity if outcome else ""
            if not entity and domain in self._blamed:
                return [self._blamed[domain]], None
            if not spoken:
                return [self._excuses.unsaid(part, slot, f"the {domain}")], None
            if not _means(spoken[-1].value, domain, entity, in_part=sent is None):
                meant, since = entity or f"the {domain}", outcome.turn if outcome else None
                return [self._excuses.said_otherwise(slot, meant, spoken[-1], domain, since)], None
            wanted = spoken[-1].value
        broken, heard = self._heard(part, slot, wanted, sent)
        if domain and heard is not None and heard.value.lower() != wanted.lower():  # "the hotel" is not "hotel"
            return [self._misheard(slot, [word for word in spoken if word.value == wanted], heard)], None
        if not broken and heard is not None and sent is not None:
            return [self._acted(part, slot, wanted, heard, sent)], None
        return broken, heard

    # What the system tells

    def _request(self, failure: TaskFailure) -> Iterator[Blame]:
        """Why a question was not answered, or not with the truth about what the user has."""
        slot, record = failure.slot, self._record
        nothing = any(other.reason in (*_NOTHING, "no_taxi") for other in self._outcome.failures)
        if failure.turn is not None and (nothing or not failure.elsewhere):
            if not nothing:
                yield self._as_failed(failure, "acted_on_wrong")
            return
        since = (self._outcome.turn or 0) if failure.elsewhere else -1
        asked = [turn for turn in record.asks(slot) if turn > since]
        if not asked:
            yield self._excuses.unasked(slot, since if failure.elsewhere else None)
        elif not self._talk.system_hears or (record.believed and not record.heard):
            yield record.blame("untraceable", asked[0], slot)
        elif not (heard := [turn for turn in record.asks_heard(slot) if turn > since]):
            yield record.blame("question_unheard", asked[0], slot)
        elif not nothing:
            yield record.blame("question_unanswered", heard[0] + 1, slot)


def _holds(call: Call, wanted: Mapping[str, str]) -> bool:
    """Does a call have every value that is wanted?"""
    return all(alike(call.arguments.get(slot, ""), value) for slot, value in wanted.items())


def _means(value: str, domain: str, entity: str, *, in_part: bool) -> bool:
    """Does a value mean the venue that the user settled on, by its name or by a part of it?"""
    if value.lower() == f"the {domain}":
        return True
    return (
        bool(entity) and constrains(value) and (alike(value, entity) or (in_part and value.lower() in entity.lower()))
    )
