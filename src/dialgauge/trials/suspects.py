"""Who is to be suspected of a failure, by signs against each side; a sign is data: code, side, when it shows.

Each side is tested alone, as labellers are told to: a sign against the agent means that this agent would have failed
with a faultless user, one against the user the reverse. Signs against both make ``both``; none, ``unclear``. They were
written on the development half of the labels alone, there on tasks whose ids have an odd checksum
(``benchmarks/blame_logs.py`` measures them on those and on the others).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any, Literal, TypeAlias

import msgspec
import polars as pl
from msgspec import Struct

from dialgauge.dialogue import Blame, Dialogue
from dialgauge.runs import frame_of
from dialgauge.trials.audit import LogAudit
from dialgauge.trials.evidence import FailureEvidence, failure_evidence
from dialgauge.trials.log import TrialLog, has_failed
from dialgauge.worlds.tools import ToolDomain

Suspect: TypeAlias = Literal["agent", "user", "both", "task", "infrastructure", "unclear"]
SUSPECTS: tuple[Suspect, ...] = ("agent", "user", "both", "task", "infrastructure", "unclear")
#: What checks see in the user of a conversation, by the instruction of its task where it has none itself.
UserCheck: TypeAlias = Callable[[Dialogue, str], Sequence[Blame]]

#: What a record is: whom to suspect by which sign, another sign, what the user did wrong, or other evidence.
SUSPECT, SIGN, FAULT, EVIDENCE = "suspect", "sign", "fault", "evidence"
BLAME: dict[str, Any] = {
    "dialogue": "String", "unit": "String", "side": "String", "cause": "String", "turn": "Int64", "code": "String",
    "arguments": "List(String)",
}  # fmt: skip
#: Fates of a missing write that speak against the agent.
_AGENTS = frozenset({"transferred", "failed", "refused", "left"})
_LONG = 3


class Sign(Struct, frozen=True):
    """One sign: its code, the message that shows it, and what it is about."""

    code: str
    message: int | None
    about: str = ""


class Failure(Struct, frozen=True, kw_only=True):
    """One failure: whom to suspect, by which signs (the first decides), and all evidence."""

    suspect: Suspect
    signs: tuple[tuple[str, Sign], ...]
    evidence: FailureEvidence

    @property
    def message(self) -> int | None:
        """The message that shows it."""
        return self.signs[0][1].message if self.signs else None


def _technical_end(evidence: FailureEvidence) -> Sign | None:
    return Sign("technical_end", evidence.last_message) if evidence.ended == "error" else None


def _unidentified(evidence: FailureEvidence) -> Sign | None:
    return Sign("unidentified", evidence.unidentified + 1) if evidence.unidentified is not None else None


def _stopped(evidence: FailureEvidence) -> Sign | None:
    if evidence.out_of_scope and evidence.transfer is None:
        return Sign("stopped", evidence.last_message)
    fault = evidence.fault("early_end")
    return Sign("stopped", fault.turn) if fault and not evidence.data_right else None


def _never_voiced(evidence: FailureEvidence) -> Sign | None:
    missing = next((each for each in evidence.of_kind("missing") if each.fate == "unvoiced"), None)
    return Sign("never_voiced", missing.message, missing.tool) if missing else None


def _said_otherwise(evidence: FailureEvidence) -> Sign | None:
    for deviation in evidence.of_kind("wrong"):
        for value in deviation.values:
            if value.source == "user" and value.known == "instruction" and len(value.made) >= _LONG:
                return Sign("said_otherwise", deviation.message, value.argument)
    return None


def _looped(evidence: FailureEvidence) -> Sign | None:
    fault = evidence.fault("repeated", "empty")
    return Sign("looped", fault.turn) if fault and evidence.ended == "steps" else None


def _out_of_steps(evidence: FailureEvidence) -> Sign | None:
    if evidence.ended != "steps" or evidence.fault("repeated", "empty"):
        return None
    first = next((each.message for each in evidence.deviations if each.message is not None), evidence.last_message)
    return Sign("out_of_steps", first)


def _extra_write(evidence: FailureEvidence) -> Sign | None:
    extra = next(iter(evidence.of_kind("extra")), None)
    return Sign("extra_write", extra.message, extra.tool) if extra else None


def _wrong_value(evidence: FailureEvidence) -> Sign | None:
    for deviation in evidence.of_kind("wrong"):
        for value in deviation.values:
            if not _unknown(value.argument, evidence):
                return Sign("wrong_value", deviation.message, value.argument)
    return None


def _not_done(evidence: FailureEvidence) -> Sign | None:
    missing = next((each for each in evidence.of_kind("missing") if each.fate in _AGENTS), None)
    if missing is None:
        return None
    if missing.fate == "left" and missing.lacking:
        return Sign("not_done_otherwise", missing.message, f"{missing.tool} ({missing.lacking})")
    return Sign(f"not_done_{missing.fate}", missing.message, missing.tool)


def _unsaid(evidence: FailureEvidence) -> Sign | None:
    return Sign("unsaid", evidence.last_message, evidence.unsaid[0]) if evidence.unsaid else None


def _insists(evidence: FailureEvidence) -> Sign | None:
    """Nobody told who it is, and the agent wants a record's id or hands over instead of asking for the user."""
    if evidence.unidentified is None or not (evidence.insists_on_record or evidence.transfer is not None):
        return None
    return Sign("insists", evidence.unidentified)


def _unknowable(evidence: FailureEvidence) -> Sign | None:
    """All that differs is how it is paid, of which the instruction is silent, or a value that nobody was given."""
    values = [value.argument for each in evidence.of_kind("wrong") for value in each.values]
    known = [name for name in values if not _unknown(name, evidence)]
    if not values or known or evidence.of_kind("missing") or evidence.of_kind("extra"):
        return None
    return Sign("unknowable", evidence.deviations[0].message, values[0])


def _failing_gold(evidence: FailureEvidence) -> Sign | None:
    return Sign("failing_gold", None) if evidence.failing_gold else None


def _unknown(argument: str, evidence: FailureEvidence) -> bool:
    """Could nobody know the expected value of an argument?"""
    return argument in evidence.unsupported or (argument.startswith("payment") and not evidence.payment_told)


SIGNS: tuple[tuple[str, Callable[[FailureEvidence], Sign | None]], ...] = (
    ("infrastructure", _technical_end),
    ("user", _unidentified),
    ("user", _stopped),
    ("user", _never_voiced),
    ("user", _said_otherwise),
    ("user", _looped),
    ("agent", _insists),
    ("agent", _extra_write),
    ("agent", _wrong_value),
    ("agent", _not_done),
    ("agent", _out_of_steps),
    ("agent", _unsaid),
    ("task", _unknowable),
    ("task", _failing_gold),
)


def suspect(evidence: FailureEvidence) -> Failure:
    """Whom to suspect of one failure."""
    shown: dict[str, list[tuple[str, Sign]]] = {}
    for side, shows in SIGNS:
        if (sign := shows(evidence)) is not None:
            shown.setdefault(side, []).append((side, sign))
    if evidence.unidentified is not None:
        # Who is not known cannot be served: what was not done says nothing more.
        shown["agent"] = [each for each in shown.get("agent", ()) if each[1].code == "insists"]
    agent, user = shown.get("agent", []), shown.get("user", [])
    named: Suspect
    if "infrastructure" in shown:
        named, resting = "infrastructure", shown["infrastructure"]
    elif agent and user:
        named, resting = "both", sorted([*user, *agent], key=lambda each: each[1].message or 0)
    elif agent or user:
        named, resting = ("agent", agent) if agent else ("user", user)
    elif "task" in shown:
        named, resting = "task", shown["task"]
    else:
        named, resting = "unclear", []
    return Failure(suspect=named, signs=tuple(resting), evidence=evidence)


def failures(log: TrialLog, audit: LogAudit, check: UserCheck, world: ToolDomain | None) -> list[Failure]:
    """The failures of a log of known tasks, each with its suspect.

    Left out are those of other tasks than their own, and of trials beyond the plan.
    """
    tasks = {task.id: task for task in audit.tasks}
    foreign = {filing.conversation for filing in audit.integrity.foreign}
    facts = {each.id: each for each in audit.facts}
    replayed = {each.id: each for each in audit.conversations}
    return [
        suspect(
            failure_evidence(
                dialogue,
                task,
                domain=None if audit.no_replay else world,
                replayed=replayed[dialogue.id],
                facts=facts[task.id],
                faults=check(dialogue, task.instruction),
            )
        )
        for dialogue in log.dialogues
        if has_failed(dialogue)
        and dialogue.id not in foreign
        and dialogue.id not in log.surplus
        and (task := tasks.get(dialogue.ended.task)) is not None
    ]


def blame_table(failed: Sequence[Failure], faults: Mapping[str, Sequence[Blame]] | None = None) -> pl.DataFrame:
    """All records as a table; ``faults`` are those of conversations that nothing else is known of."""
    records = [record for failure in failed for record in blame_records(failure)]
    records += [msgspec.structs.replace(each, cause=FAULT) for own in (faults or {}).values() for each in own]
    rows = (
        (each.dialogue, each.unit, each.side, each.cause, each.turn, each.code, list(each.arguments))
        for each in records
    )
    return frame_of(rows, BLAME)


def blame_records(failure: Failure) -> Iterator[Blame]:
    """A failure as records: the suspect first, then its other signs, what the user did wrong, and all evidence."""
    evidence = failure.evidence

    def record(cause: str, side: str, code: str, turn: int | None, *arguments: str) -> Blame:
        return Blame(
            dialogue=evidence.conversation, unit=evidence.task, side=side, cause=cause, turn=turn, code=code,
            arguments=arguments,
        )  # fmt: skip

    if not failure.signs:
        yield record(SUSPECT, failure.suspect, "", None)
    for place, (side, sign) in enumerate(failure.signs):
        whose, cause = (side, SIGN) if place else (failure.suspect, SUSPECT)
        yield record(cause, whose, sign.code, sign.message, sign.about)
    for fault in evidence.faults:
        yield record(FAULT, "user", fault.code, fault.turn, *fault.arguments)
    for each in evidence.deviations:
        yield record(EVIDENCE, "", each.kind, each.message, each.tool, each.record, each.fate or "")
        for value in each.values if each.kind == "wrong" else ():
            told = (value.argument, value.expected, value.known, value.made, value.source)
            yield record(EVIDENCE, "", "value", each.message, *told)
    for name in dict.fromkeys(evidence.unsupported):
        yield record(EVIDENCE, "task", "unsupported", None, name)
    if evidence.failing_gold:
        yield record(EVIDENCE, "task", "failing_gold", None)
    if evidence.data_right:
        yield record(EVIDENCE, "", "data_right", None)
    for output in evidence.unsaid:
        yield record(EVIDENCE, "agent", "unsaid", None, output)
    end = evidence.last_message if evidence.end_message is None else evidence.end_message
    yield record(EVIDENCE, "", "end", end, evidence.ended)


class Estimate(Struct, frozen=True):
    """A value with its 95% interval."""

    value: float
    low: float
    high: float


class Measured(Struct, frozen=True, kw_only=True):
    """What suspects were worth on labelled failures of tasks that no sign was written on."""

    measured: str
    failures: int
    #: The share in which the suspect is the labellers', and that of always suspecting the agent.
    right: Estimate
    always_agent: Estimate
    kappa: Estimate


@cache
def measured_suspects() -> Measured:
    """What ``benchmarks/blame_logs.py --write`` measured last."""
    content = resources.files(__package__).joinpath("measured.json").read_bytes()
    return msgspec.json.decode(content, type=Measured)
