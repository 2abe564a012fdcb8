"""Who is to be suspected of a failure, by signs against each side.

Each side is tested alone, as labellers are told to: a sign against the agent means that this agent would have failed
with a faultless user, one against the user the reverse. Signs against both make ``both``; none, ``unclear``. They were
written on the development half of the labels alone, there on tasks whose ids have an odd checksum
(``benchmarks/blame_logs.py`` measures them on those and on the others).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from importlib import resources
from itertools import islice
from typing import Any, Literal, TypeAlias, get_args

import msgspec
import polars as pl
from msgspec import Struct, structs

from dialgauge.dialogue import Blame, Dialogue
from dialgauge.runs import frame_from_rows
from dialgauge.trials.audit import LogAudit
from dialgauge.trials.evidence import FailureEvidence, failure_evidence
from dialgauge.trials.judges import Estimate
from dialgauge.trials.log import TrialLog, has_failed
from dialgauge.worlds.tools import ToolDomain

Suspect: TypeAlias = Literal["agent", "user", "both", "task", "infrastructure", "unclear"]
SUSPECTS: tuple[Suspect, ...] = get_args(Suspect)
#: What checks see in the user of a conversation, by the instruction of its task where it has none itself.
UserCheck: TypeAlias = Callable[[Dialogue, str], Sequence[Blame]]

#: What a record is: whom to suspect by which sign, another sign, or what the user did wrong.
SUSPECT, SIGN, FAULT = "suspect", "sign", "fault"
BLAME: dict[str, Any] = {
    "dialogue": "String", "unit": "String", "side": "String", "cause": "String", "turn": "Int64", "code": "String",
    "arguments": "List(String)",
}  # fmt: skip
#: Fates of a missing write that speak against the agent.
_AGENTS = frozenset({"transferred", "failed", "refused", "left"})


class Sign(Struct, frozen=True):
    """One sign: the side it speaks against, its code, the message that shows it, and what it is about."""

    side: Suspect
    code: str
    message: int | None
    about: str = ""


class Failure(Struct, frozen=True, kw_only=True):
    """One failure: whom to suspect, by which signs (the first decides), and all evidence."""

    suspect: Suspect
    signs: tuple[Sign, ...]
    evidence: FailureEvidence


def suspect(evidence: FailureEvidence) -> Failure:
    """Whom to suspect of one failure."""
    user, agent, task = (
        list(signs(evidence)) for signs in (_signs_against_user, _signs_against_agent, _signs_against_task)
    )
    if evidence.unidentified is not None:
        # Who is not known cannot be served: what was not done says nothing more.
        agent = [sign for sign in agent if sign.code == "insists"]
    named: Suspect = "unclear"
    signs: list[Sign] = []
    if evidence.ended == "error":
        named, signs = "infrastructure", [Sign("infrastructure", "technical_end", evidence.last_message)]
    elif agent and user:
        named, signs = "both", sorted([*user, *agent], key=lambda sign: sign.message or 0)
    elif agent or user:
        named, signs = ("agent", agent) if agent else ("user", user)
    elif task:
        named, signs = "task", task
    return Failure(suspect=named, signs=tuple(signs), evidence=evidence)


def _signs_against_user(evidence: FailureEvidence) -> Iterator[Sign]:
    if evidence.unidentified is not None:
        yield Sign("user", "unidentified", evidence.unidentified + 1)
    early_end = evidence.fault("early_end")
    if evidence.out_of_scope and evidence.transfer is None:
        yield Sign("user", "stopped", evidence.last_message)
    elif early_end and not evidence.data_right:
        yield Sign("user", "stopped", early_end.turn)
    unvoiced = next((each for each in evidence.of_kind("missing") if each.fate == "unvoiced"), None)
    if unvoiced:
        yield Sign("user", "never_voiced", unvoiced.message, unvoiced.tool)
    repeated = evidence.fault("repeated", "empty")
    if repeated and evidence.ended == "steps":
        yield Sign("user", "looped", repeated.turn)


def _signs_against_agent(evidence: FailureEvidence) -> Iterator[Sign]:
    if evidence.unidentified is not None and (evidence.insists_on_record or evidence.transfer is not None):
        # It wants a record's id, or hands over, instead of asking who the user is.
        yield Sign("agent", "insists", evidence.unidentified)
    for each in evidence.of_kind("extra")[:1]:
        yield Sign("agent", "extra_write", each.message, each.tool)
    wrong = (
        Sign("agent", "wrong_value", each.message, argument)
        for each in evidence.of_kind("wrong")
        for argument in each.arguments
        if not _unknown(argument, evidence)
    )
    yield from islice(wrong, 1)
    missing = next((each for each in evidence.of_kind("missing") if each.fate in _AGENTS), None)
    if missing:
        lacking = f" ({missing.lacking})" if missing.fate == "left" and missing.lacking else ""
        yield Sign("agent", f"not_done_{missing.fate}", missing.message, f"{missing.tool}{lacking}")
    if evidence.ended == "steps" and not evidence.fault("repeated", "empty"):
        shown = (each.message for each in evidence.deviations if each.message is not None)
        yield Sign("agent", "out_of_steps", next(shown, evidence.last_message))
    if evidence.unsaid:
        yield Sign("agent", "unsaid", evidence.last_message, evidence.unsaid[0])


def _signs_against_task(evidence: FailureEvidence) -> Iterator[Sign]:
    wrong = [argument for each in evidence.of_kind("wrong") for argument in each.arguments]
    is_all = len(evidence.of_kind("wrong")) == len(evidence.deviations)
    if wrong and is_all and all(_unknown(argument, evidence) for argument in wrong):
        yield Sign("task", "unknowable", evidence.deviations[0].message, wrong[0])
    if evidence.failing_gold:
        yield Sign("task", "failing_gold", None)


def _unknown(argument: str, evidence: FailureEvidence) -> bool:
    """Could nobody know the expected value of an argument?"""
    return argument in evidence.unsupported or (argument.startswith("payment") and not evidence.payment_told)


def failures(log: TrialLog, audit: LogAudit, check: UserCheck, world: ToolDomain | None) -> list[Failure]:
    """The failures of a log of known tasks, each with its suspect.

    Conversations that match another task and trials beyond the plan are left out.
    """
    tasks = {task.id: task for task in audit.tasks}
    facts = {each.id: each for each in audit.facts}
    foreign = {filing.conversation for filing in audit.integrity.foreign}
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
    """Suspects, signs and user faults as a table; ``faults`` are those of conversations without a suspect."""
    records = [record for failure in failed for record in _records(failure)]
    records += [structs.replace(each, cause=FAULT) for own in (faults or {}).values() for each in own]
    rows = (
        (each.dialogue, each.unit, each.side, each.cause, each.turn, each.code, list(each.arguments))
        for each in records
    )
    return frame_from_rows(rows, BLAME)


def _records(failure: Failure) -> Iterator[Blame]:
    """A failure as records: the suspect with the first sign, the other signs, and what the user did wrong."""
    evidence = failure.evidence
    for place, sign in enumerate(failure.signs or (Sign(failure.suspect, "", None),)):
        yield Blame(
            dialogue=evidence.conversation,
            unit=evidence.task,
            side=sign.side if place else failure.suspect,
            cause=SIGN if place else SUSPECT,
            turn=sign.message,
            code=sign.code,
            arguments=(sign.about,) if sign.code else (),
        )
    for fault in evidence.faults:
        yield structs.replace(fault, unit=evidence.task, cause=FAULT)


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
