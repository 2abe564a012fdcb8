"""Why a task failed: a code and its arguments, kept in the table ``reasons``, and the words that people read.

``reasons``  dialogue, domain, rule, reason (a code of ``WORDINGS``), slot, turn, given, wanted, entity, elsewhere,
             rows, unfit: one row for each reason; what a reason does not have is null or empty
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec import Struct
from msgspec.structs import astuple, replace

from dialgauge.runs import frame_from_rows
from dialgauge.text import counted

if TYPE_CHECKING:
    import polars

REASONS = "reasons"
_KINDS: dict[str, str] = {
    "dialogue": "String", "domain": "String", "rule": "String", "reason": "String", "slot": "String", "turn": "Int64",
    "given": "List(String)", "wanted": "String", "entity": "String", "elsewhere": "Boolean", "rows": "Int64",
    "unfit": "Int64",
}  # fmt: skip


class TaskFailure(Struct, frozen=True, kw_only=True, gc=False):
    """One reason why a task failed: a code, and what it is about."""

    reason: str
    slot: str = ""
    #: Where the fault shows: the turn that named, booked, sent, told or offered; None where nothing was.
    turn: int | None = None
    given: tuple[str, ...] = ()
    wanted: str = ""
    #: What the user has or had, or what was offered, by name.
    entity: str = ""
    #: Of a request: it was answered, but about something else than what the user ended up with.
    elsewhere: bool = False
    #: Of an offer: its rows, and those of them that do not fit the goal.
    rows: int | None = None
    unfit: int | None = None


class Phrasing(NamedTuple):
    """How a reason is said: the group that it counts for, and its sentence.

    Where ``each`` is given, one sentence joins all such reasons of a task, or of a slot if ``by_slot``.
    """

    group: str
    sentence: str
    each: str = ""
    between: str = ", "
    by_slot: bool = False


def _in_vain(why: str) -> Phrasing:
    group = "given in the wrong place"
    return Phrasing(group, f"{group}: {{slot}} ({{each}})", f"turn {{turns}}: {why}", between="; ", by_slot=True)


WORDINGS: dict[str, Phrasing] = {
    # Conversations, strict
    "nothing_named": Phrasing("nothing was named", "nothing was named"),
    "turned_down": Phrasing(
        "what was named was given up", "{entity} was turned down in turn {turn}: the user asked for {slot} {wanted}"
    ),
    "given_up": Phrasing(
        "what was named was given up", "{entity} was given up in turn {turn}: the system said that there is none"
    ),
    "unfit": Phrasing("it does not fit the goal", "{entity} (since turn {turn}) has {slot} {given}, wanted {wanted}"),
    "no_taxi": Phrasing("no taxi was sent", "no taxi was sent"),
    "taxi_differs": Phrasing(
        "the taxi is not as wanted", "the taxi of turn {turn} has {slot} {given}, wanted {wanted}"
    ),
    "taxi_end_missing": Phrasing(
        "the taxi is not as wanted", "{slot} is to be the {wanted}, and the user has none"
    ),
    "never_tried": Phrasing("booking never tried", "not booked: it was never tried"),
    "not_booked": Phrasing("booking refused", "not booked ({each})", "{given} in turn {turn}"),
    "booked_otherwise": Phrasing("booked otherwise", "booked in turn {turn} with {slot} {given}, wanted {wanted}"),
    "booked_besides": Phrasing(
        "booked more than wanted", "a further booking was made in turn {turn} that nobody asked for: {given}"
    ),
    "refusal_denied": Phrasing(
        "told as booked, and refused", "the user was told in turn {turn} that it is booked, and the booking was refused"
    ),
    "refusal_untold": Phrasing(
        "refusal not told", "the booking was refused in turn {turn}, and the user was not told"
    ),
    "booking_untold": Phrasing("booking not told", "that it is booked since turn {turn} was never told"),
    "outcome_unread": Phrasing(
        "an answer was not understood by the lab", "the lab could not read what was told of the booking of turn {turn}"
    ),
    "reference_untold": Phrasing(
        "reference not told", "the {reference} {wanted} of the booking of turn {turn} was never told"
    ),
    "reference_wrong": Phrasing(
        "reference not told", "the {reference} was told as {given} in turn {turn}; it is {wanted}"
    ),
    "untold": Phrasing("an answer was never told", "{slot} was never told"),
    "unread": Phrasing(
        "an answer was not understood by the lab",
        "the lab could not read what was told of the {slot} in turn {turn}; it is {wanted}",
    ),
    "reference_unread": Phrasing(
        "an answer was not understood by the lab",
        "the lab could not read what was told of the {slot} in turn {turn}; it is {wanted}",
    ),
    "told_wrong": Phrasing("an answer was wrong", "{slot} was told as {given} in turn {turn}; it is {wanted}"),
    "told_of_nothing": Phrasing(
        "an answer about something else", "{slot} was told in turn {turn}, of nothing that the user has"
    ),
    "told_of_another": Phrasing(
        "an answer about something else", "{slot} was told as unknown in turn {turn}, of {entity} and not of {wanted}"
    ),
    "broken_off": Phrasing("the agent failed", "the agent failed: {given}"),
    # Conversations, compat
    "no_booking_heard": Phrasing("no booking was heard of", "no booking was heard of"),
    "booked_unfit": Phrasing(
        "what was heard to be booked does not fit", "the row heard to be booked (number {given}) fails constraints"
    ),
    "never_heard": Phrasing("an answer was never heard", "never heard: {each}", "{slot}"),
    "no_row": Phrasing(
        "no row has these answers", "for the dialogue: no row has these constraints and anything like these answers"
    ),
    "nothing_to_do": Phrasing("nothing to book or to ask", "nothing to book, and nothing to ask"),
    # Responses, mwzeval and grounded
    "no_responses": Phrasing("no responses", "the system has no responses for this dialogue"),
    "nothing_offered": Phrasing(
        "nothing was offered", "nothing was offered: no response that counts for {domain} has a {wanted}"
    ),
    "state_lacks_domain": Phrasing(
        "the state lacks the domain", "the state at the offer (turn {turn}) lacks {domain}"
    ),
    "state_fits_nothing": Phrasing(
        "the state fits nothing", "nothing in the database fits the state at the offer (turn {turn}): {given}"
    ),
    "state_differs": Phrasing(
        "the state is not the goal",
        "the state at the last offer, in turn {turn}, does not say what the goal says: {given}",
    ),
    "offer_unfit": Phrasing(
        "an offer does not fit",
        "in turn {turn} the state led to {offered}, {unfit} of which {do} not fit the goal, such as {entity}: {each}",
        "{slot} is {given}, wanted {wanted}",
        between="; ",
    ),
    "never_told": Phrasing("never told", "never told: {each}", "{slot}"),
    "told_for_another": _in_vain("treated as the {given} domain"),
    "told_for_none": _in_vain("treated as no domain"),
    "told_unbooked": _in_vain("nothing was booked yet by the human wizard"),
    "told_stuffed": _in_vain("the response is stuffed"),
    "told_of_other": _in_vain("it belongs to {given}"),
    "told_off_goal": _in_vain("the state does not fit the goal"),
    "another_failed": Phrasing(
        "another domain failed", "under mwzeval a domain cannot succeed while another fails ({given})"
    ),
}  # fmt: skip
REASON_GROUPS = {code: wording.group for code, wording in WORDINGS.items()}


def failure_texts(failures: Iterable[TaskFailure], domain: str = "") -> list[str]:
    """The reasons of one task in words."""
    return [_sentence(list(same), domain) for _, same in groupby(failures, key=_joined_by)]


def _joined_by(failure: TaskFailure) -> object:
    wording = WORDINGS[failure.reason]
    return (wording.sentence, failure.slot if wording.by_slot else "") if wording.each else failure


def _sentence(same: Sequence[TaskFailure], domain: str) -> str:
    wording = WORDINGS[same[0].reason]
    turns: dict[TaskFailure, list[str]] = {}
    for failure in same if wording.by_slot else ():
        turns.setdefault(replace(failure, turn=None), []).append(str(failure.turn))
    parts = [
        WORDINGS[failure.reason].each.format(**_words(failure, domain), turns=", ".join(seen))
        for failure, seen in turns.items()
    ] or [wording.each.format(**_words(failure, domain)) for failure in same]
    return wording.sentence.format(**_words(same[0], domain), each=wording.between.join(parts))


#: Slots that "the reference" is a good name of.
_REFERENCES = ("", "Ref", "reference")


def _words(failure: TaskFailure, domain: str) -> dict[str, str | int | None]:
    return {
        "domain": domain,
        "reason": failure.reason,
        "slot": failure.slot,
        "reference": "reference" if failure.slot in _REFERENCES else failure.slot.replace("_", " "),
        "turn": failure.turn,
        "given": ", ".join(failure.given) if failure.given else "nothing",
        "wanted": failure.wanted,
        "entity": failure.entity or "nothing",
        "offered": counted(failure.rows or 0, "row"),
        "unfit": f"{failure.unfit or 0:,}",
        "do": "does" if failure.unfit == 1 else "do",
    }


def reasons_table(rows: Iterable[tuple[str, str, str, TaskFailure]]) -> polars.DataFrame:
    """The table ``reasons`` of dialogues, domains, rules and failures."""
    kept = ((*about, *(None if value == "" else value for value in astuple(failure))) for *about, failure in rows)
    return frame_from_rows(kept, _KINDS)


def reason_texts(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str | None, str | None, str | None], str]:
    """By dialogue, domain and rule, the reasons of the rows of a table ``reasons`` in words."""
    tasks: dict[tuple[str | None, str | None, str | None], list[TaskFailure]] = {}
    for row in rows:
        failure = TaskFailure(
            reason=row["reason"] or "", slot=row["slot"] or "", turn=row["turn"], wanted=row["wanted"] or "",
            given=tuple(value or "" for value in row["given"] or ()), entity=row["entity"] or "",
            elsewhere=bool(row["elsewhere"]), rows=row["rows"], unfit=row["unfit"],
        )  # fmt: skip
        tasks.setdefault((row["dialogue"], row["domain"], row["rule"]), []).append(failure)
    return {task: "; ".join(failure_texts(failures, task[1] or "")) for task, failures in tasks.items()}
