"""What became of each task of a recorded conversation, by the strict rules, and why it failed.

A task succeeds if what the user ended up with (``spoken_of.py`` says what that is) satisfies every constraint, every
request was answered with the truth about it and nothing else, and where it was to be booked it is booked, with every
slot as wanted, and the user was told the booking's own reference. A taxi must have been sent, with ends and time as
wanted; an end that is "the restaurant" is the one the user settled on, by its name or a part of it that no other has.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct

from dialgauge.dialogue import Dialogue
from dialgauge.tasks.reasons import TaskFault, fault_sentences
from dialgauge.tasks.recordings.spoken_of import Follower, Thread, TownIndex, reference_of
from dialgauge.values import same_value
from dialgauge.worlds.town import (
    REFERENCE,
    SEARCH_SLOTS,
    UNKNOWN,
    TownGoal,
    TownRow,
    TownSearch,
    TownTask,
    is_reference,
)


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
    walked: int = 0
    faults: tuple[TaskFault, ...] = ()

    @property
    def why(self) -> tuple[str, ...]:
        """Why it failed, in words."""
        return tuple(fault_sentences(self.faults, self.domain))


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

    def __init__(self, search: TownSearch) -> None:
        self._town = TownIndex(search)

    def judge(self, dialogue: Dialogue, goal: TownGoal) -> StrictVerdict:
        """The verdict on a dialogue."""
        follower = Follower(goal, self._town)
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

    def _outcome(self, task: TownTask, threads: Mapping[str, Thread]) -> TaskOutcome:
        thread = threads[task.domain]
        row, since = ended_up_with(thread)
        if task.domain == "taxi":
            faults = list(self._taxi_faults(task, threads))
            truth = thread.taxi[0].result if thread.taxi else {}
            entity, since = truth.get("car type", ""), thread.taxi[1] if thread.taxi else None
        else:
            faults = list(self._faults(task, thread, row, since))
            truth = row.values if row is not None else {}
            entity = row.name if row is not None else ""
        matched = not faults
        bookings = list(_booking_faults(task, thread)) if task.book else []
        untold = list(_reference_faults(thread)) if task.book else []
        known = row is not None or bool(thread.taxi)
        answers = list(_request_faults(task, thread, row, truth, known=known))
        detours = [detour for detour in (thread.search_detour, thread.book_detour) if detour is not None]
        return TaskOutcome(
            domain=task.domain,
            success=not (faults or bookings or untold or answers),
            matched=matched,
            booked=(matched and not bookings) if task.book else None,
            requests=len(task.requests),
            answered=len(task.requests) - len(answers),
            row=row.number if row is not None else None,
            entity=entity,
            turn=since,
            attempts=len(thread.attempts),
            fixed=_fixed(task, thread),
            detours=len(detours),
            walked=sum(detour.walked for detour in detours),
            faults=(*faults, *bookings, *untold, *(fault for fault in dict.fromkeys(answers) if fault not in untold)),
        )

    def _faults(self, task: TownTask, thread: Thread, row: TownRow | None, since: int | None) -> Iterator[TaskFault]:
        """Why what the user ended up with is not what it wanted."""
        if row is None:
            yield thread.dropped or TaskFault(reason="nothing_named")
            return
        wanted = {slot: value for slot, value in task.info.items() if slot in SEARCH_SLOTS[task.domain]}
        for slot in self._town.fails(row, wanted):
            given, value = (row.get(slot),), task.info[slot]
            yield TaskFault(reason="unfit", slot=slot, turn=since, given=given, wanted=value, entity=row.name)

    def _taxi_faults(self, task: TownTask, threads: Mapping[str, Thread]) -> Iterator[TaskFault]:
        """Why the taxi that was sent is not the one that was wanted."""
        thread = threads["taxi"]
        if thread.taxi is None:
            yield TaskFault(reason="no_taxi")
            return
        call, turn = thread.taxi
        for slot, value in task.info.items():
            if not same_value(given := call.arguments.get(slot, UNKNOWN), value):
                yield TaskFault(reason="taxi_differs", slot=slot, turn=turn, given=(given,), wanted=value)
        for slot, domain in task.links.items():
            row, _ = ended_up_with(threads[domain])
            given = call.arguments.get(slot, UNKNOWN)
            if row is None:
                yield TaskFault(reason="taxi_end_missing", slot=slot, turn=turn, wanted=domain)
            elif self._town.fails(row, {"name": given}):
                yield TaskFault(reason="taxi_differs", slot=slot, turn=turn, given=(given,), wanted=row.name)


def ended_up_with(thread: Thread) -> tuple[TownRow | None, int | None]:
    """The row that the user has at the end, and since which turn."""
    if thread.booking is not None:
        return thread.booking[0], thread.booking[2]
    return thread.row, thread.since


def _booking_faults(task: TownTask, thread: Thread) -> Iterator[TaskFault]:
    if thread.booking is None:
        for call, turn in thread.attempts:
            yield TaskFault(reason="not_booked", turn=turn, given=(call.outcome,))
        if not thread.attempts:
            yield TaskFault(reason="never_tried")
        return
    _, call, turn = thread.booking
    for slot, value in (task.book or {}).items():
        if not same_value(call.arguments.get(slot, ""), value):
            given = (call.arguments.get(slot, UNKNOWN),)
            yield TaskFault(reason="booked_otherwise", slot=slot, turn=turn, given=given, wanted=value)


def _reference_faults(thread: Thread) -> Iterator[TaskFault]:
    """Why the user cannot call upon its booking."""
    if thread.booking is None or not (reference := reference_of(thread.booking[1])):
        return
    told = thread.references
    if told is None:
        yield TaskFault(reason="reference_untold", slot=REFERENCE, turn=thread.booking[2], wanted=reference)
    elif not _all_true(told.values, reference):
        given = tuple(dict.fromkeys(told.values))
        yield TaskFault(reason="reference_wrong", slot=REFERENCE, turn=told.turn, given=given, wanted=reference)


def _request_faults(
    task: TownTask, thread: Thread, row: TownRow | None, truth: Mapping[str, str], *, known: bool
) -> Iterator[TaskFault]:
    for slot in task.requests:
        if is_reference(slot) and thread.booking is not None:
            yield from _reference_faults(thread)
            continue
        answer, true = thread.answer(slot, row), truth.get(slot, UNKNOWN)
        if answer is None:
            yield TaskFault(reason="untold", slot=slot)
            continue
        elsewhere = row is not None and answer.about is not row
        if not known:
            reason, wanted = "told_of_nothing", ""
        elif not _all_true(answer.values, true):
            reason, wanted = "told_wrong", true
        elif true == UNKNOWN and elsewhere:
            reason, wanted = "told_of_another", row.name if row else ""
        else:
            continue
        yield TaskFault(
            reason=reason, slot=slot, turn=answer.turn, given=tuple(dict.fromkeys(answer.values)), wanted=wanted,
            entity=answer.about.name if answer.about is not None else "", elsewhere=elsewhere,
        )  # fmt: skip


def _all_true(values: Iterable[str], truth: str) -> bool:
    return all(same_value(value, truth) for value in values)


def _fixed(task: TownTask, thread: Thread) -> bool | None:
    """Was a booking refused, and then made as wanted? None where the goal scripts no refusal."""
    if not task.book_first or not task.book:
        return None
    refused = next((turn for call, turn in thread.attempts if call.outcome == "refused"), None)
    if refused is None or thread.booking is None or thread.booking[2] < refused:
        return False
    return not list(_booking_faults(task, thread))
