"""What became of each task of a recorded conversation, by the strict rules, and why it failed.

A task succeeds if what the user ended up with (see ``tracker.py``) satisfies every constraint, every
request was answered with the truth about it and nothing else, and where it was to be booked it is booked, with every
slot as wanted, and the user was told the booking's own reference. What has no rows must have been sent or
booked, with every slot as wanted; one that is "the hotel" is the one the user settled on, by its name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from dialgauge.dialogue import Dialogue
from dialgauge.tasks.reasons import TaskFailure, failure_texts
from dialgauge.tasks.recordings.tracker import ConversationTracker, Thread, fails, given_by
from dialgauge.worlds.domain import UNKNOWN, DomainGoal, DomainSearch, Entity, ServiceTask


class TaskOutcome(Struct, frozen=True, kw_only=True, gc=False):
    """What became of one task."""

    domain: str
    success: bool
    #: Does what the user ended up with satisfy all constraints?
    matched: bool
    #: Is it booked, with every slot as wanted? None where nothing was to be booked.
    booked: bool | None = None
    #: Requests, and those of them that were answered with the truth about what the user ended up with.
    requests: int = 0
    answered: int = 0
    #: Number and name of the row the user ended up with, and the turn since which it had it.
    row: int | None = None
    entity: str = ""
    turn: int | None = None
    #: Attempts to book; was one refused as the goal has it, and then the booking made that was wanted?
    attempts: int = 0
    fixed: bool | None = None
    #: Constraints and bookings to try first, and those that were stated, met a refusal and were revised.
    detours: int = 0
    retried: int = 0
    failures: tuple[TaskFailure, ...] = ()

    @property
    def why(self) -> tuple[str, ...]:
        return tuple(failure_texts(self.failures, self.domain))


class StrictVerdict(Struct, frozen=True, kw_only=True, gc=False):
    """The strict verdict on a conversation."""

    success: bool
    #: Can the goal be satisfied at all: by the database, with a taxi that has ends, with bookings that can be?
    satisfiable: bool
    tasks: dict[str, TaskOutcome]
    #: What the system asserted of rows, bookings and taxis, and how much of it is true.
    asserted: int = 0
    true: int = 0

    @property
    def recall(self) -> float | None:
        """Share of the requests answered with the truth; None where there are none."""
        asked = sum(task.requests for task in self.tasks.values())
        return sum(task.answered for task in self.tasks.values()) / asked if asked else None

    @property
    def precision(self) -> float | None:
        """Share of what was asserted that is true; None where nothing was."""
        return self.true / self.asserted if self.asserted else None

    @property
    def f1(self) -> float | None:
        """The harmonic mean of the two."""
        recall, precision = self.recall, self.precision
        if recall is None or precision is None:
            return None
        return 2 * recall * precision / (recall + precision) if recall + precision else 0.0


class StrictRules:
    """Judges conversations against a town; one serves all of them."""

    def __init__(self, search: DomainSearch) -> None:
        self._search = search

    def judge(self, dialogue: Dialogue, goal: DomainGoal) -> StrictVerdict:
        follower = ConversationTracker(goal, self._search)
        for number, turn in enumerate(dialogue.turns):
            if turn.speaker == "user":
                follower.hear_user(turn, number)
            else:
                follower.hear_system(turn, number)
        tasks = {task.domain: self._outcome(task, follower.threads) for task in goal.tasks}
        return StrictVerdict(
            success=all(task.success for task in tasks.values()),
            satisfiable=goal.findings.satisfiable,
            tasks=tasks,
            asserted=follower.asserted,
            true=follower.true,
        )

    def _outcome(self, task: ServiceTask, threads: Mapping[str, Thread]) -> TaskOutcome:
        thread = threads[task.domain]
        row, since = ended_up_with(thread)
        if thread.service.rows is not None:
            failures = list(self._failures(task, thread, row, since))
            truth = row.values if row is not None else {}
            entity = row.name if row is not None else ""
        else:
            failures = [] if task.book is not None else list(self._sent_failures(task, threads))
            truth = thread.sent[0].values if thread.sent else {}
            entity, since = next(iter(truth.values()), ""), thread.sent[1] if thread.sent else since
        matched = not failures
        wanted = task.book is not None
        bookings = list(self._booking_failures(task, threads)) if wanted else thread.unasked
        untold = list(_untold_failures(thread)) if wanted else []
        known = row is not None or bool(thread.sent)
        answers = list(_request_failures(task, thread, row, truth, known=known))
        detours = [detour for detour in (thread.search_detour, thread.book_detour) if detour is not None]
        return TaskOutcome(
            domain=task.domain,
            success=not (failures or bookings or untold or answers),
            matched=matched,
            booked=(matched and not bookings) if wanted else None,
            requests=len(task.requests),
            answered=len(task.requests) - len(answers),
            row=row.number if row is not None else None,
            entity=entity,
            turn=since,
            attempts=len(thread.attempts),
            fixed=self._fixed(task, threads),
            detours=len(detours),
            retried=sum(detour.retried for detour in detours),
            failures=(*failures, *bookings, *untold, *(each for each in dict.fromkeys(answers) if each not in untold)),
        )

    def _failures(
        self, task: ServiceTask, thread: Thread, row: Entity | None, since: int | None
    ) -> Iterator[TaskFailure]:
        """Why what the user ended up with is not what it wanted."""
        if row is None:
            yield thread.dropped or TaskFailure(reason="nothing_named")
            return
        wanted = {slot: value for slot, value in task.info.items() if slot in thread.service.wishes}
        for slot in fails(self._search, row, wanted):
            given, value = (row.get(slot),), task.info[slot]
            yield TaskFailure(reason="unfit", slot=slot, turn=since, given=given, wanted=value, entity=row.name)

    def _sent_failures(self, task: ServiceTask, threads: Mapping[str, Thread]) -> Iterator[TaskFailure]:
        """Why what was sent is not what was wanted, where there are no rows to choose from."""
        thread = threads[task.domain]
        if thread.sent is None:
            yield TaskFailure(reason="no_taxi")
            return
        call, turn = thread.sent
        for slot, value in task.info.items():
            if not thread.service.same(given := call.arguments.get(slot, UNKNOWN), value):
                yield TaskFailure(reason="taxi_differs", slot=slot, turn=turn, given=(given,), wanted=value)
        for slot, domain in task.links.items():
            row, _ = ended_up_with(threads[domain])
            given = call.arguments.get(slot, UNKNOWN)
            if row is None:
                yield TaskFailure(reason="taxi_end_missing", slot=slot, turn=turn, wanted=domain)
            elif self._is_other(row, threads[domain], given):
                yield TaskFailure(reason="taxi_differs", slot=slot, turn=turn, given=(given,), wanted=row.name)

    def _is_other(self, row: Entity, thread: Thread, name: str) -> bool:
        """Does a name mean another row than this one?"""
        return bool(fails(self._search, row, {thread.service.name_slot: name}))

    def _booking_failures(self, task: ServiceTask, threads: Mapping[str, Thread]) -> Iterator[TaskFailure]:
        thread = threads[task.domain]
        if thread.booking is None:
            for call, turn in thread.attempts:
                yield TaskFailure(reason="not_booked", turn=turn, given=(call.outcome_words,))
            if not thread.attempts:
                yield TaskFailure(reason="never_tried")
            return
        yield from thread.duplicate_bookings
        _, call, turn = thread.booking
        for slot, value in (task.book or {}).items():
            if not thread.service.same(call.arguments.get(slot, ""), value):
                given = (call.arguments.get(slot, UNKNOWN),)
                yield TaskFailure(reason="booked_otherwise", slot=slot, turn=turn, given=given, wanted=value)
        for slot, domain in task.links.items():
            row, _ = ended_up_with(threads[domain])
            name = call.arguments.get(slot, UNKNOWN)
            if row is None or self._is_other(row, threads[domain], name):
                wanted = row.name if row is not None else f"the {domain}"
                yield TaskFailure(reason="booked_otherwise", slot=slot, turn=turn, given=(name,), wanted=wanted)

    def _fixed(self, task: ServiceTask, threads: Mapping[str, Thread]) -> bool | None:
        """Was a booking refused, and then made as wanted? None where the goal scripts no refusal."""
        thread = threads[task.domain]
        if not task.book_first or not task.book:
            return None
        refused = next((turn for call, turn in thread.attempts if call.result == "refused"), None)
        if refused is None or thread.booking is None or thread.booking[2] < refused:
            return False
        return not list(self._booking_failures(task, threads))


def ended_up_with(thread: Thread) -> tuple[Entity | None, int | None]:
    """The row that the user has at the end, and since which turn."""
    if thread.booking is not None:
        return thread.booking[0], thread.booking[2]
    return thread.row, thread.since


def _untold_failures(thread: Thread) -> Iterator[TaskFailure]:
    """Why the user does not know what came of its booking."""
    yield from thread.untold_refusals
    if thread.booking is None:
        return
    _, call, turn = thread.booking
    if not thread.gives and not thread.confirmed:
        unread = thread.unread.get("", -1) >= turn
        yield TaskFailure(reason="outcome_unread" if unread else "booking_untold", turn=turn)
    for slot in thread.gives:
        yield from _untold(thread, slot, given_by(call, slot), turn)


def _untold(thread: Thread, slot: str, given: str, booked: int) -> Iterator[TaskFailure]:
    """Why the user does not know something that its booking gave."""
    answer = thread.given.get(slot)
    if not given:
        return
    if answer is None and slot in thread.unread:
        yield TaskFailure(reason="reference_unread", slot=slot, turn=thread.unread[slot], wanted=given)
    elif answer is None:
        yield TaskFailure(reason="reference_untold", slot=slot, turn=booked, wanted=given)
    elif not _all_true(thread, answer.values, given):
        values = tuple(dict.fromkeys(answer.values))
        yield TaskFailure(reason="reference_wrong", slot=slot, turn=answer.turn, given=values, wanted=given)


def _request_failures(
    task: ServiceTask, thread: Thread, row: Entity | None, truth: Mapping[str, str], *, known: bool
) -> Iterator[TaskFailure]:
    for slot in task.requests:
        if slot in thread.gives and thread.booking is not None:
            yield from _untold(thread, slot, given_by(thread.booking[1], slot), thread.booking[2])
            continue
        answer, true = thread.answer(slot, row), truth.get(slot, UNKNOWN)
        if answer is None and slot in thread.unread:
            yield TaskFailure(reason="unread", slot=slot, turn=thread.unread[slot], wanted=true)
            continue
        if answer is None:
            yield TaskFailure(reason="untold", slot=slot)
            continue
        elsewhere = row is not None and answer.about is not row
        if not known:
            reason, wanted = "told_of_nothing", ""
        elif not _all_true(thread, answer.values, true):
            reason, wanted = "told_wrong", true
        elif true == UNKNOWN and elsewhere:
            reason, wanted = "told_of_another", row.name if row else ""
        else:
            continue
        yield TaskFailure(
            reason=reason, slot=slot, turn=answer.turn, given=tuple(dict.fromkeys(answer.values)), wanted=wanted,
            entity=answer.about.name if answer.about is not None else "", elsewhere=elsewhere,
        )  # fmt: skip


def _all_true(thread: Thread, values: Iterable[str], truth: str) -> bool:
    return all(thread.service.same(value, truth) for value in values)
