"""What a failed conversation shows, before anybody is suspected.

Writes are compared with the expected ones; of one that was not made it is found out whether the user ever spoke of it,
and what the agent said. Nothing here decides.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from dialgauge.dialogue import Blame, Call, Dialogue, End, Speaker, Turn
from dialgauge.formats import OUT_OF_SCOPE
from dialgauge.trials.audit import ReplayedConversation
from dialgauge.trials.calls import leaves, paired
from dialgauge.trials.facts import TaskFacts
from dialgauge.worlds.tools import GoldCall, ToolDomain, ToolTask, canonical, identifiers_of

#: Who or what ended it; ``error``: something technical; ``untold``: the log does not say it.
Ended: TypeAlias = Literal["user", "agent", "steps", "error", "untold"]
#: An expected write that was not made: it was the user's own to make, the agent handed the user over, the user never
#: spoke of it, the agent tried and failed, refused it, or just left it.
Fate: TypeAlias = Literal["users", "transferred", "unvoiced", "failed", "refused", "left"]

#: In domains that are not installed, tools with these prefixes only look something up.
_READS = ("get", "search", "list", "find", "calculate", "think", "check", "transfer", "can_", "verify")
#: How people speak of what a tool does, by a word of its name.
_SPOKEN = {
    "cancel": r"cancel|call(?:ed)? off|refund|\bdrop",
    "baggages": r"\bbag|luggage|suitcase",
    "certificate": r"certificate|voucher|compensat|credit|refund|gesture",
    "passengers": r"passenger|\bname\b|travell?er|myself|companion",
    "flights": r"flight|upgrad|cabin|class|chang|earlier|later|nonstop|direct|business|econom",
    "book": r"\bbook|\bfly\b|flight|reserv|ticket|\btrip",
    "exchange": r"exchang|replac|swap|differen|chang",
    "return": r"\breturn|send .{0,20}back|refund",
    "items": r"chang|modif|differen|replac|swap",
    "address": r"address|mov(?:e|ing)|ship",
    "payment": r"\bpay|card|paypal",
}
_REFUSES = re.compile(
    r"\b(?:unfortunately|cannot|unable|not (?:possible|able|eligible|allowed|permitted)|against)\b|can't\b",
    re.IGNORECASE,
)
_PAYMENT = re.compile(
    r"\b(?:certificates?|gift ?cards?|gcs?|(?:credit |master|debit )?cards?|visa|paypal|original payment)\b"
)
_STOP = re.compile(r"###\s?[A-Z-]+\s?###")
_USER_ID = re.compile(r"\b[a-z]+_[a-z]+_\d+\b")
#: How agents speak of the id of a user, of what else tells who it is, and of the id of a record.
_USER = re.compile(r"user id", re.IGNORECASE)
_WHO = re.compile(r"user id|customer id|phone number|e-?mail", re.IGNORECASE)
_RECORD = re.compile(r"(?:reservation|booking|confirmation|order)\s+(?:id|number|code)", re.IGNORECASE)
#: Identifiers of records: what a call is about.
_ABOUT = ("reservation_id", "order_id", "customer_id", "line_id", "user_id")
#: Arguments of a missing call that are named.
_FEW = 3

#: A call and who made it.
_Made: TypeAlias = tuple[Speaker, Call]


class Deviation(Struct, frozen=True, kw_only=True):
    """A write that is missing, extra or wrong. ``message`` is the call's; of a missing one, where its fate shows."""

    kind: Literal["missing", "extra", "wrong"]
    tool: str
    message: int | None = None
    fate: Fate | None = None
    #: Of a wrong call: the arguments that differ.
    arguments: tuple[str, ...] = ()
    #: Of a missing call: arguments that no call of this tool had; only the record's id, if that is among them.
    lacking: str = ""


class FailureEvidence(Struct, frozen=True, kw_only=True):
    """All that the signs look at."""

    conversation: str
    task: str
    trial: int
    ended: Ended
    last_message: int
    #: The data at the end are right: only what was told, or the steps, can have failed.
    data_right: bool | None
    deviations: tuple[Deviation, ...]
    #: Outputs that the task wants and the agent never told.
    unsaid: tuple[str, ...]
    #: The message in which the agent first asked who the user is, where the instruction says it, the user never did,
    #: and nothing was looked up.
    unidentified: int | None
    #: Did the agent at the end ask for a record's id alone, which the user was not given?
    insists_on_record: bool
    #: The message of a call that handed the user over.
    transfer: int | None
    #: The user's last message says that it is out of its scope.
    out_of_scope: bool
    #: What checks saw in the user, by code.
    faults: tuple[Blame, ...]
    #: Arguments of expected writes that nobody was given, and whether an expected write fails in its own world.
    unsupported: tuple[str, ...]
    failing_gold: bool
    #: Does the instruction say how the user wants to pay?
    payment_told: bool

    def of_kind(self, kind: str) -> tuple[Deviation, ...]:
        return tuple(each for each in self.deviations if each.kind == kind)

    def fault(self, *codes: str) -> Blame | None:
        """The user's first fault of these kinds."""
        return next((fault for fault in self.faults if fault.code in codes), None)


def failure_evidence(
    dialogue: Dialogue,
    task: ToolTask,
    *,
    domain: ToolDomain | None,
    replayed: ReplayedConversation,
    facts: TaskFacts,
    faults: Sequence[Blame] = (),
) -> FailureEvidence:
    """The evidence on one failed conversation."""
    known, outcome = _Known(dialogue, task), dialogue.ended
    texts = known.texts
    replayed_data = replayed.replay_parts.get("DB")
    data_right = replayed.recorded_parts.get("DB") if replayed_data is None else replayed_data
    made = [(side, call) for side, call in known.calls if _writes(call.name, domain)]
    expected = [call for call in task.expected or () if _writes(call.name, domain)]
    return FailureEvidence(
        conversation=dialogue.id,
        task=outcome.task,
        trial=outcome.trial,
        ended=_ended(texts, outcome.end),
        last_message=max((turn.source or 0 for turn in texts), default=0),
        data_right=data_right,
        deviations=() if data_right else tuple(_deviations(expected, made, known)),
        unsaid=tuple(output for output, is_said in (replayed.outputs or {}).items() if not is_said),
        unidentified=known.unidentified,
        insists_on_record=known.insists_on_record,
        transfer=known.transfer,
        out_of_scope=bool(texts) and OUT_OF_SCOPE.search(texts[-1].text) is not None,
        faults=tuple(faults),
        unsupported=tuple(each.argument for each in facts.unsupported or ()),
        failing_gold=any(each.kind == "write" for each in facts.failing_gold or ()),
        payment_told=_PAYMENT.search(known.instruction) is not None,
    )


def _writes(name: str, domain: ToolDomain | None) -> bool:
    if domain is not None and name in domain.tools:
        return domain.tools[name].writes
    return not name.startswith(_READS)


def _ended(texts: Sequence[Turn], end: End) -> Ended:
    if not texts or end == "infrastructure":
        return "error"
    if end == "limit":
        return "steps"
    if texts[-1].speaker == "user" and _STOP.search(texts[-1].text):
        return "user"
    return "agent" if end == "finished" else "untold"


class _Known:
    """What was said, shown and told by each message of a conversation."""

    def __init__(self, dialogue: Dialogue, task: ToolTask) -> None:
        self._dialogue = dialogue
        self.texts = [turn for turn in dialogue.turns if turn.text]
        self.calls = list(dialogue.calls())
        self.instruction = " ".join([task.instruction, *map(str, task.knows.values())]).lower()
        #: The message of a call that handed the user over.
        self.transfer = next((call.message for _, call in self.calls if call.name.startswith("transfer")), None)

    @property
    def unidentified(self) -> int | None:
        """Where the agent first asks who the user is, if nobody ever says."""
        ids = _USER_ID.findall(self.instruction)
        said = "\n".join(turn.text for turn in self.texts if turn.speaker == "user").lower()
        if not ids or identifiers_of(self._dialogue) or any(each in said for each in ids):
            return None
        return next((turn.source or 0 for turn in self._asking(_WHO, _RECORD)), None)

    @property
    def insists_on_record(self) -> bool:
        """Whether the agent's last, repeated question for an id is for a record's and not the user's."""
        asked = list(self._asking(_USER, _RECORD))
        return len(asked) > 1 and not _USER.search(asked[-1].text)

    def _asking(self, *kinds: re.Pattern[str]) -> Iterator[Turn]:
        """The agent's turns that mention ids of these kinds."""
        texts = (turn for turn in self.texts if turn.speaker == "system")
        return (turn for turn in texts if any(kind.search(turn.text) for kind in kinds))

    def fate(self, gold: GoldCall, made: Sequence[_Made]) -> tuple[Fate | None, int | None]:
        """Why an expected write was not made, and the message that shows it; None if unknown."""
        if self.transfer is not None:
            return "transferred", self.transfer
        failed = next((call.message for _, call in made if call.failed and call.name == gold.name), None)
        if failed is not None:
            return "failed", failed
        matter = "|".join(_SPOKEN[word] for word in gold.name.lower().split("_") if word in _SPOKEN)
        if not matter:
            return None, None
        spoken_of = [turn for turn in self.texts if re.search(matter, turn.text.lower())]
        agents = [turn for turn in spoken_of if turn.speaker == "system"]
        voiced = next((turn.source or 0 for turn in spoken_of if turn.speaker == "user"), None)
        if voiced is None and not any("?" in turn.text for turn in agents):
            return "unvoiced", (self.texts[-1].source or 0) if self.texts else None
        later = (turn.source or 0 for turn in agents if _refuses(turn.text, matter))
        refused = next((place for place in later if place > (voiced or 0)), None)
        return ("refused", refused) if refused is not None else ("left", voiced)


def _refuses(text: str, matter: str) -> bool:
    parts = re.split(r"(?<=[.!?])\s|\n", text)
    return any(_REFUSES.search(part) and re.search(matter, part.lower()) for part in parts)


def _record(arguments: Any) -> str:
    given = arguments if isinstance(arguments, dict) else {}
    names = [*_ABOUT, *(name for name in given if name.endswith("_id"))]
    return next((str(given[name]) for name in names if name in given), "")


def _deviations(expected: Sequence[GoldCall], made: Sequence[_Made], known: _Known) -> Iterator[Deviation]:
    """Writes that are not as expected; equal ones are paired first, then those of one tool on one record."""
    done = [(side, call) for side, call in made if not call.failed and call.result is not None]
    calls = [call for _, call in done]
    same = paired(expected, calls, _exactly)
    pairs = paired(expected, calls, _exactly, _tool_and_record)
    for gold, equal, place in zip(expected, same, pairs, strict=True):
        if equal is not None:
            continue
        if gold.by_user:
            yield Deviation(kind="missing", tool=gold.name, fate="users")
        elif place is None:
            fate, message = known.fate(gold, made)
            lacking = _lacking(gold, made)
            yield Deviation(kind="missing", tool=gold.name, message=message, fate=fate, lacking=lacking)
        else:
            wanted, given = _texts_in(gold.arguments), _texts_in(calls[place].arguments)
            differing = [leaf for leaf in wanted if leaf not in given] + [leaf for leaf in given if leaf not in wanted]
            names = tuple(dict.fromkeys(name for name, _ in differing))
            yield Deviation(kind="wrong", tool=gold.name, message=calls[place].message or 0, arguments=names)
    for place, (side, call) in enumerate(done):
        if place not in pairs and side != "user":  # what a user tries on its own device is nobody's fault
            yield Deviation(kind="extra", tool=call.name, message=call.message)


def _lacking(gold: GoldCall, made: Sequence[_Made]) -> str:
    """The arguments of a missing call that no call of its tool has; empty where the tool was never called."""
    others = [set(_texts_in(call.arguments)) for _, call in made if call.name == gold.name]
    if not others:
        return ""
    wanted = dict.fromkeys(_texts_in(gold.arguments))
    lacking = [leaf for leaf in wanted if not any(leaf in other for other in others)] or list(wanted)
    of_record = [leaf for leaf in lacking if leaf[0] in _ABOUT]
    return ", ".join(f"{name} {text}" for name, text in (of_record or lacking)[:_FEW]) or "once more"


def _exactly(call: GoldCall | Call) -> str:
    return f"{call.name} {canonical(call.arguments, 'by-value')}"


def _tool_and_record(call: GoldCall | Call) -> str | None:
    """What a call is to do, and on what; nothing of a call that the user is to make."""
    return None if isinstance(call, GoldCall) and call.by_user else f"{call.name} {_record(call.arguments)}"


def _texts_in(arguments: Any) -> list[tuple[str, str]]:
    """The single values of arguments as texts, with their paths."""
    return [(path, f"{value:g}" if isinstance(value, float) else str(value)) for path, value in leaves(arguments)]
