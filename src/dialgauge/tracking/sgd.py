"""SGD's official scores: per frame (one service in one user turn), over the slots of the service's schema.

Definitions follow the evaluation of the DSTC8 schema-guided track (Rastogi et al., AAAI 2020). MultiWOZ 2.2 numbers
are the same scores with ``matching="exact"`` and ``across_turn=True``. They stand beside the measures of states in the
same run.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, Ontology, dialogue_key
from dialgauge.errors import DialgaugeError, nearest
from dialgauge.formats import read_ontology
from dialgauge.measures import (
    Measure,
    Resampling,
    Scores,
    Signature,
    SystemEvidence,
    card_named,
    score_systems,
)
from dialgauge.text import Note, counted
from dialgauge.tracking.details import OfficialDetails
from dialgauge.tracking.parts import Part
from dialgauge.tracking.sgd_cards import ALL, OFFICIAL_NAMES, SEEN, SGD_CARDS, UNSEEN
from dialgauge.tracking.sgd_frames import MATCHINGS, Matching, SgdCoverage, frame_scores, pairs

if TYPE_CHECKING:
    from dialgauge.tracking.prepared_inputs import System

#: What stands for a profile in the signatures of these scores: values are compared as the evaluation says.
PROFILE = "sgd-official"


def domain_of(service: str) -> str:
    """The domain of a service: its name before the underscore.

    >>> domain_of("Hotels_4")
    'Hotels'
    """
    return service.split("_", 1)[0]


@dataclass(frozen=True, eq=False)
class SgdFrames:
    """Scores of frames: what SGD's cards measure. Rows are in the order of turns; ``nan`` is "does not apply"."""

    #: Dialogue ids; for each frame the position of its dialogue, the running number of its turn, its service.
    ids: list[str]
    dialogue: NDArray[np.int64]
    turn: NDArray[np.int64]
    service: NDArray[np.str_]
    columns: dict[str, NDArray[np.float64]]
    coverage: SgdCoverage
    #: Services of the training schema, when seen and unseen ones are told apart.
    seen_services: frozenset[str] | None
    #: The similarity of open values, or ``exact``; ``frame``, or ``turn`` where joint scores are multiplied over a
    #: turn's frames.
    matching: Matching
    joint: str
    #: The group that is measured.
    group: str = ALL

    @cached_property
    def scored(self) -> NDArray[np.bool_]:
        """The frames of the group."""
        return self.groups[self.group]

    def part(self, name: str) -> SgdFrames:
        """A group of services, a domain or a service."""
        if name not in self.groups:
            raise DialgaugeError(f"no scored frame belongs to '{name}'.{nearest(name, self.groups)}")
        return replace(self, group=name)

    @property
    def dialogues(self) -> int:
        return len(self.ids)

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
            groups[domain] = np.isin(self.service, [each for each in services if domain_of(each) == domain])
        for service in services:
            groups[service] = self.service == service
        return groups

    def value(self, measure: str, group: str = ALL) -> float:
        """The mean over the frames (or turns) of a group; ``nan`` if none has a score."""
        return Measure(card_named(measure, "tracking"), part=group).value(self)

    def values(self, group: str = ALL) -> dict[str, float]:
        """The scores of one group by name, without those that do not apply."""
        values = {card.name: Measure(card, part=group).value(self) for card in SGD_CARDS}
        return {name: value for name, value in values.items() if not math.isnan(value)}

    def official(self) -> dict[str, dict[str, float]]:
        """Every group's scores under the names of the official evaluation."""
        return {
            group: {OFFICIAL_NAMES[name]: value for name, value in self.values(group).items()} for group in self.groups
        }


def score_sgd(
    gold: Iterable[Dialogue],
    predicted: Iterable[Dialogue],
    schema: Ontology,
    *,
    seen_services: Collection[str] | None = None,
    matching: Matching = "levenshtein",
    across_turn: bool = False,
) -> SgdFrames:
    """Score predictions frame by frame.

    ``schema`` gives the slots of each service and which of them are categorical. ``seen_services`` are those of the
    training schema; without them, seen and unseen services are not told apart. ``matching`` is the ratio by which open
    values are alike, ``levenshtein`` or ``difflib``, or ``exact``: one of the listed values as it is. ``across_turn``
    multiplies the joint scores of a turn's services. MultiWOZ 2.2 uses ``exact`` and ``across_turn``.
    """
    coverage = SgdCoverage()
    columns: dict[str, list[float]] = {card.name: [] for card in SGD_CARDS}
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
        scores = frame_scores(pair.gold, pair.predicted, schema.domains[pair.service], matching=matching)
        for name, column in columns.items():
            column.append(scores.get(name, math.nan))
    if not services:
        raise _nothing(coverage)
    return SgdFrames(
        ids=ids,
        dialogue=np.array(dialogue, np.int64),
        turn=np.array(turn, np.int64),
        service=np.array(services, np.str_),
        columns={name: np.array(column, np.float64) for name, column in columns.items()},
        coverage=coverage,
        seen_services=None if seen_services is None else frozenset(seen_services),
        matching=matching,
        joint="turn" if across_turn else "frame",
    )


def _nothing(coverage: SgdCoverage) -> DialgaugeError:
    if coverage.dialogues:
        return DialgaugeError("gold and predictions share dialogues, but no frame has a state on both sides")
    return DialgaugeError(
        "gold and predictions share no dialogue: "
        f"gold has ids like '{next(iter(coverage.missing_dialogues), '(none)')}', "
        f"the predictions like '{next(iter(coverage.extra_dialogues), '(none)')}'"
    )


@dataclass(frozen=True)
class SgdScoring:
    """How systems get SGD's official scores."""

    schema: Ontology
    #: Services of the training schema; None where seen and unseen ones are not told apart.
    seen: Collection[str] | None = None
    matching: Matching = "levenshtein"
    across_turn: bool = False

    @classmethod
    def read(
        cls,
        schema: str | Path,
        train_schema: str | Path | None = None,
        *,
        matching: str = "",
        across_turn: bool = False,
    ) -> SgdScoring:
        """The same from files: the schema, and where seen and unseen services are told apart that of the training."""
        wanted = next((literal for literal in MATCHINGS if literal == (matching or MATCHINGS[0])), None)
        if wanted is None:
            raise DialgaugeError(f"unknown --sgd-matching '{matching}'.{nearest(matching, MATCHINGS)}")
        seen = set(read_ontology(Path(train_schema)).domains) if train_schema else None
        return cls(read_ontology(Path(schema)), seen, wanted, across_turn)

    def score(self, system: System) -> OfficialScores:
        """The official scores of a system, but for the excluded dialogues."""
        excluded = {dialogue_key(name) for name in system.aligned.coverage.excluded}
        frames = score_sgd(
            _without(system.gold_corpus.dialogues, excluded),
            _without(system.dialogues, excluded),
            self.schema,
            seen_services=self.seen,
            matching=self.matching,
            across_turn=self.across_turn,
        )
        return OfficialScores(frames, len(list(self.schema.slots())), system.roles)


@dataclass(frozen=True)
class OfficialScores:
    """The official scores of one system, as its run keeps them."""

    frames: SgdFrames
    #: The slots of the schema.
    slots: int
    #: What each input was taken for.
    roles: str

    def scores(self, gold: str, how: Resampling | None) -> Scores:
        """The scores over all services; ``gold`` is the checksum of the gold states."""
        evidence = SystemEvidence(
            evidence=self.frames, measures=self._measures, dialogues=self.frames.ids, signature=self.signature(gold)
        )
        return score_systems([evidence], how)[0]

    @cached_property
    def _measures(self) -> list[Measure[SgdFrames]]:
        return [measure for card in SGD_CARDS if (measure := Measure(card)).obstacle(self.frames) is None]

    def parts(self) -> list[Part]:
        """Seen and unseen services, domains, and services."""
        frames, parts = self.frames, []
        for group, own in frames.groups.items():
            if group != ALL and own.any():
                dialogues, turns = (len(np.unique(column[own])) for column in (frames.dialogue, frames.turn))
                measures = [replace(measure, part=group) for measure in self._measures]
                known = [measure for measure in measures if not math.isnan(measure.value(frames))]
                parts.append(Part("service", group, dialogues, turns, 0, known))
        return parts

    def details(self) -> OfficialDetails:
        """How they were computed, and what they leave out."""
        frames, coverage = self.frames, self.frames.coverage
        return OfficialDetails(
            frames.matching,
            frames.joint,
            {group: int(frames.groups[group].sum()) for group in (ALL, SEEN, UNSEEN) if group in frames.groups},
            len(coverage.missing_dialogues),
            coverage.missing_turns,
            coverage.blanks,
        )

    def notes(self) -> list[Note]:
        """What was counted otherwise than in the scores of states."""
        coverage, notes = self.frames.coverage, []
        if coverage.blanks:
            blanks = counted(coverage.blanks, "predicted value")
            text = (
                f"{blanks} 'none' or empty: filled slots in SGD's scores, as in the official evaluation, and absent in "
                "the others"
            )
            notes.append(Note("sgd", text))
        if coverage.missing_dialogues or coverage.missing_turns:
            dialogues = counted(len(coverage.missing_dialogues), "dialogue")
            turns = counted(coverage.missing_turns, "turn")
            text = f"SGD's scores leave out {dialogues} and {turns} without prediction, whatever --coverage says"
            notes.append(Note("sgd", text))
        return notes

    def signature(self, gold: str) -> Signature:
        """What all of them share."""
        return Signature(
            profile=PROFILE,
            slots=str(self.slots),
            coverage="intersection",
            dialogues=str(self.frames.coverage.dialogues),
            turns=str(self.frames.coverage.turns),
            gold=gold,
            roles=self.roles,
        )


def _without(dialogues: Sequence[Dialogue], excluded: set[str]) -> list[Dialogue]:
    return [dialogue for dialogue in dialogues if dialogue_key(dialogue.id) not in excluded]
