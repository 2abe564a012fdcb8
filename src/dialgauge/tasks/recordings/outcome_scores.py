"""The scores of recorded conversations, with intervals.

Trials of one goal are not independent, so intervals come from resampling goals with all their trials.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from dialgauge.dialogue import Dialogue
from dialgauge.measures import (
    FLIPS,
    NOISE,
    Card,
    Count,
    Coverage,
    Measure,
    Resampling,
    Scores,
    Setting,
    Signature,
    SystemEvidence,
    score_systems,
)
from dialgauge.tasks.recordings.judged_conversations import JudgedConversations, is_broken, judge_outcomes
from dialgauge.tasks.recordings.outcome_measures import CARDS, COMPAT, RULE_SET, OutcomeEvidence
from dialgauge.worlds.domain import DomainSearch
from dialgauge.worlds.town import Failures

#: Measures that are also given for each domain of the goals.
_BY_DOMAIN = ("Success", "Book", "EntityMatch")


def outcome_measures(evidence: OutcomeEvidence) -> list[Measure[Any]]:
    """All that can be measured: both rule sets, by domain where that means something, and pass^k."""
    measures: list[Measure[Any]] = []
    for card in CARDS:
        if card.name in (FLIPS, NOISE) and evidence.trials < 2:
            continue
        for given in _settings(card, evidence):
            measures.append(Measure(card, given))
            if card.name in _BY_DOMAIN:
                measures += [Measure(card, given, domain) for domain in _domains(card, given, evidence)]
    return measures


def _domains(card: Card[Any], given: tuple[tuple[str, Setting], ...], evidence: OutcomeEvidence) -> list[str]:
    """The domains that a measure is given for. ConvLab-2's book rate is one of whole dialogues."""
    if card.name != "Book":
        return evidence.domains
    return [] if (RULE_SET.name, COMPAT) in given else evidence.bookable


def _settings(card: Card[Any], evidence: OutcomeEvidence) -> Iterator[tuple[tuple[str, Setting], ...]]:
    """Every choice of a card's parameter, and every number of trials."""
    cutoffs: list[dict[str, Setting]] = [{}]
    if card.cutoff:
        cutoffs = [{card.cutoff.name: k} for k in range(1, max(evidence.trials, 1) + 1)]
    choices: list[dict[str, Setting]] = [{}]
    for parameter in card.parameters:
        values = evidence.rules if parameter.name == RULE_SET.name else parameter.choices
        choices = [{parameter.name: value} for value in values]
    for choice in choices:
        for cutoff in cutoffs:
            yield tuple(sorted({**choice, **cutoff}.items()))


def score_outcomes(
    dialogues: Iterable[Dialogue] | JudgedConversations,
    search: DomainSearch | None = None,
    *,
    failures: Failures = "live",
    signature: Signature | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Scores:
    """The scores of recorded conversations; intervals come from resampling goals.

    ``signature`` holds what else decides them, such as agents and level; the failures' mode and the checksums of goals
    and database are added. Conversations that were judged before need no ``search``.
    """
    if not isinstance(dialogues, JudgedConversations):
        if search is None:
            raise TypeError("conversations that were not judged yet need the town they took place in")
        dialogues = judge_outcomes(dialogues, search, failures=failures)
    evidence = OutcomeEvidence(dialogues)
    asked = outcome_measures(evidence)
    left_out = {str(measure): why for measure in asked if (why := measure.obstacle(evidence))}
    possible = [measure for measure in asked if str(measure) not in left_out]
    system = SystemEvidence(
        evidence=evidence,
        measures=possible,
        dialogues=[dialogue.dialogue.id for dialogue in dialogues],
        signature=(signature or Signature()).with_(
            failures=dialogues.failures,
            dialogues=str(len(dialogues)),
            goals=dialogues.goals,
            database=dialogues.database,
        ),
        coverage=_coverage(dialogues),
        left_out=left_out,
        resampled=evidence.by_goal(),
    )
    return score_systems([system], Resampling(resamples, seed) if resamples and len(dialogues) else None)[0]


def _coverage(judged: JudgedConversations) -> Coverage:
    """What was judged on what was said: a conversation that an agent's failure or a spent budget ended is no such,
    whether it is left out or counts as not done."""
    read = len(judged) + len(judged.unjudged)
    failed = len(judged.unjudged) + sum(is_broken(conversation.dialogue) for conversation in judged)
    policy = "an agent's error is not done; what an endpoint, a limit or the user ended is left out" if failed else ""
    return Coverage({"dialogues": Count(expected=read, read=read, scored=read - failed, failed=failed)}, policy=policy)
