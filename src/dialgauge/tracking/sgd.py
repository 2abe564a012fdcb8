"""SGD's official scores: measures of frames (one service in one user turn), over the slots of the service's schema.

Definitions follow the evaluation of the DSTC8 schema-guided track (Rastogi et al., AAAI 2020). MultiWOZ 2.2 numbers
are the same scores with ``matching="exact"`` and ``across_turn=True``. They stand beside the measures of states in the
same run. A part of one is a group of services, a domain or a service: ``SGD-JGA[#SEEN_SERVICES]``, ``SGD-JGA[Hotels]``,
``SGD-JGA[Hotels_1]``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dialgauge.dialogue import Dialogue, Ontology, dialogue_key
from dialgauge.errors import DialgaugeError, choice, nearest
from dialgauge.formats import read_ontology
from dialgauge.measures import (
    Card,
    Measure,
    Parameter,
    Resampling,
    Scores,
    Settings,
    Signature,
    SystemEvidence,
    UnitNumbers,
    score_systems,
)
from dialgauge.text import Note, counted
from dialgauge.tracking.counts import domain_of
from dialgauge.tracking.details import OfficialDetails, Part
from dialgauge.tracking.sgd_frames import MATCHINGS, Matching, SgdCoverage, frame_scores, pairs as pairs_of

if TYPE_CHECKING:
    from dialgauge.tracking.prepared_inputs import System

#: The official evaluation's names for the groups that are not one service or domain.
ALL, SEEN, UNSEEN = "#ALL_SERVICES", "#SEEN_SERVICES", "#UNSEEN_SERVICES"
#: What stands for a profile in the signatures of these scores: values are compared as the evaluation says.
PROFILE = "sgd-official"


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
    #: The number of slots of the schema.
    slots: int
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

    @cached_property
    def measures(self) -> list[Measure[SgdFrames]]:
        """The scores that can be computed."""
        return [measure for card in SGD_CARDS if (measure := Measure(card)).obstacle(self) is None]

    def scores(self, gold: str, roles: str, how: Resampling | None) -> Scores:
        """The scores over all services; ``gold`` and ``roles`` are parts of the signature."""
        coverage = self.coverage
        signature = Signature(
            profile=PROFILE,
            slots=str(self.slots),
            coverage="intersection",
            dialogues=str(coverage.dialogues),
            turns=str(coverage.turns),
            gold=gold,
            roles=roles,
        )
        evidence = SystemEvidence(evidence=self, measures=self.measures, dialogues=self.ids, signature=signature)
        return score_systems([evidence], how)[0]

    def parts(self) -> list[Part]:
        """Seen and unseen services, domains, and services."""
        parts = []
        for group, own in self.groups.items():
            if group != ALL and own.any():
                dialogues, turns = (len(np.unique(column[own])) for column in (self.dialogue, self.turn))
                measures = [replace(measure, part=group) for measure in self.measures]
                known = [measure for measure in measures if not math.isnan(measure.value(self))]
                parts.append(Part("service", group, dialogues, turns, 0, known))
        return parts

    def details(self) -> OfficialDetails:
        """How they were computed, and what they leave out."""
        coverage = self.coverage
        return OfficialDetails(
            self.matching,
            self.joint,
            {group: int(self.groups[group].sum()) for group in (ALL, SEEN, UNSEEN) if group in self.groups},
            len(coverage.missing_dialogues),
            coverage.missing_turns,
            coverage.blanks,
        )

    def notes(self) -> list[Note]:
        """What was counted otherwise than in the scores of states."""
        coverage, notes = self.coverage, []
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


MATCHING = Parameter("matching", "auto", MATCHINGS, "how values of non-categorical slots are compared")
JOINT = Parameter("joint", "auto", ("frame", "turn"), "joint scores of each frame, or multiplied over a turn's frames")
_PR = {"P": "precision, shared / predicted", "R": "recall, shared / in the reference"}


def _scores(name: str, joint: bool, frames: SgdFrames, settings: Settings) -> UnitNumbers:
    """The score of each frame; with joint=turn, for joint scores, the product of a turn's frames at its first."""
    given = frames.columns[name]
    kept = frames.scored & ~np.isnan(given)
    if not joint or settings["joint"] == "frame" or not kept.any():
        return np.where(kept, given, 0.0), kept.astype(np.float64)
    rows = np.flatnonzero(kept)
    starts = np.flatnonzero(np.diff(frames.turn[rows], prepend=-1))
    above, below = np.zeros(len(given)), np.zeros(len(given))
    above[rows[starts]] = np.multiply.reduceat(given[rows], starts)
    below[rows[starts]] = 1.0
    return above, below


def _resolved(frames: SgdFrames, settings: Settings) -> Settings:
    return {**settings, "matching": frames.matching, "joint": frames.joint}


def _obstacle(name: str, frames: Any, settings: Settings) -> str | None:
    columns = getattr(frames, "columns", None)
    if columns is None:
        return "it is one of SGD's official scores, which are computed together, given a schema (--schema)"
    for parameter, own in (("matching", frames.matching), ("joint", frames.joint)):
        if settings[parameter] not in ("auto", own):
            return f"the frames were scored with {parameter}={own}"
    return "no frame records it on both sides" if np.isnan(columns[name]).all() else None


def _card(
    name: str, title: str, formula: str, *, joint: bool = False, symbols: Mapping[str, str] = MappingProxyType({})
) -> Card[SgdFrames]:
    return Card(
        name=name,
        family="tracking",
        title=f"SGD's official {title}",
        summary=f"{title[0].upper()}{title[1:]}, by frames as in SGD's official evaluation.",
        formula=formula,
        symbols=symbols,
        source="Rastogi et al. 2020, Schema-Guided Dialogue State Tracking Task at DSTC8",
        parts=True,
        units=partial(_scores, name, joint),
        parameters=(MATCHING, JOINT),
        resolve=_resolved,
        obstacle=partial(_obstacle, name),
    )


def _accuracies(part: str, suffix: str) -> tuple[Card[SgdFrames], Card[SgdFrames]]:
    """The average and the joint goal accuracy over all slots, or over one part of them."""
    over = f"the service's {part}slots"
    return (
        _card(
            f"SGD-AGA{suffix}",
            f"average goal accuracy over {over}",
            f"mean score of {over} filled in the reference; frames with none are skipped",
        ),
        _card(
            f"SGD-JGA{suffix}",
            f"joint goal accuracy over {over}",
            f"product of the scores of all of {over}; frames of services with none are skipped",
            joint=True,
        ),
    )


def _f1(name: str, of: str) -> tuple[Card[SgdFrames], Card[SgdFrames], Card[SgdFrames]]:
    """F1, precision and recall of two multisets in a frame."""
    return (
        _card(f"{name}-F1", f"F1 of {of}", "2 P R / (P + R), 0 if P = R = 0", symbols=_PR),
        _card(f"{name}-P", f"precision of {of}", "shared / predicted, 1 if nothing is predicted"),
        _card(f"{name}-R", f"recall of {of}", "shared / in the reference, 1 if the reference has none"),
    )


SGD_CARDS: tuple[Card[SgdFrames], ...] = (
    *_accuracies("", ""),
    *_accuracies("categorical ", "-cat"),
    *_accuracies("non-categorical ", "-noncat"),
    _card("SGD-intent", "accuracy of the active intent", "1 if the intents are equal, else 0"),
    *_f1("SGD-requested", "the slots the user asks for"),
    *_f1("SGD-tagging", "(slot, text) of non-categorical slots marked in the utterance"),
)

#: What the official evaluation calls each of them.
OFFICIAL_NAMES = {
    "SGD-AGA": "average_goal_accuracy",
    "SGD-JGA": "joint_goal_accuracy",
    "SGD-AGA-cat": "average_cat_accuracy",
    "SGD-JGA-cat": "joint_cat_accuracy",
    "SGD-AGA-noncat": "average_noncat_accuracy",
    "SGD-JGA-noncat": "joint_noncat_accuracy",
    "SGD-intent": "active_intent_accuracy",
    "SGD-requested-F1": "requested_slots_f1",
    "SGD-requested-P": "requested_slots_precision",
    "SGD-requested-R": "requested_slots_recall",
    "SGD-tagging-F1": "slot_tagging_f1",
    "SGD-tagging-P": "slot_tagging_precision",
    "SGD-tagging-R": "slot_tagging_recall",
}


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
    """How systems get SGD's official scores; MultiWOZ 2.2 uses ``exact`` and ``across_turn``."""

    #: The slots of each service, and which of them are categorical.
    schema: Ontology
    #: Services of the training schema; None where seen and unseen ones are not told apart.
    seen: Collection[str] | None = None
    #: The ratio by which open values are alike, or ``exact``: one of the listed values as it is.
    matching: Matching = "levenshtein"
    #: Are the joint scores of a turn's services multiplied?
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
        wanted = choice(matching or MATCHINGS[0], MATCHINGS, "--sgd-matching")
        seen = set(read_ontology(Path(train_schema)).domains) if train_schema else None
        return cls(read_ontology(Path(schema)), seen, wanted, across_turn)

    def score(self, system: System) -> SgdFrames:
        """The scores of a system, but for the excluded dialogues."""
        excluded = {dialogue_key(name) for name in system.aligned.coverage.excluded}
        gold, predicted = (
            [dialogue for dialogue in dialogues if dialogue_key(dialogue.id) not in excluded]
            for dialogues in (system.gold_corpus.dialogues, system.dialogues)
        )
        return self.frames(gold, predicted)

    def frames(self, gold: Iterable[Dialogue], predicted: Iterable[Dialogue]) -> SgdFrames:
        """Score predictions frame by frame."""
        coverage = SgdCoverage()
        pairs = list(pairs_of(gold, predicted, self.schema, coverage))
        if not pairs:
            raise _nothing(coverage)
        slots = self.schema.domains
        scores = [frame_scores(one.gold, one.predicted, slots[one.service], matching=self.matching) for one in pairs]
        ids = {name: place for place, name in enumerate(dict.fromkeys(pair.dialogue for pair in pairs))}
        names = [card.name for card in SGD_CARDS]
        return SgdFrames(
            ids=list(ids),
            dialogue=np.array([ids[pair.dialogue] for pair in pairs], np.int64),
            turn=np.array([pair.turn for pair in pairs], np.int64),
            service=np.array([pair.service for pair in pairs], np.str_),
            columns={name: np.array([each.get(name, math.nan) for each in scores], np.float64) for name in names},
            coverage=coverage,
            seen_services=None if self.seen is None else frozenset(self.seen),
            matching=self.matching,
            joint="turn" if self.across_turn else "frame",
            slots=sum(map(len, slots.values())),
        )
