"""The way of one value: the user is to say it, the system to hear it, and to act on it as it was said.

    said ── heard ── acted on

Constraints and bookings go this way, and what is sent without either; they differ in what acting on them is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dialgauge.intents import NO_BOOK, NO_OFFER
from dialgauge.lab.blame.broken_links import BrokenLink
from dialgauge.lab.blame.spoken_record import DomainRecord, TalkRecord, Word
from dialgauge.lab.blame.user_omissions import UserOmissions
from dialgauge.tasks import TaskOutcome
from dialgauge.values import same_value
from dialgauge.worlds.domain import BOOK, SEARCH, ServiceTask

#: What acts on each part, where that is not called like it.
_CALLS = {"constraint": SEARCH, "booking": BOOK}


class GivenValues:
    """The values that the goal of one task has the user give."""

    def __init__(
        self,
        task: ServiceTask,
        outcomes: Mapping[str, TaskOutcome],
        talk: TalkRecord,
        blamed: Mapping[str, BrokenLink] | None = None,
    ) -> None:
        """``blamed`` has what broke in services that this one refers to."""
        self._task, self._outcome, self._outcomes = task, outcomes[task.domain], outcomes
        self._blamed = blamed or {}
        self._talk, self._service = talk, talk.domains.services[task.domain]
        self._record: DomainRecord = talk.domain(task.domain)
        self._excuses = UserOmissions(talk, self._record)

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
        right = [word for word in says if same_value(word.value, wanted)]
        if not right:
            return self._unsaid(part, slot, wanted, decided), None
        until = right[-1].turn
        if decided is None:
            until = self._talk.last
        elif right[0].turn < decided:
            until = decided
        last = [word for word in says if word.turn <= until][-1]
        if not same_value(last.value, wanted):
            heard = record.hears(slot, last.turn - 1)
            before = [word for word in right if word.turn < last.turn]
            if self._talk.system_hears and before and (heard is None or not same_value(heard.value, wanted)):
                return self._misheard(part, slot, before, heard), None
            if before and heard is not None and self._passed_over(part, slot, heard, last.turn - 1):
                return self._acted(part, slot, wanted, heard, last.turn - 1), None
            return self._excuses.said_otherwise(part, slot, wanted, last, self._task.domain), None
        if not self._talk.system_hears:
            return self._untraceable(part, slot, right[0].turn), None
        heard = record.hears(slot, until)
        if heard is not None and same_value(heard.value, wanted):
            return None, heard
        return self._misheard(part, slot, right, heard), None

    def _passed_over(self, part: str, slot: str, heard: Word, until: int) -> bool:
        """Was what the system did after hearing a slot done without it?"""
        calls = [call for turn, call in self._record.called(_CALLS.get(part, part), until) if turn > heard.turn]
        return bool(calls) and slot not in calls[-1].arguments

    def _misheard(self, part: str, slot: str, right: list[Word], heard: Word | None) -> BrokenLink:
        """Said and not heard: dropped, heard as something else, or heard rightly and then overwritten."""
        said = right[0]
        overwritten = heard is not None and heard.turn not in {word.turn for word in right}
        turn = heard.turn if heard is not None and overwritten and heard.turn > said.turn else said.turn
        known: dict[str, Any] = {"part": part, "slot": slot, "said_turn": said.turn, "wanted": said.value}
        if heard is None:
            return BrokenLink(reason="dropped", turn=turn, **known)
        return BrokenLink(
            reason="misheard" if heard.turn == said.turn else "overwritten", turn=turn, heard_turn=heard.turn, **known,
            given=(heard.value,),
        )  # fmt: skip

    def _acted(self, part: str, slot: str, wanted: str, heard: Word, until: int) -> BrokenLink:
        """Said and heard: was it left out of what the system did, or was what it did wrong?"""
        calls = self._record.called(_CALLS.get(part, part), until)
        known: dict[str, Any] = {"part": part, "slot": slot, "said_turn": heard.turn, "heard_turn": heard.turn,
                                 "wanted": wanted, "entity": _CALLS.get(part, part)}  # fmt: skip
        if not calls or slot not in calls[-1][1].arguments:
            turn = next((call_turn for call_turn, _ in calls if call_turn > heard.turn), heard.turn + 1)
            return BrokenLink(
                reason="called_without" if calls else "never_called", turn=turn, **known,
                given=tuple(str(call_turn) for call_turn, _ in calls[-1:]),
            )  # fmt: skip
        call_turn, call = calls[-1]
        given = call.arguments[slot]
        right = same_value(given, wanted)
        return BrokenLink(
            reason="named_beside" if right else "called_otherwise", turn=max(call_turn, heard.turn),
            acted_turn=call_turn, **known, given=(str(until) if right else given,),
        )  # fmt: skip

    def _unsaid(self, part: str, slot: str, wanted: str, decided: int | None) -> BrokenLink | None:
        """Never said: perhaps because the system heard it unsaid, or a first try was to be refused and was not."""
        task = self._task
        heard = self._record.hears(slot, self._talk.last if decided is None else decided)
        if heard is not None and not any(word.turn <= heard.turn for word in self._record.says(slot)):
            return BrokenLink("heard_unsaid", part, slot, heard.turn, heard_turn=heard.turn, given=(heard.value,))
        firsts = (task.book_first if part == "booking" else task.first) or {}
        tried = [word for word in self._record.says(slot) if same_value(word.value, firsts.get(slot, ""))]
        if slot in firsts and tried:
            return self._first_try(part, slot, wanted, tried)
        return self._excuses.unsaid(part, slot, wanted)

    def _first_try(self, part: str, slot: str, wanted: str, tried: list[Word]) -> BrokenLink | None:
        """The user said what was to be refused, and never what comes after. None: no call was made with it."""
        attempt, record = tried[0], self._record
        heard = [word for word in record.heard if word.slot == slot and same_value(word.value, attempt.value)] or [
            row for row in [record.hears(slot, self._talk.last)] if row and same_value(row.value, attempt.value)
        ]
        if not heard:
            if not self._talk.system_hears:
                return self._untraceable(part, slot, attempt.turn)
            return self._misheard(part, slot, tried, record.hears(slot, self._talk.last))
        intent, name = (NO_BOOK, BOOK) if part == "booking" else (NO_OFFER, SEARCH)
        refusals = record.tells(intent, attempt.turn)
        if refusals:
            return self._excuses.after_refusal(part, slot, wanted, intent, refusals)
        calls = record.called(name, self._talk.last)
        made = [(turn, call) for turn, call in calls if same_value(call.arguments.get(slot, ""), attempt.value)]
        if not made:
            return self._acted(part, slot, attempt.value, heard[0], self._talk.last) if calls else None
        turn, call = made[-1]
        untold = call.result == "refused" or call.found == 0
        reason, broke = ("first_try_untold", turn) if untold else ("first_try_not_refused", self._talk.last)
        return BrokenLink(
            reason, part, slot, broke, said_turn=attempt.turn, heard_turn=heard[0].turn, acted_turn=turn,
            given=(call.outcome_words,), wanted=attempt.value,
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

    def _untraceable(self, part: str, slot: str, turn: int) -> BrokenLink:
        return BrokenLink("untraceable", part, slot, turn, said_turn=turn)
