"""Who is to blame, by signs against each side and how signs combine; a sign is data: code, side, when it shows.

Each side is tested alone, as labellers are told to: a sign against the agent means that this agent would have failed
with a faultless user, one against the user the reverse. Signs against both make ``both``; none, ``unclear``.
Written on the development half of the labels alone, there on tasks whose ids have an odd checksum
(``benchmarks/blame_logs.py`` measures them on those and on the others).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.trials.failure_evidence import Deviation, FailureEvidence, ObservedFault

Blamed: TypeAlias = Literal["agent", "user", "both", "task", "infrastructure", "unclear"]
BLAMED: tuple[Blamed, ...] = ("agent", "user", "both", "task", "infrastructure", "unclear")

#: Fates of a missing write that speak against the agent.
_AGENTS = frozenset({"transferred", "failed", "refused", "left"})
#: So many messages before a wrong write, an assent to it counts as its cause.
_NEAR = 4
_LONG = 3


class Sign(Struct, frozen=True):
    """One sign: its code, the message that shows it, and what it is about."""

    code: str
    message: int | None
    about: str = ""


class SignRule(Struct, frozen=True):
    """When a sign shows; ``firm``: a verdict that rests on it alone can be relied on."""

    code: str
    side: Literal["agent", "user", "task", "infrastructure"]
    firm: bool
    shows: Callable[[FailureEvidence], Sign | None]


class FailureBlame(Struct, frozen=True, kw_only=True):
    """A verdict on one failure; ``signs`` are what it rests on, the first of them decides.

    ``leans`` is what the signs say. It is the verdict where it is firm: a sign that can be relied on against one side,
    and nothing seen that the other side did wrong. Where both deviate, only a trial with another partner could tell
    which deviation sufficed, so that the verdict is ``unclear``.
    """

    conversation: str
    leans: Blamed
    firm: bool
    signs: tuple[Sign, ...]
    evidence: FailureEvidence

    @property
    def blamed(self) -> Blamed:
        return self.leans if self.firm else "unclear"

    @property
    def message(self) -> int | None:
        return self.signs[0].message if self.signs else None


def _technical_end(evidence: FailureEvidence) -> Sign | None:
    return Sign("technical_end", evidence.last_message) if evidence.ended == "error" else None


def _unidentified(evidence: FailureEvidence) -> Sign | None:
    return Sign("unidentified", evidence.unidentified + 1) if evidence.unidentified is not None else None


def _stopped(evidence: FailureEvidence) -> Sign | None:
    if evidence.out_of_scope and evidence.transfer is None:
        return Sign("stopped", evidence.last_message)
    fault = evidence.fault("early_end")
    return Sign("stopped", fault.message) if fault and not evidence.data_right else None


def _never_voiced(evidence: FailureEvidence) -> Sign | None:
    missing = next((each for each in evidence.of_kind("missing") if each.fate == "unvoiced"), None)
    return Sign("never_voiced", missing.message, missing.tool) if missing else None


def _said_otherwise(evidence: FailureEvidence) -> Sign | None:
    for deviation in evidence.of_kind("wrong"):
        for value in deviation.values:
            if value.source == "user" and value.known == "instruction" and len(value.made) >= _LONG:
                return Sign("said_otherwise", deviation.message, value.argument)
    return None


def _assented(evidence: FailureEvidence) -> Sign | None:
    """An assent against its instruction, right before a write that is not as expected."""
    for fault in evidence.faults:
        if fault.kind == "contradicted" and any(_follows(each, fault) for each in evidence.deviations):
            return Sign("assented", fault.message, fault.about)
    return None


def _follows(deviation: Deviation, fault: ObservedFault) -> bool:
    made = deviation.kind != "missing" and deviation.message is not None
    return made and 0 < (deviation.message or 0) - fault.message <= _NEAR


def _looped(evidence: FailureEvidence) -> Sign | None:
    fault = evidence.fault("repeated", "empty")
    return Sign("looped", fault.message) if fault and evidence.ended == "steps" else None


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


RULES: tuple[SignRule, ...] = (
    SignRule("technical_end", "infrastructure", True, _technical_end),
    SignRule("unidentified", "user", True, _unidentified),
    SignRule("stopped", "user", True, _stopped),
    SignRule("never_voiced", "user", False, _never_voiced),
    SignRule("said_otherwise", "user", False, _said_otherwise),
    SignRule("assented", "user", False, _assented),
    SignRule("looped", "user", False, _looped),
    SignRule("insists", "agent", True, _insists),
    SignRule("extra_write", "agent", True, _extra_write),
    SignRule("wrong_value", "agent", True, _wrong_value),
    SignRule("not_done", "agent", True, _not_done),
    SignRule("out_of_steps", "agent", True, _out_of_steps),
    SignRule("unsaid", "agent", False, _unsaid),
    SignRule("unknowable", "task", True, _unknowable),
    SignRule("failing_gold", "task", False, _failing_gold),
)


def blame_failure(evidence: FailureEvidence) -> FailureBlame:
    """The verdict on one failure."""
    shown: dict[str, list[tuple[Sign, bool]]] = {}
    for rule in RULES:
        if (sign := rule.shows(evidence)) is not None:
            shown.setdefault(rule.side, []).append((sign, rule.firm))
    if evidence.unidentified is not None:
        # Who is not known cannot be served: what was not done says nothing more.
        shown["agent"] = [each for each in shown.get("agent", ()) if each[0].code == "insists"]
    agent, user = shown.get("agent", []), shown.get("user", [])
    blamed: Blamed
    if "infrastructure" in shown:
        blamed, resting = "infrastructure", shown["infrastructure"]
    elif agent and user:
        blamed, resting = "both", sorted([*user, *agent], key=_by_message)
    elif agent or user:
        blamed, resting = ("agent", agent) if agent else ("user", user)
    elif "task" in shown:
        blamed, resting = "task", shown["task"]
    else:
        blamed, resting = "unclear", []
    firm = any(firm for _, firm in resting) and _alone(blamed, evidence)
    return FailureBlame(
        conversation=evidence.conversation,
        leans=blamed,
        firm=firm,
        signs=tuple(sign for sign, _ in resting),
        evidence=evidence,
    )


def _alone(blamed: Blamed, evidence: FailureEvidence) -> bool:
    """Was nothing seen that the other side did wrong?"""
    if blamed == "agent":
        return not evidence.faults
    if blamed == "user":
        return not any(each.kind != "missing" for each in evidence.deviations)
    return blamed in ("task", "infrastructure")


def _by_message(each: tuple[Sign, bool]) -> int:
    return each[0].message if each[0].message is not None else 0
