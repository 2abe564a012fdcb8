"""Does a conversation belong to the task it is filed under?

Three kinds of evidence: the expected calls that the log stores with the verdict, against those of the task; the
identifiers (of users, orders, bookings) in successful calls, against the task's instruction and expected calls, where
the task names any or they are another task's; and, where τ-bench stores the task with the conversation, an instruction
that is another task's. None needs a world. A conversation is *foreign* if one contradicts, *belongs* if actions or
identifiers support and none contradicts, and is *unknown* otherwise.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct, structs

from dialgauge.dialogue import Call, Dialogue
from dialgauge.errors import DialgaugeError
from dialgauge.worlds.folders import OUR_TOOL_DOMAINS
from dialgauge.worlds.tools.tool_domain import ToolDomain, canonical
from dialgauge.worlds.tools.tool_folder import declared_tools, load_tool_domain
from dialgauge.worlds.tools.tool_tasks import GoldCall, Rules, ToolTask, json_tasks

Belonging: TypeAlias = Literal["belongs", "foreign", "unknown"]
#: What decided: the stored actions, identifiers, the stored instruction, none of them, or a task that does not exist.
Evidence: TypeAlias = Literal["actions", "identifiers", "instruction", "silent", "no task"]

#: From this share of foreign conversations on, nothing is said per task. In a sound file there is none, and identifiers
#: overlook few: one in ten is far more than the occasional slip of an agent into somebody else's record.
MOST_FOREIGN = 0.1
#: Where identifiers fit this share of the *other* tasks, too, they say nothing (one customer for all tasks).
SAME_FOR_ALL = 0.5
#: So many of a log's calls must be known to a domain that is taken for its own.
_MOSTLY = 0.8

#: Instruction, expected calls and outputs of a conversation's task.
_ABOUT = tuple[tuple[str, ...], tuple[Call, ...], tuple[str, ...]]
_ARGUMENTS = frozenset({"user_id", "email", "order_id", "reservation_id", "phone_number", "customer_id"})
_USER_ID = re.compile(r"[^\W\d_]+(?:_[^\W\d_]+)*_\d+")


class Filing(Struct, frozen=True, kw_only=True):
    """One conversation: whether it belongs where it is filed, why, and which task of the file fits instead."""

    conversation: str
    task: str
    belonging: Belonging
    evidence: Evidence
    identifiers: tuple[str, ...] = ()
    #: The one task that has what the conversation stores and names, where it is foreign and there is just one.
    fits: str | None = None


class Integrity(Struct, frozen=True, kw_only=True):
    """What the check of a log says."""

    #: One for each conversation; a stored run keeps those that are foreign.
    filings: tuple[Filing, ...]
    belongs: int
    unknown: int
    #: Share of the pairs of a conversation with identifiers and another task in which one of them fits.
    others_hit: float | None
    #: Conversations that are word for word the same.
    identical: tuple[tuple[str, ...], ...] = ()

    @property
    def counts(self) -> dict[Belonging, int]:
        return {"belongs": self.belongs, "unknown": self.unknown, "foreign": len(self.foreign)}

    @property
    def conversations(self) -> int:
        return sum(self.counts.values())

    @property
    def foreign(self) -> list[Filing]:
        return [filing for filing in self.filings if filing.belonging == "foreign"]

    @property
    def foreign_share(self) -> float:
        return len(self.foreign) / self.conversations if self.conversations else 0.0

    def in_short(self) -> Integrity:
        """The same with the evidence on foreign conversations only."""
        return structs.replace(self, filings=tuple(self.foreign))

    @property
    def per_task_stands(self) -> bool:
        """Whether results by task may be shown: few conversations are foreign, and ids are not mixed up."""
        return self.foreign_share < MOST_FOREIGN and not self.permuted

    @property
    def mapping(self) -> list[tuple[str, str]]:
        """Foreign conversations, each with the task where it seems to belong: to be offered, never applied."""
        return [(filing.conversation, filing.fits) for filing in self.foreign if filing.fits is not None]

    @property
    def permuted(self) -> bool:
        """Whether ids are mixed up, so that totals may stand: foreign conversations cross, or most fit another task.

        One alone may be an agent that slipped into somebody else's record. Two cross where one fits the task under
        which the other is filed, whether or not that other fits just one task itself.
        """
        filed = {filing.task for filing in self.foreign}
        crossing = any(task in filed for _, task in self.mapping)
        return crossing or (len(self.mapping) > 1 and 2 * len(self.mapping) > len(self.foreign))


def log_benchmark(dialogues: Sequence[Dialogue]) -> str:
    """``tau`` or ``tau2`` where every conversation is of this benchmark; empty for other logs."""
    names = {dialogue.ended.benchmark for dialogue in dialogues}
    return names.pop() if len(names) == 1 and names <= {"tau", "tau2"} else ""


def tasks_of_log(
    dialogues: Sequence[Dialogue],
    stored: Sequence[dict[str, Any]],
    given: Sequence[ToolTask] | None = None,
    file: str = "",
) -> list[ToolTask]:
    """The tasks that a log is checked against: those it stores (τ²), or those given.

    A log of τ-bench without a task file has only what each conversation says of itself. Then the task of an id is what
    most of its conversations say, so that a few misplaced ones still show.
    """
    if stored:
        return json_tasks(list(stored), Path(file))
    if given is not None:
        return list(given)
    told: dict[str, Counter[bytes]] = {}
    for dialogue in dialogues:
        outcome = dialogue.ended
        if outcome.expected is not None or dialogue.instruction:
            about = (dialogue.instruction, outcome.expected or (), outcome.outputs)
            told.setdefault(outcome.task, Counter())[msgspec.json.encode(about)] += 1
    rules: Rules = "tau2" if log_benchmark(dialogues) == "tau2" else "tau"
    tasks = []
    for name, counts in told.items():
        instruction, expected, outputs = msgspec.json.decode(counts.most_common(1)[0][0], type=_ABOUT)
        calls = tuple(GoldCall(call.name, call.arguments, by_user=call.domain == "user") for call in expected)
        text = "\n".join(instruction)
        tasks.append(ToolTask(id=name, rules=rules, instruction=text, expected=calls, outputs=outputs))
    return tasks


def log_domain(dialogues: Sequence[Dialogue], root: Path | None) -> ToolDomain | None:
    """The domain of ours whose log it is: of the same benchmark, with the tools it calls, its records present."""
    called = Counter(call.name for dialogue in dialogues for side, call in dialogue.calls() if side == "system")
    benchmark = log_benchmark(dialogues)
    domains = {domain for dialogue in dialogues for domain in dialogue.domains}
    own = domains.pop() if len(domains) == 1 else ""
    for name in OUR_TOOL_DOMAINS if root is not None and benchmark else ():
        declared, tools = declared_tools(name)
        known = sum(number for tool, number in called.items() if tool in tools)
        fits = known >= _MOSTLY * called.total() if called else own == declared.domain
        if declared.benchmark == benchmark and fits and own in ("", declared.domain):
            with suppress(DialgaugeError):  # its records are not here
                return load_tool_domain(name, root=root)
    return None


def check_integrity(dialogues: Sequence[Dialogue], tasks: Iterable[ToolTask]) -> Integrity:
    """Check every conversation of a log against its task."""
    cards = {task.id: _TaskCard(task) for task in tasks}
    identifiers = [identifiers_of(dialogue) for dialogue in dialogues]
    share = _others_hit(dialogues, identifiers, cards)
    naming = _naming(identifiers, cards)
    use_identifiers = share is None or share < SAME_FOR_ALL
    instructions = Counter(card.told for card in cards.values() if card.told)
    filings = [
        _filing(
            dialogue,
            named if use_identifiers and _can_tell(dialogue.ended.task, named, cards, naming) else (),
            cards,
            instructions,
        )
        for dialogue, named in zip(dialogues, identifiers, strict=True)
    ]
    counts = Counter(filing.belonging for filing in filings)
    return Integrity(
        filings=tuple(filings),
        belongs=counts["belongs"],
        unknown=counts["unknown"],
        others_hit=share,
        identical=tuple(_identical(dialogues)),
    )


def identifiers_of(dialogue: Dialogue) -> tuple[str, ...]:
    """The identifiers in its successful calls, and the ids of users in their results."""
    seen: dict[str, None] = {}
    for _, call in dialogue.calls():
        if call.failed or call.result is None:
            continue
        for name, value in call.given.items():
            if name in _ARGUMENTS and isinstance(value, str) and value.strip():
                seen[value.strip()] = None
        seen.update(dict.fromkeys(_users_in(call.result)))
    return tuple(seen)


def _users_in(result: str) -> Iterator[str]:
    if _USER_ID.fullmatch(result.strip().strip('"')):
        yield result.strip().strip('"')
    elif '"user_id"' in result:
        try:
            for value in _nested(msgspec.json.decode(result)):
                if isinstance(value, dict) and isinstance(value.get("user_id"), str):
                    yield value["user_id"]
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            return


def _nested(value: Any) -> Iterator[Any]:
    """A value and all that it holds, however deep."""
    yield value
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _nested(each)


class _TaskCard:
    """What of a task can be recognised in a conversation."""

    def __init__(self, task: ToolTask) -> None:
        self.task = task
        self.told = _told(task.instruction)
        values = [value for gold in task.golds for call in gold for value in _nested(call.arguments)]
        texts = [str(value) for value in values if not isinstance(value, dict | list | None)]
        #: Trials of a task name the same identifiers.
        self._has = cache(self._occurs)
        self._text = f" {task.instruction.lower()} \n" + "\n".join(texts).lower() + " "
        self._names = {
            (str(call.arguments["first_name"]).lower(), str(call.arguments["last_name"]).lower())
            for gold in task.golds
            for call in gold
            if isinstance(call.arguments, dict) and {"first_name", "last_name"} <= call.arguments.keys()
        }

    @cached_property
    def names_identifiers(self) -> bool:
        """Whether its expected actions name a user, an order or a booking."""
        arguments = [call.arguments for gold in self.task.golds for call in gold]
        return any(isinstance(given, dict) and not _ARGUMENTS.isdisjoint(given) for given in arguments)

    @cached_property
    def golds(self) -> set[str]:
        return {_gold_text(gold) for gold in self.task.golds}

    def hit(self, identifiers: Iterable[str]) -> bool:
        """Whether one of the identifiers occurs in the task."""
        return any(map(self._has, identifiers))

    def _occurs(self, identifier: str) -> bool:
        wanted = identifier.lower()
        if _whole_word(wanted, self._text) or (wanted.startswith("#") and _whole_word(wanted[1:], self._text)):
            return True
        parts = wanted.split("_")
        if not _USER_ID.fullmatch(identifier) or len(parts) < 3:
            return False
        first, last = parts[0], parts[1]
        return (first, last) in self._names or _whole_word(f"{first} {last}", self.told)


def _whole_word(word: str, text: str) -> bool:
    """Whether a word occurs with no letter, digit or underscore beside it."""
    start = text.find(word) if word else -1
    while start >= 0:
        before, after = text[start - 1 : start], text[start + len(word) : start + len(word) + 1]
        if not any(each.isalnum() or each == "_" for each in (before, after) if each):
            return True
        start = text.find(word, start + 1)
    return False


def _gold_text(gold: Sequence[GoldCall | Call]) -> str:
    return canonical([[call.name, call.arguments] for call in gold], "by-value")


def _told(instruction: object) -> str:
    """An instruction as it is compared: letter by letter but for case and spaces."""
    return " ".join(instruction.lower().split()) if isinstance(instruction, str) else ""


_NO_ACTIONS = _gold_text(())


def _filing(
    dialogue: Dialogue,
    identifiers: tuple[str, ...],
    cards: Mapping[str, _TaskCard],
    instructions: Mapping[str, int],
) -> Filing:
    outcome = dialogue.ended
    card = cards.get(outcome.task)
    # The expected calls that were stored with the verdict; None where none were.
    stored = _gold_text(outcome.expected) if outcome.graded and outcome.expected is not None else None
    # τ² stores instructions with the tasks alone.
    instruction = _told("\n".join(dialogue.instruction)) if outcome.benchmark == "tau" else ""
    instruction = instruction if instructions.get(instruction) == 1 else ""
    belonging: Belonging = "unknown"
    evidence: Evidence = "silent"
    if card is None:
        evidence = "no task"
    elif stored not in (None, _NO_ACTIONS, *card.golds):
        belonging, evidence = "foreign", "actions"
    elif identifiers and not card.hit(identifiers):
        belonging, evidence = "foreign", "identifiers"
    elif instruction not in ("", card.told):
        belonging, evidence = "foreign", "instruction"
    elif stored not in (None, _NO_ACTIONS):
        belonging, evidence = "belongs", "actions"
    elif identifiers:
        belonging, evidence = "belongs", "identifiers"
    fits = None
    if belonging == "foreign" and card is not None:
        instruction = "" if instruction == card.told else instruction
        stored = None if stored in card.golds else stored
        fits = _fitting(stored, identifiers, instruction, cards)
    return Filing(
        conversation=dialogue.id,
        task=outcome.task,
        belonging=belonging,
        evidence=evidence,
        identifiers=identifiers,
        fits=fits,
    )


def _fitting(
    stored: str | None, identifiers: tuple[str, ...], instruction: str, cards: Mapping[str, _TaskCard]
) -> str | None:
    """The one task with this instruction, or else with these actions and identifiers; None where none or several fit.

    Only what is not of the task under which it is filed speaks for another.
    """
    fitting = [
        name
        for name, card in cards.items()
        if (
            card.told == instruction
            if instruction
            else (stored is None or stored in card.golds) and (not identifiers or card.hit(identifiers))
        )
    ]
    return fitting[0] if len(fitting) == 1 else None


def _naming(identifiers: Iterable[tuple[str, ...]], cards: Mapping[str, _TaskCard]) -> set[str]:
    """The tasks that name identifiers: in their expected actions, or one that occurs in a call of the log."""
    called = {identifier for named in identifiers for identifier in named}
    return {name for name, card in cards.items() if card.names_identifiers or card.hit(called)}


def _can_tell(task: str, identifiers: Iterable[str], cards: Mapping[str, _TaskCard], naming: set[str]) -> bool:
    """Whether identifiers say something of a task: it names some itself, or they are those of another task.

    Where a task leaves it to the user which order it is, calls for one that nobody named contradict nothing.
    """
    return task in naming or any(card.hit(identifiers) for card in cards.values())


def _others_hit(
    dialogues: Sequence[Dialogue], identifiers: Sequence[tuple[str, ...]], cards: Mapping[str, _TaskCard]
) -> float | None:
    pairs = hits = 0
    for dialogue, named in zip(dialogues, identifiers, strict=True):
        for name, card in cards.items() if named else ():
            if name != dialogue.ended.task:
                pairs += 1
                hits += card.hit(named)
    return hits / pairs if pairs else None


def _identical(dialogues: Sequence[Dialogue]) -> Iterator[tuple[str, ...]]:
    """Groups of conversations with the same words and calls; what is over before anybody speaks is not compared."""
    same: dict[bytes, list[str]] = {}
    for dialogue in dialogues:
        if dialogue.turns:
            said = msgspec.json.encode([(turn.speaker, turn.text, turn.calls) for turn in dialogue.turns])
            same.setdefault(hashlib.sha256(said).digest(), []).append(dialogue.id)
    yield from (tuple(ids) for ids in same.values() if len(ids) > 1)
