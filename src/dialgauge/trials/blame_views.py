"""Blame for people and programs: each code as a sentence, tables of verdicts and evidence, and the same as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from dialgauge.errors import DialgaugeError, nearest
from dialgauge.rendering import Column, Table
from dialgauge.runs import frame_of
from dialgauge.text import counted
from dialgauge.trials.blame_rules import BLAMED, Blamed, FailureBlame, Sign
from dialgauge.trials.blamed_log import DecidingMessage, LogBlame
from dialgauge.trials.failure_evidence import Deviation, FailureEvidence, Fate, Source
from dialgauge.trials.measured_blame import load_blame_record

if TYPE_CHECKING:
    import polars

#: What each sign says; ``{about}`` is what it is about.
_SENTENCES = {
    "technical_end": "the conversation broke off for a technical reason",
    "unidentified": "the user never says who it is, though its instruction does, and nothing could be looked up",
    "stopped": "the user stops while something is open",
    "never_voiced": "the user never speaks of what {about} is for",
    "said_otherwise": "the user gives another {about} than its instruction",
    "assented": "the user agrees to what its instruction rules out ({about})",
    "looped": "the user repeats itself until the steps are used up",
    "insists": "the agent wants the id of a record, or hands over, instead of finding out who the user is",
    "extra_write": "the agent calls {about}, which nothing calls for",
    "wrong_value": "the agent gives a wrong {about}",
    "not_done_transferred": "the agent hands the user over instead of calling {about}",
    "not_done_failed": "the agent calls {about} in vain and never gets it right",
    "not_done_refused": "the agent refuses what {about} is for",
    "not_done_left": "the user speaks of what {about} is for, and the agent never calls it",
    "not_done_otherwise": "the user speaks of what {about} is for, and the agent does not make this call",
    "out_of_steps": "the agent uses up the steps",
    "unsaid": "the agent never tells '{about}'",
    "unknowable": "only {about} differs, which nobody was told",
    "failing_gold": "an expected call fails in its own world",
}
_FATES: dict[Fate, str] = {
    "users": "the user's own to make",
    "transferred": "the user was handed over",
    "unvoiced": "the user never spoke of it",
    "failed": "tried, in vain",
    "refused": "the agent refused",
    "left": "left",
}
_SOURCES: dict[Source, str] = {
    "instruction": "the user's instruction",
    "user": "the user alone",
    "tool": "a tool's answer",
    "nowhere": "nowhere",
    "untold": "cannot be told",
}
_ENDS = {
    "user": "by the user", "agent": "by the agent", "steps": "out of steps", "error": "by an error",
    "untold": "in a way that the log does not tell",
}  # fmt: skip
#: Signs that a sentence names.
_SIGNS = 2
#: Verdicts that are no more than a suspicion, until thirty unseen ones were right in eight of ten.
_SUSPICIONS = frozenset({"user", "task"})


def measured_sentence() -> str:
    """How far verdicts can be trusted: what was measured where no rule was written."""
    record = load_blame_record()
    right, agent = record.right, record.always_agent
    return (
        f"Measured {record.measured} on {record.failures} failures of tasks that no rule was written on, labelled "
        f"after the rules: {record.verdicts} verdicts, {100 * right.value:.0f}% right [{100 * right.low:.0f}, "
        f"{100 * right.high:.0f}]; "
        f"always blaming the agent would be right in {100 * agent.value:.0f}%. Kappa with what unclear ones lean to: "
        f"{record.kappa.value:.2f} [{record.kappa.low:.2f}, {record.kappa.high:.2f}]. 'User' and 'task' are "
        "suspicions. Read the evidence before you act on a verdict."
    )


def blame_sentence(blame: FailureBlame) -> str:
    """Why, in a sentence: what decides, or that nothing does."""
    if not blame.signs:
        users = [each.tool for each in blame.evidence.of_kind("missing") if each.fate == "users"]
        left = f"; {', '.join(dict.fromkeys(users))}, the user's own to call, was not" if users else ""
        return f"nothing that was looked at tells{left}"
    return "; ".join(dict.fromkeys(sign_sentence(sign) for sign in blame.signs[:_SIGNS]))


def sign_sentence(sign: Sign) -> str:
    """One sign in words."""
    about = sign.about.replace("_", " ") if sign.code == "assented" else sign.about
    return _SENTENCES.get(sign.code, sign.code).format(about=about)


def verdict_words(blame: FailureBlame) -> str:
    """A verdict as it may be called: a suspicion is none yet, and what is unclear may lean."""
    return side_words(blame.leans) if blame.firm else leaning_words(blame.leans)


def side_words(side: str) -> str:
    """A side that is blamed; of some it is only suspected."""
    return f"{side} (suspected)" if side in _SUSPICIONS else side


def leaning_words(side: str) -> str:
    """What is unclear, with the side that its signs lean to."""
    return "unclear" if side == "unclear" else f"unclear, leans {side}"


def blame_tables(log: LogBlame, limit: int | None = None) -> list[Table]:
    """How often each side is blamed, and every failure with its deciding message."""
    summary = Table(f"Blame: {log.name}", ["whose", *(Column(name, align="right") for name in ("failures", "leaning"))])
    for side in BLAMED:
        if log.counts[side] or log.leanings[side]:
            summary.add(side_words(side), log.counts[side], None if side == "unclear" else log.leanings[side])
    summary.notes.append(
        f"{counted(len(log.failures), 'failure')} in {counted(log.conversations, 'conversation')}. Leaning: unclear "
        "ones, by what their signs say."
    )
    if log.unjudged:
        summary.notes.append(f"{counted(log.unjudged, 'conversation')} without a verdict of their own are left out.")
    if log.foreign:
        sentence = f"{counted(len(log.foreign), 'failure')} more, filed under another task, for which nobody is blamed"
        summary.notes.append(f"{sentence}: {', '.join(log.foreign[:12])}.")
    if log.beyond_plan:
        sentence = f"{counted(len(log.beyond_plan), 'failure')} in trials beyond the plan left out"
        summary.notes.append(f"{sentence}: {', '.join(log.beyond_plan[:12])}.")
    if log.without_task:
        summary.notes.append(f"Failures of unknown tasks are left out: {', '.join(log.without_task[:12])}.")
    if log.domain is None:
        summary.notes.append("No calls were replayed, as the world of this log is not here: calls alone are compared.")
    summary.notes.append(measured_sentence())
    return [table for table in (summary, _failures_table(log.failures, limit)) if len(table) or table.notes]


def _failures_table(failures: Sequence[FailureBlame], limit: int | None) -> Table:
    table = Table(
        "Failures", [Column("conversation", exact=True), "blame", Column("message", align="right"), "because"]
    )
    for blame in failures[:limit]:
        table.add(blame.conversation, verdict_words(blame), blame.message, blame_sentence(blame))
    if limit is not None and len(failures) > limit:
        table.notes.append(f"{len(failures) - limit:,} more; --limit 0 and files have all.")
    return table


def evidence_tables(log: LogBlame, conversation: str) -> list[Table]:
    """Everything that speaks for or against each side in one failure."""
    blame = next((each for each in log.failures if each.conversation == conversation), None)
    if blame is None and conversation in log.foreign:
        raise DialgaugeError(
            f"'{conversation}' is filed under another task than its own, so nobody is blamed for it; 'dialgauge tasks "
            "audit' shows why"
        )
    if blame is None and conversation in log.beyond_plan:
        raise DialgaugeError(f"'{conversation}' is a trial beyond the plan of its task, and nobody is blamed for it")
    if blame is None:
        known = [each.conversation for each in log.failures]
        raise DialgaugeError(f"there is no failure '{conversation}'.{nearest(conversation, known)}")
    evidence = blame.evidence
    verdict = Table(f"Blame: {conversation}", ["what", "", Column("message", align="right")])
    verdict.add("verdict", verdict_words(blame), blame.message)
    for sign in blame.signs:
        verdict.add("sign", sign_sentence(sign), sign.message)
    verdict.add("ended", _ENDS[evidence.ended], _end_message(evidence))
    for fault in evidence.faults:
        about = f" ({fault.about})" if fault.about else ""
        verdict.add("fault of the user", f"{fault.kind.replace('_', ' ')}{about}", fault.message)
    for line in _task_lines(evidence):
        verdict.add("task", line, None)
    verdict.notes.append(measured_sentence())
    tables = (verdict, _message_table(log, blame), _calls_table(evidence), _values_table(evidence))
    return [table for table in tables if len(table)]


def _message_table(log: LogBlame, blame: FailureBlame) -> Table:
    """What the deciding message says and calls."""
    table = Table(f"Message {blame.message}, which decides", ["who", "what"])
    deciding = log.deciding.get(blame.conversation, DecidingMessage())
    who = {"system": "agent"}.get(deciding.speaker, deciding.speaker)
    if deciding.text:
        table.add(f"{who} says", deciding.text)
    for name, arguments in deciding.calls:
        table.add(f"{who} calls", f"{name} {arguments}")
    return table


def _task_lines(evidence: FailureEvidence) -> list[str]:
    lines = [f"nobody was given its {name}" for name in dict.fromkeys(evidence.unsupported)]
    if evidence.failing_gold:
        lines.append("an expected write fails in its own world")
    if evidence.data_right:
        lines.append("the data are right")
    return lines + [f"never told: {output}" for output in evidence.unsaid]


def _calls_table(evidence: FailureEvidence) -> Table:
    table = Table("Writes that are not as expected", ["call", "of", "", Column("message", align="right")])
    for deviation in evidence.deviations:
        table.add(deviation.tool, deviation.record, _what(deviation), deviation.message)
    return table


def _what(deviation: Deviation) -> str:
    if deviation.kind == "missing":
        return f"missing: {_FATES[deviation.fate]}" if deviation.fate is not None else "missing"
    return "not expected" if deviation.kind == "extra" else "other values"


def _values_table(evidence: FailureEvidence) -> Table:
    table = Table("Where wrong values came from", ["argument", "expected", "known from", "made", "came from"])
    for deviation in evidence.deviations:
        for value in deviation.values if deviation.kind == "wrong" else ():
            known = _SOURCES[value.known] if value.expected else ""
            came = _SOURCES[value.source] if value.made else ""
            table.add(value.argument, value.expected or "–", known, value.made or "–", came)
    return table


class EvidenceLine(NamedTuple):
    """A line of the evidence on a failure: what it is, in words, and the message that shows it."""

    what: str
    words: str
    message: int | None


def evidence_lines(evidence: FailureEvidence) -> list[EvidenceLine]:
    """Everything that speaks for or against each side, line by line."""
    lines = []
    for deviation in evidence.deviations:
        about = f"{deviation.tool} of {deviation.record}" if deviation.record else deviation.tool
        lines.append(EvidenceLine("write", f"{about}: {_what(deviation)}", deviation.message))
        for value in deviation.values if deviation.kind == "wrong" else ():
            known = f" (known from {_SOURCES[value.known]})" if value.expected and value.known != "untold" else ""
            came = f" (from {_SOURCES[value.source]})" if value.made and value.source != "untold" else ""
            words = f"{value.argument}: expected {value.expected or '–'}{known}, made {value.made or '–'}{came}"
            lines.append(EvidenceLine("value", words, deviation.message))
    for fault in evidence.faults:
        about = f" ({fault.about})" if fault.about else ""
        lines.append(EvidenceLine("user", f"{fault.kind.replace('_', ' ')}{about}", fault.message))
    lines += [EvidenceLine("task", words, None) for words in _task_lines(evidence)]
    return [*lines, EvidenceLine("end", f"ended {_ENDS[evidence.ended]}", _end_message(evidence))]


def _end_message(evidence: FailureEvidence) -> int:
    return evidence.last_message if evidence.end_message is None else evidence.end_message


_COLUMNS: dict[str, str] = {
    "dialogue": "String", "blamed": "String", "leans": "String", "firm": "Boolean", "message": "Int64",
    "sign": "String", "about": "String", "signs": "String", "evidence": "String",
}  # fmt: skip


def blame_records(log: LogBlame) -> polars.DataFrame:
    """Failures as the table of a run: the verdict, the deciding sign and its argument, signs and evidence as JSON."""
    rows = [
        (
            blame.conversation,
            blame.blamed,
            blame.leans,
            blame.firm,
            blame.message,
            blame.signs[0].code if blame.signs else None,
            blame.signs[0].about if blame.signs else None,
            msgspec.json.encode(blame.signs).decode(),
            msgspec.json.encode(blame.evidence).decode(),
        )
        for blame in log.failures
    ]
    return frame_of(rows, _COLUMNS)


def blame_document(logs: Sequence[LogBlame]) -> dict[str, Any]:
    """Everything as JSON: verdicts, signs as codes with arguments and as sentences, all evidence."""
    return {"measured": msgspec.to_builtins(load_blame_record()), "logs": [_log_document(log) for log in logs]}


def _log_document(log: LogBlame) -> dict[str, Any]:
    sides: tuple[Blamed, ...] = BLAMED
    return {
        "name": log.name,
        "file": log.file,
        "domain": log.domain,
        "conversations": log.conversations,
        "unjudged": log.unjudged,
        "without_task": list(log.without_task),
        "foreign": list(log.foreign),
        "beyond_plan": list(log.beyond_plan),
        "blamed": {side: log.counts[side] for side in sides},
        "leanings": {side: log.leanings[side] for side in sides},
        "failures": [
            {
                "conversation": blame.conversation,
                "blamed": blame.blamed,
                "leans": blame.leans,
                "firm": blame.firm,
                "suspicion": blame.firm and blame.blamed in _SUSPICIONS,
                "message": blame.message,
                "deciding": msgspec.to_builtins(log.deciding.get(blame.conversation)),
                "sentence": blame_sentence(blame),
                "signs": msgspec.to_builtins(blame.signs),
                "evidence": msgspec.to_builtins(blame.evidence),
            }
            for blame in log.failures
        ],
    }
