"""Was the job done? Two rule sets over the same inputs.

``mwzeval`` is what the field's standard evaluator computes, dialogue by dialogue, loopholes included. ``grounded`` is
ours: credit only for what the response itself and the database support. Both look at responses with placeholders, so a
venue is never named: "offered" means all rows that fit the state at the time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Literal, TypeAlias

from msgspec import Struct

from dialgauge.tasks.database import DATABASE_DOMAINS, VENUE_DOMAINS, TownDatabase, alike, minutes
from dialgauge.tasks.delexical import (
    CLASSES,
    DOMAINS,
    NAME,
    PHONE,
    REFERENCE,
    REQUEST_CLASSES,
    TIME,
    TRAINID,
    TYPE,
    placeholders,
)
from dialgauge.tasks.gold import GoldGoal, GoldTask, TaskState
from dialgauge.tasks.predictions import TaskTurn
from dialgauge.values import normal_value

Rules: TypeAlias = Literal["mwzeval", "grounded"]
RULES: tuple[Rules, ...] = ("mwzeval", "grounded")

_FREE_DOMAINS = ("taxi", "police", "hospital")
#: What is an offer where that is no name.
_OFFERS = {"train": "[train_id] or [time]", "taxi": "[car] or [phone]"}
#: What counts only after the wizard has booked.
_WHEN_BOOKED = frozenset({REFERENCE})
_NONE: frozenset[str] = frozenset()
#: So many of the five request classes in one response answer nothing.
_STUFFED = 4


class DomainVerdict(Struct, frozen=True, gc=False):
    """Whether a domain of the goal was served, and what speaks for it."""

    inform: bool
    success: bool
    #: The turn of the offer that counts, None where there was none, and its rows as bits.
    offer_turn: int | None = None
    offered: int = 0
    provided: frozenset[str] = frozenset()


class DialogueVerdict(Struct, frozen=True, gc=False):
    """The verdict on a dialogue, and on each domain of its goal; companions are filled by ``grounded`` only."""

    inform: bool
    success: bool
    domains: dict[str, DomainVerdict]
    valid_offers: int = 0
    offers: int = 0
    #: Request classes: told and wanted, told, wanted.
    hits: int = 0
    told: int = 0
    wanted: int = 0
    stuffed: int = 0


#: The verdicts of both rule sets on a dialogue.
Verdicts: TypeAlias = Mapping[Rules, DialogueVerdict | None]


class JudgedDialogue(Struct, frozen=True, eq=False, gc=False):
    """One dialogue of a system beside its gold, with the verdicts of both rule sets."""

    gold: GoldTask
    turns: Sequence[TaskTurn]
    states: Sequence[TaskState]
    verdicts: Verdicts
    #: The domains that each turn is taken to be about under ``mwzeval``.
    active: Sequence[Sequence[str]] = ()


class Mentions(Struct, frozen=True, gc=False):
    """The placeholders of a response by owner: a domain, or "" where only the context tells."""

    owned: dict[str, frozenset[str]]
    #: The domains among the owners.
    named: frozenset[str]
    classes: frozenset[str]
    #: Those of the classes that a goal can ask for, and those that count before anything is booked.
    requests: frozenset[str]
    unbooked: frozenset[str]
    #: Does the response tell so much that it cannot be an answer to anything?
    stuffed: bool

    def owners(self, about: str | None) -> frozenset[str]:
        """The domains that own a placeholder, in a turn that is about ``about``."""
        return self.named | {about} if about and "" in self.owned and about not in self.named else self.named

    def of(self, domain: str, about: str | None) -> frozenset[str]:
        """The classes that belong to a domain, in a turn that is about ``about``."""
        own = self.owned.get(domain, _NONE)
        return own | self.owned.get("", _NONE) if domain == about else own


@lru_cache(1 << 16)
def mentions(response: str) -> Mentions:
    """What a response mentions."""
    owned: dict[str, set[str]] = {}
    for name in placeholders(response):
        word = CLASSES.get(name)
        if word:
            owned.setdefault(_owner(name, word), set()).add(word)
    classes = _NONE.union(*owned.values())
    requests = classes.intersection(REQUEST_CLASSES)
    return Mentions(
        {owner: frozenset(words) for owner, words in owned.items()},
        frozenset(owned.keys() - {""}),
        classes,
        requests,
        requests - _WHEN_BOOKED,
        len(requests) >= _STUFFED or (NAME in classes and TRAINID in classes),
    )


def _owner(name: str, word: str) -> str:
    if word == TRAINID:
        return "train"
    if name in ("car", "value_car"):
        return "taxi"
    domain, underscore, _ = name.partition("_")
    return domain if underscore and domain in DOMAINS else ""


def fitting_rows(gold: GoldTask, town: TownDatabase) -> dict[str, int]:
    """By domain of the goal the rows, as bits, that fit it."""
    return {domain: town.answer(domain, goal.informable) for domain, goal in gold.domains.items()}


def judge_mwzeval(
    gold: GoldTask,
    fitting: Mapping[str, int],
    turns: Sequence[TaskTurn],
    states: Sequence[TaskState],
    active: Sequence[Sequence[str]],
    town: TownDatabase,
) -> DialogueVerdict:
    """The standard evaluator's verdict: the last offer of a domain must lie within what fits the goal.

    ``fitting`` are the :func:`fitting_rows` of the goal.
    """
    offered: dict[str, tuple[int | None, int]] = dict.fromkeys(gold.domains, (None, 0))
    provided: dict[str, set[str]] = {domain: set() for domain in gold.domains}
    for number, (turn, state, booked, domains) in enumerate(zip(turns, states, gold.booked, active, strict=False)):
        mentioned = mentions(turn.response)
        if not mentioned.requests and NAME not in mentioned.classes:
            continue
        for domain in domains:
            if domain not in provided:
                continue
            if (domain in VENUE_DOMAINS and NAME in mentioned.classes) or (
                domain == "train" and TRAINID in mentioned.requests
            ):
                rows = town.answer(domain, state[domain]) if domain in state else 0
                before = offered[domain][1]
                if not before or not town.ids_within(domain, before, rows):
                    offered[domain] = number, rows
            provided[domain] |= mentioned.requests if domain in booked else mentioned.unbooked
    informed = {d: _informed(d, goal, offered[d][1], fitting[d], town) for d, goal in gold.domains.items()}
    inform = all(informed.values())
    verdicts = {
        domain: DomainVerdict(
            informed[domain],
            inform and goal.requestable <= provided[domain],
            offered[domain][0],
            offered[domain][1],
            frozenset(provided[domain]),
        )
        for domain, goal in gold.domains.items()
    }
    return DialogueVerdict(inform, all(verdict.success for verdict in verdicts.values()), verdicts)


def _informed(domain: str, goal: GoldGoal, offered: int, fitting: int, town: TownDatabase) -> bool:
    if "name" in goal.informable or domain in _FREE_DOMAINS:
        return True
    if not offered:
        return domain == "train" and TRAINID not in goal.requestable
    return town.ids_within(domain, offered, fitting)


def judge_grounded(
    gold: GoldTask,
    fitting: Mapping[str, int],
    turns: Sequence[TaskTurn],
    states: Sequence[TaskState],
    estimate: Sequence[str | None],
    town: TownDatabase,
) -> DialogueVerdict:
    """Our verdict: placeholders belong to a domain, stuffed responses count for nothing, nothing is free.

    ``estimate`` is the domain that each turn is about, by what changed in the state.
    """
    last: dict[str, tuple[int, bool, int]] = {}
    provided: dict[str, set[str]] = {domain: set() for domain in gold.domains}
    answered: dict[str, set[str]] = {}
    stuffed = valid_offers = offers = 0
    for number, (turn, state, booked, about) in enumerate(zip(turns, states, gold.booked, estimate, strict=False)):
        mentioned = mentions(turn.response)
        if not mentioned.classes:
            continue
        stuffed += mentioned.stuffed
        for domain in mentioned.owners(about):
            classes = mentioned.of(domain, about)
            requests = classes & mentioned.requests
            if requests:
                answered.setdefault(domain, set()).update(requests)
            goal = gold.domains.get(domain)
            if goal is None or mentioned.stuffed:
                continue
            offer = _offers(domain, goal, classes)
            if not (offer or requests):
                continue
            rows = town.answer(domain, state[domain]) if domain in DATABASE_DOMAINS and domain in state else 0
            valid = is_valid(domain, goal, rows, fitting[domain], state)
            if offer:
                last[domain] = number, valid, rows
                if domain in DATABASE_DOMAINS and "name" not in goal.informable:
                    offers, valid_offers = offers + 1, valid_offers + valid
            if valid:
                provided[domain] |= requests if domain in booked else requests - _WHEN_BOOKED
    verdicts = {
        domain: _grounded_verdict(goal, last.get(domain), provided[domain]) for domain, goal in gold.domains.items()
    }
    wanted = {domain: goal.requestable for domain, goal in gold.domains.items()}
    return DialogueVerdict(
        all(verdict.inform for verdict in verdicts.values()),
        all(verdict.success for verdict in verdicts.values()),
        verdicts,
        valid_offers=valid_offers,
        offers=offers,
        hits=sum(len(words & wanted.get(owner, frozenset())) for owner, words in answered.items()),
        told=sum(map(len, answered.values())),
        wanted=sum(map(len, wanted.values())),
        stuffed=stuffed,
    )


def _grounded_verdict(goal: GoldGoal, last: tuple[int, bool, int] | None, provided: set[str]) -> DomainVerdict:
    inform = last is not None and last[1]
    return DomainVerdict(
        inform,
        inform and goal.requestable <= provided,
        last[0] if last else None,
        last[2] if last else 0,
        frozenset(provided),
    )


def missing_verdict(gold: GoldTask) -> DialogueVerdict:
    """Of a dialogue that a system did not answer at all: everything failed, nothing was told."""
    domains = {domain: DomainVerdict(False, False) for domain in gold.domains}
    return DialogueVerdict(False, False, domains, wanted=sum(len(goal.requestable) for goal in gold.domains.values()))


def is_valid(domain: str, goal: GoldGoal, rows: int, fitting: int, state: TaskState) -> bool:
    """Does the state at the time lead to nothing but what the goal wants?"""
    if domain in DATABASE_DOMAINS:
        return rows != 0 and not rows & ~fitting
    if domain == "taxi":
        return "taxi" in state and _taxi_agrees(goal.informable, state["taxi"])
    return True


def _taxi_agrees(wanted: Mapping[str, str], given: Mapping[str, str]) -> bool:
    for slot, value in wanted.items():
        if slot not in given:
            return False
        goal, predicted = normal_value(slot, value), given[slot]
        if slot in ("arrive", "leave"):
            if minutes(goal) != minutes(predicted):
                return False
        elif not alike(goal, predicted):
            return False
    return True


def _offers(domain: str, goal: GoldGoal, classes: frozenset[str]) -> bool:
    """Do the classes that belong to a domain make an offer? Where the goal has a name, any do."""
    if domain in VENUE_DOMAINS:
        return NAME in classes or (bool(classes) and "name" in goal.informable)
    if domain == "train":
        return TRAINID in classes or TIME in classes
    if domain == "taxi":
        return PHONE in classes or TYPE in classes
    return bool(classes)


def offer_wanted(rules: Rules, domain: str, goal: GoldGoal) -> str:
    """What would have been an offer."""
    if rules == "mwzeval":
        return "[train_id]" if domain == "train" else "[name]"
    if "name" in goal.informable or domain not in (*DATABASE_DOMAINS, "taxi"):
        return "placeholder"
    return _OFFERS.get(domain, "[name]")
