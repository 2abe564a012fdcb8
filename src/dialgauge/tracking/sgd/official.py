"""The declared cards of SGD's scores: what each is called here and in the official evaluation, and what it means."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, Ontology, dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.report import Column, Table
from dialgauge.tracking.align import number
from dialgauge.tracking.sgd.frames import SgdCoverage, frame_scores, pairs
from dialgauge.tracking.signature import Signature
from dialgauge.tracking.study import System

if TYPE_CHECKING:
    import polars


_SOURCE = "Rastogi et al. 2020, Schema-Guided Dialogue State Tracking Task at DSTC8"


@dataclass(frozen=True, kw_only=True)
class SgdCard:
    """The declaration of one score. Every value lies in [0, 1], and higher is better."""

    name: str
    #: What the official evaluation calls it.
    official: str
    summary: str
    formula: str
    #: Is it multiplied within a turn when joint scores are taken across a turn's services?
    joint: bool = False
    source: str = _SOURCE


def _goal(part: str, suffix: str, official: str) -> tuple[SgdCard, SgdCard]:
    """The average and the joint goal accuracy over all slots, or over one part of them."""
    over = f"the service's {part}slots"
    return (
        SgdCard(
            name=f"SGD-AGA{suffix}",
            official=f"average_{official}_accuracy",
            summary=f"average goal accuracy over {over}",
            formula=f"mean score of {over} filled in the reference; frames with none are skipped",
        ),
        SgdCard(
            name=f"SGD-JGA{suffix}",
            official=f"joint_{official}_accuracy",
            summary=f"joint goal accuracy over {over}",
            formula=f"product of the scores of all of {over}; frames of services with none are skipped",
            joint=True,
        ),
    )


def _f1(name: str, official: str, of: str) -> tuple[SgdCard, SgdCard, SgdCard]:
    """F1, precision and recall of two multisets in a frame."""
    return (
        SgdCard(
            name=f"{name}-F1", official=f"{official}_f1", summary=f"F1 of {of}", formula="2PR / (P + R), 0 if P = R = 0"
        ),
        SgdCard(
            name=f"{name}-P",
            official=f"{official}_precision",
            summary=f"precision of {of}",
            formula="shared / predicted, 1 if nothing is predicted",
        ),
        SgdCard(
            name=f"{name}-R",
            official=f"{official}_recall",
            summary=f"recall of {of}",
            formula="shared / in the reference, 1 if the reference has none",
        ),
    )


_ALL = (
    *_goal("", "", "goal"),
    *_goal("categorical ", "-cat", "cat"),
    *_goal("non-categorical ", "-noncat", "noncat"),
    SgdCard(
        name="SGD-intent",
        official="active_intent_accuracy",
        summary="accuracy of the active intent",
        formula="1 if the intents are equal, else 0",
    ),
    *_f1("SGD-requested", "requested_slots", "the slots the user asks for"),
    *_f1("SGD-tagging", "slot_tagging", "(slot, text) of non-categorical slots marked in the utterance"),
)

#: All scores by name.
SGD_CARDS = {card.name: card for card in _ALL}


# The frame scores of a whole corpus as columns, and every view of them: all, by service, domain, seen and unseen.

#: The official evaluation's names for the groups that are not one service or domain.
ALL, SEEN, UNSEEN = "#ALL_SERVICES", "#SEEN_SERVICES", "#UNSEEN_SERVICES"


def domain_of(service: str) -> str:
    """The domain of a service: its name before the underscore.

    >>> domain_of("Hotels_4")
    'Hotels'
    """
    return service.split("_", 1)[0]


@dataclass(frozen=True, eq=False)
class SgdScores:
    """One row a frame. Rows are in the order of dialogues and turns; ``nan`` is "does not apply"."""

    #: Dialogue ids; for each frame the position of its dialogue, the running number of its turn, its service.
    ids: list[str]
    dialogue: NDArray[np.int64]
    turn: NDArray[np.int64]
    service: NDArray[np.str_]
    columns: dict[str, NDArray[np.float64]]
    coverage: SgdCoverage
    #: Services of the training schema, when seen and unseen ones are told apart.
    seen_services: frozenset[str] | None
    fuzzy: bool
    across_turn: bool

    @cached_property
    def groups(self) -> dict[str, NDArray[np.bool_]]:
        """Which frames belong to each group: all, seen and unseen services, each domain, each service."""
        services = np.unique(self.service).tolist()
        groups = {ALL: np.ones(len(self.service), bool)}
        if self.seen_services is not None:
            seen = [service for service in services if service in self.seen_services]
            groups[SEEN] = np.isin(self.service, seen)
            groups[UNSEEN] = ~groups[SEEN]
        for domain in sorted({domain_of(service) for service in services}):
            groups[domain] = np.isin(self.service, [one for one in services if domain_of(one) == domain])
        for service in services:
            groups[service] = self.service == service
        return groups

    def sums(self, measure: str, group: str = ALL) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Numerator and denominator of every dialogue: the sum of its scores, and how many there are.

        What is summed are frames; with ``across_turn``, for joint scores, the products of a turn's frames in the group.
        """
        if measure not in SGD_CARDS:
            raise DialgaugeError(f"there is no SGD score named '{measure}'.{nearest(measure, SGD_CARDS)}")
        if group not in self.groups:
            raise DialgaugeError(f"no scored frame belongs to '{group}'.{nearest(group, self.groups)}")
        values = self.columns[measure]
        kept = self.groups[group] & ~np.isnan(values)
        values, dialogue = values[kept], self.dialogue[kept]
        if self.across_turn and SGD_CARDS[measure].joint and len(values):
            starts = np.flatnonzero(np.diff(self.turn[kept], prepend=-1))
            values, dialogue = np.multiply.reduceat(values, starts), dialogue[starts]
        size = len(self.ids)
        numerator = np.bincount(dialogue, weights=values, minlength=size)
        return numerator.astype(np.float64), np.bincount(dialogue, minlength=size).astype(np.float64)

    def value(self, measure: str, group: str = ALL) -> float:
        """The corpus value: the mean over frames (or turns, see :meth:`sums`) of the group; ``nan`` if none has one."""
        numerator, denominator = self.sums(measure, group)
        total = float(denominator.sum())
        return float(numerator.sum()) / total if total else math.nan

    def values(self, group: str = ALL, measures: Collection[str] = tuple(SGD_CARDS)) -> dict[str, float]:
        """The scores of one group by name, without those that do not apply."""
        found = {measure: self.value(measure, group) for measure in measures}
        return {measure: value for measure, value in found.items() if not math.isnan(value)}

    def official(self) -> dict[str, dict[str, float]]:
        """Every group's scores under the names of the official evaluation."""
        return {
            group: {SGD_CARDS[name].official: value for name, value in self.values(group).items()}
            for group in self.groups
        }

    def dialogue_rows(self) -> Iterator[tuple[str, str, float, float]]:
        """Dialogue, measure, numerator and denominator over all services, as the table ``dialogue_scores`` has them."""
        for measure in SGD_CARDS:
            numerator, denominator = self.sums(measure)
            for place in np.flatnonzero(denominator).tolist():
                yield self.ids[place], measure, float(numerator[place]), float(denominator[place])


# From gold and predicted dialogues to SGD's scores.


def score_sgd(
    gold: Iterable[Dialogue],
    predicted: Iterable[Dialogue],
    schema: Ontology,
    *,
    seen_services: Collection[str] | None = None,
    fuzzy: bool = True,
    across_turn: bool = False,
) -> SgdScores:
    """Score predictions frame by frame.

    ``schema`` gives the slots of each service and which of them are categorical. ``seen_services`` are those of the
    training schema; without them, seen and unseen services are not told apart. ``fuzzy=False`` asks for one of the
    listed values exactly; ``across_turn`` multiplies the joint scores of a turn's services (MultiWOZ 2.2 uses both).
    """
    coverage = SgdCoverage()
    columns: dict[str, list[float]] = {name: [] for name in SGD_CARDS}
    ids: list[str] = []
    services: list[str] = []
    dialogue: list[int] = []
    turn: list[int] = []
    for pair in pairs(gold, predicted, schema, coverage):
        if not ids or ids[-1] != pair.dialogue:
            ids.append(pair.dialogue)
        turn.append(pair.turn)
        dialogue.append(len(ids) - 1)
        services.append(pair.service)
        scores = frame_scores(pair.gold, pair.predicted, schema.domains[pair.service], fuzzy=fuzzy)
        for name, column in columns.items():
            column.append(scores.get(name, math.nan))
    if not services:
        raise _nothing(coverage)
    return SgdScores(
        ids=ids,
        dialogue=np.array(dialogue, np.int64),
        turn=np.array(turn, np.int64),
        service=np.array(services, np.str_),
        columns={name: np.array(column, np.float64) for name, column in columns.items()},
        coverage=coverage,
        seen_services=None if seen_services is None else frozenset(seen_services),
        fuzzy=fuzzy,
        across_turn=across_turn,
    )


def _nothing(coverage: SgdCoverage) -> DialgaugeError:
    if coverage.dialogues:
        return DialgaugeError("gold and predictions share dialogues, but no frame has a state on both sides")
    return DialgaugeError(
        "gold and predictions share no dialogue: "
        f"gold has ids like '{next(iter(coverage.missing_dialogues), '(none)')}', "
        f"the predictions like '{next(iter(coverage.extra_dialogues), '(none)')}'"
    )


# SGD's official scores beside the others: the same inputs, scored frame by frame.

#: What stands for a profile in the signatures of these scores: values are compared as the evaluation says.
PROFILE = "sgd-official"


class Official:
    """The official scores of one system of a study, with their signatures."""

    def __init__(
        self, system: System, schema: Ontology, seen: Collection[str] | None, *, fuzzy: bool, across_turn: bool
    ) -> None:
        excluded = {dialogue_key(name) for name in system.aligned.coverage.excluded}
        self.scores: SgdScores = score_sgd(
            _without(system.gold_dialogues, excluded),
            _without(system.dialogues, excluded),
            schema,
            seen_services=seen,
            fuzzy=fuzzy,
            across_turn=across_turn,
        )
        self._slots = len(list(schema.slots()))

    def signature(self, gold: str, measure: str = "SGD") -> Signature:
        """What the value of a measure depends on; ``gold`` is the checksum of the gold states."""
        scores, coverage = self.scores, self.scores.coverage
        matching, joint = "fuzzy" if scores.fuzzy else "exact", "turn" if scores.across_turn else "frame"
        return Signature(
            measure=f"{measure}(matching={matching},joint={joint})",
            profile=PROFILE,
            slots=str(self._slots),
            coverage="intersection",
            dialogues=str(coverage.dialogues),
            turns=str(coverage.turns),
            gold=gold,
        )

    def as_dict(self, gold: str) -> dict[str, Any]:
        """For the run store: the scores over all services."""
        return {
            name: {"value": value, "signature": self.signature(gold, name).long()}
            for name, value in self.scores.values(ALL).items()
        }

    def frame(self) -> polars.DataFrame:
        """dialogue, measure, num, den over all services."""
        import polars

        schema = {"dialogue": polars.String, "measure": polars.String, "num": polars.Float64, "den": polars.Float64}
        return polars.DataFrame(list(self.scores.dialogue_rows()), schema=schema, orient="row")

    def notes(self, name: str) -> list[str]:
        """How it was scored, and what was left out."""
        scores, coverage = self.scores, self.scores.coverage
        matching = "fuzzy" if scores.fuzzy else "exact"
        joint = "multiplied over a turn's services" if scores.across_turn else "per frame"
        notes = [f"{name}: {number(len(scores.service), 'frame')}; {matching} matching; joint scores {joint}."]
        if coverage.missing_dialogues or coverage.missing_turns:
            dialogues, turns = len(coverage.missing_dialogues), coverage.missing_turns
            notes.append(
                f"{name}: SGD's scores leave out {number(dialogues, 'dialogue')} and {number(turns, 'turn')} "
                "without prediction, whatever --coverage says."
            )
        return notes


def _without(dialogues: Sequence[Dialogue], excluded: set[str]) -> list[Dialogue]:
    return [dialogue for dialogue in dialogues if dialogue_key(dialogue.id) not in excluded]


def sgd_table(found: Mapping[str, Official]) -> Table:
    """All, seen and unseen services of every system."""
    measures = [name for name in SGD_CARDS if any(name in official.scores.values() for official in found.values())]
    table = Table(
        "SGD's official scores (percent)",
        ["system", "services", *(Column(measure, digits=2, percent=True) for measure in measures)],
    )
    for name, official in found.items():
        scores = official.scores
        for group in (ALL, SEEN, UNSEEN):
            if group in scores.groups and scores.groups[group].any():
                values = scores.values(group)
                table.add(name, group, *(values.get(measure) for measure in measures))
        table.notes += official.notes(name)
    return table
