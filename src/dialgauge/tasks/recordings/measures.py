"""The measures of what became of recorded conversations, as cards.

The evidence is :class:`OutcomeEvidence`: a unit is a conversation. Most measures take a rule set, ``strict`` (ours) or
``compat`` (ConvLab-2's), and many a domain: ``Success(rules=strict)``, ``Book(rules=compat)``, ``EntityMatch[hotel]``.
Those of several trials stand in ``measures/repeated``.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from dialgauge.errors import DialgaugeError
from dialgauge.measures import (
    TRIAL_CARDS,
    Card,
    Parameter,
    Settings,
    UnitNumbers,
    Units,
)
from dialgauge.tasks import measures as task_measures
from dialgauge.tasks.recordings.conduct import Listener
from dialgauge.tasks.recordings.judging import JudgedConversation, JudgedConversations
from dialgauge.tasks.recordings.strict import TaskOutcome

FAMILY = "outcomes"
STRICT, COMPAT = "strict", "compat"
OUTCOME_RULES = (STRICT, COMPAT)
#: Begins the reason why ConvLab-2's rules are not computed.
NEEDS_ACTS = "needs acts"
_ANY_RULES = ("mwzeval", "grounded", *OUTCOME_RULES)

#: Numerator and denominator of one conversation; None where it has no score.
_Pair: TypeAlias = tuple[float, float] | None
_Count: TypeAlias = Callable[[JudgedConversation, Settings, str], _Pair]

_CONVLAB = "Zhu et al. 2020, ConvLab-2"
_OURS = "dialgauge: what the database and the record of calls support"
RULE_SET = Parameter("rules", "mwzeval", _ANY_RULES, "strict: ours; compat: ConvLab-2's. The others judge responses")


class OutcomeEvidence(Units):
    """Judged conversations; ``by_goal`` is the same with all trials of a goal as one unit of resampling.

    A part is a domain of the goals.
    """

    tried = "goal"
    domain = ""

    def __init__(self, judged: JudgedConversations) -> None:
        self.judged = judged.judged
        self.calls_recorded = judged.calls_recorded
        self._services = judged.domain.services
        self._town = judged.search.domain.multiwoz
        self.dialogues = len(self.judged)
        self.dialogue: NDArray[np.integer[Any]] = np.arange(self.dialogues)

    def part(self, name: str) -> OutcomeEvidence:
        """One domain."""
        if name not in self.domains:
            raise DialgaugeError(f"no goal has the domain '{name}'")
        other = copy.copy(self)
        other.domain = name
        return other

    @cached_property
    def goals(self) -> dict[str, list[int]]:
        """The places of each goal's trials."""
        goals: dict[str, list[int]] = {}
        for index, judged in enumerate(self.judged):
            goals.setdefault(judged.goal, []).append(index)
        return goals

    @property
    def trials(self) -> int:
        """The most trials that a goal has."""
        return max(map(len, self.goals.values()), default=0)

    @cached_property
    def domains(self) -> list[str]:
        """The domains of the goals, by name."""
        return sorted({domain for judged in self.judged for domain in judged.domains})

    @property
    def bookable(self) -> list[str]:
        """Those of them in which something can be booked."""
        services = self._services
        return [name for name in self.domains if name in services and services[name].books]

    @property
    def rules(self) -> tuple[str, ...]:
        """The rule sets that know the domain."""
        return OUTCOME_RULES if self._town else (STRICT,)

    @property
    def has_acts(self) -> bool:
        """Does the system speak in acts, which ConvLab-2's rules go by?"""
        return all(judged.compat is not None for judged in self.judged)

    def successes(self, rules: str) -> list[bool | None]:
        """Did each conversation succeed by a rule set?"""
        return [succeeded(judged, rules, self.domain) for judged in self.judged]

    def trial_verdicts(self, settings: Settings) -> Sequence[tuple[int, Sequence[bool]]]:
        """For each goal the place of its first trial, and the verdicts on those that have one."""
        verdicts = self.successes(str(settings["rules"]))
        return [
            (places[0], [done for index in places if (done := verdicts[index]) is not None])
            for places in self.goals.values()
        ]

    def verdict_obstacle(self, settings: Settings) -> str | None:
        """Why there are no verdicts by these rules."""
        return _no_rules(self, settings)

    def by_goal(self) -> OutcomeEvidence:
        """The same conversations, those of one goal together."""
        other = copy.copy(self)
        other.dialogue = np.zeros(self.dialogues, np.int64)
        for number, places in enumerate(self.goals.values()):
            other.dialogue[places] = number
        other.dialogues = len(self.goals)
        return other


def _counted(count: _Count, evidence: OutcomeEvidence, settings: Settings) -> UnitNumbers:
    pairs = [count(judged, settings, evidence.domain) or (0.0, 0.0) for judged in evidence.judged]
    return np.array(pairs, np.float64).reshape(-1, 2).T


def _no_rules(evidence: Any, settings: Settings) -> str | None:
    """Why a measure with a rule set cannot be computed."""
    rules = str(settings["rules"])
    if rules not in OUTCOME_RULES:
        return f"conversations are judged by the rules {STRICT} or {COMPAT}, not {rules}"
    if rules == STRICT or not isinstance(evidence, OutcomeEvidence):
        return _no_calls(evidence, settings)
    if COMPAT not in evidence.rules:
        return "ConvLab-2's rules know MultiWOZ's town and no other domain"
    return (
        None
        if evidence.has_acts
        else f"{NEEDS_ACTS}: ConvLab-2's rules go by the system's acts, and it has words alone"
    )


def _no_bookings(evidence: Any, settings: Settings) -> str | None:
    if settings["rules"] == COMPAT and isinstance(evidence, OutcomeEvidence) and evidence.domain:
        return f"{COMPAT} judges the bookings of all domains together; leave out [{evidence.domain}]"
    return _no_rules(evidence, settings)


def _no_calls(evidence: Any, settings: Settings) -> str | None:
    """Why a strict measure cannot be computed."""
    if why := _no_conversations(evidence, settings):
        return why
    return None if evidence.calls_recorded else "the records do not say what the system called, or what was booked"


def _no_conversations(evidence: Any, settings: Settings) -> str | None:
    is_ours = isinstance(evidence, OutcomeEvidence)
    return None if is_ours else "it judges recorded conversations, and these are responses"


def _share(value: float | bool | None) -> _Pair:
    return None if value is None else (float(value), 1.0)


def succeeded(conversation: JudgedConversation, rules: str, domain: str = "") -> bool | None:
    """Did a conversation succeed, or one domain of it? None where there is no verdict."""
    strict, compat = conversation.strict, conversation.compat
    if rules == COMPAT:
        return None if compat is None else compat.domains.get(domain) if domain else compat.success
    if strict is None or not domain:
        return None if strict is None else strict.success
    return strict.tasks[domain].success if domain in strict.tasks else None


def _successes(evidence: Any, settings: Settings) -> UnitNumbers:
    """Success of conversations, or of responses, as the rule set says."""
    if not isinstance(evidence, OutcomeEvidence):
        return _RESPONSES.units(evidence, settings) if _RESPONSES.units else ()
    done = evidence.successes(str(settings["rules"]))
    return np.array([[success is True for success in done], [success is not None for success in done]], float)


def _success_obstacle(evidence: Any, settings: Settings) -> str | None:
    if settings["rules"] in OUTCOME_RULES or isinstance(evidence, OutcomeEvidence):
        return _no_rules(evidence, settings)
    return _RESPONSES.obstacle(evidence, settings) if _RESPONSES.obstacle else None


def _of_satisfiable(conversation: JudgedConversation, settings: Settings, domain: str) -> _Pair:
    if conversation.strict is None or not conversation.strict.satisfiable:
        return None
    return _share(conversation.strict.success)


def _informed(aspect: str, conversation: JudgedConversation, settings: Settings, domain: str) -> _Pair:
    verdict = conversation.compat if settings["rules"] == COMPAT else conversation.strict
    return None if verdict is None else _share(getattr(verdict, aspect))


def _book(conversation: JudgedConversation, settings: Settings, domain: str) -> _Pair:
    if settings["rules"] == COMPAT:
        return None if conversation.compat is None else _share(conversation.compat.book)
    return _of_tasks(lambda task: _share(task.booked), conversation, settings, domain)


def _of_tasks(
    pair: Callable[[TaskOutcome], _Pair], conversation: JudgedConversation, settings: Settings, domain: str
) -> _Pair:
    """Sums over the tasks, or over those of one domain."""
    tasks = conversation.strict.tasks if conversation.strict else {}
    if domain:
        return pair(tasks[domain]) if domain in tasks else None
    pairs = [sums for task in tasks.values() if (sums := pair(task)) is not None]
    return (sum(above for above, _ in pairs), sum(below for _, below in pairs)) if pairs else None


def _counts(name: str, conversation: JudgedConversation, settings: Settings, domain: str) -> _Pair:
    """A count of how a conversation went."""
    return float(getattr(conversation.conduct, name)), 1.0


def _heard(aspect: str, conversation: JudgedConversation, settings: Settings, domain: str) -> _Pair:
    listener: Listener = "user" if settings["listener"] == "user" else "system"
    hearing = conversation.conduct.hearing[listener]
    below = {"precision": hearing.heard, "recall": hearing.said, "f1": hearing.said + hearing.heard}[aspect]
    return (2.0 if aspect == "f1" else 1.0) * hearing.right, float(below)


def _card(name: str, title: str, summary: str, formula: str, count: _Count, **more: Any) -> Card[Any]:
    known = {"name": name, "family": FAMILY, "title": title, "summary": summary, "formula": formula}
    return Card(**{**known, "source": _OURS, "obstacle": _no_calls, "units": partial(_counted, count), **more})


def _by_rules(*arguments: Any, **more: Any) -> Card[Any]:
    settled = {"source": f"{_CONVLAB} (compat); {_OURS} (strict)", "obstacle": _no_rules, **more}
    return _card(*arguments, parameters=(RULE_SET,), **settled)


def _number(*arguments: Any, unit: str, better: bool | None = False, **more: Any) -> Card[Any]:
    """A count per conversation or task."""
    settled = {"obstacle": _no_conversations, **more}
    return _card(*arguments, unit=unit, upper=math.inf, higher_is_better=better, **settled)


def _hearing(name: str, title: str, aspect: str, formula: str) -> Card[Any]:
    return _card(
        name, title, f"How well one side understood the other, act by act: {title}.", formula, partial(_heard, aspect),
        parameters=(Parameter("listener", "system", ("system", "user"), "who listens"),), obstacle=_no_conversations,
    )  # fmt: skip


_RESPONSES = next(card for card in task_measures.CARDS if card.name == task_measures.SUCCESS)
SUCCESS: Card[Any] = replace(
    _RESPONSES,
    family=FAMILY,
    title="every task done",
    summary="Share of the dialogues, responses or whole conversations, in which the users got all that they came for.",
    formula="dialogues with every task done / dialogues",
    source=f"{_RESPONSES.source}; {_CONVLAB} (compat); {_OURS} (strict)",
    parameters=(RULE_SET,),
    units=_successes,
    obstacle=_success_obstacle,
)
CARDS: tuple[Card[Any], ...] = (
    SUCCESS,
    _card(
        "SuccessOfSatisfiable", "success of satisfiable goals",
        "Strict success over the goals that can be satisfied: by the database, with taxis that have both ends "
        "and bookings that are possible.",
        "strict successes / conversations whose goal can be satisfied", _of_satisfiable,
    ),
    _by_rules(
        "InformRecall", "recall of requests",
        "Mean share of a dialogue's requests that were answered: truly (strict), or with something of the right form.",
        "mean of answered / requested", partial(_informed, "recall"),
    ),
    _by_rules(
        "InformPrecision", "precision of what was told",
        "Mean share of what a dialogue's system told that is true (strict), or that was asked for (compat).",
        "strict: mean of true / asserted; compat: mean of TP / (TP + FP)", partial(_informed, "precision"),
        symbols={"TP": "requested facts that were told", "FP": "facts told that were not requested"},
    ),
    _by_rules(
        "InformF1", "F1 of what was told",
        "Mean over dialogues of the harmonic mean of InformPrecision and InformRecall.",
        "mean of 2 P R / (P + R)", partial(_informed, "f1"),
        symbols={"P": "InformPrecision of the dialogue", "R": "InformRecall of the dialogue"},
    ),
    _by_rules(
        "Book", "bookings",
        "Share of the booking tasks whose booking is what was wanted, slot by slot (strict); mean share of the "
        "constraints that the booked rows satisfy (compat).",
        "strict: exact bookings / booking tasks; compat: mean of satisfied / constraints", _book,
        parts=True, obstacle=_no_bookings,
    ),
    _card(
        "EntityMatch", "what the user ended up with fits",
        "Share of the tasks in which what the user ended up with satisfies every constraint.",
        "matched tasks / tasks", partial(_of_tasks, lambda task: _share(task.matched)), parts=True,
    ),
    _card(
        "RefusedThenFixed", "refused, then booked",
        "Share of the tasks with a scripted refusal in which the system was refused and then booked what was wanted.",
        "refused and fixed / tasks with a booking to be refused", partial(_of_tasks, lambda task: _share(task.fixed)),
        parts=True,
    ),
    _card(
        "FailPath", "detours taken",
        "Share of the constraints and bookings to try first that were stated, met a refusal, and were revised.",
        "taken / scripted", partial(_of_tasks, lambda task: (task.retried, task.detours) if task.detours else None),
        parts=True,
    ),
    _number(
        "BookAttempts", "attempts to book", "Attempts per booking task.", "attempts / booking tasks",
        partial(_of_tasks, lambda task: None if task.booked is None else (task.attempts, 1.0)), unit="attempts",
        parts=True, obstacle=_no_calls,
    ),
    _card(
        "Complete", "the user believes it is done", "Share of the conversations after which the user thinks it has "
        "all it wanted, rightly or not, if the user said.", "believed complete / conversations with a belief",
        lambda conversation, settings, domain: _share(conversation.complete),
        source=_CONVLAB, obstacle=_no_conversations,
    ),
    _number(
        "Exchanges", "exchanges", "User turns per conversation.", "user turns / conversations",
        partial(_counts, "exchanges"), unit="exchanges",
    ),
    _number(
        "Utterances", "utterances", "Utterances per conversation, of both sides.",
        "utterances / conversations", partial(_counts, "utterances"), unit="utterances", source=_CONVLAB,
    ),
    _number(
        "LongestRun", "longest run", "Mean of the longest run of user turns with the same acts.",
        "sum of longest runs / conversations",
        partial(_counts, "longest_run"), unit="turns",
    ),
    _hearing("HeardPrecision", "precision of what was heard", "precision", "heard and said / heard"),
    _hearing("HeardRecall", "recall of what was said", "recall", "heard and said / said"),
    _hearing("HeardF1", "F1 of what was heard", "f1", "2 (heard and said) / (heard + said)"),
    *TRIAL_CARDS,
)  # fmt: skip
