"""The scores of recorded conversations, with intervals.

Trials of one goal are not independent, so intervals come from resampling goals with all their trials.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from dialgauge.measures import (
    FLIPS,
    NOISE,
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
from dialgauge.tasks.recordings.judging import JudgedConversations
from dialgauge.tasks.recordings.measures import CARDS, COMPAT, RULE_SET, OutcomeEvidence


def outcome_measures(evidence: OutcomeEvidence) -> Iterator[Measure[Any]]:
    """All that can be measured: both rule sets, by domain where that means something, and pass^k."""
    for card in CARDS:
        if card.name in (FLIPS, NOISE) and evidence.trials < 2:
            continue
        settings: list[list[tuple[str, Setting]]] = [
            [(each.name, value) for value in (evidence.rules if each.name == RULE_SET.name else each.choices)]
            for each in card.parameters
        ]
        if card.cutoff:
            settings.append([(card.cutoff.name, k) for k in range(1, max(evidence.trials, 1) + 1)])
        for given in product(*settings):
            measure = Measure(card, tuple(sorted(given)))
            yield measure
            yield from (replace(measure, part=domain) for domain in _domains(measure, evidence))


def _domains(measure: Measure[Any], evidence: OutcomeEvidence) -> Sequence[str]:
    """The domains that a measure is given for. ConvLab-2's book rate is one of whole dialogues."""
    if measure.card.name == "Book":
        return () if (RULE_SET.name, COMPAT) in measure.given else evidence.bookable
    return evidence.domains if measure.card.name in ("Success", "EntityMatch") else ()


def score_outcomes(
    judged: JudgedConversations, *, signature: Signature | None = None, resamples: int = 1000, seed: int = 0
) -> Scores:
    """The scores of judged conversations; intervals come from resampling goals.

    ``signature`` holds what else decides them, such as agents and level; the failures' mode and the checksums of goals
    and database are added.
    """
    evidence = OutcomeEvidence(judged)
    asked = list(outcome_measures(evidence))
    left_out = {str(measure): why for measure in asked if (why := measure.obstacle(evidence))}
    possible = [measure for measure in asked if str(measure) not in left_out]
    system = SystemEvidence(
        evidence=evidence,
        measures=possible,
        dialogues=[conversation.id for conversation in judged],
        signature=(signature or Signature()).with_(
            failures=judged.failures,
            dialogues=str(len(judged)),
            goals=judged.goals,
            database=judged.database,
        ),
        coverage=_coverage(judged),
        left_out=left_out,
        resampled=evidence.by_goal(),
    )
    return score_systems([system], Resampling(resamples, seed) if resamples and len(judged) else None)[0]


def _coverage(judged: JudgedConversations) -> Coverage:
    """What was judged on what was said: a conversation that an agent's failure or a spent budget ended is no such,
    whether it is left out or counts as not done."""
    read = len(judged) + len(judged.unjudged)
    failed = len(judged.unjudged) + sum(conversation.broken for conversation in judged)
    policy = "an agent's error is not done; what an endpoint, a limit or the user ended is left out" if failed else ""
    return Coverage({"dialogues": Count(expected=read, read=read, scored=read - failed, failed=failed)}, policy=policy)
