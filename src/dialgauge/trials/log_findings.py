"""What was found out about a log, as tables of its run: audit, blame, and which conversations to read first.

The list to read is made here once; the command, the pages and the report show it in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec import Struct

from dialgauge.runs import frame_of
from dialgauge.trials.audit_tables import REPLAYS, TASK_FACTS, facts_table, replays_table
from dialgauge.trials.blame_rules import FailureBlame, Sign
from dialgauge.trials.blame_views import blame_records, leaning_words, side_words, sign_sentence
from dialgauge.trials.blamed_log import LogBlame
from dialgauge.trials.failure_evidence import ObservedFault
from dialgauge.trials.log_audit import LogAudit
from dialgauge.worlds.tools import Integrity

if TYPE_CHECKING:
    import polars

READINGS = "readings"
_READINGS: dict[str, str] = {
    "place": "Int64", "dialogue": "String", "message": "Int64", "code": "String", "about": "List(String)",
}  # fmt: skip
#: Conversations to read.
TO_READ = 5
#: It is another task's; its verdict is contradicted by the replay, by what was said and called, or by the parts stored
#: with it; it failed, for which somebody is blamed; it failed, and the user erred; it just failed.
ReadingCode: TypeAlias = Literal["foreign", "replay", "calls", "parts", "blame", "erred", "failed"]
_CONTRADICTED = {
    "replay": "the replay contradicts its verdict",
    "calls": "what was said and called contradicts its verdict",
    "parts": "the parts stored with its reward contradict it",
}


class SuggestedReading(Struct, frozen=True):
    """A conversation to read, the message to look at, and why: a code, and what it is about."""

    conversation: str
    message: int | None
    code: ReadingCode
    about: tuple[str, ...] = ()

    @property
    def why(self) -> str:
        if self.code == "foreign":
            task, fits = self.about
            return f"filed under task {task}, but {f'it is about {fits}' if fits else 'it does not belong there'}"
        if self.code == "blame":
            leans, firm, *sign = self.about
            sentence = sign_sentence(Sign(sign[0], None, sign[1])) if sign else "nothing that was looked at tells"
            return f"[{side_words(leans) if firm else leaning_words(leans)}] {sentence}"
        if self.code == "erred":
            kind, about = self.about
            return f"failed, and the user erred: {kind.replace('_', ' ')}{f' ({about})' if about else ''}"
        return _CONTRADICTED.get(self.code, "failed")


class LogFindings(Struct, frozen=True):
    """What more is known of a log than its scores, each made when it is asked for; None where it cannot be known."""

    audit: Callable[[], LogAudit] | None = None
    blame: Callable[[], LogBlame] | None = None
    #: What checks saw in users, by conversation, of a log that cannot be audited.
    faults: Callable[[], Mapping[str, Sequence[ObservedFault]]] | None = None
    #: Whether conversations belong to their tasks, where it was checked already.
    integrity: Integrity | None = None


def findings_tables(
    findings: LogFindings, integrity: Integrity | None, failed: Sequence[tuple[str, str]]
) -> dict[str, Callable[[], polars.DataFrame]]:
    """The tables of a run; ``failed`` has task and id of each failed conversation. By task, only if ids are right.

    Without audit and faults there is no list to read: pages make theirs of what they check themselves.
    """
    audit = findings.audit if integrity is not None else None
    blame = findings.blame if integrity is not None and integrity.per_task_stands else None
    tables: dict[str, Callable[[], polars.DataFrame]] = {}
    if audit is not None and integrity is not None and integrity.per_task_stands:
        tables |= {TASK_FACTS: lambda: facts_table(audit()), REPLAYS: lambda: replays_table(audit())}
    if blame is not None:
        tables["failure_blame"] = lambda: blame_records(blame())

    def readings() -> polars.DataFrame:
        audited = audit() if audit is not None else None
        checked = audited.integrity if audited is not None else integrity
        faults = findings.faults() if findings.faults is not None else {}
        failures = _blamed(blame().failures) if blame is not None else _failed(failed, faults)
        return _readings_table([*_contradictions(checked, audited), *failures])

    return {**tables, READINGS: readings} if audit is not None or findings.faults is not None else tables


def stored_readings(table: polars.DataFrame) -> list[SuggestedReading]:
    """What a run says to read first."""
    rows = table.sort("place").select("dialogue", "message", "code", "about").rows()
    return [SuggestedReading(name, message, code, tuple(about)) for name, message, code, about in rows]


def _readings_table(suggested: Iterable[SuggestedReading]) -> polars.DataFrame:
    first: dict[str, SuggestedReading] = {}
    for each in suggested:
        first.setdefault(each.conversation, each)
    rows = [
        (place, each.conversation, each.message, each.code, list(each.about))
        for place, each in enumerate(islice(first.values(), TO_READ), start=1)
    ]
    return frame_of(rows, _READINGS)


def _contradictions(integrity: Integrity | None, audit: LogAudit | None) -> Iterator[SuggestedReading]:
    """What does not belong, then what the replay or the log itself contradicts."""
    for filing in integrity.foreign if integrity is not None else ():
        yield SuggestedReading(filing.conversation, None, "foreign", (filing.task, filing.fits or ""))
    if audit is None:
        return
    for difference in audit.differences if audit.integrity.per_task_stands else ():
        message = difference.first_drift["message"] if difference.first_drift else None
        yield SuggestedReading(difference.id, message, "replay" if audit.no_replay is None else "calls")
    for name in audit.self_contradicted:
        yield SuggestedReading(name, None, "parts")


def _blamed(failures: Sequence[FailureBlame]) -> Iterator[SuggestedReading]:
    """Firm verdicts before others, and one of each task before the second of any."""
    readings = []
    for failure in sorted(failures, key=lambda failure: (not failure.firm, failure.message is None)):
        sign = (failure.signs[0].code, failure.signs[0].about) if failure.signs else ()
        about = (failure.leans, "firm" if failure.firm else "", *sign)
        reading = SuggestedReading(failure.conversation, failure.message, "blame", about)
        readings.append((failure.evidence.task, reading))
    return _first_of_each_task(readings)


def _failed(
    failed: Sequence[tuple[str, str]], faults: Mapping[str, Sequence[ObservedFault]]
) -> Iterator[SuggestedReading]:
    """Failures of users that erred before others."""
    readings = []
    for task, name in sorted(failed, key=lambda each: not faults.get(each[1])):
        reading = SuggestedReading(name, None, "failed")
        for fault in faults.get(name, ())[:1]:
            reading = SuggestedReading(name, fault.message, "erred", (fault.kind, fault.about))
        readings.append((task, reading))
    return _first_of_each_task(readings)


def _first_of_each_task(readings: Iterable[tuple[str, SuggestedReading]]) -> Iterator[SuggestedReading]:
    seen: set[str] = set()
    later: list[SuggestedReading] = []
    for task, reading in readings:
        if task in seen:
            later.append(reading)
        else:
            seen.add(task)
            yield reading
    yield from later
